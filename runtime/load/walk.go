package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/nearest"
)

// walker goes over the operator's own value beside the shapes of the
// definitions: unknown and missing fields, values of the wrong kind or out of
// a list, alternatives. CUE's evaluator finds most of these too, but one hides
// the other.
type walker struct {
	l *loader
	// values says that each value is to be checked: CUE found something. When it
	// did not, all values fit, and only what it does not see is looked for.
	values bool
	// schema is the scope of the shapes' expressions.
	schema      cue.Value
	constraints map[*shape]cue.Value
	// later are findings that count only when nothing is left to cut.
	later diag.List
	// programs are the jq programs met on the way, by the path of their tool.
	programs map[string][]program
	// tested are the tools, by their paths, that have nothing but tests.
	tested map[string]bool
}

// program is the text of a jq program.
type program struct {
	field string // the top-level field of the tool
	path  string
	names jqNames
	pos   token.Pos
}

// walk checks v against s.
func (w *walker) walk(v cue.Value, s *shape) {
	switch {
	case s.holds == "type", s.holds == "expressions":
		// What is wrong inside, CUE says; except that a structure, as far as it
		// is known already, has its members; and that a condition is no list, which
		// CUE sees when it is known alone.
		if s.sentences() && condition(v) {
			w.l.report(w.l.valuePos(v), pathOf(v), s.refuse(v), "")
			w.l.cutValue(v)
			return
		}
		if s.kind == list && s.elem.kind == structure {
			if it, err := v.List(); err == nil {
				for it.Next() {
					w.walk(it.Value(), s.elem)
				}
			}
			w.made(v, s.elem)
		}
	case s.kind == structure:
		w.structure(v, s)
	case s.kind == list:
		it, err := v.List()
		if err != nil {
			w.wrong(v, s)
			return
		}
		for it.Next() {
			w.walk(it.Value(), s.elem)
		}
	case s.kind == choice:
		w.walk(v, s.arm(v))
	case s.kind == value:
		if w.values && !w.fits(v, s) {
			w.wrong(v, s)
			return
		}
		w.concrete(v)
		switch s.holds {
		case "jq":
			w.program(v, readJQ)
		case "argument":
			w.program(v, func(name string) jqNames { return jqNames{args: [][]string{{name}}, bare: true} })
		}
	default:
		w.concrete(v)
	}
}

// arm is the alternative that v is meant to be: among structures the one that
// shares most members with it, else the first of v's kind.
func (s *shape) arm(v cue.Value) *shape {
	best, most := s.arms[0], -1
	isStruct := v.IncompleteKind() == cue.StructKind
	for _, a := range s.arms {
		n := -1
		switch {
		case a.kind == structure && isStruct:
			n = 0
			if it, err := v.Fields(); err == nil {
				for it.Next() {
					if _, ok := a.member(it.Selector().Unquoted()); ok {
						n++
					}
				}
			}
		case a.kind == value && a.accepts&v.IncompleteKind() != 0:
			n = 0
		}
		if n > most {
			best, most = a, n
		}
	}
	return best
}

func (w *walker) structure(v cue.Value, s *shape) {
	it, err := v.Fields()
	if err != nil {
		w.wrong(v, s)
		return
	}
	if len(s.members) == 0 && len(s.patterns) == 0 {
		w.concrete(v)
		return
	}
	given := make([]cue.Value, len(s.members))
	var others, unknown []cue.Value
	for it.Next() {
		name, f := it.Selector().Unquoted(), it.Value()
		if i := slices.IndexFunc(s.members, func(m member) bool { return m.label == name }); i >= 0 {
			given[i] = f
		} else if len(s.patterns) > 0 {
			others = append(others, f)
		} else if !s.open {
			unknown = append(unknown, f)
		}
	}
	// First, because what a misspelt field was meant to be then lacks what it holds.
	w.unknowns(v, unknown, s, given)
	for i, f := range given {
		if f.Exists() {
			w.walk(f, s.members[i].shape)
		}
	}
	for _, f := range others {
		p := s.patterns[0]
		if w.values && p.label.accepts != 0 && !w.fits(w.l.ctx.Encode(lastName(f)), p.label) {
			w.l.report(w.l.labelPos(f), pathOf(f), fmt.Sprintf("the name must %s", p.label.must), "")
			w.l.cutField(f)
			continue
		}
		w.walk(f, p.shape)
	}
	if len(unknown) == 0 && w.onlyTested(v, s, given) {
		return
	}
	w.missing(v, s, given)
	w.oneOf(v, s, given)
}

