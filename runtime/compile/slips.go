package compile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueliteral "cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/jsonschema"
)

// What a request sends are expressions, and CUE takes two slips for something else:
// {id}, which names an argument in a path and is a text anywhere else, and id: id,
// where the name stands for the field itself. Both are read in the syntax, so that
// they are found in whatever surrounds them.

// sent are the fields of a request that hold what is sent, url included.
var sent = []string{"url", "vars", "query", "headers", "body", "form", "multipart", "text", "binary"}

// slips finds them in the request, or the list of requests, at a field. What is
// said of an argument so is not said again as one that is never sent.
func (b *toolCompiler) slips(field string) {
	for _, src := range sources(b.src.Own.LookupPath(parsePath(field))) {
		if f, ok := src.(*ast.Field); ok {
			src = f.Value
		}
		ast.Walk(src, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			if name, _, err := ast.LabelName(f.Label); err == nil && slices.Contains(sent, name) {
				b.slipsIn(f, b.path+"."+field)
				return false
			}
			return true
		}, nil)
	}
}

// sources gives the syntax of a value, of each place where it is declared.
func sources(v cue.Value) []ast.Node {
	if src := v.Source(); src != nil {
		return []ast.Node{src}
	}
	var all []ast.Node
	if op, args := v.Expr(); op == cue.AndOp {
		for _, a := range args {
			all = append(all, sources(a)...)
		}
	}
	return all
}

// slipsIn looks at a field of what is sent, which stands in the field at a path.
func (b *toolCompiler) slipsIn(f *ast.Field, path string) {
	name, _, err := ast.LabelName(f.Label)
	if err == nil {
		path = member(path, name)
	}
	structs, calls := 0, 0 // around
	count := func(n ast.Node, by int) {
		switch n.(type) {
		case *ast.StructLit:
			structs += by
		case *ast.CallExpr:
			calls += by
		}
	}
	ast.Walk(f.Value, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Field:
			b.slipsIn(x, path)
			return false
		case *ast.BasicLit:
			if calls == 0 { // a function may look for the text, as strings.Replace does
				b.asItStands(x, path)
			}
		case *ast.Ident:
			if structs == 0 && (x.Node == f || x.Node == f.Value) {
				b.itself(x, path)
			}
		}
		count(n, 1)
		return true
	}, func(n ast.Node) { count(n, -1) })
}

// itself reports a name that stands for the very field that it is to give a value.
func (b *toolCompiler) itself(x *ast.Ident, path string) {
	if !b.isArgument(x.Name) {
		b.addAt(x.Pos(), path, "%s is this very field, which has no other value: to mean what is around, put the label into quotes, %q", x.Name, x.Name)
		return
	}
	b.addAt(x.Pos(), path, "%s is this very field: the argument is %s", x.Name, member(bind.RootInput, x.Name))
	b.spoilt[x.Name] = true
}

// braces are what arguments stand in in a path.
var braces = regexp.MustCompile(`\$?\{([^{}]*)\}`)

// asItStands reports a text with arguments in braces that would otherwise not be
// sent. A text of several words, or one in which other things stand in braces, is in a
// language of its own, GraphQL or a template that the API fills in, and so is one whose
// arguments are sent elsewhere, and one in #"…"#, which is how to say so.
func (b *toolCompiler) asItStands(x *ast.BasicLit, path string) {
	if x.Kind != token.STRING || strings.HasPrefix(x.Value, "#") {
		return
	}
	text, err := cueliteral.Unquote(x.Value)
	if err != nil || strings.ContainsFunc(text, unicode.IsSpace) || strings.ContainsAny(braces.ReplaceAllString(text, ""), "{}") {
		return
	}
	found := braces.FindAllStringSubmatch(text, -1)
	if len(found) == 0 || slices.ContainsFunc(found, func(m []string) bool { return !b.isArgument(m[1]) }) {
		return
	}
	whole := found[0][0] == text // which nothing else fills in: a path alone does not tell that it is meant
	referred, everything := (&requestCompiler{toolCompiler: b}).referred(nil)
	if everything || !slices.ContainsFunc(found, func(m []string) bool { return !referred[m[1]] && (whole || !b.inPaths[m[1]]) }) {
		return
	}
	instead := member(bind.RootInput, found[0][1])
	if !whole {
		instead = braces.ReplaceAllStringFunc(strconv.Quote(text), func(m string) string {
			return `\(` + member(bind.RootInput, braces.FindStringSubmatch(m)[1]) + `)`
		})
	}
	b.addAt(x.Pos(), path, "%q is sent as it stands: write %s, or #%q# if the text itself is meant", text, instead, text)
	for _, m := range found {
		b.spoilt[m[1]] = true
	}
}

// isArgument says whether the tool declares an argument of that name.
func (b *toolCompiler) isArgument(name string) bool {
	return slices.ContainsFunc(b.schema.Fields, func(f jsonschema.Field) bool { return f.Name == name })
}
