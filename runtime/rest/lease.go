package rest

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// renewBefore is how long before its end a value is no longer used, so that it
// is still good when the upstream looks at it.
const renewBefore = 30 * time.Second

// lease keeps a value that is dear to get, such as an access token, for as long
// as it lasts.
type lease struct {
	turn chan struct{} // of capacity 1: who has put something in may touch the rest
	// key is what the value was got with: the value serves nobody else.
	key          string
	value        string
	since, until time.Time
}

func newLease() *lease { return &lease{turn: make(chan struct{}, 1)} }

// get gives the value, from fresh where there is none that lasts. Of calls that
// come together one gets it and the others wait, each within its own deadline.
func (l *lease) get(ctx context.Context, key string, fresh func() (value string, until time.Time, err error)) (string, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return "", errors.New("the wait for another call that reads it took too long")
	}
	if l.value != "" && l.key == key && time.Until(l.until) > renewBefore {
		return l.value, nil
	}
	value, until, err := fresh()
	if err != nil {
		return "", err
	}
	l.key, l.value, l.since, l.until = key, value, time.Now(), until
	return value, nil
}

// drop forgets a value that was got before a time, and says whether it did.
func (l *lease) drop(ctx context.Context, before time.Time) bool {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return false
	}
	if l.value == "" || !l.since.Before(before) {
		return false
	}
	l.value = ""
	return true
}

// leases lists what a credential is leased from.
func (c *Client) leases(d credential) []*lease {
	var all []*lease
	if d.lease != nil {
		all = append(all, d.lease)
	}
	for _, s := range d.refs {
		if len(s.Exec) > 0 {
			all = append(all, c.secrets.commands.lease(s.Exec))
		}
	}
	return all
}

// renewals is a layer that gets leased credentials anew when the upstream
// answers 401 to ones that are older than the call. An idempotent call is made
// again with them; any other only leaves the next one in a better place.
func renewals(c *Client, u *upstream, next exchange) exchange {
	leased := false
	for _, d := range u.credentials {
		leased = leased || len(c.leases(d)) > 0
	}
	if !leased {
		return next
	}
	return func(ctx context.Context, e *sending) (*Response, error) {
		out, err := next(ctx, e)
		if err != nil || out.Status != http.StatusUnauthorized {
			return out, err
		}
		dropped := false
		for _, d := range u.credentials {
			for _, l := range c.leases(d) {
				dropped = l.drop(ctx, e.start) || dropped
			}
		}
		if !dropped || !e.options.Idempotent {
			return out, nil
		}
		credentials, err := c.authorize(ctx, u, e.options, e.start)
		if err != nil {
			return nil, err
		}
		again := c.sending(e.req, e.options, credentials, e.start)
		again.sent = e.sent
		return next(ctx, again)
	}
}
