package rest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metacue/metacue/runtime/bind"
)

// versioned is an upstream whose one resource has a version, sent with the
// headers given.
type versioned struct {
	version  int
	header   map[string]string
	status   int // instead of 200
	requests []string
}

func (v *versioned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tag := fmt.Sprintf(`"v%d"`, v.version)
	if _, ok := v.header["Last-Modified"]; !ok {
		w.Header().Set("ETag", tag)
	}
	for name, value := range v.header {
		w.Header().Set(name, value)
	}
	w.Header().Set("X-Request", fmt.Sprint(len(v.requests)+1))
	condition := r.Header.Get("If-None-Match") + r.Header.Get("If-Modified-Since")
	v.requests = append(v.requests, condition)
	switch {
	case condition == tag || condition != "" && condition == v.header["Last-Modified"]:
		w.WriteHeader(304)
	case v.status != 0:
		w.WriteHeader(v.status)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "version %d", v.version)
	}
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Cache = &Cache{}
		c := newClient(t, Options{}, u)
		v := &versioned{version: 1}
		pipes(t, c, v.ServeHTTP)
		call := func(want string, conditions ...string) {
			t.Helper()
			v.requests = nil
			r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Read: true})
			if err != nil || string(r.Body) != want || r.Header.Get("X-Request") != "1" && len(conditions) > 0 {
				t.Errorf("got %+v, %v, want %s", r, err, want)
			}
			if err == nil && want != "" && (r.Status != 200 || r.MediaType != "text/plain" || r.Charset != "utf-8") {
				t.Errorf("got %+v", r)
			}
			if got := strings.Join(v.requests, "|"); got != strings.Join(conditions, "|") || len(v.requests) != len(conditions) {
				t.Errorf("the upstream was asked with %q, want %q", v.requests, conditions)
			}
			if err == nil {
				r.Header.Set("ETag", "spoilt") // which must not reach the kept one
			}
		}
		call("version 1", "")
		call("version 1", `"v1"`)
		call("version 1", `"v1"`)
		v.version = 2
		call("version 2", `"v1"`)
		call("version 2", `"v2"`)

		v.version, v.status = 3, 503 // a passing fault costs nothing that is kept
		call("", `"v2"`)
		v.version, v.status = 2, 0
		call("version 2", `"v2"`)
		v.version, v.status = 3, 404
		call("", `"v2"`)
		v.status = 0
		call("version 3", "")

		v.header = map[string]string{"Cache-Control": "private, No-Store"}
		v.version = 4
		call("version 4", `"v3"`)
		call("version 4", "")
		v.header = map[string]string{"Last-Modified": "Mon, 02 Jan 2006 15:04:05 GMT"}
		call("version 4", "")
		call("version 4", "Mon, 02 Jan 2006 15:04:05 GMT")
		v.header = map[string]string{"Last-Modified": ""}
		v.version = 5
		call("version 5", "Mon, 02 Jan 2006 15:04:05 GMT")
		call("version 5", "")

		// Without MaxAge the upstream is asked whatever it says.
		v.header = map[string]string{"Cache-Control": "max-age=3600"}
		call("version 5", "")
		call("version 5", `"v5"`)
	})
}

// TestCacheMaxAge shows how long an answer is given without asking: no longer
// than either side allows.
func TestCacheMaxAge(t *testing.T) {
	for _, tt := range []struct {
		control, age, vary string
		want               time.Duration
	}{
		{control: "max-age=10", want: 10 * time.Second},
		{control: `private, Max-Age="10"`, want: 10 * time.Second},
		{control: "max-age=3600", want: time.Minute},
		{control: "max-age=10", age: "4", want: 6 * time.Second},
		{control: "max-age=10", age: "40", want: 0},
		{control: "max-age=10, no-cache", want: 0},
		{control: "no-cache, max-age=10", want: 0},
		{control: "max-age=10", vary: "*", want: 0},
		{control: "max-age=soon", want: 0},
		{control: "", want: 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := inMemory(t)
			u.Cache = &Cache{MaxAge: time.Minute}
			c := newClient(t, Options{}, u)
			v := &versioned{version: 1, header: map[string]string{"Cache-Control": tt.control, "Age": tt.age, "Vary": tt.vary}}
			pipes(t, c, v.ServeHTTP)
			began := time.Now()
			for len(v.requests) < 2 {
				if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Read: true}); err != nil {
					t.Fatal(err)
				}
				if len(v.requests) < 2 {
					time.Sleep(time.Second)
				}
			}
			if got := time.Since(began); got != max(tt.want, time.Second) {
				t.Errorf("%+v: asked again after %s", tt, got)
			}
			if v.requests[1] != `"v1"` {
				t.Errorf("asked with %q", v.requests[1])
			}
		})
	}
}

