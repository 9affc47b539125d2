package catalog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// without is what bounds leave of tools of which some are gone.
func without(kept string, names ...string) gone {
	all, in := map[label]bool{}, map[label]bool{}
	for _, n := range names {
		what, name, ok := strings.Cut(n, ":")
		if !ok {
			what, name = "tool", n
		}
		all[label{what, name}] = true
	}
	for _, n := range strings.Fields(kept) {
		in[label{"tool", n}] = true
	}
	return gone{all, newMatcher("shop", all, in)}
}

// TestProse shows what becomes of text that names tools out of bounds.
func TestProse(t *testing.T) {
	g := without("", "get_page", "search", "wiki-get", "a.b", "listPages", "Search", "HTTPGet")
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
		"get_paged and getPageList are other":           "get_paged and getPageList are other",
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
	const want = `{"type":"object","properties":{"description":{"type":"string","description":"An \"ID\""},"get_page":{}}}`
	if got := string(g.fromSchema(json.RawMessage(schema))); got != want {
		t.Errorf("schema:\n got %s\nwant %s", got, want)
	}
}

// TestNames holds the forms that a name takes in prose against words that are none.
func TestNames(t *testing.T) {
	g := without("list_purge_logs get_user setup search.v2",
		"secret_purge", "purge", "purgeAll", "search", "list", "log_in", "set_up", "purge_logs", "get_user_name", "s3",
		"domain:hidden-stuff", "domain:core", "domain:work", "noun:things", "action:nuke")
	told := []string{
		"secret_purge", "call mcp__shop__secret_purge here", "mcp_shop_secret_purge", "_secret_purge_ is bad", "**secret_purge**",
		"secret_purge-like calls", "tools/secret_purge.md", "SECRET_PURGE is loud", "secretPurge in camel", "SecretPurge too",
		`secret\_purge escaped`, "secret-purge", "secret_*", `secret\_\*`, "mcp__shop__secret_*", "https://x/y?tool=secret_purge", "secret_purge's way",
		"(secret_purge)", "use the tool purge", "purge(confirm)", `purge {"confirm":true}`, "`purge`", "`purge --all`", `{"tool_name":"purge"}`, `{\"tool_name\":\"purge\"}`,
		"“purge”", "the purge tool", "tool: purge", "tool_name=purge", "the tool *purge*", "call purge.", "Call **purge** first", "Use purge to empty it", "calling purge, it",
		"the tools purge and list_purge_logs", "mcp__shop__purge", "mcp__other__purge", "shop_purge", "shop.purge", "purgeAll", "PurgeAll", "`purgeall`",
		"secret_purges", "secret_\npurge", "secret\u2011purge", "secret _ purge", "`secret purge`", "Secret Purge", "secret/purge", "secret:purge",
		"secret&lowbar;purge", "secret&#95;purge", "secret%5Fpurge", "secret_\u200bpurge", "secret\u2014purge", "\uff53ecret_purge", "see Secret\nPurge there",
		"my_secret_purge", "log_in", "logIn", "`login`", "set_up", "get_user_name", "purge_logs", "S3 or s3", "Use search to list", "`search`", `call "search"`,
		"hidden-stuff", "hidden_stuff", "hiddenStuff", "the domain core", "the core domain", `"domain":"core"`, "domain=work", "`work`", "mcp__shop__things", "the noun things", "the action nuke",
	}
	untold := []string{
		"", "secret", "secret purge", "secretpurging", "my secrets_purge", "mysecret_purge", "secret_purged", "list_purge_logs", "`list_purge_logs`", "mcp__shop__list_purge_logs",
		"purge all of it with purge", "Purge it", "Use the search to list", "Use search terms to find things", "The list is long", "list(s)", "search(es)",
		"A list, or a search.", "Lists and searches", "Call the list function", "tools list what they do", "Login and setup", "setup", "set up", "log in",
		"get_user", "get_*", "list_*", "search.v2", "__list__", "**list**", "S3", "Core work on hidden stuff", "the work of the core team", "use work in core", "things", "Nuke things", "work(s)",
		"_secret_ purge", "secret - purge", "secret. Purge", "Secret purge", "`secret purge all`", "Get User", "List Purge Logs", "Hidden Stuff", "20% secret",
		"*Secret.*", "**Purge.** Then", "search-engine", "A to-do list_of",
	}
	for _, text := range told {
		if !g.told(text) {
			t.Errorf("not told: %s", text)
		}
	}
	for _, text := range untold {
		if g.told(text) {
			t.Errorf("told: %s", text)
		}
	}
	if g := without("purge", "domain:purge"); g.told("`purge`") {
		t.Error("a name that is in bounds is told")
	}
}

