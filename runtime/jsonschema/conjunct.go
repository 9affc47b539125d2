package jsonschema

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// conjunct is one part of a value that is put together by &, by embedding or
// by several declarations.
type conjunct struct {
	v    cue.Value
	op   cue.Op
	args []cue.Value
	// content says that it declares members or elements; choice that it does
	// so in alternatives.
	content, choice bool
	// target is what a reference led to.
	target cue.Value
}

// conjuncts takes v apart. asts collects the syntax of all that it meets.
func (c *compiler) conjuncts(v cue.Value, target cue.Value, depth int, asts *[]ast.Node) []conjunct {
	src := expression(v.Source())
	if src != nil {
		*asts = append(*asts, src)
		c.scopes.add(src)
	}
	op, args := c.expr(v)
	if depth > maxReferences {
		return []conjunct{{v: v, op: op, args: args}}
	}
	switch op {
	case cue.AndOp:
		var all []conjunct
		st, _ := src.(*ast.StructLit)
		for _, a := range args {
			if st != nil && a.Source() == nil && !declares(st) {
				continue // what is left of {x, #A: …} without x
			}
			all = append(all, c.conjuncts(a, target, depth+1, asts)...)
		}
		return all
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			return c.conjuncts(args[0], target, depth+1, asts)
		}
		if !isLet(src) {
			break
		}
		fallthrough
	case cue.SelectorOp, cue.IndexOp:
		if c.scopes.depends(src) {
			break
		}
		if d, ok := c.follow(v); ok {
			if dop, _ := c.expr(d); dop != cue.SelectorOp && dop != cue.IndexOp {
				return c.conjuncts(d, d, depth+1, asts)
			}
		}
	case cue.CallOp:
		if isClose(args) {
			return c.conjuncts(args[1], target, depth+1, asts)
		}
	}
	content, choice := c.content(v, op, args)
	return []conjunct{{v: v, op: op, args: args, content: content, choice: choice, target: target}}
}

// declares says that there are members in a struct literal beside what it
// embeds, and beside definitions and the like.
func declares(st *ast.StructLit) bool {
	return slices.ContainsFunc(st.Elts, func(e ast.Decl) bool {
		switch e := e.(type) {
		case *ast.Field:
			label, ok := e.Label.(*ast.Ident)
			return !ok || !strings.HasPrefix(label.Name, "_") && !strings.HasPrefix(label.Name, "#")
		case *ast.Ellipsis, *ast.Comprehension:
			return true
		}
		return false
	})
}

// content says whether a conjunct declares members or elements.
func (c *compiler) content(v cue.Value, op cue.Op, args []cue.Value) (content, choice bool) {
	switch op {
	case cue.OrOp:
		for _, a := range args {
			aop, aargs := c.expr(a)
			if aop == cue.AndOp || aop == cue.SelectorOp || aop == cue.IndexOp || isClose(aargs) && aop == cue.CallOp {
				if a.IncompleteKind()&(cue.StructKind|cue.ListKind) != 0 || a.Err() != nil {
					return true, true
				}
				continue
			}
			if in, _ := c.content(a, aop, aargs); in {
				return true, true
			}
		}
		return false, false
	case cue.NoOp:
		if _, ok := v.Source().(*ast.StructLit); ok && v.Err() != nil {
			return true, false
		}
		k := v.IncompleteKind()
		return k == cue.StructKind || k == cue.ListKind, false
	case cue.CallOp:
		if e, _ := c.expr(c.eval(v)); e == cue.CallOp {
			return false, false // a validator
		}
		k := v.IncompleteKind()
		return k == cue.StructKind || k == cue.ListKind, false
	}
	return false, false
}

// conjunction is what all parts of v accept together.
func (c *compiler) conjunction(v cue.Value) *shape {
	var asts []ast.Node
	parts := c.conjuncts(v, cue.Value{}, 0, &asts)
	var contents []conjunct
	s := anything
	for _, p := range parts {
		if p.content {
			contents = append(contents, p)
		}
	}
	if len(contents) > 0 {
		unfolded := len(c.merging)
		for _, p := range contents {
			if !p.target.Exists() {
				continue
			}
			n := 0
			for _, m := range c.merging {
				if m == p.target {
					n++
				}
			}
			if n >= maxUnfolded {
				c.merging = c.merging[:unfolded]
				return c.open(anyKind, "a definition within itself, together with something else")
			}
			c.merging = append(c.merging, p.target)
		}
		s = c.contents(v, contents, asts)
		c.merging = c.merging[:unfolded]
	}
	for _, p := range parts {
		if !p.content {
			s = c.restrict(s, c.leaf(p.v, p.op, p.args))
		}
	}
	return s
}

