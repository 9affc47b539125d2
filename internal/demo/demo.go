package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/internal/sample"
	"github.com/metacue/metacue/internal/term"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/serve"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

// Run plays the script in meta mode and then, unseen, in flat mode, and compares
// the two. It prints to w, with colours if asked. The error says which step
// did not do what it should.
func Run(ctx context.Context, w io.Writer, colours term.Colours) error {
	tokens.Load()
	p := printer{w: w, colours: colours}
	meta, err := play(ctx, "meta", &p)
	if err != nil {
		return err
	}
	flat, err := play(ctx, "flat", nil)
	if err != nil {
		return err
	}
	if meta.requests != flat.requests {
		return fmt.Errorf("the two modes made different requests:\n%s\n%s", meta.requests, flat.requests)
	}
	p.compare(meta, flat)
	return p.err
}

// account is what a session came to.
type account struct {
	listed, listTokens int
	calls              int
	written, read      int    // tokens of calls and of answers
	requests           string // what reached the organization
	count              int    // of requests
}

func (a account) total() int { return a.listTokens + a.written + a.read }

// play runs the script in one mode against an organization of its own. p may be
// nil.
func play(ctx context.Context, mode string, p *printer) (a account, err error) {
	stage, err := NewStage(slog.New(slog.DiscardHandler))
	if err != nil {
		return a, err
	}
	defer stage.Close()
	server := stage.Program.Catalog.Server
	face, err := surface.New(mode, stage.Program.Catalog, stage.Program.Call)
	if err != nil {
		return a, err
	}
	session, end, err := connect(ctx, serve.Options{
		Name: server.Name, Title: server.Title, Version: server.Version, Surface: face, Caller: call.Caller{},
	})
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, end()) }()

	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return a, fmt.Errorf("%s: tools/list: %w", mode, err)
	}
	// Counted as it went out: a client that has read the list no longer knows the
	// order of the members in schemas.
	a.listed, a.listTokens = len(list.Tools), tokens.List(face.Tools())
	p.begin(stage, mode, list.Tools, a.listTokens)

	known := memory{}
	for _, s := range script {
		if s.discovery && mode != "meta" {
			continue
		}
		seen := len(stage.Org.Log())
		args, err := encode(s.args(known))
		if err != nil {
			return a, err
		}
		params := &mcp.CallToolParams{Name: s.tool, Arguments: args}
		if mode == "meta" && !s.discovery {
			if args, err = encode(envelope{s.tool, args}); err != nil {
				return a, err
			}
			params = &mcp.CallToolParams{Name: "execute_tool", Arguments: args}
		}
		result, err := session.CallTool(ctx, params)
		if err != nil {
			return a, fmt.Errorf("%s: %s: %w", mode, s.tool, err)
		}
		answer := text(result)
		log := stage.Org.Log()[seen:]
		if err := s.check(answer, result.IsError, len(log)); err != nil {
			return a, fmt.Errorf("%s: %s: %w", mode, s.tool, err)
		}
		if err := s.remember(known, answer); err != nil {
			return a, fmt.Errorf("%s: %s: %w", mode, s.tool, err)
		}
		a.calls++
		written, read := tokens.Count(params.Name)+tokens.Count(string(args)), tokens.Count(answer)
		a.written, a.read = a.written+written, a.read+read
		for _, e := range log {
			a.count++
			a.requests += e.String()
		}
		p.step(s, params.Name, args, answer, result.IsError, written, read, log)
	}
	return a, nil
}

// envelope is the arguments of execute_tool.
type envelope struct {
	Tool      string          `json:"tool_name"`
	Arguments json.RawMessage `json:"arguments"`
}

// encode gives compact JSON in which characters of HTML stay themselves, as
// models write it.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// text gives what the model reads of a result.
func text(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}

// connect serves o over pipes, as over stdio, and gives a client's session. end
// closes it and waits for the server.
func connect(ctx context.Context, o serve.Options) (session *mcp.ClientSession, end func() error, err error) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := serve.Stdio(ctx, fromClient, toClient, o)
		toClient.CloseWithError(io.EOF)
		served <- err
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "metacue-demo", Version: "1"}, nil)
	session, err = client.Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		toServer.Close()
		return nil, nil, errors.Join(err, <-served)
	}
	return session, func() error { return errors.Join(session.Close(), <-served) }, nil
}

// printer shows a session. A nil printer shows nothing.
type printer struct {
	w       io.Writer
	colours term.Colours
	n       int
	err     error // of writing
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) begin(s *Stage, mode string, tools []*mcp.Tool, n int) {
	if p == nil {
		return
	}
	p.printf("The built-in configuration, in %s mode, over a sample organization at\n%s. %d tools in %d domains.\n"+
		"Its default project is Contoso, which the schemas show (-t project=Contoso).\n\n",
		mode, s.URL, len(s.Program.Catalog.Tools()), len(s.Program.Catalog.Domains))
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	p.title("tools/list", "", 0, n)
	p.printf("    %s\n\n", strings.Join(names, ", "))
}

func (p *printer) title(name, why string, written, read int) {
	p.n++
	if why != "" {
		p.printf("    %s\n", p.colours.Paint(term.Dim, why))
	}
	count := fmt.Sprintf("%d tokens", read)
	if written > 0 {
		count = fmt.Sprintf("%d tokens written, %d read", written, read)
	}
	p.printf("%s  %s\n", p.colours.Paint(term.Bold, fmt.Sprintf("%2d  %-20s", p.n, name)), p.colours.Paint(term.Dim, count))
}

// width is how much of a line is shown; the rest of it is counted, not shown.
const width = 140

func (p *printer) step(s step, name string, args json.RawMessage, answer string, isError bool, written, read int, log []sample.Entry) {
	if p == nil {
		return
	}
	p.title(name, s.why, written, read)
	p.printf("    %s\n", cut(string(args)))
	for _, e := range log {
		request := e.Method + " " + e.RawPath
		if e.RawQuery != "" {
			request += "?" + e.RawQuery
		}
		p.printf("    %s %s  %d\n", p.colours.Paint(term.Green, "HTTP"), cut(request), e.Status)
		if e.Body != "" {
			p.printf("         %s\n", cut(e.Body))
		}
	}
	mark := "<-"
	if isError {
		mark = p.colours.Paint(term.Red, "<- isError")
	}
	p.printf("    %s %s\n\n", mark, p.colours.Paint(term.Dim, cut(answer)))
}

func cut(s string) string {
	r := []rune(strings.ReplaceAll(s, "\n", " "))
	if len(r) <= width {
		return string(r)
	}
	return string(r[:width]) + "…"
}

// compare prints what the session cost in both modes.
func (p *printer) compare(meta, flat account) {
	p.printf("%s\n\n", p.colours.Paint(term.Bold, "The same session in both modes: the same requests, to the byte."))
	p.printf("                               meta     flat\n")
	for _, r := range []struct {
		what       string
		meta, flat int
	}{
		{"tools listed", meta.listed, flat.listed},
		{"tokens of tools/list", meta.listTokens, flat.listTokens},
		{"tokens of calls", meta.written, flat.written},
		{"tokens of answers", meta.read, flat.read},
		{"tokens in all", meta.total(), flat.total()},
		{"calls", meta.calls, flat.calls},
		{"HTTP requests", meta.count, flat.count},
	} {
		p.printf("  %-24s %8d %8d\n", r.what, r.meta, r.flat)
	}
	p.printf("\nA list is read with every prompt. In meta mode it stays as it is, however many tools\n"+
		"there are; in flat mode each adds its schema, here %d tokens on average.\n", flat.listTokens/flat.listed)
}
