package rest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/metacue/metacue/runtime/bind"
)

// Named is a secret with the name of the header or query parameter it goes in.
type Named struct {
	Name  string
	Value Secret
}

// Text is a literal or, where Secret is given, a secret.
type Text struct {
	Literal string
	Secret  *Secret
}

// Auth says how requests are authenticated; exactly one member is given.
type Auth struct {
	// Basic is HTTP Basic (RFC 7617).
	Basic *Basic
	// Bearer sends "Authorization: Bearer …" (RFC 6750).
	Bearer *Secret
	// Header sends the secret in a header of its own.
	Header *Named
	// Query sends the secret as a query parameter.
	Query *Named
	// OAuth2 gets access tokens for the secret and sends those.
	OAuth2 *ClientCredentials
}

// Basic is a user name and a password.
type Basic struct {
	Username Text
	Password Secret
}

// place is where in a request a credential goes.
type place string

const (
	inHeader place = "header"
	inQuery  place = "query parameter"
)

// credential is a secret, or what is made of some, with its place in requests.
type credential struct {
	place  place
	name   string
	prefix string
	// refs are the references that people know the credential by.
	refs []Secret
	// value gives what follows prefix.
	value func(context.Context, supply) (string, error)
	// lease keeps the value, where it is one that lasts; else nil.
	lease *lease
}

// supply is what credentials are made with.
type supply struct {
	read reader
	// mask has a further form of a secret masked.
	mask func(string)
	// wire makes the requests of a token endpoint.
	wire http.RoundTripper
}

// masked is the credential as it may be shown.
func (d credential) masked() string { return d.prefix + masked }

// verbatim is a credential that is one secret as it stands.
func verbatim(p place, name, prefix string, s Secret) credential {
	return credential{
		place: p, name: name, prefix: prefix, refs: []Secret{s},
		value: func(_ context.Context, from supply) (string, error) { return from.read(s) },
	}
}

// check says what is wrong with the user name.
func (b *Basic) check() error {
	var faults []error
	if strings.Contains(b.Username.Literal, ":") {
		faults = append(faults, errColon)
	}
	if b.Username.Literal != "" && b.Username.Secret != nil {
		faults = append(faults, errors.New("the user name is given both literally and as a secret"))
	}
	return errors.Join(faults...)
}

var errColon = errors.New("a user name must not hold a colon (RFC 7617 §2)")

// refs lists the secrets of the credential.
func (b *Basic) refs() []Secret {
	if b.Username.Secret != nil {
		return []Secret{*b.Username.Secret, b.Password}
	}
	return []Secret{b.Password}
}

// read gives user name and password, or all that is wrong with them.
func (b *Basic) read(read reader) (user, password string, err error) {
	user, userErr := b.Username.read(read)
	if userErr == nil && strings.Contains(user, ":") {
		userErr = fmt.Errorf("%s: %w", b.Username.Secret, errColon)
	}
	password, err = read(b.Password)
	return user, password, errors.Join(userErr, err)
}

// read gives the text.
func (t Text) read(read reader) (string, error) {
	if t.Secret == nil {
		return t.Literal, nil
	}
	return read(*t.Secret)
}

// basic is the credential of RFC 7617 §2 without its scheme.
func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// credential gives the credential of HTTP Basic.
func (b *Basic) credential() credential {
	return credential{place: inHeader, name: "Authorization", prefix: "Basic ", refs: b.refs(),
		value: func(_ context.Context, from supply) (string, error) {
			user, password, err := b.read(from.read)
			return basic(user, password), err
		}}
}

