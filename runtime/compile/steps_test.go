package compile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/load"
)

// upstream answers by path and keeps a log.
type upstream struct {
	*httptest.Server
	mu  sync.Mutex
	log []string
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		u.log = append(u.log, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		u.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"e1"`)
		switch {
		case strings.HasSuffix(r.URL.Path, "/me"):
			fmt.Fprint(w, `{"user":{"id":"u-1","n":9007199254740993},"extra":[1,2]}`)
		case strings.HasSuffix(r.URL.Path, "/missing"):
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"no such thing"}`)
		case strings.HasSuffix(r.URL.Path, "/bad"):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"message":"bad"}`)
		default:
			fmt.Fprintf(w, `{"path":%q}`, r.URL.Path)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	log := u.log
	u.log = nil
	return log
}

func program(t *testing.T, u *upstream, tools string) *exec.Program {
	t.Helper()
	src := strings.Replace(server(tools), `, query: "api-version": "7.1", headers: "X-Client": "metacue"`, "", 1)
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(src)}}, "test", load.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p, findings := compile.Compile(cfg, compile.Options{Upstreams: map[string]string{"api": u.URL + "/v1"}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return p
}

func TestSteps(t *testing.T) {
	u := newUpstream(t)
	for name, tt := range map[string]struct {
		tool, args string
		log        []string
		want       string // the result, or a part of it
		isError    bool
	}{
		"results flow on, in the order of declaration, digits kept": {
			`input: {vote!: "yes" | "no"}
			steps: {
				zeta: http: {method: "GET", path: "/me"}
				alpha: http: {method: "PUT", path: "/votes/{who}", vars: who: steps.zeta.result.user.id
					body: {n: steps.zeta.result.user.n, vote: {yes: 10, no: -10}[input.vote], all: steps.zeta.result.extra}}
			}`,
			`{"vote":"no"}`,
			[]string{`GET /v1/me`, `PUT /v1/votes/u-1 {"n":9007199254740993,"vote":-10,"all":[1,2]}`},
			`{"path":"/v1/votes/u-1"}`, false,
		},
		"status and headers": {
			`input: {}
			steps: {
				get: {http: {method: "GET", path: "/page"}}
				put: {http: {method: "PUT", path: "/page", headers: "If-Match": steps.get.headers.etag, body: {was: steps.get.status}}}
			}`,
			`{}`, []string{`GET /v1/page`, `PUT /v1/page {"was":200}`}, `{"path":"/v1/page"}`, false,
		},
		"jq shapes before CUE sees it": {
			`input: {p!: string}
			steps: {
				me: {http: {method: "GET", path: "/me"}, jq: "{id: .user.id, p: $args.p, status: $status}"}
				do: http: {method: "POST", path: "/do", body: steps.me.result}
			}`,
			`{"p":"P"}`, []string{`GET /v1/me`, `POST /v1/do {"id":"u-1","p":"P","status":200}`}, `{"path":"/v1/do"}`, false,
		},
		"when: an absent argument and a skipped step are false": {
			`input: {flag?: bool, x!: string}
			steps: {
				a: {when: input.flag, http: {method: "GET", path: "/a"}}
				b: {when: steps.a.status == 200, http: {method: "GET", path: "/b"}}
				c: http: {method: "POST", path: "/c", body: {x: input.x, a: steps.a.result.path}}
			}`,
			`{"x":"X"}`, []string{`POST /v1/c {"x":"X"}`}, `{"path":"/v1/c"}`, false,
		},
		"when holds": {
			`input: {flag?: bool, x!: string}
			steps: {
				a: {when: input.flag, http: {method: "GET", path: "/a"}}
				b: {when: steps.a.status == 200, http: {method: "GET", path: "/b"}}
				c: http: {method: "POST", path: "/c", body: {x: input.x, a: steps.a.result.path}}
			}`,
			`{"x":"X","flag":true}`, []string{`GET /v1/a`, `GET /v1/b`, `POST /v1/c {"x":"X","a":"/v1/a"}`}, `{"path":"/v1/c"}`, false,
		},
		"accept": {
			`input: {}
			steps: {
				get: {http: {method: "GET", path: "/missing"}, accept: [404]}
				make: {when: steps.get.status == 404, http: {method: "POST", path: "/new"}}
			}`,
			`{}`, []string{`GET /v1/missing`, `POST /v1/new`}, `{"path":"/v1/new"}`, false,
		},
		"optional": {
			`input: {}
			steps: {
				get: {http: {method: "GET", path: "/missing"}, optional: true}
				make: {http: {method: "POST", path: "/new", body: {s: steps.get.status, m: steps.get.result.message}}}
			}`,
			`{}`, []string{`GET /v1/missing`, `POST /v1/new {"s":404,"m":"no such thing"}`}, `{"path":"/v1/new"}`, false,
		},
		"a failure says what was already done": {
			`input: {}
			steps: {
				read: http: {method: "GET", path: "/a"}
				make: http: {method: "POST", path: "/b"}
				next: http: {method: "GET", path: "/missing"}
			}`,
			`{}`, []string{`GET /v1/a`, `POST /v1/b`, `GET /v1/missing`},
			`{"error":"api answered 404 Not Found","status":404,"body":{"message":"no such thing"},"step":"next","done":["make: POST /v1/b answered 200 OK"]}`, true,
		},
		"jq makes nothing of a failure": {
			`input: {}
			steps: get: {http: {method: "GET", path: "/missing"}, jq: "error(\"jq saw \\(.)\")"}`,
			`{}`, []string{`GET /v1/missing`}, `{"error":"api answered 404 Not Found","status":404,"body":{"message":"no such thing"},"step":"get"}`, true,
		},
		"a member that a result lacks ends the call": {
			`input: {}
			steps: {
				me: http: {method: "GET", path: "/me"}
				do: http: {method: "POST", path: "/do", body: {a: steps.me.result.user.nothing}}
			}`,
			`{}`, []string{`GET /v1/me`}, `nothing`, true,
		},
		"each, in order": {
			`input: {labels?: [...string]}
			steps: {
				labels: each: [for l in input.labels {method: "POST", path: "/x/{l}/labels", vars: {"l": l}, body: name: l}]
			}
			response: jq: "[.steps.labels.result[].path]"`,
			`{"labels":["a","b c/é","d"]}`, nil, `["/v1/x/a/labels","/v1/x/b c/é/labels","/v1/x/d/labels"]`, false,
		},
		"each over an absent list is skipped": {
			`input: {labels?: [...string]}
			steps: {
				labels: each: [for l in input.labels {method: "POST", path: "/labels", body: name: l}]
			}`,
			`{}`, nil, `Nothing was sent`, false,
		},
		"one failure named by its index": {
			`input: {paths!: [...("a" | "bad")]}
			steps: {
				all: each: [for p in input.paths {method: "POST", path: "/{p}", vars: "p": p}]
			}`,
			`{"paths":["a","bad"]}`, []string{`POST /v1/a`, `POST /v1/bad`}, `"step":"all","index":1,"done":["all: POST /v1/a answered 200 OK"]}`, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, u, "t: {description: \"T\", action: \"create\", "+tt.tool+"}")
			r := p.Call(t.Context(), call.Caller{}, "t", json.RawMessage(tt.args))
			log := u.take()
			if tt.log != nil && !slices.Equal(log, tt.log) {
				// Requests of one list may arrive in any order.
				slices.Sort(log)
				want := slices.Sorted(slices.Values(tt.log))
				if !strings.Contains(tt.tool, "each:") || !slices.Equal(log, want) {
					t.Errorf("log:\n got %q\nwant %q", log, tt.log)
				}
			}
			if r.IsError != tt.isError || !strings.Contains(r.Content[0].Text, tt.want) {
				t.Errorf("result (error %t):\n got %s\nwant %s", r.IsError, r.Content[0].Text, tt.want)
			}
		})
	}
}

// TestStepFindings pins what vet says of steps.
func TestStepFindings(t *testing.T) {
	for name, tt := range map[string]struct {
		tool string
		want []string
	}{
		"later step": {
			`input: {}
			steps: {
				a: http: {method: "GET", path: "/a", query: x: steps.b.status}
				b: http: {method: "GET", path: "/b"}
			}`, []string{"14: refers to step b, which comes later"},
		},
		"never sent": {
			`input: {a?: string}
			steps: {
				a: http: {method: "GET", path: "/a"}
			}`, []string{"12: argument a is accepted and never sent"},
		},
		"path from data": {
			`input: {paths!: [...string]}
			steps: {
				a: each: [for p in input.paths {method: "GET", path: "/\(p)"}]
			}`, []string{"14: path must be literal"},
		},
		"path and method as members of what is sent": {
			`input: {paths!: [...string]}
			steps: {
				a: each: [for p in input.paths {method: "POST", path: "/x", query: path: p, body: {path: p, method: p}}]
			}`, nil,
		},
		"half-element": {
			`input: {ids!: [...int], note?: string}
			steps: {
				a: each: [for i in [1] {method: "POST", path: "/x", body: {"i": i, ids: input.ids, n: input.note}}]
			}`, []string{"14: element 0 of a list would be sent without a part"},
		},
		// A step that always runs has a result wherever it stands; another may have none.
		"element with a result": {
			`input: note?: string
			steps: {
				a: http: {method: "GET", path: "/a"}
				b: {when: input.note != _|_, http: {method: "GET", path: "/b"}}
				c: http: {method: "POST", path: "/c", body: [{id: steps.a.result.id}]}
				d: http: {method: "POST", path: "/d", body: [{id: steps.b.result.id}]}
			}`, []string{"17: element 0 of a list would be sent without a part"},
		},
		"http beside steps": {
			`input: {}
			http: {method: "GET", path: "/a"}
			steps: {
				a: http: {method: "GET", path: "/a"}
			}`, []string{"one of"},
		},
		"unknown step": {
			`input: {}
			steps: {
				first: http: {method: "GET", path: "/a"}
				b: http: {method: "GET", path: "/b", query: x: steps.frist.status}
			}`, []string{"15: first"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings := build(t, server("t: {description: \"T\", action: \"create\", "+tt.tool+"}"))
			if len(findings) != len(tt.want) {
				t.Fatalf("findings:\n%v\nwant %q", findings, tt.want)
			}
			for i, want := range tt.want {
				line, part, ok := strings.Cut(want, ": ")
				if !ok {
					line, part = fmt.Sprint(findings[i].Line), want
				}
				if fmt.Sprint(findings[i].Line) != line || !strings.Contains(findings[i].Message, part) {
					t.Errorf("\n got %v\nwant %s", findings[i], want)
				}
			}
		})
	}
}

func TestStepsDryRun(t *testing.T) {
	u := newUpstream(t)
	p := program(t, u, `t: {description: "T", action: "create", input: {skip?: bool, all?: bool}
		steps: {
			no: {when: input.skip, http: {method: "GET", path: "/no"}}
			me: http: {method: "GET", path: "/me"}
			do: http: {method: "POST", path: "/do/{id}", vars: id: steps.me.result.user.id, body: no: steps.no.result}
			all: {each: [for x in steps.do.result {method: "POST", path: "/all", body: v: x}], when: input.all, optional: true}
		}}
		l: {description: "L", action: "create", input: ids!: [...int], steps: put: each: [for i in input.ids {method: "PUT", path: "/l/{n}", vars: n: i}]}`)
	plan, r := p.Plan(t.Context(), call.Caller{}, "t", nil)
	if plan == nil {
		t.Fatal(exec.Reason(r))
	}
	want := []string{
		"then step do: POST /do/{id} at api, with values from the answer of me and of no",
		"then step all, a list of requests, made at the call, on a condition, may fail, with values from the answer of do",
	}
	if plan.Request.URL != u.URL+"/v1/me" || !slices.Equal(plan.Then, want) {
		t.Errorf("%s, then %q", plan.Request.URL, plan.Then)
	}
	plan, r = p.Plan(t.Context(), call.Caller{}, "l", []byte(`{"ids":[1,2,3]}`))
	if plan == nil {
		t.Fatal(exec.Reason(r))
	}
	if want := []string{"then 2 more of step put"}; plan.Request.URL != u.URL+"/v1/l/1" || !slices.Equal(plan.Then, want) {
		t.Errorf("%s, then %q", plan.Request.URL, plan.Then)
	}
	if log := u.take(); log != nil {
		t.Errorf("sent: %q", log)
	}
}

// TestRetryFindings pins what vet says of requests that are made again.
func TestRetryFindings(t *testing.T) {
	for retry, want := range map[string]string{
		`{on: ".message | contains(\"x\")", attempts: 6, backoff: "1s", maxBackoff: "1m"}`: "",
		`{on: "$args.a == 1"}`:          "", // a reference to the argument
		`{attempts: 2}`:                 "is missing, and required",
		`{on: ".["}`:                    "is no jq program",
		`{on: "$args.b"}`:               "$args.b is no argument of the tool",
		`{on: "true", attempts: 0}`:     "must be 1 to 100",
		`{on: "true", backoff: "soon"}`: "must be a duration",
		`{on: "true", backoff: "0s"}`:   "is no duration above zero",
		`{on: "true", maxBackof: "1s"}`: "maxBackoff",
		`{on: "true", when: true}`:      "there is no such field",
		`"409"`:                         "must be",
		`{on: input.a}`:                 "must be literal",
	} {
		t.Run(retry, func(t *testing.T) {
			found(t, `t: {description: "T", action: "create", input: a?: int, http: {method: "POST", path: "/x"}, response: retry: `+retry+`}`, want)
			found(t, `t: {description: "T", action: "create", input: a?: int, steps: s: {http: {method: "POST", path: "/x", body: input.a}, retry: `+retry+`}}`, want)
		})
	}
}
