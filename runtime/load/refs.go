package load

import (
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// roots are the fields of a tool that are known only when it is called.
var roots = []string{"input", "steps"}

// use is a reference as it is written, with what only findings need.
type use struct {
	Ref
	at     []token.Pos // places of Root and of each part of Path
	within []string    // path of the field it stands in, below the tool
	hidden bool        // the last part is a hidden name, which no argument has
}

// scanner finds the references of one tool.
type scanner struct {
	inst      *build.Instance         // the package
	path      []string                // the tool's: domains, DOMAIN, tools, NAME
	literals  []*ast.StructLit        // what the tool is made of
	own       map[*ast.StructLit]bool // the same
	self      map[ast.Node]bool       // nodes that names of the tool itself resolve to
	rootOf    map[ast.Node]string     // nodes that names of input and steps resolve to
	hiddenOf  map[ast.Node]*ast.Field // nodes that names of the tool's hidden fields and definitions resolve to
	lets      map[*ast.Ident]ast.Expr // let clauses of comprehensions
	following map[ast.Node]bool       // against cycles
	uses      []use
	refs      []Ref
}

// scan finds every reference of a tool. The references are the reachable ones,
// the uses all that are written.
func scan(t Tool, inst *build.Instance) (refs []Ref, uses []use, literals []*ast.StructLit) {
	s := &scanner{
		inst:      inst,
		path:      []string{"domains", t.Domain, "tools", t.Name},
		own:       map[*ast.StructLit]bool{},
		self:      map[ast.Node]bool{},
		rootOf:    map[ast.Node]string{},
		hiddenOf:  map[ast.Node]*ast.Field{},
		lets:      map[*ast.Ident]ast.Expr{},
		following: map[ast.Node]bool{},
	}
	s.collect(t.Own, false, 0)
	for i := 0; i < len(s.literals); i++ { // comprehensions add to them
		s.declare(s.literals[i])
	}
	for _, l := range s.literals {
		s.literal(l)
	}
	return s.refs, s.uses, s.literals
}

// maxCollect bounds the nesting of references between mixins.
const maxCollect = 32

// collect finds the structure literals that a tool is made of: its own, those
// of mixins that are embedded in it or unified with it, and those of patterns,
// wherever they are declared. mixin says that v is reached by a name, which is
// then not a name of the tool.
func (s *scanner) collect(v cue.Value, mixin bool, depth int) {
	if depth > maxCollect {
		return
	}
	src := v.Source()
	if src != nil && foreign(src.Pos()) {
		return
	}
	switch x := s.expr(src, mixin).(type) {
	case *ast.StructLit:
		if s.add(x) && embeds(x) {
			s.parts(v, mixin, depth)
			s.static(x) // of a single embedded reference CUE does not tell the target
		}
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		if d := cue.Dereference(v); d != v {
			s.collect(d, true, depth+1)
		}
	default:
		s.parts(v, mixin, depth)
	}
}

// expr takes away what stands around a value, and notes the nodes that names of
// the tool resolve to.
func (s *scanner) expr(n ast.Node, mixin bool) ast.Node {
	for {
		if n != nil && !mixin {
			s.self[n] = true
		}
		switch x := n.(type) {
		case *ast.Field:
			n = x.Value
		case *ast.EmbedDecl:
			n = x.Expr
		case *ast.ParenExpr:
			n = x.X
		case *ast.Alias:
			s.self[x] = true
			n = x.Expr
		default:
			return n
		}
	}
}

// parts collects from what a value is made of.
func (s *scanner) parts(v cue.Value, mixin bool, depth int) {
	op, args := v.Expr()
	switch op {
	case cue.AndOp, cue.OrOp:
		for _, a := range args {
			s.collect(a, mixin, depth+1)
		}
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			s.collect(args[0], mixin, depth+1)
		}
	}
}

