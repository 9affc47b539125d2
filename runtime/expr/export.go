package expr

import (
	"bytes"
	"encoding/json"
	"slices"

	"cuelang.org/go/cue"
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
	err := v.Err()
	if err == nil && v.IncompleteKind() == cue.BottomKind {
		// Of a reference to a definition or hidden field CUE tells an error only
		// when it is followed.
		err = v.Eval().Err()
	}
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
	return json.Compact(b, data)
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
