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
	"github.com/metacue/metacue/runtime/search"
)

// front is what the surfaces share that list tools of their own in front of those
// of the catalog: meta, nouns and model. Beside its own it lists what the
// configuration pins.
type front struct {
	catalog *catalog.Catalog
	index   *search.Index
	do      call.Func
	tools   []*mcp.Tool
	own     map[string]ownTool
	plain   []string // tools of the catalog that are listed as flat lists them
	// by names the tool that runs one of the catalog's.
	by func(*catalog.Tool) string
	// strict refuses calls of tools by names that are not listed.
	strict bool
	// says how to work with the surface.
	says string
}

// ownTool is a tool of the surface itself: what is listed, and what a call does.
type ownTool struct {
	listed *mcp.Tool
	run    func(context.Context, call.Caller, *envelope) call.Result
}

// list takes the surface's own tools, and adds those that are listed plain: what is
// pinned, and what else the surface lists so.
func (f *front) list(own ...ownTool) {
	f.own, f.tools = map[string]ownTool{}, []*mcp.Tool{}
	for _, t := range own {
		f.own[t.listed.Name] = t
		f.tools = append(f.tools, t.listed)
	}
	for _, name := range f.catalog.Meta.Pin {
		if !slices.Contains(f.plain, name) {
			f.plain = append(f.plain, name)
		}
	}
	for _, name := range f.plain {
		if t, ok := f.catalog.Tool(name); ok {
			f.tools = append(f.tools, listed(t))
		}
	}
	sortTools(f.tools)
}

func (f *front) Tools() []*mcp.Tool   { return f.tools }
func (f *front) Instructions() string { return instructions(f.catalog, f.says) }

func (f *front) Declared(tool, argument string) []string {
	return declared(f.catalog, tool, argument)
}

func (f *front) Call(ctx context.Context, caller call.Caller, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	if t, ok := f.own[name]; ok {
		e := open(t.listed, args)
		r := t.run(ctx, caller, e)
		return result(r, e.repairs...), nil
	}
	t, ok := f.catalog.Tool(name)
	switch {
	case !ok:
		return nil, unknownTool(f.index, f.catalog, name, f.names()...)
	case f.isPlain(t) && name == t.Name:
		return result(f.do(ctx, caller, t.Name, args)), nil
	case f.strict:
		return result(elsewhere(name, name+" is not listed here", f.by(t))), nil
	}
	return result(f.do(ctx, caller, t.Name, args), fmt.Sprintf("%s is not listed here and was run as by %s", name, f.by(t))), nil
}

// isPlain says whether a tool is listed by its own name.
func (f *front) isPlain(t *catalog.Tool) bool { return slices.Contains(f.plain, t.Name) }

