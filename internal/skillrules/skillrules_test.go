package skillrules

import (
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	const front = "---\nname: a-b\ndescription: Does it. Use it when asked.\n---\n"
	with := func(text string, more ...string) map[string]string {
		files := map[string]string{"a-b/SKILL.md": text}
		for _, path := range more {
			files[path] = "text"
		}
		return files
	}
	for name, tc := range map[string]struct {
		files map[string]string
		want  string // part of each fault, in lines
	}{
		"right":           {with(front+"See [this](references/x.md), [that](https://a.example/b) and [here](#c).\n", "a-b/references/x.md"), ""},
		"no file":         {map[string]string{"a-b/skill.md": front}, "no SKILL.md"},
		"no front matter": {with("# a-b\n"), "no front matter"},
		"open":            {with("---\nname: a-b\n"), "no front matter"},
		"no YAML":         {with("---\nname: \"a\ndescription: b\n---\n"), "no YAML"},
		"other name":      {with("---\nname: a-c\ndescription: b\n---\n"), `name is "a-c"`},
		"no name":         {with("---\ndescription: b\n---\n"), "name is"},
		"no description":  {with("---\nname: a-b\ndescription: \" \"\n---\n"), "description has 1 characters"},
		"long description": {with("---\nname: a-b\ndescription: " + strings.Repeat("é", 1025) + "\n---\n"),
			"description has 1025 characters"},
		"unknown field": {with("---\nname: a-b\ndescription: b\nversion: 1\n---\n"), "no field version"},
		"lines":         {with(front + strings.Repeat("\n", 500)), "504 lines"},
		"tokens":        {with(front + strings.Repeat("word ", 5001)), "tokens, more than 5000"},
		"dead link":     {with(front + "[x](references/y.md)\n"), "links to references/y.md"},
		"loose file":    {with(front, "a-b/references/x.md"), "does not link to a-b/references/x.md"},
		"deep file":     {with(front+"[x](references/y/z.md)\n", "a-b/references/y/z.md"), "deeper than one level"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Faults("a-b", tc.files)
			if tc.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || tc.want == "" || !strings.Contains(got[0], tc.want) {
				t.Errorf("got %q, want one fault with %q", got, tc.want)
			}
		})
	}
	for _, name := range []string{"A", "a_b", "-a", "a-", "a--b", strings.Repeat("a", 65)} {
		text := "---\nname: \"" + name + "\"\ndescription: b\n---\n"
		if got := Faults(name, map[string]string{name + "/SKILL.md": text}); len(got) != 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
