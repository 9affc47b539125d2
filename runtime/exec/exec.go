// Package exec is the program: how each tool of the catalog does its work. Its
// one method, Program.Call, takes a call from any surface through the same
// stages, each in a file of its own:
//
//	bounds ▶ repair ▶ validate ▶ fill in ▶ verify ▶ steps (bind ▶ rest) ▶ shape
//
// It knows nothing of MCP and nothing of how a configuration is written.
package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/clip"
	"github.com/metacue/metacue/runtime/jsonschema"
	"github.com/metacue/metacue/runtime/nearest"
	"github.com/metacue/metacue/runtime/rest"
)

// Program does the work of every tool of a catalog. It is immutable and safe
// for concurrent use.
type Program struct {
	// Catalog is what there is.
	Catalog *catalog.Catalog
	// Tools says how each is done, by name.
	Tools map[string]*Tool
	// Client talks to the upstreams.
	Client Client
	// Limits bound the arguments of a call.
	Limits bind.Bounds
	// Sealer makes the cursors of tools with pages.
	Sealer Sealer
	// SealKey is the secret that the Sealer's key is made of; nil where there is none.
	SealKey *rest.Secret
	// Sleep waits before a request is made again, or until ctx is done; nil waits
	// by the clock.
	Sleep func(ctx context.Context, d time.Duration) error
	// Env names the environment variables that calls may read secrets from.
	Env []string
	// Inbound names the headers in which callers bring secrets.
	Inbound []string
	// Log takes what went wrong and is the operator's to mend; nil discards it.
	Log *slog.Logger
}

// Within is the program as far as b reaches, with its catalog so.
func (p *Program) Within(b catalog.Bounds) *Program {
	in := *p
	in.Catalog, in.Tools = p.Catalog.Within(b), map[string]*Tool{}
	for name, tool := range p.Tools {
		if info, ok := in.Catalog.Callable(name); ok {
			t := *tool
			t.Info = info
			in.Tools[name] = &t
		}
	}
	return &in
}

// Client makes the exchanges with upstreams. A *rest.Client is one.
type Client interface {
	// Do sends a request and reads the answer, whatever its status, secrets masked.
	Do(ctx context.Context, req *bind.HTTP, o rest.CallOptions) (*rest.Response, error)
	// Check says why Do would not send a request; nil when it would.
	Check(req *bind.HTTP) error
	// Preview is the request as it would go out, secrets masked.
	Preview(req *bind.HTTP) *bind.HTTP
	// Scrub masks secrets in what is shown.
	Scrub(s string) string
	// Absent lists what exchanges with an upstream need and is not there yet.
	Absent(upstream string) []string
	// Look says why a secret cannot be read as things are.
	Look(s rest.Secret) error
	// Denied is the error behind a status that says that the credentials of this
	// server were refused; nil for other statuses, and where callers bring their own.
	Denied(upstream string, status int) *rest.Error
	// AuthHint says which credentials an upstream refused; "" for other statuses.
	AuthHint(upstream string, status int) string
}

// Tool says how one tool is done.
type Tool struct {
	// Info is the tool's entry in the catalog.
	Info *catalog.Tool
	// Validator checks arguments against Info.InputSchema.
	Validator *jsonschema.Validator
	// Fill holds defaults and constants: what an argument is when the caller
	// leaves it out.
	Fill []Value
	// Verifier checks what the schema cannot state; nil when there is nothing.
	Verifier Verifier
	// Timeout bounds the whole call.
	Timeout time.Duration
	// Steps are the requests, in order; at least one.
	Steps []Step
	// Response says what becomes of the answer.
	Response Response
}

// Value is a named JSON value.
type Value struct {
	Name string
	JSON json.RawMessage
	// With is what the value goes with: where the argument of that name has another
	// value, this one does not stand in. nil is anything.
	With *Value
	// Demanded says that there must be a value: where this one does not stand in,
	// the caller has to give one.
	Demanded bool
}

// FillIn puts in what the caller has left out, and gives the values that would
// have stood in had the caller not asked for something that they do not go with.
func (t *Tool) FillIn(args bind.Args) (lacking []Value) {
	for _, v := range t.Fill {
		_, given := args[v.Name]
		switch {
		case given:
		case v.With == nil || v.With.holds(args):
			args[v.Name] = v.JSON
		case v.Demanded:
			lacking = append(lacking, v)
		}
	}
	return lacking
}

// holds says whether an argument has the value, or none yet.
func (v *Value) holds(args bind.Args) bool {
	raw, ok := args[v.Name]
	if !ok {
		return true
	}
	var given, want any
	return json.Unmarshal(raw, &given) == nil && json.Unmarshal(v.JSON, &want) == nil && reflect.DeepEqual(given, want)
}

