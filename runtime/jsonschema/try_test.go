package jsonschema

import (
	"fmt"
	"os"
	"testing"

	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue"
)

func TestTry(t *testing.T) {
	b, err := os.ReadFile("/tmp/try.cue")
	if err != nil {
		t.Skip()
	}
	v := cuecontext.New().CompileBytes(b)
	if v.Err() != nil {
		fmt.Println(v.Err())
	}
	it, _ := v.LookupPath(cue.ParsePath("x")).Fields(cue.All())
	for it.Next() {
		s, fs := Compile(it.Value(), Options{Data: os.Getenv("DATA") != ""})
		fmt.Printf("%s\n   %s exact=%v\n", it.Selector(), s.JSON, s.Exact)
		for _, g := range s.Open {
			fmt.Printf("   gap %s: %s\n", g.Path, g.Reason)
		}
		for _, f := range fs {
			fmt.Printf("   FINDING %s\n", f)
		}
		for _, f := range s.Fields {
			fmt.Printf("   %s req=%v def=%s const=%s fills=%v\n", f.Name, f.Required, f.Default, f.Constant, f.Fills)
		}
	}
}
