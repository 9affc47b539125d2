package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// session is one MCP client and, when the script started it, the server's
// process.
type session struct {
	client *mcp.ClientSession
	tap    *tap
	server *process        // nil when the server was there already
	tools  json.RawMessage // of the last tools/list that the server answered
}

// kill ends a session that the script left open.
func (s *session) kill() {
	if s.server != nil {
		s.server.kill()
	}
	if s.client != nil {
		s.client.Close()
	}
}

// mcpCommand is one mcp line: the run it belongs to, its flags and the rest.
type mcpCommand struct {
	ts   *testscript.TestScript
	st   *state
	neg  bool
	name string // of the session
	rev  string // protocol revision to ask for; empty means the client's newest
	args []string
}

var mcpVerbs = map[string]func(mcpCommand){
	"start":        mcpCommand.start,
	"stdio":        mcpCommand.stdio,
	"http":         mcpCommand.http,
	"list":         mcpCommand.list,
	"call":         mcpCommand.call,
	"tool":         mcpCommand.tool,
	"result":       mcpCommand.result,
	"instructions": mcpCommand.instructions,
	"close":        mcpCommand.close,
}

func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	c := mcpCommand{ts: ts, st: stateOf(ts), neg: neg}
	flags := map[string]*string{"-s": &c.name, "-rev": &c.rev}
	for len(args) >= 2 && flags[args[0]] != nil {
		*flags[args[0]] = args[1]
		args = args[2:]
	}
	if len(args) == 0 || mcpVerbs[args[0]] == nil {
		ts.Fatalf("usage: mcp [-s NAME] [-rev REVISION] start|stdio|http|list|call|tool|result|instructions|close …")
	}
	c.args = args[1:]
	mcpVerbs[args[0]](c)
}

// start serves in the mode and over the transport of this run.
func (c mcpCommand) start() {
	if c.st.cell.mode == "" {
		c.ts.Fatalf("mcp start: the scenario names no modes")
	}
	command := []string{c.st.program, "serve", "--mode", c.st.cell.mode}
	if c.st.cell.transport == "stdio" {
		c.args = append(command, c.args...)
		c.stdio()
		return
	}
	dir, err := os.MkdirTemp(c.ts.Getenv("WORK"), ".serve")
	c.ts.Check(err)
	ready := filepath.Join(dir, "ready")
	command = append(command, "--http", "127.0.0.1:0", "--ready-file", ready)
	p := c.run(append(command, c.args...), nil, nil)
	url, err := waitFile(ready, whole, p.exited)
	if err != nil {
		c.refused(p, err)
		return
	}
	c.connect(&session{tap: &tap{}, server: p}, httpTransport(url))
}

// stdio starts a command and speaks with it over its input and output.
func (c mcpCommand) stdio() {
	if len(c.args) == 0 {
		c.ts.Fatalf("usage: mcp stdio CMD ARG...")
	}
	out := newQueue()
	in, stdin, err := os.Pipe()
	c.ts.Check(err)
	p := c.run(c.args, in, out)
	in.Close() // the child has its own
	p.stdin = stdin
	go func() {
		<-p.exited
		out.Close()
	}()
	c.connect(&session{tap: p.stdout, server: p}, func(*tap) mcp.Transport {
		return &mcp.IOTransport{Reader: out, Writer: stdin}
	})
}

// http connects to a server that runs.
func (c mcpCommand) http() {
	if len(c.args) != 1 {
		c.ts.Fatalf("usage: mcp http URL")
	}
	c.connect(&session{tap: &tap{}}, httpTransport(c.args[0]))
}

func httpTransport(url string) func(*tap) mcp.Transport {
	return func(t *tap) mcp.Transport {
		return &mcp.StreamableClientTransport{
			Endpoint:   url,
			HTTPClient: &http.Client{Transport: t.roundTripper(http.DefaultTransport)},
			MaxRetries: -1,
		}
	}
}

