package load

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"cuelang.org/go/cue"
	"cuelang.org/go/mod/modregistrytest"
	"golang.org/x/tools/txtar"
)

const oneTool = `package x

domains: d: tools: t: {
	description: "T"
	action:      "read"
	http: {method: "GET", path: "/"}
}
`

// Tags come from -t, then from the environment; what nobody declares is left
// alone there.
func TestTags(t *testing.T) {
	env := map[string]string{"METACUE_ORGANIZATION": "fromenv", "METACUE_TOP": "7", "METACUE_OTHER": "x", "ORGANIZATION": "bare"}
	getenv := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	file := oneTool + `
_organization: string | *"none" @tag(organization)
server: title: _organization
server: limits: maxArgumentDepth: int | *1 @tag(top,type=int)
`
	for _, test := range []struct {
		name  string
		o     Options
		title string
		depth int64
	}{
		{"neither", Options{}, "none", 1},
		{"environment", Options{Getenv: getenv}, "fromenv", 7},
		{"option", Options{Getenv: getenv, Tags: map[string]string{"organization": "given", "top": "5"}}, "given", 5},
		{"empty", Options{Getenv: getenv, Tags: map[string]string{"organization": ""}}, "", 7},
		{"empty in the environment", Options{Getenv: func(name string) (string, bool) { return "", true }}, "none", 1},
		{"quotes", Options{Tags: map[string]string{"organization": "a\"\\(x)\n"}}, "a\"\\(x)\n", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, findings := loadFiles(t, map[string]string{"a.cue": file}, test.o)
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			if got, _ := c.Value.LookupPath(cue.ParsePath("server.title")).String(); got != test.title {
				t.Errorf("title is %q, want %q", got, test.title)
			}
			if got, _ := c.Value.LookupPath(cue.ParsePath("server.limits.maxArgumentDepth")).Int64(); got != test.depth {
				t.Errorf("depth is %d, want %d", got, test.depth)
			}
		})
	}
}

// File names are relative to the working directory where that is shorter.
func TestPositions(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, fstest.MapFS{
		"conf/frame.cue":    {Data: []byte(frameFile)},
		"conf/a.cue":        {Data: []byte(oneTool + "servr: 1\n")},
		"conf/sub/b.cue":    {Data: []byte("package x\n\nservr: 2\n")},
		"elsewhere/far/off": {},
	})
	for _, test := range []struct{ dir, named, want string }{
		{root, "conf", filepath.Join("conf", "a.cue") + ":8:1"},
		{root, filepath.Join(root, "conf"), filepath.Join("conf", "a.cue") + ":8:1"},
		{filepath.Join(root, "conf"), ".", "a.cue:8:1"},
		{filepath.Join(root, "elsewhere"), "../conf", filepath.Join("..", "conf", "a.cue") + ":8:1"},
	} {
		_, findings := Dir(test.named, Options{Dir: test.dir})
		if len(findings) != 1 || !strings.HasPrefix(findings[0].String(), test.want) {
			t.Errorf("in %s, %s: %v, want %s", test.dir, test.named, findings, test.want)
		}
	}
	c, findings := FS(os.DirFS(filepath.Join(root, "conf")), "built-in", Options{})
	if len(findings) != 1 || !strings.HasPrefix(findings[0].String(), "built-in/a.cue:8:1: servr: ") {
		t.Errorf("embedded: %v", findings)
	}
	if c == nil || c.Source != "built-in" {
		t.Fatalf("source is %v", c)
	}
	if file, line, col := c.Position(c.Tools()[0].Own.Pos()); file != "built-in/a.cue" || line != 3 || col != 20 {
		t.Errorf("the tool is at %s:%d:%d", file, line, col)
	}
	def := c.Value.LookupPath(cue.ParsePath("domains.d.tools.t.input").Optional())
	if file, _, _ := c.Position(def.Pos()); file != "github.com/metacue/metacue/schema@v0.1.0/schema.cue" {
		t.Errorf("the definitions are in %q", file)
	}
}

// A directory that is not there, or is none, is a finding.
func TestNoDirectory(t *testing.T) {
	root := t.TempDir()
	writeFiles(t, root, fstest.MapFS{"file": {Data: []byte("x")}})
	for _, name := range []string{"absent", "file"} {
		c, findings := Dir(name, Options{Dir: root})
		if c != nil || len(findings) != 1 || findings[0].File != name {
			t.Errorf("%s: %v", name, findings)
		}
	}
}

