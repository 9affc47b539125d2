// Package hosts finds what the hosts and model APIs that a list of tools is
// offered to would refuse, cut or leave out. The rules are data, in hosts.cue, each
// with its source; this package only holds them against a list. It knows the wire
// form of tools/list and nothing of where the tools come from.
package hosts

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// Tool is what a host gets of a tool (MCP, tools/list).
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Finding is one rule that a list breaks.
type Finding struct {
	// Tool is the name of the tool; "" when the list as a whole breaks the rule.
	Tool string
	// Path leads to the place within the schema of the arguments, as names of
	// properties and "[]" for the elements of lists; nil for the tool itself.
	Path []string
	// Message says which host it is, what it minds, and what would happen there.
	Message string
}

//go:embed hosts.cue
var source string

// host is #Host of hosts.cue, rule is #Rule.
type host struct {
	Title  string `json:"title"`
	Prefix string `json:"prefix"`
	Rules  []rule `json:"rules"`
}

type rule struct {
	Of      string   `json:"of"`
	Pattern string   `json:"pattern"`
	Max     int      `json:"max"`
	Refused []string `json:"refused"`
	Needs   *struct {
		Type    string `json:"type"`
		Keyword string `json:"keyword"`
	} `json:"needs"`
	Enums   string   `json:"enums"`
	Formats []string `json:"formats"`
	Then    string   `json:"then"`
}

// profiles are read by the first check: few commands need them.
var profiles = sync.OnceValue(func() map[string]host {
	all := map[string]host{}
	v := cuecontext.New().CompileString(source, cue.Filename("hosts.cue")).LookupPath(cue.ParsePath("hosts"))
	if err := v.Validate(cue.Concrete(true)); err != nil {
		panic(err) // TestProfiles reads the same file
	}
	if err := v.Decode(&all); err != nil {
		panic(err)
	}
	return all
})

// Names lists the hosts that there are rules of, sorted.
func Names() []string { return slices.Sorted(maps.Keys(profiles())) }

// Check holds a list of tools against the rules of a host, for a server of a
// name. Findings come in the order of the tools, those of the list first. The
// error is about the name of the host.
func Check(name, server string, tools []Tool) ([]Finding, error) {
	h, ok := profiles()[name]
	if !ok {
		return nil, fmt.Errorf("unknown host %q: one of %s", name, strings.Join(Names(), ", "))
	}
	c := checker{host: h, prefix: strings.ReplaceAll(h.Prefix, "SERVER", server)}
	for _, r := range h.Rules {
		if r.Of == "list" && len(tools) > r.Max {
			c.add("", nil, r, fmt.Sprintf("takes at most %d tools, and there are %d", r.Max, len(tools)))
		}
	}
	for _, t := range tools {
		c.tool(t)
	}
	return c.findings, nil
}

type checker struct {
	host     host
	prefix   string
	findings []Finding
}

func (c *checker) add(tool string, path []string, r rule, what string) {
	c.findings = append(c.findings, Finding{tool, slices.Clone(path), fmt.Sprintf("%s %s: %s", c.host.Title, what, r.Then)})
}

func (c *checker) tool(t Tool) {
	for _, r := range c.host.Rules {
		switch r.Of {
		case "name":
			c.text(t.Name, nil, r, "the name", c.prefix+t.Name)
		case "description":
			c.text(t.Name, nil, r, "the description", t.Description)
		}
	}
	c.schema(t.Name, nil, t.InputSchema)
}

// text holds the text of what against a pattern or a length.
func (c *checker) text(tool string, path []string, r rule, what, text string) {
	shown := ""
	if r.Of != "description" {
		shown = " " + strconv.Quote(text)
	}
	switch n := utf8.RuneCountInString(text); {
	case r.Pattern != "" && !regexp.MustCompile(r.Pattern).MatchString(text):
		c.add(tool, path, r, fmt.Sprintf("wants %s%s to match %s", what, shown, r.Pattern))
	case r.Max > 0 && n > r.Max:
		c.add(tool, path, r, fmt.Sprintf("takes at most %d characters, and %s%s has %d", r.Max, what, shown, n))
	}
}

// schema holds a schema, and all schemas in it, against the rules. Names of
// properties are no keywords, and what stands in an enum or a default is no schema.
func (c *checker) schema(tool string, path []string, raw json.RawMessage) {
	var s map[string]json.RawMessage
	if json.Unmarshal(raw, &s) != nil {
		return // true and false say nothing
	}
	for _, r := range c.host.Rules {
		if r.Of == "schema" || r.Of == "root" && len(path) == 0 {
			c.keywords(tool, path, r, s)
		}
	}
	for _, keyword := range slices.Sorted(maps.Keys(s)) {
		sub := s[keyword]
		switch keyword {
		case "properties", "patternProperties", "$defs":
			var named map[string]json.RawMessage
			_ = json.Unmarshal(sub, &named) // what is no object holds no schema
			for _, name := range slices.Sorted(maps.Keys(named)) {
				at := append(slices.Clone(path), name)
				for _, r := range c.host.Rules {
					if r.Of == "argument" && len(path) == 0 && keyword == "properties" {
						c.text(tool, at, r, "the name of the argument", name)
					}
				}
				c.schema(tool, at, named[name])
			}
		case "items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else":
			at := path
			if keyword == "items" {
				at = append(slices.Clone(path), "[]")
			}
			c.schema(tool, at, sub)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			var list []json.RawMessage
			_ = json.Unmarshal(sub, &list) // what is no list holds no schema
			for _, one := range list {
				// An arm is not the root, but stands at the same place.
				c.arm(tool, path, one)
			}
		}
	}
}

// arm holds one of several schemas of the same place against the rules.
func (c *checker) arm(tool string, path []string, raw json.RawMessage) {
	if len(path) == 0 {
		path = []string{""}
	}
	c.schema(tool, path, raw)
}

// keywords holds the keywords of one schema against a rule.
func (c *checker) keywords(tool string, path []string, r rule, s map[string]json.RawMessage) {
	for _, k := range r.Refused {
		if _, ok := s[k]; ok {
			c.add(tool, path, r, "does not take "+k+" here")
		}
	}
	if r.Needs != nil && hasType(s["type"], r.Needs.Type) {
		if _, ok := s[r.Needs.Keyword]; !ok {
			c.add(tool, path, r, fmt.Sprintf("wants %s in schemas of the type %s", r.Needs.Keyword, r.Needs.Type))
		}
	}
	if r.Enums != "" && s["enum"] != nil {
		var values []json.RawMessage
		_ = json.Unmarshal(s["enum"], &values) // what is no list has no values
		if i := slices.IndexFunc(values, func(v json.RawMessage) bool { return typeOf(v) != r.Enums }); i >= 0 {
			c.add(tool, path, r, fmt.Sprintf("takes only values of the type %s in an enum, and there is %s", r.Enums, values[i]))
		}
	}
	var format string
	if r.Formats != nil && json.Unmarshal(s["format"], &format) == nil && format != "" && !slices.Contains(r.Formats, format) {
		c.add(tool, path, r, fmt.Sprintf("does not take the format %s, only %s", format, strings.Join(r.Formats, " and ")))
	}
}

// hasType says whether a type, or a list of types, holds want.
func hasType(raw json.RawMessage, want string) bool {
	var one string
	var list []string
	if json.Unmarshal(raw, &one) == nil {
		return one == want
	}
	return json.Unmarshal(raw, &list) == nil && slices.Contains(list, want)
}

// typeOf gives the JSON Schema type of a value.
func typeOf(v json.RawMessage) string {
	switch strings.TrimLeft(string(v), " \t\r\n")[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
