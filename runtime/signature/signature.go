// Package signature writes the arguments of a tool in one line, for lists in
// which a whole JSON Schema would be too long:
//
//	create_branch(repositoryId, name, project=Contoso, labels?: string[])
//	update_work_item(id: int, updates: {op: add|replace|remove, path, value?: any}[])
//
// Required arguments come first. Nested shapes are written out, enumerations by
// their values and defaults after =; plain strings carry no type.
package signature

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/tokens"
)

// MaxTokens bounds a signature, in o200k_base tokens.
const MaxTokens = 120

// maxDepth bounds how deep shapes are written out; it ends what a schema made by
// no compiler of ours may hold.
const maxDepth = 16

// Of gives the signature of a tool. One that would be longer than MaxTokens is
// cut at its optional arguments, and where the required ones alone are too long,
// their shapes are written less deep; … stands for what is missing.
func Of(t *catalog.Tool) string {
	for _, depth := range []int{maxDepth, 2, 1, 0} {
		required, optional := parameters(t.InputSchema, depth)
		if s, ok := longest(len(optional), func(n int) string { return write(t.Name, required, optional[:n], n < len(optional)) }); ok {
			return s
		}
	}
	required, optional := parameters(t.InputSchema, 0)
	s, _ := longest(len(required), func(n int) string { return write(t.Name, required[:n], nil, n < len(required)+len(optional)) })
	return s
}

// longest gives the longest of the texts of 0 to most parameters that MaxTokens
// leaves room for, and whether there is one; otherwise that of none.
func longest(most int, text func(int) string) (string, bool) {
	if s := text(most); tokens.Count(s) <= MaxTokens {
		return s, true
	}
	fits := text(0)
	if tokens.Count(fits) > MaxTokens {
		return fits, false
	}
	for n := 1; n < most; n++ { // counting up, so that thousands that there is no room for are not counted
		s := text(n)
		if tokens.Count(s) > MaxTokens {
			break
		}
		fits = s
	}
	return fits, true
}

func write(name string, required, optional []string, cut bool) string {
	all := slices.Concat(required, optional)
	if cut {
		all = append(all, "…")
	}
	return name + "(" + strings.Join(all, ", ") + ")"
}

// parameters gives the properties of an object schema, each as it stands in a
// signature, in the order of their declaration. depth bounds how deep shapes are
// written out.
func parameters(object json.RawMessage, depth int) (required, optional []string) {
	n := read(object)
	w := newWriter(n.Defs, depth)
	for _, p := range n.Properties {
		s := w.parameter(p.name, p.schema, slices.Contains(n.Required, p.name))
		if slices.Contains(n.Required, p.name) {
			required = append(required, s)
		} else {
			optional = append(optional, s)
		}
	}
	return required, optional
}

