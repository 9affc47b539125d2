package jsonschema

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"unicode/utf8"

	"cuelang.org/go/cue"
)

// and is the values that are in both shapes.
func and(a, b *shape) *shape {
	switch {
	case a.isAny() && a.solid():
		return b
	case b.isAny() && b.solid():
		return a
	}
	r := &shape{
		kinds:   a.kinds & b.kinds,
		exact:   a.exact && b.exact,
		fills:   a.fills || b.fills,
		pending: union(a.pending, b.pending),
		also:    slices.Concat(a.also, b.also),
	}
	drop := func(k kinds, keep bool) {
		if !keep {
			r.kinds &^= k
		}
	}
	if r.kinds&boolKind != 0 {
		var keep bool
		r.bools, keep = andBools(a.bools, b.bools)
		drop(boolKind, keep)
	}
	if r.kinds&numberKind != 0 {
		var keep bool
		r.num, keep = andNumbers(a.num, b.num)
		drop(numberKind, keep)
	}
	if r.kinds&stringKind != 0 {
		var keep bool
		r.str, keep = andTexts(a.str, b.str)
		drop(stringKind, keep)
	}
	if r.kinds&arrayKind != 0 {
		var keep bool
		r.arr, keep = andLists(a.arr, b.arr)
		drop(arrayKind, keep)
	}
	if r.kinds&objectKind != 0 {
		var rest members
		var keep bool
		r.obj, rest, keep = andMembers(a.obj, b.obj)
		drop(objectKind, keep)
		if keep && !rest.free() {
			// What CUE fills in on one side may not fit the other.
			r.exact = r.exact && !r.fills
			r.also = append(r.also, clause{op: opAll, of: []*shape{{kinds: anyKind, obj: rest, exact: true}}})
		}
	}
	return r.pruned()
}

// pruned leaves out alternatives that cannot be.
func (s *shape) pruned() *shape {
	for i, c := range s.also {
		if s.kinds == noKind {
			break
		}
		if c.op != opAny {
			continue
		}
		arms := make([]*shape, 0, len(c.of))
		for _, arm := range c.of {
			if arm.kinds&s.kinds != 0 {
				arms = append(arms, arm)
			}
		}
		if len(arms) == len(c.of) {
			continue
		}
		rest := *s
		rest.also = slices.Delete(slices.Clone(s.also), i, i+1)
		switch len(arms) {
		case 0:
			return &shape{exact: s.exact}
		case 1:
			return and(&rest, arms[0])
		}
		rest.also = append(rest.also, clause{op: opAny, of: arms})
		return rest.pruned()
	}
	if s.kinds == noKind {
		return &shape{exact: s.exact}
	}
	return s
}

func union(a, b []*frame) []*frame {
	if len(b) == 0 {
		return a
	}
	r := slices.Clone(a)
	for _, f := range b {
		if !slices.Contains(r, f) {
			r = append(r, f)
		}
	}
	return r
}

func andBools(a, b bools) (bools, bool) {
	switch {
	case a == 0:
		return b, true
	case b == 0 || a == b:
		return a, true
	}
	return 0, false
}

func andNumbers(a, b numbers) (numbers, bool) {
	r := numbers{
		integer:   a.integer || b.integer,
		min:       tighter(a.min, b.min, 1),
		max:       tighter(a.max, b.max, -1),
		multiples: unionBy(a.multiples, b.multiples, sameDecimal),
		not:       unionBy(a.not, b.not, sameDecimal),
	}
	if r.integer {
		r.min, r.max = r.min.whole(1), r.max.whole(-1)
	}
	if a.enum == nil && b.enum == nil {
		if r.min != nil && r.max != nil {
			c := r.min.val.Cmp(r.max.val)
			return r, c < 0 || c == 0 && !r.min.open && !r.max.open
		}
		return r, true
	}
	enum := a.enum
	if enum == nil {
		enum = b.enum
	}
	left := numbers{enum: []decimal{}}
	for _, d := range enum {
		if r.holds(d) && (b.enum == nil || containsBy(b.enum, d, sameDecimal)) {
			left.enum = append(left.enum, d)
		}
	}
	return left, len(left.enum) > 0
}

// holds says whether d is within what is said beside the enumeration.
func (n numbers) holds(d decimal) bool {
	if n.integer && !d.val.IsInt() {
		return false
	}
	if n.min != nil {
		if c := d.val.Cmp(n.min.val); c < 0 || c == 0 && n.min.open {
			return false
		}
	}
	if n.max != nil {
		if c := d.val.Cmp(n.max.val); c > 0 || c == 0 && n.max.open {
			return false
		}
	}
	for _, m := range n.multiples {
		if !new(big.Rat).Quo(d.val, m.val).IsInt() {
			return false
		}
	}
	return !containsBy(n.not, d, sameDecimal)
}

func sameDecimal(a, b decimal) bool { return a.val.Cmp(b.val) == 0 }

