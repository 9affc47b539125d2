package surface

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/tokens"
)

// update rewrites the goldens: UPDATE=1 go test.
var update = os.Getenv("UPDATE") != ""

var taxonomy = []catalog.Action{
	{Name: "read", Description: "Reads", Effect: catalog.Read, Idempotent: true},
	{Name: "create", Description: "Creates", Effect: catalog.Write},
	{Name: "update", Description: "Changes", Effect: catalog.Write},
	{Name: "delete", Description: "Deletes", Effect: catalog.Destructive, Idempotent: true},
}

// tool makes a tool of an action with the annotations of its effect.
func tool(domain, action, name, input string, aliases ...string) *catalog.Tool {
	a := taxonomy[slices.IndexFunc(taxonomy, func(a catalog.Action) bool { return a.Name == action })]
	return &catalog.Tool{
		Name: name, Description: "Do " + name + " <now> & here", Domain: domain,
		Action: action, Effect: a.Effect, Idempotent: a.Idempotent, Aliases: aliases,
		Annotations: catalog.Annotations{
			ReadOnly: a.Effect == catalog.Read, Destructive: a.Effect == catalog.Destructive,
			Idempotent: a.Idempotent, OpenWorld: true,
		},
		InputSchema: json.RawMessage(input),
	}
}

// small is a catalog with one of everything.
func small() *catalog.Catalog {
	getRepo := tool("repositories", "read", "get_repository", `{"type":"object","properties":{"id":{"type":"string"},"project":{"type":"string","default":"Contoso"}},"required":["id"],"additionalProperties":false}`, "repo_get")
	getRepo.Title = "Repository"
	getRepo.OutputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	getRepo.Defaults = json.RawMessage(`{"project":"Contoso"}`)
	getRepo.Examples = []catalog.Example{
		{Description: "By name", Arguments: json.RawMessage(`{"id":"web"}`)},
		{Arguments: json.RawMessage(`{"id":"9007199254740993"}`)},
	}
	run := tool("pipelines", "create", "run_command", `{"type":"object","properties":{"command":{"type":"string"},"arguments":{"type":"array"}},"required":["command"],"additionalProperties":false}`)
	return catalog.New(catalog.Catalog{
		Server:  catalog.Server{Name: "sample", Title: "Sample", Version: "1.0.0", Instructions: "Work with Contoso."},
		Actions: taxonomy,
		Domains: []*catalog.Domain{
			{Name: "repositories", Description: "Git repositories and branches.", Summary: "git, branches", Tools: []*catalog.Tool{
				getRepo,
				tool("repositories", "create", "create_branch", `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`),
				tool("repositories", "delete", "delete_repository", `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`, "repo_delete"),
			}},
			{Name: "pipelines", Description: "Builds and their logs", Summary: "builds, logs", Tools: []*catalog.Tool{run}},
			{Name: "secrets", Description: "Vaults", Summary: "vaults", Tools: []*catalog.Tool{
				tool("secrets", "read", "get_vault", `{"type":"object","properties":{}}`, "vault_get"),
			}},
		},
	})
}

// nine is a catalog of nine domains with n tools in all.
func nine(n int) *catalog.Catalog {
	domains := []*catalog.Domain{
		{Name: "core", Summary: "projects, teams, people"},
		{Name: "work", Summary: "iterations, capacity"},
		{Name: "work-items", Summary: "backlogs, queries, comments"},
		{Name: "repositories", Summary: "git, pull requests, branches"},
		{Name: "pipelines", Summary: "builds, runs, logs"},
		{Name: "wiki", Summary: "wikis, pages"},
		{Name: "test-plans", Summary: "plans, suites, results"},
		{Name: "search", Summary: "code, wiki, work items"},
		{Name: "advanced-security", Summary: "alerts"},
	}
	for i := range n {
		d := domains[i%len(domains)]
		action := taxonomy[i/len(domains)%len(taxonomy)].Name
		d.Tools = append(d.Tools, tool(d.Name, action, fmt.Sprintf("tool_%04d", i), `{"type":"object","properties":{}}`))
	}
	return catalog.New(catalog.Catalog{Actions: taxonomy, Domains: domains})
}

// made is one call that reached the fake program.
type made struct{ tool, args string }

// recorder is a program that notes calls and answers with a fixed result. It refuses
// calls that come with faults.
type recorder struct {
	calls  []made
	answer call.Result
}

