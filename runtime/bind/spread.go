package bind

import (
	"slices"
	"strings"
)

// spread gives fields with each nameless one replaced by the members of its
// value: names that are known only when the call is made.
func (b *builder) spread(what string, fields []Field) []Field {
	if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == "" }) {
		return fields
	}
	var out []Field
	for _, f := range fields {
		if f.Name != "" {
			out = append(out, f)
			continue
		}
		t := target{what: what, node: f.Value}
		v, ok := b.value(t)
		switch {
		case !ok || len(v) == 0:
		case kind(v) != kindObject:
			b.fault(t, "values by name are needed, not %s", kindNames[kind(v)])
		default:
			for name, value := range members(v) {
				n, err := unquote(name)
				if err != nil {
					b.fault(t, "has a name that cannot be sent: %v", err)
					continue
				}
				out = append(out, Field{Name: string(n), Value: Const(value)})
			}
		}
	}
	return out
}

// baseFields gives the fields of the upstream that the request does not set
// itself: one of the same name with a value takes its place.
func (b *builder) baseFields(what string, base, own []Field, same func(a, b string) bool) []Field {
	var out []Field
	for _, f := range base {
		if !slices.ContainsFunc(own, func(o Field) bool { return same(o.Name, f.Name) && b.given(what, o) }) {
			out = append(out, f)
		}
	}
	return out
}

// given says whether a field has a value.
func (b *builder) given(what string, f Field) bool {
	faults := b.faults
	v, ok := b.value(target{what, f.Name, f.Value})
	b.faults = faults // a fault is noted where the field is written
	return !ok || len(v) > 0 && kind(v) != kindNull
}

func sameName(a, b string) bool   { return a == b }
func sameHeader(a, b string) bool { return strings.EqualFold(a, b) }
