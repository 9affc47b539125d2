package bind_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// base is an upstream's URL.
func base(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := bind.ParseBase(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// template is a path template.
func template(t testing.TB, s string) *bind.Template {
	t.Helper()
	p, err := bind.ParseTemplate(s)
	if err != nil {
		t.Fatalf("template %q: %v", s, err)
	}
	return p
}

// scope holds the arguments given as a JSON object.
func scope(t testing.TB, args string) *bind.Scope {
	t.Helper()
	a, err := bind.ParseArgs([]byte(args), bind.DefaultBounds)
	if err != nil {
		t.Fatalf("arguments %s: %v", args, err)
	}
	return &bind.Scope{Args: a}
}

// input refers to an argument, or to a member of one.
func input(path ...string) bind.Ref { return bind.Ref{Root: bind.RootInput, Path: path} }

// step refers to the state of a step.
func step(path ...string) bind.Ref { return bind.Ref{Root: bind.RootSteps, Path: path} }

// field names a value.
func field(name string, value bind.Node) bind.Field { return bind.Field{Name: name, Value: value} }

// request is a GET of path below https://api.example.com/v1.
func request(t testing.TB, path string) *bind.Request {
	t.Helper()
	return &bind.Request{Base: base(t, "https://api.example.com/v1"), Method: "GET", Path: template(t, path)}
}

// build makes a request that must not be refused.
func build(t testing.TB, r *bind.Request, s *bind.Scope) *bind.HTTP {
	t.Helper()
	h, err := r.Build(t.Context(), s)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return h
}

// refused makes a request that must be refused, for a reason that holds each
// of the words, and gives the faults.
func refused(t testing.TB, r *bind.Request, s *bind.Scope, words ...string) bind.Errors {
	t.Helper()
	h, err := r.Build(t.Context(), s)
	if err == nil {
		t.Fatalf("not refused: %s %s", h.URL, h.Body)
	}
	if h != nil {
		t.Errorf("refused, and yet there is a request: %v", h)
	}
	var faults bind.Errors
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("the error is no Errors: %#v", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the reason %q does not hold %q", err, w)
		}
	}
	return faults
}

// arguments are the arguments that faults are about, in order.
func arguments(faults bind.Errors) (names []string) {
	for _, f := range faults {
		names = append(names, f.Argument)
	}
	return names
}

// quoted is a string as JSON.
func quoted(t testing.TB, s string) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// header gives the values of a header, "" when there is none.
func header(h *bind.HTTP, name string) string {
	var values []string
	for _, f := range h.Header {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, " | ")
}

// evaluator gives fixed values.
type evaluator struct {
	values []json.RawMessage
	err    error
}

func (e evaluator) Eval(context.Context, *bind.Scope) ([]json.RawMessage, error) {
	return e.values, e.err
}
