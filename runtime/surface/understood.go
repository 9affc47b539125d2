package surface

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
)

// understanding is a surface that understands the tools of meta and model too, which
// it does not list: skills, prompts and habits outlive the mode they were written for.
// What a name means to the surface itself goes before.
type understanding struct {
	Surface
	catalog *catalog.Catalog
	listed  map[string]bool
	// unlisted gives the modes of the tools that are understood besides, by their names.
	unlisted func() map[string]foreign
}

// foreign is a mode that lists a tool.
type foreign struct {
	mode string
	front
}

// withUnlisted makes a surface understand the tools of other modes. One that refuses
// names which are not listed runs nothing by theirs either.
func withUnlisted(c *catalog.Catalog, s Surface, do call.Func) Surface {
	u := &understanding{Surface: s, catalog: c, listed: map[string]bool{}}
	for _, t := range s.Tools() {
		u.listed[t.Name] = true
	}
	if m, ok := s.(*meta); ok && m.strict {
		do = m.refusing(do)
	}
	u.unlisted = sync.OnceValue(func() map[string]foreign { return unlisted(c, do) })
	return u
}

// unlisted gives the tools of meta and model. Requests that no tool makes are not among
// them: they are offered where they are listed.
func unlisted(c *catalog.Catalog, do call.Func) map[string]foreign {
	m, by := newMeta(c, do).(*meta), map[string]foreign{}
	m.own[searchTools] = m.searchTool()
	for _, own := range m.apiRequests() {
		delete(m.own, own.listed.Name)
	}
	for mode, f := range map[string]front{"meta": m.front, "model": newModel(c, do).(*model).front} {
		for name := range f.own {
			by[name] = foreign{mode, f}
		}
	}
	return by
}

// refusing runs no tool of the catalog, and says by what it is run.
func (m *meta) refusing(do call.Func) call.Func {
	return func(ctx context.Context, caller call.Caller, name string, args json.RawMessage) call.Result {
		if t, ok := m.catalog.Tool(name); ok && !m.isPlain(t) {
			return elsewhere(name, name+" is not run so here", m.by(t))
		}
		return do(ctx, caller, name, args)
	}
}

func (u *understanding) Call(ctx context.Context, caller call.Caller, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	if _, ok := u.catalog.Tool(name); !ok && !u.listed[name] {
		if f, ok := u.unlisted()[name]; ok {
			e := open(f.own[name].listed, args)
			r := f.own[name].run(ctx, caller, e)
			told := fmt.Sprintf("%s is not listed here and was understood as in %s mode", name, f.mode)
			return result(r, append([]string{told}, e.repairs...)...), nil
		}
	}
	return u.Surface.Call(ctx, caller, name, args)
}
