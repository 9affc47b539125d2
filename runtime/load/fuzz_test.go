package load

import (
	"strings"
	"testing"
	"testing/fstest"
)

// FuzzLoad loads any text as the file beside a sound frame. It must end without
// a panic; and what has no findings can be used.
func FuzzLoad(f *testing.F) {
	for _, kind := range []string{"faults", "valid"} {
		for _, a := range archives(f, kind) {
			if file := a.files["a.cue"]; file != nil {
				f.Add(string(file.Data))
			}
		}
	}
	f.Add(string(readArchive(f, "testdata/together.txtar").files["a.cue"].Data))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || strings.Count(text, "for ") > 3 {
			t.Skip("CUE's evaluation takes no bound")
		}
		c, findings := FS(fstest.MapFS{"frame.cue": {Data: []byte(frameFile)}, "a.cue": {Data: []byte(text)}}, "", Options{})
		for _, finding := range findings {
			if finding.Message == "" || strings.Contains(finding.Message, "CUE fails on") {
				t.Errorf("finding %q", finding)
			}
		}
		if c == nil {
			if len(findings) == 0 {
				t.Error("neither a configuration nor findings")
			}
			return
		}
		for _, tool := range c.Tools() {
			c.Doc(tool.Own)
			for _, r := range tool.Refs() {
				c.Position(r.Pos)
			}
		}
		if len(findings) > 0 {
			return
		}
		if err := c.Value.Validate(); err != nil {
			t.Errorf("no findings, but CUE says %v", err)
		}
		if _, _, err := c.Rebuild(); err != nil {
			t.Errorf("cannot be rebuilt: %v", err)
		}
	})
}
