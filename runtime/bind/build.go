package bind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Build makes the request. It either gives a request that says everything that
// was asked, or an error: an [Errors] that holds every fault there is.
func (r *Request) Build(ctx context.Context, s *Scope) (*HTTP, error) {
	b := builder{req: r, scope: s}
	if r.Exprs != nil {
		values, err := r.Exprs.Eval(ctx, s)
		if err != nil {
			return nil, evalError(err)
		}
		b.exprs = values
	}
	b.vars = b.spread("path variables", r.Vars)
	h := &HTTP{Upstream: r.Upstream, Method: r.Method}
	if r.URL != nil && r.Base != nil {
		h.URL = b.link()
	} else {
		h.URL = b.url()
	}
	h.Body, h.Header = b.message()
	if len(b.faults) > 0 {
		return nil, b.faults
	}
	return h, nil
}

// evalError gives the error of an Evaluator as an Errors.
func evalError(err error) Errors {
	var faults Errors
	var fault *Error
	switch {
	case errors.As(err, &faults):
		return faults
	case errors.As(err, &fault):
		return Errors{fault}
	}
	return Errors{{Reason: err.Error(), Err: err}}
}

// builder is one request being made.
type builder struct {
	req    *Request
	scope  *Scope
	exprs  []json.RawMessage
	vars   []Field // of the path, spread
	faults Errors
}

// maxFaults is how many faults of one call are told: a body of thousands of
// members can have one in each.
const maxFaults = 20

// target is a place that a value goes to.
type target struct {
	what string // the kind of place, in words
	name string // which one, "" when there is but one
	node Node   // what the value is made of
}

// fault notes a fault of the value for t, in words that go on after the name of
// the place.
func (b *builder) fault(t target, format string, args ...any) {
	place := t.what
	if t.name != "" {
		place = fmt.Sprintf("%s %q", t.what, t.name)
	}
	e := &Error{Argument: argument(t.node), Reason: place + " " + fmt.Sprintf(format, args...)}
	switch {
	case len(b.faults) > maxFaults:
		return
	case len(b.faults) == maxFaults:
		e = &Error{Reason: "there are more faults"}
	}
	if !slices.ContainsFunc(b.faults, func(f *Error) bool { return *f == *e }) {
		b.faults = append(b.faults, e)
	}
}

// argument names the argument that a node refers to, "" when there is no such
// or no single one.
func argument(n Node) string {
	if r, ok := n.(Ref); ok && r.Root == RootInput && len(r.Path) > 0 {
		return r.Path[0]
	}
	return ""
}

// value makes a value, nil when it is absent. ok is false when it cannot be
// made, which is then noted.
func (b *builder) value(t target) (v json.RawMessage, ok bool) {
	switch n := t.node.(type) {
	case Const:
		return json.RawMessage(n), true
	case Ref:
		return b.ref(t, n)
	case Expr:
		if n < 0 || int(n) >= len(b.exprs) {
			b.fault(t, "has an expression that was not evaluated")
			return nil, false
		}
		return b.exprs[n], true
	}
	faults := len(b.faults)
	v, _ = b.appendJSON(nil, t, false)
	return v, faults == len(b.faults)
}

// ref looks a value up in the scope.
func (b *builder) ref(t target, r Ref) (v json.RawMessage, ok bool) {
	if len(r.Path) == 0 {
		b.fault(t, "refers to nothing")
		return nil, false
	}
	switch r.Root {
	case RootInput:
		v = b.scope.Args[r.Path[0]]
	case RootSteps:
		if v, ok = b.scope.Steps[r.Path[0]]; !ok {
			b.fault(t, "refers to the step %q, which has not run", r.Path[0])
			return nil, false
		}
	default:
		b.fault(t, "refers to %q, which is not known", r.Root)
		return nil, false
	}
	for i, name := range r.Path[1:] {
		if len(v) == 0 {
			return nil, true
		}
		if kind(v) != kindObject {
			b.fault(t, "needs the member %s, but %s is %s", name, strings.Join(r.Path[:i+1], "."), kindNames[kind(v)])
			return nil, false
		}
		if v = member(v, name); v == nil && r.Root == RootSteps {
			b.fault(t, "needs %s, which the step did not give", strings.Join(r.Path[:i+2], "."))
			return nil, false
		}
	}
	return v, true
}

