// Package arch holds the rules of the code's structure, as tests.
package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/metacue/metacue/"

// packages says which packages of this module each package may import. The
// names, read in order, are the pipeline: a configuration is loaded and
// compiled; a call is bound, exchanged and shaped; a surface shows both, and
// serve serves it. runtime/catalog and runtime/call are the two things that
// every stage may talk about.
var packages = map[string][]string{
	"schema":             {},
	"cue":                {},
	"runtime/clip":       {},
	"runtime/diag":       {"runtime/clip"},
	"runtime/nearest":    {},
	"runtime/words":      {"runtime/diag"},
	"runtime/catalog":    {},
	"runtime/call":       {"runtime/catalog"},
	"runtime/load":       {"schema", "cue", "runtime/diag", "runtime/nearest", "runtime/words"},
	"runtime/jsonschema": {"runtime/diag", "runtime/words"},
	"runtime/bind":       {},
	"runtime/expr":       {"runtime/bind", "runtime/words"},
	"runtime/rest":       {"runtime/bind"},
	"runtime/exec":       {"runtime/clip", "runtime/catalog", "runtime/call", "runtime/nearest", "runtime/jsonschema", "runtime/bind", "runtime/rest"},
	"runtime/compile": {"schema", "runtime/diag", "runtime/nearest", "runtime/load", "runtime/catalog", "runtime/call", "runtime/jsonschema",
		"runtime/bind", "runtime/expr", "runtime/rest", "runtime/exec", "runtime/words"},
	"runtime/expect":    {"runtime/clip", "runtime/diag", "runtime/load", "runtime/call", "runtime/bind", "runtime/expr", "runtime/rest", "runtime/exec"},
	"runtime/search":    {"runtime/catalog", "runtime/nearest"},
	"runtime/surface":   {"runtime/clip", "runtime/catalog", "runtime/call", "runtime/nearest", "runtime/signature", "runtime/search", "runtime/skill"},
	"runtime/tokens":    {},
	"runtime/hosts":     {},
	"runtime/skill":     {"runtime/catalog", "runtime/signature", "runtime/tokens"},
	"runtime/signature": {"runtime/catalog", "runtime/tokens"},
	"runtime/account":   {"runtime/catalog", "runtime/call", "runtime/surface", "runtime/skill", "runtime/signature", "runtime/tokens"},
	"runtime/serve":     {"runtime/catalog", "runtime/call", "runtime/surface"},
	"internal/sample":   {},
	"internal/demo": {"cue", "runtime/call", "runtime/load", "runtime/compile", "runtime/exec", "runtime/rest",
		"runtime/surface", "runtime/tokens", "runtime/serve", "internal/sample", "internal/term"},
	"internal/term":        {},
	"internal/scenario":    {"internal/sample", "runtime/tokens"},
	"internal/skillrules":  {"runtime/tokens"},
	"internal/searchbench": {"cue", "runtime/load", "runtime/compile", "runtime/catalog", "runtime/search"},
	"cmd/metacue": {"schema", "cue", "runtime/diag", "runtime/nearest", "runtime/catalog", "runtime/call", "runtime/load",
		"runtime/compile", "runtime/exec", "runtime/bind", "runtime/rest", "runtime/signature", "runtime/search", "runtime/surface", "runtime/tokens", "runtime/serve", "runtime/expect", "runtime/hosts", "runtime/skill", "runtime/account", "internal/demo", "internal/term"},
}

