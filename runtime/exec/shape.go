package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/jsonschema"
	"github.com/metacue/metacue/runtime/rest"
)

// DefaultMaxBytes bounds a result where Response leaves it open: about 80,000
// tokens, more than an agent can use at once.
const DefaultMaxBytes = 256 << 10

// Response says what becomes of an answer.
type Response struct {
	// JQ shapes the decoded JSON; nil passes it on.
	JQ *JQ
	// Schema is what the result must fit, that of the tool's OutputSchema; nil
	// when the tool declares none.
	Schema *jsonschema.Validator
	// Paging says how answers come in pages; nil when they do not.
	Paging *Paging
	// MaxBytes bounds the result; 0 means DefaultMaxBytes.
	MaxBytes int
}

func (r Response) limit() int {
	if r.MaxBytes > 0 {
		return r.MaxBytes
	}
	return DefaultMaxBytes
}

// answerError is what an agent is told of an answer that is a failure.
type answerError struct {
	Error  string `json:"error"`
	Status int    `json:"status,omitempty"`
	// RetryAfter is in seconds.
	RetryAfter *int            `json:"retryAfter,omitempty"`
	Hint       string          `json:"hint,omitempty"`
	Body       json.RawMessage `json:"body,omitempty"`
}

// shape turns what the steps gave into a result: that of the last one that ran,
// or what the response's jq makes of it. With steps jq sees {"steps": …}.
func (p *Program) shape(ctx context.Context, at *progress) call.Result {
	r, limit := at.tool.Response, at.tool.Response.limit()
	if !at.ran {
		return p.words(at, "Nothing was sent: no step applied.")
	}
	if r.Paging != nil {
		return p.page(ctx, at)
	}
	resp := at.last
	if r.JQ != nil || resp == nil || resp.IsJSON() && len(resp.Body) > 0 {
		result, err := p.asJSON(ctx, at)
		if err != nil {
			return failed(at.unreadable(resp, err))
		}
		if resp == nil || len(resp.Body) > 0 || string(result) != "null" {
			return p.json(at, result)
		}
	}
	if len(resp.Body) == 0 {
		if resp.Status/100 == 2 {
			return p.words(at, fmt.Sprintf("%s: done; the API sent no content.", status(resp.Status)))
		}
		return p.words(at, fmt.Sprintf("The API answered %s, without content.", status(resp.Status)))
	}
	if text, err := resp.Text(); err == nil && resp.IsText() {
		return p.words(at, truncateText(cleanText(text), limit))
	}
	if r.Schema != nil {
		return p.misfit(at, "it is "+cmp.Or(resp.MediaType, "binary data")+", not JSON", nil)
	}
	if len(resp.Body) > limit {
		return failed(fmt.Sprintf("%s was done, but its answer is %d bytes of %s, more than the %d that can be shown (response.maxBytes)",
			at.tool.Info.Name, len(resp.Body), cmp.Or(resp.MediaType, "binary data"), limit))
	}
	return call.Result{Content: []call.Content{{Data: resp.Body, MIMEType: cmp.Or(resp.MediaType, "application/octet-stream")}}}
}

// words makes a result of text.
func (p *Program) words(at *progress, text string) call.Result {
	if at.tool.Response.Schema != nil {
		return p.misfit(at, "it is no JSON", json.RawMessage(compact(text)))
	}
	return call.Text(text)
}

// json makes a result of JSON. One that is too large is cut; where a schema is
// declared it must be whole and fit.
func (p *Program) json(at *progress, result json.RawMessage) call.Result {
	schema, limit := at.tool.Response.Schema, at.tool.Response.limit()
	result = cleanJSON(result)
	if schema == nil {
		return call.Text(string(truncate(result, limit)))
	}
	if len(result) > limit {
		return p.misfit(at, fmt.Sprintf("it has %d bytes, above the %d that can be shown, and would have to be cut", len(result), limit), result)
	}
	if faults := schema.Validate(result); len(faults) > 0 {
		return p.misfit(at, misfits(faults), result)
	}
	r := call.Text(string(result))
	r.Structured = result
	return r
}

// misfit says that a result is not what the tool declares. Clients hold the
// declaration against results, so such a one is none.
func (p *Program) misfit(at *progress, why string, result json.RawMessage) call.Result {
	e := answerError{
		Error: fmt.Sprintf("%s was done, but its answer does not fit the output schema that it declares: %s", at.tool.Info.Name, why),
		Body:  truncate(result, at.tool.Response.limit()),
	}
	return call.Error(compact(e))
}

// maxMisfits bounds how many of the faults of an answer are told.
const maxMisfits = 5

// misfits words what a schema refuses in an answer.
func misfits(faults []jsonschema.Fault) string {
	say := make([]string, len(faults))
	for i, f := range faults {
		switch f.Keyword {
		case "required":
			say[i] = strings.TrimPrefix(f.Message, "missing required argument: ") + " is missing"
		case "additionalProperties":
			say[i] = strings.TrimPrefix(f.Message, "unknown argument: ") + " is not declared"
		default:
			say[i] = strings.TrimPrefix(strings.TrimPrefix(f.Message, "arguments: "), "arguments ")
		}
	}
	return tell(maxMisfits, say...)
}

