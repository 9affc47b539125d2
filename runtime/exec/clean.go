package exec

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// hidden says whether a character of an upstream's text is taken out before
// the text is shown: it could steer a terminal, or make text read otherwise
// than it is written. These are the control characters save tab and line ends,
// and the bidirectional overrides and isolates (Unicode UAX #9).
func hidden(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case r < 0x20, 0x7f <= r && r <= 0x9f:
		return true
	case 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}

// cleanText takes hidden characters out.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cleanJSON takes hidden characters out of the strings of compact JSON, written
// out or escaped. Everything else stays byte for byte.
func cleanJSON(data json.RawMessage) json.RawMessage {
	clean := func(b []byte) bool {
		for i := 0; i < len(b); i++ {
			switch b[i] {
			case '\\', 0x7f, 0xc2, 0xe2:
				return false
			}
		}
		return utf8.Valid(b)
	}
	if clean(data) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		c := data[i]
		switch {
		case c == '\\' && i+1 < len(data):
			n := 2
			drop := data[i+1] == 'b' || data[i+1] == 'f'
			if data[i+1] == 'u' && i+6 <= len(data) {
				n = 6
				if r, err := strconv.ParseUint(string(data[i+2:i+6]), 16, 32); err == nil {
					drop = hidden(rune(r))
				}
			}
			if !drop {
				out = append(out, data[i:i+n]...)
			}
			i += n
		case c < utf8.RuneSelf && c != 0x7f:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(data[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				out = append(out, "\uFFFD"...)
			case !hidden(r):
				out = append(out, data[i:i+n]...)
			}
			i += n
		}
	}
	return out
}