// tighter picks the bound that leaves less: the greater one for a minimum
// (sign 1), the lesser for a maximum (sign -1).
func tighter(a, b *edge, sign int) *edge {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	if c := sign * a.val.Cmp(b.val); c > 0 || c == 0 && a.open {
		return a
	}
	return b
}

// whole is the bound of the integers within b: sign 1 for a minimum, -1 for a
// maximum.
func (b *edge) whole(sign int64) *edge {
	if b == nil || b.val.IsInt() && !b.open {
		return b
	}
	z := new(big.Int)
	// Div rounds down, as the denominator is positive.
	z.Div(b.val.Num(), b.val.Denom())
	if sign > 0 || b.val.IsInt() {
		if sign > 0 {
			z.Add(z, big.NewInt(1))
		} else {
			z.Sub(z, big.NewInt(1))
		}
	}
	return &edge{decimal: decimal{z.String(), new(big.Rat).SetInt(z)}}
}

func andTexts(a, b texts) (texts, bool) {
	r := texts{
		min:      max(a.min, b.min),
		max:      least(a.max, b.max),
		patterns: unionBy(a.patterns, b.patterns, equal),
		unlike:   unionBy(a.unlike, b.unlike, equal),
		formats:  unionBy(a.formats, b.formats, equal),
		not:      unionBy(a.not, b.not, equal),
	}
	if a.enum == nil && b.enum == nil {
		return r, r.max == nil || r.min <= *r.max
	}
	enum := a.enum
	if enum == nil {
		enum = b.enum
	}
	left := texts{enum: []string{}, formats: r.formats}
	for _, s := range enum {
		if r.holds(s) && (b.enum == nil || slices.Contains(b.enum, s)) {
			left.enum = append(left.enum, s)
		}
	}
	return left, len(left.enum) > 0
}

// holds says whether s is within what is said beside enumeration and formats.
func (t texts) holds(s string) bool {
	n := utf8.RuneCountInString(s)
	if n < t.min || t.max != nil && n > *t.max || slices.Contains(t.not, s) {
		return false
	}
	for _, p := range t.patterns {
		if ok, err := regexp.MatchString(p, s); err == nil && !ok {
			return false
		}
	}
	for _, p := range t.unlike {
		if ok, err := regexp.MatchString(p, s); err == nil && ok {
			return false
		}
	}
	return true
}

func andLists(a, b lists) (lists, bool) {
	r := lists{
		min:      max(a.min, b.min),
		max:      least(a.max, b.max),
		unique:   a.unique || b.unique,
		contains: slices.Concat(a.contains, b.contains),
	}
	for i := range max(len(a.prefix), len(b.prefix)) {
		r.prefix = append(r.prefix, and(a.at(i), b.at(i)))
	}
	switch {
	case a.rest == nil:
		r.rest = b.rest
	case b.rest == nil:
		r.rest = a.rest
	default:
		r.rest = and(a.rest, b.rest)
	}
	return r, r.max == nil || r.min <= *r.max
}

// at is the shape of the element at i.
func (l lists) at(i int) *shape {
	switch {
	case i < len(l.prefix):
		return l.prefix[i]
	case l.rest != nil:
		return l.rest
	}
	return anything
}

// andMembers merges two sets of objects; rest is what of b could not be
// merged and stands beside. ok is false when nothing is in both.
func andMembers(a, b members) (merged, rest members, ok bool) {
	if !a.names() {
		a, b = b, a
	}
	merged = a
	merged.open = a.open || b.open
	merged.min = max(a.min, b.min)
	merged.max = least(a.max, b.max)
	switch {
	case !b.names():
	case a.closed || b.closed || a.rest != nil || b.rest != nil:
		rest = members{props: b.props, patterns: b.patterns, rest: b.rest, closed: b.closed, need: b.need}
	default:
		merged.patterns = slices.Concat(a.patterns, b.patterns)
		merged.need = unionBy(a.need, b.need, equal)
		merged.props = slices.Clone(a.props)
		for _, p := range b.props {
			i := slices.IndexFunc(merged.props, func(q property) bool { return q.name == p.name })
			if i < 0 {
				merged.props = append(merged.props, p)
				continue
			}
			q := &merged.props[i]
			q.of = and(q.of, p.of)
			q.required = q.required || p.required
			if q.mark == cue.OptionalConstraint {
				q.mark = p.mark
			}
			if q.of.empty() && q.mark != cue.OptionalConstraint {
				return members{}, members{}, false
			}
			q.notes.doc = cmp.Or(q.notes.doc, p.notes.doc)
		}
	}
	return merged, rest, true
}

func equal(a, b string) bool { return a == b }

func containsBy[T any](all []T, x T, same func(a, b T) bool) bool {
	return slices.ContainsFunc(all, func(y T) bool { return same(x, y) })
}

func unionBy[T any](a, b []T, same func(a, b T) bool) []T {
	if len(b) == 0 {
		return a
	}
	r := slices.Clone(a)
	for _, x := range b {
		if !containsBy(r, x, same) {
			r = append(r, x)
		}
	}
	return r
}

func least(a, b *int) *int {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
