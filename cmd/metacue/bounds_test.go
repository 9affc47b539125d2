package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/surface"
)

// boundsConfig is a configuration in which every text names every tool.
const boundsConfig = `
package bounds

import (
	"list"
	"strings"
)

_exclude: *"" | string @tag(exclude)
_execute: *"single" | "by-effect" @tag(execute)
_all: "This is said. " + strings.Join([for n in _names {"Use \(n)."}], " ") + " That too"
_names: ["zq_read_alpha", "zq_write_beta", "zq_drop_gamma", "zq_read_delta", "zq_write_epsilon",
	"zq_old_read_alpha", "zq_old_write_beta", "zq_old_drop_gamma", "zq_old_read_delta", "zq_old_write_epsilon"]

server: {
	name:         "bounds"
	title:        "Bounds"
	instructions: _all
	if _exclude != "" {exclude: strings.Split(_exclude, ",")}
	meta: {
		search:     true
		signatures: true
		pin: [for n in list.Slice(_names, 0, 5) if !list.Contains(strings.Split(_exclude, ","), n) {n}]
		execute: _execute
		escape:  "api"
	}
}
actions: {read: description: _all, update: description: _all, delete: description: _all}
upstreams: api: url: "https://api.example/v1"

#Tool: {
	_name:       string
	description: _all
	deprecated:  _all
	returns:     _all
	title:       _all
	aliases: [strings.Replace(_name, "zq_", "zq_old_", 1)]
	input: {
		// This is said. Use zq_read_alpha. Use zq_write_beta. Use zq_drop_gamma. Use zq_read_delta. Use zq_write_epsilon. Use zq_old_read_alpha. Use zq_old_write_beta. Use zq_old_drop_gamma. Use zq_old_read_delta. Use zq_old_write_epsilon. That too
		n!: int
	}
	check: [if input.n > 5 {_all}]
	examples: [{description: _all, arguments: n: 1}]
	response: schema: {
		// This is said. Use zq_read_alpha. Use zq_write_beta. Use zq_drop_gamma. Use zq_read_delta. Use zq_write_epsilon. Use zq_old_read_alpha. Use zq_old_write_beta. Use zq_old_drop_gamma. Use zq_old_read_delta. Use zq_old_write_epsilon. That too
		ok!: bool
	}
	...
}
domains: {
	a: {
		description: _all
		summary:     _all
		state: things: http: {method: "GET", path: "/state"}
		tools: {
			zq_read_alpha: #Tool & {_name: "zq_read_alpha", action: "read", http: {method: "GET", path: "/zq_read_alpha/{n}"}}
			zq_write_beta: #Tool & {_name: "zq_write_beta", action: "update", noun: "things", http: {method: "PATCH", path: "/zq_write_beta/{n}"}}
			zq_drop_gamma: #Tool & {_name: "zq_drop_gamma", action: "delete", noun: "things", http: {method: "DELETE", path: "/zq_drop_gamma/{n}"}}
		}
	}
	b: {
		description: _all
		listed:      false
		tools: {
			zq_read_delta: #Tool & {_name: "zq_read_delta", action: "read", http: {method: "GET", path: "/zq_read_delta/{n}"}}
			zq_write_epsilon: #Tool & {_name: "zq_write_epsilon", action: "update", http: {method: "PATCH", path: "/zq_write_epsilon/{n}"}}
		}
	}
}
skills: {
	reads: {description: _all, notes: _all, tools: ["zq_read_alpha", "zq_read_delta"]}
	writes: {description: _all, notes: _all, tools: ["zq_write_beta", "zq_write_epsilon", "zq_drop_gamma"]}
}
`

// boundsNames are the tools, with their domains; each has an alias.
var boundsNames = []struct {
	name, domain string
	reads        bool
}{
	{"zq_read_alpha", "a", true}, {"zq_write_beta", "a", false}, {"zq_drop_gamma", "a", false},
	{"zq_read_delta", "b", true}, {"zq_write_epsilon", "b", false},
}

func alias(name string) string { return strings.Replace(name, "zq_", "zq_old_", 1) }

// unbound are commands that no bounds apply to, and why.
var unbound = map[string]string{
	"vet":     "is for who writes the configuration",
	"test":    "is for who writes the configuration",
	"trust":   "reads no tool",
	"version": "reads no tool",
	"demo":    "shows the configuration that is built in",
	"serve":   "offers a surface: TestBoundsOfSurfaces",
}

