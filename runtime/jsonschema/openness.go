package jsonschema

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue"
)

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
	top := c.ctx().CompileString("_")
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