// maxListed is how many names a message lists when none is near.
const maxListed = 8

// unknowns reports the fields of v that there are not. Where a structure is
// missing that takes them all, they were meant to be in it.
func (w *walker) unknowns(v cue.Value, unknown []cue.Value, s *shape, given []cue.Value) {
	var names []string
	near := false
	for _, f := range unknown {
		name := lastName(f)
		names = append(names, name)
		near = near || len(nearest.Names(name, s.names())) > 0
	}
	alternative := !slices.ContainsFunc(s.members, func(m member) bool {
		return slices.Contains(s.oneof, m.label) && given[slices.IndexFunc(s.members, func(n member) bool { return n.label == m.label })].Exists()
	})
	i := slices.IndexFunc(s.members, func(m member) bool {
		if m.kind != structure {
			return false
		}
		return m.required && m.open && !near || (m.required || alternative && slices.Contains(s.oneof, m.label)) && m.takes(names)
	})
	if i >= 0 && len(unknown) > 0 && !given[i].Exists() && !w.l.wasCut(v) {
		missing := s.members[i].label
		w.l.report(w.l.labelPos(unknown[0]), joinPath(pathOf(v), missing), fmt.Sprintf("is missing: put %s into it, %s: {…}", listed(names, "and"), missing), "")
		w.l.misspelt[pathOf(v)] = append(w.l.misspelt[pathOf(v)], missing)
		for _, f := range unknown {
			w.l.cutField(f)
		}
		return
	}
	for i, f := range unknown {
		w.l.report(w.l.labelPos(f), pathOf(f), "there is no such field"+orNearest(names[i], s.names()), "")
		w.l.misspelt[pathOf(v)] = append(w.l.misspelt[pathOf(v)], nearest.Names(names[i], s.names())...)
		w.l.cutField(f)
	}
}

// onlyTested reports tools that have tests and nothing else: those stand in a file
// of their own, under a name that the tool no longer has. Nothing is missing in
// them, nor in a domain that has no others.
func (w *walker) onlyTested(v cue.Value, s *shape, given []cue.Value) bool {
	only := func(label string) (only cue.Value) {
		for i, m := range s.members {
			switch {
			case !given[i].Exists():
			case m.label != label:
				return cue.Value{}
			default:
				only = given[i]
			}
		}
		return only
	}
	switch s.name {
	case "#Tool":
		tests := only("tests")
		if !tests.Exists() || w.l.wasCut(v) {
			return false
		}
		if !w.l.meantElsewhere(pathOf(v)) {
			w.l.report(w.l.labelPos(tests), pathOf(v), fmt.Sprintf("there is no tool %s: only tests are declared for it%s", lastName(v), w.l.sameTool(v)), "")
		}
		w.tested[pathOf(v)] = true
		return true
	case "#Domain":
		tools := only("tools")
		return tools.Exists() && w.allTested(tools)
	}
	return false
}

// allTested says whether all tools of a domain, of which there are some, have tests
// alone.
func (w *walker) allTested(tools cue.Value) bool {
	n := 0
	for _, t := range fields(tools) {
		if n++; !w.tested[pathOf(t)] {
			return false
		}
	}
	return n > 0
}

// sameTool ends a message about a tool that there is not: with the domain that has
// it, or the names near to it.
func (l *loader) sameTool(v cue.Value) string {
	sels := v.Path().Selectors()
	domain, name := sels[1].Unquoted(), sels[3].Unquoted()
	var within, all []string
	for _, t := range l.cfg.tools {
		switch {
		case !t.Own.LookupPath(cue.ParsePath("http")).Exists() && !t.Own.LookupPath(cue.ParsePath("steps")).Exists():
		case t.Name == name:
			return "; the domain " + t.Domain + " has one of that name"
		case t.Domain == domain:
			within = append(within, t.Name)
			fallthrough
		default:
			all = append(all, t.Name)
		}
	}
	if near := nearest.Names(name, within); len(near) > 0 {
		all = near
	}
	return orNearest(name, all)
}

