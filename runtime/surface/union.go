package surface

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/catalog"
)

// union is one object schema for the arguments of several tools: first, then each
// property of theirs once, in the order in which they come up. A value that one of
// them accepts, the union accepts too; what cannot be said of all is not said, or,
// in a description, of whom it is said. Required is what all of them require.
func union(first member, tools []*catalog.Tool) json.RawMessage {
	properties, required := []member{first}, []string{}
	said := map[string]*sayings{}
	var defs []member
	for i, t := range tools {
		s := read(t.InputSchema)
		for _, d := range read(get(s, "$defs")) {
			if at := index(defs, d.name); at < 0 {
				defs = append(defs, d)
			} else if !bytes.Equal(defs[at].value, d.value) {
				defs[at].value = json.RawMessage(`{}`) // two shapes of one name
			}
		}
		for _, p := range read(get(s, "properties")) {
			at := index(properties, p.name)
			if at == 0 {
				continue
			}
			if said[p.name] == nil {
				said[p.name] = &sayings{}
			}
			said[p.name].add(t.Name, text(get(read(p.value), "description")))
			if at < 0 {
				properties = append(properties, p)
			} else {
				properties[at].value = join(properties[at].value, p.value)
			}
		}
		names := stringsOf(get(s, "required"))
		if i == 0 {
			required = names
		} else {
			required = slices.DeleteFunc(required, func(n string) bool { return !slices.Contains(names, n) })
		}
	}
	for i := 1; i < len(properties); i++ {
		by := said[properties[i].name]
		properties[i].value = by.describe(properties[i].value)
		if by.tools < len(tools) {
			// A host that fills in defaults would send it to actions that do not take it.
			properties[i].value = without(properties[i].value, "default")
		}
	}
	out := []member{property("type", "object"), {"properties", writeObject(properties)}, property("required", append([]string{first.name}, required...))}
	if len(defs) > 0 {
		out = append(out, member{"$defs", writeObject(defs)})
	}
	return writeObject(out)
}

// without gives a schema without a keyword.
func without(schema json.RawMessage, keyword string) json.RawMessage {
	if get(read(schema), keyword) == nil {
		return schema
	}
	return writeObject(slices.DeleteFunc(read(schema), func(m member) bool { return m.name == keyword }))
}

// sayings are the descriptions that tools have for an argument of one name.
type sayings struct {
	tools int // that have the argument
	texts []string
	by    [][]string // who has each text
}

func (s *sayings) add(tool, text string) {
	s.tools++
	if text == "" {
		return
	}
	i := slices.Index(s.texts, text)
	if i < 0 {
		i = len(s.texts)
		s.texts, s.by = append(s.texts, text), append(s.by, nil)
	}
	s.by[i] = append(s.by[i], tool)
}

// describe gives a property its description: what most say, then what others say,
// with their names. What one of several says has its name too.
func (s *sayings) describe(p json.RawMessage) json.RawMessage {
	if len(s.texts) == 0 || len(s.texts) == 1 && len(s.by[0]) == s.tools {
		return p
	}
	most := 0
	for i := range s.by {
		if len(s.by[i]) > len(s.by[most]) {
			most = i
		}
	}
	var parts []string
	if len(s.by[most]) > 1 {
		parts = append(parts, s.texts[most])
	}
	for i, text := range s.texts {
		if len(s.by[i]) == 1 || i != most {
			parts = append(parts, strings.Join(s.by[i], ", ")+": "+text)
		}
	}
	members := slices.DeleteFunc(read(p), func(m member) bool { return m.name == "description" })
	return writeObject(append(members, property("description", strings.Join(parts, "; "))))
}

// kinds are the types of values that a keyword of JSON Schema is about (draft
// 2020-12, validation, section 6): of other values it says nothing.
var kinds = map[string][]string{
	"items": {"array"}, "prefixItems": {"array"}, "minItems": {"array"}, "maxItems": {"array"}, "uniqueItems": {"array"},
	"properties": {"object"}, "required": {"object"}, "additionalProperties": {"object"}, "patternProperties": {"object"}, "propertyNames": {"object"},
	"minProperties": {"object"}, "maxProperties": {"object"},
	"format": {"string"}, "pattern": {"string"}, "minLength": {"string"}, "maxLength": {"string"}, "contentEncoding": {"string"},
	"minimum": {"integer", "number"}, "maximum": {"integer", "number"}, "exclusiveMinimum": {"integer", "number"}, "exclusiveMaximum": {"integer", "number"}, "multipleOf": {"integer", "number"},
}

// join is a schema for whatever one of two accepts. It says less than anyOf would,
// in fewer tokens: the exact schema of an action is held against each call of it.
func join(a, b json.RawMessage) json.RawMessage {
	if bytes.Equal(a, b) {
		return a
	}
	x, y := read(a), read(b)
	var out []member
	for _, m := range x {
		if v := joined(m.name, m.value, get(y, m.name), x, y); v != nil {
			out = append(out, member{m.name, v})
		}
	}
	for _, m := range y {
		if get(x, m.name) == nil {
			if v := joined(m.name, nil, m.value, x, y); v != nil {
				out = append(out, member{m.name, v})
			}
		}
	}
	return writeObject(out)
}

