package bind_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// Each test is named after the kind of fault that it pins. What other servers
// do wrong stands in its first comment.

const v1 = "https://api.example.com/v1"

// A value in a path reaches another endpoint.
func TestPathTraversal(t *testing.T) {
	t.Run("kept in its segment", func(t *testing.T) {
		for value, want := range map[string]string{
			"a/b":           "a%2Fb",
			"/a":            "%2Fa",
			"a/":            "a%2F",
			"//evil":        "%2F%2Fevil",
			`a\b`:           "a%5Cb",
			"a%2Fb":         "a%252Fb",
			"?x=1":          "%3Fx%3D1",
			"a?x=1":         "a%3Fx%3D1",
			"#x":            "%23x",
			"a;b=1":         "a%3Bb%3D1",
			"a:b@c":         "a%3Ab%40c",
			"a b":           "a%20b",
			"a+b&c=d":       "a%2Bb%26c%3Dd",
			"...":           "...",
			"..a":           "..a",
			"a..":           "a..",
			".gitignore":    ".gitignore",
			"v1.2":          "v1.2",
			"%":             "%25",
			"%2":            "%252",
			"é":             "%C3%A9",
			"日本":            "%E6%97%A5%E6%9C%AC",
			"😀":             "%F0%9F%98%80",
			"a\nb\x00c\x7f": "a%0Ab%00c%7F",
			"https://a/b":   "https%3A%2F%2Fa%2Fb",
			"{id}":          "%7Bid%7D",
		} {
			h := build(t, request(t, "/items/{id}/parts"), &bind.Scope{Args: bind.Args{"id": quoted(t, value)}})
			if want := v1 + "/items/" + want + "/parts"; h.URL != want {
				t.Errorf("%q:\n got %s\nwant %s", value, h.URL, want)
			}
		}
	})

	// Refused as well is what becomes a dot segment only after one decoding more
	// than is right, behind an escaped separator, or with path parameters.
	dots := []string{
		".", "..", "../admin", "a/..", "a/../b", "./a", "a/./b", `..\admin`, `a\..\b`, `a\.`,
		"%2e", "%2e%2e", "%2E%2e", ".%2e", "%252e%252e", "%25252e.", "..%2fadmin", "..%5cadmin", "%2e%2e%2f",
		"..;", "..;x=1", ".;", "..;/admin", "a/..;x/b", "..%3b", "..?x", "..#x", "..\x00", ".. ", " ..", "..\t", "..%20", "..%00",
	}
	for _, path := range []string{"/items/{id}/parts", "/items/{+id}/parts", "/items{/id}/parts", "/items/{+id}", "{/id}"} {
		t.Run("dot segments in "+path, func(t *testing.T) {
			for _, value := range dots {
				faults := refused(t, request(t, path), &bind.Scope{Args: bind.Args{"id": quoted(t, value)}}, "dot segment")
				if got := arguments(faults); !slices.Equal(got, []string{"id"}) {
					t.Errorf("%q: the faults are about %q", value, got)
				}
			}
		})
	}

	t.Run("several values in one segment", func(t *testing.T) {
		for _, c := range []struct {
			path, args string
			want       []string // arguments
		}{
			{"/x/{a}{b}", `{"a":".","b":"."}`, []string{"a", "b"}},
			{"/x/{a}{b}/y", `{"a":"%2","b":"e."}`, []string{"a", "b"}},
			{"/x/.{a}", `{"a":"."}`, []string{"a"}},
			{"/x/{a}.", `{"a":"."}`, []string{"a"}},
			{"/x/%2e{a}", `{"a":"."}`, []string{"a"}},
			{"/x/.{/a}", `{"a":"."}`, nil}, // the template is refused, below
			{"/x/{a}{+b}", `{"a":".","b":"./c"}`, []string{"a", "b"}},
			{"/x/{a}/{b}", `{"a":"ok","b":".."}`, []string{"b"}},
			{"/x/{a,b}", `{"a":"..","b":"y"}`, nil}, // "..,y" is none
			{"/x{/a,b}", `{"a":"..","b":"y"}`, []string{"a"}},
			{"/x{/a*}", `{"a":["y",".."]}`, []string{"a"}},
			{"/x/{a}/{a}", `{"a":".."}`, []string{"a"}},
			{"/x/{a}/{b}", `{"a":".","b":"."}`, []string{"a", "b"}},
		} {
			tpl, err := bind.ParseTemplate(c.path)
			if err != nil {
				continue
			}
			r := &bind.Request{Base: base(t, v1), Method: "GET", Path: tpl}
			if c.want == nil {
				build(t, r, scope(t, c.args))
				continue
			}
			if got := arguments(refused(t, r, scope(t, c.args))); !slices.Equal(got, c.want) {
				t.Errorf("%s %s: the faults are about %q", c.path, c.args, got)
			}
		}
	})

	t.Run("reserved expansion", func(t *testing.T) {
		for value, want := range map[string]string{
			"a":               "a",
			"a/b/c":           "a/b/c",
			"a?b#c":           "a%3Fb%23c",
			"a%2Fb":           "a%252Fb",
			`a\b`:             "a%5Cb",
			"a;b":             "a%3Bb",
			"a:b@c!$&'()*+,=": "a%3Ab%40c%21%24%26%27%28%29%2A%2B%2C%3D",
			".a/b./...":       ".a/b./...",
			"[::1]":           "%5B%3A%3A1%5D",
		} {
			h := build(t, request(t, "/files/{+path}"), &bind.Scope{Args: bind.Args{"path": quoted(t, value)}})
			if want := v1 + "/files/" + want; h.URL != want {
				t.Errorf("%q:\n got %s\nwant %s", value, h.URL, want)
			}
		}
		for _, value := range []string{"/a", "a/", "a//b", "/", "//", "//evil.example"} {
			faults := refused(t, request(t, "/files/{+path}"), &bind.Scope{Args: bind.Args{"path": quoted(t, value)}}, "empty segment")
			if got := arguments(faults); !slices.Equal(got, []string{"path"}) {
				t.Errorf("%q: the faults are about %q", value, got)
			}
		}
		refused(t, request(t, "/files/{+path}/"), scope(t, `{"path":"a/"}`), "empty segment")
		refused(t, request(t, "/files/{a}{+path}/x"), scope(t, `{"a":"a","path":"/"}`), "empty segment")
	})

	t.Run("empty", func(t *testing.T) {
		for _, path := range []string{"/a/{id}", "/a/{+id}", "/a{/id}", "/a{/id}/b", "/a{/id*}", "/{id}/b", "/x{id}"} {
			for _, args := range []string{`{"id":""}`, `{"id":["a",""]}`, `{"id":[""]}`} {
				if got := arguments(refused(t, request(t, path), scope(t, args), "empty")); !slices.Contains(got, "id") {
					t.Errorf("%s %s: the faults are about %q", path, args, got)
				}
			}
		}
	})
}

