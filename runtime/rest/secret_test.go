package rest

import (
	"io/fs"
	"net/url"
	"slices"
	"testing"
)

// TestAbsent shows what is told of things that are not there: secrets in variables
// and files, wherever an upstream names one, and the files of TLS. No command is
// run for it, and what only a call brings is not missed.
func TestAbsent(t *testing.T) {
	web := func(s string) *url.URL { return mustURL(t, s) }
	o := Options{
		Getenv: func(name string) (string, bool) {
			v, ok := map[string]string{"THERE": "a secret that is there", "SHORT": "short"}[name]
			return v, ok
		},
		ReadFile: func(name string) ([]byte, error) {
			if name == "/there" {
				return []byte("what is there\nin two lines"), nil
			}
			return nil, fs.ErrNotExist
		},
	}
	c := newClient(t, o,
		Upstream{Name: "there", URL: web("https://a.example"), Auth: &Auth{Bearer: &Secret{Env: "THERE"}}, TLS: &TLS{CAFile: "/there"}},
		Upstream{Name: "none", URL: web("https://a.example")},
		Upstream{Name: "later", URL: web("https://a.example"), Auth: &Auth{Header: &Named{"X-Key", Secret{InboundHeader: "X-Their-Key"}}},
			SecretHeaders: []Named{{"X-Tenant", Secret{Exec: []string{"/nowhere/command"}}}}},
		Upstream{Name: "absent", URL: web("https://a.example"),
			Auth:          &Auth{OAuth2: &ClientCredentials{TokenURL: web("https://b.example"), ClientID: Text{Secret: &Secret{Env: "ID"}}, ClientSecret: Secret{File: "/nowhere/secret"}}},
			SecretHeaders: []Named{{"X-Tenant", Secret{Env: "SHORT"}}},
			Proxy:         &Proxy{URL: web("http://p.example"), Auth: &Basic{Password: Secret{Env: "PROXY"}}},
			TLS:           &TLS{CertFile: "/nowhere/client.pem", KeyFile: "/there"}},
	)
	for name, want := range map[string][]string{
		"there": nil, "none": nil, "later": nil, "nobody": nil,
		"absent": {
			"env ID: it is not set",
			"file /nowhere/secret: there is no such file",
			"env SHORT: it is shorter than 8 bytes",
			"env PROXY: it is not set",
			"file /nowhere/client.pem: there is no such file",
		},
	} {
		if got := c.Absent(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
