package jsonschema

import (
	"math"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// declared lists the names of a struct's fields in the order of their
// declaration, embedded ones where they are embedded. CUE gives them in an
// order of its own once a struct has several parts.
func (c *compiler) declared(v cue.Value, depth int) []string {
	if depth > maxReferences {
		return nil
	}
	op, args := c.expr(v)
	switch op {
	case cue.SelectorOp, cue.IndexOp:
		if d, ok := c.follow(v); ok {
			return c.declared(d, depth+1)
		}
	case cue.CallOp:
		if isClose(args) {
			return c.declared(args[1], depth+1)
		}
	case cue.OrOp:
		var all []string
		for _, a := range args {
			all = append(all, c.declared(a, depth+1)...)
		}
		return all
	case cue.AndOp:
		if st, ok := expression(v.Source()).(*ast.StructLit); ok {
			// The parts are the embedded values, then the fields.
			var all []string
			i := 0
			for _, e := range st.Elts {
				switch e := e.(type) {
				case *ast.EmbedDecl:
					if i < len(args) {
						all = append(all, c.declared(args[i], depth+1)...)
						i++
					}
				case *ast.Field:
					if name, _, err := ast.LabelName(e.Label); err == nil {
						all = append(all, name)
					}
				}
			}
			return all
		}
		var all []string
		for _, a := range args {
			all = append(all, c.declared(a, depth+1)...)
		}
		return all
	case cue.NoOp:
		if len(args) == 1 && args[0] != v {
			return c.declared(args[0], depth+1)
		}
	}
	if st, ok := expression(v.Source()).(*ast.StructLit); ok {
		return labels(st)
	}
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return nil
	}
	var all []string
	for it.Next() {
		all = append(all, it.Selector().Unquoted())
	}
	return all
}

// labels lists the names in a struct literal.
func labels(st *ast.StructLit) []string {
	var all []string
	for _, e := range st.Elts {
		if f, ok := e.(*ast.Field); ok {
			if name, _, err := ast.LabelName(f.Label); err == nil {
				all = append(all, name)
			}
		}
	}
	return all
}

// order sorts properties by the place of their names in a list; others stay
// behind them in the order in which they are.
func order(props []property, names []string) {
	at := make(map[string]int, len(names))
	for i, n := range names {
		if _, ok := at[n]; !ok {
			at[n] = i
		}
	}
	place := func(p property) int {
		if i, ok := at[p.name]; ok {
			return i
		}
		return math.MaxInt
	}
	slices.SortStableFunc(props, func(a, b property) int {
		pa, pb := place(a), place(b)
		switch {
		case pa < pb:
			return -1
		case pa > pb:
			return 1
		}
		return 0
	})
}
