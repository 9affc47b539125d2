package exec_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/exec"
)

const repairTools = `
	t: {description: "T", action: "create", input: {
		s?: string, i?: int, pos?: int & >=1, b?: bool, l?: [...int], o?: {x?: int}, any?: _
		either?: string | int, small?: string | int & <10, long?: strings.MinRunes(3) | int
		cased?: "Active" | "All" | "all" | "Straße" | 7, fixed?: ["On"], auto?: "Auto" | int, tag?: "Latest" | =~"^v"
		kind?: {kind!: "File", path!: string} | {kind!: "Link", path!: string}
		word?: "1" | "2", digit?: 1 | 2, mixed?: "auto" | int, nullable?: string | null
	}, http: {method: "POST", path: "/x"}}
	r: {description: "R", action: "read", input: {
		s?: string, i?: int, must!: string, l?: [...{a!: string, n?: int}], o?: {n?: int, m?: int}
	}, http: {method: "POST", path: "/x"}}
`

// TestRepair pins args-as-string and null: what is put right before the schema is
// asked again, and what is left alone because another meaning would come of it.
func TestRepair(t *testing.T) {
	p := program(t, "http://127.0.0.1:9", "", repairTools, "")
	for _, tt := range []struct {
		tool, args string
		want       string // body, or part of the refusal after "error "
		repairs    int
	}{
		{"t", `{"i":"5"}`, `{"i":5}`, 1},
		{"t", `{"i":" 5.0 "}`, `{"i":5}`, 1},
		{"t", `{"i":"12345678901234567890"}`, `{"i":12345678901234567890}`, 1},
		{"t", `{"s":12345678901234567890}`, `{"s":"12345678901234567890"}`, 1},
		{"t", `{"b":"true","l":"[1,2]","o":"{\"x\":1}"}`, `{"b":true,"l":[1,2],"o":{"x":1}}`, 3},
		{"t", `{"word":1,"digit":"2","mixed":"7"}`, `{"word":"1","digit":2,"mixed":7}`, 3},
		{"t", `{"l":3}`, `{"l":[3]}`, 1},
		{"t", `{"l":"3"}`, `error l: must be an array`, 0},
		// The case of letters says nothing, unless two values differ in it alone.
		{"t", `{"cased":"active"}`, `{"cased":"Active"}`, 1},
		{"t", `{"cased":"STRASSE"}`, `error cased: must be one of Active, All, all, Straße, 7`, 0},
		{"t", `{"cased":"all"}`, `{"cased":"all"}`, 0},
		{"t", `{"cased":"ALL"}`, `error cased: must be one of Active, All, all, Straße, 7`, 0},
		{"t", `{"cased":" active"}`, `error cased: must be one of`, 0},
		{"t", `{"fixed":["on"],"auto":"AUTO","tag":"latest"}`, `{"fixed":["On"],"auto":"Auto","tag":"Latest"}`, 3},
		{"t", `{"kind":{"kind":"link","path":"/a"}}`, `{"kind":{"kind":"Link","path":"/a"}}`, 1},
		{"t", `{"kind":{"kind":"link","pat":"/a"}}`, `error missing required argument: kind.path; unknown argument: kind.pat`, 1},
		// What was repaired is validated like anything else.
		{"t", `{"pos":"0"}`, `error pos: must be at least 1`, 1},
		{"t", `{"pos":"0","iii":3}`, `error unknown argument: iii; did you mean i?; pos: must be at least 1`, 1},
		// What the schema takes is left as it is.
		{"t", `{"s":"","any":"[1]","either":"5","nullable":null}`, `{"s":"","any":"[1]","either":"5","nullable":null}`, 0},
		{"t", `{"either":5}`, `{"either":5}`, 0},
		// A value of a type that is allowed is not read as one of another.
		{"t", `{"small":50}`, `error small: `, 0},
		{"t", `{"any":1e99999999}`, `error any: must be a number with a smaller exponent`, 0},
		{"t", `{"either":1e99999999}`, `error either: must be a number with a smaller exponent`, 0},
		{"t", `{"i":"five"}`, `error i: must be an integer`, 0},
		{"t", `{"i":"0x10"}`, `error i: must be an integer`, 0},
		{"t", `{"b":"True"}`, `error b: must be true or false`, 0},
		{"t", `{"l":"1,2"}`, `error l: must be an array`, 0},
		// On writes nothing is dropped.
		{"t", `{"s":null}`, `error s: must be a string, not null`, 0},
		{"t", `{"i":""}`, `error i: must be an integer`, 0},
		// On reads what can be left out is, and no half of an element.
		{"r", `{"must":"x","s":null,"i":""}`, `{"must":"x"}`, 2},
		{"r", `{"must":"x","o":{"n":null,"m":1}}`, `{"must":"x","o":{"m":1}}`, 1},
		{"r", `{"must":null}`, `error must: must be a string, not null`, 0},
		{"r", `{"must":"x","l":[{"a":"b","n":null}]}`, `error l[0].n: must be an integer, not null`, 0},
		{"r", `{"must":"x","l":[null]}`, `error l[0]: must be an object, not null`, 0},
		{"r", `{"s":"","i":0,"must":"x"}`, `{"s":"","i":0,"must":"x"}`, 0},
	} {
		plan, r := p.Plan(t.Context(), call.Caller{}, tt.tool, json.RawMessage(tt.args))
		var got string
		if plan != nil {
			got = string(plan.Request.Body)
		} else {
			got = "error " + exec.Reason(r)
		}
		fits := got == tt.want
		if strings.HasPrefix(tt.want, "error ") {
			fits = strings.HasPrefix(got, tt.want)
		}
		if !fits || len(r.Repairs) != tt.repairs {
			t.Errorf("%s %s:\n got %s %q\nwant %s, %d repairs", tt.tool, tt.args, got, r.Repairs, tt.want, tt.repairs)
		}
	}
}

