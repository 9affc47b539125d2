package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/expr"
	"github.com/metacue/metacue/runtime/rest"
)

// upstream is what requests take from theirs.
type upstream struct {
	base    *url.URL
	query   []bind.Field
	headers []bind.Field
	timeout time.Duration
	// strip names the query parameter that holds the credentials, if one does.
	strip []string
	// faulty says that there are findings about it.
	faulty bool
	// sealed names the headers that hold credentials.
	sealed []string
}

// request is the beginning of every request to the upstream.
func (u *upstream) request(name string) bind.Request {
	return bind.Request{Upstream: name, Base: u.base, BaseQuery: u.query, BaseHeaders: u.headers, Strip: u.strip}
}

// secrets tells which fields of a region of a request, query or headers, stand in
// the place of the upstream's credentials: such a request is never sent.
func (u *upstream) secrets(region string, fields []bind.Field, tell func(field, why string)) {
	for _, f := range fields {
		switch {
		case region == "query" && slices.Contains(u.strip, f.Name):
			tell(f.Name, "the query parameter "+f.Name+" holds the upstream's credentials: auth alone sets it")
		case region == "headers" && slices.ContainsFunc(u.sealed, func(name string) bool { return strings.EqualFold(name, f.Name) }):
			tell(f.Name, "the header "+f.Name+" holds the upstream's credentials: auth alone sets it")
		}
	}
}

// interpolation is how other languages put a setting into a text.
var interpolation = regexp.MustCompile(`\$?\{+[^{}]*\}+|\$\([^()]*\)|\$[A-Za-z_]+|%[sdv]|%\([^()]*\)s?|<[^<>]*>`)

// hostOf is the host of a URL that may not be readable, with its port (RFC 3986,
// section 3.2): a path can have signs of its own that look like settings.
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// readUpstreams reads the HTTP APIs and applies the URLs given from outside.
func (c *compiler) readUpstreams() []rest.Upstream {
	var ups []rest.Upstream
	c.upstreams = map[string]*upstream{}
	for name, v := range c.own("upstreams") {
		path, before := member("upstreams", name), c.faults
		address, given := c.o.Upstreams[name]
		if !given {
			address = text(v, "url")
		}
		base, err := bind.ParseBase(address)
		// What is made of something at fault, such as a tag without a value, is not known.
		unknown := !given && len(c.o.Known) > 0 && !v.LookupPath(parsePath("url")).IsConcrete()
		if err == nil && strings.Contains(base.Host, "$") {
			err = fmt.Errorf("the host %s is none", base.Host)
		}
		if err != nil {
			base = &url.URL{Scheme: "http", Host: "invalid.invalid"}
		}
		if err != nil && !unknown {
			from, instead := "", ""
			if given {
				from = "--upstream " + name + ": "
			} else if m := interpolation.FindString(hostOf(address)); m != "" && !strings.Contains(address, "@") { // no part of a password
				instead = fmt.Sprintf("; %s is text in CUE: a setting is declared beside, _host: string @tag(host), and put in by \\(_host)", m)
			}
			c.add(path+".url", "%s%s%s", from, strings.ReplaceAll(err.Error(), "\n", "; "), instead)
		}
		u := &upstream{base: base, timeout: c.duration(v, path, "timeout", rest.DefaultTimeout)}
		up := rest.Upstream{
			Name:               name,
			URL:                base,
			Auth:               c.auth(v.LookupPath(parsePath("auth")), path+".auth"),
			Timeout:            u.timeout,
			MaxBytes:           int64(whole(v, "maxBytes", 0)),
			Concurrency:        whole(v, "concurrency", 0),
			Redirects:          text(v, "redirects"),
			AllowPlaintextAuth: yes(v, "network.allowPlaintextAuth", false),
			AllowPrivate:       yes(v, "network.allowPrivate", false),
		}
		c.policies(&up, v, path)
		if a := up.Auth; a != nil {
			switch {
			case a.Query != nil:
				u.strip = []string{a.Query.Name}
			case a.Header != nil:
				u.sealed = []string{a.Header.Name}
			default:
				u.sealed = []string{"Authorization"}
			}
		}
		for key, value := range fields(v.LookupPath(parsePath("query"))) {
			if b, err := expr.Export(value); err == nil {
				u.query = append(u.query, bind.Field{Name: key, Value: bind.Const(b)})
			}
		}
		for key, value := range fields(v.LookupPath(parsePath("headers"))) {
			c.headerName(member(path+".headers", key), key)
			if s := c.secret(value, member(path+".headers", key)); s != nil {
				up.SecretHeaders = append(up.SecretHeaders, rest.Named{Name: key, Value: *s})
				u.sealed = append(u.sealed, key)
			} else if b, err := expr.Export(value); err == nil {
				c.notCredentials(member(path+".headers", key), key)
				u.headers = append(u.headers, bind.Field{Name: key, Value: bind.Const(b)})
				c.headerValue(member(path+".headers", key), b)
			}
		}
		u.secrets("query", u.query, func(field, why string) { c.add(member(path+".query", field), "%s", why) })
		u.secrets("headers", u.headers, func(field, why string) { c.add(member(path+".headers", field), "%s", why) })
		c.upstreams[name] = u
		c.order = append(c.order, name)
		if u.faulty = c.faults > before || unknown || c.known.implies(path); c.faults == before && !unknown { // package rest would find the same again
			ups = append(ups, up)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.o.Upstreams)) {
		if c.upstreams[name] == nil {
			c.add("upstreams", "--upstream %s: there is no such upstream%s", name, didYouMean(name, c.order))
		}
	}
	return ups
}

