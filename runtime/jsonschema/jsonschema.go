// Package jsonschema turns a CUE value into JSON Schema, draft 2020-12, and
// checks JSON instances against such a schema.
//
// What it promises is soundness: a schema never refuses what CUE accepts.
// Whatever a schema cannot state is left open in it, noted, and checked by CUE
// at the call. Two rules are the language's own and not CUE's: a struct without
// ... refuses members that it does not declare, and a number is an integer when
// its value is, however it is written ([Validator.Integers] writes it so).
//
// A value is taken apart by its expression and by what CUE made of it, whichever
// tells more (walk.go and the files it names), into a shape, which is a set of
// JSON values (shape.go); the shape is written as a schema (render.go). The
// check is a library's; its faults are put into words here (fault.go).
//
// The package must not know what a tool, a request or a configuration is.
package jsonschema

import (
	"encoding/json"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/token"
)

// Options tune [Compile]. The zero value works.
type Options struct {
	// Defaults holds server-level default arguments by name, as compact JSON. A
	// top-level field of that name is not required, and shows the default.
	Defaults map[string]json.RawMessage
	// Doc gives the description of a field. Default: the field's own comments.
	Doc func(field cue.Value) string
	// Pos gives the file, line and column that a finding names for p. Default:
	// what p itself says.
	Pos func(p token.Pos) (file string, line, column int)
	// Data says that the value describes data, such as a response, and is no
	// input of a tool: constants are members like others, and the rules for
	// arguments do not apply.
	Data bool
	// Path is put before the path of every finding, such as
	// domains.core.tools.get_x.input.
	Path string
}

// Schema is what a CUE value says, as far as JSON Schema can say it.
type Schema struct {
	// JSON is the schema: compact, its properties in the order of declaration,
	// the same bytes for the same value.
	JSON json.RawMessage
	// Exact says that the schema accepts just what CUE accepts. Otherwise CUE
	// must check as well.
	Exact bool
	// Fields are the arguments in order of declaration, constants included; nil
	// when Options.Data is set.
	Fields []Field
	// Open lists what the schema does not state.
	Open []Gap
}

// Field is a top-level field of an input.
type Field struct {
	Name string
	// Required says that the caller must give it.
	Required bool
	// Default is what stands for the argument when the caller leaves it out; nil
	// when nothing does.
	Default json.RawMessage
	// ServerDefault says that Default came from Options.Defaults, which wins
	// over the field's own.
	ServerDefault bool
	// Demanded says that without it the argument would be required.
	Demanded bool
	// Constant is the one value of a field that is no argument and so is absent
	// from the schema; nil for an argument.
	Constant json.RawMessage
	// Fills says that CUE adds members to values that are given: nested constants
	// and defaults. Moved on as it came, such an argument would lack them.
	Fills bool
	Value cue.Value
	Pos   token.Pos
}

// Gap is a constraint that the schema leaves to CUE.
type Gap struct {
	// Path is the CUE path below the compiled value, such as updates[].op; empty
	// for the value itself.
	Path string
	// Reason says what could not be stated.
	Reason string
}
