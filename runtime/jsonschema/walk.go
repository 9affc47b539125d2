package jsonschema

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
)

// compiler turns CUE values into shapes.
type compiler struct {
	o        Options
	scopes   scopes
	findings diag.List
	gaps     []Gap
	path     []string    // of the value in hand
	frames   []*frame    // definitions in the making, outermost first
	defs     []*frame    // definitions that turned out to be recursive
	merging  []cue.Value // what is unified with something else, outermost first
	operand  int         // how many validators such as matchN enclose the value
	lenient  int         // how many of them are list.MatchN
	masked   bool        // whether a condition within list.MatchN hides others
	quiet    int         // when not 0, nothing is noted
	values   int         // how many were seen
	exprs    map[cue.Value]expr
	evals    map[cue.Value]cue.Value
}

type expr struct {
	op   cue.Op
	args []cue.Value
}

// unknownOp is that of an expression that CUE cannot take apart.
const unknownOp cue.Op = -1

// expr is Value.Expr, which evaluates the parts anew each time it is asked, and
// fails on some.
func (c *compiler) expr(v cue.Value) (cue.Op, []cue.Value) {
	e, ok := c.exprs[v]
	if !ok {
		func() {
			defer func() {
				if recover() != nil {
					e = expr{op: unknownOp}
				}
			}()
			e.op, e.args = v.Expr()
		}()
		if c.exprs == nil {
			c.exprs = map[cue.Value]expr{}
		}
		c.exprs[v] = e
	}
	return e.op, e.args
}

// frame is a definition, from when it is met.
type frame struct {
	target cue.Value
	mode   mode
	kinds  kinds
	name   string // in $defs; set when used
	shape  *shape // when done
}

// mode is the way in which CUE looks at a value.
type mode struct{ operand, lenient bool }

func (c *compiler) mode() mode { return mode{c.operand > 0, c.lenient > 0} }

const (
	// maxValues bounds what one schema may hold, against definitions that
	// unfold without end.
	maxValues = 5_000
	// maxNesting bounds how deep it may go.
	maxNesting = 64
	// maxUnfolded is how often one definition may enclose itself when it is
	// unified with something else, which no $ref can say.
	maxUnfolded = 2
	// maxReferences is how many references to references are followed.
	maxReferences = 32
)

// eval is Value.Eval, with the same result each time.
func (c *compiler) eval(v cue.Value) cue.Value {
	e, ok := c.evals[v]
	if !ok {
		e = v.Eval()
		if c.evals == nil {
			c.evals = map[cue.Value]cue.Value{}
		}
		c.evals[v] = e
	}
	return e
}

// gap notes that what is said of the value in hand is left to CUE.
func (c *compiler) gap(format string, args ...any) {
	if c.quiet > 0 {
		return
	}
	g := Gap{Path: joinPath(c.path), Reason: fmt.Sprintf(format, args...)}
	if !slices.Contains(c.gaps, g) {
		c.gaps = append(c.gaps, g)
	}
}

// open is gap for a value of which only the types are stated.
func (c *compiler) open(k kinds, format string, args ...any) *shape {
	c.gap(format, args...)
	return unstated(k)
}

func (c *compiler) finding(p token.Pos, format string, args ...any) {
	if c.quiet > 0 {
		return
	}
	f := diag.Finding{Path: joinPath(append([]string{c.o.Path}, c.path...)), Message: fmt.Sprintf(format, args...)}
	if c.o.Pos != nil {
		f.File, f.Line, f.Column = c.o.Pos(p)
	} else if p := p.Position(); p.IsValid() {
		f.File, f.Line, f.Column = p.Filename, p.Line, p.Column
	}
	c.findings = append(c.findings, f)
}

