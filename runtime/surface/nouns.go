package surface

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/search"
	"github.com/metacue/metacue/runtime/signature"
)

// moreTool is the tool of nouns that reaches the domains which are not listed.
const moreTool = "more"

// actionArgument is the argument that picks one of the actions of a noun.
const actionArgument = "action"

// nouns lists one tool a noun: the tools of the catalog that share it are its
// actions.
type nouns struct {
	front
	nouns []*noun
	more  []*catalog.Domain // not listed
}

// noun is a group of tools of the catalog that are listed as one.
type noun struct {
	name string
	// about is what a domain says of itself; "" for a noun that tools name.
	about string
	tools []*catalog.Tool // as declared
	// takes holds the names of the arguments of each tool.
	takes map[*catalog.Tool][]string
}

func newNouns(c *catalog.Catalog, do call.Func) Surface {
	n := &nouns{front: front{catalog: c, index: search.New(c), do: do}}
	n.nouns, n.more = grouped(c)
	n.by = func(t *catalog.Tool) string {
		if i := slices.IndexFunc(n.nouns, func(g *noun) bool { return slices.Contains(g.tools, t) }); i >= 0 {
			return n.nouns[i].name
		}
		return moreTool
	}
	var own []ownTool
	for _, g := range n.nouns {
		if g.isTool() {
			n.plain = append(n.plain, g.name)
			continue
		}
		own = append(own, ownTool{&mcp.Tool{
			Name:        g.name,
			Description: g.description(),
			Annotations: annotations(worst(g.tools)),
			InputSchema: g.inputSchema(),
		}, func(ctx context.Context, caller call.Caller, e *envelope) call.Result {
			return n.act(ctx, caller, g, e)
		}})
	}
	if len(n.more) > 0 {
		var tools []*catalog.Tool
		var names []string
		for _, d := range n.more {
			tools, names = append(tools, d.Tools...), append(names, d.Name)
		}
		own = append(own, ownTool{&mcp.Tool{
			Name:        moreTool,
			Description: "Further domains: " + summaries(n.more) + ". With domain alone: describes its actions.",
			Annotations: annotations(worst(tools)),
			InputSchema: inputSchema([]string{"domain"},
				property("domain", schema{Type: "string", Enum: names}),
				property(actionArgument, schema{Type: "string"}),
				property("arguments", schema{Type: "object"})),
		}, n.further})
	}
	n.list(own...)
	return n
}

// grouped gives the nouns of the domains that are listed, in the order of their
// first tools, and the domains that are not.
func grouped(c *catalog.Catalog) (all []*noun, more []*catalog.Domain) {
	byName := map[string]*noun{}
	for _, d := range c.Domains {
		if d.Unlisted {
			more = append(more, d)
			continue
		}
		for _, t := range d.Tools {
			name := cmp.Or(t.Noun, d.Name)
			g := byName[name]
			if g == nil {
				g = &noun{name: name, takes: map[*catalog.Tool][]string{}}
				byName[name] = g
				all = append(all, g)
			}
			if name == d.Name {
				g.about = d.Description
			}
			g.tools = append(g.tools, t)
			g.takes[t] = argumentsOf(t)
		}
	}
	return all, more
}

// isTool says whether the noun is one tool of that very name, which is then listed
// as flat lists it: with a schema of its own, in which action may be an argument.
func (g *noun) isTool() bool { return len(g.tools) == 1 && g.tools[0].Name == g.name }

// path is where the configuration names the noun.
func (g *noun) path() []string {
	if first := g.tools[0]; g.name != first.Domain {
		return toolPath(first, "noun")
	}
	return []string{"domains", g.name}
}

// Declared gives for a noun its own path, and for an argument that of the first
// action which takes it.
func (n *nouns) Declared(tool, argument string) []string {
	i := slices.IndexFunc(n.nouns, func(g *noun) bool { return g.name == tool && !g.isTool() })
	if i < 0 {
		return n.front.Declared(tool, argument)
	}
	g := n.nouns[i]
	for _, t := range g.tools {
		if slices.Contains(g.takes[t], argument) {
			return toolPath(t, "input", argument)
		}
	}
	return g.path()
}

