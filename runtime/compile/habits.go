package compile

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/load"
)

// Some of what CUE takes means something else than it says to whoever comes from
// JSON Schema, OpenAPI or another language. None of it is of use as it stands, so
// each is a finding that says what to write.

// habits finds declarations of arguments that are taken for something else.
func (b *toolCompiler) habits() {
	input := b.inputValue()
	if s, ok := readSchema(input, false); ok && s.has("properties") {
		b.addAt(input.Pos(), b.path+".input", "is JSON Schema: the arguments themselves stand here, as in input: %s", s.cue(0))
		b.spoil(b.path + ".input")
		return
	}
	b.leftovers(input, "")
	it, err := input.Fields(cue.All())
	if err != nil {
		return
	}
	for it.Next() {
		v, s := it.Value(), it.Selector()
		switch s.LabelType() {
		case cue.DefinitionLabel:
			if s.ConstraintType() != 0 {
				name := strings.TrimRight(s.String(), "?!")
				b.habit(v, name, "a name that begins with # is a definition and can never be given: write it in quotes, %q", name)
			}
		case cue.StringLabel:
			name := s.Unquoted()
			if !b.sound(name) {
				continue
			}
			b.marks(v, s, name)
			b.declares(v, cue.MakePath(cue.Str(name)).String(), declaration(s), 0)
		}
	}
}

// habit reports a declaration at the path below input.
func (b *toolCompiler) habit(v cue.Value, path, format string, args ...any) {
	p := v.Pos()
	if f, ok := v.Source().(*ast.Field); ok {
		p = f.Pos()
	}
	b.addAt(p, b.path+".input."+path, format, args...)
	b.spoil(b.path + ".input." + path)
}

// declaration writes a type as what a selector stands at declares it: after the name
// with its mark, ! or ?; or with both where there is none.
func declaration(s cue.Selector) form {
	name := cue.Str(s.Unquoted()).String()
	switch s.ConstraintType() {
	case cue.RequiredConstraint:
		return form{write: func(t string) string { return name + "!: " + t }}
	case cue.OptionalConstraint:
		return form{write: func(t string) string { return name + "?: " + t }}
	}
	return form{constant: true, write: func(t string) string { return name + "!: " + t + ", or " + name + "?: " + t }}
}

// form is how the operator declares something.
type form struct {
	constant bool // by a field without a mark
	write    func(t string) string
}

// element is how the elements of a list are declared.
func (d form) element() form {
	return form{write: func(t string) string {
		if strings.Contains(t, " | ") {
			t = "(" + t + ")"
		}
		return d.write("[..." + t + "]")
	}}
}

// marks finds marks of arguments that contradict what they stand at.
func (b *toolCompiler) marks(v cue.Value, s cue.Selector, name string) {
	path := cue.MakePath(cue.Str(name)).String()
	if f, ok := v.Source().(*ast.Field); ok && s.ConstraintType() == cue.OptionalConstraint {
		if _, ok := f.Value.(*ast.BottomLit); ok {
			b.habit(v, path, "no caller can give it: write its type in place of _|_, or leave it out")
			return
		}
	}
	if s.ConstraintType() == 0 || !hasDefault(v) {
		return
	}
	what, keep := "optional (?)", "leave the default out to send nothing when it is not given"
	if s.ConstraintType() == cue.RequiredConstraint {
		what, keep = "required (!)", "leave the default out to require it"
	}
	b.habit(v, path, "is %s and has a default, which is never used: take the mark away to use it (%s: …), or %s", what, name, keep)
}

// hasDefault says whether one of the alternatives that v is declared as is marked
// as the default.
func hasDefault(v cue.Value) bool {
	if op, _ := cue.Dereference(v).Expr(); op != cue.OrOp && op != cue.NoOp && op != cue.AndOp {
		return false
	}
	if v.IncompleteKind()&(cue.StructKind|cue.ListKind) != 0 { // CUE takes [] for a default
		return false
	}
	d, ok := v.Default()
	return ok && !v.IsConcrete() && d.IsConcrete()
}

// declares finds values in the place of types. A field without a mark may be a
// constant that is meant, unless it says what only a type does.
func (b *toolCompiler) declares(v cue.Value, path string, as form, depth int) {
	if depth > maxDepth {
		return
	}
	if s, err := v.String(); err == nil && v.Kind() == cue.StringKind {
		if name, ok := load.TypeNames[s]; ok && !as.constant {
			b.habit(v, path, "takes the text %q and nothing else: write %s for the type", s, as.write(name))
		}
		return
	}
	switch v.IncompleteKind() {
	case cue.ListKind:
		if as.constant {
			return
		}
		if l, ok := syntax(v).(*ast.ListLit); ok && len(l.Elts) == 1 && plainList(l) {
			if e := v.LookupPath(cue.MakePath(cue.Index(0))); e.Validate(cue.Concrete(true)) != nil {
				b.habit(v, path, "takes a list of exactly one element: write %s for any number", as.write("[..."+source(l.Elts[0])+"]"))
			}
			return
		}
		if one, ok := alternatives(v); ok {
			b.habit(v, path, "takes this very list and nothing else: write %s for one of its elements, or %s for any number of them", as.write(one), as.element().write(one))
			return
		}
		if e := v.LookupPath(cue.MakePath(cue.AnyIndex)); e.Exists() {
			b.declares(e, path+"[]", as.element(), depth+1)
		}
	case cue.StructKind:
		b.members(v, path, as, depth)
	}
}