// faulty says whether there is a finding at the value in hand or within.
func (c *compiler) faulty() bool {
	path := joinPath(append([]string{c.o.Path}, c.path...))
	return slices.ContainsFunc(c.findings, func(f diag.Finding) bool {
		rest, ok := strings.CutPrefix(f.Path, path)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// joinPath writes a CUE path from its parts; [] and [string] stick to the part
// before.
func joinPath(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		if b.Len() > 0 && !strings.HasPrefix(p, "[") {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}

// at runs f with the path one part longer.
func (c *compiler) at(part string, f func() *shape) *shape {
	c.path = append(c.path, part)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return f()
}

// shape finds what v accepts.
func (c *compiler) shape(v cue.Value) *shape {
	c.values++
	if c.values > maxValues || len(c.path) > maxNesting {
		return c.open(anyKind, "too deep or too large to state")
	}
	src := v.Source()
	if f, ok := src.(*ast.Field); ok && plainly(f.Value) {
		// Strings, numbers and the like, declared in one place: CUE has
		// already put together all that is said of them.
		switch k := v.IncompleteKind(); {
		case isType(f.Value):
			return c.basic(v)
		case k != cue.BottomKind && k&(cue.StructKind|cue.ListKind) == 0:
			return c.evaluated(v).inOrder(f.Value)
		}
	}
	c.scopes.add(expression(src))
	op, args := c.expr(v)
	switch op {
	case cue.SelectorOp, cue.IndexOp:
		return c.reference(v)
	case cue.AndOp:
		return c.conjunction(v)
	case cue.OrOp:
		return c.disjunction(args)
	case cue.NoOp:
		if isLet(src) {
			return c.reference(v)
		}
	case cue.CallOp:
		if isClose(args) {
			return c.conjunction(v)
		}
	case unknownOp:
		return c.open(anyKind, "an expression that CUE cannot take apart")
	}
	return c.leaf(v, op, args)
}

// evaluated finds what v accepts from what CUE made of it, which is simpler
// than its expression: no references, and one bound for several.
func (c *compiler) evaluated(v cue.Value) *shape {
	e := c.eval(v)
	op, args := c.expr(e)
	switch op {
	case cue.AndOp:
		s := anything
		for _, a := range args {
			s = and(s, c.evaluated(a))
		}
		return s
	case cue.OrOp:
		arms := make([]*shape, len(args))
		for i, a := range args {
			arms[i] = c.evaluated(a)
		}
		return or(arms, c.operand == 0)
	}
	return c.leaf(e, op, args)
}

// reference follows v. The definition it refers to becomes a $ref when it
// turns up within itself; otherwise it is as if it stood here.
func (c *compiler) reference(v cue.Value) *shape {
	if c.scopes.depends(expression(v.Source())) {
		return c.open(anyKind, "depends on another argument")
	}
	d, ok := c.follow(v)
	if !ok {
		if name, ok := declaredOnly(v.Err()); ok {
			c.finding(v.Pos(), "no value fits: it refers to %s, which is optional or required and so has no value: give its type a definition of its own, and refer to that in both places", name)
		}
		return c.evaluatedLeaf(v)
	}
	for _, f := range c.frames {
		if f.target == d && f.mode == c.mode() {
			return c.refer(f)
		}
	}
	for _, f := range c.defs {
		if f.target == d && f.mode == c.mode() && len(f.shape.pending) == 0 {
			return f.reference()
		}
	}
	f := &frame{target: d, mode: c.mode(), kinds: anyKind}
	if d.Err() == nil {
		f.kinds, _ = jsonKinds(d.IncompleteKind())
	}
	c.frames = append(c.frames, f)
	s := c.shape(d)
	c.frames = c.frames[:len(c.frames)-1]
	if f.name == "" {
		return s
	}
	f.shape = settle(s, f)
	c.defs = append(c.defs, f)
	return f.reference()
}

// reference is the shape of a $ref to a definition that is done.
func (f *frame) reference() *shape {
	s := f.shape
	return &shape{kinds: s.kinds, exact: s.exact, fills: s.fills, pending: s.pending, also: []clause{{op: opRef, ref: f}}}
}

// settle takes a definition that is done off what a shape waits for.
func settle(s *shape, f *frame) *shape {
	r := *s
	r.pending = slices.DeleteFunc(slices.Clone(s.pending), func(p *frame) bool { return p == f })
	return &r
}

// refer is a reference to a definition in the making.
func (c *compiler) refer(f *frame) *shape {
	if f.name == "" {
		f.name = c.definitionName(f.target)
	}
	// Whether it fills anything is not known yet.
	return &shape{kinds: f.kinds, exact: true, fills: true, pending: []*frame{f}, also: []clause{{op: opRef, ref: f}}}
}

// definitionName is the last part of a definition's path, made unique.
func (c *compiler) definitionName(v cue.Value) string {
	base := "value"
	if sels := v.Path().Selectors(); len(sels) > 0 {
		last := sels[len(sels)-1]
		base = strings.TrimLeft(last.String(), "_#")
		if last.LabelType() == cue.StringLabel && last.ConstraintType() != cue.PatternConstraint {
			base = last.Unquoted()
		}
	}
	// What needs no escape in a JSON Pointer within a URI.
	base = strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.') {
			return r
		}
		return '_'
	}, base)
	name := base
	for n := 2; ; n++ {
		taken := func(f *frame) bool { return f.name == name }
		if !slices.ContainsFunc(c.frames, taken) && !slices.ContainsFunc(c.defs, taken) {
			return name
		}
		name = fmt.Sprintf("%s%d", base, n)
	}
}

// follow gives what v refers to; ok is false when v is no reference, or one to
// a builtin or to nothing.
func (c *compiler) follow(v cue.Value) (target cue.Value, ok bool) {
	for range maxReferences {
		d := cue.Dereference(v)
		if d == v || d.Source() == nil && d.Err() != nil || isFunc(d) {
			return v, false
		}
		op, args := c.expr(d)
		switch op {
		case cue.SelectorOp, cue.IndexOp:
			c.scopes.add(expression(d.Source()))
			if c.scopes.depends(expression(d.Source())) {
				return d, true
			}
			v = d
			continue
		case cue.NoOp:
			// A builtin without arguments, such as time.Time, is its own value.
			if d.Source() == nil && len(args) == 1 && args[0] == d {
				if e, _ := c.expr(c.eval(v)); e == cue.CallOp {
					return v, false
				}
			}
		}
		c.scopes.add(expression(d.Source()))
		return d, true
	}
	return v, false
}

// evaluatedLeaf is for expressions that CUE computes.
func (c *compiler) evaluatedLeaf(v cue.Value) *shape {
	e := c.eval(v)
	op, args := c.expr(e)
	switch op {
	case cue.AndOp, cue.OrOp:
		return c.evaluated(v)
	case cue.SelectorOp, cue.IndexOp:
		k, _ := jsonKinds(e.IncompleteKind())
		if e.Err() != nil {
			k = anyKind
		}
		return c.open(k, "cannot be computed before the call")
	}
	return c.leaf(e, op, args)
}

// conjunct is one part of a value that is put together by &, by embedding or
// by several declarations.
type conjunct struct {
	v    cue.Value
	op   cue.Op
	args []cue.Value
	// content says that it declares members or elements; choice that it does
	// so in alternatives.
	content, choice bool
	// target is what a reference led to.
	target cue.Value
}

// conjuncts takes v apart. asts collects the syntax of all that it meets.
func (c *compiler) conjuncts(v cue.Value, target cue.Value, depth int, asts *[]ast.Node) []conjunct {
	src := expression(v.Source())
	if src != nil {
		*asts = append(*asts, src)
		c.scopes.add(src)
	}
	op, args := c.expr(v)
	if depth > maxReferences {
		return []conjunct{{v: v, op: op, args: args}}
	}
	switch op {
	case cue.AndOp:
		var all []conjunct
		st, _ := src.(*ast.StructLit)
		for _, a := range args {
			if st != nil && a.Source() == nil && !declares(st) {
				continue // what is left of {x, #A: …} without x
			}
			all = append(all, c.conjuncts(a, target, depth+1, asts)...)
		}
		return all
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			return c.conjuncts(args[0], target, depth+1, asts)
		}
		if !isLet(src) {
			break
		}
		fallthrough
	case cue.SelectorOp, cue.IndexOp:
		if c.scopes.depends(src) {
			break
		}
		if d, ok := c.follow(v); ok {
			if dop, _ := c.expr(d); dop != cue.SelectorOp && dop != cue.IndexOp {
				return c.conjuncts(d, d, depth+1, asts)
			}
		}
	case cue.CallOp:
		if isClose(args) {
			return c.conjuncts(args[1], target, depth+1, asts)
		}
	}
	content, choice := c.content(v, op, args)
	return []conjunct{{v: v, op: op, args: args, content: content, choice: choice, target: target}}
}

