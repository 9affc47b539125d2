package exec

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/rest"
)

// Step is one part of a call: one request, or a list of them. A tool that makes
// one request has one step without a name.
type Step struct {
	Name string
	// When gives one boolean; absent means false. nil means always.
	When bind.Evaluator
	// Request is the request; nil when Each is given.
	Request *bind.Request
	// Each is a list of requests.
	Each *Each
	// Accept lists statuses beyond 2xx that are no failure.
	Accept []int
	// Optional makes any failure soft.
	Optional bool
	// ContentType gives the media type that the answer is taken for, in the place
	// of what it says; nil, absent or null leaves that.
	ContentType bind.Evaluator
	// Error finds failures inside answers whose status is a success: its outputs
	// are the text of one, true, or other values that are not empty.
	Error *JQ
	// Retry makes requests again whose failure will pass; nil makes none again.
	Retry *Retry
	// JQ shapes the result before later steps see it.
	JQ *JQ
	// Refers names the earlier steps that the step refers to.
	Refers []string
}

// Notes says in phrases when and how often the step is made, and where to, beyond what
// its request says.
func (s *Step) Notes() []string {
	var notes []string
	switch {
	case s.Each != nil:
		notes = append(notes, "a list of requests, made at the call")
	case s.Request != nil && s.Request.Path == nil:
		notes = append(notes, "to a link of an earlier answer")
	}
	if s.When != nil {
		notes = append(notes, "on a condition")
	}
	if s.Optional {
		notes = append(notes, "may fail")
	}
	return notes
}

// Each makes a list of requests at the call.
type Each struct {
	// List gives one list of objects, each in the shape of #Request.
	List bind.Evaluator
	// Base is what the requests take from their upstream, by its name; the empty
	// name is where those go that name none.
	Base map[string]bind.Request
}

const (
	// maxEach bounds the requests of one step.
	maxEach = 200
	// eachAtOnce is how many of them are under way at a time where they only read.
	eachAtOnce = 4
)

// progress is a call under way.
type progress struct {
	*prepared
	page    *Page          // what the step with the pages answered
	last    *rest.Response // of the last step that ran, when it was one request
	shaped  json.RawMessage
	ran     bool
	mu      sync.Mutex
	changes []string // what was done already that changed something
	// reported is what the operator has been told of.
	reported []string
}

// run makes the requests of a call and shapes its result.
func (p *Program) run(ctx context.Context, c *prepared) call.Result {
	at := &progress{prepared: c}
	for i := range c.tool.Steps {
		step := &c.tool.Steps[i]
		applies, err := c.applies(ctx, step)
		if err != nil {
			return at.told(step, -1, *c.tool.fail(err))
		}
		if !applies {
			c.skip(step)
			continue
		}
		failure := p.step(ctx, at, step)
		if failure != nil && !step.Optional {
			return *failure
		}
	}
	return p.shape(ctx, at)
}