func (r *recorder) do(_ context.Context, caller call.Caller, tool string, args json.RawMessage) call.Result {
	if len(caller.Faults) > 0 {
		return call.Error(refusedBy(tool, string(args), caller.Faults...))
	}
	r.calls = append(r.calls, made{tool, string(args)})
	return r.answer
}

// refusedBy is what the recorder answers to a call that comes with faults.
func refusedBy(tool, args string, faults ...call.Fault) string {
	return fmt.Sprintf("%s %s: %q", tool, args, faults)
}

func newSurface(t testing.TB, mode string, c *catalog.Catalog, do call.Func) Surface {
	t.Helper()
	s, err := New(mode, c, do)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask calls a tool and gives the text of the answer.
func ask(t testing.TB, s Surface, name, args string) (text string, r *mcp.CallToolResult) {
	t.Helper()
	r, err := s.Call(t.Context(), call.Caller{}, name, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s %s: %d blocks, want 1", name, args, len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text, r
}

func repairs(r *mcp.CallToolResult) []string {
	said, _ := r.Meta[RepairsKey].([]string)
	return said
}

// wire is the list as it goes out.
func wire(tools []*mcp.Tool) []byte { return compact(tools) }

func indented(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (UPDATE=1 rewrites it):\n%s", path, got)
	}
}

func TestModes(t *testing.T) {
	if got := Modes(); !slices.Equal(got, []string{"flat", "meta", "nouns", "model"}) {
		t.Errorf("Modes() = %q", got)
	}
	if _, err := New("metta", small(), nil); err == nil || !strings.Contains(err.Error(), "flat, meta, nouns, model") {
		t.Errorf("an unknown mode: %v", err)
	}
}

// What a client sees is a committed file: a change of it is a change of the product.
func TestListGolden(t *testing.T) {
	for _, mode := range Modes() {
		golden(t, mode+".json", indented(t, wire(newSurface(t, mode, small(), nil).Tools())))
	}
	golden(t, "meta-nine.json", indented(t, wire(newSurface(t, "meta", nine(92), nil).Tools())))
}

func TestUnstableList(t *testing.T) {
	for _, mode := range Modes() {
		first := wire(newSurface(t, mode, small(), nil).Tools())
		for range 100 {
			if got := wire(newSurface(t, mode, small(), nil).Tools()); !bytes.Equal(got, first) {
				t.Fatalf("%s: the list changed from\n%s\nto\n%s", mode, first, got)
			}
		}
		tools := newSurface(t, mode, small(), nil).Tools()
		if !slices.IsSortedFunc(tools, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: the list is not sorted by name", mode)
		}
	}
}

// The list of meta costs at most 400 tokens for nine domains and the same for any
// number of tools, and at most 16 more for each domain.
func TestBudget(t *testing.T) {
	few, many := newSurface(t, "meta", nine(92), nil).Tools(), newSurface(t, "meta", nine(1000), nil).Tools()
	n := tokens.List(few)
	t.Logf("nine domains: %d tokens", n)
	if n > 400 {
		t.Errorf("nine domains: %d tokens, want at most 400", n)
	}
	if !bytes.Equal(wire(few), wire(many)) {
		t.Error("1,000 tools give another list than 92")
	}
	c := nine(92)
	for i := range 10 {
		name := fmt.Sprintf("service-%d", i)
		c.Domains = append(c.Domains, &catalog.Domain{Name: name, Summary: "hooks, queues, events", Tools: []*catalog.Tool{
			tool(name, "read", "get_"+name, `{"type":"object","properties":{}}`),
		}})
		next := tokens.List(newSurface(t, "meta", catalog.New(*c), nil).Tools())
		if next-n > 16 {
			t.Errorf("domain %s adds %d tokens, want at most 16", name, next-n)
		}
		n = next
	}
}

func TestAnnotations(t *testing.T) {
	type hints struct{ read, destructive, idempotent, open bool }
	of := func(s Surface, name string) hints {
		i := slices.IndexFunc(s.Tools(), func(t *mcp.Tool) bool { return t.Name == name })
		a := s.Tools()[i].Annotations
		if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
			t.Fatalf("%s: a hint is left to its default: %+v", name, a)
		}
		return hints{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint}
	}
	flat := newSurface(t, "flat", small(), nil)
	for name, want := range map[string]hints{
		"get_repository":    {true, false, true, true},
		"create_branch":     {false, false, false, true},
		"delete_repository": {false, true, true, true},
	} {
		if got := of(flat, name); got != want {
			t.Errorf("flat %s: %+v, want %+v", name, got, want)
		}
	}
	reads := small().Within(catalog.Bounds{ReadOnly: true})
	writes := small().Within(catalog.Bounds{Domains: []string{"pipelines"}})
	for _, c := range []struct {
		what string
		c    *catalog.Catalog
		want hints // of execute_tool: the worst of what it can run
	}{
		{"all", small(), hints{false, true, false, true}},
		{"reads", reads, hints{true, false, true, true}},
		{"writes", writes, hints{false, false, false, true}},
		{"nothing", catalog.New(catalog.Catalog{}), hints{true, false, true, false}},
	} {
		s := newSurface(t, "meta", c.c, nil)
		if got := of(s, executeTool); got != c.want {
			t.Errorf("execute_tool over %s: %+v, want %+v", c.what, got, c.want)
		}
		for _, name := range []string{listDomains, listDomainTools, getToolSchema} {
			if got, want := of(s, name), (hints{true, false, true, false}); got != want {
				t.Errorf("%s over %s: %+v, want %+v", name, c.what, got, want)
			}
		}
	}
}

