package rest

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

func TestAuthKinds(t *testing.T) {
	secret := Secret{Env: "TOKEN"}
	for _, tt := range []struct {
		name   string
		auth   *Auth
		extra  []Named
		header map[string]string
		query  string
	}{
		{name: "none"},
		{name: "bearer", auth: &Auth{Bearer: &secret}, header: map[string]string{"Authorization": "Bearer " + token}},
		{name: "header", auth: &Auth{Header: &Named{"X-API-Key", secret}}, header: map[string]string{"X-Api-Key": token}},
		{name: "query", auth: &Auth{Query: &Named{"api key", secret}}, query: "&api+key=" + url.QueryEscape(token)},
		{name: "basic without user", auth: &Auth{Basic: &Basic{Password: secret}},
			header: map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(":"+token))}},
		{name: "basic", auth: &Auth{Basic: &Basic{Username: Text{Literal: "me"}, Password: secret}},
			header: map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+token))}},
		{name: "basic with secret user", auth: &Auth{Basic: &Basic{Username: Text{Secret: &Secret{Env: "USER_NAME"}}, Password: secret}},
			header: map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("service-user:"+token))}},
		{name: "secret headers", auth: &Auth{Bearer: &secret}, extra: []Named{{"X-Tenant", Secret{Env: "USER_NAME"}}},
			header: map[string]string{"Authorization": "Bearer " + token, "X-Tenant": "service-user"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := record(t, nil)
			u := s.upstream(t)
			u.Auth, u.SecretHeaders = tt.auth, tt.extra
			c := newClient(t, Options{}, u)
			req := get(u, "/x?a=1")
			before := *req
			if _, err := c.Do(t.Context(), req, CallOptions{}); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*req, before) {
				t.Errorf("Do changed the request to %+v", *req)
			}
			got := s.got()[0]
			if want := "/base/x?a=1" + tt.query; got.URI != want {
				t.Errorf("got %s, want %s", got.URI, want)
			}
			for _, name := range []string{"Authorization", "X-Api-Key", "X-Tenant"} {
				if got.Header.Get(name) != tt.header[name] {
					t.Errorf("%s: got %q, want %q", name, got.Header.Get(name), tt.header[name])
				}
			}

			// What is shown differs from what is sent in the secrets alone.
			shown := c.Preview(req)
			if want := req.URL + replaced(tt.query, url.QueryEscape(token)); shown.URL != want {
				t.Errorf("Preview shows %s, want %s", shown.URL, want)
			}
			for name, value := range tt.header {
				scheme, _, ok := strings.Cut(value, " ")
				want := masked
				if ok {
					want = scheme + " " + masked
				}
				if v := headerOf(shown, name); v != want {
					t.Errorf("Preview shows %s: %s, want %s", name, v, want)
				}
			}
		})
	}
}

func replaced(s, secret string) string { return strings.ReplaceAll(s, secret, masked) }

func headerOf(r *bind.HTTP, name string) string {
	var all []string
	for _, h := range r.Header {
		if strings.EqualFold(h.Name, name) {
			all = append(all, h.Value)
		}
	}
	return strings.Join(all, ",")
}

func TestPreviewReadsNoSecret(t *testing.T) {
	u := Upstream{Name: "api", URL: mustURL(t, "https://api.example/base"), Auth: &Auth{Bearer: &Secret{Env: "TOKEN"}}}
	c := newClient(t, Options{UserAgent: "metacue/1", Getenv: func(string) (string, bool) { t.Error("a secret was read"); return "", false }}, u)
	req := &bind.HTTP{Upstream: "api", Method: "POST", URL: "https://api.example/base/x", Body: []byte("{}"),
		Header: []bind.Header{{Name: "Content-Type", Value: "application/json"}}}
	want := []bind.Header{
		{Name: "Content-Type", Value: "application/json"},
		{Name: "User-Agent", Value: "metacue/1"},
		{Name: "Authorization", Value: "Bearer ***"},
	}
	if got := c.Preview(req); !reflect.DeepEqual(got.Header, want) || got.URL != req.URL || string(got.Body) != "{}" {
		t.Errorf("got %+v", got)
	}
	elsewhere := get(u, "")
	elsewhere.URL = "https://evil.example/base/x"
	if v := headerOf(c.Preview(elsewhere), "Authorization"); v != "" {
		t.Errorf("Preview attaches %q to a request that may not go out", v)
	}
	if got := c.Preview(&bind.HTTP{Upstream: "other", URL: "x"}); got.URL != "x" {
		t.Errorf("got %+v", got)
	}
}

