package compile

import (
	"fmt"
	"slices"
	"strings"

	cueerrors "cuelang.org/go/cue/errors"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/expr"
)

// reason words an error of CUE for a finding: one line, in which whole structures
// and long texts are shortened.
func reason(err error) string {
	text := expr.Message(err)
	if !strings.Contains(text, "in empty disjunction") {
		return diag.Brief(text)
	}
	// CUE names the alternatives after that, and none of them fits.
	var arms []string
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		if said := diag.Brief(fmt.Sprintf(format, args...)); !strings.Contains(said, "in empty disjunction") && !slices.Contains(arms, said) {
			arms = append(arms, said)
		}
	}
	return strings.Join(append([]string{"none of the alternatives fits"}, arms...), "; ")
}
