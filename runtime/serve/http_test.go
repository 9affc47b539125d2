package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// host is a running HTTP server.
type host struct {
	t    testing.TB
	url  string // of the endpoint
	stop context.CancelFunc
	done chan error // what HTTP returned
}

// start serves on a free port of loopback until the test ends.
func start(t testing.TB, o HTTPOptions) *host {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h := &host{t: t, stop: cancel, done: make(chan error, 1)}
	ready := make(chan string, 1)
	o.Ready = func(url string) { ready <- url }
	go func() { h.done <- HTTP(ctx, "127.0.0.1:0", o) }()
	select {
	case h.url = <-ready:
	case err := <-h.done:
		t.Fatal(err)
	}
	t.Cleanup(h.end)
	return h
}

// end stops the server and waits for it.
func (h *host) end() {
	h.stop()
	if err, open := <-h.done; open {
		close(h.done)
		if err != nil {
			h.t.Error(err)
		}
	}
}

// post sends a body as MCP clients do; headers come in pairs of name and value.
func (h *host) post(body string, headers ...string) (int, string) {
	h.t.Helper()
	req, err := http.NewRequest(http.MethodPost, h.url, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return h.do(req, headers...)
}

func (h *host) do(req *http.Request, headers ...string) (int, string) {
	h.t.Helper()
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func httpOptions(t testing.TB, mode string, gate <-chan struct{}) HTTPOptions {
	return HTTPOptions{Options: options(t, mode, gate)}
}

const callEcho = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993}}}`

// Clients of each revision are served on one URL, with one JSON answer each.
func TestHTTPRevisions(t *testing.T) {
	h := start(t, httpOptions(t, "meta", nil))
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		status, body := h.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, revision))
		if m := parse(t, body); status != 200 || m.Result.ProtocolVersion != revision {
			t.Errorf("%s: initialize: %d %s", revision, status, body)
		}
		if status, body := h.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Protocol-Version", revision); status != 202 || body != "" {
			t.Errorf("%s: initialized: %d %s", revision, status, body)
		}
		status, body = h.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Protocol-Version", revision)
		if m := parse(t, body); status != 200 || len(m.Result.Tools) != 4 || m.Result.ResultType != "" {
			t.Errorf("%s: list: %d %s", revision, status, body)
		}
		status, body = h.post(callEcho, "Mcp-Protocol-Version", revision)
		if m := parse(t, body); status != 200 || m.text() != `echo {"n":9007199254740993}` {
			t.Errorf("%s: call: %d %s", revision, status, body)
		}
	}
	send := func(method, name, params string) (int, message) {
		headers := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
		if name != "" {
			headers = append(headers, "Mcp-Name", name)
		}
		status, body := h.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, modern), headers...)
		return status, parse(t, body)
	}
	if status, m := send("server/discover", "", ""); status != 200 || !strings.Contains(m.raw, `"supportedVersions":["2026-07-28",`) {
		t.Errorf("discover: %d %s", status, m.raw)
	}
	if status, m := send("tools/list", "", ""); status != 200 || len(m.Result.Tools) != 4 || m.Result.ResultType != "complete" || m.Result.CacheScope != "private" {
		t.Errorf("list: %d %s", status, m.raw)
	}
	if status, m := send("tools/call", "echo", `"name":"echo","arguments":{"n":1},`); status != 200 || m.text() != `echo {"n":1}` || m.Result.ResultType != "complete" {
		t.Errorf("call: %d %s", status, m.raw)
	}
	if status, m := send("tools/call", "ecoh", `"name":"ecoh",`); status != 400 || m.Error == nil || m.Error.Code != -32602 || m.Error.Message != `unknown tool "ecoh"; nearest: echo` {
		t.Errorf("unknown tool: %d %s", status, m.raw)
	}
}

// Web pages of other sites are kept out, and so are those that had their own name
// resolve to this server.
func TestCrossOrigin(t *testing.T) {
	o := httpOptions(t, "flat", nil)
	o.Hosts = []string{"mcp.internal"}
	o.Origins = []string{"https://app.example", "vscode-file://vscode-app"}
	h := start(t, o)
	u, _ := url.Parse(h.url)
	port := u.Port()
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"", "", 200},
		{"localhost:" + port, "", 200},
		{"LOCALHOST", "", 200},
		{"[::1]:" + port, "", 200},
		{"[::ffff:127.0.0.1]:" + port, "", 200},
		{"mcp.internal:" + port, "", 200},
		{"evil.example", "", 403},
		{"evil.example:" + port, "http://evil.example:" + port, 403},
		{"localhost.evil.example", "", 403},
		{"127.0.0.1.evil.example", "", 403},
		{"192.168.1.5:" + port, "", 403},
		{"", "http://127.0.0.1:" + port, 200},
		{"", "https://app.example", 200},
		{"", "vscode-file://vscode-app", 200},
		{"", "https://app.example.evil.example", 403},
		{"", "http://evil.example", 403},
		{"", "http://127.0.0.1:1", 403},
		{"", "http://localhost:" + port, 403}, // another origin than 127.0.0.1, to a browser
		{"", "null", 403},
		{"", "", 200},
		{"localhost:" + port, "http://localhost:" + port, 200},
	} {
		var headers []string
		if c.host != "" {
			headers = append(headers, "Host", c.host)
		}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		status, body := h.post(callEcho, headers...)
		if status != c.want || (status == 200) != strings.Contains(body, "echo") {
			t.Errorf("Host %q, Origin %q: %d %s, want %d", c.host, c.origin, status, body, c.want)
		}
	}
	if status, _ := h.post(callEcho, "Origin", "https://app.example", "Origin", "http://evil.example"); status != 403 {
		t.Errorf("a second Origin gets in: %d", status)
	}
	for _, path := range []string{"/healthz", "/"} {
		req, _ := http.NewRequest(http.MethodGet, strings.TrimSuffix(h.url, endpoint)+path, nil)
		if status, _ := h.do(req, "Host", "evil.example"); status != 403 {
			t.Errorf("GET %s for another host: %d", path, status)
		}
	}
}

// Beyond loopback an address is itself, whatever its name resolves to.
func TestHostsBeyondLoopback(t *testing.T) {
	g := guard{HTTPOptions: HTTPOptions{Hosts: []string{"mcp.internal"}}, local: false}
	for host, want := range map[string]bool{
		"192.168.1.5:80": true, "[2001:db8::1]": true, "2001:db8::1": true, "localhost:80": true, "mcp.internal": true,
		"evil.example": false, "": false, "192.168.1.5.evil.example": false,
	} {
		if got := g.ours(host); got != want {
			t.Errorf("Host %q: %v, want %v", host, got, want)
		}
	}
}

// Without authentication only this machine is served, unless told otherwise.
func TestListenBeyondLoopback(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:8080"} {
		err := HTTP(t.Context(), addr, httpOptions(t, "flat", nil))
		if err == nil || !strings.Contains(err.Error(), "--insecure-no-auth") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"8080", "127.0.0.1", "127.0.0.1:http-but-not", ""} {
		if err := HTTP(t.Context(), addr, httpOptions(t, "flat", nil)); err == nil {
			t.Errorf("%q is taken for an address", addr)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := httpOptions(t, "flat", nil)
	o.InsecureNoAuth = true
	o.Ready = func(at string) {
		defer cancel()
		if u, err := url.Parse(at); err != nil || u.Hostname() != "localhost" || u.Path != "/mcp" {
			t.Errorf("URL %s", at)
		}
		res, err := http.Get(strings.TrimSuffix(at, endpoint) + health)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		if b, _ := io.ReadAll(res.Body); res.StatusCode != 200 || string(b) != "ok\n" {
			t.Errorf("health: %d %s", res.StatusCode, b)
		}
	}
	if err := HTTP(ctx, ":0", o); err != nil {
		t.Error(err)
	}
}

// Headers of the request reach the call, except what speaks to this server.
func TestCredentialScope(t *testing.T) {
	h := start(t, httpOptions(t, "meta", nil))
	status, body := h.post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"headers"}}`,
		"Authorization", "Bearer inbound-secret", "Cookie", "session=inbound-secret", "Proxy-Authorization", "inbound-secret", "X-Team", "blue", "X-Team", "green")
	var got http.Header
	if err := json.Unmarshal([]byte(parse(t, body).text()), &got); status != 200 || err != nil {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	if strings.Contains(body, "inbound-secret") {
		t.Errorf("a credential is passed on: %v", got)
	}
	if team := got["X-Team"]; len(team) != 2 || team[0] != "blue" || team[1] != "green" {
		t.Errorf("X-Team: %v", team)
	}
}

