package jsonschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// writer writes shapes as JSON Schema, draft 2020-12, compactly and portably:
// the root is an object with properties, an array has items, true and false
// stand only for additionalProperties, and nothing is said twice.
type writer struct {
	defs []*frame
}

// document writes the whole schema. rooted makes sure that it is an object with
// properties.
func (w *writer) document(s *shape, rooted bool) json.RawMessage {
	k := w.schema(s, nil, notes{})
	if rooted && !k.has("properties") {
		k.insert("properties", []byte("{}"), 1)
	}
	if len(w.defs) > 0 {
		defs := &keywords{}
		for _, f := range w.defs {
			defs.add(f.name, w.schema(f.shape, nil, notes{}).bytes())
		}
		k.add("$defs", defs.bytes())
	}
	return k.bytes()
}

// keywords is a JSON object in the making.
type keywords struct {
	names  []string
	values [][]byte
	more   [][]byte // for allOf: keywords that are there already
}

func (k *keywords) has(name string) bool { return slices.Contains(k.names, name) }

func (k *keywords) add(name string, value []byte) {
	if k.has(name) {
		one := &keywords{}
		one.add(name, value)
		k.more = append(k.more, one.bytes())
		return
	}
	k.names = append(k.names, name)
	k.values = append(k.values, value)
}

func (k *keywords) insert(name string, value []byte, at int) {
	at = min(at, len(k.names))
	k.names = slices.Insert(k.names, at, name)
	k.values = slices.Insert(k.values, at, value)
}

func (k *keywords) bytes() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, n := range k.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(text(n))
		b.WriteByte(':')
		b.Write(k.values[i])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// text is s as a JSON string, with <, > and & as they are.
func text(s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(s) // a string can always be encoded
			return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		}
	}
	return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
}

