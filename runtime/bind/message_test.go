package bind_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

func TestHeaders(t *testing.T) {
	r := request(t, "/a")
	r.Headers = []bind.Field{field("X-A", input("a"))}
	for _, c := range []struct{ args, want string }{
		{`{"a":"x"}`, "x"},
		{`{"a":"a b\tc"}`, "a b\tc"},
		{`{"a":"é日本"}`, "é日本"},
		{`{"a":true}`, "true"},
		{`{"a":["x",1,false]}`, "x, 1, false"},
		{`{"a":["","x"]}`, ", x"},
		{`{"a":["x"]}`, "x"},
	} {
		h := build(t, r, scope(t, c.args))
		if got := header(h, "X-A"); got != c.want {
			t.Errorf("%s: %q", c.args, got)
		}
		parse(t, h)
	}
	for _, args := range []string{`{}`, `{"a":null}`, `{"a":[]}`} {
		if h := build(t, r, scope(t, args)); len(h.Header) != 1 {
			t.Errorf("%s: %v", args, h.Header)
		}
	}
	// Refused, never stripped.
	for _, args := range []string{
		`{"a":"x\r\nHost: evil.example"}`, `{"a":"x\n"}`, `{"a":"\u0000"}`, `{"a":"\u007f"}`, `{"a":"\u001b[31m"}`, `{"a":["x","y\nz"]}`,
	} {
		if got := refused(t, r, scope(t, args), `header "X-A"`, "control character")[0].Argument; got != "a" {
			t.Errorf("%s: the fault is about %q", args, got)
		}
	}
	for _, args := range []string{`{"a":" x"}`, `{"a":"x "}`, `{"a":"\tx"}`, `{"a":" "}`, `{"a":["x",""]}`} {
		refused(t, r, scope(t, args), "white space")
	}
	refused(t, r, scope(t, `{"a":{"b":1}}`), "an object")
	refused(t, r, scope(t, `{"a":[null]}`), "holds null")
}

func TestHeaderNames(t *testing.T) {
	for _, name := range []string{"X-A", "ETag", "x!#$%&'*+-.^_`|~9"} {
		if !bind.ValidHeaderName(name) {
			t.Errorf("%q is not valid", name)
		}
	}
	for _, name := range []string{"", "a b", "a:", "é", "a\n", "(a)", "a/b", "\x00"} {
		if bind.ValidHeaderName(name) {
			t.Errorf("%q is valid", name)
		}
		r := request(t, "/a")
		r.Headers = []bind.Field{field("", bind.Object{field(name, bind.Const(`"x"`))})}
		refused(t, r, &bind.Scope{}, "a name that no header can have")
	}
	for _, name := range []string{"Host", "host", "CONTENT-LENGTH", "Transfer-Encoding", "TE", "te", "Connection", "Trailer", "Upgrade", "Proxy-Authorization"} {
		if !bind.ReservedHeader(name) {
			t.Errorf("%q is not reserved", name)
		}
		r := request(t, "/a")
		r.Headers = []bind.Field{field(name, bind.Const(`"x"`))}
		refused(t, r, &bind.Scope{}, "cannot be set", fmt.Sprintf("%q", name))
	}
	for _, name := range []string{"Accept", "Content-Type", "Authorization", "If-Match", "X-HTTP-Method-Override"} {
		if bind.ReservedHeader(name) {
			t.Errorf("%q is reserved", name)
		}
	}
	r := request(t, "/a")
	r.Headers = []bind.Field{field("X-A", bind.Const(`"x"`)), field("x-a", bind.Const(`"y"`))}
	refused(t, r, &bind.Scope{}, `header "x-a" is set twice`)
	r.Headers = []bind.Field{field("X-A", input("a")), field("x-a", bind.Const(`"y"`))}
	if h := build(t, r, scope(t, `{}`)); header(h, "X-A") != "y" {
		t.Errorf("%v", h.Header)
	}
}

// All faults of one call are told at once, each once, and nothing goes out.
func TestAllFaultsAtOnce(t *testing.T) {
	r := request(t, "/{a}/{b}/{a}{?c}")
	r.Query = []bind.Field{field("d", input("d"))}
	r.Headers = []bind.Field{field("X-E", input("e"))}
	r.Body = &bind.Body{Value: bind.List{input("f"), input("g", "h")}}
	s := scope(t, `{"b":"","c":{},"d":{},"e":"\n","g":1}`)
	if got := arguments(refused(t, r, s)); !slices.Equal(got, []string{"a", "b", "c", "d", "e", "f", "g"}) {
		t.Errorf("the faults are about %q", got)
	}
}

// A caller cannot make the answer as large as it likes.
func TestManyFaults(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `"k%d":{},`, i)
	}
	faults := refused(t, post(t, bind.BodyForm, input("x")), scope(t, `{"x":{`+b.String()+`"z":0}}`), "there are more faults")
	if len(faults) != 21 {
		t.Errorf("%d faults are told", len(faults))
	}
}

// Any number of goroutines may build from one request and one scope.
func TestConcurrentBuild(t *testing.T) {
	r, s := direct(t)
	r.Method, r.Body = "POST", &bind.Body{Kind: bind.BodyMultipart, Value: bind.Object{field("a", input("project")), field("b", bind.Expr(0))}}
	r.Exprs = evaluator{values: []json.RawMessage{json.RawMessage(`"x"`)}}
	want := build(t, r, s)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				got, err := r.Build(t.Context(), s)
				if err != nil || got.URL != want.URL || !bytes.Equal(got.Body, want.Body) || !slices.Equal(got.Header, want.Header) {
					t.Errorf("%v %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

// The form of what compile or an evaluator gives is not checked again, but must
// never lead to a panic.
func TestNotJSON(t *testing.T) {
	for _, raw := range []string{" ", "{", "[", `"`, `"\`, `"\u`, `"\q"`, `"\ud800"`, "{\"a", "{\"a\"", "{\"a\":", "{\"a\":}", "[,]", "[\"", "[1", "}", "]", "{,}", "[[", "[{", "x", "{\"a\\", "[]]", "{\"a\":[}"} {
		s := &bind.Scope{Args: bind.Args{"x": []byte(raw)}}
		for _, n := range []bind.Node{input("x"), input("x", "a"), input("x", "a", "b"), bind.Const(raw)} {
			r := request(t, "/a/{x}{+x}{/x*}{?x}")
			r.Query, r.Headers = []bind.Field{field("q", n)}, []bind.Field{field("h", n)}
			for _, kind := range []bind.BodyKind{bind.BodyJSON, bind.BodyForm, bind.BodyMultipart, bind.BodyText, bind.BodyBinary} {
				r.Body = &bind.Body{Kind: kind, Value: n}
				h, err := r.Build(t.Context(), s)
				if (h == nil) == (err == nil) {
					t.Errorf("%q: %v %v", raw, h, err)
				}
			}
		}
	}
}

func TestErrorText(t *testing.T) {
	e := bind.Errors{{Argument: "a", Reason: "is wrong"}, {Reason: "all is wrong"}}
	if got := e.Error(); got != "a: is wrong; all is wrong" {
		t.Error(got)
	}
}
