package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/bind"
)

// SameOrigin is the value of Upstream.Redirects that follows redirects which stay
// at the upstream's origin and below its base path.
const SameOrigin = "same-origin"

// maxRedirects is how many redirects one request may take.
const maxRedirects = 5

// redirects is a layer that follows what may be followed. Every request on the
// way passes the checks of the first one and gets its credentials.
func redirects(c *Client, u *upstream, next exchange) exchange {
	if u.Redirects != SameOrigin {
		return next
	}
	return func(ctx context.Context, e *sending) (*Response, error) {
		for hops := 0; ; hops++ {
			out, err := next(ctx, e)
			refused := (*Error)(nil)
			if !errors.As(err, &refused) || refused.Kind != RedirectRefused {
				return out, err
			}
			if hops == maxRedirects {
				refused.Message += fmt.Sprintf(", as %d before it were", maxRedirects)
				return nil, refused
			}
			req, err := u.redirected(e)
			if err != nil {
				refused.Message += ": " + err.Error()
				return nil, refused
			}
			sent := e.sent
			e = c.sending(req, e.options, e.credentials, e.start)
			e.sent = sent
		}
	}
}

// redirected gives the request that a redirect asks for (RFC 9110 §15.4): after
// 303 a GET, or the HEAD that it was; after 301 and 302 a GET where it was a
// POST, as everyone does; else the same method with the same body.
func (u *upstream) redirected(e *sending) (*bind.HTTP, error) {
	from, err := url.Parse(e.req.URL)
	if err != nil {
		return nil, errors.New("its origin cannot be read")
	}
	to, err := from.Parse(e.location)
	if err != nil || e.location == "" {
		return nil, errors.New("there is nowhere to go")
	}
	to.Fragment, to.RawFragment = "", "" // for a person's browser
	for _, d := range u.credentials {
		if d.place == inQuery {
			// The upstream sends its query back; the credential is added anew.
			to.RawQuery = bind.FilterQuery(to.RawQuery, func(name string) bool { return name != d.name })
		}
	}
	req := *e.req
	req.URL = to.String()
	if e.status == http.StatusSeeOther && req.Method != http.MethodHead ||
		(e.status == http.StatusMovedPermanently || e.status == http.StatusFound) && req.Method == http.MethodPost {
		req.Method, req.Body = http.MethodGet, nil
		req.Header = slices.DeleteFunc(slices.Clone(req.Header), func(h bind.Header) bool {
			return strings.HasPrefix(strings.ToLower(h.Name), "content-")
		})
	}
	if err := u.check(&req); err != nil {
		return nil, err
	}
	return &req, nil
}