// declares says that there are members in a struct literal beside what it
// embeds, and beside definitions and the like.
func declares(st *ast.StructLit) bool {
	return slices.ContainsFunc(st.Elts, func(e ast.Decl) bool {
		switch e := e.(type) {
		case *ast.Field:
			label, ok := e.Label.(*ast.Ident)
			return !ok || !strings.HasPrefix(label.Name, "_") && !strings.HasPrefix(label.Name, "#")
		case *ast.Ellipsis, *ast.Comprehension:
			return true
		}
		return false
	})
}

// content says whether a conjunct declares members or elements.
func (c *compiler) content(v cue.Value, op cue.Op, args []cue.Value) (content, choice bool) {
	switch op {
	case cue.OrOp:
		for _, a := range args {
			aop, aargs := c.expr(a)
			if aop == cue.AndOp || aop == cue.SelectorOp || aop == cue.IndexOp || isClose(aargs) && aop == cue.CallOp {
				if a.IncompleteKind()&(cue.StructKind|cue.ListKind) != 0 || a.Err() != nil {
					return true, true
				}
				continue
			}
			if in, _ := c.content(a, aop, aargs); in {
				return true, true
			}
		}
		return false, false
	case cue.NoOp:
		if _, ok := v.Source().(*ast.StructLit); ok && v.Err() != nil {
			return true, false
		}
		k := v.IncompleteKind()
		return k == cue.StructKind || k == cue.ListKind, false
	case cue.CallOp:
		if e, _ := c.expr(c.eval(v)); e == cue.CallOp {
			return false, false // a validator
		}
		k := v.IncompleteKind()
		return k == cue.StructKind || k == cue.ListKind, false
	}
	return false, false
}

