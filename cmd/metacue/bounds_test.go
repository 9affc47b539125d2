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

// Two domains: the name of one may be a word, that of the other shows what it is.
const domainA, domainB = "zqarea", "zq_sub-area"

// boundsConfig is a configuration in which every text names everything, in every form
// that a name has in prose. ALL is that text as a string, SHORT one of a single form,
// COMMENT one in a comment, NOTES one in Markdown, and NAMES are the names.
const boundsConfig = `
package bounds

import (
	"list"
	"strings"
)

_exclude: *"" | string @tag(exclude)
_execute: *"single" | "by-effect" @tag(execute)
_all: ALL
_pinned: ["zq_read_alpha", "zq_write_beta", "zq_drop_gamma", "zq_read_delta", "zq_write_epsilon", "zqpurge"]

server: {
	name:         "bounds"
	title:        "Bounds"
	instructions: _all
	if _exclude != "" {exclude: strings.Split(_exclude, ",")}
	meta: {
		search:     true
		signatures: true
		pin: [for n in _pinned if !list.Contains(strings.Split(_exclude, ","), n) {n}]
		execute: _execute
		escape:  "api"
	}
}
actions: {read: description: _all, update: description: _all, zq_wipe: {effect: "destructive", description: _all}}
upstreams: api: url: "https://api.example/v1"

#Tool: {
	_name:       string
	description: _all
	deprecated:  _all
	returns:     _all
	title:       _all
	aliases: [strings.Replace(_name, "zq", "zq_old", 1)]
	input: {
		// COMMENT
		n!: int
		// COMMENT
		q?: string @example(NAMES)
	}
	check: [if input.n > 5 {_all}]
	examples: [{description: _all, arguments: n: 1}, for n in ["zq_write_beta", "zq_read_delta", "zqpurge"] {arguments: {n: 1, q: "Like \(n)."}}]
	response: schema: {
		// COMMENT
		ok!: bool
	}
	...
}
domains: {
	"zqarea": {
		description: _all
		summary:     _all
		state: things: http: {method: "GET", path: "/state"}
		tools: {
			zq_read_alpha: #Tool & {_name: "zq_read_alpha", action: "read", http: {method: "GET", path: "/zq_read_alpha/{n}"}}
			zq_write_beta: #Tool & {_name: "zq_write_beta", action: "update", noun: "zq_things", http: {method: "PATCH", path: "/zq_write_beta/{n}"}}
			zq_drop_gamma: #Tool & {_name: "zq_drop_gamma", action: "zq_wipe", noun: "zq_things", http: {method: "DELETE", path: "/zq_drop_gamma/{n}"}}
			zqpurge: #Tool & {_name: "zqpurge", action: "zq_wipe", noun: "zq_things", http: {method: "DELETE", path: "/zqpurge/{n}"}}
		}
	}
	"zq_sub-area": {
		description: _all
		listed:      false
		tools: {
			zq_read_delta: #Tool & {_name: "zq_read_delta", action: "read", http: {method: "GET", path: "/zq_read_delta/{n}"}}
			zq_write_epsilon: #Tool & {_name: "zq_write_epsilon", action: "update", http: {method: "PATCH", path: "/zq_write_epsilon/{n}"}}
		}
	}
}
skills: {
	reads: {description: SHORT, notes: NOTES, tools: ["zq_read_alpha", "zq_read_delta"]}
	writes: {description: SHORT, notes: NOTES, tools: ["zq_write_beta", "zq_write_epsilon", "zq_drop_gamma"]}
}
`

// boundsText is the configuration with its texts. What stands in Markdown with a name,
// and must go with it, is the name from its end to its beginning.
func boundsText() string {
	var names, said, short []string
	notes := []string{"# Notes", "This is said in notes."}
	add := func(what, name string) {
		names, short = append(names, name), append(short, "The "+what+" `"+name+"`.")
		if strings.Contains(name, "zq_old") {
			said = append(said, "It is the "+what+" "+name+".")
			return
		}
		said = append(said,
			"Use mcp__bounds__"+name+" here.", "Not bounds_"+name+".", "It is `"+name+"`.", "It is the "+what+" "+name+".", `Or {"x":"`+name+`"}.`)
		if what == "tool" {
			said = append(said, "Call "+name+".", "Write "+name+"(n).", "Use "+name+" with care.")
		}
		if strings.Contains(name, "_") {
			camel := ""
			for i, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
				if i > 0 {
					part = strings.ToUpper(part[:1]) + part[1:]
				}
				camel += part
			}
			said = append(said, "It is "+name+".", "_"+name+"_ is bad.", name+"-like calls.", "See tools/"+name+".md.", strings.ToUpper(name)+" is loud.",
				"It is "+camel+".", "It is "+strings.ReplaceAll(name, "_", `\_`)+".", "It is "+strings.ReplaceAll(name, "_", "-")+".", "See https://x/y?tool="+name+".")
		}
		with := "ZQ " + backwards(name)
		notes = append(notes,
			"## The "+what+" `"+name+"`\n\n"+with+".", "## Of all\n\n```\n"+`{"tool_name":"`+name+`"}`+"\n"+with+"\n```", "> It is `"+name+"`.\n> "+with+".",
			"| a | b |\n| - | - |\n| "+with+" | `"+name+"` |\n| y | row |", "The "+what+" `"+name+"`\n====\n\n"+with+".", "# Items\n\n1. one\n   `"+name+"`, "+with+"\n2. two")
	}
	for _, t := range boundsNames {
		add("tool", t.name)
		add("tool", alias(t.name))
	}
	add("domain", domainA)
	add("domain", domainB)
	add("noun", "zq_things")
	add("action", "zq_wipe")
	quoted := func(v string) string { text, _ := json.Marshal(v); return string(text) }
	all := "This is said. " + strings.Join(said, " ") + " That too"
	list, _ := json.Marshal(names)
	return strings.NewReplacer("ALL", quoted(all), "SHORT", quoted("This is said. "+strings.Join(short, " ")), "COMMENT", all, "NOTES", quoted(strings.Join(notes, "\n\n")), "NAMES", strings.Trim(string(list), "[]")).Replace(boundsConfig)
}

