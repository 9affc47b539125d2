package config_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/metacue/metacue/internal/sample"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

// way is one way to a tool of a program: a surface, or metacue call, which hands
// the arguments to the program as they are.
type way struct {
	name string
	call func(t *testing.T, tool string, args []byte)
}

// waysTo gives all ways to the tools of a program.
func waysTo(t *testing.T, p *exec.Program) []way {
	t.Helper()
	ways := []way{{"call", func(t *testing.T, tool string, args []byte) { p.Call(t.Context(), call.Caller{}, tool, args) }}}
	for _, mode := range surface.Modes() {
		s, err := surface.New(mode, p.Catalog, p.Call)
		if err != nil {
			t.Fatal(err)
		}
		ways = append(ways, way{mode, func(t *testing.T, tool string, args []byte) {
			known, ok := p.Catalog.Tool(tool)
			if !ok {
				t.Fatalf("there is no tool %s", tool)
			}
			name, arguments := s.Spell(known, args)
			if _, err := s.Call(t.Context(), call.Caller{}, name, arguments); err != nil {
				t.Errorf("%s %s: %v", name, arguments, err)
			}
		}})
	}
	return ways
}

// The same calls make the same requests, whatever way they take. Each way begins
// with an organization of its own, and what a call leaves behind is there for the
// next.
func TestSurfacesAgree(t *testing.T) {
	var org, users atomic.Pointer[sample.Org]
	begin := func() {
		org.Store(sample.New(sample.Options{PAT: "the-token-of-a-test"}))
		users.Store(sample.New(sample.Options{PAT: "the-token-of-a-test"}))
	}
	serve := func(o *atomic.Pointer[sample.Org]) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.Load().ServeHTTP(w, r) }))
		t.Cleanup(s.Close)
		return s.URL + "/" + sample.Name
	}
	begin()
	p := program(t, serve(&org), serve(&users), nil)
	known := knownOf(t, p)
	if len(calls) < 40 {
		t.Fatalf("%d calls are too few", len(calls))
	}
	var want [][]string
	for _, w := range waysTo(t, p) {
		begin()
		var sent [][]string
		for _, c := range calls {
			seen, seenUsers := len(org.Load().Log()), len(users.Load().Log())
			w.call(t, strings.TrimPrefix(c.tool, "!"), []byte(known.Replace(c.args)))
			var log []string
			for _, e := range org.Load().Log()[seen:] {
				log = append(log, e.String())
			}
			for _, e := range users.Load().Log()[seenUsers:] {
				log = append(log, "identities: "+e.String())
			}
			slices.Sort(log) // those of one step go out at once
			sent = append(sent, log)
		}
		if want == nil {
			want = sent
		}
		for i, c := range calls {
			if !slices.Equal(sent[i], want[i]) {
				t.Errorf("%s: %s %s sends\n%s\nand metacue call\n%s", w.name, c.tool, c.args, strings.Join(sent[i], ""), strings.Join(want[i], ""))
			}
		}
	}
	n := 0
	for _, log := range want {
		n += len(log)
	}
	t.Logf("%d calls, %d requests", len(calls), n)
	if n < len(calls) {
		t.Errorf("%d requests of %d calls: too few to compare", n, len(calls))
	}
}

// The calls that were recorded elsewhere make the same requests by every way too.
func TestSurfacesAgreeOnRecorded(t *testing.T) {
	var recorded []recordedCall
	var answers canned
	readJSON(t, material(t, "recorded.json"), &recorded)
	readJSON(t, material(t, "canned.json"), &answers)
	s, p := stage(t, answers)
	want := map[string][]string{}
	for _, w := range waysTo(t, p) {
		for _, c := range recorded {
			if _, ok := p.Catalog.Tool(c.Tool); !ok {
				continue
			}
			args, err := json.Marshal(c.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			w.call(t, c.Tool, args)
			var log []string
			for _, m := range s.take() {
				log = append(log, m.String()+text(m.Body))
			}
			slices.Sort(log)
			if _, ok := want[c.name()]; !ok {
				want[c.name()] = log
			}
			if !slices.Equal(log, want[c.name()]) {
				t.Errorf("%s: %s sends\n%s\nand metacue call\n%s", w.name, c.name(), strings.Join(log, "\n"), strings.Join(want[c.name()], "\n"))
			}
		}
	}
	t.Logf("%d recorded calls", len(want))
	if len(want) < 40 {
		t.Errorf("%d recorded calls are too few", len(want))
	}
}

// What an agent reads of the built-in configuration before it has done anything
// stays within its bounds, in o200k_base tokens.
func TestListTokens(t *testing.T) {
	// The defaults are in the schemas: flat counts with them.
	p := program(t, "http://127.0.0.1:1", "http://127.0.0.1:1", map[string]string{"project": "Contoso", "team": "Contoso Team"})
	all := len(p.Catalog.Tools())
	for _, c := range []struct {
		mode        string
		meta        catalog.Meta
		tools, most int
	}{
		{"flat", catalog.Meta{}, all, 165 * all},
		{"meta", catalog.Meta{}, 4, 400},
		{"meta", catalog.Meta{Search: true}, 5, 520},
		{"meta", catalog.Meta{ByEffect: true}, 6, 520},
		{"meta", catalog.Meta{Search: true, ByEffect: true}, 7, 640},
		{"nouns", catalog.Meta{}, 40, 12000},
		{"model", catalog.Meta{}, 2, 400},
	} {
		whole := *p.Catalog
		whole.Meta = c.meta
		s, err := surface.New(c.mode, catalog.New(whole), p.Call)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s %+v", c.mode, c.meta)
		n := tokens.List(s.Tools())
		t.Logf("%s: %d tools, %d tokens", what, len(s.Tools()), n)
		if n > c.most || len(s.Tools()) > c.tools {
			t.Errorf("%s: %d tools and %d tokens, want at most %d and %d", what, len(s.Tools()), n, c.tools, c.most)
		}
	}
}
