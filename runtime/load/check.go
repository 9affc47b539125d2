package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/words"
)

// check looks for what CUE does not report, or not one by one. values says that
// CUE found something, so that each value is to be looked at. The findings it
// gives count only when nothing more is cut.
func (l *loader) check(values bool) diag.List {
	w := &walker{
		l:           l,
		values:      values,
		schema:      l.ctx.BuildInstance(l.cfg.schema),
		constraints: map[*shape]cue.Value{},
		programs:    map[string][]program{},
		tested:      map[string]bool{},
	}
	l.cfg.tools = members(l.cfg.Own, l.cfg.Value, "tools")
	uses := make([][]use, len(l.cfg.tools))
	for i, t := range l.cfg.tools {
		l.cfg.tools[i].refs, uses[i], l.cfg.tools[i].literals = scan(t, l.cfg.inst)
	}
	w.tags()
	w.walk(l.cfg.Own, configShape())
	for i, t := range l.cfg.tools {
		path := t.Path.String()
		for _, p := range w.programs[path] {
			for _, a := range p.names.arguments() {
				l.cfg.tools[i].refs = append(l.cfg.tools[i].refs, Ref{Root: "input", Path: a, Pos: p.pos, Field: p.field, InJQ: true})
			}
		}
		if first, ok := l.refs[path]; ok { // as they were before anything was cut
			l.cfg.tools[i].refs = first
		}
		l.refs[path] = l.cfg.tools[i].refs
		l.names(t, uses[i], w.programs[path])
	}
	l.undefined()
	return w.later
}

// tags reports tags that have neither a value nor a default.
func (w *walker) tags() {
	w.l.unset = false
	for _, t := range w.l.tags {
		if t.set || w.l.cut.fields[t.field] {
			continue
		}
		v := w.l.cfg.Own.LookupPath(w.l.path(t.path))
		if !v.Exists() || isConcrete(v) || v.Validate() != nil {
			continue
		}
		w.l.unset = true
		if t.refused {
			continue
		}
		w.lacksAt(t.field.Pos(), w.l.path(t.path).String(), fmt.Sprintf(
			"the tag %s has no value: give one with -t %s=…, or %s%s, or give the field a default", t.name, t.name, EnvPrefix, strings.ToUpper(t.name)))
	}
}

// evaluation reports errors of CUE's evaluator, one for each field, and cuts
// the fields. What follows from another fault is left for the next pass, when
// that is gone.
func (l *loader) evaluation(err error) {
	faults := l.faults(err)
	cut := map[place]bool{}
	for _, contained := range []bool{true, false} {
		for _, f := range faults {
			if f.contained != contained || !contained && slices.ContainsFunc(f.places, func(p token.Pos) bool { return cut[placeOf(p)] }) {
				continue
			}
			l.report(f.at, f.path.String(), f.text, f.see)
			if !l.cutAt(f.at) {
				l.cutValue(f.own)
			}
			for _, p := range f.places {
				cut[placeOf(p)] = true
			}
		}
	}
}

// fault is what the evaluator says of one field.
type fault struct {
	path   cue.Path
	own    cue.Value
	at     token.Pos
	places []token.Pos // all that CUE names
	// contained says that the places are all in the field itself, so that the
	// fault is surely its own.
	contained bool
	text, see string
}

// faults gathers the errors of the evaluator by their paths.
func (l *loader) faults(err error) []*fault {
	var all []*fault
	byPath := map[string]*fault{}
	for _, e := range cueerrors.Errors(err) {
		path := l.pathIn(e)
		l.mark(path.String())
		if f, ok := byPath[path.String()]; ok { // an alternative, for one
			f.add(l, cueerrors.Positions(e))
			if strings.HasPrefix(f.text, words.NoneFits) {
				f.text += "; " + plainText(e)
			}
			continue
		}
		f := &fault{path: path, own: l.cfg.Own.LookupPath(path), contained: true}
		f.at = l.errorPos(e, f.own)
		f.add(l, cueerrors.Positions(e))
		f.text, f.see = l.message(e, f)
		byPath[path.String()] = f
		all = append(all, f)
	}
	return all
}

// add takes further places that CUE names.
func (f *fault) add(l *loader, places []token.Pos) {
	f.places = append(f.places, places...)
	for _, p := range places {
		if l.operators(p) && !within(p, nodes(f.own)) {
			f.contained = false
		}
	}
}

// within says whether p lies in one of the nodes.
func within(p token.Pos, nodes []ast.Node) bool {
	return slices.ContainsFunc(nodes, func(n ast.Node) bool {
		from, to := n.Pos(), n.End()
		return p.Filename() == from.Filename() && from.Offset() <= p.Offset() && p.Offset() <= to.Offset()
	})
}

func plainText(e cueerrors.Error) string {
	format, args := e.Msg()
	return words.Advised(diag.Brief(fmt.Sprintf(format, args...)))
}

