package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/expr"
)

// maxSamples bounds the calls that are tried for one tool, maxChoices the nesting of
// alternatives that are each tried.
const (
	maxSamples = 40
	maxChoices = 4
)

// trials tries the expressions and rules of each tool with arguments that its
// schema accepts, and reports what no call of that shape could make: types that
// do not go together, look-ups that miss, rules over absent arguments. It gives the
// paths of what it reported.
func (c *compiler) trials(p *exec.Program) (failing []string) {
	for _, t := range c.cfg.Tools() {
		tool := p.Tools[t.Name]
		if tool == nil || t.Faulty || !evaluates(tool) {
			continue
		}
		told := map[string]bool{}
		for args := range samples(tool) {
			for _, f := range try(tool, args) {
				path, why := f.Path.String(), reason(f.Err)
				if !told[path] {
					told[path] = true
					c.add(t.Path.String()+"."+path, "a call with the arguments %s would fail: %s%s", args, why, advice(path, why))
					failing = append(failing, t.Path.String()+"."+path)
				}
			}
		}
	}
	return failing
}

// forms gives each tool without examples a call that shows the form of one, unless
// its rules refuse that.
func (c *compiler) forms(p *exec.Program) {
	for _, t := range c.cfg.Tools() {
		tool := p.Tools[t.Name]
		if tool == nil || t.Faulty || len(tool.Info.Examples) > 0 {
			continue
		}
		tool.Info.Sample = formOf(tool)
	}
}

// formOf makes a call of the required arguments alone, in the order of their
// declaration; nil where the schema or the rules of the tool refuse it. What a text is
// like is left open: there its name stands.
func formOf(t *exec.Tool) json.RawMessage {
	s, ok := newSampler(t.Info.InputSchema)
	s.name = "arguments" // names are told, down to the innermost
	v, made := s.object(s.root, false, 0)
	if !ok || !made {
		return nil
	}
	call := compactJSON(v)
	for _, f := range t.Validator.Validate(call) {
		if !slices.Contains([]string{"pattern", "format", "minLength", "maxLength"}, f.Keyword) {
			return nil
		}
	}
	if t.Verifier != nil {
		scope, err := scopeOf(t, call)
		if err != nil || t.Verifier.Verify(context.Background(), scope) != nil {
			return nil
		}
	}
	return call
}

// compactJSON is a value as JSON, characters of HTML as they are.
func compactJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it was read from JSON, or is text
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// scopeOf is what the rules and requests of a call see, defaults filled in.
func scopeOf(t *exec.Tool, raw json.RawMessage) (*bind.Scope, error) {
	args, err := bind.ParseArgs(raw, bind.Bounds{})
	if err != nil {
		return nil, err
	}
	t.FillIn(args)
	return &bind.Scope{Args: args, Steps: map[string]json.RawMessage{}}, nil
}

// advice says how an expression over an absent argument is written.
func advice(path, reason string) string {
	switch {
	case path == "check" && strings.Contains(reason, "optional field"):
		return "; && evaluates both its sides: put the tests one behind the other, if input.x != _|_ if input.x > 3 {…}"
	case strings.Contains(reason, "without a part"):
		return "; in an element of a list write if x != _|_ {member: x}"
	}
	return ""
}

// evaluates says whether CUE runs at a call before anything is sent.
func evaluates(t *exec.Tool) bool {
	return t.Verifier != nil || t.Steps[0].Request != nil && t.Steps[0].Request.Exprs != nil || t.Steps[0].Each != nil || t.Steps[0].When != nil
}

// try evaluates what a call would evaluate before its first request, and gives
// the expressions at fault.
func try(t *exec.Tool, raw json.RawMessage) expr.Faults {
	s, err := scopeOf(t, raw)
	if err != nil {
		return nil
	}
	ctx, step := context.Background(), t.Steps[0]
	if t.Verifier != nil {
		err = t.Verifier.Verify(ctx, s)
	}
	if err == nil && step.When != nil {
		var v []json.RawMessage
		if v, err = step.When.Eval(ctx, s); err == nil && string(v[0]) != "true" {
			return nil
		}
	}
	switch {
	case err != nil:
		// At fault, or refused, so that nothing is made of these arguments.
	case step.Each != nil:
		_, err = step.Each.List.Eval(ctx, s)
	case step.Request.Exprs != nil:
		_, err = step.Request.Exprs.Eval(ctx, s)
	}
	var all, out expr.Faults
	errors.As(err, &all)
	for _, f := range all {
		if f.Unfit() || slices.ContainsFunc(texts(s.Args), f.Misses) {
			out = append(out, f)
		}
	}
	return out
}

