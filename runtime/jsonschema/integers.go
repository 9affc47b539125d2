package jsonschema

import (
	"bytes"
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// maxIntegerDigits bounds the integers that Integers writes out: 1e999999999
// stays as it is.
const maxIntegerDigits = 1000

// Integers gives an instance that Validate accepts with its numbers written as
// plain integers where the schema wants one. To JSON Schema 5.0 and 1e3 are
// integers (draft 2020-12 Validation §6.1.1); to CUE, and to many an API, they
// are not. Everything else stays byte for byte.
func (v *Validator) Integers(instance json.RawMessage) json.RawMessage {
	if !mayHoldFraction(instance) {
		return instance
	}
	w := integerWriter{root: v.raw()}
	var out bytes.Buffer
	if !w.write(&out, instance, []any{w.root}) || !w.changed {
		return instance
	}
	return out.Bytes()
}

// mayHoldFraction says whether some number may have a fraction or an exponent. A
// text can look like one.
func mayHoldFraction(instance json.RawMessage) bool {
	for i := 1; i < len(instance); i++ {
		switch instance[i] {
		case '.', 'e', 'E':
			if digit := instance[i-1]; '0' <= digit && digit <= '9' {
				return true
			}
		}
	}
	return false
}

type integerWriter struct {
	root    any
	changed bool
}

// write writes one value that any of the schemas may describe.
func (w *integerWriter) write(out *bytes.Buffer, value json.RawMessage, schemas []any) bool {
	schemas = w.expand(schemas, 0)
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return false
	}
	switch value[0] {
	case '{', '[':
		return w.writeMembers(out, value, schemas)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if bytes.ContainsAny(value, ".eE") && wantInteger(schemas) {
			if n, ok := plainInteger(string(value)); ok {
				w.changed = true
				out.WriteString(n)
				return true
			}
		}
	}
	out.Write(value)
	return true
}

func (w *integerWriter) writeMembers(out *bytes.Buffer, value json.RawMessage, schemas []any) bool {
	d := json.NewDecoder(bytes.NewReader(value))
	if _, err := d.Token(); err != nil {
		return false
	}
	object := value[0] == '{'
	out.WriteByte(value[0])
	for i := 0; d.More(); i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		var below []any
		if object {
			start := d.InputOffset()
			token, err := d.Token()
			if err != nil {
				return false
			}
			// The name as it is written, escapes and all.
			out.Write(bytes.TrimLeft(value[start:d.InputOffset()], ", \t\r\n"))
			out.WriteByte(':')
			below = memberSchemas(schemas, token.(string))
		} else {
			below = elementSchemas(schemas, i)
		}
		var member json.RawMessage
		if err := d.Decode(&member); err != nil || !w.write(out, member, below) {
			return false
		}
	}
	out.WriteByte(value[0] + 2) // '{' and '}', '[' and ']' are two apart
	return true
}

// expand adds the schemas that apply to the same value: what $ref points to, and
// the arms of anyOf, oneOf and allOf.
func (w *integerWriter) expand(schemas []any, depth int) []any {
	if depth > 16 {
		return nil
	}
	var out []any
	for _, s := range schemas {
		m, ok := s.(map[string]any)
		if !ok {
			continue
		}
		out = append(out, m)
		var more []any
		if ref, ok := m["$ref"].(string); ok {
			if target, ok := pointer(w.root, strings.TrimPrefix(ref, "#")); ok {
				more = append(more, target)
			}
		}
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			if arms, ok := m[key].([]any); ok {
				more = append(more, arms...)
			}
		}
		out = append(out, w.expand(more, depth+1)...)
	}
	return out
}

// pointer follows a JSON pointer (RFC 6901).
func pointer(v any, p string) (any, bool) {
	if p == "" {
		return v, true
	}
	for _, name := range strings.Split(strings.TrimPrefix(p, "/"), "/") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]; !ok {
			return nil, false
		}
	}
	return v, true
}

// wantInteger says whether a number here must be an integer: some schema says
// so, and none takes other numbers.
func wantInteger(schemas []any) bool {
	integer := false
	for _, s := range schemas {
		m := s.(map[string]any)
		var types []any
		switch t := m["type"].(type) {
		case string:
			types = []any{t}
		case []any:
			types = t
		}
		if slices.Contains(types, any("number")) {
			return false
		}
		integer = integer || slices.Contains(types, any("integer"))
		values, _ := m["enum"].([]any)
		if c, ok := m["const"]; ok {
			values = append(values, c)
		}
		for _, v := range values {
			if n, ok := v.(json.Number); ok {
				integer = integer || !strings.ContainsAny(n.String(), ".eE")
			}
		}
	}
	return integer
}

func memberSchemas(schemas []any, name string) []any {
	var out []any
	for _, s := range schemas {
		m := s.(map[string]any)
		known := false
		if properties, ok := m["properties"].(map[string]any); ok {
			if p, ok := properties[name]; ok {
				out, known = append(out, p), true
			}
		}
		if patterns, ok := m["patternProperties"].(map[string]any); ok {
			for expr, p := range patterns {
				if ok, err := regexp.MatchString(expr, name); ok && err == nil {
					out, known = append(out, p), true
				}
			}
		}
		if !known {
			out = append(out, m["additionalProperties"])
		}
	}
	return out
}

func elementSchemas(schemas []any, i int) []any {
	var out []any
	for _, s := range schemas {
		m := s.(map[string]any)
		if prefix, ok := m["prefixItems"].([]any); ok && i < len(prefix) {
			out = append(out, prefix[i])
			continue
		}
		out = append(out, m["items"])
	}
	return out
}

// plainInteger writes a number without fraction and exponent, if it is an
// integer.
func plainInteger(s string) (string, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if len(mantissa) > maxIntegerDigits || len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return "", false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return "", false
	}
	return r.Num().String(), true
}
