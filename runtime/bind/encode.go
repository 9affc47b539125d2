package bind

// class is a set of ASCII characters.
type class uint8

const (
	// classUnreserved may stand in any part of a URL as it is (RFC 3986 section 2.3).
	classUnreserved class = 1 << iota
	// classSlash is unreserved and "/".
	classSlash
	// classQueryName is unreserved and "$": what stays readable in the names of query
	// parameters, since many APIs have names such as $top.
	classQueryName
	// classLiteral is what RFC 6570 section 2.1 copies from a template as it is, save
	// "?" and "#", which would end the path, and "%", which begins an escape.
	classLiteral
	// classToken is what header names are made of (RFC 9110 section 5.6.2).
	classToken
	// className is what names of path variables are made of: RFC 6570 section 2.3, and
	// "-", which descriptions of real APIs use ({client-uuid}).
	className
)

const (
	alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upperHex     = "0123456789ABCDEF"
)

// classes says of every byte in which classes it is. No byte above 0x7F is in
// any, so UTF-8 is always encoded.
var classes = func() (t [256]class) {
	for c, chars := range map[class]string{
		classUnreserved: alphanumeric + "-._~",
		classSlash:      alphanumeric + "-._~/",
		classQueryName:  alphanumeric + "-._~$",
		classLiteral:    alphanumeric + "-._~" + ":/[]@" + "!$&'()*+,;=",
		classToken:      alphanumeric + "!#$%&'*+-.^_`|~",
		className:       alphanumeric + "_.-",
	} {
		for i := range len(chars) {
			t[chars[i]] |= c
		}
	}
	return t
}()

// text is a string in either form.
type text interface{ ~string | ~[]byte }

// all says whether s is not empty and every byte of it is in c.
func all[T text](s T, c class) bool {
	for i := range len(s) {
		if classes[s[i]]&c == 0 {
			return false
		}
	}
	return len(s) > 0
}

// appendEncoded appends s with every byte that is not in keep percent-encoded
// (RFC 3986 section 2.1).
func appendEncoded[T text](dst []byte, s T, keep class) []byte {
	for i := range len(s) {
		if c := s[i]; classes[c]&keep != 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// unhex gives the value of a hexadecimal digit, -1 for anything else.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// isEscape says whether s begins with a percent escape.
func isEscape[T text](s T) bool {
	return len(s) >= 3 && s[0] == '%' && unhex(s[1]) >= 0 && unhex(s[2]) >= 0
}

// appendDecoded appends s percent-decoded until nothing is left to decode: what
// a server sees at most, however many stages before it decode. Each byte that
// completes an escape is decoded at once, together with what came before, so
// the work is linear in the length of s.
func appendDecoded(dst, s []byte) []byte {
	start := len(dst)
	for _, c := range s {
		dst = append(dst, c)
		for len(dst)-start >= 3 && isEscape(dst[len(dst)-3:]) {
			n := len(dst)
			dst[n-3] = byte(unhex(dst[n-2])<<4 | unhex(dst[n-1]))
			dst = dst[:n-2]
		}
	}
	return dst
}
