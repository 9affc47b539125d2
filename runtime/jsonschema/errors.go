package jsonschema

import (
	"fmt"
	"slices"

	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/words"
)

// reason words an error of CUE.
func reason(err error) string {
	if err == nil {
		return "no value fits"
	}
	return words.Of(err)
}

// declaredOnly names the field, marked ? or !, that a reference in vain is to, and
// where.
func declaredOnly(err error) (name string, at token.Pos, ok bool) {
	for _, e := range errors.Errors(err) {
		for e := error(e); e != nil; e = errors.Unwrap(e) {
			ce, is := e.(errors.Error)
			if !is {
				break
			}
			switch format, args := ce.Msg(); format {
			case "cannot reference optional field: %s", "required field missing: %s":
				return fmt.Sprint(args...), ce.Position(), true
			}
		}
	}
	return "", token.NoPos, false
}

// isCycle says that CUE gave up on a definition within itself.
func isCycle(err error) bool {
	return slices.ContainsFunc(errors.Errors(err), func(e errors.Error) bool {
		format, _ := e.Msg()
		return format == "structural cycle"
	})
}

// notAllowed says that a field is refused by a definition that it is unified
// with.
func notAllowed(err error) bool {
	if err == nil {
		return false
	}
	return slices.ContainsFunc(errors.Errors(err), func(e errors.Error) bool {
		format, _ := e.Msg()
		return format == "field not allowed"
	})
}
