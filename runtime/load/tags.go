package load

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/nearest"
)

// EnvPrefix stands before the name of a tag, in capitals, in the environment:
// the tag organization is METACUE_ORGANIZATION.
const EnvPrefix = "METACUE_"

// tag is one @tag attribute: a field that takes a value from outside.
type tag struct {
	name, kind string   // kind is CUE's type option: string, int, number or bool
	path       []string // labels of the field and those around it
	field      *ast.Field
	attr       *ast.Attribute
	set        bool
	value      string   // when set
	declared   ast.Expr // the field's value without that of the tag, when set
	refused    bool     // the value does not fit, and is left out
}

// tagValue looks a tag up: in the options, then in the environment. A variable that
// is empty counts as none: what composes environments writes ${PROJECT:-}.
func (o Options) tagValue(name string) (string, bool) {
	if v, ok := o.Tags[name]; ok {
		return v, true
	}
	if o.Getenv == nil {
		return "", false
	}
	v, _ := o.Getenv(EnvPrefix + strings.ToUpper(name))
	return v, v != ""
}

// tagIsTrue says whether the @if attribute of a file may count on a tag: given
// and "true".
func (o Options) tagIsTrue(name string) bool {
	v, ok := o.tagValue(name)
	return ok && v == "true"
}

// inject puts the values of tags into the syntax, as CUE does: x @tag(name)
// becomes x & "value". It gives the tags that are declared; known are further
// names that may be given, those of @if attributes.
func inject(files []*ast.File, o Options, known []string) ([]*tag, diag.List) {
	tags, findings := findTags(files)
	replaced := map[ast.Node]ast.Node{}
	for _, t := range tags {
		known = append(known, t.name)
		text, ok := o.tagValue(t.name)
		if !ok {
			continue
		}
		lit, err := tagLiteral(t, text)
		if err != nil {
			findings = append(findings, finding(t.attr.Pos(), "", err.Error()))
			continue
		}
		t.set, t.value, t.declared = true, text, t.field.Value
		with := &ast.BinaryExpr{X: t.field.Value, OpPos: t.attr.Pos(), Op: token.AND, Y: lit}
		replaced[t.field.Value] = with
		t.field.Value = with
	}
	if len(replaced) > 0 {
		// References are resolved to the value of a field, which has changed.
		for _, f := range files {
			ast.Walk(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Node != nil {
					if with, ok := replaced[id.Node]; ok {
						id.Node = with
					}
				}
				return true
			}, nil)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for name := range o.Tags {
		if slices.Contains(known, name) {
			continue
		}
		message := fmt.Sprintf("no field declares the tag %s that was given", name)
		if near := nearest.Names(name, known); len(near) > 0 {
			message += "; did you mean " + either(near) + "?"
		} else if len(known) > 0 {
			message += "; the tags are " + strings.Join(known, ", ")
		} else {
			message += "; there are no tags"
		}
		findings = append(findings, diag.Finding{Message: message})
	}
	return tags, findings
}

// refusal says that the value of a tag does not fit, and what it may be.
func (t *tag) refusal() string {
	message := fmt.Sprintf("the tag %s cannot have the value %q", t.name, t.value)
	var may, such []string
	pattern := false
	for _, arm := range arms(t.declared) {
		switch x := arm.(type) {
		case *ast.BasicLit:
			if x.Kind != token.NULL { // which no tag can give
				such = append(such, x.Value)
			}
		case *ast.Interpolation: // made of others, which say nothing here
		default:
			text, matches := inWords(x)
			pattern = pattern || matches
			may = append(may, text)
		}
	}
	switch {
	case pattern && len(such) > 0:
		return message + ": it must " + either(may) + ", such as " + either(such) + t.typed()
	case len(such) > 0:
		may = append(may, "be "+either(such))
	}
	if len(may) > 0 {
		message += ": it must " + either(may)
	}
	return message + t.typed()
}

// typed says how a tag is declared whose value is meant to be no text, where that is
// why it does not fit.
func (t *tag) typed() string {
	if t.kind != "string" {
		return ""
	}
	for _, kind := range []string{"int", "number", "bool"} {
		as := *t
		as.kind = kind
		lit, err := tagLiteral(&as, t.value)
		if err != nil {
			continue
		}
		v := cuecontext.New().BuildExpr(&ast.BinaryExpr{X: t.declared, Op: token.AND, Y: lit})
		if v.Validate(cue.Concrete(true)) == nil {
			return fmt.Sprintf("; a tag is a text unless it says otherwise, @tag(%s,type=%s)", t.name, kind)
		}
	}
	return ""
}

// inWords says what a constraint wants, to stand after "must". matches says that
// it is a pattern.
func inWords(e ast.Expr) (text string, matches bool) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return inWords(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.AND {
			a, inA := inWords(x.X)
			b, inB := inWords(x.Y)
			return a + " and " + b, inA || inB
		}
	case *ast.CallExpr:
		return "fit " + exprSource(x), false
	case *ast.UnaryExpr:
		if lit, ok := x.X.(*ast.BasicLit); ok && x.Op == token.MAT {
			if text, err := literal.Unquote(lit.Value); err == nil {
				return "match " + text, true
			}
		}
	}
	return "be " + exprSource(e), false
}

