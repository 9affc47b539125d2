package main

import (
	"encoding/json"
	"fmt"
	"slices"

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
			message := told(c, mode, f)
			if f.Tool == "" {
				message += fewer(c, mode, len(listed))
			}
			all = append(all, cfg.Finding(labels(face, f), name+": "+message))
		}
	}
	return all, nil
}

// labels lead to what a finding is about. What a surface lists of its own is the
// server's.
func labels(face surface.Surface, f hosts.Finding) []string {
	inside := f.Path
	if i := slices.IndexFunc(inside, func(name string) bool { return name == "[]" || name == "" }); i >= 0 {
		inside = inside[:i]
	}
	if len(inside) == 0 {
		inside = []string{""}
	}
	path := face.Declared(f.Tool, inside[0])
	switch {
	case path == nil:
		return []string{"server"}
	case path[len(path)-1] != inside[0]: // no argument that somebody declared
		return path
	}
	return append(path, inside[1:]...)
}

// fewer says of a list that is too long in which mode it is shorter.
func fewer(c *catalog.Catalog, mode string, tools int) string {
	const shortest = "meta"
	face, err := surface.New(shortest, c, nil)
	if err != nil || len(face.Tools()) >= tools {
		return "; this is " + mode + " mode"
	}
	return fmt.Sprintf("; this is %s mode, and --mode %s lists %d", mode, shortest, len(face.Tools()))
}

// told is the message, with the tool where its path does not say it.
func told(c *catalog.Catalog, mode string, f hosts.Finding) string {
	if _, ok := c.Tool(f.Tool); ok || f.Tool == "" {
		return f.Message
	}
	return fmt.Sprintf("%s, which %s mode lists: %s", f.Tool, mode, f.Message)
}
