package config_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/metacue/metacue/internal/sample"
	"github.com/metacue/metacue/internal/skillrules"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/skill"
	"github.com/metacue/metacue/runtime/surface"
)

// Each tool of a skill has an example, and so has each tool that takes objects in
// its arguments: that is what an agent gets wrong without one.
func TestExamplesThere(t *testing.T) {
	p := program(t, "http://127.0.0.1:1", "http://127.0.0.1:1", nil)
	for _, s := range p.Catalog.Skills {
		for _, name := range s.Tools {
			if tool, ok := p.Catalog.Tool(name); !ok || len(tool.Examples) == 0 {
				t.Errorf("%s of the skill %s has no example", name, s.Name)
			}
		}
	}
	for _, tool := range p.Catalog.Tools() {
		if len(tool.Examples) == 0 && nested(t, tool) {
			t.Errorf("%s takes objects, and has no example", tool.Name)
		}
		for _, x := range tool.Examples {
			if n := utf8.RuneCountInString(x.Description); n == 0 || n > 80 {
				t.Errorf("%s: the description of an example has %d characters: %q", tool.Name, n, x.Description)
			}
		}
	}
}

// nested says whether a tool takes objects in its arguments.
func nested(t *testing.T, tool *catalog.Tool) bool {
	t.Helper()
	var schema argument
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	for _, a := range schema.Properties {
		if slices.Contains([]string{"object", "objects"}, a.kind()) {
			return true
		}
	}
	return false
}

// Each example is a call that succeeds in the sample organization as it begins: so
// none has a name, an ID or a shape that is made up.
func TestExamplesWork(t *testing.T) {
	var org atomic.Pointer[sample.Org]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { org.Load().ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	url := s.URL + "/" + sample.Name
	p := program(t, url, url, nil)
	for _, tool := range p.Catalog.Tools() {
		for _, x := range tool.Examples {
			org.Store(sample.New(sample.Options{PAT: "the-token-of-a-test"}))
			r := p.Call(t.Context(), call.Caller{}, tool.Name, x.Arguments)
			if r.IsError {
				t.Errorf("%s %s: %v", tool.Name, x.Arguments, r.Content)
			}
		}
	}
}

// The skills follow the rules of Agent Skills, in each wording of their calls and
// within bounds, and explain each tool once, with a call of it.
func TestSkills(t *testing.T) {
	p := program(t, "http://127.0.0.1:1", "http://127.0.0.1:1", nil)
	if len(p.Catalog.Skills) == 0 {
		t.Fatal("there are no skills")
	}
	for name, c := range map[string]*catalog.Catalog{
		"all":       p.Catalog,
		"read-only": p.Catalog.Within(catalog.Bounds{ReadOnly: true}),
	} {
		for _, mode := range []string{"flat", "meta"} {
			face, err := surface.New(mode, c, p.Call)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range c.Skills {
				t.Run(name+"/"+mode+"/"+s.Name, func(t *testing.T) {
					files := map[string]string{}
					var all strings.Builder
					for _, f := range skill.Files(c, s, face.Spell) {
						files[f.Path] = f.Text
						all.WriteString(f.Text)
					}
					for _, fault := range skillrules.Faults(s.Name, files) {
						t.Error(fault)
					}
					sections := strings.Split(all.String(), "\n## ")
					for _, tool := range s.Tools {
						known, ok := c.Tool(tool)
						if !ok || len(known.Examples) == 0 {
							t.Errorf("%s has no example", tool)
							continue
						}
						called, arguments := face.Spell(known, known.Examples[0].Arguments)
						var found int
						for _, section := range sections {
							if title, text, _ := strings.Cut(section, "\n"); title == tool {
								found++
								if want := "\n```\n" + called + " " + string(arguments) + "\n```\n"; !strings.Contains(text, want) {
									t.Errorf("%s is explained without%s", tool, want)
								}
							}
						}
						if found != 1 {
							t.Errorf("%s is explained %d times", tool, found)
						}
					}
				})
			}
		}
	}
}
