package jsonschema

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// list is what a list accepts. asts is the syntax that it is made of.
func (c *compiler) list(v cue.Value, asts []ast.Node) *shape {
	for _, n := range asts {
		if l, ok := n.(*ast.ListLit); ok {
			for _, e := range l.Elts {
				if e, ok := e.(*ast.Comprehension); ok && c.scopes.depends(e) {
					return c.open(arrayKind, "depends on another argument")
				}
			}
		}
	}
	s := ofKind(arrayKind)
	list, ok := elements(v)
	if !ok {
		return c.open(arrayKind, "%s", reason(v.Err()))
	}
	element := func(e cue.Value, part string) *shape {
		of := c.at(part, func() *shape { return c.member(e) })
		s.take(of)
		return of
	}
	for i, e := range list {
		of := element(e, "["+strconv.Itoa(i)+"]")
		if of.empty() {
			return &shape{exact: of.exact}
		}
		s.arr.prefix = append(s.arr.prefix, of)
	}
	s.arr.min = len(s.arr.prefix)
	rest := v.LookupPath(cue.MakePath(cue.AnyIndex))
	if !rest.Exists() {
		if slices.ContainsFunc(asts, endless) {
			// CUE broke off before it came to the elements.
			return c.open(arrayKind, "elements that CUE does not work out")
		}
		s.arr.max = &s.arr.min
		return s
	}
	s.arr.rest = element(rest, "[]")
	if s.arr.rest.isAny() {
		s.arr.rest = nil
		if !slices.ContainsFunc(s.arr.prefix, func(p *shape) bool { return !p.isAny() }) {
			s.arr.prefix = nil
		}
	} else if s.arr.rest.empty() {
		s.arr.rest, s.arr.max = nil, &s.arr.min
	}
	return s
}

// endless says that a list literal ends in an ellipsis.
func endless(n ast.Node) bool {
	l, ok := n.(*ast.ListLit)
	if !ok || len(l.Elts) == 0 {
		return false
	}
	_, ok = l.Elts[len(l.Elts)-1].(*ast.Ellipsis)
	return ok
}