// texts gives the arguments that are strings: a table in the configuration that
// lacks one of an enumeration's is a fault, an object of the caller's that lacks
// a member is not.
func texts(args bind.Args) []string {
	var out []string
	for _, v := range args {
		var s string
		if json.Unmarshal(v, &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// samples gives arguments that the tool's schema accepts: the required ones
// alone, all of them, and each one by itself: with each value of an enumeration,
// and with a value of each type that it may have.
func samples(t *exec.Tool) func(yield func(json.RawMessage) bool) {
	return func(yield func(json.RawMessage) bool) {
		s, ok := newSampler(t.Info.InputSchema)
		if !ok {
			return
		}
		root := s.root
		properties, _ := root["properties"].(map[string]any)
		required := map[string]any{}
		full, sparse := map[string]any{}, map[string]any{}
		for name, p := range properties {
			if v, ok := s.value(p, false, 0); ok {
				sparse[name] = v
				if list, ok := root["required"].([]any); ok && slices.Contains(list, any(name)) {
					required[name] = v
				}
			}
			if v, ok := s.value(p, true, 0); ok {
				full[name] = v
			}
		}
		n := 0
		give := func(args map[string]any) bool {
			b, err := json.Marshal(args)
			if err != nil || len(t.Validator.Validate(b)) > 0 {
				return true
			}
			n++
			return yield(b) && n < maxSamples
		}
		if !give(required) || !give(full) || !give(sparse) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			for _, v := range s.choices(properties[name], 0) {
				args := maps.Clone(required)
				args[name] = v
				if !give(args) {
					return
				}
			}
		}
	}
}

// sampler makes values that a schema is likely to accept.
type sampler struct {
	root map[string]any
	// name is that of the argument or member which a text would be for, and the text is
	// made of it; "" where texts are letters.
	name string
}

// newSampler reads a schema.
func newSampler(schema json.RawMessage) (sampler, bool) {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var s sampler
	err := d.Decode(&s.root)
	return s, err == nil
}

// choices makes a value for each alternative of a schema, those of the elements of
// lists too.
func (s sampler) choices(schema any, depth int) []any {
	m, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if values, ok := m["enum"].([]any); ok {
		return values
	}
	arms, ok := m["anyOf"].([]any)
	if kinds, several := m["type"].([]any); several {
		for _, kind := range kinds {
			arm := maps.Clone(m)
			arm["type"] = kind
			arms = append(arms, arm)
		}
		ok = true
	}
	var values []any
	switch {
	case depth > maxChoices:
	case ok:
		for _, arm := range arms {
			values = append(values, s.choices(arm, depth+1)...)
		}
	case m["type"] == "array":
		for _, v := range s.choices(m["items"], depth+1) {
			values = append(values, []any{v})
		}
	}
	if v, ok := s.value(schema, false, 0); ok && len(values) == 0 {
		values = []any{v}
	}
	return values
}

// value makes a value for a schema: with full, optional members too.
func (s sampler) value(schema any, full bool, depth int) (any, bool) {
	m, ok := schema.(map[string]any)
	if !ok || depth > 6 {
		return nil, false
	}
	if ref, ok := m["$ref"].(string); ok {
		defs, _ := s.root["$defs"].(map[string]any)
		return s.value(defs[strings.TrimPrefix(ref, "#/$defs/")], full && depth < 3, depth+1)
	}
	for _, key := range []string{"examples", "enum"} {
		if list, ok := m[key].([]any); ok && len(list) > 0 {
			return list[0], true
		}
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := m[key]; ok {
			return v, true
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if arms, ok := m[key].([]any); ok && len(arms) > 0 {
			return s.value(arms[0], full, depth+1)
		}
	}
	kind, _ := m["type"].(string)
	if list, ok := m["type"].([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
		if kind == "null" && len(list) > 1 {
			kind, _ = list[1].(string)
		}
	}
	switch kind {
	case "integer", "number":
		for _, bound := range []string{"minimum", "maximum"} {
			if v, ok := m[bound]; ok {
				return v, true
			}
		}
		return json.Number("7"), true
	case "boolean":
		return true, true
	case "null":
		return nil, true
	case "array":
		item, ok := s.value(m["items"], full, depth+1)
		if !ok {
			return []any{}, true
		}
		return []any{item}, true
	case "object":
		return s.object(m, full, depth)
	case "string":
		if m["format"] == "date-time" {
			return "2026-01-12T09:00:00Z", true
		}
		if s.name != "" {
			return "<" + s.name + ">", true
		}
		n := 1
		if v, ok := m["minLength"].(json.Number); ok {
			if l, err := v.Int64(); err == nil {
				n = int(min(max(l, 1), 100))
			}
		}
		return strings.Repeat("x", n), true
	}
	if s.name != "" {
		return "<" + s.name + ">", true
	}
	return "x", true
}

// record is a JSON object whose members stay in order.
type record []struct {
	name  string
	value any
}

// MarshalJSON writes the members as they come.
func (r record) MarshalJSON() ([]byte, error) {
	b := []byte("{")
	for i, m := range r {
		if i > 0 {
			b = append(b, ',')
		}
		b = slices.Concat(b, compactJSON(m.name), []byte(":"), compactJSON(m.value))
	}
	return append(b, '}'), nil
}

// object makes an object: its required members as they are listed, and with full the
// others too.
func (s sampler) object(m map[string]any, full bool, depth int) (any, bool) {
	out := record{}
	required, _ := m["required"].([]any)
	properties, _ := m["properties"].(map[string]any)
	add := func(name string, p any) bool {
		if s.name != "" {
			s.name = name
		}
		v, ok := s.value(p, full, depth+1)
		if ok {
			out = append(out, struct {
				name  string
				value any
			}{name, v})
		}
		return ok
	}
	for _, name := range required {
		name, _ := name.(string)
		if p, ok := properties[name]; ok && !add(name, p) {
			return nil, false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if full && !slices.Contains(required, any(name)) {
			add(name, properties[name])
		}
	}
	if len(properties) == 0 && full {
		if _, ok := m["additionalProperties"]; ok {
			add("key", m["additionalProperties"])
		}
	}
	return out, true
}
