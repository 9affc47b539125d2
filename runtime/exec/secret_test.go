package exec_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
)

// echoing is an upstream that answers with the credential it was sent, behind as many
// characters as pad says, in every way that a path names.
func echoing(t *testing.T, pad *int) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		echo := strings.Repeat("x", *pad) + bearer + strings.Repeat("y", 40)
		body := fmt.Sprintf(`{"a":%q,"digits":1,"items":[{"id":1,"name":%[1]q}],"link":%[2]q}`, echo, "/v1/json?key="+url.QueryEscape(echo))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Echo", echo)
		switch r.URL.Path {
		case "/v1/text":
			w.Header().Set("Content-Type", "text/plain; charset=utf-16le")
			body = ""
			for _, c := range echo {
				body += string(c) + "\x00"
			}
		case "/v1/binary":
			w.Header().Set("Content-Type", "application/octet-stream")
			body = "\x00" + echo
		case "/v1/charset":
			w.Header().Set("Content-Type", "text/plain; charset="+echo)
			body = "\xff"
		case "/v1/status":
			w.WriteHeader(409)
		case "/v1/status-text":
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(500)
			body = echo
		case "/v1/redirect":
			w.Header().Set("Location", "https://"+echo+".example/"+echo)
			w.WriteHeader(302)
		case "/v1/broken":
			body = body[:len(body)-3]
		case "/v1/bare":
			body = echo
		}
		_, _ = io.WriteString(w, body)
	})
}

// secretPaths are tools over the echoing upstream, each one way on which something
// of an answer comes to the caller, with what their results say; "" is no failure.
var secretPaths = map[string]struct{ tool, says string }{
	"json":           {`http: {method: "GET", path: "/json"}`, ""},
	"text":           {`http: {method: "GET", path: "/text"}`, ""},
	"binary":         {`http: {method: "GET", path: "/binary"}`, "holds a secret"},
	"charset":        {`http: {method: "GET", path: "/charset"}`, ""},
	"status":         {`http: {method: "GET", path: "/status"}`, "409"},
	"status text":    {`http: {method: "GET", path: "/status-text"}`, "500"},
	"redirect":       {`http: {method: "GET", path: "/redirect"}`, "redirect"},
	"broken":         {`http: {method: "GET", path: "/broken"}`, "cannot be read"},
	"bare":           {`http: {method: "GET", path: "/bare"}`, "cannot be read"},
	"cut":            {`http: {method: "GET", path: "/json"}, response: maxBytes: 1024, response: jq: "[range(60) as $i | .a]"`, ""},
	"cut text":       {`http: {method: "GET", path: "/text"}, response: maxBytes: 1024, response: jq: ".a * 60"`, "cannot be read"},
	"joined":         {`http: {method: "GET", path: "/json"}, response: jq: #"{a: ("s3cr3t" + "-t0ken")}"#`, ""},
	"cut slice":      {`http: {method: "GET", path: "/json"}, response: jq: ".a | [range(0; length; 5) as $i | .[$i:$i+5]]"`, ""},
	"upper case":     {`http: {method: "GET", path: "/json"}, response: jq: ".a | explode | map(. + 1) | implode"`, ""},
	"headers":        {`http: {method: "GET", path: "/json"}, response: jq: "$headers"`, ""},
	"misfit":         {`http: {method: "GET", path: "/json"}, response: schema: {a!: int, ...}`, "does not fit"},
	"misfit enum":    {`http: {method: "GET", path: "/json"}, response: schema: {a!: "x" | "y"}`, "does not fit"},
	"structured":     {`http: {method: "GET", path: "/json"}, response: schema: {...}`, ""},
	"found":          {`http: {method: "GET", path: "/json"}, response: error: ".a"`, "xxx"},
	"found object":   {`http: {method: "GET", path: "/json"}, response: error: "{b: .a}"`, "says in it that the call failed"},
	"found badly":    {`http: {method: "GET", path: "/json"}, response: error: ".a.b"`, "jq program"},
	"retry badly":    {`http: {method: "GET", path: "/status"}, response: retry: {on: ".a.b", attempts: 2}`, "could not be evaluated"},
	"items":          {`http: {method: "GET", path: "/json"}, response: paginate: {page: number: "page", items: ".items"}`, ""},
	"items badly":    {`http: {method: "GET", path: "/json"}, response: paginate: {page: number: "page", items: ".a.b"}`, "jq program"},
	"no items":       {`http: {method: "GET", path: "/json"}, response: paginate: {page: number: "page"}`, "no list"},
	"also":           {`http: {method: "GET", path: "/json"}, response: paginate: {page: number: "page", items: ".items", also: ".a"}`, "no object"},
	"position":       {`http: {method: "GET", path: "/json"}, response: paginate: {cursor: {jq: "[.a]", in: "c"}, items: ".items"}`, "neither text nor a number"},
	"link":           {`http: {method: "GET", path: "/json"}, response: paginate: {nextLink: "\"http://\\(.a).example\"", items: ".items"}`, "cannot be followed"},
	"content type":   {`steps: {a: http: {method: "GET", path: "/json"}, b: {http: {method: "GET", path: "/json"}, contentType: steps.a.result.a}}`, ""},
	"step jq":        {`steps: {a: {http: {method: "GET", path: "/json"}, jq: ".a.b"}}`, "jq program"},
	"step when":      {`steps: {a: http: {method: "GET", path: "/json"}, b: {when: steps.a.result.a, http: {method: "GET", path: "/json"}}}`, ""},
	"step failure":   {`steps: {a: http: {method: "GET", path: "/json"}, b: http: {method: "DELETE", path: "/status"}}`, "409"},
	"step headers":   {`steps: {a: http: {method: "GET", path: "/json"}, b: http: {method: "GET", path: "/json", query: q: steps.a.headers["x-echo"] & int}}`, ""},
	"step passed on": {`steps: {a: http: {method: "GET", path: "/json"}, b: http: {method: "POST", path: "/json", body: q: steps.a.result.a}}`, "would pass on a secret"},
	"step in path":   {`steps: {a: http: {method: "GET", path: "/json"}, b: http: {method: "GET", path: "/{v}", vars: v: steps.a.result.a}}`, "would pass on a secret"},
	"step binary":    {`steps: {a: http: {method: "GET", path: "/binary"}, b: http: {method: "POST", path: "/json", body: q: steps.a.result}}`, "holds a secret"},
	"each":           {`steps: {a: http: {method: "GET", path: "/json"}, b: each: [for i in [1] {method: "GET", path: "/json", query: q: steps.a.result.a & int}]}`, ""},
	"each jq":        {`steps: {a: each: [for i in [1, 2] {method: "GET", path: "/json"}]}, response: jq: ".steps.a.result[0].a.b"`, "jq program"},
}

