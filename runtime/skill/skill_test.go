package skill

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/internal/skillrules"
	"github.com/metacue/metacue/runtime/catalog"
)

var update = os.Getenv("UPDATE") != ""

// spell writes a call as meta mode has it.
func spell(t *catalog.Tool, args json.RawMessage) (string, json.RawMessage) {
	return "execute_tool", json.RawMessage(fmt.Sprintf(`{"tool_name":%q,"arguments":%s}`, t.Name, args))
}

func sample(tools int) *catalog.Catalog {
	pr := &catalog.Domain{Name: "pull_requests", Description: "Pull requests"}
	wiki := &catalog.Domain{Name: "wiki", Description: "Wikis"}
	pr.Tools = append(pr.Tools, &catalog.Tool{
		Name: "create_pull_request", Domain: pr.Name, Description: "Opens a pull request | from one branch\ninto another", Effect: catalog.Write,
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"project":{"type":"string","default":"Contoso","description":"Project name or ID"},
			"source":{"type":"string","examples":["refs/heads/a|b"]},
			"status":{"enum":["open","draft"],"default":"open"},
			"labels":{"type":"array","items":{"type":"string"},"description":"Names of labels."}
		},"required":["source"]}`),
		Defaults: json.RawMessage(`{"project":"Contoso"}`),
		Examples: []catalog.Example{{Description: "Put it up for review.", Arguments: json.RawMessage(`{"source":"refs/heads/a"}`)}, {Arguments: json.RawMessage(`{}`)}},
		Returns:  "the number",
	}, &catalog.Tool{Name: "abandon_pull_request", Domain: pr.Name, Description: "Closes it.", Effect: catalog.Destructive, InputSchema: json.RawMessage(`{"type":"object"}`), Sample: json.RawMessage(`{}`)})
	s := catalog.Skill{Name: "ado-pull-requests", Description: "Open \"pull requests\": use it <when> asked: #1 & é", Notes: "- One\n- Two\n", Tools: []string{"create_pull_request", "abandon_pull_request"}}
	for i := range tools {
		t := &catalog.Tool{Name: fmt.Sprintf("get_page_%d", i), Domain: wiki.Name, Description: "Gets a page", Effect: catalog.Read,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer","description":"Of the page"}},"required":["id"]}`), Sample: json.RawMessage(`{"id":7}`)}
		wiki.Tools, s.Tools = append(wiki.Tools, t), append(s.Tools, t.Name)
	}
	return catalog.New(catalog.Catalog{Server: catalog.Server{Name: "azure-devops"}, Domains: []*catalog.Domain{pr, wiki}, Skills: []catalog.Skill{s}})
}

// TestGolden shows whole files: one short skill, and one that has references.
func TestGolden(t *testing.T) {
	for name, n := range map[string]int{"short": 1, "long": 100} {
		c := sample(n)
		var got strings.Builder
		for _, f := range Files(c, c.Skills[0], spell) {
			text := f.Text
			if i := strings.Index(text, "\n## get_page_2\n"); i > 0 {
				text = text[:i] + "\n…\n"
			}
			if i := strings.Index(text, "\n| `get_page_2`"); i > 0 {
				text = text[:i] + "\n…\n"
			}
			fmt.Fprintf(&got, "-- %s --\n%s", f.Path, text)
		}
		file := filepath.Join("testdata", name+".txt")
		if update {
			if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s differs:\n%s\nUPDATE=1 go test rewrites it", file, got.String())
		}
	}
}

// TestRules checks skills against the specification, with a YAML reader that has
// no part in writing them.
func TestRules(t *testing.T) {
	for _, n := range []int{1, 100} {
		c := sample(n)
		files := Files(c, c.Skills[0], spell)
		texts := map[string]string{}
		for _, f := range files {
			texts[f.Path] = f.Text
		}
		for _, fault := range skillrules.Faults(c.Skills[0].Name, texts) {
			t.Error(fault)
		}
		if (len(files) > 1) != (n > 1) {
			t.Errorf("%d tools in %d files", n+2, len(files))
		}
		// Each tool is explained once.
		for _, tool := range c.Skills[0].Tools {
			var found int
			for _, f := range files {
				found += strings.Count(f.Text, "\n## "+tool+"\n")
			}
			if found != 1 {
				t.Errorf("%s is explained %d times", tool, found)
			}
		}
	}
}

