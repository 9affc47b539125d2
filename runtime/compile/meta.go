package compile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/jsonschema"
)

// meta reads how the surfaces are tuned.
func (c *compiler) meta() catalog.Meta {
	v := c.cfg.Value.LookupPath(parsePath("server.meta"))
	m := catalog.Meta{
		Search:     yes(v, "search", false),
		Signatures: yes(v, "signatures", false),
		ByEffect:   text(v, "execute") == "by-effect",
	}
	names := c.toolNames()
	excluded := strs(c.cfg.Value, "server.exclude")
	for i, name := range strs(v, "pin") {
		path := fmt.Sprintf("server.meta.pin[%d]", i)
		switch {
		case !slices.Contains(names, name):
			c.noTool(path, name)
		case slices.Contains(excluded, name):
			c.add(path, "%s is in exclude, and so never offered", name)
		case slices.Contains(m.Pin, name):
			c.add(path, "%s is pinned already", name)
		default:
			m.Pin = append(m.Pin, name)
		}
	}
	return m
}

// escapes says what a request of a method does (RFC 9110, section 9.2).
var escapes = []struct {
	method     string
	effect     catalog.Effect
	idempotent bool
}{
	{http.MethodGet, catalog.Read, true},
	{http.MethodHead, catalog.Read, true},
	{http.MethodPost, catalog.Write, false},
	{http.MethodPut, catalog.Write, true},
	{http.MethodPatch, catalog.Write, false},
	{http.MethodDelete, catalog.Destructive, true},
}

// escape makes the tools of any request to the upstream that server.meta.escape
// names, one for each method.
func (c *compiler) escape(tools map[string]*exec.Tool) []*catalog.Tool {
	name := text(c.cfg.Value, "server.meta.escape")
	up := c.upstreams[name]
	switch {
	case name == "":
		return nil
	case up == nil && len(c.order) == 0:
		c.noUpstream()
		return nil
	case up == nil:
		c.add("server.meta.escape", "there is no upstream %q%s", name, didYouMean(name, c.order))
		return nil
	case up.faulty:
		return nil
	}
	var all []*catalog.Tool
	for _, e := range escapes {
		info := &catalog.Tool{
			Name:        "api_request/" + e.method,
			Title:       e.method,
			Description: "Makes a " + e.method + " request",
			Effect:      e.effect,
			Idempotent:  e.idempotent,
			InputSchema: escapeSchema(up, e.method),
			Annotations: catalog.Annotations{
				ReadOnly:    e.effect == catalog.Read,
				Destructive: e.effect == catalog.Destructive,
				Idempotent:  e.idempotent,
				OpenWorld:   true,
			},
		}
		argument := func(name string) bind.Ref { return bind.Ref{Root: bind.RootInput, Path: []string{name}} }
		req := up.request(name)
		req.Method = e.method
		req.Path = escapePath
		req.Query = []bind.Field{{Value: argument("query")}} // its members, whatever they are
		if takesBody(e.method) {
			req.Body = &bind.Body{Kind: bind.BodyJSON, Value: argument("body")}
		}
		validator, err := jsonschema.NewValidator(info.InputSchema)
		if err != nil {
			panic(err) // a schema of our own
		}
		tools[info.Name] = &exec.Tool{Info: info, Validator: validator, Timeout: up.timeout, Steps: []exec.Step{{Request: &req}}}
		all = append(all, info)
	}
	return all
}

// escapePath takes all segments of the argument path and keeps them below the
// upstream's URL, as it does for any tool.
var escapePath = func() *bind.Template {
	t, err := bind.ParseTemplate("/{+path}")
	if err != nil {
		panic(err)
	}
	return t
}()

func takesBody(method string) bool { return bind.ConventionPlace(method) == bind.PlaceBody }

// escapeSchema is the schema of a request of a method. What the upstream's
// credentials are sent as is no parameter for others to set.
func escapeSchema(up *upstream, method string) json.RawMessage {
	query := map[string]any{"type": "object"}
	if len(up.strip) > 0 {
		query["propertyNames"] = map[string]any{"not": map[string]any{"enum": up.strip}}
	}
	properties := map[string]any{
		"path":  map[string]any{"type": "string", "pattern": "^[^?#]*$", "description": "Without a query, which is given as query"},
		"query": query,
	}
	if takesBody(method) {
		properties["body"] = map[string]any{}
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": []string{"path"}, "additionalProperties": false})
	if err != nil {
		panic(err) // plain data
	}
	return b
}
