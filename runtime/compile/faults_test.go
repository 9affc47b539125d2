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

// TestPagesOfWhole pins what the pages of an answer that holds all items need.
func TestPagesOfWhole(t *testing.T) {
	const get = `http: {method: "GET", path: "/x"}, `
	for _, tt := range []struct{ action, tool, want string }{
		{"read", `input: n?: int, ` + get + `response: paginate: whole: top: "n"`, ""},
		{"read", get + `response: paginate: {items: ".value", whole: {}}`, ""},
		{"read", `input: from?: int, ` + get + `response: paginate: whole: skip: "form"`, "form is no argument of the tool; did you mean from?"},
		{"read", get + `response: paginate: whole: top: "n"`, "n: the tool declares no arguments"},
		{"read", `input: n?: number, ` + get + `response: paginate: whole: top: "n"`, "the argument n is no whole number (int)"},
		{"read", get + `response: paginate: {more: ".more", whole: {}}`, "says nothing here"},
		{"read", get + `response: {jq: ".value", paginate: {items: ".value", whole: {}}}`, "says nothing here"},
		{"delete", get + `response: paginate: whole: {}`, "needs an action that only reads"},
	} {
		found(t, `t: {description: "T", action: "`+tt.action+`", `+tt.tool+`}`, tt.want)
	}
}

// TestPageSizeSent pins that what says how large a page is, is sent: without it
// paging cannot tell the last page, and says nothing.
func TestPageSizeSent(t *testing.T) {
	const query, body = "the request never sends the query parameter ", "the request never sends the member of the body "
	for _, tt := range []struct{ tool, want string }{
		{`input: per_page?: int, http: {method: "GET", path: "/x"}, response: paginate: page: {number: "page", size: "perpage"}`, query + "perpage, which is to say how many items a page has; did you mean per_page?"},
		{`http: {method: "GET", path: "/x"}, response: paginate: offset: {skip: "skip", top: "top"}`, query + "top, which is to say how many items a page has; there is api-version"},
		{`http: {method: "POST", path: "/x", body: in: sice: 3}, response: paginate: offset: {skip: "/skip", top: "/in/size"}`, body + "/in/size, which is to say how many items a page has; did you mean sice?"},
		{`http: {method: "POST", path: "/x", body: in: size: 3}, response: paginate: page: {number: "/page", size: "/size"}`, body + "/size"},
		{`steps: {a: http: {method: "GET", path: "/a", query: size: 3}, b: http: {method: "GET", path: "/b"}}, response: paginate: page: {number: "p", size: "size"}`, query + "size"},

		{`input: size?: int, http: {method: "GET", path: "/x"}, response: paginate: page: {number: "page", size: "size"}`, ""},
		{`input: n?: int, http: {method: "GET", path: "/x{?n}"}, response: paginate: page: {number: "page", size: "n"}`, ""},
		{`http: {method: "GET", path: "/x"}, response: paginate: page: {number: "page", size: "api-version"}`, ""}, // the upstream's
		{`input: n?: int, http: {method: "GET", path: "/x", query: {if input.n != _|_ {size: input.n}}}, response: paginate: page: {number: "page", size: "size"}`, ""},
		{`input: n?: int, http: {method: "POST", path: "/x", body: {if input.n != _|_ {size: input.n}}}, response: paginate: page: {number: "/page", size: "/size"}`, ""},
		{`input: n!: {size?: int}, http: {method: "POST", path: "/x", body: input.n}, response: paginate: page: {number: "/page", size: "/size"}`, ""},
		{`steps: {a: http: {method: "GET", path: "/a"}, b: http: {method: "GET", url: steps.a.result.link}}, response: paginate: page: {number: "p", size: "size"}`, ""},
		{`http: {method: "GET", path: "/x"}, response: paginate: page: number: "page"`, ""},
		{`http: {method: "GET", path: "/x"}, response: paginate: cursor: {in: "c", jq: ".c"}`, ""},
	} {
		found(t, `t: {description: "T", action: "read", `+tt.tool+`}`, tt.want)
	}
}
