package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// Export gives a CUE value as compact JSON. Members whose expressions are
// absent (IsAbsent) are left out, and so is a struct left with nothing because
// of that: its error is then that of the member. Inside a list nothing is left
// out: an absent element, or an absent member of one, is an error.
func Export(v cue.Value) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := export(&b, v, false); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func export(b *bytes.Buffer, v cue.Value, inList bool) error {
	// The error of a struct is that of its comprehensions, or of a member
	// beyond repair; absent members show only in the walk.
	err := fault(v)
	if err != nil && (inList || !IsAbsent(err)) {
		return err
	}
	switch v.IncompleteKind() {
	case cue.ListKind:
		return exportList(b, v)
	case cue.StructKind, cue.BottomKind:
		return exportStruct(b, v, err, inList)
	case cue.TopKind:
		// Of a comprehension that gave nothing CUE no longer knows that it stood in
		// a structure, once it is unified with what can be anything.
		if op, args := v.Expr(); op == cue.AndOp && slices.ContainsFunc(args, func(a cue.Value) bool { return a.IncompleteKind() == cue.StructKind }) {
			b.WriteString("{}")
			return nil
		}
	}
	data, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	if v.IncompleteKind()&cue.NumberKind != 0 {
		data = asWritten(v, data)
	}
	return json.Compact(b, data)
}

// asWritten gives a number that v only refers to as it was written: CUE writes
// exponents in a way of its own, 1e400 as 1E+400, and -0 as 0.
func asWritten(v cue.Value, data []byte) []byte {
	if data[0] != '0' && bytes.IndexByte(data, 'E') < 0 {
		return data
	}
	written := ""
	switch x := cue.Dereference(v).Source().(type) {
	case *ast.BasicLit:
		written = x.Value
	case *ast.UnaryExpr:
		if digits, ok := x.X.(*ast.BasicLit); ok && x.Op == token.SUB {
			written = "-" + digits.Value
		}
	}
	if !json.Valid([]byte(written)) {
		return data // CUE has more ways to write a number than JSON
	}
	return []byte(written)
}

// fault gives the error of v itself.
func fault(v cue.Value) error {
	err := v.Err()
	if err == nil && v.IncompleteKind() == cue.BottomKind {
		// Of a reference to a definition or hidden field CUE tells an error only
		// when it is followed.
		err = v.Eval().Err()
	}
	return err
}

// Half finds an element of a list, at any depth, that would be sent without a
// part because it refers to an absent argument; nil when there is none. Whatever
// else is not known yet is passed over.
func Half(v cue.Value) error { return half(v, -1) }

// half looks into v, which is in element index of a list, -1 for in none.
func half(v cue.Value, index int) error {
	if err := fault(v); index >= 0 && IsAbsent(err) {
		return &halfElement{index, err}
	}
	switch v.IncompleteKind() {
	case cue.ListKind:
		list, err := v.List()
		if err != nil {
			return nil
		}
		for i := 0; list.Next(); i++ {
			if err := half(list.Value(), i); err != nil {
				return err
			}
		}
	case cue.StructKind, cue.BottomKind:
		fields, err := v.Fields()
		if err != nil {
			return nil
		}
		for fields.Next() {
			if err := half(fields.Value(), index); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportStruct writes the members of v. absent is an error of v itself, if any:
// a condition or comprehension that refers to an absent argument adds nothing.
func exportStruct(b *bytes.Buffer, v cue.Value, absent error, inList bool) error {
	fields, err := v.Fields()
	if err != nil {
		if absent != nil {
			return absent
		}
		return err
	}
	start := b.Len()
	b.WriteByte('{')
	for fields.Next() {
		before := b.Len()
		if before > start+1 {
			b.WriteByte(',')
		}
		if fields.Selector().LabelType() != cue.StringLabel {
			// A list with a faulty comprehension has no kind of its own: no part of
			// it can be trusted.
			b.Truncate(start)
			if absent != nil {
				return absent
			}
			return errors.New("a list that cannot be evaluated")
		}
		name, err := json.Marshal(fields.Selector().Unquoted())
		if err != nil {
			return err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := export(b, fields.Value(), inList); err != nil {
			if inList || !IsAbsent(err) {
				return err
			}
			absent = err
			b.Truncate(before)
		}
	}
	if b.Len() == start+1 && absent != nil {
		b.Truncate(start)
		return absent
	}
	b.WriteByte('}')
	return nil
}

func exportList(b *bytes.Buffer, v cue.Value) error {
	list, err := v.List()
	if err != nil {
		return err
	}
	b.WriteByte('[')
	for i := 0; list.Next(); i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := export(b, list.Value(), true); err != nil {
			if IsAbsent(err) {
				return &halfElement{index: i, err: err}
			}
			return err
		}
	}
	b.WriteByte(']')
	return nil
}
