package load

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/nearest"
)

// CUE says nothing of input.projct in a presence test, and a reference to a
// member that an open structure lacks is an error only when it is evaluated. So
// names are checked in the syntax, whatever surrounds them.

// names checks the references of a tool against what it declares.
func (l *loader) names(t Tool, uses []use, programs []program) {
	s := configShape()
	for _, sel := range t.Path.Selectors() {
		s = s.step(sel.Unquoted())
	}
	input := t.Own.LookupPath(cue.ParsePath("input"))
	l.impossible(input)
	for _, u := range uses {
		var at token.Pos
		var message string
		switch last := len(u.Path) - 1; {
		case u.hidden:
			at = u.at[last+1]
			message = fmt.Sprintf("%s.%s is a hidden field of CUE, which no caller can give: write %s",
				written(u.Root, u.Path[:last]), u.Path[last], written(u.Root, u.Path))
		case literalField(s, u.within):
			at = u.at[0]
			message = fmt.Sprintf("must be literal: it is known before any call and cannot refer to %s%s", written(u.Root, u.Path), asVariable(u))
		default:
			var i int
			if u.Root == "steps" {
				i, message = undeclaredStep(t, s, u.Path)
			} else {
				i, message = undeclared(input, u.Root, u.Path)
			}
			if message != "" {
				at = u.at[i+1]
			}
		}
		if message == "" {
			continue
		}
		path := l.path(append([]string{"domains", t.Domain, "tools", t.Name}, u.within...)).String()
		if l.cut.cut(at) { // in a mixin, told for another tool, or in a field that there is not
			l.mark(path)
			continue
		}
		l.report(at, path, message, "")
		l.cutAt(at)
	}
	steps := l.stepNames(t)
	for _, p := range programs {
		for _, path := range p.names.args {
			if _, message := undeclared(input, argsVariable, path); message != "" {
				if p.names.bare {
					message = strings.TrimPrefix(message, argsVariable+".")
				}
				l.report(p.pos, p.path, message, "")
			}
		}
		over := len(steps) > 0 && slices.Contains(overSteps, strings.TrimPrefix(p.path, t.Path.String()+"."))
		for _, path := range p.names.cue {
			l.report(p.pos, p.path, foreignInJQ(path, over), "")
		}
		if !over {
			continue
		}
		for _, path := range p.names.seen {
			if message := unseen(steps, path); message != "" {
				l.report(p.pos, p.path, message, "")
			}
		}
	}
}

// overSteps are the jq programs of a tool that are run over {"steps": …} where it
// has steps.
var overSteps = []string{"response.jq", "response.paginate.also"}

// stepNames gives the names of a tool's steps; none where not all are known.
func (l *loader) stepNames(t Tool) []string {
	steps := t.Own.LookupPath(cue.ParsePath("steps"))
	if !steps.Exists() || l.wasCut(steps) {
		return nil
	}
	_, names, known := child(steps, "")
	if !known {
		return nil
	}
	return names
}

// literalField says whether the definitions want a value without arguments at
// a path below a tool. Fields of the operator's own can hold anything.
func literalField(s *shape, path []string) bool {
	if len(path) == 0 || internal(path[0]) {
		return false
	}
	holds := ""
	for _, name := range path {
		if s.kind == list {
			s = s.elem
		}
		if m, ok := s.member(name); ok {
			s, holds = m.shape, m.holds // a named member says for itself
		} else if s = s.step(name); s != nil {
			holds = cmp.Or(s.holds, holds)
		} else {
			return false
		}
	}
	return holds != "type" && holds != "expressions"
}

// asVariable says how what a use in the path of a request refers to is written there.
func asVariable(u use) string {
	switch {
	case !requestPath(u.within):
		return ""
	case u.Root == "input" && len(u.Path) == 1:
		return fmt.Sprintf("; an argument is written {%s} in a path", u.Path[0])
	}
	return "; give it a name in vars, and write {NAME} in the path"
}

// written is a reference as the operator writes it.
func written(root string, path []string) string {
	for _, name := range path {
		if ast.IsValidIdent(name) && !internal(name) {
			root += "." + name
		} else {
			root += fmt.Sprintf("[%q]", name)
		}
	}
	return root
}

// undeclared finds the part of a path that names nothing below v, and says so.
func undeclared(v cue.Value, root string, path []string) (int, string) {
	if !v.Exists() {
		if len(path) == 0 {
			return 0, ""
		}
		return 0, fmt.Sprintf("%s: the tool declares no arguments", written(root, path[:1]))
	}
	for i, name := range path {
		next, names, known := child(v, name)
		switch {
		case !known:
			return 0, ""
		case next.Exists():
			v = next
		case i == 0:
			return i, written(root, path[:1]) + " is no argument of the tool" + orNearest(name, names)
		default:
			return i, written(root, path[:i+1]) + " does not exist" + orNearest(name, names)
		}
	}
	return 0, ""
}

