// Package catalog is what a server offers: domains, tools, actions, schemas as
// bytes, examples. It is plain data made once per generation by compile and
// never changed after; how a tool does its work is not in it. Standard library
// and golang.org/x/text only.
package catalog

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Effect is what calling a tool can do to the upstream.
type Effect string

// The effects, from harmless to not.
const (
	Read        Effect = "read"
	Write       Effect = "write"
	Destructive Effect = "destructive"
)

// Catalog is what a server offers. Treat it as immutable.
type Catalog struct {
	Server  Server
	Actions []Action  // the taxonomy: the built-in four, then the configuration's own as declared
	Domains []*Domain // as declared
	Skills  []Skill   // as declared
	Meta    Meta
	// Escape holds the request that Meta.Escape allows, one tool for each HTTP
	// method, with the method as its Title; nil without it. They are in no domain.
	Escape []*Tool

	byName map[string]*Tool // by name and by alias
	hidden map[string]*Tool // state and escape
	gone   gone             // what bounds took away
}

// Server says who the server is.
type Server struct {
	Name, Title, Version, Instructions string
}

// Meta is how the surfaces are tuned; the zero value adds nothing.
type Meta struct {
	Search, Signatures bool
	// Pin names tools that are listed beside the fixed ones, as declared.
	Pin []string
	// ByEffect says that tools are run by one tool for each effect.
	ByEffect bool
}

// Action is a kind of tool.
type Action struct {
	Name, Description string
	Effect            Effect
	Idempotent        bool
}

// Domain is a group of tools.
type Domain struct {
	Name        string
	Description string  // in full
	Summary     string  // a short phrase; Description when none is given
	Unlisted    bool    // kept out of the list of nouns
	Tools       []*Tool // as declared
	// State holds the requests that read how the domain is now, as declared. Each is
	// a tool without arguments that is called by its Name, DOMAIN/STATE, and is in no
	// list; its Title is STATE.
	State []*Tool
}

// Tool is one operation.
type Tool struct {
	Name, Title, Description string
	Domain                   string
	Noun                     string // the tool of nouns that it is an action of; "" for its domain
	Returns                  string // a phrase for the result; "" when there is none
	Deprecated               string // why not to use it, with which Description ends; "" when there is none
	Action                   string
	Effect                   Effect
	Idempotent               bool
	Aliases                  []string
	Annotations              Annotations
	// InputSchema is compact JSON Schema, draft 2020-12, of type object.
	InputSchema json.RawMessage
	// OutputSchema is nil unless the tool declares one.
	OutputSchema json.RawMessage
	// Defaults holds the server-level default arguments that apply to the tool,
	// as a compact JSON object in the order of the arguments; nil when none.
	Defaults json.RawMessage
	Examples []Example
	// Sample shows the form of a call where there is no example: a compact JSON object
	// of the required arguments, each of a type that it takes, and text that nobody gave
	// a value for as "<NAME>". nil where there are examples, and where no such call
	// would be accepted.
	Sample json.RawMessage
}

// Deprecation is what the description of a deprecated tool ends with.
func Deprecation(why string) string {
	if why == "" {
		return " (deprecated)"
	}
	return " (deprecated: " + why + ")"
}

