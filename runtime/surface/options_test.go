package surface

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/tokens"
)

// tuned is a catalog with options.
func tuned(c *catalog.Catalog, m catalog.Meta, escape ...*catalog.Tool) *catalog.Catalog {
	with := *c
	with.Meta, with.Escape = m, escape
	return catalog.New(with)
}

// everything is every option at once.
var everything = catalog.Meta{Search: true, Signatures: true, Pin: []string{"get_repository", "delete_repository"}, ByEffect: true}

// escapes are the requests that no tool makes, as compile makes them.
func escapes() []*catalog.Tool {
	var all []*catalog.Tool
	for _, e := range []struct{ method, action, more string }{{"GET", "read", ""}, {"HEAD", "read", ""}, {"POST", "create", `,"body":{}`}, {"DELETE", "delete", ""}} {
		t := tool("", e.action, "api_request/"+e.method, `{"type":"object","properties":{"path":{"type":"string"},"query":{"type":"object"}`+e.more+`},"required":["path"],"additionalProperties":false}`)
		t.Title = e.method
		all = append(all, t)
	}
	return all
}

// The list stays within its bounds whatever is added.
func TestBudgetOfOptions(t *testing.T) {
	for _, c := range []struct {
		meta catalog.Meta
		most int
	}{
		{catalog.Meta{}, 400},
		{catalog.Meta{Signatures: true}, 400},
		{catalog.Meta{Search: true}, 520},
		{catalog.Meta{ByEffect: true}, 520},
		{catalog.Meta{Search: true, ByEffect: true}, 640},
	} {
		n := tokens.List(newSurface(t, "meta", tuned(nine(1000), c.meta), nil).Tools())
		t.Logf("%+v: %d tokens", c.meta, n)
		if n > c.most {
			t.Errorf("%+v: %d tokens, want at most %d", c.meta, n, c.most)
		}
	}
}

func TestSearchTools(t *testing.T) {
	const searchSchema = `{"type":"object","properties":{"query":{"type":"string"},"domain":{"type":"string"},"action":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`
	s := newSurface(t, "meta", tuned(small(), catalog.Meta{Search: true}), nil)
	for _, c := range []struct {
		args, want string
		isError    bool
		repairs    []string
	}{
		{`{"query":"repository","limit":1}`, `{"tools":[{"name":"get_repository","description":"Do get_repository <now> & here","domain":"repositories","action":"read","defaults":{"project":"Contoso"}}]}`, false, nil},
		{`{"query":"repository","action":"delete","limit":"5"}`, `{"tools":[{"name":"delete_repository","description":"Do delete_repository <now> & here","domain":"repositories","action":"delete"}]}`, false,
			[]string{"limit was text and was read as the number in it"}},
		{`{"query":"repository","domain":"secrets"}`, `{"tools":[]}`, false, nil},
		{`{"query":"zzzz"}`, `{"tools":[]}`, false, nil},
		{`{"query":"x","domain":"secret","action":"reed"}`, `{"error":"unknown domain: secret; unknown action: reed","nearest":["secrets","read"]}`, true, nil},
		{`{}`, wrong(searchTools, searchSchema, "missing required argument: query"), true, nil},
		{`{"query":"x","limit":0,"top":1}`, wrong(searchTools, searchSchema, "limit must be a whole number from 1 to 50; unknown argument: top"), true, nil},
		{`{"query":"` + strings.Repeat("x", maxQuery+1) + `"}`, wrong(searchTools, searchSchema, "query is longer than 4096 bytes: give the words that matter"), true, nil},
		{`{"query":"x","limit":1.5}`, wrong(searchTools, searchSchema, "limit must be a whole number from 1 to 50"), true, nil},
	} {
		got, r := ask(t, s, searchTools, c.args)
		if got != c.want || r.IsError != c.isError || !slices.Equal(repairs(r), c.repairs) {
			t.Errorf("%s:\n%v %s %q\nwant\n%v %s %q", c.args, r.IsError, got, repairs(r), c.isError, c.want, c.repairs)
		}
	}
	if slices.ContainsFunc(newSurface(t, "meta", small(), nil).Tools(), func(t *mcp.Tool) bool { return t.Name == searchTools }) {
		t.Error("search_tools is listed though nobody asked for it")
	}
}

