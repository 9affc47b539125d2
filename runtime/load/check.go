package load

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/nearest"
)

// check looks for what CUE does not report, or not one by one. values says that
// CUE found something, so that each value is to be looked at. The findings it
// gives count only when nothing more is cut.
func (l *loader) check(values bool) diag.List {
	w := &walker{
		l:           l,
		values:      values,
		schema:      l.cfg.Value.Context().BuildInstance(l.cfg.schema),
		constraints: map[*shape]cue.Value{},
		programs:    map[string][]program{},
	}
	w.tags()
	w.walk(l.cfg.Own, configShape())
	l.cfg.tools = tools(l.cfg.Own, l.cfg.Value)
	for i, t := range l.cfg.tools {
		path := t.Path.String()
		programs := w.programs[path]
		refs, uses := scan(t, l.cfg.inst.ID())
		if _, done := l.refs[path]; !done {
			for _, p := range programs {
				for _, a := range jqArgs(p.text) {
					refs = append(refs, Ref{Root: "input", Path: a, Pos: p.pos, Field: p.field, InJQ: true})
				}
			}
			l.refs[path] = refs
		}
		l.cfg.tools[i].refs = l.refs[path]
		l.names(t, uses, programs)
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
		path := make([]cue.Selector, len(t.path))
		for i, name := range t.path {
			path[i] = w.l.selectorOf(name)
		}
		v := w.l.cfg.Own.LookupPath(cue.MakePath(path...))
		if !v.Exists() || isConcrete(v) || v.Validate() != nil {
			continue
		}
		w.l.unset = true
		w.later = append(w.later, finding(t.field.Pos(), strings.Join(t.path, "."), fmt.Sprintf(
			"the tag %s has no value: give one with -t %s=…, or %s%s, or give the field a default", t.name, t.name, EnvPrefix, strings.ToUpper(t.name))))
	}
}

// evaluation reports errors of CUE's evaluator, one for each field, and cuts
// the fields. An error that follows from another has the other's path.
func (l *loader) evaluation(err error) {
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		path := l.pathIn(e)
		name := path.String()
		l.mark(name)
		if seen[name] {
			continue
		}
		seen[name] = true
		own := l.cfg.Own.LookupPath(path)
		at := l.errorPos(e, own)
		l.report(at, name, l.message(e, at, own, path))
		if !l.cutAt(at) {
			l.cutValue(own)
		}
	}
}

// message says what an error of the evaluator means for the operator.
func (l *loader) message(e cueerrors.Error, at token.Pos, own cue.Value, path cue.Path) string {
	byDefinition := slices.ContainsFunc(cueerrors.Positions(e), foreign)
	if byDefinition {
		s := configShape()
		for _, sel := range path.Selectors() {
			if sel.Type() == cue.IndexLabel {
				s = s.step("")
			} else {
				s = s.step(sel.Unquoted())
			}
		}
		if s != nil && s.accepted() != cue.TopKind && own.Validate() == nil {
			return s.refuse(own)
		}
	}
	format, args := e.Msg()
	text := fmt.Sprintf(format, args...)
	if format == "field not allowed" {
		text = "field not allowed: a definition unified with & takes no further fields; embed it: {#Definition, …}"
	}
	if strings.HasPrefix(format, "conflicting values") {
		for _, p := range cueerrors.Positions(e) {
			if p.Filename() != at.Filename() || p.Line() != at.Line() {
				text += fmt.Sprintf("; see %s:%d:%d", p.Filename(), p.Line(), p.Column())
			}
		}
	}
	return text
}

// builtins are CUE's own packages that a configuration is likely to use.
var builtins = []string{
	"encoding/base64", "encoding/csv", "encoding/hex", "encoding/json", "encoding/yaml", "crypto/hmac", "crypto/md5", "crypto/sha1", "crypto/sha256",
	"crypto/sha512", "html", "list", "math", "net", "path", "regexp", "strconv", "strings", "struct", "text/tabwriter", "text/template", "time", "uuid",
}

// uncompiled reports errors of CUE's compiler: names that stand for nothing,
// imports that are not used. What has them is cut out.
func (l *loader) uncompiled(err error) {
	said := map[string]bool{} // a package that is not imported is said once a file
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		text := fmt.Sprintf(format, args...)
		at := e.Position()
		if name, ok := strings.CutPrefix(text, "reference "); ok {
			name = strings.Trim(strings.TrimSuffix(name, " not found"), `"`)
			if i := slices.IndexFunc(builtins, func(p string) bool { return p[strings.LastIndex(p, "/")+1:] == name }); i >= 0 {
				text = fmt.Sprintf("the package %s is not imported: add import %q", name, builtins[i])
				key := at.Filename() + name
				if said[key] {
					l.cutAt(at)
					continue
				}
				said[key] = true
			} else {
				text = fmt.Sprintf("nothing is called %s here", name)
				if near := nearest.Names(name, l.packageNames()); len(near) > 0 {
					text += "; did you mean " + either(near) + "?"
				}
			}
		}
		path := strings.Join(e.Path(), ".")
		l.report(at, path, text)
		l.cutAt(at)
	}
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
