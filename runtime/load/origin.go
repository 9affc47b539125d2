package load

import (
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
)

// nodes gives the places in the syntax where a value is declared: the fields,
// or for elements of lists the expressions.
func nodes(v cue.Value) []ast.Node {
	n := v.Source()
	if f, ok := n.(*ast.Field); ok {
		return []ast.Node{f}
	}
	var all []ast.Node
	if op, args := v.Expr(); op == cue.AndOp {
		for _, a := range args {
			all = append(all, nodes(a)...)
		}
	}
	if len(all) == 0 && n != nil {
		all = append(all, n)
	}
	return all
}

// origins gives the nodes of a value and of what it refers to.
func origins(v cue.Value, depth int) []ast.Node {
	all := nodes(v)
	if depth > maxCollect {
		return all
	}
	if d := cue.Dereference(v); d != v {
		return append(all, origins(d, depth+1)...)
	}
	if op, args := v.Expr(); op == cue.AndOp || op == cue.OrOp {
		for _, a := range args {
			all = append(all, origins(a, depth+1)...)
		}
	}
	return all
}

// operators says whether a place is in the operator's files.
func (l *loader) operators(p token.Pos) bool {
	return p.IsValid() && !foreign(p)
}

// foreign says whether a place is in the definitions.
func foreign(p token.Pos) bool { return strings.HasPrefix(p.Filename(), schemaPrefix) }

// labelPos is where a field is declared: the first place in the operator's
// files. The configuration as a whole is declared where its first file begins.
func (l *loader) labelPos(v cue.Value) token.Pos {
	if len(v.Path().Selectors()) == 0 {
		return packagePos(l.cut.files[0])
	}
	for _, n := range nodes(v) {
		if l.operators(n.Pos()) {
			return n.Pos()
		}
	}
	if p := v.Pos(); l.operators(p) {
		return p
	}
	return l.above(v)
}

// valuePos is where the value of a field stands.
func (l *loader) valuePos(v cue.Value) token.Pos {
	for _, n := range nodes(v) {
		if f, ok := n.(*ast.Field); ok {
			n = f.Value
		}
		if l.operators(n.Pos()) {
			return n.Pos()
		}
	}
	return l.labelPos(v)
}

// above is the place of the nearest field around v that has one.
func (l *loader) above(v cue.Value) token.Pos {
	sels := v.Path().Selectors()
	if len(sels) == 0 {
		return token.NoPos
	}
	return l.labelPos(l.cfg.Own.LookupPath(cue.MakePath(sels[:len(sels)-1]...)))
}

// wasCut says whether v lost something to an earlier pass, so that what seems
// to be missing in it may have been there.
func (l *loader) wasCut(v cue.Value) bool {
	for _, n := range origins(v, 0) {
		if f, ok := n.(*ast.Field); ok && l.cut.fields[f] {
			return true
		}
		for _, s := range literals(n) {
			if l.cut.structs[s] {
				return true
			}
		}
	}
	return false
}

// cutField takes a field away, wherever it is declared.
func (l *loader) cutField(v cue.Value) {
	done := false
	for _, n := range nodes(v) {
		if f, ok := n.(*ast.Field); ok && l.cut.field(f) {
			done = true
		}
	}
	if !done {
		l.cutValue(v)
		return
	}
	l.changed = true
}

// cutValue cuts a value, or, when it is not in the operator's own files, the
// nearest one around it that is.
func (l *loader) cutValue(v cue.Value) {
	for {
		if l.cutAt(l.valuePos(v)) {
			return
		}
		sels := v.Path().Selectors()
		if len(sels) == 0 {
			return
		}
		v = l.cfg.Own.LookupPath(cue.MakePath(sels[:len(sels)-1]...))
	}
}

func (l *loader) cutAt(p token.Pos) bool {
	if l.cut.at(p) {
		l.changed = true
		return true
	}
	return false
}

// pathIn is the path of an error of CUE in the configuration.
func (l *loader) pathIn(e cueerrors.Error) cue.Path {
	var sels []cue.Selector
	for _, s := range e.Path() {
		if n, err := strconv.Atoi(s); err == nil && n >= 0 {
			sels = append(sels, cue.Index(n))
		} else if p := cue.ParsePath(s); p.Err() == nil && !strings.HasPrefix(s, "_") {
			sels = append(sels, p.Selectors()...)
		} else {
			sels = append(sels, l.selectorOf(s))
		}
	}
	return cue.MakePath(sels...)
}

// errorPos is the place of an error of CUE: within the field that is at fault,
// else the first in the operator's files.
func (l *loader) errorPos(e cueerrors.Error, own cue.Value) token.Pos {
	places := cueerrors.Positions(e)
	declared := nodes(own)
	for _, p := range places {
		if within(p, declared) {
			return p
		}
	}
	for _, p := range places {
		if l.operators(p) {
			return p
		}
	}
	return l.valuePos(own)
}
