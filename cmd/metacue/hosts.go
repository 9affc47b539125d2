package main

import (
	"encoding/json"
	"fmt"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/hosts"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/surface"
)

// allHosts stands for every host that there are rules of.
const allHosts = "all"

// hostNames are the names that --host takes. They are written out, because the
// rules are read by no command that does not need them.
const hostNames = "anthropic, cursor, gemini, openai, vscode, " + allHosts

// hostFindings holds what a mode lists against the rules of hosts.
func hostFindings(cfg *load.Config, c *catalog.Catalog, do call.Func, mode string, names []string) (diag.List, error) {
	face, err := surface.New(mode, c, do)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(face.Tools())
	if err != nil {
		return nil, err
	}
	var listed []hosts.Tool
	if err := json.Unmarshal(data, &listed); err != nil {
		return nil, err
	}
	var all diag.List
	for _, name := range names {
		if name == allHosts {
			return hostFindings(cfg, c, do, mode, hosts.Names())
		}
		findings, err := hosts.Check(name, c.Server.Name, listed)
		if err != nil {
			return nil, fmt.Errorf("--host: %w, or %s", err, allHosts)
		}
		for _, f := range findings {
			all = append(all, cfg.Finding(labels(c, f), name+": "+told(c, mode, f)))
		}
	}
	return all, nil
}

// labels lead to what a finding is about. What a surface lists of its own is the
// server's.
func labels(c *catalog.Catalog, f hosts.Finding) []string {
	t, ok := c.Tool(f.Tool)
	if !ok {
		return []string{"server"}
	}
	path := []string{"domains", t.Domain, "tools", t.Name}
	for i, name := range f.Path {
		if name == "[]" || name == "" {
			break
		}
		if i == 0 {
			path = append(path, "input")
		}
		path = append(path, name)
	}
	return path
}

// told is the message, with the tool where its path does not say it.
func told(c *catalog.Catalog, mode string, f hosts.Finding) string {
	if _, ok := c.Tool(f.Tool); ok || f.Tool == "" {
		return f.Message
	}
	return fmt.Sprintf("%s, which %s mode lists: %s", f.Tool, mode, f.Message)
}