// contents is what the members and elements of v may be.
func (c *compiler) contents(v cue.Value, contents []conjunct, asts []ast.Node) *shape {
	choices := 0
	var kinds cue.Kind
	for _, p := range contents {
		if p.choice {
			choices++
		} else {
			kinds |= kindOf(p.v)
		}
	}
	if kinds == cue.StructKind|cue.ListKind {
		return &shape{exact: true}
	}
	switch {
	case len(contents) == 1 && choices == 1:
		return c.disjunction(contents[0].args)
	case choices == 0:
		if kinds == cue.ListKind && v.Err() != nil {
			// A validator makes an error of a list that only lacks something
			// yet.
			v = unify(contents)
		}
		if kinds == cue.StructKind && !isCycle(v.Err()) {
			return c.object(v, asts)
		}
		return c.literal(v, asts)
	}
	// CUE drops alternatives that lead back to where they stand.
	for _, p := range contents {
		if p.choice && c.returns(p.v, 0) {
			return c.open(anyKind, "a definition within itself, together with something else")
		}
	}
	// Where nothing is closed, each part says all it says by itself.
	if s, ok := c.apart(contents); ok {
		return s
	}
	if v.Err() != nil {
		return c.open(anyKind, "alternatives within alternatives, and a condition on all of them")
	}
	combinations, ok := c.combinations(contents)
	e := c.eval(v)
	op, args := c.expr(e)
	if op == cue.NoOp && len(args) == 1 && args[0] != e {
		e = args[0]
		op, args = c.expr(e)
	}
	if got := len(args); !ok || op == cue.OrOp && got != combinations || op != cue.OrOp && combinations != 1 {
		// CUE takes alternatives for the same that differ in patterns or in
		// the types of elements only.
		return c.open(anyKind, "alternatives within alternatives")
	}
	exact := !slices.ContainsFunc(contents, func(p conjunct) bool { return p.choice && c.validated(p.v, 0) })
	if !exact {
		c.gap("conditions within alternatives")
	}
	var s *shape
	if op == cue.OrOp {
		arms := make([]*shape, len(args))
		for i, a := range args {
			arms[i] = c.arm(a, asts)
		}
		s = c.union(arms)
	} else {
		s = c.arm(e, asts)
	}
	if s.letsIn() {
		// One part lets in other members, another may not.
		c.gap("definitions that close each other")
		exact = false
	}
	if !exact {
		s = s.inexact()
	}
	return s
}

// combinations counts the ways to take one alternative of each part that do not
// contradict each other; ok is false when they are too many to tell.
func (c *compiler) combinations(contents []conjunct) (n int, ok bool) {
	c.quiet++
	defer func() { c.quiet-- }()
	const most = 64
	all := [][]*shape{nil}
	for _, p := range contents {
		arms, ok := c.arms(p, 0)
		if !ok || len(arms)*len(all) > most {
			return 0, false
		}
		var next [][]*shape
		for _, taken := range all {
			for _, arm := range arms {
				if !slices.ContainsFunc(taken, func(s *shape) bool { return s.contradicts(arm) }) {
					next = append(next, append(slices.Clone(taken), arm))
				}
			}
		}
		all = next
	}
	return len(all), true
}

// arms gives the alternatives of a part, those within alternatives included.
func (c *compiler) arms(p conjunct, depth int) (arms []*shape, ok bool) {
	switch {
	case !p.choice:
		return []*shape{c.shape(p.v)}, true
	case depth > maxReferences:
		return nil, false
	}
	for _, a := range p.args {
		var asts []ast.Node
		parts := c.conjuncts(a, cue.Value{}, 0, &asts)
		choices := slices.ContainsFunc(parts, func(p conjunct) bool { return p.op == cue.OrOp })
		switch {
		case !choices:
			arms = append(arms, c.shape(a))
		case len(parts) == 1:
			parts[0].choice = true
			more, ok := c.arms(parts[0], depth+1)
			if !ok {
				return nil, false
			}
			arms = append(arms, more...)
		default:
			return nil, false
		}
	}
	return arms, true
}

// contradicts says that CUE finds an error in any value of both shapes.
func (s *shape) contradicts(t *shape) bool {
	if s.kinds&t.kinds == 0 {
		return true
	}
	if s.kinds&t.kinds != objectKind || len(s.also) > 0 || len(t.also) > 0 {
		return false
	}
	return slices.ContainsFunc(s.obj.props, func(p property) bool {
		return slices.ContainsFunc(t.obj.props, func(q property) bool {
			if p.name != q.name || p.mark == cue.OptionalConstraint && q.mark == cue.OptionalConstraint {
				return false
			}
			one, ok := p.of.finite()
			other, ok2 := q.of.finite()
			return p.of.kinds&q.of.kinds == 0 ||
				ok && ok2 && !slices.ContainsFunc(one, func(v string) bool { return slices.Contains(other, v) })
		})
	})
}

// letsIn says that the shape expressly lets in members that it does not name.
func (s *shape) letsIn() bool {
	return s.kinds&objectKind != 0 && s.obj.open || slices.ContainsFunc(s.also, func(cl clause) bool {
		return cl.op == opAny && slices.ContainsFunc(cl.of, (*shape).letsIn)
	})
}