// Annotations are the hints of MCP ToolAnnotations, each explicit.
type Annotations struct {
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// Example is one whole call.
type Example struct {
	Description string
	Arguments   json.RawMessage // compact JSON object, members as declared
}

// Skill is one exported SKILL.md.
type Skill struct {
	Name, Description, Notes string
	Tools                    []string
	// Partial says that bounds took away some of its tools.
	Partial bool
}

// Bounds is what of a catalog may be reached. The zero value is everything.
type Bounds struct {
	// ReadOnly leaves tools whose effect is Read.
	ReadOnly bool
	// Domains leaves the named domains; empty means all.
	Domains []string
	// Exclude takes away tools, by name.
	Exclude []string
}

// Allow says whether t is within b. It is the one check of bounds.
func (b Bounds) Allow(t *Tool) bool {
	return !(b.ReadOnly && t.Effect != Read) &&
		(len(b.Domains) == 0 || slices.Contains(b.Domains, t.Domain)) &&
		!slices.Contains(b.Exclude, t.Name)
}

// New indexes a catalog. Names and aliases must be unique; compile sees to it.
func New(c Catalog) *Catalog {
	c.byName, c.hidden = map[string]*Tool{}, map[string]*Tool{}
	for _, d := range c.Domains {
		for _, t := range d.Tools {
			c.byName[t.Name] = t
			for _, a := range t.Aliases {
				c.byName[a] = t
			}
		}
		for _, t := range d.State {
			c.hidden[t.Name] = t
		}
	}
	for _, t := range c.Escape {
		c.hidden[t.Name] = t
	}
	return &c
}

// Within is the catalog as far as b reaches: tools out of bounds are not in
// it, nor are pins of them, nor domains, actions in use and skills left without
// any tool, nor prose that names one of these.
func (c *Catalog) Within(b Bounds) *Catalog {
	in := *c
	in.Domains, in.Skills = nil, nil
	allowed := func(tools []*Tool) []*Tool {
		return slices.DeleteFunc(slices.Clone(tools), func(t *Tool) bool { return !b.Allow(t) })
	}
	for _, d := range c.Domains {
		e := *d
		e.Tools, e.State = allowed(d.Tools), allowed(d.State)
		if len(e.Tools) > 0 {
			in.Domains = append(in.Domains, &e)
		}
	}
	in.Escape = allowed(c.Escape)
	out := New(in)
	g := goneFrom(c, out)
	in.gone = g
	prose := func(tools []*Tool) {
		for i, t := range tools {
			tools[i] = g.fromTool(t)
		}
	}
	for _, d := range in.Domains {
		prose(d.Tools)
		prose(d.State)
		said := d.Description != "" || d.Summary != ""
		d.Description, d.Summary = g.from(d.Description), g.from(d.Summary)
		d.Description, d.Summary = cmp.Or(d.Description, d.Summary), cmp.Or(d.Summary, d.Description)
		if said && d.Description == "" {
			d.Description, d.Summary = inWords(d.Name), inWords(d.Name)
		}
	}
	in.Actions = slices.Clone(c.Actions)
	for i := range in.Actions {
		in.Actions[i].Description = g.from(in.Actions[i].Description)
	}
	prose(in.Escape)
	out = New(in)
	// The name stays: it is what clients know the server by.
	if title := c.Server.Title; title != "" {
		out.Server.Title = cmp.Or(g.from(title), c.Server.Name)
	}
	out.Server.Version, out.Server.Instructions = g.from(c.Server.Version), g.from(c.Server.Instructions)
	out.Meta.Pin = slices.DeleteFunc(slices.Clone(c.Meta.Pin), func(n string) bool { return out.byName[n] == nil })
	for _, s := range c.Skills {
		whole := len(s.Tools)
		s.Tools = slices.DeleteFunc(slices.Clone(s.Tools), func(n string) bool { return out.byName[n] == nil })
		if len(s.Tools) > 0 {
			s.Description, s.Notes = cmp.Or(g.from(s.Description), "How to use "+s.Tools[0]), g.from(s.Notes)
			s.Partial = s.Partial || len(s.Tools) < whole
			out.Skills = append(out.Skills, s)
		}
	}
	return out
}

// Said is a text without the sentences that name what bounds took away: what a
// configuration says of a call, such as why it is refused, may name a tool.
func (c *Catalog) Said(text string) string { return c.gone.from(text) }

// Gone says whether a tool of that name or alias was taken away by bounds. It is for
// the person who set them.
func (c *Catalog) Gone(name string) bool { return c.gone.names[label{"tool", name}] }

// Tool finds a tool by name or alias.
func (c *Catalog) Tool(name string) (*Tool, bool) {
	t, ok := c.byName[name]
	return t, ok
}

// Callable finds whatever a program can run: a tool by name or alias, and what
// surfaces alone ask for, state and escape, by name.
func (c *Catalog) Callable(name string) (*Tool, bool) {
	if t, ok := c.hidden[name]; ok {
		return t, true
	}
	return c.Tool(name)
}

// Domain finds a domain by name.
func (c *Catalog) Domain(name string) (*Domain, bool) {
	for _, d := range c.Domains {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// Tools gives all tools, domain by domain, as declared.
func (c *Catalog) Tools() []*Tool {
	var all []*Tool
	for _, d := range c.Domains {
		all = append(all, d.Tools...)
	}
	return all
}

// ActionsInUse gives the actions that at least one tool has, in the order of
// the taxonomy.
func (c *Catalog) ActionsInUse() []Action {
	used := map[string]bool{}
	for _, t := range c.Tools() {
		used[t.Action] = true
	}
	var in []Action
	for _, a := range c.Actions {
		if used[a.Name] {
			in = append(in, a)
		}
	}
	return in
}
