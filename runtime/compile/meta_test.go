package compile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
)

const twoTools = `
get_x: {description: "G", action: "read", returns: "the x", input: id!: int, http: {method: "GET", path: "/x/{id}"}}
drop_x: {description: "D", action: "delete", noun: "x", input: id!: int, http: {method: "DELETE", path: "/x/{id}"}}
`

// How the surfaces are tuned, and what is wrong with it, each at its place.
func TestMetaOptions(t *testing.T) {
	for name, tt := range map[string]struct{ server, want string }{
		"unknown pin":       {`server: meta: pin: ["get_y"]`, `c.cue:18:21: server.meta.pin[0]: there is no tool "get_y"; did you mean get_x?`},
		"pinned twice":      {`server: meta: pin: ["get_x", "get_x"]`, `c.cue:18:30: server.meta.pin[1]: get_x is pinned already`},
		"pinned, excluded":  {`server: {meta: pin: ["get_x"], exclude: ["get_x"]}`, `c.cue:18:22: server.meta.pin[0]: get_x is in exclude, and so never offered`},
		"unknown upstream":  {`server: meta: escape: "ap"`, `c.cue:18:15: server.meta.escape: there is no upstream "ap"; did you mean api?`},
		"unknown execution": {`server: meta: execute: "by_effect"`, `must be`},
		"unknown option":    {`server: meta: signature: true`, `signatures`},
		"state that writes": {`domains: d: state: n: http: {method: "DELETE", path: "/x"}`, `domains.d.state.n.http.method: DELETE changes something`},
		"misspelt state":    {`domains: d: state: n: {htp: {method: "GET", path: "/x"}}`, `did you mean http?`},
		"state with input":  {`domains: d: state: n: http: {method: "GET", path: "/x/{id}"}`, `{id} stands for nothing: a state request has no arguments`},
		"state without":     {`domains: d: state: n: jq: "."`, `http`},
		"state with bad jq": {`domains: d: state: n: {http: {method: "GET", path: "/x"}, jq: ".["}`, `domains.d.state.n.jq: is no jq program`},
		"state of no one":   {`domains: d: state: n: http: {method: "GET", path: "/x", upstream: "ap"}`, `there is no upstream "ap"`},
	} {
		p, findings := build(t, server(twoTools)+tt.server+"\n")
		text := findings.Err()
		if p != nil && len(findings) == 0 || text == nil || !strings.Contains(text.Error(), tt.want) || len(findings) != 1 {
			t.Errorf("%s: %v, want one with %s", name, text, tt.want)
		}
	}
	p, findings := build(t, server(twoTools)+`
server: {meta: {search: true, signatures: true, pin: ["drop_x", "get_x"], execute: "by-effect", escape: "api"}, exclude: []}
domains: d: {listed: false, state: open: {http: {method: "GET", path: "/open", query: top: 1}, jq: ".count"}}
`)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	c := p.Catalog
	if m := c.Meta; !m.Search || !m.Signatures || !m.ByEffect || !slices.Equal(m.Pin, []string{"drop_x", "get_x"}) {
		t.Errorf("meta is %+v", m)
	}
	d := c.Domains[0]
	if !d.Unlisted || d.Tools[0].Noun != "" || d.Tools[0].Returns != "the x" || d.Tools[1].Noun != "x" {
		t.Errorf("the domain is %+v with %+v and %+v", d, d.Tools[0], d.Tools[1])
	}
	if len(d.State) != 1 || d.State[0].Name != "d/open" || d.State[0].Effect != catalog.Read || len(c.Tools()) != 2 {
		t.Errorf("state is %+v among %d tools", d.State, len(c.Tools()))
	}
	if in := c.Within(catalog.Bounds{ReadOnly: true}); !slices.Equal(in.Meta.Pin, []string{"get_x"}) || len(in.Escape) != 2 || len(in.Domains[0].State) != 1 {
		t.Errorf("read-only: pins %v, %d ways to escape, %d states", in.Meta.Pin, len(in.Escape), len(in.Domains[0].State))
	}
	if in := c.Within(catalog.Bounds{Domains: []string{"d"}}); len(in.Escape) != 0 {
		t.Error("a bound to domains leaves a way out of them")
	}
}

// Requests that no tool of the configuration makes: state, and the escape, which
// stays where every request of the upstream does.
func TestEscape(t *testing.T) {
	p, findings := build(t, server(twoTools)+`
upstreams: keyed: {url: "https://keyed.example/a", auth: query: {name: "key", value: env: "KEY_OF_A_TEST"}}
server: meta: escape: "api"
_limit: 1
domains: d: {upstream: "api", state: {
	open: {http: {method: "GET", path: "/open", query: top: 1}, jq: ".count"}
	expr: {http: {method: "GET", path: "/open/{of}", vars: of: strings.ToUpper("x"), query: top: _limit + 1}}
}}
`)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"d/open", ``, "GET https://api.example/v1/open?top=1&api-version=7.1"},
		{"d/expr", ``, "GET https://api.example/v1/open/X?top=2&api-version=7.1"},
		{"d/open", `{"a":1}`, "unknown argument"},
		{"api_request/GET", `{"path":"a/b c/é","query":{"x":[1,2],"api-version":"8"}}`, "GET https://api.example/v1/a/b%20c/%C3%A9?x=1&x=2&api-version=8"},
		{"api_request/PATCH", `{"path":"a","body":[{"n":9007199254740993}]}`, "PATCH https://api.example/v1/a?api-version=7.1 [{\"n\":9007199254740993}]"},
		{"api_request/DELETE", `{"path":"a"}`, "DELETE https://api.example/v1/a"},
		{"api_request/GET", `{"path":"../a"}`, "path"},
		{"api_request/GET", `{"path":"a/%2e%2e/b"}`, "dot segment"},
		{"api_request/GET", `{"path":"a?b=c"}`, "path"},
		{"api_request/GET", `{"path":"a","body":{}}`, "unknown argument"},
		{"api_request/GET", `{}`, "path"},
	} {
		plan, r := p.Plan(t.Context(), call.Caller{}, tt.tool, []byte(tt.args))
		got := ""
		if plan != nil {
			got = plan.Request.Method + " " + plan.Request.URL + " " + string(plan.Request.Body)
		} else {
			got = r.Content[0].Text
		}
		if !strings.Contains(got, tt.want) || (plan == nil) != !strings.Contains(tt.want, "https:") {
			t.Errorf("%s %s: %s, want %s", tt.tool, tt.args, got, tt.want)
		}
	}
	p, findings = build(t, server(twoTools)+`
upstreams: keyed: {url: "https://keyed.example/a", auth: query: {name: "key", value: env: "KEY_OF_A_TEST"}}
server: meta: escape: "keyed"
domains: d: upstream: "api"
`)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if _, r := p.Plan(t.Context(), call.Caller{}, "api_request/GET", []byte(`{"path":"a","query":{"key":"mine"}}`)); !r.IsError || !strings.Contains(r.Content[0].Text, "key") {
		t.Errorf("the query parameter of the credentials: %v", r)
	}
}
