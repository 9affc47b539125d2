package jsonschema

import (
	"fmt"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// manyTools declares n tools of twelve arguments, most of them from mixins.
func manyTools(n int) string {
	var b strings.Builder
	b.WriteString(`
import ("strings", "list")
#Project: {
	// The project name or ID
	project!: string
}
#Repository: {
	#Project
	// The repository name or ID
	repositoryId!: string
}
#Paging: {
	// Maximum number of results
	top: int & >0 & <=1000 | *100
	// Number of results to skip
	skip?: int & >=0
}
`)
	for i := range n {
		fmt.Fprintf(&b, `
tools: get_%d: input: {
	#Repository
	#Paging
	// Filter by status
	status?: "active" | "completed" | "abandoned" | "all"
	// Source branch
	sourceRefName?: =~"^refs/heads/" @example("refs/heads/main")
	// What it is called
	title?: strings.MinRunes(1) & strings.MaxRunes(400)
	labels?: [...string] & list.MaxItems(20)
	isDraft: bool | *false
	assignee?: string | null
	updates?: [...{op!: "add" | "remove", path!: string, value?: _}]
	fields?: [string]: string | number | bool
}
`, i)
	}
	return b.String()
}

func inputs(tb testing.TB, n int) []cue.Value {
	v := cuecontext.New().CompileString(manyTools(n))
	if err := v.Validate(); err != nil {
		tb.Fatal(err)
	}
	it, err := v.LookupPath(cue.ParsePath("tools")).Fields()
	if err != nil {
		tb.Fatal(err)
	}
	var list []cue.Value
	for it.Next() {
		list = append(list, it.Value().LookupPath(cue.ParsePath("input")))
	}
	return list
}

// BenchmarkCompile compiles inputs of twelve arguments, one an operation.
func BenchmarkCompile(b *testing.B) {
	list := inputs(b, 500)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if s, f := Compile(list[i%len(list)], Options{}); len(f) > 0 || len(s.Fields) != 12 {
			b.Fatal(f, len(s.Fields))
		}
		i++
	}
}

// BenchmarkFirstUse compiles the schema of such an input for checking.
func BenchmarkFirstUse(b *testing.B) {
	s, _ := Compile(inputs(b, 1)[0], Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compile(mustDecode(b, s.JSON)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkValidate checks a call with eight arguments.
func BenchmarkValidate(b *testing.B) {
	s, _ := Compile(inputs(b, 1)[0], Options{})
	v, err := NewValidator(s.JSON)
	if err != nil {
		b.Fatal(err)
	}
	in := []byte(`{"project":"Contoso","repositoryId":"web","top":50,"status":"active","sourceRefName":"refs/heads/main","labels":["a","b"],"isDraft":true,"updates":[{"op":"add","path":"/x","value":1}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if f := v.Validate(in); f != nil {
			b.Fatal(f)
		}
	}
}