// names gives the names of the surface's own tools.
func (f *front) names() []string {
	var names []string
	for name := range f.own {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// elsewhere refuses a call of a tool that is to be called through another one.
func elsewhere(tool, why, by string) call.Result {
	r := answer(toolUnknown{echo(tool), why + ": call it through " + by, []string{by}})
	r.IsError = true
	return r
}

// refused gives the members of an answer that refuses the arguments of a tool: it
// names the tool and its schema.
func refused(t *catalog.Tool, r call.Result) ([]member, bool) {
	if !r.IsError || len(r.Content) != 1 || r.Content[0].Data != nil {
		return nil, false
	}
	members, err := readObject([]byte(r.Content[0].Text))
	return members, err == nil && text(get(members, "tool_name")) == t.Name && get(members, "inputSchema") != nil
}

// toolUnknown stands in the place of a tool that there is not.
type toolUnknown struct {
	ToolName string   `json:"tool_name"`
	Error    string   `json:"error"`
	Nearest  []string `json:"nearest,omitempty"`
}

// fold puts what stands beside the name of a tool, where a caller left the
// envelope out, into the arguments, which are called by the name within.
func (e *envelope) fold(t *catalog.Tool, within string, args json.RawMessage, beside []member) (json.RawMessage, []call.Fault) {
	if len(beside) == 0 {
		return args, nil
	}
	args, faults := fold(t, within, args, beside)
	if len(faults) == 0 {
		e.repairs = append(e.repairs, strings.Join(namesOf(beside), ", ")+" stood beside "+within+" and was read as part of it")
	}
	return args, faults
}

// fold gives all arguments in one object, and what of it could mean two things: those
// are faults of the call, which is checked with them for what else is wrong.
func fold(t *catalog.Tool, within string, args json.RawMessage, beside []member) (json.RawMessage, []call.Fault) {
	if absent(args) {
		return writeObject(beside), nil
	}
	var faults []call.Fault
	fault := func(format string, args ...any) {
		faults = append(faults, call.Fault{Message: fmt.Sprintf(format, args...)})
	}
	inner, _ := unquote(args, '{')
	members, err := readObject(inner)
	if slices.Contains(argumentsOf(t), within) {
		fault("%s has an argument called %s: put all arguments of the tool into %[2]s", t.Name, within)
	} else if err != nil {
		fault("%s must be a JSON object: %s", within, err)
	}
	if err != nil {
		members = nil // as far as it was read
	}
	for _, b := range beside {
		i := slices.IndexFunc(members, func(m member) bool { return m.name == b.name })
		switch {
		case i < 0:
			members = append(members, b)
		case string(members[i].value) != string(b.value):
			fault("%s is given twice, in %s and beside it: put it into %[2]s", echo(b.name), within)
		}
	}
	return writeObject(members), faults
}

// argumentsOf gives the names of a tool's arguments, as declared.
func argumentsOf(t *catalog.Tool) []string {
	var own struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.InputSchema, &own) != nil {
		return nil
	}
	var names []string
	members, _ := readObject(own.Properties)
	for _, m := range members {
		names = append(names, m.name)
	}
	return names
}

// unknown gathers the names of one call that mean nothing.
type unknown struct {
	faults, nearest []string
}

// maxThere is how many names an answer gives of those that there are.
const maxThere = 100

// add notes that there is no domain or action of a name. Where none of those
// there are is near, all are named, unless they are too many.
func (u *unknown) add(kind, name string, there []string) {
	fault := fmt.Sprintf("unknown %s: %s", kind, echo(name))
	near := nearest.Names(name, there)
	if len(near) == 0 && len(there) > 0 && len(there) <= maxThere {
		fault += "; there are " + strings.Join(there, ", ")
	}
	u.faults = append(u.faults, fault)
	u.nearest = append(u.nearest, near...)
}

func (u *unknown) refusal() call.Result {
	r := answer(struct {
		Error   string   `json:"error"`
		Nearest []string `json:"nearest,omitempty"`
	}{strings.Join(u.faults, "; "), u.nearest})
	r.IsError = true
	return r
}

// answer is v as compact JSON in one block of text.
func answer(v any) call.Result { return call.Text(string(compact(v))) }

// maxAnswer bounds, in bytes, what an answer tells of a domain: as much as a result of
// a tool may have (maxBytes of a response, unless it is set).
const maxAnswer = 256 << 10

// briefly gives the first of several answers that is within maxAnswer, from the one that
// tells all of each tool to the one that tells its name, which is given whatever its
// length: no tool is left out. Those that leave out something must say so.
func briefly(answers ...func() any) call.Result {
	var said json.RawMessage
	for _, a := range answers {
		if said = compact(a()); len(said) <= maxAnswer {
			break
		}
	}
	return call.Text(string(said))
}

// domains, actions and summaries give what is in use, as declared.
func (f *front) domains() []string {
	var names []string
	for _, d := range f.catalog.Domains {
		names = append(names, d.Name)
	}
	return names
}

func (f *front) actions() []string {
	var names []string
	for _, a := range f.catalog.ActionsInUse() {
		names = append(names, a.Name)
	}
	return names
}

func summaries(domains []*catalog.Domain) string {
	var s []string
	for _, d := range domains {
		s = append(s, d.Name+" ("+strings.TrimSuffix(d.Summary, ".")+")")
	}
	return strings.Join(s, ", ")
}

// finds is what tools of a surface do that answer from the catalog alone.
var finds = catalog.Annotations{ReadOnly: true, Idempotent: true}

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

// schema is as much of JSON Schema as the arguments of a surface's own tools need.
type schema struct {
	Type  string   `json:"type,omitempty"`
	Enum  []string `json:"enum,omitempty"`
	Items *schema  `json:"items,omitempty"`
}

// property is a member of an object, such as one property of an inputSchema.
func property(name string, value any) member { return member{name, compact(value)} }

// inputSchema is the schema of an object, its properties in the order given.
// properties is there even when empty: some hosts refuse a schema without it.
func inputSchema(required []string, properties ...member) json.RawMessage {
	return compact(struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required,omitempty"`
	}{"object", writeObject(properties), required})
}