// Verifier checks arguments, defaults filled in, beyond their schema. An error
// that is a Refusal is about the arguments.
type Verifier interface {
	Verify(ctx context.Context, s *bind.Scope) error
}

// Refusal is an error whose sentences tell the caller why the arguments are not
// accepted.
type Refusal interface {
	error
	Sentences() []string
}

// Call makes one call of a tool by name or alias. It is a call.Func.
func (p *Program) Call(ctx context.Context, caller call.Caller, name string, args json.RawMessage) (result call.Result) {
	brought := &rest.Brought{}
	defer p.conceal(&result, brought)
	defer p.discreet(&result)
	defer p.guard(name, &result)
	tool, failure := p.find(caller, name)
	if failure != nil {
		return *failure
	}
	ctx, cancel := context.WithTimeout(ctx, tool.Timeout)
	defer cancel()
	c, failure := p.prepare(ctx, caller, tool, args)
	if failure != nil {
		return *failure
	}
	c.brought = brought
	if failure := c.verify(ctx); failure != nil {
		result = *failure
	} else {
		result = p.run(ctx, c)
	}
	result.Repairs = c.repairs
	return result
}

// Plan is what a call would send.
type Plan struct {
	// Request is the first request, secrets masked.
	Request *bind.HTTP
	// Then says, in sentences, what comes after it: requests of the same step and further
	// steps, with what they wait for.
	Then []string
}

// Plan makes the first request of a call without sending it. On failure, or
// when there is nothing to send, the plan is nil and the result says why.
func (p *Program) Plan(ctx context.Context, caller call.Caller, name string, args json.RawMessage) (plan *Plan, result call.Result) {
	brought := &rest.Brought{}
	defer p.conceal(&result, brought)
	defer p.discreet(&result)
	defer p.guard(name, &result)
	tool, failure := p.find(caller, name)
	if failure != nil {
		return nil, *failure
	}
	ctx, cancel := context.WithTimeout(ctx, tool.Timeout)
	defer cancel()
	c, failure := p.prepare(ctx, caller, tool, args)
	if failure != nil {
		return nil, *failure
	}
	if failure := c.verify(ctx); failure != nil {
		return nil, *failure
	}
	for i := range c.tool.Steps {
		req, more, err := c.first(ctx, &c.tool.Steps[i])
		if err != nil {
			return nil, *c.tool.fail(err)
		}
		if req != nil {
			if err := p.Client.Check(req); err != nil {
				return nil, failed(err.Error())
			}
			then := waits(c.tool.Steps[i+1:])
			if more > 0 {
				then = slices.Insert(then, 0, fmt.Sprintf("then %d more of step %s", more, c.tool.Steps[i].Name))
			}
			return &Plan{Request: p.Client.Preview(req), Then: then}, call.Result{Repairs: c.repairs}
		}
	}
	return nil, failed("nothing would be sent: no step of " + name + " applies")
}

// first makes the first request of a step, nil when it has none, and says how many more
// it has.
func (c *prepared) first(ctx context.Context, step *Step) (req *bind.HTTP, more int, err error) {
	applies, err := c.applies(ctx, step)
	if err != nil || !applies {
		c.skip(step)
		return nil, 0, err
	}
	if step.Each == nil {
		req, err = c.build(ctx, step, c.scope)
		return req, 0, err
	}
	v, err := step.Each.List.Eval(ctx, c.scope)
	if err != nil {
		return nil, 0, err
	}
	var list []json.RawMessage
	if v[0] != nil {
		if err := json.Unmarshal(v[0], &list); err != nil {
			return nil, 0, err
		}
	}
	if len(list) == 0 {
		c.skip(step)
		return nil, 0, nil
	}
	made, err := step.Each.request(list[0])
	if err != nil {
		return nil, 0, err
	}
	req, err = made.Build(ctx, c.scope)
	return req, len(list) - 1, err
}

// build makes the one request of a step, for the page that the call asks for.
func (c *prepared) build(ctx context.Context, step *Step, scope *bind.Scope) (*bind.HTTP, error) {
	req, err := step.Request.Build(ctx, scope)
	if err == nil && c.from != nil && c.tool.Response.Paging.Step == step.Name {
		err = c.tool.Response.Paging.By.Turn(step.Request, req, c.from.Position)
	}
	return req, err
}

// discreet takes out of what a failure says the sentences that name tools out of
// bounds: the configuration's own words may point to one.
func (p *Program) discreet(result *call.Result) {
	if !result.IsError || len(result.Content) == 0 {
		return
	}
	text := result.Content[0].Text
	var f failure
	if json.Unmarshal([]byte(text), &f) != nil {
		return
	}
	if said := p.Catalog.Said(f.Error); said != f.Error {
		raw, err := edit(json.RawMessage(text), []string{"error"}, json.RawMessage(compact(cmp.Or(said, "the call is refused"))))
		if err == nil {
			result.Content[0].Text = string(raw)
		}
	}
}