// undeclaredStep does the same for what a step refers to: the steps are those
// that the operator declares, and what they have when they have run the
// definitions say. s is the shape of the tool.
func undeclaredStep(t Tool, s *shape, path []string) (int, string) {
	if len(path) == 0 {
		return 0, ""
	}
	steps := cue.ParsePath("steps")
	if next, names, known := child(t.Own.LookupPath(steps), path[0]); known && !next.Exists() {
		return 0, written("steps", path[:1]) + " is no step of the tool" + orNearest(path[0], names)
	}
	if step := s.step("steps").step(path[0]); len(path) > 1 && !internal(path[1]) && !slices.Contains(step.names(), path[1]) {
		return 1, written("steps", path[:2]) + " does not exist" + orNearest(path[1], stepMembers)
	}
	if len(path) > 2 && path[1] == "headers" {
		if message := upperHeader("steps", path[:3]); message != "" {
			return 2, message
		}
	}
	i, message := undeclared(t.Value.LookupPath(steps), "steps", path)
	return i, message
}

// upperHeader says that the last name of a path, a member of headers, has capitals,
// and so is never there; "" when it has none.
func upperHeader(root string, path []string) string {
	last := len(path) - 1
	lower := strings.ToLower(path[last])
	if lower == path[last] {
		return ""
	}
	return fmt.Sprintf("%s is never there: headers have lower-case names; write %s", written(root, path), written(root, append(slices.Clone(path[:last]), lower)))
}

// orNearest ends a message about a name that there is not.
func orNearest(name string, names []string) string {
	if near := nearest.Names(name, names); len(near) > 0 {
		return "; did you mean " + either(near) + "?"
	}
	if len(names) > 0 && len(names) <= maxListed {
		return "; there is " + strings.Join(names, ", ")
	}
	return ""
}

// child finds a field or definition by name, required and optional ones too.
// known is false where v does not say which fields there are.
func child(v cue.Value, name string) (next cue.Value, names []string, known bool) {
	if v.IncompleteKind() != cue.StructKind {
		return cue.Value{}, nil, false
	}
	if !internal(name) { // to list the fields takes longer
		for _, sel := range []cue.Selector{cue.Str(name).Optional(), cue.Str(name).Required(), cue.Str(name)} {
			if next := v.LookupPath(cue.MakePath(sel)); next.Exists() {
				return next, nil, true
			}
		}
	}
	if !strings.HasPrefix(name, "#") && v.LookupPath(cue.MakePath(cue.AnyString)).Exists() {
		return cue.Value{}, nil, false
	}
	it, err := v.Fields(cue.All())
	if err != nil {
		return cue.Value{}, nil, false
	}
	for it.Next() {
		var n string
		switch sel := it.Selector(); sel.LabelType() {
		case cue.StringLabel:
			n = sel.Unquoted()
		case cue.DefinitionLabel:
			n = sel.String()
		default:
			continue
		}
		if n == name {
			return it.Value(), nil, true
		}
		names = append(names, n)
	}
	if op, arms := cue.Dereference(v).Expr(); op == cue.OrOp {
		for _, a := range arms {
			next, more, known := child(a, name)
			if !known || next.Exists() {
				return next, nil, known
			}
			names = append(names, more...)
		}
	} else if v.Err() != nil { // a condition that does not hold may hide fields
		return cue.Value{}, nil, false
	}
	return cue.Value{}, names, true
}

// impossible reports arguments that no caller can give, because a definition
// that is unified with them, not embedded, takes no further fields.
func (l *loader) impossible(input cue.Value) {
	if f, ok := input.Source().(*ast.Field); ok && onlyEmbeds(f.Value) {
		return
	}
	it, err := input.Fields(cue.All())
	if err != nil {
		return
	}
	var names []string
	var at token.Pos
	for it.Next() {
		f := it.Value()
		err := f.Err()
		if err == nil || it.Selector().LabelType() != cue.StringLabel {
			continue
		}
		if format, _ := cueerrors.Errors(err)[0].Msg(); !strings.Contains(format, "not allowed") {
			continue
		}
		names = append(names, it.Selector().Unquoted())
		if p := l.labelPos(f); !at.IsValid() && within(p, nodes(input)) {
			at = p
		}
	}
	if len(names) == 0 {
		return
	}
	if !at.IsValid() { // all of them come from mixins, which others may use well
		at = l.valuePos(input)
	}
	l.report(at, pathOf(input), fmt.Sprintf(
		"no caller can give %s: a definition that is unified with the arguments takes no further fields; embed the definition beside them: {#Definition, …}", listed(names, "or")), "")
	l.cutValue(input)
	for _, n := range nodes(input) {
		if f, ok := n.(*ast.Field); ok {
			l.cutAt(f.Value.Pos())
		}
	}
}

