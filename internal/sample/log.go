package sample

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Entry is one request that the organization received.
type Entry struct {
	Method string
	// Path is decoded, RawPath as it came.
	Path, RawPath string
	Query         url.Values
	RawQuery      string
	// Headers holds Accept, Authorization, Content-Type and If-Match, where
	// given. Of Authorization it has the scheme and whether it was right, never
	// the credential.
	Headers map[string]string
	Body    string
	// Status is that of the answer.
	Status int
}

// Log gives every request received so far, in order.
func (o *Org) Log() []Entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.log)
}

// logged are the headers that a log shows, in the order of String.
var logged = []string{"Accept", "Authorization", "Content-Type", "If-Match"}

func (o *Org) entry(r *http.Request, body []byte, status int) Entry {
	e := Entry{
		Method:   r.Method,
		Path:     r.URL.Path,
		RawPath:  r.URL.EscapedPath(),
		Query:    r.URL.Query(),
		RawQuery: r.URL.RawQuery,
		Headers:  map[string]string{},
		Body:     string(body),
		Status:   status,
	}
	for _, h := range logged {
		if v := strings.Join(r.Header.Values(h), ", "); v != "" {
			e.Headers[h] = v
		}
	}
	if a, ok := e.Headers["Authorization"]; ok {
		scheme, _, _ := strings.Cut(a, " ")
		if !slices.Contains([]string{"Basic", "Bearer"}, scheme) {
			scheme = "other" // it may be the credential itself
		}
		e.Headers["Authorization"] = scheme + " *** (" + o.authorization(r) + ")"
	}
	return e
}

// String gives the request as lines: method, path and query, the status of the
// answer, then headers and body. It ends with a newline.
func (e Entry) String() string {
	var b strings.Builder
	b.WriteString(e.Method + " " + e.RawPath)
	if e.RawQuery != "" {
		b.WriteString("?" + e.RawQuery)
	}
	fmt.Fprintf(&b, " -> %d\n", e.Status)
	for _, h := range logged {
		if v, ok := e.Headers[h]; ok {
			fmt.Fprintf(&b, "  %s: %s\n", h, v)
		}
	}
	if e.Body != "" {
		for l := range strings.Lines(e.Body) {
			b.WriteString("  " + strings.TrimSuffix(l, "\n") + "\n")
		}
	}
	return b.String()
}
