package tokens

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The counts are those of tiktoken for o200k_base (OpenAI Cookbook, "How to
// count tokens with tiktoken").
func TestCount(t *testing.T) {
	for s, want := range map[string]int{
		"":                             0,
		"antidisestablishmentarianism": 6,
		"2 + 2 = 4":                    7,
		"お誕生日おめでとう":                    8,
	} {
		if got := Count(s); got != want {
			t.Errorf("Count(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestList(t *testing.T) {
	tools := []*mcp.Tool{{Name: "a", Description: "<b> & c", InputSchema: json.RawMessage(`{ "type": "object" }`)}}
	if got, want := List(tools), Count(`[{"description":"<b> & c","inputSchema":{"type":"object"},"name":"a"}]`); got != want {
		t.Errorf("List = %d, want %d", got, want)
	}
	if got, want := List(nil), Count("[]"); got != want {
		t.Errorf("List(nil) = %d, want %d", got, want)
	}
	if got, want := Tool(tools[0]), Count(`{"description":"<b> & c","inputSchema":{"type":"object"},"name":"a"}`); got != want {
		t.Errorf("Tool = %d, want %d", got, want)
	}
}

func TestConcurrentCounts(t *testing.T) {
	Load()
	text := strings.Repeat("list_pull_requests, get_work_item; ", 100)
	want := Count(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := Count(text); got != want {
				t.Errorf("Count = %d, want %d", got, want)
			}
		})
	}
	wg.Wait()
}

// BenchmarkLoad is the first count of a process, the process's own start included;
// BenchmarkStart beside it is that start alone.
func BenchmarkLoad(b *testing.B)  { run(b, "load") }
func BenchmarkStart(b *testing.B) { run(b, "start") }

func run(b *testing.B, what string) {
	for b.Loop() {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "TOKENS_CHILD="+what)
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

func TestMain(m *testing.M) {
	switch os.Getenv("TOKENS_CHILD") {
	case "start":
		os.Exit(0)
	case "load":
		Count("x")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// BenchmarkCount counts a list of some 90 KB, as flat gives for 92 tools.
func BenchmarkCount(b *testing.B) {
	text := strings.Repeat(`{"description":"Create a pull request from one branch to another","inputSchema":{"type":"object"},"name":"create_pull_request"},`, 700)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Count(text)
	}
}