// embeds says whether a structure has embeddings other than comprehensions.
func embeds(x *ast.StructLit) bool {
	return slices.ContainsFunc(x.Elts, func(d ast.Decl) bool { _, ok := d.(*ast.EmbedDecl); return ok })
}

// add takes a literal as part of the tool.
func (s *scanner) add(x *ast.StructLit) bool {
	if s.own[x] {
		return false
	}
	s.own[x] = true
	s.literals = append(s.literals, x)
	return true
}

// declare notes what the names in a literal of the tool stand for.
func (s *scanner) declare(x *ast.StructLit) {
	for _, d := range x.Elts {
		switch d := d.(type) {
		case *ast.Field:
			name, _, err := ast.LabelName(d.Label)
			if err != nil {
				continue
			}
			nodes := []ast.Node{d, d.Value}
			if a, ok := d.Value.(*ast.Alias); ok {
				nodes = append(nodes, a.Expr)
			}
			for _, n := range nodes {
				switch {
				case slices.Contains(roots, name):
					s.rootOf[n] = name
				case internal(name):
					s.hiddenOf[n] = d
				}
			}
		case *ast.Comprehension:
			if v, ok := d.Value.(*ast.StructLit); ok {
				s.add(v)
				s.static(v)
			}
			if d.Fallback != nil {
				s.add(d.Fallback.Body)
				s.static(d.Fallback.Body)
			}
		}
	}
}

// static adds what is embedded in a literal, as far as the syntax tells.
func (s *scanner) static(x *ast.StructLit) {
	for _, d := range x.Elts {
		if e, ok := d.(*ast.EmbedDecl); ok {
			for _, l := range s.target(e.Expr, 0) {
				if s.add(l) {
					s.static(l)
				}
			}
		}
	}
}

// target gives the structure literals that an expression leads to.
func (s *scanner) target(n ast.Node, depth int) []*ast.StructLit {
	if n == nil || depth > maxCollect || foreign(n.Pos()) {
		return nil
	}
	switch x := n.(type) {
	case *ast.StructLit:
		return []*ast.StructLit{x}
	case *ast.ParenExpr:
		return s.target(x.X, depth+1)
	case *ast.Alias:
		return s.target(x.Expr, depth+1)
	case *ast.Field:
		return s.target(x.Value, depth+1)
	case *ast.LetClause:
		return s.target(x.Expr, depth+1)
	case *ast.BinaryExpr:
		return append(s.target(x.X, depth+1), s.target(x.Y, depth+1)...)
	case *ast.Ident:
		if _, ok := x.Scope.(*ast.File); ok { // declared in any of the files
			return s.declared(s.inst.Files, x.Name, depth+1)
		}
		return s.target(x.Node, depth+1)
	case *ast.SelectorExpr:
		if name, _, err := ast.LabelName(x.Sel); err == nil {
			return s.members(x.X, name, depth+1)
		}
	case *ast.IndexExpr:
		if l, ok := x.Index.(*ast.BasicLit); ok {
			if name, err := literal.Unquote(l.Value); err == nil {
				return s.members(x.X, name, depth+1)
			}
		}
	}
	return nil
}

// members gives the literals of a field of what x leads to.
func (s *scanner) members(x ast.Expr, name string, depth int) []*ast.StructLit {
	if id, ok := x.(*ast.Ident); ok {
		if spec, ok := id.Node.(*ast.ImportSpec); ok {
			return s.declared(s.imported(spec), name, depth)
		}
	}
	var found []*ast.StructLit
	for _, l := range s.target(x, depth) {
		found = append(found, s.labelled(l.Elts, name, depth)...)
	}
	return found
}

// declared gives the literals of a field of a package.
func (s *scanner) declared(files []*ast.File, name string, depth int) []*ast.StructLit {
	var found []*ast.StructLit
	for _, f := range files {
		found = append(found, s.labelled(f.Decls, name, depth)...)
	}
	return found
}