// joined is what may be said by a keyword that x has as a and y as b, nil for a
// side without it. nil is nothing.
func joined(keyword string, a, b json.RawMessage, x, y []member) json.RawMessage {
	switch {
	case keyword == "additionalProperties" && !others(x, y):
		return nil
	case slices.ContainsFunc(leans[keyword], func(on string) bool { return !bytes.Equal(get(x, on), get(y, on)) }):
		return nil
	case keyword == "properties" && acceptsObjects(x) && acceptsObjects(y):
		return joinProperties(x, y)
	case bytes.Equal(a, b):
		return a
	case keyword == "description" || keyword == "examples" || keyword == "default" || keyword == "title" || keyword == "deprecated":
		return nil
	case a == nil:
		return alone(keyword, b, x)
	case b == nil:
		return alone(keyword, a, y)
	}
	switch keyword {
	case "type":
		return joinTypes(a, b)
	case "enum":
		return joinLists(a, b)
	case "items", "additionalProperties":
		if isObject(a) && isObject(b) {
			return join(a, b)
		}
	case "required":
		theirs := stringsOf(b)
		both := slices.DeleteFunc(stringsOf(a), func(n string) bool { return !slices.Contains(theirs, n) })
		if len(both) > 0 {
			return compact(both)
		}
	}
	return nil
}

// alone is a keyword that one side has and other does not: it holds for both
// where no value that it is about is accepted there.
func alone(keyword string, value json.RawMessage, other []member) json.RawMessage {
	types := typesOf(other)
	if kinds[keyword] == nil || types == nil || slices.ContainsFunc(kinds[keyword], func(k string) bool { return slices.Contains(types, k) }) {
		return nil
	}
	return value
}

// leans names the keywords on whose presence it depends what a keyword is about
// (draft 2020-12, core, section 10.3.1): of two that differ in those it says two things.
var leans = map[string][]string{
	"items":    {"prefixItems"},
	"contains": {"minContains", "maxContains"},
}

// joinProperties joins the properties of two objects. One that an open object does
// not name may be anything there.
func joinProperties(x, y []member) json.RawMessage {
	mine, theirs := read(get(x, "properties")), read(get(y, "properties"))
	var out []member
	for _, m := range mine {
		if t := get(theirs, m.name); t != nil {
			out = append(out, member{m.name, join(m.value, t)})
		} else if closed(y) {
			out = append(out, m)
		}
	}
	for _, t := range theirs {
		if get(mine, t.name) == nil && closed(x) {
			out = append(out, t)
		}
	}
	if len(out) == 0 && (mine == nil || theirs == nil) {
		return nil
	}
	return writeObject(out)
}

// acceptsObjects says whether a schema may accept an object.
func acceptsObjects(s []member) bool {
	types := typesOf(s)
	return types == nil || slices.Contains(types, "object")
}

// closed says whether an object has the properties that its schema names and no
// others.
func closed(s []member) bool {
	return string(get(s, "additionalProperties")) == "false" && get(s, "patternProperties") == nil
}

// others says whether what two objects say of the properties that they do not name
// is about the same ones, once their properties are joined.
func others(x, y []member) bool {
	if !bytes.Equal(get(x, "patternProperties"), get(y, "patternProperties")) {
		return false
	}
	if closed(x) && closed(y) {
		return true
	}
	mine, theirs := read(get(x, "properties")), read(get(y, "properties"))
	return len(mine) == len(theirs) && !slices.ContainsFunc(mine, func(m member) bool { return get(theirs, m.name) == nil })
}

// joinTypes gives the types of both: an integer is a number too.
func joinTypes(a, b json.RawMessage) json.RawMessage {
	all := typesIn(a)
	for _, t := range typesIn(b) {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	if slices.Contains(all, "number") {
		all = slices.DeleteFunc(all, func(t string) bool { return t == "integer" })
	}
	if len(all) == 1 {
		return compact(all[0])
	}
	return compact(all)
}

// joinLists gives the values of both lists, each once.
func joinLists(a, b json.RawMessage) json.RawMessage {
	var all, more []json.RawMessage
	_ = json.Unmarshal(a, &all) // what is no list holds no values
	_ = json.Unmarshal(b, &more)
	for _, v := range more {
		if !slices.ContainsFunc(all, func(w json.RawMessage) bool { return bytes.Equal(v, w) }) {
			all = append(all, v)
		}
	}
	return compact(all)
}

// typesOf gives the types that a schema accepts, nil for one that names none.
func typesOf(s []member) []string { return typesIn(get(s, "type")) }

func typesIn(raw json.RawMessage) []string {
	if t := text(raw); t != "" {
		return []string{t}
	}
	return stringsOf(raw)
}

// read gives the members of a schema, none for true, false and nothing.
func read(raw json.RawMessage) []member {
	members, _ := readObject(raw)
	return members
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte{'{'}) }

func index(members []member, name string) int {
	return slices.IndexFunc(members, func(m member) bool { return m.name == name })
}

// get gives the value of a member, nil when there is none.
func get(members []member, name string) json.RawMessage {
	if i := index(members, name); i >= 0 {
		return members[i].value
	}
	return nil
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // what is no string has no text
	return s
}

func stringsOf(raw json.RawMessage) []string {
	var list []string
	_ = json.Unmarshal(raw, &list) // what is no list holds no strings
	return list
}
