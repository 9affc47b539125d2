package surface

import (
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

// The tools of meta that are always there.
const (
	listDomains     = "list_domains"
	listDomainTools = "list_domain_tools"
	getToolSchema   = "get_tool_schema"
	executeTool     = "execute_tool"
)

// metaInstructions says how to work with what m lists.
func (m *meta) instructions() string {
	finds, runs := listDomainTools+" finds", []string{}
	for _, t := range m.tools {
		switch {
		case t.Name == searchTools:
			finds = listDomainTools + " and " + t.Name + " find"
		case slices.ContainsFunc(m.runners(), func(r runner) bool { return r.execute == t.Name }):
			runs = append(runs, t.Name)
		}
	}
	run := strings.Join(runs, ", ") + " runs them"
	if len(runs) > 1 {
		run = strings.Join(runs, ", ") + " run them by their effect"
	}
	return fmt.Sprintf("%s tools, %s gives their arguments, %s. Skip what you already know.", finds, getToolSchema, run)
}

// meta lists four tools, whatever the number behind them: three that find a
// tool, one that runs it. Options of the configuration add to them; each has its
// part in options.go.
type meta struct {
	front
}

func newMeta(c *catalog.Catalog, do call.Func) Surface {
	m := &meta{front{catalog: c, index: search.New(c), do: do, strict: c.Meta.ByEffect}}
	m.by = func(t *catalog.Tool) string { return m.runner(t.Effect).execute }
	own := []ownTool{
		{&mcp.Tool{
			Name:        listDomains,
			Description: "Describe domains.",
			Annotations: annotations(finds),
			InputSchema: inputSchema(nil),
		}, m.listDomains},
		{&mcp.Tool{
			Name:        listDomainTools,
			Description: "List tools. Domains: " + summaries(c.Domains),
			Annotations: annotations(finds),
			InputSchema: inputSchema([]string{"domain"},
				property("domain", schema{Type: "string", Enum: m.domains()}),
				property("action", schema{Type: "string", Enum: m.actions()})),
		}, m.listDomainTools},
		{&mcp.Tool{
			Name:        getToolSchema,
			Description: "Get schemas and examples.",
			Annotations: annotations(finds),
			InputSchema: inputSchema(nil,
				property("tool_name", schema{Type: "string"}),
				property("tool_names", schema{Type: "array", Items: &schema{Type: "string"}})),
		}, m.getToolSchema},
	}
	own = append(own, m.executeTools()...)
	if c.Meta.Search {
		own = append(own, m.searchTool())
	}
	own = append(own, m.apiRequests()...)
	m.list(own...)
	m.says = m.instructions()
	return m
}

// checkMeta finds tools that have the names of the surface's own.
func checkMeta(c *catalog.Catalog) []Fault {
	return reserved("meta", c, newMeta(c, nil).(*meta).names()...)
}

// domainFull is a domain in the answer of list_domains.
type domainFull struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func (m *meta) listDomains(_ context.Context, _ call.Caller, e *envelope) call.Result {
	if refusal, bad := e.close(); bad {
		return refusal
	}
	domains := []domainFull{}
	for _, d := range m.catalog.Domains {
		domains = append(domains, domainFull{d.Name, d.Description})
	}
	return answer(struct {
		Domains []domainFull `json:"domains"`
	}{domains})
}

// toolSummary is a tool in the answer of list_domain_tools.
type toolSummary struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"` // always, unless there are too many
	Domain      string          `json:"domain,omitempty"`      // where it is not asked for
	Action      string          `json:"action"`
	Signature   string          `json:"signature,omitempty"`
	Defaults    json.RawMessage `json:"defaults,omitempty"`
}

// summary is what a list tells of a tool.
func (m *meta) summary(t *catalog.Tool) toolSummary {
	s := toolSummary{Name: t.Name, Description: t.Description, Action: t.Action, Defaults: t.Defaults}
	if m.catalog.Meta.Signatures {
		s.Signature = signature.Of(t)
	}
	return s
}

func (m *meta) listDomainTools(_ context.Context, _ call.Caller, e *envelope) call.Result {
	domain, action := e.text("domain", true), e.text("action", false)
	if refusal, bad := e.close(); bad {
		return refusal
	}
	d, ok := m.catalog.Domain(domain)
	var u unknown
	if !ok {
		u.add("domain", domain, m.domains())
	}
	if action != "" && !slices.Contains(m.actions(), action) {
		u.add("action", action, m.actions())
	}
	if len(u.faults) > 0 {
		return u.refusal()
	}
	told := func(hint string, summary func(*catalog.Tool) toolSummary) func() any {
		return func() any {
			tools := []toolSummary{}
			for _, t := range d.Tools {
				if action == "" || action == t.Action {
					tools = append(tools, summary(t))
				}
			}
			return domainTools{domain, action, tools, hint}
		}
	}
	const hint = "there are too many tools to tell more of each: " + getToolSchema + " tells all of those that you name"
	return briefly(told("", m.summary),
		told(hint, func(t *catalog.Tool) toolSummary {
			return toolSummary{Name: t.Name, Description: t.Description, Action: t.Action}
		}),
		told(hint, func(t *catalog.Tool) toolSummary { return toolSummary{Name: t.Name, Action: t.Action} }))
}

