package jsonschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	cuejson "cuelang.org/go/encoding/json"
)

// annotate adds the description and the examples of a field.
func (c *compiler) annotate(p *property) {
	if c.o.Doc != nil {
		p.notes.doc = c.o.Doc(p.val)
	} else {
		p.notes.doc = c.doc(p.val)
	}
	for _, a := range p.val.Attributes(cue.ValueAttr) {
		if a.Name() == "example" {
			c.example(p, a.Contents())
		}
	}
}

// doc is the comment above a field. Value.Doc would do, but takes longer than
// all the rest together.
func (c *compiler) doc(v cue.Value) string {
	src := v.Source()
	if f, ok := src.(*ast.Field); ok {
		return comment(f)
	}
	// Declared in several places, or brought about by unification.
	var all []string
	groups := func(t string) {
		if t != "" && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	op, args := c.expr(v)
	if op != cue.AndOp {
		args = nil
	}
	for _, a := range args {
		if f, ok := a.Source().(*ast.Field); ok {
			groups(comment(f))
		}
	}
	if all == nil {
		for _, g := range v.Doc() {
			groups(strings.TrimSpace(g.Text()))
		}
	}
	return strings.Join(all, "\n\n")
}

func comment(f *ast.Field) string {
	var all []string
	for _, g := range ast.Comments(f) {
		if g.Doc {
			all = append(all, strings.TrimSpace(g.Text()))
		}
	}
	return strings.Join(all, "\n\n")
}

// example reads the contents of @example(…), a list of values of CUE, and
// checks each against its field.
func (c *compiler) example(p *property, contents string) {
	pos := attributePos(p.val, contents)
	x, err := parser.ParseExpr("", "["+contents+"]")
	if err != nil {
		c.finding(pos, "@example(%s) cannot be read: %s", contents, reason(err))
		return
	}
	it, err := c.ctx().BuildExpr(x).List()
	if err != nil {
		c.finding(pos, "@example(%s) cannot be read: %s", contents, reason(err))
		return
	}
	for it.Next() {
		e := it.Value()
		b, err := e.MarshalJSON()
		if err != nil {
			c.finding(pos, "@example(%s) is no value: %s", contents, reason(err))
			continue
		}
		if why := c.misfit(p.of, p.val, e, b); why != "" {
			if c.faulty() { // nothing fits a type that is at fault itself
				return
			}
			c.finding(pos, "the example %s does not fit: %s", b, why)
			continue
		}
		p.notes.examples = append(p.notes.examples, b)
	}
}

func attributePos(v cue.Value, contents string) token.Pos {
	if f, ok := v.Source().(*ast.Field); ok {
		for _, a := range f.Attrs {
			if strings.Contains(a.Text, contents) {
				return a.Pos()
			}
		}
	}
	return v.Pos()
}

// misfit says why a field may not have the value e, of which b is the JSON; ""
// when it may.
func (c *compiler) misfit(s *shape, field, e cue.Value, b []byte) string {
	if err := field.Unify(e).Validate(cue.Concrete(true)); err != nil {
		return reason(err)
	}
	if e.Kind()&(cue.StructKind|cue.ListKind) == 0 || len(s.pending) > 0 {
		return ""
	}
	// CUE takes a struct that is no definition for open; the schema does not.
	w := &writer{defs: c.defs}
	v, err := NewValidator(w.document(s, false))
	if err != nil {
		return err.Error()
	}
	if faults := v.Validate(b); len(faults) > 0 {
		return faults[0].Message
	}
	return ""
}

// defaultOf is what CUE fills in for a field that is not given, as JSON; nil
// when there is no such thing.
func (c *compiler) defaultOf(v cue.Value) []byte {
	d, ok := v.Default()
	if !ok || c.dependsOn(v) {
		return nil
	}
	e := c.eval(v)
	op, args := c.expr(e)
	if op != cue.OrOp && (len(args) != 1 || args[0] == e) {
		return nil // nothing is marked: CUE takes [] for the default of [...T]
	}
	b, err := d.MarshalJSON()
	if err != nil {
		return nil
	}
	if op == cue.OrOp && !fits(args, d) && !repeated(expression(v.Source()), 0) {
		c.finding(v.Pos(), "the default %s fits none of the alternatives of its type", b)
	}
	return b
}

// fits says whether the default d, one of the alternatives, is within those
// that say what values of its type may be: in *200 | (int & <=100) it is not.
func fits(alternatives []cue.Value, d cue.Value) bool {
	took, bound := 0, false
	for _, a := range alternatives {
		if a.Unify(d).Validate(cue.Concrete(true)) == nil {
			took++
		} else if !a.IsConcrete() && a.IncompleteKind()&d.Kind() != 0 {
			bound = true
		}
	}
	return took > 1 || !bound
}

// repeated says that a marked literal also stands among the alternatives
// unmarked, *"auto" | "auto" | =~"^[0-9]+$", or that a definition is marked, which is an
// alternative of its own: *#Auto | =~"^[0-9]+$".
func repeated(n ast.Node, depth int) bool {
	if id, ok := n.(*ast.Ident); ok && depth < maxReferences {
		return repeated(id.Node, depth+1)
	}
	marked, plain, meant := map[string]bool{}, map[string]bool{}, false
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			walk(n.X)
		case *ast.BinaryExpr:
			if n.Op == token.OR {
				walk(n.X)
				walk(n.Y)
			}
		case *ast.UnaryExpr:
			if n.Op != token.MUL {
				return
			}
			switch x := n.X.(type) {
			case *ast.BasicLit:
				marked[x.Value] = true
			case *ast.Ident:
				meant = meant || strings.HasPrefix(x.Name, "#")
			case *ast.SelectorExpr:
				name, _, err := ast.LabelName(x.Sel)
				meant = meant || err == nil && strings.HasPrefix(name, "#")
			}
		case *ast.BasicLit:
			plain[n.Value] = true
		}
	}
	walk(n)
	for m := range marked {
		if plain[m] {
			return true
		}
	}
	return meant
}

// serverDefault is the server-level default for a field; nil when there is
// none or it does not fit.
func (c *compiler) serverDefault(p *property) json.RawMessage {
	raw, ok := c.o.Defaults[p.name]
	if !ok || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}
	e, err := cuejson.Extract("", raw)
	if err != nil {
		c.finding(p.val.Pos(), "the server's default for %s is no JSON: %s", p.name, reason(err))
		return nil
	}
	if why := c.misfit(p.of, p.val, c.ctx().BuildExpr(e), raw); why != "" {
		c.finding(p.val.Pos(), "the server's default for %s, %s, does not fit: %s", p.name, raw, why)
		return nil
	}
	return raw
}
