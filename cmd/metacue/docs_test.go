package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/expect"
	"github.com/metacue/metacue/runtime/load"
)

// docPages gives the texts of the README and of docs/, by their paths from here.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = string(text)
	}
	return all
}

// wholeFile is a block that is a file of a configuration. It is NAME/NAME.cue,
// where NAME is its package, unless a comment before it says otherwise.
var wholeFile = regexp.MustCompile("(?m)^(?:<!-- file: (\\S+) -->\n)?```cue\n(package (\\w+)\n(?s:.*?))^```$")

// configurations gives the files that a page shows, by folder and name.
func configurations(page string) map[string]fstest.MapFS {
	all := map[string]fstest.MapFS{}
	for _, m := range wholeFile.FindAllStringSubmatch(page, -1) {
		dir, name := filepath.Split(m[1])
		if name == "" {
			dir, name = m[3]+"/", m[3]+".cue"
		}
		dir = strings.TrimSuffix(dir, "/")
		if all[dir] == nil {
			all[dir] = fstest.MapFS{}
		}
		all[dir][name] = &fstest.MapFile{Data: []byte(m[2])}
	}
	return all
}

// TestDocs runs every configuration that the README and docs/ show: each vets
// clean, and its examples make the requests that it says they make.
func TestDocs(t *testing.T) {
	n := 0
	for file, page := range docPages(t) {
		for name, files := range configurations(page) {
			n++
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				cfg, findings := load.FS(files, name, load.Options{})
				if len(findings) > 0 {
					t.Fatal(findings)
				}
				if _, findings := compile.Compile(cfg, compile.Options{}); len(findings) > 0 {
					t.Fatal(findings)
				}
				if o := expect.Run(t.Context(), cfg, compile.With(cfg, compile.Options{})); len(o.Findings) > 0 {
					t.Error(o.Findings)
				} else {
					t.Logf("%d examples with expectations", o.Run)
				}
			})
		}
	}
	if n < 12 {
		t.Errorf("%d configurations found: the pages are not read as they should be", n)
	}
}

// command is a block of a page that is typed into a shell, and, in the block that
// follows it, what is printed then.
var command = regexp.MustCompile("(?m)^```sh\n((?s:.*?))^```$(?:\n\n```text\n((?s:.*?))^```$)?")

// TestDocsCommands types the commands of each page of docs/ into one shell, in a
// folder that holds the configurations of the page, and compares what they print.
// UPDATE=1 writes that into the page.
func TestDocsCommands(t *testing.T) {
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the pages use %s: %v", tool, err)
		}
	}
	n := 0
	for file, page := range docPages(t) {
		blocks := command.FindAllStringSubmatch(page, -1)
		if len(blocks) == 0 || filepath.Base(file) == "README.md" {
			continue
		}
		n++
		t.Run(filepath.Base(file), func(t *testing.T) {
			got := typed(t, configurations(page), blocks)
			i := 0
			is := command.ReplaceAllStringFunc(page, func(block string) string {
				m, printed := command.FindStringSubmatch(block), got[i]
				i++
				block = "```sh\n" + m[1] + "```"
				if printed != "" {
					block += "\n\n```text\n" + printed + "```"
				}
				return block
			})
			if is == page {
				return
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, []byte(is), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for i, m := range blocks {
				if m[2] != got[i] {
					t.Errorf("%s prints\n%s\nand %s says\n%s\nUPDATE=1 writes it", m[1], got[i], filepath.Base(file), m[2])
				}
			}
		})
	}
	if n < 2 {
		t.Errorf("%d pages with commands found: the pages are not read as they should be", n)
	}
}

// boundary stands between the outputs of blocks.
const boundary = "---- a block ends ----"

// typed runs blocks one after another and gives what each prints, on standard
// error too. What differs from run to run, ports, times and the folder, is evened out.
func typed(t *testing.T, files map[string]fstest.MapFS, blocks [][]string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, files := range files {
		if err := os.CopyFS(filepath.Join(dir, name), files); err != nil {
			t.Fatal(err)
		}
	}
	// What is still running at the end, because a command before it failed, ends too.
	var script strings.Builder
	script.WriteString("trap 'kill \"${!-}\" 2>/dev/null || :' EXIT\n")
	for _, b := range blocks {
		fmt.Fprintf(&script, "%s\necho '%s'\n", b[1], boundary)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GOCOVERDIR=" + t.TempDir()}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	printed := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(out.String(), "127.0.0.1:8080")
	printed = strings.ReplaceAll(printed, dir, "/path/to")
	printed = regexp.MustCompile(`(?m)^time=\S+ `).ReplaceAllString(printed, "")
	all := strings.Split(printed, boundary+"\n")
	if len(all) != len(blocks)+1 {
		t.Fatalf("%d blocks printed\n%s", len(blocks), printed)
	}
	for i, s := range all {
		if s != "" && !strings.HasSuffix(s, "\n") {
			all[i] += "\n"
		}
	}
	return all[:len(blocks)]
}

// TestDocsAreListed shows that the README leads to every page of docs/.
func TestDocsAreListed(t *testing.T) {
	all := docPages(t)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if link := "](docs/" + filepath.Base(file) + ")"; filepath.Base(file) != "README.md" && !strings.Contains(all["../../README.md"], link) {
			t.Errorf("README.md has no link to docs/%s", filepath.Base(file))
		}
	}
	for _, m := range regexp.MustCompile(`\]\(((?:docs|schema|cue)/[^)#]*)`).FindAllStringSubmatch(all["../../README.md"], -1) {
		if _, err := os.Stat("../../" + m[1]); err != nil {
			t.Errorf("README.md leads to nothing: %v", err)
		}
	}
}
