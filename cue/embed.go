// Package config is the configuration that is built into the program: Azure
// DevOps. It knows only its own files; the configurations in the folders below
// are examples of their own and are not built in.
package config

import "embed"

// Files holds the built-in configuration, one CUE package at the root.
//
//go:embed *.cue
var Files embed.FS