// conceal masks secrets in all that a call gives. The client has masked them in
// every answer already, before anything was made of it; this is for what they
// might come together from, and for all else that is told.
func (p *Program) conceal(result *call.Result, brought *rest.Brought) {
	scrub := func(s string) string { return brought.Scrub(p.Client.Scrub(s)) }
	for i, r := range result.Repairs {
		result.Repairs[i] = scrub(r)
	}
	for i := range result.Content {
		c := &result.Content[i]
		text, data := scrub(c.Text), string(c.Data)
		switch {
		case scrub(data) != data:
			*result = failed("the result is binary and holds a secret of this server: it is not shown")
			return
		case text != c.Text && result.Structured != nil:
			// It was held against the schema as it is, and no longer would be.
			*result = failed("the result holds a secret that came together in it: it is not shown")
			return
		}
		c.Text = text
	}
}

// guard turns a fault of our own into an answer: it must not end the server.
func (p *Program) guard(name string, result *call.Result) {
	if r := recover(); r != nil {
		*result = p.inside(name, r)
	}
}

// inside logs a panic and gives what the caller is told of it.
func (p *Program) inside(name string, panicked any) call.Result {
	if p.Log != nil {
		p.Log.Error("a call failed inside", "tool", name, "panic", panicked, "stack", string(debug.Stack()))
	}
	return call.Error(`{"error":"the call failed inside the server; it is logged there"}`)
}

// prepared is a call whose arguments are valid.
type prepared struct {
	caller  call.Caller
	tool    *Tool
	scope   *bind.Scope
	given   bind.Args // the arguments without what was filled in
	from    *cursor   // the page that the call asks for; nil is the first
	repairs []string
	brought *rest.Brought
	// otherwise holds, for each step whose answer held a secret, the state that it would
	// have with another text in the place of that.
	otherwise map[string]json.RawMessage
}

// find gives the tool of a name or alias that the caller may reach.
func (p *Program) find(caller call.Caller, name string) (*Tool, *call.Result) {
	info, ok := p.Catalog.Callable(name)
	if !ok || !caller.Bounds.Allow(info) {
		return nil, p.unknown(caller, name)
	}
	return p.Tools[info.Name], nil
}

// prepare takes a call through everything that needs no evaluation and no
// network: bounds, repair, validation, defaults.
func (p *Program) prepare(ctx context.Context, caller call.Caller, tool *Tool, raw json.RawMessage) (*prepared, *call.Result) {
	var texts []string
	for _, f := range caller.Faults {
		texts = append(texts, f.Message)
	}
	raw, repairs, err := unwrap(raw)
	if err != nil {
		return nil, tool.refuse(nil, append(texts, err.Error())...)
	}
	args, err := bind.ParseArgs(raw, p.Limits)
	if err != nil {
		return nil, tool.refuse(repairs, append(texts, sentences(err)...)...)
	}
	raw, args, from, err := p.resume(ctx, caller, tool, raw, args)
	if err != nil {
		if errors.Is(err, errCursor) {
			return nil, tool.refuse(repairs, append(texts, err.Error())...)
		}
		r := failed(err.Error())
		return nil, &r
	}
	args, more, faults := repair(ctx, tool.Validator, raw, args, tool.Info.Effect)
	repairs = append(repairs, more...)
	for _, f := range faults {
		told := func(by call.Fault) bool {
			return f.Keyword == "additionalProperties" && len(f.Path) == 0 && f.Name == by.Argument
		}
		if slices.ContainsFunc(caller.Faults, told) {
			continue
		}
		text := f.Message
		if len(texts) < maxReasons {
			text += Meant(tool.Info.InputSchema, f)
		}
		texts = append(texts, text)
	}
	if len(texts) > 0 {
		return nil, tool.refuse(repairs, texts...)
	}
	if err := from.continues(args, tool); err != nil {
		return nil, tool.refuse(repairs, err.Error())
	}
	given := args
	if tool.Response.Paging != nil {
		given = maps.Clone(args)
	}
	if lacking := tool.FillIn(args); len(lacking) > 0 {
		reasons := make([]string, len(lacking))
		for i, v := range lacking {
			reasons[i] = fmt.Sprintf("missing required argument: %s (the default goes with %s %s)", v.Name, v.With.Name, v.With.JSON)
		}
		return nil, tool.refuse(repairs, reasons...)
	}
	if p := tool.Response.Paging; p != nil {
		if by, ok := p.By.(*ByPart); ok {
			if err := by.refuses(args); err != nil {
				return nil, tool.refuse(repairs, err.Error())
			}
		}
	}
	return &prepared{caller: caller, tool: tool, scope: &bind.Scope{Args: args, Steps: map[string]json.RawMessage{}}, given: given, from: from, repairs: repairs}, nil
}

