package jsonschema

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
)

// A shape is a set of JSON values, built up by and and or until it is written
// as a schema. It holds what is known of each JSON type apart, as keywords of
// JSON Schema do, and conditions over all types beside that.
//
// A shape always holds at least the values that CUE accepts. Shapes are
// immutable once made.
type shape struct {
	kinds kinds
	bools bools   // of the booleans
	num   numbers // of the numbers
	str   texts   // of the strings
	arr   lists   // of the arrays
	obj   members // of the objects
	also  []clause

	// exact says that the shape holds no value that CUE refuses.
	exact bool
	// fills says that CUE adds members to such values: constants and defaults
	// below the top. Conditions on a whole value then see more than it holds.
	fills bool
	// pending are the definitions in the making that the shape refers to.
	pending []*frame
}

// kinds is a set of JSON types.
type kinds uint8

const (
	stringKind kinds = 1 << iota
	numberKind
	boolKind
	arrayKind
	objectKind
	nullKind

	noKind  kinds = 0
	anyKind       = stringKind | numberKind | boolKind | arrayKind | objectKind | nullKind
)

// bools says which booleans are left; the zero value means both.
type bools uint8

const (
	onlyFalse bools = 1 + iota
	onlyTrue
)

// numbers is a set of numbers; the zero value means all.
type numbers struct {
	integer   bool
	min, max  *edge
	multiples []decimal
	not       []decimal
	enum      []decimal // when not nil, just these
}

// decimal is a number as CUE wrote it, and its value.
type decimal struct {
	text string
	val  *big.Rat
}

// edge is the end of a range, without the end itself when open.
type edge struct {
	decimal
	open bool
}

// texts is a set of strings; the zero value means all.
type texts struct {
	min      int
	max      *int
	patterns []string // portable
	unlike   []string // patterns that must not match
	formats  []string
	not      []string
	enum     []string // when not nil, just these
}

// lists is a set of arrays; the zero value means all.
type lists struct {
	prefix   []*shape // of the first elements, as far as there are any
	rest     *shape   // of the others; nil means anything
	min      int
	max      *int
	unique   bool
	contains []contains
}

type contains struct {
	of  *shape
	min int
	max *int
}

// members is a set of objects; the zero value means all.
type members struct {
	props    []property
	patterns []pattern
	rest     *shape   // of the members not named; nil means anything
	closed   bool     // members not named are refused
	open     bool     // says expressly that members not named may be there
	need     []string // must be there, and nothing more is said of them
	min      int
	max      *int
}

type property struct {
	name     string
	of       *shape
	required bool
	notes    notes
	mark     cue.SelectorType // ?, ! or neither
	val      cue.Value
}

type pattern struct {
	re string // portable
	of *shape
}

// notes are annotations of a property.
type notes struct {
	doc      string
	def      []byte
	examples [][]byte
}

// clause is a condition over values of all types.
type clause struct {
	op   op
	of   []*shape
	ref  *frame // for opRef
	name string // for opIfMember
}

type op uint8

const (
	opAny      op = iota // at least one
	opOne                // just one
	opAll                // every one
	opNone               // none
	opIf                 // if the first then the second, else the third
	opIfMember           // the first, when there is a member of that name
	opRef                // the definition
)

var anything = &shape{kinds: anyKind, exact: true}

func ofKind(k kinds) *shape { return &shape{kinds: k, exact: true} }

// unstated is all values of some types, when CUE accepts fewer.
func unstated(k kinds) *shape { return &shape{kinds: k} }

func (s *shape) empty() bool { return s.kinds == noKind }

// solid says that a value is in the shape if and only if CUE accepts it, so
// that the shape can stand where a condition is turned round.
func (s *shape) solid() bool { return s.exact && len(s.pending) == 0 }

// isAny says that nothing is refused.
func (s *shape) isAny() bool {
	return s.kinds == anyKind && len(s.also) == 0 && s.bools == 0 && s.num.free() && s.str.free() && s.arr.free() && s.obj.free()
}

func (n numbers) free() bool {
	return !n.integer && n.min == nil && n.max == nil && n.multiples == nil && n.not == nil && n.enum == nil
}

func (t texts) free() bool {
	return t.min == 0 && t.max == nil && t.patterns == nil && t.unlike == nil && t.formats == nil && t.not == nil && t.enum == nil
}