func TestSignatures(t *testing.T) {
	got, _ := ask(t, newSurface(t, "meta", tuned(small(), catalog.Meta{Signatures: true}), nil), listDomainTools, `{"domain":"repositories","action":"read"}`)
	want := `{"domain":"repositories","action":"read","tools":[{"name":"get_repository","description":"Do get_repository <now> & here","action":"read","signature":"get_repository(id, project=Contoso)","defaults":{"project":"Contoso"}}]}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// What is pinned is listed as flat lists it, and called by its own name as there.
func TestPin(t *testing.T) {
	flat := map[string]string{}
	for _, tool := range newSurface(t, "flat", small(), nil).Tools() {
		flat[tool.Name] = string(compact(tool))
	}
	c := tuned(small(), catalog.Meta{Pin: []string{"get_repository", "create_branch"}})
	for _, mode := range Modes()[1:] {
		r := recorder{answer: call.Text("ok")}
		s := newSurface(t, mode, c, r.do)
		pinned := 0
		for _, tool := range s.Tools() {
			if want, ok := flat[tool.Name]; ok {
				pinned++
				if got := string(compact(tool)); got != want {
					t.Errorf("%s: %s, want %s", mode, got, want)
				}
			}
		}
		if pinned != 2 {
			t.Errorf("%s: %d are pinned, want 2", mode, pinned)
		}
		if _, result := ask(t, s, "create_branch", `{"name":"a"}`); len(repairs(result)) > 0 || len(r.calls) != 1 || r.calls[0] != (made{"create_branch", `{"name":"a"}`}) {
			t.Errorf("%s: called %v, repairs %v", mode, r.calls, repairs(result))
		}
	}
}

// With one tool for each effect, each runs what has its effect and nothing else,
// by no name.
func TestByEffect(t *testing.T) {
	c := tuned(small(), catalog.Meta{ByEffect: true, Pin: []string{"create_branch"}}, escapes()...)
	right := map[catalog.Effect]string{catalog.Read: executeTool, catalog.Write: "execute_write_tool", catalog.Destructive: "execute_destructive_tool"}
	var r recorder
	r.answer = call.Text("ok")
	s := newSurface(t, "meta", c, r.do)
	for _, tool := range s.Tools() {
		if tool.Name == executeTool && !tool.Annotations.ReadOnlyHint || tool.Name == "api_request" && !tool.Annotations.ReadOnlyHint ||
			strings.HasSuffix(tool.Name, "write_tool") && (tool.Annotations.ReadOnlyHint || *tool.Annotations.DestructiveHint) ||
			strings.HasPrefix(tool.Name, "execute_destructive") && !*tool.Annotations.DestructiveHint {
			t.Errorf("%s: %s", tool.Name, compact(tool.Annotations))
		}
	}
	for _, tool := range c.Tools() {
		for _, by := range right {
			r.calls = nil
			got, result := ask(t, s, by, `{"tool_name":"`+tool.Name+`","arguments":{"a":1}}`)
			if by == right[tool.Effect] {
				if len(r.calls) != 1 || r.calls[0] != (made{tool.Name, `{"a":1}`}) {
					t.Errorf("%s by %s: ran %v: %s", tool.Name, by, r.calls, got)
				}
			} else if len(r.calls) > 0 || !result.IsError || !strings.Contains(got, "call it through "+right[tool.Effect]) {
				t.Errorf("%s by %s: ran %v: %s", tool.Name, by, r.calls, got)
			}
		}
		for _, name := range append([]string{tool.Name}, tool.Aliases...) {
			r.calls = nil
			got, result := ask(t, s, name, `{}`)
			if name == "create_branch" {
				if len(r.calls) != 1 {
					t.Errorf("%s is pinned and was not run: %s", name, got)
				}
			} else if len(r.calls) > 0 || !result.IsError || !strings.Contains(got, `"nearest":["`+right[tool.Effect]+`"]`) {
				t.Errorf("%s by its own name: ran %v: %s", name, r.calls, got)
			}
		}
	}
	// Tools for effects that nothing has are not there.
	for _, tool := range newSurface(t, "meta", c.Within(catalog.Bounds{ReadOnly: true}), nil).Tools() {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("read-only, and %s is listed", tool.Name)
		}
	}
}

// A request that no tool makes goes to the program's, by its method.
func TestAPIRequest(t *testing.T) {
	for _, c := range []struct {
		byEffect   bool
		tool, args string
		want       made   // what was run
		refused    string // a part of the refusal, where nothing was
	}{
		{false, "api_request", `{"method":"GET","path":"/a/b","query":{"x":9007199254740993}}`, made{"api_request/GET", `{"path":"a/b","query":{"x":9007199254740993}}`}, ""},
		{false, "api_request", `{"method":"post","path":"a","body":null}`, made{"api_request/POST", `{"path":"a","body":null}`}, ""},
		{false, "api_request", `{"method":"DELETE","path":"//a"}`, made{"api_request/DELETE", `{"path":"/a"}`}, ""},
		{false, "api_request", `{"method":"TRACE","path":"a"}`, made{}, "unknown method: TRACE"},
		{false, "api_request", `{"path":"a","url":"http://x"}`, made{}, "missing required argument: method; unknown argument: url"},
		{false, "api_request", `{"query":7}`, made{}, refusedBy("api_request/POST", `{"path":"missing","query":7}`, call.Fault{Message: "missing required argument: method; missing required argument: path"})},
		{false, "api_request", `{"method":"GET","query":7}`, made{}, refusedBy("api_request/GET", `{"path":"missing","query":7}`, call.Fault{Message: "missing required argument: path"})},
		{true, "api_request", `{"method":"HEAD","path":"a"}`, made{"api_request/HEAD", `{"path":"a"}`}, ""},
		{true, "api_request", `{"method":"DELETE","path":"a"}`, made{}, "DELETE is destructive: call it through api_destructive_request"},
		{true, "api_write_request", `{"method":"GET","path":"a"}`, made{}, "GET reads: call it through api_request"},
		{true, "api_write_request", `{"method":"POST","path":"a","body":{"b":1.10}}`, made{"api_request/POST", `{"path":"a","body":{"b":1.10}}`}, ""},
		{true, "api_destructive_request", `{"method":"DELETE","path":"a"}`, made{"api_request/DELETE", `{"path":"a"}`}, ""},
	} {
		r := recorder{answer: call.Text("ok")}
		s := newSurface(t, "meta", tuned(small(), catalog.Meta{ByEffect: c.byEffect}, escapes()...), r.do)
		got, result := ask(t, s, c.tool, c.args)
		if c.refused != "" {
			if len(r.calls) > 0 || !result.IsError || !strings.Contains(got, c.refused) {
				t.Errorf("%s %s: ran %v: %s, want %s", c.tool, c.args, r.calls, got, c.refused)
			}
		} else if len(r.calls) != 1 || r.calls[0] != c.want {
			t.Errorf("%s %s: ran %v: %s, want %v", c.tool, c.args, r.calls, got, c.want)
		}
	}
	var r recorder
	s := newSurface(t, "meta", tuned(small(), catalog.Meta{}, escapes()...).Within(catalog.Bounds{ReadOnly: true}), r.do)
	for _, name := range []string{"POST", "DELETE"} {
		if got, result := ask(t, s, "api_request", `{"method":"`+name+`","path":"a"}`); !result.IsError || len(r.calls) > 0 || !strings.Contains(got, "there are GET, HEAD") {
			t.Errorf("read-only %s: %s", name, got)
		}
	}
	// What the program refuses is told by the tool that was called.
	s = newSurface(t, "meta", tuned(small(), catalog.Meta{}, escapes()...), answers{"api_request/GET": call.Error(`{"error":"path: no","tool_name":"api_request/GET","inputSchema":{}}`)}.do)
	want := wrong("api_request", `{"type":"object","properties":{"method":{"type":"string","enum":["GET","HEAD","POST","DELETE"]},"path":{"type":"string"},"query":{"type":"object"},"body":{}},"required":["method","path"]}`, "path: no")
	if got, result := ask(t, s, "api_request", `{"method":"GET","path":"a?b"}`); got != want || !result.IsError {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	// By the names that the program has for them they are no tools.
	for _, mode := range Modes() {
		if _, err := newSurface(t, mode, tuned(small(), catalog.Meta{}, escapes()...), r.do).Call(t.Context(), call.Caller{}, "api_request/GET", json.RawMessage(`{"path":"a"}`)); err == nil {
			t.Errorf("%s: api_request/GET is a tool", mode)
		}
	}
}

// Where nothing has an effect, there is no tool to run what has it.
func TestByEffectInUse(t *testing.T) {
	c := tuned(small(), catalog.Meta{ByEffect: true}, escapes()...).Within(catalog.Bounds{ReadOnly: true})
	for _, tool := range newSurface(t, "meta", c, nil).Tools() {
		if strings.Contains(tool.Name, "write") || strings.Contains(tool.Name, "destructive") || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is listed for readers", tool.Name)
		}
	}
}
