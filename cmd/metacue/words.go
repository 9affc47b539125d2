package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// callArguments makes the arguments of the words NAME=VALUE, or takes them as
// they are. schema is that of the tool: it says which values are text.
func callArguments(stdin io.Reader, object string, words []string, schema json.RawMessage) (json.RawMessage, error) {
	switch {
	case object != "" && len(words) > 0:
		return nil, errors.New("give the arguments by --json or as NAME=VALUE, not both")
	case object == "-":
		return io.ReadAll(stdin)
	case object != "":
		return json.RawMessage(object), nil
	}
	var names []string
	values := map[string][]string{}
	for _, w := range words {
		if strings.HasPrefix(w, "{") {
			return nil, fmt.Errorf("%q is no NAME=VALUE: --json gives all arguments as one JSON object", w)
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is no NAME=VALUE", w)
		}
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	var s wordSchema
	if err := json.Unmarshal(schema, &s); len(schema) > 0 && err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	var faults []error
	for _, name := range names {
		v, err := s.property(name).words(values[name])
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
		out[name] = v
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// wordSchema is what of a JSON Schema says how a word is read.
type wordSchema struct {
	Type       json.RawMessage       `json:"type"`
	Ref        string                `json:"$ref"`
	AnyOf      []wordSchema          `json:"anyOf"`
	Items      *wordSchema           `json:"items"`
	Properties map[string]wordSchema `json:"properties"`
	Defs       map[string]wordSchema `json:"$defs"`
}

func (s wordSchema) property(name string) wordSchema { return s.below(s.Properties[name]) }

// below gives a schema inside s, with what it refers to.
func (s wordSchema) below(sub wordSchema) wordSchema {
	if target, ok := s.Defs[strings.TrimPrefix(sub.Ref, "#/$defs/")]; ok {
		sub = target
	}
	sub.Defs = s.Defs
	return sub
}

// types gives the JSON types that the schema takes; none means any.
func (s wordSchema) types() []string {
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		return []string{one}
	}
	var types []string
	_ = json.Unmarshal(s.Type, &types) // neither a type nor a list of them: any
	for _, arm := range s.AnyOf {
		types = append(types, s.below(arm).types()...)
	}
	return types
}

// words gives the value of an argument that was given once or several times.
func (s wordSchema) words(values []string) (json.RawMessage, error) {
	types := s.types()
	list := slices.Contains(types, "array")
	if len(values) == 1 && !(list && !strings.HasPrefix(strings.TrimSpace(values[0]), "[") && !(values[0] == "null" && slices.Contains(types, "null"))) {
		return s.word(values[0])
	}
	var item wordSchema
	if s.Items != nil {
		item = s.below(*s.Items)
	}
	elements := make([]json.RawMessage, len(values))
	for i, v := range values {
		e, err := item.word(v)
		if err != nil {
			return nil, err
		}
		elements[i] = e
	}
	return json.Marshal(elements)
}

// word reads one value: as text where the schema takes text, else as JSON.
// Where it takes both, only null, an object or a list are read as JSON.
func (s wordSchema) word(value string) (json.RawMessage, error) {
	types := s.types()
	trimmed := strings.TrimSpace(value)
	structured := strings.HasPrefix(trimmed, "{") && slices.Contains(types, "object") ||
		strings.HasPrefix(trimmed, "[") && slices.Contains(types, "array")
	text := len(types) == 0 || slices.Contains(types, "string")
	switch {
	case trimmed == "null" && slices.Contains(types, "null"):
		return json.RawMessage("null"), nil
	case structured:
		var v json.RawMessage
		if err := json.Unmarshal([]byte(trimmed), &v); err != nil {
			return nil, fmt.Errorf("is no valid JSON: %w", err)
		}
		return v, nil
	case !text && json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed), nil
	}
	return json.Marshal(value) // the call says what is wrong, if anything is
}
