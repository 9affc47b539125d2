package exec_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/rest"
)

// token is the secret of the upstreams in these tests, read as env TOKEN.
const token = "s3cr3t-t0ken"

// options are what the programs of these tests are compiled with.
func options() compile.Options {
	return compile.Options{Rest: rest.Options{Getenv: func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": token, "SEAL": "a key that replicas share", "DIGITS": "1234567890"}[name]
		return v, ok
	}}}
}

// program compiles tools over one upstream, api, whose further fields are given.
// The configuration says more in its tail.
func program(t testing.TB, url, upstream, tools, tail string) *exec.Program {
	t.Helper()
	return compiled(t, source(url, upstream, tools, tail), options())
}

func source(url, upstream, tools, tail string) string {
	return "package c\n\nimport \"strings\"\n\n_use: strings.ToUpper(\"\")\nserver: name: \"s\"\nupstreams: api: {url: \"" + url + "/v1\"\n" + upstream + "\n}\n" +
		"domains: d: {description: \"D\", tools: {\n" + tools + "\n}}\n" + tail + "\n"
}

func compiled(t testing.TB, src string, o compile.Options) *exec.Program {
	t.Helper()
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(src)}}, "test", load.Options{})
	if len(findings) > 0 {
		t.Fatalf("%v\n%s", findings, src)
	}
	p, findings := compile.Compile(cfg, o)
	if len(findings) > 0 {
		t.Fatalf("%v\n%s", findings, src)
	}
	t.Cleanup(p.Client.(*rest.Client).Close)
	return p
}

// serve is a loopback upstream. It answers one request after the other, so that
// handlers need no locks: the requests of one step can come at once.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	var turn sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn.Lock()
		defer turn.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// answering is an upstream that always gives the same answer.
func answering(t testing.TB, status int, contentType, body string) string {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		} else {
			w.Header()["Content-Type"] = nil // not to be guessed
		}
		w.Header().Set("X-Which", "seven")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// do calls tool t.
func do(t testing.TB, p *exec.Program, args string) call.Result {
	t.Helper()
	return p.Call(t.Context(), call.Caller{}, "t", json.RawMessage(args))
}

// told gives the text of a result.
func told(r call.Result) string {
	if len(r.Content) != 1 {
		return ""
	}
	return r.Content[0].Text
}

// wantText checks that a result is no failure and has the text.
func wantText(t testing.TB, r call.Result, want string) {
	t.Helper()
	if r.IsError || told(r) != want {
		t.Errorf("error %t:\n got %s\nwant %s", r.IsError, told(r), want)
	}
}

// wantError checks that a result is a failure whose text holds all of words.
func wantError(t testing.TB, r call.Result, words ...string) {
	t.Helper()
	if !r.IsError || r.Structured != nil {
		t.Errorf("no failure: %s", told(r))
		return
	}
	for _, w := range words {
		if !strings.Contains(told(r), w) {
			t.Errorf("%q is not in %s", w, told(r))
		}
	}
}