// conjunction is what all parts of v accept together.
func (c *compiler) conjunction(v cue.Value) *shape {
	var asts []ast.Node
	parts := c.conjuncts(v, cue.Value{}, 0, &asts)
	var contents []conjunct
	s := anything
	for _, p := range parts {
		if p.content {
			contents = append(contents, p)
		}
	}
	if len(contents) > 0 {
		unfolded := len(c.merging)
		for _, p := range contents {
			if !p.target.Exists() {
				continue
			}
			n := 0
			for _, m := range c.merging {
				if m == p.target {
					n++
				}
			}
			if n >= maxUnfolded {
				c.merging = c.merging[:unfolded]
				return c.open(anyKind, "a definition within itself, together with something else")
			}
			c.merging = append(c.merging, p.target)
		}
		s = c.contents(v, contents, asts)
		c.merging = c.merging[:unfolded]
	}
	for _, p := range parts {
		if !p.content {
			s = c.restrict(s, c.leaf(p.v, p.op, p.args))
		}
	}
	return s
}

// contents is what the members and elements of v may be.
func (c *compiler) contents(v cue.Value, contents []conjunct, asts []ast.Node) *shape {
	choices := 0
	var kinds cue.Kind
	for _, p := range contents {
		if p.choice {
			choices++
		} else {
			kinds |= kindOf(p.v)
		}
	}
	if kinds == cue.StructKind|cue.ListKind {
		return &shape{exact: true}
	}
	switch {
	case len(contents) == 1 && choices == 1:
		return c.disjunction(contents[0].args)
	case choices == 0:
		if kinds == cue.ListKind && v.Err() != nil {
			// A validator makes an error of a list that only lacks something
			// yet.
			v = unify(contents)
		}
		if kinds == cue.StructKind && !isCycle(v.Err()) {
			return c.object(v, asts)
		}
		return c.literal(v, asts)
	}
	// CUE drops alternatives that lead back to where they stand.
	for _, p := range contents {
		if p.choice && c.returns(p.v, 0) {
			return c.open(anyKind, "a definition within itself, together with something else")
		}
	}
	// Where nothing is closed, each part says all it says by itself.
	if s, ok := c.apart(contents); ok {
		return s
	}
	if v.Err() != nil {
		return c.open(anyKind, "alternatives within alternatives, and a condition on all of them")
	}
	combinations, ok := c.combinations(contents)
	e := c.eval(v)
	op, args := c.expr(e)
	if op == cue.NoOp && len(args) == 1 && args[0] != e {
		e = args[0]
		op, args = c.expr(e)
	}
	if got := len(args); !ok || op == cue.OrOp && got != combinations || op != cue.OrOp && combinations != 1 {
		// CUE takes alternatives for the same that differ in patterns or in
		// the types of elements only.
		return c.open(anyKind, "alternatives within alternatives")
	}
	exact := !slices.ContainsFunc(contents, func(p conjunct) bool { return p.choice && c.validated(p.v, 0) })
	if !exact {
		c.gap("conditions within alternatives")
	}
	var s *shape
	if op == cue.OrOp {
		arms := make([]*shape, len(args))
		for i, a := range args {
			arms[i] = c.arm(a, asts)
		}
		s = c.union(arms)
	} else {
		s = c.arm(e, asts)
	}
	if s.letsIn() {
		// One part lets in other members, another may not.
		c.gap("definitions that close each other")
		exact = false
	}
	if !exact {
		s = s.inexact()
	}
	return s
}