// TestCacheAfterWrite shows that a kept answer from before a request that may have
// changed something, at whatever upstream, is not given without asking.
func TestCacheAfterWrite(t *testing.T) {
	u := inMemory(t)
	u.Cache = &Cache{MaxAge: time.Hour}
	other := u
	other.Name, other.Cache = "other", nil
	c := newClient(t, Options{}, u, other)
	v := &versioned{version: 1, header: map[string]string{"Cache-Control": "max-age=3600"}}
	fails := false
	pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			v.ServeHTTP(w, r)
			return
		}
		v.version++
		if fails {
			panic(http.ErrAbortHandler)
		}
	})
	read := func(want string, asked int) {
		t.Helper()
		v.requests = nil
		r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Read: true})
		if err != nil || string(r.Body) != want || len(v.requests) != asked {
			t.Errorf("got %+v, %v, want %s; asked %d times, want %d", r, err, want, len(v.requests), asked)
		}
	}
	write := func(u Upstream, ok bool) {
		t.Helper()
		req := get(u, "/y")
		req.Method = "PUT"
		if _, err := c.Do(t.Context(), req, CallOptions{}); (err == nil) != ok {
			t.Fatal(err)
		}
	}
	read("version 1", 1)
	read("version 1", 0)
	write(u, true)
	read("version 2", 1)
	read("version 2", 0)
	write(other, true)
	read("version 3", 1)
	fails = true
	write(u, false) // and yet it was done
	read("version 4", 1)
	read("version 4", 0)
	v.version++ // by somebody else
	read("version 4", 0)
}

// TestCacheKey shows that a kept answer serves no other URL, no other header, no
// other credential, no write, and no request with conditions of its own.
func TestCacheKey(t *testing.T) {
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"same"`)
		w.Header().Set("Cache-Control", "max-age=3600")
		// In upper case nobody knows it for a secret.
		io.WriteString(w, strings.ToUpper(r.URL.String()+r.Header.Get("Accept")+r.Header.Get("X-Key")))
	})
	u := s.upstream(t)
	u.Cache = &Cache{MaxAge: time.Hour}
	u.Auth = &Auth{Header: &Named{"X-Key", Secret{InboundHeader: "X-Mine"}}}
	q := u
	q.Name, q.Auth = "query", &Auth{Query: &Named{"key", Secret{InboundHeader: "X-Mine"}}}
	c := newClient(t, Options{}, u, q)
	one, two := http.Header{"X-Mine": {"caller-one"}}, http.Header{"X-Mine": {"caller-two"}}
	accept := func(value string) []bind.Header { return []bind.Header{{Name: "Accept", Value: value}} }
	for i, tt := range []struct {
		path, method string
		header       []bind.Header
		inbound      http.Header
		read, asked  bool
	}{
		{"/x", "GET", nil, one, true, true},
		{"/x", "GET", nil, one, true, false},
		{"/x", "GET", nil, two, true, true},
		{"/x", "GET", nil, two, true, false},
		{"/x", "GET", nil, one, true, false},
		{"/x?a", "GET", nil, one, true, true},
		{"/x", "GET", accept("text/plain"), one, true, true},
		{"/x", "GET", accept("text/plain"), one, true, false},
		{"/x", "GET", nil, one, false, true},
		{"/x", "POST", nil, one, true, true},
		{"/x", "HEAD", nil, one, true, true},
		{"/x", "GET", []bind.Header{{Name: "Range", Value: "bytes=0-1"}}, one, true, true},
		{"/x", "GET", []bind.Header{{Name: "If-None-Match", Value: `"mine"`}}, one, true, true},
	} {
		before := len(s.got())
		req := get(u, tt.path)
		req.Method, req.Header = tt.method, tt.header
		r, err := c.Do(t.Context(), req, CallOptions{Read: tt.read, Inbound: tt.inbound})
		if err != nil {
			t.Fatal(err)
		}
		if asked := len(s.got()) > before; asked != tt.asked {
			t.Errorf("%d: the upstream was asked: %v", i, asked)
		}
		if tt.method == "GET" && !strings.HasSuffix(string(r.Body), strings.ToUpper(tt.inbound.Get("X-Mine"))) {
			t.Errorf("%d: got the answer of another caller: %s", i, r.Body)
		}
	}
	for _, inbound := range []http.Header{one, two, one} {
		r, err := c.Do(t.Context(), get(q, "/x"), CallOptions{Read: true, Inbound: inbound})
		if err != nil || !strings.Contains(string(r.Body), strings.ToUpper("key="+inbound.Get("X-Mine"))) {
			t.Errorf("got the answer of another caller: %s, %v", r.Body, err)
		}
	}
}

// TestCacheSize shows that what is kept stays within its bound, and that what
// was used longest ago goes.
func TestCacheSize(t *testing.T) {
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(304)
			return
		}
		size := 5000
		if r.URL.Path == "/base/large" {
			size = 50_000
		}
		io.WriteString(w, strings.Repeat("x", size))
	})
	u := s.upstream(t)
	u.Cache = &Cache{MaxBytes: 20_000}
	c := newClient(t, Options{}, u)
	for i, tt := range []struct {
		path string
		kept bool
	}{
		{"/1", false}, {"/2", false}, {"/3", false}, {"/1", true}, {"/4", false}, // /2 goes
		{"/1", true}, {"/3", true}, {"/4", true}, {"/2", false}, // /1 goes
		{"/large", false}, {"/large", false}, {"/3", true}, {"/4", true}, {"/2", true}, {"/1", false},
	} {
		r, err := c.Do(t.Context(), get(u, tt.path), CallOptions{Read: true})
		if err != nil || r.Status != 200 || len(r.Body) < 5000 {
			t.Fatal(r, err)
		}
		all := s.got()
		if kept := all[len(all)-1].Header.Get("If-None-Match") != ""; kept != tt.kept {
			t.Errorf("request %d, %s: kept is %v", i, tt.path, kept)
		}
	}
	if _, err := New([]Upstream{{Name: "api", URL: u.URL, Cache: &Cache{MaxAge: -1}}}, Options{}); err == nil || err.Error() != `upstream "api": cache: no number may be negative` {
		t.Errorf("got %v", err)
	}
}
