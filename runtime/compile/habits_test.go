package compile_test

import (
	"fmt"
	"strings"
	"testing"
)

// What CUE takes and no caller could have meant is a finding with advice; what
// looks like it and is meant is none.
func TestHabits(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`n!: int | *20`, `n: is required (!) and has a default, which is never used: take the mark away to use it (n: …), or leave the default out to require it`},
		{`n?: *"x" | string`, `n: is optional (?) and has a default, which is never used: take the mark away to use it (n: …), or leave the default out to send nothing when it is not given`},
		{`n?: #Sort`, `n: is optional (?) and has a default`},
		{`n!: {type: "string"}`, `n: is JSON Schema, which CUE takes for an object with these members: write n!: string`},
		{`n?: {type: "integer", description: "N", enum: [1, 2]}`, `n: is JSON Schema, which CUE takes for an object with these members: write n?: 1 | 2`},
		{`n?: {m!: {type: "boolean"}}`, `n.m: is JSON Schema, which CUE takes for an object with these members: write m!: bool`},
		{`n: {type: "string"}`, `n: is JSON Schema, which CUE takes for an object with these members: write n!: string, or n?: string; an object that each call sends is written in the request`},
		{`n: {type: "integer", minimum: 1, maximum: 9}`, `write n!: int & >=1 & <=9, or n?: int & >=1 & <=9;`},
		{`n: {enum: ["a", "b"]}`, `write n!: "a" | "b", or n?: "a" | "b";`},
		{`n!: {enum: [1, 2, 3, 4, 5]}`, `write n!: 1 | 2 | 3 | …`},
		{`n: {type: "array", items: {enum: ["a", "b"]}}`, `write n!: [...("a" | "b")], or`},
		{`n?: {items: {type: "string", pattern: "^x"}}`, `write n?: [...=~"^x"]`},
		{`n?: {type: ["string", "null"]}`, `write n?: string | null`},
		{`n?: {oneOf: [{type: "string"}, {type: "integer"}]}`, `write n?: string | int`},
		{`n!: {properties: {a: {type: "string"}, "b-c": {type: "number"}}, required: ["a"]}`, `write n!: {a!: string, "b-c"?: number}`},
		{`"n-m": {type: "object", properties: a: {type: "array"}}`, `write "n-m"!: {a?: [...]}, or`},
		{`n!: {k: "x", m: {type: "boolean"}}`, `n.m: is JSON Schema, which CUE takes for an object with these members: write m!: bool, or m?: bool`},
		{`n: {k: "x", m: {type: "boolean"}}`, `n.m: is JSON Schema`},
		{`n?: [...{type: "string"}]`, `n[]: is JSON Schema, which CUE takes for an object with these members: write n?: [...string]`},
		{`n?: [string]: {type: "string"}`, `n[string]: is JSON Schema, which CUE takes for an object with these members: write n?: {[string]: string}`},
		{`type: "object", properties: {a: {type: "string"}, b: {type: "integer"}}, required: ["b"]`, `input: is JSON Schema: the arguments themselves stand here, as in input: {a?: string, b!: int}`},
		{`n?: {type: int, minimum: 1}`, `n: is JSON Schema, which CUE takes for an object with these members: write n?: int & >=1`},
		{`n?: {type: "array", items: string}`, `write n?: [...string]`},
		{`n!: [...{name: "string", age: "int"}]`, `n[]: takes these very texts and nothing else: write n!: [...{name!: string, age!: int}]`},
		{`n: {name: "string", age: "int"}`, `n: takes these very texts`},
		{`n?: int, required: ["n"]`, `required: is JSON Schema, and a constant here: write n!: T for what is required, and leave it out`},
		{`n?: {m?: int, additionalProperties: false}`, `n.additionalProperties: is JSON Schema, and a constant here: leave it out`},
		{`n?: ["a", "b"]`, `n: takes this very list and nothing else: write n?: "a" | "b" for one of its elements, or n?: [...("a" | "b")] for any number of them`},
		{`n!: {m?: [1, 2]}`, `n.m: takes this very list and nothing else: write m?: 1 | 2`},
		{`n?: [...["a", "b"]]`, `n[]: takes this very list`},
		{`n!: "int"`, `n: takes the text "int" and nothing else: write n!: int for the type`},
		{`n?: "boolean"`, `n: takes the text "boolean" and nothing else: write n?: bool for the type`},
		{`n?: [string]`, `n: takes a list of exactly one element: write n?: [...string] for any number`},
		{`n?: [{a!: int}]`, `n: takes a list of exactly one element: write n?: [...{a!: int}] for any number`},
		{`n?: {m?: [int]}`, `n.m: takes a list of exactly one element: write m?: [...int] for any number`},
		{`#n?: int`, `#n: a name that begins with # is a definition and can never be given: write it in quotes, "#n"`},
		{`n?: _|_`, `n: no caller can give it: write its type in place of _|_, or leave it out`},

		{`n: int | *20`, ""},
		{`n: "int"`, ""}, // a constant
		{`n!: "int" | "text"`, ""},
		{`n?: [...string]`, ""},
		{`n?: [int, int]`, ""},
		{`n?: ["only"]`, ""},
		{`n?: {type!: "string" | "number"}`, ""},
		{`n?: {type: "string", v!: string}`, ""},
		{`n: {type: "text"}`, ""},
		{`n!: {type!: string, minimum!: int}`, ""},
		{`n: {kind: "text"}`, ""},
		{`n?: int, required: ["m"]`, ""},
		{`n?: int, required?: [...string]`, ""},
		{`n: {type: "string", v: "x"}`, ""},
		{`n: {items: {a: 1}}`, ""},
		{`n: {description: "x", title: "y"}`, ""},
		{`n: {enum: "x"}`, ""},
		{`n: ["a", "b"]`, ""},
		{`type!: "object" | "array"`, ""},
		{`type: "object", n?: int`, ""},
		{`n?: ["a", "b"] | ["c", "d"]`, ""},
		{`n?: *["a", "b"] | [...string]`, ""},
		{`n?: #Local, #Local: {a?: int}`, ""},
		{`{#Base, n?: _|_}`, ""}, // leaves an argument of a mixin out
		{`n?: [...int]`, ""},
	} {
		src := server(fmt.Sprintf(`t: {description: "T", action: "create", input: {%s}, http: {method: "POST", path: "/x"}}`, tt.input)) +
			"#Sort: \"a\" | *\"b\"\n#Base: {n?: int, m?: int}\n"
		_, findings := build(t, src)
		var got []string
		for _, f := range findings {
			got = append(got, strings.TrimPrefix(f.Path, "domains.d.tools.t.input.")+": "+f.Message)
		}
		if all := strings.Join(got, "\n"); tt.want == "" && all != "" || !strings.Contains(all, tt.want) || len(got) > 1 {
			t.Errorf("%s\n got %s\nwant %s", tt.input, all, tt.want)
		}
	}
}

