package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	config "github.com/metacue/metacue/cue"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/rest"
	"github.com/metacue/metacue/runtime/surface"
)

// recordedCall is one call of a tool and the requests that it makes.
type recordedCall struct {
	Tool      string    `json:"tool"` // name or alias
	Case      string    `json:"case"`
	Arguments any       `json:"arguments"`
	Requests  []message `json:"requests"`
}

func (c recordedCall) name() string { return c.Tool + "/" + c.Case }

// cannedAnswer is what the recorder answered to requests that fit: of several
// that fit the first.
type cannedAnswer struct {
	Method        string            `json:"method"`        // "" for any
	Path          string            `json:"path"`          // a regular expression, letter case aside
	Accept        string            `json:"accept"`        // a part of the Accept header
	Query         string            `json:"query"`         // a part of the query
	RequestHeader string            `json:"requestHeader"` // must be there
	Status        int               `json:"status"`        // 0 for 200
	Headers       map[string]string `json:"headers"`
	JSON          any               `json:"json"`
	Text          *string           `json:"text"`

	path *regexp.Regexp
}

// canned are the answers that take the place of the API.
type canned []cannedAnswer

// answer gives the answer to a request.
func (c canned) answer(m message) (cannedAnswer, bool) {
	for _, a := range c {
		var query []string
		for _, p := range m.Query {
			query = append(query, p[0]+"="+p[1])
		}
		if (a.Method == "" || a.Method == m.Method) && a.path.MatchString(m.Path) &&
			strings.Contains(m.Accept, a.Accept) && strings.Contains(strings.Join(query, "&"), a.Query) &&
			(a.RequestHeader == "" || a.RequestHeader == "If-Match" && m.IfMatch != "") {
			return a, true
		}
	}
	return cannedAnswer{}, false
}

// UnmarshalJSON reads one answer.
func (a *cannedAnswer) UnmarshalJSON(data []byte) error {
	type fields cannedAnswer
	if err := decodeJSON(data, (*fields)(a)); err != nil {
		return err
	}
	var err error
	a.path, err = regexp.Compile("(?i)" + a.Path)
	return err
}

// readJSON reads a file into v.
func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = decodeJSON(data, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// material gives a file of the calls that were recorded elsewhere, or skips.
func material(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("METACUE_ADO_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data", "ado")
	}
	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there: METACUE_ADO_DATA names the folder that holds it", file)
	}
	return file
}

// api stands for all hosts of Azure DevOps and keeps what reaches it.
type api struct {
	answers canned

	mu  sync.Mutex
	log []message
}

// ServeHTTP answers a request whose path begins with the host it is meant for.
func (s *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := received(r)
	s.mu.Lock()
	s.log = append(s.log, m)
	s.mu.Unlock()
	a, ok := s.answers.answer(m)
	if !ok {
		http.Error(w, `{"message":"there is no answer to this"}`, http.StatusNotFound)
		return
	}
	for name, v := range a.Headers {
		w.Header().Set(name, v)
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if a.Text != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(a.Status)
		_, _ = io.WriteString(w, *a.Text)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.Status)
	_ = json.NewEncoder(w).Encode(a.JSON)
}