// arms gives the alternatives of an expression, without default marks.
func arms(e ast.Expr) []ast.Expr {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return arms(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.MUL {
			return arms(x.X)
		}
	case *ast.BinaryExpr:
		if x.Op == token.OR {
			return append(arms(x.X), arms(x.Y)...)
		}
	}
	return []ast.Expr{e}
}

// refuse reports the values of tags that do not fit, and leaves them out: the fields
// are then what they are without one, and nothing follows from what was given. It
// says whether there are any.
func (l *loader) refuse() bool {
	faulty := map[string]bool{} // labels of the fields
	for _, t := range l.tags {
		if t.set && l.cfg.Own.LookupPath(l.path(t.path)).Validate() != nil {
			faulty[t.path[len(t.path)-1]] = true
		}
	}
	for _, t := range l.tags {
		if !faulty[t.path[len(t.path)-1]] || !t.set || mentions(t.declared, faulty) {
			continue // one that is made of another may be right when that is
		}
		l.report(t.attr.Pos(), l.path(t.path).String(), t.refusal(), "")
		t.set, t.refused = false, true
		t.field.Value = t.declared
		l.changed = true
	}
	return l.changed
}

// mentions says whether an expression has one of the names in it.
func mentions(e ast.Expr, names map[string]bool) (found bool) {
	ast.Walk(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] {
			found = true
		}
		return !found
	}, nil)
	return found
}

// tagLiteral is the value of a tag as syntax. Its place is the attribute's, so
// that a value that does not fit is reported there.
func tagLiteral(t *tag, text string) (ast.Expr, error) {
	at := t.attr.Pos()
	switch t.kind {
	case "string":
		return &ast.BasicLit{ValuePos: at, Kind: token.STRING, Value: literal.String.Quote(text)}, nil
	case "bool":
		if text == "true" || text == "false" {
			return &ast.BasicLit{ValuePos: at, Kind: token.Lookup(text), Value: text}, nil
		}
	case "int", "number":
		e, err := parser.ParseExpr("", text)
		if err != nil {
			break
		}
		num, sign := e, token.ILLEGAL
		if u, ok := e.(*ast.UnaryExpr); ok && (u.Op == token.SUB || u.Op == token.ADD) {
			num, sign = u.X, u.Op
		}
		lit, ok := num.(*ast.BasicLit)
		if !ok || lit.Kind != token.INT && (lit.Kind != token.FLOAT || t.kind == "int") {
			break
		}
		lit.ValuePos = at
		if sign != token.ILLEGAL {
			return &ast.UnaryExpr{OpPos: at, Op: sign, X: lit}, nil
		}
		return lit, nil
	}
	return nil, fmt.Errorf("the tag %s is of type %s, which %q is not", t.name, t.kind, text)
}

