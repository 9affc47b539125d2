package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// clientCredentials are those of most tests; the endpoint is on the host login.
func clientCredentials(t testing.TB) *ClientCredentials {
	return &ClientCredentials{TokenURL: mustURL(t, "http://localhost/token"), ClientID: Text{Literal: "the client"}, ClientSecret: Secret{Env: "TOKEN"}}
}

// authority is a token endpoint and an upstream that takes its tokens.
type authority struct {
	issued, requests atomic.Int32
	life             int          // of a token in seconds; 0 is not told
	revoked          atomic.Int32 // tokens up to this one
	form             url.Values   // of the last token request
	authorization    string       // of the last token request
	hold             chan struct{}
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		if a.hold != nil {
			<-a.hold
		}
		r.ParseForm()
		a.form, a.authorization = r.Form, r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"access-token-%d","token_type":"bearer"`, a.issued.Add(1))
		if a.life > 0 {
			fmt.Fprintf(w, `,"expires_in":%d`, a.life)
		}
		fmt.Fprint(w, "}")
		return
	}
	a.requests.Add(1)
	var n int32
	fmt.Sscanf(r.Header.Get("Authorization"), "Bearer access-token-%d", &n)
	if n <= a.revoked.Load() {
		w.WriteHeader(401)
	}
	fmt.Fprint(w, n)
}

// TestOAuth2 shows what the token request holds, that a token serves until
// shortly before its end, and that a changed secret gets a new one.
func TestOAuth2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Auth = &Auth{OAuth2: clientCredentials(t)}
		u.Auth.OAuth2.Scopes, u.Auth.OAuth2.Params = []string{"read", "write"}, url.Values{"audience": {"x&y"}}
		secret := token
		c := newClient(t, Options{Getenv: func(string) (string, bool) { return secret, true }}, u)
		a := &authority{life: 600}
		pipes(t, c, a.ServeHTTP)
		call := func(want string) {
			t.Helper()
			r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
			if err != nil || string(r.Body) != want {
				t.Errorf("got %v, %v, want token %s", r, err, want)
			}
		}
		call("1")
		call("1")
		if got := a.form.Encode(); got != "audience=x%26y&grant_type=client_credentials&scope=read+write" {
			t.Errorf("the token request holds %s", got)
		}
		if want := "Basic " + basic("the+client", url.QueryEscape(token)); a.authorization != want {
			t.Errorf("got %s, want %s", a.authorization, want)
		}
		for _, shown := range []string{a.authorization, "access-token-1", token, url.QueryEscape(token)} {
			if got := c.Scrub(shown); !strings.HasSuffix(got, masked) || len(got) > len("Basic "+masked) {
				t.Errorf("%s is shown as %s", shown, got)
			}
		}
		time.Sleep(569 * time.Second)
		call("1")
		time.Sleep(2 * time.Second) // 29 s are left
		call("2")
		secret = "another secret"
		call("3")
		if got := c.Preview(get(u, "/x")); headerOf(got, "Authorization") != "Bearer ***" {
			t.Errorf("Preview shows %v", got.Header)
		}
		if got := c.AuthHint("api", 401); got != `the upstream "api" refused the credentials from env TOKEN` {
			t.Error(got)
		}
	})
}

func TestOAuth2InBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Auth = &Auth{OAuth2: clientCredentials(t)}
		u.Auth.OAuth2.InBody, u.Auth.OAuth2.ClientID = true, Text{Secret: &Secret{Env: "USER_NAME"}}
		c := newClient(t, Options{}, u)
		a := &authority{}
		pipes(t, c, a.ServeHTTP)
		if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
			t.Fatal(err)
		}
		if a.authorization != "" || a.form.Get("client_id") != "service-user" || a.form.Get("client_secret") != token {
			t.Errorf("got %q, %v", a.authorization, a.form)
		}
		time.Sleep(unknownLife - renewBefore - time.Second)
		if r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil || string(r.Body) != "1" {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

// TestOAuth2Together shows that calls which need a token at once share one
// request for it, and that a wait for it ends with the call.
func TestOAuth2Together(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Auth = &Auth{OAuth2: clientCredentials(t)}
		c := newClient(t, Options{}, u)
		a := &authority{hold: make(chan struct{})}
		pipes(t, c, a.ServeHTTP)
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil || string(r.Body) != "1" {
					t.Errorf("got %v, %v", r, err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Do(ctx, get(u, "/x"), CallOptions{})
		if e := wantKind(t, err, TimedOut); e.Message != `the credentials for the upstream "api" could not be had within 1s` || e.Sent {
			t.Errorf("got %+v", e)
		}
		close(a.hold)
		calls.Wait()
		if a.issued.Load() != 1 || a.requests.Load() != 20 {
			t.Errorf("%d tokens for %d requests", a.issued.Load(), a.requests.Load())
		}
	})
}

// TestOAuth2Renewal shows what a 401 does: an old token is replaced, idempotent
// calls are made again with the new one, others are not.
func TestOAuth2Renewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Auth = &Auth{OAuth2: clientCredentials(t)}
		c := newClient(t, Options{}, u)
		a := &authority{life: 3600}
		pipes(t, c, a.ServeHTTP)
		for _, tt := range []struct {
			revoked    int32
			idempotent bool
			status     int
			body       string
			requests   int32
		}{
			{0, true, 200, "1", 1},
			{1, true, 200, "2", 2},
			{2, false, 401, "2", 1},
			{2, false, 200, "3", 1},
			{1000, true, 401, "4", 2}, // a new token helps no more than the old one
			{1000, true, 401, "5", 2},
		} {
			time.Sleep(time.Second)
			a.revoked.Store(tt.revoked)
			a.requests.Store(0)
			r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Idempotent: tt.idempotent})
			if err != nil || r.Status != tt.status || string(r.Body) != tt.body || a.requests.Load() != tt.requests {
				t.Errorf("%+v: got %v, %v after %d requests", tt, r, err, a.requests.Load())
			}
		}
	})
}

// TestOAuth2FailOpen shows that without a token nothing is sent to the upstream,
// and that the error says why without showing anything.
func TestOAuth2FailOpen(t *testing.T) {
	answer := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Location", "http://elsewhere.example/token")
			w.WriteHeader(status)
			user, password, _ := r.BasicAuth()
			io.WriteString(w, strings.NewReplacer("USER", user, "PASSWORD", password).Replace(body))
		}
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"refused", answer(401, "application/json", `{"error":"invalid_client","error_description":"no client USER with PASSWORD"}`), `it answered 401 "invalid_client" "no client service-user with ***"`},
		{"refused with 200", answer(200, "application/json", `{"error":"invalid_scope"}`), `it answered 200 "invalid_scope"`},
		{"broken", answer(500, "text/html", "PASSWORD"), "it answered 500"},
		{"redirect", answer(307, "text/plain", ""), "it answered 307"},
		{"no token", answer(200, "application/json", `{"token_type":"bearer"}`), "its answer holds none"},
		{"no JSON", answer(200, "application/json", `PASSWORD`), "its answer holds none"},
		{"another type", answer(200, "application/json", `{"access_token":"aaaaaaaaaaaa","token_type":"mac"}`), `the token is of the type "mac", and only Bearer is known`},
		{"short", answer(200, "application/json", `{"access_token":"a","token_type":"bearer"}`), "the token cannot be used: it is shorter than 8 bytes"},
		{"lines", answer(200, "application/json", `{"access_token":"aaaaaaaa\r\nX-Evil: 1","token_type":"bearer"}`), "the token cannot be used: it holds a line break"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}, "end of data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			login, api := record(t, tt.answer), record(t, nil)
			u := api.upstream(t)
			u.Auth = &Auth{OAuth2: &ClientCredentials{TokenURL: mustURL(t, login.URL+"/token"), ClientID: Text{Literal: "service-user"}, ClientSecret: Secret{Env: "TOKEN"}}}
			_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{Idempotent: true})
			e := wantKind(t, err, SecretUnreadable)
			if want := "env TOKEN: no access token from " + strings.TrimPrefix(login.URL, "http://") + ": " + tt.want; !strings.Contains(e.Message, want) || e.Sent || len(api.got()) != 0 {
				t.Errorf("got %+v, want %s", e, want)
			}
			if strings.Contains(e.Message, url.QueryEscape(token)) || strings.Contains(e.Message, "lost") {
				t.Errorf("the message shows the secret: %s", e.Message)
			}
		})
	}
	api := record(t, nil)
	for _, tt := range []struct {
		name, tokenURL, want string
		id                   Text
		secret               Secret
	}{
		{"unset", "http://localhost:1/token", "env UNSET: it is not set; env EMPTY: it is empty", Text{Secret: &Secret{Env: "UNSET"}}, Secret{Env: "EMPTY"}},
		{"metadata", "https://169.254.169.254/token", "169.254.169.254 is a link-local address, where nothing is ever sent", Text{Literal: "me"}, Secret{Env: "TOKEN"}},
		{"gone", "http://127.0.0.1:1/token", "connection refused", Text{Literal: "me"}, Secret{Env: "TOKEN"}},
	} {
		u := api.upstream(t)
		u.Auth = &Auth{OAuth2: &ClientCredentials{TokenURL: mustURL(t, tt.tokenURL), ClientID: tt.id, ClientSecret: tt.secret}}
		_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
		if e := wantKind(t, err, SecretUnreadable); !strings.Contains(e.Message, tt.want) || len(api.got()) != 0 {
			t.Errorf("%s: got %+v", tt.name, e)
		}
	}
}

func TestOAuth2Check(t *testing.T) {
	web := func(s string) *url.URL { return mustURL(t, s) }
	up := func(o *ClientCredentials) Upstream {
		return Upstream{Name: fmt.Sprint(len(o.Scopes)), URL: web("https://x"), Auth: &Auth{OAuth2: o}}
	}
	_, err := New([]Upstream{
		up(&ClientCredentials{}),
		up(&ClientCredentials{Scopes: make([]string, 1), TokenURL: web("ftp://x"), ClientID: Text{Literal: "a", Secret: &Secret{Env: "A"}}, ClientSecret: Secret{Env: "A"}}),
		up(&ClientCredentials{Scopes: make([]string, 2), TokenURL: web("https://me@x"), ClientID: Text{Literal: "a"}, ClientSecret: Secret{Env: "A"},
			Params: url.Values{"grant_type": nil, "scope": nil}}),
	}, Options{})
	want := `upstream "0": auth: oauth2: the tokenUrl needs a host
upstream "0": auth: oauth2: the clientId is given once, literally or as a secret
upstream "0": header Authorization: a secret needs exactly one of env, file, exec and inboundHeader
upstream "1": auth: oauth2: the scheme of the tokenUrl must be http or https
upstream "1": auth: oauth2: the clientId is given once, literally or as a secret
upstream "2": auth: oauth2: the tokenUrl must not hold credentials or a fragment
upstream "2": auth: oauth2: grant_type is not for params to set
upstream "2": auth: oauth2: scope is not for params to set`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