// description tells of the noun and of each of its actions once.
func (g *noun) description() string {
	var lines []string
	if g.about != "" {
		lines = append(lines, g.about)
	}
	for _, t := range g.tools {
		lines = append(lines, actionLine(t))
	}
	return strings.Join(lines, "\n")
}

// actionLine is an action with its required arguments and its summary.
func actionLine(t *catalog.Tool) string {
	required := requiredOf(t)
	if len(required) == 0 {
		return t.Name + ": " + t.Description
	}
	return fmt.Sprintf("%s(%s): %s", t.Name, strings.Join(required, ", "), t.Description)
}

// requiredOf gives the names of a tool's required arguments.
func requiredOf(t *catalog.Tool) []string {
	var input struct{ Required []string }
	if json.Unmarshal(t.InputSchema, &input) != nil {
		return nil
	}
	return input.Required
}

// inputSchema is that of all actions together: which one, and each argument once.
// What every action requires is required.
func (g *noun) inputSchema() json.RawMessage {
	return union(property(actionArgument, schema{Type: "string", Enum: namesOfTools(g.tools)}), g.tools)
}

// act runs an action of a noun. The call is checked like any other, by the exact
// schema of its action; what is told here is what an argument of another action is.
func (n *nouns) act(ctx context.Context, caller call.Caller, g *noun, e *envelope) call.Result {
	action := e.text(actionArgument, true)
	members := e.members
	e.members = nil
	if refusal, bad := e.close(); bad {
		return refusal
	}
	t, ok := n.catalog.Tool(action)
	if !ok || !slices.Contains(g.tools, t) {
		if ok {
			return elsewhere(action, action+" is no action of "+g.name, n.by(t))
		}
		var u unknown
		u.add(actionArgument, action, namesOfTools(g.tools))
		return u.refusal()
	}
	own := g.takes[t]
	if i := slices.IndexFunc(members, func(m member) bool { return m.name == "arguments" }); i >= 0 && !slices.Contains(own, "arguments") {
		if _, isText := unquote(members[i].value, '{'); isText || strings.HasPrefix(string(members[i].value), "{") {
			inner, beside := members[i].value, slices.Delete(slices.Clone(members), i, i+1)
			args, faults := fold(t, "arguments", inner, beside)
			if len(faults) == 0 {
				e.repairs = append(e.repairs, "the members of arguments were read as arguments")
			}
			members, _ = readObject(args)
			caller.Faults = faults
		}
	}
	members = slices.DeleteFunc(members, func(m member) bool {
		if slices.Contains(own, m.name) {
			return false
		}
		others := g.whoTakes(m.name)
		switch {
		case len(others) == 0: // the program says what is near
			return false
		case string(m.value) == "null": // some hosts send every property, null where there is nothing to say
			e.repairs = append(e.repairs, m.name+" was null, is no argument of "+t.Name+" and was left out")
			return true
		}
		caller.Faults = append(caller.Faults, call.Fault{Argument: m.name, Message: fmt.Sprintf("%s is no argument of %s, but of %s", echo(m.name), t.Name, strings.Join(others, ", "))})
		return false
	})
	return n.do(ctx, caller, t.Name, writeObject(members))
}

// whoTakes gives the actions of a noun that have an argument, at most three.
func (g *noun) whoTakes(argument string) []string {
	var names []string
	for _, t := range g.tools {
		if slices.Contains(g.takes[t], argument) && len(names) < 3 {
			names = append(names, t.Name)
		}
	}
	return names
}

func namesOfTools(tools []*catalog.Tool) []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// furtherAction is an action in the description of a domain that is not listed.
type furtherAction struct {
	Action      string          `json:"action"`
	Signature   string          `json:"signature,omitempty"` // where there are too many for their schemas
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
}

// furtherDomain is the description of a domain that is not listed.
type furtherDomain struct {
	Domain      string          `json:"domain"`
	Description string          `json:"description"`
	Actions     []furtherAction `json:"actions"`
	Hint        string          `json:"hint,omitempty"`
}

