package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// Kind says what kept an exchange from giving an answer.
type Kind string

// The kinds of Error.
const (
	// BadRequest: the request is not one that may go to this upstream.
	BadRequest Kind = "request refused"
	// SecretUnreadable: a credential cannot be read or used.
	SecretUnreadable Kind = "secret unreadable"
	// SecretNotBrought: a credential that the caller must bring is not there or
	// cannot be used.
	SecretNotBrought Kind = "secret not brought"
	// SecretRefused: the upstream does not accept the credentials of this server.
	SecretRefused Kind = "secret refused"
	// ConnectionFailed: no connection, or one that broke off.
	ConnectionFailed Kind = "connection failed"
	// TimedOut: no whole answer within the limit.
	TimedOut Kind = "time-out"
	// Cancelled: the caller no longer waits.
	Cancelled Kind = "cancelled"
	// TooLarge: the answer is above the limit.
	TooLarge Kind = "too large"
	// RedirectRefused: the answer is a redirect, which is not followed.
	RedirectRefused Kind = "redirect refused"
	// BadAnswer: what came back is no HTTP answer that can be read.
	BadAnswer Kind = "answer unreadable"
)

// Operators says whether what went wrong is the operator's to mend: the caller
// can do nothing about it.
func (k Kind) Operators() bool {
	switch k {
	case SecretUnreadable, SecretRefused, FileUnreadable, ConnectionFailed, TimedOut, AddressRefused, BadAnswer:
		return true
	}
	return false
}

// Error says why there is no answer, in words that hold no secret and no query.
type Error struct {
	Kind     Kind
	Upstream string
	// Message is a whole sentence without a full stop.
	Message string
	// Sent says that the upstream may have received the request and acted on it.
	Sent bool
	// Status is the HTTP status, where an answer had one; otherwise 0.
	Status int
	// RetryAfter is the wait that the upstream asks for, where Kind is RetryLater.
	RetryAfter time.Duration

	// cause is context.Canceled or context.DeadlineExceeded, or nil. Errors of
	// the transport are not kept: their texts hold URLs.
	cause error
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives context.Canceled or context.DeadlineExceeded where the call's
// context ended the exchange.
func (e *Error) Unwrap() error { return e.cause }

// errTimeout is the cause of a context that the upstream's own limit has ended.
var errTimeout = errors.New("time-out of the upstream")

// failure turns an error of the transport into one that may be shown.
func (c *Client) failure(ctx context.Context, u *upstream, e *sending, err error) *Error {
	out := &Error{Upstream: u.Name, Sent: e.sent.Load(), Status: e.status}
	say := func(k Kind, format string, args ...any) *Error {
		out.Kind, out.Message = k, c.say(e.options.Brought, format, args...)
		return out
	}
	if own := (*Error)(nil); errors.As(err, &own) {
		return say(own.Kind, "%s", own.Message)
	}
	if ctx.Err() != nil {
		what := "did not answer"
		if e.status != 0 {
			what = "did not finish its answer"
		}
		over := u.ended(ctx, e.start, fmt.Sprintf("the upstream %q %s", u.Name, what))
		over.Sent, over.Status = out.Sent, out.Status
		return over
	}
	switch text := err.Error(); {
	case errors.Is(err, errTooLarge):
		return say(TooLarge, "the upstream %q answered %d with more than %d bytes, the limit that maxBytes sets", u.Name, e.status, u.MaxBytes)
	case strings.Contains(text, "server response headers exceeded"):
		return say(TooLarge, "the upstream %q answered with more than %d bytes of headers", u.Name, maxHeaderBytes)
	case errors.Is(err, errAnswer):
		return say(BadAnswer, "the upstream %q answered %d, and %v", u.Name, e.status, err)
	case notHTTP(text):
		return say(BadAnswer, "the upstream %q at %s sent something that is no HTTP answer", u.Name, u.URL.Host)
	case e.status != 0:
		return say(ConnectionFailed, "the upstream %q at %s broke off in the middle of its answer", u.Name, u.URL.Host)
	case out.Sent:
		return say(ConnectionFailed, "the upstream %q at %s closed the connection without an answer (%s)", u.Name, u.URL.Host, detail(err))
	default:
		return say(ConnectionFailed, "cannot connect to the upstream %q at %s: %s", u.Name, u.URL.Host, detail(err))
	}
}

// ended is the error of a call whose context has ended: what was not done in
// time, said as in "the upstream did not answer".
func (u *upstream) ended(ctx context.Context, start time.Time, what string) *Error {
	out := &Error{Kind: Cancelled, Upstream: u.Name, cause: context.Canceled,
		Message: fmt.Sprintf("the call was cancelled before the upstream %q had answered", u.Name)}
	if errors.Is(ctx.Err(), context.Canceled) {
		return out
	}
	limit := u.Timeout
	if context.Cause(ctx) != errTimeout {
		deadline, _ := ctx.Deadline()
		limit = deadline.Sub(start).Round(time.Millisecond)
	}
	out.Kind, out.cause, out.Message = TimedOut, context.DeadlineExceeded, fmt.Sprintf("%s within %s", what, limit)
	return out
}

// notHTTP says whether an error of net/http, which has no types for these, is
// about what the upstream sent.
func notHTTP(text string) bool {
	for _, sign := range []string{"malformed", "chunk", "bad Content-Length", "multiple Content-Length", "unsupported transfer encoding"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// detail gives the part of a transport's error that helps and holds no URL. It is
// neither masked nor cut.
func detail(err error) string {
	var (
		urlErr  *url.Error
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		op      *net.OpError
		network net.Error
	)
	if errors.As(err, &urlErr) {
		err = urlErr.Err // url.Error itself shows the URL
	}
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host name is not known"
	case errors.As(err, &cert):
		return cert.Err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "end of data"
	case errors.As(err, &op):
		err = op.Err
	case errors.As(err, &network) && network.Timeout():
		return "no answer in time"
	}
	return err.Error()
}
