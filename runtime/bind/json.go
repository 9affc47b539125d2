package bind

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file read JSON that was checked before: by ParseArgs,
// by compile, or by the decoder of an upstream's answer. On anything else they
// give something or other, but they never panic.

// The kinds of JSON value, by their first byte.
const (
	kindObject = '{'
	kindList   = '['
	kindString = '"'
	kindNull   = 'n'
	kindOther  = 0 // numbers and booleans, whose text is their JSON
)

// kind gives the kind of a value.
func kind(v json.RawMessage) byte {
	switch c := v[0]; c {
	case kindObject, kindList, kindString, kindNull:
		return c
	}
	return kindOther
}

// kindNames are the kinds in words for an agent.
var kindNames = map[byte]string{
	kindObject: "an object",
	kindList:   "a list",
	kindString: "text",
	kindNull:   "null",
	kindOther:  "a number or boolean",
}

// skipValue gives the index after the value that begins at v[i].
func skipValue(v []byte, i int) int {
	depth := 0
	for i < len(v) {
		switch c := v[i]; c {
		case '"':
			i = skipString(v, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
			continue
		default:
			for i < len(v) && v[i] != ',' && v[i] != '}' && v[i] != ']' {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return len(v)
}

// skipString gives the index after the string that begins at v[i].
func skipString(v []byte, i int) int {
	for i++; i < len(v); i++ {
		switch v[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(v)
}

// elements gives the elements of a list.
func elements(list json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := 1; i < len(list)-1; i++ {
			end := skipValue(list, i)
			if end <= i || !yield(list[i:end]) {
				return
			}
			i = end
		}
	}
}

// members gives the members of an object, names as they are written in it,
// quotes and escapes included.
func members(object json.RawMessage) iter.Seq2[json.RawMessage, json.RawMessage] {
	return func(yield func(name, value json.RawMessage) bool) {
		for i := 1; i < len(object)-1; i++ {
			colon := skipString(object, i)
			if colon+1 >= len(object) {
				return
			}
			end := skipValue(object, colon+1)
			if end <= colon+1 || !yield(object[i:colon], object[colon+1:end]) {
				return
			}
			i = end
		}
	}
}

// member gives one member of an object, nil when there is none of that name.
func member(object json.RawMessage, name string) json.RawMessage {
	for n, v := range members(object) {
		if s, err := unquote(n); err == nil && string(s) == name {
			return v
		}
	}
	return nil
}

var (
	errEscape    = errors.New("a string holds an escape that JSON does not know")
	errSurrogate = errors.New("a string holds half of a surrogate pair, which is no character")
)

// unquote gives the text of a JSON string. Without an escape in it, that is a
// part of quoted.
func unquote(quoted []byte) ([]byte, error) {
	if len(quoted) < 2 {
		return nil, errEscape
	}
	s := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(s, '\\')
	if i < 0 {
		return s, nil
	}
	text := make([]byte, 0, len(s))
	for ; i >= 0; i = bytes.IndexByte(s, '\\') {
		text = append(text, s[:i]...)
		r, n, err := unescape(s[i:])
		if err != nil {
			return nil, err
		}
		text = utf8.AppendRune(text, r)
		s = s[i+n:]
	}
	return append(text, s...), nil
}

// escapes are the characters that stand after a backslash (RFC 8259 section 7).
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape reads the escape at the start of s, a whole surrogate pair at a
// time, and gives its character and its length.
func unescape(s []byte) (rune, int, error) {
	if len(s) < 2 {
		return 0, 0, errEscape
	}
	if c := escapes[s[1]]; c != 0 {
		return rune(c), 2, nil
	}
	r := unescapeUnit(s)
	if r < 0 {
		return 0, 0, errEscape
	}
	if !utf16.IsSurrogate(r) {
		return r, 6, nil
	}
	if r = utf16.DecodeRune(r, unescapeUnit(s[6:])); r == utf8.RuneError {
		return 0, 0, errSurrogate
	}
	return r, 12, nil
}

// unescapeUnit reads the \u and four hexadecimal digits at the start of s, -1 when
// they are not there.
func unescapeUnit(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range s[2:6] {
		d := unhex(c)
		if d < 0 {
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

// appendQuoted appends s as a JSON string. Only what JSON demands is escaped.
func appendQuoted[T text](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', upperHex[c>>4], upperHex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
