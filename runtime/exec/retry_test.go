package exec_test

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/rest"
)

// scripted is a client that gives one answer after the other, the last one for
// ever, and notes what was sent after how long. It needs no network, so that
// time can stand still in a bubble of testing/synctest.
type scripted struct {
	exec.Client
	answers []rest.Response
	mu      sync.Mutex
	start   time.Time
	sent    []string
	paths   []string // their last segments
}

func (c *scripted) Do(_ context.Context, req *bind.HTTP, _ rest.CallOptions) (*rest.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start.IsZero() {
		c.start = time.Now()
	}
	c.sent = append(c.sent, fmt.Sprintf("%s %s", req.Method, req.Body))
	c.paths = append(c.paths, path.Base(req.URL))
	a := c.answers[min(len(c.sent), len(c.answers))-1]
	return &a, nil
}

// answered is an answer in JSON, or in text where it is none.
func answered(status int, body string, header ...string) rest.Response {
	r := rest.Response{Status: status, Header: http.Header{}, MediaType: "application/json", Body: []byte(body)}
	if !strings.HasPrefix(body, "{") {
		r.MediaType = "text/plain"
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

const conflict = `{"message":"TF26071: somebody else has changed it"}`

// A request is made again as long as the answer fulfils the condition, the
// attempts last and the call has time; the caller is told how often it was made.
func TestRetry(t *testing.T) {
	const on = `on: ".message? // . | tostring | contains(\"TF26071\")"`
	for name, tt := range map[string]struct {
		response string // of the tool
		upstream string
		answers  []rest.Response
		sent     int
		within   time.Duration // the longest that the waits may take together
		atLeast  time.Duration
		want     []string // parts of the text; a failure where there are several
	}{
		"passes": {
			response: `retry: {` + on + `}`,
			answers:  []rest.Response{answered(409, conflict), answered(409, conflict), answered(200, `{"id":1}`)},
			sent:     3, within: 750 * time.Millisecond,
			want: []string{`{"id":1}`},
		},
		"does not pass": {
			response: `retry: {` + on + `, attempts: 4, backoff: "1s", maxBackoff: "2s"}`,
			answers:  []rest.Response{answered(409, conflict)},
			sent:     4, within: 5 * time.Second,
			want: []string{"api answered 409", "TF26071", `"attempts":4`},
		},
		"another failure": {
			response: `retry: {` + on + `}`,
			answers:  []rest.Response{answered(409, `{"message":"TF1: no"}`)},
			sent:     1,
			want:     []string{"api answered 409", "TF1"},
		},
		"another failure later": {
			response: `retry: {` + on + `}`,
			answers:  []rest.Response{answered(409, conflict), answered(400, `{"message":"TF1: no"}`)},
			sent:     2, within: 250 * time.Millisecond,
			want: []string{"api answered 400", `"attempts":2`},
		},
		"text": {
			response: `retry: {` + on + `}`,
			answers:  []rest.Response{answered(500, "TF26071, it says"), answered(200, `{}`)},
			sent:     2, within: 250 * time.Millisecond,
			want: []string{`{}`},
		},
		"a failure with the status of a success": {
			response: `error: ".message", retry: {` + on + `}`,
			answers:  []rest.Response{answered(200, conflict), answered(200, `{"id":1}`)},
			sent:     2, within: 250 * time.Millisecond,
			want: []string{`{"id":1}`},
		},
		"a status that is no failure": {
			response: `accept: [409], retry: on: "true"`,
			answers:  []rest.Response{answered(409, conflict)},
			sent:     1,
			want:     []string{conflict},
		},
		"by status, arguments and headers": {
			response: `retry: on: "$status == 423 and $args.name == \"a\" and $headers[\"x-lock\"] == \"held\""`,
			answers:  []rest.Response{answered(423, "", "X-Lock", "held"), answered(200, `{}`)},
			sent:     2, within: 250 * time.Millisecond,
			want: []string{`{}`},
		},
		"a wait that the upstream asks for": {
			response: `retry: on: "true"`,
			answers:  []rest.Response{answered(409, conflict, "Retry-After", "7"), answered(200, `{}`)},
			sent:     2, within: 7 * time.Second, atLeast: 7 * time.Second,
			want: []string{`{}`},
		},
		"longer than the call may take": {
			response: `retry: on: "true"`,
			upstream: `timeout: "6s"`,
			answers:  []rest.Response{answered(409, conflict, "Retry-After", "7")},
			sent:     1,
			want:     []string{"api answered 409", "TF26071"},
		},
		"an answer that cannot be read": {
			response: `retry: on: "true"`,
			answers:  []rest.Response{answered(409, `{"message":`)},
			sent:     1,
			want:     []string{"api answered 409", `"retry":"not made again, since the condition could not be evaluated`},
		},
		"a condition that fails": {
			response: `retry: on: ".message.text"`,
			answers:  []rest.Response{answered(409, conflict)},
			sent:     1,
			want:     []string{"api answered 409", `"retry":"not made again, since the condition could not be evaluated`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := *program(t, "http://127.0.0.1:1", tt.upstream, `t: {description: "T", action: "create", input: name!: string, http: {method: "POST", path: "/x", body: name: input.name}, response: {`+tt.response+`}}`, "")
			client := &scripted{Client: p.Client, answers: tt.answers}
			p.Client = client
			synctest.Test(t, func(t *testing.T) {
				r := do(t, &p, `{"name":"a"}`)
				took := time.Since(client.start)
				if len(tt.want) == 1 {
					wantText(t, r, tt.want[0])
				} else {
					wantError(t, r, tt.want...)
				}
				if len(client.sent) != tt.sent || slices.ContainsFunc(client.sent, func(s string) bool { return s != `POST {"name":"a"}` }) {
					t.Errorf("sent: %q", client.sent)
				}
				if took > tt.within || took < tt.atLeast || tt.within > 0 && took == 0 {
					t.Errorf("waited %s", took)
				}
				if r.IsError && tt.sent == 1 && strings.Contains(told(r), "attempts") {
					t.Errorf("made once, it says %s", told(r))
				}
			})
		})
	}
}

// Each step, and each request of a list, is made again by itself; what was done
// before is told once.
func TestRetrySteps(t *testing.T) {
	p := *program(t, "http://127.0.0.1:1", "", `t: {
		description: "T", action: "create", input: names!: [...string]
		steps: {
			first: {http: {method: "POST", path: "/x", body: 0}, retry: {on: "true", attempts: 5}}
			all: {
				each: [for n in input.names {method: "POST", path: "/x", body: n}]
				retry: {on: ".message | contains(\"TF26071\")", attempts: 2, backoff: "1s"}
			}
		}
	}`, "")
	client := &scripted{Client: p.Client, answers: []rest.Response{
		answered(409, conflict), answered(200, `{"id":1}`), // first
		answered(409, conflict), answered(409, conflict), // all
	}}
	p.Client = client
	synctest.Test(t, func(t *testing.T) {
		wantError(t, do(t, &p, `{"names":["a"]}`), "api answered 409", `"attempts":2`, `"step":"all"`, `"index":0`, `"done":["first: POST /v1/x answered 200 OK"]`)
		if want := []string{"POST 0", "POST 0", `POST "a"`, `POST "a"`}; !slices.Equal(client.sent, want) {
			t.Errorf("sent: %q", client.sent)
		}
	})
}

// A call that is given up while it waits ends with the failure that there was.
func TestRetryCancelled(t *testing.T) {
	p := *program(t, "http://127.0.0.1:1", "", `t: {description: "T", action: "create", http: {method: "POST", path: "/x"}, response: retry: {on: "true", backoff: "20s", maxBackoff: "20s"}}`, "")
	client := &scripted{Client: p.Client, answers: []rest.Response{answered(409, conflict)}}
	p.Client = client
	p.Sleep = func(ctx context.Context, d time.Duration) error {
		if d <= 0 || d > 20*time.Second {
			t.Errorf("waits %s", d)
		}
		return context.Canceled
	}
	wantError(t, do(t, &p, `{}`), "api answered 409", "TF26071")
	if len(client.sent) != 1 {
		t.Errorf("sent: %q", client.sent)
	}
}