// TestCredentialScope pins credential-scope: credentials go to their upstream's
// origin, below its base path, and nowhere else; the request cannot set them.
func TestCredentialScope(t *testing.T) {
	s := record(t, nil)
	other := record(t, nil)
	u := s.upstream(t)
	u.Auth = &Auth{Bearer: &Secret{Env: "TOKEN"}}
	u.SecretHeaders = []Named{{"X-Tenant", Secret{Env: "USER_NAME"}}}
	q := s.upstream(t)
	q.Name, q.Auth = "query", &Auth{Query: &Named{"key", Secret{Env: "TOKEN"}}}
	plain := other.upstream(t)
	plain.Name = "other"
	c := newClient(t, Options{}, u, q, plain)

	host := u.URL.Host
	for _, tt := range []struct{ name, url string }{
		{"another host", "http://localhost:1/base/x"},
		{"another port", other.URL + "/base/x"},
		{"another scheme", "https://" + host + "/base/x"},
		{"no scheme", "//" + host + "/base/x"},
		{"relative", "/base/x"},
		{"user info", "http://me@" + host + "/base/x"},
		{"host in user info", "http://" + host + "@evil.example/base/x"},
		{"above the base path", "http://" + host + "/other"},
		{"beside the base path", "http://" + host + "/basement"},
		{"dot segments", "http://" + host + "/base/../other"},
		{"encoded dot segments", "http://" + host + "/base/%2e%2E/other"},
		{"single dot", "http://" + host + "/base/./x"},
		{"fragment", "http://" + host + "/base/x#y"},
		{"empty fragment", "http://" + host + "/base/x#"},
		{"control character", "http://" + host + "/base/x\x01"},
		{"broken escape", "http://" + host + "/base/%zz"},
		{"not normal", "http://" + host + "/base/a b"},
		{"empty", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Do(t.Context(), &bind.HTTP{Upstream: "api", Method: "GET", URL: tt.url}, CallOptions{})
			if e := wantKind(t, err, BadRequest); e.Sent {
				t.Error("the error says that something was sent")
			}
		})
	}
	for _, h := range []bind.Header{
		{Name: "authorization", Value: "Bearer other"}, {Name: "x-tenant", Value: "other"}, {Name: "Host", Value: "evil.example"},
		{Name: "Transfer-Encoding", Value: "chunked"}, {Name: "Content-Length", Value: "0"}, {Name: "Connection", Value: "Authorization"},
		{Name: "X-A", Value: "1\r\nX-B: 2"}, {Name: "X A", Value: "1"}, {Name: "", Value: "1"},
	} {
		t.Run("header "+h.Name, func(t *testing.T) {
			req := get(u, "/x")
			req.Header = []bind.Header{h}
			_, err := c.Do(t.Context(), req, CallOptions{})
			wantKind(t, err, BadRequest)
		})
	}
	for _, method := range []string{"", "GET /", "G\r\nET"} {
		req := get(u, "/x")
		req.Method = method
		_, err := c.Do(t.Context(), req, CallOptions{})
		wantKind(t, err, BadRequest)
	}
	_, err := c.Do(t.Context(), get(q, "/x?key=mine"), CallOptions{})
	if e := (*Error)(nil); !errors.As(err, &e) || e.Kind != BadRequest {
		t.Errorf("a request that sets the credential's parameter: got %v", err)
	}
	_, err = c.Do(t.Context(), &bind.HTTP{Upstream: "nobody", Method: "GET", URL: s.URL}, CallOptions{})
	if e := (*Error)(nil); !errors.As(err, &e) || e.Kind != BadRequest {
		t.Errorf("an unknown upstream: got %v", err)
	}
	if n := len(s.got()) + len(other.got()); n != 0 {
		t.Fatalf("%d of the requests reached an upstream", n)
	}

	// The upstream itself is reached, and the other one is sent nothing of it.
	for _, path := range []string{"", "/", "/x", "/x?next=http://evil.example/../", "//evil.example/x", "/a%2Fb"} {
		if _, err := c.Do(t.Context(), get(u, path), CallOptions{}); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	inbound := http.Header{"Authorization": {"Bearer of the caller"}, "X-Tenant": {"of the caller"}}
	if _, err := c.Do(t.Context(), get(plain, "/x"), CallOptions{Inbound: inbound}); err != nil {
		t.Fatal(err)
	}
	if h := other.got()[0].Header; h.Get("Authorization") != "" || h.Get("X-Tenant") != "" {
		t.Errorf("credentials reached the other upstream: %v", h)
	}
}

