package compile

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/expr"
)

// tryOut evaluates expressions before any call, with every optional argument
// absent and with all given, and reports what would break at a call or never be
// sent: elements of lists without a part, types in the place of values, optional
// fields that are no arguments. lists are those that only move values.
func (b *toolCompiler) tryOut(exprs, lists []cue.Path) {
	if b.src.Faulty || b.o.Tried { // what is reported already leaves gaps
		return
	}
	half := map[string]bool{}
	if len(exprs)+len(lists) > 0 {
		absent := b.withRequired()
		for _, p := range slices.Concat(lists, exprs) {
			told := slices.ContainsFunc(lists, func(l cue.Path) bool { return half[l.String()] && strings.HasPrefix(p.String(), l.String()+"[") })
			if err := expr.Half(absent.LookupPath(p)); err != nil && !told {
				half[p.String()] = true
				b.fault(p.String(), "with the optional arguments left out: %s; %s", reason(err), b.guard(p.String(), err))
			}
		}
	}
	if len(exprs) == 0 {
		return
	}
	given, certain := b.withAll()
	for _, p := range exprs {
		if half[p.String()] {
			continue
		}
		switch _, err := expr.Export(given.LookupPath(p)); {
		case err == nil:
		case expr.IsAbsent(err) && certain:
			b.fault(p.String(), "is never sent: %s, which is no argument", reason(err))
		case refersToNothing(b.src.Own.LookupPath(p).Source()):
			b.fault(p.String(), "has no value to send: %s", reason(err))
		}
	}
}

// absentRules tries the tool's check out with every optional argument absent.
func (b *toolCompiler) absentRules() {
	if b.src.Faulty || b.o.Tried {
		return
	}
	check := parsePath("check")
	if !b.src.Own.LookupPath(check).Exists() {
		return
	}
	if _, err := expr.Export(b.withRequired().LookupPath(check)); expr.IsHalf(err) || expr.IsAbsent(err) {
		b.fault("check", "cannot be evaluated when an optional argument is left out (%s): %s", reason(err), b.guard("check", err))
	}
}

// guard says how what is absent in an expression at a field is guarded.
func (b *toolCompiler) guard(field string, err error) string {
	name, whole := expr.Absent(err), "input.x"
	src := b.src.Own.LookupPath(parsePath(field)).Source()
	for _, ref := range b.src.Refs() {
		if i := slices.IndexFunc(ref.Path, func(part string) bool { return cue.Str(part).String() == name }); i >= 0 && src != nil && within(ref, src) {
			whole = ref.Root
			for _, part := range ref.Path[:i+1] {
				whole = member(whole, part)
			}
			break
		}
	}
	return "guard it with if " + whole + " != _|_"
}

// withRequired is the tool with its required arguments and the results of the
// steps that always run there, though not known, and no others.
func (b *toolCompiler) withRequired() cue.Value {
	if b.required.Exists() {
		return b.required
	}
	known := b.nothing()
	for _, f := range b.schema.Fields {
		if f.Required {
			known = known.FillPath(cue.MakePath(cue.Str(bind.RootInput), cue.Str(f.Name)), f.Value)
		}
	}
	for name, step := range fields(b.src.Own.LookupPath(parsePath(bind.RootSteps))) {
		_, http := below(step, "http")
		_, when := below(step, "when")
		_, optional := below(step, "optional")
		if http && !when && !optional {
			known = known.FillPath(cue.MakePath(cue.Str(bind.RootSteps), cue.Str(name)), answered())
		}
	}
	b.required = b.knowing(known)
	return b.required
}

// nothing is what is known of a call before anything is. What is known is put
// together first and then into the tool at once: each time the whole tool is
// evaluated.
func (b *toolCompiler) nothing() cue.Value { return cuecontext.New().CompileString("{}") }

// knowing is the tool with what is known of a call.
func (b *toolCompiler) knowing(known cue.Value) cue.Value {
	tool := b.src.Value
	for _, root := range []string{bind.RootInput, bind.RootSteps} {
		path := cue.MakePath(cue.Str(root))
		if v := known.LookupPath(path); v.Exists() {
			tool = tool.FillPath(path, v)
		}
	}
	return tool
}

// answered is what a step has once it has run, though not known.
func answered() cue.Value {
	return cuecontext.New().CompileString("{status: int, headers: [string]: string, result: _}")
}

// withAll is the tool with all arguments there, their optional parts included, and
// all results of steps, though not known. certain says that this is all there can
// be: which parts an alternative has is not known.
func (b *toolCompiler) withAll() (tool cue.Value, certain bool) {
	if b.all.Exists() {
		return b.all, b.certain
	}
	known, certain := b.nothing(), true
	for _, f := range b.schema.Fields {
		v, all := present(f.Value, 0)
		known = known.FillPath(cue.MakePath(cue.Str(bind.RootInput), cue.Str(f.Name)), v)
		certain = certain && all
	}
	state := answered()
	for name := range fields(b.src.Own.LookupPath(parsePath(bind.RootSteps))) {
		known = known.FillPath(cue.MakePath(cue.Str(bind.RootSteps), cue.Str(name)), state)
	}
	b.all, b.certain = b.knowing(known), certain
	return b.all, b.certain
}

// present gives v with its optional fields there, and whether it has no others.
func present(v cue.Value, depth int) (_ cue.Value, certain bool) {
	switch k := v.IncompleteKind(); {
	case k&(cue.StructKind|cue.ListKind) == 0 && k != cue.BottomKind:
		return v, true
	case k == cue.ListKind:
		return v, !v.LookupPath(cue.MakePath(cue.Index(0))).Exists()
	}
	if op, _ := cue.Dereference(v).Expr(); op == cue.OrOp || depth == maxDepth {
		return v, false
	}
	it, err := v.Fields(cue.All())
	if err != nil {
		return v, false
	}
	certain = true
	for it.Next() {
		if s := it.Selector(); s.LabelType() == cue.StringLabel && s.ConstraintType() != 0 {
			member, all := present(it.Value(), depth+1)
			v = v.FillPath(cue.MakePath(cue.Str(s.Unquoted())), member)
			certain = certain && all
		}
	}
	return v, certain
}

// refersToNothing says whether an expression is made of literals and CUE's own
// names alone, so that no call changes what it is.
func refersToNothing(n ast.Node) bool {
	if n == nil {
		return false
	}
	if f, ok := n.(*ast.Field); ok {
		n = f.Value
	}
	nothing := true
	ast.Walk(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Ident:
			_, imported := x.Node.(*ast.ImportSpec)
			nothing = nothing && (x.Node == nil || imported) && x.Scope == nil
		case *ast.StructLit, *ast.Comprehension:
			nothing = false
		}
		return nothing
	}, nil)
	return nothing
}
