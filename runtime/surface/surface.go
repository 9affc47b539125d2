// Package surface projects a catalog onto MCP tools: it says what tools/list
// shows and routes what tools/call asks. A surface undoes its own envelope and
// nothing else: it checks no tool's arguments, sends no request and holds no
// policy. Its catalog is already cut to the caller's bounds, so that whatever it
// answers with names only what may be reached.
//
// A surface is one file and one row of the table modes.
package surface

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/clip"
	"github.com/metacue/metacue/runtime/nearest"
	"github.com/metacue/metacue/runtime/search"
)

// RepairsKey is the member of a result's _meta that says, in sentences, what of
// a call was put right before it was made.
const RepairsKey = "metacue/repairs"

// Surface is what an MCP client sees. It never changes and is safe for
// concurrent use.
type Surface interface {
	// Tools is the answer to tools/list: sorted by name, and the same bytes for
	// the same catalog. Treat it as immutable.
	Tools() []*mcp.Tool
	// Instructions is for the model, when a session begins. It may be empty.
	Instructions() string
	// Spell says how a call of a tool is written here: the name that is called and
	// the arguments that it takes. args is a JSON object.
	Spell(t *catalog.Tool, args json.RawMessage) (name string, arguments json.RawMessage)
	// Declared gives the path of the field in the configuration that a listed tool
	// comes from, or an argument of it where one is named; nil for what the surface lists
	// of its own.
	Declared(tool, argument string) []string
	// Call answers tools/call. name need not be one of Tools: aliases are not
	// listed, and all but flat list few of the catalog's tools. args is what the client
	// sent, nil included. Whatever goes wrong with a call is told in the result;
	// an error is a *jsonrpc.Error, for a name that means nothing here.
	Call(ctx context.Context, caller call.Caller, name string, args json.RawMessage) (*mcp.CallToolResult, error)
}

// modes holds the surfaces, the default first.
var modes = []struct {
	name  string
	new   func(*catalog.Catalog, call.Func) Surface
	check func(*catalog.Catalog) []Fault // what stands in the way of it
}{
	{"flat", newFlat, func(*catalog.Catalog) []Fault { return nil }},
	{"meta", newMeta, checkMeta},
	{"nouns", newNouns, checkNouns},
	{"model", newModel, checkModel},
}

// Modes lists the names that New takes, the default first.
func Modes() []string {
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
	}
	return names
}

// New makes the surface of a mode over a catalog that is already within the
// bounds of its callers (catalog.Catalog.Within). Tools are run by do.
func New(mode string, c *catalog.Catalog, do call.Func) (Surface, error) {
	faults, err := Check(mode, c)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		texts := make([]string, len(faults))
		for i, f := range faults {
			texts[i] = strings.Join(f.Path, ".") + ": " + f.Message
		}
		return nil, errors.New(strings.Join(texts, "\n"))
	}
	i := slices.Index(Modes(), mode)
	return withSkills(c, withUnlisted(c, modes[i].new(c, do), do)), nil
}

// Fault is something of a configuration that a surface cannot show.
type Fault struct {
	Path    []string // of the field in the configuration
	Message string
}

// Check finds what stands in the way of serving a catalog in a mode: names that
// the surface needs for itself, so that a tool which has one could never be
// called.
func Check(mode string, c *catalog.Catalog) ([]Fault, error) {
	i := slices.Index(Modes(), mode)
	if i < 0 {
		return nil, fmt.Errorf("unknown mode %q: one of %s", mode, strings.Join(Modes(), ", "))
	}
	return modes[i].check(c), nil
}

// reserved finds tools that answer to names which a mode needs for itself.
func reserved(mode string, c *catalog.Catalog, names ...string) []Fault {
	var faults []Fault
	for _, name := range names {
		if t, ok := c.Tool(name); ok {
			faults = append(faults, Fault{toolPath(t), fmt.Sprintf(
				"%s mode needs the name %s for itself, and the tool %s of the domain %s answers to it: rename it, or leave it out", mode, name, t.Name, t.Domain)})
		}
	}
	return faults
}

// toolPath is where the configuration declares a tool, or a field of it.
func toolPath(t *catalog.Tool, field ...string) []string {
	return append([]string{"domains", t.Domain, "tools", t.Name}, field...)
}

// declared gives the path of a tool of the catalog, or of an argument of it.
func declared(c *catalog.Catalog, tool, argument string) []string {
	t, ok := c.Tool(tool)
	switch {
	case !ok:
		return nil
	case argument == "":
		return toolPath(t)
	}
	return toolPath(t, "input", argument)
}

