package jsonschema

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// object is what a struct accepts. asts is the syntax that it is made of.
func (c *compiler) object(v cue.Value, asts []ast.Node) *shape {
	if s := c.altered(v, asts); s != nil {
		return s
	}
	it, err := v.Fields(cue.All(), cue.Patterns(true))
	if err != nil {
		return c.open(objectKind, "%s", reason(err))
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
		case notAllowed(val.Err()):
			// It can never be given.
			c.refused(sel, val)
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
			// CUE fills in what it knows. A validator's operand need not even
			// be known.
			p.required = c.operand == 0 && !c.dependsOn(val) && val.Validate(cue.Concrete(true)) != nil
			s.fills = true
			if c.operand == 0 && !p.required {
				p.notes.def = c.defaultOf(val)
			}
		}
		if c.operand == 0 {
			c.annotate(&p)
		}
		c.path = c.path[:len(c.path)-1]
		if p.of.empty() && p.required {
			return &shape{exact: p.of.exact}
		}
		s.take(p.of)
		m.props = append(m.props, p)
	}
	c.openness(v, s, named)
	m.props = slices.DeleteFunc(m.props, func(p property) bool {
		return p.of.empty() && m.closed && !slices.ContainsFunc(m.patterns, func(q pattern) bool { return matches(q.re, p.name) })
	})
	if len(m.props) > 1 {
		order(m.props, c.declared(v, 0))
	}
	return s
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
	s := c.shape(val)
	if s.empty() && s.exact && !forbids(val.Source()) {
		if k := val.IncompleteKind(); k == cue.BytesKind {
			c.finding(val.Pos(), "no JSON value is bytes: write string")
		} else {
			c.finding(val.Pos(), "no value fits: %s", reason(val.Err()))
		}
	}
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
	if c.scopes.depends(expression(v.Source())) {
		return true
	}
	op, args := v.Expr()
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

// namePattern is a constraint on members whose names match.
type namePattern struct {
	names, value cue.Value
}

// openness says what other members there may be.
func (c *compiler) openness(v cue.Value, s *shape, named []namePattern) {
	m := &s.obj
	declared := len(m.props)
	open := v.LookupPath(cue.MakePath(cue.AnyString)).Exists()
	var unlike []*shape // names with exceptions
	var unlikeOf []*shape
	unknown := false
	for _, n := range named {
		names := c.names(n.names)
		of := c.at("[string]", func() *shape { return c.member(n.value) })
		t := names.str
		switch {
		case !names.solid() || names.kinds != stringKind || len(names.also) > 0:
			c.gap("a condition on names")
			unknown = true
			continue
		case t.free():
			open = false
			m.rest = andMaybe(m.rest, of)
		case t.enum != nil:
			for _, name := range t.enum {
				if !slices.ContainsFunc(m.props, func(p property) bool { return p.name == name }) {
					m.props = append(m.props, property{name: name, of: of, mark: cue.OptionalConstraint, val: n.value})
				}
			}
		case t.patterns == nil && t.min == 0 && t.max == nil && t.formats == nil:
			unlike = append(unlike, names)
			unlikeOf = append(unlikeOf, of)
		default:
			re, ok := t.expression()
			if !ok {
				c.gap("a condition on names")
				unknown = true
				continue
			}
			m.patterns = append(m.patterns, pattern{re, of})
		}
		s.take(of)
	}
	if m.rest != nil {
		for i := range m.patterns {
			m.patterns[i].of = and(m.patterns[i].of, m.rest)
		}
		for i := declared; i < len(m.props); i++ {
			m.props[i].of = and(m.props[i].of, m.rest)
		}
	}
	if unknown {
		s.exact = false
	}
	closed := v.IsClosed() && !open && m.rest == nil || c.operand == 0 && !open && m.rest == nil
	if c.operand == 0 && open && !unknown {
		m.open = true
		if v.IsClosed() && c.probe(v) {
			// One definition lets others in, another it is unified with not.
			m.open, closed = false, true
			c.gap("definitions that close each other")
			s.exact = false
		}
	}
	if len(unlike) > 0 {
		closed = c.exceptions(s, unlike, unlikeOf, closed)
	}
	m.closed = closed && !unknown
	if unknown && (c.operand > 0 && v.IsClosed() || c.operand == 0) {
		m.open = true
	}
}

func andMaybe(a, b *shape) *shape {
	if a == nil {
		return b
	}
	return and(a, b)
}

// probe says whether a member of an unheard-of name is refused.
func (c *compiler) probe(v cue.Value) bool {
	name := cue.Str("\u0001")
	top := v.Context().CompileString("_")
	return notAllowed(v.FillPath(cue.MakePath(name), top).LookupPath(cue.MakePath(name)).Err())
}