func TestInstructions(t *testing.T) {
	const metaInstructions = "list_domain_tools finds tools, get_tool_schema gives their arguments, execute_tool runs them. Skip what you already know."
	tuned := small()
	tuned.Meta = catalog.Meta{Search: true, ByEffect: true}
	const tunedInstructions = "list_domain_tools and search_tools find tools, get_tool_schema gives their arguments, execute_destructive_tool, execute_tool, execute_write_tool run them by their effect. Skip what you already know."
	if got := newSurface(t, "meta", tuned, nil).Instructions(); got != "Work with Contoso.\n"+tunedInstructions {
		t.Errorf("meta with options: %q", got)
	}
	if got := newSurface(t, "flat", small(), nil).Instructions(); got != "Work with Contoso." {
		t.Errorf("flat: %q", got)
	}
	if got, want := newSurface(t, "meta", small(), nil).Instructions(), "Work with Contoso.\n"+metaInstructions; got != want {
		t.Errorf("meta: %q, want %q", got, want)
	}
	if got := newSurface(t, "meta", nine(9), nil).Instructions(); got != metaInstructions {
		t.Errorf("meta without instructions of its own: %q", got)
	}
}

// An unknown name in tools/call is the protocol's error; whatever the mode, it
// names what is near and runs nothing.
func TestUnknownTool(t *testing.T) {
	for _, c := range []struct{ mode, name, want string }{
		{"flat", "get_repositry", `unknown tool "get_repositry"; nearest: get_repository`},
		{"flat", "repo_gett", `unknown tool "repo_gett"; nearest: get_repository`}, // near an alias: its tool
		{"flat", "zzz", `unknown tool "zzz"`},
		{"flat", "", `unknown tool ""`},
		{"flat", "api_request", `unknown tool "api_request"`}, // offered where it is listed
		{"flat", "execute_write_tool", `unknown tool "execute_write_tool"`},
		{"meta", "execute_tools", `unknown tool "execute_tools"; nearest: execute_tool`},
		{"meta", "get_vualt", `unknown tool "get_vualt"; nearest: get_vault`},
		{"meta", strings.Repeat("x", 4<<20), `unknown tool "` + strings.Repeat("x", maxEcho) + `…"`},
	} {
		var r recorder
		_, err := newSurface(t, c.mode, small(), r.do).Call(t.Context(), call.Caller{}, c.name, nil)
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || e.Message != c.want {
			t.Errorf("%s %.40q: %v, want -32602 %s", c.mode, c.name, err, c.want)
		}
		if len(r.calls) > 0 {
			t.Errorf("%s %.40q was run: %v", c.mode, c.name, r.calls)
		}
	}
}

