// Package skill writes the skills of a catalog: for each a folder in the format of
// Agent Skills (https://agentskills.io/specification), from which an agent learns
// how to call its tools without asking for lists and schemas first. It knows the
// catalog alone; how a call is written in a mode is the surface's.
package skill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/signature"
	"github.com/metacue/metacue/runtime/tokens"
)

// A SKILL.md is divided until it is above neither of these, the bounds that the
// specification recommends: its tools go to files of their own, one a domain, in the
// folder references, then its notes.
const (
	MaxLines  = 500
	MaxTokens = 5000
)

// References is the folder, in that of a skill, for what is too long for SKILL.md.
const References = "references"

// Mark is in every file that is written here for a server: a file without it is
// someone else's. A folder may hold the skills of several servers, and the export of
// one takes away no other's.
func Mark(server string) string {
	return "<!-- Written by metacue export skill from the configuration of " + server + ": edit that, and export again. -->"
}

// File is one file of a skill.
type File struct {
	// Path begins with the skill's name and has slashes: NAME/SKILL.md.
	Path string
	Text string
}

// Spell says how a call of a tool is written: the name that is called and its
// arguments.
type Spell func(t *catalog.Tool, args json.RawMessage) (name string, arguments json.RawMessage)

// Files writes a skill: SKILL.md first. Its tools must be in the catalog. Of the ways
// to divide it the first is taken that brings SKILL.md within its bounds: tools leave it
// before notes do, and the more is told of them there the better.
func Files(c *catalog.Catalog, s catalog.Skill, spell Spell) []File {
	w := &writer{catalog: c, spell: spell}
	for _, name := range s.Tools {
		if t, ok := c.Tool(name); ok && !slices.Contains(w.tools, t) {
			w.tools = append(w.tools, t)
		}
	}
	notes := strings.TrimSpace(s.Notes)
	text, notesApart, toolsApart := w.divide(w.front(s)+w.head(s), notes)
	files := []File{{s.Name + "/SKILL.md", text}}
	if notesApart {
		files = append(files, File{s.Name + "/" + w.notesFile(), Mark(c.Server.Name) + "\n\n# Notes\n\n" + notes + "\n"})
	}
	if toolsApart {
		for _, d := range w.domains() {
			files = append(files, File{s.Name + "/" + reference(d), Mark(c.Server.Name) + "\n\n# " + Line(d.Description) + "\n" + w.sections(w.of(d), "##")})
		}
	}
	return files
}

// divide gives the text of SKILL.md, and says whether notes and tools are in files of
// their own.
func (w *writer) divide(head, notes string) (text string, notesApart, toolsApart bool) {
	whole := w.sections(w.tools, "##")
	ways := []func() string{func() string { return whole }, w.contents, w.names, w.summaries}
	told := []string{section(notes)}
	if notes != "" {
		told = append(told, section("Read ["+w.notesFile()+"]("+w.notesFile()+") first."))
	}
	for i, notes := range told {
		for j, tools := range ways {
			text, notesApart, toolsApart = head+notes+tools(), i > 0, j > 0
			if strings.Count(text, "\n") <= MaxLines && tokens.Count(text) <= MaxTokens {
				return text, notesApart, toolsApart
			}
		}
	}
	return text, notesApart, toolsApart
}

// section is the section of notes, nothing where there are none.
func section(notes string) string {
	if notes == "" {
		return ""
	}
	return "\n## Notes\n\n" + notes + "\n"
}

// notesFile is where notes go that SKILL.md has no room for.
func (w *writer) notesFile() string {
	return References + "/" + Unused([]string{"notes"}, w.catalog.Domains) + ".md"
}

// Unused gives a name for a file beside those that are named after domains: the first
// of names that no domain has, whatever its case, since some file systems take no
// account of it, or else the last with a number.
func Unused(names []string, domains []*catalog.Domain) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(domains, func(d *catalog.Domain) bool { return strings.EqualFold(d.Name, name) })
	}
	for _, name := range names {
		if !taken(name) {
			return name
		}
	}
	for i := 2; ; i++ {
		if name := fmt.Sprintf("%s-%d", names[len(names)-1], i); !taken(name) {
			return name
		}
	}
}

