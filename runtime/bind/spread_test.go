package bind_test

import (
	"slices"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// Names that only the call knows: a field without a name stands for the members
// of its value.
func TestSpread(t *testing.T) {
	r := request(t, "/{a}/{b}{?c}")
	r.Vars = []bind.Field{field("b", bind.Const(`"B"`)), field("", input("vars"))}
	r.Query = []bind.Field{field("first", bind.Const("1")), field("", input("query")), field("last", bind.Const("2"))}
	r.Headers = []bind.Field{field("", input("headers"))}
	h := build(t, r, scope(t, `{"vars":{"a":"A","b":"no","c":"C"},"query":{"x y":[1,2],"\u0061":null,"":0},"headers":{"X-A":"v","Accept":"text/plain"}}`))
	if want := v1 + "/A/B?c=C&first=1&x%20y=1&x%20y=2&=0&last=2"; h.URL != want {
		t.Errorf("got  %s\nwant %s", h.URL, want)
	}
	if !slices.Equal(h.Header, []bind.Header{{Name: "X-A", Value: "v"}, {Name: "Accept", Value: "text/plain"}}) {
		t.Errorf("%v", h.Header)
	}
	// Absent is nothing; what has no names is refused.
	r.Path = template(t, "/a")
	if h := build(t, r, scope(t, `{}`)); h.URL != v1+"/a?first=1&last=2" {
		t.Error(h.URL)
	}
	for _, args := range []string{`{"query":[1]}`, `{"query":"x"}`, `{"query":null}`, `{"query":1}`} {
		if got := arguments(refused(t, r, scope(t, args), "query parameter values by name are needed")); !slices.Equal(got, []string{"query"}) {
			t.Errorf("%s: the faults are about %q", args, got)
		}
	}
	refused(t, r, &bind.Scope{Args: bind.Args{"query": []byte(`{"\ud800":1}`)}}, "surrogate")
	refused(t, r, scope(t, `{"query":{"f":{"a":1}}}`), `query parameter "f" is an object`)
	refused(t, r, scope(t, `{"headers":{"Host":"evil.example"}}`), `header "Host"`, "cannot be set")
	refused(t, r, scope(t, `{"headers":{"X-A":"1","x-a":"2"}}`), "set twice")
}

// What every request to the upstream has gives way to what this one sets.
func TestBaseFields(t *testing.T) {
	r := request(t, "/a")
	r.BaseQuery = []bind.Field{field("api-version", bind.Const(`"7.1"`)), field("k", bind.Const("1"))}
	r.BaseHeaders = []bind.Field{field("Accept", bind.Const(`"text/x"`)), field("X-A", bind.Const(`"base"`))}
	r.Query = []bind.Field{field("api-version", input("v"))}
	r.Headers = []bind.Field{field("x-a", input("v"))}
	for _, c := range []struct{ args, query, header string }{
		{`{}`, "?api-version=7.1&k=1", "base"},
		{`{"v":null}`, "?api-version=7.1&k=1", "base"},
		{`{"v":"8"}`, "?api-version=8&k=1", "8"},
		{`{"v":""}`, "?api-version=&k=1", ""},
	} {
		h := build(t, r, scope(t, c.args))
		if h.URL != v1+"/a"+c.query || header(h, "X-A") != c.header || header(h, "Accept") != "text/x" {
			t.Errorf("%s: %s %v", c.args, h.URL, h.Header)
		}
	}
	// A fault is told once, and the value of the upstream does not go out in its place.
	if got := refused(t, r, scope(t, `{"v":{"a":1}}`)); len(got) != 2 {
		t.Errorf("%v", got)
	}
}
