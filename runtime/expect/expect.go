// Package expect runs the examples and tests of a configuration without a
// network: the requests that a call makes must equal the expected ones, and the
// result made of canned answers the expected result. Calls go through the same
// program as when serving; only what sends is replaced.
package expect

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/expr"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/rest"
)

// Outcome is what running all examples and tests gave.
type Outcome struct {
	// Run counts the examples and tests with an expectation, Plain the examples
	// that have none.
	Run, Plain int
	// Findings are the differences, at the places of the expectations.
	Findings diag.List
}

// Programs gives the program of a configuration with server-level defaults in the
// place of its own: those that a test asks for, by name. What is wrong with them is
// found.
type Programs func(defaults map[string]json.RawMessage) (*exec.Program, diag.List)

// Run runs the examples and tests of every tool that cfg declares. Each has the
// server-level defaults that it asks for and no others, so that it holds for every
// deployment.
func Run(ctx context.Context, cfg *load.Config, programs Programs) Outcome {
	var o Outcome
	for _, t := range cfg.Tools() {
		for _, field := range []string{"examples", "tests"} {
			list, err := t.Value.LookupPath(cue.ParsePath(field)).List()
			if err != nil {
				continue
			}
			for i := 0; list.Next(); i++ {
				c := &testCase{cfg: cfg, tool: t, path: fmt.Sprintf("%s.%s[%d]", t.Path, field, i), v: list.Value()}
				if !c.read() {
					o.Plain++
					continue
				}
				o.Run++
				p, faults := programs(c.defaults)
				for _, f := range faults {
					c.add(c.path+".defaults", "%s", f.Message)
				}
				if p == nil || p.Tools[t.Name] == nil || len(faults) > 0 {
					o.Findings = append(o.Findings, c.findings...)
					continue
				}
				o.Findings = append(o.Findings, c.run(ctx, p)...)
			}
		}
	}
	return o
}

// testCase is one example or test with an expectation.
type testCase struct {
	cfg  *load.Config
	tool load.Tool
	path string
	v    cue.Value

	arguments json.RawMessage
	defaults  map[string]json.RawMessage // server-level ones
	exchanges []exchange
	result    json.RawMessage // nil: not compared
	failure   *string         // a part of the message with which the call fails

	more     bool // there was a request more than expected
	findings diag.List
}

// exchange is an expected request and the answer to it.
type exchange struct {
	path string // of the exchange, for findings
	want request
	// canned says that an answer is given.
	canned bool
	answer rest.Response
	done   bool
}

// request is an expected request. What is nil is expected to be absent, save
// headers, of which only those named are compared.
type request struct {
	Method  string
	Path    string
	Query   map[string]json.RawMessage
	Headers map[string]string
	Body    json.RawMessage
	Text    *string
}

// read reads the expectations and says whether there are any.
func (c *testCase) read() bool {
	c.arguments = c.json(c.v, "arguments")
	if defaults := c.json(c.v, "defaults"); defaults != nil {
		_ = json.Unmarshal(defaults, &c.defaults) // the definitions have seen to its shape
	}
	one := exchange{path: c.path}
	if c.exchange(c.v, &one) {
		c.exchanges = append(c.exchanges, one)
	}
	if list, err := c.v.LookupPath(cue.ParsePath("exchanges")).List(); err == nil {
		for i := 0; list.Next(); i++ {
			e := exchange{path: fmt.Sprintf("%s.exchanges[%d]", c.path, i)}
			c.exchange(list.Value(), &e)
			c.exchanges = append(c.exchanges, e)
		}
	}
	c.result = c.json(c.v, "result")
	if s, err := c.v.LookupPath(cue.ParsePath("error")).String(); err == nil {
		c.failure = &s
	}
	return len(c.exchanges) > 0 || c.result != nil || c.failure != nil
}

// exchange reads a request and an answer, and says whether there is either.
func (c *testCase) exchange(v cue.Value, e *exchange) bool {
	req, resp := v.LookupPath(cue.ParsePath("request")), v.LookupPath(cue.ParsePath("response"))
	if b, err := expr.Export(req); req.Exists() && err == nil {
		if err := json.Unmarshal(b, &e.want); err != nil {
			c.add(e.path+".request", "cannot be read: %v", err)
		}
	}
	if resp.Exists() {
		e.canned = true
		e.answer = answer(resp)
	} else {
		e.answer = rest.Response{Status: http.StatusOK, Header: http.Header{}, MediaType: "application/json", Body: []byte("{}")}
	}
	return req.Exists() || resp.Exists()
}

