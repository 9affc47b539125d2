package compile

import (
	"maps"
	"net/url"
	"slices"
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
}

// request is the beginning of every request to the upstream.
func (u *upstream) request(name string) bind.Request {
	return bind.Request{Upstream: name, Base: u.base, BaseQuery: u.query, BaseHeaders: u.headers}
}

// readUpstreams reads the HTTP APIs and applies the URLs given from outside.
func (c *compiler) readUpstreams() []rest.Upstream {
	var ups []rest.Upstream
	c.upstreams = map[string]*upstream{}
	for name, v := range c.own("upstreams") {
		path := member("upstreams", name)
		address, given := c.o.Upstreams[name]
		if !given {
			address = text(v, "url")
		}
		base, err := bind.ParseBase(address)
		if err != nil {
			c.add(path+".url", "%v", err)
			base = &url.URL{Scheme: "http", Host: "invalid.invalid"}
		}
		u := &upstream{base: base, timeout: c.duration(v, path, "timeout", rest.DefaultTimeout)}
		up := rest.Upstream{
			Name:               name,
			URL:                base,
			Auth:               auth(v.LookupPath(cue.ParsePath("auth"))),
			Timeout:            u.timeout,
			MaxBytes:           int64(whole(v, "maxBytes", 0)),
			AllowPlaintextAuth: yes(v, "network.allowPlaintextAuth", false),
		}
		for key, value := range fields(v.LookupPath(cue.ParsePath("query"))) {
			if b, err := expr.Export(value); err == nil {
				u.query = append(u.query, bind.Field{Name: key, Value: bind.Const(b)})
			}
		}
		for key, value := range fields(v.LookupPath(cue.ParsePath("headers"))) {
			c.headerName(member(path+".headers", key), key)
			if s := secret(value); s != nil {
				up.SecretHeaders = append(up.SecretHeaders, rest.Named{Name: key, Value: *s})
			} else if b, err := expr.Export(value); err == nil {
				u.headers = append(u.headers, bind.Field{Name: key, Value: bind.Const(b)})
			}
		}
		c.upstreams[name] = u
		c.order = append(c.order, name)
		ups = append(ups, up)
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

// auth reads #Auth; load has seen to it that one member is given.
func auth(v cue.Value) *rest.Auth {
	var a rest.Auth
	for kind, m := range fields(v) {
		switch kind {
		case "basic":
			a.Basic = &rest.Basic{Username: literalOrSecret(m.LookupPath(cue.ParsePath("username")))}
			if s := secret(m.LookupPath(cue.ParsePath("password"))); s != nil {
				a.Basic.Password = *s
			}
		case "bearer":
			a.Bearer = secret(m)
		case "header":
			a.Header = named(m)
		case "query":
			a.Query = named(m)
		}
	}
	if a == (rest.Auth{}) {
		return nil
	}
	return &a
}

func named(v cue.Value) *rest.Named {
	n := &rest.Named{Name: text(v, "name")}
	if s := secret(v.LookupPath(cue.ParsePath("value"))); s != nil {
		n.Value = *s
	}
	return n
}

// secret reads a #Secret, nil when v is none.
func secret(v cue.Value) *rest.Secret {
	if v.IncompleteKind() != cue.StructKind {
		return nil
	}
	return &rest.Secret{Env: text(v, "env"), File: text(v, "file")}
}

func literalOrSecret(v cue.Value) rest.Text {
	if s := secret(v); s != nil {
		return rest.Text{Secret: s}
	}
	s, _ := v.String()
	return rest.Text{Literal: s}
}

// headerName checks the name of a header that a configuration sets.
func (c *compiler) headerName(path, name string) {
	switch {
	case !bind.ValidHeaderName(name):
		c.add(path, "%q is no header name (RFC 9110, section 5.6.2)", name)
	case bind.ReservedHeader(name):
		c.add(path, "the header %s is made by the HTTP client; a configuration must not set it", name)
	}
}
