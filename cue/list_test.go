package config_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

// The most tokens that lists of the built-in configuration may take.
const (
	maxTokensPerTool = 165 // flat, on average
	maxTokensOfMeta  = 400 // meta, in all
)

// TestList keeps the account of what a model reads before it does anything.
func TestList(t *testing.T) {
	_, flat, tools := players(t, nil)
	list := flat.Tools()
	type row struct {
		name          string
		tools, tokens int
	}
	var rows []row
	domains := map[string]*row{}
	for _, tool := range list {
		r := row{tool.Name, 1, tokens.List([]*mcp.Tool{tool})}
		rows = append(rows, r)
		known, _ := tools.Tool(tool.Name)
		d, ok := domains[known.Domain]
		if !ok {
			d = &row{name: known.Domain}
			domains[known.Domain] = d
		}
		d.tools++
		d.tokens += r.tokens
	}
	total := tokens.List(list)
	average := float64(total) / float64(len(list))
	t.Logf("flat: %d tokens for %d tools, %.1f each", total, len(list), average)
	for _, name := range slices.Sorted(maps.Keys(domains)) {
		d := domains[name]
		t.Logf("  %-18s %3d tools %6d tokens, %.1f each", d.name, d.tools, d.tokens, float64(d.tokens)/float64(d.tools))
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.tokens, a.tokens) })
	t.Log("the largest:")
	for _, r := range rows[:min(10, len(rows))] {
		t.Logf("  %-40s %4d", r.name, r.tokens)
	}

	meta, err := surface.New("meta", tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := tokens.List(meta.Tools())
	t.Logf("meta: %d tokens for %d tools", n, len(meta.Tools()))
	if average > maxTokensPerTool {
		t.Errorf("flat takes %.1f tokens a tool; it may take %d", average, maxTokensPerTool)
	}
	if n > maxTokensOfMeta {
		t.Errorf("meta takes %d tokens; it may take %d", n, maxTokensOfMeta)
	}
}

// argument is a property of an input schema, at any depth.
type argument struct {
	Description string              `json:"description"`
	Type        any                 `json:"type"`
	Enum        []any               `json:"enum"`
	Properties  map[string]argument `json:"properties"`
	Required    []string            `json:"required"`
	Items       *argument           `json:"items"`
	AnyOf       []argument          `json:"anyOf"`
}

// kind is the argument's type in one word.
func (a argument) kind() string {
	switch {
	case a.Items != nil:
		return a.Items.kind() + "s"
	case a.Enum != nil:
		return "enum"
	case a.AnyOf != nil:
		return "any"
	}
	switch t := a.Type.(type) {
	case string:
		return t
	case []any:
		var names []string
		for _, n := range t {
			names = append(names, fmt.Sprint(n))
		}
		return strings.Join(names, "|")
	}
	return "any"
}

// inputOf gives the input schema of a listed tool.
func inputOf(t *testing.T, tool *mcp.Tool) argument {
	t.Helper()
	var a argument
	data, err := json.Marshal(tool.InputSchema)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	return a
}

// Every argument has a description, or a name that says it all:
// testdata/undescribed.txt lists those names, each with the type that it says it
// all for, and each is a decision.
func TestArguments(t *testing.T) {
	_, flat, _ := players(t, nil)
	undescribed := map[string]bool{}
	var walk func(a argument)
	walk = func(a argument) {
		for name, p := range a.Properties {
			if p.Description == "" {
				undescribed[name+" "+p.kind()] = true
			}
			walk(p)
		}
		if a.Items != nil {
			walk(*a.Items)
		}
		for _, arm := range a.AnyOf {
			walk(arm)
		}
	}
	for _, tool := range flat.Tools() {
		if tool.Description == "" {
			t.Errorf("%s has no description", tool.Name)
		}
		walk(inputOf(t, tool))
	}
	golden(t, "undescribed.txt", strings.Join(slices.Sorted(maps.Keys(undescribed)), "\n")+"\n")
}

