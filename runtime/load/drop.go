package load

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/schema"
)

// dropSchema takes out of files what they say with the definitions' own words:
// schema.#Config embedded in a file, server: schema.#Server, or
// domains: [_]: schema.#Domain. Such lines are there for the cue command and for
// editors. The configuration is unified with #Config in any case, and Own is
// then what the operator wrote.
func dropSchema(files []*ast.File) {
	for _, f := range files {
		if !importsSchema(f) {
			continue
		}
		f.Decls = slices.DeleteFunc(f.Decls, repeats)
		used := map[*ast.ImportSpec]bool{}
		ast.Walk(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if spec, ok := id.Node.(*ast.ImportSpec); ok {
					used[spec] = true
				}
			}
			return true
		}, nil)
		for im := range f.ImportDecls() { // an import must be used
			im.Specs = slices.DeleteFunc(im.Specs, func(s *ast.ImportSpec) bool { return isSchema(s) && !used[s] })
		}
	}
}

// repeats says whether a declaration of a file repeats the definitions.
func repeats(d ast.Decl) bool {
	switch x := d.(type) {
	case *ast.EmbedDecl:
		return definition(x.Expr) == "#Config"
	case *ast.Field:
		name, _, err := ast.LabelName(x.Label)
		m, ok := configShape().member(name)
		if err != nil || !ok {
			return false
		}
		if x.Constraint == token.ILLEGAL && definition(x.Value) != "" {
			return definition(x.Value) == m.name
		}
		all, ok := x.Value.(*ast.StructLit)
		if !ok || len(all.Elts) != 1 || len(m.patterns) != 1 {
			return false
		}
		each, ok := all.Elts[0].(*ast.Field)
		if !ok {
			return false
		}
		_, pattern := each.Label.(*ast.ListLit)
		return pattern && definition(each.Value) != "" && definition(each.Value) == m.patterns[0].name
	}
	return false
}

// definition is the name of the schema's definition that an expression is.
func definition(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	spec, ok := pkg.Node.(*ast.ImportSpec)
	if !ok || !isSchema(spec) {
		return ""
	}
	name, _, _ := ast.LabelName(sel.Sel)
	return name
}

func importsSchema(f *ast.File) bool {
	for spec := range f.ImportSpecs() {
		if isSchema(spec) {
			return true
		}
	}
	return false
}

func isSchema(s *ast.ImportSpec) bool {
	path, err := strconv.Unquote(s.Path.Value)
	return err == nil && ast.ParseImportPath(path).Path == schema.ImportPath
}
