package expect_test

import (
	"encoding/json"
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
