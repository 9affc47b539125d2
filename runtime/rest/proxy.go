package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Proxy is the way that an upstream's requests leave by. What a proxy connects
// to is its own choice: the check of addresses covers the proxy alone.
type Proxy struct {
	// URL has the scheme http, https or socks5, a host and a port.
	URL *url.URL
	// Auth is who the client is to the proxy; nil means no one.
	Auth *Basic
}

// check lists what is wrong with the proxy itself.
func (p *Proxy) check() (faults []error) {
	if p == nil {
		return nil
	}
	switch {
	case p.URL == nil || p.URL.Hostname() == "":
		faults = append(faults, errors.New("proxy: the host is missing"))
	case p.URL.Scheme != "http" && p.URL.Scheme != "https" && p.URL.Scheme != "socks5":
		faults = append(faults, errors.New("proxy: the scheme must be http, https or socks5"))
	case p.URL.User != nil:
		faults = append(faults, errors.New("proxy: credentials belong in auth, not in the URL"))
	}
	if p.Auth != nil {
		if err := p.Auth.check(); err != nil {
			faults = append(faults, fmt.Errorf("proxy: auth: %w", oneLine(err)))
		}
		for _, s := range p.Auth.refs() {
			if err := s.Check(); err != nil {
				faults = append(faults, fmt.Errorf("proxy: auth: %w", err))
			}
		}
	}
	return faults
}

// proxy gives what an http.Transport asks for the proxy of a request, or nil.
func (c *Client) proxy(u *upstream) func(*http.Request) (*url.URL, error) {
	if u.Proxy == nil {
		return nil
	}
	return func(r *http.Request) (*url.URL, error) {
		to := *u.Proxy.URL
		if u.Proxy.Auth != nil {
			user, password, err := u.Proxy.Auth.read(c.reader(r.Context(), CallOptions{}))
			if err != nil {
				return nil, &Error{Kind: SecretUnreadable, Message: fmt.Sprintf(
					"nothing was sent to the upstream %q, because the credentials for its proxy cannot be used: %v", u.Name, oneLine(err))}
			}
			c.mask.add(owner{upstream: u.Name, credential: "Proxy-Authorization"}, basic(user, password))
			to.User = url.UserPassword(user, password)
		}
		return &to, nil
	}
}