// TestBlocks shows what goes with a name in Markdown.
func TestBlocks(t *testing.T) {
	g := without("", "secret_purge", "purge")
	for name, tt := range map[string]struct{ text, want string }{
		"a heading with its section": {
			"# One\n\nFirst.\n\n## secret_purge\n\nBody.\n\n### Below\n\nMore.\n\n## Two\n\nSecond.\n",
			"# One\n\nFirst.\n\n## Two\n\nSecond.\n"},
		"a heading underlined":               {"First.\n\nsecret_purge\n============\n\nBody.\n\nTwo\n===\nSecond.", "First.\n\nTwo\n===\nSecond."},
		"a heading with nothing left":        {"## How\n\nCall secret_purge.\n\n## Two\n\nSecond.", "## Two\n\nSecond."},
		"a heading without a body":           {"## How\n\n## secret_purge\n\n## Two", "## How\n\n## Two"},
		"a rule below a sentence":            {"Call secret_purge. Or not.\n---\nSecond.", "Or not.\n---\nSecond."},
		"code":                               {"First.\n\n```json\n{\"a\": 1}\n\n{\"tool_name\":\"secret_purge\"}\n```\n\nSecond.", "First.\n\nSecond."},
		"code between tildes":                {"First.\n~~~~\n```\nsecret_purge\n~~~\n~~~~\nSecond.", "First.\nSecond."},
		"code that is announced":             {"First. Call it so:\n\n```\nsecret_purge\n```\n\nSecond.", "First.\n\nSecond."},
		"code that is not closed":            {"First.\n\n```\nsecret_purge\n", "First.\n"},
		"code that is indented":              {"First.\n\n    a = 1\n\n    secret_purge\n\nSecond.", "First.\n\nSecond."},
		"a quote":                            {"First.\n\n> Call secret_purge.\n> More.\n\nSecond.", "First.\n\nSecond."},
		"a comment":                          {"First.\n<!-- Not\n\nsecret_purge -->\nSecond.", "First.\nSecond."},
		"a row":                              {"| a | b |\n| - | - |\n| x | secret_purge |\n| y | z |\n", "| a | b |\n| - | - |\n| y | z |\n"},
		"a table of one row":                 {"First:\n\n| a | b |\n| - | - |\n| x | secret_purge |\n\nSecond.", "Second."},
		"a table by its header":              {"| a | `purge` |\n| - | - |\n| x | y |\n\nSecond.", "Second."},
		"an item":                            {"1. first\n   secret_purge\n2. second", "2. second"},
		"an item of several paragraphs":      {"- first\n\n  Call secret_purge.\n\n- second\n\nThird.", "- first\n\n- second\n\nThird."},
		"an item within an item":             {"- first\n  - secret_purge\n  - one\n- second", "- first\n  - one\n- second"},
		"an item with those within it":       {"- secret_purge\n  - one\n- second", "- second"},
		"an item that announces items":       {"- These:\n  - secret_purge\n- second", "- second"},
		"code within an item":                {"- first:\n\n  ```\n  secret_purge\n  ```\n- second", "- second"},
		"a wrapped sentence":                 {"First. Then call\n`secret_purge` with care. Second,\nand so on.", "First. Second,\nand so on."},
		"lines that are sentences":           {"Use one\nUse secret_purge\nUse two", "Use one\nUse two"},
		"brackets":                           {"First (one. Then secret_purge.) and so on. Second.", "First and so on. Second."},
		"bold":                               {"**One. Or secret_purge.** Second.", "Second."},
		"bold of one sentence":               {"**Call secret_purge.** Second.", "Second."},
		"an abbreviation":                    {"Use a tool, e.g. secret_purge. Second.", "Use a tool. Second."},
		"what is between two full ones":      {"One; secret_purge; two.", "One; two."},
		"what comes to stand together":       {"the tool\n```\nsecret_purge\n```\npurge is here. Second.", "Second."},
		"nothing but the name":               {"secret_purge", ""},
		"an aside":                           {"Gets it (secret_purge ends (all of) it). Second.", "Gets it. Second."},
		"one aside of two":                   {"Gets it (whole) as it is (secret_purge ends it) now. Second.", "Gets it (whole) as it is now. Second."},
		"an aside in an item":                {"- first (not secret_purge)\n- second", "- first\n- second"},
		"arguments in brackets":              {"Call x(secret_purge). Second.", "Second."},
		"the last part of a sentence":        {"Gets an order, which secret_purge ends. Second.", "Gets an order. Second."},
		"what is behind a dash":              {"Gets an order - not as secret_purge", "Gets an order"},
		"a condition":                        {"If it fails, call secret_purge. Second.", "Second."},
		"the first part of a sentence":       {"Like secret_purge, it ends orders. Second.", "Second."},
		"blank lines around it":              {"\nsecret_purge\n\n", ""},
		"what the sentence before ends with": {"Finds items; secret_purge ends them. Second.", "Finds items. Second."},
	} {
		if got := g.from(tt.text); got != tt.want {
			t.Errorf("%s: of %q is left %q, want %q", name, tt.text, got, tt.want)
		}
	}
}

