package hosts

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// TestProfiles reads the data: each rule says one thing, and its pattern is one.
func TestProfiles(t *testing.T) {
	if got := Names(); !slices.Equal(got, []string{"anthropic", "cursor", "gemini", "openai", "vscode"}) {
		t.Errorf("hosts %q", got)
	}
	for name, h := range profiles() {
		if h.Title == "" || len(h.Rules) == 0 {
			t.Errorf("%s says nothing", name)
		}
		for _, r := range h.Rules {
			said := 0
			for _, is := range []bool{r.Pattern != "", r.Max > 0, r.Refused != nil, r.Needs != nil, r.Enums != "", r.Formats != nil} {
				if is {
					said++
				}
			}
			if _, err := regexp.Compile(r.Pattern); said != 1 || err != nil || r.Then == "" {
				t.Errorf("%s: rule %+v says %d things: %v", name, r, said, err)
			}
		}
	}
	// Above each rule, or above the first of a group, stands a source.
	for i, line := range strings.Split(source, "\n") {
		if strings.Contains(line, "{of:") {
			above := strings.Join(strings.Split(source, "\n")[max(0, i-6):i], "\n")
			if !strings.Contains(above, "https://") {
				t.Errorf("hosts.cue:%d has no source", i+1)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	const ok = `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`
	many := func(n int) []Tool {
		var list []Tool
		for i := range n {
			list = append(list, Tool{Name: fmt.Sprintf("t%d", i), InputSchema: json.RawMessage(ok)})
		}
		return list
	}
	one := func(name, description, schema string) []Tool {
		return []Tool{{name, description, json.RawMessage(schema)}}
	}
	property := func(schema string) []Tool {
		return one("t", "", `{"type":"object","properties":{"a":`+schema+`}}`)
	}
	for name, tt := range map[string]struct {
		host  string
		tools []Tool
		want  string // "" for no finding; else tool, path and a part of the message
	}{
		"nothing to find":                  {"anthropic", many(200), ""},
		"a name of other characters":       {"anthropic", one("a.b", "", ok), `a.b: the Anthropic API wants the name "mcp__srv__a.b" to match`},
		"a name too long with its server":  {"anthropic", one(strings.Repeat("x", 55), "", ok), `has 65: it refuses the request`},
		"a name just short enough":         {"anthropic", one(strings.Repeat("x", 54), "", ok), ""},
		"an argument of other characters":  {"anthropic", one("t", "", `{"type":"object","properties":{"$top":{}}}`), `t $top: the Anthropic API wants the name of the argument "$top"`},
		"a name below is looked at not":    {"anthropic", property(`{"type":"object","properties":{"$top":{}}}`), ""},
		"anyOf at the root":                {"anthropic", one("t", "", `{"type":"object","anyOf":[{}]}`), "t: the Anthropic API does not take anyOf here"},
		"anyOf below":                      {"anthropic", property(`{"anyOf":[{"type":"string"},{"anyOf":[{}]}]}`), ""},
		"an argument called anyOf":         {"anthropic", one("t", "", `{"type":"object","properties":{"anyOf":{}}}`), ""},
		"a reference":                      {"anthropic", property(`{"type":"array","items":{"$ref":"#"}}`), "t a []: the Anthropic API does not take $ref"},
		"a description that is cut":        {"anthropic", one("t", strings.Repeat("é", 2049), ok), "takes at most 2048 characters, and the description has 2049: Claude Code cuts"},
		"a description counted in letters": {"anthropic", one("t", strings.Repeat("é", 2048), ok), ""},
		"a description too long":           {"openai", one("t", strings.Repeat("x", 1025), ok), "1024"},
		"too many tools":                   {"openai", many(129), ": the OpenAI API takes at most 128 tools, and there are 129"},
		"not at the root":                  {"openai", one("t", "", `{"type":"object","not":{}}`), "does not take not here"},
		"a list without items":             {"openai", property(`{"type":["array","null"]}`), "t a: the OpenAI API wants items in schemas of the type array"},
		"a list with items":                {"openai", property(`{"type":"array","items":{}}`), ""},
		"a default is no schema":           {"openai", property(`{"default":{"type":"array"},"enum":[{"type":"array"}],"const":{"type":"array"}}`), ""},
		"a name that begins with a digit":  {"gemini", one("2t", "", ok), "t: the Gemini API wants the name"},
		"a dot in a name":                  {"gemini", one("a.b", "", ok), ""},
		"an exclusive bound":               {"gemini", property(`{"anyOf":[{"type":"number","exclusiveMinimum":0}]}`), "t a: the Gemini API does not take exclusiveMinimum"},
		"an enum of numbers":               {"gemini", property(`{"enum":["a",1]}`), "and there is 1"},
		"a format":                         {"gemini", property(`{"type":"string","format":"uri"}`), "the format uri"},
		"a format that is known":           {"gemini", property(`{"type":"string","format":"date-time"}`), ""},
		"a list without items, VS Code":    {"vscode", property(`{"type":"array"}`), "fails to validate"},
		"a long name, Cursor":              {"cursor", one(strings.Repeat("x", 57), "", ok), "it leaves the tool out"},
		"a name just short enough, Cursor": {"cursor", one(strings.Repeat("x", 56), "", ok), ""},
		"too many tools, Cursor":           {"cursor", many(81), "at most 80"},
	} {
		t.Run(name, func(t *testing.T) {
			findings, err := Check(tt.host, "srv", tt.tools)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				got = append(got, strings.Join(append([]string{f.Tool}, f.Path...), " ")+": "+f.Message)
			}
			if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
				t.Errorf("findings\n%s\nwant %q", strings.Join(got, "\n"), tt.want)
			}
		})
	}
	if _, err := Check("claud", "srv", nil); err == nil || !strings.Contains(err.Error(), "anthropic, cursor") {
		t.Errorf("an unknown host: %v", err)
	}
}

// BenchmarkNames reads the data.
func BenchmarkNames(b *testing.B) {
	for b.Loop() {
		_ = cuecontext.New().CompileString(source).LookupPath(cue.ParsePath("hosts")).Decode(&map[string]host{})
	}
}
