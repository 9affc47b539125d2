// Package account tells what a configuration costs an agent, in o200k_base tokens:
// the list of every mode, each domain and tool, and the paths on which an agent of
// meta mode finds a tool. What is measured is measured by making the very calls on
// the surface, over a program that answers nothing, so that no request is sent. It
// is plain data; how it is shown is the command's.
//
// Each token is counted once, where the model first reads or writes it. A host that
// sends the whole conversation again at every turn, without a cache, pays for it as
// often.
package account

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/signature"
	"github.com/metacue/metacue/runtime/skill"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

// Account is what a catalog costs. All of it is in tokens.
type Account struct {
	Server   string   `json:"server"`
	Encoding string   `json:"encoding"` // o200k_base
	Tools    int      `json:"tools"`
	Domains  int      `json:"domains"`
	Measured Measured `json:"measured"`
	Computed Computed `json:"computed"`
}

// Measured is what was counted.
type Measured struct {
	Modes   []Mode   `json:"modes"`
	Domains []Domain `json:"domains"` // as declared
	// Paths begins with that of flat. It is empty without tools, or where flat or
	// meta cannot be served. That of a skill in hand is without the skill's own files,
	// which are in Skills.
	Paths  []Path  `json:"paths"`
	Skills []Skill `json:"skills"` // as declared; empty where meta cannot be served
}

// Computed is what follows from what was counted.
type Computed struct {
	// BreakEven has an entry for each path but that of flat.
	BreakEven []BreakEven `json:"breakEven"`
}

// Mode is what a surface gives a model before any call.
type Mode struct {
	Name string `json:"mode"`
	// Fault says why the catalog cannot be served in the mode; "" where it can. The
	// figures are then 0.
	Fault  string `json:"fault,omitempty"`
	Tokens int    `json:"tokens"` // of the tools array of tools/list
	Listed int    `json:"listed"` // tools in that array
	// Instructions is what the server says when a session begins. Not every host
	// passes it on, so that it is in no other figure.
	Instructions int `json:"instructions"`
}

// Domain is what the tools of a domain cost.
type Domain struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"` // of its tools in flat, as a list of their own
	// Summaries is the answer of list_domain_tools; 0 where meta cannot be served.
	Summaries int    `json:"summaries"`
	Tools     []Tool `json:"tools"` // as declared
}

// Tool is what one tool costs.
type Tool struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"` // of its entry in flat
	Schema int    `json:"schema"` // of that, its input schema
}

// Figure is a measure that was taken once for each of some tools.
type Figure struct {
	Tools int     `json:"tools"` // over how many
	Mean  float64 `json:"mean"`
	Min   int     `json:"min"`
	Max   int     `json:"max"`
}

// Path is a way from tools/list to the call of a tool.
type Path struct {
	Name string `json:"path"`
	Mode string `json:"mode"`
	List int    `json:"list"` // of tools/list
	// Steps are the calls that find the tool, in order.
	Steps []Step `json:"steps"`
	// Decision is what a model has read and written once it can make the call:
	// tools/list, and the calls and answers of the steps.
	Decision Figure `json:"decision"`
	// Run is the call itself. Its answer is the API's, and the same in every mode.
	Run Figure `json:"run"`
}

// Step is a call of a path.
type Step struct {
	Tool   string `json:"tool"` // that is called
	Call   Figure `json:"call"` // its name and arguments
	Answer Figure `json:"answer"`
}

// Skill is what a skill costs, written as meta has it.
type Skill struct {
	Name       string `json:"skill"`
	Tools      int    `json:"tools"`
	Tokens     int    `json:"tokens"`     // of SKILL.md
	References int    `json:"references"` // of the files beside it, together
}

// Of takes the account of a catalog that is already within the bounds of its
// callers (catalog.Catalog.Within). An error is a call that a surface refused.
func Of(ctx context.Context, c *catalog.Catalog) (*Account, error) {
	a := &Account{Server: c.Server.Name, Encoding: "o200k_base", Tools: len(c.Tools()), Domains: len(c.Domains),
		Measured: Measured{Modes: []Mode{}, Domains: []Domain{}, Paths: []Path{}, Skills: []Skill{}},
		Computed: Computed{BreakEven: []BreakEven{}},
	}
	meters := map[string]*meter{}
	for _, name := range surface.Modes() {
		m := newMeter(ctx, c, name)
		meters[name] = m
		a.Measured.Modes = append(a.Measured.Modes, m.mode)
	}
	flat, meta := meters["flat"], meters["meta"]
	for _, d := range c.Domains {
		cost, err := domain(d, flat, meta)
		if err != nil {
			return nil, err
		}
		a.Measured.Domains = append(a.Measured.Domains, cost)
	}
	if meta.face != nil {
		a.Measured.Skills = skills(c, meta.face)
	}
	if flat.face == nil || meta.face == nil || len(c.Tools()) == 0 {
		return a, nil
	}
	var first session
	for _, w := range ways {
		if w.needs != nil && !w.needs(c) {
			continue
		}
		path, s, err := walk(c, w, meters[w.mode])
		if err != nil {
			return nil, err
		}
		if a.Measured.Paths = append(a.Measured.Paths, path); len(a.Measured.Paths) == 1 {
			first = s
			continue
		}
		a.Computed.BreakEven = append(a.Computed.BreakEven, breakEven(w.name, first, s))
	}
	return a, nil
}