func (c mcpCommand) run(command []string, stdin *os.File, stdout io.Writer) *process {
	p, err := startProcess(command, c.ts.MkAbs("."), c.st.environ(c.ts), stdin, stdout)
	if err != nil {
		c.ts.Fatalf("mcp: %v", err)
	}
	return p
}

// connect begins the session over a transport.
func (c mcpCommand) connect(s *session, transport func(*tap) mcp.Transport) {
	if c.st.sessions[c.name] != nil {
		s.kill()
		c.ts.Fatalf("mcp: there is a session %q already", c.name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, nil)
	conn, err := client.Connect(ctx, transport(s.tap), &mcp.ClientSessionOptions{ProtocolVersion: c.rev})
	if err != nil {
		c.refused(s.server, err)
		return
	}
	s.client = conn
	c.st.sessions[c.name] = s
	if got := conn.InitializeResult().ProtocolVersion; c.rev != "" && got != c.rev {
		c.ts.Fatalf("mcp: asked for revision %s, got %s", c.rev, got)
	}
	if c.neg {
		c.ts.Fatalf("mcp: connected, and should not have been")
	}
}

// refused tells of a server that did not come up, which is right when the line
// is negated; stderr is what the server said.
func (c mcpCommand) refused(p *process, err error) {
	if p != nil {
		p.kill()
		io.WriteString(c.ts.Stderr(), p.stderr.String())
	}
	if !c.neg {
		c.ts.Fatalf("mcp: %v", err)
	}
	c.ts.Logf("mcp: %v", err)
}

// session finds the session that the line names.
func (c mcpCommand) session() *session {
	s := c.st.sessions[c.name]
	if s == nil {
		c.ts.Fatalf("mcp: no session %q", c.name)
	}
	return s
}

func (c mcpCommand) list() {
	unsupportedNeg(c.ts, c.neg, "mcp list")
	c.ts.Check(writeIndented(c.ts.Stdout(), c.listed()))
}

// listed asks for the list of tools.
func (c mcpCommand) listed() json.RawMessage {
	s := c.session()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.tap.reset()
	list, err := s.client.ListTools(ctx, nil)
	c.ts.Check(err)
	if list.NextCursor != "" {
		c.ts.Fatalf("mcp list: the list has a second page, which hosts ignore")
	}
	// A list that the server lets clients keep may come from the client's cache.
	if last := s.tap.last(); last != nil {
		var result struct {
			Tools json.RawMessage `json:"tools"`
		}
		c.ts.Check(json.Unmarshal(last, &result))
		s.tools = result.Tools
	}
	return s.tools
}

// call calls a tool by the name that stands on the line.
func (c mcpCommand) call() {
	name, args := c.callArgs("call")
	c.callTool(name, args)
}

// listedTool is as much of a tool in the list as a client needs to find the way to
// another one through it.
type listedTool struct {
	Name        string `json:"name"`
	InputSchema struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	} `json:"inputSchema"`
}

// routes says how a mode's client reaches a tool of the configuration, with the
// list before its eyes.
var routes = map[string]func(list []listedTool, name string, args json.RawMessage) (string, any){
	"flat": func(_ []listedTool, name string, args json.RawMessage) (string, any) { return name, args },
	"meta": func(_ []listedTool, name string, args json.RawMessage) (string, any) {
		return "execute_tool", struct {
			ToolName  string          `json:"tool_name"`
			Arguments json.RawMessage `json:"arguments"`
		}{name, args}
	},
	"nouns": func(list []listedTool, name string, args json.RawMessage) (string, any) {
		var members map[string]json.RawMessage
		if json.Unmarshal(args, &members) == nil && members != nil {
			for _, t := range list {
				if slices.Contains(t.InputSchema.Properties["action"].Enum, name) {
					members["action"], _ = json.Marshal(name)
					return t.Name, members
				}
			}
		}
		return name, args // an alias, or what only the server can read
	},
	"model": func(list []listedTool, name string, args json.RawMessage) (string, any) {
		for _, t := range list {
			if _, ok := t.InputSchema.Properties["operation"]; ok {
				return t.Name, struct {
					Operation string          `json:"operation"`
					Params    json.RawMessage `json:"params"`
				}{name, args}
			}
		}
		return name, args
	},
}

