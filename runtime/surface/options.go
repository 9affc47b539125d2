package surface

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/search"
)

// runner is how what has an effect is run in meta.
type runner struct {
	effect           catalog.Effect // "" is any
	execute, request string         // the tools that run tools, and requests that no tool makes
	runs, makes      string         // what they are described as doing
	does             string         // what is said of something that has the effect
}

// single runs everything; byEffect runs each effect by tools of its own, so that
// hosts, which approve by tool name, can let agents read without asking.
var (
	single   = runner{"", executeTool, "api_request", "Run a tool, directly if you know name and arguments.", "Make an HTTP request that no tool covers.", ""}
	byEffect = []runner{
		{catalog.Read, executeTool, "api_request", "Run a reading tool, directly if you know name and arguments.", "Make an HTTP request that no tool covers.", "reads"},
		{catalog.Write, "execute_write_tool", "api_write_request", "For writes.", "For writes.", "writes"},
		{catalog.Destructive, "execute_destructive_tool", "api_destructive_request", "For destructive ones.", "For destruction.", "is destructive"},
	}
)

// runner gives how an effect is run.
func (m *meta) runner(effect catalog.Effect) runner {
	for _, r := range byEffect {
		if m.catalog.Meta.ByEffect && r.effect == effect {
			return r
		}
	}
	return single
}

// runners gives all that there are.
func (m *meta) runners() []runner {
	if m.catalog.Meta.ByEffect {
		return byEffect
	}
	return []runner{single}
}

// among gives those of tools that r runs.
func (r runner) among(tools []*catalog.Tool) []*catalog.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t *catalog.Tool) bool { return r.effect != "" && t.Effect != r.effect })
}

// executeTools gives execute_tool, or one such tool for each effect in use.
func (m *meta) executeTools() []ownTool {
	var own []ownTool
	for _, r := range m.runners() {
		tools := r.among(m.catalog.Tools())
		if len(tools) == 0 && r.execute != executeTool {
			continue
		}
		own = append(own, ownTool{&mcp.Tool{
			Name:        r.execute,
			Description: r.runs,
			Annotations: annotations(worst(tools)),
			InputSchema: inputSchema([]string{"tool_name"},
				property("tool_name", schema{Type: "string"}),
				property("arguments", schema{Type: "object"})),
		}, func(ctx context.Context, caller call.Caller, e *envelope) call.Result {
			return m.executeTool(ctx, caller, r.effect, e)
		}})
	}
	return own
}

const searchTools = "search_tools"

const (
	defaultHits = 10
	maxHits     = 50
	// maxQuery is the longest query in bytes: the time grows with it.
	maxQuery = 4096
)

// searchTool gives search_tools, which is listed where the configuration asks for it.
// domain and action take what they take in list_domain_tools, which says so once.
func (m *meta) searchTool() ownTool {
	return ownTool{&mcp.Tool{
		Name:        searchTools,
		Description: "Find tools.",
		Annotations: annotations(finds),
		InputSchema: inputSchema([]string{"query"},
			property("query", schema{Type: "string"}),
			property("domain", schema{Type: "string"}),
			property("action", schema{Type: "string"}),
			property("limit", schema{Type: "integer"})),
	}, m.search}
}

// search answers with summaries, the best first.
func (m *meta) search(_ context.Context, _ call.Caller, e *envelope) call.Result {
	query := e.text("query", true)
	domain, action := e.text("domain", false), e.text("action", false)
	limit := e.number("limit", defaultHits, maxHits)
	if len(query) > maxQuery {
		e.faults = append(e.faults, fmt.Sprintf("query is longer than %d bytes: give the words that matter", maxQuery))
	}
	if refusal, bad := e.close(); bad {
		return refusal
	}
	var u unknown
	if domain != "" && !slices.Contains(m.domains(), domain) {
		u.add("domain", domain, m.domains())
	}
	if action != "" && !slices.Contains(m.actions(), action) {
		u.add("action", action, m.actions())
	}
	if len(u.faults) > 0 {
		return u.refusal()
	}
	tools := []toolSummary{}
	for _, hit := range m.index.Find(query, search.Options{Domain: domain, Action: action, Limit: limit}) {
		s := m.summary(hit.Tool)
		s.Domain = hit.Tool.Domain
		tools = append(tools, s)
	}
	return answer(struct {
		Tools []toolSummary `json:"tools"`
	}{tools})
}