// exceptions states constraints on all members but those whose names match
// something, [!~"^x-"]: T. additionalProperties can say that when the
// exceptions are stated beside it.
func (c *compiler) exceptions(s *shape, unlike, of []*shape, closed bool) bool {
	m := &s.obj
	if len(unlike) > 1 || m.rest != nil {
		c.gap("several conditions on the names of other members")
		s.exact = false
		return false
	}
	t := unlike[0].str
	names := slices.Clone(t.not)
	covered := 0
	for _, re := range t.unlike {
		if list, ok := literals(re); ok {
			names = append(names, list...)
		} else if slices.ContainsFunc(m.patterns, func(p pattern) bool { return p.re == re }) {
			covered++
		} else {
			m.patterns = append(m.patterns, pattern{re, anything})
			covered++
			s.exact = s.exact && !closed
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(m.props, func(p property) bool { return p.name == n }) {
			m.props = append(m.props, property{name: n, of: anything, mark: cue.OptionalConstraint})
			s.exact = s.exact && !closed
		}
	}
	if covered < len(m.patterns) {
		s.exact = false // members that match another pattern escape it
	}
	if !s.exact {
		c.gap("a condition on the names of other members")
	}
	m.rest = of[0]
	return false
}

// names is what a pattern constraint says of names.
func (c *compiler) names(v cue.Value) *shape {
	c.quiet++
	defer func() { c.quiet-- }()
	return c.shape(v)
}

// expression gives a regular expression for the set of strings.
func (t texts) expression() (string, bool) {
	switch {
	case t.formats != nil || t.not != nil || t.unlike != nil || len(t.patterns) > 1:
		return "", false
	case len(t.patterns) == 1:
		return t.patterns[0], t.min == 0 && t.max == nil
	}
	const most = 1000 // RE2 repeats no more
	re := `^[\s\S]{` + strconv.Itoa(t.min) + ","
	if t.max != nil {
		re += strconv.Itoa(*t.max)
	}
	return re + "}$", t.min <= most && (t.max == nil || *t.max <= most)
}

// list is what a list accepts. asts is the syntax that it is made of.
func (c *compiler) list(v cue.Value, asts []ast.Node) *shape {
	for _, n := range asts {
		if l, ok := n.(*ast.ListLit); ok {
			for _, e := range l.Elts {
				if e, ok := e.(*ast.Comprehension); ok && c.scopes.depends(e) {
					return c.open(arrayKind, "depends on another argument")
				}
			}
		}
	}
	s := ofKind(arrayKind)
	it, err := v.List()
	if err != nil {
		return c.open(arrayKind, "%s", reason(err))
	}
	element := func(e cue.Value, part string) *shape {
		of := c.at(part, func() *shape { return c.member(e) })
		s.take(of)
		return of
	}
	for i := 0; it.Next(); i++ {
		of := element(it.Value(), "["+strconv.Itoa(i)+"]")
		if of.empty() {
			return &shape{exact: of.exact}
		}
		s.arr.prefix = append(s.arr.prefix, of)
	}
	s.arr.min = len(s.arr.prefix)
	rest := v.LookupPath(cue.MakePath(cue.AnyIndex))
	if !rest.Exists() {
		s.arr.max = &s.arr.min
		return s
	}
	s.arr.rest = element(rest, "[]")
	if s.arr.rest.isAny() {
		s.arr.rest = nil
		if !slices.ContainsFunc(s.arr.prefix, func(p *shape) bool { return !p.isAny() }) {
			s.arr.prefix = nil
		}
	} else if s.arr.rest.empty() {
		s.arr.rest, s.arr.max = nil, &s.arr.min
	}
	return s
}

// altered is for structs whose members change with the arguments, by
// comprehensions; nil for others. One form can be stated: what holds when a
// member is there, if x != _|_ {…}.
func (c *compiler) altered(v cue.Value, asts []ast.Node) *shape {
	changes := false
	var when []string
	for _, n := range asts {
		structs(n, func(st *ast.StructLit) {
			if !c.scopes.alters(st) {
				return
			}
			changes = true
			names, ok := c.presence(st)
			if !ok {
				when = nil
				return
			}
			for _, n := range names {
				if !slices.Contains(when, n) {
					when = append(when, n)
				}
			}
		})
	}
	if !changes {
		return nil
	}
	s := c.open(objectKind, "members that depend on other arguments")
	if c.operand > 0 || len(when) == 0 || len(when) > 8 || len(asts) == 0 {
		return s
	}
	return s
}

// presence lists the members on whose presence the comprehensions of a struct
// hang; ok is false when there are others.
func (c *compiler) presence(st *ast.StructLit) (names []string, ok bool) {
	return nil, false
}

// declared lists the names of a struct's fields in the order of their
// declaration, embedded ones where they are embedded. CUE gives them in an
// order of its own once a struct has several parts.
func (c *compiler) declared(v cue.Value, depth int) []string {
	if depth > maxReferences {
		return nil
	}
	op, args := v.Expr()
	switch op {
	case cue.SelectorOp, cue.IndexOp:
		if d, ok := c.follow(v); ok {
			return c.declared(d, depth+1)
		}
	case cue.CallOp:
		if isClose(args) {
			return c.declared(args[1], depth+1)
		}
	case cue.OrOp:
		var all []string
		for _, a := range args {
			all = append(all, c.declared(a, depth+1)...)
		}
		return all
	case cue.AndOp:
		if st, ok := expression(v.Source()).(*ast.StructLit); ok {
			// The parts are the embedded values, then the fields.
			var all []string
			i := 0
			for _, e := range st.Elts {
				switch e := e.(type) {
				case *ast.EmbedDecl:
					if i < len(args) {
						all = append(all, c.declared(args[i], depth+1)...)
						i++
					}
				case *ast.Field:
					if name, _, err := ast.LabelName(e.Label); err == nil {
						all = append(all, name)
					}
				}
			}
			return all
		}
		var all []string
		for _, a := range args {
			all = append(all, c.declared(a, depth+1)...)
		}
		return all
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			return c.declared(args[0], depth+1)
		}
	}
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return nil
	}
	var all []string
	for it.Next() {
		all = append(all, it.Selector().Unquoted())
	}
	return all
}

// order sorts properties by the place of their names in a list; others stay
// behind them in the order in which they are.
func order(props []property, names []string) {
	at := make(map[string]int, len(names))
	for i, n := range names {
		if _, ok := at[n]; !ok {
			at[n] = i
		}
	}
	place := func(p property) int {
		if i, ok := at[p.name]; ok {
			return i
		}
		return math.MaxInt
	}
	slices.SortStableFunc(props, func(a, b property) int {
		pa, pb := place(a), place(b)
		switch {
		case pa < pb:
			return -1
		case pa > pb:
			return 1
		}
		return 0
	})
}
