package load

import (
	"fmt"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/nearest"
)

// meant ends a message about a name that stands for nothing: with what whoever
// wrote it at p, in the field at path, may have meant.
func (l *loader) meant(name string, p token.Pos, path cue.Path) string {
	if slices.Contains(roots, name) {
		return ": " + rootless(name, path)
	}
	region, inPath, arguments := l.surroundings(path)
	selected, text := l.usage(p)
	input := func(argument string) string { return written("input", []string{argument}) }
	switch given := slices.Contains(arguments, name); {
	case given && inPath:
		return fmt.Sprintf("; the argument is written {%s} in a path", name)
	case given && region:
		return "; the argument is " + input(name)
	case selected:
		if near := nearest.Names(name, append(l.packageNames(), roots...)); len(near) > 0 {
			return "; did you mean " + either(near) + "?"
		}
		if inPath {
			return "; an argument is written {NAME} in a path"
		}
		if region {
			return "; arguments are input.NAME, and what earlier steps gave is steps.NAME"
		}
		return ""
	case TypeNames[name] != "":
		return "; did you mean " + TypeNames[name] + "?"
	case foreignNames[name] != "":
		return "; did you mean " + foreignNames[name] + "?"
	}
	if near := nearest.Names(name, l.packageNames()); len(near) > 0 {
		return "; did you mean " + either(near) + "?"
	}
	if near := nearest.Names(name, typesOfCUE); len(near) > 0 && len(name) > len("int") {
		return "; did you mean " + near[0] + "?"
	}
	var also []string
	if near := nearest.Names(name, arguments); region && len(near) > 0 {
		for _, argument := range near {
			also = append(also, input(argument))
		}
	}
	switch {
	case len(also) > 0 && text:
		return fmt.Sprintf("; did you mean %s, or the text %q?", either(also), name)
	case len(also) > 0:
		return "; did you mean " + either(also) + "?"
	case text:
		return fmt.Sprintf("; a text is written in quotes, %q", name)
	}
	return ""
}

// surroundings says what a field at path can refer to: region that it holds
// expressions over the arguments of a tool, which are given too, inPath that it is
// the path of a request, whose variables they are.
func (l *loader) surroundings(path cue.Path) (region, inPath bool, arguments []string) {
	s := configShape()
	var names []string
	for _, sel := range path.Selectors() {
		switch sel.LabelType() {
		case cue.StringLabel:
			names = append(names, sel.Unquoted())
		case cue.IndexLabel: // literalField knows lists by itself
		default:
			names = append(names, sel.String())
		}
	}
	const tool = 4 // domains.DOMAIN.tools.NAME
	if len(names) <= tool || names[0] != "domains" || names[2] != "tools" || names[tool] == "input" {
		return false, false, nil
	}
	for _, name := range names[:tool] {
		s = s.step(name)
	}
	inPath = requestPath(names[tool:])
	return !literalField(s, names[tool:]), inPath, l.argumentsOf(names[:tool])
}

// requestPath says whether a path below a tool is that of the path of a request.
func requestPath(within []string) bool {
	return slices.Contains([]string{"http", "steps"}, within[0]) && within[len(within)-1] == "path"
}

// argumentsOf gives the arguments of the tool at a path, as far as the syntax
// tells them: nothing is evaluated yet.
func (l *loader) argumentsOf(tool []string) []string {
	s := &scanner{inst: l.cfg.inst}
	at := s.expand(s.declared(s.inst.Files, tool[0], 0))
	for _, name := range append(slices.Clone(tool[1:]), "input") {
		var next []*ast.StructLit
		for _, x := range at {
			next = append(next, s.labelled(x.Elts, name, 0)...)
		}
		at = s.expand(next)
	}
	var names []string
	for _, x := range at {
		for _, d := range x.Elts {
			if f, ok := d.(*ast.Field); ok {
				if name, _, err := ast.LabelName(f.Label); err == nil && !internal(name) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// expand gives structure literals with all that are embedded in them.
func (s *scanner) expand(literals []*ast.StructLit) []*ast.StructLit {
	s.own, s.literals = map[*ast.StructLit]bool{}, nil
	for _, x := range literals {
		if s.add(x) {
			s.static(x)
		}
	}
	return s.literals
}

// usage says how the name at p is used: selected that something is taken from it,
// text that a text could stand there by itself.
func (l *loader) usage(p token.Pos) (selected, text bool) {
	text = true
	for _, f := range l.cut.files {
		if f.Filename != p.Filename() {
			continue
		}
		var around []ast.Node
		ast.Walk(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && placeOf(id.Pos()) == placeOf(p) {
				selected, text = usedIn(around, id)
			}
			around = append(around, n)
			return true
		}, func(ast.Node) { around = around[:len(around)-1] })
	}
	return selected, text
}

// usedIn says how n is used in the innermost of the nodes around it that is no
// parenthesis.
func usedIn(around []ast.Node, n ast.Node) (selected, text bool) {
	last := len(around) - 1
	switch x := around[last].(type) {
	case *ast.ParenExpr:
		return usedIn(around[:last], x)
	case *ast.SelectorExpr:
		return true, false
	case *ast.IndexExpr:
		return x.X == n, x.X != n
	case *ast.BinaryExpr:
		return false, slices.Contains(takesText, x.Op)
	case *ast.UnaryExpr:
		return false, slices.Contains(takesText, x.Op)
	case *ast.Interpolation, *ast.ForClause:
		return false, false
	}
	return false, true
}

// takesText are the operators beside which people leave out the quotes of a text.
var takesText = []token.Token{token.OR, token.AND, token.EQL, token.NEQ, token.MAT, token.NMAT, token.MUL}

// rootless says why input or steps stand for nothing at a path.
func rootless(name string, path cue.Path) string {
	switch sels := path.Selectors(); {
	case len(sels) < 4 || sels[0].String() != "domains":
		return "the arguments and the steps are known within a tool alone"
	case sels[2].String() == "state":
		return "a state request has no arguments and no steps"
	}
	return fmt.Sprintf("declare %s in the braces of the tool, or, where it stands in others, say %[1]s: _ there", name)
}

// typesOfCUE are the types that a misspelt name may be.
var typesOfCUE = []string{"bool", "bytes", "float", "int", "number", "string"}

// TypeNames are names that types have in CUE, JSON Schema and other languages, by
// which a text can be meant, and CUE's for them.
var TypeNames = map[string]string{
	"string": "string", "str": "string", "text": "string",
	"int": "int", "integer": "int",
	"number": "number", "float": "number", "double": "number",
	"bool": "bool", "boolean": "bool",
	"object": "{...}", "array": "[...]",
}

// foreignNames are further names that CUE does not know and what they stand for here:
// a name without quotes, unlike a text such as "list" or "yes", can mean nothing else.
var foreignNames = map[string]string{
	"Integer": "int", "Int": "int", "long": "int", "i32": "int", "i64": "int",
	"Boolean": "bool", "Bool": "bool",
	"String": "string", "char": "string",
	"decimal": "number", "Number": "number", "num": "number",
	"dict": "{...}", "map": "{...}", "Object": "{...}",
	"Array": "[...]", "list": "[...]",
	"any": "_", "unknown": "_", "None": "null", "nil": "null", "undefined": "_|_",
	"True": "true", "False": "false", "TRUE": "true", "FALSE": "false", "yes": "true", "no": "false",
}

// packageNames lists the fields of the package that a name can stand for.
func (l *loader) packageNames() []string {
	var names []string
	for _, f := range l.cut.files {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.Field); ok {
				if name, ident, err := ast.LabelName(f.Label); err == nil && ident {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
