package exec

import (
	"slices"

	"github.com/itchyny/gojq"
)

// scalar are functions of jq that give one output for each input and each of their
// arguments' outputs, or that take programs whose outputs they gather.
var scalar = []string{
	"add", "any", "all", "ascii_downcase", "ascii_upcase", "ceil", "floor", "flatten", "from_entries", "fromjson", "group_by", "has", "join", "keys", "length",
	"map", "map_values", "max", "max_by", "min", "min_by", "not", "now", "reverse", "round", "sort", "sort_by", "split", "to_entries", "tojson", "tonumber",
	"tostring", "type", "unique", "unique_by", "values", "with_entries",
}

// oneObject says whether a program surely gives one output at most, an object. Of
// what it does not know it says no.
func oneObject(q *gojq.Query) bool {
	if len(q.FuncDefs) > 0 && slices.ContainsFunc(q.FuncDefs, func(f *gojq.FuncDef) bool { return slices.Contains(scalar, f.Name) }) {
		return false
	}
	switch {
	case q.Term != nil:
		t := q.Term
		switch {
		case len(t.SuffixList) > 0:
		case t.Type == gojq.TermTypeObject:
			return one(q)
		case t.Type == gojq.TermTypeQuery:
			return oneObject(t.Query)
		}
	case q.Op == gojq.OpPipe:
		return one(q.Left) && oneObject(q.Right)
	}
	return false
}

// one says whether a program surely gives one output at most.
func one(q *gojq.Query) bool {
	if q == nil {
		return true
	}
	if q.Term != nil {
		return oneTerm(q.Term)
	}
	// Assignments run over paths, of which there may be none or several, and the
	// comma gives both its sides.
	return (q.Op == gojq.OpPipe || gojq.OpAdd <= q.Op && q.Op <= gojq.OpAlt) && len(q.FuncDefs) == 0 && one(q.Left) && one(q.Right)
}

func oneTerm(t *gojq.Term) bool {
	for _, s := range t.SuffixList {
		if s.Iter || s.Index != nil && !oneIndex(s.Index) {
			return false
		}
	}
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber, gojq.TermTypeArray:
		return true
	case gojq.TermTypeFormat, gojq.TermTypeString:
		return oneString(t.Str)
	case gojq.TermTypeIndex:
		return oneIndex(t.Index)
	case gojq.TermTypeQuery:
		return one(t.Query)
	case gojq.TermTypeUnary:
		return oneTerm(t.Unary.Term)
	case gojq.TermTypeObject:
		return !slices.ContainsFunc(t.Object.KeyVals, func(m *gojq.ObjectKeyVal) bool { return !one(m.KeyQuery) || !one(m.Val) || !oneString(m.KeyString) })
	case gojq.TermTypeFunc:
		return t.Func.Name[0] == '$' || slices.Contains(scalar, t.Func.Name) &&
			(t.Func.Name == "map" || !slices.ContainsFunc(t.Func.Args, func(q *gojq.Query) bool { return !one(q) }))
	}
	return false
}

func oneIndex(i *gojq.Index) bool {
	return oneString(i.Str) && one(i.Start) && one(i.End)
}

func oneString(s *gojq.String) bool {
	return s == nil || !slices.ContainsFunc(s.Queries, func(q *gojq.Query) bool { return !one(q) })
}