// commands are calls of all others. NAME stands for each name in turn.
var boundsCommands = map[string][][]string{
	"call":          {{"NAME", "n=1"}, {"NAME", "n=9"}, {"NAME"}, {"NAME", "n=1", "--dry-run"}},
	"list":          {{}, {"a"}, {"b"}, {"NAME"}, {"--format", "json"}},
	"show":          {{"NAME"}, {"NAME", "--format", "json"}},
	"search":        {{"NAME"}, {"read write drop", "--explain"}, {"use", "--domain", "b"}, {"use", "--action", "delete"}, {"use", "--format", "json"}},
	"export skill":  {{}, {"reads"}, {"writes"}, {"--mode", "flat"}, {"NAME"}},
	"export schema": {{"NAME"}, {"NAME", "--result"}},
	"export tools":  {{"--mode", "flat"}, {"--mode", "meta"}, {"--mode", "nouns"}, {"--mode", "model"}},
	"export client": {{"vscode"}},
	"export docs":   {{"-o", "DIR"}},
	"completion":    {{"bash"}},
	"tokens":        {{}, {"--tools"}, {"--format", "json"}},
	"__complete": {
		{"call", "BOUNDS", ""}, {"call", "BOUNDS", "NAME", ""}, {"show", "BOUNDS", ""}, {"show", "BOUNDS", "zq_"},
		{"export", "schema", "BOUNDS", ""}, {"list", "BOUNDS", ""}, {"search", "BOUNDS", "use", "--domain", ""},
	},
}

// boundsCase is one way to set bounds, and what is out of them.
type boundsCase struct {
	flags  []string
	bounds catalog.Bounds
	out    func(name, domain string, reads bool) bool
}

var boundsCases = map[string]boundsCase{
	"read-only": {[]string{"--read-only"}, catalog.Bounds{ReadOnly: true}, func(_, _ string, reads bool) bool { return !reads }},
	"domains":   {[]string{"--domains", "a"}, catalog.Bounds{Domains: []string{"a"}}, func(_, domain string, _ bool) bool { return domain != "a" }},
	"both": {[]string{"--read-only", "--domains", "b"}, catalog.Bounds{ReadOnly: true, Domains: []string{"b"}},
		func(_, domain string, reads bool) bool { return domain != "b" || !reads }},
	// The setting comes from the environment: a flag would be repeated by what writes
	// flags for others.
	"exclude": {nil, catalog.Bounds{},
		func(name, _ string, _ bool) bool { return name == "zq_write_beta" || name == "zq_read_delta" }},
}

// set makes the setting that leaves tools out, where that is the way.
func (b boundsCase) set(t *testing.T) {
	if b.flags == nil {
		t.Setenv("METACUE_EXCLUDE", "zq_write_beta,zq_read_delta")
	}
}

// outside gives the names that must not be told, inside those that may.
func (b boundsCase) outside() (outside, inside []string) {
	for _, t := range boundsNames {
		if b.out(t.name, t.domain, t.reads) {
			outside = append(outside, t.name, alias(t.name))
		} else {
			inside = append(inside, t.name, alias(t.name))
		}
	}
	return outside, inside
}

// leaked gives the names of outside that a text tells, save what the asker said
// himself.
func leaked(text string, outside []string, said ...string) []string {
	for _, s := range said {
		text = strings.ReplaceAll(text, s, "")
	}
	return slices.DeleteFunc(slices.Clone(outside), func(n string) bool { return !strings.Contains(text, n) })
}

// api is the upstream: it notes what it is asked.
type api struct {
	*httptest.Server
	mu  sync.Mutex
	log []string
}

func newAPI(t *testing.T) *api {
	a := &api{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.log = append(a.log, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(a.Close)
	return a
}

// asked gives the requests that belong to tools out of bounds.
func (a *api) asked(outside []string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.log), func(r string) bool {
		return !slices.ContainsFunc(outside, func(n string) bool { return strings.Contains(r, "/"+n+"/") })
	})
}

func boundsDir(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bounds.cue"), []byte(boundsConfig), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a command as from a shell.
func runCommand(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	var b bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&b)
	root.SetErr(&b)
	root.SetIn(strings.NewReader(""))
	if err = root.ExecuteContext(t.Context()); err != nil {
		report(&b, err)
	}
	return b.String(), err
}

