package schema_test

import (
	"io/fs"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

	"github.com/metacue/metacue/schema"
)

// The embedded files are the module that the Go constants name.
func TestModule(t *testing.T) {
	data, err := fs.ReadFile(schema.Files, "cue.mod/module.cue")
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(data, "cue.mod/module.cue")
	if err != nil {
		t.Fatal(err)
	}
	v, err := module.NewVersion(schema.Module, schema.Version)
	if err != nil {
		t.Fatal(err)
	}
	if f.QualifiedModule() != v.Path() || v.BasePath() != schema.ImportPath {
		t.Errorf("module.cue says %s, the constants %s and %s", f.QualifiedModule(), v.Path(), schema.ImportPath)
	}
}

func parse(t *testing.T) *ast.File {
	data, err := fs.ReadFile(schema.Files, "schema.cue")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile("schema.cue", data, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The definitions hold no defaults and no faults.
func TestDefinitions(t *testing.T) {
	f := parse(t)
	if err := cuecontext.New().BuildFile(f).Validate(cue.All()); err != nil {
		t.Error(err)
	}
	ast.Walk(f, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op.String() == "*" {
			t.Errorf("%s: a default", u.Pos())
		}
		return true
	}, nil)
}

// Every definition, and every field directly in one, says what it is in a
// comment that begins with its name.
func TestComments(t *testing.T) {
	check := func(f *ast.Field, above string) {
		name, _, err := ast.LabelName(f.Label)
		if err != nil {
			return // a pattern
		}
		var doc string
		for _, c := range ast.Comments(f) {
			if c.Doc {
				doc = c.Text()
			}
		}
		if !strings.HasPrefix(doc, name+" ") && !strings.HasPrefix(doc, name+":") {
			t.Errorf("%s: %s%s: the comment begins %q", f.Pos(), above, name, strings.SplitN(doc, "\n", 2)[0])
		}
	}
	for _, d := range parse(t).Decls {
		f, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		name, _, _ := ast.LabelName(f.Label)
		check(f, "")
		if s, ok := f.Value.(*ast.StructLit); ok {
			for _, d := range s.Elts {
				if f, ok := d.(*ast.Field); ok {
					check(f, name+".")
				}
			}
		}
	}
}