func TestHTTPRefusals(t *testing.T) {
	h := start(t, httpOptions(t, "flat", nil))
	base := strings.TrimSuffix(h.url, endpoint)
	if status, body := h.post(`{"x":"` + strings.Repeat("x", maxMessageBytes) + `"}`); status != 413 || !strings.Contains(body, "4194304") {
		t.Errorf("too large: %d %s", status, body)
	}
	for _, body := range []string{`{`, ``, `7`, `{}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`} {
		if status, answer := h.post(body); status < 400 || status > 499 {
			t.Errorf("%q: %d %s", body, status, answer)
		}
	}
	if status, body := h.post(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "Mcp-Protocol-Version", "2025-11-25"); status != 400 || !strings.Contains(body, "batch") {
		t.Errorf("a batch: %d %s", status, body)
	}
	if status, _ := h.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Protocol-Version", "1999-01-01"); status != 400 {
		t.Errorf("an unknown revision: %d", status)
	}
	for _, id := range []string{"12345678901234567890123", "9007199254740993", "1.5", "-1e400"} {
		want := `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message: the id must be a string or an integer of at most 53 bits"}}`
		if status, body := h.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}`); status != 400 || body != want {
			t.Errorf("the id %s: %d %s", id, status, body)
		}
	}
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/mcp", 405, ""},
		{"DELETE", "/mcp", 405, ""},
		{"GET", "/", 404, "/mcp"},
		{"POST", "/mcp/", 404, "/mcp"},
		{"GET", "/healthz", 200, "ok"},
	} {
		req, _ := http.NewRequest(c.method, base+c.path, nil)
		if status, body := h.do(req); status != c.status || !strings.Contains(body, c.body) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, status, body, c.status, c.body)
		}
	}
	// The server lives on.
	if status, body := h.post(callEcho); status != 200 {
		t.Errorf("after all that: %d %s", status, body)
	}
}

func TestHTTPPanic(t *testing.T) {
	var said log
	o := httpOptions(t, "flat", nil)
	o.Log = said.logger()
	h := start(t, o)
	status, body := h.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panics"}}`)
	if m := parse(t, body); status != 200 || !m.Result.IsError || strings.Contains(body, "secret") {
		t.Errorf("%d %s", status, body)
	}
	if !strings.Contains(said.String(), "tool=panics") {
		t.Errorf("the log: %s", said.String())
	}
}

