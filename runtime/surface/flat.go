package surface

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/search"
)

// flat lists every tool under its own name.
type flat struct {
	catalog *catalog.Catalog
	index   *search.Index
	do      call.Func
	tools   []*mcp.Tool
}

func newFlat(c *catalog.Catalog, do call.Func) Surface {
	f := &flat{catalog: c, index: search.New(c), do: do, tools: []*mcp.Tool{}}
	for _, t := range c.Tools() {
		f.tools = append(f.tools, listed(t))
	}
	sortTools(f.tools)
	return f
}

func (f *flat) Tools() []*mcp.Tool   { return f.tools }
func (f *flat) Instructions() string { return instructions(f.catalog, "") }

func (f *flat) Declared(tool, argument string) []string { return declared(f.catalog, tool, argument) }

func (f *flat) Call(ctx context.Context, caller call.Caller, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	t, ok := f.catalog.Tool(name)
	if !ok {
		return nil, unknownTool(f.index, f.catalog, name)
	}
	return result(f.do(ctx, caller, t.Name, args)), nil
}
