package signature

import (
	"encoding/json"
	"slices"
	"strings"
)

// Argument is one argument of a tool, for tables.
type Argument struct {
	Name string
	// Type is as signatures write it: string, int, a|b, {op, path, value?: any}[].
	Type string
	// Limits are what the schema demands of a value besides, in words: "1 to 100",
	// "not empty", "matches ^refs/"; "" for nothing.
	Limits   string
	Required bool
	// Default is JSON, nil when there is none.
	Default json.RawMessage
	// Description is the operator's, "" when there is none.
	Description string
	// Examples are JSON, and so are Values, all that it can be; nil when those are
	// not counted.
	Examples, Values []json.RawMessage
}

// Arguments gives the properties of an object schema in the order of their
// declaration.
func Arguments(object json.RawMessage) []Argument {
	n := read(object)
	w := newWriter(n.Defs, maxDepth)
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
			Limits:      limits(p.schema),
			Required:    slices.Contains(n.Required, p.name),
			Default:     read(p.schema).Default,
			Description: notes.Description,
			Examples:    notes.Examples,
			Values:      read(p.schema).Enum,
		})
	}
	return all
}

// bounds are the keywords of JSON Schema that limit values (Validation, section 6).
type bounds struct {
	Minimum          json.RawMessage `json:"minimum"`
	Maximum          json.RawMessage `json:"maximum"`
	ExclusiveMinimum json.RawMessage `json:"exclusiveMinimum"`
	ExclusiveMaximum json.RawMessage `json:"exclusiveMaximum"`
	MultipleOf       json.RawMessage `json:"multipleOf"`
	MinLength        json.RawMessage `json:"minLength"`
	MaxLength        json.RawMessage `json:"maxLength"`
	MinItems         json.RawMessage `json:"minItems"`
	MaxItems         json.RawMessage `json:"maxItems"`
	Pattern          string          `json:"pattern"`
}

// limits words the limits of a schema.
func limits(schema json.RawMessage) string {
	var b bounds
	if json.Unmarshal(schema, &b) != nil {
		return "" // true limits nothing
	}
	var all []string
	add := func(s string) {
		if s != "" {
			all = append(all, s)
		}
	}
	add(between(b.Minimum, b.Maximum, ""))
	if b.ExclusiveMinimum != nil {
		add("above " + string(b.ExclusiveMinimum))
	}
	if b.ExclusiveMaximum != nil {
		add("below " + string(b.ExclusiveMaximum))
	}
	if b.MultipleOf != nil {
		add("a multiple of " + string(b.MultipleOf))
	}
	if string(b.MinLength) == "1" && b.MaxLength == nil {
		add("not empty")
	} else {
		add(between(b.MinLength, b.MaxLength, " characters"))
	}
	if string(b.MinItems) == "1" && b.MaxItems == nil {
		add("not empty")
	} else {
		add(between(b.MinItems, b.MaxItems, " elements"))
	}
	if b.Pattern != "" {
		add("matches " + b.Pattern)
	}
	return strings.Join(all, ", ")
}

// between words a range; "" where neither end is given.
func between(low, high json.RawMessage, of string) string {
	switch {
	case low != nil && high != nil:
		return string(low) + " to " + string(high) + of
	case low != nil:
		return "at least " + string(low) + of
	case high != nil:
		return "at most " + string(high) + of
	}
	return ""
}
