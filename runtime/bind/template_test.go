package bind_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	stduritemplate "github.com/std-uritemplate/std-uritemplate/go/v2"

	"github.com/metacue/metacue/runtime/bind"
)

// The examples of RFC 6570 sections 1.2 and 3.2 that are paths, behind a "/"
// where they have none. What we do otherwise stands in TestTemplateDepartures.
var rfcVars = `{"count":["one","two","three"],"dub":"me/too","hello":"Hello World!","half":"50%","var":"value","who":"fred",
	"base":"http://example.com/home/","path":"/foo/bar","list":["red","green","blue"],"v":"6","x":"1024","y":"768","semi":";"}`

var rfcExamples = map[string]string{
	"/{var}":            "/value",
	"/{hello}":          "/Hello%20World%21",
	"/map-{x,y}":        "/map-1024,768",
	"/{x,hello,y}":      "/1024,Hello%20World%21,768",
	"/{half}":           "/50%25",
	"/{dub}":            "/me%2Ftoo",
	"/{base}index":      "/http%3A%2F%2Fexample.com%2Fhome%2Findex",
	"/{list}":           "/red,green,blue",
	"/{list*}":          "/red,green,blue",
	"/{count}":          "/one,two,three",
	"/{count*}":         "/one,two,three",
	"{/count}":          "/one,two,three",
	"{/count*}":         "/one/two/three",
	"/{semi}":           "/%3B",
	"/here{+path}":      "/here/foo/bar",
	"/{+var}":           "/value",
	"/up{+path}{var}/h": "/up/foo/barvalue/h",
	"/{+list}":          "/red,green,blue",
	"/{+list*}":         "/red,green,blue",
	"/a{+path,x}/here":  "/a/foo/bar,1024/here",
	"{/who}":            "/fred",
	"{/who,who}":        "/fred/fred",
	"{/half,who}":       "/50%25/fred",
	"{/who,dub}":        "/fred/me%2Ftoo",
	"{/var}":            "/value",
	"{/var,undef}":      "/value",
	"{/var,x}/here":     "/value/1024/here",
	"{/list}":           "/red,green,blue",
	"{/list*}":          "/red/green/blue",
	"/{?who}":           "/?who=fred",
	"/{?half}":          "/?half=50%25",
	"/{?x,y}":           "/?x=1024&y=768",
	"/{?x,y,undef}":     "/?x=1024&y=768",
	"/{?list}":          "/?list=red,green,blue",
	"/{?list*}":         "/?list=red&list=green&list=blue",
	"/a{?undef}":        "/a",
	"/{?count}":         "/?count=one,two,three",
}

func TestTemplateExamples(t *testing.T) {
	for tpl, want := range rfcExamples {
		r := &bind.Request{Base: base(t, "http://h.example"), Method: "GET", Path: template(t, tpl)}
		if h := build(t, r, scope(t, rfcVars)); h.URL != "http://h.example"+want {
			t.Errorf("%s: got %s, want %s", tpl, h.URL, want)
		}
	}
}