// leaves gives the commands that do something, by their paths.
func leaves(cmd *cobra.Command, path string) []string {
	if !cmd.HasSubCommands() {
		return []string{path}
	}
	var all []string
	for _, c := range cmd.Commands() {
		all = append(all, leaves(c, strings.TrimSpace(path+" "+c.Name()))...)
	}
	return all
}

// TestBoundsOfCommands runs every command with every name, in every way to set
// bounds: nothing out of them is told, shown or called. A command that has no row
// fails the test.
func TestBoundsOfCommands(t *testing.T) {
	for _, leaf := range leaves(newRoot(), "") {
		if _, ok := unbound[leaf]; !ok && boundsCommands[leaf] == nil {
			t.Errorf("metacue %s: say in boundsCommands how it is called, or in unbound why no bounds apply", leaf)
		}
	}
	if testing.Short() {
		t.Skip("it reads the configuration some hundred times")
	}
	dir := boundsDir(t)
	for name, b := range boundsCases {
		t.Run(name, func(t *testing.T) {
			b.set(t)
			upstream := newAPI(t)
			outside, inside := b.outside()
			names := slices.Concat(outside, inside[:2], []string{"zq_rite_beta", "zq_red_delta"})
			flags := append([]string{"-c", dir}, b.flags...)
			for command, calls := range boundsCommands {
				if command == "tokens" && !slices.Contains(leaves(newRoot(), ""), "tokens") {
					continue
				}
				for _, call := range calls {
					tried := names
					if !slices.Contains(call, "NAME") {
						tried = []string{""}
					}
					for _, n := range tried {
						args := strings.Fields(command)
						bound := false
						for _, a := range call {
							switch a {
							case "BOUNDS":
								args, bound = append(args, flags...), true
							case "NAME":
								args = append(args, n)
							case "DIR":
								args = append(args, t.TempDir())
							default:
								args = append(args, a)
							}
						}
						if !bound && command != "completion" {
							args = append(args, flags...)
						}
						if command == "call" {
							args = append(args, "--upstream", "api="+upstream.URL+"/v1")
						}
						output, err := runCommand(t, args...)
						if i := slices.Index(args, "-o"); i >= 0 {
							output += folderText(t, args[i+1])
						}
						if found := leaked(output, outside, n); n == "" && len(leaked(output, outside)) > 0 || len(found) > 0 {
							t.Errorf("metacue %s tells %v:\n%s", strings.Join(args, " "), found, output)
						}
						asksFor := slices.Contains(outside, n) && slices.Contains([]string{"call", "show", "export schema"}, command)
						if asksFor && (err == nil || strings.Contains(output, "integer")) {
							t.Errorf("metacue %s reaches it:\n%s", strings.Join(args, " "), output)
						}
						if slices.Contains(inside, n) && command == "show" && err != nil {
							t.Errorf("metacue %s does not reach what is within bounds:\n%s", strings.Join(args, " "), output)
						}
					}
				}
			}
			if asked := upstream.asked(outside); len(asked) > 0 {
				t.Errorf("sent %v", asked)
			}
		})
	}
}