// A package below a module root has the files of that package above it, as CUE
// has it.
func TestFilesAbove(t *testing.T) {
	files := map[string]string{
		"cue.mod/module.cue": "module: \"example.com/conf@v0\"\nlanguage: version: \"v0.17.0\"\n",
		"common.cue":         strings.Replace(frameFile, "package x", "package y", 1),
		"other.cue":          "package z\n\nserver: 5\n",
		"broken.cue":         "package y2\n\n: : :\n",
		"in/a.cue":           strings.Replace(oneTool, "package x", "package y", 1),
	}
	dir := t.TempDir()
	for name, text := range files {
		writeFiles(t, dir, fstest.MapFS{name: {Data: []byte(text)}})
	}
	c, findings := Dir("in", Options{Dir: dir})
	if len(findings) > 0 || len(c.Tools()) != 1 {
		t.Fatalf("%v", findings)
	}
	if err := os.Remove(filepath.Join(dir, "cue.mod", "module.cue")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "cue.mod")); err != nil {
		t.Fatal(err)
	}
	if _, findings := Dir("in", Options{Dir: dir}); len(findings) != 3 { // server, upstreams, description
		t.Errorf("without a module: %v", findings)
	}
}

// Tools keep the order of their declaration.
func TestOrder(t *testing.T) {
	c, findings := loadFiles(t, map[string]string{
		"a.cue": `package x

domains: zeta: {description: "Z", tools: {
	z: #T
	a: #T
	{for n in ["m", "b"] {(n): #T}}
}}
domains: d: tools: {y: #T, c: #T}
domains: alpha: {description: "A", tools: q: #T}
domains: zeta: tools: k: #T
#T: {description: "T", action: "read", title?: string, http: {method: "GET", path: "/"}}
`,
		"b.cue": "package x\n\ndomains: zeta: tools: a: title: \"A\"\n",
	}, Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var got []string
	for _, tool := range c.Tools() {
		got = append(got, tool.Domain+"."+tool.Name)
		if tool.Faulty || !tool.Own.Exists() || !tool.Value.Exists() || tool.Value.Path().String() != tool.Path.String() {
			t.Errorf("%s: %v", tool.Path, tool)
		}
	}
	want := []string{"zeta.z", "zeta.a", "zeta.m", "zeta.b", "zeta.k", "d.y", "d.c", "alpha.q"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Descriptions are comments, all their paragraphs, and of every declaration.
func TestDoc(t *testing.T) {
	c, findings := loadFiles(t, map[string]string{"a.cue": `package x

#Mixin: {
	// From the mixin
	mixed?: string
}
domains: d: tools: t: {
	description: "T"
	action:      "read"
	input: {
		#Mixin

		// ---- a heading ----

		// Of one line
		plain?: string // behind it

		// First paragraph,
		// of two lines.

		// Second paragraph.
		two!: int
		none?: int
		// Nested
		nested?: {
			// Inside
			inner?: int
			// trailing
		}

		// Alone, parted by a blank line.

		parted?: int
		// One more
		twice: int
		// once more
		twice: *5 | int
		// Same
		same?: int
		// Same
		same?: int
		silent?: int
		// The other one speaks
		silent?: int
	}
	http: {method: "GET", path: "/"}
}
`}, Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	input := c.Tools()[0].Own.LookupPath(cue.ParsePath("input"))
	docs := map[string]string{}
	it, err := input.Fields(cue.All())
	if err != nil {
		t.Fatal(err)
	}
	for it.Next() {
		docs[it.Selector().Unquoted()] = c.Doc(it.Value())
		if it.Selector().Unquoted() == "nested" {
			inner := it.Value().LookupPath(cue.MakePath(cue.Str("inner").Optional()))
			docs["inner"] = c.Doc(inner)
		}
	}
	want := map[string]string{
		"mixed":  "From the mixin",
		"plain":  "---- a heading ----\n\nOf one line",
		"two":    "First paragraph,\nof two lines.\n\nSecond paragraph.",
		"none":   "",
		"nested": "Nested",
		"inner":  "Inside",
		"parted": "",
		"twice":  "One more\n\nonce more",
		"same":   "Same",
		"silent": "The other one speaks",
	}
	for name, w := range want {
		if docs[name] != w {
			t.Errorf("%s: got %q, want %q", name, docs[name], w)
		}
	}
	unified := c.Value.LookupPath(cue.MakePath(cue.Str("domains"), cue.Str("d"), cue.Str("tools"), cue.Str("t"), cue.Str("input"), cue.Str("two").Required()))
	if got := c.Doc(unified); got != want["two"] {
		t.Errorf("of the unified value: %q", got)
	}
}

// A configuration can be built anew, by several goroutines at once.
func TestRebuild(t *testing.T) {
	c, findings := loadFiles(t, map[string]string{"a.cue": "package x\n\nimport \"strings\"\n\n_u: strings.ToUpper(\"t\")\n" + strings.TrimPrefix(oneTool, "package x")}, Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	want := fmt.Sprint(c.Value)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			own, value, err := c.Rebuild()
			if err != nil || own == c.Own || fmt.Sprint(value) != want {
				t.Errorf("rebuilt: %v, %v", value, err)
			}
		})
		wait.Go(func() {
			for _, tool := range c.Tools() {
				c.Doc(tool.Own)
				tool.Refs()
			}
		})
	}
	wait.Wait()
}

const needsModule = `
-- cue.mod/module.cue --
module: "example.com/conf@v0"
language: version: "v0.17.0"
deps: "example.com/dep@v0": v: "v0.1.0"
-- a.cue --
package x

import "example.com/dep/lib"

domains: d: tools: t: {
	lib.#Paged
	description: "T"
	action:      "read"
	input: a?: int
	http: {method: "GET", path: "/", query: a: input.a}
}
`

const depModule = `
-- example.com_dep_v0.1.0/cue.mod/module.cue --
module: "example.com/dep@v0"
language: version: "v0.17.0"
deps: "github.com/metacue/metacue/schema@v0": v: "v0.1.0"
-- example.com_dep_v0.1.0/lib/lib.cue --
package lib

import "github.com/metacue/metacue/schema"

#Paged: {input: top?: int, http: query: "$top": input.top, action?: schema.#Name}
-- example.com_dep_v0.1.0/bad/bad.cue --
package bad

#Q: x: 1 & 2
`

// Nothing is fetched unless it is asked for, and then it is in the cache.
func TestFetchAtStart(t *testing.T) {
	files, err := txtar.FS(txtar.Parse([]byte(depModule)))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := modregistrytest.New(files, "")
	if err != nil {
		t.Fatal(err)
	}
	defer registry.Close()
	t.Setenv("CUE_REGISTRY", registry.Host()+"+insecure")
	cache := t.TempDir()
	t.Setenv("CUE_CACHE_DIR", cache)
	defer makeWritable(cache)

	a := archive{files: fstest.MapFS{"frame.cue": {Data: []byte(frameFile)}}}
	for _, f := range txtar.Parse([]byte(needsModule)).Files {
		a.files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	dir := t.TempDir()
	writeFiles(t, dir, a.files)

	_, findings := Dir(".", Options{Dir: dir})
	want := "a.cue:3:8: the package example.com/dep/lib needs example.com/dep@v0.1.0, which is not in the local module cache; metacue vet --fetch puts it there\n"
	if got := text(t, findings); got != want {
		t.Errorf("without --fetch:\n%s", got)
	}
	for _, o := range []Options{{Dir: dir, Fetch: true}, {Dir: dir}} {
		c, findings := Dir(".", o)
		if len(findings) > 0 {
			t.Fatalf("fetch %v:\n%s", o.Fetch, text(t, findings))
		}
		if refs := c.Tools()[0].Refs(); len(refs) != 2 {
			t.Errorf("references: %v", refs)
		} else if file, line, _ := c.Position(refs[1].Pos); file != "example.com/dep@v0.1.0/lib/lib.cue" || line != 5 {
			t.Errorf("the mixin's reference is at %s:%d", file, line)
		}
	}
	// An embedded configuration has its modules from the cache too.
	if _, findings := FS(a.files, "built-in", Options{}); len(findings) > 0 {
		t.Errorf("embedded:\n%s", text(t, findings))
	}
	// A fault in a module is told where it is.
	writeFiles(t, dir, fstest.MapFS{"b.cue": {Data: []byte("package x\n\nimport \"example.com/dep/bad\"\n\ndomains: d: tools: t: http: query: bad.#Q\n")}})
	_, findings = Dir(".", Options{Dir: dir})
	if got := text(t, findings); got != "example.com/dep@v0.1.0/bad/bad.cue:3:8: domains.d.tools.t.http.query.x: conflicting values 2 and 1; see b.cue:5:36\n" {
		t.Errorf("fault in a module:\n%s", got)
	}
}

// A module can be replaced by a directory, as cue.mod/local-module.cue has it.
func TestReplacedModule(t *testing.T) {
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(needsModule + `
-- cue.mod/local-module.cue --
deps: "example.com/dep@v0": replaceWith: "../dep"
`)).Files {
		writeFiles(t, filepath.Join(dir, "conf"), fstest.MapFS{f.Name: {Data: f.Data}})
	}
	for _, f := range txtar.Parse([]byte(depModule)).Files {
		writeFiles(t, filepath.Join(dir, "dep"), fstest.MapFS{strings.TrimPrefix(f.Name, "example.com_dep_v0.1.0/"): {Data: f.Data}})
	}
	writeFiles(t, filepath.Join(dir, "conf"), fstest.MapFS{"frame.cue": {Data: []byte(frameFile)}})
	c, findings := Dir("conf", Options{Dir: dir})
	if len(findings) > 0 {
		t.Fatalf("findings:\n%s", text(t, findings))
	}
	if refs := c.Tools()[0].Refs(); len(refs) != 2 || refs[1].Pos.Filename() != filepath.Join("dep", "lib", "lib.cue") {
		t.Errorf("references: %v", refs)
	}
}

// makeWritable lets the test remove what CUE's module cache makes read-only.
func makeWritable(dir string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o777)
		}
		return nil
	})
}