// answer reads a canned answer.
func answer(v cue.Value) rest.Response {
	var a struct {
		Status  int
		Headers map[string]string
		Body    json.RawMessage
		Text    *string
	}
	if b, err := expr.Export(v); err == nil {
		_ = json.Unmarshal(b, &a) // the definitions have seen to its shape
	}
	r := rest.Response{Status: a.Status, Header: http.Header{}}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	switch {
	case a.Body != nil:
		r.MediaType, r.Body = "application/json", a.Body
	case a.Text != nil:
		r.MediaType, r.Body = "text/plain", []byte(*a.Text)
	}
	for name, value := range a.Headers {
		r.Header.Set(name, value)
	}
	if t := r.Header.Get("Content-Type"); t != "" {
		r.MediaType, _, _ = strings.Cut(strings.ToLower(t), ";")
	}
	return r
}

// json gives a field as JSON, nil when it is not there.
func (c *testCase) json(v cue.Value, field string) json.RawMessage {
	f := v.LookupPath(cue.ParsePath(field))
	if !f.Exists() {
		return nil
	}
	b, err := expr.Export(f)
	if err != nil {
		c.add(c.path+"."+field, "must be a value: %s", expr.Message(err))
	}
	return b
}

// add reports a difference at the field at path.
func (c *testCase) add(path, format string, args ...any) {
	f := diag.Finding{Path: path, Message: fmt.Sprintf(format, args...)}
	f.File, f.Line, f.Column = c.cfg.Position(c.cfg.Own.LookupPath(cue.ParsePath(path)).Pos())
	c.findings = append(c.findings, f)
}

// run makes the call and compares.
func (c *testCase) run(ctx context.Context, p *exec.Program) diag.List {
	canned := &client{Client: p.Client, c: c, base: p.Tools[c.tool.Name]}
	q := *p
	q.Client, q.Sealer, q.Sleep = canned, exec.Readable{}, hurry
	r := q.Call(ctx, call.Caller{}, c.tool.Name, c.arguments)
	switch {
	case c.failure != nil && r.IsError:
		if !strings.Contains(text(r), *c.failure) {
			said := text(r)
			if strings.Contains(said, `"inputSchema":`) { // which is for agents
				said = exec.Reason(r)
			}
			c.add(c.path+".error", "the call fails otherwise: %s", short(said))
			break
		}
		c.missing()
	case r.IsError:
		c.failed(r)
	default:
		c.missing()
		if c.failure != nil {
			c.add(c.path+".error", "the call does not fail: it answers %s", short(text(r)))
		} else if c.result != nil {
			c.compareResult(r)
		}
	}
	return c.findings
}

// missing reports the requests that were not made.
func (c *testCase) missing() {
	for _, e := range c.exchanges {
		if !e.done {
			c.add(e.path+".request", "was not made%s", e.named())
		}
	}
}

// named ends a message with the request that is expected, as far as it is.
func (e *exchange) named() string {
	if e.want.Method == "" {
		return ""
	}
	return fmt.Sprintf(": %s %s", e.want.Method, e.want.Path)
}

// failed reports that the call fails, once: at the first request that is not made
// for that, else at the result. What a request more than expected does is told
// there.
func (c *testCase) failed(r call.Result) {
	why := short(exec.Reason(r)) + c.unset(r)
	next := slices.IndexFunc(c.exchanges, func(e exchange) bool { return !e.done })
	switch {
	case c.more:
	case next >= 0:
		e := &c.exchanges[next]
		c.add(e.path+".request", "was not made%s; the call failed: %s", e.named(), why)
	case c.result != nil:
		c.add(c.path+".result", "the call fails: %s", why)
	case (len(c.exchanges) == 0 || c.exchanges[len(c.exchanges)-1].canned) && len(c.findings) == 0:
		c.add(c.path, "the call fails: %s", why)
	}
}

// unset ends the message of a call that fails for want of an argument which has a
// server-level default otherwise.
func (c *testCase) unset(r call.Result) string {
	name, ok := strings.CutPrefix(exec.Reason(r), "missing required argument: ")
	v := c.cfg.Value.LookupPath(cue.MakePath(cue.Str("defaults"), cue.Str(name)))
	if !ok || !v.Exists() || c.defaults[name] != nil {
		return ""
	}
	return fmt.Sprintf("; a test has no server-level defaults but those that it asks for, as with defaults: %s: …", name)
}

func text(r call.Result) string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// compareResult compares what an agent gets.
func (c *testCase) compareResult(r call.Result) {
	path := c.path + ".result"
	got := json.RawMessage(text(r))
	if !json.Valid(got) {
		got, _ = json.Marshal(text(r)) // a string is always JSON
	}
	c.differences(path, "result", got, c.result)
}

