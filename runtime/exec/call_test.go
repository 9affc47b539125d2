package exec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/rest"
)

// panicking is a client with a fault of its own.
type panicking struct{ exec.Client }

func (panicking) Do(context.Context, *bind.HTTP, rest.CallOptions) (*rest.Response, error) {
	panic("a fault of ours")
}

// TestPanic pins that a fault of our own ends one call and not the server, in
// the requests of a list too, and is logged with its stack.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	p := *compiled(t, source("http://127.0.0.1:9", "", read(get)+`
		e: {description: "E", action: "create", steps: all: each: [for n in [1, 2, 3] {method: "POST", path: "/x", body: "n": n}]}`, ""), o)
	p.Client = panicking{p.Client}
	for _, tool := range []string{"t", "e"} {
		log.Reset()
		r := p.Call(t.Context(), call.Caller{}, tool, nil)
		wantError(t, r, "the call failed inside the server; it is logged there")
		if !strings.Contains(log.String(), "a fault of ours") || !strings.Contains(log.String(), "call_test.go") {
			t.Errorf("%s: logged %s", tool, &log)
		}
	}
}

// TestUnknownTool pins that names near a misspelt one are told, and none that is
// out of the caller's bounds.
func TestUnknownTool(t *testing.T) {
	p := program(t, "http://127.0.0.1:9", "", `get_thing: {description: "G", action: "read", `+get+`}
		get_things: {description: "D", action: "delete", http: {method: "DELETE", path: "/x"}}`, "")
	wantError(t, p.Call(t.Context(), call.Caller{}, "get_thingz", nil), "unknown tool: get_thingz", `"get_thing"`, `"get_things"`)
	bounded := call.Caller{Bounds: catalog.Bounds{ReadOnly: true}}
	for _, name := range []string{"get_thingz", "get_things"} {
		r := p.Call(t.Context(), bounded, name, nil)
		wantError(t, r, "unknown tool: "+name, `"nearest":["get_thing"]`)
	}
}

// TestStepResults pins what later steps see of answers that are no JSON: text
// as a string, a binary as base64, nothing as null.
func TestStepResults(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/text":
			w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
			_, _ = io.WriteString(w, "caf\xe9")
		case "/v1/binary":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG")
		case "/v1/none":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.Copy(w, r.Body)
		}
	})
	p := program(t, url, "", `t: {description: "T", action: "create", steps: {
		text: http: {method: "GET", path: "/text"}
		binary: http: {method: "GET", path: "/binary"}
		none: http: {method: "GET", path: "/none"}
		echo: http: {method: "POST", path: "/echo", body: {text: steps.text.result, binary: steps.binary.result, none: steps.none.result}}
	}}`, "")
	wantText(t, do(t, p, `{}`), `{"text":"café","binary":"iVBORw==","none":null}`)
}

// TestPlanEach shows that a dry run of a list shows its first request, and that
// nothing would be sent where no step applies.
func TestPlanEach(t *testing.T) {
	p := program(t, "http://127.0.0.1:9", "", `t: {description: "T", action: "create", input: {names?: [...string], off?: bool}, steps: {
		no: {when: input.off, http: {method: "GET", path: "/no"}}
		all: each: [for n in input.names {method: "POST", path: "/x", body: name: n}]
	}}`, "")
	plan, r := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(`{"names":["a","b"]}`))
	if plan == nil || string(plan.Request.Body) != `{"name":"a"}` {
		t.Errorf("%+v, %s", plan, told(r))
	}
	for _, args := range []string{`{}`, `{"names":[]}`} {
		plan, r := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(args))
		if plan != nil || exec.Reason(r) != "nothing would be sent: no step of t applies" {
			t.Errorf("%s: %+v, %s", args, plan, told(r))
		}
	}
}

// TestDiscreet finds no tool out of bounds in what a configuration says of a call:
// in a rule, in an error that jq makes, in the schema that comes with a refusal.
func TestDiscreet(t *testing.T) {
	p := program(t, answering(t, 200, "application/json", `{"value":[]}`), "", `
		t: {description: "T", action: "read", input: {
			// From drop_it
			n!: int
		}
		check: [if input.n > 5 {"n is too large; drop_it takes more. Try less"}]
		http: {method: "GET", path: "/t", query: n: input.n}
		response: jq: #"error("there is none; drop_it made them")"#}
		drop_it: {description: "D", action: "delete", aliases: ["old_drop"], http: {method: "DELETE", path: "/t"}}`, "")
	for _, tt := range []struct{ args, all, within string }{
		{`{"n":6}`, `n is too large; drop_it takes more. Try less`, `"error":"n is too large. Try less"`},
		{`{"n":1}`, `there is none; drop_it made them`, `"error":"there is none"`},
		{`{}`, `From drop_it`, `missing required argument: n`},
	} {
		if got := told(do(t, p, tt.args)); !strings.Contains(got, tt.all) {
			t.Errorf("%s: %s", tt.args, got)
		}
		in := p.Within(catalog.Bounds{ReadOnly: true})
		if got := told(do(t, in, tt.args)); !strings.Contains(got, tt.within) || strings.Contains(got, "drop") {
			t.Errorf("%s within bounds: %s", tt.args, got)
		}
	}
}

// BenchmarkCall is the cost of a call of an upstream with credentials, by the size of
// its answer.
func BenchmarkCall(b *testing.B) {
	for _, items := range []int{10, 1000} {
		body := `{"value":[` + strings.TrimSuffix(strings.Repeat(`{"id":12345,"name":"a \"name\" with words","url":"https://dev.example/a%20b"},`, items), ",") + `]}`
		url := answering(b, 200, "application/json", body)
		for name, jq := range map[string]string{"as it came": "", "by jq": `, response: jq: "[.value[].id]"`} {
			p := program(b, url, `auth: bearer: {env: "TOKEN"}`, read(get+jq), "")
			b.Run(fmt.Sprintf("%d items %s", items, name), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if r := do(b, p, `{}`); r.IsError {
						b.Fatal(told(r))
					}
				}
			})
		}
	}
}