// appendJSON appends a value as JSON, and says whether there was one: nothing
// is appended for an absent one. Inside a list nothing may be absent.
func (b *builder) appendJSON(dst []byte, t target, inList bool) (_ []byte, present bool) {
	switch n := t.node.(type) {
	case Object:
		start := len(dst)
		dst = append(dst, '{')
		some := len(n) == 0
		for _, f := range n {
			end := len(dst)
			if end > start+1 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, f.Name), ':')
			t.node = f.Value
			var ok bool
			if dst, ok = b.appendJSON(dst, t, inList); ok {
				some = true
			} else {
				dst = dst[:end]
			}
		}
		if !some {
			return dst[:start], false
		}
		return append(dst, '}'), true
	case List:
		dst = append(dst, '[')
		for i, e := range n {
			if i > 0 {
				dst = append(dst, ',')
			}
			t.node = e
			dst, _ = b.appendJSON(dst, t, true)
		}
		return append(dst, ']'), true
	case Const, Ref, Expr:
		v, ok := b.value(t)
		if ok && len(v) == 0 && inList {
			what := "a value"
			if r, ok := n.(Ref); ok {
				what = strings.Join(r.Path, ".")
			}
			b.fault(t, "needs %s, which was not given: an element of a list is sent whole or not at all", what)
		}
		return append(dst, v...), len(v) > 0
	}
	b.fault(t, "has no value")
	return dst, false
}

// texts gives the text of a string, number or boolean, or of each element of a
// list: numbers and booleans as they are written in JSON. Null and absent give
// nothing. What has no text is noted as a fault.
func (b *builder) texts(t target, v json.RawMessage) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		switch {
		case len(v) == 0 || kind(v) == kindNull:
		case kind(v) == kindList:
			for e := range elements(v) {
				if s, ok := b.text(t, "holds", e); ok && !yield(s) {
					return
				}
			}
		default:
			if s, ok := b.text(t, "is", v); ok {
				yield(s)
			}
		}
	}
}

// text gives the text of one value. what is how t has it, in words.
func (b *builder) text(t target, what string, v json.RawMessage) (s []byte, ok bool) {
	switch k := kind(v); k {
	case kindOther:
		return v, true
	case kindString:
		s, err := unquote(v)
		if err != nil {
			b.fault(t, "cannot be sent: %v", err)
		}
		return s, err == nil
	default:
		b.fault(t, "%s %s, and only text, a number or a boolean can stand there", what, kindNames[k])
		return nil, false
	}
}

// url makes the whole URL.
func (b *builder) url() string {
	if b.req.Base == nil || b.req.Base.Host == "" || b.req.Path == nil {
		b.faults = append(b.faults, &Error{Reason: "the request has no URL to go to"})
		return ""
	}
	var buf [512]byte
	dst := appendOrigin(buf[:0], b.req.Base)
	origin := len(dst)
	dst = append(dst, strings.TrimSuffix(b.req.Base.EscapedPath(), "/")...)
	dst = b.appendPath(dst)
	if len(dst) == origin {
		dst = append(dst, '/')
	}
	q := query{dst: dst, sep: '?'}
	if raw := b.req.Base.RawQuery; raw != "" {
		q.dst = append(append(q.dst, '?'), raw...)
		q.sep = '&'
	}
	b.templateQuery(&q)
	own := b.spread("query parameter", b.req.Query)
	b.params(&q, own)
	b.params(&q, b.baseFields("query parameter", b.req.BaseQuery, own, sameName))
	return string(q.dst)
}

// appendOrigin appends scheme and host.
func appendOrigin(dst []byte, base *url.URL) []byte {
	for i := range len(base.Host) {
		if c := base.Host[i]; c == '%' || c >= utf8.RuneSelf {
			return append(dst, (&url.URL{Scheme: base.Scheme, Host: base.Host}).String()...)
		}
	}
	dst = append(dst, base.Scheme...)
	dst = append(dst, "://"...)
	return append(dst, base.Host...)
}

// query is the query of a URL, or a form, being written.
type query struct {
	dst []byte
	sep byte // what stands before the next pair, 0 for nothing
}

// pair appends one name and value. Names keep what is readable in them, values
// nothing but unreserved characters, and a space is %20: all of it means the
// same to those who decode per RFC 3986 and to those who decode forms.
func (q *query) pair(name string, value []byte) {
	if q.sep != 0 {
		q.dst = append(q.dst, q.sep)
	}
	q.sep = '&'
	q.dst = append(appendEncoded(q.dst, name, classQueryName), '=')
	q.dst = appendEncoded(q.dst, value, classUnreserved)
}