// TestSchemaExamples shows that values which the API takes stay, and examples go.
func TestSchemaExamples(t *testing.T) {
	g := without("", "secret_purge", "purge")
	for schema, want := range map[string]string{
		`{"enum":["a","secret_purge"],"examples":["secret_purge"]}`:                                  `{"enum":["a","secret_purge"]}`,
		`{"examples":["a",{"by":["secret_purge"]},"purge"],"default":"secret_purge"}`:                `{"examples":["a"],"default":"secret_purge"}`,
		`{"properties":{"examples":{"description":"\nsecret_purge. <b> & more"},"secret_purge":{}}}`: `{"properties":{"examples":{"description":"\n<b> & more"},"secret_purge":{}}}`,
		`{"anyOf":[{"description":"Of secret_purge"},true],"items":{"title":"secret_purge"}}`:        `{"anyOf":[{},true],"items":{}}`,
		`{"default":{"description":"secret_purge"},"description":"a \u003c secret_purge"}`:           `{"default":{"description":"secret_purge"}}`,
		`{"description":"a < b"}`: `{"description":"a < b"}`,
	} {
		if got := string(g.fromSchema(json.RawMessage(schema))); got != want {
			t.Errorf("of %s is left %s, want %s", schema, got, want)
		}
	}
	tool := &Tool{Examples: []Example{
		{"First", json.RawMessage(`{"by":"secret_purge"}`)},
		{"Second", json.RawMessage(`{"secret_purge":{"to":["a purge"]}}`)},
	}}
	for tool, want := range map[*Tool]string{
		{Name: "get_order", Description: "As secret_purge"}:                                                                               "Get order",
		{Name: "get_order", Description: "As secret_purge", Title: "An order"}:                                                            "An order",
		{Name: "get_order", Description: "Gets (deprecated: use secret_purge in its place)", Deprecated: "use secret_purge in its place"}: "Gets (deprecated)",
		{Name: "get_order", Description: "As secret_purge (deprecated: old)", Deprecated: "old"}:                                          "Get order (deprecated: old)",
		{Name: "get_order"}: "",
	} {
		if got := g.fromTool(tool).Description; got != want {
			t.Errorf("of %q is left %q, want %q", tool.Description, got, want)
		}
	}
	for sample, kept := range map[string]bool{`{"kind":"a"}`: true, `{"kind":"secret_purge"}`: false} {
		x := &Tool{Sample: json.RawMessage(sample)}
		if got := g.fromTool(x).Sample; (got != nil) != kept || x.Sample == nil {
			t.Errorf("the sample %s became %s", sample, got)
		}
	}
	if got := g.fromTool(tool).Examples; len(got) != 1 || got[0].Description != "Second" {
		t.Errorf("examples are left: %+v", got)
	}
}

// FuzzCut cuts a name out of whatever may be Markdown.
func FuzzCut(f *testing.F) {
	for _, s := range []string{
		"# a\n\nsecret_purge\n===\n\n- b\n  - secret_purge: c\n\n  d\n", "```\nsecret_purge\n```\n> secret_purge\n\n| a |\n| - |\n| `purge` |",
		"a (b. c; secretPurge.) d:\n\n    SECRET_PURGE\n\n<!-- x\n-->", "use the tool\n- x\npurge", "\t1. secret\\_purge\n\t\t~~~\n", "a\n--\n`purge`", "\n \nfoo\r\n",
	} {
		f.Add(s)
	}
	g := without("list_purge_logs", "secret_purge", "purge")
	told := regexp.MustCompile("(?i)(^|[^a-z0-9])secret[_.-]purge($|[^a-z0-9])|`purge`")
	f.Fuzz(func(t *testing.T, text string) {
		left := g.from(text)
		if !g.told(text) && left != text {
			t.Errorf("%q names nothing and became %q", text, left)
		}
		if told.MatchString(left) {
			t.Errorf("of %q is left %q", text, left)
		}
		if again := g.from(left); again != left {
			t.Errorf("of %q is left %q, and of that %q", text, left, again)
		}
		all, joined := strings.Split(text, "\n"), []string{}
		for _, b := range blocksOf(all, 0) {
			joined = append(joined, b.lines...)
		}
		if !slices.Equal(joined, all) {
			t.Errorf("the blocks of %q have the lines %q", text, joined)
		}
	})
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
