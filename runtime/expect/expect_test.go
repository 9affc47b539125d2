package expect_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/expect"
	"github.com/metacue/metacue/runtime/load"
)

// Requests that are made again are compared like any other, and nothing is
// waited for: in a bubble, where the clock moves only when everything waits, it
// stands still.
func TestRetryWithoutWaiting(t *testing.T) {
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(`package c

server: name: "s"
upstreams: api: url: "https://api.example"
domains: d: {
	description: "D"
	tools: t: {
		description: "T"
		action:      "create"
		http: {method: "POST", path: "/x"}
		response: retry: {on: "$status == 409", attempts: 3, backoff: "5s"}
		tests: [{
			arguments: {}
			exchanges: [{response: status: 409}, {response: status: 409}, {response: {status: 201, body: id: 1}}]
			result: id: 1
		}, {
			arguments: {}
			exchanges: [{response: status: 409}, {response: status: 409}, {response: status: 409}]
			error: "\"attempts\":3"
		}]
	}
}`)}}, "test", load.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p, findings := compile.Compile(cfg, compile.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := expect.Run(t.Context(), cfg, func(map[string]json.RawMessage) (*exec.Program, diag.List) { return p, nil })
		if o.Run != 2 || len(o.Findings) > 0 {
			t.Errorf("%d run: %v", o.Run, o.Findings)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("waited %s", took)
		}
	})
}

// A test holds whatever server-level defaults an operator sets: it has those that it
// asks for.
func TestDefaults(t *testing.T) {
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(`package c

server: name: "s"
upstreams: api: url: "https://api.example"
defaults: {project: "P", team: "T" @with(project)}
domains: d: {
	description: "D"
	tools: t: {
		description: "T"
		action:      "read"
		input: {project!: string, team?: string}
		http: {method: "GET", path: "/{project}{/team}"}
		tests: [
			{arguments: {}, error: "missing required argument: project"},
			{arguments: project: "a", request: {method: "GET", path: "/a"}},
			{arguments: {}, defaults: {project: "b", team: "c"}, request: {method: "GET", path: "/b/c"}},
			{arguments: project: "a", defaults: {project: "b", team: "c"}, request: {method: "GET", path: "/a"}},
			{arguments: project: "a", defaults: team: "c", request: {method: "GET", path: "/a/c"}},
			{arguments: {}, request: {method: "GET", path: "/P"}},
			{arguments: {}, defaults: {project: 5}, request: {method: "GET", path: "/5"}},
			{arguments: project: "a", defaults: {projcet: "b"}, request: {method: "GET", path: "/a"}},
		]
	}
}`)}}, "test", load.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	o := expect.Run(t.Context(), cfg, compile.With(cfg, compile.Options{}))
	want := []string{
		"domains.d.tools.t.tests[5].request: was not made: GET /P; the call failed: missing required argument: project; a test has no server-level defaults but those that it asks for, as with defaults: project: …",
		"domains.d.tools.t.tests[6].defaults: does not fit the argument project of t: ",
		"domains.d.tools.t.tests[7].defaults: no tool has an argument projcet; did you mean project?",
	}
	if o.Run != 8 || len(o.Findings) != len(want) {
		t.Fatalf("%d run:\n%v", o.Run, o.Findings)
	}
	for i, f := range o.Findings {
		if got := f.Path + ": " + f.Message; !strings.HasPrefix(got, want[i]) {
			t.Errorf("got %s\nwant %s", got, want[i])
		}
	}
}