// sortTools puts tools into the order of tools/list.
func sortTools(tools []*mcp.Tool) []*mcp.Tool {
	slices.SortFunc(tools, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

// listed is a tool of the catalog as it is listed by its own name.
func listed(t *catalog.Tool) *mcp.Tool {
	tool := &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Description,
		Annotations: annotations(t.Annotations),
		InputSchema: t.InputSchema,
	}
	if t.OutputSchema != nil {
		tool.OutputSchema = t.OutputSchema
	}
	return tool
}

// instructions are those of the configuration and what a surface adds.
func instructions(c *catalog.Catalog, own string) string {
	all := []string{c.Server.Instructions, own}
	if slices.ContainsFunc(c.Tools(), takesIdentifiers) {
		all = append(all, "Pass identifiers together where a tool takes a list of them, never one by one.")
	}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "\n")
}

// identifiers is the name of an argument that takes several, such as ids,
// user_ids and workItemIds.
var identifiers = regexp.MustCompile(`(^|_)ids$|[a-z0-9]I[dD]s$`)

// takesIdentifiers says whether a tool takes a list of identifiers.
func takesIdentifiers(t *catalog.Tool) bool {
	var input struct {
		Properties map[string]struct{ Type any }
	}
	if json.Unmarshal(t.InputSchema, &input) != nil {
		return false
	}
	for name, p := range input.Properties {
		if p.Type == "array" && identifiers.MatchString(name) {
			return true
		}
	}
	return false
}

// annotations gives the hints of a tool, each said outright: the protocol's
// defaults are the pessimistic ones.
func annotations(a catalog.Annotations) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    a.ReadOnly,
		DestructiveHint: &a.Destructive,
		IdempotentHint:  a.Idempotent,
		OpenWorldHint:   &a.OpenWorld,
	}
}

// result turns what came of a call into its MCP form. repairs are what was put
// right before the call, and come before those of the call itself.
func result(r call.Result, repairs ...string) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: r.IsError}
	for i, c := range r.Content {
		out.Content = append(out.Content, content(i, c))
	}
	if r.Structured != nil {
		out.StructuredContent = r.Structured
	}
	if repairs = append(repairs, r.Repairs...); len(repairs) > 0 {
		out.Meta = mcp.Meta{RepairsKey: repairs}
	}
	return out
}

// content turns block i of a result into its MCP form.
func content(i int, c call.Content) mcp.Content {
	switch {
	case c.Data == nil:
		return &mcp.TextContent{Text: c.Text}
	case strings.HasPrefix(c.MIMEType, "image/"):
		return &mcp.ImageContent{Data: c.Data, MIMEType: c.MIMEType}
	default:
		// A resource must have a URI (MCP, EmbeddedResource). This one cannot be
		// read again; it only tells the blocks of a result apart.
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI:      fmt.Sprintf("metacue:content/%d", i),
			MIMEType: c.MIMEType,
			Blob:     c.Data,
		}}
	}
}

// unknownTool is the protocol's error for a name that means nothing here (MCP,
// Tools, Error Handling). listed are names that the catalog does not know.
func unknownTool(x *search.Index, c *catalog.Catalog, name string, listed ...string) error {
	message := fmt.Sprintf("unknown tool %q", echo(name))
	if near := nearestTools(x, c, name, listed...); len(near) > 0 {
		message += "; nearest: " + strings.Join(near, ", ")
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// maxNearest is how many names an error gives of those that may have been meant.
const maxNearest = 3

// nearestTools gives the tools that name may have meant, by the name each is
// called by now where an alias was nearer; [] for none. Those that are spelt like it
// come first, and the one that means the same is among them.
func nearestTools(x *search.Index, c *catalog.Catalog, name string, more ...string) []string {
	names := slices.Clone(more)
	for _, t := range c.Tools() {
		names = append(append(names, t.Name), t.Aliases...)
	}
	near := []string{}
	for _, n := range nearest.Names(name, names) {
		if t, ok := c.Tool(n); ok {
			n = t.Name
		}
		if !slices.Contains(near, n) {
			near = append(near, n)
		}
	}
	if n := meant(x, name); n != "" && !slices.Contains(near, n) {
		near = append(near[:min(len(near), maxNearest-1)], n)
	}
	return near
}

// meant gives the tool that the words of a name mean, as merge_pull_request does
// complete_pull_request; "" where half of them or more say nothing of it.
func meant(x *search.Index, name string) string {
	if len(name) > maxEcho {
		return ""
	}
	words := len(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_-. ", r) }))
	for _, hit := range x.Find(name, search.Options{Limit: 1}) {
		said := map[string]bool{}
		for _, m := range hit.Why {
			if !strings.Contains(m.Word, " ") { // all that say its name, once more
				said[m.Word] = true
			}
		}
		if 2*len(said) > words {
			return hit.Tool.Name
		}
	}
	return ""
}

// maxEcho is how much of a caller's text, in bytes, an error repeats: a name is
// at most 64 long.
const maxEcho = 128

// echo shortens a caller's text for an error.
func echo(s string) string { return clip.Text(s, maxEcho) }

// compact is v as compact JSON, HTML characters as they are.
func compact(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a fault of ours: the catalog's schemas are JSON, and so is all that was parsed
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