// applies evaluates the condition of a step.
func (c *prepared) applies(ctx context.Context, step *Step) (bool, error) {
	if step.When == nil {
		return true, nil
	}
	v, err := step.When.Eval(ctx, c.scope)
	if err != nil {
		return false, err
	}
	switch string(v[0]) {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, fmt.Errorf("when of step %s is %s, neither true nor false", step.Name, v[0])
}

// skip notes that a step did not run: what refers to it is absent.
func (c *prepared) skip(step *Step) {
	if step.Name != "" {
		c.scope.Steps[step.Name] = nil
	}
}

// step makes the requests of one step and notes its state for later ones.
func (p *Program) step(ctx context.Context, at *progress, step *Step) *call.Result {
	if step.Each != nil {
		return p.each(ctx, at, step)
	}
	req, err := at.build(ctx, step, at.scope)
	paging := at.tool.Response.Paging
	if paging != nil && paging.Step != step.Name {
		paging = nil
	}
	if err == nil && paging != nil {
		// The key is read before anything is sent: without it the call would be made
		// for nothing.
		if _, err = p.sealed(ctx, at, "0"); err != nil {
			p.warn(at.tool.Info.Name, "reason", err)
		}
	}
	if err != nil {
		return at.failed(step, -1, at.tool.fail(err))
	}
	passes := at.passesOn([]*bind.HTTP{req}, func(scope *bind.Scope) ([]*bind.HTTP, error) {
		req, err := at.build(ctx, step, scope)
		return []*bind.HTTP{req}, err
	})
	if passes {
		at.skip(step)
		return at.failed(step, -1, at.secretive())
	}
	resp, failure := p.exchanges(ctx, at, step, req)
	if resp == nil {
		at.skip(step)
		return at.failed(step, -1, failure)
	}
	if failure != nil && !step.Optional {
		return at.failed(step, -1, failure)
	}
	var result json.RawMessage
	if step.Name != "" {
		if result, err = p.result(ctx, at, step, resp); err != nil {
			at.skip(step)
			r := failed(at.unreadable(resp, err))
			return at.failed(step, -1, &r)
		}
		at.scope.Steps[step.Name] = state(resp, result)
		if other := resp.Masked; other != nil {
			at.differs(step, state(other, p.otherResult(ctx, at, step, other)))
		}
	}
	if failure != nil {
		return at.failed(step, -1, failure)
	}
	at.ran, at.last, at.shaped = true, resp, nil
	if step.JQ != nil {
		at.last, at.shaped = nil, result
	}
	if paging != nil {
		at.page = &Page{Request: step.Request, Sent: req, Answer: resp, Result: at.shaped, c: at.prepared}
	}
	return nil
}

// each makes the requests of a list, some at a time where they only read, and
// keeps their results in order.
func (p *Program) each(ctx context.Context, at *progress, step *Step) *call.Result {
	// All requests are made before any is sent: a fault in one sends none.
	requests, i, err := step.Each.requests(ctx, at.scope)
	if err != nil {
		return at.failed(step, i, at.tool.fail(err))
	}
	if requests == nil {
		at.skip(step)
		return nil
	}
	if len(requests) > maxEach {
		r := failed(fmt.Sprintf("%d requests are more than the %d that one call may make", len(requests), maxEach))
		return at.failed(step, -1, &r)
	}
	passes := at.passesOn(requests, func(scope *bind.Scope) ([]*bind.HTTP, error) {
		requests, _, err := step.Each.requests(ctx, scope)
		return requests, err
	})
	if passes {
		at.skip(step)
		return at.failed(step, -1, at.secretive())
	}
	results := make([]json.RawMessage, len(requests))
	others := make([]json.RawMessage, len(requests))
	failures := make([]*call.Result, len(requests))
	// Requests under way are left to end when one fails: what they changed is
	// known only by their answers. No further one begins.
	var stop atomic.Bool
	slots := make(chan struct{}, step.Each.atOnce(at.tool.Info.Effect, requests))
	var wg sync.WaitGroup
	for i, req := range requests {
		slots <- struct{}{}
		if stop.Load() {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			results[i], others[i], failures[i] = p.element(ctx, at, step, req)
			if failures[i] != nil && !step.Optional {
				stop.Store(true)
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(failures, func(r *call.Result) bool { return r != nil }); i >= 0 && !step.Optional {
		return at.failed(step, i, failures[i])
	}
	masked := false
	for i := range results {
		if results[i] == nil {
			results[i] = json.RawMessage("null")
		}
		if others[i] == nil {
			others[i] = results[i]
		} else {
			masked = true
		}
	}
	all := array(results)
	at.scope.Steps[step.Name] = eachState(all)
	if masked {
		at.differs(step, eachState(array(others)))
	}
	at.ran, at.last, at.shaped = true, nil, all
	return nil
}

// eachState is what later steps see of a list of requests.
func eachState(results json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"result":` + string(results) + `}`)
}

// requests makes the requests of the list, nil where there is none. An error that one
// of them alone has comes with its index, any other with -1.
func (e *Each) requests(ctx context.Context, scope *bind.Scope) ([]*bind.HTTP, int, error) {
	v, err := e.List.Eval(ctx, scope)
	if err != nil || v[0] == nil {
		return nil, -1, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(v[0], &list); err != nil {
		return nil, -1, fmt.Errorf("each is no list: %w", err)
	}
	requests := make([]*bind.HTTP, len(list))
	if len(list) > maxEach {
		return requests, -1, nil
	}
	for i, raw := range list {
		req, err := e.request(raw)
		if err == nil {
			requests[i], err = req.Build(ctx, scope)
		}
		if err != nil {
			return nil, i, err
		}
	}
	return requests, -1, nil
}

// atOnce says how many requests of a list may be under way at a time. Those that
// change something are made one after the other: APIs refuse changes that meet
// in one place, and what is created has the order that was asked for.
func (*Each) atOnce(effect catalog.Effect, requests []*bind.HTTP) int {
	changes := func(r *bind.HTTP) bool { return !safe(r.Method) }
	if effect != catalog.Read && slices.ContainsFunc(requests, changes) {
		return 1
	}
	return eachAtOnce
}

// element makes one request of a list and gives its result.
func (p *Program) element(ctx context.Context, at *progress, step *Step, req *bind.HTTP) (result, other json.RawMessage, failure *call.Result) {
	defer func() {
		// The guard of the call does not reach into other goroutines.
		if r := recover(); r != nil {
			failed := p.inside(at.tool.Info.Name, r)
			failure = &failed
		}
	}()
	resp, failure := p.exchanges(ctx, at, step, req)
	if failure != nil {
		return nil, nil, failure
	}
	result, err := p.result(ctx, at, step, resp)
	if err != nil {
		r := failed(at.unreadable(resp, err))
		return nil, nil, &r
	}
	if resp.Masked != nil {
		other = p.otherResult(ctx, at, step, resp.Masked)
	}
	return result, other, nil
}

// otherResult gives what would come of an answer with another text in the place of a
// secret; where nothing can, why.
func (p *Program) otherResult(ctx context.Context, at *progress, step *Step, other *rest.Response) json.RawMessage {
	result, err := p.result(ctx, at, step, other)
	if err != nil {
		return json.RawMessage(compact(err.Error()))
	}
	return result
}

// differs notes the state that a step would have with another text in the place of a
// secret.
func (c *prepared) differs(step *Step, state json.RawMessage) {
	if c.otherwise == nil {
		c.otherwise = map[string]json.RawMessage{}
	}
	c.otherwise[step.Name] = state
}

// passesOn says whether something that was masked in an earlier answer is in requests,
// in whatever form: they would then be others, made with another text in its place.
func (c *prepared) passesOn(requests []*bind.HTTP, again func(*bind.Scope) ([]*bind.HTTP, error)) bool {
	if len(c.otherwise) == 0 {
		return false
	}
	scope := &bind.Scope{Args: c.scope.Args, Steps: maps.Clone(c.scope.Steps)}
	maps.Copy(scope.Steps, c.otherwise)
	others, err := again(scope)
	return err != nil || !reflect.DeepEqual(requests, others)
}

// secretive says why a request is not sent that passes on what was masked.
func (c *prepared) secretive() *call.Result {
	r := failed(fmt.Sprintf("the request of %s would pass on a secret that an earlier answer held: it was not sent", c.tool.Info.Name))
	return &r
}

// exchange sends one request. On a status that is a failure it gives the answer
// and the failure; without an answer only the failure.
func (p *Program) exchange(ctx context.Context, at *progress, step *Step, req *bind.HTTP) (*rest.Response, *call.Result) {
	info := at.tool.Info
	resp, err := p.Client.Do(ctx, req, rest.CallOptions{
		Idempotent: info.Idempotent,
		Read:       info.Effect == catalog.Read,
		Inbound:    at.caller.Header,
		Brought:    at.brought,
	})
	if err != nil {
		reason := err.Error()
		e, ok := errors.AsType[*rest.Error](err)
		if ok {
			p.report(at, e)
		}
		if ok && e.Sent && !info.Idempotent && !safe(req.Method) {
			reason += "; the request had been sent, and may have been carried out: look before sending it again"
		}
		r := failed(reason)
		return nil, &r
	}
	if resp.Status/100 != 2 && !slices.Contains(step.Accept, resp.Status) {
		if e := p.Client.Denied(req.Upstream, resp.Status); e != nil {
			p.report(at, e)
		}
		return resp, p.upstreamFailure(at.tool, req.Upstream, resp)
	}
	if resp, err = at.taken(ctx, step, resp); err != nil {
		r := failed(at.unreadable(resp, err))
		return resp, &r
	}
	if failure := p.contentFailure(ctx, at, step, req.Upstream, resp); failure != nil {
		return resp, failure
	}
	if !safe(req.Method) {
		at.mu.Lock()
		at.changes = append(at.changes, fmt.Sprintf("%s: %s %s answered %s", step.Name, req.Method, pathOf(req.URL), status(resp.Status)))
		at.mu.Unlock()
	}
	return resp, nil
}

// safe says whether a method changes nothing (RFC 9110 section 9.2.1).
func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// taken gives an answer with the media type that the step takes it for.
func (c *prepared) taken(ctx context.Context, step *Step, resp *rest.Response) (*rest.Response, error) {
	if step.ContentType == nil {
		return resp, nil
	}
	v, err := step.ContentType.Eval(ctx, c.scope)
	if err != nil || v[0] == nil || string(v[0]) == "null" {
		return resp, err
	}
	var value string
	if err := json.Unmarshal(v[0], &value); err != nil {
		return resp, fmt.Errorf("contentType is %s, no text", abbreviate(v[0]))
	}
	mediaType, params, err := mime.ParseMediaType(value)
	if err != nil {
		return resp, fmt.Errorf("contentType is %q, no media type: %w", value, err)
	}
	as := func(r rest.Response) *rest.Response {
		r.MediaType, r.Charset = mediaType, strings.ToLower(params["charset"])
		return &r
	}
	out := as(*resp)
	if resp.Masked != nil {
		out.Masked = as(*resp.Masked)
	}
	return out, nil
}

// Constant is an Evaluator that always gives v.
func Constant(v json.RawMessage) bind.Evaluator { return constant{v} }

type constant []json.RawMessage

func (c constant) Eval(context.Context, *bind.Scope) ([]json.RawMessage, error) { return c, nil }

// pathOf gives the path of a URL, without the query: it is for a message.
func pathOf(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return u.EscapedPath()
}

// result gives an answer as JSON, shaped by the step's jq.
func (p *Program) result(ctx context.Context, at *progress, step *Step, resp *rest.Response) (json.RawMessage, error) {
	switch {
	case step.JQ != nil:
		return at.runJQ(ctx, step.JQ, resp)
	case len(resp.Body) == 0:
		return json.RawMessage("null"), nil
	case resp.IsJSON():
		return resp.Compact()
	}
	if text, err := resp.Text(); err == nil && resp.IsText() {
		return json.RawMessage(compact(text)), nil
	}
	return json.RawMessage(compact(base64.StdEncoding.EncodeToString(resp.Body))), nil
}

// state is what later steps see of one: status, headers and result.
func state(resp *rest.Response, result json.RawMessage) json.RawMessage {
	return json.RawMessage(compact(struct {
		Status  int             `json:"status"`
		Headers any             `json:"headers"`
		Result  json.RawMessage `json:"result"`
	}{resp.Status, jqHeaders(resp.Header), result}))
}

// request makes the binding of one element of a list.
func (e *Each) request(raw json.RawMessage) (*bind.Request, error) {
	var x struct {
		Upstream, Method, Path string
		URL                    json.RawMessage
		Vars, Query, Headers   json.RawMessage
		Body, Form, Multipart  json.RawMessage
		Text, Binary           json.RawMessage
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return nil, err
	}
	r, ok := e.Base[x.Upstream]
	if !ok {
		return nil, fmt.Errorf("there is no upstream %q", x.Upstream)
	}
	if x.URL != nil {
		r.URL = bind.Const(x.URL)
	} else {
		path, err := bind.ParseTemplate(x.Path)
		if err != nil {
			return nil, fmt.Errorf("path: %w", err)
		}
		r.Path = path
	}
	r.Method = x.Method
	r.Vars, r.Query, r.Headers = whole(x.Vars), whole(x.Query), whole(x.Headers)
	for _, b := range []struct {
		kind  bind.BodyKind
		value json.RawMessage
	}{{bind.BodyJSON, x.Body}, {bind.BodyForm, x.Form}, {bind.BodyMultipart, x.Multipart}, {bind.BodyText, x.Text}, {bind.BodyBinary, x.Binary}} {
		if b.value != nil {
			r.Body = &bind.Body{Kind: b.kind, Value: bind.Const(b.value)}
		}
	}
	return &r, nil
}

// whole gives the members of an object as one field that is spread.
func whole(object json.RawMessage) []bind.Field {
	if object == nil {
		return nil
	}
	return []bind.Field{{Value: bind.Const(object)}}
}

// failed words a failure of a step: where it happened, and what was done before.
func (at *progress) failed(step *Step, index int, r *call.Result) *call.Result {
	if r == nil {
		return nil
	}
	told := at.told(step, index, *r)
	return &told
}

// told adds to a failed result the step and what was already done, for tools
// that have steps.
func (at *progress) told(step *Step, index int, r call.Result) call.Result {
	if step.Name == "" || len(r.Content) == 0 {
		return r
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	more := struct {
		Step  string   `json:"step"`
		Index *int     `json:"index,omitempty"`
		Done  []string `json:"done,omitempty"`
	}{Step: step.Name, Done: at.changes}
	if index >= 0 {
		more.Index = &index
	}
	return with(r, more)
}

// with adds the members of a structure to what a failed result says.
func with(r call.Result, more any) call.Result {
	text, tail := r.Content[0].Text, compact(more)
	if body, ok := strings.CutSuffix(text, "}"); ok && len(body) > 1 {
		text = body + "," + tail[1:]
	}
	r.Content = []call.Content{{Text: text}}
	return r
}

// waits says, in sentences, what each step would do, as far as that is known before
// the answers that it waits for.
func waits(steps []Step) []string {
	var out []string
	for _, s := range steps {
		line := "then step " + s.Name
		if r := s.Request; r != nil && r.Path != nil {
			line += ": " + r.Method + " " + r.Path.String()
			if r.Upstream != "" {
				line += " at " + r.Upstream
			}
		} else if r != nil {
			line += ": " + r.Method
		}
		notes := s.Notes()
		if len(s.Refers) > 0 {
			notes = append(notes, "with values from the answer of "+strings.Join(s.Refers, " and of "))
		}
		if len(notes) > 0 {
			line += ", " + strings.Join(notes, ", ")
		}
		out = append(out, line)
	}
	return out
}
