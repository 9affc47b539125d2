package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/metacue/metacue/internal/scenario"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"metacue": main})
}

// TestScript runs the scenarios: what the program does for an operator at a
// shell and for an MCP client, in each mode and over each transport. Package
// scenario says what a script can do; $ROOT is the folder of the module.
func TestScript(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ROOT", root)
	scenario.Run(t, scenario.Params{
		Dir:     filepath.Join(root, "testdata", "script"),
		Program: "metacue",
		PassEnv: []string{"ROOT"},
	})
}
