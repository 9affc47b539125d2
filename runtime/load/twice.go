package load

import (
	"fmt"
	"slices"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// CUE unifies what is declared twice. Of two tools under one name it makes one
// that nobody wrote, with a conflict for each field in which they differ.

// twice reports tools that are declared in full more than once in one domain,
// and leaves the later ones out. A tool may well be put together from parts.
func (l *loader) twice() {
	first := map[[2]string]*ast.Field{}
	again := false
	for _, file := range l.cut.files {
		for _, t := range declarations(file.Decls, nil) {
			name := [2]string{t.path[1], t.path[3]}
			switch f := first[name]; {
			case !complete(t.field):
			case f == nil:
				first[name] = t.field
			case exprSource(f.Value) != exprSource(t.field.Value):
				at := f.Pos()
				l.report(t.field.Pos(), l.path(t.path).String(), fmt.Sprintf("is declared twice: also at %s:%d:%d", at.Filename(), at.Line(), at.Column()), "")
				l.cut.field(t.field)
				again = true
			}
		}
	}
	if again {
		l.cut.resolve()
	}
}

// declaration is a field that declares a tool, and its path.
type declaration struct {
	path  []string
	field *ast.Field
}

// declarations finds the fields at domains.DOMAIN.tools.NAME.
func declarations(decls []ast.Decl, path []string) (all []declaration) {
	for _, d := range decls {
		f, ok := d.(*ast.Field)
		if !ok || f.Constraint != token.ILLEGAL {
			continue
		}
		name, _, err := ast.LabelName(f.Label)
		if depth := len(path); err != nil || depth == 0 && name != "domains" || depth == 2 && name != "tools" {
			continue
		}
		p := append(slices.Clone(path), name)
		if len(p) == 4 {
			all = append(all, declaration{p, f})
			continue
		}
		for _, x := range literals(f) {
			all = append(all, declarations(x.Elts, p)...)
		}
	}
	return all
}

// complete says whether a field declares a whole tool: what it does, and how.
func complete(f *ast.Field) bool {
	has := map[string]bool{}
	for _, x := range literals(f) {
		for _, d := range x.Elts {
			if m, ok := d.(*ast.Field); ok {
				name, _, _ := ast.LabelName(m.Label)
				has[name] = true
			}
		}
	}
	return has["description"] && (has["http"] || has["steps"])
}
