package compile

import (
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/load"
)

// A sample has the required arguments as declared, each of a type that is taken, and
// there is none where there are examples or the call would be refused.
func TestSamples(t *testing.T) {
	for name, c := range map[string]struct{ tool, want string }{
		"types":    {`input: {n!: int, id!: string, on!: bool, rows!: [...{sku!: string, qty?: int, kind!: "b" | "a"}], top?: int}`, `{"n":7,"id":"<id>","on":true,"rows":[{"sku":"<sku>","kind":"b"}]}`},
		"values":   {`input: {kind!: "a" | "b", size!: int & >=3, ref!: string @example("x<y")}`, `{"kind":"a","size":3,"ref":"x<y"}`},
		"text":     {`input: {ref!: =~"^refs/", code!: strings.MinRunes(20)}`, `{"ref":"<ref>","code":"<code>"}`},
		"nothing":  {`input: {}`, `{}`},
		"rule":     {`input: {a?: int, b?: int}, check: [if input.a == _|_ if input.b == _|_ {"give a or b"}]`, ``},
		"kept":     {`input: {a!: int, b?: int}, check: [if input.a == _|_ if input.b == _|_ {"give a or b"}]`, `{"a":7}`},
		"unfit":    {`input: {a!: [...int] & list.MinItems(3)}`, ``},
		"examples": {`input: {a!: int}, examples: [{arguments: a: 1}]`, ``},
	} {
		src := `package c
			import ("strings", "list")
			_use: [strings.ToUpper(""), list.Max([1])]
			server: name: "s"
			upstreams: api: url: "https://api.invalid"
			domains: d: {description: "D", tools: t: {description: "T", action: "create", http: {method: "POST", path: "/x"}, ` + c.tool + `}}`
		cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(src)}}, "test", load.Options{})
		if len(findings) > 0 {
			t.Fatalf("%s: %v", name, findings)
		}
		p, findings := Compile(cfg, Options{})
		if len(findings) > 0 {
			t.Fatalf("%s: %v", name, findings)
		}
		if got := string(p.Tools["t"].Info.Sample); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