// modules says which packages may import each third-party module: each lives
// in few stages, so that it can be exchanged there.
var modules = map[string][]string{
	"cuelang.org/go":                           {"runtime/words", "runtime/load", "runtime/compile", "runtime/jsonschema", "runtime/expr", "runtime/expect", "runtime/hosts"},
	"github.com/modelcontextprotocol/go-sdk":   {"runtime/surface", "runtime/serve", "runtime/tokens", "runtime/account", "internal/demo", "internal/scenario", "cmd/metacue"},
	"github.com/go-resty/resty/v2":             {"runtime/rest"},
	"github.com/itchyny/gojq":                  {"runtime/load", "runtime/exec", "internal/scenario"},
	"github.com/std-uritemplate":               {"runtime/bind"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"runtime/jsonschema"},
	"github.com/tiktoken-go/tokenizer":         {"runtime/tokens"},
	"github.com/kljensen/snowball":             {"runtime/search", "internal/searchbench"},
	"github.com/spf13/cobra":                   {"cmd/metacue"},
	"github.com/rogpeppe/go-internal":          {"internal/scenario", "cmd/metacue"},
	"go.yaml.in/yaml/v3":                       {"internal/skillrules"},
	"golang.org/x/tools/txtar":                 {"internal/scenario"},
	"golang.org/x/text":                        {"runtime/rest", "runtime/jsonschema", "runtime/catalog"},
	"golang.org/x/time":                        {"runtime/rest"},
	"golang.org/x/oauth2":                      {"runtime/rest"},
	"golang.org/x/sync":                        {"runtime/rest", "runtime/exec", "runtime/serve", "runtime/jsonschema", "runtime/compile"},
}

// TestImportDirection checks every import outside tests against the tables.
func TestImportDirection(t *testing.T) {
	imports := readImports(t, "../..")
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		if _, ok := packages[pkg]; !ok {
			t.Errorf("package %s has no row in the table of packages: say what it may import", pkg)
			continue
		}
		for _, imported := range imports[pkg] {
			if fault := check(pkg, imported.path); fault != "" {
				t.Errorf("%s: %s", imported.position, fault)
			}
		}
	}
}

// TestTableIsUsed keeps rows of packages that are gone from staying behind.
func TestTableIsUsed(t *testing.T) {
	imports := readImports(t, "../..")
	for pkg := range packages {
		if imports[pkg] == nil {
			t.Errorf("the table of packages has a row for %s, which is not there", pkg)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct{ pkg, imported, want string }{
		{"runtime/surface", "net/http", ""},
		{"runtime/surface", module + "runtime/catalog", ""},
		{"runtime/surface", module + "runtime/rest", "runtime/surface must not import runtime/rest"},
		{"runtime/load", "cuelang.org/go/cue/ast", ""},
		{"runtime/surface", "cuelang.org/go/cue", "runtime/surface must not import cuelang.org/go/cue"},
		{"runtime/load", "cuelang.org/gone", "module of cuelang.org/gone has no row"},
		{"runtime/load", "example.org/new", "module of example.org/new has no row"},
	} {
		got := check(tc.pkg, tc.imported)
		if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s importing %s: got %q, want %q", tc.pkg, tc.imported, got, tc.want)
		}
	}
}

// check says what is wrong with an import, nothing when it is right.
func check(pkg, imported string) string {
	if own, ok := strings.CutPrefix(imported, module); ok {
		if !slices.Contains(packages[pkg], own) {
			return fmt.Sprintf("%s must not import %s; it may import %v", pkg, own, packages[pkg])
		}
		return ""
	}
	if host, _, _ := strings.Cut(imported, "/"); !strings.Contains(host, ".") {
		return "" // the standard library
	}
	for m, users := range modules {
		if imported != m && !strings.HasPrefix(imported, m+"/") {
			continue
		}
		if !slices.Contains(users, pkg) {
			return fmt.Sprintf("%s must not import %s, which belongs to %v", pkg, imported, users)
		}
		return ""
	}
	return fmt.Sprintf("the module of %s has no row in the table of modules: say which packages may import it", imported)
}

// use is one import and where it stands.
type use struct {
	path     string
	position token.Position
}

// readImports gives the imports of each package below root, tests left out. The
// map holds an entry for a package without imports too.
func readImports(t *testing.T, root string) map[string][]use {
	t.Helper()
	imports := map[string][]use{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && file != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := path.Clean(filepath.ToSlash(rel))
		if imports[pkg] == nil {
			imports[pkg] = []use{}
		}
		for _, i := range f.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg] = append(imports[pkg], use{imported, files.Position(i.Pos())})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}
