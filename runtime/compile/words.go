package compile

import (
	"github.com/metacue/metacue/runtime/expr"
	"github.com/metacue/metacue/runtime/words"
)

// reason words an error of CUE's evaluator for a finding.
func reason(err error) string { return words.Say(expr.Message(err), err) }
