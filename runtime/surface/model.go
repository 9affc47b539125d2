package surface

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/clip"
	"github.com/metacue/metacue/runtime/search"
	"github.com/metacue/metacue/runtime/signature"
)

// stateDeadline bounds the requests for live state, all together: an agent waits
// for them each time it looks.
const stateDeadline = 5 * time.Second

// maxStateError is how much of an error, in bytes, stands in the place of a state.
const maxStateError = 1024

// maxStates bounds, in bytes, what an answer holds of live state, all together.
const maxStates = 256 << 10

// operationArgument names the operation that is run, operationsArgument those of a
// domain that are told of alone.
const (
	operationArgument  = "operation"
	operationsArgument = "operations"
)

// model lists two tools: one tells what there is, and how it is now, the other
// runs it.
type model struct {
	front
}

func newModel(c *catalog.Catalog, do call.Func) Surface {
	m := &model{front{catalog: c, index: search.New(c), do: do}}
	describes, acts := modelNames(c)
	m.by = func(*catalog.Tool) string { return acts }
	m.says = describes + " tells what there is, " + acts + " runs it. Skip what you already know."
	looks := finds
	looks.OpenWorld = slices.ContainsFunc(c.Domains, func(d *catalog.Domain) bool { return len(d.State) > 0 })
	asks := []member{property("domain", schema{Type: "string", Enum: m.domains()})}
	if slices.ContainsFunc(c.Domains, tooLarge) { // everywhere else nobody needs it
		asks = append(asks, property(operationsArgument, schema{Type: "array", Items: &schema{Type: "string"}}))
	}
	m.list(
		ownTool{&mcp.Tool{
			Name:        describes,
			Description: "Describe the domains and their state; with domain, its operations.",
			Annotations: annotations(looks),
			InputSchema: inputSchema(nil, asks...),
		}, m.describe},
		ownTool{&mcp.Tool{
			Name:        acts,
			Description: "Run an operation, directly if you know its params.",
			Annotations: annotations(worst(c.Tools())),
			InputSchema: inputSchema([]string{"domain", "operation"},
				property("domain", schema{Type: "string"}),
				property(operationArgument, schema{Type: "string"}),
				property("params", schema{Type: "object"})),
		}, m.act},
	)
	return m
}

// modelNames gives the names of the two tools, which carry that of the server.
func modelNames(c *catalog.Catalog) (describes, acts string) {
	return c.Server.Name + "_model", c.Server.Name + "_action"
}

// checkModel finds tools that have the names of the two, and a server whose name
// leaves no room for them.
func checkModel(c *catalog.Catalog) []Fault {
	describes, acts := modelNames(c)
	faults := reserved("model", c, describes, acts)
	if n := len(c.Server.Name) + 1 + len(acts); n > maxName {
		faults = append(faults, Fault{[]string{"server", "name"}, fmt.Sprintf(
			"is too long for model mode: the name of its tool %s has %d characters with that of the server in front, and clients take at most %d", acts, n, maxName)})
	}
	return faults
}

// modelDomain is a domain in the answer of model without one.
type modelDomain struct {
	Summary     string          `json:"summary"`
	Queries     int             `json:"queries"`
	Mutations   int             `json:"mutations"`
	Destructive int             `json:"destructive,omitempty"` // of the mutations
	State       json.RawMessage `json:"state,omitempty"`
}

// modelOperation is an operation of a domain.
type modelOperation struct {
	Name        string                `json:"name"`
	Description string                `json:"description,omitempty"`
	Destructive bool                  `json:"destructive,omitempty"`
	Params      []signature.Parameter `json:"params,omitzero"` // nil where it is not told
	Returns     string                `json:"returns,omitempty"`
}

// modelOperations are the operations of a domain in the answer of model with one.
type modelOperations struct {
	Domain      string           `json:"domain"`
	Description string           `json:"description"`
	State       json.RawMessage  `json:"state,omitempty"`
	Queries     []modelOperation `json:"queries"`
	Mutations   []modelOperation `json:"mutations"`
	Hint        string           `json:"hint,omitempty"`
}

