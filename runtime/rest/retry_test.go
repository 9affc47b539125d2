package rest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metacue/metacue/runtime/bind"
)

// TestRetry pins retry: idempotent calls alone are repeated, a bounded number of
// times, after failures that may pass, at growing distances.
func TestRetry(t *testing.T) {
	for _, tt := range []struct {
		name     string
		answers  []int // of each request; 0 closes the connection, the last one stays
		write    bool
		retry    *Retry
		requests int
		status   int
	}{
		{name: "success", answers: []int{200}, requests: 1, status: 200},
		{name: "passes", answers: []int{503, 502, 200}, requests: 3, status: 200},
		{name: "stays", answers: []int{503}, requests: 3, status: 503},
		{name: "too many", answers: []int{429, 504, 200}, requests: 3, status: 200},
		{name: "connection", answers: []int{0, 0, 200}, requests: 3, status: 200},
		{name: "connection stays", answers: []int{0}, requests: 3},
		{name: "five", answers: []int{503}, retry: &Retry{Attempts: 5}, requests: 5, status: 503},
		{name: "one", answers: []int{503}, retry: &Retry{Attempts: 1}, requests: 1, status: 503},
		{name: "a fault of its own", answers: []int{500, 200}, requests: 1, status: 500},
		{name: "not found", answers: []int{404, 200}, requests: 1, status: 404},
		{name: "a write", answers: []int{503, 200}, write: true, requests: 1, status: 503},
		{name: "a write, connection", answers: []int{0, 200}, write: true, requests: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := inMemory(t)
				if u.Retry = tt.retry; u.Retry == nil {
					u.Retry = &Retry{}
				}
				var times []time.Time
				var bodies []string
				c := newClient(t, Options{}, u)
				pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
					b := make([]byte, 10)
					n, _ := r.Body.Read(b)
					bodies = append(bodies, string(b[:n]))
					times = append(times, time.Now())
					status := tt.answers[min(len(times), len(tt.answers))-1]
					if status == 0 {
						conn, _, _ := w.(http.Hijacker).Hijack()
						conn.Close()
						return
					}
					w.WriteHeader(status)
				})
				req := get(u, "/x")
				req.Method, req.Body = "POST", []byte("{}") // net/http would repeat a GET itself
				r, err := c.Do(t.Context(), req, CallOptions{Idempotent: !tt.write})
				if len(times) != tt.requests {
					t.Errorf("%d requests, want %d", len(times), tt.requests)
				}
				if got := strings.Join(bodies, ""); got != strings.Repeat("{}", tt.requests) {
					t.Errorf("the bodies were %q", bodies)
				}
				if tt.status == 0 {
					e := wantKind(t, err, ConnectionFailed)
					if told := strings.HasSuffix(e.Message, fmt.Sprintf("(tried %d times)", tt.requests)); told != (tt.requests > 1) || !e.Sent {
						t.Errorf("got %+v", e)
					}
				} else if err != nil || r.Status != tt.status {
					t.Errorf("got %v, %v", r, err)
				}
				for i := 1; i < len(times); i++ {
					if wait, most := times[i].Sub(times[i-1]), 250*time.Millisecond<<(i-1); wait <= 0 || wait > most {
						t.Errorf("wait %d was %s, which is not within %s", i, wait, most)
					}
				}
			})
		})
	}
}

// TestRetryUnconnected shows that refused connections are tried again.
func TestRetryUnconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Retry = &Retry{Attempts: 4}
		c := newClient(t, Options{}, u)
		dials := 0
		c.upstreams["api"].transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			dials++
			return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("connection refused")}
		}
		_, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Idempotent: true})
		if e := wantKind(t, err, ConnectionFailed); dials != 4 || e.Sent || !strings.HasSuffix(e.Message, "connection refused (tried 4 times)") {
			t.Errorf("%d dials, then %+v", dials, e)
		}
	})
}