// message says what an error of the evaluator means for the operator, and
// which other places have to do with it.
func (l *loader) message(e cueerrors.Error, f *fault) (text, see string) {
	if slices.ContainsFunc(f.places, foreign) && f.own.Validate() == nil {
		s := configShape()
		for _, sel := range f.path.Selectors() {
			if sel.Type() == cue.IndexLabel {
				s = s.step("")
			} else {
				s = s.step(sel.Unquoted())
			}
		}
		if s != nil && s.accepted() != cue.TopKind {
			return s.refuse(f.own), ""
		}
	}
	switch format, _ := e.Msg(); {
	case strings.Contains(format, "in empty disjunction"):
		return words.NoneFits, ""
	case format == "field not allowed":
		return "field not allowed: a definition that is unified with it takes no further fields; embed the definition beside it: {#Definition, …}", ""
	case strings.HasPrefix(format, "conflicting values"):
		if value := l.alone(f.places); value != nil && f.own.IncompleteKind()&^cue.StructKind == 0 {
			f.at = value.Pos()
			return fmt.Sprintf("%s stands by itself among fields: alternatives are written A | %[1]s", diag.Brief(value.Value)), ""
		}
		for _, p := range f.places {
			if p.Filename() != f.at.Filename() || p.Line() != f.at.Line() {
				see += fmt.Sprintf("; see %s:%d:%d", p.Filename(), p.Line(), p.Column())
			}
		}
	}
	return plainText(e), see
}

// alone finds a literal that stands in a structure without a name, at one of the
// places; nil when there is none.
func (l *loader) alone(places []token.Pos) (found *ast.BasicLit) {
	for _, file := range l.cut.files {
		ast.Walk(file, func(n ast.Node) bool {
			if d, ok := n.(*ast.EmbedDecl); ok {
				lit, ok := d.Expr.(*ast.BasicLit)
				if ok && slices.ContainsFunc(places, func(p token.Pos) bool { return placeOf(p) == placeOf(lit.Pos()) }) {
					found = lit
				}
			}
			return found == nil
		}, nil)
	}
	return found
}

// builtins are CUE's own packages that a configuration is likely to use.
var builtins = []string{
	"encoding/base64", "encoding/csv", "encoding/hex", "encoding/json", "encoding/yaml", "crypto/hmac", "crypto/md5", "crypto/sha1", "crypto/sha256",
	"crypto/sha512", "html", "list", "math", "net", "path", "regexp", "strconv", "strings", "struct", "text/tabwriter", "text/template", "time", "uuid",
}

// uncompiled reports errors of CUE's compiler: names that stand for nothing,
// imports that are not used. What has them is cut out.
func (l *loader) uncompiled(err error) {
	said := map[string]bool{} // what is not imported or declared is told once a file
	all := cueerrors.Errors(err)
	meant := make([]string, len(all)) // while what is around each is not cut
	for i, e := range all {
		if name, ok := unresolved(e); ok {
			meant[i] = l.meant(name, e.Position(), l.pathIn(e))
		}
	}
	for i, e := range all {
		text, at := plainText(e), e.Position()
		path := l.pathIn(e).String()
		if name, ok := unresolved(e); ok {
			if j := slices.IndexFunc(builtins, func(p string) bool { return p[strings.LastIndex(p, "/")+1:] == name }); j >= 0 {
				text = fmt.Sprintf("the package %s is not imported: add import %q", name, builtins[j])
			} else {
				text = fmt.Sprintf("nothing is called %s here%s", name, l.elsewhere(err, e)) + meant[i]
			}
			key := at.Filename() + ":" + name
			if said[key] {
				l.mark(path)
				l.cutAt(at)
				continue
			}
			said[key] = true
		}
		if _, operator, ok := strings.Cut(text, "('"); ok { // said of both its sides
			if key := path + ": " + operator; said[key] {
				l.mark(path)
				l.cutAt(at)
				continue
			} else {
				said[key] = true
			}
		}
		// What only its user, now cut out, made use of is no fault.
		if n := l.cut.node(at); n == nil || !l.used[n] || !strings.Contains(text, "not used") && !strings.Contains(text, "unreferenced") {
			l.report(at, path, text, "")
		}
		if spec, ok := l.cut.node(at).(*ast.ImportSpec); ok {
			l.cutImports(map[*ast.ImportSpec]bool{spec: true})
			continue
		}
		l.cutAt(at)
	}
}

// unresolved gives the name that an error of CUE's compiler is about, if it stands
// for nothing.
func unresolved(e cueerrors.Error) (name string, ok bool) {
	name, ok = strings.CutPrefix(plainText(e), "reference ")
	return strings.Trim(strings.TrimSuffix(name, " not found"), `"`), ok
}

// elsewhere says in which other lines of the file CUE says the same.
func (l *loader) elsewhere(err error, e cueerrors.Error) string {
	var lines []string
	for _, other := range cueerrors.Errors(err) {
		p := other.Position()
		if line := strconv.Itoa(p.Line()); plainText(other) == plainText(e) && p.Filename() == e.Position().Filename() && p.Line() != e.Position().Line() && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if more := len(lines) - maxListed; more > 0 {
		lines = append(lines[:maxListed], fmt.Sprintf("%d more", more))
	}
	if len(lines) == 1 {
		return " and in line " + lines[0]
	}
	return " and in lines " + listed(lines, "and")
}

// cutImports cuts imports, and what uses them.
func (l *loader) cutImports(specs map[*ast.ImportSpec]bool) {
	for _, f := range l.cut.files {
		var places []token.Pos
		ast.Walk(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ImportSpec:
				if specs[x] {
					places = append(places, x.Path.Pos())
				}
			case *ast.Ident:
				if spec, ok := x.Node.(*ast.ImportSpec); ok && specs[spec] {
					places = append(places, x.Pos())
				}
			}
			return true
		}, nil)
		for _, p := range places {
			l.cutAt(p)
		}
	}
}