// placed lists the upstream's credentials, or all that is wrong with them.
func (up *Upstream) placed() ([]credential, []error) {
	var all []credential
	var faults []error
	if a := up.Auth; a != nil {
		if a.Basic != nil {
			all = append(all, a.Basic.credential())
			if err := a.Basic.check(); err != nil {
				faults = append(faults, fmt.Errorf("auth: basic: %w", oneLine(err)))
			}
		}
		if a.Bearer != nil {
			all = append(all, verbatim(inHeader, "Authorization", "Bearer ", *a.Bearer))
		}
		if a.Header != nil {
			all = append(all, verbatim(inHeader, a.Header.Name, "", a.Header.Value))
		}
		if a.Query != nil {
			all = append(all, verbatim(inQuery, a.Query.Name, "", a.Query.Value))
		}
		if a.OAuth2 != nil {
			all = append(all, a.OAuth2.credential())
			faults = append(faults, a.OAuth2.check()...)
		}
		if len(all) != 1 {
			faults = append(faults, errors.New("auth: exactly one kind must be given"))
		}
	}
	for _, h := range up.SecretHeaders {
		all = append(all, verbatim(inHeader, h.Name, "", h.Value))
	}
	seen := map[string]bool{}
	for _, d := range all {
		switch {
		case d.place == inQuery && d.name == "":
			faults = append(faults, errors.New("auth: the query parameter needs a name"))
		case d.place == inHeader && !bind.ValidHeaderName(d.name):
			faults = append(faults, fmt.Errorf("%q is no header name (RFC 9110 §5.6.2)", d.name))
		case d.place == inHeader && bind.ReservedHeader(d.name):
			faults = append(faults, fmt.Errorf("the header %s belongs to the connection and cannot be set", d.name))
		case d.place == inHeader && seen[http.CanonicalHeaderKey(d.name)]:
			faults = append(faults, fmt.Errorf("the header %s is given by two secrets", d.name))
		}
		if d.place == inHeader {
			seen[http.CanonicalHeaderKey(d.name)] = true
		}
		for _, s := range d.refs {
			if err := s.Check(); err != nil {
				faults = append(faults, fmt.Errorf("%s %s: %w", d.place, d.name, err))
			}
		}
	}
	return all, faults
}

// placed is a credential whose value has been read for one call.
type placed struct {
	place       place
	name, value string
}

// authorize reads the upstream's credentials for one call.
func (c *Client) authorize(ctx context.Context, u *upstream, o CallOptions, start time.Time) ([]placed, error) {
	if len(u.credentials) == 0 {
		return nil, nil
	}
	from := supply{read: c.reader(ctx, o), wire: u.wire}
	all := make([]placed, 0, len(u.credentials))
	var faults []string
	kind := SecretNotBrought
	for _, d := range u.credentials {
		of := owner{upstream: u.Name, credential: d.name}
		mask := c.maskOf(o, slices.ContainsFunc(d.refs, Secret.brought))
		from.mask = func(value string) { mask.add(of, value) }
		value, err := d.value(ctx, from)
		if err != nil {
			if _, ok := errors.AsType[notBrought](err); !ok {
				kind = SecretUnreadable
			}
			faults = append(faults, oneLine(err).Error())
			continue
		}
		from.mask(value)
		all = append(all, placed{d.place, d.name, d.prefix + value})
	}
	if ctx.Err() != nil {
		return nil, u.ended(ctx, start, fmt.Sprintf("the credentials for the upstream %q could not be had", u.Name))
	}
	if len(faults) > 0 {
		return nil, &Error{Kind: kind, Upstream: u.Name, Message: c.say(o.Brought,
			"nothing was sent to the upstream %q, because its credentials cannot be used: %s",
			u.Name, strings.Join(faults, "; "))}
	}
	return all, nil
}

// oneLine gives joined errors in one line.
func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) }

// plaintext refuses to send credentials over plain http, to the upstream or to its
// token endpoint: what lies between could read them.
func (up *Upstream) plaintext() (faults []error) {
	refuse := func(field string, u *url.URL) {
		if u != nil && u.Scheme == "http" && !up.AllowPlaintextAuth && !isLoopback(u.Hostname()) {
			faults = append(faults, fmt.Errorf("%s: credentials are not sent over plain http to %s: use https, or set network: allowPlaintextAuth: true", field, u.Host))
		}
	}
	refuse("url", up.URL)
	if up.Auth != nil && up.Auth.OAuth2 != nil {
		refuse("auth: oauth2: tokenUrl", up.Auth.OAuth2.TokenURL)
	}
	return faults
}