// domain counts the tools of a domain as flat lists them, and their summaries as
// meta does.
func domain(d *catalog.Domain, flat, meta *meter) (Domain, error) {
	cost := Domain{Name: d.Name, Tools: []Tool{}}
	var entries []*mcp.Tool
	for _, t := range d.Tools {
		entry := flat.listed[t.Name]
		entries = append(entries, entry)
		cost.Tools = append(cost.Tools, Tool{t.Name, tokens.Tool(entry), tokens.Count(string(t.InputSchema))})
	}
	cost.Tokens = tokens.List(entries)
	if meta.face == nil || len(d.Tools) == 0 {
		return cost, nil
	}
	x, err := meta.make(list(d))
	cost.Summaries = x.answer
	return cost, err
}

// skills counts the files of each skill.
func skills(c *catalog.Catalog, meta surface.Surface) []Skill {
	all := []Skill{}
	for _, s := range c.Skills {
		cost := Skill{Name: s.Name, Tools: len(s.Tools)}
		for i, f := range skill.Files(c, s, meta.Spell) {
			if n := tokens.Count(f.Text); i == 0 {
				cost.Tokens = n
			} else {
				cost.References += n
			}
		}
		all = append(all, cost)
	}
	return all
}

// figure is the mean and the spread of a measure; the zero value without any.
func figure(counts []int) Figure {
	if len(counts) == 0 {
		return Figure{}
	}
	f := Figure{Tools: len(counts), Min: slices.Min(counts), Max: slices.Max(counts)}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	f.Mean = float64(sum) / float64(len(counts))
	return f
}

// meter makes calls on a surface and counts them.
type meter struct {
	ctx    context.Context
	mode   Mode
	face   surface.Surface      // nil where the catalog cannot be served in the mode
	listed map[string]*mcp.Tool // by name
	made   map[string]exchange  // by the text of the call
	ran    string               // the tool that the program was last asked for
}

// exchange is a call and its answer, in tokens, and the tool of the catalog that it
// ran, if any.
type exchange struct {
	call, answer int
	ran          string
}

func newMeter(ctx context.Context, c *catalog.Catalog, mode string) *meter {
	m := &meter{ctx: ctx, mode: Mode{Name: mode}, listed: map[string]*mcp.Tool{}, made: map[string]exchange{}}
	face, err := surface.New(mode, c, func(_ context.Context, _ call.Caller, tool string, _ json.RawMessage) call.Result {
		m.ran = tool
		return call.Result{}
	})
	if err != nil {
		m.mode.Fault = err.Error()
		return m
	}
	m.face = face
	for _, t := range face.Tools() {
		m.listed[t.Name] = t
	}
	m.mode.Tokens, m.mode.Listed = tokens.List(face.Tools()), len(face.Tools())
	m.mode.Instructions = tokens.Count(face.Instructions())
	return m
}

// make makes a call and counts it. One that was made before is not made again.
func (m *meter) make(r request) (exchange, error) {
	if x, ok := m.made[r.text()]; ok {
		return x, nil
	}
	m.ran = ""
	result, err := m.face.Call(m.ctx, call.Caller{}, r.tool, r.args)
	if err != nil {
		return exchange{}, fmt.Errorf("%s mode: %s: %w", m.mode.Name, r.text(), err)
	}
	var answer []string
	for _, block := range result.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			answer = append(answer, t.Text)
		}
	}
	if result.IsError || result.Meta != nil {
		return exchange{}, fmt.Errorf("%s mode: %s was not taken as it was made: %s", m.mode.Name, r.text(), strings.Join(answer, "\n"))
	}
	x := exchange{tokens.Count(r.tool) + tokens.Count(string(r.args)), tokens.Count(strings.Join(answer, "\n")), m.ran}
	m.made[r.text()] = x
	return x, nil
}

// run makes the call of a tool, as the surface spells it.
func (m *meter) run(t *catalog.Tool) (request, exchange, error) {
	tool, args := m.face.Spell(t, arguments(t))
	r := request{tool, args}
	x, err := m.make(r)
	if err == nil && x.ran != t.Name {
		err = fmt.Errorf("%s mode: %s ran %q, not %s", m.mode.Name, r.text(), x.ran, t.Name)
	}
	return r, x, err
}

// arguments are those that a tool is called with: of its first example, or else
// each required argument with an example value of it, or with the name of its type
// in the place of one. The program looks at none of them.
func arguments(t *catalog.Tool) json.RawMessage {
	if len(t.Examples) > 0 {
		return t.Examples[0].Arguments
	}
	var members []string
	for _, a := range signature.Arguments(t.InputSchema) {
		if !a.Required {
			continue
		}
		value := quoted(a.Type)
		if len(a.Examples) > 0 {
			value = string(a.Examples[0])
		}
		members = append(members, quoted(a.Name)+":"+value)
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// quoted is a text as a JSON string, characters of HTML as they are.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // text is always JSON
	return strings.TrimSuffix(b.String(), "\n")
}
