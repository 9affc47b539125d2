package bind

import (
	"fmt"
	"net/textproto"
)

// ValidHeaderName says whether s can be the name of a header: a token of
// RFC 9110 section 5.6.2.
func ValidHeaderName(s string) bool { return all(s, classToken) }

// CheckHeaderValue says why a header cannot carry s (RFC 9110 section 5.5), nil
// when it can. Text beyond ASCII goes as UTF-8.
func CheckHeaderValue[S []byte | string](s S) error {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7F {
			return fmt.Errorf("cannot hold the control character %q", rune(c))
		}
	}
	if n := len(s); n > 0 && (s[0] <= ' ' || s[n-1] <= ' ') {
		return fmt.Errorf("cannot begin or end with white space: HTTP takes it away")
	}
	return nil
}

// reservedHeaders belong to the connection or to the framing of the message
// (RFC 9110 sections 7.2, 7.6 and 8.6, RFC 9112 section 6): whoever sets one
// can change where a request goes or where it ends.
var reservedHeaders = map[string]bool{
	"Connection":          true,
	"Content-Length":      true,
	"Expect":              true,
	"Host":                true,
	"Http2-Settings":      true,
	"Keep-Alive":          true,
	"Proxy-Authorization": true,
	"Proxy-Connection":    true,
	"Te":                  true,
	"Trailer":             true,
	"Transfer-Encoding":   true,
	"Upgrade":             true,
}

// ReservedHeader says whether a header is made by what sends the request, so
// that a configuration must not set it. Case does not matter.
func ReservedHeader(name string) bool {
	return reservedHeaders[textproto.CanonicalMIMEHeaderKey(name)]
}