func array(items [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}

func integer(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// schema writes s. given is what is known where it stands, nil for nothing: its
// types are not said again.
func (w *writer) schema(s *shape, given *shape, n notes) *keywords {
	k := &keywords{}
	literal, rest := s.split()
	arms := s.alternatives(literal != nil && rest != nil)
	typed := given == nil || s.kinds&given.kinds != given.kinds || s.kinds&numberKind != 0 && s.num.whole() && !given.num.whole()
	switch {
	case s.empty():
		k.add("not", []byte("{}"))
	case len(s.also) == 1 && s.also[0].op == opRef:
		k.add("$ref", text("#/$defs/"+s.also[0].ref.name))
	case s.kinds == anyKind && !s.num.integer || arms != nil || literal != nil && rest != nil || !typed:
	default:
		k.add("type", s.types())
	}
	if n.doc != "" {
		k.add("description", text(n.doc))
	}
	switch {
	case s.empty():
	case literal != nil && rest != nil:
		k.add("anyOf", array([][]byte{w.schema(literal, nil, notes{}).bytes(), w.schema(rest, nil, notes{}).bytes()}))
	case literal != nil:
		// An enum of one text says what const says, to APIs that know no const too; an
		// enum of other values those refuse as well.
		if one := literal.literals(); len(one) == 1 && one[0][0] != '"' {
			k.add("const", one[0])
		} else {
			k.add("enum", array(one))
		}
		for _, f := range s.str.formats {
			k.add("format", text(f))
		}
	default:
		w.facets(k, s)
	}
	w.clauses(k, s, arms)
	if len(k.more) > 0 {
		k.add("allOf", array(k.more))
		k.more = nil
	}
	if n.def != nil {
		k.add("default", n.def)
	}
	if n.examples != nil {
		k.add("examples", array(n.examples))
	}
	return k
}

// split takes enumerations apart from what is open: literal is nil when there
// are none, rest when there is nothing else. null and boolean go with either.
func (s *shape) split() (literal, rest *shape) {
	finite := noKind
	if s.kinds&stringKind != 0 && s.str.enum != nil {
		finite |= stringKind
	}
	if s.kinds&numberKind != 0 && s.num.enum != nil {
		finite |= numberKind
	}
	if s.kinds&boolKind != 0 && s.bools != 0 {
		finite |= boolKind
	}
	if finite == noKind {
		return nil, nil
	}
	l := *s
	l.also = nil
	if s.kinds&^(finite|boolKind|nullKind) == 0 {
		return &l, nil
	}
	r := l
	l.kinds &= finite
	r.kinds &^= finite
	return &l, &r
}

// literals are the values of a finite shape, as JSON.
func (s *shape) literals() [][]byte {
	var all [][]byte
	if s.kinds&stringKind != 0 {
		for _, t := range s.str.enum {
			all = append(all, text(t))
		}
	}
	if s.kinds&numberKind != 0 {
		for _, d := range s.num.enum {
			all = append(all, []byte(d.text))
		}
	}
	if s.kinds&boolKind != 0 {
		if s.bools != onlyTrue {
			all = append(all, []byte("false"))
		}
		if s.bools != onlyFalse {
			all = append(all, []byte("true"))
		}
	}
	if s.kinds&nullKind != 0 {
		all = append(all, []byte("null"))
	}
	return all
}

// types is the value of the keyword type.
func (s *shape) types() []byte {
	var names [][]byte
	for _, t := range typeNames {
		if s.kinds&t.kind != 0 {
			name := t.name
			if t.kind == numberKind && s.num.whole() {
				name = "integer"
			}
			names = append(names, text(name))
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return array(names)
}

var typeNames = []struct {
	kind kinds
	name string
}{
	{stringKind, "string"},
	{numberKind, "number"},
	{boolKind, "boolean"},
	{arrayKind, "array"},
	{objectKind, "object"},
	{nullKind, "null"},
}

// facets writes what is said of each type.
func (w *writer) facets(k *keywords, s *shape) {
	if s.kinds&stringKind != 0 {
		for _, f := range s.str.formats {
			k.add("format", text(f))
		}
		if s.str.min > 0 {
			k.add("minLength", integer(s.str.min))
		}
		if s.str.max != nil {
			k.add("maxLength", integer(*s.str.max))
		}
		for _, p := range s.str.patterns {
			k.add("pattern", text(p))
		}
	}
	if s.kinds&numberKind != 0 {
		limit := func(b *edge, closed, open string) {
			switch {
			case b == nil:
			case b.open:
				k.add(open, []byte(b.text))
			default:
				k.add(closed, []byte(b.text))
			}
		}
		limit(s.num.min, "minimum", "exclusiveMinimum")
		limit(s.num.max, "maximum", "exclusiveMaximum")
		for _, m := range s.num.multiples {
			k.add("multipleOf", []byte(m.text))
		}
	}
	if s.kinds&arrayKind != 0 && s.kinds != anyKind || !s.arr.free() {
		w.lists(k, s.arr)
	}
	if s.kinds&objectKind != 0 {
		w.members(k, s.obj)
	}
}

func (w *writer) lists(k *keywords, l lists) {
	items := anything
	if l.rest != nil {
		items = l.rest
	}
	rest := w.schema(items, nil, notes{}).bytes()
	var prefix [][]byte
	same := true
	for _, p := range l.prefix {
		b := w.schema(p, nil, notes{}).bytes()
		same = same && (len(prefix) == 0 || bytes.Equal(b, prefix[0]))
		prefix = append(prefix, b)
	}
	fixed := l.max != nil && *l.max == len(prefix)
	switch {
	case len(prefix) > 0 && same && (fixed || bytes.Equal(prefix[0], rest)):
		k.add("items", prefix[0])
	default:
		if len(prefix) > 0 {
			k.add("prefixItems", array(prefix))
		}
		k.add("items", rest)
	}
	if l.min > 0 {
		k.add("minItems", integer(l.min))
	}
	if l.max != nil {
		k.add("maxItems", integer(*l.max))
	}
	if l.unique {
		k.add("uniqueItems", []byte("true"))
	}
	for i, c := range l.contains {
		one := &keywords{}
		one.add("contains", w.schema(c.of, nil, notes{}).bytes())
		if c.min != 1 {
			one.add("minContains", integer(c.min))
		}
		if c.max != nil {
			one.add("maxContains", integer(*c.max))
		}
		if i > 0 {
			k.more = append(k.more, one.bytes())
			continue
		}
		for j, name := range one.names {
			k.add(name, one.values[j])
		}
	}
}

func (w *writer) members(k *keywords, m members) {
	var required [][]byte
	if len(m.props) > 0 {
		props := &keywords{}
		for _, p := range m.props {
			props.add(p.name, w.schema(p.of, nil, p.notes).bytes())
			if p.required {
				required = append(required, text(p.name))
			}
		}
		k.add("properties", props.bytes())
	}
	for _, n := range m.need {
		required = append(required, text(n))
	}
	if required != nil {
		k.add("required", array(required))
	}
	if len(m.patterns) > 0 {
		patterns := &keywords{}
		for i, p := range m.patterns {
			of := p.of
			for _, q := range m.patterns[:i] {
				if q.re == p.re {
					of = nil
				}
			}
			if of == nil {
				continue
			}
			for _, q := range m.patterns[i+1:] {
				if q.re == p.re {
					of = and(of, q.of)
				}
			}
			patterns.add(p.re, w.schema(of, nil, notes{}).bytes())
		}
		k.add("patternProperties", patterns.bytes())
	}
	switch {
	case m.rest != nil && m.rest.empty(), m.closed:
		k.add("additionalProperties", []byte("false"))
	case m.rest != nil && !m.rest.isAny():
		k.add("additionalProperties", w.schema(m.rest, nil, notes{}).bytes())
	case m.rest != nil || m.open:
		k.add("additionalProperties", []byte("true"))
	}
	if m.min > 0 {
		k.add("minProperties", integer(m.min))
	}
	if m.max != nil {
		k.add("maxProperties", integer(*m.max))
	}
}

// alternatives gives the arms that say the types of s by themselves, so that s
// need not; nil when there are none.
func (s *shape) alternatives(taken bool) []*shape {
	if taken || len(s.also) != 1 || s.also[0].op != opAny && s.also[0].op != opOne {
		return nil
	}
	var all kinds
	scalar := s.kinds&(arrayKind|objectKind) == 0
	arms := make([]*shape, len(s.also[0].of))
	for i, a := range s.also[0].of {
		arms[i] = a.within(s.kinds)
		all |= arms[i].kinds
		scalar = scalar && arms[i].kinds == s.kinds
	}
	if all != s.kinds || scalar || !s.free() {
		return nil
	}
	return arms
}

// clauses writes the conditions over all types.
func (w *writer) clauses(k *keywords, s *shape, arms []*shape) {
	all := func(of []*shape, given *shape) [][]byte {
		list := make([][]byte, len(of))
		for i, a := range of {
			list[i] = w.schema(a, given, notes{}).bytes()
		}
		return list
	}
	names := map[op]string{opAny: "anyOf", opOne: "oneOf"}
	var not [][]byte
	for _, c := range s.also {
		switch c.op {
		case opRef:
			if len(s.also) > 1 || !k.has("$ref") {
				k.add("$ref", text("#/$defs/"+c.ref.name))
			}
		case opAny, opOne:
			if arms != nil {
				k.add(names[c.op], array(all(arms, nil)))
			} else {
				k.add(names[c.op], array(all(c.of, s)))
			}
		case opAll:
			for _, a := range c.of {
				k.more = append(k.more, w.schema(a, s, notes{}).bytes())
			}
		case opNone:
			not = append(not, all(c.of, s)...)
		case opIf:
			one := &keywords{}
			for i, name := range []string{"if", "then", "else"} {
				if i == 0 || !c.of[i].isAny() {
					one.add(name, w.schema(c.of[i], s, notes{}).bytes())
				}
			}
			if k.has("if") {
				k.more = append(k.more, one.bytes())
				continue
			}
			for i, name := range one.names {
				k.add(name, one.values[i])
			}
		case opIfMember:
			one := &keywords{}
			one.add(c.name, w.schema(c.of[0], s, notes{}).bytes())
			k.add("dependentSchemas", one.bytes())
		}
	}
	if s.kinds&stringKind != 0 && s.str.enum == nil {
		for _, p := range s.str.unlike {
			not = append(not, w.schema(&shape{kinds: stringKind, str: texts{patterns: []string{p}}}, s, notes{}).bytes())
		}
		for _, t := range s.str.not {
			not = append(not, slices.Concat([]byte(`{"const":`), text(t), []byte("}")))
		}
	}
	if s.kinds&numberKind != 0 && s.num.enum == nil {
		for _, d := range s.num.not {
			not = append(not, []byte(`{"const":`+d.text+"}"))
		}
	}
	switch len(not) {
	case 0:
	case 1:
		k.add("not", not[0])
	default:
		k.add("not", []byte(`{"anyOf":`+string(array(not))+"}"))
	}
}