// schema is as much of JSON Schema as a signature tells.
type schema struct {
	Type        any             `json:"type"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Enum        values          `json:"enum"`
	Const       json.RawMessage `json:"const"`
	Default     json.RawMessage `json:"default"`
	Properties  properties      `json:"properties"`
	Required    []string        `json:"required"`
	Items       json.RawMessage `json:"items"`
	PrefixItems values          `json:"prefixItems"`
	Additional  json.RawMessage `json:"additionalProperties"`
	AnyOf       values          `json:"anyOf"`
	OneOf       values          `json:"oneOf"`
	Ref         string          `json:"$ref"`
	Defs        properties      `json:"$defs"`
}

type values []json.RawMessage

// properties keeps the order in which they are declared.
type properties []property

type property struct {
	name   string
	schema json.RawMessage
}

func (p *properties) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return err // no object: there are none
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		*p = append(*p, property{t.(string), raw})
	}
	return nil
}

// read reads a schema; what is none, true for one, says nothing.
func read(raw json.RawMessage) schema {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return schema{}
	}
	return s
}

// types gives the types that a schema names.
func (s schema) types() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		var names []string
		for _, x := range t {
			if name, ok := x.(string); ok {
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

// writer writes the shapes of one schema.
type writer struct {
	defs      properties
	following []string // references that are being written, against cycles
	followed  *int     // references that have been written
	depth     int
}

// maxFollowed bounds how many references of one schema are written out:
// definitions that all refer to each other would be written in every order that
// there is.
const maxFollowed = 200

func newWriter(defs properties, depth int) writer {
	return writer{defs: defs, followed: new(int), depth: depth}
}

// follow gives what a reference leads to, and a writer of what is within; false
// where its name alone is written, since it is being written already, or too
// much has been.
func (w writer) follow(name string) (json.RawMessage, writer, bool) {
	i := slices.IndexFunc(w.defs, func(p property) bool { return p.name == name })
	if i < 0 || slices.Contains(w.following, name) || w.depth <= 0 || *w.followed == maxFollowed {
		return nil, w, false
	}
	*w.followed++
	w.following = append(slices.Clone(w.following), name)
	return w.defs[i].schema, w, true
}

// parameter is one property: name, name: type, name?: type or name=default.
func (w writer) parameter(name string, raw json.RawMessage, required bool) string {
	s := read(raw)
	shape := w.shape(raw)
	text := word(name)
	if !required && s.Default == nil {
		text += "?"
	}
	if s.Default != nil && slices.Contains([]string{"int", "number", "bool"}, shape) {
		shape = "string" // the value says it
	}
	if shape != "string" {
		text += ": " + shape
	}
	if s.Default != nil {
		text += "=" + value(s.Default)
	}
	return text
}

// names are the types of JSON Schema as signatures write them.
var names = map[string]string{"integer": "int", "boolean": "bool", "array": "any[]"}

// shape writes the type of a value.
func (w writer) shape(raw json.RawMessage) string {
	s := read(raw)
	switch {
	case s.Ref != "":
		return w.reference(s.Ref)
	case len(s.Enum) == 1:
		return string(s.Enum[0])
	case s.Enum != nil:
		return alternatives(s.Enum, literal)
	case s.Const != nil:
		return string(s.Const) // a word alone would be read as a type
	case s.AnyOf != nil:
		return alternatives(s.AnyOf, w.shape)
	case s.OneOf != nil:
		return alternatives(s.OneOf, w.shape)
	}
	var all []string
	for _, t := range s.types() {
		switch {
		case t == "object":
			all = append(all, w.object(s))
		case t == "array" && s.PrefixItems != nil && w.depth > 0:
			inner := w.inner()
			parts := make([]string, len(s.PrefixItems))
			for i, p := range s.PrefixItems {
				parts[i] = inner.shape(p)
			}
			all = append(all, "["+strings.Join(parts, ", ")+"]")
		case t == "array" && s.Items != nil:
			item := w.shape(s.Items)
			if strings.Contains(item, "|") && !strings.HasPrefix(item, "{") {
				item = "(" + item + ")"
			}
			all = append(all, item+"[]")
		case t == "string" && s.Format != "":
			all = append(all, s.Format)
		case names[t] != "":
			all = append(all, names[t])
		default:
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return "any"
	}
	return strings.Join(all, "|")
}

// object writes {name, name?: type}, {[string]: type}, or object where there is
// nothing to tell, or it would be told too deep.
func (w writer) object(s schema) string {
	if w.depth <= 0 {
		return "object"
	}
	inner := w.inner()
	var parts []string
	for _, p := range s.Properties {
		parts = append(parts, inner.parameter(p.name, p.schema, slices.Contains(s.Required, p.name)))
	}
	switch more := string(s.Additional); {
	case more == "false":
	case more == "" || more == "true":
		if len(parts) == 0 {
			return "object"
		}
		parts = append(parts, "…")
	default:
		parts = append(parts, "[string]: "+inner.shape(s.Additional))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (w writer) inner() writer {
	w.depth--
	return w
}

// reference writes what $ref leads to, or its name where that is being written.
func (w writer) reference(ref string) string {
	name := refName(ref)
	if schema, in, ok := w.follow(name); ok {
		return in.inner().shape(schema)
	}
	return word(name)
}

// refName is the name of the definition that a reference leads to.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// alternatives joins what is written of each value, each once.
func alternatives(all values, write func(json.RawMessage) string) string {
	var parts []string
	for _, v := range all {
		if s := write(v); !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "|")
}

// plain is what stands in a signature without quotes.
var plain = regexp.MustCompile(`^[\pL\pN_$.:/@+-]+$`)

// word is a name as it stands in a signature.
func word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string is always valid
	}
	return string(b)
}

// typeNames are words that are read as types where a type may stand.
var typeNames = []string{"string", "int", "number", "bool", "object", "any", "null"}

// literal is value, in quotes where it would be read as a type.
func literal(raw json.RawMessage) string {
	if s := value(raw); !slices.Contains(typeNames, s) {
		return s
	}
	return string(raw)
}

// value is a JSON value as it stands in a signature: text without quotes where it
// can be read as nothing else.
func value(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil || string(raw) == "null" || json.Valid([]byte(s)) || !plain.MatchString(s) {
		return string(raw)
	}
	return s
}
