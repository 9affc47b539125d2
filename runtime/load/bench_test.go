package load

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// generated is a configuration of n tools of 12 arguments in nine domains, one
// file each.
func generated(n int) fstest.MapFS {
	files := fstest.MapFS{"a.cue": {Data: []byte(`package big

_organization: string | *"contoso" @tag(organization)
server: name: "big"
upstreams: api: {url: "https://api.example.com/\(_organization)", auth: basic: password: env: "PASSWORD"}
#Project: {
	// The project name or ID
	project!: string
}
`)}}
	types := []string{"string", "int & >=0 & <=1000", `"a" | "b" | "c"`, "[...string]"}
	for d := range 9 {
		var b strings.Builder
		fmt.Fprintf(&b, "package big\n\ndomains: domain%d: {\n\tdescription: \"Domain %d\"\n\ttools: {\n", d, d)
		for i := d; i < n; i += 9 {
			fmt.Fprintf(&b, "\t\ttool_%d: {\n\t\t\tdescription: \"Tool number %d\"\n\t\t\taction: \"read\"\n\t\t\tinput: {\n\t\t\t\t#Project\n", i, i)
			for a := range 11 {
				fmt.Fprintf(&b, "\t\t\t\t// Argument %d of the tool\n\t\t\t\targ%d?: %s\n", a, a, types[a%len(types)])
			}
			b.WriteString("\t\t\t}\n\t\t\thttp: {\n\t\t\t\tmethod: \"GET\"\n\t\t\t\tpath: \"/{project}/things/{arg0}\"\n\t\t\t\tquery: {\n")
			for a := 1; a < 11; a++ {
				fmt.Fprintf(&b, "\t\t\t\t\t\"$arg%d\": input.arg%d\n", a, a)
			}
			b.WriteString("\t\t\t\t}\n\t\t\t}\n\t\t\tresponse: jq: \".value\"\n\t\t}\n")
		}
		b.WriteString("\t}\n}\n")
		files[fmt.Sprintf("d%d.cue", d)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return files
}

// BenchmarkLoad1000 loads 1,000 tools of 12 arguments.
func BenchmarkLoad1000(b *testing.B) {
	files := generated(1000)
	for b.Loop() {
		c, findings := FS(files, "", Options{})
		if len(findings) > 0 || len(c.Tools()) != 1000 || len(c.Tools()[0].Refs()) != 10 {
			b.Fatal(findings)
		}
	}
}

// BenchmarkFaulty1000 is the same with a fault in every tool: the passes must
// not multiply with the faults.
func BenchmarkFaulty1000(b *testing.B) {
	files := generated(1000)
	for _, f := range files {
		f.Data = []byte(strings.ReplaceAll(string(f.Data), `method: "GET"`, `method: "GOT"`))
	}
	for b.Loop() {
		if _, findings := FS(files, "", Options{}); len(findings) != 1000 {
			b.Fatal(len(findings))
		}
	}
}
