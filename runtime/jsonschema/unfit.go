package jsonschema

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
)

// What is an error to CUE whatever is given is a type that no value has. CUE says
// so of a plain conflict only: other types it works out when they are needed, which
// is at the call, and of alternatives it drops those at fault without a word.

// unfit reports a type, or an alternative, that no value fits; s is its shape. What
// there is a finding about already, at the value or within, and what refuses
// expressly, is left alone.
func (c *compiler) unfit(v cue.Value, s *shape, before int, what string) {
	err, nothing := v.Err(), s.empty() && s.exact
	if c.operand > 0 || len(c.findings) > before {
		return
	}
	switch name, at, declared := declaredOnly(err); {
	case nothing && v.IncompleteKind() == cue.BytesKind:
		c.finding(v.Pos(), "no JSON value is bytes: write string")
	case isFunc(v):
		c.finding(v.Pos(), "%s: %v is a function: write %[2]v(…)", what, v)
	case err == nil, forbids(v.Source()), isCycle(err), c.scopes.depends(expression(v.Source())):
	case declared:
		if !at.IsValid() {
			at = v.Pos()
		}
		c.finding(at, "%s: it refers to %s, which is optional or required and so has no value: give its type a definition of its own, and refer to that in both places", what, name)
	case what == alternativeFits && misses(err):
	case embedsConflict(v):
		c.finding(v.Pos(), "%s: %s; alternatives are written A | B", what, reason(err))
	case s.kinds&^(arrayKind|objectKind) == 0 && !nothing:
		// A validator makes an error of a list or structure that only lacks something.
	case nothing, !isLiteral(v.Source()) && v.Validate() != nil:
		c.finding(v.Pos(), "%s: %s", what, reason(err))
	}
}

// embedsConflict says that what a structure embeds goes not together: {"a", "b"}.
func embedsConflict(v cue.Value) bool {
	st, ok := expression(v.Source()).(*ast.StructLit)
	if !ok || !slices.ContainsFunc(st.Elts, func(d ast.Decl) bool { _, ok := d.(*ast.EmbedDecl); return ok }) {
		return false
	}
	own := len(v.Path().Selectors())
	return slices.ContainsFunc(errors.Errors(v.Validate()), func(e errors.Error) bool {
		format, _ := e.Msg()
		return strings.HasPrefix(format, "conflicting values") && len(e.Path()) <= own
	})
}

// misses says that a look-up finds nothing: what it falls back on may be meant.
func misses(err error) bool {
	return slices.ContainsFunc(errors.Errors(err), func(e errors.Error) bool {
		format, _ := e.Msg()
		return strings.HasPrefix(format, "undefined field") || strings.HasPrefix(format, "index out of range")
	})
}

const (
	noValueFits     = "no value fits"
	alternativeFits = "this alternative fits no value"
)

// alternative is the shape of one alternative, as it is written.
func (c *compiler) alternative(v cue.Value) *shape {
	before := len(c.findings)
	s := c.shape(v)
	c.unfit(v, s, before, alternativeFits)
	return s
}

// alternatives reports those of an expression that no value fits, where CUE has put
// it together already. n is the expression.
func (c *compiler) alternatives(v cue.Value, n ast.Expr) {
	if c.operand > 0 || !chooses(n) {
		return
	}
	op, args := c.expr(v)
	switch op {
	case cue.OrOp:
		for _, a := range args {
			if a.Err() != nil {
				c.unfit(a, &shape{exact: true}, len(c.findings), alternativeFits)
			} else {
				c.alternatives(a, n)
			}
		}
	case cue.AndOp:
		for _, a := range args {
			c.alternatives(a, n)
		}
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			c.alternatives(args[0], n)
		}
	}
}

// chooses says that there are alternatives in an expression that may be at fault,
// which literals, types and bounds by themselves are not.
func chooses(n ast.Expr) bool {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return chooses(n.X)
	case *ast.BinaryExpr:
		if n.Op == token.OR {
			return composed(n.X) || composed(n.Y)
		}
		return chooses(n.X) || chooses(n.Y)
	}
	return false
}

// composed says that an alternative, or one of several, is put together of others.
func composed(n ast.Expr) bool {
	switch n := n.(type) {
	case *ast.BasicLit, *ast.Ident:
		return false
	case *ast.ParenExpr:
		return composed(n.X)
	case *ast.UnaryExpr:
		return composed(n.X)
	case *ast.BinaryExpr:
		return n.Op != token.OR || composed(n.X) || composed(n.Y)
	}
	return true
}