// further describes a domain that is not listed, or runs an action of it.
func (n *nouns) further(ctx context.Context, caller call.Caller, e *envelope) call.Result {
	name, action, args := e.text("domain", true), e.text(actionArgument, false), e.optional("arguments")
	beside := e.members
	if action != "" {
		e.members = nil
	}
	if action == "" && !absent(args) {
		e.faults = append(e.faults, "arguments are given without an action")
	}
	if refusal, bad := e.close(); bad {
		return refusal
	}
	i := slices.IndexFunc(n.more, func(d *catalog.Domain) bool { return d.Name == name })
	if i < 0 {
		var names []string
		for _, d := range n.more {
			names = append(names, d.Name)
		}
		var u unknown
		u.add("domain", name, names)
		return u.refusal()
	}
	d := n.more[i]
	if action == "" {
		told := func(hint string, about func(*catalog.Tool) furtherAction) func() any {
			return func() any {
				actions := []furtherAction{}
				for _, t := range d.Tools {
					actions = append(actions, about(t))
				}
				return furtherDomain{d.Name, d.Description, actions, hint}
			}
		}
		const hint = "there are too many actions to tell more of each: a call that does not fit is refused with the schema of its action"
		return briefly(
			told("", func(t *catalog.Tool) furtherAction {
				return furtherAction{Action: t.Name, Description: t.Description, InputSchema: t.InputSchema}
			}),
			told(hint, func(t *catalog.Tool) furtherAction {
				return furtherAction{Action: t.Name, Signature: signature.Of(t), Description: t.Description}
			}),
			told(hint, func(t *catalog.Tool) furtherAction { return furtherAction{Action: t.Name} }))
	}
	t, ok := n.catalog.Tool(action)
	if !ok || t.Domain != d.Name {
		if ok {
			return elsewhere(action, action+" is no action of "+d.Name, n.place(t))
		}
		var u unknown
		u.add(actionArgument, action, namesOfTools(d.Tools))
		return u.refusal()
	}
	args, caller.Faults = e.fold(t, "arguments", args, beside)
	return n.do(ctx, caller, t.Name, args)
}

// place says where an action is found: a noun, or a domain of more.
func (n *nouns) place(t *catalog.Tool) string {
	if by := n.by(t); by != moreTool {
		return by
	}
	return moreTool + " with the domain " + t.Domain
}

// checkNouns finds names that nouns needs for itself: more for the domains that are
// not listed, action for what picks one, and names that two tools of the list would
// have.
func checkNouns(c *catalog.Catalog) []Fault {
	faults := reserved("nouns", c, moreTool)
	all, _ := grouped(c)
	for _, g := range all {
		path := g.path()
		if g.name == moreTool {
			faults = append(faults, Fault{path, "nouns mode needs the name " + moreTool + " for itself: name the noun otherwise"})
		}
		if n := len(c.Server.Name) + 1 + len(g.name); n > maxName {
			faults = append(faults, Fault{path, fmt.Sprintf("as a tool of nouns mode the name is too long: with the server's name in front (%s_%s) it has %d characters, and clients take at most %d", c.Server.Name, g.name, n, maxName)})
		}
		if slices.Contains(c.Meta.Pin, g.name) && !g.isTool() {
			faults = append(faults, Fault{path, "nouns mode lists the noun " + g.name + ", and the tool of that name is pinned: rename one, or do not pin it"})
		}
	}
	for _, g := range all {
		for _, t := range g.tools {
			if !g.isTool() && slices.Contains(g.takes[t], actionArgument) {
				faults = append(faults, Fault{toolPath(t, "input", actionArgument), fmt.Sprintf(
					"nouns mode needs the argument %s for itself, to pick the tool: rename it, or write noun: %q, which lists the tool by itself", actionArgument, t.Name)})
			}
		}
	}
	return faults
}

// maxName bounds the name of a listed tool together with that of the server: many
// clients prefix the one with the other and refuse names over 64.
const maxName = 64
