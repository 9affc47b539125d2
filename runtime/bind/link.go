package bind

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Link gives the URL that a link in an answer leads to, or says why no request
// may follow it. It stays at the origin of base, the upstream's URL, and below
// its path. ref is absolute, or relative to from, the URL of the request that
// was answered (RFC 3986 section 5); where that is not known, from is nil and ref
// must be absolute or begin with "/". A fragment is dropped. Errors show of the
// link no more than its origin.
func Link(base, from *url.URL, ref string) (*url.URL, error) {
	u, err := url.Parse(ref)
	switch {
	case ref == "":
		return nil, errors.New("the link is empty")
	case err != nil:
		return nil, errors.New("the link is no URL")
	case from == nil && u.Scheme == "" && !strings.HasPrefix(ref, "/"):
		return nil, errors.New(`the link is relative to something that is not known: it must be absolute or begin with "/"`)
	case from == nil:
		from = base
	}
	// Resolving takes dot segments away; whoever writes some means to climb.
	if hasDots(u) {
		return nil, errors.New("the link has a dot segment")
	}
	to := from.ResolveReference(u)
	to.Fragment, to.RawFragment, to.ForceQuery = "", "", false
	switch {
	case to.User != nil:
		return nil, errors.New("the link holds credentials")
	case to.Opaque != "" || Origin(to) != Origin(base):
		return nil, fmt.Errorf("the link leads to %.300q, and requests stay at %s", to.Scheme+"://"+to.Host, base.Scheme+"://"+base.Host)
	case !below(to.EscapedPath(), base.EscapedPath()) || hasDots(to):
		return nil, fmt.Errorf("the link leads out of %s, where the upstream's paths begin", base.EscapedPath())
	}
	to.Scheme, to.Host = base.Scheme, base.Host
	if to.Path == "" {
		to.Path = "/"
	}
	to.RawQuery = string(appendEncodedQuery(nil, to.RawQuery))
	return to, nil
}

// hasDots says whether a segment of u's path is or hides a dot segment.
func hasDots(u *url.URL) bool {
	for s := range strings.SplitSeq(u.EscapedPath(), "/") {
		if hasDotSegment([]byte(s)) {
			return true
		}
	}
	return false
}

// Origin is scheme, host and port in one form (RFC 6454 section 4).
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// below says whether an escaped path is base or goes on from it.
func below(path, base string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimRight(base, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// appendEncodedQuery appends a query as it came, save for what cannot stand in
// a URL.
func appendEncodedQuery(dst []byte, query string) []byte {
	for i := range len(query) {
		switch c := query[i]; {
		case c <= ' ', c >= 0x7F, strings.IndexByte("\"<>\\^`{|}#", c) >= 0:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// link makes the whole URL from one that an earlier answer gave. A parameter
// that the request has itself takes the place of the link's.
func (b *builder) link() string {
	t := target{"url", "", b.req.URL}
	v, ok := b.value(t)
	switch {
	case !ok:
		return ""
	case len(v) == 0 || kind(v) == kindNull:
		b.fault(t, "needs a link, and the answer it comes from gave none")
		return ""
	}
	ref, ok := b.text(t, "is", v)
	if !ok {
		return ""
	}
	to, err := Link(b.req.Base, nil, string(ref))
	if err != nil {
		b.fault(t, "cannot be followed: %v", err)
		return ""
	}
	own := b.spread("query parameter", b.req.Query)
	var linked []Field
	raw := FilterQuery(to.RawQuery, func(name string) bool {
		if slices.Contains(b.req.Strip, name) || slices.ContainsFunc(own, func(f Field) bool { return f.Name == name && b.given("query parameter", f) }) {
			return false
		}
		linked = append(linked, Field{Name: name, Value: Const("true")})
		return true
	})
	to.RawQuery = ""
	q := query{dst: []byte(to.String()), sep: '?'}
	if raw != "" {
		q.dst = append(append(q.dst, '?'), raw...)
		q.sep = '&'
	}
	b.params(&q, own)
	b.params(&q, b.baseFields("query parameter", b.req.BaseQuery, slices.Concat(own, linked), sameName))
	return string(q.dst)
}

// FilterQuery gives a query with the parameters that keep holds for, each as it
// is written.
func FilterQuery(raw string, keep func(name string) bool) string {
	var kept []string
	for pair := range strings.SplitSeq(raw, "&") {
		key, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if err != nil {
			name = key
		}
		if pair != "" && keep(name) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// WithParameter gives a URL with a query parameter set, in the place of any of
// that name.
func WithParameter(s, name, value string) string {
	base, raw, _ := strings.Cut(s, "?")
	q := query{dst: append([]byte(base), '?')}
	if raw = FilterQuery(raw, func(n string) bool { return n != name }); raw != "" {
		q.dst = append(q.dst, raw...)
		q.sep = '&'
	}
	q.pair(name, []byte(value))
	return string(q.dst)
}
