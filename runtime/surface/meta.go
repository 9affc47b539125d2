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
	"github.com/metacue/metacue/runtime/nearest"
)

// The tools of meta.
const (
	listDomains     = "list_domains"
	listDomainTools = "list_domain_tools"
	getToolSchema   = "get_tool_schema"
	executeTool     = "execute_tool"
)

// metaInstructions says how to work with them.
const metaInstructions = "list_domain_tools finds tools, get_tool_schema gives their arguments, execute_tool runs them. Skip what you already know."

// meta lists four tools, whatever the number behind them: three that find a
// tool, one that runs it.
type meta struct {
	catalog *catalog.Catalog
	do      call.Func
	tools   []*mcp.Tool
	own     map[string]metaTool
}

// metaTool is one of the four: what is listed, and what a call does.
type metaTool struct {
	listed *mcp.Tool
	run    func(context.Context, call.Caller, *envelope) call.Result
}

func newMeta(c *catalog.Catalog, do call.Func) Surface {
	m := &meta{catalog: c, do: do, own: map[string]metaTool{}}
	finds := annotations(catalog.Annotations{ReadOnly: true, Idempotent: true})
	for _, t := range []metaTool{
		{&mcp.Tool{
			Name:        listDomains,
			Description: "Describe the domains.",
			Annotations: finds,
			InputSchema: inputSchema(nil),
		}, m.listDomains},
		{&mcp.Tool{
			Name:        listDomainTools,
			Description: "List a domain's tools. Domains: " + m.summaries(),
			Annotations: finds,
			InputSchema: inputSchema([]string{"domain"},
				property("domain", schema{Type: "string", Enum: m.domains()}),
				property("action", schema{Type: "string", Enum: m.actions()})),
		}, m.listDomainTools},
		{&mcp.Tool{
			Name:        getToolSchema,
			Description: "Get the schema and examples of one or several tools.",
			Annotations: finds,
			InputSchema: inputSchema(nil,
				property("tool_name", schema{Type: "string"}),
				property("tool_names", schema{Type: "array", Items: &schema{Type: "string"}})),
		}, m.getToolSchema},
		{&mcp.Tool{
			Name:        executeTool,
			Description: "Run a tool. Call directly if you know name and arguments.",
			Annotations: annotations(worst(c.Tools())),
			InputSchema: inputSchema([]string{"tool_name"},
				property("tool_name", schema{Type: "string"}),
				property("arguments", schema{Type: "object"})),
		}, m.executeTool},
	} {
		m.own[t.listed.Name] = t
		m.tools = append(m.tools, t.listed)
	}
	sortTools(m.tools)
	return m
}

func (m *meta) Tools() []*mcp.Tool { return m.tools }

func (m *meta) Instructions() string {
	return strings.TrimSpace(m.catalog.Server.Instructions + "\n" + metaInstructions)
}