// A repair names a place as a fault does, and a call that its surface found faults
// with is refused with those first, then the program's, each told once, and the
// example.
func TestFaultsOfTheSurface(t *testing.T) {
	p := program(t, "http://127.0.0.1:9", "", repairTools+`
		x: {description: "X", action: "read", input: {must!: string, l?: [...{n?: int, k?: "a" | "b"}]}, examples: [{arguments: must: "m"}], http: {method: "POST", path: "/x"}}
	`, "")
	caller := call.Caller{Faults: []call.Fault{{Argument: "status", Message: "status is no argument of x, but of y"}, {Message: "must is given twice"}}}
	for args, want := range map[string]string{
		`{"status":1,"nte":2,"l":[{"n":"2","k":"c"}]}`: `status is no argument of x, but of y; must is given twice; missing required argument: must; unknown argument: nte; l[0].k: must be one of a, b`,
		`{"must":"m"}`: `status is no argument of x, but of y; must is given twice`,
		`[]`:           `status is no argument of x, but of y; must is given twice; the arguments must be one JSON object`,
	} {
		plan, r := p.Plan(t.Context(), caller, "x", json.RawMessage(args))
		if got := exec.Reason(r); plan != nil || !strings.HasPrefix(got, want) || !strings.Contains(r.Content[0].Text, `"example":{"must":"m"}`) {
			t.Errorf("%s:\n got %s\nwant %s", args, r.Content[0].Text, want)
		}
		for _, told := range r.Repairs {
			if told != `l[0].n: "2" was taken as 2` {
				t.Errorf("%s: repair %q", args, told)
			}
		}
	}
}

// FuzzRepair pins that whatever arguments come, they are refused or become a
// request, nothing is repaired that needs none, and what was repaired stays as it
// is when it comes again.
func FuzzRepair(f *testing.F) {
	for _, args := range []string{
		`{"s":5,"i":"5","b":"true","l":"[1]","o":"{}"}`, `"{\"s\":\"x\"}"`, `{"s":null}`, `{"any":1e99999999}`, `{"i":"1e3"}`,
		`{"l":[{"n":null}]}`, `{"o":{"x":"1"}}`, `[]`, `null`, `{"s":"\ud800"}`, `{"s":1,"s":2}`,
	} {
		f.Add(args)
	}
	p := program(f, "http://127.0.0.1:9", "", repairTools, "")
	f.Fuzz(func(t *testing.T, args string) {
		for _, tool := range []string{"t", "r"} {
			plan, r := p.Plan(t.Context(), call.Caller{}, tool, json.RawMessage(args))
			if plan == nil {
				if !r.IsError || exec.Reason(r) == "" {
					t.Fatalf("%s %s: neither a request nor a reason", tool, args)
				}
				continue
			}
			if len(plan.Request.Body) == 0 {
				continue
			}
			again, r := p.Plan(t.Context(), call.Caller{}, tool, plan.Request.Body)
			if again == nil || string(again.Request.Body) != string(plan.Request.Body) || len(r.Repairs) > 0 {
				t.Fatalf("%s %s gave %s, which gave %v %v", tool, args, plan.Request.Body, again, r)
			}
		}
	})
}
