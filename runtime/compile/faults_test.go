package compile_test

import (
	"strings"
	"testing"
)

// found checks that a tool has exactly one finding, which holds the words, or
// none where words is empty.
func found(t *testing.T, tool, words string) {
	t.Helper()
	_, findings := build(t, server(tool))
	switch {
	case words == "" && len(findings) == 0:
	case words != "" && len(findings) == 1 && strings.Contains(findings[0].Message, words) && findings[0].Line > 0:
	default:
		t.Errorf("%s:\n got %v\nwant %q", tool, findings, words)
	}
}

// TestUpdateDefault pins that an update sends nothing that nobody asked for.
func TestUpdateDefault(t *testing.T) {
	const words = "a default in the body of an update changes what nobody asked to change"
	for request, want := range map[string]string{
		`http: {method: "PATCH", path: "/x/{id}"}`:                                          words,
		`http: {method: "PATCH", path: "/x/{id}", body: {draft: input.draft}}`:              words,
		`http: {method: "PATCH", path: "/x/{id}", body: [{op: "add", value: input.draft}]}`: words,
		`http: {method: "PATCH", path: "/x/{id}", query: {draft: input.draft}}`:             "",
	} {
		found(t, `t: {description: "T", action: "update", input: {id!: string, draft: bool | *false}, `+request+`}`, want)
		found(t, `t: {description: "T", action: "create", input: {id!: string, draft: bool | *false}, `+strings.Replace(request, "PATCH", "POST", 1)+`}`, "")
		found(t, `t: {description: "T", action: "update", input: {id!: string, draft?: bool}, `+strings.Replace(request, "[{op: \"add\", value: input.draft}]", "[if input.draft != _|_ {op: \"add\", value: input.draft}]", 1)+`}`, "")
	}
}

// TestArgCollision pins that two values never meet in one place of a request.
func TestArgCollision(t *testing.T) {
	found(t, `t: {description: "T", action: "read", input: {a?: string, q?: string}, http: {method: "GET", path: "/x", query: q: input.a}}`, "argument q would be sent as query parameter q, which the request sets already")
	found(t, `t: {description: "T", action: "read", input: {"api-version"?: string}, http: {method: "GET", path: "/x"}}`, "query parameter api-version")
	found(t, `t: {description: "T", action: "read", input: {a!: string}, http: {method: "GET", path: "/x/{a}", vars: a: "y"}}`, "a path variable comes from one place")
	found(t, `t: {description: "T", action: "create", input: {a?: string, b?: string}, http: {method: "POST", path: "/x", body: {x: input.a}, form: {y: input.b}}}`, "a request has one body")
	found(t, `t: {description: "T", action: "read", input: {cursor?: string}, http: {method: "GET", path: "/x"}, response: paginate: link: true}`, "the tool has an argument of that name")
	// One argument in two places is no collision.
	found(t, `t: {description: "T", action: "create", input: {id!: string}, http: {method: "POST", path: "/x/{id}", body: {id: input.id}}}`, "")
}

// TestNameLimits pins that names are unique and short enough for clients that
// put the server's name in front.
func TestNameLimits(t *testing.T) {
	const rest = `: {description: "T", action: "read", http: {method: "GET", path: "/x"}}`
	found(t, strings.Repeat("n", 62)+rest, "")
	found(t, strings.Repeat("n", 63)+rest, "the name is too long")
	found(t, strings.Repeat("n", 65)+rest, "must be 1 to 64")
	found(t, `"a b"`+rest, "must be 1 to 64")
	found(t, "t"+rest+"\nu"+strings.Replace(rest, `{`, `{aliases: ["t"], `, 1), "the name t is taken: domains.d.tools.t at test/c.cue:12 answers to it")
}