type writer struct {
	catalog *catalog.Catalog
	spell   Spell
	tools   []*catalog.Tool // of the skill, as it names them
}

// front is the front matter. JSON strings are YAML (YAML 1.2, section 1.3).
func (w *writer) front(s catalog.Skill) string {
	return "---\nname: " + s.Name + "\ndescription: " + quoted(Description(s)) + "\n---\n\n" + Mark(w.catalog.Server.Name) + "\n\n"
}

// maxDescription is the longest description, in characters, that the
// specification allows.
const maxDescription = 1024

// Description is what is told of a skill before it is read. Of one that bounds took
// tools from it says what is left, as far as there is room: its own words promise
// the rest.
func Description(s catalog.Skill) string {
	text := strings.TrimSuffix(Line(s.Description), ".") + "."
	if !s.Partial {
		return Line(s.Description)
	}
	left := " Here only with " + strings.Join(s.Tools, ", ") + "."
	if room := maxDescription - len(text); len(left) > room {
		left = " Here only in part."
	}
	if len(text)+len(left) > maxDescription {
		return text
	}
	return text + left
}

func (w *writer) head(s catalog.Skill) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nThe tools are those of the MCP server `%s`. Each example is a whole call; no tool needs to be listed or described first.\n", s.Name, w.catalog.Server.Name)
	if defaults := w.defaults(); defaults != "" {
		b.WriteString("\nThe server fills in what is left out: " + defaults + ".\n")
	}
	return b.String()
}

// defaults are the server-level values that apply to some tool of the skill.
func (w *writer) defaults() string {
	var all []string
	for _, t := range w.tools {
		for _, a := range signature.Arguments(t.InputSchema) {
			if text := code(a.Name) + " = " + code(string(a.Default)); holds(t.Defaults, a.Name) && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return strings.Join(all, ", ")
}

// holds says whether a JSON object has a member.
func holds(object json.RawMessage, name string) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(object, &members) == nil && members[name] != nil
}

// contents lists the tools and the files that explain them.
func (w *writer) contents() string {
	var b strings.Builder
	b.WriteString(toolsHeading + "| Tool | | File |\n| --- | --- | --- |\n")
	for _, d := range w.domains() {
		for _, t := range w.of(d) {
			fmt.Fprintf(&b, "| `%s` | %s | [%s](%s) |\n", t.Name, cell(t.Description), reference(d), reference(d))
		}
	}
	return b.String()
}

const toolsHeading = "\n## Tools\n\nRead the file of a tool before its first call.\n\n"

// names lists the files with the names of the tools that each explains.
func (w *writer) names() string {
	var b strings.Builder
	b.WriteString(toolsHeading)
	for _, d := range w.domains() {
		var names []string
		for _, t := range w.of(d) {
			names = append(names, "`"+t.Name+"`")
		}
		fmt.Fprintf(&b, "- [%s](%s), %s: %s\n", reference(d), reference(d), strings.TrimSuffix(Line(d.Summary), "."), strings.Join(names, ", "))
	}
	return b.String()
}

// summaries lists the files with what the domains are about.
func (w *writer) summaries() string {
	var b strings.Builder
	b.WriteString(toolsHeading)
	for _, d := range w.domains() {
		fmt.Fprintf(&b, "- [%s](%s): %s\n", reference(d), reference(d), strings.TrimSuffix(Line(d.Summary), "."))
	}
	return b.String()
}

// domains are those of the skill's tools, as the catalog has them.
func (w *writer) domains() []*catalog.Domain {
	return slices.DeleteFunc(slices.Clone(w.catalog.Domains), func(d *catalog.Domain) bool { return len(w.of(d)) == 0 })
}

func (w *writer) of(d *catalog.Domain) []*catalog.Tool {
	return slices.DeleteFunc(slices.Clone(w.tools), func(t *catalog.Tool) bool { return t.Domain != d.Name })
}

func reference(d *catalog.Domain) string { return References + "/" + d.Name + ".md" }

func (w *writer) sections(tools []*catalog.Tool, heading string) string {
	var b strings.Builder
	for _, t := range tools {
		Tool(&b, t, heading, w.spell)
	}
	return b.String()
}

// effects say what a tool can do, where that is not only to read.
var effects = map[catalog.Effect]string{
	catalog.Write:       " It changes something.",
	catalog.Destructive: " It destroys something, or cannot be taken back.",
}

// Tool writes the section of one tool: what it does, its arguments, and one call.
func Tool(b *strings.Builder, t *catalog.Tool, heading string, spell Spell) {
	fmt.Fprintf(b, "\n%s %s\n\n%s%s\n", heading, t.Name, sentence(t.Description), effects[t.Effect])
	var required, optional []signature.Argument
	for _, a := range signature.Arguments(t.InputSchema) {
		if a.Required {
			required = append(required, a)
		} else {
			optional = append(optional, a)
		}
	}
	if len(required) > 0 {
		b.WriteString("\n| Required | Type | |\n| --- | --- | --- |\n")
		for _, a := range required {
			fmt.Fprintf(b, "| %s | %s | %s |\n", code(a.Name), kind(a), about(a))
		}
	}
	if len(optional) > 0 {
		b.WriteString("\n| Optional | Type | Default | |\n| --- | --- | --- | --- |\n")
		for _, a := range optional {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(a.Name), kind(a), code(string(a.Default)), about(a))
		}
	}
	if x, ok := example(t, required); ok {
		name, arguments := spell(t, x.Arguments)
		fmt.Fprintf(b, "\n%s:\n\n```\n%s %s\n```\n", strings.TrimSuffix(orElse(Line(x.Description), "For example"), "."), name, arguments)
	}
	if t.Returns != "" {
		fmt.Fprintf(b, "\nIt answers %s.\n", strings.TrimSuffix(Line(t.Returns), "."))
	}
}

