// Package schema is the metacue configuration language as files: the CUE
// definitions that operators write against, embedded beside the Go that serves
// them. It is at once the CUE module github.com/metacue/metacue/schema. It
// knows only its own files; how a configuration is checked is load's matter.
package schema

import "embed"

// Module is the path of the CUE module, with its major version.
const Module = "github.com/metacue/metacue/schema@v0"

// ImportPath is what a configuration imports.
const ImportPath = "github.com/metacue/metacue/schema"

// Version is the version of the embedded module. It is the highest that a
// configuration's module.cue may ask for.
const Version = "v0.1.0"

// Files holds the module: cue.mod/module.cue and schema.cue.
//
//go:embed cue.mod/module.cue schema.cue
var Files embed.FS