// combinations counts the ways to take one alternative of each part that do not
// contradict each other; ok is false when they are too many to tell.
func (c *compiler) combinations(contents []conjunct) (n int, ok bool) {
	c.quiet++
	defer func() { c.quiet-- }()
	const most = 64
	all := [][]*shape{nil}
	for _, p := range contents {
		arms, ok := c.arms(p, 0)
		if !ok || len(arms)*len(all) > most {
			return 0, false
		}
		var next [][]*shape
		for _, taken := range all {
			for _, arm := range arms {
				if !slices.ContainsFunc(taken, func(s *shape) bool { return s.contradicts(arm) }) {
					next = append(next, append(slices.Clone(taken), arm))
				}
			}
		}
		all = next
	}
	return len(all), true
}

// arms gives the alternatives of a part, those within alternatives included.
func (c *compiler) arms(p conjunct, depth int) (arms []*shape, ok bool) {
	switch {
	case !p.choice:
		return []*shape{c.shape(p.v)}, true
	case depth > maxReferences:
		return nil, false
	}
	for _, a := range p.args {
		var asts []ast.Node
		parts := c.conjuncts(a, cue.Value{}, 0, &asts)
		choices := slices.ContainsFunc(parts, func(p conjunct) bool { return p.op == cue.OrOp })
		switch {
		case !choices:
			arms = append(arms, c.shape(a))
		case len(parts) == 1:
			parts[0].choice = true
			more, ok := c.arms(parts[0], depth+1)
			if !ok {
				return nil, false
			}
			arms = append(arms, more...)
		default:
			return nil, false
		}
	}
	return arms, true
}

// contradicts says that CUE finds an error in any value of both shapes.
func (s *shape) contradicts(t *shape) bool {
	if s.kinds&t.kinds == 0 {
		return true
	}
	if s.kinds&t.kinds != objectKind || len(s.also) > 0 || len(t.also) > 0 {
		return false
	}
	return slices.ContainsFunc(s.obj.props, func(p property) bool {
		return slices.ContainsFunc(t.obj.props, func(q property) bool {
			if p.name != q.name || p.mark == cue.OptionalConstraint && q.mark == cue.OptionalConstraint {
				return false
			}
			one, ok := p.of.finite()
			other, ok2 := q.of.finite()
			return p.of.kinds&q.of.kinds == 0 ||
				ok && ok2 && !slices.ContainsFunc(one, func(v string) bool { return slices.Contains(other, v) })
		})
	})
}

// letsIn says that the shape expressly lets in members that it does not name.
func (s *shape) letsIn() bool {
	return s.kinds&objectKind != 0 && s.obj.open || slices.ContainsFunc(s.also, func(cl clause) bool {
		return cl.op == opAny && slices.ContainsFunc(cl.of, (*shape).letsIn)
	})
}

// kindOf is the kind of a literal, also when it is an error.
func kindOf(v cue.Value) cue.Kind {
	switch expression(v.Source()).(type) {
	case *ast.StructLit:
		if v.Err() != nil {
			return cue.StructKind
		}
	case *ast.ListLit:
		return cue.ListKind
	}
	return v.IncompleteKind()
}

// arm is one alternative that CUE worked out.
func (c *compiler) arm(a cue.Value, asts []ast.Node) *shape {
	if a.IncompleteKind()&(cue.StructKind|cue.ListKind) == 0 {
		return c.evaluated(a)
	}
	return c.literal(a, asts)
}

// apart finds what each part accepts by itself, if none is closed.
func (c *compiler) apart(contents []conjunct) (*shape, bool) {
	gaps, findings, defs := len(c.gaps), len(c.findings), len(c.defs)
	s := anything
	for _, p := range contents {
		var t *shape
		if p.choice {
			t = c.disjunction(p.args)
		} else {
			t = c.literal(p.v, []ast.Node{expression(p.v.Source())})
		}
		if !t.open() {
			c.gaps, c.findings, c.defs = c.gaps[:gaps], c.findings[:findings], c.defs[:defs]
			return nil, false
		}
		s = and(s, t)
	}
	return s, true
}