// meantElsewhere says whether what a path leads to was meant to have what stands in
// a misspelt field, so that what seems to be missing in it is there.
func (l *loader) meantElsewhere(path string) bool {
	sels := cue.ParsePath(path).Selectors()
	for i, sel := range sels {
		if sel.LabelType() == cue.StringLabel && slices.Contains(l.misspelt[cue.MakePath(sels[:i]...).String()], sel.Unquoted()) {
			l.mark(path)
			return true
		}
	}
	return false
}

// takes says whether all names are of members.
func (s *shape) takes(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := s.member(name); return !ok })
}

// lastName is the name of a field.
func lastName(v cue.Value) string {
	sels := v.Path().Selectors()
	return sels[len(sels)-1].Unquoted()
}

// conditions are the operators that make true or false.
var conditions = []token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.MAT, token.NMAT, token.LAND, token.LOR, token.NOT}

// condition says whether v is one, or is written as one.
func condition(v cue.Value) bool {
	written := slices.ContainsFunc(nodes(v), func(n ast.Node) bool {
		f, ok := n.(*ast.Field)
		if !ok {
			return false
		}
		e := f.Value
		for {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
				continue
			case *ast.BinaryExpr:
				return slices.Contains(conditions, x.Op)
			case *ast.UnaryExpr:
				return slices.Contains(conditions, x.Op)
			}
			return false
		}
	})
	return written || v.Kind() == cue.BoolKind
}

// sentences says whether what has the shape are sentences that stand under
// conditions.
func (s *shape) sentences() bool {
	return s.kind == list && s.holds == "expressions" && s.elem.accepted() == cue.StringKind
}

// made looks for unknown fields in the elements of a list that comprehensions
// make of arguments, which no value shows yet.
func (w *walker) made(v cue.Value, elem *shape) {
	for _, n := range nodes(v) {
		f, ok := n.(*ast.Field)
		if !ok {
			continue
		}
		l, ok := f.Value.(*ast.ListLit)
		if !ok {
			continue
		}
		for _, e := range l.Elts {
			c, ok := e.(*ast.Comprehension)
			if !ok {
				continue
			}
			for _, s := range literals(c.Value) {
				w.labels(v, s, elem)
			}
		}
	}
}

func (w *walker) labels(v cue.Value, x *ast.StructLit, s *shape) {
	for _, d := range slices.Clone(x.Elts) {
		f, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(f.Label)
		if _, member := s.member(name); err != nil || member || internal(name) {
			continue
		}
		w.l.report(f.Pos(), joinPath(pathOf(v), name), "there is no such field"+orNearest(name, s.names()), "")
		if w.l.cut.field(f) {
			w.l.changed = true
		}
	}
}

// missing reports the required members that are not given. One that a misspelt
// neighbour was meant to be is reported with that.
func (w *walker) missing(v cue.Value, s *shape, given []cue.Value) {
	for i, m := range s.members {
		if !m.required || given[i].Exists() || slices.Contains(w.l.misspelt[pathOf(v)], m.label) || w.l.wasCut(v) || w.l.meantElsewhere(pathOf(v)) {
			continue
		}
		w.lacks(v, joinPath(pathOf(v), m.label), "is missing, and required")
	}
}

// oneOf reports alternatives of which none, or more than one, is given.
func (w *walker) oneOf(v cue.Value, s *shape, given []cue.Value) {
	if len(s.oneof) == 0 {
		return
	}
	var names []string
	var values []cue.Value
	for i, m := range s.members {
		if slices.Contains(s.oneof, m.label) && given[i].Exists() {
			names, values = append(names, m.label), append(values, given[i])
		}
	}
	switch {
	case len(names) > 1:
		w.l.report(w.l.labelPos(values[1]), pathOf(v), fmt.Sprintf("takes one of %s, not %s together", either(s.oneof), strings.Join(names, " and ")), "")
	case len(names) == 0 && len(w.l.misspelt[pathOf(v)]) == 0 && !w.l.wasCut(v) && !w.l.meantElsewhere(pathOf(v)):
		w.lacks(v, pathOf(v), fmt.Sprintf("needs one of %s", either(s.oneof)))
	}
}