func (c *compiler) duration(v cue.Value, path, field string, otherwise time.Duration) time.Duration {
	s := text(v, field)
	if s == "" {
		return otherwise
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		c.add(path+"."+field, "%q is no duration above zero, such as 30s", s)
		return otherwise
	}
	return d
}

// policies reads the members of an upstream that are structures: without them
// it does nothing of the kind.
func (c *compiler) policies(up *rest.Upstream, v cue.Value, path string) {
	if r, ok := below(v, "retry"); ok {
		pace := c.pace(r, path+".retry")
		up.Retry = &pace
	}
	if r, ok := below(v, "rate"); ok {
		perSecond, _ := r.LookupPath(parsePath("perSecond")).Float64()
		up.Rate = &rest.Rate{PerSecond: perSecond, Burst: whole(r, "burst", 0)}
	}
	if k, ok := below(v, "cache"); ok {
		up.Cache = &rest.Cache{MaxAge: c.duration(k, path+".cache", "maxAge", 0), MaxBytes: int64(whole(k, "maxBytes", 0))}
	}
	if t, ok := below(v, "tls"); ok {
		up.TLS = &rest.TLS{
			CAFile:             text(t, "caFile"),
			CertFile:           text(t, "certFile"),
			KeyFile:            text(t, "keyFile"),
			InsecureSkipVerify: yes(t, "insecureSkipVerify", false),
		}
	}
	if p, ok := below(v, "network.proxy"); ok {
		up.Proxy = &rest.Proxy{URL: c.address(p, path+".network.proxy", "url")}
		if a, ok := below(p, "auth"); ok {
			up.Proxy.Auth = c.basic(a, path+".network.proxy.auth")
		}
	}
}

// below gives the value at a path below v, and whether there is one.
func below(v cue.Value, path string) (cue.Value, bool) {
	m := v.LookupPath(parsePath(path))
	return m, m.Exists()
}

// pace reads how often and how fast a request is made again.
func (c *compiler) pace(v cue.Value, path string) rest.Retry {
	return rest.Retry{
		Attempts:   whole(v, "attempts", 0),
		Backoff:    c.duration(v, path, "backoff", 0),
		MaxBackoff: c.duration(v, path, "maxBackoff", 0),
	}
}

// address reads a URL that is no base of requests.
func (c *compiler) address(v cue.Value, path, field string) *url.URL {
	u, err := url.Parse(text(v, field))
	if err != nil {
		// What url.Error says in front is the URL, and that may hold a password.
		c.add(path+"."+field, "%v", errors.Unwrap(err))
		return nil
	}
	return u
}

// upstreamFaults reports what package rest finds wrong with upstreams. Each of
// its errors names the upstream and then the fields it is about, as they are
// nested, each followed by a colon.
func (c *compiler) upstreamFaults(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			c.upstreamFaults(e)
		}
		return
	}
	path, message, given := "upstreams", err.Error(), ""
	for _, name := range c.order {
		if rest, ok := strings.CutPrefix(message, fmt.Sprintf("upstream %q: ", name)); ok {
			path, message = member("upstreams", name), rest
			if _, ok := c.o.Upstreams[name]; ok && strings.HasPrefix(rest, "url: ") {
				given = "--upstream " + name + ": "
			}
			break
		}
	}
	at := c.cfg.Value.LookupPath(parsePath(path))
	for {
		field, rest, ok := strings.Cut(message, ": ")
		if !ok || strings.Contains(field, " ") {
			break
		}
		m, there := below(at, field)
		if !there {
			field = "network." + field
			if m, there = below(at, field); !there {
				break
			}
		}
		at, path, message = m, path+"."+field, rest
	}
	c.add(path, "%s%s", given, message)
}

