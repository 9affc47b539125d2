package exec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/exec"
)

// TestRefusalSize pins that a failed call says a bounded amount, whatever is in the
// arguments and however much is wrong with them, and says how much it leaves out.
func TestRefusalSize(t *testing.T) {
	list := func(element string) string {
		return `{"items":[` + strings.TrimSuffix(strings.Repeat(element+",", 5000), ",") + `]}`
	}
	long := strings.Repeat("y", 600_000)
	url := answering(t, 200, "application/json", `{"a":"`+"\u202e"+`\u001b[31m`+long+`"}`)
	p := program(t, url, "", `
		t: {description: "T", action: "create", input: {items?: [...{a!: string}]}, http: {method: "POST", path: "/x"}}
		rule: {description: "R", action: "create", input: {items!: [...string]}
			check: [for i in input.items {"\(i) will not do"}]
			http: {method: "POST", path: "/x"}}
		head: {description: "H", action: "read", input: {a!: string}, http: {method: "GET", path: "/x", headers: "X-A": input.a}}
		cue: {description: "C", action: "read", steps: {
			a: http: {method: "GET", path: "/x"}
			b: http: {method: "GET", path: "/y", query: q: steps.a.result.a & int}}}
		jq: {description: "J", action: "read", http: {method: "GET", path: "/x"}, response: jq: "error(.a)"}
		found: {description: "F", action: "read", http: {method: "GET", path: "/x"}, response: error: ".a"}
	`, "")
	for _, tt := range []struct{ tool, args, want string }{
		{"t", list(`{}`), "missing required argument: items[19].a; and 4980 more"},
		{"t", list(`"{"`), "items[19]: must be an object, not a string; and 4980 more"},
		{"t", `{"` + long + `":1}`, "bytes more)"},
		{"rule", list(`"v"`), "v will not do; and 4980 more"},
		{"rule", `{"items":["` + long + `"]}`, "bytes more)"},
		{"head", `{"a":"` + long + `\n"}`, ""},
		{"cue", `{}`, "bytes more)"},
		{"jq", `{}`, "bytes more)"},
		{"found", `{}`, "bytes more)"},
		{long, `{}`, "bytes more)"},
	} {
		r := p.Call(t.Context(), call.Caller{}, tt.tool, json.RawMessage(tt.args))
		wantError(t, r)
		said := exec.Reason(r)
		name := fmt.Sprintf("%.10s %.20s", tt.tool, tt.args)
		if len(told(r)) > 50_000 || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %d bytes, %.300s", name, len(told(r)), said)
		}
		if strings.ContainsAny(said, "\u202e\x1b") {
			t.Errorf("%s: characters that are not to be shown: %.200q", name, said)
		}
	}
}
