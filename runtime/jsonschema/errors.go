package jsonschema

import (
	"fmt"
	"slices"

	"cuelang.org/go/cue/errors"
)

// reason is the first line of what CUE says.
func reason(err error) string {
	if err == nil {
		return "no value fits"
	}
	if list := errors.Errors(err); len(list) > 0 {
		format, args := list[0].Msg()
		return fmt.Sprintf(format, args...)
	}
	return err.Error()
}

// declaredOnly names the field, marked ? or !, that a reference in vain is to.
func declaredOnly(err error) (name string, ok bool) {
	for _, e := range errors.Errors(err) {
		switch format, args := e.Msg(); format {
		case "cannot reference optional field: %s", "required field missing: %s":
			return fmt.Sprint(args...), true
		}
	}
	return "", false
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