// A value that looks like a host or a URL changes where the request goes.
func TestHostOverride(t *testing.T) {
	for _, path := range []string{"/{x}", "/{+x}", "{/x}", "{/x}/y", "/a/{x}", "{/x}{/y}"} {
		for _, b := range []string{"https://api.example.com", "https://api.example.com/", "https://api.example.com/v1/"} {
			for _, value := range []string{"//evil.example", "https://evil.example/", "@evil.example", ":80@evil.example", ".evil.example", `\\evil.example`, "evil.example"} {
				r := &bind.Request{Base: base(t, b), Method: "GET", Path: template(t, path)}
				h, err := r.Build(t.Context(), &bind.Scope{Args: bind.Args{"x": quoted(t, value)}})
				if err != nil {
					continue
				}
				if prefix := strings.TrimSuffix(b, "/") + "/"; !strings.HasPrefix(h.URL, prefix) || strings.Contains(h.URL[len(prefix):], "//") {
					t.Errorf("%s with %s and %q: %s", b, path, value, h.URL)
				}
			}
		}
	}
	for _, path := range []string{"{/x}{y}", "{/x}.example", "{/x}{+y}", "{x}", "{+x}", "", "a", "@evil.example/", "{?x}", "{/x}%2F"} {
		if _, err := bind.ParseTemplate(path); err == nil {
			t.Errorf("the template %q would let a path go on where the host ends", path)
		}
	}
}

