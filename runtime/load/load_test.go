package load

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/metacue/metacue/runtime/diag"
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
		})
	}
}

// A sound configuration has no findings, from memory or from disk.
func TestSound(t *testing.T) {
	for _, a := range archives(t, "valid") {
		t.Run(a.name(), func(t *testing.T) {
			c, findings := a.load()
			if len(findings) > 0 {
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
