package jsonschema

import (
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// scopes tells which expressions look at the arguments themselves: a bound such
// as >=min, where min is another argument. CUE evaluates these with what is
// known before a call, so that >min with a default of 5 looks like >5; a schema
// made of that would refuse what CUE accepts at the call.
type scopes struct {
	root   map[ast.Node]bool // the syntax of the value itself
	inside map[ast.Node]bool // the literals that it is made of, definitions included
	known  map[ast.Node]bool // what depends found
	sought map[ast.Node]bool // what reaches found
}

// start says what is compiled.
func (s *scopes) start(n ast.Node) {
	if s.root == nil {
		s.root, s.inside = map[ast.Node]bool{}, map[ast.Node]bool{}
		s.known, s.sought = map[ast.Node]bool{}, map[ast.Node]bool{}
	}
	if n != nil {
		s.root[n] = true
		s.add(n)
	}
}

// add says that the value is made of n as well: the struct literals in it are
// where arguments are declared.
func (s *scopes) add(n ast.Node) {
	if n == nil || s.inside[n] {
		return
	}
	s.inside[n] = true
	clear(s.known)
	ast.Walk(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.StructLit, *ast.Field:
			s.inside[n] = true
		}
		return true
	}, nil)
}

// depends says whether the value of n may change with the arguments. It errs
// on the side of yes.
func (s *scopes) depends(n ast.Node) bool {
	return s.search(n, s.known, s.argument)
}

// reaches says whether n, which stands outside, refers to the arguments.
func (s *scopes) reaches(n ast.Node) bool {
	return s.root[n] || s.search(n, s.sought, s.reference)
}

// search looks for a name in n for which found holds.
func (s *scopes) search(n ast.Node, known map[ast.Node]bool, found func(*ast.Ident) bool) bool {
	switch n.(type) {
	case nil, *ast.BasicLit:
		return false
	}
	if is, ok := known[n]; ok {
		return is
	}
	known[n] = false // the answer for cycles
	is := false
	ast.Walk(n, func(m ast.Node) bool {
		if is {
			return false
		}
		switch m := m.(type) {
		case *ast.Field:
			switch m.Label.(type) {
			case *ast.Ident, *ast.BasicLit:
				// This label is no reference.
				is = s.search(m.Value, known, found)
				return false
			}
		case *ast.SelectorExpr:
			is = s.search(m.X, known, found)
			return false
		case *ast.Ident:
			is = found(m)
		default:
			is = m != n && s.root[m]
		}
		return true
	}, nil)
	known[n] = is
	return is
}

// reference follows a name that is declared outside.
func (s *scopes) reference(id *ast.Ident) bool {
	switch n := id.Node.(type) {
	case *ast.LetClause:
		return s.reaches(n.Expr)
	case *ast.Field:
		return s.reaches(n.Value)
	case ast.Expr:
		return s.reaches(n)
	}
	return false // predeclared, an import, or of another file
}

// argument says whether a name is an argument or made of some.
func (s *scopes) argument(id *ast.Ident) bool {
	if let, ok := id.Node.(*ast.LetClause); ok {
		return s.depends(let.Expr)
	}
	if id.Node == nil || !s.inside[id.Scope] {
		return s.reference(id)
	}
	st, ok := id.Scope.(*ast.StructLit)
	if !ok {
		return true // the name of a member: [Name=string]: Name
	}
	// A name declared beside the arguments. A hidden field or a definition is
	// no argument, but may be made of some; a constant never changes.
	declared := false
	for _, e := range st.Elts {
		f, ok := e.(*ast.Field)
		if !ok {
			continue
		}
		if label, ok := f.Label.(*ast.Ident); !ok || label.Name != id.Name {
			continue
		}
		declared = true
		_, fixed := f.Value.(*ast.BasicLit)
		fixed = fixed && f.Constraint == token.ILLEGAL
		if !fixed && !strings.HasPrefix(id.Name, "_") && !strings.HasPrefix(id.Name, "#") || s.depends(f.Value) {
			return true
		}
	}
	return !declared
}

