// Package bind makes one exact HTTP request from the arguments of a call. It
// is the only place where a value of a caller becomes part of a request, so
// whatever a value may do to a path, a query, a header or a body is decided
// here. A value is data: it is encoded for its place or refused, and never
// read again as template, path, URL or reference.
//
// bind does no I/O and knows nothing of CUE: expressions come from an
// [Evaluator]. What it makes is a finished URL, finished headers and finished
// bytes, to be sent as they are. A [Request] is made once by compile and never
// changed after; any number of goroutines may build from it.
package bind

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
)

// Args are the arguments of one call by name, each as compact JSON. A name that
// is not in the map is absent, as is one with an empty value.
type Args map[string]json.RawMessage

// Scope is what the values of a request refer to. Build only reads it.
type Scope struct {
	Args Args
	// Steps holds the results of earlier steps by name, each as compact JSON; a
	// skipped step is there with a nil value.
	Steps map[string]json.RawMessage
}

// Node is a value still to be made: [Const], [Ref], [Object], [List] or [Expr].
type Node interface{ node() }

// Const is always this value, as compact JSON.
type Const json.RawMessage

// Ref is the value at a place of the scope. The first element of Path names an
// argument or a step, further ones declared members of it.
//
// An argument that is absent, or a member of it, makes the value absent. So
// does a skipped step; anything else that is missing in a step is an error.
type Ref struct {
	Root string // RootInput or RootSteps
	Path []string
}

// What a Ref may start from.
const (
	RootInput = "input"
	RootSteps = "steps"
)

// Object is a JSON object with its members in this order. Absent members are
// left out, and an object left with nothing because of that is itself absent.
// An object without fields stays {}.
type Object []Field

// List is a JSON array. In it nothing is left out, at any depth: half an
// element is worse than none, so an absent value is an error.
type List []Node

// Expr is an index into what the request's Evaluator gives.
type Expr int

// Field is a named value.
type Field struct {
	Name  string
	Value Node
}

func (Const) node()  {}
func (Ref) node()    {}
func (Object) node() {}
func (List) node()   {}
func (Expr) node()   {}

// Evaluator makes the values of all expressions of one request in one
// evaluation, each as compact JSON, in the order that [Expr] counts. A nil value
// is left out: the expression refers to an absent argument or a skipped step.
// It must be safe for concurrent use.
type Evaluator interface {
	Eval(ctx context.Context, s *Scope) ([]json.RawMessage, error)
}

// Request says how one HTTP request is made. It is plain data.
type Request struct {
	// Upstream is the name of the API that the request goes to; it is passed on.
	Upstream string
	// Base is where the upstream's paths begin, as ParseBase gives it. Its query,
	// if any, goes in front of the request's own.
	Base *url.URL
	// Method is the HTTP method.
	Method string
	// Path is appended to the path of Base.
	Path *Template
	// URL stands in the place of Path and Vars: a link from an earlier answer, which
	// must stay at the origin of Base and below its path.
	URL Node
	// Strip names query parameters that are taken out of URL: those of credentials,
	// which the upstream may send back.
	Strip []string
	// Vars are path variables that are no argument. Others are taken from Args.
	//
	// In Vars, Query and Headers a Field without a name stands for the members
	// of its value, an object: names that are known only when the call is made.
	Vars []Field
	// Query holds query parameters, in the order in which they are sent. A list
	// repeats its key, null is left out.
	Query []Field
	// Headers holds headers, each name once. A list is joined with ", ", null is
	// left out.
	Headers []Field
	// BaseQuery and BaseHeaders are those of every request to the upstream. A
	// field of Query or Headers that has the name and a value takes its place.
	BaseQuery, BaseHeaders []Field
	// Body is nil when the request has none.
	Body *Body
	// Exprs may be nil when nothing in the request is an Expr.
	Exprs Evaluator
}

// Body says how the body of a request is made. An absent Value sends none.
type Body struct {
	// Kind is how Value is written; the zero value is JSON.
	Kind BodyKind
	// Value is the body as JSON. What it must be depends on Kind.
	Value Node
}

// BodyKind is a way to write a body.
type BodyKind string

// The kinds of body. Null is sent as JSON and is no body in every other kind.
const (
	// BodyJSON sends the value as it is: any JSON, compact, every digit kept.
	BodyJSON BodyKind = "json"
	// BodyForm sends the members of an object as
	// application/x-www-form-urlencoded, in the way of query parameters.
	BodyForm BodyKind = "form"
	// BodyMultipart sends the members of an object as the parts of
	// multipart/form-data (RFC 7578). A list repeats its name, null is left out.
	// A part that is itself an object is a file:
	// {"filename","contentType","text" or "base64"}, the first two optional.
	BodyMultipart BodyKind = "multipart"
	// BodyText sends the text of a string, number or boolean.
	BodyText BodyKind = "text"
	// BodyBinary sends the bytes that a string holds in base64 (RFC 4648 section 4).
	BodyBinary BodyKind = "binary"
)

// HTTP is one request, ready to be sent as it is.
type HTTP struct {
	Upstream string
	Method   string
	URL      string // absolute
	Header   []Header
	Body     []byte // nil when there is none
}

// Header is one header of a request.
type Header struct{ Name, Value string }

// Error is a fault of one argument, or of a request as a whole.
type Error struct {
	// Argument is the argument's name, "" where none is to blame alone.
	Argument string
	// Reason says to an agent what is wrong, without the argument's name in front.
	Reason string
	// Err is the cause, for errors that came from an Evaluator; nil otherwise.
	Err error
}

func (e *Error) Error() string {
	if e.Argument == "" {
		return e.Reason
	}
	return e.Argument + ": " + e.Reason
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errors is everything that is wrong with one call. errors.As finds its first
// Error.
type Errors []*Error

// Error gives all faults in one line.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, f := range e {
		texts[i] = f.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives the faults one by one.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, f := range e {
		errs[i] = f
	}
	return errs
}

// Place is where an argument goes.
type Place string

// The places of the convention.
const (
	PlaceQuery Place = "query"
	PlaceBody  Place = "body"
)

// ConventionPlace is where arguments go that nothing in a request refers to: in
// the query for GET, HEAD and DELETE, in the JSON body for every other method.
// RFC 9110 section 9.3 gives a body no meaning in the first three.
func ConventionPlace(method string) Place {
	switch method {
	case "GET", "HEAD", "DELETE":
		return PlaceQuery
	}
	return PlaceBody
}
