package expect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/metacue/metacue/runtime/clip"
)

// maxDifferences bounds what is told of one comparison.
const maxDifferences = 10

// compareJSON tells how two JSON values differ, place by place. Numbers are
// equal when they are written alike: every digit counts.
func compareJSON(what string, got, want json.RawMessage) []string {
	g, gerr := decode(got)
	w, werr := decode(want)
	if gerr != nil || werr != nil {
		if bytes.Equal(got, want) {
			return nil
		}
		return []string{fmt.Sprintf("%s is %s", what, short(string(got)))}
	}
	var out []string
	compare(what, g, w, func(format string, args ...any) {
		if len(out) == maxDifferences {
			out = append(out, "and more")
		}
		if len(out) < maxDifferences {
			out = append(out, fmt.Sprintf(format, args...))
		}
	})
	return out
}

func compare(at string, got, want any, tell func(string, ...any)) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, name := range sortedKeys(w) {
			if v, ok := g[name]; ok {
				compare(member(at, name), v, w[name], tell)
			} else {
				tell("%s is missing", member(at, name))
			}
		}
		for _, name := range sortedKeys(g) {
			if _, ok := w[name]; !ok {
				tell("%s is not expected: %s", member(at, name), encode(g[name]))
			}
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(g), len(w)) {
			place := fmt.Sprintf("%s[%d]", at, i)
			switch {
			case i >= len(g):
				tell("%s is missing", place)
			case i >= len(w):
				tell("%s is not expected: %s", place, encode(g[i]))
			default:
				compare(place, g[i], w[i], tell)
			}
		}
		return
	default:
		if got == want { // scalars, and json.Number by its digits
			return
		}
	}
	tell("%s is %s, not %s", at, encode(got), encode(want))
}

func decode(data json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return short(string(b))
}

// short cuts a text for a message.
func short(s string) string { return clip.Text(s, 200) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