// tool calls a tool of the configuration in the way of this run's mode.
func (c mcpCommand) tool() {
	route := routes[c.st.cell.mode]
	if route == nil {
		c.ts.Fatalf("mcp tool: the scenario names no modes")
	}
	s := c.session()
	if s.tools == nil && c.st.cell.mode != modes[0] {
		c.listed()
	}
	var list []listedTool
	if s.tools != nil {
		c.ts.Check(json.Unmarshal(s.tools, &list))
	}
	name, args := c.callArgs("tool")
	c.callTool(route(list, name, args))
}

func (c mcpCommand) callArgs(verb string) (name string, args json.RawMessage) {
	switch len(c.args) {
	case 1:
		return c.args[0], json.RawMessage("{}")
	case 2:
		text := c.args[1]
		if file, ok := strings.CutPrefix(text, "@"); ok {
			text = c.ts.ReadFile(file)
		}
		if !json.Valid([]byte(text)) {
			c.ts.Fatalf("mcp %s: the arguments are no JSON: %s", verb, text)
		}
		return c.args[0], json.RawMessage(text)
	}
	c.ts.Fatalf("usage: mcp %s NAME [JSON|@FILE]", verb)
	return "", nil
}

func (c mcpCommand) callTool(name string, args any) {
	s := c.session()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.tap.reset()
	out := c.ts.Stdout()
	result, err := s.client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	var fault *jsonrpc.Error
	switch {
	case errors.As(err, &fault):
		fmt.Fprintf(out, "%d: %s\n", fault.Code, fault.Message)
	case err != nil:
		c.ts.Fatalf("mcp call: %v", err)
	default:
		c.ts.Check(writeContent(out, result.Content))
	}
	if failed := err != nil || result.IsError; failed != c.neg {
		c.ts.Fatalf("mcp call: failed is %v, should be %v", failed, c.neg)
	}
}

// writeContent prints text as it is and any other block as JSON, each ending
// its line.
func writeContent(w io.Writer, content []mcp.Content) error {
	for _, block := range content {
		text, ok := block.(*mcp.TextContent)
		if ok {
			fmt.Fprintln(w, strings.TrimSuffix(text.Text, "\n"))
			continue
		}
		data, err := json.Marshal(block)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n", data)
	}
	return nil
}

func (c mcpCommand) result() {
	unsupportedNeg(c.ts, c.neg, "mcp result")
	last := c.session().tap.last()
	if last == nil {
		c.ts.Fatalf("mcp result: there is none")
	}
	c.ts.Check(writeIndented(c.ts.Stdout(), last))
}

func (c mcpCommand) instructions() {
	unsupportedNeg(c.ts, c.neg, "mcp instructions")
	fmt.Fprintln(c.ts.Stdout(), c.session().client.InitializeResult().Instructions)
}

// close ends the client and then, as hosts do, the server: by the end of its
// input or by an interrupt.
func (c mcpCommand) close() {
	unsupportedNeg(c.ts, c.neg, "mcp close")
	s := c.session()
	delete(c.st.sessions, c.name)
	if s.server == nil {
		c.ts.Check(s.client.Close())
		return
	}
	s.client.Close()
	err := s.server.stop()
	io.WriteString(c.ts.Stderr(), s.server.stderr.String())
	if err != nil {
		c.ts.Fatalf("mcp close: the server: %v", err)
	}
	if stray := s.server.stdout.strays(); stray != "" {
		c.ts.Fatalf("mcp close: the server wrote to standard output, and no JSON-RPC: %q", stray)
	}
}
