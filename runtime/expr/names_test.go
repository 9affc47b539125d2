package expr

import (
	"os"
	"strings"
	"testing"
)

// TestCUEVersion makes whoever updates CUE look at its table of names again, which
// this package cuts: cuelang.org/go/internal/core/runtime, index.go. What known
// checks is its shape alone. A version may stand here once index.go indexes names
// as described in names.go, and the tests pass that let names be forgotten.
func TestCUEVersion(t *testing.T) {
	const read = "v0.17.1"
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "\tcuelang.org/go "+read+"\n") {
		t.Errorf("go.mod has another version of cuelang.org/go than %s, for which names.go was written", read)
	}
}