// The path or query of a base URL is lost.
func TestBasePath(t *testing.T) {
	for _, c := range []struct{ base, path, want string }{
		{"https://h.example", "/a", "https://h.example/a"},
		{"https://h.example/", "/a", "https://h.example/a"},
		{"https://h.example/v1", "/a", "https://h.example/v1/a"},
		{"https://h.example/v1/", "/a", "https://h.example/v1/a"},
		{"https://h.example/v1/", "/a/", "https://h.example/v1/a/"},
		{"https://h.example/v1", "/", "https://h.example/v1/"},
		{"https://h.example", "/", "https://h.example/"},
		{"https://h.example", "{/none}", "https://h.example/"},
		{"https://h.example/", "{/none}", "https://h.example/"},
		{"https://h.example/v1/", "{/none}", "https://h.example/v1"},
		{"https://h.example/v1?key=a%20b&x", "/a", "https://h.example/v1/a?key=a%20b&x&q=1"},
		{"https://h.example?k=1", "/a", "https://h.example/a?k=1&q=1"},
		{"https://h.example/a%2Fb/%e9", "/a", "https://h.example/a%2Fb/%e9/a"},
		{"https://h.example/My%20Org", "/a", "https://h.example/My%20Org/a"},
		{"https://h.example/é", "/a", "https://h.example/%C3%A9/a"},
		{"http://127.0.0.1:8080/x", "/a", "http://127.0.0.1:8080/x/a"},
		{"http://[::1]:8080", "/a", "http://[::1]:8080/a"},
		{"http://[fe80::1%25eth0]:8080", "/a", "http://[fe80::1%25eth0]:8080/a"},
		{"http://bücher.example", "/a", "http://b%C3%BCcher.example/a"},
	} {
		r := &bind.Request{Base: base(t, c.base), Method: "GET", Path: template(t, c.path)}
		if strings.Contains(c.base, "?") {
			r.Query = []bind.Field{field("q", bind.Const("1"))}
		}
		if h := build(t, r, &bind.Scope{}); h.URL != c.want {
			t.Errorf("%s with %s:\n got %s\nwant %s", c.base, c.path, h.URL, c.want)
		}
	}
	refused(t, &bind.Request{Method: "GET", Path: template(t, "/a")}, &bind.Scope{}, "no URL")
	refused(t, &bind.Request{Method: "GET", Base: base(t, v1)}, &bind.Scope{}, "no URL")
}

// The literal text {id} goes out, or the segment vanishes.
func TestMissingPathArg(t *testing.T) {
	for _, path := range []string{"/a/{id}", "/a/{id}/b", "/a/{+id}", "/a/x{id}", "/a/{id,id}"} {
		for _, args := range []string{`{}`, `{"id":null}`, `{"id":[]}`, `{"id":{}}`, `{"id":{"a":1}}`, `{"id":[null]}`, `{"id":[["a"]]}`, `{"id":[{"a":1}]}`} {
			if got := arguments(refused(t, request(t, path), scope(t, args), `"id"`)); !slices.Contains(got, "id") {
				t.Errorf("%s %s: the faults are about %q", path, args, got)
			}
		}
	}
	// Every one that is missing is told.
	if got := arguments(refused(t, request(t, "/{a}/{b}/{a}"), scope(t, `{}`))); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the faults are about %q", got)
	}
	// Optional segments may be absent or null, and nothing else.
	for args, want := range map[string]string{
		`{}`:                  v1 + "/_apis",
		`{"p":null,"t":null}`: v1 + "/_apis",
		`{"p":[]}`:            v1 + "/_apis",
		`{"p":"P"}`:           v1 + "/P/_apis",
		`{"t":"T"}`:           v1 + "/T/_apis",
		`{"p":"P","t":"T"}`:   v1 + "/P/T/_apis",
		`{"p":["a","b/c"]}`:   v1 + "/a,b%2Fc/_apis",
	} {
		if h := build(t, request(t, "{/p,t}/_apis"), scope(t, args)); h.URL != want {
			t.Errorf("%s: %s, want %s", args, h.URL, want)
		}
	}
	refused(t, request(t, "{/p,t}/_apis"), scope(t, `{"p":{"a":1}}`), "an object")
	// A variable that is no argument.
	r := request(t, "/reviewers/{reviewer}")
	r.Vars = []bind.Field{field("reviewer", step("me", "result", "id"))}
	s := &bind.Scope{
		Args:  bind.Args{"reviewer": json.RawMessage(`"from the caller"`)},
		Steps: map[string]json.RawMessage{"me": json.RawMessage(`{"status":200,"result":{"id":"u1"}}`)},
	}
	if h := build(t, r, s); h.URL != v1+"/reviewers/u1" {
		t.Error(h.URL)
	}
	s.Steps["me"] = nil // skipped
	refused(t, r, s, `path variable "reviewer" must be given`)
	s.Steps["me"] = json.RawMessage(`{"status":200,"result":{}}`)
	refused(t, r, s, "me.result.id", "did not give")
}

