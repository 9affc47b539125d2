package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/expect"
	"github.com/metacue/metacue/runtime/load"
)

// TestDocs runs every configuration that the README and docs/ show: each vets
// clean, and its examples make the requests that it says they make.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?ms)^```cue\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
			src := block[1]
			if !strings.HasPrefix(src, "package ") {
				continue
			}
			n++
			name, _, _ := strings.Cut(strings.TrimPrefix(src, "package "), "\n")
			t.Run(filepath.Base(page)+"/"+name, func(t *testing.T) {
				cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(src)}}, name, load.Options{})
				if len(findings) > 0 {
					t.Fatal(findings)
				}
				p, findings := compile.Compile(cfg, compile.Options{})
				if len(findings) > 0 {
					t.Fatal(findings)
				}
				if o := expect.Run(t.Context(), cfg, p); len(o.Findings) > 0 {
					t.Error(o.Findings)
				} else {
					t.Logf("%d examples with expectations", o.Run)
				}
			})
		}
	}
	if n < 4 {
		t.Errorf("%d configurations found: the pages are not read as they should be", n)
	}
}
