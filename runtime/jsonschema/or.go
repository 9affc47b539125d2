package jsonschema

import (
	"regexp"
	"slices"
)

// or is the values that are in one of the shapes at least. whole says that the
// result is what CUE accepts as a value; otherwise it is an operand of a
// validator such as matchN.
func or(arms []*shape, whole bool) *shape {
	r := &shape{exact: true}
	var plain, nested []*shape
	for _, arm := range arms {
		r.exact = r.exact && arm.exact
		if arm.empty() {
			continue
		}
		r.kinds |= arm.kinds
		r.fills = r.fills || arm.fills
		r.pending = union(r.pending, arm.pending)
		if arm.kinds&(arrayKind|objectKind) == 0 {
			plain = mergeInto(plain, arm)
		} else {
			nested = mergeInto(nested, arm)
		}
	}
	kept := nested
	for _, arm := range plain {
		if len(nested) == 1 {
			kept = mergeInto(kept, arm)
		} else {
			kept = append(kept, arm)
		}
	}
	switch len(kept) {
	case 0:
		return r
	case 1:
		if !r.exact {
			return kept[0].inexact()
		}
		return kept[0]
	}
	ambiguous := false
	for i, a := range kept {
		for _, b := range kept[:i] {
			ambiguous = ambiguous || !distinct(a, b, whole)
		}
	}
	if ambiguous {
		// As a value, CUE refuses what fits several arms without coming out
		// the same in each. As an operand, it lets such a value pass even when
		// no arm would take it alone.
		r.exact = false
		if !whole {
			return r
		}
	}
	r.also = []clause{{op: opAny, of: kept}}
	r.num.integer = r.kinds == numberKind && !slices.ContainsFunc(kept, func(a *shape) bool { return !a.num.whole() })
	return r
}

func mergeInto(arms []*shape, arm *shape) []*shape {
	for i, a := range arms {
		if mergeable(a, arm) {
			arms[i] = merge(a, arm)
			return arms
		}
	}
	return append(arms, arm)
}

// mergeable says that the union of two shapes can be said by types alone.
func mergeable(a, b *shape) bool {
	if len(a.also) > 0 || len(b.also) > 0 {
		return false
	}
	both := a.kinds & b.kinds
	if both&(arrayKind|objectKind) != 0 {
		return false
	}
	if both&numberKind != 0 {
		if _, ok := orNumbers(a.num, b.num); !ok {
			return false
		}
	}
	if both&stringKind != 0 {
		if _, ok := orTexts(a.str, b.str); !ok {
			return false
		}
	}
	return true
}

func merge(a, b *shape) *shape {
	both := a.kinds & b.kinds
	r := *a
	r.kinds |= b.kinds
	r.exact = a.exact && b.exact
	r.fills = a.fills || b.fills
	r.pending = union(a.pending, b.pending)
	pick := func(k kinds, take, join func()) {
		switch {
		case both&k != 0:
			join()
		case b.kinds&k != 0:
			take()
		}
	}
	pick(boolKind, func() { r.bools = b.bools }, func() {
		if a.bools != b.bools {
			r.bools = 0
		}
	})
	pick(numberKind, func() { r.num = b.num }, func() { r.num, _ = orNumbers(a.num, b.num) })
	pick(stringKind, func() { r.str = b.str }, func() { r.str, _ = orTexts(a.str, b.str) })
	pick(arrayKind, func() { r.arr = b.arr }, nil)
	pick(objectKind, func() { r.obj = b.obj }, nil)
	return &r
}

func orNumbers(a, b numbers) (numbers, bool) {
	switch {
	case a.free() || b.free():
		return numbers{}, true
	case a.enum != nil && b.enum != nil:
		return numbers{enum: unionBy(a.enum, b.enum, sameDecimal)}, true
	case a.onlyInteger() && b.whole():
		return a, true
	case b.onlyInteger() && a.whole():
		return b, true
	}
	return numbers{}, false
}

// onlyInteger says that the set is all integers.
func (n numbers) onlyInteger() bool {
	n.integer = !n.integer
	return n.free()
}

// whole says that the set holds integers only.
func (n numbers) whole() bool {
	return n.integer || n.enum != nil && !slices.ContainsFunc(n.enum, func(d decimal) bool { return !d.val.IsInt() })
}

func orTexts(a, b texts) (texts, bool) {
	switch {
	case a.free() || b.free():
		return texts{}, true
	case a.enum != nil && b.enum != nil && a.formats == nil && b.formats == nil:
		return texts{enum: unionBy(a.enum, b.enum, equal)}, true
	}
	return texts{}, false
}

// distinct says that what is in one shape is an error in the other, to CUE, so
// that it never has to choose. That an object lacks a member is no error to it:
// it keeps such an alternative.
func distinct(a, b *shape, whole bool) bool {
	both := a.kinds & b.kinds
	if both&arrayKind != 0 && (a.mayHoldObjects() || b.mayHoldObjects()) || both&objectKind != 0 && !whole {
		return false
	}
	return both&objectKind == 0 || apart(a, b) && apart(b, a)
}

// mayHoldObjects says whether an array of the shape can have objects in it.
func (s *shape) mayHoldObjects() bool {
	if len(s.also) > 0 {
		return true
	}
	deep := func(e *shape) bool {
		return e.kinds&objectKind != 0 || e.kinds&arrayKind != 0 && e.mayHoldObjects()
	}
	if slices.ContainsFunc(s.arr.prefix, deep) {
		return true
	}
	if s.arr.rest == nil {
		return s.arr.max == nil || *s.arr.max > len(s.arr.prefix)
	}
	return deep(s.arr.rest)
}

// apart says that a requires a member that b refuses, or refuses with all the
// values that a allows for it.
func apart(a, b *shape) bool {
	if len(a.also) > 0 || len(b.also) > 0 {
		return false
	}
	for _, p := range a.obj.props {
		if !p.required {
			continue
		}
		i := slices.IndexFunc(b.obj.props, func(q property) bool { return q.name == p.name })
		if i < 0 {
			if b.obj.closed && !slices.ContainsFunc(b.obj.patterns, func(r pattern) bool { return matches(r.re, p.name) }) {
				return true
			}
			continue
		}
		if p.of.kinds&b.obj.props[i].of.kinds == 0 {
			return true
		}
		one, ok := p.of.finite()
		other, ok2 := b.obj.props[i].of.finite()
		if ok && ok2 && !slices.ContainsFunc(one, func(v string) bool { return slices.Contains(other, v) }) {
			return true
		}
	}
	return false
}

// matches says whether a name may be one that the expression accepts.
func matches(re, name string) bool {
	ok, err := regexp.MatchString(re, name)
	return ok || err != nil
}