// What looks like a reference or an expression inside a value is expanded.
func TestSecondSubstitution(t *testing.T) {
	r := request(t, "/{a}/{b}/$metadata/${c}")
	r.Query = []bind.Field{field("q", input("a"))}
	r.Headers = []bind.Field{field("X-A", input("a"))}
	r.Body = &bind.Body{Value: bind.Object{field("a", input("a"))}}
	for _, value := range []string{"{b}", "{env.SECRET}", "${b}", "$b", `\(input.b)`, "{{b}}", "%{b}", "{+b}", "$(id)", "{/b}"} {
		h := build(t, r, &bind.Scope{Args: bind.Args{"a": quoted(t, value), "b": quoted(t, "B"), "c": quoted(t, "C")}})
		p := parse(t, h)
		if got := p.segments[1]; got != value {
			t.Errorf("path: %q became %q", value, got)
		}
		if !strings.HasSuffix(h.URL[:strings.IndexByte(h.URL, '?')], "/B/$metadata/$C") {
			t.Errorf("path: %s", h.URL)
		}
		if got := p.query.Get("q"); got != value {
			t.Errorf("query: %q became %q", value, got)
		}
		if got := header(h, "X-A"); got != value {
			t.Errorf("header: %q became %q", value, got)
		}
		var body struct{ A string }
		if err := json.Unmarshal(h.Body, &body); err != nil || body.A != value {
			t.Errorf("body: %q became %q (%v)", value, body.A, err)
		}
	}
}

// A list in the query becomes "[a b]", or loses all but one.
func TestQueryArray(t *testing.T) {
	r := request(t, "/a")
	r.Query = []bind.Field{field("first", bind.Const("1")), field("id", input("ids")), field("last", bind.Const("true"))}
	for args, want := range map[string]string{
		`{"ids":["a","b"]}`:          "?first=1&id=a&id=b&last=true",
		`{"ids":["a"]}`:              "?first=1&id=a&last=true",
		`{"ids":[]}`:                 "?first=1&last=true",
		`{"ids":[1,2.50,true,"x"]}`:  "?first=1&id=1&id=2.50&id=true&id=x&last=true",
		`{"ids":["a,b","c&d=e",""]}`: "?first=1&id=a%2Cb&id=c%26d%3De&id=&last=true",
		`{"ids":["\u00e9 \"'"]}`:     "?first=1&id=%C3%A9%20%22%27&last=true",
	} {
		if h := build(t, r, scope(t, args)); h.URL != v1+"/a"+want {
			t.Errorf("%s: %s", args, h.URL)
		}
	}
	for _, args := range []string{`{"ids":[["a"]]}`, `{"ids":["a",null]}`, `{"ids":[null]}`} {
		if got := arguments(refused(t, r, scope(t, args), `"id" holds`)); !slices.Equal(got, []string{"ids"}) {
			t.Errorf("%s: the faults are about %q", args, got)
		}
	}
	// A list of direct references.
	r.Query = []bind.Field{field("id", bind.List{input("a"), input("b"), bind.Const(`"c"`)})}
	if h := build(t, r, scope(t, `{"a":1,"b":"x"}`)); h.URL != v1+"/a?id=1&id=x&id=c" {
		t.Error(h.URL)
	}
	// Names stay readable.
	r.Query = nil
	for _, name := range []string{"$top", "searchCriteria.status", "api-version", "filter[name]", "a b", "ü", "x=y&z"} {
		r.Query = append(r.Query, field(name, bind.Const("1")))
	}
	if h := build(t, r, scope(t, `{}`)); h.URL != v1+"/a?$top=1&searchCriteria.status=1&api-version=1&filter%5Bname%5D=1&a%20b=1&%C3%BC=1&x%3Dy%26z=1" {
		t.Error(h.URL)
	}
}

