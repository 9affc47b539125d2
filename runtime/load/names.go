package load

import (
	"fmt"
	"slices"
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
	declared := map[string]cue.Value{}
	for _, root := range roots {
		declared[root] = t.Own.LookupPath(cue.ParsePath(root))
	}
	l.impossible(declared["input"])
	for _, u := range uses {
		path := joinPath(t.Path.String(), strings.Join(u.within, "."))
		whole := strings.Join(append([]string{u.Root}, u.Path...), ".")
		switch {
		case u.hidden:
			name := u.Path[len(u.Path)-1]
			l.report(u.written, path, fmt.Sprintf("%s is a hidden field of CUE, which no caller can give: write %s[%q]",
				whole, strings.TrimSuffix(whole, "."+name), name))
			l.cutAt(u.written)
		case literalField(s, u.within):
			l.report(u.at[0], path, fmt.Sprintf("must be literal: it is known before any call and cannot refer to %s", whole))
			l.cutAt(u.at[0])
		default:
			if i, message := undeclared(declared[u.Root], u.Root, u.Path); message != "" {
				l.report(u.at[i+1], path, message)
				l.cutAt(u.at[i+1])
			}
		}
	}
	for _, p := range programs {
		for _, path := range jqArgs(p.text) {
			if _, message := undeclared(declared["input"], argsVariable, path); message != "" {
				l.report(p.pos, p.path, message)
			}
		}
	}
}

// literalField says whether the definitions want a value without arguments at
// a path below a tool. Fields of the operator's own can hold anything.
func literalField(s *shape, path []string) bool {
	if len(path) == 0 || internal(path[0]) {
		return false
	}
	for _, name := range path {
		if s = s.step(name); s == nil {
			return false
		}
		if s.holds == "type" || s.holds == "expressions" {
			return false
		}
	}
	return true
}

// undeclared finds the part of a path that names nothing below v, and says so.
func undeclared(v cue.Value, root string, path []string) (int, string) {
	if !v.Exists() {
		if len(path) == 0 {
			return 0, ""
		}
		return 0, fmt.Sprintf("%s.%s: the tool declares no arguments", root, path[0])
	}
	for i, name := range path {
		next, names, known := child(v, name)
		if !known {
			return 0, ""
		}
		if !next.Exists() {
			at := strings.Join(append([]string{root}, path[:i+1]...), ".")
			what := "is no argument of the tool"
			switch {
			case root == "steps":
				what = "is no step of the tool"
			case i > 0:
				what = "does not exist"
			}
			message := fmt.Sprintf("%s %s", at, what)
			if near := nearest.Names(name, names); len(near) > 0 {
				message += "; did you mean " + either(near) + "?"
			} else if len(names) > 0 && len(names) <= 8 {
				message += "; there is " + strings.Join(names, ", ")
			}
			return i, message
		}
		v = next
	}
	return 0, ""
}

// child finds a field by name, required and optional ones too. known is false
// where v does not say which fields there are.
func child(v cue.Value, name string) (next cue.Value, names []string, known bool) {
	if v.IncompleteKind() != cue.StructKind {
		return cue.Value{}, nil, false
	}
	if v.LookupPath(cue.MakePath(cue.AnyString)).Exists() {
		return cue.Value{}, nil, false
	}
	it, err := v.Fields(cue.All())
	if err != nil {
		return cue.Value{}, nil, false
	}
	for it.Next() {
		if it.Selector().LabelType() != cue.StringLabel {
			continue
		}
		n := it.Selector().Unquoted()
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
	if f, ok := input.Source().(*ast.Field); ok {
		if _, plain := f.Value.(*ast.StructLit); plain {
			return
		}
	}
	it, err := input.Fields(cue.All())
	if err != nil {
		return
	}
	for it.Next() {
		f := it.Value()
		err := f.Err()
		if err == nil || it.Selector().LabelType() != cue.StringLabel {
			continue
		}
		if format, _ := cueerrors.Errors(err)[0].Msg(); !strings.Contains(format, "not allowed") {
			continue
		}
		l.report(l.labelPos(f), joinPath(pathOf(input), it.Selector().String()),
			"no caller can give this argument: a definition unified with & takes no further fields; embed it: {#Definition, …}")
		l.cutField(f)
	}
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
	path, ok := d.path(x.X)
	if !ok {
		return
	}
	name, _, err := ast.LabelName(x.Sel)
	if err != nil || internal(name) {
		return
	}
	key := path.String() + "." + name
	message, done := d.known[key]
	if !done {
		v := d.l.cfg.Own.LookupPath(path)
		if next, names, known := child(v, name); known && !next.Exists() && v.Err() == nil {
			message = fmt.Sprintf("undefined field: %s has no %s", path, name)
			if near := nearest.Names(name, names); len(near) > 0 {
				message += "; did you mean " + either(near) + "?"
			}
		}
		d.known[key] = message
	}
	if message != "" {
		d.l.report(x.Sel.Pos(), strings.Join(d.labels, "."), message)
		d.l.cutAt(x.Sel.Pos())
	}
}

// path is the path of a chain of names that begins with a field of the package.
func (d *definedness) path(e ast.Expr) (cue.Path, bool) {
	switch x := e.(type) {
	case *ast.Ident:
		if _, ok := x.Scope.(*ast.File); !ok {
			return cue.Path{}, false
		}
		switch x.Node.(type) {
		case nil, *ast.ImportSpec, *ast.LetClause, *ast.Alias, *ast.Field:
			return cue.Path{}, false
		}
		return cue.MakePath(d.l.selectorOf(x.Name)), true
	case *ast.SelectorExpr:
		p, ok := d.path(x.X)
		name, _, err := ast.LabelName(x.Sel)
		if !ok || err != nil {
			return cue.Path{}, false
		}
		return cue.MakePath(append(slices.Clone(p.Selectors()), d.l.selectorOf(name))...), true
	}
	return cue.Path{}, false
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