// lacks notes a finding about what is not there.
func (w *walker) lacks(v cue.Value, path, message string) {
	w.lacksAt(w.l.labelPos(v), path, message)
}

func (w *walker) lacksAt(p token.Pos, path, message string) {
	w.l.mark(path)
	w.later = append(w.later, finding(p, path, message))
}

// fits says whether a value is within a shape. What is an error by itself, CUE
// reports.
func (w *walker) fits(v cue.Value, s *shape) bool {
	if v.Validate() != nil {
		return true
	}
	c, ok := w.constraints[s]
	if !ok {
		c = w.l.ctx.CompileString(s.expr, cue.Scope(w.schema), cue.InferBuiltins(true))
		w.constraints[s] = c
	}
	// Evaluated anew, v can be an error because of a fault elsewhere, in a structure
	// that it takes something from. That is told there.
	return c.Unify(v).Validate() == nil || w.l.ctx.CompileString("_").Unify(v).Validate() != nil
}

// wrong reports a value that does not fit its shape, and cuts it.
func (w *walker) wrong(v cue.Value, s *shape) {
	if v.Validate() != nil || w.l.wasCut(v) {
		return // an error by itself, which CUE reports
	}
	if s.kind != value && v.IncompleteKind()&s.accepted() != 0 {
		w.concrete(v)
		return
	}
	w.l.report(w.l.valuePos(v), pathOf(v), s.refuse(v), "")
	w.l.cutValue(v)
}

// accepted gives the kinds of values that a shape takes.
func (s *shape) accepted() cue.Kind {
	switch s.kind {
	case structure:
		return cue.StructKind
	case list:
		return cue.ListKind
	case value:
		return s.accepts
	case choice:
		var k cue.Kind
		for _, a := range s.arms {
			k |= a.accepted()
		}
		return k
	}
	return cue.TopKind
}

// kindNames names kinds of values for people.
var kindNames = []struct {
	kind cue.Kind
	name string
}{
	{cue.StringKind, "a string"},
	{cue.BoolKind, "true or false"},
	{cue.NumberKind, "a number"},
	{cue.IntKind, "a whole number"},
	{cue.StructKind, "a structure {…}"},
	{cue.ListKind, "a list […]"},
	{cue.NullKind, "null"},
	{cue.BytesKind, "bytes"},
}

func kindName(k cue.Kind) string {
	var names []string
	for _, n := range kindNames {
		if n.kind != 0 && k&n.kind == n.kind {
			names = append(names, n.name)
			k &^= n.kind
		}
	}
	return either(names)
}

// refuse says why a value does not fit, for people.
func (s *shape) refuse(v cue.Value) string {
	text := excerpt(v)
	if s.secret {
		text = kindName(v.IncompleteKind())
	}
	switch {
	case s.secret && s.kind == structure:
		return "must be a reference to a secret, such as {env: \"NAME\"}, not " + text
	case s.secret && v.IncompleteKind()&s.accepted() != 0:
		return "must " + s.must
	case len(s.enum) > 0:
		quoted := make([]string, len(s.enum))
		for i, e := range s.enum {
			quoted[i] = fmt.Sprintf("%q", e)
		}
		message := fmt.Sprintf("must be one of %s, not %s", strings.Join(quoted, ", "), text)
		if given, err := v.String(); err == nil {
			if near := append(nearest.Names(given, s.enum), begun(given, s.enum)...); len(near) > 0 {
				message += fmt.Sprintf("; did you mean %q?", near[0])
			}
		}
		return message
	case s.must != "" && s.accepted() == cue.StringKind && v.Kind()&(cue.NumberKind|cue.BoolKind) != 0:
		message := fmt.Sprintf("must %s, not %s", s.must, text)
		if s.name == "#Duration" && v.Kind()&cue.NumberKind != 0 {
			message += fmt.Sprintf(`; seconds are written "%ss"`, text)
		}
		return message
	case s.sentences() && condition(v):
		return fmt.Sprintf(`must be a list of sentences that refuse a call, such as [if input.x == _|_ {"give x"}], not %s`, text)
	case v.IncompleteKind()&s.accepted() == 0:
		message := fmt.Sprintf("must be %s, not %s", kindName(s.accepted()), text)
		if v.Kind() == cue.BytesKind && s.accepted()&cue.StringKind != 0 {
			message += "; a string is written in double quotes"
		}
		return message
	case s.must != "":
		message := fmt.Sprintf("must %s, not %s", s.must, text)
		if strings.Contains(text, "://") && !strings.Contains(s.must, "://") {
			message += "; the scheme and the host stand in the url of an upstream"
		}
		return message
	}
	return fmt.Sprintf("must be %s, not %s", s.expr, text)
}