// A map goes into the URL in the syntax of some language.
func TestQueryObject(t *testing.T) {
	for _, args := range []string{`{"f":{"a":1}}`, `{"f":{}}`, `{"f":[{"a":1}]}`} {
		r := request(t, "/a")
		r.Query = []bind.Field{field("filter", input("f"))}
		faults := refused(t, r, scope(t, args), `query parameter "filter"`, "an object")
		if got := arguments(faults); !slices.Equal(got, []string{"f"}) {
			t.Errorf("%s: the faults are about %q", args, got)
		}
		r = request(t, "/a")
		r.Headers = []bind.Field{field("X-Filter", input("f"))}
		refused(t, r, scope(t, args), `header "X-Filter"`, "an object")
		refused(t, request(t, "/a{?f}"), scope(t, args), `query parameter "f"`, "an object")
		refused(t, request(t, "/a{?f*}"), scope(t, args), `query parameter "f"`, "an object")
	}
	// An object written in the request, too.
	r := request(t, "/a")
	r.Query = []bind.Field{field("filter", bind.Object{field("a", bind.Const("1"))})}
	refused(t, r, scope(t, `{}`), "an object")
}

// An absent optional is sent as x=, or an empty one is not sent.
func TestQueryAbsent(t *testing.T) {
	r := request(t, "/a")
	r.Query = []bind.Field{
		field("x", input("x")),
		field("y", input("y", "z")),
		field("e", bind.Expr(0)),
		field("o", bind.Object{field("n", input("none"))}),
	}
	r.Headers = []bind.Field{field("X-X", input("x"))}
	r.Exprs = evaluator{values: []json.RawMessage{nil}}
	absent := bind.Header{}
	for _, c := range []struct {
		args, url string
		header    bind.Header
	}{
		{`{}`, "/a", absent},
		{`{"y":{}}`, "/a", absent},
		{`{"x":null,"y":{"z":null}}`, "/a", absent},
		{`{"x":[]}`, "/a", absent},
		{`{"x":""}`, "/a?x=", bind.Header{Name: "X-X"}},
		{`{"x":[""]}`, "/a?x=", bind.Header{Name: "X-X"}},
		{`{"y":{"z":""}}`, "/a?y=", absent},
		{`{"y":{"a":1,"z":0}}`, "/a?y=0", absent},
	} {
		h := build(t, r, scope(t, c.args))
		if h.URL != v1+c.url || h.Header[0] != c.header && c.header != absent || len(h.Header) != 1 && c.header == absent {
			t.Errorf("%s: %s %v", c.args, h.URL, h.Header)
		}
	}
}

// A write goes out without a field because something could not be evaluated.
func TestSilentOmission(t *testing.T) {
	body := func(n bind.Node) *bind.Request {
		r := request(t, "/a")
		r.Method, r.Body = "POST", &bind.Body{Value: bind.Object{field("k", bind.Const("1")), field("x", n)}}
		return r
	}
	// Left out: an absent argument, a member of one, a skipped step, and what an
	// expression says is left out.
	r := body(bind.Expr(0))
	r.Exprs = evaluator{values: []json.RawMessage{nil}}
	skipped := &bind.Scope{Steps: map[string]json.RawMessage{"s": nil}}
	for _, c := range []struct {
		r *bind.Request
		s *bind.Scope
	}{
		{body(input("x")), scope(t, `{}`)},
		{body(input("x", "y")), scope(t, `{}`)},
		{body(input("x", "y", "z")), scope(t, `{"x":{"y":{"a":1}}}`)},
		{body(input("x")), &bind.Scope{Args: bind.Args{"x": nil}}},
		{body(step("s", "result", "id")), skipped},
		{body(step("s")), skipped},
		{r, scope(t, `{}`)},
	} {
		if h := build(t, c.r, c.s); string(h.Body) != `{"k":1}` {
			t.Errorf("%s", h.Body)
		}
	}
	// Everything else ends the call.
	ran := &bind.Scope{Args: bind.Args{"x": json.RawMessage(`[1]`), "n": json.RawMessage(`null`)},
		Steps: map[string]json.RawMessage{"s": json.RawMessage(`{"status":200,"result":null}`)}}
	for _, c := range []struct {
		node bind.Node
		want string
		arg  string
	}{
		{step("other", "result"), `"other", which has not run`, ""},
		{step("s", "headers", "etag"), "s.headers, which the step did not give", ""},
		{step("s", "result", "id"), "s.result is null", ""},
		{input("x", "y"), "x is a list", "x"},
		{input("n", "y"), "n is null", "n"},
		{bind.Expr(1), "not evaluated", ""},
		{bind.Expr(-1), "not evaluated", ""},
		{bind.Ref{Root: "env", Path: []string{"HOME"}}, `"env"`, ""},
		{bind.Ref{Root: bind.RootInput}, "refers to nothing", ""},
		{nil, "has no value", ""},
	} {
		r := body(c.node)
		r.Exprs = evaluator{values: []json.RawMessage{json.RawMessage("1")}}
		if got := refused(t, r, ran, c.want)[0].Argument; got != c.arg {
			t.Errorf("%v: the fault is about %q", c.node, got)
		}
		r = request(t, "/a/{v}{?w}")
		r.Vars = []bind.Field{field("v", c.node), field("w", c.node)}
		r.Query = []bind.Field{field("x", c.node)}
		r.Headers = []bind.Field{field("x", c.node)}
		if got := refused(t, r, ran, c.want); len(got) != 4 {
			t.Errorf("%v: %d faults, want one each for path, {?w}, query and header: %v", c.node, len(got), got)
		}
	}
	// An evaluation that failed is told as it is, and its cause can be found.
	cause := errors.New("index out of range")
	r = body(bind.Expr(0))
	r.Exprs = evaluator{err: cause}
	if _, err := r.Build(t.Context(), scope(t, `{}`)); !errors.Is(err, cause) {
		t.Errorf("the cause is lost: %v", err)
	}
	refused(t, r, scope(t, `{}`), "index out of range")
	for _, err := range []error{&bind.Error{Argument: "x", Reason: "is wrong"}, bind.Errors{{Argument: "x", Reason: "is wrong"}}} {
		r.Exprs = evaluator{err: err}
		if got := refused(t, r, scope(t, `{}`), "x: is wrong"); got[0].Argument != "x" {
			t.Errorf("the argument is lost: %v", got)
		}
	}
}

