// Package call is the one shape of a call: who asks, and what comes back.
// Surfaces make calls and the program of exec answers them, and neither knows
// the other. Standard library only.
package call

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/metacue/metacue/runtime/catalog"
)

// Caller is who asks.
type Caller struct {
	// Bounds is what the caller may reach.
	Bounds catalog.Bounds
	// Header holds the headers of the HTTP request that brought the call, nil
	// over stdio. Nothing of it is sent on unless the configuration names it.
	Header http.Header
	// Faults are what the surface that was asked found wrong with the arguments as
	// they came. A call with some is not made: its refusal tells them before what the
	// program finds, so that one answer tells all.
	Faults []Fault
}

// Fault is something wrong with the arguments of a call.
type Fault struct {
	// Argument is the argument that the tool does not take, where it is that: nobody
	// need say so again. "" otherwise.
	Argument string
	// Message says in a sentence what is wrong.
	Message string
}

// Func makes one call of a tool by its name or alias. args is a JSON object, or
// what a client sent in its place; nil and null mean no arguments. Whatever
// goes wrong with the call is told in the Result.
type Func func(ctx context.Context, caller Caller, tool string, args json.RawMessage) Result

// Result is the answer to a call.
type Result struct {
	Content []Content
	// Structured is the result as a JSON object, for tools that declare an
	// output schema; nil otherwise.
	Structured json.RawMessage
	// IsError marks a failed call; Content then says why.
	IsError bool
	// Repairs says in sentences what was put right in the arguments before the
	// call was made.
	Repairs []string
}

// Content is one block of an answer.
type Content struct {
	// Text is the block's text, when Data is nil.
	Text string
	// Data is binary content.
	Data []byte
	// MIMEType is that of Data: images become image blocks, everything else an
	// embedded blob.
	MIMEType string
}

// Text is a result of one text block.
func Text(s string) Result { return Result{Content: []Content{{Text: s}}} }

// Error is a failed result of one text block.
func Error(s string) Result { return Result{Content: []Content{{Text: s}}, IsError: true} }