// An annotation does not deny the effect of the tool's action.
func TestContradictingAnnotations(t *testing.T) {
	for _, tt := range []struct{ tool, want string }{
		{`action: "delete", annotations: readOnlyHint: true`, "annotations.readOnlyHint: true contradicts the action delete, whose effect is destructive: leave it out, or choose an action with the effect read"},
		{`action: "update", annotations: readOnlyHint: true`, "annotations.readOnlyHint: true contradicts the action update, whose effect is write"},
		{`action: "delete", annotations: destructiveHint: false`, "annotations.destructiveHint: false contradicts the action delete, whose effect is destructive: leave it out, or choose an action with the effect write"},
		{`action: "read", annotations: {readOnlyHint: true, destructiveHint: false}`, ""},
		{`action: "update", annotations: {readOnlyHint: false, destructiveHint: true, idempotentHint: true}`, ""},
	} {
		_, findings := build(t, server(fmt.Sprintf(`t: {description: "T", %s, http: {method: "POST", path: "/x"}}`, tt.tool)))
		if all := findings.Error(); tt.want == "" && all != "" || !strings.Contains(all, tt.want) || len(findings) > 1 {
			t.Errorf("%s\n got %s\nwant %s", tt.tool, all, tt.want)
		}
	}
}

// What would be sent as it stands although it is meant otherwise, and what HTTP
// cannot carry, is told at its own place.
func TestPathsAndHeaders(t *testing.T) {
	for _, tt := range []struct{ request, want string }{
		{`path: "/x/:id/y/:other"`, `12:91 http.path: :id and :other would be sent as it stands: write {id} and {other} for a variable, or %3A for a colon`},
		{`path: "/x/{id}:run"`, ``},
		{`path: "/x/${id}"`, ``}, // a dollar in front of a value, as some APIs have it
		{`path: "/x/{id}?full=true"`, `12:95 http.path: "?" would end the path: put parameters into query or {?x}, or write %3F`},
		{`path: "/x/{id"`, `12:91 http.path: "{" has no "}"`},
		{`path: "/{id}/{nope}/{{no}}/{id"`, `12:94 http.path: {nope} is no argument of the tool; there is id; 12:101 http.path: a variable stands between single braces: write {no}`},
		{`path: "/{id}/{nope}/{id"`, `12:94 http.path: {nope} is no argument of the tool; there is id; 12:101 http.path: "{" has no "}"`},
		{`path: "/x/" + "{id"`, `12:81 http.path: "{" has no "}"`},
		{`path: "/x/{id}", headers: "X-A": "a\nb"`, `12:107 http.headers."X-A": a header cannot hold the control character '\n'`},
		{`path: "/x/{id}", headers: "X-A": " a"`, `12:107 http.headers."X-A": a header cannot begin or end with white space: HTTP takes it away`},
	} {
		_, findings := build(t, server(`t: {description: "T", action: "read", input: id!: string, http: {method: "GET", `+tt.request+`}}`))
		var got []string
		for _, f := range findings {
			got = append(got, fmt.Sprintf("%d:%d %s: %s", f.Line, f.Column, strings.TrimPrefix(f.Path, "domains.d.tools.t."), f.Message))
		}
		if all := strings.Join(got, "; "); all != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.request, all, tt.want)
		}
	}
}
