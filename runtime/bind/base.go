package bind

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// ParseBase reads the URL of an upstream: absolute, http or https, with a path
// and a query of its own if need be. It refuses what would make requests go
// elsewhere than they seem to: user information, a fragment, empty and dot
// segments, and characters that no URL can hold. Escapes are kept as given.
func ParseBase(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // what it says in front of that is s, and s may hold a password
		}
		return nil, err
	}
	var faults []error
	check := func(ok bool, fault string) {
		if !ok && !slices.ContainsFunc(faults, func(e error) bool { return e.Error() == fault }) {
			faults = append(faults, errors.New(fault))
		}
	}
	check(u.Scheme == "http" || u.Scheme == "https", "the URL must begin with http:// or https://")
	check(u.Opaque == "" && u.Hostname() != "", "the URL has no host")
	check(u.User == nil, "credentials belong in auth, not in the URL")
	check(u.Fragment == "" && !strings.HasSuffix(s, "#"), "the URL of an API has no fragment")
	check(strings.IndexFunc(u.RawQuery, func(r rune) bool { return r <= ' ' || r > '~' }) < 0, "the query must be percent-encoded")
	path := []byte(u.EscapedPath())
	for s := range badSegments(path, true) {
		check(s.from != s.to, "the path has an empty segment")
		check(s.from == s.to, "the path has a dot segment")
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return u, nil
}
