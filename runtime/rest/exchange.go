package rest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/metacue/metacue/runtime/bind"
)

// sending is one request on its way.
type sending struct {
	req         *bind.HTTP
	options     CallOptions
	credentials []placed
	// header is all that is sent, credentials included.
	header http.Header
	start  time.Time
	// status is that of the answer once its headers are there, else 0.
	status int
	// location is where a redirect points.
	location string
	// sent says that a request of the call has been given to a connection.
	sent *atomic.Bool
}

// sending makes a request ready for one exchange, as part of the call that began
// at start.
func (c *Client) sending(req *bind.HTTP, o CallOptions, credentials []placed, start time.Time) *sending {
	e := &sending{req: req, options: o, credentials: credentials, header: http.Header{}, start: start, sent: new(atomic.Bool)}
	for _, h := range c.header(req) {
		e.header.Add(h.Name, h.Value)
	}
	if e.header.Get("Accept-Encoding") == "" {
		e.header.Set("Accept-Encoding", "gzip")
	}
	for _, d := range credentials {
		if d.place == inHeader {
			e.header.Set(d.name, d.value)
		}
	}
	if o.Idempotent && e.header.Get("Idempotency-Key") == "" {
		// Without a value it is not sent, but lets net/http repeat the request when
		// a kept connection turns out to be closed, whatever the method.
		e.header["Idempotency-Key"] = []string{}
	}
	return e
}

// again is the same request for one more exchange.
func (e *sending) again() *sending {
	next := *e
	next.status, next.location = 0, ""
	return &next
}

// exchange gives the answer to a request. Every error is an *Error.
type exchange func(context.Context, *sending) (*Response, error)

// Do makes one exchange. An answer of any status is a Response, save a redirect,
// which is refused, and one that is binary and holds a secret. In any other answer
// secrets are masked. Every error is an *Error; the ones of BadRequest,
// SecretUnreadable and SecretNotBrought come before anything is sent. The exchange
// ends with ctx or with the upstream's time-out, whichever is first.
func (c *Client) Do(ctx context.Context, req *bind.HTTP, o CallOptions) (*Response, error) {
	if err := c.Check(req); err != nil {
		return nil, err
	}
	u := c.upstreams[req.Upstream]
	start := time.Now()
	// Where the call's own deadline comes first, a second one would be a timer and
	// a context for nothing.
	if deadline, ok := ctx.Deadline(); !ok || deadline.Sub(start) > u.Timeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, u.Timeout, errTimeout)
		defer cancel()
	}
	if o.Brought == nil {
		o.Brought = &Brought{}
	}
	credentials, err := c.authorize(ctx, u, o, start)
	if err != nil {
		return nil, err
	}
	answer, err := u.do(ctx, c.sending(req, o, credentials, start))
	if err != nil {
		return nil, err
	}
	return c.conceal(u, answer, o.Brought)
}

// Check says why a request may not go out, nil when it may: Do refuses it with
// the same *Error.
func (c *Client) Check(req *bind.HTTP) error {
	u := c.upstreams[req.Upstream]
	if u == nil {
		return &Error{Kind: BadRequest, Upstream: req.Upstream, Message: fmt.Sprintf("there is no upstream %q", req.Upstream)}
	}
	if err := u.check(req); err != nil {
		return &Error{Kind: BadRequest, Upstream: u.Name, Message: c.say(nil, "the request may not go to the upstream %q: %v", u.Name, err)}
	}
	return nil
}

// once sends a request once and reads the answer.
func (c *Client) once(u *upstream) exchange {
	return func(ctx context.Context, e *sending) (*Response, error) {
		began := time.Now()
		out, err := c.roundTrip(ctx, u, e)
		if err == nil {
			err = e.refuseRedirect(u)
		}
		if err != nil {
			out, err = nil, c.failure(ctx, u, e, err)
		}
		if c.log.Enabled(ctx, slog.LevelDebug) {
			path, _, _ := strings.Cut(e.req.URL, "?")
			c.log.DebugContext(ctx, "exchange", "upstream", u.Name, "method", e.req.Method, "url", c.scrub(e.options.Brought, path),
				"status", e.status, "took", time.Since(began), "error", err)
		}
		return out, err
	}
}