func TestBackoff(t *testing.T) {
	for _, tt := range []struct {
		r        Retry
		attempts int
		most     time.Duration
	}{
		{Retry{}, 1, 250 * time.Millisecond}, {Retry{}, 2, 500 * time.Millisecond}, {Retry{}, 6, 8 * time.Second},
		{Retry{}, 7, 10 * time.Second}, {Retry{}, 1 << 40, 10 * time.Second},
		{Retry{Backoff: time.Minute}, 1, time.Minute}, {Retry{Backoff: time.Minute}, 9, time.Minute},
		{Retry{Backoff: time.Second, MaxBackoff: 3 * time.Second}, 2, 2 * time.Second},
		{Retry{Backoff: time.Second, MaxBackoff: 3 * time.Second}, 3, 3 * time.Second},
	} {
		longest := time.Duration(0)
		for range 1000 {
			wait := tt.r.Wait(tt.attempts)
			if wait <= 0 || wait > tt.most {
				t.Fatalf("%+v after %d: %s", tt.r, tt.attempts, wait)
			}
			longest = max(longest, wait)
		}
		if longest < tt.most/2 {
			t.Errorf("%+v after %d: never more than %s", tt.r, tt.attempts, longest)
		}
	}
}

// TestRetryAfter shows that a wait that fits the deadline is kept exactly, and
// that a longer one is told with its seconds and not begun.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		after string // "" for an HTTP date 12.3 s from now
		waits time.Duration
		later time.Duration
	}{
		{after: "7", waits: 7 * time.Second},
		{after: "29", waits: 29 * time.Second},
		{after: "", waits: 12 * time.Second},
		{after: "31", later: 31 * time.Second},
		{after: "120", later: 2 * time.Minute},
		{after: "99999999999999999999", later: (1<<32 - 1) * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := inMemory(t)
			u.Retry = &Retry{}
			c := newClient(t, Options{}, u)
			requests := 0
			pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
				if requests++; requests == 1 {
					if tt.after == "" {
						tt.after = time.Now().Add(12300 * time.Millisecond).UTC().Format(http.TimeFormat)
					}
					w.Header().Set("Retry-After", tt.after)
					w.WriteHeader(429)
				}
			})
			began := time.Now()
			r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Idempotent: true})
			took := time.Since(began)
			if tt.later == 0 {
				if err != nil || r.Status != 200 || took != tt.waits {
					t.Errorf("%s: got %v, %v after %s", tt.after, r, err, took)
				}
				return
			}
			e := wantKind(t, err, RetryLater)
			if want := fmt.Sprintf("answered 429 and asks to wait %d seconds, longer than this call may take", int(tt.later.Seconds())); !strings.Contains(e.Message, want) ||
				e.RetryAfter != tt.later || e.Status != 429 || requests != 1 || took != 0 {
				t.Errorf("%s: got %+v after %s", tt.after, e, took)
			}
		})
	}
	for value, want := range map[string]time.Duration{"0": 0, "Mon, 02 Jan 2006 15:04:05 GMT": 0, "soon": -1, "": -1, "-1": -1, "1.5": -1} {
		r := &Response{Header: http.Header{"Retry-After": {value}}}
		if got, ok := r.RetryAfter(); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %s, %v", value, got, ok)
		}
	}
}

// TestRetryEnds shows that waiting ends with the call.
func TestRetryEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(context.Context) (context.Context, context.CancelFunc)
		kind Kind
	}{
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(5*time.Second, cancel)
			return ctx, cancel
		}, Cancelled},
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 5*time.Second)
		}, RetryLater},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := inMemory(t)
			u.Retry = &Retry{}
			c := newClient(t, Options{}, u)
			pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "10")
				w.WriteHeader(503)
			})
			ctx, cancel := tt.end(t.Context())
			defer cancel()
			_, err := c.Do(ctx, get(u, "/x"), CallOptions{Idempotent: true})
			wantKind(t, err, tt.kind)
		})
	}
	// Without a Retry-After, what there is is the result when time is short.
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Timeout, u.Retry = time.Second, &Retry{Attempts: 100, Backoff: time.Hour}
		c := newClient(t, Options{}, u)
		pipes(t, c, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
		r, err := c.Do(t.Context(), &bind.HTTP{Upstream: "api", Method: "GET", URL: u.URL.String()}, CallOptions{Idempotent: true})
		if err != nil || r.Status != 503 {
			t.Errorf("got %v, %v", r, err)
		}
	})
}
