package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// frameFile is what every small configuration of the tests needs around its
// tools.
const frameFile = `package x

server: name: "x"
upstreams: api: url: "https://api.example.com"
domains: d: description: "D"
`

// loadFiles loads a configuration of the given files beside frameFile.
func loadFiles(t testing.TB, files map[string]string, o Options) (*Config, []string) {
	t.Helper()
	fsys := fstest.MapFS{"frame.cue": {Data: []byte(frameFile)}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, findings := FS(fsys, "", o)
	var lines []string
	for _, f := range findings {
		lines = append(lines, f.String())
	}
	return c, lines
}

// tool is the beginning of every tool in TestRefs.
const toolHead = `description: "T", action: "read"`

// TestRefs pins what counts as a reference to an argument. A wrong one, or one
// too few, would send a wrong request: arguments that nothing refers to are
// placed by convention.
func TestRefs(t *testing.T) {
	for _, test := range []struct {
		name string
		tool string            // body of the tool t, after toolHead
		more string            // further declarations of the file
		also map[string]string // further files
		want string            // "field: reference" in any order
	}{
		{name: "none", tool: `input: a?: string, http: {method: "GET", path: "/{a}"}`},
		{
			name: "plain",
			tool: `input: {a?: string, b!: int}, http: {method: "GET", path: "/", query: {x: input.a, y: input.b}}`,
			want: "http: input.a; http: input.b",
		},
		{
			name: "nested",
			tool: `input: user?: {id?: string, "x-y"?: string, roles?: [...{n?: int}]}
				http: {method: "GET", path: "/", query: {x: input.user.id, y: input.user["x-y"], z: input["user"].id, r: input.user.roles[0].n}}`,
			want: "http: input.user.id; http: input.user.x-y; http: input.user.id; http: input.user.roles",
		},
		{
			name: "interpolation",
			tool: `input: {a?: string, b?: string}, http: {method: "GET", path: "/", query: x: "\(input.a)-\(strings.ToUpper(input.b))"}`,
			want: "http: input.a; http: input.b",
		},
		{
			name: "comprehension",
			tool: `input: {a?: [...string], b?: int, c?: int}
				http: {method: "POST", path: "/", body: {
					list: [for i, x in input.a if input.b > 1 {"\(i)\(x)"}]
					if input.c != _|_ {c: 1}
				}}`,
			want: "http: input.a; http: input.b; http: input.c",
		},
		{
			name: "presence",
			tool: `input: {a?: int, b?: int}, http: {method: "GET", path: "/", query: {if input.a == _|_ {none: true}, y: *input.b | 3}}`,
			want: "http: input.a; http: input.b",
		},
		{
			name: "whole",
			tool: `input: {a?: int}, http: {method: "POST", path: "/", body: input}`,
			want: "http: input",
		},
		{
			name: "whole, by key",
			tool: `input: {a?: int}, http: {method: "POST", path: "/", body: {for k, v in input {"\(k)": v}, x: input["\(j)a"], let j = ""}}`,
			want: "http: input; http: input",
		},
		{
			name: "index by argument",
			tool: `input: {a!: "x" | "y"}, http: {method: "GET", path: "/", query: q: {x: 1, y: 2}[input.a]}`,
			want: "http: input.a",
		},
		{
			name: "let",
			tool: `input: {a?: string, b?: string, c?: string}
				let i = input
				let x = i.a
				let y = "\(input.b)!"
				http: {method: "GET", path: "/", query: {p: x, q: y, r: i.c}}`,
			want: "http: input.a; http: input.b; http: input.c",
		},
		{
			name: "let inside",
			tool: `input: {a?: string, b?: {c?: string}}, http: {let u = input.b, method: "GET", path: "/", query: {let w = u.c, p: w, s: input.a}}`,
			want: "http: input.b.c; http: input.a",
		},
		{
			name: "let in a comprehension",
			tool: `input: {a?: [...string]}, http: {method: "POST", path: "/", body: {for x in input.a let y = "\(x)", let i = input {"\(y)": i.a}}}`,
			want: "http: input.a; http: input.a",
		},
		{
			name: "let that only check uses",
			tool: `input: {a?: int, b?: int}, let big = input.a > 3, check: [if big {"too big"}], http: {method: "GET", path: "/"}`,
			want: "check: input.a",
		},
		{
			name: "hidden field",
			tool: `input: {a?: int, b?: int, c?: int}, _q: {x: input.a, y: input.b}, _unused: input.c, http: {method: "GET", path: "/", query: _q}`,
			want: "http: input.a; http: input.b",
		},
		{
			name: "definition in the tool",
			tool: `input: {a?: int, b?: int}, #Q: x: input.a, check: [if input.b > 1 {"b"}], http: {method: "GET", path: "/", query: {#Q}}`,
			want: "http: input.a; check: input.b",
		},
		{
			name: "hidden field inside http",
			tool: `input: a?: int, http: {_x: input.a, method: "GET", path: "/", query: q: _x}`,
			want: "http: input.a",
		},
		{
			name: "shadowed",
			tool: `input: {a?: int, b?: int}, http: {method: "POST", path: "/", body: {input: {a: 1, c: 5}, x: input.c}}`,
		},
		{
			name: "shadowed by a loop",
			tool: `input: {a?: int, b?: [...{a: int}]}, http: {method: "POST", path: "/", body: [for input in input.b {x: input.a}]}`,
			want: "http: input.b",
		},
		{
			name: "quoted field does not shadow",
			tool: `input: {a?: int}, http: {method: "POST", path: "/", body: {"input": 1, x: input.a}}`,
			want: "http: input.a",
		},
		{
			name: "field alias",
			tool: `I=input: {a?: int}, http: {method: "POST", path: "/", body: {input: 1, x: I.a}}`,
			want: "http: input.a",
		},
		{
			name: "tool by its own name",
			tool: `input: {a?: int}, http: {method: "POST", path: "/", body: {input: 1, x: t.input.a, y: domains.d.tools.t.input.a}}`,
			want: "http: input.a; http: input.a",
		},
		{
			name: "check, description of the answer, jq",
			tool: `input: {a?: int, b?: int, c?: int}, check: [if input.a > 1 {"no"}], http: {method: "GET", path: "/"}
				response: jq: ".x | select(.y == $args.b) | .[$args[\"c\"]]"`,
			want: "check: input.a; response: $args.b; response: $args.c",
		},
		{
			name: "jq through a hidden field",
			tool: `input: {b?: int}, http: {method: "GET", path: "/"}, response: _r`,
			more: `_r: jq: "$args | .b"`,
			want: "response: $args",
		},
		{
			name: "jq in no jq field",
			tool: `input: {b?: int}, http: {method: "GET", path: "/", query: q: "$args.b"}`,
		},
		{
			name: "condition around http",
			tool: `input: {a?: int, b?: int}, http: {method: "GET", path: "/"}, if input.a != _|_ {http: query: x: input.b}`,
			want: ": input.a; http: input.b",
		},
		{
			name: "embedded mixin",
			tool: `#Paged, input: a?: int, http: {method: "GET", path: "/", query: a: input.a}`,
			more: `#Paged: {input: top?: int, http: query: "$top": input.top}`,
			want: "http: input.a; http: input.top",
		},
		{
			name: "mixin alone",
			more: `_whole: {` + toolHead + `, input: top?: int, http: {method: "GET", path: "/", query: "$top": input.top}}
				domains: d: tools: t: {_whole}`,
			want: "http: input.top",
		},
		{
			name: "mixin alone, of several declarations",
			more: `_whole: {` + toolHead + `, input: top?: int, http: {method: "GET", path: "/", query: "$top": input.top}}
				domains: d: tools: t: {_whole}`,
			also: map[string]string{"b.cue": "package x\n_whole: {input: skip?: int, http: query: \"$skip\": input.skip}\n"},
			want: "http: input.top; http: input.skip",
		},
		{
			name: "mixin out of a structure, alone",
			more: `_mixins: "a-b": whole: {` + toolHead + `, input: top?: int, http: {method: "GET", path: "/", query: "$top": input.top}}
				domains: d: tools: t: {_mixins["a-b"].whole}`,
			want: "http: input.top",
		},
		{
			name: "conditional mixin",
			tool: `input: a?: int, http: {method: "GET", path: "/", query: a: input.a}, if _paged {#Paged}`,
			more: `_paged: true
				#Paged: {input: top?: int, http: query: "$top": input.top}`,
			want: "http: input.a; http: input.top",
		},
		{
			name: "value alias",
			more: `domains: d: tools: t: T={` + toolHead + `, input: a?: int, http: {method: "POST", path: "/", body: {input: 1, x: T.input.a}}}`,
			want: "http: input.a",
		},
		{
			name: "value alias of input",
			tool: `input: I={a?: int, b: I.a}, http: {method: "POST", path: "/"}`,
			want: "input: input.a",
		},
		{
			name: "label alias of the tool",
			more: `domains: d: tools: T=t: {` + toolHead + `, input: a?: int, http: {method: "POST", path: "/", body: {input: 1, x: T.input.a}}}`,
			want: "http: input.a",
		},
		{
			name: "unified mixin",
			more: `_search: {input: q?: string, http: query: q: input.q}
				domains: d: tools: t: _search & {` + toolHead + `, input: a?: int, http: {method: "GET", path: "/", query: a: input.a}}`,
			want: "http: input.a; http: input.q",
		},
		{
			name: "mixin of a mixin",
			more: `_a: {input: q?: string, http: query: q: input.q}
				_b: {_a, input: r?: string, http: query: r: input.r}
				domains: d: tools: t: {_b, ` + toolHead + `, input: s?: int, http: {method: "GET", path: "/", query: s: input.s}}`,
			want: "http: input.q; http: input.r; http: input.s",
		},
		{
			name: "input of a mixin is not the tool's by the mixin's name",
			more: `_m: {input: q?: string, http: query: q: "x"}
				domains: d: tools: t: {_m, ` + toolHead + `, http: {method: "GET", path: "/", query: z: *_m.input.q | "x"}}`,
		},
		{
			name: "mixin out of a map",
			more: `_specs: one: {input: z?: int, http: query: z: input.z}
				domains: d: tools: {for n, s in _specs {t: s & {` + toolHead + `, input: a?: int, http: {method: "GET", path: "/", query: a: input.a}}}}`,
			want: "http: input.a; http: input.z",
		},
		{
			name: "generated",
			more: `domains: d: tools: {for n in ["t", "u"] {(n): {` + toolHead + `, input: a?: int, http: {method: "GET", path: "/", query: a: input.a}}}}`,
			want: "http: input.a",
		},
		{
			name: "generated names",
			more: `domains: d: tools: {for n in ["", "u"] {"t\(n)": {` + toolHead + `, input: a?: int, http: {method: "GET", path: "/\(n)", query: a: input.a}}}}`,
			want: "http: input.a",
		},
		{
			name: "pattern over all tools",
			tool: `input: a?: int, http: {method: "GET", path: "/", query: a: input.a}`,
			more: `domains: [_]: tools: [_]: {input: {trace?: string, ...}, http: headers: "X-Trace": input.trace}`,
			want: "http: input.a; http: input.trace",
		},
		{
			name: "spread over files",
			tool: `input: a?: int, http: {method: "GET", path: "/", query: a: input.a}`,
			also: map[string]string{"b.cue": `package x
				domains: d: tools: t: {
					input: {b?: int, c?: int}
					http: headers: "X-B": "\(input.b)"
				}
				domains: d: tools: "t": response: jq: "$args.c"`},
			want: "http: input.a; http: input.b; response: $args.c",
		},
		{
			name: "function",
			tool: `input: {a?: int, b?: int}, http: {method: "GET", path: "/", query: q: (_double & {x: input.a}).out}`,
			more: `_double: {x: int, out: x * 2}`,
			want: "http: input.a",
		},
		{
			name: "function over input",
			tool: `input: {a?: int, b?: int}, http: {method: "GET", path: "/", query: (_q & {"input": input}).out}`,
			more: `_q: {input: {a?: int, ...}, out: z: input.a}`,
			want: "http: input",
		},
		{
			name: "helper of another tool",
			tool: `input: {a?: int}, http: {method: "GET", path: "/", query: a: input.a}`,
			more: `domains: d: tools: u: {` + toolHead + `, input: {b?: int}, http: {method: "GET", path: "/", query: b: input.b}}`,
			want: "http: input.a",
		},
		{
			name: "mixin from an imported package",
			more: `import "example.com/conf/lib"
				domains: d: tools: t: {lib.#Paged, ` + toolHead + `, input: a?: int, http: {method: "GET", path: "/", query: a: input.a}}`,
			also: map[string]string{
				"cue.mod/module.cue": `module: "example.com/conf@v0", language: version: "v0.17.0"`,
				"lib/lib.cue":        `package lib` + "\n" + `#Paged: {input: top?: int, http: query: "$top": input.top}`,
			},
			want: "http: input.a; http: input.top",
		},
		{
			name: "schema by name",
			more: `import "github.com/metacue/metacue/schema"
				domains: d: tools: t: schema.#Tool & {` + toolHead + `, input: a?: int, http: {method: "GET", path: "/", query: a: input.a}}`,
			want: "http: input.a",
		},
		{
			name: "parentheses",
			tool: `input: {a?: {b?: int}}, http: {method: "GET", path: "/", query: a: ((input).a).b + (1)}`,
			want: "http: input.a.b",
		},
		{
			name: "dynamic field and pattern",
			tool: `input: {a?: string, b?: string}, http: {method: "POST", path: "/", body: {(input.a): 1, "x-\(input.b)": 2}}`,
			want: "http: input.a; http: input.b",
		},
		{
			name: "constant that refers",
			tool: `input: {a!: string, b: "x-\(input.a)"}, http: {method: "GET", path: "/"}`,
			want: "input: input.a",
		},
		{
			name: "attribute and comment",
			tool: `input: {a?: string @example("input.a")}, // input.a
				http: {method: "GET", path: "/"}`,
		},
		{
			name: "strings that read like references",
			tool: `input: {a?: string}, http: {method: "GET", path: "/", query: q: "input.a"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "package x\n"
			more := test.more
			if strings.Contains(test.tool+more, "strings.") {
				text += "import \"strings\"\n"
			}
			for strings.HasPrefix(more, "import ") {
				line, rest, _ := strings.Cut(more, "\n")
				text += line + "\n"
				more = strings.TrimLeft(rest, "\t")
			}
			if test.tool != "" {
				text += "domains: d: tools: t: {" + toolHead + "\n" + test.tool + "}\n"
			}
			files := map[string]string{"a.cue": text + more + "\n"}
			for name, text := range test.also {
				files[name] = text
			}
			c, findings := loadFiles(t, files, Options{})
			if len(findings) > 0 {
				t.Fatalf("findings:\n%s\nin:\n%s", strings.Join(findings, "\n"), text+more)
			}
			var got []string
			for _, tool := range c.Tools() {
				if tool.Name != "t" {
					continue
				}
				for _, r := range tool.Refs() {
					root := r.Root
					if r.InJQ {
						root = "$args"
					}
					got = append(got, fmt.Sprintf("%s: %s", r.Field, strings.Join(append([]string{root}, r.Path...), ".")))
					if !r.Pos.IsValid() {
						t.Errorf("%v has no place", r)
					}
				}
			}
			var want []string
			if test.want != "" {
				want = strings.Split(test.want, "; ")
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