// auth reads #Auth; load has seen to it that one member is given.
func (c *compiler) auth(v cue.Value, path string) *rest.Auth {
	var a rest.Auth
	for kind, m := range fields(v) {
		switch kind {
		case "basic":
			a.Basic = c.basic(m, path+".basic")
		case "bearer":
			a.Bearer = c.secret(m, path+".bearer")
		case "header":
			a.Header = c.named(m, path+".header")
			c.headerName(path+".header.name", a.Header.Name)
		case "query":
			a.Query = c.named(m, path+".query")
		case "oauth2":
			a.OAuth2 = &rest.ClientCredentials{
				TokenURL:     c.address(m, path+".oauth2", "tokenUrl"),
				ClientID:     c.literalOrSecret(m, path+".oauth2", "clientId"),
				ClientSecret: c.secretIn(m, path+".oauth2", "clientSecret"),
				Scopes:       strs(m, "scopes"),
				Params:       url.Values{},
				InBody:       yes(m, "inBody", false),
			}
			for name, value := range fields(m.LookupPath(parsePath("params"))) {
				s, _ := value.String()
				a.OAuth2.Params.Set(name, s)
			}
		}
	}
	if a == (rest.Auth{}) {
		return nil
	}
	return &a
}

func (c *compiler) basic(v cue.Value, path string) *rest.Basic {
	return &rest.Basic{Username: c.literalOrSecret(v, path, "username"), Password: c.secretIn(v, path, "password")}
}

func (c *compiler) named(v cue.Value, path string) *rest.Named {
	return &rest.Named{Name: text(v, "name"), Value: c.secretIn(v, path, "value")}
}

// secret reads a #Secret, nil when v is none.
func (c *compiler) secret(v cue.Value, path string) *rest.Secret {
	if v.IncompleteKind() != cue.StructKind {
		return nil
	}
	s := &rest.Secret{Env: text(v, "env"), File: text(v, "file"), InboundHeader: text(v, "inboundHeader")}
	if _, ok := below(v, "exec"); ok {
		s.Exec = append([]string{}, strs(v, "exec")...)
	}
	if err := s.Check(); err != nil {
		c.add(path, "%v", err)
	}
	if s.Env != "" && !slices.Contains(c.env, s.Env) {
		c.env = append(c.env, s.Env)
	}
	if s.InboundHeader != "" && !slices.Contains(c.inbound, s.InboundHeader) {
		c.inbound = append(c.inbound, s.InboundHeader)
	}
	return s
}

// secretIn reads the #Secret in a field of v that must hold one.
func (c *compiler) secretIn(v cue.Value, path, field string) rest.Secret {
	if s := c.secret(v.LookupPath(parsePath(field)), path+"."+field); s != nil {
		return *s
	}
	return rest.Secret{}
}

func (c *compiler) literalOrSecret(v cue.Value, path, field string) rest.Text {
	m := v.LookupPath(parsePath(field))
	if s := c.secret(m, path+"."+field); s != nil {
		return rest.Text{Secret: s}
	}
	s, _ := m.String()
	return rest.Text{Literal: s}
}

// headerName checks the name of a header that a configuration sets.
func (c *compiler) headerName(path, name string) {
	if c.headerToken(path, name) && bind.ReservedHeader(name) {
		c.add(path, "the header %s is made by the HTTP client; a configuration must not set it", name)
	}
}

// notCredentials refuses a header that carries credentials by its meaning where
// its value is no reference to a secret: it would be shown in dry runs and logs.
func (c *compiler) notCredentials(path, name string) {
	if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Cookie") {
		c.add(path, "the header %s carries credentials, and those are references: give them as the upstream's auth, or in its headers as {env: \"NAME\"}", name)
	}
}

// headerValue checks the constant value of a header, which is JSON.
func (c *compiler) headerValue(path string, value json.RawMessage) {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return
	}
	if err := bind.CheckHeaderValue(s); err != nil {
		c.add(path, "a header %v", err)
	}
}

// headerToken checks that a name is one that a header can have.
func (c *compiler) headerToken(path, name string) bool {
	if bind.ValidHeaderName(name) {
		return true
	}
	c.add(path, "%q is no header name (RFC 9110, section 5.6.2)", name)
	return false
}