// apiRequests gives api_request, or one such tool for each effect, where the
// configuration names an upstream for it.
func (m *meta) apiRequests() []ownTool {
	var own []ownTool
	for _, r := range m.runners() {
		requests := r.among(m.catalog.Escape)
		if len(requests) == 0 {
			continue
		}
		properties := []member{
			property("method", schema{Type: "string", Enum: methods(requests)}),
			property("path", schema{Type: "string"}),
			property("query", schema{Type: "object"}),
		}
		if slices.ContainsFunc(requests, func(t *catalog.Tool) bool { return slices.Contains(argumentsOf(t), "body") }) {
			properties = append(properties, property("body", schema{}))
		}
		own = append(own, ownTool{&mcp.Tool{
			Name:        r.request,
			Description: r.makes,
			Annotations: annotations(worst(requests)),
			InputSchema: inputSchema([]string{"method", "path"}, properties...),
		}, func(ctx context.Context, caller call.Caller, e *envelope) call.Result {
			return m.apiRequest(ctx, caller, r, e)
		}})
	}
	return own
}

// methods gives the HTTP methods of requests that no tool makes.
func methods(requests []*catalog.Tool) []string {
	var names []string
	for _, t := range requests {
		names = append(names, t.Title)
	}
	return names
}

// apiRequest makes one request that no tool makes. What becomes of path, query and
// body is for the program to say, as for any tool.
func (m *meta) apiRequest(ctx context.Context, caller call.Caller, r runner, e *envelope) call.Result {
	method, path := e.text("method", true), e.text("path", true)
	args := []member{{"path", compact(strings.TrimPrefix(path, "/"))}}
	if query := e.optional("query"); query != nil {
		args = append(args, member{"query", query})
	}
	if body := e.take("body"); body != nil {
		args = append(args, member{"body", body})
	}
	if upper := strings.ToUpper(method); upper != method && slices.Contains(methods(m.catalog.Escape), upper) {
		e.repairs = append(e.repairs, fmt.Sprintf("method was %s and was read as %s", echo(method), upper))
		method = upper
	}
	_, bad := e.close()
	i := slices.IndexFunc(m.catalog.Escape, func(t *catalog.Tool) bool { return t.Title == method })
	switch {
	case bad:
		if i < 0 && method != "" {
			e.faults = append(e.faults, "unknown method: "+echo(method))
		}
		// The program says what else is wrong, and makes no call that comes with faults.
		caller.Faults = []call.Fault{{Message: strings.Join(e.faults, "; ")}}
		if path == "" {
			args[0].value = compact("missing") // it is told
		}
		if i < 0 {
			i = m.anyRequest(r)
		}
	case i < 0:
		var u unknown
		u.add("method", method, methods(r.among(m.catalog.Escape)))
		return u.refusal()
	}
	t := m.catalog.Escape[i]
	if !bad && r.effect != "" && r.effect != t.Effect {
		right := m.runner(t.Effect)
		return elsewhere(e.tool.Name, method+" "+right.does, right.request)
	}
	done := m.do(ctx, caller, t.Name, writeObject(args))
	if refusal, ok := refused(t, done); ok { // by the schema of its method, under a name that nobody can call
		done.Content = wrongArguments(text(get(refusal, "error")), e.tool.Name, e.tool.InputSchema).Content
	}
	return done
}

// anyRequest gives the request of r, by its place, that takes most: what is wrong for it is wrong
// whatever the method.
func (m *meta) anyRequest(r runner) int {
	takesMost := func(a, b *catalog.Tool) int { return len(argumentsOf(b)) - len(argumentsOf(a)) }
	return slices.Index(m.catalog.Escape, slices.MinFunc(r.among(m.catalog.Escape), takesMost))
}

// number takes an argument that is a whole number from 1 to most. Text that holds
// one is read so.
func (e *envelope) number(name string, otherwise, most int) int {
	raw := e.optional(name)
	if raw == nil {
		return otherwise
	}
	text := string(raw)
	var s string
	if json.Unmarshal(raw, &s) == nil {
		text = s
		e.repairs = append(e.repairs, name+" was text and was read as the number in it")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		e.faults = append(e.faults, fmt.Sprintf("%s must be a whole number from 1 to %d", name, most))
		return otherwise
	}
	return n
}