// An element of a list goes out without a part of it.
func TestHalfElement(t *testing.T) {
	patch := func(value bind.Node) *bind.Request {
		r := request(t, "/a")
		r.Method = "PATCH"
		r.Body = &bind.Body{Value: bind.List{bind.Object{
			field("op", bind.Const(`"add"`)), field("value", value),
		}}}
		return r
	}
	for name, node := range map[string]bind.Node{
		"argument": input("x"),
		"member":   input("x", "y"),
		"deep":     bind.Object{field("a", bind.Object{field("b", input("x"))})},
		"list":     bind.List{input("x")},
	} {
		if got := refused(t, patch(node), scope(t, `{}`), "sent whole or not at all")[0].Argument; got != "x" {
			t.Errorf("%s: the fault is about %q", name, got)
		}
	}
	r := patch(bind.Expr(0))
	r.Exprs = evaluator{values: []json.RawMessage{nil}}
	refused(t, r, scope(t, `{}`), "sent whole or not at all")
	refused(t, patch(step("s", "result")), &bind.Scope{Steps: map[string]json.RawMessage{"s": nil}}, "s.result", "sent whole or not at all")
	r.Body.Value = bind.List{input("x")}
	refused(t, r, scope(t, `{}`), "sent whole or not at all")
	r.Body, r.Exprs, r.Query = nil, nil, []bind.Field{field("id", bind.List{bind.Const("1"), input("x")})}
	refused(t, r, scope(t, `{}`), `query parameter "id"`, "sent whole or not at all")
	// Whole elements and null are sent.
	if h := build(t, patch(input("x")), scope(t, `{"x":null}`)); string(h.Body) != `[{"op":"add","value":null}]` {
		t.Errorf("%s", h.Body)
	}
}

// The text null or <nil> goes out, or a field cannot be cleared.
func TestNull(t *testing.T) {
	r := request(t, "/a{/x}{?x}")
	r.Method = "PATCH"
	r.Query = []bind.Field{field("q", input("x")), field("c", bind.Const("null"))}
	r.Headers = []bind.Field{field("X-X", input("x"))}
	r.Body = &bind.Body{Value: bind.Object{field("description", input("x")), field("c", bind.Const("null"))}}
	h := build(t, r, scope(t, `{"x":null}`))
	if h.URL != v1+"/a" || header(h, "X-X") != "" || string(h.Body) != `{"description":null,"c":null}` {
		t.Errorf("%s %v %s", h.URL, h.Header, h.Body)
	}
	r.Body.Value = input("x")
	if h := build(t, r, scope(t, `{"x":null}`)); string(h.Body) != `null` {
		t.Errorf("%s", h.Body)
	}
	refused(t, request(t, "/a/{x}"), scope(t, `{"x":null}`), `path variable "x" is null`)
}