// open says that the shape, to its depth, refuses no member for its name.
func (s *shape) open() bool {
	closed := func(t *shape) bool { return t != nil && !t.open() }
	if s.kinds&objectKind != 0 && (s.obj.closed || closed(s.obj.rest) ||
		slices.ContainsFunc(s.obj.props, func(p property) bool { return closed(p.of) }) ||
		slices.ContainsFunc(s.obj.patterns, func(p pattern) bool { return closed(p.of) })) {
		return false
	}
	if s.kinds&arrayKind != 0 && (closed(s.arr.rest) || slices.ContainsFunc(s.arr.prefix, closed)) {
		return false
	}
	return !slices.ContainsFunc(s.also, func(cl clause) bool {
		return cl.op == opRef || cl.op == opAny && slices.ContainsFunc(cl.of, closed)
	})
}

// unify puts parts together again.
func unify(parts []conjunct) cue.Value {
	v := parts[0].v
	for _, p := range parts[1:] {
		v = v.Unify(p.v)
	}
	return v
}

// validated says whether there are validators in the alternatives of v.
func (c *compiler) validated(v cue.Value, depth int) bool {
	op, args := c.expr(v)
	switch op {
	case cue.CallOp:
		if !isClose(args) {
			return true
		}
		args = args[1:]
	case cue.SelectorOp, cue.IndexOp:
		d, ok := c.follow(v)
		if !ok {
			return true
		}
		args = []cue.Value{d}
	case cue.AndOp, cue.OrOp:
	case cue.NoOp:
		if len(args) != 1 || args[0] == v {
			return false
		}
	default:
		return false
	}
	return depth > maxReferences || slices.ContainsFunc(args, func(a cue.Value) bool { return c.validated(a, depth+1) })
}

// returns says whether v refers to a definition that it is part of.
func (c *compiler) returns(v cue.Value, depth int) bool {
	op, args := c.expr(v)
	switch op {
	case cue.AndOp, cue.OrOp:
	case cue.SelectorOp, cue.IndexOp:
		d, ok := c.follow(v)
		if !ok {
			return false
		}
		if slices.Contains(c.merging, d) || slices.ContainsFunc(c.frames, func(f *frame) bool { return f.target == d }) {
			return true
		}
		args = []cue.Value{d}
	default:
		return false
	}
	return depth > maxReferences || slices.ContainsFunc(args, func(a cue.Value) bool { return c.returns(a, depth+1) })
}

// disjunction is what one of the alternatives accepts.
func (c *compiler) disjunction(args []cue.Value) *shape {
	arms := make([]*shape, len(args))
	for i, a := range args {
		arms[i] = c.shape(a)
	}
	return c.union(arms)
}

func (c *compiler) union(arms []*shape) *shape {
	s := or(arms, c.operand == 0)
	if !s.exact && !slices.ContainsFunc(arms, func(a *shape) bool { return !a.exact }) {
		c.gap("alternatives that overlap")
	}
	return s
}

// restrict is and for a condition over whole values. CUE looks at a value after
// it has filled it in, so where it does, a condition says nothing of what the
// caller gave.
func (c *compiler) restrict(s, by *shape) *shape {
	whole := len(by.also) > 0 || !by.obj.free() || by.arr.contains != nil
	if !s.fills || s.kinds&by.kinds&(arrayKind|objectKind) == 0 {
		return and(s, by)
	}
	if !whole {
		s = and(s, by)
		if by.arr.unique {
			c.gap("elements that are the same once constants or defaults are filled in")
			s = s.inexact()
		}
		return s
	}
	c.gap("a condition on a value in which constants or defaults are filled in")
	bare := *by
	bare.also, bare.obj, bare.arr.contains, bare.exact = nil, members{}, nil, false
	return and(s, &bare)
}

// literal is what a struct or list accepts whose members are in plain sight.
func (c *compiler) literal(v cue.Value, asts []ast.Node) *shape {
	switch v.IncompleteKind() {
	case cue.StructKind:
		return c.object(v, asts)
	case cue.ListKind:
		return c.list(v, asts)
	case cue.BottomKind:
		if isCycle(v.Err()) {
			break
		}
		// One wrong member makes an error of the whole.
		for _, n := range asts {
			switch n.(type) {
			case *ast.StructLit:
				return c.object(v, asts)
			case *ast.ListLit:
				return c.list(v, asts)
			}
		}
	}
	return c.evaluatedLeaf(v)
}

