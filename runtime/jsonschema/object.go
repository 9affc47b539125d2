package jsonschema

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// object is what a struct accepts. asts is the syntax that it is made of.
func (c *compiler) object(v cue.Value, asts []ast.Node) *shape {
	s := c.altered(v, asts)
	if s == nil {
		s = c.fields(v)
	}
	if s.kinds == objectKind && c.undecided(v, asts) {
		r := *s
		r.kinds = anyKind
		return &r
	}
	return s
}

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
	return conditional && v.Unify(v.Context().CompileString("null")).Err() == nil
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
	if s.empty() && s.exact && c.operand == 0 && len(c.findings) == before {
		switch err := val.Err(); {
		case val.IncompleteKind() == cue.BytesKind:
			c.finding(val.Pos(), "no JSON value is bytes: write string")
		case err != nil && !forbids(val.Source()):
			c.finding(val.Pos(), "no value fits: %s", reason(err))
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
		case names.empty() && n.names.Err() != nil:
			s.kinds = noKind // an error for any object
			return
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

// names is what a pattern constraint says of names. What it leaves to CUE is
// noted by those who ask.
func (c *compiler) names(v cue.Value) *shape {
	gaps := len(c.gaps)
	defer func() { c.gaps = c.gaps[:gaps] }()
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
	list, ok := elements(v)
	if !ok {
		return c.open(arrayKind, "%s", reason(v.Err()))
	}
	element := func(e cue.Value, part string) *shape {
		of := c.at(part, func() *shape { return c.member(e) })
		s.take(of)
		return of
	}
	for i, e := range list {
		of := element(e, "["+strconv.Itoa(i)+"]")
		if of.empty() {
			return &shape{exact: of.exact}
		}
		s.arr.prefix = append(s.arr.prefix, of)
	}
	s.arr.min = len(s.arr.prefix)
	rest := v.LookupPath(cue.MakePath(cue.AnyIndex))
	if !rest.Exists() {
		if slices.ContainsFunc(asts, endless) {
			// CUE broke off before it came to the elements.
			return c.open(arrayKind, "elements that CUE does not work out")
		}
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

// endless says that a list literal ends in an ellipsis.
func endless(n ast.Node) bool {
	l, ok := n.(*ast.ListLit)
	if !ok || len(l.Elts) == 0 {
		return false
	}
	_, ok = l.Elts[len(l.Elts)-1].(*ast.Ellipsis)
	return ok
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
	it, err := v.Context().CompileString(witnesses).List()
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

// declared lists the names of a struct's fields in the order of their
// declaration, embedded ones where they are embedded. CUE gives them in an
// order of its own once a struct has several parts.
func (c *compiler) declared(v cue.Value, depth int) []string {
	if depth > maxReferences {
		return nil
	}
	op, args := c.expr(v)
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
	if st, ok := expression(v.Source()).(*ast.StructLit); ok {
		return labels(st)
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

// labels lists the names in a struct literal.
func labels(st *ast.StructLit) []string {
	var all []string
	for _, e := range st.Elts {
		if f, ok := e.(*ast.Field); ok {
			if name, _, err := ast.LabelName(f.Label); err == nil {
				all = append(all, name)
			}
		}
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