// example gives a whole call: the tool's first example, or else its sample. Where a
// required argument has no example value, that shows the form alone, and says so.
func example(t *catalog.Tool, required []signature.Argument) (x catalog.Example, ok bool) {
	if len(t.Examples) > 0 {
		return t.Examples[0], true
	}
	if slices.ContainsFunc(required, func(a signature.Argument) bool { return len(a.Examples) == 0 }) {
		x.Description = "The form of a call, its values made up"
	}
	x.Arguments = t.Sample
	return x, t.Sample != nil
}

// kind is the type of an argument and what limits it.
func kind(a signature.Argument) string {
	if a.Limits == "" {
		return code(a.Type)
	}
	return code(a.Type) + " " + strings.ReplaceAll(Line(a.Limits), "|", `\|`)
}

// about is what a table says of an argument: its description, or an example.
func about(a signature.Argument) string {
	text := cell(a.Description)
	if len(a.Examples) > 0 {
		if text != "" {
			text = strings.TrimSuffix(text, ".") + "; "
		}
		text += "such as " + code(string(a.Examples[0]))
	}
	return text
}

// code writes a text as code in a cell of a table; "" stays empty.
func code(text string) string {
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if fence != "`" {
		text = " " + text + " " // CommonMark 0.31, section 6.1
	}
	return fence + strings.ReplaceAll(Line(text), "|", `\|`) + fence
}

// cell writes a text in a cell of a table.
func cell(text string) string { return strings.ReplaceAll(Line(text), "|", `\|`) }

// Line makes one line of a text.
func Line(text string) string { return strings.Join(strings.Fields(text), " ") }

// sentence ends a text as a sentence.
func sentence(text string) string {
	text = Line(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:;") {
		return text
	}
	return text + "."
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// quoted is a text as a JSON string in which characters of HTML stay themselves.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(Line(text)) // text is always JSON
	return strings.TrimSuffix(b.String(), "\n")
}
