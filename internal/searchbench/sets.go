package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	config "github.com/metacue/metacue/cue"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/load"
)

// set is tools and queries for which the right tools are known.
type set struct {
	name    string
	catalog *catalog.Catalog
	queries []query
}

type query struct {
	text  string
	right []string // names of tools
}

// readSet reads a set from FILE or FILE=OPENAPI.
//
// A file of the first kind is {"tools": [{"name", "description", "effect"?, "inputSchema"?}],
// "queries": [{"query", "tools": [NAME]}]}; one of the second, which needs the
// description of its API, [{"query", "solution": ["GET /path"]}]. That of NAME-API.json
// is found by itself in ../openapi/API.json.
func readSet(arg string) (*set, error) {
	file, api, _ := strings.Cut(arg, "=")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &set{name: strings.TrimSuffix(filepath.Base(file), ".json")}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		if api == "" {
			api = described(file)
		}
		if api == "" {
			return nil, fmt.Errorf("%s names operations of an API: give its OpenAPI description too, %s=FILE", file, file)
		}
		err = s.readCalls(data, api)
	} else {
		err = s.readTools(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(s.queries) == 0 {
		return nil, fmt.Errorf("%s: there are no queries", file)
	}
	for _, q := range s.queries {
		if len(q.right) == 0 {
			return nil, fmt.Errorf("%s: the query %q has no right tool", file, q.text)
		}
		for _, name := range q.right {
			if _, ok := s.catalog.Tool(name); !ok {
				return nil, fmt.Errorf("%s: the query %q names the tool %s, which is not there", file, q.text, name)
			}
		}
	}
	return s, nil
}

// builtIn is the built-in catalog, without queries.
func builtIn() (*set, error) {
	cfg, findings := load.FS(config.Files, "built-in", load.Options{})
	if len(findings) > 0 {
		return nil, fmt.Errorf("the built-in configuration: %v", findings)
	}
	p, findings := compile.Compile(cfg, compile.Options{})
	if len(findings) > 0 {
		return nil, fmt.Errorf("the built-in configuration: %v", findings)
	}
	return &set{name: "built-in", catalog: p.Catalog}, nil
}

// described finds the OpenAPI description that a file NAME-API.json is about:
// ../openapi/API.json, from where it is; "" where there is none.
func described(file string) string {
	_, api, _ := strings.Cut(filepath.Base(file), "-")
	path := filepath.Join(filepath.Dir(file), "..", "openapi", api)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

func (s *set) readTools(data []byte) error {
	var in struct {
		Tools []struct {
			Name, Description string
			Effect            catalog.Effect
			InputSchema       json.RawMessage
		}
		Queries []struct {
			Query string
			Tools []string
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	var tools []*catalog.Tool
	for _, t := range in.Tools {
		tools = append(tools, &catalog.Tool{Name: t.Name, Description: t.Description, Effect: t.Effect, InputSchema: t.InputSchema})
	}
	s.catalog = newCatalog(tools)
	for _, q := range in.Queries {
		s.queries = append(s.queries, query{q.Query, q.Tools})
	}
	return nil
}

func newCatalog(tools []*catalog.Tool) *catalog.Catalog {
	for _, t := range tools {
		if t.InputSchema == nil {
			t.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
	}
	return catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Tools: tools}}})
}

func (s *set) readCalls(data []byte, api string) error {
	var in []struct {
		Query    string
		Solution []string
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	text, err := os.ReadFile(api)
	if err != nil {
		return err
	}
	tools, byCall, err := operations(text)
	if err != nil {
		return fmt.Errorf("%s: %w", api, err)
	}
	s.catalog = newCatalog(tools)
	for _, q := range in {
		var right []string
		for _, call := range q.Solution {
			name, ok := byCall[shape(call)]
			if !ok {
				return fmt.Errorf("the query %q is answered by %s, which %s does not have", q.Query, call, api)
			}
			if !slices.Contains(right, name) {
				right = append(right, name)
			}
		}
		s.queries = append(s.queries, query{q.Query, right})
	}
	return nil
}

// parameter is one of an OpenAPI operation.
type parameter struct {
	Name, Description string
	Schema            struct{ Enum []any }
}

// operations makes a tool of each operation of an OpenAPI description 3.x, as far
// as search looks at tools, and says which "METHOD /path" each is.
func operations(data []byte) (tools []*catalog.Tool, byCall map[string]string, err error) {
	var in struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, nil, err
	}
	byCall = map[string]string{}
	for path, item := range in.Paths {
		var shared []parameter
		if raw, ok := item["parameters"]; ok {
			if err := json.Unmarshal(raw, &shared); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		for method, raw := range item {
			if !slices.Contains([]string{"get", "put", "post", "delete", "patch", "head", "options"}, method) {
				continue
			}
			var o struct {
				OperationID, Summary, Description string
				Parameters                        []parameter
			}
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			call := strings.ToUpper(method) + " " + path
			name := strings.Trim(notInNames.ReplaceAllString(call, "_"), "_")
			properties := map[string]any{}
			for _, p := range append(slices.Clone(shared), o.Parameters...) {
				if p.Name != "" {
					properties[p.Name] = map[string]any{"description": p.Description, "enum": p.Schema.Enum}
				}
			}
			input, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
			if err != nil {
				return nil, nil, err
			}
			tools = append(tools, &catalog.Tool{Name: name, Title: o.Summary, Description: o.Description, InputSchema: input})
			byCall[shape(call)] = name
		}
	}
	slices.SortFunc(tools, func(a, b *catalog.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, byCall, nil
}

// shape is a "METHOD /path" whatever its variables are called: sets and
// descriptions differ in that.
func shape(call string) string {
	return variable.ReplaceAllString(strings.TrimSpace(call), "{}")
}

var variable = regexp.MustCompile(`\{[^}]*\}`)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)
