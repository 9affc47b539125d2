package catalog

import (
	"encoding/json"
	"fmt"
	"testing"
)

// BenchmarkWithin bounds 1,000 tools whose descriptions name others.
func BenchmarkWithin(b *testing.B) {
	d := &Domain{Name: "pages"}
	for i := range 1000 {
		effect, name := Read, fmt.Sprintf("list_things_%c%c", 'a'+i%26, 'a'+i/26)
		if i%2 == 1 {
			effect, name = Destructive, fmt.Sprintf("delete_things_%c%c", 'a'+i%26, 'a'+i/26)
		}
		d.Tools = append(d.Tools, &Tool{
			Name: name, Domain: d.Name, Action: "read", Effect: effect,
			Description: "Lists the things of a project with their numbers, names and owners, newest first. Before delete_things_bb look at list_things_ac.",
			InputSchema: argumentsSchema(12),
		})
	}
	c := New(Catalog{Domains: []*Domain{d}})
	b.ReportAllocs()
	for b.Loop() {
		c.Within(Bounds{ReadOnly: true})
	}
}

// argumentsSchema is a schema of n arguments, each described.
func argumentsSchema(n int) json.RawMessage {
	properties := ""
	for i := range n {
		if i > 0 {
			properties += ","
		}
		properties += fmt.Sprintf(`"argument_%d":{"type":"string","description":"The number or the name of a thing, such as \"42\" or main; list_things_ac has them"}`, i)
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"additionalProperties":false}`)
}