// verify checks with CUE what the schema cannot state.
func (c *prepared) verify(ctx context.Context) *call.Result {
	if c.tool.Verifier == nil {
		return nil
	}
	if err := c.tool.Verifier.Verify(ctx, c.scope); err != nil {
		return c.tool.fail(err)
	}
	return nil
}

// failure is what an agent is told of a call that was not made: all that is
// wrong with it, the exact schema, and one example where there is one.
type failure struct {
	Error       string          `json:"error"`
	ToolName    string          `json:"tool_name,omitempty"`
	Nearest     []string        `json:"nearest,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Example     json.RawMessage `json:"example,omitempty"`
}

// refuse says what is wrong with the arguments, and what would be right.
func (t *Tool) refuse(repairs []string, reasons ...string) *call.Result {
	f := failure{Error: tell(maxReasons, reasons...), ToolName: t.Info.Name, InputSchema: t.Info.InputSchema}
	if len(t.Info.Examples) > 0 {
		f.Example = t.Info.Examples[0].Arguments
	}
	r := call.Error(compact(f))
	r.Repairs = repairs
	return &r
}

// fail tells a fault that evaluation or binding found: one of the arguments
// comes with the schema, any other without.
func (t *Tool) fail(err error) *call.Result {
	var refusal Refusal
	var argument *bind.Error
	switch {
	case errors.As(err, &refusal):
		return t.refuse(nil, refusal.Sentences()...)
	case errors.As(err, &argument) && argument.Argument != "":
		return t.refuse(nil, sentences(err)...)
	case errors.Is(err, context.DeadlineExceeded):
		r := failed(fmt.Sprintf("the call took longer than %s before its request was made; it was not sent", t.Timeout))
		return &r
	}
	r := failed(fmt.Sprintf("the request of %s could not be made and was not sent: %s", t.Info.Name, err))
	return &r
}

// sentences splits the faults that an error holds.
func sentences(err error) []string {
	var all bind.Errors
	if errors.As(err, &all) {
		out := make([]string, len(all))
		for i, e := range all {
			out[i] = e.Error()
		}
		return out
	}
	return []string{err.Error()}
}

// Meant ends a message about an unknown argument with the names that it may have been
// meant for; "" when there are none.
func Meant(schema json.RawMessage, f jsonschema.Fault) string {
	if f.Keyword != "additionalProperties" {
		return ""
	}
	return nearest.Question(nearest.Names(f.Name, jsonschema.Names(schema, f.Path)))
}

// unknown says that there is no such tool, with names that are near among those
// that the caller may reach.
func (p *Program) unknown(caller call.Caller, name string) *call.Result {
	var names []string
	for _, t := range p.Catalog.Tools() {
		if caller.Bounds.Allow(t) {
			names = append(names, t.Name)
		}
	}
	r := call.Error(compact(failure{Error: tell(1, "unknown tool: "+name), Nearest: nearest.Names(name, names)}))
	return &r
}

// Reason gives what a failed result says is wrong, without the schema.
func Reason(r call.Result) string {
	if len(r.Content) == 0 {
		return ""
	}
	var f failure
	if json.Unmarshal([]byte(r.Content[0].Text), &f) != nil {
		return r.Content[0].Text
	}
	return f.Error
}

// failed is a failed result that names no schema.
func failed(reason string) call.Result {
	return call.Error(compact(failure{Error: tell(1, reason)}))
}

const (
	// maxReasons is how many faults of one call are told.
	maxReasons = 20
	// maxReason bounds what is told of each, in bytes: a value, a name or an error
	// of an evaluation may be in it.
	maxReason = 2000
)

// tell makes one text of the first sentences of a failure, whatever is in them.
func tell(most int, sentences ...string) string {
	shown := make([]string, 0, most+1)
	for i, s := range sentences {
		if i == most {
			shown = append(shown, fmt.Sprintf("and %d more", len(sentences)-most))
			break
		}
		s = cleanText(s)
		if len(s) > maxReason {
			head := clip.Head(s, maxReason)
			s = fmt.Sprintf("%s… (%d bytes more)", head, len(s)-len(head))
		}
		shown = append(shown, s)
	}
	return strings.Join(shown, "; ")
}

// compact gives v as JSON without escapes for HTML.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		// Only what is valid JSON already is put into these structures.
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