// isLoopback says whether a host can only be this machine (RFC 6761 §6.3 for
// the name).
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// sealing stands below resty and net/http's client, right above the connection.
// It gives each request its headers, exactly as they are to go out, and its
// credentials, which what is above, logs and errors included, never holds. And
// it keeps redirects from them, so that none is followed unseen.
type sealing struct{ next http.RoundTripper }

// sendingKey is the key under which a request's context holds its *sending.
type sendingKey struct{}

func (s sealing) RoundTrip(r *http.Request) (*http.Response, error) {
	e := r.Context().Value(sendingKey{}).(*sending)
	// A RoundTripper must not change the request it is given.
	out := r.WithContext(r.Context())
	out.Header = e.header
	for _, d := range e.credentials {
		if d.place == inQuery {
			u := *out.URL
			u.RawQuery = withParameter(u.RawQuery, d.name, url.QueryEscape(d.value))
			out.URL = &u
		}
	}
	answer, err := s.next.RoundTrip(out)
	if err == nil && isRedirect(answer.StatusCode) {
		e.location = answer.Header.Get("Location")
		answer.Header.Del("Location")
	}
	return answer, err
}

// withParameter adds a parameter, whose value is encoded already, to a query.
func withParameter(query, name, encoded string) string {
	if query != "" {
		query += "&"
	}
	return query + url.QueryEscape(name) + "=" + encoded
}

// Preview gives the request as it would go out, save what belongs to the
// connection, with *** for every secret. It reads no secret and checks nothing.
func (c *Client) Preview(req *bind.HTTP) *bind.HTTP {
	out := *req
	out.Header = c.header(req)
	u := c.upstreams[req.Upstream]
	if u == nil || u.check(req) != nil {
		return &out
	}
	for _, d := range u.credentials {
		switch d.place {
		case inHeader:
			out.Header = append(out.Header, bind.Header{Name: d.name, Value: d.masked()})
		case inQuery:
			// check has seen that the URL parses and has no fragment.
			base, query, _ := strings.Cut(out.URL, "?")
			out.URL = base + "?" + withParameter(query, d.name, masked)
		}
	}
	return &out
}

// header lists the request's headers and those that every request has.
func (c *Client) header(req *bind.HTTP) []bind.Header {
	all := slices.Clone(req.Header)
	add := func(name, value string) {
		if !slices.ContainsFunc(req.Header, func(h bind.Header) bool { return strings.EqualFold(h.Name, name) }) {
			all = append(all, bind.Header{Name: name, Value: value})
		}
	}
	add("User-Agent", c.userAgent)
	return all
}

// AuthHint says, for the statuses 401 and 403, which credentials the upstream
// did not accept, or that it has none. It is empty for every other status.
func (c *Client) AuthHint(upstream string, status int) string {
	u := c.upstreams[upstream]
	if u == nil || status != http.StatusUnauthorized && status != http.StatusForbidden {
		return ""
	}
	if len(u.credentials) == 0 {
		return fmt.Sprintf("the upstream %q has no auth configured", u.Name)
	}
	var refs []string
	for _, d := range u.credentials {
		for _, s := range d.refs {
			refs = append(refs, s.String())
		}
	}
	from := strings.Join(refs, ", ")
	if status == http.StatusForbidden {
		return fmt.Sprintf("the upstream %q does not allow this with the credentials from %s", u.Name, from)
	}
	return fmt.Sprintf("the upstream %q refused the credentials from %s", u.Name, from)
}

// Denied gives an error of the Kind SecretRefused for the status 401, where the
// credentials are this server's own; else nil.
func (c *Client) Denied(upstream string, status int) *Error {
	u := c.upstreams[upstream]
	if u == nil || status != http.StatusUnauthorized {
		return nil
	}
	for _, d := range u.credentials {
		if slices.ContainsFunc(d.refs, func(s Secret) bool { return s.InboundHeader != "" }) {
			return nil
		}
	}
	return &Error{Kind: SecretRefused, Upstream: u.Name, Status: status, Sent: true, Message: c.AuthHint(upstream, status)}
}
