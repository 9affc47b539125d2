package expr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/words"
)

// Tool evaluates the expressions of one tool.
type Tool struct {
	pool  *Pool
	path  cue.Path
	input bool // the constraints of input are checked too
	check bool // there are rules across arguments
}

// NewTool makes the evaluator of the tool at path. verifyInput says that the
// tool's schema does not state everything, so that input has to be checked at
// the call; hasCheck that it has rules across arguments.
func NewTool(p *Pool, path cue.Path, verifyInput, hasCheck bool) *Tool {
	return &Tool{pool: p, path: path, input: verifyInput, check: hasCheck}
}

// Fault is an expression that cannot be evaluated.
type Fault struct {
	Path cue.Path // below the tool
	Err  error
}

func (f *Fault) Error() string { return f.Path.String() + ": " + Message(f.Err) }

// Unwrap gives CUE's error.
func (f *Fault) Unwrap() error { return f.Err }

// Faults are all expressions of a request that cannot be evaluated.
type Faults []*Fault

func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, x := range f {
		texts[i] = x.Error()
	}
	return strings.Join(texts, "; ")
}

// unfit are the messages of errors that no other values of the same kinds would
// cure, beside absent arguments and half elements.
var unfit = []string{
	"invalid operands %s and %s to '%s' (type %s and %s)",
	"cannot use %s (type %s) as type %s",
	"cannot use %s (type %s) as type %s in %v",
	"cannot use %s (type %s) as %s in argument %d to %v",
	"cannot use %s as %s in argument %d to %v",
	"cannot use %s (type %s) as %s in argument %d",
	"invalid list element %d in argument %d to call: cannot use value %v (%s) as string",
	"invalid list element %d in argument %d to call: cannot use value %v (%s) as number",
	"cannot range over %s (found %s, want list or struct)",
	"invalid operand %s (found %s, want list or struct)",
	"invalid operation %v (%s %s)",
	"cannot slice %v (type %s)",
	"conflicting values %s and %s (mismatched types %s and %s)",
}

// Unfit says whether the expression failed by its own making: types that do not go
// together, a rule or an element over an absent argument. A text that a function
// cannot read, say, is no such fault.
func (f *Fault) Unfit() bool {
	return IsHalf(f.Err) || anyMessage(f.Err, func(format string, _ []any) bool {
		return format == absentFormat || slices.Contains(unfit, format)
	})
}

// Misses says whether the expression failed because it looks name up where it is
// not.
func (f *Fault) Misses(name string) bool {
	return anyMessage(f.Err, func(format string, args []any) bool {
		return format == "undefined field: %s" && len(args) == 1 && strings.Trim(fmt.Sprint(args[0]), `"`) == name
	})
}

// anyMessage says whether f holds for a message in the chains of CUE's errors.
func anyMessage(err error, f func(format string, args []any) bool) bool {
	for _, e := range cueerrors.Errors(err) {
		for x := error(e); x != nil; x = errors.Unwrap(x) {
			if ce, ok := x.(cueerrors.Error); ok && f(ce.Msg()) {
				return true
			}
		}
	}
	return false
}

// Refusal is why arguments are not accepted: sentences for the caller.
type Refusal []string

func (r Refusal) Error() string { return strings.Join(r, "; ") }

// Sentences gives the reasons one by one.
func (r Refusal) Sentences() []string { return r }

// Verify checks the arguments against what CUE alone can see: constraints that
// the JSON Schema leaves open, and the tool's check. A Refusal is about the
// arguments; any other error means that the check could not be made.
func (t *Tool) Verify(ctx context.Context, s *bind.Scope) error {
	if !t.input && !t.check {
		return nil
	}
	return t.pool.do(ctx, func(w *worker) error {
		v, err := w.fill(t.path, s)
		if err != nil {
			return err
		}
		if t.input {
			if err := v.LookupPath(inputPath).Validate(cue.Concrete(true), cue.Final()); err != nil {
				return refusal(t.path, err)
			}
		}
		if t.check {
			return checkRules(v)
		}
		return nil
	})
}

// checkRules gives the sentences of check that stand.
func checkRules(tool cue.Value) error {
	list, err := tool.LookupPath(checkPath).List()
	if err != nil {
		return Faults{{checkPath, err}}
	}
	var r Refusal
	for list.Next() {
		sentence, err := list.Value().String()
		if err != nil {
			return Faults{{checkPath, err}}
		}
		r = append(r, sentence)
	}
	if len(r) > 0 {
		return r
	}
	return nil
}

