package exec

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// hidden says whether a character of an upstream's text is taken out before
// the text is shown: it could steer a terminal, make text read otherwise than it is
// written, or say to an agent what no person sees. These are the control characters
// save tab and line ends, the bidirectional overrides and isolates (Unicode UAX #9),
// and characters without a shape: word joiner and invisible operators, byte order
// marks, tags and the variation selectors of ideographs. Those that shape what people
// read stay: joiners, and the selectors of emoji.
func hidden(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case 0 <= r && r < 0x20, 0x7f <= r && r <= 0x9f:
		return true
	case 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x2064, 0x2066 <= r && r <= 0x2069:
		return true
	case r == 0xfeff, 0xe0000 <= r && r <= 0xe007f, 0xe0100 <= r && r <= 0xe01ef:
		return true
	}
	return false
}

// cleanText takes hidden characters and terminal sequences out.
func cleanText(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	return string(strip([]byte(s), utf8.DecodeRune))
}

// cleanJSON takes hidden characters and terminal sequences out of the strings of
// compact JSON, written out or escaped. Everything else stays byte for byte.
func cleanJSON(data json.RawMessage) json.RawMessage {
	clean := func(b []byte) bool {
		for i := 0; i < len(b); i++ {
			switch b[i] {
			case '\\', 0x7f, 0xc2, 0xe2, 0xef, 0xf3: // with these hidden characters begin
				return false
			}
		}
		return utf8.Valid(b)
	}
	if clean(data) {
		return data
	}
	return strip(data, jsonChar)
}

// strip takes hidden characters and terminal sequences out. char gives the first
// character of what it is given, and its width.
func strip(data []byte, char func([]byte) (rune, int)) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if c := data[i]; 0x20 <= c && c < 0x7f && c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		r, n := char(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, "\uFFFD"...)
		case hidden(r):
			n = sequence(data[i:], char)
		default:
			out = append(out, data[i:i+n]...)
		}
		i += n
	}
	return out
}

// edge stands for the end of a text, and for the quotes of a string of JSON.
const edge rune = -1

// jsonChar gives the first character of JSON, escapes undone, and its width.
func jsonChar(b []byte) (rune, int) {
	if b[0] == '"' {
		return edge, 1
	}
	if b[0] != '\\' || len(b) < 2 {
		return utf8.DecodeRune(b)
	}
	if r, ok := unit(b); ok {
		if low, ok := unit(b[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
		}
		return r, 6
	}
	if i := strings.IndexByte("bfnrt", b[1]); i >= 0 {
		return rune("\b\f\n\r\t"[i]), 2
	}
	return rune(b[1]), 2
}

// unit reads an escape of four hexadecimal digits.
func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(r), err == nil
}

// sequence gives the length of what data begins with: a control sequence or a control
// string of a terminal (ECMA-48, sections 5.4 and 5.6), or one character, where there
// is none or it does not end in its line.
func sequence(data []byte, char func([]byte) (rune, int)) int {
	first, width := char(data)
	at := width
	next := func() rune {
		if at == len(data) {
			return edge
		}
		r, n := char(data[at:])
		at += n
		return r
	}
	if first == 0x1b {
		first = next() + 0x40 // as one character of C1 (section 5.3)
	}
	switch first {
	case 0x9b: // CSI
		r := next()
		for 0x20 <= r && r <= 0x3f {
			r = next()
		}
		if 0x40 <= r && r <= 0x7e {
			return at
		}
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC
		r := next()
		for r != edge && r != '\n' && !hidden(r) {
			r = next()
		}
		if r == 0x07 || r == 0x9c || r == 0x1b && next() == '\\' {
			return at
		}
	}
	return width
}
