package rest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metacue/metacue/runtime/bind"
)

// TestWire shows that a finished request arrives byte for byte: resty, which
// carries it, adds nothing of its own.
func TestWire(t *testing.T) {
	jsonType := []bind.Header{{Name: "Content-Type", Value: "application/json-patch+json"}}
	for _, tt := range []struct {
		name, method, path, body string
		header                   []bind.Header
		hasBody                  bool
		length                   int64
		want                     map[string]string
	}{
		{name: "path and query as encoded", method: "GET", path: "/a%2Fb%20c/%7Bid%7D/é?b=%2F&a=1+2&b=[x]&$top=3"},
		{name: "no body", method: "POST", path: "/x", length: 0},
		{name: "body", method: "POST", path: "/x", body: `{"n":9007199254740993}`, hasBody: true, header: jsonType, length: 22,
			want: map[string]string{"Content-Type": "application/json-patch+json"}},
		{name: "empty body", method: "POST", path: "/x", hasBody: true},
		{name: "untyped body", method: "PUT", path: "/x", body: "abc", hasBody: true, length: 3},
		{name: "body on GET", method: "GET", path: "/x", body: "{}", hasBody: true, length: 2},
		{name: "body on DELETE", method: "DELETE", path: "/x", body: "{}", hasBody: true, length: 2},
		{name: "repeated header", method: "GET", path: "/x", header: []bind.Header{{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}},
			want: map[string]string{"X-A": "1|2"}},
		{name: "own accept", method: "GET", path: "/x", header: []bind.Header{{Name: "accept", Value: "text/plain"}, {Name: "user-agent", Value: "mine"}},
			want: map[string]string{"Accept": "text/plain", "User-Agent": "mine"}},
		{name: "other method", method: "PURGE", path: "/x"},
		{name: "HEAD", method: "HEAD", path: "/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := record(t, nil)
			u := s.upstream(t)
			c := newClient(t, Options{UserAgent: "metacue/1.2"}, u)
			req := get(u, tt.path)
			req.URL = strings.ReplaceAll(req.URL, "é", "%C3%A9")
			req.Method, req.Header = tt.method, tt.header
			if tt.hasBody {
				req.Body = []byte(tt.body)
			}
			if _, err := c.Do(t.Context(), req, CallOptions{}); err != nil {
				t.Fatal(err)
			}
			got := s.got()[0]
			if want := strings.TrimPrefix(req.URL, s.URL); got.URI != want || got.Method != tt.method || got.Body != tt.body || got.Length != tt.length {
				t.Errorf("got %+v, want %s", got, want)
			}
			if got.Host != u.URL.Host {
				t.Errorf("got host %s", got.Host)
			}
			want := map[string]string{"User-Agent": "metacue/1.2", "Accept-Encoding": "gzip"}
			if tt.method == "POST" || tt.hasBody {
				want["Content-Length"] = strconv.Itoa(len(tt.body))
			}
			for k, v := range tt.want {
				want[k] = v
			}
			for k, v := range got.Header {
				if w := strings.Join(v, "|"); want[k] != w {
					t.Errorf("%s: got %q, want %q", k, w, want[k])
				}
				delete(want, k)
			}
			if len(want) > 0 {
				t.Errorf("missing headers: %v", want)
			}
		})
	}
	u := Upstream{Name: "api", URL: mustURL(t, "https://api.example")}
	req := get(u, "/x")
	req.Method, req.Body = "HEAD", []byte("lost")
	_, err := newClient(t, Options{}, u).Do(t.Context(), req, CallOptions{})
	wantKind(t, err, BadRequest)
}

func TestStatuses(t *testing.T) {
	status := 0
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		if status != 204 && status != 304 {
			fmt.Fprint(w, status)
		}
	})
	u := s.upstream(t)
	c := newClient(t, Options{}, u)
	for _, status = range []int{200, 201, 203, 204, 207, 300, 304, 400, 401, 404, 418, 429, 500, 503, 599} {
		r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := strconv.Itoa(status)
		if status == 204 || status == 304 {
			want = ""
		}
		if r.Status != status || string(r.Body) != want {
			t.Errorf("%d: got %d %q", status, r.Status, r.Body)
		}
	}
}

