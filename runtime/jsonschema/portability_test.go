package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// portableInputs holds every form that an input takes.
var portableInputs = []string{
	`{}`,
	`{a?: _, b!: [...], c?: {...}, d?: [string]: _}`,
	`{a?: string | null, b?: [...{x!: int, y?: [...string]}], c?: {k: "x", v!: int} | {k: "y", w?: [...int]}}`,
	`{t?: [int, string], m?: {[=~"^x"]: int}, e?: "a" | 1 | null | true, l?: [1, ..._]}`,
	`{n!: #N, m?: [...#N], o?: #N | null}
#N: {v!: int, next?: #N, all?: [...#N]}`,
	`{t!: #T}
#T: {children?: [...#T] | #U}
#U: {back?: #T, s?: string}`,
}

// TestSchemaPortability pins what hosts are known to refuse: a root that is
// more or less than an object with properties, schemas that are booleans,
// arrays without items, members that say nothing.
func TestSchemaPortability(t *testing.T) {
	for _, src := range portableInputs {
		s := compileInput(t, src)
		var root map[string]any
		if err := json.Unmarshal(s.JSON, &root); err != nil {
			t.Fatal(err)
		}
		if _, ok := root["properties"].(map[string]any); !ok || root["type"] != "object" {
			t.Errorf("%s: the root is no object with properties: %s", src, s.JSON)
		}
		for _, key := range []string{"anyOf", "oneOf", "allOf", "not", "$ref", "$schema", "enum"} {
			if _, ok := root[key]; ok {
				t.Errorf("%s: the root has %s: %s", src, key, s.JSON)
			}
		}
		walkSchema(root, func(where string, sub any) {
			m, ok := sub.(map[string]any)
			if !ok {
				t.Errorf("%s: %s is no object but %v", src, where, sub)
				return
			}
			if m["type"] == "array" && m["items"] == nil && m["prefixItems"] == nil {
				t.Errorf("%s: %s is an array without items", src, where)
			}
		})
	}
}

// TestRefCycles pins that a recursive definition ends in $defs, and that every
// reference has its target.
func TestRefCycles(t *testing.T) {
	for _, src := range portableInputs[4:] {
		s := compileInput(t, src)
		var root map[string]any
		if err := json.Unmarshal(s.JSON, &root); err != nil {
			t.Fatal(err)
		}
		refs := 0
		walkSchema(root, func(where string, sub any) {
			m, _ := sub.(map[string]any)
			ref, ok := m["$ref"].(string)
			if !ok {
				return
			}
			refs++
			if _, found := pointer(any(root), ref[1:]); !found {
				t.Errorf("%s: %s refers to %s, which is not there", src, where, ref)
			}
		})
		if refs == 0 || root["$defs"] == nil {
			t.Errorf("%s: no references: %s", src, s.JSON)
		}
		v, err := NewValidator(s.JSON)
		if err != nil {
			t.Fatal(err)
		}
		deep := `{"n":{"v":1,"next":{"v":2,"next":{"v":"three"}}}}`
		if src == portableInputs[5] {
			deep = `{"t":{"children":[{"children":{"back":{"children":[{"children":5}]}}}]}}`
		}
		if faults := v.Validate(json.RawMessage(deep)); len(faults) == 0 {
			t.Errorf("%s: what is wrong deep inside is not seen", src)
		}
	}
}

func compileInput(t *testing.T, src string) *Schema {
	t.Helper()
	v := cuecontext.New().CompileString("input: " + src)
	if err := v.Err(); err != nil {
		t.Fatal(err)
	}
	s, findings := Compile(v.LookupPath(cue.ParsePath("input")), Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if bytes.Contains(s.JSON, []byte("\n")) {
		t.Errorf("the schema is not compact: %s", s.JSON)
	}
	return s
}

// walkSchema calls f for every schema below root.
func walkSchema(root map[string]any, f func(where string, sub any)) {
	var walk func(where string, v any)
	visit := func(where string, v any) {
		f(where, v)
		walk(where, v)
	}
	walk = func(where string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		for _, key := range []string{"items", "additionalProperties", "not", "contains", "propertyNames"} {
			sub, ok := m[key]
			if _, boolean := sub.(bool); ok && !(key == "additionalProperties" && boolean) { // every host knows these
				visit(where+"/"+key, sub)
			}
		}
		for _, key := range []string{"properties", "patternProperties", "$defs"} {
			subs, _ := m[key].(map[string]any)
			for name, sub := range subs {
				visit(where+"/"+key+"/"+name, sub)
			}
		}
		for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
			subs, _ := m[key].([]any)
			for i, sub := range subs {
				visit(fmt.Sprintf("%s/%s/%d", where, key, i), sub)
			}
		}
	}
	walk("", root)
}
