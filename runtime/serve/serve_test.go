package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/surface"
)

// sample is a catalog of a few tools.
func sample() *catalog.Catalog {
	tool := func(name string, aliases ...string) *catalog.Tool {
		return &catalog.Tool{
			Name: name, Description: "Do " + name, Domain: "core", Action: "read", Effect: catalog.Read, Aliases: aliases,
			Annotations: catalog.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
			InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		}
	}
	return catalog.New(catalog.Catalog{
		Server:  catalog.Server{Name: "sample", Instructions: "Work with the sample."},
		Actions: []catalog.Action{{Name: "read", Effect: catalog.Read}},
		Domains: []*catalog.Domain{{Name: "core", Description: "Core", Summary: "core", Tools: []*catalog.Tool{
			tool("echo", "repeat"), tool("slow"), tool("panics"), tool("headers"),
		}}},
	})
}

// options offers the sample. slow waits for gate, or for its context; with no gate
// it waits for its context alone.
func options(t testing.TB, mode string, gate <-chan struct{}) Options {
	t.Helper()
	do := func(ctx context.Context, caller call.Caller, tool string, args json.RawMessage) call.Result {
		switch tool {
		case "slow":
			select {
			case <-gate:
			case <-ctx.Done():
				return call.Error("cancelled: " + context.Cause(ctx).Error())
			}
		case "panics":
			panic("secret-in-a-panic")
		case "headers":
			b, _ := json.Marshal(caller.Header)
			return call.Text(string(b))
		}
		return call.Text(tool + " " + string(args))
	}
	s, err := surface.New(mode, sample(), do)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Name: "sample", Title: "Sample", Version: "1.2.3", Surface: s}
}

// message is any JSON-RPC message that a server sends.
type message struct {
	ID     any
	Result struct {
		ProtocolVersion   string
		ResultType        string
		Instructions      string
		ServerInfo        struct{ Name, Title, Version string }
		Capabilities      json.RawMessage
		Tools             []struct{ Name string }
		Content           []struct{ Text string }
		IsError           bool
		TTLMs             int            `json:"ttlMs"`
		CacheScope        string         `json:"cacheScope"`
		Meta              map[string]any `json:"_meta"`
		SupportedVersions []string
	}
	Error *struct {
		Code    int
		Message string
	}
	raw string
}

func (m message) text() string {
	if len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

func parse(t testing.TB, line string) message {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("no JSON-RPC message: %v: %s", err, line)
	}
	m.raw = line
	return m
}

// client is the other end of Stdio.
type client struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error // what Stdio returned
}

// dial starts Stdio and gives its client. Nothing is left running after the test.
func dial(ctx context.Context, t testing.TB, o Options) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		err := Stdio(ctx, inR, outW, o)
		inR.Close()
		outW.Close()
		c.done <- err
	}()
	return c
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) recv() message {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return parse(c.t, line)
}

// ask sends a request and gives its answer, the next message there is.
func (c *client) ask(format string, args ...any) message {
	c.t.Helper()
	c.send(format, args...)
	return c.recv()
}

// initialize agrees on a revision of those that begin so.
func (c *client) initialize(revision string) message {
	c.t.Helper()
	m := c.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, revision)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

// end ends the input and gives what else is sent and what Stdio returns.
func (c *client) end() (rest string, err error) {
	c.in.Close()
	b, readErr := io.ReadAll(c.out)
	if readErr != nil {
		c.t.Error(readErr)
	}
	return string(b), <-c.done
}

// log is a log to look at.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// TestResources lists and reads what is offered beside the tools.
func TestResources(t *testing.T) {
	c := sample()
	c.Skills = []catalog.Skill{{Name: "how-to", Description: "Use when <asked>", Tools: []string{c.Tools()[0].Name}, Notes: "- Note"}}
	for _, mode := range surface.Modes() {
		o := options(t, mode, nil)
		s, err := surface.New(mode, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Surface, o.Resources = s, surface.Resources(c, s)
		client := dial(t.Context(), t, o)
		if got := client.initialize("2025-11-25").raw; !strings.Contains(got, "skill://NAME/SKILL.md explain tasks whole: how-to") {
			t.Errorf("%s: instructions %s", mode, got)
		}
		list := client.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`).raw
		if strings.Count(list, "skill://") != 1 || !strings.Contains(list, `"uri":"skill://how-to/SKILL.md"`) || !strings.Contains(list, "text/markdown") {
			t.Errorf("%s: %s", mode, list)
		}
		text := client.ask(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"skill://how-to/SKILL.md"}}`).raw
		if !strings.Contains(text, "## "+c.Tools()[0].Name) || !strings.Contains(text, "- Note") {
			t.Errorf("%s: %s", mode, text)
		}
		if got := client.ask(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"skill://other/SKILL.md"}}`).raw; strings.Contains(got, "- Note") {
			t.Errorf("%s: another resource is %s", mode, got)
		}
		if _, err := client.end(); err != nil {
			t.Error(err)
		}
	}
}

// The SDK's own log of sessions and requests is for those who debug.
func TestQuietLog(t *testing.T) {
	for level, want := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		var b bytes.Buffer
		l := sdkLog(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: level})))
		l.Info("chatter")
		l.Warn("matter")
		l.With("a", 1).Error("a client's fault")
		if strings.Contains(b.String(), "ERROR") || !strings.Contains(b.String(), `level=WARN msg="a client's fault"`) {
			t.Errorf("at %v: %s", level, b.String())
		}
		if got := strings.Contains(b.String(), "chatter"); got != want || !strings.Contains(b.String(), "matter") {
			t.Errorf("at %v: %s", level, b.String())
		}
	}
}

// deaf is a surface whose calls heed no context.
type deaf struct {
	surface.Surface
	release <-chan struct{}
}

func (d deaf) Call(context.Context, call.Caller, string, json.RawMessage) (*mcp.CallToolResult, error) {
	<-d.release
	return &mcp.CallToolResult{}, nil
}
