package load

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueload "cuelang.org/go/cue/load"
	"golang.org/x/tools/txtar"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/schema"
)

// update rewrites the goldens: UPDATE=1 go test.
var update = os.Getenv("UPDATE") != ""

// archive is a configuration in testdata: its files, the tags it is loaded with
// (the file tags, name=value a line), and the findings it has (the file want).
type archive struct {
	*txtar.Archive
	path  string
	files fstest.MapFS
	tags  map[string]string
	want  string
}

func readArchive(t testing.TB, path string) archive {
	t.Helper()
	parsed, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := archive{Archive: parsed, path: path, files: fstest.MapFS{}, tags: map[string]string{}}
	for _, f := range parsed.Files {
		switch f.Name {
		case "want":
			a.want = string(f.Data)
		case "tags":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				a.tags[name] = value
			}
		default:
			a.files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return a
}

func (a archive) load() (*Config, diag.List) {
	return FS(a.files, "", Options{Tags: a.tags})
}

// pin compares what is got with what the archive wants.
func (a archive) pin(t testing.TB, got string) {
	t.Helper()
	if got == a.want {
		return
	}
	if !update {
		t.Errorf("got:\n%s\nwant:\n%s", got, a.want)
		return
	}
	for i, f := range a.Files {
		if f.Name == "want" {
			a.Files[i].Data = []byte(got)
		}
	}
	if err := os.WriteFile(a.path, txtar.Format(a.Archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

func archives(t testing.TB, kind string) []archive {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", kind, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	var all []archive
	for _, p := range paths {
		all = append(all, readArchive(t, p))
	}
	return all
}

func (a archive) name() string { return strings.TrimSuffix(filepath.Base(a.path), ".txtar") }

func text(t testing.TB, findings diag.List) string {
	t.Helper()
	var b bytes.Buffer
	if err := findings.Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each planted fault is one finding, at its place; what follows from it is none.
func TestConfigSilence(t *testing.T) {
	for _, a := range archives(t, "faults") {
		t.Run(a.name(), func(t *testing.T) {
			_, findings := a.load()
			got := text(t, findings)
			if got == "" {
				t.Error("nothing is found")
			}
			a.pin(t, got)
		})
	}
}

// Names of tools in prose that no tool has are told, each where it stands, and nothing
// else that prose names.
func TestStale(t *testing.T) {
	a := readArchive(t, filepath.Join("testdata", "prose.txtar"))
	c, findings := a.load()
	if len(findings) > 0 {
		t.Fatalf("findings:\n%s", text(t, findings))
	}
	a.pin(t, text(t, c.Stale()))
}

// A sound configuration has no findings, from memory or from disk.
func TestSound(t *testing.T) {
	for _, a := range archives(t, "valid") {
		t.Run(a.name(), func(t *testing.T) {
			c, findings := a.load()
			if findings = append(findings, c.Stale()...); len(findings) > 0 {
				t.Fatalf("findings:\n%s", text(t, findings))
			}
			if len(c.Tools()) == 0 {
				t.Error("there are no tools")
			}
			dir := t.TempDir()
			writeFiles(t, dir, a.files)
			d, findings := Dir(".", Options{Dir: dir, Tags: a.tags})
			if len(findings) > 0 {
				t.Fatalf("from disk, findings:\n%s", text(t, findings))
			}
			if got, want := len(d.Tools()), len(c.Tools()); got != want {
				t.Errorf("from disk there are %d tools, want %d", got, want)
			}
		})
	}
}

func writeFiles(t testing.TB, dir string, files fs.FS) {
	t.Helper()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
}

// Twenty-odd faults of as many kinds in one run: none hides another, and what
// follows from one is not told.
func TestTogether(t *testing.T) {
	a := readArchive(t, "testdata/together.txtar")
	a.tags["typed"] = "x"
	_, findings := a.load()
	count := map[int]int{}
	for _, f := range findings {
		count[f.Line]++
	}
	planted := 0
	line := 0
	for l := range strings.Lines(string(a.files["a.cue"].Data)) {
		line++
		want := 0
		if strings.HasSuffix(l, "// fault\n") {
			want = 1
			planted++
		}
		if count[line] != want {
			t.Errorf("line %d has %d findings, want %d: %s", line, count[line], want, strings.TrimSpace(l))
		}
	}
	if planted < 25 || len(findings) != planted {
		t.Errorf("%d findings for %d faults:\n%s", len(findings), planted, text(t, findings))
	}
}

// plain evaluates a configuration as the cue command does: the same files and
// tags, unified with the definitions, and CUE's verdict alone.
func plain(t testing.TB, a archive) error {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, a.files)
	module := "module: \"example.com/plain@v0\"\nlanguage: version: \"v0.17.0\"\ndeps: \"github.com/metacue/metacue/schema@v0\": v: \"v0.1.0\"\n"
	if f := a.files["cue.mod/module.cue"]; f != nil {
		module = string(f.Data)
	} else {
		writeFiles(t, dir, fstest.MapFS{"cue.mod/module.cue": {Data: []byte(module)}})
	}
	if strings.Contains(module, "schema@v0") {
		writeFiles(t, dir, fstest.MapFS{"cue.mod/local-module.cue": {Data: []byte("deps: \"github.com/metacue/metacue/schema@v0\": replaceWith: \"./schema-module\"\n")}})
		writeFiles(t, filepath.Join(dir, "schema-module"), schema.Files)
	}
	var tags []string
	for name, value := range a.tags {
		if name == "extra" { // of an @if attribute: given without a value there
			tags = append(tags, name)
			continue
		}
		tags = append(tags, name+"="+value)
	}
	inst := cueload.Instances([]string{"."}, &cueload.Config{Dir: dir, Tags: tags, Env: []string{"CUE_REGISTRY=none", "CUE_CACHE_DIR=" + t.TempDir()}})[0]
	if inst.Err != nil {
		return inst.Err
	}
	ctx := cuecontext.New()
	own := ctx.BuildInstance(inst)
	if err := own.Err(); err != nil {
		return err
	}
	return own.Unify(ctx.BuildInstance(schemaInstance()).LookupPath(cue.ParsePath("#Config"))).Validate()
}

// Where CUE alone sees a fault, there is a finding; where there is none, CUE has
// nothing to say either.
func TestAgreesWithCUE(t *testing.T) {
	for _, kind := range []string{"faults", "valid"} {
		for _, a := range archives(t, kind) {
			t.Run(a.name(), func(t *testing.T) {
				_, findings := a.load()
				if err := plain(t, a); err != nil && len(findings) == 0 {
					t.Errorf("CUE says %v", err)
				}
			})
		}
	}
}

// Nothing that a configuration needs when it is run stands in a file of tests.
func TestApart(t *testing.T) {
	const whole = "package a\nserver: name: \"a\"\nupstreams: api: url: \"https://api.example\"\n" +
		"domains: d: {description: \"D\", tools: t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/\"}}}\n"
	for text, want := range map[string][]string{
		"_in: {}\n#T: {in: _}\nlet x = \"GET\"\ndomains: d: tools: t: tests: [{arguments: _in, request: {method: x, path: \"/\"}}]": nil,
		"domains: {d: tools: {t: {_x: 1, tests: [{arguments: {}}]}}}":                                                               nil,
		"domains: d: tools: {for n in [\"t\"] {(n): tests: [{arguments: {}}]}}":                                                     nil,
		"domains: e: {description: \"E\", tools: u: {description: \"U\", action: \"read\", http: {method: \"GET\", path: \"/u\"}}}": {"2:14: domains.e.description", "2:43: domains.e.tools.u.description", "2:61: domains.e.tools.u.action", "2:77: domains.e.tools.u.http"},
		"domains: d: tools: t: http: query: x: 1":                                                                                   {"2:23: domains.d.tools.t.http"},
		"_m: http: query: x: 1\ndomains: d: tools: t: _m":                                                                           {"3:20: domains.d.tools.t"},
		"_m: http: query: x: 1\ndomains: d: tools: t: {_m}":                                                                         {"3:24: domains.d.tools.t"},
		"server: title: \"A\"": {"2:1: server"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.cue": whole, "a_tests.cue": "package a\n" + text + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		_, findings := Dir(dir, Options{Dir: dir})
		var got []string
		for _, f := range findings {
			got = append(got, f.String())
		}
		if len(got) != len(want) {
			t.Errorf("%s:\n got %q\nwant %q", text, got, want)
			continue
		}
		for i, w := range want {
			if !strings.HasPrefix(got[i], "a_tests.cue:"+w+": files whose names end in _tests.cue are left out") {
				t.Errorf("%s:\n got %s\nwant %s", text, got[i], w)
			}
		}
	}
}

// Files of tests are left out on request: they may hold faults then.
func TestNoTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.cue":       "package a\nserver: name: \"a\"\nupstreams: api: url: \"https://api.example\"\ndomains: d: {description: \"D\", tools: t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/\"}}}\n",
		"a_tests.cue": "package a\ndomains: d: tools: t: tests: [{argument: {}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, findings := Dir(dir, Options{}); len(findings) == 0 {
		t.Error("a fault in a file of tests is not found")
	}
	if _, findings := Dir(dir, Options{NoTests: true}); len(findings) > 0 {
		t.Errorf("with files of tests left out: %v", findings)
	}
}
