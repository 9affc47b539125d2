package signature

import (
	"encoding/json"
	"slices"
)

// Parameter is one property of an object, told at greater length than in a
// signature.
type Parameter struct {
	Name string `json:"name"`
	// Type is as in a signature; the members of an object are in Fields.
	Type string `json:"type"`
	// Limits are those of Argument.
	Limits      string          `json:"limits,omitempty"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	// Fields are the properties of an object, or of the objects of a list.
	Fields []Parameter `json:"fields,omitempty"`
}

// Parameters gives the properties of an object schema, as declared.
func Parameters(object json.RawMessage) []Parameter {
	s := read(object)
	return newWriter(s.Defs, maxDepth).fields(s)
}

// Shape writes the type of what a schema describes, as in a signature.
func Shape(raw json.RawMessage) string {
	return newWriter(read(raw).Defs, maxDepth).shape(raw)
}

func (w writer) fields(s schema) []Parameter {
	var all []Parameter
	for _, p := range s.Properties {
		own := read(p.schema)
		field := Parameter{Name: p.name, Limits: limits(p.schema), Required: slices.Contains(s.Required, p.name), Default: own.Default, Description: own.Description}
		inside, inner := w.inside(own)
		if inside.Properties != nil && w.depth > 0 {
			inner.depth--
			field.Fields = inner.fields(inside)
			inner.depth = 0
			field.Type = inner.shape(p.schema)
			if own.Ref != "" {
				field.Type = "object"
			}
		} else {
			field.Type = w.shape(p.schema)
		}
		all = append(all, field)
	}
	return all
}

// inside finds the object in a schema: the schema itself, that of the elements of
// a list, or what either refers to, once.
func (w writer) inside(s schema) (schema, writer) {
	for range maxDepth {
		switch {
		case s.Ref != "":
			to, in, ok := w.follow(refName(s.Ref))
			if !ok {
				return schema{}, w
			}
			s, w = read(to), in
		case slices.Equal(s.types(), []string{"array"}) && s.Items != nil:
			s = read(s.Items)
		case slices.Equal(s.types(), []string{"object"}):
			return s, w
		default:
			return schema{}, w
		}
	}
	return schema{}, w
}
