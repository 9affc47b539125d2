package catalog

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestProse shows what becomes of text that names tools out of bounds.
func TestProse(t *testing.T) {
	g := gone{map[string]bool{"get_page": true, "search": true, "wiki-get": true, "a.b": true, "listPages": true, "Search": true, "HTTPGet": true}}
	for text, want := range map[string]string{
		"Nothing of it":                                 "Nothing of it",
		"Finds items; get_page then reads them":         "Finds items",
		"Finds items. `get_page` reads them. Both read": "Finds items. Both read",
		"Go on. Then listPages, listpages, ListPages":   "Go on.",
		"Only search. Go on":                            "Only search. Go on",
		"HTTPGet it. Or not":                            "Or not",
		"Use get_page.":                                 "",
		"Search for things":                             "Search for things",
		"Call `search` first. Then go on.":              "Then go on.",
		"get_pages and my_get_page are other":           "get_pages and my_get_page are other",
		"- One. One\n- Yes. With \"wiki-get\" only.\n- Two, then a.b.\n\nThree": "- One. One\n\nThree",
		"1. First do this. Then get_page.\n2. Second":                           "2. Second",
		"- First do this,\n  then get_page.\n- Second,\n  and so on.":           "- Second,\n  and so on.",
		"First do this; then get_page.\nSecond":                                 "First do this.\nSecond",
		"Say 'a.b'! Or not.":                                                    "Or not.",
	} {
		if got := g.from(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	const schema = `{"type":"object","properties":{"description":{"type":"string","description":"An \"ID\"; from get_page"},"get_page":{"description":"get_page"}}}`
	const want = `{"type":"object","properties":{"description":{"type":"string","description":"An \"ID\""},"get_page":{"description":""}}}`
	if got := string(g.fromSchema(json.RawMessage(schema))); got != want {
		t.Errorf("schema:\n got %s\nwant %s", got, want)
	}
}

// TestWithinProse looks for the names of tools out of bounds in everything that is
// left of a catalog.
func TestWithinProse(t *testing.T) {
	c := sample()
	text := "Do this. Then delete_project or core_list_projects, or create_page."
	c.Server.Instructions = text
	for _, d := range c.Domains {
		d.Description, d.Summary = text, text
		for _, tool := range d.Tools {
			tool.Title, tool.Description, tool.Returns = text, text, text
			tool.InputSchema = json.RawMessage(`{"description":"` + text + `"}`)
			tool.OutputSchema = tool.InputSchema
			tool.Examples = []Example{{Description: text, Arguments: json.RawMessage(`{}`)}}
		}
	}
	for i := range c.Skills {
		c.Skills[i].Description, c.Skills[i].Notes = text, text
	}
	for _, b := range []Bounds{{ReadOnly: true}, {Domains: []string{"wiki"}}, {Exclude: []string{"list_projects"}}} {
		in := c.Within(b)
		said, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range c.Tools() {
			for _, name := range append([]string{tool.Name}, tool.Aliases...) {
				if _, ok := in.Tool(name); !ok && strings.Contains(string(said), name) {
					t.Errorf("%+v: %s is told in %s", b, name, said)
				}
			}
		}
		if !strings.Contains(string(said), "Do this.") {
			t.Errorf("%+v: what names no tool is lost", b)
		}
	}
	if got := c.Within(Bounds{}).Server.Instructions; got != text {
		t.Errorf("without bounds the text is %q", got)
	}
}