// whole is an operation with all that there is to tell of it.
func whole(t *catalog.Tool) modelOperation {
	o := modelOperation{t.Name, t.Description, t.Effect == catalog.Destructive, signature.Parameters(t.InputSchema), t.Returns}
	if o.Params == nil {
		o.Params = []signature.Parameter{}
	}
	if t.OutputSchema != nil {
		o.Returns = signature.Shape(t.OutputSchema)
	}
	return o
}

// told sorts tools into queries and mutations, each with what about tells of it.
func (o modelOperations) told(tools []*catalog.Tool, about func(*catalog.Tool) modelOperation) modelOperations {
	o.Queries, o.Mutations = []modelOperation{}, []modelOperation{}
	for _, t := range tools {
		if t.Effect == catalog.Read {
			o.Queries = append(o.Queries, about(t))
		} else {
			o.Mutations = append(o.Mutations, about(t))
		}
	}
	return o
}

// tooLarge says whether the operations of a domain are not all told whole.
func tooLarge(d *catalog.Domain) bool {
	return len(compact(modelOperations{}.told(d.Tools, whole))) > maxAnswer
}

// describe tells of all domains, or of the operations of one, or of some of those.
func (m *model) describe(ctx context.Context, caller call.Caller, e *envelope) call.Result {
	name := e.text("domain", false)
	operations, _ := e.texts(operationsArgument)
	if name == "" && len(operations) > 0 {
		e.faults = append(e.faults, "missing argument: domain, that of the "+operationsArgument)
	}
	if refusal, bad := e.close(); bad {
		return refusal
	}
	if name == "" {
		states := m.states(ctx, caller, m.catalog.Domains...)
		domains := []member{}
		for i, d := range m.catalog.Domains {
			about := modelDomain{Summary: d.Summary, State: states[i]}
			for _, t := range d.Tools {
				switch t.Effect {
				case catalog.Read:
					about.Queries++
				case catalog.Destructive:
					about.Destructive++
					about.Mutations++
				default:
					about.Mutations++
				}
			}
			domains = append(domains, property(d.Name, about))
		}
		return answer(struct {
			Domains json.RawMessage `json:"domains"`
		}{writeObject(domains)})
	}
	d, ok := m.catalog.Domain(name)
	if !ok {
		var u unknown
		u.add("domain", name, m.domains())
		return u.refusal()
	}
	tools := d.Tools
	if len(operations) > 0 {
		tools = nil
		var u unknown
		for _, name := range operations {
			if t, ok := m.catalog.Tool(name); ok && t.Domain == d.Name {
				tools = append(tools, t)
			} else {
				u.add("operation", name, namesOfTools(d.Tools))
			}
		}
		if len(u.faults) > 0 {
			return u.refusal()
		}
	}
	about := modelOperations{Domain: d.Name, Description: d.Description, State: m.states(ctx, caller, d)[0]}
	brief := about
	brief.Hint = "there are too many operations to tell more of each: name those to be told of whole in " + operationsArgument
	return briefly(
		func() any { return about.told(tools, whole) },
		func() any {
			return brief.told(tools, func(t *catalog.Tool) modelOperation {
				return modelOperation{Name: t.Name, Description: t.Description, Destructive: t.Effect == catalog.Destructive}
			})
		},
		func() any {
			return brief.told(tools, func(t *catalog.Tool) modelOperation { return modelOperation{Name: t.Name} })
		})
}

// states asks for the live state of domains, all requests at once, and gives for
// each domain an object of what they answer; nil for one without state. What is
// not answered within the deadline, or fails, shows its error.
func (m *model) states(ctx context.Context, caller call.Caller, domains ...*catalog.Domain) []json.RawMessage {
	ctx, cancel := context.WithTimeout(ctx, stateDeadline)
	defer cancel()
	var wait sync.WaitGroup
	values := make([][]member, len(domains))
	for i, d := range domains {
		values[i] = make([]member, len(d.State))
		for j, t := range d.State {
			wait.Go(func() { values[i][j] = member{t.Title, m.state(ctx, caller, t)} })
		}
	}
	wait.Wait()
	withinShares(values)
	states := make([]json.RawMessage, len(domains))
	for i := range domains {
		if len(values[i]) > 0 {
			states[i] = writeObject(values[i])
		}
	}
	return states
}

