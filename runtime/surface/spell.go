package surface

import (
	"encoding/json"

	"github.com/metacue/metacue/runtime/catalog"
)

// Spell says that a tool is called by its name.
func (f *flat) Spell(t *catalog.Tool, args json.RawMessage) (string, json.RawMessage) {
	return t.Name, args
}

// Spell says that a tool is named in the arguments of execute_tool, or of the tool
// for its effect. One that is pinned is called by its name.
func (m *meta) Spell(t *catalog.Tool, args json.RawMessage) (string, json.RawMessage) {
	if m.isPlain(t) {
		return t.Name, args
	}
	return m.by(t), compact(struct {
		ToolName  string          `json:"tool_name"`
		Arguments json.RawMessage `json:"arguments"`
	}{t.Name, args})
}

// Spell says that a tool is an action of its noun, or of its domain in more.
func (n *nouns) Spell(t *catalog.Tool, args json.RawMessage) (string, json.RawMessage) {
	if n.isPlain(t) {
		return t.Name, args
	}
	action := property(actionArgument, t.Name)
	if by := n.by(t); by != moreTool {
		return by, writeObject(append([]member{action}, read(args)...))
	}
	return moreTool, writeObject([]member{property("domain", t.Domain), action, {"arguments", args}})
}

// Spell says that a tool is an operation of its domain.
func (m *model) Spell(t *catalog.Tool, args json.RawMessage) (string, json.RawMessage) {
	if m.isPlain(t) {
		return t.Name, args
	}
	return m.by(t), writeObject([]member{property("domain", t.Domain), property("operation", t.Name), {"params", args}})
}
