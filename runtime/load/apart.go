package load

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
)

// Files of tests are left out when a configuration is run (Options.NoTests): what
// else stood in them would be checked and tested, and then not be there.

// apart reports what stands in files of tests and is neither a tool's tests nor
// hidden.
func (l *loader) apart() {
	for _, file := range l.cut.files {
		if OfTests(file.Filename) {
			l.onlyTests(file.Decls, nil)
		}
	}
}

// testsPath leads to the tests of a tool; "" is any name.
var testsPath = []string{"domains", "", "tools", "", "tests"}

// onlyTests looks at what is declared at a path that begins like testsPath.
func (l *loader) onlyTests(decls []ast.Decl, path []string) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Field:
			name, ident, err := ast.LabelName(d.Label)
			if err == nil && ident && (strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#")) {
				continue
			}
			p := append(slices.Clone(path), name)
			x, isStruct := d.Value.(*ast.StructLit)
			switch want := testsPath[len(path)]; {
			case want != "" && (err != nil || name != want), len(p) < len(testsPath) && !isStruct:
				l.leftOut(d, p)
			case len(p) < len(testsPath):
				l.onlyTests(x.Elts, p)
			}
		case *ast.Comprehension:
			if x, ok := d.Value.(*ast.StructLit); ok {
				l.onlyTests(x.Elts, path)
			}
		case *ast.EmbedDecl:
			l.leftOut(d, path)
		}
	}
}

func (l *loader) leftOut(d ast.Decl, path []string) {
	l.report(d.Pos(), l.path(path).String(), fmt.Sprintf(
		"files whose names end in %s are left out when the configuration is run: only the tests of tools can stand in them, and what is hidden", testsSuffix), "")
}