// TestBasePath pins base-path: with and without its slash the base binds whole
// segments.
func TestBasePath(t *testing.T) {
	for _, tt := range []struct {
		base, path string
		want       bool
	}{
		{"", "", true}, {"", "/x", true}, {"/", "/x", true}, {"", "x", false},
		{"/a", "/a", true}, {"/a", "/a/", true}, {"/a", "/a/b", true}, {"/a/", "/a/b", true}, {"/a/", "/a", true},
		{"/a", "/ab", false}, {"/a", "/b", false}, {"/a", "/", false}, {"/a", "", false}, {"/a", "/A/b", false},
		{"/a", "/a/../b", false}, {"/a", "/a/b/..", false}, {"/a", "/a/%2e%2e/b", false}, {"/a", "/a/.%2E", false}, {"/a", "/a/.", false},
		{"/a", "/a/...", true}, {"/a", "/a/..b", true}, {"/a", "/a/%2Fb", true}, {"/a%20b", "/a%20b/c", true}, {"/a%20b", "/a/c", false},
	} {
		if got := below(tt.path, tt.base); got != tt.want {
			t.Errorf("below(%q, %q) = %v", tt.path, tt.base, got)
		}
	}
}

// TestFailOpen pins fail-open: without a usable secret nothing is sent, and the
// error names each reference that failed.
func TestFailOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		name string
		auth Auth
		want []string
	}{
		{"unset", Auth{Bearer: &Secret{Env: "UNSET"}}, []string{"env UNSET: it is not set"}},
		{"empty", Auth{Bearer: &Secret{Env: "EMPTY"}}, []string{"env EMPTY: it is empty"}},
		{"short", Auth{Header: &Named{"X-Key", Secret{Env: "SHORT"}}}, []string{"env SHORT: it is shorter than 8 bytes"}},
		{"lines", Auth{Query: &Named{"key", Secret{Env: "LINES"}}}, []string{"env LINES: it holds a line break"}},
		{"no file", Auth{Bearer: &Secret{File: filepath.Join(dir, "none")}}, []string{"file " + filepath.Join(dir, "none") + ": there is no such file"}},
		{"a directory", Auth{Bearer: &Secret{File: dir}}, []string{"file " + dir + ": the file cannot be read"}},
		{"empty file", Auth{Bearer: &Secret{File: write("blank", " \n\n")}}, []string{"it is empty"}},
		{"file of lines", Auth{Bearer: &Secret{File: write("lines", "one\ntwo\nthree\n")}}, []string{"it holds a line break"}},
		{"both of basic", Auth{Basic: &Basic{Username: Text{Secret: &Secret{Env: "UNSET"}}, Password: Secret{Env: "EMPTY"}}},
			[]string{"env UNSET: it is not set", "env EMPTY: it is empty"}},
		{"colon in the user name", Auth{Basic: &Basic{Username: Text{Secret: &Secret{File: write("colon", "user:name")}}, Password: Secret{Env: "TOKEN"}}},
			[]string{"must not hold a colon"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := record(t, nil)
			u := s.upstream(t)
			u.Auth, u.SecretHeaders = &tt.auth, []Named{{"X-Also", Secret{Env: "MISSING_TOO"}}}
			_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
			e := wantKind(t, err, SecretUnreadable)
			for _, want := range append(tt.want, "env MISSING_TOO: it is not set", "nothing was sent") {
				if !strings.Contains(e.Message, want) {
					t.Errorf("the message %q does not say %q", e.Message, want)
				}
			}
			if strings.ContainsAny(e.Message, "\r\n") {
				t.Errorf("the message %q has lines", e.Message)
			}
			if n := len(s.got()); n != 0 || e.Sent {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

// TestSecretsAreReadEachTime shows that a rotated secret counts from the next
// call on, and that a file's trailing white space does not.
func TestSecretsAreReadEachTime(t *testing.T) {
	s := record(t, nil)
	u := s.upstream(t)
	content := "first-token \r\n\n"
	u.Auth = &Auth{Bearer: &Secret{File: "/run/secrets/x"}}
	c := newClient(t, Options{ReadFile: func(name string) ([]byte, error) { return []byte(content), nil }}, u)
	for _, next := range []string{"second-token", ""} {
		if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
			t.Fatal(err)
		}
		content = next
	}
	got := s.got()
	if a, b := got[0].Header.Get("Authorization"), got[1].Header.Get("Authorization"); a != "Bearer first-token" || b != "Bearer second-token" {
		t.Errorf("got %q, then %q", a, b)
	}
	if got := c.Scrub("first-token second-token"); got != "*** ***" {
		t.Errorf("Scrub gives %q: the older value may still be echoed", got)
	}
}

func TestPlaintextAuth(t *testing.T) {
	const https = "https://api.example/base"
	bearer := func(string) *Auth { return &Auth{Bearer: &Secret{Env: "TOKEN"}} }
	oauth := func(to string) *Auth {
		return &Auth{OAuth2: &ClientCredentials{TokenURL: mustURL(t, to), ClientID: Text{Literal: "me"}, ClientSecret: Secret{Env: "TOKEN"}}}
	}
	none := func(string) *Auth { return nil }
	for _, tt := range []struct {
		url     string
		auth    func(string) *Auth
		token   string
		allow   bool
		refused string // the field
	}{
		{"http://api.example/base", bearer, "", false, "url"},
		{"http://192.0.2.1/base", bearer, "", false, "url"},
		{"http://localhost.example/base", bearer, "", false, "url"},
		{"http://api.example/base", bearer, "", true, ""},
		{"http://api.example/base", none, "", false, ""},
		{https, bearer, "", false, ""},
		{"http://localhost:1/base", bearer, "", false, ""},
		{"http://127.0.0.1:1/base", bearer, "", false, ""},
		{"http://127.9.9.9:1/base", bearer, "", false, ""},
		{"http://[::1]:1/base", bearer, "", false, ""},
		{https, oauth, "http://login.example/token", false, "auth: oauth2: tokenUrl"},
		{https, oauth, "http://login.example/token", true, ""},
		{https, oauth, "http://localhost:1/token", false, ""},
		{https, oauth, "https://login.example/token", false, ""},
	} {
		_, err := New([]Upstream{{Name: "api", URL: mustURL(t, tt.url), Auth: tt.auth(tt.token), AllowPlaintextAuth: tt.allow}}, Options{})
		switch {
		case tt.refused == "" && err != nil:
			t.Errorf("%s %s: got %v", tt.url, tt.token, err)
		case tt.refused == "":
		case err == nil || !strings.HasPrefix(err.Error(), `upstream "api": `+tt.refused+": credentials are not sent over plain http") ||
			!strings.Contains(err.Error(), "network: allowPlaintextAuth: true"):
			t.Errorf("%s %s: got %v, want one about %s", tt.url, tt.token, err, tt.refused)
		}
	}
	_, err := New([]Upstream{{Name: "api", URL: mustURL(t, "http://api.example"), SecretHeaders: []Named{{"X-Key", Secret{Env: "KEY"}}}}}, Options{})
	if err == nil {
		t.Error("a header with a secret goes out over plain http")
	}
}

func TestAuthHint(t *testing.T) {
	devops := Upstream{Name: "devops", URL: mustURL(t, "https://dev.example"), Auth: &Auth{Basic: &Basic{Password: Secret{Env: "AZURE_DEVOPS_PAT"}}}}
	two := Upstream{Name: "two", URL: mustURL(t, "https://two.example"), Auth: &Auth{Bearer: &Secret{File: "/run/secrets/x"}},
		SecretHeaders: []Named{{"X-Key", Secret{Env: "KEY"}}}}
	none := Upstream{Name: "none", URL: mustURL(t, "https://none.example")}
	c := newClient(t, Options{}, devops, two, none)
	for _, tt := range []struct {
		upstream string
		status   int
		want     string
	}{
		{"devops", 401, `the upstream "devops" refused the credentials from env AZURE_DEVOPS_PAT`},
		{"devops", 403, `the upstream "devops" does not allow this with the credentials from env AZURE_DEVOPS_PAT`},
		{"devops", 404, ""},
		{"two", 401, `the upstream "two" refused the credentials from file /run/secrets/x, env KEY`},
		{"none", 401, `the upstream "none" has no auth configured`},
		{"nobody", 401, ""},
	} {
		if got := c.AuthHint(tt.upstream, tt.status); got != tt.want {
			t.Errorf("%s %d: got %q, want %q", tt.upstream, tt.status, got, tt.want)
		}
	}
}

// TestNew shows that all faults of all upstreams are told at once.
func TestNew(t *testing.T) {
	secret := Secret{Env: "TOKEN"}
	web := func(s string) *url.URL { return mustURL(t, s) }
	_, err := New([]Upstream{
		{Name: "a"},
		{Name: "b", URL: web("ftp://x"), Timeout: -1, MaxBytes: -1},
		{Name: "c", URL: web("https:///x")},
		{Name: "d", URL: web("https://me:pw@x")},
		{Name: "e", URL: web("https://x?y=1")},
		{Name: "f", URL: web("https://x"), Auth: &Auth{}},
		{Name: "g", URL: web("https://x"), Auth: &Auth{Bearer: &secret, Query: &Named{"q", secret}}},
		{Name: "h", URL: web("https://x"), Auth: &Auth{Bearer: &Secret{}}},
		{Name: "i", URL: web("https://x"), Auth: &Auth{Bearer: &Secret{Env: "A", File: "b"}}},
		{Name: "j", URL: web("https://x"), Auth: &Auth{Header: &Named{"X Key", secret}}},
		{Name: "k", URL: web("https://x"), Auth: &Auth{Header: &Named{"Host", secret}}},
		{Name: "l", URL: web("https://x"), Auth: &Auth{Query: &Named{"", secret}}},
		{Name: "m", URL: web("https://x"), Auth: &Auth{Bearer: &secret}, SecretHeaders: []Named{{"authorization", secret}}},
		{Name: "n", URL: web("https://x"), Auth: &Auth{Basic: &Basic{Username: Text{Literal: "a:b", Secret: &secret}, Password: secret}}},
		{Name: "o", URL: web("https://x")},
		{Name: "o", URL: web("https://x")},
		{Name: "p", URL: web("http://x"), TLS: &TLS{CertFile: "c", CAFile: "d", InsecureSkipVerify: true}},
		{Name: "q", URL: web("https://x"), Proxy: &Proxy{}},
		{Name: "r", URL: web("https://x"), Proxy: &Proxy{URL: web("ftp://p"), Auth: &Basic{Username: Text{Literal: "a:b"}}}},
		{Name: "s", URL: web("https://x"), Proxy: &Proxy{URL: web("http://me:pw@p")}},
	}, Options{})
	want := `upstream "a": url is missing
upstream "b": url: the scheme must be http or https
upstream "b": timeout must not be negative
upstream "b": maxBytes must not be negative
upstream "c": url: the host is missing
upstream "d": url: credentials belong in auth, not in the URL
upstream "e": url: the base of requests has no query and no fragment
upstream "f": auth: exactly one kind must be given
upstream "g": auth: exactly one kind must be given
upstream "h": header Authorization: a secret needs exactly one of env, file, exec and inboundHeader
upstream "i": header Authorization: a secret needs exactly one of env, file, exec and inboundHeader
upstream "j": "X Key" is no header name (RFC 9110 §5.6.2)
upstream "k": the header Host belongs to the connection and cannot be set
upstream "l": auth: the query parameter needs a name
upstream "m": the header authorization is given by two secrets
upstream "n": auth: basic: a user name must not hold a colon (RFC 7617 §2); the user name is given both literally and as a secret
upstream "o": the name is given twice
upstream "p": tls: certFile and keyFile go together
upstream "p": tls: caFile says whom to trust and insecureSkipVerify to trust anyone
upstream "p": tls: the url is plain http
upstream "q": proxy: the host is missing
upstream "r": proxy: the scheme must be http, https or socks5
upstream "r": proxy: auth: a user name must not hold a colon (RFC 7617 §2)
upstream "r": proxy: auth: a secret needs exactly one of env, file, exec and inboundHeader
upstream "s": proxy: credentials belong in auth, not in the URL`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