// alternatives writes the elements of a list of literals, of which there are several,
// as an enumeration.
func alternatives(v cue.Value) (string, bool) {
	l, ok := syntax(cue.Dereference(v)).(*ast.ListLit)
	if !ok || !plainList(l) || v.Validate(cue.Concrete(true)) != nil {
		return "", false
	}
	it, err := v.List()
	if err != nil {
		return "", false
	}
	var elements []string
	for it.Next() {
		b, err := it.Value().MarshalJSON()
		if err != nil || it.Value().Kind()&(cue.StringKind|cue.NumberKind|cue.BoolKind) == 0 {
			return "", false
		}
		elements = append(elements, string(b))
	}
	if len(elements) < 2 {
		return "", false
	}
	return either(elements, " | "), true
}

// either writes alternatives, or what else stands between separators, of many the
// first.
func either(values []string, separator string) string {
	const most = 4
	if len(values) > most {
		values = append(slices.Clone(values[:most-1]), "…")
	}
	return strings.Join(values, separator)
}

// source writes an expression in one short line.
func source(e ast.Expr) string {
	text, err := format.Node(e)
	line := strings.Join(strings.Fields(string(text)), " ")
	if err != nil || len(line) > 40 {
		return "T"
	}
	return line
}

// members looks for types as JSON Schema writes them, in v and below.
func (b *toolCompiler) members(v cue.Value, path string, as form, depth int) {
	if s, ok := readSchema(v, !as.constant); ok {
		more := ""
		if as.constant {
			more = "; an object that each call sends is written in the request"
		}
		b.habit(v, path, "is JSON Schema, which CUE takes for an object with these members: write %s%s", as.write(s.cue(0)), more)
		return
	}
	if types, n := namesOfTypes(v); n > 1 || n == 1 && !as.constant {
		b.habit(v, path, "takes these very texts and nothing else: write %s", as.write("{"+types+"}"))
		return
	}
	b.leftovers(v, path+".")
	it, err := v.Fields(cue.All())
	if err != nil {
		return
	}
	for it.Next() {
		if s := it.Selector(); s.LabelType() == cue.StringLabel && s.ConstraintType()&cue.PatternConstraint == 0 {
			b.declares(it.Value(), path+"."+cue.MakePath(cue.Str(s.Unquoted())).String(), declaration(s), depth+1)
		}
	}
	if e := v.LookupPath(cue.MakePath(cue.AnyString)); e.Exists() {
		b.declares(e, path+"[string]", form{write: func(t string) string { return as.write("{[string]: " + t + "}") }}, depth+1)
	}
}

// namesOfTypes writes the members of a structure, of which there are n, that are all
// names of types; n is 0 when some are not.
func namesOfTypes(v cue.Value) (types string, n int) {
	it, err := v.Fields(cue.All())
	if err != nil {
		return "", 0
	}
	var members []string
	for it.Next() {
		s := it.Selector()
		name, err := it.Value().String()
		if err != nil || load.TypeNames[name] == "" || s.LabelType() != cue.StringLabel || s.ConstraintType() != 0 {
			return "", 0
		}
		members = append(members, cue.Str(s.Unquoted()).String()+"!: "+load.TypeNames[name])
	}
	return either(members, ", "), len(members)
}

// leftovers finds keywords of JSON Schema that stand among declarations, where they
// are constants that each call sends.
func (b *toolCompiler) leftovers(v cue.Value, prefix string) {
	declares := func(name string) bool { _, ok := declared(v, name); return ok }
	for name, f := range fields(v) {
		path := prefix + cue.Str(name).String()
		switch names := strs(v, name); {
		case name == "required" && len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !declares(n) }):
			b.habit(f, path, "is JSON Schema, and a constant here: write %s for what is required, and leave it out", either(mapped(names, func(n string) string { return cue.Str(n).String() + "!: T" }), ", "))
		case name == "additionalProperties" && f.Kind() == cue.BoolKind:
			b.habit(f, path, "is JSON Schema, and a constant here: leave it out; other members are taken where a structure ends with ...")
		}
	}
}

// hints finds annotations that deny what the tool's action does.
func (b *toolCompiler) hints(action catalog.Action) {
	for _, hint := range []struct {
		name   string
		value  bool
		denies catalog.Effect // or, for readOnlyHint, any other than read
	}{{"readOnlyHint", true, ""}, {"destructiveHint", false, catalog.Destructive}} {
		field := "annotations." + hint.name
		given, err := b.at(field).Bool()
		if err != nil || given != hint.value || action.Effect == "" {
			continue
		}
		if hint.denies == action.Effect || hint.denies == "" && action.Effect != catalog.Read {
			b.fault(field, "%v contradicts the action %s, whose effect is %s: %s", given, action.Name, action.Effect,
				fmt.Sprintf("leave it out, or choose an action with the effect %s", map[bool]string{true: "read", false: "write"}[given]))
		}
	}
}