// findTags finds the @tag attributes in the places where CUE takes them.
func findTags(files []*ast.File) ([]*tag, diag.List) {
	var tags []*tag
	var findings diag.List
	refuse := func(n ast.Node, where string) {
		ast.Walk(n, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok {
				for _, a := range f.Attrs {
					if a.Name() == "tag" {
						findings = append(findings, finding(a.Pos(), "", "@tag is not allowed "+where))
					}
				}
			}
			return true
		}, nil)
	}
	for _, file := range files {
		var path []string
		ast.Walk(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ListLit:
				refuse(x, "within a list")
				return false
			case *ast.Comprehension:
				refuse(x, "within a comprehension")
				return false
			case *ast.Field:
				name, _, err := ast.LabelName(x.Label)
				if err != nil || x.Constraint != token.ILLEGAL {
					refuse(x, "on an optional or required field or a pattern: give the field a default instead, such as: *null | string @tag(name)")
					return false
				}
				path = append(path, name)
				for _, a := range x.Attrs {
					if a.Name() != "tag" {
						continue
					}
					t, err := parseTag(a)
					if err != nil {
						findings = append(findings, finding(a.Pos(), "", err.Error()))
						continue
					}
					t.field, t.path = x, slices.Clone(path)
					tags = append(tags, t)
				}
			}
			return true
		}, func(n ast.Node) {
			if _, ok := n.(*ast.Field); ok {
				path = path[:len(path)-1]
			}
		})
	}
	return tags, findings
}

func parseTag(a *ast.Attribute) (*tag, error) {
	_, body := a.Split()
	parts := strings.Split(body, ",")
	t := &tag{name: strings.TrimSpace(parts[0]), kind: "string", attr: a}
	if !ast.IsValidIdent(t.name) {
		return nil, fmt.Errorf("the name of a tag is an identifier, which %q is not", t.name)
	}
	for _, p := range parts[1:] {
		if v, ok := strings.CutPrefix(strings.TrimSpace(p), "type="); ok {
			t.kind = strings.Trim(v, `"`)
		}
	}
	if !slices.Contains([]string{"string", "int", "number", "bool"}, t.kind) {
		return nil, fmt.Errorf("the type of a tag is string, int, number or bool, not %q", t.kind)
	}
	return t, nil
}

// included leaves out the files whose @if attribute does not hold, and those
// with @ignore, as CUE does.
func included(files []*ast.File, set func(string) bool) (in []*ast.File, findings diag.List) {
	for _, f := range files {
		ok, err := includes(f, set)
		if err != nil {
			findings = append(findings, *err)
		} else if ok {
			in = append(in, f)
		}
	}
	return in, findings
}

func includes(f *ast.File, set func(string) bool) (bool, *diag.Finding) {
	if f == nil { // not parsed; that is reported already
		return false, nil
	}
	for _, d := range f.Decls {
		switch x := d.(type) {
		case *ast.Attribute:
			name, body := x.Split()
			if name == "ignore" {
				return false, nil
			}
			if name != "if" {
				continue
			}
			cond, err := parser.ParseExpr("", body)
			holds, ok := holdsIf(cond, set)
			if err != nil || !ok {
				bad := finding(x.Pos(), "", "@if takes names of tags with &&, || and !")
				return false, &bad
			}
			return holds, nil
		case *ast.CommentGroup:
		default:
			return true, nil
		}
	}
	return true, nil
}

// holdsIf evaluates the condition of an @if attribute.
func holdsIf(e ast.Expr, set func(string) bool) (holds, ok bool) {
	switch x := e.(type) {
	case *ast.Ident:
		return set(x.Name), true
	case *ast.ParenExpr:
		return holdsIf(x.X, set)
	case *ast.UnaryExpr:
		v, ok := holdsIf(x.X, set)
		return !v, ok && x.Op == token.NOT
	case *ast.BinaryExpr:
		a, okA := holdsIf(x.X, set)
		b, okB := holdsIf(x.Y, set)
		if x.Op == token.LOR {
			return a || b, okA && okB
		}
		return a && b, okA && okB && x.Op == token.LAND
	}
	return false, false
}

// either joins names for a question: a, b or c.
func either(names []string) string { return listed(names, "or") }

// listed joins names with a word before the last.
func listed(names []string, word string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + word + " " + names[len(names)-1]
}
