package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"strings"
)

// gone takes sentences out of prose that name tools which are out of bounds: what
// stands in a description of one tool would tell of others.
type gone struct{ names map[string]bool }

// goneFrom gives the names of the tools of before that are not in after.
func goneFrom(before, after *Catalog) gone {
	g := gone{map[string]bool{}}
	for name := range before.byName {
		if after.byName[name] == nil {
			g.names[name] = true
		}
	}
	return g
}

// and is what either took away.
func (g gone) and(more gone) gone {
	all := gone{maps.Clone(more.names)}
	maps.Copy(all.names, g.names)
	return all
}

// names finds what may be the name of a tool in prose, with the quotes around it.
var names = regexp.MustCompile("[`\"']?[A-Za-z0-9_][A-Za-z0-9_.-]*[`\"']?")

// capitalInside finds names such as listPages and listIDs.
var capitalInside = regexp.MustCompile(`[a-z].*[A-Z]|[A-Z][A-Z]+[a-z]`)

// named says whether a text names a tool that is gone. A name that is a common
// word, of letters alone and with no capital inside, counts in quotes only.
func (g gone) named(text string) bool {
	for _, word := range names.FindAllString(text, -1) {
		bare := strings.Trim(word, "`\"'")
		for _, name := range []string{bare, strings.TrimRight(bare, ".-")} {
			plain := !strings.ContainsAny(name, "_.-0123456789") && !capitalInside.MatchString(name)
			if g.names[name] && (!plain || word != bare && strings.ContainsAny(word[:1], "`\"'")) {
				return true
			}
		}
	}
	return false
}

// bullet begins an item of a list in Markdown.
var bullet = regexp.MustCompile(`^\s*([-*+]|\d+[.)])\s`)

// from takes out of a text the sentences that name what is gone, and of a list the
// items: half an item says nothing, or something else. Of a line of which nothing is
// left nothing stays.
func (g gone) from(text string) string {
	if len(g.names) == 0 || !g.named(text) {
		return text
	}
	all := strings.Split(text, "\n")
	var lines []string
	for i := 0; i < len(all); i++ {
		line := all[i]
		if bullet.MatchString(line) {
			end := i + 1
			for end < len(all) && strings.TrimSpace(all[end]) != "" && !bullet.MatchString(all[end]) {
				end++
			}
			if !g.named(strings.Join(all[i:end], "\n")) {
				lines = append(lines, all[i:end]...)
			}
			i = end - 1
			continue
		}
		if !g.named(line) {
			lines = append(lines, line)
			continue
		}
		var kept strings.Builder
		for _, s := range sentences(line) {
			if !g.named(s) {
				kept.WriteString(s)
			}
		}
		if rest := strings.TrimRight(kept.String(), " \t"); strings.Trim(rest, "-*#> \t0123456789.") != "" {
			lines = append(lines, finished(rest, line))
		}
	}
	return strings.Join(lines, "\n")
}

// sentences splits a line; joined they are the line.
func sentences(line string) []string {
	var all []string
	for line != "" {
		end := len(line)
		if m := full.FindStringIndex(line); m != nil {
			end = m[1]
		}
		all, line = append(all, line[:end]), line[end:]
	}
	return all
}

// full finds the end of a sentence, or of a part that can stand without the rest.
var full = regexp.MustCompile(`[.!?;]+["')]*\s+`)

// finished ends what is left of a line as the line itself ended.
func finished(rest, line string) string {
	if strings.HasSuffix(rest, ";") {
		rest = strings.TrimSuffix(rest, ";")
		if last := strings.TrimRight(line, " \t"); strings.HasSuffix(last, ".") {
			rest += "."
		}
	}
	return rest
}

// described finds descriptions in a JSON Schema.
var described = regexp.MustCompile(`,?"description":("(?:[^"\\]|\\.)*")`)

// fromSchema does so in the descriptions of a compact JSON Schema.
func (g gone) fromSchema(schema json.RawMessage) json.RawMessage {
	if len(g.names) == 0 || !g.named(string(schema)) {
		return schema
	}
	return described.ReplaceAllFunc(schema, func(member []byte) []byte {
		m := described.FindSubmatch(member)
		var text string
		if json.Unmarshal(m[1], &text) != nil || !g.named(text) {
			return member
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(g.from(text)) // text is always JSON
		return bytes.Replace(member, m[1], bytes.TrimSpace(b.Bytes()), 1)
	})
}

// fromTool gives the tool without such sentences: itself, where it has none.
func (g gone) fromTool(t *Tool) *Tool {
	if len(g.names) == 0 {
		return t
	}
	in := *t
	in.Title, in.Description, in.Returns = g.from(t.Title), g.from(t.Description), g.from(t.Returns)
	in.InputSchema, in.OutputSchema = g.fromSchema(t.InputSchema), g.fromSchema(t.OutputSchema)
	same := in.Title == t.Title && in.Description == t.Description && in.Returns == t.Returns &&
		bytes.Equal(in.InputSchema, t.InputSchema) && bytes.Equal(in.OutputSchema, t.OutputSchema)
	in.Examples = nil
	for _, x := range t.Examples {
		description := g.from(x.Description)
		same = same && description == x.Description
		in.Examples = append(in.Examples, Example{description, x.Arguments})
	}
	if same {
		return t
	}
	return &in
}