// plainly says that an expression refers to nothing but types and packages of
// CUE itself.
func plainly(n ast.Expr) bool {
	switch n := n.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return n.Node == nil && predeclared[n.Name] != 0
	case *ast.ParenExpr:
		return plainly(n.X)
	case *ast.UnaryExpr:
		return plainly(n.X)
	case *ast.BinaryExpr:
		return plainly(n.X) && plainly(n.Y)
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if !ok {
			return false
		}
		spec, ok := id.Node.(*ast.ImportSpec)
		return ok && isStandard(spec)
	case *ast.CallExpr:
		return plainly(n.Fun) && !slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return !plainly(a) })
	}
	return false
}

// isStandard says that an import is of CUE's own packages, whose paths do not
// begin with a domain.
func isStandard(spec *ast.ImportSpec) bool {
	path, err := literal.Unquote(spec.Path.Value)
	first, _, _ := strings.Cut(path, "/")
	return err == nil && !strings.Contains(first, ".")
}

// isType says that an expression is the name of a type, rather than of a range
// such as uint8.
func isType(n ast.Expr) bool {
	id, ok := n.(*ast.Ident)
	return ok && predeclared[id.Name] == oneType
}

// literalsOf lists the literals among the alternatives of an expression, as they
// are written.
func literalsOf(n ast.Expr, list []string) []string {
	switch n := n.(type) {
	case *ast.BasicLit:
		list = append(list, n.Value)
	case *ast.ParenExpr:
		return literalsOf(n.X, list)
	case *ast.UnaryExpr:
		if n.Op == token.MUL {
			return literalsOf(n.X, list)
		}
	case *ast.BinaryExpr:
		if n.Op == token.OR {
			return literalsOf(n.Y, literalsOf(n.X, list))
		}
	}
	return list
}

// isLet says that the source of a value is the name of a let clause, which CUE
// does not tell apart from what it stands for.
func isLet(n ast.Node) bool {
	id, ok := expression(n).(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = id.Node.(*ast.LetClause)
	return ok
}

type predeclaration int

const (
	oneType predeclaration = 1 + iota
	typeRange
)

// predeclared holds the types of CUE.
var predeclared = map[string]predeclaration{
	"bool": oneType, "bytes": oneType, "float": oneType, "int": oneType, "number": oneType, "string": oneType,
	"float32": typeRange, "float64": typeRange, "rune": typeRange, "uint": typeRange,
	"int8": typeRange, "int16": typeRange, "int32": typeRange, "int64": typeRange, "int128": typeRange,
	"uint8": typeRange, "uint16": typeRange, "uint32": typeRange, "uint64": typeRange, "uint128": typeRange,
}

// expression is the expression behind the source of a value.
func expression(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Field:
		return n.Value
	case *ast.LetClause:
		return n.Expr
	}
	return n
}

// structs calls f for the struct literals that n is made of without going into
// fields: n itself, what it embeds and unifies.
func structs(n ast.Node, f func(*ast.StructLit)) {
	switch n := n.(type) {
	case *ast.Field:
		structs(n.Value, f)
	case *ast.StructLit:
		f(n)
		for _, e := range n.Elts {
			if e, ok := e.(*ast.EmbedDecl); ok {
				structs(e.Expr, f)
			}
		}
	case *ast.ParenExpr:
		structs(n.X, f)
	case *ast.BinaryExpr:
		structs(n.X, f)
		structs(n.Y, f)
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "close" && len(n.Args) == 1 {
			structs(n.Args[0], f)
		}
	}
}

// alters says whether the members of a struct literal change with the
// arguments, by comprehensions or computed names.
func (s *scopes) alters(st *ast.StructLit) bool {
	for _, e := range st.Elts {
		switch e := e.(type) {
		case *ast.Comprehension:
			if s.depends(e) {
				return true
			}
		case *ast.Field:
			switch label := e.Label.(type) {
			case *ast.ParenExpr, *ast.Interpolation:
				if s.depends(label) {
					return true
				}
			}
		}
	}
	return false
}
