// Package skillrules reads skills as an agent's host does, and says which rules of
// Agent Skills (https://agentskills.io/specification) they break. It has no part in
// writing them: front matter is read by a reader of YAML, and the bounds stand here
// as the specification has them.
package skillrules

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/metacue/metacue/runtime/tokens"
)

// The bounds of the specification: the first three are rules, the last two, which
// are about SKILL.md alone, are what it recommends.
const (
	maxName        = 64
	maxDescription = 1024
	maxCompatible  = 500
	maxLines       = 500
	maxTokens      = 5000
)

var (
	names  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	fields = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
	links  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// Faults says what is wrong with the skill in the folder dir. Of its files the keys
// are paths with slashes that begin with dir, the values their text.
func Faults(dir string, files map[string]string) []string {
	var faults []string
	complain := func(format string, args ...any) { faults = append(faults, dir+": "+fmt.Sprintf(format, args...)) }

	text, ok := files[dir+"/SKILL.md"]
	if !ok {
		return append(faults, dir+": there is no SKILL.md")
	}
	rest, begun := strings.CutPrefix(text, "---\n")
	front, body, ended := strings.Cut(rest, "\n---\n")
	if !begun || !ended {
		return append(faults, dir+": SKILL.md has no front matter")
	}
	var meta map[string]any
	if err := yaml.Unmarshal([]byte(front), &meta); err != nil {
		return append(faults, fmt.Sprintf("%s: the front matter is no YAML: %v", dir, err))
	}
	if name, _ := meta["name"].(string); name != dir || len(name) > maxName || !names.MatchString(name) {
		complain("its name is %q", meta["name"])
	}
	if d, _ := meta["description"].(string); strings.TrimSpace(d) == "" || utf8.RuneCountInString(d) > maxDescription {
		complain("its description has %d characters, not 1 to %d", utf8.RuneCountInString(d), maxDescription)
	}
	if c, ok := meta["compatibility"].(string); ok && utf8.RuneCountInString(c) > maxCompatible {
		complain("its compatibility has more than %d characters", maxCompatible)
	}
	for _, field := range slices.Sorted(maps.Keys(meta)) {
		if !slices.Contains(fields, field) {
			complain("the specification has no field %s", field)
		}
	}
	if lines := strings.Count(text, "\n"); lines > maxLines {
		complain("SKILL.md has %d lines, more than %d", lines, maxLines)
	}
	if n := tokens.Count(body); n > maxTokens {
		complain("SKILL.md has %d tokens, more than %d", n, maxTokens)
	}

	linked := map[string]bool{dir + "/SKILL.md": true}
	for _, m := range links.FindAllStringSubmatch(body, -1) {
		if strings.Contains(m[1], ":") || strings.HasPrefix(m[1], "#") {
			continue // a page elsewhere, or a heading
		}
		to := path.Join(dir, m[1])
		linked[to] = true
		if _, ok := files[to]; !ok {
			complain("SKILL.md links to %s, which is not there", m[1])
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if !linked[file] {
			complain("SKILL.md does not link to %s", file)
		}
		if strings.Count(file, "/") > 2 {
			complain("%s is deeper than one level", file)
		}
	}
	return faults
}
