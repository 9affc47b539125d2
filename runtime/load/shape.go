package load

import (
	"fmt"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// shape is a definition of the language as plain data: what CUE's evaluator
// knows too, but does not tell one fault at a time. Shapes are read from the
// syntax of the embedded schema, so that they cannot drift from it.
type shape struct {
	name  string // of the definition, such as #Tool; "" for one without
	kind  shapeKind
	holds string // what @holds says: "", "type", "expressions", "jq" or "argument"

	// of a structure
	members  []member
	patterns []pattern
	open     bool     // it ends in ...
	oneof    []string // exactly one of these is given

	// of a list
	elem *shape

	// of a choice
	arms []*shape

	// of a value
	accepts cue.Kind
	enum    []string // the strings it can be
	expr    string   // as CUE source, to be evaluated in the schema's scope
	must    string   // the rest of the sentence "must …"

	secret bool // what stands here by mistake may be a secret itself: it is not shown
}

type shapeKind int

const (
	anything shapeKind = iota
	structure
	list
	choice
	value
)

// member is a named field of a structure.
type member struct {
	label    string
	required bool
	*shape
}

// pattern constrains the names that are no member's, and their values.
type pattern struct {
	label *shape
	*shape
}

// member finds a field by name.
func (s *shape) member(name string) (member, bool) {
	for _, m := range s.members {
		if m.label == name {
			return m, true
		}
	}
	return member{}, false
}

// names lists the members.
func (s *shape) names() []string {
	var names []string
	for _, m := range s.members {
		names = append(names, m.label)
	}
	return names
}

// step is the shape of the field of that name: a member's, or a pattern's. In a
// list it is that of its elements' field, and "" is the element.
func (s *shape) step(name string) *shape {
	if s == nil {
		return nil
	}
	if m, ok := s.member(name); ok {
		return m.shape
	}
	if s.kind == list {
		if name == "" {
			return s.elem
		}
		return s.elem.step(name)
	}
	if len(s.patterns) > 0 {
		return s.patterns[0].shape
	}
	for _, a := range s.arms {
		if t := a.step(name); t != nil {
			return t
		}
	}
	return nil
}

// configShape is the shape of #Config.
var configShape = sync.OnceValue(func() *shape {
	r := &shapeReader{definitions: map[string]*ast.Field{}, done: map[string]*shape{}}
	for _, d := range parseSchema().Decls {
		if f, ok := d.(*ast.Field); ok {
			name, _, err := ast.LabelName(f.Label)
			if err != nil {
				panic(err)
			}
			r.definitions[name] = f
		}
	}
	return r.definition("#Config")
})

// shapeReader reads shapes from syntax. It knows the constructs that the schema
// uses; any other is a fault of ours, and panics.
type shapeReader struct {
	definitions map[string]*ast.Field
	done        map[string]*shape
}

func (r *shapeReader) definition(name string) *shape {
	if s, ok := r.done[name]; ok {
		return s
	}
	f, ok := r.definitions[name]
	if !ok {
		panic("schema: no definition " + name)
	}
	s := &shape{}
	r.done[name] = s
	*s = *r.field(f)
	s.name = name
	if s.secret = name == "#Secret"; s.secret {
		for _, m := range s.members {
			m.secret = true
		}
	}
	return s
}

// field reads the value of a field and its attributes.
func (r *shapeReader) field(f *ast.Field) *shape {
	s := r.expr(f.Value)
	if len(f.Attrs) > 0 {
		c := *s
		s = &c
	}
	for _, a := range f.Attrs {
		name, body := a.Split()
		switch name {
		case "holds":
			s.holds = body
		case "must":
			text, err := literal.Unquote(body)
			if err != nil {
				panic(fmt.Sprintf("schema: %s: %v", a.Text, err))
			}
			s.must = text
		case "oneof":
			s.oneof = strings.Split(body, ",")
		default:
			panic("schema: unknown attribute " + a.Text)
		}
	}
	return s
}

// kinds are the names of CUE's types that the schema uses.
var kinds = map[string]cue.Kind{
	"string": cue.StringKind,
	"bool":   cue.BoolKind,
	"int":    cue.IntKind,
	"number": cue.NumberKind,
}

func (r *shapeReader) expr(e ast.Expr) *shape {
	leaf := &shape{kind: value, expr: exprSource(e)}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return r.expr(x.X)
	case *ast.Ident:
		if x.Name == "_" {
			return &shape{kind: anything}
		}
		if k, ok := kinds[x.Name]; ok {
			leaf.accepts = k
			return leaf
		}
		return r.definition(x.Name)
	case *ast.BasicLit:
		text, err := literal.Unquote(x.Value)
		if err != nil {
			panic("schema: only strings can be listed: " + x.Value)
		}
		leaf.accepts, leaf.enum = cue.StringKind, []string{text}
		return leaf
	case *ast.StructLit:
		return r.structure(x)
	case *ast.ListLit:
		s := &shape{kind: list, elem: &shape{kind: anything}}
		if end, ok := x.Elts[len(x.Elts)-1].(*ast.Ellipsis); ok && len(x.Elts) == 1 && end.Type != nil {
			s.elem = r.expr(end.Type)
			return s
		}
	case *ast.UnaryExpr:
		leaf.accepts = cue.NumberKind
		if x.Op == token.MAT || x.Op == token.NMAT {
			leaf.accepts = cue.StringKind
		}
		return leaf
	case *ast.CallExpr: // strings.MaxRunes(64) and its like
		leaf.accepts = cue.StringKind
		return leaf
	case *ast.BinaryExpr:
		a, b := r.expr(x.X), r.expr(x.Y)
		switch {
		case x.Op == token.AND && a.kind == value && b.kind == value:
			leaf.accepts = a.accepts & b.accepts
			return leaf
		case x.Op == token.OR && a.kind == value && b.kind == value:
			leaf.accepts = a.accepts | b.accepts
			if len(a.enum) > 0 && len(b.enum) > 0 {
				leaf.enum = append(append(leaf.enum, a.enum...), b.enum...)
			}
			return leaf
		case x.Op == token.OR:
			s := &shape{kind: choice}
			for _, arm := range []*shape{a, b} {
				if arm.kind == choice {
					s.arms = append(s.arms, arm.arms...)
				} else {
					s.arms = append(s.arms, arm)
				}
			}
			return s
		}
	}
	panic("schema: cannot read " + exprSource(e))
}

func (r *shapeReader) structure(x *ast.StructLit) *shape {
	s := &shape{kind: structure}
	for _, d := range x.Elts {
		switch d := d.(type) {
		case *ast.Ellipsis:
			s.open = true
		case *ast.Field:
			if l, ok := d.Label.(*ast.ListLit); ok {
				s.patterns = append(s.patterns, pattern{r.expr(l.Elts[0]), r.field(d)})
				continue
			}
			name, _, err := ast.LabelName(d.Label)
			if err != nil {
				panic(err)
			}
			s.members = append(s.members, member{name, d.Constraint == token.NOT, r.field(d)})
		case *ast.EmbedDecl:
			e := r.expr(d.Expr)
			s.members = append(s.members, e.members...)
			s.patterns = append(s.patterns, e.patterns...)
			s.open = s.open || e.open
		case *ast.CommentGroup:
		default:
			panic(fmt.Sprintf("schema: cannot read %T", d))
		}
	}
	return s
}

// exprSource is an expression as CUE source.
func exprSource(e ast.Expr) string {
	b, err := format.Node(e)
	if err != nil {
		panic(err)
	}
	return string(b)
}