func TestFlatCall(t *testing.T) {
	for _, name := range []string{"get_repository", "repo_get"} {
		r := recorder{answer: call.Text("ok")}
		s := newSurface(t, "flat", small(), r.do)
		// Arguments are the program's to read: nothing is touched on the way.
		for _, args := range []string{`{"id": 9007199254740993}`, `"{\"id\":1}"`, ``, `null`, `[1]`} {
			r.calls = nil
			if text, _ := ask(t, s, name, args); text != "ok" {
				t.Errorf("%s: %q", name, text)
			}
			if want := (made{"get_repository", args}); len(r.calls) != 1 || r.calls[0] != want {
				t.Errorf("%s %s: called %v, want %v", name, args, r.calls, want)
			}
		}
	}
}

// Results go out as they came.
func TestResult(t *testing.T) {
	r := recorder{answer: call.Result{
		Content: []call.Content{
			{Text: "caf\u00e9 <b>"},
			{Data: []byte{1, 2}, MIMEType: "image/png"},
			{Data: []byte{3}, MIMEType: "application/zip"},
			{Data: []byte{}, MIMEType: "application/zip"},
		},
		Structured: json.RawMessage(`{"n":9007199254740993}`),
		IsError:    true,
		Repairs:    []string{"x was read as text"},
	}}
	for _, c := range []struct{ mode, name, args string }{
		{"flat", "get_repository", `{}`},
		{"meta", executeTool, `{"tool_name":"get_repository","arguments":{}}`},
	} {
		got, err := newSurface(t, c.mode, small(), r.do).Call(t.Context(), call.Caller{}, c.name, json.RawMessage(c.args))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"_meta":{"metacue/repairs":["x was read as text"]},"content":[` +
			`{"type":"text","text":"café \u003cb\u003e"},` +
			`{"type":"image","mimeType":"image/png","data":"AQI="},` +
			`{"type":"resource","resource":{"uri":"metacue:content/2","mimeType":"application/zip","blob":"Aw=="}},` +
			`{"type":"resource","resource":{"uri":"metacue:content/3","mimeType":"application/zip","blob":""}}],` +
			`"structuredContent":{"n":9007199254740993},"isError":true}`
		if b := compact(got); string(b) != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.mode, b, want)
		}
	}
	empty := recorder{}
	got, err := newSurface(t, "flat", small(), empty.do).Call(t.Context(), call.Caller{}, "get_vault", nil)
	if b := compact(got); err != nil || string(b) != `{"content":[]}` {
		t.Errorf("an empty result: %s, %v", b, err)
	}
}

// The caller reaches the program as it came in.
func TestCaller(t *testing.T) {
	want := call.Caller{Bounds: catalog.Bounds{ReadOnly: true}, Header: map[string][]string{"X-Team": {"blue"}}}
	do := func(_ context.Context, got call.Caller, _ string, _ json.RawMessage) call.Result {
		if !got.Bounds.ReadOnly || got.Header.Get("X-Team") != "blue" {
			t.Errorf("caller %+v, want %+v", got, want)
		}
		return call.Text("ok")
	}
	for _, c := range []struct{ mode, name, args string }{
		{"flat", "get_vault", `{}`},
		{"meta", executeTool, `{"tool_name":"get_vault"}`},
		{"meta", "get_vault", `{}`},
	} {
		if _, err := newSurface(t, c.mode, small(), do).Call(t.Context(), want, c.name, json.RawMessage(c.args)); err != nil {
			t.Error(err)
		}
	}
}

// What a name means is among what is nearest, beside what is spelt like it.
func TestNearestByMeaning(t *testing.T) {
	var tools []*catalog.Tool
	for _, name := range []string{"complete_pull_request", "create_pull_request", "get_pull_request", "vote_pull_request"} {
		tools = append(tools, tool("repositories", "update", name, `{"type":"object","properties":{}}`))
		tools[len(tools)-1].Description = name
	}
	tools[0].Description = "Merges a pull request now"
	c := catalog.New(catalog.Catalog{Server: catalog.Server{Name: "x"}, Actions: taxonomy, Domains: []*catalog.Domain{{Name: "repositories", Tools: tools}}})
	for name, want := range map[string]string{
		"merge_pull_request":     "create_pull_request get_pull_request complete_pull_request",
		"MergeNow":               "complete_pull_request",
		"creat_pull_request":     "create_pull_request get_pull_request vote_pull_request",
		"merge_my_lovely_branch": "",
	} {
		for _, mode := range Modes() {
			s := newSurface(t, mode, c, nil)
			_, err := s.Call(t.Context(), call.Caller{}, name, nil)
			_, got, _ := strings.Cut(err.Error(), "; nearest: ")
			if got = strings.ReplaceAll(got, ",", ""); got != want {
				t.Errorf("%s %s: nearest %q, want %q", mode, name, got, want)
			}
		}
	}
}

// The tools of meta and model are understood in every mode, as there, by what is within
// the bounds; under by-effect nothing is run by a tool that is not for its effect.
func TestOtherModesUnderstood(t *testing.T) {
	safe := tuned(small(), catalog.Meta{ByEffect: true}, escapes()...)
	for _, c := range []struct {
		modes, tool, args string
		from              string // the mode that the name is from
		catalog           *catalog.Catalog
		want              string // part of the answer, or what was run
	}{
		{"flat nouns model", executeTool, `{"tool_name":"create_branch","arguments":{"name":"a"}}`, "meta", small(), `create_branch {"name":"a"}`},
		{"flat nouns model", executeTool, `{"tool_name":"create_branch","name":"a"}`, "meta", small(), `create_branch {"name":"a"}`},
		{"flat nouns meta", "sample_action", `{"domain":"repositories","operation":"create_branch","params":{"name":"a"}}`, "model", small(), `create_branch {"name":"a"}`},
		{"flat nouns meta", "sample_model", `{}`, "model", small(), `"queries":1`},
		{"flat nouns model", getToolSchema, `{"tool_name":"create_branch"}`, "meta", small(), `"inputSchema"`},
		{"flat nouns model", listDomains, ``, "meta", small(), `"Vaults"`},
		{"flat nouns model", listDomainTools, `{"domain":"secrets"}`, "meta", small(), `"get_vault"`},
		{"flat nouns model meta", searchTools, `{"query":"branch"}`, "meta", small(), `"create_branch"`},
		{"flat nouns model", executeTool, `{"tool_name":"create_branc"}`, "meta", small(), `"nearest":["create_branch"]`},
		{"flat nouns model", executeTool, `{"tool_name":"delete_repository","arguments":{"id":"a"}}`, "meta", small().Within(catalog.Bounds{ReadOnly: true}), `"error":"unknown tool: delete_repository"`},
		// by-effect
		{"flat nouns model", executeTool, `{"tool_name":"delete_repository","arguments":{"id":"a"}}`, "meta", safe, `call it through execute_destructive_tool`},
		{"flat nouns model", "execute_destructive_tool", `{"tool_name":"delete_repository","arguments":{"id":"a"}}`, "meta", safe, `delete_repository {"id":"a"}`},
		{"meta", "sample_action", `{"operation":"delete_repository","params":{"id":"a"}}`, "model", safe, `call it through execute_destructive_tool`},
		{"meta", "sample_action", `{"operation":"get_repository","params":{"id":"a"}}`, "model", safe, `call it through execute_tool`},
	} {
		for mode := range strings.FieldsSeq(c.modes) {
			var r recorder
			s := newSurface(t, mode, c.catalog, r.do)
			got, err := s.Call(t.Context(), call.Caller{}, c.tool, json.RawMessage(c.args))
			if err != nil {
				t.Errorf("%s %s %s: %v", mode, c.tool, c.args, err)
				continue
			}
			text := string(compact(got))
			if len(r.calls) > 0 {
				text = r.calls[0].tool + " " + r.calls[0].args
			}
			if !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), c.want) {
				t.Errorf("%s %s %s:\n%s\nwant %s", mode, c.tool, c.args, text, c.want)
			}
			if told := fmt.Sprint(got.Meta[RepairsKey]); !strings.Contains(told, c.tool+" is not listed here and was understood as in "+c.from+" mode") {
				t.Errorf("%s %s: told %s", mode, c.tool, told)
			}
		}
	}
	// A tool that has such a name is that tool.
	own := catalog.New(catalog.Catalog{Server: catalog.Server{Name: "x"}, Actions: taxonomy, Domains: []*catalog.Domain{{Name: "d", Tools: []*catalog.Tool{tool("d", "read", executeTool, `{"type":"object","properties":{}}`)}}}})
	r := recorder{answer: call.Text("done")}
	if _, got := ask(t, newSurface(t, "flat", own, r.do), executeTool, `{"tool_name":"x"}`); len(r.calls) != 1 || r.calls[0].tool != executeTool || got.Meta != nil {
		t.Errorf("a tool called execute_tool: %v", r.calls)
	}
}
