package jsonschema

import (
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
)

// Compile translates v. Unless [Options.Data] is set, v is the input of a tool:
// a struct whose fields are required (!), optional (?), defaulted, or
// constants, which are no arguments. A value that does not exist is an input
// without arguments.
//
// The findings are for whoever wrote v; with any of them the schema may say
// less than v does.
func Compile(v cue.Value, o Options) (out *Schema, findings diag.List) {
	c := &compiler{o: o}
	defer func() {
		if r := recover(); r != nil {
			c.quiet, c.path = 0, nil
			c.finding(v.Pos(), "CUE cannot evaluate this: %v", r)
			out = &Schema{JSON: []byte(`{"type":"object","properties":{}}`), Open: []Gap{{Reason: "CUE cannot evaluate this"}}}
			findings = c.findings
		}
	}()
	c.scopes.start(expression(v.Source()))
	if op, args := c.expr(v); op == cue.AndOp {
		for _, a := range args { // declared in several places
			c.scopes.start(expression(a.Source()))
		}
	}
	out = &Schema{}
	s := &shape{kinds: objectKind, obj: members{closed: true}, exact: true}
	switch {
	case !v.Exists():
	case o.Data:
		s = inline(c.shape(v))
	default:
		s = c.input(v, out)
	}
	w := &writer{defs: c.defs}
	out.JSON = w.document(s, !o.Data)
	out.Exact = s.exact
	out.Open = c.gaps
	return out, c.findings
}

// inline is the definition that a shape refers to: the root of a schema is no
// $ref.
func inline(s *shape) *shape {
	if len(s.also) == 1 && s.also[0].op == opRef {
		return s.also[0].ref.shape
	}
	return s
}

// input is the shape of a tool's arguments. It leaves out constants and tells
// of all fields in out.
func (c *compiler) input(v cue.Value, out *Schema) *shape {
	s := inline(c.shape(v))
	if at := c.choices(v); at != nil {
		for _, p := range at {
			c.finding(p, "alternatives and conditions at the top of input change what is required before the arguments are known: make the arguments optional and put the rule into check")
		}
		return unstated(objectKind)
	}
	if v.IncompleteKind() == cue.StructKind {
		s = s.within(objectKind) // arguments are an object in any case
	}
	if s.kinds != objectKind {
		if len(c.findings) == 0 {
			if lit := embedded(v); lit != nil {
				c.finding(lit.Pos(), "%s stands by itself among the arguments: alternatives are written A | %[1]s", lit.Value)
			} else {
				c.finding(v.Pos(), "input must be a struct that declares the arguments")
			}
		}
		return unstated(objectKind)
	}
	in := *s
	in.obj.props = nil
	for _, p := range s.obj.props {
		c.path = append(c.path, selectorPath(cue.Str(p.name)))
		f := c.argument(&p)
		c.path = c.path[:len(c.path)-1]
		out.Fields = append(out.Fields, f)
		if f.Constant == nil {
			in.obj.props = append(in.obj.props, p)
		}
	}
	return &in
}

// embedded is a literal that stands among the members of a struct; nil without one.
func embedded(v cue.Value) *ast.BasicLit {
	st, ok := expression(v.Source()).(*ast.StructLit)
	if !ok {
		return nil
	}
	for _, d := range st.Elts {
		if e, ok := d.(*ast.EmbedDecl); ok {
			if lit, ok := e.Expr.(*ast.BasicLit); ok {
				return lit
			}
		}
	}
	return nil
}

// choices lists where v has alternatives, or comprehensions that look at
// arguments.
func (c *compiler) choices(v cue.Value) []token.Pos {
	var at []token.Pos
	add := func(p token.Pos) {
		if !slices.Contains(at, p) {
			at = append(at, p)
		}
	}
	var asts []ast.Node
	for _, p := range c.conjuncts(v, cue.Value{}, 0, &asts) {
		if p.op == cue.OrOp {
			add(p.args[0].Pos())
		}
	}
	for _, n := range asts {
		structs(n, func(st *ast.StructLit) {
			for _, e := range st.Elts {
				if e, ok := e.(*ast.Comprehension); ok && c.scopes.depends(e) {
					add(e.Pos())
				}
			}
		})
	}
	return at
}

// argument tells of one field at the top of an input, and puts its defaults
// into p.
func (c *compiler) argument(p *property) Field {
	f := Field{Name: p.name, Value: p.val, Pos: p.val.Pos(), Fills: p.of.fills}
	if src, ok := p.val.Source().(*ast.Field); ok {
		f.Pos = src.Pos()
	}
	switch p.mark {
	case cue.RequiredConstraint:
		f.Required = true
	case cue.OptionalConstraint:
	default:
		switch {
		case p.notes.def != nil:
			f.Default = p.notes.def
		case c.dependsOn(p.val):
			c.finding(f.Pos, "must not be computed from other arguments: do that in the request")
			return f
		case p.of.fixed():
			if b, err := p.val.MarshalJSON(); err == nil {
				f.Constant = b
				return f
			}
			fallthrough
		default:
			c.finding(f.Pos, "is neither required (%[1]s!), optional (%[1]s?), defaulted (… | *value) nor a constant", selectorPath(cue.Str(p.name)))
			return f
		}
	}
	if d := c.serverDefault(p); d != nil {
		f.Default, f.ServerDefault, f.Demanded, f.Required = d, true, f.Required, false
		p.notes.def, p.required = d, false
	}
	return f
}

// fixed says that the shape is one value, and that CUE knows it.
func (s *shape) fixed() bool {
	if len(s.also) > 0 {
		return false
	}
	switch s.kinds {
	case arrayKind:
		return s.arr.max != nil && *s.arr.max == len(s.arr.prefix) && !slices.ContainsFunc(s.arr.prefix, func(e *shape) bool { return !e.fixed() })
	case objectKind:
		return s.obj.closed && s.obj.patterns == nil &&
			!slices.ContainsFunc(s.obj.props, func(p property) bool { return p.mark != 0 || !p.of.fixed() })
	}
	all, ok := s.finite()
	return ok && len(all) == 1
}
