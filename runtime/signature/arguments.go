package signature

import (
	"encoding/json"
	"slices"
)

// Argument is one argument of a tool, for tables.
type Argument struct {
	Name string
	// Type is as signatures write it: string, int, a|b, {op, path, value?: any}[].
	Type     string
	Required bool
	// Default is JSON, nil when there is none.
	Default json.RawMessage
	// Description is the operator's, "" when there is none.
	Description string
	// Examples are JSON.
	Examples []json.RawMessage
}

// Arguments gives the properties of an object schema in the order of their
// declaration.
func Arguments(object json.RawMessage) []Argument {
	n := read(object)
	w := writer{defs: n.Defs, depth: maxDepth}
	var all []Argument
	for _, p := range n.Properties {
		var notes struct {
			Description string            `json:"description"`
			Examples    []json.RawMessage `json:"examples"`
		}
		_ = json.Unmarshal(p.schema, &notes) // true says nothing
		all = append(all, Argument{
			Name:        p.name,
			Type:        w.shape(p.schema),
			Required:    slices.Contains(n.Required, p.name),
			Default:     read(p.schema).Default,
			Description: notes.Description,
			Examples:    notes.Examples,
		})
	}
	return all
}
