package compile

import (
	"sync"

	"cuelang.org/go/cue"
)

// paths holds the CUE paths that have been parsed: they are few, and each is
// looked up in every tool.
var paths sync.Map // string → cue.Path

func parsePath(s string) cue.Path {
	if p, ok := paths.Load(s); ok {
		return p.(cue.Path)
	}
	p := cue.ParsePath(s)
	paths.Store(s, p)
	return p
}