// TestSecretPaths pins secret-in-log on every way out of the program: whatever an
// upstream echoes, and wherever a text is cut, nothing of a secret is told.
func TestSecretPaths(t *testing.T) {
	pad := 0
	tools := map[string]string{}
	for name, p := range secretPaths {
		tools[name] = p.tool
	}
	for _, jq := range []string{".a.b", ".a|tonumber", ".a|fromjson", ".[]|.b", ".a|error", ".a + 1", "{(.a|tojson): 1} | .x.y", `.a|strptime("%Y")`, ".a|ltrimstr(1)|.[0]|keys", ".a|implode", "error({b: .a})", "halt_error"} {
		tools["jq "+jq] = fmt.Sprintf(`http: {method: "GET", path: "/json"}, response: jq: %q`, jq)
	}
	for _, e := range []string{
		"steps.a.result.a + 1", `{"x": 1}[steps.a.result.a]`, "strings.Replace(steps.a.result.a, 1, 2, 3)", "[1][steps.a.result.a]", "steps.a.result.a & int",
		`steps.a.result.a & "x"`, "strconv.Atoi(steps.a.result.a)", "steps.a.result.a[3:]", "time.Parse(time.RFC3339, steps.a.result.a)", `steps.a.result.a & =~"^z"`,
		"steps.a.result.a.b",
	} {
		tools["CUE "+e] = `steps: {a: http: {method: "GET", path: "/json"}, b: http: {method: "GET", path: "/json", query: q: ` + e + `}}`
	}
	var src strings.Builder
	names := slices.Sorted(maps.Keys(tools))
	for i, name := range names {
		tool := tools[name]
		if !strings.Contains(tool, "input:") && !strings.Contains(tool, "input.a") {
			tool += ", input: {}"
		}
		fmt.Fprintf(&src, "t%d: {description: \"x\", action: \"update\", %s}\n", i, tool)
	}
	text := source(echoing(t, &pad), `auth: bearer: {env: "TOKEN"}`, src.String(), "")
	text = strings.Replace(text, `import "strings"`, "import (\"strings\"\n\"strconv\"\n\"time\")\n_used: [strconv.Itoa, time.RFC3339]", 1)
	p := compiled(t, text, options())
	for i, name := range names {
		for pad = 0; pad < 40; pad += 3 {
			r := p.Call(t.Context(), call.Caller{}, fmt.Sprintf("t%d", i), json.RawMessage(`{}`))
			var all strings.Builder
			for _, c := range r.Content {
				all.WriteString(c.Text + string(c.Data))
			}
			shown := all.String() + string(r.Structured) + strings.Join(r.Repairs, " ")
			if strings.Contains(shown, token[:4]) || strings.Contains(shown, "t4ds4u") {
				t.Errorf("%s shows a secret after %d characters: %s", name, pad, shown)
			}
			want, listed := secretPaths[name]
			if listed && want.says != "" && (!r.IsError || pad > 3 && !strings.Contains(shown, want.says)) {
				t.Errorf("%s: error %t, %s", name, r.IsError, shown)
			}
			if r.Structured != nil && string(r.Structured) != told(r) {
				t.Errorf("%s: the structured result is not the text: %s", name, shown)
			}
		}
	}
}