// take gives what has been received since the last time.
func (s *api) take() []message {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

// received is a request as it is compared.
func received(r *http.Request) message {
	host, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	m := message{Method: r.Method, Host: host, Path: "/" + path, Accept: r.Header.Get("Accept"), ContentType: r.Header.Get("Content-Type"), IfMatch: r.Header.Get("If-Match")}
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		n, nerr := url.QueryUnescape(name)
		v, verr := url.QueryUnescape(value)
		if part != "" && nerr == nil && verr == nil {
			m.Query = append(m.Query, [2]string{n, v})
		}
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 && decodeJSON(body, &m.Body) != nil {
		m.Body = string(body)
	}
	return m
}

// players compiles the built-in configuration for the organization fakeorg,
// with one server for all hosts, and gives its flat surface.
func players(t *testing.T, answers canned) (*api, surface.Surface, *catalog.Catalog) {
	t.Helper()
	s, p := stage(t, answers)
	flat, err := surface.New("flat", p.Catalog, p.Call)
	if err != nil {
		t.Fatal(err)
	}
	return s, flat, p.Catalog
}

// stage compiles the built-in configuration as players does, and gives its program.
func stage(t *testing.T, answers canned) (*api, *exec.Program) {
	t.Helper()
	s := &api{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cfg, findings := load.FS(config.Files, "built-in", load.Options{Tags: map[string]string{"organization": "fakeorg"}})
	if len(findings) > 0 {
		t.Fatalf("findings:\n%v", findings)
	}
	upstreams := map[string]string{}
	for name, host := range map[string]string{
		"devops": "dev.azure.com", "identities": "vssps.dev.azure.com", "search": "almsearch.dev.azure.com",
		"security": "advsec.dev.azure.com", "results": "vstmr.dev.azure.com",
	} {
		upstreams[name] = server.URL + "/" + host + "/fakeorg"
	}
	p, findings := compile.Compile(cfg, compile.Options{
		Upstreams: upstreams,
		Rest:      rest.Options{Getenv: func(string) (string, bool) { return "the-token-of-a-test", true }},
	})
	if len(findings) > 0 {
		t.Fatalf("findings:\n%v", findings)
	}
	return s, p
}

// replay makes each call through the flat surface and compares what it sends.
// differing says of calls that may differ why; one that agrees is a fault.
func replay(t *testing.T, calls []recordedCall, answers canned, differing map[string]string) {
	s, flat, tools := players(t, answers)
	var agreed, differ int
	run := map[string]bool{}
	for _, c := range calls {
		t.Run(c.name(), func(t *testing.T) {
			run[c.name()] = true
			if _, ok := tools.Tool(c.Tool); !ok {
				t.Fatalf("there is no tool %s", c.Tool)
			}
			args, err := json.Marshal(c.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			result, err := flat.Call(t.Context(), call.Caller{}, c.Tool, args)
			if err != nil {
				t.Fatal(err)
			}
			got := s.take()
			var held []any
			for _, w := range c.Requests {
				if a, ok := answers.answer(w); ok {
					held = append(held, a.JSON)
				}
			}
			a := agree(got, c.Requests, askedBy(c.Arguments, held...))
			for _, n := range a.notes {
				t.Log(n)
			}
			reason, mayDiffer := differing[c.name()]
			if len(a.faults) == 0 {
				agreed++
				if mayDiffer {
					t.Errorf("agrees, though it is said to differ (%s)", reason)
				}
				return
			}
			differ++
			report := describe(c, got, a, result)
			if mayDiffer {
				t.Logf("%s\n  may differ: %s", report, reason)
			} else {
				t.Error(report)
			}
		})
	}
	t.Logf("%d of %d calls agree, %d differ", agreed, len(calls), differ)
	for name := range differing {
		if len(run) == len(calls) && !run[name] {
			t.Logf("there is no call %s that could differ", name)
		}
	}
}

// describe tells how a call differs.
func describe(c recordedCall, got []message, a agreement, result *mcp.CallToolResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", c.Tool, text(c.Arguments))
	for _, f := range a.faults {
		fmt.Fprintf(&b, "  %s\n", f)
	}
	for _, w := range c.Requests {
		fmt.Fprintf(&b, "  want %s\n", w)
	}
	for _, g := range got {
		fmt.Fprintf(&b, "  sent %s\n", g)
	}
	if result.IsError {
		for _, block := range result.Content {
			if t, ok := block.(*mcp.TextContent); ok {
				answer, _, _ := strings.Cut(t.Text, `,"inputSchema":`)
				fmt.Fprintf(&b, "  answer %s\n", answer)
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// recordedMayDiffer are the recorded calls that do not send what was recorded,
// and why. They are ten at most.
var recordedMayDiffer = map[string]string{
	"repo_vote_pull_request/-/min":  "the PUT of a vote replaces all of a reviewer: whether it is required is read before and sent along",
	"repo_vote_pull_request/-/full": "as above",
}

// TestReplay makes the calls that were recorded of the reference server, and
// compares the requests.
func TestReplay(t *testing.T) {
	var calls []recordedCall
	var answers canned
	readJSON(t, material(t, "recorded.json"), &calls)
	readJSON(t, material(t, "canned.json"), &answers)
	if len(recordedMayDiffer) > 10 {
		t.Errorf("%d recorded calls may differ", len(recordedMayDiffer))
	}
	replay(t, calls, answers, recordedMayDiffer)
}

// TestReplayOurs does the same with calls of our own, whose requests are those
// that the API's documentation asks for.
func TestReplayOurs(t *testing.T) {
	var ours struct {
		Answers canned         `json:"answers"`
		Calls   []recordedCall `json:"calls"`
	}
	readJSON(t, filepath.Join("testdata", "replay.json"), &ours)
	replay(t, ours.Calls, ours.Answers, nil)
}

// TestAgree holds the rules of comparison to what they forgive and what not.
func TestAgree(t *testing.T) {
	build := func(line string) (m message) {
		// method, path, query, Accept, If-Match, Content-Type, body
		f := strings.Split(line, "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		f = append(f, make([]string, 7-len(f))...)
		m = message{Method: f[0], Host: "dev.azure.com", Path: f[1], Accept: f[3], IfMatch: f[4], ContentType: f[5]}
		for part := range strings.SplitSeq(f[2], "&") {
			if name, value, ok := strings.Cut(part, "="); ok {
				m.Query = append(m.Query, [2]string{name, value})
			}
		}
		if f[6] != "" {
			if err := decodeJSON([]byte(f[6]), &m.Body); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	tests := []struct {
		name      string
		got, want []string
		arguments string
		agree     bool
	}{
		{"the same", []string{"GET | /o/a%20b/_apis/x | top=7"}, []string{"GET | /o/A%20B/_apis/X | top=7"}, `{"top":7}`, true},
		{"another method", []string{"PUT | /x"}, []string{"PATCH | /x"}, ``, false},
		{"another path", []string{"GET | /x/y"}, []string{"GET | /x/z"}, ``, false},
		{"nothing sent", nil, []string{"GET | /x"}, ``, false},
		{"nothing expected", []string{"GET | /x"}, nil, ``, false},
		{"twice", []string{"POST | /x", "POST | /x"}, []string{"POST | /x"}, ``, false},
		{"another order", []string{"POST | /x | | | | a/b | 1", "POST | /x | | | | a/b | 2"}, []string{"POST | /x | | | | a/b | 2", "POST | /x | | | | a/b | 1"}, ``, true},

		{"version in Accept", []string{"GET | /x | api-version=7.2-preview"}, []string{"GET | /x | | application/json;api-version=7.2-preview.3"}, ``, true},
		{"another version", []string{"GET | /x | api-version=7.2-preview"}, []string{"GET | /x | | application/json;api-version=7.1-preview.3"}, ``, false},
		{"no version", []string{"GET | /x"}, []string{"GET | /x | api-version=7.1"}, ``, false},
		{"If-Match", []string{"PUT | /x"}, []string{`PUT | /x | | | "1"`}, ``, false},
		{"JSON Patch as JSON", []string{"PATCH | /x | | | | application/json | []"}, []string{"PATCH | /x | | | | application/json-patch+json | []"}, ``, false},

		{"nobody asked", []string{"GET | /x"}, []string{"GET | /x | $expandIdentity=false&$top=100"}, `{"skip":5}`, true},
		{"asked by name", []string{"GET | /x"}, []string{"GET | /x | $top=100"}, `{"top":5}`, false},
		{"asked by value", []string{"GET | /x"}, []string{"GET | /x | filterValue=ada"}, `{"searchFilter":"ada"}`, false},
		{"asked by a list", []string{"GET | /x"}, []string{"GET | /x | ids=1,2"}, `{"numbers":[1,2]}`, false},
		{"asked by a date", []string{"GET | /x"}, []string{"GET | /x | minTime=Thu, 02 Jan 2025 03:04:05 GMT"}, `{"since":"2025-01-02T03:04:05Z"}`, false},
		{"one more parameter", []string{"GET | /x | a=1"}, []string{"GET | /x"}, ``, false},
		{"repeated for joined", []string{"GET | /x | a=1&a=2"}, []string{"GET | /x | a=1,2"}, ``, false},

		{"a name for a number", []string{"GET | /_apis/git/pullrequests | searchCriteria.status=Active"}, []string{"GET | /_apis/git/pullrequests | searchCriteria.status=1"}, ``, true},
		{"another name", []string{"GET | /_apis/git/pullrequests | searchCriteria.status=completed"}, []string{"GET | /_apis/git/pullrequests | searchCriteria.status=1"}, ``, false},
		{"no name of the enumeration", []string{"GET | /_apis/git/pullrequests | searchCriteria.status=open"}, []string{"GET | /_apis/git/pullrequests | searchCriteria.status=1"}, ``, false},
		{"a name where there is no enumeration", []string{"GET | /_apis/git/pullrequests | top=active"}, []string{"GET | /_apis/git/pullrequests | top=1"}, `{"top":1}`, false},
		{"flags", []string{"GET | /_apis/build/builds | reasonFilter=manual,individualCI"}, []string{"GET | /_apis/build/builds | reasonFilter=3"}, ``, true},
		{"a list of names", []string{"GET | /_apis/x/alerts | criteria.states=active,fixed"}, []string{"GET | /_apis/x/alerts | criteria.states=1,4"}, ``, true},
		{"a list of other names", []string{"GET | /_apis/x/alerts | criteria.states=active"}, []string{"GET | /_apis/x/alerts | criteria.states=1,4"}, ``, false},
		{"a name in the path", []string{"POST | /p/_apis/wit/classificationnodes/Iterations"}, []string{"POST | /p/_apis/wit/classificationnodes/1"}, ``, true},
		{"another name in the path", []string{"POST | /p/_apis/wit/classificationnodes/Areas"}, []string{"POST | /p/_apis/wit/classificationnodes/1"}, ``, false},
		{"a date", []string{"GET | /x | asOf=2025-01-02T04:04:05+01:00"}, []string{"GET | /x | asOf=Thu, 02 Jan 2025 03:04:05 GMT"}, ``, true},
		{"another date", []string{"GET | /x | asOf=2025-01-02"}, []string{"GET | /x | asOf=Thu, 02 Jan 2025 03:04:05 GMT"}, ``, false},

		{"a look-up left out", []string{"PUT | /x/1"}, []string{"GET | /_apis/connectionData", "PUT | /x/1"}, ``, true},
		{"a read that others follow", []string{"POST | /x/1"}, []string{"POST | /y/wiql", "POST | /x/1"}, ``, true},
		{"a write left out", []string{"PUT | /x/1"}, []string{"POST | /y", "PUT | /x/1"}, ``, false},
		{"the last read left out", []string{"PUT | /x/1"}, []string{"PUT | /x/1", "GET | /x/1"}, ``, false},
		{"a look-up more", []string{"GET | /y", "PUT | /x/1"}, []string{"PUT | /x/1"}, ``, false},

		{"one read in place of the list", []string{"GET | /repos/r%20x"}, []string{"GET | /repos"}, `{"repo":"r x"}`, true},
		{"another one read", []string{"GET | /repos/y"}, []string{"GET | /repos"}, `{"repo":"r x"}`, false},
		{"below the one", []string{"GET | /repos/x/refs"}, []string{"GET | /repos"}, `{"repo":"x"}`, false},

		{"a default on an update", []string{`PATCH | /x | | | | a/b | {"state":1}`}, []string{`PATCH | /x | | | | a/b | {"state":1,"force":false}`}, `{"status":1}`, true},
		{"asked for on an update", []string{`PATCH | /x | | | | a/b | {"state":1}`}, []string{`PATCH | /x | | | | a/b | {"state":1,"force":false}`}, `{"force":false}`, false},
		{"something on an update", []string{`PATCH | /x | | | | a/b | {"state":1}`}, []string{`PATCH | /x | | | | a/b | {"state":1,"by":"me"}`}, ``, false},
		{"a member on a creation", []string{`POST | /x | | | | a/b | {}`}, []string{`POST | /x | | | | a/b | {"isDraft":false}`}, ``, false},
		{"one more member", []string{`PATCH | /x | | | | a/b | {"isDraft":false}`}, []string{`PATCH | /x | | | | a/b | {}`}, ``, false},
		{"numbers", []string{`POST | /x | | | | a/b | [7, 9007199254740993]`}, []string{`POST | /x | | | | a/b | [7.0, 9007199254740993]`}, ``, true},
		{"other numbers", []string{`POST | /x | | | | a/b | 9007199254740992`}, []string{`POST | /x | | | | a/b | 9007199254740993`}, ``, false},
		{"text for a number", []string{`POST | /x | | | | a/b | "7"`}, []string{`POST | /x | | | | a/b | 7`}, ``, false},
		{"a list in another order", []string{`POST | /x | | | | a/b | [1,2]`}, []string{`POST | /x | | | | a/b | [2,1]`}, ``, false},
		{"XML with white space", []string{`POST | /x | | | | a/b | "<a b=\"1\"><c>x y</c></a>"`}, []string{`POST | /x | | | | a/b | "<a b='1'>\n <c>x y</c>\n</a>"`}, ``, true},
		{"other XML", []string{`POST | /x | | | | a/b | "<a><c>x  y</c></a>"`}, []string{`POST | /x | | | | a/b | "<a><c>x y</c></a>"`}, ``, false},
		{"an address encoded", []string{`POST | /x | | | | a/b | "https://h/My%20P/_apis/wit/workItems/7"`}, []string{`POST | /x | | | | a/b | "https://h/My P/_apis/wit/workItems/7"`}, ``, true},
		{"an artifact not encoded", []string{`POST | /x | | | | a/b | "vstfs:///Git/Ref/p/r"`}, []string{`POST | /x | | | | a/b | "vstfs:///Git/Ref/p%2Fr"`}, ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, want []message
			for _, m := range tt.got {
				got = append(got, build(m))
			}
			for _, m := range tt.want {
				want = append(want, build(m))
			}
			var arguments any
			if tt.arguments != "" {
				if err := decodeJSON([]byte(tt.arguments), &arguments); err != nil {
					t.Fatal(err)
				}
			}
			if a := agree(got, want, askedBy(arguments)); (len(a.faults) == 0) != tt.agree {
				t.Errorf("agree is %v: %q", !tt.agree, a.faults)
			}
		})
	}
}