// TestRedirect pins redirect: none is followed, so no credential and no body
// goes anywhere; the error names the status and where it points, no more.
func TestRedirect(t *testing.T) {
	elsewhere := record(t, nil)
	for _, tt := range []struct{ location, want string }{
		{elsewhere.URL + "/steal?code=s3cret", "a redirect to " + elsewhere.URL + ","},
		{"https://user:pw@login.example/x?y=" + "z", "a redirect to https://login.example,"},
		{"//login.example/x", "a redirect to http://login.example,"},
		{"/base/other", "a redirect to another path of "},
		{"http://[bad", "a redirect to a URL that cannot be read,"},
		{"", "a redirect to nowhere"},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				s := record(t, func(w http.ResponseWriter, _ *http.Request) {
					if tt.location != "" {
						w.Header().Set("Location", tt.location)
					}
					w.WriteHeader(status)
					io.WriteString(w, "a page that nobody shall see")
				})
				u := s.upstream(t)
				u.Auth = &Auth{Header: &Named{"X-API-Key", Secret{Env: "TOKEN"}}}
				req := get(u, "/x")
				req.Method, req.Body = method, []byte("{}")
				r, err := newClient(t, Options{}, u).Do(t.Context(), req, CallOptions{Idempotent: true})
				e := wantKind(t, err, RedirectRefused)
				if r != nil || e.Status != status || !e.Sent || !strings.Contains(e.Message, strconv.Itoa(status)+", "+tt.want) {
					t.Errorf("%s %d to %q: got %+v", method, status, tt.location, e)
				}
				if n := len(s.got()); n != 1 {
					t.Errorf("%s %d: the upstream got %d requests", method, status, n)
				}
			}
		}
	}
	if n := len(elsewhere.got()); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// TestRedirectMasksLocation shows that a Location which echoes the credential
// in its host is masked.
func TestRedirectMasksLocation(t *testing.T) {
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "https://"+r.Header.Get("X-API-Key")+".evil.example/")
		w.WriteHeader(302)
	})
	u := s.upstream(t)
	u.Auth = &Auth{Header: &Named{"X-API-Key", Secret{Env: "USER_NAME"}}}
	_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
	if e := wantKind(t, err, RedirectRefused); !strings.Contains(e.Message, "https://***.evil.example") {
		t.Errorf("got %q", e.Message)
	}
}

// TestEnvProxy pins env-proxy: what the environment says of proxies is not used.
func TestEnvProxy(t *testing.T) {
	proxy := record(t, nil)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	u := Upstream{Name: "api", URL: mustURL(t, "http://api.invalid/base")}
	c := newClient(t, Options{}, u)
	dialled := ""
	transport := c.upstreams["api"].transport
	transport.DialContext = func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = address
		return nil, errors.New("not in this test")
	}
	// http.ProxyFromEnvironment reads the environment once in a process, so that
	// the transport is asked too.
	if transport.Proxy != nil {
		t.Error("the transport asks for a proxy")
	}
	_, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
	wantKind(t, err, ConnectionFailed)
	if dialled != "api.invalid:80" || len(proxy.got()) != 0 {
		t.Errorf("dialled %s; the proxy got %d requests", dialled, len(proxy.got()))
	}
}

// zeros answers with n bytes, in the manner that the path names.
func zeros(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := bytes.Repeat([]byte("0"), n)
		switch r.URL.Path {
		case "/base/length":
			w.Header().Set("Content-Length", strconv.Itoa(n))
			w.Write(body)
		case "/base/chunked":
			w.(http.Flusher).Flush()
			w.Write(body)
		case "/base/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(body)
			z.Close()
		}
	}
}

// TestTooLarge pins too-large on the level of one answer: the limit counts
// decoded bytes, whatever the upstream says of the length.
func TestTooLarge(t *testing.T) {
	const limit = 10_000
	for _, over := range []int{0, 1, 10_000_000} {
		s := record(t, zeros(limit+over))
		u := s.upstream(t)
		u.MaxBytes = limit
		c := newClient(t, Options{}, u)
		for _, path := range []string{"/length", "/chunked", "/gzip"} {
			r, err := c.Do(t.Context(), get(u, path), CallOptions{})
			if over == 0 {
				if err != nil || len(r.Body) != limit {
					t.Errorf("%s: %v", path, err)
				}
				continue
			}
			e := wantKind(t, err, TooLarge)
			if r != nil || e.Status != 200 || !strings.Contains(e.Message, "more than 10000 bytes, the limit that maxBytes sets") {
				t.Errorf("%s: got %v", path, e)
			}
		}
	}
}

