package search

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/metacue/metacue/runtime/catalog"
)

// fields are the parts of a tool that are searched, the weightiest first. weight
// is what a word there counts, and b, from 0 to 1, how much less it counts where
// the part is longer than it is in other tools.
var fields = []struct {
	name      string
	weight, b float64
	texts     func(*catalog.Tool, *catalog.Domain, input) []string
}{
	{"name", 3, 0.5, func(t *catalog.Tool, _ *catalog.Domain, _ input) []string { return []string{t.Name} }},
	{"alias", 2, 0.5, func(t *catalog.Tool, _ *catalog.Domain, _ input) []string { return t.Aliases }},
	{"title", 2, 0.5, func(t *catalog.Tool, _ *catalog.Domain, _ input) []string { return []string{t.Title} }},
	{"description", 1, 0.75, func(t *catalog.Tool, _ *catalog.Domain, _ input) []string { return []string{t.Description} }},
	{"argument", 0.5, 0.75, func(_ *catalog.Tool, _ *catalog.Domain, in input) []string { return in.names }},
	{"example", 0.4, 0.75, func(t *catalog.Tool, _ *catalog.Domain, _ input) []string { return exampleTexts(t) }},
	{"argument description", 0.3, 0.75, func(_ *catalog.Tool, _ *catalog.Domain, in input) []string { return in.descriptions }},
	{"value", 0.3, 0.75, func(_ *catalog.Tool, _ *catalog.Domain, in input) []string { return in.values }},
	{"domain", 0.3, 0.75, func(_ *catalog.Tool, d *catalog.Domain, _ input) []string {
		return []string{d.Name, d.Summary}
	}},
}

// fieldSet is a set of fields: bit i is fields[i].
type fieldSet uint16

func (s fieldSet) names() []string {
	var names []string
	for i, f := range fields {
		if s&(1<<i) != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

func exampleTexts(t *catalog.Tool) []string {
	var texts []string
	for _, e := range t.Examples {
		texts = append(texts, e.Description)
	}
	return texts
}

// input is the text of an input schema.
type input struct{ names, descriptions, values []string }

// maxSchemaDepth bounds how deep a schema is read: what is deeper says little of
// the tool.
const maxSchemaDepth = 8

// readSchema gives the text of the arguments of a tool, nested ones included.
func readSchema(t *catalog.Tool) input {
	var in input
	var s schema
	if json.Unmarshal(t.InputSchema, &s) == nil { // compile made it: it is one
		in.add(s, 0)
	}
	return in
}

// schema is what of a JSON Schema is searched.
type schema struct {
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	AnyOf       []schema          `json:"anyOf"`
	Defs        map[string]schema `json:"$defs"`
}

func (in *input) add(s schema, depth int) {
	if depth > maxSchemaDepth {
		return
	}
	in.descriptions = append(in.descriptions, s.Description)
	for _, v := range s.Enum {
		in.values = append(in.values, fmt.Sprint(v))
	}
	for name, p := range s.Properties {
		in.names = append(in.names, name)
		in.add(p, depth+1)
	}
	if s.Items != nil {
		in.add(*s.Items, depth+1)
	}
	for _, arm := range slices.Concat(s.AnyOf, mapValues(s.Defs)) {
		in.add(arm, depth+1)
	}
}

func mapValues(m map[string]schema) []schema {
	var all []schema
	for _, s := range m {
		all = append(all, s)
	}
	return all
}
