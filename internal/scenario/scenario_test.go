package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fake": func() { os.Exit(fake()) }})
}

// TestScript runs the harness over a small server of its own, in every cell.
func TestScript(t *testing.T) {
	t.Setenv("SCENARIO_TEST", "handed through")
	Run(t, Params{Dir: "testdata/script", Program: "fake", PassEnv: []string{"SCENARIO_TEST", "SCENARIO_UNSET"}})
}

// TestFailures runs scripts that must fail, each for the reason that its
// want.txt gives: a check that cannot fail would prove nothing.
func TestFailures(t *testing.T) {
	files, err := filepath.Glob("testdata/fail/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	p := Params{Program: "fake"}
	for _, file := range files {
		s, err := readScript(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(s.name, func(t *testing.T) {
			log := &failing{}
			params := p.testscript(s.cells[0], []script{s})
			params.UpdateScripts = false
			params.WorkdirRoot = t.TempDir()
			testscript.RunT(log, params)
			if !log.failed {
				t.Errorf("did not fail:\n%s", log.text.String())
			}
			want, err := os.ReadFile(filepath.Join(params.WorkdirRoot, "script-"+s.name, "want.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.text.String(), strings.TrimSpace(string(want))) {
				t.Errorf("failed, but without %q:\n%s", want, log.text.String())
			}
		})
	}
}

// failing is a testing.T that a failure does not end.
type failing struct {
	failed bool
	text   bytes.Buffer
}

var errFailed = errors.New("failed")

func (f *failing) Skip(args ...any)  { f.Log(args...); panic(errFailed) }
func (f *failing) Fatal(args ...any) { f.Log(args...); f.FailNow() }
func (f *failing) FailNow()          { f.failed = true; panic(errFailed) }
func (f *failing) Log(args ...any)   { fmt.Fprintln(&f.text, args...) }
func (f *failing) Parallel()         {}
func (f *failing) Verbose() bool     { return false }
func (f *failing) Run(_ string, run func(testscript.T)) {
	defer func() {
		if r := recover(); r != nil && r != errFailed {
			panic(r)
		}
	}()
	run(f)
}

func TestHeader(t *testing.T) {
	for _, tc := range []struct{ header, want string }{
		{"", "[once]"},
		{"# modes: flat meta\n", "[flat-stdio flat-http meta-stdio meta-http]"},
		{"# modes: meta\n# transports: http\n", "[meta-http]"},
		{"# modes: sharp\n", "error"},
		{"# modes: flat\n# transports: pigeon\n", "error"},
	} {
		file := filepath.Join(t.TempDir(), "x.txtar")
		if err := os.WriteFile(file, []byte(tc.header+"env A=1 'B=2 C'\n[flat] env D=$A\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := readScript(file)
		got := fmt.Sprint(s.cells)
		if err != nil {
			got = "error"
		}
		if got != tc.want {
			t.Errorf("%q gives %s, want %s", tc.header, got, tc.want)
		}
		if err == nil && fmt.Sprint(s.names) != "[A B D]" {
			t.Errorf("%q: names are %v", tc.header, s.names)
		}
	}
}

// fake is an MCP server with a metacue-like command line.
func fake() int {
	if err := runFake(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		return 1
	}
	return 0
}

func runFake(args []string) error {
	if len(args) == 0 || args[0] != "serve" {
		return errors.New("usage: fake serve")
	}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	mode := flags.String("mode", "flat", "")
	addr := flags.String("http", "", "")
	ready := flags.String("ready-file", "", "")
	noise := flags.Bool("noise", false, "")
	status := flags.Int("status", 0, "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.Arg(0) == "refuse" {
		return errors.New("refused")
	}
	if *noise {
		fmt.Println("noise")
	}
	fmt.Fprintf(os.Stderr, "fake: serving %s\n", *mode)
	server := fakeServer(*mode)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *addr == "" {
		if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	} else {
		l, err := net.Listen("tcp", *addr)
		if err != nil {
			return err
		}
		url := "http://" + l.Addr().String() + "/mcp"
		if err := os.WriteFile(*ready+".new", []byte(url+"\n"), 0o666); err != nil {
			return err
		}
		if err := os.Rename(*ready+".new", *ready); err != nil {
			return err
		}
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: os.Getenv("FAKE_JSON") != ""})
		go http.Serve(l, handler)
		<-ctx.Done()
	}
	os.Exit(*status)
	return nil
}

// fakeServer has two tools: echo gives its arguments back, fetch asks the
// upstream. In meta mode both stand behind execute_tool.
func fakeServer(mode string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, &mcp.ServerOptions{Instructions: "Fake."})
	add := func(name, schema string, handler mcp.ToolHandler) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, handler)
	}
	if mode == "flat" {
		for name, tool := range fakeTools {
			add(name, `{"type":"object","properties":{"zeta":{},"alpha":{}}}`,
				func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return tool(req.Params.Arguments)
				})
		}
		return server
	}
	add("execute_tool", `{"type":"object"}`, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var call struct {
			ToolName  string          `json:"tool_name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(req.Params.Arguments, &call); err != nil {
			return nil, err
		}
		return fakeTools[call.ToolName](call.Arguments)
	})
	return server
}

var fakeTools = map[string]func(args json.RawMessage) (*mcp.CallToolResult, error){
	"echo": func(args json.RawMessage) (*mcp.CallToolResult, error) {
		if string(args) == "{}" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "nothing to echo"}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: string(args)},
			&mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"},
		}}, nil
	},
	"fetch": func(args json.RawMessage) (*mcp.CallToolResult, error) {
		var in struct{ Method, Path, Body string }
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		req, err := http.NewRequest(in.Method, os.Getenv("UPSTREAM_URL")+in.Path, strings.NewReader(in.Body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+os.Getenv("FAKE_TOKEN"))
		req.Header.Set("X-Api-Key", os.Getenv("FAKE_TOKEN"))
		req.Header.Set("X-Trace", "1")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%d %s", resp.StatusCode, body)}},
			IsError: resp.StatusCode >= 400,
		}, nil
	},
}