func (m *meta) Call(ctx context.Context, caller call.Caller, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	if t, ok := m.own[name]; ok {
		e := open(t.listed, args)
		r := t.run(ctx, caller, e)
		return result(r, e.repairs...), nil
	}
	t, ok := m.catalog.Tool(name)
	if !ok {
		return nil, unknownTool(m.catalog, name, listDomains, listDomainTools, getToolSchema, executeTool)
	}
	return result(m.do(ctx, caller, t.Name, args), name+" is not listed here and was run as by "+executeTool), nil
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
	Description string          `json:"description"`
	Action      string          `json:"action"`
	Defaults    json.RawMessage `json:"defaults,omitempty"`
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
	tools := []toolSummary{}
	for _, t := range d.Tools {
		if action == "" || action == t.Action {
			tools = append(tools, toolSummary{t.Name, t.Description, t.Action, t.Defaults})
		}
	}
	return answer(struct {
		Domain string        `json:"domain"`
		Action string        `json:"action,omitempty"`
		Tools  []toolSummary `json:"tools"`
	}{domain, action, tools})
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

// toolUnknown stands in the place of a tool that there is not.
type toolUnknown struct {
	ToolName string   `json:"tool_name"`
	Error    string   `json:"error"`
	Nearest  []string `json:"nearest"`
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

// about is what there is to say of a tool, a toolSchema or a toolUnknown.
func (m *meta) about(name string) (any, bool) {
	t, ok := m.catalog.Tool(name)
	if !ok {
		return toolUnknown{clip(name), "unknown tool: " + clip(name), nearestTools(m.catalog, name)}, false
	}
	s := toolSchema{t.Name, t.Description, t.Domain, t.Action, t.InputSchema, t.OutputSchema, nil}
	for _, x := range t.Examples {
		s.Examples = append(s.Examples, toolExample(x))
	}
	return s, true
}

func (m *meta) executeTool(ctx context.Context, caller call.Caller, e *envelope) call.Result {
	name, args := e.text("tool_name", true), e.optional("arguments")
	beside := e.members
	e.members = nil
	if refusal, bad := e.close(); bad {
		return refusal
	}
	t, ok := m.catalog.Tool(name)
	if !ok {
		about, _ := m.about(name)
		if u := about.(toolUnknown); m.own[name].listed != nil {
			u.Error, u.Nearest = name+" is called by itself, not through "+executeTool, []string{name}
			about = u
		}
		r := answer(about)
		r.IsError = true
		return r
	}
	if len(beside) > 0 {
		var fault string
		if args, fault = fold(t, args, beside); fault != "" {
			return wrongArguments(fault, t.Name, t.InputSchema)
		}
		e.repairs = append(e.repairs, strings.Join(namesOf(beside), ", ")+" stood beside arguments and was read as part of it")
	}
	return m.do(ctx, caller, t.Name, args)
}

// fold puts what stands beside tool_name, where a caller left the envelope out,
// into the arguments. The fault is not empty when that could mean two things.
func fold(t *catalog.Tool, args json.RawMessage, beside []member) (_ json.RawMessage, fault string) {
	if absent(args) {
		return writeObject(beside), ""
	}
	var own struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(t.InputSchema, &own); err != nil || own.Properties["arguments"] != nil {
		return nil, t.Name + " has an argument called arguments: put all arguments of the tool into arguments"
	}
	inner, _ := unquote(args, '{')
	members, err := readObject(inner)
	if err != nil {
		return nil, "arguments must be a JSON object: " + err.Error()
	}
	for _, b := range beside {
		i := slices.IndexFunc(members, func(m member) bool { return m.name == b.name })
		switch {
		case i < 0:
			members = append(members, b)
		case string(members[i].value) != string(b.value):
			return nil, fmt.Sprintf("%s is given twice, in arguments and beside it: put it into arguments", clip(b.name))
		}
	}
	return writeObject(members), ""
}

// unknown gathers the names of one call that mean nothing.
type unknown struct {
	faults, nearest []string
}

// add notes that there is no domain or action of a name. Where none of those
// there are is near, all are named.
func (u *unknown) add(kind, name string, there []string) {
	fault := fmt.Sprintf("unknown %s: %s", kind, clip(name))
	near := nearest.Names(name, there)
	if len(near) == 0 && len(there) > 0 {
		fault += "; there are " + strings.Join(there, ", ")
	}
	u.faults = append(u.faults, fault)
	u.nearest = append(u.nearest, near...)
}

func (u *unknown) refusal() call.Result {
	r := answer(struct {
		Error   string   `json:"error"`
		Nearest []string `json:"nearest"`
	}{strings.Join(u.faults, "; "), append([]string{}, u.nearest...)})
	r.IsError = true
	return r
}

// answer is v as compact JSON in one block of text.
func answer(v any) call.Result { return call.Text(string(compact(v))) }

// domains, actions and summaries give what is in use, as declared.
func (m *meta) domains() []string {
	var names []string
	for _, d := range m.catalog.Domains {
		names = append(names, d.Name)
	}
	return names
}

func (m *meta) actions() []string {
	var names []string
	for _, a := range m.catalog.ActionsInUse() {
		names = append(names, a.Name)
	}
	return names
}

func (m *meta) summaries() string {
	var s []string
	for _, d := range m.catalog.Domains {
		s = append(s, d.Name+" ("+strings.TrimSuffix(d.Summary, ".")+")")
	}
	return strings.Join(s, ", ")
}

// worst is what calling any of tools can do.
func worst(tools []*catalog.Tool) catalog.Annotations {
	a := catalog.Annotations{ReadOnly: true, Idempotent: true}
	for _, t := range tools {
		a.ReadOnly = a.ReadOnly && t.Annotations.ReadOnly
		a.Destructive = a.Destructive || t.Annotations.Destructive
		a.Idempotent = a.Idempotent && t.Annotations.Idempotent
		a.OpenWorld = a.OpenWorld || t.Annotations.OpenWorld
	}
	return a
}

// schema is as much of JSON Schema as the arguments of the four need.
type schema struct {
	Type  string   `json:"type"`
	Enum  []string `json:"enum,omitempty"`
	Items *schema  `json:"items,omitempty"`
}

// property is one property of an inputSchema.
func property(name string, s schema) member { return member{name, compact(s)} }

// inputSchema is the schema of an object, its properties in the order given.
// properties is there even when empty: some hosts refuse a schema without it.
func inputSchema(required []string, properties ...member) json.RawMessage {
	return compact(struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required,omitempty"`
	}{"object", writeObject(properties), required})
}