func (b *builder) params(q *query, fields []Field) {
	for _, f := range fields {
		t := target{"query parameter", f.Name, f.Value}
		if v, ok := b.value(t); ok {
			b.param(q, t, v)
		}
	}
}

// param appends a parameter: a list as one pair for each element, null and
// absent not at all.
func (b *builder) param(q *query, t target, v json.RawMessage) {
	for s := range b.texts(t, v) {
		q.pair(t.name, s)
	}
}

// templateQuery appends the {?x} of the path. Unless it says {?x*}, a list is
// joined by commas.
func (b *builder) templateQuery(q *query) {
	for _, x := range b.req.Path.query {
		t, v, ok := b.variable("query parameter", x)
		if !ok {
			continue
		}
		if x.explode {
			b.param(q, t, v)
			continue
		}
		first := true
		for s := range b.texts(t, v) {
			if first {
				q.pair(t.name, s)
			} else {
				q.dst = appendEncoded(append(q.dst, ','), s, classUnreserved)
			}
			first = false
		}
	}
}

// variable makes the value of a variable of the path.
func (b *builder) variable(what string, x variable) (target, json.RawMessage, bool) {
	t := target{what, x.name, x.arg}
	for _, f := range b.vars {
		if f.Name == x.name {
			t.node = f.Value
			break
		}
	}
	v, ok := b.value(t)
	return t, v, ok
}

// appendPath appends the path of the template, filled in and checked as a
// whole: a segment can be made of several values and of literal text.
func (b *builder) appendPath(dst []byte) []byte {
	start, faults := len(dst), len(b.faults)
	dst = b.expand(dst, nil)
	if faults == len(b.faults) {
		if bad := slices.Collect(badSegments(dst[start:], b.req.Path.slash)); bad != nil {
			b.blame(bad)
		}
	}
	return dst
}

// expand appends the path of the template. wrote, if any, is told what part of
// the path each variable has written.
func (b *builder) expand(dst []byte, wrote func(x variable, from, to int)) []byte {
	start := len(dst)
	for _, e := range b.req.Path.parts {
		dst = append(dst, e.literal...)
		for i, x := range e.vars {
			from := len(dst)
			dst = b.appendVariable(dst, e.op, i, x)
			if wrote != nil {
				wrote(x, from-start, len(dst)-start)
			}
		}
	}
	return dst
}

// blame notes a fault for each variable that had a part in a bad segment.
func (b *builder) blame(bad []segment) {
	b.expand(nil, func(x variable, from, to int) {
		t, _, _ := b.variable("path variable", x)
		dots := func(s segment) bool { return s.from < s.to && s.from < to && from < s.to }
		empty := func(s segment) bool { return s.from == s.to && s.from <= to && from <= s.to }
		if slices.ContainsFunc(bad, dots) {
			b.fault(t, `would make a dot segment ("." or ".."), which servers take away together with what stands before it`)
		}
		if slices.ContainsFunc(bad, empty) {
			b.fault(t, `would make an empty segment: no "/" can stand at its start or end, nor "//" in it`)
		}
	})
}

// appendVariable appends variable number i of an expression.
func (b *builder) appendVariable(dst []byte, op byte, i int, x variable) []byte {
	t, v, ok := b.variable("path variable", x)
	if !ok {
		return dst
	}
	absent := len(v) == 0
	keep, sep := classUnreserved, byte(',')
	switch op {
	case '/':
		if absent || kind(v) == kindNull || string(v) == "[]" {
			return dst
		}
		dst = append(dst, '/')
		if x.explode {
			sep = '/'
		}
	case '+':
		keep = classSlash
	}
	if op != '/' && i > 0 {
		dst = append(dst, ',')
	}
	switch {
	case absent:
		b.fault(t, "must be given")
	case kind(v) == kindNull:
		b.fault(t, "is null, and the path needs a value")
	case string(v) == "[]":
		b.fault(t, "must have at least one element")
	}
	first := true
	for s := range b.texts(t, v) {
		if len(s) == 0 {
			b.fault(t, "must not be empty: a segment of a path cannot be")
		}
		if !first {
			dst = append(dst, sep)
		}
		dst = appendEncoded(dst, s, keep)
		first = false
	}
	return dst
}