// TestEndless shows that endless answers end at the limit: in the body, in a
// gzip body, and in the headers.
func TestEndless(t *testing.T) {
	forever := func(head, more string) Upstream {
		return raw(t, func(c net.Conn) {
			_, err := io.WriteString(c, head)
			for err == nil {
				_, err = io.WriteString(c, more)
			}
		})
	}
	var z bytes.Buffer
	g := gzip.NewWriter(&z)
	g.Write(make([]byte, 1<<20))
	g.Close()
	for name, u := range map[string]Upstream{
		"body":    forever("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("0123456789", 10_000)),
		"chunks":  forever("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", strings.Repeat("a\r\n0123456789\r\n", 1000)),
		"gzip":    forever("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", z.String()), // members, one after another
		"headers": forever("HTTP/1.1 200 OK\r\n", strings.Repeat("X-A: 0123456789\r\n", 1000)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
			wantKind(t, err, TooLarge)
		})
	}
}

// TestTimeout shows that one deadline covers the wait for the answer and the
// reading of it, and that the error names the limit that ended the call.
func TestTimeout(t *testing.T) {
	for _, tt := range []struct {
		name        string
		limit       time.Duration // of the context; 0 means none
		headersSent bool
		want        string
		after       time.Duration
	}{
		{"no answer", 0, false, `the upstream "api" did not answer within 30s`, 30 * time.Second},
		{"no end", 0, true, `the upstream "api" did not finish its answer within 30s`, 30 * time.Second},
		{"context", 5 * time.Second, false, `the upstream "api" did not answer within 5s`, 5 * time.Second},
		{"context, no end", 5 * time.Second, true, `the upstream "api" did not finish its answer within 5s`, 5 * time.Second},
		{"longer context", time.Minute, false, `the upstream "api" did not answer within 30s`, 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := inMemory(t)
				c := newClient(t, Options{}, u)
				ended := make(chan struct{})
				pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
					defer close(ended)
					if tt.headersSent {
						w.Write([]byte("{"))
						w.(http.Flusher).Flush()
					}
					<-r.Context().Done()
				})
				ctx := t.Context()
				if tt.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.limit)
					defer cancel()
				}
				began := time.Now()
				_, err := c.Do(ctx, get(u, "/x"), CallOptions{})
				e := wantKind(t, err, TimedOut)
				if e.Message != tt.want || !e.Sent || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %+v", e)
				}
				if took := time.Since(began); took != tt.after {
					t.Errorf("it took %s", took)
				}
				<-ended // the upstream is told
			})
		})
	}
}

// TestTimeoutUnconnected shows that a call which never had a connection says so.
func TestTimeoutUnconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		c := newClient(t, Options{}, u)
		c.upstreams["api"].transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		_, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
		if e := wantKind(t, err, TimedOut); e.Sent {
			t.Error("the error says that the request may have been received")
		}
	})
}

// TestCancel shows that cancelling a call reaches the upstream, before and
// within the answer.
func TestCancel(t *testing.T) {
	for _, headersSent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			u := inMemory(t)
			c := newClient(t, Options{}, u)
			arrived, ended := make(chan struct{}), make(chan struct{})
			pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
				if headersSent {
					w.(http.Flusher).Flush()
				}
				close(arrived)
				<-r.Context().Done()
				close(ended)
			})
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-arrived; cancel() }()
			_, err := c.Do(ctx, get(u, "/x"), CallOptions{})
			if e := wantKind(t, err, Cancelled); !errors.Is(err, context.Canceled) || !e.Sent {
				t.Errorf("got %+v", e)
			}
			<-ended
			_, err = c.Do(ctx, get(u, "/x"), CallOptions{})
			wantKind(t, err, Cancelled)
		})
	}
}

