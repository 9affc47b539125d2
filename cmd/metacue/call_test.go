package main

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/internal/sample"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/surface"
)

// TestCallAgrees makes 40 calls of Azure DevOps by metacue call and through every
// mode: the requests are the same. The calls are those of cue/testdata/calls.txt,
// where each stands behind ##; each way has an organization of its own, so that what
// one leaves behind is there for its next.
func TestCallAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts the program 40 times")
	}
	const token = "the-token-of-a-test"
	t.Setenv("AZURE_DEVOPS_PAT", token)
	data, err := os.ReadFile("../../cue/testdata/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	type asked struct{ tool, args string }
	var calls []asked
	for line := range strings.Lines(string(data)) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "## ")
		if tool, args, _ := strings.Cut(line, " "); ok && !strings.HasPrefix(tool, "!") && !strings.Contains(args, "$") {
			calls = append(calls, asked{tool, args})
		}
	}
	every := len(calls) / 40
	if every == 0 {
		t.Fatalf("%d calls are too few", len(calls))
	}
	var some []asked
	for i := 0; len(some) < 40; i += every {
		some = append(some, calls[i])
	}

	// ways give what makes a call against an organization at a URL.
	ways := map[string]func(upstreams map[string]string) func(asked){
		"call": func(upstreams map[string]string) func(asked) {
			return func(c asked) {
				args := []string{"call", c.tool, "--json", c.args}
				for name, url := range upstreams {
					args = append(args, "--upstream", name+"="+url)
				}
				_, _ = runCommand(t, args...) // what a call answers is told elsewhere
			}
		},
	}
	for _, mode := range surface.Modes() {
		ways[mode] = func(upstreams map[string]string) func(asked) {
			s := settings{upstreams: upstreams}
			program, findings := s.compile(source{}, slog.New(slog.DiscardHandler))
			if program == nil {
				t.Fatal(findings)
			}
			face, err := surface.New(mode, program.Catalog, program.Call)
			if err != nil {
				t.Fatal(err)
			}
			return func(c asked) {
				tool, err := find(program.Catalog, c.tool)
				if err != nil {
					t.Fatal(err)
				}
				name, arguments := face.Spell(tool, []byte(c.args))
				if _, err := face.Call(t.Context(), call.Caller{}, name, arguments); err != nil {
					t.Errorf("%s %s: %v", name, arguments, err)
				}
			}
		}
	}
	sent := map[string][][]string{}
	for name, way := range ways {
		org := sample.New(sample.Options{PAT: token})
		url, stop, err := org.Start()
		if err != nil {
			t.Fatal(err)
		}
		do := way(map[string]string{"devops": url, "identities": url, "search": url, "security": url, "results": url})
		for _, c := range some {
			seen := len(org.Log())
			do(c)
			var log []string
			for _, e := range org.Log()[seen:] {
				log = append(log, e.String())
			}
			slices.Sort(log) // the requests of one list are under way together
			sent[name] = append(sent[name], log)
		}
		stop()
	}
	requests := 0
	for i, c := range some {
		requests += len(sent["call"][i])
		for name := range ways {
			if got, want := sent[name][i], sent["call"][i]; !slices.Equal(got, want) {
				t.Errorf("%s %s:\n%s sent\n%s\nmetacue call sent\n%s", c.tool, c.args, name, strings.Join(got, ""), strings.Join(want, ""))
			}
		}
	}
	if requests < len(some) {
		t.Errorf("%d calls made %d requests", len(some), requests)
	}
}