// kindOf is the kind of a literal, also when it is an error.
func kindOf(v cue.Value) cue.Kind {
	switch expression(v.Source()).(type) {
	case *ast.StructLit:
		if v.Err() != nil {
			return cue.StructKind
		}
	case *ast.ListLit:
		return cue.ListKind
	}
	return v.IncompleteKind()
}

// arm is one alternative that CUE worked out.
func (c *compiler) arm(a cue.Value, asts []ast.Node) *shape {
	if a.IncompleteKind()&(cue.StructKind|cue.ListKind) == 0 {
		return c.evaluated(a)
	}
	return c.literal(a, asts)
}

// apart finds what each part accepts by itself, if none is closed.
func (c *compiler) apart(contents []conjunct) (*shape, bool) {
	gaps, findings, defs := len(c.gaps), len(c.findings), len(c.defs)
	s := anything
	for _, p := range contents {
		var t *shape
		if p.choice {
			t = c.disjunction(p.args)
		} else {
			t = c.literal(p.v, []ast.Node{expression(p.v.Source())})
		}
		if !t.open() {
			c.gaps, c.findings, c.defs = c.gaps[:gaps], c.findings[:findings], c.defs[:defs]
			return nil, false
		}
		s = and(s, t)
	}
	return s, true
}

// open says that the shape, to its depth, refuses no member for its name.
func (s *shape) open() bool {
	closed := func(t *shape) bool { return t != nil && !t.open() }
	if s.kinds&objectKind != 0 && (s.obj.closed || closed(s.obj.rest) ||
		slices.ContainsFunc(s.obj.props, func(p property) bool { return closed(p.of) }) ||
		slices.ContainsFunc(s.obj.patterns, func(p pattern) bool { return closed(p.of) })) {
		return false
	}
	if s.kinds&arrayKind != 0 && (closed(s.arr.rest) || slices.ContainsFunc(s.arr.prefix, closed)) {
		return false
	}
	return !slices.ContainsFunc(s.also, func(cl clause) bool {
		return cl.op == opRef || cl.op == opAny && slices.ContainsFunc(cl.of, closed)
	})
}

// unify puts parts together again.
func unify(parts []conjunct) cue.Value {
	v := parts[0].v
	for _, p := range parts[1:] {
		v = v.Unify(p.v)
	}
	return v
}

// validated says whether there are validators in the alternatives of v.
func (c *compiler) validated(v cue.Value, depth int) bool {
	op, args := c.expr(v)
	switch op {
	case cue.CallOp:
		if !isClose(args) {
			return true
		}
		args = args[1:]
	case cue.SelectorOp, cue.IndexOp:
		d, ok := c.follow(v)
		if !ok {
			return true
		}
		args = []cue.Value{d}
	case cue.AndOp, cue.OrOp:
	case cue.NoOp:
		if len(args) != 1 || args[0] == v {
			return false
		}
	default:
		return false
	}
	return depth > maxReferences || slices.ContainsFunc(args, func(a cue.Value) bool { return c.validated(a, depth+1) })
}

// returns says whether v refers to a definition that it is part of.
func (c *compiler) returns(v cue.Value, depth int) bool {
	op, args := c.expr(v)
	switch op {
	case cue.AndOp, cue.OrOp:
	case cue.SelectorOp, cue.IndexOp:
		d, ok := c.follow(v)
		if !ok {
			return false
		}
		if slices.Contains(c.merging, d) || slices.ContainsFunc(c.frames, func(f *frame) bool { return f.target == d }) {
			return true
		}
		args = []cue.Value{d}
	default:
		return false
	}
	return depth > maxReferences || slices.ContainsFunc(args, func(a cue.Value) bool { return c.returns(a, depth+1) })
}

// disjunction is what one of the alternatives accepts.
func (c *compiler) disjunction(args []cue.Value) *shape {
	arms := make([]*shape, len(args))
	for i, a := range args {
		arms[i] = c.alternative(a)
	}
	return c.union(arms)
}

func (c *compiler) union(arms []*shape) *shape {
	s := or(arms, c.operand == 0)
	if !s.exact && !slices.ContainsFunc(arms, func(a *shape) bool { return !a.exact }) {
		c.gap("alternatives that overlap")
	}
	return s
}

// restrict is and for a condition over whole values. CUE looks at a value after
// it has filled it in, so where it does, a condition says nothing of what the
// caller gave.
func (c *compiler) restrict(s, by *shape) *shape {
	whole := len(by.also) > 0 || !by.obj.free() || by.arr.contains != nil
	if !s.fills && len(s.pending) == 0 || s.kinds&by.kinds&(arrayKind|objectKind) == 0 {
		return and(s, by)
	}
	if !whole {
		s = and(s, by)
		if by.arr.unique {
			c.gap("elements that are the same once constants or defaults are filled in")
			s = s.inexact()
		}
		return s
	}
	c.gap("a condition on a value in which constants or defaults are filled in")
	bare := *by
	bare.also, bare.obj, bare.arr.contains, bare.exact = nil, members{}, nil, false
	return and(s, &bare)
}