// boundsNames are the tools, with their domains; each has an alias.
var boundsNames = []struct {
	name, domain string
	reads        bool
}{
	{"zq_read_alpha", domainA, true}, {"zq_write_beta", domainA, false}, {"zq_drop_gamma", domainA, false}, {"zqpurge", domainA, false},
	{"zq_read_delta", domainB, true}, {"zq_write_epsilon", domainB, false},
}

func alias(name string) string { return strings.Replace(name, "zq", "zq_old", 1) }

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
	"list":          {{}, {domainA}, {domainB}, {"NAME"}, {"--format", "json"}},
	"show":          {{"NAME"}, {"NAME", "--format", "json"}},
	"search":        {{"NAME"}, {"read write drop", "--explain"}, {"use", "--domain", domainB}, {"use", "--action", "zq_wipe"}, {"use", "--format", "json"}},
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
	"domains":   {[]string{"--domains", domainA}, catalog.Bounds{Domains: []string{domainA}}, func(_, domain string, _ bool) bool { return domain != domainA }},
	"both": {[]string{"--read-only", "--domains", domainB}, catalog.Bounds{ReadOnly: true, Domains: []string{domainB}},
		func(_, domain string, reads bool) bool { return domain != domainB || !reads }},
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

// outside gives the names of tools that must not be told, inside those that may, and
// of nothing else than tools.
func (b boundsCase) outside() (outside, inside, others []string) {
	groups := map[string]bool{domainA: false, domainB: false, "zq_things": false, "zq_wipe": false}
	for _, t := range boundsNames {
		if b.out(t.name, t.domain, t.reads) {
			outside = append(outside, t.name, alias(t.name))
			continue
		}
		inside = append(inside, t.name, alias(t.name))
		groups[t.domain] = true
		if !t.reads && t.domain == domainA {
			groups["zq_things"] = true
			groups["zq_wipe"] = groups["zq_wipe"] || t.name != "zq_write_beta"
		}
	}
	for name, in := range groups {
		if !in {
			others = append(others, name)
		}
	}
	return outside, inside, others
}

// squeezed is a text without all that can part or join the words of a name.
func squeezed(text string) string {
	var b []byte
	for _, c := range []byte(strings.ToLower(text)) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b = append(b, c)
		}
	}
	return string(b)
}

// leaked gives the names of outside that a text tells, in any form, save what the
// asker said himself; and what is left of a part of Markdown that told one.
func leaked(text string, outside []string, said ...string) []string {
	for _, s := range said {
		if s != "" {
			text = strings.ReplaceAll(text, s, " ")
		}
	}
	text = squeezed(text)
	return slices.DeleteFunc(slices.Clone(outside), func(n string) bool {
		return !strings.Contains(text, squeezed(n)) && !strings.Contains(text, squeezed(backwards(n)))
	})
}

// backwards is a name from its end to its beginning.
func backwards(name string) string {
	b := []byte(name)
	slices.Reverse(b)
	return string(b)
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
	if err := os.WriteFile(filepath.Join(dir, "bounds.cue"), []byte(boundsText()), 0o666); err != nil {
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
			outside, inside, others := b.outside()
			secret := slices.Concat(outside, others)
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
						if found := leaked(output, secret, append(call, n)...); len(found) > 0 {
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
					outside, inside, others := b.outside()
					secret := slices.Concat(outside, others)
					tell := func(what, text string, said ...string) {
						if found := leaked(text, secret, said...); len(found) > 0 {
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
					for _, n := range slices.Concat(outside, inside[:2], []string{"zq_rite_beta", domainA, domainB, domainA + "/things", "zq_things", "zq_wipe", ""}) {
						for _, args := range []string{
							`{"tool_name":"NAME"}`, `{"tool_name":"NAME","arguments":{"n":1}}`, `{"tool_name":"NAME","n":1}`, `{"tool_name":"NAME","arguments":{"n":9}}`, `{"tool_name":"NAME","arguments":{"m":1}}`,
							`{"tool_names":["NAME"]}`, `{"tool_names":["NAME","INSIDE"]}`,
							`{"action":"NAME"}`, `{"action":"NAME","n":1}`, `{"action":"NAME","n":9}`,
							`{"domain":"NAME"}`, `{"domain":"zqarea","action":"NAME"}`, `{"domain":"zqarea","action":"NAME","n":1}`, `{"domain":"zq_sub-area","action":"NAME","arguments":{"n":1}}`,
							`{"domain":"zqarea","operation":"NAME","params":{"n":1}}`, `{"domain":"zq_sub-area","operation":"NAME","params":"{\"n\":1}"}`, `{"domain":"zq_sub-area","operation":"NAME","params":{}}`,
							`{"query":"NAME"}`, `{"query":"NAME","domain":"zq_sub-area"}`, `{"query":"use","action":"NAME"}`,
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
								tell(to+" "+filled, string(said), n, to, domainOf(filled))
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

// domainOf is the domain that a call names.
func domainOf(args string) string {
	var in struct{ Domain string }
	_ = json.Unmarshal([]byte(args), &in) // all of them are JSON
	return in.Domain
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