// withinShares leaves out the large ones of states that together have more than
// maxStates: those that have more than their share of it.
func withinShares(values [][]member) {
	n, size := 0, 0
	for _, v := range slices.Concat(values...) {
		n, size = n+1, size+len(v.value)
	}
	if size <= maxStates {
		return
	}
	for _, domain := range values {
		for i, v := range domain {
			if len(v.value) > maxStates/n {
				domain[i].value = compact(stateError{fmt.Sprintf("its %d bytes are too many beside the other states", len(v.value))})
			}
		}
	}
}

// stateError stands in the place of a state.
type stateError struct {
	Error string `json:"error"`
}

// state asks for one state, and no longer than its context lasts.
func (m *model) state(ctx context.Context, caller call.Caller, t *catalog.Tool) json.RawMessage {
	answered := make(chan call.Result, 1)
	go func() { answered <- m.do(ctx, caller, t.Name, nil) }()
	var r call.Result
	select {
	case r = <-answered:
	case <-ctx.Done():
		r = call.Error(fmt.Sprintf("no answer within %s", stateDeadline))
	}
	value := json.RawMessage("null")
	switch {
	case len(r.Content) == 0:
	case r.Content[0].Data != nil:
		r = call.Error("the answer is no text")
	case json.Valid([]byte(r.Content[0].Text)):
		value = json.RawMessage(r.Content[0].Text)
	default:
		value = compact(r.Content[0].Text)
	}
	if !r.IsError {
		return value
	}
	// An error in JSON says itself what it is.
	why := text(get(read(value), "error"))
	if why == "" && len(r.Content) > 0 {
		why = r.Content[0].Text
	}
	return compact(stateError{clip.Text(why, maxStateError)})
}

// act runs an operation. Names of tools are unique over the server, so that the
// domain says nothing more; one that is wrong is refused nevertheless.
func (m *model) act(ctx context.Context, caller call.Caller, e *envelope) call.Result {
	domain, operation, params := e.text("domain", false), e.text(operationArgument, true), e.optional("params")
	beside := e.members
	e.members = nil
	if refusal, bad := e.close(); bad {
		return refusal
	}
	var u unknown
	t, ok := m.catalog.Tool(operation)
	d, known := m.catalog.Domain(domain)
	switch {
	case domain != "" && !known:
		u.add("domain", domain, m.domains())
	case domain == "" && ok:
		e.repairs = append(e.repairs, "domain was left out and was read as "+t.Domain)
	case known && ok && t.Domain != domain:
		u.faults = append(u.faults, fmt.Sprintf("%s is no operation of %s, but of %s", echo(operation), domain, t.Domain))
		u.nearest = append(u.nearest, t.Domain)
	}
	switch {
	case !ok && known:
		u.add(operationArgument, operation, namesOfTools(d.Tools))
	case !ok: // all that there are would be too many to name
		u.faults, u.nearest = append(u.faults, "unknown operation: "+echo(operation)), append(u.nearest, nearestTools(m.index, m.catalog, operation)...)
	}
	if len(u.faults) > 0 {
		return u.refusal()
	}
	params, caller.Faults = e.fold(t, "params", params, beside)
	return withSignature(t, m.do(ctx, caller, t.Name, params))
}

// withSignature adds the signature of a tool to a refusal of its arguments.
func withSignature(t *catalog.Tool, r call.Result) call.Result {
	if members, ok := refused(t, r); ok {
		at := index(members, "inputSchema")
		members = slices.Insert(members, at, property("signature", signature.Of(t)))
		r.Content = []call.Content{{Text: string(writeObject(members))}}
	}
	return r
}