// asJSON gives the result as compact JSON, null when the answer has no body.
func (p *Program) asJSON(ctx context.Context, at *progress) (json.RawMessage, error) {
	resp, jq := at.last, at.tool.Response.JQ
	named := at.tool.Steps[0].Name != ""
	switch {
	case jq != nil && named:
		input, err := at.states()
		if err != nil {
			return nil, err
		}
		return jq.run(ctx, input, at.jqArgs(), nil, nil)
	case resp == nil:
		return at.shaped, nil
	case jq != nil:
		return at.runJQ(ctx, jq, resp)
	case len(resp.Body) == 0:
		return json.RawMessage("null"), nil
	}
	return resp.Compact()
}

// runJQ shapes one answer. One without a body is null to the program, which may
// make something of $status and $headers; when it cannot, the result is null.
func (c *prepared) runJQ(ctx context.Context, jq *JQ, resp *rest.Response) (json.RawMessage, error) {
	var input any
	if len(resp.Body) > 0 {
		var err error
		if input, err = resp.Decode(); err != nil {
			return nil, err
		}
	}
	out, err := jq.run(ctx, input, c.jqArgs(), resp.Status, jqHeaders(resp.Header))
	if err != nil && len(resp.Body) == 0 {
		if _, speaks := said(err); !speaks {
			return json.RawMessage("null"), nil
		}
	}
	return out, err
}

// states gives {"steps": …} with the states of those that ran, as jq sees them.
func (c *prepared) states() (any, error) {
	ran := map[string]json.RawMessage{}
	for name, s := range c.scope.Steps {
		if s != nil {
			ran[name] = s
		}
	}
	return decode(json.RawMessage(compact(map[string]any{"steps": ran})))
}

// unreadable says that an upstream did what it was asked, and that the result
// cannot be made of its answer. resp is nil where several answers were in it.
func (c *prepared) unreadable(resp *rest.Response, err error) string {
	if text, ok := said(err); ok {
		return text
	}
	done := c.tool.Info.Name + " was done"
	if resp != nil {
		done += fmt.Sprintf(" (the API answered %s)", status(resp.Status))
	}
	what := "its answer cannot be read"
	if _, ok := errors.AsType[*jqError](err); ok {
		what = "the jq program that shapes its answer failed"
	}
	return fmt.Sprintf("%s, but %s: %v", done, what, err)
}

// upstreamFailure tells an agent what the API said: its status and its body.
func (p *Program) upstreamFailure(t *Tool, upstream string, resp *rest.Response) *call.Result {
	limit := t.Response.limit()
	e := answerError{
		Error:  fmt.Sprintf("%s answered %s", upstream, status(resp.Status)),
		Status: resp.Status,
		Hint:   p.Client.AuthHint(upstream, resp.Status),
		Body:   shown(resp, limit),
	}
	if wait, ok := resp.RetryAfter(); ok {
		seconds := int(wait.Seconds())
		e.RetryAfter = &seconds
	}
	r := call.Error(compact(e))
	return &r
}

// shown gives the body of a failed answer as JSON, nil when it has none that
// can be read.
func shown(resp *rest.Response, limit int) json.RawMessage {
	if body, err := resp.Compact(); err == nil && resp.IsJSON() {
		return truncate(cleanJSON(body), limit)
	}
	if text, err := resp.Text(); err == nil && resp.IsText() && text != "" {
		return json.RawMessage(compact(truncateText(cleanText(text), limit)))
	}
	return nil
}

// contentFailure finds a failure inside an answer whose status is a success: by
// the step's condition, which gives nothing, or an empty value, when there is
// none.
func (p *Program) contentFailure(ctx context.Context, at *progress, step *Step, upstream string, resp *rest.Response) *call.Result {
	if step.Error == nil {
		return nil
	}
	input, err := body(resp)
	var found []json.RawMessage
	if err == nil {
		found, err = step.Error.all(ctx, input, at.jqArgs(), resp.Status, jqHeaders(resp.Header))
	}
	if err != nil {
		r := failed(at.unreadable(resp, err))
		return &r
	}
	for _, v := range found {
		switch string(v) {
		case "false", "null", "0", `""`, "[]", "{}":
			continue
		}
		e := answerError{
			Error:  fmt.Sprintf("%s answered %s, and says in it that the call failed", upstream, status(resp.Status)),
			Status: resp.Status,
			Body:   truncate(cleanJSON(v), at.tool.Response.limit()),
		}
		var text string
		if string(v) == "true" {
			e.Body = shown(resp, at.tool.Response.limit())
		} else if json.Unmarshal(v, &text) == nil {
			e.Error, e.Body = tell(1, text), nil
		}
		r := call.Error(compact(e))
		return &r
	}
	return nil
}

// body gives the body of an answer as jq sees it: JSON, a text as a string, and
// nothing, as other kinds, as null.
func body(resp *rest.Response) (any, error) {
	switch {
	case len(resp.Body) == 0:
	case resp.IsJSON():
		return resp.Decode()
	case resp.IsText():
		return resp.Text()
	}
	return nil, nil
}

// status gives a status code and its words.
func status(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

// jqArgs gives the arguments as jq sees them.
func (c *prepared) jqArgs() any {
	args := make(map[string]any, len(c.scope.Args))
	for name, raw := range c.scope.Args {
		if v, err := decode(raw); err == nil {
			args[name] = v
		}
	}
	return args
}

// jqHeaders gives headers as jq sees them: lower-case names, one string each.
func jqHeaders(h http.Header) any {
	out := make(map[string]any, len(h))
	for name, values := range h {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}