// leaf is what one expression without & and | accepts.
func (c *compiler) leaf(v cue.Value, op cue.Op, args []cue.Value) *shape {
	if c.scopes.depends(expression(v.Source())) && !isLiteral(v.Source()) {
		k := anyKind
		if op == cue.InterpolationOp {
			k = stringKind
		}
		return c.open(k, "depends on another argument")
	}
	switch op {
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			return c.shape(args[0])
		}
		return c.basic(v)
	case cue.OrOp:
		return c.disjunction(args)
	case cue.AndOp:
		return c.conjunction(v)
	case cue.CallOp:
		return c.mask(c.call(v, args))
	case cue.RegexMatchOp, cue.NotRegexMatchOp, cue.EqualOp, cue.NotEqualOp,
		cue.LessThanOp, cue.LessThanEqualOp, cue.GreaterThanOp, cue.GreaterThanEqualOp:
		if len(args) == 1 {
			return c.mask(c.bound(op, args[0]))
		}
	}
	if e := c.eval(v); e != v {
		if eop, _ := c.expr(e); eop != op {
			return c.evaluatedLeaf(v)
		}
	}
	k, _ := jsonKinds(v.IncompleteKind())
	if v.Err() != nil {
		k = anyKind
	}
	return c.open(k, "cannot be computed before the call")
}

// mask notes a condition on structs or lists within list.MatchN. CUE may find it
// undecided there, takes that for a match, and overlooks what else is missing.
func (c *compiler) mask(s *shape) *shape {
	if c.lenient > 0 && s.kinds&(arrayKind|objectKind) != 0 {
		c.masked = true
	}
	return s
}

// isLiteral says that what depends on arguments is members or elements, each
// of which is looked at by itself.
func isLiteral(n ast.Node) bool {
	switch expression(n).(type) {
	case *ast.StructLit, *ast.ListLit:
		return true
	}
	return false
}

// basic is a type, a literal, or a struct or list.
func (c *compiler) basic(v cue.Value) *shape {
	k := v.IncompleteKind()
	switch k {
	case cue.StructKind, cue.ListKind:
		return c.literal(v, []ast.Node{expression(v.Source())})
	case cue.BottomKind:
		if isCycle(v.Err()) {
			return c.open(anyKind, "a definition within itself, together with something else")
		}
		switch expression(v.Source()).(type) {
		case *ast.BottomLit:
			return &shape{exact: true}
		case *ast.StructLit, *ast.ListLit:
			return c.literal(v, []ast.Node{expression(v.Source())})
		}
		return c.open(anyKind, "%s", reason(v.Err()))
	}
	if v.IsConcrete() {
		return c.constant(v)
	}
	kinds, exact := jsonKinds(k)
	s := &shape{kinds: kinds, exact: exact}
	if k&cue.NumberKind == cue.IntKind {
		s.num.integer = true
	}
	if !exact {
		c.gap("float refuses whole numbers")
	}
	return s
}

// constant is one string, number, boolean or null.
func (c *compiler) constant(v cue.Value) *shape {
	switch v.Kind() {
	case cue.NullKind:
		return ofKind(nullKind)
	case cue.BoolKind:
		s := ofKind(boolKind)
		s.bools = onlyFalse
		if b, _ := v.Bool(); b {
			s.bools = onlyTrue
		}
		return s
	case cue.StringKind:
		t, _ := v.String()
		return &shape{kinds: stringKind, str: texts{enum: []string{t}}, exact: true}
	case cue.IntKind, cue.FloatKind:
		d, ok := decimalOf(v)
		if !ok {
			return c.open(numberKind, "a number out of all proportion")
		}
		s := number(d)
		if v.Kind() == cue.FloatKind && d.val.IsInt() {
			c.gap("%s is no integer to CUE", d.text)
			return s.inexact()
		}
		return s
	}
	return &shape{exact: true} // bytes: no JSON value is that
}

func decimalOf(v cue.Value) (decimal, bool) {
	b, err := v.MarshalJSON()
	if err != nil {
		return decimal{}, false
	}
	return parseDecimal(string(b))
}

