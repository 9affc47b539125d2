// Package serve offers a surface to MCP clients, over stdio and over streamable
// HTTP. It knows JSON-RPC, sessions and listeners; what is listed and what a call
// does is the surface's.
//
// One generation of what is offered is one mcp.Server: tools are added to a
// server one at a time, and a client must not see half a list.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/surface"
)

// Options is what is offered, and to whom.
type Options struct {
	// Name, Title and Version say who the server is (MCP, Implementation).
	Name, Title, Version string
	// Surface is what clients see. Its catalog is within Caller.Bounds.
	Surface surface.Surface
	// Resources are what clients can read.
	Resources []surface.Resource
	// Caller is who asks. Over HTTP each call gets the headers of its request
	// besides, without those that carry a credential for this server.
	Caller call.Caller
	// Log gets what people should know; nil means nobody does. It must not
	// write to the output of Stdio.
	Log *slog.Logger
}

// Of gives the options that follow from a catalog and the surface over it.
func Of(c *catalog.Catalog, s surface.Surface) Options {
	return Options{
		Name:      c.Server.Name,
		Title:     c.Server.Title,
		Version:   c.Server.Version,
		Surface:   s,
		Resources: surface.Resources(c, s),
	}
}

const (
	// maxMessageBytes is the largest JSON-RPC message taken from a client.
	maxMessageBytes = 4 << 20
	// listTTL is how long a client may go on using a list without asking again.
	listTTL = 5 * time.Minute
	// grace is how long calls have to end once they have been cancelled.
	grace = 3 * time.Second
)

// errStopping is why calls are cancelled when the server ends.
var errStopping = errors.New("the server is stopping")

// withheld are the headers of a request that no call gets: they speak to this
// server, and MCP forbids passing a token on (MCP, Authorization, Token Passthrough).
var withheld = []string{"Authorization", "Proxy-Authorization", "Cookie"}

// newServer makes one generation. Calls end when stop does.
func newServer(o Options, stop context.Context) *mcp.Server {
	tools := o.Surface.Tools()
	s := mcp.NewServer(&mcp.Implementation{Name: o.Name, Title: o.Title, Version: o.Version}, &mcp.ServerOptions{
		Instructions: o.Surface.Instructions(),
		Logger:       sdkLog(o.Log),
		// One page: hosts ignore nextCursor.
		PageSize: max(len(tools), len(o.Resources)) + 1,
		// Prompts are declared though there are none, and resources too where there
		// are none: clients ask for their lists whatever is declared, and an empty list is
		// the answer they take.
		Capabilities: &mcp.ServerCapabilities{
			Tools:     &mcp.ToolCapabilities{},
			Prompts:   &mcp.PromptCapabilities{},
			Resources: &mcp.ResourceCapabilities{},
		},
		// Private: what is listed depends on who asks.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = int(listTTL.Milliseconds()), "private"
		},
	})
	handler := o.handler(stop)
	listed := map[string]bool{}
	for _, t := range tools {
		s.AddTool(t, handler)
		listed[t.Name] = true
	}
	for _, r := range o.Resources {
		s.AddResource(r.Listed, read(r.Text))
	}
	if len(tools) > 0 {
		s.AddReceivingMiddleware(admit(listed, tools[0].Name))
	}
	return s
}

// read answers resources/read.
func read(text string) mcp.ResourceHandler {
	return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/markdown", Text: text}}}, nil
	}
}

// calledKey is the context key of the name that the client called.
type calledKey struct{}

// admit brings calls of names that are not listed to the handler, which leaves to
// the surface what they mean. The SDK has a handler for listed names only, and
// only what comes from a handler gets the resultType that 2026-07-28 demands;
// so the call goes on under the name of a listed tool.
func admit(listed map[string]bool, any string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if r, ok := req.(*mcp.CallToolRequest); ok && !listed[r.Params.Name] {
				ctx = context.WithValue(ctx, calledKey{}, r.Params.Name)
				p := *r.Params
				p.Name = any
				req = &mcp.CallToolRequest{Session: r.Session, Params: &p, Extra: r.Extra}
			}
			return next(ctx, method, req)
		}
	}
}

// handler runs every call of every tool.
func (o Options) handler(stop context.Context) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		growStack(0)
		name, ok := ctx.Value(calledKey{}).(string)
		if !ok {
			name = req.Params.Name
		}
		defer func() {
			if fault := recover(); fault != nil {
				// What it says may hold a secret: it is for the operator alone.
				o.log().Error("a call panicked", "tool", name, "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
				res, err = &mcp.CallToolResult{
					Content: []mcp.Content{&mcp.TextContent{Text: "internal error: the call was not completed; the server's log says why"}},
					IsError: true,
				}, nil
			}
		}()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(stop, func() { cancel(errStopping) })()
		caller := o.Caller
		if req.Extra != nil {
			caller.Header = public(req.Extra.Header)
		}
		return o.Surface.Call(ctx, caller, name, req.Params.Arguments)
	}
}

// growStack makes room on the stack for a whole call. Each call has a goroutine of
// its own, whose small stack would be moved, at every doubling, together with all
// that is on it by then; this moves it once, early. A call takes a twentieth less.
//
//go:noinline
func growStack(i int) byte {
	var room [8 << 10]byte
	return room[i]
}

// public gives the headers of a request that a call may see; h stays as it is.
func public(h http.Header) http.Header {
	for _, name := range withheld {
		if h[name] != nil {
			h = maps.Clone(h)
			delete(h, name)
		}
	}
	return h
}

func (o Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// sdkLog is a log for the SDK, which tells of every session and request at the
// level of what people should know: that is for those who debug. What it calls an error
// is a client that does not keep to the protocol, or is gone: a warning at most.
func sdkLog(log *slog.Logger) *slog.Logger {
	if log == nil {
		return nil
	}
	return slog.New(quiet{log.Handler()})
}

type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	if level < slog.LevelWarn && !q.Handler.Enabled(ctx, slog.LevelDebug) {
		return false
	}
	return q.Handler.Enabled(ctx, min(level, slog.LevelWarn))
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = min(r.Level, slog.LevelWarn)
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }
func (q quiet) WithGroup(name string) slog.Handler       { return quiet{q.Handler.WithGroup(name)} }
