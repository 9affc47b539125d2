package compile_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
)

// TestLinks shows requests to links that earlier answers gave, and that none
// leaves the upstream (fault kinds host-override and base-path).
func TestLinks(t *testing.T) {
	u := &upstream{}
	next := ""
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.log = append(u.log, r.Method+" "+r.URL.RequestURI())
		u.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost:
			w.Header().Set("Location", next)
			w.WriteHeader(http.StatusAccepted)
		case strings.HasSuffix(r.URL.Path, "/list"):
			fmt.Fprintf(w, `{"items":[{"self":"%[1]s/v1/things/1"},{"self":"/v1/things/2?b=1"}]}`, u.URL)
		default:
			fmt.Fprint(w, `{"done":true}`)
		}
	}))
	t.Cleanup(u.Close)

	upload := `input: {digest!: string}
		steps: {
			start: http: {method: "POST", path: "/uploads"}
			end: http: {method: "PUT", url: steps.start.headers.location, query: digest: input.digest}
		}`
	each := `input: {}
		steps: {
			list: http: {method: "GET", path: "/list"}
			drop: each: [for x in steps.list.result.items {method: "DELETE", url: x.self}]
		}`
	for name, tt := range map[string]struct {
		tool, args, next string
		log              []string
		want             string
	}{
		"a Location, with a parameter of our own": {upload, `{"digest":"sha256:a b"}`, "/v1/uploads/7?_state=x%3D", []string{`POST /v1/uploads`, `PUT /v1/uploads/7?_state=x%3D&digest=sha256%3Aa%20b`}, `{"done":true}`},
		"another host":        {upload, `{"digest":"d"}`, "https://evil.example/v1/uploads/7", []string{`POST /v1/uploads`}, `leads to \"https://evil.example\"`},
		"above the base path": {upload, `{"digest":"d"}`, "/v2/uploads/7", []string{`POST /v1/uploads`}, `leads out of /v1`},
		"none":                {upload, `{"digest":"d"}`, "", []string{`POST /v1/uploads`}, `"done":["start: POST /v1/uploads answered 202 Accepted"]`},
		"a list of them":      {each, `{}`, "", []string{`DELETE /v1/things/1`, `DELETE /v1/things/2?b=1`, `GET /v1/list`}, `{"done":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			next = tt.next
			p := program(t, u, "t: {description: \"T\", action: \"create\", "+tt.tool+"}")
			r := p.Call(t.Context(), call.Caller{}, "t", json.RawMessage(tt.args))
			log := u.take()
			if strings.Contains(tt.tool, "each:") {
				slices.Sort(log)
			}
			if !slices.Equal(log, tt.log) || !strings.Contains(r.Content[0].Text, tt.want) {
				t.Errorf("log %q\nwant %q\nresult %s\nwant %s", log, tt.log, r.Content[0].Text, tt.want)
			}
		})
	}
}

// TestLinkFindings pins what a url may be made of.
func TestLinkFindings(t *testing.T) {
	for name, tt := range map[string]struct{ tool, want string }{
		"both":                {"steps: {\na: http: {method: \"GET\", path: \"/a\"}\nb: http: {method: \"GET\", path: \"/b\"\nurl: steps.a.result.next}}", `15 domains.d.tools.t.steps.b.http: takes one of path or url`},
		"neither":             {"http: {\nmethod: \"GET\"}", `12 domains.d.tools.t.http: needs one of path or url`},
		"from a caller":       {"input: link!: string, http: {method: \"GET\"\nurl: input.link}", `13 domains.d.tools.t.http.url: must not refer to input`},
		"partly":              {"input: q!: string, steps: {a: http: {method: \"GET\", path: \"/a\"}\nb: http: {method: \"GET\", url: steps.a.result.next + input.q}}", `13 domains.d.tools.t.steps.b.http.url: must not refer to input`},
		"by a let":            {"input: q!: string, let v = input.q, steps: {a: http: {method: \"GET\", path: \"/a\"}\nb: http: {method: \"GET\", url: steps.a.result.next + v}}", `13 domains.d.tools.t.steps.b.http.url: must not refer to input`},
		"a constant":          {"http: {method: \"GET\"\nurl: \"https://api.example/v1/x\"}", `13 domains.d.tools.t.http.url: must refer to the answer of an earlier step`},
		"vars":                {"steps: {a: http: {method: \"GET\", path: \"/a\"}\nb: http: {method: \"GET\", url: steps.a.result.next\nvars: x: 1}}", `14 domains.d.tools.t.steps.b.http.vars: there is no path`},
		"each, from a caller": {"input: links!: [...string], steps: {a: http: {method: \"GET\", path: \"/a\"}\nb: each: [for l in input.links {method: \"GET\"\nurl: l}]}", `14 domains.d.tools.t.steps.b.each: must not refer to input`},
		"each, by a let":      {"input: links!: [...string], steps: {a: http: {method: \"GET\", path: \"/a\"}\nb: each: [for x in input.links let y = x {method: \"GET\"\nurl: y}]}", `14 domains.d.tools.t.steps.b.each: must not refer to input`},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings := build(t, server("t: {description: \"T\", action: \"read\", "+tt.tool+"}"))
			place, part, _ := strings.Cut(tt.want, ": ")
			var got []string
			for _, f := range findings {
				got = append(got, fmt.Sprintf("%d %s: %s", f.Line, f.Path, f.Message))
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], place+": ") || !strings.Contains(got[0], part) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
}