// The ready file holds the URL, and nothing is left when the server has ended.
func TestReadyFile(t *testing.T) {
	dir := t.TempDir()
	o := httpOptions(t, "flat", nil)
	o.ReadyFile = filepath.Join(dir, "ready")
	h := start(t, o)
	b, err := os.ReadFile(o.ReadyFile)
	// It comes after what Ready tells.
	for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); b, err = os.ReadFile(o.ReadyFile) {
		runtime.Gosched()
	}
	if err != nil || string(b) != h.url {
		t.Errorf("the ready file: %q, %v, want %q", b, err, h.url)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("beside it: %v", entries)
	}
	h.end()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
	o.ReadyFile = filepath.Join(dir, "no", "such", "folder")
	if err := HTTP(t.Context(), "127.0.0.1:0", o); err == nil || !strings.Contains(err.Error(), "ready file") {
		t.Errorf("a ready file that cannot be written: %v", err)
	}
}

// pipes is a listener of connections in memory, for tests whose time is not real.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// A running call is waited for when the server is told to end; one that takes long
// is cancelled and answered so; one that heeds nothing is left behind.
func TestGracefulShutdown(t *testing.T) {
	for _, c := range []struct {
		what  string
		after time.Duration // until the call ends by itself; 0 never
		deaf  bool
		took  time.Duration
		want  string
	}{
		{"a call that ends", 8 * time.Second, false, 8 * time.Second, "slow "},
		{"a call that takes long", 0, false, patience, "cancelled: the server is stopping"},
		{"a call that heeds nothing", 0, true, patience + grace, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			gate, release := make(chan struct{}), make(chan struct{})
			o := httpOptions(t, "flat", gate)
			if c.deaf {
				o.Surface = deaf{o.Surface, release}
			}
			ctx, stop := context.WithCancel(t.Context())
			l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
			done := make(chan error, 1)
			go func() { done <- o.serve(ctx, l, *l.Addr().(*net.TCPAddr)) }()
			transport := &http.Transport{DialContext: l.dial}
			answered := make(chan string, 1)
			go func() {
				req, _ := http.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "application/json, text/event-stream")
				res, err := transport.RoundTrip(req)
				if err != nil {
					answered <- ""
					return
				}
				defer res.Body.Close()
				b, _ := io.ReadAll(res.Body)
				answered <- parse(t, string(b)).text()
			}()
			synctest.Wait() // the call runs
			began := time.Now()
			stop()
			if c.after > 0 {
				time.AfterFunc(c.after, func() { close(gate) })
			}
			if err := <-done; err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			if got := <-answered; got != c.want {
				t.Errorf("%s: %q, want %q", c.what, got, c.want)
			}
			// Shutdown looks in intervals of up to half a second.
			if took := time.Since(began); took < c.took || took > c.took+time.Second {
				t.Errorf("%s: the end took %v, want %v", c.what, took, c.took)
			}
			close(release)
			transport.CloseIdleConnections()
		})
	}
}

