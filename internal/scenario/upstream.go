package scenario

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/metacue/metacue/internal/sample"
	"github.com/rogpeppe/go-internal/testscript"
)

// Route is one canned answer of an upstream. The first route that matches a
// request answers it; a request that none matches gets 404 and a JSON object
// that says so.
type Route struct {
	// Method is the method to match; empty matches any.
	Method string `json:"method"`
	// Path is the path to match, as it came, encoded: the whole of it, or a
	// regular expression when it begins with ^.
	Path string `json:"path"`
	// Query is the query to match, as it came; nil matches any.
	Query *string `json:"query"`
	// With holds request headers to match.
	With map[string]string `json:"with"`
	// Times is how often the route answers, after which it matches no more; 0
	// means always.
	Times int `json:"times"`

	// Status is the answer's; 0 means 200.
	Status int `json:"status"`
	// Headers are the answer's.
	Headers map[string]string `json:"headers"`
	// JSON, Text or Base64 is the body: JSON as it stands in the file.
	JSON   json.RawMessage `json:"json"`
	Text   string          `json:"text"`
	Base64 []byte          `json:"base64"`

	path *regexp.Regexp
}

// ParseRoutes reads a JSON array of routes. A member that Route lacks is an
// error.
func ParseRoutes(data []byte) ([]*Route, error) {
	var routes []*Route
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&routes); err != nil {
		return nil, err
	}
	for i, r := range routes {
		if !strings.HasPrefix(r.Path, "^") {
			continue
		}
		path, err := regexp.Compile(r.Path)
		if err != nil {
			return nil, fmt.Errorf("route %d: %v", i, err)
		}
		r.path = path
	}
	return routes, nil
}

func (r *Route) matches(req *http.Request) bool {
	path, query, _ := strings.Cut(req.RequestURI, "?")
	if r.Method != "" && r.Method != req.Method {
		return false
	}
	if r.path != nil && !r.path.MatchString(path) || r.path == nil && r.Path != path {
		return false
	}
	if r.Query != nil && *r.Query != query {
		return false
	}
	for name, value := range r.With {
		if req.Header.Get(name) != value {
			return false
		}
	}
	return true
}

func (r *Route) answer(w http.ResponseWriter) {
	body, contentType := []byte(r.Text), "text/plain; charset=utf-8"
	switch {
	case r.JSON != nil:
		body, contentType = r.JSON, "application/json"
	case r.Base64 != nil:
		body, contentType = r.Base64, "application/octet-stream"
	}
	if len(body) > 0 {
		w.Header().Set("Content-Type", contentType)
	}
	for name, value := range r.Headers {
		w.Header().Set(name, value)
	}
	status := r.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	w.Write(body)
}

// routesHandler answers by the routes.
func routesHandler(routes []*Route) http.Handler {
	var mu sync.Mutex // guards left
	left := map[*Route]int{}
	for _, r := range routes {
		left[r] = r.Times
	}
	match := func(req *http.Request) *Route {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range routes {
			if !r.matches(req) || r.Times > 0 && left[r] == 0 {
				continue
			}
			left[r]--
			return r
		}
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r := match(req); r != nil {
			r.answer(w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		json.NewEncoder(w).Encode(map[string]string{"message": "no route for " + req.Method + " " + req.RequestURI})
	})
}

// upstream is a running server and the log of what reached it.
type upstream struct {
	server *httptest.Server

	mu  sync.Mutex
	log []string
}

// startUpstream starts a handler on a loopback port of the system's choice.
func startUpstream(h http.Handler) *upstream {
	u := &upstream{}
	u.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		entry := logEntry(req, body)
		u.mu.Lock()
		u.log = append(u.log, entry)
		u.mu.Unlock()
		req.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, req)
	}))
	return u
}

// logged are the headers that a log shows, beside all that begin with X-.
var logged = []string{"Accept", "Authorization", "Content-Type", "If-Match", "If-None-Match"}

// secretHeader finds the headers whose value a log must not show.
var secretHeader = regexp.MustCompile(`(?i)(key|token|secret)$`)

// logEntry describes a request so that two runs give the same text: the request
// target as it came, headers by name, the body to the byte.
func logEntry(req *http.Request, body []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", req.Method, req.RequestURI)
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		if !slices.Contains(logged, name) && !strings.HasPrefix(name, "X-") {
			continue
		}
		for _, value := range req.Header[name] {
			switch {
			case name == "Authorization":
				scheme, _, _ := strings.Cut(value, " ")
				value = scheme + " ***"
			case secretHeader.MatchString(name):
				value = "***"
			}
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	switch {
	case len(body) == 0:
	case utf8.Valid(body):
		fmt.Fprintf(&b, "\n%s\n", body)
	default:
		fmt.Fprintf(&b, "\nbase64 %s\n", base64.StdEncoding.EncodeToString(body))
	}
	return b.String()
}

func cmdUpstream(ts *testscript.TestScript, neg bool, args []string) {
	unsupportedNeg(ts, neg, "upstream")
	st := stateOf(ts)
	switch {
	case len(args) >= 1 && args[0] == "log":
		u := st.upstream(ts, args[1:])
		u.mu.Lock()
		defer u.mu.Unlock()
		fmt.Fprint(ts.Stdout(), strings.Join(u.log, "\n"))
	case len(args) >= 1 && args[0] == "clear":
		u := st.upstream(ts, args[1:])
		u.mu.Lock()
		defer u.mu.Unlock()
		u.log = nil
	case len(args) == 2:
		routes, err := ParseRoutes([]byte(ts.ReadFile(args[1])))
		if err != nil {
			ts.Fatalf("%s: %v", args[1], err)
		}
		st.serve(ts, args[0], routesHandler(routes), "")
	default:
		ts.Fatalf("usage: upstream VAR routes.json | upstream log|clear [VAR]")
	}
}

func cmdSample(ts *testscript.TestScript, neg bool, args []string) {
	unsupportedNeg(ts, neg, "sample")
	if len(args) != 1 {
		ts.Fatalf("usage: sample VAR")
	}
	org := sample.New(sample.Options{PAT: ts.Getenv("AZURE_DEVOPS_PAT")})
	stateOf(ts).serve(ts, args[0], org, "/"+sample.Name)
}

// serve starts an upstream and puts its URL, with a path behind it, into a
// variable.
func (st *state) serve(ts *testscript.TestScript, name string, h http.Handler, path string) {
	if st.upstreams[name] != nil {
		ts.Fatalf("there is an upstream %s already", name)
	}
	u := startUpstream(h)
	st.upstreams[name] = u
	st.setenv(ts, name, u.server.URL+path)
}

// upstream finds the one that args name, or the only one.
func (st *state) upstream(ts *testscript.TestScript, args []string) *upstream {
	switch {
	case len(args) == 0 && len(st.upstreams) == 1:
		for _, u := range st.upstreams {
			return u
		}
	case len(args) == 1 && st.upstreams[args[0]] != nil:
		return st.upstreams[args[0]]
	}
	ts.Fatalf("name one upstream of %v", slices.Sorted(maps.Keys(st.upstreams)))
	return nil
}
