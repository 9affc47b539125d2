package jsonschema

import (
	"encoding/json"
	"maps"
	"slices"
)

// Names gives the names of the properties that a schema declares for the object
// at a place of an instance, sorted.
func Names(schema json.RawMessage, path []string) []string {
	root, err := decode(schema)
	if err != nil {
		return nil
	}
	w := integerWriter{root: root}
	at := w.expand([]any{root}, 0)
	for _, name := range path {
		var below []any
		below = append(below, memberSchemas(at, name)...)
		below = append(below, elementSchemas(at, 0)...)
		at = w.expand(below, 0)
	}
	names := map[string]bool{}
	for _, s := range at {
		properties, _ := s.(map[string]any)["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
