package skill

import (
	"encoding/json"
	"fmt"
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
	}, &catalog.Tool{Name: "abandon_pull_request", Domain: pr.Name, Description: "Closes it.", Effect: catalog.Destructive, InputSchema: json.RawMessage(`{"type":"object"}`)})
	s := catalog.Skill{Name: "ado-pull-requests", Description: "Open \"pull requests\": use it <when> asked: #1 & é", Notes: "- One\n- Two\n", Tools: []string{"create_pull_request", "abandon_pull_request"}}
	for i := range tools {
		t := &catalog.Tool{Name: fmt.Sprintf("get_page_%d", i), Domain: wiki.Name, Description: "Gets a page", Effect: catalog.Read,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer","description":"Of the page"}},"required":["id"]}`)}
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