func (s *scanner) labelled(decls []ast.Decl, name string, depth int) []*ast.StructLit {
	var found []*ast.StructLit
	for _, d := range decls {
		if f, ok := d.(*ast.Field); ok {
			if label, _, err := ast.LabelName(f.Label); err == nil && label == name {
				found = append(found, s.target(f, depth+1)...)
			}
		}
	}
	return found
}

// imported gives the files of a package.
func (s *scanner) imported(spec *ast.ImportSpec) []*ast.File {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return nil
	}
	if inst := s.inst.LookupImport(path); inst != nil {
		return inst.Files
	}
	return nil
}

// internal says whether a label is a hidden field's or a definition's.
func internal(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#") }

// frame is where the scanner stands.
type frame struct {
	field string
	path  []string
	reach bool      // what stands here has an effect
	via   token.Pos // where a name led here
}

// literal scans one literal of the tool.
func (s *scanner) literal(x *ast.StructLit) {
	for _, d := range x.Elts {
		switch d := d.(type) {
		case *ast.Field:
			name, _, _ := ast.LabelName(d.Label)
			s.label(d.Label, frame{reach: true})
			s.scan(d.Value, frame{field: name, path: []string{name}, reach: !internal(name)})
		case *ast.Comprehension:
			s.clauses(d, frame{reach: true})
		case *ast.EmbedDecl:
			s.scan(d.Expr, frame{reach: true})
		}
	}
}

// label scans a label that is an expression.
func (s *scanner) label(l ast.Label, f frame) {
	switch x := l.(type) {
	case *ast.Interpolation, *ast.ParenExpr:
		s.scan(x, f)
	case *ast.Alias:
		s.scan(x.Expr, f)
	case *ast.ListLit:
		s.scan(x, f)
	}
}

// clauses scans what a comprehension ranges over and depends on.
func (s *scanner) clauses(x *ast.Comprehension, f frame) {
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *ast.ForClause:
			s.scan(c.Source, f)
		case *ast.IfClause:
			s.scan(c.Condition, f)
		case *ast.LetClause:
			s.lets[c.Ident] = c.Expr
		case *ast.TryClause:
			s.scan(c, f)
		}
	}
}

// scan finds the references below a node.
func (s *scanner) scan(n ast.Node, f frame) {
	if n == nil {
		return
	}
	ast.Walk(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.StructLit:
			return !s.own[x]
		case *ast.Field:
			s.label(x.Label, f)
			g := f
			if name, _, err := ast.LabelName(x.Label); err == nil && len(f.path) > 0 {
				g.path = append(slices.Clone(f.path), name)
			}
			s.scan(x.Value, g)
			return false
		case *ast.LetClause, *ast.Attribute: // a let clause counts where its name is used
			return false
		case *ast.Comprehension:
			s.clauses(x, f)
			s.scan(x.Value, f)
			if x.Fallback != nil {
				s.scan(x.Fallback.Body, f)
			}
			return false
		case *ast.SelectorExpr:
			if s.record(x, f) {
				return false
			}
			s.scan(x.X, f)
			return false
		case *ast.IndexExpr:
			return !s.record(x, f)
		case *ast.Ident:
			if !s.record(x, f) {
				s.follow(x, f)
			}
			return false
		}
		return true
	}, nil)
}

// follow goes where a name leads, within the tool's syntax.
func (s *scanner) follow(x *ast.Ident, f frame) {
	var to ast.Node
	switch n := x.Node.(type) {
	case nil:
		return
	case *ast.LetClause:
		to = n.Expr
	case *ast.Ident:
		if e, ok := s.lets[n]; ok {
			to = e
		}
	default:
		if h, ok := s.hiddenOf[n]; ok {
			to = h.Value
		}
	}
	if to == nil || s.following[to] {
		return
	}
	s.following[to] = true
	if !f.via.IsValid() {
		f.via = x.Pos()
	}
	s.scan(to, f)
	s.following[to] = false
}

