package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
)

// compiler turns CUE values into shapes: references (reference.go), what is put
// together by & and by embedding (conjunct.go), types, literals and bounds
// (leaf.go), validators (call.go), structs (object.go, openness.go,
// condition.go) and lists (list.go).
type compiler struct {
	o        Options
	scopes   scopes
	findings diag.List
	gaps     []Gap
	path     []string    // of the value in hand
	frames   []*frame    // definitions in the making, outermost first
	defs     []*frame    // definitions that turned out to be recursive
	merging  []cue.Value // what is unified with something else, outermost first
	operand  int         // how many validators such as matchN enclose the value
	lenient  int         // how many of them are list.MatchN
	masked   bool        // whether a condition within list.MatchN hides others
	quiet    int         // when not 0, nothing is noted
	values   int         // how many were seen
	exprs    map[cue.Value]expr
	evals    map[cue.Value]cue.Value
	context  *cue.Context // for values of our own
}

// ctx makes values of our own, such as examples.
func (c *compiler) ctx() *cue.Context {
	if c.context == nil {
		c.context = cuecontext.New()
	}
	return c.context
}

type expr struct {
	op   cue.Op
	args []cue.Value
}

// unknownOp is that of an expression that CUE cannot take apart.
const unknownOp cue.Op = -1

// expr is Value.Expr, which evaluates the parts anew each time it is asked, and
// fails on some.
func (c *compiler) expr(v cue.Value) (cue.Op, []cue.Value) {
	e, ok := c.exprs[v]
	if !ok {
		func() {
			defer func() {
				if recover() != nil {
					e = expr{op: unknownOp}
				}
			}()
			e.op, e.args = v.Expr()
		}()
		if c.exprs == nil {
			c.exprs = map[cue.Value]expr{}
		}
		c.exprs[v] = e
	}
	return e.op, e.args
}

const (
	// maxValues bounds what one schema may hold, against definitions that
	// unfold without end.
	maxValues = 5_000
	// maxNesting bounds how deep it may go.
	maxNesting = 64
	// maxUnfolded is how often one definition may enclose itself when it is
	// unified with something else, which no $ref can say.
	maxUnfolded = 2
	// maxReferences is how many references to references are followed.
	maxReferences = 32
)

// eval is Value.Eval, with the same result each time.
func (c *compiler) eval(v cue.Value) cue.Value {
	e, ok := c.evals[v]
	if !ok {
		e = v.Eval()
		if c.evals == nil {
			c.evals = map[cue.Value]cue.Value{}
		}
		c.evals[v] = e
	}
	return e
}

// gap notes that what is said of the value in hand is left to CUE.
func (c *compiler) gap(format string, args ...any) {
	if c.quiet > 0 {
		return
	}
	g := Gap{Path: joinPath(c.path), Reason: fmt.Sprintf(format, args...)}
	if !slices.Contains(c.gaps, g) {
		c.gaps = append(c.gaps, g)
	}
}

// open is gap for a value of which only the types are stated.
func (c *compiler) open(k kinds, format string, args ...any) *shape {
	c.gap(format, args...)
	return unstated(k)
}

func (c *compiler) finding(p token.Pos, format string, args ...any) {
	if c.quiet > 0 {
		return
	}
	f := diag.Finding{Path: joinPath(append([]string{c.o.Path}, c.path...)), Message: fmt.Sprintf(format, args...)}
	if c.o.Pos != nil {
		f.File, f.Line, f.Column = c.o.Pos(p)
	} else if p := p.Position(); p.IsValid() {
		f.File, f.Line, f.Column = p.Filename, p.Line, p.Column
	}
	c.findings = append(c.findings, f)
}

// faulty says whether there is a finding at the value in hand or within.
func (c *compiler) faulty() bool {
	path := joinPath(append([]string{c.o.Path}, c.path...))
	return slices.ContainsFunc(c.findings, func(f diag.Finding) bool {
		rest, ok := strings.CutPrefix(f.Path, path)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// joinPath writes a CUE path from its parts; [] and [string] stick to the part
// before.
func joinPath(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		if b.Len() > 0 && !strings.HasPrefix(p, "[") {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}

// at runs f with the path one part longer.
func (c *compiler) at(part string, f func() *shape) *shape {
	c.path = append(c.path, part)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return f()
}

// shape finds what v accepts.
func (c *compiler) shape(v cue.Value) *shape {
	c.values++
	if c.values > maxValues || len(c.path) > maxNesting {
		return c.open(anyKind, "too deep or too large to state")
	}
	src := v.Source()
	if f, ok := src.(*ast.Field); ok && plainly(f.Value) {
		// Strings, numbers and the like, declared in one place: CUE has
		// already put together all that is said of them.
		switch k := v.IncompleteKind(); {
		case isType(f.Value):
			return c.basic(v)
		case k != cue.BottomKind && k&(cue.StructKind|cue.ListKind) == 0:
			c.alternatives(v, f.Value)
			return c.evaluated(v).inOrder(f.Value)
		}
	}
	c.scopes.add(expression(src))
	op, args := c.expr(v)
	switch op {
	case cue.SelectorOp, cue.IndexOp:
		return c.reference(v)
	case cue.AndOp:
		return c.conjunction(v)
	case cue.OrOp:
		return c.disjunction(args)
	case cue.NoOp:
		if isLet(src) {
			return c.reference(v)
		}
	case cue.CallOp:
		if isClose(args) {
			return c.conjunction(v)
		}
	case unknownOp:
		return c.open(anyKind, "an expression that CUE cannot take apart")
	}
	return c.leaf(v, op, args)
}

// evaluated finds what v accepts from what CUE made of it, which is simpler
// than its expression: no references, and one bound for several.
func (c *compiler) evaluated(v cue.Value) *shape {
	e := c.eval(v)
	op, args := c.expr(e)
	switch op {
	case cue.AndOp:
		s := anything
		for _, a := range args {
			s = and(s, c.evaluated(a))
		}
		return s
	case cue.OrOp:
		arms := make([]*shape, len(args))
		for i, a := range args {
			arms[i] = c.evaluated(a)
		}
		return or(arms, c.operand == 0)
	}
	return c.leaf(e, op, args)
}

// evaluatedLeaf is for expressions that CUE computes.
func (c *compiler) evaluatedLeaf(v cue.Value) *shape {
	e := c.eval(v)
	op, args := c.expr(e)
	switch op {
	case cue.AndOp, cue.OrOp:
		return c.evaluated(v)
	case cue.SelectorOp, cue.IndexOp:
		k, _ := jsonKinds(e.IncompleteKind())
		if e.Err() != nil {
			k = anyKind
		}
		return c.open(k, "cannot be computed before the call")
	}
	return c.leaf(e, op, args)
}
