package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
)

// validators holds what can be stated of CUE's validators, by the names under
// which CUE prints them. args are those in the parentheses. What is not here
// is left to CUE.
var validators map[string]func(c *compiler, args []cue.Value) *shape

func init() {
	validators = map[string]func(c *compiler, args []cue.Value) *shape{
		"error": func(*compiler, []cue.Value) *shape { return &shape{exact: true} },

		"matchN":  (*compiler).matchN,
		"matchIf": (*compiler).matchIf,

		"list.MinItems": size(arrayKind, func(s *shape, n int) { s.arr.min = n }),
		"list.MaxItems": size(arrayKind, func(s *shape, n int) { s.arr.max = &n }),
		"list.UniqueItems": func(*compiler, []cue.Value) *shape {
			return &shape{kinds: arrayKind, arr: lists{unique: true}, exact: true}
		},
		"list.MatchN":   (*compiler).listMatchN,
		"list.Contains": (*compiler).listContains,

		"struct.MinFields": size(objectKind, func(s *shape, n int) { s.obj.min = n }),
		"struct.MaxFields": size(objectKind, func(s *shape, n int) { s.obj.max = &n }),

		"strings.MinRunes":  size(stringKind, func(s *shape, n int) { s.str.min = n }),
		"strings.MaxRunes":  size(stringKind, func(s *shape, n int) { s.str.max = &n }),
		"strings.HasPrefix": affix(func(s string) string { return "^" + quote(s) }),
		"strings.HasSuffix": affix(func(s string) string { return quote(s) + "$" }),
		"strings.Contains":  affix(quote),
		"strings.ContainsAny": affix(func(s string) string {
			var b strings.Builder
			for _, r := range s {
				printRune(&b, r, `\]^-[`)
			}
			return "[" + b.String() + "]"
		}),

		"math.MultipleOf": (*compiler).multipleOf,

		"time.Time":     named("date-time", stringKind),
		"time.Format":   (*compiler).timeFormat,
		"time.Duration": (*compiler).duration,

		"net.IPv4":   named("ipv4", stringKind|arrayKind),
		"net.IPv6":   named("ipv6", stringKind|arrayKind),
		"net.AbsURL": named("iri", stringKind),
		"net.URL":    named("iri-reference", stringKind),
	}
}

// isClose says that a call is close(x).
func isClose(args []cue.Value) bool {
	return len(args) == 2 && isFunc(args[0]) && fmt.Sprint(args[0]) == "close"
}

// isFunc says that v is a builtin; CUE exports no name for that kind.
func isFunc(v cue.Value) bool { return v.Kind().String() == "func" }

// builtinName is the name under which CUE prints a builtin. Where it can be read
// off the syntax, that is quicker.
func builtinName(call, builtin cue.Value) string {
	if n, ok := call.Source().(*ast.CallExpr); ok {
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				if spec, ok := id.Node.(*ast.ImportSpec); ok && spec.Name == nil && isStandard(spec) {
					if name, _, err := ast.LabelName(sel.Sel); err == nil {
						return id.Name + "." + name
					}
				}
			}
		}
	}
	return strings.TrimSuffix(fmt.Sprint(builtin), "()")
}

// call is what a validator accepts.
func (c *compiler) call(v cue.Value, args []cue.Value) *shape {
	name := builtinName(v, args[0])
	if f, ok := validators[name]; ok {
		if s := f(c, args[1:]); s != nil && s.exact {
			return s
		} else if c.misused(v, name, args[1:]); s != nil {
			return s
		}
	} else {
		c.misused(v, name, args[1:])
	}
	if e := c.eval(v); e != v {
		if op, eargs := c.expr(e); op != cue.CallOp {
			return c.leaf(e, op, eargs) // a function, and this is its result
		}
	}
	k, _ := jsonKinds(v.IncompleteKind())
	if v.Err() != nil {
		k = anyKind
	}
	return c.open(k, "%s", name)
}

// misused reports a validator that cannot check anything for its arguments, which CUE
// sees when there is a value to check. name is its own.
func (c *compiler) misused(v cue.Value, name string, args []cue.Value) {
	if op, _ := c.expr(c.eval(v)); op != cue.CallOp || c.operand > 0 || len(args) == 0 {
		return
	}
	probes := map[cue.Kind]string{cue.StringKind: `""`, cue.ListKind: "[]", cue.NumberKind: "0", cue.StructKind: "{}"}
	probe, ok := probes[v.IncompleteKind()]
	if !ok {
		return
	}
	for _, e := range errors.Errors(v.Unify(c.ctx().CompileString(probe)).Err()) {
		if format, said := e.Msg(); strings.HasPrefix(format, "cannot use %s (type %s) as %s in argument") {
			at := v.Pos()
			if p := args[0].Pos(); p.IsValid() {
				at = p
			}
			c.finding(at, "no value fits: what %s is given must be %v, and %v is %v", name, said[2], said[0], said[1])
		}
	}
}

