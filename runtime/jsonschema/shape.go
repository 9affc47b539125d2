package jsonschema

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

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
func (s *shape) isAny() bool { return s.kinds == anyKind && s.bare() }

// bare says that the shape is all values of its types.
func (s *shape) bare() bool { return len(s.also) == 0 && s.free() }

// free says that nothing is said of single types.
func (s *shape) free() bool {
	return s.bools == 0 && s.num.free() && s.str.free() && s.arr.free() && s.obj.free()
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
