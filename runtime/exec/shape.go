package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	// Accept lists statuses beyond 2xx that are no failure.
	Accept []int
	// MaxBytes bounds the result; 0 means DefaultMaxBytes.
	MaxBytes int
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

// shape turns an answer into a result.
func (p *Program) shape(ctx context.Context, c *prepared, resp *rest.Response) call.Result {
	r := c.tool.Response
	limit := r.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	if resp.Status/100 != 2 && !slices.Contains(r.Accept, resp.Status) {
		return p.upstreamFailure(c, resp, limit)
	}
	if len(resp.Body) == 0 {
		return call.Text(fmt.Sprintf("%s: done; the API sent no content.", status(resp.Status)))
	}
	text, err := resp.Text()
	if resp.IsJSON() || r.JQ != nil {
		if err != nil {
			return failed(p.unreadable(c, err))
		}
		result := json.RawMessage(text)
		if r.JQ != nil {
			v, err := resp.Decode()
			if err != nil {
				return failed(p.unreadable(c, err))
			}
			result, err = r.JQ.run(ctx, v, c.jqArgs(), resp.Status, jqHeaders(resp.Header))
			if err != nil {
				return failed(p.Client.Scrub(fmt.Sprintf("%s was done, but its answer could not be shaped: %v", c.tool.Info.Name, err)))
			}
		}
		var b bytes.Buffer
		if err := json.Compact(&b, result); err != nil {
			return failed(p.unreadable(c, err))
		}
		return call.Text(p.Client.Scrub(string(truncate(cleanJSON(b.Bytes()), limit))))
	}
	if resp.IsText() && err == nil {
		return call.Text(p.Client.Scrub(truncateText(cleanText(text), limit)))
	}
	if len(resp.Body) > limit {
		return failed(fmt.Sprintf("the answer is %d bytes of %s, more than the %d that can be shown", len(resp.Body), resp.MediaType, limit))
	}
	return call.Result{Content: []call.Content{{Data: resp.Body, MIMEType: resp.MediaType}}}
}

// unreadable says that an upstream did what it was asked and its answer is not
// what it says it is.
func (p *Program) unreadable(c *prepared, err error) string {
	return p.Client.Scrub(fmt.Sprintf("%s was done, but the answer of %s cannot be read: %v", c.tool.Info.Name, c.tool.Request.Upstream, err))
}

// upstreamFailure tells an agent what the API said: its status and its body.
func (p *Program) upstreamFailure(c *prepared, resp *rest.Response, limit int) call.Result {
	e := upstreamError{
		Error:  fmt.Sprintf("%s answered %s", c.tool.Request.Upstream, status(resp.Status)),
		Status: resp.Status,
		Hint:   p.Client.AuthHint(c.tool.Request.Upstream, resp.Status),
	}
	var b bytes.Buffer
	if resp.IsJSON() && json.Compact(&b, resp.Body) == nil {
		e.Body = truncate(cleanJSON(b.Bytes()), limit)
	} else if text, err := resp.Text(); err == nil && resp.IsText() && text != "" {
		e.Body = json.RawMessage(compact(truncateText(cleanText(text), limit)))
	}
	return call.Error(p.Client.Scrub(compact(e)))
}

// status gives a status code and its words.
func status(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

// jqArgs gives the arguments as jq sees them.
func (c *prepared) jqArgs() any {
	args := make(map[string]any, len(c.scope.Args))
	for name, raw := range c.scope.Args {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil {
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