func (l lists) free() bool {
	return l.prefix == nil && l.rest == nil && l.min == 0 && l.max == nil && !l.unique && l.contains == nil
}

// names says that something is said of members by their names.
func (m members) names() bool {
	return m.props != nil || m.patterns != nil || m.rest != nil || m.closed || m.need != nil
}

func (m members) free() bool { return !m.names() && m.min == 0 && m.max == nil }

// inexact is a copy that is not exact.
func (s *shape) inexact() *shape {
	c := *s
	c.exact = false
	return &c
}

// inOrder sorts the values of an enumeration as they are written in n: CUE puts
// a marked one first.
func (s *shape) inOrder(n ast.Expr) *shape {
	if len(s.also) > 0 || len(s.str.enum) < 2 && len(s.num.enum) < 2 {
		return s
	}
	at := map[string]int{}
	for i, lit := range literalsOf(n, nil) {
		if t, err := literal.Unquote(lit); err == nil {
			at["s"+t] = i
		} else if r, ok := new(big.Rat).SetString(lit); ok {
			at["n"+r.RatString()] = i
		}
	}
	r := *s
	r.str.enum = slices.Clone(s.str.enum)
	slices.SortStableFunc(r.str.enum, func(a, b string) int { return cmp.Compare(at["s"+a], at["s"+b]) })
	r.num.enum = slices.Clone(s.num.enum)
	slices.SortStableFunc(r.num.enum, func(a, b decimal) int {
		return cmp.Compare(at["n"+a.val.RatString()], at["n"+b.val.RatString()])
	})
	return &r
}

// within is the part of s that is of the given types.
func (s *shape) within(k kinds) *shape {
	if s.kinds&^k == 0 {
		return s
	}
	c := *s
	c.kinds &= k
	return &c
}

// condition is the shape as a validator holds it against a value: what CUE
// fills in then does not last.
func (s *shape) condition() *shape {
	if !s.fills {
		return s
	}
	all := func(of []*shape) []*shape {
		r := make([]*shape, len(of))
		for i, t := range of {
			r[i] = t.condition()
		}
		return r
	}
	r := *s
	r.fills = false
	r.arr.prefix = all(s.arr.prefix)
	if len(r.arr.prefix) == 0 {
		r.arr.prefix = nil
	}
	if s.arr.rest != nil {
		r.arr.rest = s.arr.rest.condition()
	}
	if s.obj.rest != nil {
		r.obj.rest = s.obj.rest.condition()
	}
	r.obj.props = slices.Clone(s.obj.props)
	for i, p := range r.obj.props {
		r.obj.props[i].of = p.of.condition()
		r.obj.props[i].mark = cue.OptionalConstraint
	}
	r.obj.patterns = slices.Clone(s.obj.patterns)
	for i, p := range r.obj.patterns {
		r.obj.patterns[i].of = p.of.condition()
	}
	r.also = slices.Clone(s.also)
	for i, cl := range r.also {
		r.also[i].of = all(cl.of)
	}
	return &r
}

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

// finite lists the values of a shape of strings, numbers, booleans and null.
func (s *shape) finite() ([]string, bool) {
	if len(s.also) > 0 || s.kinds&(arrayKind|objectKind) != 0 ||
		s.kinds&stringKind != 0 && s.str.enum == nil || s.kinds&numberKind != 0 && s.num.enum == nil {
		return nil, false
	}
	var all []string
	if s.kinds&stringKind != 0 {
		for _, t := range s.str.enum {
			all = append(all, "s"+t)
		}
	}
	if s.kinds&numberKind != 0 {
		for _, d := range s.num.enum {
			all = append(all, "n"+d.val.RatString())
		}
	}
	if s.kinds&boolKind != 0 {
		if s.bools != onlyTrue {
			all = append(all, "false")
		}
		if s.bools != onlyFalse {
			all = append(all, "true")
		}
	}
	if s.kinds&nullKind != 0 {
		all = append(all, "null")
	}
	return all, true
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

// parseDecimal reads a JSON number. ok is false for one whose exponent is out
// of all proportion.
func parseDecimal(text string) (decimal, bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > len("99999") {
		return decimal{}, false
	}
	r, ok := new(big.Rat).SetString(text)
	return decimal{text, r}, ok
}

// number is the shape of one number.
func number(d decimal) *shape {
	return &shape{kinds: numberKind, num: numbers{enum: []decimal{d}}, exact: true}
}