// A client that does not send the whole body is let go; a call may take longer than
// that. Pins the kind flood.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		done := make(chan error, 1)
		go func() { done <- httpOptions(t, "flat", gate).serve(ctx, l, *l.Addr().(*net.TCPAddr)) }()
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`
		for _, c := range []struct {
			what, body string
			took       time.Duration
			status     string
		}{
			{"a body without an end", call[:20], bodyTime, "400"},
			{"a long call", call, 2 * bodyTime, "200"},
		} {
			conn, err := l.dial(t.Context(), "tcp", "")
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			answer := make(chan string)
			go func() {
				b, _ := io.ReadAll(conn)
				answer <- string(b)
			}()
			fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(call), c.body)
			if c.status == "200" {
				time.AfterFunc(c.took, func() { close(gate) })
			}
			got := <-answer
			if took := time.Since(began); took < c.took || took > c.took+time.Second || !strings.HasPrefix(got, "HTTP/1.1 "+c.status) {
				t.Errorf("%s: after %s: %q", c.what, took, got)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Many clients at once, of both eras, each with its own answers; nothing is left
// running after them.
func TestConcurrentClients(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		h := start(t, httpOptions(t, "meta", nil))
		defer h.end()
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
				session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
					Endpoint: h.url, HTTPClient: &http.Client{Transport: transport}, DisableStandaloneSSE: true,
				}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer session.Close()
				list, err := session.ListTools(t.Context(), nil)
				if err != nil || len(list.Tools) != 4 {
					t.Errorf("list: %v, %v", list, err)
				}
				for n := range 10 {
					want := fmt.Sprintf(`{"n":%d}`, i*100+n)
					res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_tool", Arguments: map[string]any{
						"tool_name": "echo", "arguments": json.RawMessage(want),
					}})
					if err != nil || res.Content[0].(*mcp.TextContent).Text != "echo "+want {
						t.Errorf("%s: %v, %v", want, res, err)
					}
				}
			})
		}
		wg.Wait()
	}()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stack := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stack[:runtime.Stack(stack, true)])
		}
		runtime.Gosched()
	}
}
