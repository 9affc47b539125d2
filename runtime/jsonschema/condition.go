package jsonschema

import (
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// undecided says that CUE takes other values than structs as well: it does when
// a struct holds nothing for certain and conditions that may bring something.
func (c *compiler) undecided(v cue.Value, asts []ast.Node) bool {
	conditional := false
	for _, n := range asts {
		structs(n, func(st *ast.StructLit) {
			conditional = conditional || slices.ContainsFunc(st.Elts, func(e ast.Decl) bool {
				_, ok := e.(*ast.Comprehension)
				return ok
			})
		})
	}
	return conditional && v.Unify(c.ctx().CompileString("null")).Err() == nil
}

// altered is for structs whose members change with the arguments, by
// comprehensions or computed names; nil for others.
func (c *compiler) altered(v cue.Value, asts []ast.Node) *shape {
	changes, stated := false, true
	var when []string
	for _, n := range asts {
		structs(n, func(st *ast.StructLit) {
			if !c.scopes.alters(st) {
				return
			}
			changes = true
			names, ok := c.presences(st)
			stated = stated && ok
			for _, n := range names {
				if !slices.Contains(when, n) {
					when = append(when, n)
				}
			}
		})
	}
	switch {
	case !changes:
		return nil
	case !stated:
		return c.openObject("members that depend on other members")
	}
	// What holds when a member is there can be stated: if x != _|_ {…}.
	s := c.fields(v)
	if s.kinds != objectKind || len(s.also) > 0 {
		return c.openObject("members that depend on other members")
	}
	for _, name := range when {
		then, more := c.given(v, s, name)
		if more == nil {
			// It may bring members with it that are not known.
			c.gap("what holds when %s is given", name)
			s.exact = false
			s.obj.open, s.obj.closed = s.obj.open || s.obj.closed, false
			continue
		}
		s.take(then)
		s.also = append(s.also, clause{op: opIfMember, name: name, of: []*shape{more}})
	}
	return s
}

// openObject is an object of which nothing can be said.
func (c *compiler) openObject(format string, args ...any) *shape {
	s := c.open(objectKind, format, args...)
	s.obj.open = c.operand == 0
	return s
}

// witnesses are values to fill in for a member, to see what it brings with it.
const witnesses = `[_, "", "a", 0, 1, 0.5, true, null, [], {}]`

// given finds what holds when a member is there: then is all of it, more what
// is not in s. Both are nil when it does not come to light.
func (c *compiler) given(v cue.Value, s *shape, name string) (then, more *shape) {
	it, err := c.ctx().CompileString(witnesses).List()
	for i := 0; err == nil && it.Next(); i++ {
		w := v.FillPath(cue.MakePath(cue.Str(name)), it.Value())
		if op, _ := c.expr(c.eval(w)); w.Err() != nil || w.IncompleteKind() != cue.StructKind || op != cue.NoOp {
			continue
		}
		then = c.fields(w)
		if i > 0 {
			// What it says of the member itself is hidden by the witness.
			c.gap("what more holds of %s when it is given", name)
			then.obj.props = slices.DeleteFunc(then.obj.props, func(p property) bool { return p.name == name })
			then.exact = false
		}
		if more = c.beyond(s, then, name); more != nil {
			return then, more
		}
	}
	return nil, nil
}

// beyond is what then says of objects that s does not; nil when that is
// nothing. Members that only then can be there are let in by s.
func (c *compiler) beyond(s, then *shape, name string) *shape {
	w := &writer{defs: c.defs}
	text := func(p property) string { return string(w.schema(p.of, nil, notes{}).bytes()) }
	more := &shape{kinds: anyKind, exact: then.exact, fills: then.fills, pending: then.pending}
	for _, p := range then.obj.props {
		i := slices.IndexFunc(s.obj.props, func(q property) bool { return q.name == p.name })
		if i < 0 && s.obj.closed {
			q := p
			q.required = false
			s.obj.props = append(s.obj.props, q)
			s.exact = false
			i = len(s.obj.props) - 1
		}
		p.notes = notes{}
		p.required = p.required && p.name != name
		if i < 0 || text(s.obj.props[i]) != text(p) || p.required && !s.obj.props[i].required {
			if i >= 0 && text(s.obj.props[i]) == text(p) {
				more.obj.need = append(more.obj.need, p.name)
				continue
			}
			more.obj.props = append(more.obj.props, p)
		}
	}
	if !s.exact {
		c.gap("members that may only be given together with %s", name)
	}
	if !more.obj.names() {
		return nil
	}
	return more
}

// presences lists the members on whose presence the comprehensions of a struct
// hang, as in if x != _|_ {…}; ok is false when there are other conditions.
func (c *compiler) presences(st *ast.StructLit) (names []string, ok bool) {
	for _, e := range st.Elts {
		f, isField := e.(*ast.Field)
		if isField {
			switch f.Label.(type) {
			case *ast.ParenExpr, *ast.Interpolation:
				return nil, false
			}
		}
		comp, ok := e.(*ast.Comprehension)
		if !ok {
			continue
		}
		name, ok := presence(st, comp)
		body, isStruct := comp.Value.(*ast.StructLit)
		if !ok || !isStruct || comp.Fallback != nil || c.scopes.alters(body) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// presence is the name of the optional member of st that a comprehension waits
// for.
func presence(st *ast.StructLit, comp *ast.Comprehension) (string, bool) {
	if len(comp.Clauses) != 1 {
		return "", false
	}
	clause, ok := comp.Clauses[0].(*ast.IfClause)
	if !ok {
		return "", false
	}
	cond, ok := clause.Condition.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ {
		return "", false
	}
	id, isName := cond.X.(*ast.Ident)
	if _, ok := cond.Y.(*ast.BottomLit); !ok || !isName || id.Scope != st {
		return "", false
	}
	found, ok := "", false
	for _, e := range st.Elts {
		f, isField := e.(*ast.Field)
		if !isField {
			continue
		}
		label := f.Label
		name, _, _ := ast.LabelName(label)
		if a, ok := label.(*ast.Alias); ok && a.Ident.Name == id.Name {
			name, _, _ = ast.LabelName(a.Expr.(ast.Label))
		} else if i, ok := label.(*ast.Ident); !ok || i.Name != id.Name {
			continue
		}
		if f.Constraint != token.OPTION {
			return "", false // always there, or always to come
		}
		found, ok = name, true
	}
	return found, ok
}