// domainTools is the answer of list_domain_tools.
type domainTools struct {
	Domain string        `json:"domain"`
	Action string        `json:"action,omitempty"`
	Tools  []toolSummary `json:"tools"`
	Hint   string        `json:"hint,omitempty"`
}

// toolSchema is a tool in the answer of get_tool_schema.
type toolSchema struct {
	ToolName     string          `json:"tool_name"`
	Description  string          `json:"description"`
	Domain       string          `json:"domain"`
	Action       string          `json:"action"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Examples     []toolExample   `json:"examples,omitempty"`
}

// toolExample is one whole call.
type toolExample struct {
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

func (m *meta) getToolSchema(_ context.Context, _ call.Caller, e *envelope) call.Result {
	// Both arguments are read alike: a model that has seen one of them sends
	// either kind under either name.
	names, single := e.texts("tool_name")
	more, _ := e.texts("tool_names")
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if several := m.several(e, names); several != nil {
		names, single = several, false
	}
	if len(names) == 0 && len(e.faults) == 0 {
		e.faults = append(e.faults, "missing argument: give tool_name or tool_names")
	}
	if refusal, bad := e.close(); bad {
		return refusal
	}
	if single && len(more) == 0 {
		about, ok := m.about(names[0])
		return call.Result{Content: answer(about).Content, IsError: !ok}
	}
	tools, known := make([]any, len(names)), false
	for i, n := range names {
		var ok bool
		tools[i], ok = m.about(n)
		known = known || ok
	}
	r := answer(struct {
		Tools []any `json:"tools"`
	}{tools})
	r.IsError = !known
	return r
}

// several reads names that are each several, with commas between them, as those: nil
// where no name is. Where a part is no tool it is a name that there is not.
func (m *meta) several(e *envelope, names []string) []string {
	var all []string
	found := false
	for _, name := range names {
		parts := strings.Split(name, ",")
		for i, part := range parts {
			parts[i] = strings.TrimSpace(part)
		}
		if len(parts) == 1 || slices.ContainsFunc(parts, func(part string) bool { _, ok := m.catalog.Tool(part); return !ok }) {
			parts = []string{name}
		} else {
			found = true
			e.repairs = append(e.repairs, fmt.Sprintf("%s was read as the names in it", echo(name)))
		}
		for _, part := range parts {
			if !slices.Contains(all, part) {
				all = append(all, part)
			}
		}
	}
	switch {
	case !found:
		return nil
	case len(all) > maxNames:
		e.faults = append(e.faults, fmt.Sprintf("%d names are asked for: ask for at most %d at a time", len(all), maxNames))
	}
	return all
}

// about is what there is to say of a tool, a toolSchema or a toolUnknown.
func (m *meta) about(name string) (any, bool) {
	t, ok := m.catalog.Tool(name)
	if !ok {
		return toolUnknown{echo(name), "unknown tool: " + echo(name), nearestTools(m.index, m.catalog, name)}, false
	}
	s := toolSchema{t.Name, t.Description, t.Domain, t.Action, t.InputSchema, t.OutputSchema, nil}
	for _, x := range t.Examples {
		s.Examples = append(s.Examples, toolExample(x))
	}
	return s, true
}

// executeTool runs a tool of an effect; "" is any.
func (m *meta) executeTool(ctx context.Context, caller call.Caller, effect catalog.Effect, e *envelope) call.Result {
	name, args := e.text("tool_name", true), e.optional("arguments")
	beside := e.members
	e.members = nil
	if refusal, bad := e.close(); bad {
		return refusal
	}
	t, ok := m.catalog.Tool(name)
	switch {
	case !ok && m.own[name].listed != nil:
		r := answer(toolUnknown{name, name + " is called by itself, not through " + e.tool.Name, []string{name}})
		r.IsError = true
		return r
	case !ok:
		about, _ := m.about(name)
		r := answer(about)
		r.IsError = true
		return r
	case effect != "" && effect != t.Effect:
		right := m.runner(t.Effect)
		return elsewhere(name, name+" "+right.does, right.execute)
	}
	args, caller.Faults = e.fold(t, "arguments", args, beside)
	return m.do(ctx, caller, t.Name, args)
}
