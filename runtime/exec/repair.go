package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/clip"
	"github.com/metacue/metacue/runtime/jsonschema"
)

// unwrap takes arguments out of what some clients put around them: nothing at
// all, null, or the object as text.
func unwrap(raw json.RawMessage) (json.RawMessage, []string, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0, string(raw) == "null":
		return json.RawMessage("{}"), nil, nil
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
		}
		inner := bytes.TrimSpace([]byte(text))
		if len(inner) == 0 {
			return json.RawMessage("{}"), []string{"the arguments came as empty text and were taken as none"}, nil
		}
		if inner[0] != '{' {
			return nil, nil, errors.New("the arguments must be an object, not text")
		}
		return inner, []string{"the arguments came as text and were read as the object in it"}, nil
	}
	return raw, nil, nil
}

// repair puts right what hosts and models are known to get wrong, if and only
// if the schema refuses it: a value in the wrong JSON type that reads the same
// in the right one, text that differs in case alone from one of the values that would
// do, a lone value where a list is wanted, and null or "" for an optional argument that cannot be so,
// which is dropped on reads. On writes dropping could widen the effect, so
// there it stays a fault. It gives the arguments as they are then, what was
// repaired, and the faults that are left.
//
// Each try reads the arguments anew, so that tries are bounded, by maxWork and by
// ctx: what is not repaired is refused.
func repair(ctx context.Context, v checker, doc json.RawMessage, args bind.Args, effect catalog.Effect) (bind.Args, []string, []jsonschema.Fault) {
	faults := v.Validate(doc)
	if len(faults) == 0 {
		return plain(v, doc, args), nil, nil
	}
	if len(faults) > maxRepaired {
		return args, nil, faults
	}
	var repairs []string
	tried := map[string]bool{} // faults by their messages
	for work := 0; work < maxWork && ctx.Err() == nil; {
		i := slices.IndexFunc(faults, func(f jsonschema.Fault) bool { return curable(f, effect) && !tried[f.Message] })
		if i < 0 {
			break
		}
		f := faults[i]
		tried[f.Message] = true
		work += len(doc)
		next, told, ok := mend(doc, f, effect)
		if !ok {
			continue
		}
		work += len(doc)
		// A change that does not cure its fault is none.
		if left := v.Validate(next); cures(f, faults, left) {
			doc, faults = next, left
			repairs = append(repairs, told)
		}
	}
	if len(repairs) == 0 {
		return args, nil, faults
	}
	repaired, err := bind.ParseArgs(doc, bind.Bounds{})
	if err != nil {
		return args, nil, faults
	}
	return plain(v, doc, repaired), repairs, faults
}

// checker is what a *jsonschema.Validator does for repairs.
type checker interface {
	Validate(json.RawMessage) []jsonschema.Fault
	Integers(json.RawMessage) json.RawMessage
}

const (
	// maxRepaired is how many faults a call may have to be repaired at all.
	maxRepaired = 100
	// maxWork bounds what repairing one call reads, in bytes: of small arguments
	// every fault, of the largest ones the first.
	maxWork = 2 << 20
)

// curable says whether another value in the same place could cure a fault: what is
// missing or unknown stays so.
func curable(f jsonschema.Fault, effect catalog.Effect) bool {
	switch f.Keyword {
	case "required", "additionalProperties":
		return false
	case "enum", "const":
		return len(f.Path) > 0
	}
	return len(f.Path) > 0 && (len(f.Want) > 0 || len(f.Texts) > 0 || effect == catalog.Read) // on reads "" may be dropped
}

// cures says whether a change has cured the fault f: fewer faults are left, or
// the value is of the right type now and what is wrong with it has come to
// light, as with "0" for a number above zero. That does not hold for a lone value
// put into a list, which then was not what was meant, nor for one that is dropped.
func cures(f jsonschema.Fault, before, after []jsonschema.Fault) bool {
	if len(after) < len(before) {
		return true
	}
	missing := func(g jsonschema.Fault) bool { return g.Keyword == "required" }
	if f.Keyword != "type" || slices.Equal(f.Want, []string{"array"}) || slices.ContainsFunc(after, missing) {
		return false
	}
	return !slices.ContainsFunc(after, func(g jsonschema.Fault) bool { return g.Keyword == "type" && slices.Equal(g.Path, f.Path) })
}

// plain gives args, those of doc, with integers written as such.
func plain(v checker, doc json.RawMessage, args bind.Args) bind.Args {
	integers := v.Integers(doc)
	if bytes.Equal(integers, doc) {
		return args
	}
	if out, err := bind.ParseArgs(integers, bind.Bounds{}); err == nil {
		return out
	}
	return args
}

