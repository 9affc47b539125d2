package jsonschema

import (
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// literal is what a struct or list accepts whose members are in plain sight.
func (c *compiler) literal(v cue.Value, asts []ast.Node) *shape {
	switch v.IncompleteKind() {
	case cue.StructKind:
		return c.object(v, asts)
	case cue.ListKind:
		return c.list(v, asts)
	case cue.BottomKind:
		if isCycle(v.Err()) {
			break
		}
		// One wrong member makes an error of the whole.
		for _, n := range asts {
			switch n.(type) {
			case *ast.StructLit:
				return c.object(v, asts)
			case *ast.ListLit:
				return c.list(v, asts)
			}
		}
	}
	return c.evaluatedLeaf(v)
}

// leaf is what one expression without & and | accepts.
func (c *compiler) leaf(v cue.Value, op cue.Op, args []cue.Value) *shape {
	if c.scopes.depends(expression(v.Source())) && !isLiteral(v.Source()) {
		k := anyKind
		if op == cue.InterpolationOp {
			k = stringKind
		}
		return c.open(k, "depends on another argument")
	}
	switch op {
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			return c.shape(args[0])
		}
		return c.basic(v)
	case cue.OrOp:
		return c.disjunction(args)
	case cue.AndOp:
		return c.conjunction(v)
	case cue.CallOp:
		return c.mask(c.call(v, args))
	case cue.RegexMatchOp, cue.NotRegexMatchOp, cue.EqualOp, cue.NotEqualOp,
		cue.LessThanOp, cue.LessThanEqualOp, cue.GreaterThanOp, cue.GreaterThanEqualOp:
		if len(args) == 1 {
			return c.mask(c.bound(op, args[0]))
		}
	}
	if e := c.eval(v); e != v {
		if eop, _ := c.expr(e); eop != op {
			return c.evaluatedLeaf(v)
		}
	}
	k, _ := jsonKinds(v.IncompleteKind())
	if v.Err() != nil {
		k = anyKind
	}
	return c.open(k, "cannot be computed before the call")
}

// mask notes a condition on structs or lists within list.MatchN. CUE may find it
// undecided there, takes that for a match, and overlooks what else is missing.
func (c *compiler) mask(s *shape) *shape {
	if c.lenient > 0 && s.kinds&(arrayKind|objectKind) != 0 {
		c.masked = true
	}
	return s
}

// isLiteral says that what depends on arguments is members or elements, each
// of which is looked at by itself.
func isLiteral(n ast.Node) bool {
	switch expression(n).(type) {
	case *ast.StructLit, *ast.ListLit:
		return true
	}
	return false
}

// basic is a type, a literal, or a struct or list.
func (c *compiler) basic(v cue.Value) *shape {
	k := v.IncompleteKind()
	switch k {
	case cue.StructKind, cue.ListKind:
		return c.literal(v, []ast.Node{expression(v.Source())})
	case cue.BottomKind:
		if isCycle(v.Err()) {
			return c.open(anyKind, "a definition within itself, together with something else")
		}
		switch expression(v.Source()).(type) {
		case *ast.BottomLit:
			return &shape{exact: true}
		case *ast.StructLit, *ast.ListLit:
			return c.literal(v, []ast.Node{expression(v.Source())})
		}
		return c.open(anyKind, "%s", reason(v.Err()))
	}
	if v.IsConcrete() {
		return c.constant(v)
	}
	kinds, exact := jsonKinds(k)
	s := &shape{kinds: kinds, exact: exact}
	if k&cue.NumberKind == cue.IntKind {
		s.num.integer = true
	}
	if !exact {
		c.gap("float refuses whole numbers")
	}
	return s
}