// Whatever a skill holds, SKILL.md is within its bounds, and nothing is lost: each tool
// is explained once and the notes stand whole in one file, linked from SKILL.md.
func TestDivided(t *testing.T) {
	words := strings.Fields("a page of the wiki that | says <what> is to `be` done when orders come in for customers of a shop")
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := func(most int) string {
			var all []string
			for range 1 + r.IntN(most) {
				all = append(all, words[r.IntN(len(words))])
			}
			return strings.Join(all, " ")
		}
		c := catalog.Catalog{Server: catalog.Server{Name: "shop"}}
		s := catalog.Skill{Name: "shop", Description: "Work in the shop"}
		domains, most := 1+r.IntN(40), 1+r.IntN(30)
		for i := range domains {
			d := &catalog.Domain{Name: fmt.Sprintf("domain_%d", i), Description: text(60), Summary: text(8)}
			if i == 0 && seed%3 == 0 {
				d.Name = "Notes"
			}
			for j := range 1 + r.IntN(most) {
				tool := &catalog.Tool{Name: fmt.Sprintf("tool_%d_%d", i, j), Domain: d.Name, Description: text(80), InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`)}
				d.Tools, s.Tools = append(d.Tools, tool), append(s.Tools, tool.Name)
			}
			c.Domains = append(c.Domains, d)
		}
		for i := range r.IntN(2) * r.IntN(900) {
			s.Notes += fmt.Sprintf("- %d %s\n", i, text(20))
		}
		texts := map[string]string{}
		files := Files(catalog.New(c), s, spell)
		for _, f := range files {
			if texts[f.Path] != "" || f.Path != files[0].Path && strings.EqualFold(f.Path, files[0].Path) {
				t.Errorf("seed %d: %s is written twice", seed, f.Path)
			}
			texts[f.Path] = f.Text
		}
		for _, fault := range skillrules.Faults(s.Name, texts) {
			t.Errorf("seed %d: %s", seed, fault)
		}
		times := func(part string) (n int) {
			for _, f := range files {
				n += strings.Count(f.Text, part)
			}
			return n
		}
		for _, name := range s.Tools {
			if n := times("\n## " + name + "\n"); n != 1 {
				t.Errorf("seed %d: %s is explained %d times", seed, name, n)
			}
		}
		if n := times("\n" + strings.TrimSpace(s.Notes) + "\n"); s.Notes != "" && n != 1 {
			t.Errorf("seed %d: the notes stand whole %d times", seed, n)
		}
	}
}

// Notes that are too long go to a file of their own while the tools stay.
func TestLongNotes(t *testing.T) {
	c := sample(1)
	c.Skills[0].Notes = strings.Repeat("- A line\n", 700)
	files := Files(c, c.Skills[0], spell)
	if len(files) != 2 || files[1].Path != "ado-pull-requests/references/notes.md" || !strings.Contains(files[0].Text, "\n## create_pull_request\n") {
		t.Errorf("%d files, the last is %s, SKILL.md:\n%s", len(files), files[len(files)-1].Path, files[0].Text)
	}
}

// Files beside those of domains are named as no domain is.
func TestUnused(t *testing.T) {
	for _, c := range []struct {
		domains []string
		want    string
	}{
		{[]string{"orders"}, "README"},
		{[]string{"readme"}, "index"},
		{[]string{"README", "Index"}, "index-2"},
	} {
		var domains []*catalog.Domain
		for _, name := range c.domains {
			domains = append(domains, &catalog.Domain{Name: name})
		}
		if got := Unused([]string{"README", "index"}, domains); got != c.want {
			t.Errorf("%q: %s, want %s", c.domains, got, c.want)
		}
	}
}

// A tool that has no example shows the form of a call, and none where it has no sample.
func TestSample(t *testing.T) {
	for sample, want := range map[string]string{`{"id":7}`: "\nThe form of a call, its values made up:\n\n```\nexecute_tool {\"tool_name\":\"f\",\"arguments\":{\"id\":7}}\n```\n", "": ""} {
		tool := &catalog.Tool{Name: "f", InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`)}
		if sample != "" {
			tool.Sample = json.RawMessage(sample)
		}
		var b strings.Builder
		Tool(&b, tool, "##", spell)
		if got := b.String(); strings.Contains(got, "```") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s", got)
		}
	}
}

// A table stays one whatever an argument is called.
func TestNamesInTables(t *testing.T) {
	tool := &catalog.Tool{Name: "f", InputSchema: json.RawMessage(`{"type":"object","properties":{"a` + "`" + `b|c":{"type":"string"},"d|e":{"type":"string"}},"required":["d|e"]}`)}
	var b strings.Builder
	Tool(&b, tool, "##", spell)
	for _, row := range []string{"\n| ``a`b\\|c`` | `string` |", "\n| `d\\|e` | `string` |"} {
		if !strings.Contains(b.String(), row) {
			t.Errorf("no row %q in\n%s", row, b.String())
		}
	}
}

// What is left of a skill is said as far as a description has room for it.
func TestDescriptionHasRoom(t *testing.T) {
	for _, c := range []struct {
		words, tools int
		want         string
	}{
		{100, 1, ". Here only with tool."},
		{100, 400, ". Here only in part."},
		{1000, 400, ". Here only in part."},
		{1010, 1, "x."},
	} {
		s := catalog.Skill{Name: "s", Description: strings.Repeat("x", c.words), Tools: slices.Repeat([]string{"tool"}, c.tools), Partial: true}
		if got := Description(s); !strings.HasSuffix(got, c.want) || len(got) > maxDescription {
			t.Errorf("%d characters, %d tools: %d characters, …%s", c.words, c.tools, len(got), got[max(0, len(got)-40):])
		}
	}
}
