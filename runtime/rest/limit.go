package rest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"golang.org/x/time/rate"
)

// Rate bounds how many requests an upstream is sent, over all callers.
type Rate struct {
	// PerSecond is the number of requests a second in the long run.
	PerSecond float64
	// Burst is how many may go at once after a pause; 0 means 1.
	Burst int
}

// Busy is the Kind of an Error about a limit of the configuration under which a
// call cannot be made in time: nothing was sent.
const Busy Kind = "busy"

// check lists what is wrong with the numbers.
func (r *Rate) check() (faults []error) {
	if r != nil && (!(r.PerSecond > 0) || math.IsInf(r.PerSecond, 0) || r.Burst < 0) {
		faults = append(faults, errors.New("rate: perSecond must be above 0 and burst not below"))
	}
	return faults
}

// limits is a layer that lets an upstream have no more requests at once, and no
// more in a second, than it is to have. A request waits for its turn within the
// deadline of its call; one that could not be in time is refused at once.
func limits(c *Client, u *upstream, next exchange) exchange {
	if u.Rate == nil && u.Concurrency == 0 {
		return next
	}
	limiter := rate.NewLimiter(rate.Inf, 0)
	if u.Rate != nil {
		limiter = rate.NewLimiter(rate.Limit(u.Rate.PerSecond), max(u.Rate.Burst, 1))
	}
	var slots chan struct{}
	if u.Concurrency > 0 {
		slots = make(chan struct{}, u.Concurrency)
	}
	return func(ctx context.Context, e *sending) (*Response, error) {
		if slots != nil {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return nil, u.ended(ctx, e.start, fmt.Sprintf(
					"none of the %d requests that the upstream %q may have at once had ended (concurrency)", u.Concurrency, u.Name))
			}
		}
		if err := limiter.Wait(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, u.ended(ctx, e.start, fmt.Sprintf("the upstream %q did not answer", u.Name))
			}
			return nil, &Error{Kind: Busy, Upstream: u.Name, Sent: e.sent.Load(), Message: fmt.Sprintf(
				"the upstream %q is sent no more than %g requests a second (rate), and the turn of this one would come after its deadline",
				u.Name, u.Rate.PerSecond)}
		}
		return next(ctx, e)
	}
}
