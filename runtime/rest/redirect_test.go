package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// TestRedirectSameOrigin pins redirect with the option: methods, bodies and
// credentials on the way, and what still is refused.
func TestRedirectSameOrigin(t *testing.T) {
	other := record(t, nil)
	for _, tt := range []struct {
		name, method, location string
		status                 int
		then                   string // method, path and body of the second request
		refused                string
	}{
		{"301 GET", "GET", "/base/new?x=1#top", 301, "GET /base/new?x=1 ", ""},
		{"302 GET", "GET", "new", 302, "GET /base/new ", ""},
		{"303 GET", "GET", "/base/new", 303, "GET /base/new ", ""},
		{"301 POST", "POST", "/base/new", 301, "GET /base/new ", ""},
		{"302 POST", "POST", "/base/new", 302, "GET /base/new ", ""},
		{"303 POST", "POST", "/base/new", 303, "GET /base/new ", ""},
		{"307 POST", "POST", "/base/new", 307, "POST /base/new {}", ""},
		{"308 POST", "POST", "/base/new", 308, "POST /base/new {}", ""},
		{"301 PUT", "PUT", "/base/new", 301, "PUT /base/new {}", ""},
		{"302 DELETE", "DELETE", "/base/new", 302, "DELETE /base/new {}", ""},
		{"303 PUT", "PUT", "/base/new", 303, "GET /base/new ", ""},
		{"303 HEAD", "HEAD", "/base/new", 303, "HEAD /base/new ", ""},
		{"encoded", "GET", "/base/a%2Fb?q=%2F", 302, "GET /base/a%2Fb?q=%2F ", ""},

		{"another origin", "GET", other.URL + "/base/new", 302, "", "its URL is not at http://127.0.0.1:"},
		{"another host", "GET", "//evil.example/base/new", 302, "", "its URL is not at http://127.0.0.1:"},
		{"another scheme", "GET", "https://HOST/base/new", 302, "", "its URL is not at http://127.0.0.1:"},
		{"above the base", "GET", "/new", 302, "", "its path is not below /base"},
		{"dots", "GET", "../new", 302, "", "its path is not below /base"},
		{"hidden dots", "GET", "/base/%2e%2e/new", 302, "", "its path is not below /base"},
		{"user info", "GET", "http://me:pw@HOST/base/new", 302, "", "its URL holds more than"},
		{"script", "GET", "javascript:alert(1)", 302, "", "its URL holds more than"},
		{"unreadable", "GET", "http://[bad", 302, "", "there is nowhere to go"},
		{"nowhere", "GET", "", 302, "", "there is nowhere to go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := record(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/base/old" {
					if tt.location != "" {
						w.Header().Set("Location", strings.ReplaceAll(tt.location, "HOST", r.Host))
					}
					w.WriteHeader(tt.status)
					return
				}
				fmt.Fprint(w, "new")
			})
			u := s.upstream(t)
			u.Redirects, u.Auth = SameOrigin, &Auth{Header: &Named{"X-API-Key", Secret{Env: "TOKEN"}}}
			req := &bind.HTTP{Upstream: "api", Method: tt.method, URL: u.URL.String() + "/old",
				Header: []bind.Header{{Name: "X-Mine", Value: "1"}}}
			if tt.method != "GET" && tt.method != "HEAD" {
				req.Body = []byte("{}")
				req.Header = append(req.Header, bind.Header{Name: "Content-Type", Value: "application/json"})
			}
			r, err := newClient(t, Options{}, u).Do(t.Context(), req, CallOptions{})
			if tt.refused != "" {
				e := wantKind(t, err, RedirectRefused)
				if !strings.Contains(e.Message, "which is not followed: "+tt.refused) || len(s.got()) != 1 || e.Status != tt.status {
					t.Errorf("got %+v", e)
				}
				return
			}
			if err != nil || r.Status != 200 {
				t.Fatalf("got %v, %v", r, err)
			}
			got := s.got()[1]
			if g := got.Method + " " + got.URI + " " + got.Body; g != tt.then {
				t.Errorf("got %q, want %q", g, tt.then)
			}
			if got.Header.Get("X-Api-Key") != token || got.Header.Get("X-Mine") != "1" || (got.Header.Get("Content-Type") != "") != (got.Body != "") {
				t.Errorf("got headers %v", got.Header)
			}
		})
	}
	if len(other.got()) != 0 {
		t.Error("a redirect to another origin was followed")
	}
}

// TestRedirectLoop shows that redirects in a circle end.
func TestRedirectLoop(t *testing.T) {
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.RequestURI)
		w.WriteHeader(302)
	})
	u := s.upstream(t)
	// The credential is echoed in Location each time; it is neither doubled nor shown.
	u.Redirects, u.Auth = SameOrigin, &Auth{Query: &Named{"api key", Secret{Env: "TOKEN"}}}
	_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x?a=%2F&b"), CallOptions{})
	e := wantKind(t, err, RedirectRefused)
	got := s.got()
	if len(got) != maxRedirects+1 || !strings.HasSuffix(e.Message, "as 5 before it were") {
		t.Errorf("%d requests, then %v", len(got), e)
	}
	if first, last := got[0].URI, got[len(got)-1].URI; first != last || strings.Count(last, "api+key=") != 1 {
		t.Errorf("the first request was %s, the last %s", first, last)
	}
}

func TestRedirectsCheck(t *testing.T) {
	_, err := New([]Upstream{{Name: "api", URL: mustURL(t, "https://x"), Redirects: "all"}}, Options{})
	if err == nil || err.Error() != `upstream "api": redirects must be "same-origin", or left out` {
		t.Errorf("got %v", err)
	}
}
