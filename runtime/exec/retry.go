package exec

import (
	"context"
	"fmt"
	"time"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/rest"
)

// Retry makes a request again whose answer is a failure that will pass, such as
// a conflict with a change that somebody makes at the same time. The program
// knows by the answer that nothing was done, so that this holds for every method
// and every action; what the upstream repeats by itself is its own affair.
type Retry struct {
	// On is a program over the body of such an answer. The request is made again
	// when it gives anything but false and null.
	On *JQ
	// Pace says how often, and how long is waited before.
	Pace rest.Retry
}

// holds says whether the failure in an answer will pass.
func (r *Retry) holds(ctx context.Context, c *prepared, resp *rest.Response) (bool, error) {
	input, err := body(resp)
	if err != nil {
		return false, err
	}
	out, err := r.On.all(ctx, input, c.jqArgs(), resp.Status, jqHeaders(resp.Header))
	if err != nil || len(out) == 0 {
		return false, err
	}
	return string(out[0]) != "null" && string(out[0]) != "false", nil
}

// exchanges sends a request, and again as the step says, as long as the call has
// time for it. It gives what the last exchange gave.
func (p *Program) exchanges(ctx context.Context, at *progress, step *Step, req *bind.HTTP) (*rest.Response, *call.Result) {
	for attempt := 1; ; attempt++ {
		resp, failure := p.exchange(ctx, at, step, req)
		if failure == nil || resp == nil || step.Retry == nil {
			return resp, failure
		}
		again, err := step.Retry.holds(ctx, at.prepared, resp)
		if err != nil {
			unknown := with(*failure, struct {
				Retry string `json:"retry"`
			}{tell(1, fmt.Sprintf("not made again, since the condition could not be evaluated: %v", err))})
			return resp, &unknown
		}
		if again && attempt < step.Retry.Pace.Most() && p.pause(ctx, step.Retry.Pace.Wait(attempt), resp) {
			continue
		}
		if attempt > 1 {
			tried := with(*failure, struct {
				Attempts int `json:"attempts"`
			}{attempt})
			failure = &tried
		}
		return resp, failure
	}
}

// pause waits before a request is made again, at least as long as the answer asks
// to (RFC 9110 section 10.2.3), and says whether the call has the time.
func (p *Program) pause(ctx context.Context, wait time.Duration, resp *rest.Response) bool {
	if asked, ok := resp.RetryAfter(); ok {
		wait = max(wait, asked)
	}
	if deadline, ok := ctx.Deadline(); ok && wait > time.Until(deadline) {
		return false
	}
	sleep := p.Sleep
	if sleep == nil {
		sleep = rest.Sleep
	}
	return sleep(ctx, wait) == nil
}
