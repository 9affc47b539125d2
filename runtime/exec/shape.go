package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/rest"
)

// DefaultMaxBytes bounds a result where Response leaves it open: about 80,000
// tokens, more than an agent can use at once.
const DefaultMaxBytes = 256 << 10

// Response says what becomes of an answer.
type Response struct {
	// JQ shapes the decoded JSON; nil passes it on.
	JQ *JQ
	// MaxBytes bounds the result; 0 means DefaultMaxBytes.
	MaxBytes int
}

func (r Response) limit() int {
	if r.MaxBytes > 0 {
		return r.MaxBytes
	}
	return DefaultMaxBytes
}

// jqTimeout bounds one run of a jq program.
const jqTimeout = 5 * time.Second

// JQ is a compiled jq program.
type JQ struct{ code *gojq.Code }

// jqVariables are bound in every program, in the order in which run gives them.
var jqVariables = []string{"$args", "$status", "$headers"}

// ParseJQ compiles a program of github.com/itchyny/gojq. It sees no
// environment and no files.
func ParseJQ(src string) (*JQ, error) {
	q, err := gojq.Parse(src)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(q, gojq.WithVariables(jqVariables))
	if err != nil {
		return nil, err
	}
	return &JQ{code}, nil
}

// run gives the program's one output, or a list of them when there are several
// or none. max bounds the output in bytes.
func (j *JQ) run(ctx context.Context, input any, values ...any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, jqTimeout)
	defer cancel()
	var out []json.RawMessage
	iter := j.code.RunWithContext(ctx, input, values...)
	for {
		v, ok := iter.Next()
		if !ok {
			break
		}
		if err, ok := v.(error); ok {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				break
			}
			return nil, err
		}
		b, err := gojq.Marshal(v)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return append(append(json.RawMessage{'['}, bytes.Join(raws(out), []byte{','})...), ']'), nil
}

func raws(in []json.RawMessage) [][]byte {
	out := make([][]byte, len(in))
	for i, r := range in {
		out[i] = r
	}
	return out
}

// upstreamError is what an agent is told of an answer that is a failure.
type upstreamError struct {
	Error  string          `json:"error"`
	Status int             `json:"status"`
	Hint   string          `json:"hint,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// shape turns what the steps gave into a result: that of the last one that ran,
// or what the response's jq makes of it. With steps jq sees {"steps": …}.
func (p *Program) shape(ctx context.Context, at *progress) call.Result {
	r, limit := at.tool.Response, at.tool.Response.limit()
	if !at.ran {
		return call.Text("Nothing was sent: no step applied.")
	}
	resp := at.last
	if r.JQ != nil || resp == nil || resp.IsJSON() && len(resp.Body) > 0 {
		result, err := p.asJSON(ctx, at)
		if err != nil {
			return failed(p.unreadable(at.prepared, err))
		}
		if result != nil {
			return call.Text(p.Client.Scrub(string(truncate(cleanJSON(result), limit))))
		}
	}
	if len(resp.Body) == 0 {
		return call.Text(fmt.Sprintf("%s: done; the API sent no content.", status(resp.Status)))
	}
	if text, err := resp.Text(); err == nil && resp.IsText() {
		return call.Text(p.Client.Scrub(truncateText(cleanText(text), limit)))
	}
	if len(resp.Body) > limit {
		return failed(fmt.Sprintf("%s was done, but its answer is %d bytes of %s, more than the %d that can be shown", at.tool.Info.Name, len(resp.Body), resp.MediaType, limit))
	}
	return call.Result{Content: []call.Content{{Data: resp.Body, MIMEType: resp.MediaType}}}
}

// asJSON gives the result as compact JSON, nil when the answer has no body.
func (p *Program) asJSON(ctx context.Context, at *progress) (json.RawMessage, error) {
	resp, jq := at.last, at.tool.Response.JQ
	named := at.tool.Steps[0].Name != ""
	switch {
	case jq != nil && named:
		input, err := decode(json.RawMessage(`{"steps":` + string(states(at.scope.Steps)) + `}`))
		if err != nil {
			return nil, err
		}
		return jq.run(ctx, input, at.jqArgs(), nil, nil)
	case resp == nil:
		return at.shaped, nil
	case len(resp.Body) == 0:
		return nil, nil
	case jq != nil:
		v, err := resp.Decode()
		if err != nil {
			return nil, err
		}
		return jq.run(ctx, v, at.jqArgs(), resp.Status, jqHeaders(resp.Header))
	}
	text, err := resp.Text()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// states gives the states of steps as one object; skipped ones are not in it.
func states(steps map[string]json.RawMessage) json.RawMessage {
	ran := map[string]json.RawMessage{}
	for name, s := range steps {
		if s != nil {
			ran[name] = s
		}
	}
	return json.RawMessage(compact(ran))
}

func decode(data json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// unreadable says that an upstream did what it was asked and its answer is not
// what it says it is. A jq program that ends with error("…") speaks for itself: it
// has found a refusal that the API sent as a success.
func (p *Program) unreadable(c *prepared, err error) string {
	if said, ok := errors.AsType[gojq.ValueError](err); ok {
		if s, ok := said.Value().(string); ok {
			return p.Client.Scrub(cleanText(s))
		}
	}
	return p.Client.Scrub(fmt.Sprintf("%s was done, but its answer cannot be read: %v", c.tool.Info.Name, err))
}

// upstreamFailure tells an agent what the API said: its status and its body.
func (p *Program) upstreamFailure(t *Tool, upstream string, resp *rest.Response) *call.Result {
	limit := t.Response.limit()
	e := upstreamError{
		Error:  fmt.Sprintf("%s answered %s", upstream, status(resp.Status)),
		Status: resp.Status,
		Hint:   p.Client.AuthHint(upstream, resp.Status),
	}
	var b bytes.Buffer
	if resp.IsJSON() && json.Compact(&b, resp.Body) == nil {
		e.Body = truncate(cleanJSON(b.Bytes()), limit)
	} else if text, err := resp.Text(); err == nil && resp.IsText() && text != "" {
		e.Body = json.RawMessage(compact(truncateText(cleanText(text), limit)))
	}
	r := call.Error(p.Client.Scrub(compact(e)))
	return &r
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