// onlyEmbeds says whether a value is a structure that unifies nothing with &.
func onlyEmbeds(e ast.Expr) bool {
	x, ok := e.(*ast.StructLit)
	return ok && !slices.ContainsFunc(x.Elts, func(d ast.Decl) bool {
		e, ok := d.(*ast.EmbedDecl)
		if !ok {
			return false
		}
		_, and := e.Expr.(*ast.BinaryExpr)
		return and
	})
}

// undefined reports references to members that the operator's own package-level
// fields do not have.
func (l *loader) undefined() {
	d := definedness{l: l, known: map[string]string{}}
	for _, f := range l.cut.files {
		ast.Walk(f, d.enter, d.leave)
	}
}

// definedness looks members of package-level fields up.
type definedness struct {
	l      *loader
	labels []string          // of the fields around
	known  map[string]string // what is wrong with a chain of names; "" when nothing is
}

func (d *definedness) enter(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.Field:
		name, _, _ := ast.LabelName(x.Label)
		d.labels = append(d.labels, name)
	case *ast.BinaryExpr:
		// A presence test may ask for what is not there, and a fallback has it.
		return !isBottom(x.X) && !isBottom(x.Y) && x.Op != token.OR
	case *ast.SelectorExpr:
		d.selector(x)
	}
	return true
}

func (d *definedness) leave(n ast.Node) {
	if _, ok := n.(*ast.Field); ok {
		d.labels = d.labels[:len(d.labels)-1]
	}
}

func isBottom(e ast.Expr) bool { _, ok := e.(*ast.BottomLit); return ok }

// selector checks one step of a chain; its predecessors are checked by
// themselves.
func (d *definedness) selector(x *ast.SelectorExpr) {
	v, path, ok := d.value(x.X)
	if !ok {
		return
	}
	name, _, err := ast.LabelName(x.Sel)
	if err != nil || strings.HasPrefix(name, "_") {
		return
	}
	key := path + "." + name
	message, done := d.known[key]
	if !done {
		if next, names, known := child(v, name); known && !next.Exists() && v.Err() == nil {
			message = fmt.Sprintf("undefined field: %s has no %s", path, name)
			if near := nearest.Names(name, names); len(near) > 0 {
				message += "; did you mean " + either(near) + "?"
			}
		}
		d.known[key] = message
	}
	if message != "" {
		d.l.report(x.Sel.Pos(), d.l.path(d.labels).String(), message, "")
		d.l.cutAt(x.Sel.Pos())
	}
}

// value is what a chain of names leads to that begins with a field of the
// package or with another package, and the chain as it is written.
func (d *definedness) value(e ast.Expr) (v cue.Value, path string, ok bool) {
	switch x := e.(type) {
	case *ast.Ident:
		if spec, ok := x.Node.(*ast.ImportSpec); ok {
			return d.l.pkg(spec), x.Name, true
		}
		if _, ok := x.Scope.(*ast.File); !ok {
			return v, "", false
		}
		switch x.Node.(type) {
		case nil, *ast.LetClause, *ast.Alias, *ast.Field:
			return v, "", false
		}
		return d.l.cfg.Own.LookupPath(cue.MakePath(d.l.selectorOf(x.Name))), x.Name, true
	case *ast.SelectorExpr:
		v, path, ok := d.value(x.X)
		name, _, err := ast.LabelName(x.Sel)
		if !ok || err != nil {
			return v, "", false
		}
		return v.LookupPath(cue.MakePath(d.l.selectorOf(name))), path + "." + name, true
	}
	return v, "", false
}

// pkg is the value of an imported package; it does not exist for CUE's own,
// which the compiler knows.
func (l *loader) pkg(spec *ast.ImportSpec) cue.Value {
	if path, err := strconv.Unquote(spec.Path.Value); err == nil && l.found[path] != nil {
		return l.ctx.BuildInstance(l.found[path])
	}
	return cue.Value{}
}

// path is the path of labels.
func (l *loader) path(labels []string) cue.Path {
	sels := make([]cue.Selector, len(labels))
	for i, name := range labels {
		sels[i] = l.selectorOf(name)
	}
	return cue.MakePath(sels...)
}

// selectorOf is the selector of an unquoted name.
func (l *loader) selectorOf(name string) cue.Selector {
	switch {
	case strings.HasPrefix(name, "_"):
		return cue.Hid(name, l.cfg.inst.ID())
	case strings.HasPrefix(name, "#"):
		return cue.Def(name)
	}
	return cue.Str(name)
}