// size is for validators with a count.
func size(k kinds, set func(s *shape, n int)) func(*compiler, []cue.Value) *shape {
	return func(c *compiler, args []cue.Value) *shape {
		if len(args) != 1 {
			return nil
		}
		n, err := args[0].Int64()
		if err != nil || n > 1<<31-1 {
			return c.open(k, "a size that is no number")
		}
		s := ofKind(k)
		set(s, int(max(n, 0)))
		if n < 0 {
			return c.open(k, "a negative size")
		}
		return s
	}
}

// affix is for validators with a string that an expression can state.
func affix(re func(string) string) func(*compiler, []cue.Value) *shape {
	return func(c *compiler, args []cue.Value) *shape {
		if len(args) != 1 {
			return nil
		}
		t, err := args[0].String()
		if err != nil {
			return nil
		}
		if t == "" {
			return c.open(stringKind, "an empty string")
		}
		return &shape{kinds: stringKind, str: texts{patterns: []string{re(t)}}, exact: true}
	}
}

// named is for validators that a format names. Where they take other types
// than strings as well, CUE checks these.
func named(name string, k kinds) func(*compiler, []cue.Value) *shape {
	return func(c *compiler, args []cue.Value) *shape {
		if len(args) != 0 {
			return nil
		}
		s := &shape{kinds: k, str: texts{formats: []string{name}}, exact: k == stringKind}
		if !s.exact {
			c.gap("%s given in another form than text", name)
		}
		return s
	}
}

// layouts of time.Format that a format names.
var layouts = map[string]string{
	"2006-01-02":                          "date",
	"2006-01-02T15:04:05Z07:00":           "date-time",
	"2006-01-02T15:04:05.999999999Z07:00": "date-time",
}

func (c *compiler) timeFormat(args []cue.Value) *shape {
	if len(args) != 1 {
		return nil
	}
	layout, err := args[0].String()
	if name, ok := layouts[layout]; ok && err == nil {
		return &shape{kinds: stringKind, str: texts{formats: []string{name}}, exact: true}
	}
	return c.open(stringKind, "a time in the layout %q", layout)
}

// duration states how a duration of Go is written (time.ParseDuration): the
// format duration of JSON Schema is another (ISO 8601).
func (c *compiler) duration(args []cue.Value) *shape {
	if len(args) != 0 {
		return nil
	}
	c.gap("a duration that is too long")
	const re = `^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`
	return &shape{kinds: stringKind, str: texts{patterns: []string{re}}}
}

func (c *compiler) multipleOf(args []cue.Value) *shape {
	if len(args) != 1 {
		return nil
	}
	d, ok := decimalOf(args[0])
	if !ok || d.val.Sign() <= 0 {
		return c.open(numberKind, "a multiple of what is no number above 0")
	}
	return &shape{kinds: numberKind, num: numbers{multiples: []decimal{d}}, exact: true}
}

// operands are what a validator compares with, as CUE compares.
func (c *compiler) operands(args ...cue.Value) []*shape {
	c.operand++
	defer func() { c.operand-- }()
	shapes := make([]*shape, len(args))
	for i, a := range args {
		shapes[i] = c.shape(a).condition()
	}
	return shapes
}

// matchN is matchN(count, [operands]).
func (c *compiler) matchN(args []cue.Value) *shape {
	if len(args) != 2 {
		return nil
	}
	list, ok := elements(args[1])
	if !ok {
		return nil
	}
	of := c.operands(list...)
	least, most, ok := c.interval(args[0], len(of))
	if !ok {
		return c.open(anyKind, "a count of alternatives")
	}
	var kinds kinds
	exact, solid := true, true
	for _, s := range of {
		kinds |= s.kinds
		exact = exact && s.exact
		solid = solid && s.solid()
	}
	switch {
	case least > most:
		return &shape{exact: true}
	case least == len(of):
		all := anything
		for _, s := range of {
			all = and(all, s)
		}
		return all
	case least == 0 && most == len(of):
		return anything
	case most == 0:
		return c.none(of)
	case least == 1 && most == len(of):
		return c.some(of)
	case least == 1 && most == 1 && solid:
		left := drop(of)
		switch len(left) {
		case 0:
			return &shape{exact: true}
		case 1:
			return left[0]
		}
		return &shape{kinds: kinds, also: []clause{{op: opOne, of: left}}, exact: true}
	}
	c.gap("a count of alternatives")
	if least == 0 {
		return unstated(anyKind)
	}
	return c.some(of).inexact()
}

// elements gives the elements of a list, also when some are errors.
func elements(v cue.Value) (list []cue.Value, ok bool) {
	it, err := v.List()
	if err == nil {
		for it.Next() {
			list = append(list, it.Value())
		}
		return list, true
	}
	lit, ok := expression(v.Source()).(*ast.ListLit)
	if !ok {
		return nil, false
	}
	for i, elt := range lit.Elts {
		switch elt.(type) {
		case *ast.Ellipsis:
			continue
		case *ast.Comprehension:
			return nil, false
		}
		e := v.LookupPath(cue.MakePath(cue.Index(i)))
		if e.Source() == nil {
			return nil, false
		}
		list = append(list, e)
	}
	return list, true
}

