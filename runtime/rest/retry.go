package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Retry says how often and how fast a failed request is made again, within the
// call's one deadline.
type Retry struct {
	// Attempts is the number of requests in all; 0 means 3.
	Attempts int
	// Backoff is the longest wait before the second request. It doubles each
	// time, and the wait is a random part of it, so that clients which failed
	// together do not come back together. 0 means 250 ms.
	Backoff time.Duration
	// MaxBackoff bounds the doubling; 0 means 10 s.
	MaxBackoff time.Duration
}

// RetryLater is the Kind of an Error about an upstream that asks for a longer
// wait than the call has left.
const RetryLater Kind = "retry later"

// check lists what is wrong with the numbers.
func (r *Retry) check() (faults []error) {
	if r != nil && (r.Attempts < 0 || r.Backoff < 0 || r.MaxBackoff < 0) {
		faults = append(faults, errors.New("retry: no number may be negative"))
	}
	return faults
}

// Most gives the number of requests in all.
func (r *Retry) Most() int { return cmp.Or(r.Attempts, 3) }

// Wait gives the wait after a number of attempts.
func (r *Retry) Wait(attempts int) time.Duration {
	longest := cmp.Or(r.Backoff, 250*time.Millisecond)
	most := max(cmp.Or(r.MaxBackoff, 10*time.Second), longest)
	for range attempts - 1 {
		if longest = min(2*longest, most); longest == most {
			break
		}
	}
	return rand.N(longest) + 1
}

// Sleep waits, or until ctx is done, whose error it then gives.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retries is a layer that repeats the requests of calls that are idempotent,
// after failures that may pass by themselves.
func retries(c *Client, u *upstream, next exchange) exchange {
	if u.Retry == nil {
		return next
	}
	attempts := u.Retry.Most()
	return func(ctx context.Context, e *sending) (*Response, error) {
		if !e.options.Idempotent {
			return next(ctx, e)
		}
		for attempt := 1; ; attempt++ {
			out, err := next(ctx, e)
			if !passing(out, err) || ctx.Err() != nil {
				return out, err
			}
			wait := u.Retry.Wait(attempt)
			deadline, _ := ctx.Deadline() // Do has set one
			if out != nil {
				if asked, ok := out.RetryAfter(); ok {
					if asked > time.Until(deadline) {
						return nil, &Error{Kind: RetryLater, Upstream: u.Name, Sent: true, Status: out.Status, RetryAfter: asked, Message: fmt.Sprintf(
							"the upstream %q answered %d and asks to wait %d seconds, longer than this call may take: try again then",
							u.Name, out.Status, int64(asked.Seconds()))}
					}
					wait = max(wait, asked)
				}
			}
			if attempt >= attempts || wait > time.Until(deadline) {
				if failed := (*Error)(nil); errors.As(err, &failed) && attempt > 1 {
					failed.Message += fmt.Sprintf(" (tried %d times)", attempt)
				}
				return out, err
			}
			c.log.DebugContext(ctx, "repeating the request", "upstream", u.Name, "attempt", attempt+1, "wait", wait)
			if Sleep(ctx, wait) != nil {
				return nil, u.ended(ctx, e.start, fmt.Sprintf("the upstream %q did not answer", u.Name))
			}
			e = e.again()
		}
	}
}

// passing says whether a failure may pass by itself: a connection that failed,
// and the statuses 429, 502, 503 and 504.
func passing(out *Response, err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind == ConnectionFailed
	}
	switch out.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// RetryAfter gives the wait that the upstream asks for, in whole seconds, and
// whether it asks for one (RFC 9110 §10.2.3).
func (r *Response) RetryAfter() (time.Duration, bool) {
	value := r.Header.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 32) // the largest one where it is out of range
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	wait := max(time.Until(at), 0)
	return (wait + time.Second - 1).Truncate(time.Second), true
}