// bound is what stands after a comparison without a left side.
func (c *compiler) bound(op cue.Op, arg cue.Value) *shape {
	if !arg.IsConcrete() {
		return c.open(anyKind, "cannot be computed before the call")
	}
	switch op {
	case cue.RegexMatchOp, cue.NotRegexMatchOp:
		re, err := arg.String()
		if err != nil {
			return c.open(stringKind, "%s", reason(err))
		}
		p, ok, err := portable(re)
		switch {
		case err != nil:
			c.finding(arg.Pos(), "not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return unstated(stringKind)
		case !ok:
			return c.open(stringKind, "the regular expression %q is not in the syntax that JSON Schema shares", re)
		case op == cue.RegexMatchOp:
			return &shape{kinds: stringKind, str: texts{patterns: []string{p}}, exact: true}
		}
		return &shape{kinds: stringKind, str: texts{unlike: []string{p}}, exact: true}
	case cue.EqualOp:
		if arg.Kind()&(cue.StructKind|cue.ListKind) != 0 {
			k, _ := jsonKinds(arg.Kind())
			return c.open(k, "equality with a struct or list")
		}
		if arg.Kind() == cue.FloatKind {
			if d, ok := decimalOf(arg); ok {
				return number(d) // 1.0 == 1
			}
		}
		return c.constant(arg)
	case cue.NotEqualOp:
		return c.unequal(arg)
	}
	if arg.Kind()&cue.NumberKind == 0 {
		k, _ := jsonKinds(arg.Kind())
		return c.open(k, "an order of values that are no numbers")
	}
	d, ok := decimalOf(arg)
	if !ok {
		return c.open(numberKind, "a number out of all proportion")
	}
	s := ofKind(numberKind)
	b := &edge{decimal: d, open: op == cue.LessThanOp || op == cue.GreaterThanOp}
	if op == cue.LessThanOp || op == cue.LessThanEqualOp {
		s.num.max = b
	} else {
		s.num.min = b
	}
	return s
}

func (c *compiler) unequal(arg cue.Value) *shape {
	switch arg.Kind() {
	case cue.NullKind:
		return ofKind(anyKind &^ nullKind)
	case cue.StringKind:
		t, _ := arg.String()
		if t == "" {
			return &shape{kinds: stringKind, str: texts{min: 1}, exact: true}
		}
		return &shape{kinds: stringKind, str: texts{not: []string{t}}, exact: true}
	case cue.IntKind, cue.FloatKind:
		if d, ok := decimalOf(arg); ok {
			return &shape{kinds: numberKind, num: numbers{not: []decimal{d}}, exact: true}
		}
	}
	k, _ := jsonKinds(arg.Kind())
	return c.open(k, "inequality with a struct or list")
}

// jsonKinds gives the JSON types that values of a CUE kind have; exact is false
// when CUE refuses some values of them.
func jsonKinds(k cue.Kind) (kinds, bool) {
	var r kinds
	for _, e := range []struct {
		cue  cue.Kind
		json kinds
	}{
		{cue.NullKind, nullKind},
		{cue.BoolKind, boolKind},
		{cue.IntKind, numberKind},
		{cue.FloatKind, numberKind},
		{cue.StringKind, stringKind},
		{cue.ListKind, arrayKind},
		{cue.StructKind, objectKind},
	} {
		if k&e.cue != 0 {
			r |= e.json
		}
	}
	return r, k&cue.NumberKind != cue.FloatKind
}

// reason is the first line of what CUE says.
func reason(err error) string {
	if err == nil {
		return "no value fits"
	}
	if list := errors.Errors(err); len(list) > 0 {
		format, args := list[0].Msg()
		return fmt.Sprintf(format, args...)
	}
	return err.Error()
}

// declaredOnly names the field, marked ? or !, that a reference in vain is to.
func declaredOnly(err error) (name string, ok bool) {
	for _, e := range errors.Errors(err) {
		switch format, args := e.Msg(); format {
		case "cannot reference optional field: %s", "required field missing: %s":
			return fmt.Sprint(args...), true
		}
	}
	return "", false
}

// isCycle says that CUE gave up on a definition within itself.
func isCycle(err error) bool {
	return slices.ContainsFunc(errors.Errors(err), func(e errors.Error) bool {
		format, _ := e.Msg()
		return format == "structural cycle"
	})
}

// notAllowed says that a field is refused by a definition that it is unified
// with.
func notAllowed(err error) bool {
	if err == nil {
		return false
	}
	return slices.ContainsFunc(errors.Errors(err), func(e errors.Error) bool {
		format, _ := e.Msg()
		return format == "field not allowed"
	})
}