// drop leaves out shapes that nothing is in.
func drop(of []*shape) []*shape {
	var left []*shape
	for _, s := range of {
		if !s.empty() {
			left = append(left, s)
		}
	}
	return left
}

// some is what at least one operand accepts.
func (c *compiler) some(of []*shape) *shape {
	r := &shape{exact: true}
	left := drop(of)
	for _, s := range left {
		if s.isAny() {
			return s
		}
		r.kinds |= s.kinds
		r.exact = r.exact && s.exact
		r.pending = union(r.pending, s.pending)
	}
	switch len(left) {
	case 0:
		return r
	case 1:
		return left[0]
	}
	r.also = []clause{{op: opAny, of: left}}
	return r
}

// none is what no operand accepts, as far as they are known for certain.
func (c *compiler) none(of []*shape) *shape {
	r := *anything
	var not []*shape
	for _, s := range drop(of) {
		switch {
		case !s.solid():
			c.gap("the opposite of what is not fully stated")
			r.exact = false
		case s.isAny():
			return &shape{exact: true}
		case s.bare():
			r.kinds &^= s.kinds
		default:
			not = append(not, s)
		}
	}
	if len(not) > 0 {
		r.also = []clause{{op: opNone, of: not}}
	}
	return &r
}

// matchIf is matchIf(condition, then, else).
func (c *compiler) matchIf(args []cue.Value) *shape {
	if len(args) != 3 {
		return nil
	}
	if slices.ContainsFunc(args, func(a cue.Value) bool { return a.Err() != nil }) {
		return c.open(anyKind, "a condition that is an error by itself")
	}
	of := c.operands(args...)
	cond, then, otherwise := of[0], of[1], of[2]
	switch {
	case cond.empty() && cond.solid():
		return otherwise
	case cond.isAny() && cond.solid():
		return then
	case !cond.solid():
		c.gap("a condition that is not fully stated")
		return c.some([]*shape{then, otherwise}).inexact()
	}
	r := &shape{kinds: then.kinds | otherwise.kinds, exact: then.exact && otherwise.exact}
	r.pending = union(then.pending, otherwise.pending)
	r.also = []clause{{op: opIf, of: of}}
	return r
}

// listMatchN is list.MatchN(count, operand).
func (c *compiler) listMatchN(args []cue.Value) *shape {
	if len(args) != 2 {
		return nil
	}
	outer := c.masked
	c.masked = false
	c.lenient++
	of := c.operands(args[1])[0]
	c.lenient--
	if c.masked {
		of = c.open(of.kinds, "conditions on structs or lists within list.MatchN")
	}
	c.masked = c.masked || outer
	const most = 1 << 10
	least, greatest, ok := c.interval(args[0], most)
	if !ok {
		return c.open(arrayKind, "a count of elements")
	}
	switch {
	case least > greatest, of.empty() && least > 0:
		return &shape{exact: true}
	case args[1].Err() != nil:
		return c.open(arrayKind, "a condition that is an error by itself")
	}
	s := ofKind(arrayKind)
	s.exact, s.pending = of.exact, of.pending
	k := contains{of: of, min: least}
	if greatest < most {
		if of.solid() {
			k.max = &greatest
		} else {
			c.gap("a greatest count of what is not fully stated")
			s.exact = false
		}
	}
	if k.min > 0 || k.max != nil {
		s.arr.contains = []contains{k}
	}
	return s
}

func (c *compiler) listContains(args []cue.Value) *shape {
	if len(args) != 1 || args[0].Kind()&(cue.StructKind|cue.ListKind) != 0 || !args[0].IsConcrete() {
		return nil
	}
	of := c.constant(args[0])
	return &shape{kinds: arrayKind, arr: lists{contains: []contains{{of: of, min: 1}}}, exact: of.exact}
}

// interval reads a constraint on a count from 0 to most; ok is false when it is
// no range, or hangs on something else.
func (c *compiler) interval(v cue.Value, most int) (least, greatest int, ok bool) {
	s := c.names(v)
	switch {
	case !s.solid():
		return 0, 0, false
	case s.empty():
		return 1, 0, true
	case s.kinds != numberKind || len(s.also) > 0:
		return 0, 0, false
	}
	least, greatest = -1, -1
	for i := range most + 1 {
		d, _ := parseDecimal(fmt.Sprint(i))
		in := s.num.holds(d) && (s.num.enum == nil || containsBy(s.num.enum, d, sameDecimal))
		switch {
		case in && least < 0:
			least, greatest = i, i
		case in && greatest == i-1:
			greatest = i
		case in:
			return 0, 0, false // a gap in between
		}
	}
	if least < 0 {
		return 1, 0, true
	}
	return least, greatest, true
}
