package jsonschema

import (
	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/diag"
)

// Compile translates v, a struct of arguments or any other value. A value that
// does not exist is a struct without fields.
func Compile(v cue.Value, o Options) (*Schema, diag.List) { return &Schema{}, nil }