// 12345678 becomes 1.2345678e+07, or 2^53+1 is rounded.
func TestNumberFormat(t *testing.T) {
	for _, n := range []string{
		"0", "-0", "1", "12345678", "9007199254740993", "-9223372036854775809", "18446744073709551616",
		"0.1", "1.10", "1.0", "100.000", "1e3", "1E3", "1e400", "1e-7", "123456789012345678901234567890.123",
	} {
		r := request(t, "/a/{n}/{+n}{/n}{?n}")
		r.Method = "POST"
		r.Query = []bind.Field{field("q", input("n")), field("l", input("l"))}
		r.Headers = []bind.Field{field("X-N", input("n"))}
		r.Body = &bind.Body{Value: bind.Object{field("n", input("n")), field("l", input("l")), field("deep", input("o", "n"))}}
		h := build(t, r, scope(t, `{"n": `+n+` , "l": [ `+n+` ], "o": {"n": `+n+`}}`))
		want := strings.ReplaceAll(v1+"/a/N/N/N?n=N&q=N&l=N", "N", n)
		if h.URL != want {
			t.Errorf("got %s, want %s", h.URL, want)
		}
		if got := header(h, "X-N"); got != n {
			t.Errorf("header: got %s, want %s", got, n)
		}
		if want := strings.ReplaceAll(`{"n":N,"l":[N],"deep":N}`, "N", n); string(h.Body) != want {
			t.Errorf("got %s, want %s", h.Body, want)
		}
	}
	// The plus of an exponent is no space.
	r := request(t, "/a")
	r.Query = []bind.Field{field("n", input("n"))}
	if h := build(t, r, scope(t, `{"n":1e+3}`)); h.URL != v1+"/a?n=1e%2B3" {
		t.Error(h.URL)
	}
}

// The content type is JSON whatever the body is, or there is none.
func TestBodyContentType(t *testing.T) {
	r := request(t, "/a")
	r.Method, r.Body = "POST", &bind.Body{Value: input("x")}
	for _, c := range []struct {
		headers           []bind.Field
		args              string
		contentType, want string // of Accept
	}{
		{nil, `{"x":{}}`, "application/json", "application/json"},
		{nil, `{}`, "", "application/json"},
		{[]bind.Field{field("Content-Type", bind.Const(`"application/json-patch+json"`))}, `{"x":[]}`, "application/json-patch+json", "application/json"},
		{[]bind.Field{field("content-type", bind.Const(`"text/x"`)), field("ACCEPT", bind.Const(`"text/plain"`))}, `{"x":1}`, "text/x", "text/plain"},
		{[]bind.Field{field("Content-Type", input("type"))}, `{"x":1,"type":"a/b"}`, "a/b", "application/json"},
		{[]bind.Field{field("Content-Type", input("type")), field("Accept", input("type"))}, `{"x":1}`, "application/json", "application/json"},
	} {
		r.Headers = c.headers
		h := build(t, r, scope(t, c.args))
		if got := header(h, "Content-Type"); got != c.contentType {
			t.Errorf("%s: Content-Type is %q", c.args, got)
		}
		if got := header(h, "Accept"); got != c.want {
			t.Errorf("%s: Accept is %q", c.args, got)
		}
	}
	r.Body = nil
	r.Headers = nil
	if h := build(t, r, scope(t, `{"x":1}`)); h.Body != nil || header(h, "Content-Type") != "" {
		t.Errorf("%s %v", h.Body, h.Header)
	}
}

