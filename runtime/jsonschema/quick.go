package jsonschema

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quick is as much of a schema as can be checked on the text of an instance, in
// one pass that decodes nothing. Most calls are right and most schemas plain, so
// it decides most checks, at a tenth of what the whole check takes.
//
// Its yes is right. Its no means nothing: of what it does not know, a keyword in
// the schema or an escape in the instance, it says no, and the whole check
// decides.
type quick struct {
	kinds kinds

	min, max             int64    // of numbers
	minLength, maxLength int64    // of strings, in characters
	texts                []string // that strings can be; nil for all

	names    []string
	members  []*quick // by names
	required uint64   // a bit for each member that must be there
	other    *quick   // what further members must be
	items    *quick
}

// newQuick gives nil for a schema that it does not know.
func newQuick(schema any) *quick {
	m, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	q := &quick{min: math.MinInt64, max: math.MaxInt64, maxLength: math.MaxInt64}
	types, ok := m["type"].([]any)
	if !ok {
		types = []any{m["type"]}
	}
	for _, t := range types {
		switch t {
		case "string":
			q.kinds |= stringKind
		case "integer", "number":
			q.kinds |= numberKind
		case "boolean":
			q.kinds |= boolKind
		case "null":
			q.kinds |= nullKind
		case "array":
			q.kinds |= arrayKind
		case "object":
			q.kinds |= objectKind
		default:
			return nil
		}
	}
	for keyword, v := range m {
		known := true
		switch keyword {
		case "type", "description", "title", "default", "examples", "deprecated", "required":
		case "minimum":
			q.min, known = smallInteger(v)
		case "maximum":
			q.max, known = smallInteger(v)
		case "minLength":
			q.minLength, known = smallInteger(v)
		case "maxLength":
			q.maxLength, known = smallInteger(v)
		case "enum":
			values, _ := v.([]any)
			known = q.kinds == stringKind && len(values) > 0
			for _, v := range values {
				s, ok := v.(string)
				known = known && ok
				q.texts = append(q.texts, s)
			}
		case "properties":
			properties, _ := v.(map[string]any)
			for name, p := range properties {
				q.names = append(q.names, name)
				q.members = append(q.members, newQuick(p))
			}
		case "additionalProperties":
			q.other = newQuick(v)
		case "items":
			q.items = newQuick(v)
		default:
			known = false
		}
		if !known {
			return nil
		}
	}
	required, _ := m["required"].([]any)
	for _, name := range required {
		i := slices.IndexFunc(q.names, func(n string) bool { return n == name })
		if i < 0 || i > 63 {
			return nil
		}
		q.required |= 1 << i
	}
	return q
}

// smallInteger reads an integer of a schema.
func smallInteger(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// fits says whether an instance plainly fits.
func (q *quick) fits(instance []byte) bool {
	rest, ok := q.value(instance)
	return ok && len(space(rest)) == 0
}

// value checks the value that text begins with, and gives what follows it.
func (q *quick) value(text []byte) (rest []byte, ok bool) {
	text = space(text)
	if q == nil || len(text) == 0 {
		return nil, false
	}
	switch c := text[0]; c {
	case '"':
		s, rest, ok := plainString(text)
		return rest, ok && q.kinds&stringKind != 0 && q.takes(s)
	case '{':
		return q.object(text[1:])
	case '[':
		return q.array(text[1:])
	case 't':
		return q.word(text, "true", boolKind)
	case 'f':
		return q.word(text, "false", boolKind)
	case 'n':
		return q.word(text, "null", nullKind)
	}
	return q.number(text)
}

func (q *quick) word(text []byte, word string, kind kinds) (rest []byte, ok bool) {
	if len(text) < len(word) || string(text[:len(word)]) != word {
		return nil, false
	}
	return text[len(word):], q.kinds&kind != 0
}

// takes says whether a string without escapes will do.
func (q *quick) takes(s []byte) bool {
	if q.texts != nil {
		return slices.ContainsFunc(q.texts, func(t string) bool { return t == string(s) })
	}
	n := int64(utf8.RuneCount(s))
	return q.minLength <= n && n <= q.maxLength
}

// number checks an integer without fraction and exponent.
func (q *quick) number(text []byte) (rest []byte, ok bool) {
	const most = 18 // digits that an int64 surely holds
	n := 0
	for n < len(text) && n <= most && (text[n] == '-' && n == 0 || '0' <= text[n] && text[n] <= '9') {
		n++
	}
	digits, rest := text[:n], text[n:]
	v, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || n > most || q.kinds&numberKind == 0 || len(rest) > 0 && strings.IndexByte(".eE", rest[0]) >= 0 {
		return nil, false
	}
	if digits = bytes.TrimPrefix(digits, []byte("-")); len(digits) > 1 && digits[0] == '0' {
		return nil, false // no JSON
	}
	return rest, q.min <= v && v <= q.max
}

// object checks an object from behind its brace.
func (q *quick) object(text []byte) (rest []byte, ok bool) {
	if q.kinds&objectKind == 0 {
		return nil, false
	}
	if text = space(text); len(text) > 0 && text[0] == '}' {
		return text[1:], q.required == 0
	}
	missing := q.required
	for {
		name, rest, ok := plainString(space(text))
		if rest = space(rest); !ok || len(rest) == 0 || rest[0] != ':' {
			return nil, false
		}
		of := q.other
		if i := slices.IndexFunc(q.names, func(n string) bool { return n == string(name) }); i >= 0 {
			of = q.members[i]
			missing &^= 1 << i
		}
		if rest, ok = of.value(rest[1:]); !ok {
			return nil, false
		}
		if rest = space(rest); len(rest) == 0 {
			return nil, false
		}
		switch rest[0] {
		case ',':
			text = rest[1:]
		case '}':
			return rest[1:], missing == 0
		default:
			return nil, false
		}
	}
}

// array checks an array from behind its bracket.
func (q *quick) array(text []byte) (rest []byte, ok bool) {
	if q.kinds&arrayKind == 0 {
		return nil, false
	}
	if text = space(text); len(text) > 0 && text[0] == ']' {
		return text[1:], true
	}
	for {
		rest, ok := q.items.value(text)
		if rest = space(rest); !ok || len(rest) == 0 {
			return nil, false
		}
		switch rest[0] {
		case ',':
			text = rest[1:]
		case ']':
			return rest[1:], true
		default:
			return nil, false
		}
	}
}

// plainString reads a string that has no escapes.
func plainString(text []byte) (s, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, nil, false
	}
	for i, c := range text[1:] {
		switch {
		case c == '"':
			s = text[1 : i+1]
			return s, text[i+2:], utf8.Valid(s)
		case c == '\\', c < ' ':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// space passes over white space.
func space(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}
