package load

import (
	"fmt"
	"slices"
	"strconv"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// In CUE an unquoted label is a name for everything beside and below it. An
// argument called number turns price!: number into a reference to that argument,
// and a member of a body called input hides the arguments of the tool. CUE finds
// nothing wrong with either. A label in quotes is no name, so what is meant can
// always be written.

// predeclared are the names that CUE itself gives a meaning.
var predeclared = []string{
	"and", "bool", "bytes", "close", "div", "error", "float", "float32", "float64", "int", "int128", "int16", "int32", "int64", "int8",
	"len", "matchIf", "matchN", "mod", "number", "or", "quo", "rem", "rune", "string", "uint", "uint128", "uint16", "uint32", "uint64", "uint8",
}

// shadowed reports fields whose labels hide a name of CUE, a package, or the
// input and steps of a tool from something that uses it. It then puts the labels
// into quotes, so that the rest is checked as it is meant.
func (l *loader) shadowed() {
	for changed := true; changed; {
		changed = false
		for _, f := range l.cut.files {
			for _, s := range shadows(f) {
				field := s.fields[0]
				where := fmt.Sprintf("%s:%d:%d", s.use.Filename(), s.use.Line(), s.use.Column())
				l.report(field.Pos(), l.path(s.labels).String(), fmt.Sprintf("the name hides %s, which %s seems to mean: put it into quotes, %q", s.what, where, s.name), "")
				for _, f := range s.fields {
					quoteLabel(f)
				}
				changed = true
			}
		}
		if changed {
			l.cut.resolve()
		}
	}
}

// shadow is a label that hides something.
type shadow struct {
	name   string
	what   string       // it hides, in words
	fields []*ast.Field // of one structure, with that label
	labels []string     // of the fields around, and of the field
	use    token.Pos    // the first use of the name
}

// shadows finds what is hidden from its users in a file.
func shadows(f *ast.File) []*shadow {
	var all []*shadow
	var labels []string         // of the fields around
	var around []*ast.StructLit // the structures around
	var within []*ast.Field     // the fields around
	selected := map[*ast.Ident]string{}
	depth := map[*ast.StructLit]int{}
	ast.Walk(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.StructLit:
			depth[x] = len(labels)
			around = append(around, x)
		case *ast.Field:
			name, _, _ := ast.LabelName(x.Label)
			labels, within = append(labels, name), append(within, x)
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				selected[id], _, _ = ast.LabelName(x.Sel)
			}
		case *ast.Ident:
			scope, ok := x.Scope.(*ast.StructLit)
			if !ok {
				return true
			}
			fields := named(scope, x.Name)
			if len(fields) == 0 || !slices.Contains(within, fields[0]) && has(fields, selected[x]) || slices.ContainsFunc(all, func(s *shadow) bool { return s.fields[0] == fields[0] }) {
				return true
			}
			if what := hidden(f, x.Name, around[:slices.Index(around, scope)]); what != "" {
				all = append(all, &shadow{x.Name, what, fields, append(slices.Clone(labels[:depth[scope]]), x.Name), x.Pos()})
			}
		}
		return true
	}, func(n ast.Node) {
		switch n.(type) {
		case *ast.StructLit:
			around = around[:len(around)-1]
		case *ast.Field:
			labels, within = labels[:len(labels)-1], within[:len(within)-1]
		}
	})
	return all
}

// hidden says what a name would stand for, were it not for a field that is
// inside the structures outer; "" for nothing that one would expect.
func hidden(f *ast.File, name string, outer []*ast.StructLit) string {
	switch {
	case slices.Contains(predeclared, name):
		return "CUE's own " + name
	case slices.Contains(roots, name):
		if slices.ContainsFunc(outer, func(x *ast.StructLit) bool { return len(named(x, name)) > 0 }) {
			return "the " + name + " of the tool"
		}
	}
	for spec := range f.ImportSpecs() {
		if importName(spec) == name {
			return "the package " + name
		}
	}
	return ""
}

// has says whether one of the fields is written as a structure with a member of
// that name: who selects it from beside the field means what stands there.
func has(fields []*ast.Field, member string) bool {
	return member != "" && slices.ContainsFunc(fields, func(f *ast.Field) bool {
		x, ok := f.Value.(*ast.StructLit)
		return ok && slices.ContainsFunc(x.Elts, func(d ast.Decl) bool {
			f, ok := d.(*ast.Field)
			if !ok {
				return false
			}
			name, _, err := ast.LabelName(f.Label)
			return err == nil && name == member
		})
	})
}

// importName is the name that an import has in its file.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return ast.ParseImportPath(path).Qualifier
}

// named gives the fields of a structure whose labels are a name, unquoted.
func named(x *ast.StructLit, name string) (fields []*ast.Field) {
	for _, d := range x.Elts {
		if f, ok := d.(*ast.Field); ok {
			if n, ident, err := ast.LabelName(f.Label); err == nil && ident && n == name {
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// quoteLabel puts the label of a field into quotes.
func quoteLabel(f *ast.Field) {
	quote := func(e ast.Node) *ast.BasicLit {
		name, _, _ := ast.LabelName(e.(ast.Label))
		return &ast.BasicLit{ValuePos: e.Pos(), Kind: token.STRING, Value: strconv.Quote(name)}
	}
	if a, ok := f.Label.(*ast.Alias); ok {
		if _, ok := a.Expr.(*ast.Ident); ok {
			a.Expr = quote(a.Expr)
		}
		return
	}
	if _, ok := f.Label.(*ast.Ident); ok {
		f.Label = quote(f.Label)
	}
}
