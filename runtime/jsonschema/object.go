package jsonschema

import (
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// object is what a struct accepts. asts is the syntax that it is made of.
func (c *compiler) object(v cue.Value, asts []ast.Node) *shape {
	s := c.altered(v, asts)
	if s == nil {
		s = c.fields(v)
	}
	if s.kinds == objectKind && c.undecided(v, asts) {
		c.gap("other types than objects")
		r := *s
		r.kinds, r.exact = anyKind, false
		return &r
	}
	return s
}

// fields is what a struct accepts whose members are all in sight.
func (c *compiler) fields(v cue.Value) *shape {
	it, err := v.Fields(cue.All(), cue.Patterns(true))
	if err != nil {
		return c.openObject("%s", reason(err))
	}
	s := ofKind(objectKind)
	m := &s.obj
	var named []namePattern
	for it.Next() {
		sel, val := it.Selector(), it.Value()
		switch {
		case sel.ConstraintType() == cue.PatternConstraint:
			named = append(named, namePattern{sel.Pattern(), val})
			continue
		case sel.LabelType() != cue.StringLabel:
			c.hidden(sel, val)
			continue
		case val.IncompleteKind() == cue.BottomKind && notAllowed(val.Err()):
			// It can never be given.
			c.refused(sel, val)
			if sel.ConstraintType() != cue.OptionalConstraint && len(c.path) > 0 {
				return &shape{}
			}
			m.props = append(m.props, property{name: sel.Unquoted(), of: &shape{exact: true}, mark: cue.OptionalConstraint, val: val})
			continue
		}
		p := property{name: sel.Unquoted(), mark: sel.ConstraintType(), val: val}
		c.path = append(c.path, selectorPath(sel))
		p.of = c.member(val)
		switch p.mark {
		case cue.OptionalConstraint:
		case cue.RequiredConstraint:
			p.required = true
		default:
			// CUE fills in what it knows. In a validator's operand, a type
			// will do for a value.
			known := cue.Concrete(true)
			if c.operand > 0 {
				known = cue.Final()
			}
			p.required = !c.dependsOn(val) && (val.Validate(known) != nil || c.operand > 0 && c.lenient == 0 && failing(val))
			s.fills = true
			if c.operand == 0 && !p.required {
				p.notes.def = c.defaultOf(val)
			}
		}
		if c.operand == 0 {
			c.annotate(&p)
		}
		c.path = c.path[:len(c.path)-1]
		if p.of.empty() && p.required && len(c.path) > 0 {
			// Not exact: CUE keeps an alternative that only lacks something.
			return &shape{}
		}
		s.take(p.of)
		m.props = append(m.props, p)
	}
	if v.IncompleteKind() == cue.BottomKind && c.brokenOff(v, m.props) {
		return c.openObject("members that CUE does not work out")
	}
	c.openness(v, s, named)
	m.props = slices.DeleteFunc(m.props, func(p property) bool {
		return p.of.empty() && !p.required && m.closed && !slices.ContainsFunc(m.patterns, func(q pattern) bool { return matches(q.re, p.name) })
	})
	if len(m.props) > 1 {
		order(m.props, c.declared(v, 0))
	}
	return s
}

// brokenOff says that CUE stopped at an error before it came to all members.
func (c *compiler) brokenOff(v cue.Value, props []property) bool {
	return slices.ContainsFunc(c.declared(v, 0), func(name string) bool {
		hidden := strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#")
		return !hidden && !slices.ContainsFunc(props, func(p property) bool { return p.name == name })
	})
}

// failing says that there is an error anywhere in a value, if only of what may
// still come.
func failing(v cue.Value) bool {
	found := false
	v.Walk(func(v cue.Value) bool {
		found = found || v.Err() != nil
		return !found
	}, nil)
	return found
}

// take notes that the shape has one that is part of it.
func (s *shape) take(part *shape) {
	s.exact = s.exact && part.exact
	s.fills = s.fills || part.fills
	s.pending = union(s.pending, part.pending)
}

// member is what the field val of a struct accepts. That nothing fits is a
// finding, unless it says so itself.
func (c *compiler) member(val cue.Value) *shape {
	before := len(c.findings)
	s := c.shape(val)
	c.unfit(val, s, before, noValueFits)
	return s
}

// forbids says that the expression refuses expressly, by _|_ or error().
func forbids(n ast.Node) bool {
	found := false
	if n == nil {
		return false
	}
	ast.Walk(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BottomLit:
			found = true
		case *ast.Ident:
			found = found || n.Name == "error" && n.Node == nil
		}
		return !found
	}, nil)
	return found
}

// dependsOn says whether a field's value may change with the arguments.
func (c *compiler) dependsOn(v cue.Value) bool {
	src := v.Source()
	if c.scopes.depends(expression(src)) {
		return true
	}
	if _, ok := src.(*ast.Field); ok {
		return false // declared in one place
	}
	op, args := c.expr(v)
	return op == cue.AndOp && slices.ContainsFunc(args, c.dependsOn)
}

// hidden is for the fields of a struct that are no data.
func (c *compiler) hidden(sel cue.Selector, val cue.Value) {
	if sel.LabelType() == cue.HiddenLabel && sel.ConstraintType() != 0 && c.operand == 0 {
		name := strings.TrimRight(sel.String(), "?!")
		c.path = append(c.path, name)
		c.finding(val.Pos(), "a name that begins with _ is hidden and can never be given: write it in quotes, %q", name)
		c.path = c.path[:len(c.path)-1]
	}
}

// refused is for a field that a definition does not have which it is unified
// with.
func (c *compiler) refused(sel cue.Selector, val cue.Value) {
	if c.operand > 0 {
		return
	}
	c.at(selectorPath(sel), func() *shape {
		c.finding(val.Pos(), "not allowed by a definition that it is unified with: embed the definition instead, {#Definition, %s: …}", selectorPath(sel))
		return nil
	})
}

// selectorPath is the part of a CUE path for a field, without ? and !.
func selectorPath(sel cue.Selector) string {
	name := sel.Unquoted()
	if ast.IsValidIdent(name) {
		return name
	}
	return strconv.Quote(name)
}