// roundTrip gives the answer, or the transport's own error.
func (c *Client) roundTrip(ctx context.Context, u *upstream, e *sending) (*Response, error) {
	ctx = context.WithValue(ctx, sendingKey{}, e)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { e.sent.Store(true) },
	})
	// Left without a body, resty sends POST, PUT and PATCH in chunks, whose end
	// some servers wait for; an empty reader gives Content-Length: 0.
	got, err := u.client.R().SetLogger(restyLog{c, e.options.Brought}).SetContext(ctx).SetBody(bytes.NewReader(e.req.Body)).Execute(e.req.Method, e.req.URL)
	if err != nil {
		return nil, err
	}
	e.status = got.RawResponse.StatusCode
	return response(got.RawResponse, u.MaxBytes)
}

// refuseRedirect refuses an answer that sends the client elsewhere. Its body is
// not passed on: it speaks of another place.
func (e *sending) refuseRedirect(u *upstream) error {
	if !isRedirect(e.status) {
		return nil
	}
	return &Error{Kind: RedirectRefused, Message: fmt.Sprintf(
		"the upstream %q answered %d, a redirect to %s, which is not followed", u.Name, e.status, target(u, e.location))}
}

// isRedirect says whether a status sends the client elsewhere (RFC 9110 §15.4).
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// target gives as much of a Location as may be shown: its origin.
func target(u *upstream, location string) string {
	to, err := url.Parse(location)
	switch {
	case location == "":
		return "nowhere (it has no Location)"
	case err != nil:
		return "a URL that cannot be read"
	case to.Host == "":
		return "another path of " + u.URL.Host
	}
	if to.Scheme == "" {
		to.Scheme = u.URL.Scheme
	}
	return fmt.Sprintf("%.300s", to.Scheme+"://"+to.Host)
}

// check says why a request may not go to this upstream. Requests come from bind,
// which keeps to all of this; credentials are worth a second look.
func (u *upstream) check(req *bind.HTTP) error {
	to, err := url.Parse(req.URL)
	switch {
	case err != nil:
		return fmt.Errorf("its URL cannot be read")
	case to.User != nil || to.Opaque != "" || to.Fragment != "" || strings.Contains(req.URL, "#"):
		return fmt.Errorf("its URL holds more than scheme, host, path and query")
	case bind.Origin(to) != u.origin:
		return fmt.Errorf("its URL is not at %s", u.origin)
	case !below(to.EscapedPath(), u.URL.EscapedPath()):
		return fmt.Errorf("its path is not below %s", u.URL.EscapedPath())
	case to.String() != req.URL:
		return fmt.Errorf("its URL is not in its normal form")
	case !bind.ValidHeaderName(req.Method):
		return fmt.Errorf("%q is no HTTP method", req.Method)
	case len(req.Body) > 0 && (req.Method == http.MethodHead || req.Method == http.MethodOptions):
		return fmt.Errorf("a %s request has no body", req.Method)
	}
	for _, h := range req.Header {
		switch {
		case !bind.ValidHeaderName(h.Name):
			return fmt.Errorf("%q is no header name", h.Name)
		case bind.ReservedHeader(h.Name):
			return fmt.Errorf("the header %s belongs to the connection and cannot be set", h.Name)
		case strings.ContainsFunc(h.Value, func(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f }):
			return fmt.Errorf("the value of the header %s holds a control character", h.Name)
		}
	}
	for _, d := range u.credentials {
		if d.place == inQuery && to.Query().Has(d.name) {
			return fmt.Errorf("it sets the query parameter %s, which holds the upstream's credentials", d.name)
		}
		for _, h := range req.Header {
			if d.place == inHeader && strings.EqualFold(h.Name, d.name) {
				return fmt.Errorf("it sets the header %s, which holds the upstream's credentials", d.name)
			}
		}
	}
	return nil
}

// below says whether an escaped path is base or goes on from it, without dot
// segments, escaped ones included.
func below(path, base string) bool {
	base = strings.TrimRight(base, "/")
	rest, ok := strings.CutPrefix(path, base)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if decoded, err := url.PathUnescape(segment); err != nil || decoded == "." || decoded == ".." {
			return false
		}
	}
	return true
}
