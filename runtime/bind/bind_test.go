package bind_test

import (
	"net/url"
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
