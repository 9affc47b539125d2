package search

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/metacue/metacue/runtime/catalog"
)

// large is a catalog of 1,000 tools with four arguments each.
func large() *catalog.Catalog {
	verbs := []string{"list", "get", "create", "update", "delete", "search", "run", "copy", "assign", "export"}
	things := []string{"file", "folder", "pull_request", "branch", "commit", "work_item", "pipeline", "release", "user", "group",
		"calendar", "event", "message", "label", "contact", "task", "invoice", "order", "customer", "report"}
	parts := []string{"comment", "attachment", "permission", "revision", "status"}
	var tools []*catalog.Tool
	for i := range 1000 {
		verb, thing, part := verbs[i%10], things[i/10%20], parts[i/200]
		tools = append(tools, &catalog.Tool{
			Name:        verb + "_" + thing + "_" + part,
			Description: fmt.Sprintf("The tool to %s the %s of a %s. Number %c%c%c of its kind.", verb, part, thing, 'a'+i%26, 'a'+i/26%26, 'a'+i/676),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"` + thing + `Id":{"type":"string","description":"Which ` + thing + `"},
				"` + part + `Id":{"type":"string"},"state":{"enum":["open","closed","` + verb + `ed"]},"pageSize":{"type":"integer","description":"How many at once"}}}`),
		})
	}
	return catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Name: "all", Tools: tools}}})
}

func BenchmarkIndex(b *testing.B) {
	c := large()
	for b.Loop() {
		New(c).Find("comment", Options{})
	}
}

func BenchmarkFind(b *testing.B) {
	x := New(large())
	for _, q := range []struct{ name, text string }{
		{"short", "list comments"},
		{"sentence", "Could you please show me who may read the attachments of the Contoso invoice and export them"},
		{"misspelt", "permisions of calender evnets"},
	} {
		x.Find(q.text, Options{})
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				x.Find(q.text, Options{Limit: 10})
			}
		})
	}
}
