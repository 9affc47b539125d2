package main

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/surface"
)

// Prose may name what surfaces list of their own: what is known of it when prose is
// read is what they do list.
func TestSurfaceTools(t *testing.T) {
	const configuration = `package desk
server: {name: "desk", meta: {search: true, escape: "api"}}
upstreams: api: url: "https://api.example.com"
domains: {
	cases: {description: "Cases", tools: {
		list_cases: {description: "L", action: "read", http: {method: "GET", path: "/"}}
		add_case: {description: "A", action: "create", http: {method: "POST", path: "/"}}
		drop_case: {description: "D", action: "delete", http: {method: "DELETE", path: "/"}}
	}}
	rest: {description: "The rest", listed: false, tools: list_rest: {description: "L", action: "read", http: {method: "GET", path: "/rest"}}}
}
`
	own := map[string]bool{}
	for _, more := range []string{"", `server: meta: execute: "by-effect"`} {
		cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(configuration + more)}}, "desk", load.Options{})
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		p, findings := compile.Compile(cfg, compile.Options{})
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		for _, mode := range surface.Modes() {
			s, err := surface.New(mode, p.Catalog, p.Call)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range s.Tools() {
				if s.Declared(tool.Name, "") == nil {
					own[tool.Name] = true
				}
			}
		}
	}
	want := slices.Sorted(slices.Values(load.SurfaceTools("desk")))
	if got := slices.Sorted(maps.Keys(own)); !slices.Equal(got, want) {
		t.Errorf("surfaces list of their own\n%q, and in prose are known\n%q", got, want)
	}
}