// mend tries to cure one fault and says what it did.
func mend(doc json.RawMessage, f jsonschema.Fault, effect catalog.Effect) (json.RawMessage, string, bool) {
	old, ok := at(doc, f.Path)
	if !ok {
		return nil, "", false
	}
	place := func() string { return jsonschema.Place(doc, f.Path) }
	if string(old) == "null" || string(old) == `""` {
		if effect != catalog.Read || inList(doc, f.Path) {
			return nil, "", false
		}
		next, err := edit(doc, f.Path, nil)
		return next, fmt.Sprintf("%s: %s was dropped", place(), old), err == nil
	}
	if text, ok := inCase(old, f.Texts); ok {
		next, err := edit(doc, f.Path, text)
		return next, fmt.Sprintf("%s: %s was taken as %s", place(), abbreviate(old), abbreviate(text)), err == nil
	}
	if len(f.Want) == 0 && f.Keyword != "enum" && f.Keyword != "const" {
		return nil, "", false // its type is right, and what is wrong is its value
	}
	for _, candidate := range convert(old, f.Want) {
		next, err := edit(doc, f.Path, candidate)
		if err == nil {
			return next, fmt.Sprintf("%s: %s was taken as %s", place(), abbreviate(old), abbreviate(candidate)), true
		}
	}
	return nil, "", false
}

// inCase gives the one of texts that value is but for the case of its letters, which
// says nothing: APIs answer "active" where they take "Active". Where two of them differ
// in case alone it says something.
func inCase(value json.RawMessage, texts []string) (json.RawMessage, bool) {
	var given string
	if len(texts) == 0 || value[0] != '"' || json.Unmarshal(value, &given) != nil {
		return nil, false
	}
	same := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !strings.EqualFold(text, given) })
	if len(same) != 1 {
		return nil, false
	}
	return json.RawMessage(compact(same[0])), true
}

// convert gives what value reads as in one of the wanted JSON types. No type
// wanted means that the value is none of those allowed: then a scalar is tried
// as its other form.
func convert(value json.RawMessage, want []string) []json.RawMessage {
	wants := func(t string) bool { return len(want) == 0 || slices.Contains(want, t) }
	var out []json.RawMessage
	switch value[0] {
	case '"':
		var text string
		if json.Unmarshal(value, &text) != nil {
			return nil
		}
		text = strings.TrimSpace(text)
		if !json.Valid([]byte(text)) {
			return single(value, want)
		}
		var type_ string
		switch c := text[0]; {
		case c == '{':
			type_ = "object"
		case c == '[':
			type_ = "array"
		case text == "true" || text == "false":
			type_ = "boolean"
		case c == '-' || '0' <= c && c <= '9':
			type_ = "number"
			if wants("integer") && !wants("number") {
				type_ = "integer"
			}
		default:
			return nil
		}
		if wants(type_) {
			out = append(out, json.RawMessage(text))
		}
	case '[':
	case '{':
		out = single(value, want)
	default: // a number or a boolean
		out = single(value, want)
		if wants("string") {
			out = append(out, json.RawMessage(strconv.Quote(string(value))))
		}
	}
	return out
}

// inList says whether a place is in an element of a list: nothing is taken out of
// one, since half an element is worse than none.
func inList(doc json.RawMessage, path []string) bool {
	for i := range path {
		if around, ok := at(doc, path[:i]); ok && around[0] == '[' {
			return true
		}
	}
	return false
}

// single gives a lone value as the list of one that is wanted.
func single(value json.RawMessage, want []string) []json.RawMessage {
	if !slices.Equal(want, []string{"array"}) {
		return nil
	}
	return []json.RawMessage{array([]json.RawMessage{value})}
}

// at gives the value at a place of a document.
func at(doc json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		var object map[string]json.RawMessage
		var array []json.RawMessage
		switch {
		case json.Unmarshal(doc, &object) == nil && object != nil:
			v, ok := object[name]
			if !ok {
				return nil, false
			}
			doc = v
		case json.Unmarshal(doc, &array) == nil:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(array) {
				return nil, false
			}
			doc = array[i]
		default:
			return nil, false
		}
	}
	return bytes.TrimSpace(doc), true
}

// edit gives the document with the value at path replaced, or taken out of its
// object when value is nil. Nothing else changes, not even the order of members.
func edit(doc json.RawMessage, path []string, value json.RawMessage) (json.RawMessage, error) {
	if len(path) == 0 {
		return value, nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	open, err := d.Token()
	if err != nil {
		return nil, err
	}
	object := open == json.Delim('{')
	var b bytes.Buffer
	fmt.Fprint(&b, open)
	first := true
	for i := 0; d.More(); i++ {
		name := strconv.Itoa(i)
		if object {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name = key.(string)
		}
		var member json.RawMessage
		if err := d.Decode(&member); err != nil {
			return nil, err
		}
		if name == path[0] {
			if len(path) == 1 && value == nil {
				if !object {
					return nil, errors.New("an element of a list is not dropped")
				}
				continue
			}
			if member, err = edit(member, path[1:], value); err != nil {
				return nil, err
			}
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		if object {
			key, err := json.Marshal(name)
			if err != nil {
				return nil, err
			}
			b.Write(key)
			b.WriteByte(':')
		}
		b.Write(member)
	}
	if object {
		b.WriteByte('}')
	} else {
		b.WriteByte(']')
	}
	return b.Bytes(), nil
}

// abbreviate shortens a value for a sentence.
func abbreviate(v json.RawMessage) string {
	return clip.Text(string(v), 60)
}