// refusal words CUE's verdict on arguments: one sentence for each place.
func refusal(tool cue.Path, err error) error {
	var r Refusal
	seen := map[string]bool{}
	prefix := tool.String() + "."
	for _, e := range cueerrors.Errors(err) {
		path := strings.Join(e.Path(), ".")
		path = strings.TrimPrefix(strings.TrimPrefix(path, prefix), "input.")
		if i := strings.LastIndex(path, ".input."); i >= 0 {
			path = path[i+len(".input."):]
		}
		format, args := e.Msg()
		sentence := fmt.Sprintf("%s: "+format, append([]any{path}, args...)...)
		if !seen[sentence] {
			seen[sentence] = true
			r = append(r, sentence)
		}
	}
	return r
}

// Request evaluates the expressions of one request. It is a bind.Evaluator.
type Request struct {
	tool  *Tool
	paths []cue.Path // below the tool, such as http.query.ids
}

// Request makes the evaluator for the expressions at paths below the tool.
func (t *Tool) Request(paths []cue.Path) *Request { return &Request{tool: t, paths: paths} }

// Eval gives the value of each expression as compact JSON, nil for one that is
// left out because it refers to an absent argument or a skipped step. Any
// other fault of an expression is an error.
func (r *Request) Eval(ctx context.Context, s *bind.Scope) ([]json.RawMessage, error) {
	values := make([]json.RawMessage, len(r.paths))
	err := r.tool.pool.do(ctx, func(w *worker) error {
		tool, err := w.fill(r.tool.path, s)
		if err != nil {
			return err
		}
		var faults Faults
		for i, p := range r.paths {
			v := tool.LookupPath(p)
			if !v.Exists() && p.Selectors()[0] == inputPath.Selectors()[0] {
				continue // an argument by itself, which was not given
			}
			b, err := Export(v)
			if err != nil && !IsAbsent(err) {
				faults = append(faults, &Fault{p, err})
				continue
			}
			values[i] = b
		}
		if len(faults) > 0 {
			return faults
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// absentFormat is the message of the error that ends every chain when an
// expression refers to an optional field that is not there. Whether CUE calls
// such an error incomplete or permanent depends on where it stands, so the
// cause decides; TestAbsent pins it.
const absentFormat = "cannot reference optional field: %s"

// IsAbsent says whether an expression failed only because it refers to an
// argument that the caller left out, or to a step that was skipped.
func IsAbsent(err error) bool {
	var half *halfElement
	if err == nil || errors.As(err, &half) {
		return false
	}
	for _, e := range cueerrors.Errors(err) {
		if !absentCause(e) {
			return false
		}
	}
	return true
}

func absentCause(err error) bool { return absentIn(err) != "" }

// absentIn gives the name of the absent field that an error of CUE is about, ""
// when it is about anything else.
func absentIn(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		if e, ok := err.(cueerrors.Error); ok {
			if format, args := e.Msg(); format == absentFormat {
				return fmt.Sprint(args...)
			}
		}
	}
	return ""
}

// Absent gives the name of the field whose absence is what failed: the last in a
// reference to it, as CUE writes it. It is "" where something else did.
func Absent(err error) string {
	var half *halfElement
	if errors.As(err, &half) {
		err = half.err
	}
	for _, e := range cueerrors.Errors(err) {
		if name := absentIn(e); name != "" {
			return name
		}
	}
	return ""
}

// halfElement is an absent argument inside a list, where nothing is left out.
type halfElement struct {
	index int
	err   error
}

// IsHalf says whether an expression failed because a list would hold an element
// without a part of it.
func IsHalf(err error) bool {
	var half *halfElement
	return errors.As(err, &half)
}

func (h *halfElement) Error() string {
	return fmt.Sprintf("element %d of a list would be sent without a part: %s", h.index, Message(h.err))
}

func (h *halfElement) Unwrap() error { return h.err }

// Message words an error of the evaluator without the positions and the path,
// which mean nothing to a caller.
func Message(err error) string {
	var half *halfElement
	if errors.As(err, &half) {
		return half.Error()
	}
	list := cueerrors.Errors(err)
	if len(list) == 0 {
		return err.Error()
	}
	// What is not merely absent is the fault; its innermost message names it.
	first := list[0]
	for _, e := range list {
		if !absentCause(e) {
			first = e
			break
		}
	}
	return words.Innermost(first)
}
