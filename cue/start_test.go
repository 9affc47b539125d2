package config_test

import (
	"testing"

	config "github.com/metacue/metacue/cue"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/load"
)

// BenchmarkStart reads and compiles the built-in configuration, as the program does
// each time it starts, and as vet does, which tries out all requests besides.
func BenchmarkStart(b *testing.B) {
	for name, tried := range map[string]bool{"serve": true, "vet": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cfg, findings := load.FS(config.Files, "built-in", load.Options{})
				if len(findings) > 0 {
					b.Fatal(findings)
				}
				if _, findings = compile.Compile(cfg, compile.Options{Tried: tried}); len(findings) > 0 {
					b.Fatal(findings)
				}
			}
		})
	}
}
