package search

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/catalog"
)

// fields are the parts of a tool that are searched, the weightiest first. weight
// is what a word there counts; b, from 0 to 1, how much less it counts where that
// part is longer than it is in other tools.
var fields = []struct {
	name      string
	weight, b float64
	texts     func(source) []string
}{
	{"name", 2.5, 0.5, func(s source) []string { return []string{s.tool.Name} }},
	{"alias", 2, 0.75, func(s source) []string { return s.tool.Aliases }},
	{"title", 2, 0.5, func(s source) []string { return []string{s.tool.Title} }},
	{"summary", 1, 0.2, func(s source) []string { first, _ := sentence(s.tool.Description); return []string{first} }},
	{"description", 0.7, 0.2, func(s source) []string { _, rest := sentence(s.tool.Description); return []string{rest} }},
	{"argument", 0.6, 0.75, func(s source) []string { return s.input.names }},
	{"example", 0.4, 0.75, source.examples},
	{"argument description", 0.2, 0.75, func(s source) []string { return s.input.descriptions }},
	{"value", 0.2, 0.75, func(s source) []string { return s.input.values }},
	{"action", 0.2, 0.75, func(s source) []string { return []string{s.action.Name, s.action.Description} }},
	{"domain", 0.2, 0.75, func(s source) []string { return []string{s.domain.Name, s.domain.Description, s.domain.Summary} }},
}

// fieldSet is a set of fields: bit i is fields[i].
type fieldSet uint16

// inName is the first of the fields.
const inName fieldSet = 1

func (s fieldSet) names() []string {
	var names []string
	for i, f := range fields {
		if s&(1<<i) != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// source is all that there is to read of a tool.
type source struct {
	tool   *catalog.Tool
	domain *catalog.Domain
	action catalog.Action
	input  input
}

func (s source) examples() []string {
	var texts []string
	for _, e := range s.tool.Examples {
		texts = append(texts, e.Description)
	}
	return texts
}

// sentence splits a text behind its first sentence or line: what a tool is for
// stands there, and what else may be said of it comes after.
func sentence(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	for i := 1; i < len(text); i++ {
		if text[i] == '\n' || text[i] == ' ' && strings.IndexByte(".!?;", text[i-1]) >= 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// input is the text of an input schema, nested arguments included.
type input struct{ names, descriptions, values []string }

func readInput(inputSchema json.RawMessage) input {
	var in input
	var s schema
	if json.Unmarshal(inputSchema, &s) == nil { // compile made it: it is JSON
		s.read(&in)
	}
	return in
}

// schema is what of a JSON Schema is searched.
type schema struct {
	Description          string
	Enum                 []json.RawMessage
	Const                json.RawMessage
	Properties, Defs     map[string]schema
	Items                *schema
	AdditionalProperties *schema
	AnyOf, OneOf, AllOf  []schema
}

// UnmarshalJSON reads a schema; one that is true or false says nothing.
func (s *schema) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte("{")) {
		return nil
	}
	type plain schema
	in := struct {
		*plain
		Defs map[string]schema `json:"$defs"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	s.Defs = in.Defs
	return nil
}

func (s *schema) read(in *input) {
	in.descriptions = append(in.descriptions, s.Description)
	for _, v := range append(slices.Clone(s.Enum), s.Const) {
		in.values = append(in.values, string(v))
	}
	for name, p := range s.Properties {
		in.names = append(in.names, name)
		p.read(in)
	}
	for _, d := range s.Defs {
		d.read(in)
	}
	for _, sub := range []*schema{s.Items, s.AdditionalProperties} {
		if sub != nil {
			sub.read(in)
		}
	}
	for _, arm := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		arm.read(in)
	}
}
