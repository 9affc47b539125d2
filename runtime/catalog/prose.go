package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// gone takes out of prose what names tools, domains, nouns and actions that are out of
// bounds: what stands in a description of one tool would tell of others.
type gone struct {
	names map[label]bool
	*matcher
}

// goneFrom gives what of before is not in after, and what was gone before that.
func goneFrom(before, after *Catalog) gone {
	names, kept := labels(before), labels(after)
	maps.Copy(names, before.gone.names)
	maps.DeleteFunc(names, func(l label, _ bool) bool { return kept[l] })
	return gone{names, newMatcher(before.Server.Name, names, kept)}
}

// from takes out of a text, which may be Markdown, what names something that is gone.
func (g gone) from(text string) string { return cutter{told: g.told}.cut(text) }

// fromSchema does so in the descriptions and titles of a compact JSON Schema, and takes
// out the examples that are such names. What a value may be is the API's and stays:
// an enum, a constant, a default or the name of a property tells of no tool, and
// without it calls that are right would be refused.
func (g gone) fromSchema(schema json.RawMessage) json.RawMessage {
	if !g.toldInJSON(string(schema)) {
		return schema
	}
	if list, ok := elements(schema); ok { // anyOf, prefixItems
		for i := range list {
			list[i] = g.fromSchema(list[i])
		}
		return write(list)
	}
	all, ok := members(schema)
	if !ok {
		return schema
	}
	var kept []member
	for _, m := range all {
		switch m.name {
		case "enum", "const", "default", "required", "dependentRequired", "pattern":
		case "examples":
			list, _ := elements(m.value)
			list = slices.DeleteFunc(list, g.inData)
			if len(list) == 0 {
				continue
			}
			m.value = write(list)
		case "description", "title":
			var text string
			if json.Unmarshal(m.value, &text) == nil && g.told(text) {
				if text = g.from(text); text == "" {
					continue
				}
				m.value = write(text)
			}
		case "properties", "patternProperties", "$defs", "dependentSchemas":
			named, _ := members(m.value)
			for i := range named {
				named[i].value = g.fromSchema(named[i].value)
			}
			m.value = writeMembers(named)
		default:
			m.value = g.fromSchema(m.value)
		}
		kept = append(kept, m)
	}
	return writeMembers(kept)
}

// inData says whether a value in JSON holds such a name, in quotes as its strings are.
// The names of its members are those of arguments.
func (g gone) inData(value json.RawMessage) bool {
	if list, ok := elements(value); ok {
		return slices.ContainsFunc(list, g.inData)
	}
	if all, ok := members(value); ok {
		return slices.ContainsFunc(all, func(m member) bool { return g.inData(m.value) })
	}
	var text string
	return json.Unmarshal(value, &text) == nil && g.told(`"`+text+`"`)
}

// toldInJSON says whether any string in JSON may tell such a name.
func (g gone) toldInJSON(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end, escaped := i+1, false
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				escaped = true
				end++
			}
			end++
		}
		if end >= len(text) {
			return false
		}
		s := text[i+1 : end]
		if escaped && json.Unmarshal([]byte(text[i:end+1]), &s) != nil {
			return false
		}
		if g.told(`"` + s + `"`) {
			return true
		}
		i = end
	}
	return false
}

// fromTool gives the tool without what names something that is gone: itself, where
// there is nothing. Of its examples those go whose arguments do, and so does its sample.
func (g gone) fromTool(t *Tool) *Tool {
	if len(g.names) == 0 {
		return t
	}
	in := *t
	in.Title, in.Returns, in.Deprecated = g.from(t.Title), g.from(t.Returns), g.from(t.Deprecated)
	own := strings.TrimSuffix(t.Description, Deprecation(t.Deprecated))
	if in.Description = own; own != "" {
		in.Description = cmp.Or(g.from(own), in.Title, inWords(t.Name))
	}
	if own != t.Description {
		in.Description += Deprecation(in.Deprecated)
	}
	in.InputSchema, in.OutputSchema = g.fromSchema(t.InputSchema), g.fromSchema(t.OutputSchema)
	same := in.Title == t.Title && in.Description == t.Description && in.Returns == t.Returns &&
		bytes.Equal(in.InputSchema, t.InputSchema) && bytes.Equal(in.OutputSchema, t.OutputSchema)
	in.Examples = nil
	for _, x := range t.Examples {
		description := g.from(x.Description)
		if g.inData(x.Arguments) {
			same = false
			continue
		}
		same = same && description == x.Description
		in.Examples = append(in.Examples, Example{description, x.Arguments})
	}
	if g.inData(t.Sample) {
		same, in.Sample = false, nil
	}
	if same {
		return t
	}
	return &in
}

// inWords is a name as a phrase: Get order.
func inWords(name string) string {
	text := strings.ReplaceAll(spaced(name), "_", " ")
	first := min(1, len(text))
	return strings.ToUpper(text[:first]) + text[first:]
}

// member is one of a JSON object, whose order is kept.
type member struct {
	name  string
	value json.RawMessage
}

// members reads a JSON object; false says that it is none.
func members(value json.RawMessage) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(value))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	var all []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		m := member{name: name.(string)} // the names of members are strings
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}

// elements reads a JSON array; false says that it is none.
func elements(value json.RawMessage) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	ok := strings.HasPrefix(string(value), "[") && json.Unmarshal(value, &list) == nil
	return list, ok
}

func writeMembers(all []member) json.RawMessage {
	var b bytes.Buffer
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(write(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	return json.RawMessage("{" + b.String() + "}")
}

// write writes what can always be written in JSON, with the characters of HTML as
// they are.
func write(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}