// client answers requests as the case says, in place of the network.
type client struct {
	exec.Client
	c    *testCase
	base *exec.Tool
	mu   sync.Mutex // the requests of one step may come at once
}

// Do compares a request with the expected ones and gives the canned answer. The
// requests of a list may come in any order, so one that equals any is taken.
func (cl *client) Do(_ context.Context, req *bind.HTTP, _ rest.CallOptions) (*rest.Response, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	c := cl.c
	next := -1
	for i := range c.exchanges {
		e := &c.exchanges[i]
		if e.done {
			continue
		}
		if next < 0 {
			next = i
		}
		if len(e.differences(cl.base, req)) == 0 {
			e.done = true
			return &e.answer, nil
		}
	}
	if next < 0 {
		c.more = true
		c.add(c.path, "a request more than expected: %s %s", req.Method, short(req.URL))
		return nil, fmt.Errorf("no exchange is left for %s %s", req.Method, req.URL)
	}
	e := &c.exchanges[next]
	e.done = true
	for _, d := range e.differences(cl.base, req) {
		c.add(e.path+".request"+d.field, "%s", d.message)
	}
	return &e.answer, nil
}

// hurry waits for nothing: a canned answer does not change with time.
func hurry(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// difference is one way in which a request is not the expected one.
type difference struct{ field, message string }

// differences compares a request. An exchange that says nothing of its request
// takes any.
func (e *exchange) differences(tool *exec.Tool, req *bind.HTTP) []difference {
	var out []difference
	add := func(field, format string, args ...any) {
		out = append(out, difference{field, fmt.Sprintf(format, args...)})
	}
	if e.want.Method == "" && e.want.Path == "" {
		return nil
	}
	u, err := url.Parse(req.URL)
	if err != nil {
		add("", "is no URL: %v", err)
		return out
	}
	base, constants := upstreamOf(tool, req.Upstream)
	if req.Method != e.want.Method {
		add(".method", "is %s", req.Method)
	}
	if path := strings.TrimPrefix(u.EscapedPath(), strings.TrimSuffix(base, "/")); path != e.want.Path {
		add(".path", "is %s", path)
	}
	query := u.Query()
	for _, name := range sortedKeys(query) {
		if _, ok := e.want.Query[name]; !ok && !slices.Contains(constants, name) {
			add(".query", "holds %s=%s, which is not expected", name, strings.Join(query[name], ","))
		}
	}
	for _, name := range sortedKeys(e.want.Query) {
		want := values(e.want.Query[name])
		if !slices.Equal(query[name], want) {
			add(member(".query", name), "is %q, not %q", query[name], want)
		}
	}
	for _, name := range sortedKeys(e.want.Headers) {
		i := slices.IndexFunc(req.Header, func(h bind.Header) bool { return strings.EqualFold(h.Name, name) })
		switch {
		case i < 0:
			add(member(".headers", name), "is not sent")
		case req.Header[i].Value != e.want.Headers[name]:
			add(member(".headers", name), "is %q", req.Header[i].Value)
		}
	}
	switch {
	case e.want.Text != nil:
		if string(req.Body) != *e.want.Text {
			add(".text", "is %q", short(string(req.Body)))
		}
	case e.want.Body == nil:
		if req.Body != nil {
			add("", "has a body, which is not expected: %s", short(string(req.Body)))
		}
	case req.Body == nil:
		add(".body", "is not sent")
	default:
		for _, d := range compareJSON("body", req.Body, e.want.Body) {
			add(".body", "%s", d)
		}
	}
	return out
}

// upstreamOf gives the path of an upstream's URL and the names of the query
// parameters that all its requests have.
func upstreamOf(tool *exec.Tool, name string) (path string, constants []string) {
	for _, s := range tool.Steps {
		r := s.Request
		if s.Each != nil {
			for _, b := range s.Each.Base {
				if b.Upstream == name {
					r = &b
				}
			}
		}
		if r != nil && r.Upstream == name {
			for _, f := range r.BaseQuery {
				constants = append(constants, f.Name)
			}
			return r.Base.EscapedPath(), constants
		}
	}
	return "", nil
}

// values gives an expected query parameter as it is sent.
func values(v json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		list = []json.RawMessage{v}
	}
	var out []string
	for _, e := range list {
		var s string
		if json.Unmarshal(e, &s) != nil {
			s = string(e)
		}
		out = append(out, s)
	}
	return out
}

func member(path, name string) string { return path + "." + cue.Str(name).String() }

func (c *testCase) differences(path, what string, got, want json.RawMessage) {
	for _, d := range compareJSON(what, got, want) {
		c.add(path, "%s", d)
	}
}
