package load

import (
	"slices"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	"cuelang.org/go/cue/token"
)

// One fault hides others from CUE: a conflict in input makes every expression
// over input an error, and an unknown name ends compilation. So what is found
// faulty is cut out of the syntax, and the rest is evaluated again, until
// nothing new is found. The cut parts become _, which conflicts with nothing.

// cutter cuts parts out of the operator's files.
type cutter struct {
	files []*ast.File
	// fields and structs are those that lost something: what seems to be missing
	// in them may have been cut.
	fields  map[*ast.Field]bool
	structs map[*ast.StructLit]bool
	holes   map[*ast.Ident]bool // what stands in place of the parts
	tried   map[place]int
	// done and gone are what this pass has cut: no part of it can be cut again.
	done map[place]bool
	gone []ast.Node
}

// place is a place in a file, comparable.
type place struct {
	file   string
	offset int
}

func placeOf(p token.Pos) place { return place{p.Filename(), p.Offset()} }

func newCutter(files []*ast.File) *cutter {
	return &cutter{
		files:   files,
		fields:  map[*ast.Field]bool{},
		structs: map[*ast.StructLit]bool{},
		holes:   map[*ast.Ident]bool{},
		tried:   map[place]int{},
		done:    map[place]bool{},
	}
}

// at cuts the smallest replaceable part of the syntax that has p in it: the
// value of a field, an element of a list, an embedding, an import. When the
// same place is at fault again, it cuts the field itself. It says whether it
// cut anything.
func (c *cutter) at(p token.Pos) bool {
	if !p.IsValid() {
		return false
	}
	if c.cut(p) {
		return true
	}
	for _, f := range c.files {
		if f.Filename != p.Filename() {
			continue
		}
		s := slots{at: p.Offset(), c: c}
		s.decls(nil, f.Decls, func(d []ast.Decl) { f.Decls = d })
		pl := placeOf(p)
		c.tried[pl]++
		switch n := c.tried[pl]; {
		case n == 1 && s.inner != nil:
			c.done[pl] = true
			s.inner()
			return true
		case n <= 2 && s.field != nil:
			c.done[pl] = true
			s.field()
			return true
		}
	}
	return false
}

// cut says whether this pass has cut p already.
func (c *cutter) cut(p token.Pos) bool { return c.done[placeOf(p)] || within(p, c.gone) }

// field takes a field away altogether.
func (c *cutter) field(f *ast.Field) bool {
	c.tried[placeOf(f.Pos())] = 1
	return c.at(f.Pos())
}

// resolve resolves the names of the files anew, for the next pass.
func (c *cutter) resolve() {
	clear(c.done)
	c.gone = nil
	for _, f := range c.files {
		f.Unresolved = nil
		ast.Walk(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				id.Node, id.Scope = nil, nil
			}
			return true
		}, nil)
		// Faults of the names were reported when the files were parsed.
		astutil.Resolve(f, func(token.Pos, string, ...any) {})
	}
}

// slots finds what can be cut around an offset.
type slots struct {
	at    int
	c     *cutter
	inner func() // the smallest part
	field func() // the smallest field or declaration
}

func (s *slots) has(n ast.Node) bool {
	if n == nil {
		return false
	}
	from, to := n.Pos(), n.End()
	return from.IsValid() && to.IsValid() && from.Offset() <= s.at && s.at < to.Offset()
}

// hole is what stands in place of an expression.
func (s *slots) hole(e ast.Expr) ast.Expr {
	s.c.gone = append(s.c.gone, e)
	h := &ast.Ident{NamePos: e.Pos(), Name: "_"}
	s.c.holes[h] = true
	return h
}

// decls looks into the declarations of a file or structure; in is nil for a file.
func (s *slots) decls(in *ast.StructLit, decls []ast.Decl, set func([]ast.Decl)) {
	for i, d := range decls {
		if !s.has(d) {
			continue
		}
		remove := func() {
			s.c.gone = append(s.c.gone, d)
			if in != nil {
				s.c.structs[in] = true
			}
			set(slices.Delete(slices.Clone(decls), i, i+1))
		}
		// What is embedded may have brought fields: the structure is left open.
		replace := func() {
			remove()
			if in != nil && !slices.ContainsFunc(in.Elts, func(d ast.Decl) bool { _, ok := d.(*ast.Ellipsis); return ok }) {
				set(append(slices.Clone(in.Elts), &ast.Ellipsis{}))
			}
		}
		switch x := d.(type) {
		case *ast.ImportDecl:
			for j, spec := range x.Specs {
				if s.has(spec) {
					s.inner = func() { x.Specs = slices.Delete(slices.Clone(x.Specs), j, j+1) }
				}
			}
		case *ast.Field:
			s.inner = func() {
				s.c.fields[x] = true
				x.Value = s.hole(x.Value)
			}
			s.field = remove
			s.expr(x.Value)
		case *ast.LetClause:
			if x.Pos().Offset() == s.at {
				s.inner, s.field = remove, remove
				continue
			}
			s.inner, s.field = func() { x.Expr = s.hole(x.Expr) }, remove
			s.expr(x.Expr)
		case *ast.EmbedDecl:
			s.inner, s.field = replace, replace
			s.expr(x.Expr)
		case *ast.Comprehension:
			s.inner, s.field = replace, replace
			s.expr(x)
		}
	}
}

// expr looks for slots inside an expression.
func (s *slots) expr(e ast.Node) {
	ast.Walk(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.StructLit:
			if s.has(x) {
				s.decls(x, x.Elts, func(d []ast.Decl) { x.Elts = d })
			}
			return false
		case *ast.ListLit:
			for i, elt := range x.Elts {
				if s.has(elt) {
					s.inner = func() { x.Elts[i] = s.hole(elt) }
					s.expr(elt)
				}
			}
			return false
		}
		return true
	}, nil)
}

// lost says whether something was cut out of n, or of what names in it lead to.
func (c *cutter) lost(n ast.Node, seen map[ast.Node]bool) (lost bool) {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	ast.Walk(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.StructLit:
			lost = lost || c.structs[x]
		case *ast.Field:
			lost = lost || c.fields[x]
		case *ast.Ident:
			lost = lost || c.holes[x] || c.lost(x.Node, seen)
		}
		return !lost
	}, nil)
	return lost
}

// literals gives the structure literals that stand directly in a field.
func literals(n ast.Node) []*ast.StructLit {
	switch x := n.(type) {
	case *ast.Field:
		return literals(x.Value)
	case *ast.ParenExpr:
		return literals(x.X)
	case *ast.Alias:
		return literals(x.Expr)
	case *ast.BinaryExpr:
		return append(literals(x.X), literals(x.Y)...)
	case *ast.StructLit:
		return []*ast.StructLit{x}
	}
	return nil
}

// used gives the nodes that names stand for.
func used(files []*ast.File) map[ast.Node]bool {
	all := map[ast.Node]bool{}
	for _, f := range files {
		ast.Walk(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				switch id.Node.(type) {
				case *ast.ImportSpec, *ast.LetClause:
					all[id.Node] = true
				}
			}
			return true
		}, nil)
	}
	return all
}

// node gives the import or let clause that stands at p.
func (c *cutter) node(p token.Pos) (found ast.Node) {
	for _, f := range c.files {
		if f.Filename != p.Filename() {
			continue
		}
		ast.Walk(f, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ImportSpec, *ast.LetClause:
				if n.Pos().Offset() == p.Offset() {
					found = n
				}
			}
			return found == nil
		}, nil)
	}
	return found
}