// TestBrokenUpstream sends answers that no upstream should: each gives a clear
// error, none hangs, and the next call works.
func TestBrokenUpstream(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		kind         Kind
		want         string
	}{
		{"nothing", "", ConnectionFailed, "closed the connection without an answer"},
		{"half a status line", "HTTP/1.1 2", BadAnswer, "sent something that is no HTTP answer"},
		{"half a header", "HTTP/1.1 200 OK\r\nContent-Le", BadAnswer, "sent something that is no HTTP answer"},
		{"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", BadAnswer, "sent something that is no HTTP answer"},
		{"no number", "HTTP/1.1 OK\r\n\r\n", BadAnswer, "sent something that is no HTTP answer"},
		{"bad header", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", BadAnswer, "sent something that is no HTTP answer"},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", BadAnswer, "sent something that is no HTTP answer"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", BadAnswer, "sent something that is no HTTP answer"},
		{"strange framing", "HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\n", BadAnswer, "sent something that is no HTTP answer"},
		{"cut off", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", ConnectionFailed, "broke off in the middle of its answer"},
		{"cut off in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", ConnectionFailed, "broke off in the middle of its answer"},
		{"cut off between chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", ConnectionFailed, "broke off in the middle of its answer"},
		{"not a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", BadAnswer, "sent something that is no HTTP answer"},
		{"not gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: 20\r\n\r\nnot gzip, not at all", BadAnswer, "its gzip encoding is broken"},
		{"unknown coding", "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", BadAnswer, `its content encoding "br" was not asked for`},
		{"switch", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", BadAnswer, "it switches to another protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			good := false
			u := raw(t, func(c net.Conn) {
				if good {
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					return
				}
				io.WriteString(c, tt.answer)
			})
			u.Auth = &Auth{Query: &Named{"key", Secret{Env: "TOKEN"}}}
			c := newClient(t, Options{}, u)
			req := get(u, "/x")
			req.Method = "POST" // which net/http does not repeat by itself
			_, err := c.Do(t.Context(), req, CallOptions{})
			if e := wantKind(t, err, tt.kind); !strings.Contains(e.Message, tt.want) || !e.Sent || strings.Contains(e.Message, "key=") {
				t.Errorf("got %+v", e)
			}
			good = true
			if r, err := c.Do(t.Context(), req, CallOptions{}); err != nil || string(r.Body) != "ok" {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// TestLyingLength shows that bytes beyond the stated length reach neither this
// answer nor the next one.
func TestLyingLength(t *testing.T) {
	log.SetOutput(io.Discard) // where net/http tells of the surplus
	defer log.SetOutput(os.Stderr)
	u := raw(t, func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
		readHead(c)
	})
	c := newClient(t, Options{}, u)
	for range 3 {
		r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
		if err != nil || string(r.Body) != "{}" {
			t.Fatalf("got %v, %v", r, err)
		}
	}
}

// TestStaleConnection shows that a kept connection which the upstream closes
// under a request costs an idempotent call nothing, while any other is not sent
// again.
func TestStaleConnection(t *testing.T) {
	for _, idempotent := range []bool{true, false} {
		var heads atomic.Int32
		u := raw(t, func(c net.Conn) {
			if heads.Add(1); heads.Load() == 1 {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				readHead(c)
				heads.Add(1)
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
		})
		c := newClient(t, Options{}, u)
		req := get(u, "/x")
		req.Method = "POST"
		if _, err := c.Do(t.Context(), req, CallOptions{Idempotent: idempotent}); err != nil {
			t.Fatal(err)
		}
		_, err := c.Do(t.Context(), req, CallOptions{Idempotent: idempotent})
		if idempotent && (err != nil || heads.Load() != 3) {
			t.Errorf("idempotent: %v after %d requests", err, heads.Load())
		}
		if !idempotent {
			if e := wantKind(t, err, ConnectionFailed); !e.Sent || heads.Load() != 2 {
				t.Errorf("got %+v after %d requests", e, heads.Load())
			}
		}
	}
}

// TestDetail shows what is told of the ways in which connecting fails.
func TestDetail(t *testing.T) {
	secret := "http://api.example/?key=hidden"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}, "the host name is not known"},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "connection refused"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "connection reset by peer"},
		{io.EOF, "end of data"},
		{os.ErrDeadlineExceeded, "no answer in time"},
	} {
		if got := detail(&url.Error{Op: "Get", URL: secret, Err: tt.err}); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}

// FuzzScope shows that whatever passes the check stays at the upstream's origin
// and below its base path, when net/http reads it too; the same for wherever a
// redirect may lead.
func FuzzScope(f *testing.F) {
	for _, seed := range []string{"/base/x", "https://api.example/base/../x", "//evil.example/base", "https://api.example:443/base/%2e%2e/x",
		"https://api.example@evil.example/base", "https:/base/x", "https://api.example\\@evil.example/base", "/base/..;/x", "?x#y"} {
		f.Add(seed)
	}
	u := &upstream{Upstream: Upstream{Name: "api", URL: &url.URL{Scheme: "https", Host: "api.example", Path: "/base"}}}
	u.origin = bind.Origin(u.URL)
	inside := func(t *testing.T, req *bind.HTTP) {
		r, err := http.NewRequest(req.Method, req.URL, nil)
		if err != nil {
			t.Fatalf("%q passes the check and is no URL: %v", req.URL, err)
		}
		var wire bytes.Buffer
		if err := r.Write(&wire); err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(wire.String(), "\r\n")
		target := strings.Fields(line)[1]
		path, _, _ := strings.Cut(target, "?")
		decoded, _ := url.PathUnescape(path)
		if r.URL.Scheme != "https" || !strings.EqualFold(r.URL.Hostname(), "api.example") || r.URL.Port() != "" && r.URL.Port() != "443" ||
			path != "/base" && !strings.HasPrefix(path, "/base/") || strings.HasSuffix(decoded, "/..") || strings.Contains(path, "/../") {
			t.Errorf("%q goes to %s %s", req.URL, r.URL.Host, target)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, method := range []string{"GET", s} {
			if req := (&bind.HTTP{Method: method, URL: s}); u.check(req) == nil {
				inside(t, req)
			}
		}
		from := &sending{req: &bind.HTTP{Method: "GET", URL: "https://api.example/base/from"}, status: 302, location: s}
		if req, err := u.redirected(from); err == nil {
			inside(t, req)
		}
	})
}

func TestConnectionFailed(t *testing.T) {
	gone := httptest.NewServer(nil)
	address := gone.URL
	gone.Close()
	strange := httptest.NewTLSServer(nil) // its certificate is no one's
	strange.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	defer strange.Close()
	for _, tt := range []struct{ url, want string }{
		{address, "cannot connect to the upstream \"api\" at " + strings.TrimPrefix(address, "http://") + ": connect: connection refused"},
		{strange.URL, "certificate signed by unknown authority"},
	} {
		u := Upstream{Name: "api", URL: mustURL(t, tt.url), Auth: &Auth{Query: &Named{"key", Secret{Env: "TOKEN"}}}}
		_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x?a=private"), CallOptions{})
		e := wantKind(t, err, ConnectionFailed)
		if !strings.Contains(e.Message, tt.want) || e.Sent {
			t.Errorf("got %+v", e)
		}
		if strings.Contains(e.Message, "private") || errors.Unwrap(err) != nil {
			t.Errorf("the error shows the query: %v", err)
		}
	}
}

// TestConnectionReuse shows that connections are used again after answers of
// every kind that is read to its end.
func TestConnectionReuse(t *testing.T) {
	conns := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/base/empty":
		case "/base/gone":
			w.WriteHeader(204)
		case "/base/redirect":
			w.Header().Set("Location", "/x")
			w.WriteHeader(302)
			io.WriteString(w, "moved")
		default:
			zeros(100_000)(w, r)
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns++
		}
	}
	s.Start()
	defer s.Close()
	u := Upstream{Name: "api", URL: mustURL(t, s.URL+"/base")}
	c := newClient(t, Options{}, u)
	for range 5 {
		for _, path := range []string{"/length", "/chunked", "/gzip", "/empty", "/gone", "/redirect"} {
			_, err := c.Do(t.Context(), get(u, path), CallOptions{})
			if path == "/redirect" {
				wantKind(t, err, RedirectRefused)
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if conns != 1 {
		t.Errorf("30 calls took %d connections", conns)
	}
}

// TestNoLeak shows that no goroutine stays behind, whatever way calls end.
func TestNoLeak(t *testing.T) {
	before := runtime.NumGoroutine()
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/base/hang":
			select {
			case <-r.Context().Done():
			case <-release:
			}
		case "/base/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		default:
			zeros(1_000_000)(w, r)
		}
	}))
	u := Upstream{Name: "api", URL: mustURL(t, s.URL+"/base"), MaxBytes: 1000}
	c := newClient(t, Options{}, u)
	for range 20 {
		for _, path := range []string{"/hang", "/cut", "/length", "/chunked", "/gzip"} {
			ctx, cancel := context.WithCancel(t.Context())
			if path == "/hang" {
				go cancel()
			}
			if _, err := c.Do(ctx, get(u, path), CallOptions{}); err == nil {
				t.Fatalf("%s gave an answer", path)
			}
			cancel()
		}
	}
	close(release)
	c.Close()
	s.Close()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}