// Where both must agree, another implementation does: no reserved characters in
// {+x}, nothing empty, nothing absent save in {/x} and {?x}.
func TestTemplateOracle(t *testing.T) {
	r := random(t)
	alphabet := []string{"a", "B", "7", "-", "_", "~", "é", "日本", "😀", "\u2028", " ", "/", "?", "#", "%", "%2F", "&", "=", "+", ";", ",", ":", "@", "!", "'", "(", "*", "\\", "\"", "|", "{", "[", "\n"}
	safe := alphabet[:9]
	word := func(from []string) string {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	for range 2000 {
		var tpl strings.Builder
		args, subst := bind.Args{}, stduritemplate.Substitutions{}
		set := func(name string, from []string) {
			if r.IntN(3) > 0 {
				s := word(from)
				args[name], subst[name] = quoted(t, s), s
				return
			}
			var list []any
			var raw []string
			for range 1 + r.IntN(3) {
				s := word(from)
				list = append(list, s)
				raw = append(raw, string(quoted(t, s)))
			}
			args[name], subst[name] = []byte("["+strings.Join(raw, ",")+"]"), list
		}
		explode := func() string { return []string{"", "*"}[r.IntN(2)] }
		for i := range 1 + r.IntN(4) {
			n, m := fmt.Sprintf("n%d", i), fmt.Sprintf("m%d", i)
			switch r.IntN(4) {
			case 0:
				set(n, alphabet)
				fmt.Fprintf(&tpl, "/lit-{%s%s}", n, explode())
			case 1:
				set(n, safe)
				set(m, safe)
				fmt.Fprintf(&tpl, "/x{+%s,%s%s}", n, m, explode())
			case 2:
				if r.IntN(2) == 0 {
					set(n, alphabet)
				}
				set(m, alphabet)
				fmt.Fprintf(&tpl, "/y{/%s%s,%s%s}", n, explode(), m, explode())
			default:
				set(n, alphabet)
				fmt.Fprintf(&tpl, "/{%s,%s}.json", n, n)
			}
		}
		if r.IntN(2) == 0 {
			set("q", alphabet)
			fmt.Fprintf(&tpl, "{?q%s,absent}", explode())
		}
		want, err := stduritemplate.Expand(tpl.String(), subst)
		if err != nil {
			t.Fatalf("%s: %v", &tpl, err)
		}
		want = strings.NewReplacer("+", "%20").Replace(want) // it writes a space as a form does
		req := &bind.Request{Base: base(t, "http://h.example"), Method: "GET", Path: template(t, tpl.String())}
		if h := build(t, req, &bind.Scope{Args: args}); h.URL != "http://h.example"+want {
			t.Fatalf("%s %q:\n got %s\nwant %s", &tpl, args, h.URL, "http://h.example"+want)
		}
	}
}

func TestTemplateDepartures(t *testing.T) {
	s := scope(t, `{"hello":"Hello World!","path":"/foo/bar","empty":"","base":"http://example.com/home/","half":"50%","list":[],"keys":{"a":1}}`)
	r := request(t, "/x{+hello,half}")
	if h := build(t, r, s); h.URL != v1+"/xHello%20World%21,50%25" {
		t.Error(h.URL)
	}
	for tpl, reason := range map[string]string{
		"/{+path}/here": "empty segment", // the RFC gives //foo/bar/here
		"/{+base}index": "empty segment",
		"/O{empty}X":    "must not be empty",
		"{/empty}":      "must not be empty",
		"/O{undef}X":    "must be given",
		"/{+undef}":     "must be given",
		"/{list}":       "at least one element",
		"/{keys}":       "an object",
		"{/keys*}":      "an object",
		"/{?keys*}":     "an object",
	} {
		refused(t, request(t, tpl), s, reason)
	}
	if h := build(t, request(t, "/a{?empty,list,list*}"), s); h.URL != v1+"/a?empty=" {
		t.Error(h.URL)
	}
}

func TestTemplateVars(t *testing.T) {
	p := template(t, "{/project,team}/_apis/{id}/é/{+path}/{client-uuid}.{a.b_c}{?x*,id}")
	want := []bind.TemplateVar{
		{Name: "project", Optional: true, Offset: 2}, {Name: "team", Optional: true, Offset: 10},
		{Name: "id", Offset: 23}, {Name: "path", Offset: 32}, {Name: "client-uuid", Offset: 39}, {Name: "a.b_c", Offset: 53},
		{Name: "x", Optional: true, Query: true, Offset: 61}, {Name: "id", Optional: true, Query: true, Offset: 64},
	}
	if got := p.Vars(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestTemplateLiterals(t *testing.T) {
	for tpl, want := range map[string]string{
		"/":                       "/",
		"/a/":                     "/a/",
		"/$batch":                 "/$batch",
		"/users('x')/a:b@c;d=e,f": "/users('x')/a:b@c;d=e,f",
		"/a%20b/%e9%2F":           "/a%20b/%e9%2F",
		"/日本/é":                   "/%E6%97%A5%E6%9C%AC/%C3%A9",
		"/a.b/.well-known/..c":    "/a.b/.well-known/..c",
		"/[x]!$&'()*+":            "/[x]!$&'()*+",
	} {
		r := &bind.Request{Base: base(t, "http://h.example"), Method: "GET", Path: template(t, tpl)}
		h := build(t, r, &bind.Scope{})
		if h.URL != "http://h.example"+want {
			t.Errorf("%s: got %s, want %s", tpl, h.URL, want)
		}
		parse(t, h)
	}
}

func TestTemplateFaults(t *testing.T) {
	for tpl, want := range map[string][]string{
		"":                {`0: a path must begin with "/"`},
		"a":               {`0: a path must begin with "/"`},
		"{x}":             {`0: a path must begin with "/"`},
		"{?x}":            {`0: a path must begin with "/"`},
		"/{":              {`1: "{" has no "}"`},
		"/{x":             {`1: "{" has no "}"`},
		"/{x{y}":          {`1: "{" has no "}"`},
		"/{{id}}/x":       {`1: a variable stands between single braces: write {id}`},
		"/{{{ id }}}":     {`1: a variable stands between single braces: write {id}`},
		"/{{}}":           {`1: "{" has no "}"`},
		"/a}b":            {`2: "}" has no "{"`},
		"}":               {`0: a path must begin`, `0: "}" has no "{"`},
		"/{}":             {`2: the name of a variable is missing`},
		"/{+}":            {`3: the name of a variable is missing`},
		"/{x,}":           {`4: the name of a variable is missing`},
		"/{*}":            {`2: "" is no name`},
		"/{a b}":          {`2: "a b" is no name`},
		"/{x,a$,é}":       {`4: "a$" is no name`, `7: "é" is no name`},
		"/{.x}":           {`2: the operator '.' is not supported: write .{x}`},
		"/{#x}/{;x}/{&x}": {`2: the operator '#'`, `7: the operator ';'`, `12: the operator '&'`},
		"/{=x}{,x}{!x}":   {`2: the operator '=' is not supported: it is reserved`, `6: the operator ','`, `10: the operator '!'`},
		"/{a..b}/{a.}":    {`2: "a..b" is no name`, `9: "a." is no name`},
		"/{x:3}":          {`3: the modifier ":3" is not supported`},
		"/{x*:3}":         {`4: the modifier ":3"`},
		"/{x**}":          {`2: "x*" is no name`},
		"/{%41}":          {`2: "%41" is no name`},
		"/a?b=c":          {`2: "?" would end the path`},
		"/a#b":            {`2: '#' cannot stand in a path: write %23`},
		"/a b\\c|":        {`2: ' ' cannot stand in a path: write %20`, `4: '\\' cannot stand`, `6: '|' cannot stand`},
		"/\x00\x7f":       {`1: '\x00' cannot stand in a path: write %00`, `2: '\x7f' cannot`},
		"/%/%2/%zz":       {`1: "%" must begin an escape`, `3: "%" must`, `6: "%" must`},
		"/a\xff":          {`2: the path is not valid UTF-8`},
		"//a":             {`1: a segment of the path is empty`},
		"/a//b":           {`3: a segment of the path is empty`},
		"/é//b":           {`4: a segment of the path is empty`},
		"//":              {`1: a segment of the path is empty`},
		"/a/{/x}":         {`3: a segment of the path is empty`},
		"{/x}//a":         {`5: a segment of the path is empty`},
		"/..":             {`1: a segment of the path is ".."`},
		"/a/./b/../c":     {`3: a segment of the path is "."`, `7: a segment of the path is ".."`},
		"/a/%2e%2E/b":     {`3: a segment of the path is "%2e%2E"`},
		"/a/%252e./b":     {`3: a segment of the path is "%252e."`},
		"/a%2f../b":       {`1: a segment of the path is "a%2f.."`},
		"/..;x/b":         {`1: a segment of the path is "..;x"`},
		"/a/..{/x}":       {`3: a segment of the path is ".."`},
		"/a/.{/x}./b":     {`3: a segment of the path is "."`},
		"/a/%2{/x}e./b":   {`3: "%" must begin`},
		"{/x}y":           {`4: after {/x} at the start of a path there must be a "/"`},
		"{/x}{/y}{z}":     {`8: after {/x} at the start`},
		"/a{?x}/b":        {`6: nothing can stand after {?x}`},
		"/a{?x}{?y}":      {`6: nothing can stand after {?x}`},
		"/{a b}/..?{":     {`2: "a b" is no name`, `9: "?" would end`, `10: "{" has no "}"`},
	} {
		_, err := bind.ParseTemplate(tpl)
		var faults bind.TemplateErrors
		if !errors.As(err, &faults) {
			t.Errorf("%q: not refused", tpl)
			continue
		}
		if len(faults) != len(want) {
			t.Errorf("%q: %d faults, want %d: %v", tpl, len(faults), len(want), err)
			continue
		}
		for i, w := range want {
			if got := strings.TrimPrefix(faults[i].Error(), "byte "); !strings.HasPrefix(got, w) {
				t.Errorf("%q: %q, want %q", tpl, got, w)
			}
		}
		if lines := strings.Split(err.Error(), "; byte "); len(lines) != len(faults) {
			t.Errorf("%q: the error does not tell all faults: %v", tpl, err)
		}
	}
}

func FuzzParseTemplate(f *testing.F) {
	for tpl := range rfcExamples {
		f.Add(tpl, "a", "b/c")
	}
	f.Add("{/x}//{", "", "..")
	f.Add("/.{x}%2e{+y}{?x*,y}", ".", "é")
	f.Add("/a%zz}?#\x00", "%2e", "/")
	f.Fuzz(func(t *testing.T, tpl, x, y string) {
		p, err := bind.ParseTemplate(tpl)
		if err != nil {
			var faults bind.TemplateErrors
			if !errors.As(err, &faults) || p != nil {
				t.Fatalf("%q: %#v", tpl, err)
			}
			for _, e := range faults {
				if e.Offset < 0 || e.Offset > len(tpl) || e.Message == "" {
					t.Fatalf("%q: %v", tpl, e)
				}
			}
			return
		}
		args := bind.Args{}
		for i, v := range p.Vars() {
			if !strings.HasPrefix(tpl[v.Offset:], v.Name) {
				t.Fatalf("%q: %v", tpl, v)
			}
			args[v.Name] = quoted(t, []string{x, y}[i%2])
		}
		r := &bind.Request{Base: base(t, "http://h.example/b"), Method: "GET", Path: p}
		h, err := r.Build(t.Context(), &bind.Scope{Args: args})
		if err != nil {
			return
		}
		v := parse(t, h)
		if v.host != "h.example" || v.escaped != "/b" && !strings.HasPrefix(v.escaped, "/b/") {
			t.Fatalf("%q %q %q: %s", tpl, x, y, h.URL)
		}
		for i, s := range v.segments {
			if s == "." || s == ".." || s == "" && i < len(v.segments)-1 {
				t.Fatalf("%q %q %q: %s", tpl, x, y, h.URL)
			}
		}
	})
}

// FuzzBuildPath sends values through every kind of position.
func FuzzBuildPath(f *testing.F) {
	for i, s := range awkward {
		f.Add(s, awkward[(i*7)%len(awkward)], uint64(i))
	}
	f.Fuzz(func(t *testing.T, x, y string, seed uint64) {
		c := randomCase(rand.New(rand.NewPCG(seed, 0)))
		i := 0
		for _, name := range slices.Sorted(maps.Keys(c.values)) {
			if _, given := c.args[name]; given {
				// As a server decodes it: what is no UTF-8 cannot be sent as JSON.
				c.values[name] = strings.ToValidUTF8([]string{x, y}[i%2], "\ufffd")
				c.args[name] = quoted(t, c.values[name])
				i++
			}
		}
		r := &bind.Request{Base: base(t, c.base), Method: "GET", Path: template(t, c.template)}
		h, err := r.Build(t.Context(), &bind.Scope{Args: c.args})
		if err != nil {
			if !c.refusable() {
				t.Fatalf("%q %q: refused without need: %v", c.template, c.values, err)
			}
			return
		}
		if err := c.check(parse(t, h)); err != nil {
			t.Fatalf("%q %q: %s: %v", c.template, c.values, h.URL, err)
		}
	})
}
