// Package config is the configuration that is built into the program: Azure
// DevOps. It knows only its own files; the configurations in the folders below
// are examples of their own and are not built in.
package config

import "embed"

// Files holds the built-in configuration, one CUE package at the root. The
// files are listed, because those that end in _tests.cue are left out: with
// them every start would take twice as long.
//
//go:embed ado.cue pipelines.cue repositories.cue schema.cue search.cue security.cue shared.cue test_plans.cue wiki.cue work.cue work_items.cue
var Files embed.FS