// userinfo is the part of a URL that can hold a password.
var userinfo = regexp.MustCompile(`//[^/"]*@`)

// begun gives the names that begin as a name does: destructive for destroy.
func begun(name string, names []string) (near []string) {
	const most = 4
	for _, n := range names {
		if len(name) >= most && strings.HasPrefix(strings.ToLower(n), strings.ToLower(name[:most])) {
			near = append(near, n)
		}
	}
	return near
}

// excerpt writes a value for a message, in one line of moderate length.
func excerpt(v cue.Value) string {
	switch v.IncompleteKind() {
	case cue.StructKind, cue.ListKind:
		return kindName(v.IncompleteKind())
	}
	var n ast.Node = v.Syntax(cue.Final())
	if !isConcrete(v) { // an expression, as it is written
		for _, own := range nodes(v) {
			if f, ok := own.(*ast.Field); ok {
				n = f.Value
			}
		}
	}
	b, err := format.Node(n, format.Simplify())
	if err != nil {
		return kindName(v.IncompleteKind())
	}
	s := userinfo.ReplaceAllString(strings.Join(strings.Fields(string(b)), " "), "//***@")
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return s
}

// concrete reports a value that is not known when the configuration is loaded.
func (w *walker) concrete(v cue.Value) {
	if isConcrete(v) {
		return
	}
	// What refers to a tag without a value is reported there, and the definitions
	// may have made one of several.
	refers := v.Err() != nil || cue.Dereference(v) != v
	if w.l.unset && refers || isConcrete(w.l.cfg.Value.LookupPath(v.Path())) || w.l.wasCut(v) || v.Validate() != nil {
		return
	}
	if err := v.Validate(cue.Concrete(true)); err != nil { // the part of it, if it has parts
		if inner := w.l.cfg.Own.LookupPath(w.l.pathIn(cueerrors.Errors(err)[0])); inner.Exists() {
			v = inner
		}
	}
	if w.l.told(pathOf(v)) {
		return
	}
	w.lacksAt(w.l.valuePos(v), pathOf(v), "must be a value that is known before any call, not "+excerpt(v))
}

func isConcrete(v cue.Value) bool {
	switch k := v.Kind(); k {
	case cue.StructKind, cue.ListKind:
		return v.Validate(cue.Concrete(true)) == nil
	case cue.BottomKind:
		d, ok := v.Default()
		return ok && d.Validate(cue.Concrete(true)) == nil
	}
	return true
}

// program notes what reads arguments without CUE, a jq program or the name of one,
// for the search for references.
func (w *walker) program(v cue.Value, read func(string) jqNames) {
	text, err := v.String()
	sels := v.Path().Selectors()
	if err != nil || len(sels) < 5 {
		return
	}
	p := program{field: sels[4].Unquoted(), path: v.Path().String(), names: read(text), pos: w.l.valuePos(v)}
	for _, path := range p.names.headers {
		if message := upperHeader(headersVariable, path[:1]); message != "" {
			w.l.report(p.pos, p.path, message, "")
		}
	}
	tool := cue.MakePath(sels[:4]...).String()
	w.programs[tool] = append(w.programs[tool], p)
}

// pathOf is the path of a value as people write it.
func pathOf(v cue.Value) string { return v.Path().String() }

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
