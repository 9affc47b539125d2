package exec_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/rest"
)

// wire is a loopback upstream on the level of bytes. It answers by path, and
// keeps count of its connections.
type wire struct {
	net.Listener
	done sync.WaitGroup
	open atomic.Int32
}

func newWire(t testing.TB, answers map[string]func(net.Conn)) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l}
	w.done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			w.open.Add(1)
			w.done.Go(func() {
				defer w.open.Add(-1)
				defer conn.Close()
				for {
					r, err := http.ReadRequest(bufio.NewReader(conn))
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					name := strings.TrimPrefix(r.URL.Path, "/v1/")
					if answers[name] == nil {
						fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}")
						continue
					}
					answers[name](conn)
					return
				}
			})
		}
	})
	return w
}

func (w *wire) url() string { return "http://" + w.Addr().String() }

// hold keeps a connection until the other side gives it up.
func hold(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// flood writes until the other side no longer reads.
func flood(c net.Conn, head, part string) {
	if _, err := io.WriteString(c, head); err != nil {
		return
	}
	for {
		if _, err := io.WriteString(c, part); err != nil {
			return
		}
	}
}

func says(answer string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, answer) }
}

// holds says something and then no more.
func holds(answer string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, answer); hold(c) }
}

func zipped(n int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.Copy(z, io.LimitReader(zeros{}, int64(n)))
	_ = z.Close()
	return b.String()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// Connections are not kept after these, so that the next call does not depend on
// whether their end is seen in time.
const (
	jsonHead     = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
	redirectHead = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n"
)

// bad are the ways in which an upstream goes wrong, and what is told of each.
var bad = map[string]struct {
	answer func(net.Conn)
	want   string
}{
	"silent":              {hold, `did not answer within`},
	"slow-body":           {holds(jsonHead + "Content-Length: 100\r\n\r\n{"), `did not finish its answer within`},
	"cut-off":             {says(jsonHead + "Content-Length: 100\r\n\r\n{\"a\":"), `broke off in the middle of its answer`},
	"cut-off-chunk":       {says(jsonHead + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n"), `broke off in the middle of its answer`},
	"closed":              {says(""), `closed the connection without an answer`},
	"endless":             {func(c net.Conn) { flood(c, jsonHead+"\r\n\"", strings.Repeat("x", 4096)) }, `more than 65536 bytes`},
	"endless-chunks":      {func(c net.Conn) { flood(c, jsonHead+"Transfer-Encoding: chunked\r\n\r\n", "4\r\nxxxx\r\n") }, `more than 65536 bytes`},
	"endless-headers":     {func(c net.Conn) { flood(c, "HTTP/1.1 200 OK\r\n", "X-More: "+strings.Repeat("x", 1000)+"\r\n") }, `bytes of headers`},
	"endless-continue":    {func(c net.Conn) { flood(c, "", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n") }, `error`},
	"drip":                {func(c net.Conn) { flood(c, jsonHead+"Content-Length: 60000\r\n\r\n", " ") }, `error`},
	"redirect":            {says(redirectHead + "Location: http://evil.example/x?secret\r\n\r\n"), `a redirect to http://evil.example, which is not followed`},
	"redirect-here":       {says(redirectHead + "Location: /v1/redirect-here\r\n\r\n"), `a redirect`},
	"length-too-small":    {says(jsonHead + "Content-Length: 5\r\n\r\n{\"a\":1}"), `its answer cannot be read`},
	"length-twice":        {says(jsonHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{\"a\":1}"), `no HTTP answer`},
	"length-huge":         {holds(jsonHead + "Content-Length: 999999999999\r\n\r\n{"), `more than 65536 bytes`},
	"length-is-no-number": {says(jsonHead + "Content-Length: many\r\n\r\n{}"), `no HTTP answer`},
	"garbage":             {says("\x00\x01\x02\xff garbage\r\n\r\n"), `no HTTP answer`},
	"garbage-json":        {says(jsonHead + "Content-Length: 3\r\n\r\n{{{"), `its answer cannot be read`},
	"garbage-chunk":       {says(jsonHead + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), `no HTTP answer`},
	"garbage-gzip":        {says(jsonHead + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), `error`},
	"zip-bomb":            {says(jsonHead + "Content-Encoding: gzip\r\n\r\n" + zipped(1<<20)), `more than 65536 bytes`},
	"unknown-encoding":    {says(jsonHead + "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"), `content encoding`},
	"other-protocol":      {holds("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), `switches to another protocol`},
	"deep-json":           {says(jsonHead + "\r\n" + strings.Repeat("[", 20000)), `its answer cannot be read`},
}

// TestUpstreamFaults pins that an upstream that is slow, cut off, endless,
// redirecting, lying about its length or answering garbage gives a clear failure
// within the deadline, that the next call works, and that neither goroutines nor
// connections stay behind.
func TestUpstreamFaults(t *testing.T) {
	// net/http tells of bytes behind an answer there.
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	before := runtime.NumGoroutine()
	answers := map[string]func(net.Conn){}
	var tools strings.Builder
	tools.WriteString("ok: {description: \"OK\", action: \"read\", http: {method: \"GET\", path: \"/ok\"}}\n")
	for name, b := range bad {
		answers[name] = b.answer
		fmt.Fprintf(&tools, "%q: {description: \"Bad\", action: \"read\", http: {method: \"GET\", path: \"/%s\"}}\n", name, name)
		fmt.Fprintf(&tools, "\"steps-%s\": {description: \"Bad\", action: \"create\", steps: {first: http: {method: \"POST\", path: \"/first\"}, bad: http: {method: \"POST\", path: \"/%s\"}}}\n", name, name)
		fmt.Fprintf(&tools, "\"each-%s\": {description: \"Bad\", action: \"create\", steps: all: each: [for n in [\"ok\", \"%s\", \"ok\"] {method: \"POST\", path: \"/{n}\", vars: \"n\": n}]}\n", name, name)
	}
	w := newWire(t, answers)
	p := program(t, w.url(), `timeout: "60s", maxBytes: 65536, redirects: "same-origin"`, tools.String(), "")
	calls := func(tool string, within time.Duration) call.Result {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		start := time.Now()
		r := p.Call(ctx, call.Caller{}, tool, nil)
		if took := time.Since(start); took > within+5*time.Second {
			t.Errorf("%s took %s", tool, took)
		}
		return r
	}
	for name, b := range bad {
		for tool, more := range map[string]string{name: "", "steps-" + name: `"step":"bad","done":["first: POST /v1/first answered 200 OK"`, "each-" + name: `"step":"all","index":1`} {
			r := calls(tool, time.Second)
			wantError(t, r, `{"error":"`, b.want, more)
			if !json.Valid([]byte(told(r))) || strings.Contains(told(r), "secret") {
				t.Errorf("%s: %s", tool, told(r))
			}
			wantText(t, calls("ok", time.Minute), `{"ok":true}`)
		}
	}
	p.Client.(*rest.Client).Close()
	w.Close()
	w.done.Wait()
	if n := w.open.Load(); n != 0 {
		t.Errorf("%d connections are still open", n)
	}
	settle(t, before)
}

// settle waits until no more goroutines are there than before.
func settle(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestCancel pins that a caller who no longer waits ends the exchange with the
// upstream.
func TestCancel(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	w := newWire(t, map[string]func(net.Conn){"x": func(c net.Conn) {
		close(began)
		hold(c)
		close(ended)
	}})
	t.Cleanup(func() { w.Close(); w.done.Wait() })
	p := program(t, w.url(), "", read(get), "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	wantError(t, p.Call(ctx, call.Caller{}, "t", nil), "cancelled")
	<-ended
}

// TestOneDeadline pins that all requests of a call share one deadline, retries
// included (fault kind retry).
func TestOneDeadline(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	p := program(t, url, `timeout: "300ms", retry: {attempts: 100, backoff: "50ms"}`,
		read(`input: {}, steps: {a: {http: {method: "GET", path: "/a"}, optional: true}, b: {http: {method: "GET", path: "/b"}, optional: true}, c: http: {method: "GET", path: "/c"}}`), "")
	start := time.Now()
	wantError(t, do(t, p, `{}`), "api")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}

// recorded is a program over an upstream that counts requests.
func recorded(t *testing.T, tool string) (*exec.Program, *atomic.Int32) {
	var n atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { n.Add(1) })
	return program(t, url, "", tool, ""), &n
}

// TestProbeCalls pins that a call without arguments, made to learn the schema,
// has no effect and is answered with the schema.
func TestProbeCalls(t *testing.T) {
	p, n := recorded(t, `t: {description: "T", action: "delete", input: {id!: string, force?: bool}, http: {method: "DELETE", path: "/{id}"}, examples: [{arguments: id: "x"}]}`)
	for _, args := range []string{``, `null`, `{}`, `""`, `"{}"`} {
		wantError(t, do(t, p, args), `missing required argument: id`, `"inputSchema":{"type":"object"`, `"example":{"id":"x"}`)
	}
	if n.Load() != 0 {
		t.Errorf("%d requests", n.Load())
	}
}

// TestUnknownArg pins that an argument which there is not is refused with the
// nearest name, neither dropped nor passed on.
func TestUnknownArg(t *testing.T) {
	p, n := recorded(t, read(`input: {projectId?: string, top?: int}, http: {method: "GET", path: "/x"}`))
	wantError(t, do(t, p, `{"project_id":"x","zzz":1}`), "unknown argument: project_id", "unknown argument: zzz", "projectId")
	if n.Load() != 0 {
		t.Errorf("%d requests", n.Load())
	}
}

// TestBounds pins that arguments beyond the bounds are refused before anything
// else is done with them (fault kind resource-bomb).
func TestBounds(t *testing.T) {
	var n atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { n.Add(1) })
	p := program(t, url, "", read(`input: a?: _, http: {method: "GET", path: "/x", query: q: "\(len(input.a))"}, check: [if input.a != _|_ if len(input.a) > 5 {"too long"}]`),
		`server: limits: {maxArgumentBytes: 1000, maxArgumentElements: 50, maxArgumentDepth: 5}`)
	for args, want := range map[string]string{
		`{"a":"` + strings.Repeat("x", 1000) + `"}`:                     "1000",
		`{"a":[` + strings.Repeat("1,", 60) + `1]}`:                     "50",
		`{"a":` + strings.Repeat("[", 9) + strings.Repeat("]", 9) + `}`: "5",
		`{"a":` + strings.Repeat("[", 400):                              "",
		`"` + strings.Repeat("x", 1000) + `"`:                           "",
	} {
		wantError(t, do(t, p, args), want)
	}
	if n.Load() != 0 {
		t.Errorf("%d requests", n.Load())
	}
}
