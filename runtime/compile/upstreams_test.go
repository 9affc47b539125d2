package compile

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/rest"
)

func loadUpstream(t *testing.T, upstream string) (*load.Config, []string) {
	t.Helper()
	src := "package c\n\nserver: name: \"s\"\nupstreams: api: {\n" + upstream + "\n}\n" +
		"domains: d: {description: \"D\", tools: t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}}}\n"
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(src)}}, "test", load.Options{})
	if len(findings) == 0 {
		_, findings = Compile(cfg, Options{})
	}
	var told []string
	for _, f := range findings.Sorted() {
		told = append(told, fmt.Sprintf("%d %s: %s", f.Line, f.Path, f.Message))
	}
	return cfg, told
}

// TestUpstreamFields shows that every field of an upstream reaches the client.
func TestUpstreamFields(t *testing.T) {
	parse := func(s string) *url.URL {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	base := rest.Upstream{Name: "api", URL: parse("https://api.example/v1"), Timeout: rest.DefaultTimeout}
	for upstream, want := range map[string]func(*rest.Upstream){
		`timeout: "5s", maxBytes: 7, concurrency: 3, redirects: "same-origin"`: func(u *rest.Upstream) {
			u.Timeout, u.MaxBytes, u.Concurrency, u.Redirects = 5*time.Second, 7, 3, rest.SameOrigin
		},
		`retry: {}`: func(u *rest.Upstream) { u.Retry = &rest.Retry{} },
		`retry: {attempts: 4, backoff: "1s", maxBackoff: "1m"}`: func(u *rest.Upstream) {
			u.Retry = &rest.Retry{Attempts: 4, Backoff: time.Second, MaxBackoff: time.Minute}
		},
		`rate: {perSecond: 0.5, burst: 2}`: func(u *rest.Upstream) { u.Rate = &rest.Rate{PerSecond: 0.5, Burst: 2} },
		`rate: perSecond: 10`:              func(u *rest.Upstream) { u.Rate = &rest.Rate{PerSecond: 10} },
		`cache: {}`:                        func(u *rest.Upstream) { u.Cache = &rest.Cache{} },
		`cache: {maxAge: "1m", maxBytes: 9}`: func(u *rest.Upstream) {
			u.Cache = &rest.Cache{MaxAge: time.Minute, MaxBytes: 9}
		},
		`tls: {caFile: "/ca", certFile: "/cert", keyFile: "/key"}`: func(u *rest.Upstream) {
			u.TLS = &rest.TLS{CAFile: "/ca", CertFile: "/cert", KeyFile: "/key"}
		},
		`tls: insecureSkipVerify: true`: func(u *rest.Upstream) { u.TLS = &rest.TLS{InsecureSkipVerify: true} },
		`network: {allowPlaintextAuth: true, allowPrivate: true}`: func(u *rest.Upstream) {
			u.AllowPlaintextAuth, u.AllowPrivate = true, true
		},
		`network: proxy: {url: "http://proxy.example:3128", auth: {username: "u", password: env: "P"}}`: func(u *rest.Upstream) {
			u.Proxy = &rest.Proxy{URL: parse("http://proxy.example:3128"), Auth: &rest.Basic{Username: rest.Text{Literal: "u"}, Password: rest.Secret{Env: "P"}}}
		},
		`auth: basic: {username: file: "/u", password: exec: ["cmd", "a"]}`: func(u *rest.Upstream) {
			u.Auth = &rest.Auth{Basic: &rest.Basic{Username: rest.Text{Secret: &rest.Secret{File: "/u"}}, Password: rest.Secret{Exec: []string{"cmd", "a"}}}}
		},
		`auth: bearer: inboundHeader: "X-Token"`: func(u *rest.Upstream) {
			u.Auth = &rest.Auth{Bearer: &rest.Secret{InboundHeader: "X-Token"}}
		},
		`auth: header: {name: "X-Key", value: env: "K"}, headers: "X-More": env: "M"`: func(u *rest.Upstream) {
			u.Auth = &rest.Auth{Header: &rest.Named{Name: "X-Key", Value: rest.Secret{Env: "K"}}}
			u.SecretHeaders = []rest.Named{{Name: "X-More", Value: rest.Secret{Env: "M"}}}
		},
		`auth: query: {name: "key", value: env: "K"}`: func(u *rest.Upstream) {
			u.Auth = &rest.Auth{Query: &rest.Named{Name: "key", Value: rest.Secret{Env: "K"}}}
		},
		`auth: oauth2: {tokenUrl: "https://login.example/token", clientId: "me", clientSecret: env: "S", scopes: ["a", "b"], params: audience: "x", inBody: true}`: func(u *rest.Upstream) {
			u.Auth = &rest.Auth{OAuth2: &rest.ClientCredentials{TokenURL: parse("https://login.example/token"), ClientID: rest.Text{Literal: "me"},
				ClientSecret: rest.Secret{Env: "S"}, Scopes: []string{"a", "b"}, Params: url.Values{"audience": {"x"}}, InBody: true}}
		},
	} {
		cfg, findings := loadUpstream(t, `url: "https://api.example/v1", `+upstream)
		if len(findings) > 0 {
			t.Errorf("%s: %s", upstream, strings.Join(findings, "\n"))
			continue
		}
		got := (&compiler{cfg: cfg}).readUpstreams()
		expected := base
		want(&expected)
		if !reflect.DeepEqual(got, []rest.Upstream{expected}) {
			t.Errorf("%s:\n got %+v\nwant %+v", upstream, got, expected)
		}
	}
}

// TestUpstreamFindings pins that a wrong value is found where it stands, once.
func TestUpstreamFindings(t *testing.T) {
	for upstream, want := range map[string]string{
		"retry: {\nattempts: 0}":                                              `7 upstreams.api.retry.attempts: must be 1 to 100, not 0`,
		"retry: {\nbackoff: \"soon\"}":                                        `7 upstreams.api.retry.backoff: must be a duration`,
		"retry: {\nbackof: \"1s\"}":                                           `7 upstreams.api.retry.backof: there is no such field; did you mean backoff`,
		"rate: {\nburst: 2}":                                                  `6 upstreams.api.rate.perSecond: is missing, and required`,
		"rate: {\nperSecond: 0}":                                              `7 upstreams.api.rate.perSecond: must be above 0`,
		"concurrency:\n0":                                                     `7 upstreams.api.concurrency: must be at least 1`,
		"redirects:\n\"all\"":                                                 `7 upstreams.api.redirects: must be one of "same-origin"`,
		"cache: {\nmaxAge: \"0s\"}":                                           `7 upstreams.api.cache.maxAge: "0s" is no duration above zero`,
		"tls: {\ncertFile: \"/c\"}":                                           `6 upstreams.api.tls: certFile and keyFile go together`,
		"tls: {\ncaFile: \"/c\"\ninsecureSkipVerify: true}":                   `6 upstreams.api.tls: caFile says whom to trust`,
		"network: proxy: {\nurl: \"ftp://p\"}":                                `7 upstreams.api.network.proxy.url: must begin with http`,
		"network: {\nproxy: url: \"http://u:secret@p:1\"}":                    `7 upstreams.api.network.proxy: credentials belong in auth, not in the URL`,
		"network: proxy: {url: \"http://p:1\", auth: {\npassword: exec: []}}": `7 upstreams.api.network.proxy.auth.password: exec needs a command`,
		"auth: {bearer: env: \"A\"\nbasic: password: env: \"B\"}":             `6 upstreams.api.auth: takes one of`,
		"auth: {\nbearer: inboundHeader: \"authorization\"}":                  `7 upstreams.api.auth.bearer: the header authorization is for this server alone`,
		"auth: {\nbearer: {env: \"A\", exec: [\"b\"]}}":                       `7 upstreams.api.auth.bearer: takes one of env, file, exec or inboundHeader, not env and exec together`,
		"auth: {\nbasic: {username: \"a:b\", password: env: \"P\"}}":          `7 upstreams.api.auth.basic: a user name must not hold a colon`,
		"auth: header: {\nname: \"Host\", value: env: \"P\"}":                 `7 upstreams.api.auth.header.name: the header Host is made by the HTTP client`,
		"auth: {\nquery: {name: \"\", value: env: \"P\"}}":                    `7 upstreams.api.auth.query.name: must not be empty, not ""`,
		"auth: oauth2: {\ntokenUrl: \"https://u:secret@l\", clientId: \"i\", clientSecret: env: \"P\"}":                   `6 upstreams.api.auth.oauth2: the tokenUrl must not hold credentials`,
		"auth: oauth2: {clientSecret: env: \"P\", clientId: \"i\"\ntokenUrl: \"https://[\"}":                              `7 upstreams.api.auth.oauth2.tokenUrl: missing ']' in host`,
		"auth: oauth2: {\ntokenUrl: \"https://l\", clientId: \"i\", clientSecret: env: \"P\"\nparams: grant_type: \"x\"}": `6 upstreams.api.auth.oauth2: grant_type is not for params to set`,
		"auth: bearer: env: \"A\"\nheaders: {\nauthorization: env: \"B\"}":                                                `4 upstreams.api: the header authorization is given by two secrets`,
		"headers: {\n\"X-A\": inboundHeader: \"cookie\"}":                                                                 `7 upstreams.api.headers."X-A": the header cookie is for this server alone`,
		"auth: oauth2: {clientSecret: env: \"P\", clientId: \"i\"\ntokenUrl: \"http://login.example\"}":                   `7 upstreams.api.auth.oauth2.tokenUrl: credentials are not sent over plain http to login.example`,
	} {
		_, got := loadUpstream(t, "url: \"https://api.example/v1\"\n"+upstream)
		place, part, _ := strings.Cut(want, ": ")
		if len(got) != 1 || !strings.HasPrefix(got[0], place+": ") || !strings.Contains(got[0], part) {
			t.Errorf("%s:\n got %s\nwant %s", upstream, strings.Join(got, "\n     "), want)
		}
		if strings.Contains(strings.Join(got, ""), "secret@") {
			t.Errorf("%s: a password is shown: %s", upstream, got)
		}
	}
}

// TestUpstreamFromOutside pins that what is wrong with --upstream is said of it, in
// one line, and that a password in it is not shown.
func TestUpstreamFromOutside(t *testing.T) {
	cfg, _ := loadUpstream(t, `url: "https://api.example"`)
	_, findings := Compile(cfg, Options{Upstreams: map[string]string{"api": "ftp://me:s3cr3t@x//a//b"}})
	const want = "--upstream api: the URL must begin with http:// or https://; credentials belong in auth, not in the URL; the path has an empty segment"
	if len(findings) != 1 || findings[0].Message != want {
		t.Errorf("got %v, want %q", findings, want)
	}
}

// TestPlaintextFromConfiguration pins that an upstream whose every call would be
// refused, since its credentials do not go over plain http, is a finding.
func TestPlaintextFromConfiguration(t *testing.T) {
	const want = "credentials are not sent over plain http to stock.corp: use https, or set network: allowPlaintextAuth: true"
	_, got := loadUpstream(t, "url: \"http://stock.corp\"\nauth: bearer: env: \"TOKEN\"")
	if len(got) != 1 || got[0] != "5 upstreams.api.url: "+want {
		t.Errorf("got %q", got)
	}
	cfg, _ := loadUpstream(t, `url: "https://api.example", auth: bearer: env: "TOKEN"`)
	_, findings := Compile(cfg, Options{Upstreams: map[string]string{"api": "http://stock.corp"}})
	if len(findings) != 1 || findings[0].Path != "upstreams.api.url" || findings[0].Message != "--upstream api: "+want {
		t.Errorf("got %v", findings)
	}
}

// What others put a setting into a text by is told with what does so here.
func TestPlaceholders(t *testing.T) {
	for url, want := range map[string]string{
		"http://${HOST}/v1":         `invalid character "{" in host name; ${HOST} is text in CUE: a setting is declared beside, _host: string @tag(host), and put in by \(_host)`,
		"http://{{ .host }}/v1":     `invalid character "{" in host name; {{ .host }} is text in CUE`,
		"http://$HOST/v1":           `the host $HOST is none; $HOST is text in CUE`,
		"http://%s/v1":              `invalid URL escape "%s"; %s is text in CUE`,
		"https://h/Orders('%d')":    `invalid URL escape "%d'"`,
		"http://u:${SECRET}@api/v1": `net/url: invalid userinfo`,
	} {
		_, got := loadUpstream(t, fmt.Sprintf("url: %q", url))
		if len(got) != 1 || !strings.Contains(got[0], "upstreams.api.url: "+want) || strings.Contains(got[0], "SECRET") ||
			strings.Contains(got[0], "in CUE") != strings.Contains(want, "in CUE") {
			t.Errorf("%s:\n got %s\nwant %s", url, strings.Join(got, "\n     "), want)
		}
	}
}
