package rest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/metacue/metacue/runtime/bind"
)

// token is the secret of most tests; env gives it under the name TOKEN.
const token = "s3cr3t-t0ken/+&\"é"

func env(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": token, "USER_NAME": "service-user", "SHORT": "1234567", "EMPTY": "", "LINES": "one\r\nX-Evil: 1"}[name]
	return v, ok
}

// mustURL reads a URL that a test wrote.
func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// newClient makes a client of the upstreams, with env as its environment.
func newClient(t testing.TB, o Options, ups ...Upstream) *Client {
	t.Helper()
	if o.Getenv == nil {
		o.Getenv = env
	}
	c, err := New(ups, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// seen is a request as an upstream received it.
type seen struct {
	Method, URI, Host, Body string
	Length                  int64
	Header                  http.Header
}

// recorder is a loopback upstream that keeps what it receives.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen
}

// record starts a recorder; handler answers, and nil answers 200 "{}".
func record(t testing.TB, handler http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.requests = append(r.requests, seen{q.Method, q.RequestURI, q.Host, string(body), q.ContentLength, q.Header})
		r.mu.Unlock()
		if handler != nil {
			handler(w, q)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(r.Close)
	return r
}

// got gives the requests so far.
func (r *recorder) got() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// upstream describes the recorder as the upstream "api" with base path /base.
func (r *recorder) upstream(t testing.TB) Upstream {
	return Upstream{Name: "api", URL: mustURL(t, r.URL+"/base")}
}

// get is a GET of a path below base.
func get(u Upstream, path string) *bind.HTTP {
	return &bind.HTTP{Upstream: u.Name, Method: "GET", URL: u.URL.String() + path}
}

// wantKind gives the error as an *Error of a kind.
func wantKind(t testing.TB, err error, k Kind) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want an *Error of kind %q", err, k)
	}
	if e.Kind != k {
		t.Fatalf("got kind %q (%s), want %q", e.Kind, e.Message, k)
	}
	if e.Upstream != "api" {
		t.Errorf("the error names the upstream %q", e.Upstream)
	}
	return e
}

// raw is an upstream on the level of bytes: serve is given each connection
// after a whole request head has been read from it, and the connection is
// closed when serve returns.
func raw(t testing.TB, serve func(net.Conn)) Upstream {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	t.Cleanup(func() { l.Close(); open.Wait() })
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				if readHead(conn) == nil {
					serve(conn)
				}
			})
		}
	})
	return Upstream{Name: "api", URL: mustURL(t, "http://"+l.Addr().String()+"/base")}
}

// readHead reads up to the empty line that ends the head of a request.
func readHead(r io.Reader) error {
	last, b := "", make([]byte, 1)
	for {
		if _, err := r.Read(b); err != nil {
			return err
		}
		if last += string(b); len(last) > 4 {
			last = last[len(last)-4:]
		}
		if last == "\r\n\r\n" {
			return nil
		}
	}
}

// pipes lets a client reach handler over pipes in memory, so that it can run
// in a bubble of testing/synctest, where time is not real.
func pipes(t testing.TB, c *Client, handler http.HandlerFunc) {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: handler}
	go server.Serve(l)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case l.conns <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for _, u := range c.upstreams {
		u.transport.DialContext = dial
	}
	t.Cleanup(func() { c.Close(); server.Close() })
}

type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// inMemory is an upstream for pipes.
func inMemory(t testing.TB) Upstream {
	return Upstream{Name: "api", URL: mustURL(t, "http://localhost/base"), Timeout: 30 * time.Second}
}
