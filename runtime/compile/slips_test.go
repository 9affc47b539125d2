package compile_test

import (
	"fmt"
	"strings"
	"testing"
)

// An argument in braces is a text outside of a path, and a name that a field gives
// itself is no argument: both are told where they stand, and nothing else is.
func TestSlips(t *testing.T) {
	for _, tt := range []struct{ request, want string }{
		{`body: {a: "{a}", b: input.b}`, `http.body.a: "{a}" is sent as it stands: write input.a, or #"{a}"# if the text itself is meant`},
		{`path: "/x{/b}", body: {a: "{b}", c: input.a}`, `http.body.a: "{b}" is sent as it stands: write input.b`},
		{`body: [{m: "x-{a}/${b}"}]`, `http.body.m: "x-{a}/${b}" is sent as it stands: write "x-\(input.a)/\(input.b)", or #"x-{a}/${b}"# if`},
		{`query: q: "{a}", body: {b: input.b}`, `http.query.q: "{a}" is sent`},
		{`headers: "X-A": "{b}"`, `http.headers."X-A": "{b}" is sent`},
		{`vars: v: "{b}", vars: v: string`, `http.vars: v is not in the path`},
		{`body: {l: [for x in input.c {n: x, m: "{a}"}], b: input.b}`, `http.body.l.m: "{a}" is sent`},
		{`body: {a: a, b: input.b}`, `http.body.a: a is this very field: the argument is input.a`},
		{`body: {z: z, a: input.a, b: input.b, c: input.c}`, `http.body.z: z is this very field, which has no other value`},
		{`body: {b: "\(b)", a: input.a}`, `http.body.b: b is this very field: the argument is input.b`},
		{`body: {c: [for x in c {x}], a: input.a, b: input.b}`, `http.body.c: c is this very field: the argument is input.c`},
		{`query: b: b`, `http.query.b: b is this very field`},

		{`body: {target: "https://ci.example/{a}", event: input.a, b: input.b, c: input.c}`, ""},
		{`path: "/x{/a}", body: {urlTemplate: "/users/{a}", b: input.b, c: input.c}`, ""},
		{`body: {query: "{a}", variables: input}`, ""},
		{`body: {pattern: "a{b}b", a: [for x in input.c if input.b != _|_ {x}], d: input.a}`, ""},
		{`path: "/x{/a}", body: {target: #"https://ci.example/{b}"#, d: {b: input.b, c: input.c}}`, ""},
		{`path: "/x{/a}", body: {target: #"{a}"#, d: {b: input.b, c: input.c}}`, ""},
		{`body: {q: "{a}}", r: "{ a }", s: "{z}", t: "{a}{z}", u: "{}", all: input}`, ""},
		{`body: {query: "query{items{a}}", all: input}`, ""},
		{`body: {query: "query Q {a}", text: """
			Dear {a},
			""", all: input}`, ""},
		{`body: {t: strings.Replace("/{a}", "{a}", input.a, 1), all: input}`, ""},
		{`body: {"{a}": input.a, all: input}`, ""},
		{`body: {a: input.a, b: a, c: {k: 1, l: c.k, a: b}, all: input}`, ""},
		{`body: {a: {b: input.b, c: input.c}, all: input.a}`, ""},
	} {
		path := `path: "/x", `
		if strings.HasPrefix(tt.request, "path:") {
			path = ""
		}
		src := server(`t: {description: "T", action: "create", input: {a?: string, b?: string, c?: [...string]}, http: method: "POST", http: {` + path + tt.request + `}}`)
		_, findings := build(t, src)
		var got []string
		for _, f := range findings {
			got = append(got, strings.TrimPrefix(f.Path, "domains.d.tools.t.")+": "+f.Message)
		}
		if all := strings.Join(got, "\n"); tt.want == "" && all != "" || !strings.Contains(all, tt.want) {
			t.Errorf("%s\n got %s\nwant %s", tt.request, all, tt.want)
		}
	}
}

// The members of a file are known before any call, wherever they are declared.
func TestFileMembers(t *testing.T) {
	for _, tt := range []struct{ file, argument, want string }{
		{`{filename: "a", path: input.a}`, `string`, `http.multipart.f.path: is no member of a file, which has filename, contentType, and text or base64`},
		{`{contenttype: "a/b", text: input.a}`, `string`, `f.contenttype: is no member of a file, which has filename, contentType, and text or base64; did you mean contentType?`},
		{`[{text: "x"}, {text: input.a, name: "y"}]`, `string`, `f.name: is no member of a file`},
		{`[for x in input.a {filename: x, data: x}]`, `[...string]`, `f.data: is no member of a file`},
		{`input.a`, `{filename?: string, data!: string}`, `f.data: is no member of a file`},
		{`input.a`, `[...{data?: string, text!: string}]`, `f.data: is no member of a file`},
		{`{filename: input.a}`, `string`, `f: is a file without text and base64, of which it needs one`},

		{`{filename: "a", contentType: "b/c", base64: input.a}`, `string`, ""},
		{`{filename: "a", if input.a != _|_ {text: input.a}}`, `string`, ""},
		{`[for x in input.a {filename: x, text: x}]`, `[...string]`, ""},
		{`input.a`, `string`, ""},
		{`input.a`, `{filename?: string, text!: string}`, ""},
		{`input.a`, `{text!: string, ...}`, ""},
	} {
		_, findings := build(t, server(fmt.Sprintf(`t: {description: "T", action: "create", input: a!: %s, http: {method: "POST", path: "/x", multipart: f: %s}}`, tt.argument, tt.file)))
		if all := findings.Error(); tt.want == "" && all != "" || !strings.Contains(all, tt.want) || len(findings) > 1 {
			t.Errorf("%s of %s\n got %s\nwant %s", tt.file, tt.argument, all, tt.want)
		}
	}
}