// referenceTool is a tool of the reference server.
type referenceTool struct {
	Name       string      `json:"name"`
	Domain     string      `json:"domain"`
	Parameters []parameter `json:"parameters"`
}

type parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
	Enum     []any  `json:"enum"`
}

// wideEnough says which kinds of ours take what a type of the reference takes.
// A lone value for a list, and a number for text, are put right before a call is
// checked.
var wideEnough = map[string][]string{
	"string":             {"string", "enum"},
	"number":             {"integer", "number"},
	"boolean":            {"boolean"},
	"object":             {"object"},
	"array<string>":      {"strings", "enums"},
	"array<number>":      {"integers", "numbers"},
	"array<object>":      {"objects"},
	"anyOf:string|array": {"strings", "integers"},
}

// demanded are the parameters that the reference does not require and we do.
// Where a path of the API holds a project or a team, the reference takes it from
// its environment or asks the person; here a server-level default makes it
// optional.
var demanded = []string{"project", "team", "repo_update_pull_request_thread.status"}

// TestAliases finds each tool of the reference server by its name, with its
// parameters: what was made for it goes on working.
func TestAliases(t *testing.T) {
	var reference []referenceTool
	readJSON(t, material(t, "tools.json"), &reference)
	_, flat, tools := players(t, nil)
	listed := map[string]*mcp.Tool{}
	for _, tool := range flat.Tools() {
		listed[tool.Name] = tool
	}
	answered, relaxed := 0, 0
	for _, r := range reference {
		ours, ok := tools.Tool(r.Name)
		if !ok {
			t.Errorf("%s: no tool answers to it", r.Name)
			continue
		}
		answered++
		if ours.Domain != r.Domain {
			t.Errorf("%s: %s is in the domain %s, not %s", r.Name, ours.Name, ours.Domain, r.Domain)
		}
		input := inputOf(t, listed[ours.Name])
		for _, p := range r.Parameters {
			have, ok := input.Properties[p.Name]
			if !ok {
				t.Errorf("%s: %s takes no %s", r.Name, ours.Name, p.Name)
				continue
			}
			required := slices.Contains(input.Required, p.Name)
			switch {
			case required && !p.Required && !slices.Contains(demanded, p.Name) && !slices.Contains(demanded, r.Name+"."+p.Name):
				t.Errorf("%s: %s requires %s, and the reference does not", r.Name, ours.Name, p.Name)
			case !required && p.Required:
				relaxed++
				t.Logf("%s: %s does not require %s, and the reference does", r.Name, ours.Name, p.Name)
			}
			if kinds := have.kinds(); !slices.ContainsFunc(kinds, func(k string) bool { return k == "any" || slices.Contains(wideEnough[p.Type], k) }) {
				t.Errorf("%s: %s takes %s as %v, the reference as %s", r.Name, ours.Name, p.Name, kinds, p.Type)
			}
			for _, v := range p.Enum {
				if !have.takes(v) {
					t.Errorf("%s: %s does not take %v as %s", r.Name, ours.Name, v, p.Name)
				}
			}
		}
		for _, name := range input.Required {
			if !slices.ContainsFunc(r.Parameters, func(p parameter) bool { return p.Name == name }) {
				t.Errorf("%s: %s requires %s, which the reference does not know", r.Name, ours.Name, name)
			}
		}
	}
	t.Logf("%d of %d tools of the reference answer; %d parameters that it requires are not required", answered, len(reference), relaxed)
}

// kinds are the kinds that an argument takes.
func (a argument) kinds() []string {
	if a.AnyOf == nil {
		return strings.Split(a.kind(), "|")
	}
	var all []string
	for _, arm := range a.AnyOf {
		all = append(all, arm.kinds()...)
	}
	return all
}

// takes says whether an argument takes a value of an enumeration.
func (a argument) takes(v any) bool {
	if a.AnyOf != nil {
		return slices.ContainsFunc(a.AnyOf, func(arm argument) bool { return arm.takes(v) })
	}
	return a.Enum == nil || slices.Contains(a.Enum, v)
}