// A body is unwrapped, wrapped, or lost because of its shape.
func TestBodyShape(t *testing.T) {
	x := input("x")
	for _, c := range []struct {
		name string
		node bind.Node
		args string
		want string // "-" for no body
	}{
		{"single member", bind.Object{field("x", x)}, `{"x":1}`, `{"x":1}`},
		{"single object", bind.Object{field("x", x)}, `{"x":{"x":1}}`, `{"x":{"x":1}}`},
		{"scalar", x, `{"x":"s"}`, `"s"`},
		{"number", x, `{"x":0}`, `0`},
		{"false", x, `{"x":false}`, `false`},
		{"empty text", x, `{"x":""}`, `""`},
		{"array", x, `{"x":[1,[2],{"b":1,"a":2}]}`, `[1,[2],{"b":1,"a":2}]`},
		{"empty array", x, `{"x":[]}`, `[]`},
		{"root array", bind.List{x}, `{"x":{"a":1}}`, `[{"a":1}]`},
		{"empty list", bind.List{}, `{}`, `[]`},
		{"order", bind.Object{field("z", x), field("a", x), field("m", bind.Const("2"))}, `{"x":1}`, `{"z":1,"a":1,"m":2}`},
		{"written empty", bind.Object{}, `{}`, `{}`},
		{"written empty inside", bind.Object{field("a", bind.Object{}), field("b", x)}, `{}`, `{"a":{}}`},
		{"given empty", x, `{"x":{}}`, `{}`},
		{"left with nothing", bind.Object{field("x", x)}, `{}`, `-`},
		{"left with nothing inside", bind.Object{field("a", bind.Object{field("x", x)}), field("k", bind.Const("1"))}, `{}`, `{"k":1}`},
		{"first left out", bind.Object{field("x", x), field("k", bind.Const("1")), field("x2", x), field("l", bind.Const("2"))}, `{}`, `{"k":1,"l":2}`},
		{"nothing all the way up", bind.Object{field("a", bind.Object{field("b", bind.Object{field("x", x)})})}, `{}`, `-`},
		{"absent", x, `{}`, `-`},
		{"names", bind.Object{field(`a"\`+"\n", x), field("é", x), field("<&>", x)}, `{"x":1}`, `{"a\"\\\u000A":1,"é":1,"<&>":1}`},
		{"member", input("x", "a", "b"), `{"x":{"c":{"b":0},"s":"}\"{","a":{"a":[1,{"b":2}],"b":[3]}}}`, `[3]`},
		{"escaped member", input("x", "a\u2028"), `{"x":{"\u0061\u2028":7}}`, `7`},
	} {
		r := request(t, "/a")
		r.Method, r.Body = "POST", &bind.Body{Kind: bind.BodyJSON, Value: c.node}
		h := build(t, r, scope(t, c.args))
		if got := string(h.Body); h.Body == nil && c.want != "-" || h.Body != nil && got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	r := request(t, "/a")
	r.Body = &bind.Body{Kind: "yaml", Value: x}
	refused(t, r, scope(t, `{"x":1}`), `unknown kind "yaml"`)
}

// Quotes and newlines break a body that is made of text.
func TestBodyEscaping(t *testing.T) {
	r := request(t, "/a")
	r.Method, r.Body = "POST", &bind.Body{Value: bind.Object{field("x", input("x")), field("y", bind.Const("1"))}}
	for _, value := range []string{`"`, `\`, "\n\r\t", `","y":2,"z":"`, "</script>", "<&>", "\u2028\u2029", "\x00\x1f\x7f", "é😀", `\u0041`} {
		h := build(t, r, &bind.Scope{Args: bind.Args{"x": quoted(t, value)}})
		var got map[string]any
		if err := json.Unmarshal(h.Body, &got); err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		if got["x"] != value || got["y"] != 1.0 || len(got) != 2 {
			t.Errorf("%q became %v", value, got)
		}
	}
	// What came without escapes goes without, and the other way round.
	for _, raw := range []string{`"<&>"`, `"\u003c"`, `"\/"`, `"/"`, `"\u00e9é"`, `"\ud83d\ude00"`} {
		h := build(t, r, scope(t, `{"x":`+raw+`}`))
		if want := `{"x":` + raw + `,"y":1}`; string(h.Body) != want {
			t.Errorf("got %s, want %s", h.Body, want)
		}
	}
}

// A body is dropped for GET and DELETE, or sent although there is none.
func TestBodyOnGetDelete(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "DELETE", "POST", "PUT", "PATCH"} {
		r := request(t, "/a")
		r.Method = method
		if h := build(t, r, scope(t, `{"x":1}`)); h.Body != nil || h.Method != method {
			t.Errorf("%s sends %s", h.Method, h.Body)
		}
		r.Body = &bind.Body{Value: input("x")}
		if h := build(t, r, scope(t, `{"x":1}`)); string(h.Body) != "1" || header(h, "Content-Type") != "application/json" {
			t.Errorf("%s sends %s", h.Method, h.Body)
		}
		want := bind.PlaceQuery
		if strings.HasPrefix(method, "P") {
			want = bind.PlaceBody
		}
		if got := bind.ConventionPlace(method); got != want {
			t.Errorf("%s places arguments in the %s", method, got)
		}
	}
}