// constant is one string, number, boolean or null.
func (c *compiler) constant(v cue.Value) *shape {
	switch v.Kind() {
	case cue.NullKind:
		return ofKind(nullKind)
	case cue.BoolKind:
		s := ofKind(boolKind)
		s.bools = onlyFalse
		if b, _ := v.Bool(); b {
			s.bools = onlyTrue
		}
		return s
	case cue.StringKind:
		t, _ := v.String()
		return &shape{kinds: stringKind, str: texts{enum: []string{t}}, exact: true}
	case cue.IntKind, cue.FloatKind:
		d, ok := decimalOf(v)
		if !ok {
			return c.open(numberKind, "a number out of all proportion")
		}
		s := number(d)
		if v.Kind() == cue.FloatKind && d.val.IsInt() {
			c.gap("%s is no integer to CUE", d.text)
			return s.inexact()
		}
		return s
	}
	return &shape{exact: true} // bytes: no JSON value is that
}

func decimalOf(v cue.Value) (decimal, bool) {
	b, err := v.MarshalJSON()
	if err != nil {
		return decimal{}, false
	}
	return parseDecimal(string(b))
}

// bound is what stands after a comparison without a left side.
func (c *compiler) bound(op cue.Op, arg cue.Value) *shape {
	if !arg.IsConcrete() {
		return c.open(anyKind, "cannot be computed before the call")
	}
	switch op {
	case cue.RegexMatchOp, cue.NotRegexMatchOp:
		re, err := arg.String()
		if err != nil {
			return c.open(stringKind, "%s", reason(err))
		}
		p, ok, err := portable(re)
		switch {
		case err != nil:
			c.finding(arg.Pos(), "not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return unstated(stringKind)
		case !ok:
			return c.open(stringKind, "the regular expression %q is not in the syntax that JSON Schema shares", re)
		case op == cue.RegexMatchOp:
			return &shape{kinds: stringKind, str: texts{patterns: []string{p}}, exact: true}
		}
		return &shape{kinds: stringKind, str: texts{unlike: []string{p}}, exact: true}
	case cue.EqualOp:
		if arg.Kind()&(cue.StructKind|cue.ListKind) != 0 {
			k, _ := jsonKinds(arg.Kind())
			return c.open(k, "equality with a struct or list")
		}
		if arg.Kind() == cue.FloatKind {
			if d, ok := decimalOf(arg); ok {
				return number(d) // 1.0 == 1
			}
		}
		return c.constant(arg)
	case cue.NotEqualOp:
		return c.unequal(arg)
	}
	if arg.Kind()&cue.NumberKind == 0 {
		k, _ := jsonKinds(arg.Kind())
		return c.open(k, "an order of values that are no numbers")
	}
	d, ok := decimalOf(arg)
	if !ok {
		return c.open(numberKind, "a number out of all proportion")
	}
	s := ofKind(numberKind)
	b := &edge{decimal: d, open: op == cue.LessThanOp || op == cue.GreaterThanOp}
	if op == cue.LessThanOp || op == cue.LessThanEqualOp {
		s.num.max = b
	} else {
		s.num.min = b
	}
	return s
}

func (c *compiler) unequal(arg cue.Value) *shape {
	switch arg.Kind() {
	case cue.NullKind:
		return ofKind(anyKind &^ nullKind)
	case cue.StringKind:
		t, _ := arg.String()
		if t == "" {
			return &shape{kinds: stringKind, str: texts{min: 1}, exact: true}
		}
		return &shape{kinds: stringKind, str: texts{not: []string{t}}, exact: true}
	case cue.IntKind, cue.FloatKind:
		if d, ok := decimalOf(arg); ok {
			return &shape{kinds: numberKind, num: numbers{not: []decimal{d}}, exact: true}
		}
	}
	k, _ := jsonKinds(arg.Kind())
	return c.open(k, "inequality with a struct or list")
}

// jsonKinds gives the JSON types that values of a CUE kind have; exact is false
// when CUE refuses some values of them.
func jsonKinds(k cue.Kind) (kinds, bool) {
	var r kinds
	for _, e := range []struct {
		cue  cue.Kind
		json kinds
	}{
		{cue.NullKind, nullKind},
		{cue.BoolKind, boolKind},
		{cue.IntKind, numberKind},
		{cue.FloatKind, numberKind},
		{cue.StringKind, stringKind},
		{cue.ListKind, arrayKind},
		{cue.StructKind, objectKind},
	} {
		if k&e.cue != 0 {
			r |= e.json
		}
	}
	return r, k&cue.NumberKind != cue.FloatKind
}