// record notes the reference that an expression is, if it is one.
func (s *scanner) record(e ast.Expr, f frame) bool {
	r, ok := s.refOf(e, 0)
	if !ok || r.root == "" {
		return false
	}
	u := use{
		Ref:    Ref{Root: r.root, Path: r.path, Pos: r.at[0], Field: f.field},
		at:     r.at,
		within: f.path,
		hidden: r.hidden,
	}
	if r.via.IsValid() {
		u.Pos = r.via
	}
	if f.via.IsValid() {
		u.Pos = f.via
	}
	s.uses = append(s.uses, u)
	if f.reach {
		s.refs = append(s.refs, u.Ref)
	}
	for { // indexes that are expressions
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.SelectorExpr:
			e = x.X
			continue
		case *ast.IndexExpr:
			s.scan(x.Index, f)
			e = x.X
			continue
		}
		return true
	}
}

// ref is what an expression refers to: something below a root; or, while root
// is empty, the tool itself or one of the structures around it.
type ref struct {
	root   string
	path   []string
	at     []token.Pos
	via    token.Pos
	around []string // path of the structure around the tool, nil for the tool
	ended  bool     // what follows is not literal
	hidden bool
}

// maxAlias bounds chains of let clauses.
const maxAlias = 32

func (s *scanner) refOf(e ast.Expr, depth int) (ref, bool) {
	if depth > maxAlias {
		return ref{}, false
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		return s.refOf(x.X, depth+1)
	case *ast.Ident:
		return s.identRef(x, depth)
	case *ast.SelectorExpr:
		r, ok := s.refOf(x.X, depth+1)
		if !ok {
			return ref{}, false
		}
		name, ident, err := ast.LabelName(x.Sel)
		if err != nil {
			r.ended = true
			return r, true
		}
		return s.below(r, name, x.Sel.Pos(), ident && strings.HasPrefix(name, "_"))
	case *ast.IndexExpr:
		r, ok := s.refOf(x.X, depth+1)
		if !ok {
			return ref{}, false
		}
		if l, ok := x.Index.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if name, err := literal.Unquote(l.Value); err == nil {
				return s.below(r, name, l.Pos(), false)
			}
		}
		r.ended = true
		return r, r.root != ""
	}
	return ref{}, false
}

func (s *scanner) identRef(x *ast.Ident, depth int) (ref, bool) {
	if name, ok := s.rootOf[x.Node]; ok {
		return ref{root: name, at: []token.Pos{x.Pos()}}, true
	}
	if s.self[x.Node] {
		return ref{at: []token.Pos{x.Pos()}}, true
	}
	var to ast.Expr
	switch n := x.Node.(type) {
	case *ast.LetClause:
		to = n.Expr
	case *ast.Ident:
		to = s.lets[n]
	}
	if to != nil {
		r, ok := s.refOf(to, depth+1)
		r.via = x.Pos()
		return r, ok
	}
	if _, inFile := x.Scope.(*ast.File); inFile && x.Name == s.path[0] {
		return ref{around: s.path[:1], at: []token.Pos{x.Pos()}}, true
	}
	return ref{}, false
}

// below is the reference to a field of what r refers to.
func (s *scanner) below(r ref, name string, at token.Pos, hidden bool) (ref, bool) {
	switch n := len(r.around); {
	case r.root != "":
		if !r.ended {
			r.path = append(slices.Clone(r.path), name)
			r.at = append(slices.Clone(r.at), at)
			r.hidden = hidden
			r.ended = hidden
		}
		return r, true
	case n > 0: // around the tool
		if name != s.path[n] {
			return ref{}, false
		}
		if r.around = s.path[:n+1]; n+1 == len(s.path) {
			r.around = nil
		}
		return r, true
	default: // the tool itself
		r.root = name
		return r, slices.Contains(roots, name)
	}
}
