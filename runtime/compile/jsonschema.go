package compile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"github.com/metacue/metacue/runtime/load"
)

// writtenSchema is a structure of constants that is a JSON Schema: what people write
// for a type who do not know that CUE has types itself.
type writtenSchema struct{ v cue.Value }

// schemaKeywords are those of JSON Schema (draft 2020-12) and of OpenAPI's schemas that
// declarations of arguments have.
var schemaKeywords = []string{
	"$ref", "additionalProperties", "allOf", "anyOf", "const", "default", "deprecated", "description", "enum", "example", "examples",
	"exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum",
	"multipleOf", "nullable", "oneOf", "pattern", "properties", "readOnly", "required", "title", "type", "uniqueItems", "writeOnly",
}

// schemaTypes are JSON Schema's names of types, and CUE's.
var schemaTypes = map[string]string{
	"string": "string", "integer": "int", "number": "number", "boolean": "bool", "null": "null", "array": "[...]", "object": "{...}",
}

// readSchema says whether v is a JSON Schema: a structure of constants whose members
// are keywords, of which one says what the type is. loose takes any that names a
// type, whatever stands beside it: where a type is expected it is surely one. The
// type itself may be CUE's, as in {type: int, minimum: 1}.
func readSchema(v cue.Value, loose bool) (writtenSchema, bool) {
	s := writtenSchema{v}
	it, err := v.Fields(cue.All())
	if err != nil || v.IncompleteKind() != cue.StructKind { // of what is not there too
		return s, false
	}
	keywords, types, n := true, 0, 0
	for it.Next() {
		n++
		sel := it.Selector()
		if sel.LabelType() != cue.StringLabel || sel.ConstraintType() != 0 {
			return s, false
		}
		name := sel.Unquoted()
		if it.Value().Validate(cue.Concrete(true)) != nil {
			if name != "type" && name != "items" {
				return s, false
			}
			types++
		}
		keywords = keywords && slices.Contains(schemaKeywords, name)
	}
	if types > 0 {
		return s, keywords && n > types
	}
	if name, err := s.at("type").String(); err == nil && loose && load.TypeNames[name] != "" {
		return s, true
	}
	return s, keywords && s.typed()
}

// exprOf is the expression that a value was written as.
func exprOf(v cue.Value) ast.Expr {
	if e, ok := syntax(v).(ast.Expr); ok {
		return e
	}
	return ast.NewIdent("T")
}

// typed says whether a keyword says what the type is.
func (s writtenSchema) typed() bool {
	if s.has("type") {
		names := s.types()
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return schemaTypes[name] == "" })
	}
	for _, name := range []string{"enum", "$ref"} {
		if kind := s.at(name).Kind(); name == "enum" && kind == cue.ListKind || name == "$ref" && kind == cue.StringKind {
			return true
		}
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		if len(s.list(name)) > 0 {
			return true
		}
	}
	if _, ok := readSchema(s.at("items"), false); ok {
		return true
	}
	for _, p := range fields(s.at("properties")) {
		if _, ok := readSchema(p, false); ok {
			return true
		}
	}
	return false
}

func (s writtenSchema) at(keyword string) cue.Value {
	return s.v.LookupPath(cue.MakePath(cue.Str(keyword)))
}

func (s writtenSchema) has(keyword string) bool { return s.at(keyword).Exists() }

// types gives the names of the type.
func (s writtenSchema) types() []string {
	if name, err := s.at("type").String(); err == nil {
		return []string{name}
	}
	return strs(s.v, "type")
}

// list gives the schemas of a list of them.
func (s writtenSchema) list(keyword string) []writtenSchema {
	var all []writtenSchema
	it, err := s.at(keyword).List()
	for err == nil && it.Next() {
		if arm, ok := readSchema(it.Value(), true); ok {
			all = append(all, arm)
		}
	}
	return all
}

// cue writes the type as CUE has it, roughly: for a message.
func (s writtenSchema) cue(depth int) string {
	if one, ok := alternatives(s.at("enum")); ok {
		return one
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if arms := s.list(keyword); len(arms) > 0 {
			return either(mapped(arms, func(arm writtenSchema) string { return arm.cue(depth + 1) }), " | ")
		}
	}
	if t := s.at("type"); t.Exists() && !t.IsConcrete() {
		text := source(exprOf(t))
		for name, in := range schemaTypes {
			if in == text {
				return s.named(name, depth)
			}
		}
		return text
	}
	names := s.types()
	if len(names) == 0 {
		switch {
		case s.has("properties"):
			names = []string{"object"}
		case s.has("items"):
			names = []string{"array"}
		}
	}
	if len(names) == 0 {
		return "T"
	}
	return either(mapped(names, func(name string) string { return s.named(name, depth) }), " | ")
}

// named writes one type with what JSON Schema says of it beside.
func (s writtenSchema) named(name string, depth int) string {
	base := schemaTypes[name]
	if base == "" {
		base = load.TypeNames[name]
	}
	switch base {
	case "int", "number":
		for _, bound := range []struct{ keyword, op string }{{"minimum", ">="}, {"exclusiveMinimum", ">"}, {"maximum", "<="}, {"exclusiveMaximum", "<"}} {
			if v := s.at(bound.keyword); v.Kind()&cue.NumberKind != 0 {
				base += fmt.Sprintf(" & %s%v", bound.op, v)
			}
		}
	case "string":
		if p, err := s.at("pattern").String(); err == nil {
			if quoted, err := json.Marshal(p); err == nil {
				return "=~" + string(quoted)
			}
		}
	case "[...]":
		if items := s.at("items"); items.Exists() && !items.IsConcrete() && items.IncompleteKind() != cue.StructKind {
			return "[..." + source(exprOf(items)) + "]"
		}
		if items, ok := readSchema(s.at("items"), true); ok && depth < maxDepth {
			return form{write: func(t string) string { return t }}.element().write(items.cue(depth + 1))
		}
	case "{...}":
		return s.object(depth)
	}
	return base
}

// object writes the type of an object with the first of its members.
func (s writtenSchema) object(depth int) string {
	const most = 3
	var members []string
	required := strs(s.v, "required")
	for name, p := range fields(s.at("properties")) {
		if len(members) == most {
			members = append(members, "…")
			break
		}
		mark, t := "?", "T"
		if slices.Contains(required, name) {
			mark = "!"
		}
		if of, ok := readSchema(p, true); ok && depth < maxDepth {
			t = of.cue(depth + 1)
		}
		members = append(members, cue.Str(name).String()+mark+": "+t)
	}
	if len(members) == 0 {
		return "{...}"
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// mapped gives what f makes of each element.
func mapped[A, B any](all []A, f func(A) B) []B {
	out := make([]B, len(all))
	for i, a := range all {
		out[i] = f(a)
	}
	return out
}