// TestSecretPassedOn pins that no request passes on what was masked, in whatever form,
// and that it may hold all else: what an answer says beside a secret, and texts of the
// configuration, of an answer or of the caller that look like a mask.
func TestSecretPassedOn(t *testing.T) {
	var sent []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, fmt.Sprint(r.Method, r.URL, r.Header["X-A"], string(body)))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"a":%q,"id":1,"md":"one\n\n***\n\ntwo"}`, "k="+r.Header.Get("Authorization"))
	})
	each := func(request string) string {
		return `each: [for i in [1, 2] {method: "POST", path: "/p", ` + request + `}]`
	}
	http := func(request string) string { return `http: {method: "POST", path: "/p", ` + request + `}` }
	for b, sends := range map[string]int{
		http(`query: q: steps.a.result.a`):                          0,
		http(`form: q: steps.a.result.a`):                           0,
		http(`multipart: q: steps.a.result.a`):                      0,
		http(`text: steps.a.result.a`):                              0,
		http(`headers: "X-A": "é" + steps.a.result.a`):              0,
		http(`body: q: base64.Encode(null, steps.a.result.a)`):      0,
		http(`body: q: len(steps.a.result.a)`):                      0,
		http(`body: q: steps.l.result[1].a`):                        0,
		http(`body: q: steps.j.result`):                             0,
		http(`body: q: steps.a.result.a`) + `, optional: true`:      0,
		each(`body: q: steps.a.result.a`):                           0,
		http(`body: {q: steps.a.result.id, text: "a\n***\nb"}`):     1,
		http(`body: {q: steps.a.result.md, text: input.text}`):      1,
		http(`multipart: q: steps.l.result[1].md`):                  1,
		each(`body: {q: "\(i) \(steps.a.result.id)", text: "***"}`): 2,
	} {
		sent = nil
		src := source(url, `auth: bearer: {env: "TOKEN"}`, `t: {description: "T", action: "create", input: {text!: string}, steps: {
			a: http: {method: "GET", path: "/json"}
			l: each: [for i in [1, 2] {method: "GET", path: "/json"}]
			j: {http: {method: "GET", path: "/json"}, jq: ".a | explode"}
			b: {`+b+`}
			c: {when: input.text == "", http: {method: "POST", path: "/c"}}
		}, response: jq: "1"}`, "")
		src = strings.Replace(src, `import "strings"`, "import (\"strings\"\n\"encoding/base64\")\n_used: base64.Encode", 1)
		r := compiled(t, src, options()).Call(t.Context(), call.Caller{}, "t", json.RawMessage(`{"text":"a ***bold*** word"}`))
		if len(sent) != 4+sends || r.IsError != (sends == 0 && !strings.Contains(b, "optional")) || r.IsError && !strings.Contains(told(r), "would pass on a secret") {
			t.Errorf("%s: error %t, %s, sent %q", b, r.IsError, told(r), sent)
		}
	}
}

// TestSecretOfAnother pins that what one caller brings changes nothing in the answers
// of others, and that its own stay sound, whatever it holds.
func TestSecretOfAnother(t *testing.T) {
	const body = `{"name":"x","path":"/b/project-alpha","n":12345678}`
	url := answering(t, 200, "application/json", body)
	tool := `t: {description: "T", action: "read", input: {}, http: {method: "GET", path: "/p"}, response: schema: {...}}`
	p := program(t, url, `auth: header: {name: "X-Key", value: inboundHeader: "X-Caller-Token"}`, tool, "")
	for value, own := range map[string]string{
		`"path":"/`:     body,
		`"x","path":`:   body,
		`project-alpha`: `{"name":"x","path":"/b/***","n":12345678}`,
		`12345678`:      `{"name":"x","path":"/b/project-alpha","n":"***"}`,
	} {
		for token, want := range map[string]string{value: own, "a-token-of-another": body} {
			r := p.Call(t.Context(), call.Caller{Header: http.Header{"X-Caller-Token": {token}}}, "t", json.RawMessage(`{}`))
			wantText(t, r, want)
			if string(r.Structured) != want {
				t.Errorf("%s: the structured result is %s", token, r.Structured)
			}
		}
	}
	// What comes together only in the result is not held against the schema again.
	p = program(t, url, `auth: header: {name: "X-Key", value: inboundHeader: "X-Caller-Token"}`, tool+`, t: response: jq: ".path[0:5] + .path[5:] | {a: (.[3:10] + \"/\" + .[3:])}"`, "")
	wantError(t, p.Call(t.Context(), call.Caller{Header: http.Header{"X-Caller-Token": {"project/project"}}}, "t", json.RawMessage(`{}`)), "came together")
}