// folderText is all that stands in the files of a folder, and their names.
func folderText(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			fmt.Fprintf(&b, "%s\n%s", path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBoundsOfSurfaces calls everything that each mode lists, and everything that
// it does not, with every name in every place where one can stand.
func TestBoundsOfSurfaces(t *testing.T) {
	dir := boundsDir(t)
	for name, b := range boundsCases {
		for _, execute := range []string{"single", "by-effect"} {
			for _, mode := range surface.Modes() {
				if execute == "by-effect" && mode != "meta" {
					continue
				}
				t.Run(name+"/"+execute+"/"+mode, func(t *testing.T) {
					b.set(t)
					upstream := newAPI(t)
					program, face := offeredWithin(t, dir, mode, execute, upstream.URL, b)
					outside, inside := b.outside()
					tell := func(what, text string, said ...string) {
						if found := leaked(text, outside, said...); len(found) > 0 {
							t.Errorf("%s tells %v:\n%s", what, found, text)
						}
					}
					list, err := json.Marshal(face.Tools())
					if err != nil {
						t.Fatal(err)
					}
					tell("tools/list", string(list))
					tell("instructions", face.Instructions())
					if !strings.Contains(face.Instructions(), "This is said.") {
						t.Errorf("instructions have lost what names no tool: %s", face.Instructions())
					}
					for _, r := range surface.Resources(program.Catalog, face) {
						listed, _ := json.Marshal(r.Listed)
						tell("resource "+r.Listed.URI, string(listed)+r.Text)
					}
					called := slices.Concat(outside, inside[:2], []string{"zq_rite_beta", "api_request", "execute_tool", "more", "bounds_model", "bounds_action"})
					listed := map[string]bool{}
					for _, tool := range face.Tools() {
						called = append(called, tool.Name)
						listed[tool.Name] = true
					}
					for _, n := range slices.Concat(outside, inside[:2], []string{"zq_rite_beta", "a", "b", "a/things", ""}) {
						for _, args := range []string{
							`{"tool_name":"NAME"}`, `{"tool_name":"NAME","arguments":{"n":1}}`, `{"tool_name":"NAME","n":1}`, `{"tool_name":"NAME","arguments":{"n":9}}`, `{"tool_name":"NAME","arguments":{"m":1}}`,
							`{"tool_names":["NAME"]}`, `{"tool_names":["NAME","INSIDE"]}`,
							`{"action":"NAME"}`, `{"action":"NAME","n":1}`, `{"action":"NAME","n":9}`,
							`{"domain":"NAME"}`, `{"domain":"a","action":"NAME"}`, `{"domain":"a","action":"NAME","n":1}`, `{"domain":"b","action":"NAME","arguments":{"n":1}}`,
							`{"domain":"a","operation":"NAME","params":{"n":1}}`, `{"domain":"b","operation":"NAME","params":"{\"n\":1}"}`, `{"domain":"b","operation":"NAME","params":{}}`,
							`{"query":"NAME"}`, `{"query":"NAME","domain":"b"}`, `{"query":"use","action":"NAME"}`,
							`{"method":"DELETE","path":"/NAME/1"}`, `{"method":"PATCH","path":"NAME/1","body":{}}`, `{"method":"GET","path":"/NAME/1"}`,
							`{"n":1,"x":"NAME"}`, `{"n":1}`, `{"n":9}`,
						} {
							for _, to := range called {
								if !listed[to] && strings.Contains(args, "NAME") {
									continue // what is not listed is a tool's name at most
								}
								filled := strings.NewReplacer("NAME", n, "INSIDE", inside[0]).Replace(args)
								before := len(upstream.log)
								r, err := face.Call(t.Context(), call.Caller{Bounds: b.bounds}, to, json.RawMessage(filled))
								said, _ := json.Marshal(r)
								if err != nil {
									said = []byte(err.Error())
								}
								tell(to+" "+filled, string(said), n, to)
								// The escape is bounded by its method alone: that is a write or it is none.
								if strings.HasPrefix(to, "api_") {
									if b.bounds.ReadOnly && slices.ContainsFunc(upstream.log[before:], func(r string) bool { return !strings.HasPrefix(r, "GET ") }) {
										t.Errorf("%s %s writes", to, filled)
									}
									if len(b.bounds.Domains) > 0 && len(upstream.log) > before {
										t.Errorf("%s %s reaches beyond the domains", to, filled)
									}
									upstream.log = upstream.log[:before]
								}
							}
						}
					}
					if asked := upstream.asked(outside); len(asked) > 0 {
						t.Errorf("sent %v", asked[:1])
					}
					if len(upstream.asked(inside)) == 0 {
						t.Error("nothing within bounds was reached: the calls are wrong")
					}
				})
			}
		}
	}
}

// offeredWithin makes what metacue serve would offer.
func offeredWithin(t *testing.T, dir, mode, execute, url string, b boundsCase) (*exec.Program, surface.Surface) {
	t.Helper()
	s := settings{
		tags:      map[string]string{"execute": execute},
		upstreams: map[string]string{"api": url + "/v1"},
		readOnly:  b.bounds.ReadOnly, domains: b.bounds.Domains,
	}
	program, findings := s.compile(source{dir: dir}, slog.New(slog.DiscardHandler))
	if program == nil {
		t.Fatal(findings)
	}
	program = program.Within(s.bounds())
	face, err := surface.New(mode, program.Catalog, program.Call)
	if err != nil {
		t.Fatal(err)
	}
	return program, face
}
