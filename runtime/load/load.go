// Package load turns a directory of CUE (or an embedded file system) into a
// CUE value checked against the definitions of package schema, with every
// fault found once and with its place. It knows the language's form and
// nothing of what a tool does: rules that need more than one field's definition
// belong to compile.
package load

import (
	"errors"
	"io/fs"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
)

// Options says with what a configuration is loaded.
type Options struct {
	// Tags are values for CUE tags by their names, as with -t name=value. One
	// that no field declares is a finding.
	Tags map[string]string
	// Getenv looks up environment variables: METACUE_NAME sets the declared
	// tag name unless Tags does. nil means no environment.
	Getenv func(string) (string, bool)
	// Dir is the working directory that file names are printed relative to.
	// Empty means the process's own.
	Dir string
	// Fetch lets CUE modules that are not in the local cache be downloaded.
	// Without it a missing one is a finding.
	Fetch bool
}

// Config is a loaded configuration. It is immutable and safe for concurrent use
// save for what cue.Value itself does not allow.
type Config struct {
	// Source says where the configuration comes from, for people.
	Source string
	// Own is the operator's own value, alone.
	Own cue.Value
	// Value is Own unified with #Config of the schema.
	Value cue.Value
}

// Dir loads the CUE package in a directory on disk. Sub-folders are packages of
// their own and not part of it. When there are findings the Config holds what
// could be built, and is nil when nothing could.
func Dir(dir string, o Options) (*Config, diag.List) {
	return nil, diag.List{{File: dir, Message: "not built yet"}}
}

// FS loads the CUE package at the root of a file system. name stands before its
// file names in positions: name/file.cue:line:col.
func FS(fsys fs.FS, name string, o Options) (*Config, diag.List) {
	return nil, diag.List{{File: name, Message: "not built yet"}}
}

// Rebuild makes the same configuration in a fresh cue.Context, from the syntax
// already parsed: CUE keeps every field name it ever saw, and this is how
// memory is renewed. It is safe to call from any goroutine.
func (c *Config) Rebuild() (own, value cue.Value, err error) {
	return cue.Value{}, cue.Value{}, errors.New("not built yet")
}

// Position gives the place of p for people: file is relative to the working
// directory where that is shorter, or module@version/file.cue for a file of
// an imported module.
func (c *Config) Position(p token.Pos) (file string, line, col int) { return "", 0, 0 }

// Doc gives the description of a field: the comments above its declarations.
func (c *Config) Doc(v cue.Value) string { return "" }

// Tool is one tool of the configuration.
type Tool struct {
	// Domain and Name are the tool's labels.
	Domain, Name string
	// Path is the tool's: domains.DOMAIN.tools.NAME.
	Path cue.Path
	// Own and Value are the tool in Config.Own and Config.Value.
	Own, Value cue.Value

	refs []Ref
}

// Tools gives the tools, domain by domain, in the order in which the operator
// declares them.
func (c *Config) Tools() []Tool { return nil }

// Ref is one reference to an argument (or a step) in the syntax of a tool.
type Ref struct {
	// Root is what is referred to: "input" or "steps".
	Root string
	// Path is what follows it, as far as it is literal: ["user", "id"] for
	// input.user.id. Empty means the whole.
	Path []string
	// Pos is the place of the reference.
	Pos token.Pos
	// Field is the top-level field of the tool in which it stands: http, check,
	// response, steps, …
	Field string
	// InJQ marks $args.x in a jq program.
	InJQ bool
}

// Refs gives every reference of the tool to its arguments and steps, wherever
// it stands, in the order of the syntax.
func (t Tool) Refs() []Ref { return t.refs }
