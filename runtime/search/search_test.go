package search

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/metacue/metacue/runtime/catalog"
)

// files is a small catalog in which every field has a word of its own.
func files() *catalog.Catalog {
	object := json.RawMessage(`{"type":"object"}`)
	return catalog.New(catalog.Catalog{Domains: []*catalog.Domain{
		{Name: "files", Summary: "Documents on a drive", Tools: []*catalog.Tool{
			{Name: "copy_file", Title: "Duplicate", Description: "Copies a file into another folder", Domain: "files", Action: "create", Effect: catalog.Write,
				InputSchema: json.RawMessage(`{"type":"object","properties":{"targetFolder":{"type":"string","description":"Where the new one goes"},
					"options":{"type":"object","properties":{"conflictBehaviour":{"enum":["rename","overwrite"]}}}}}`),
				Examples: []catalog.Example{{Description: "Back up the yearly report"}}},
			{Name: "delete_file", Description: "Deletes a file", Domain: "files", Action: "delete", Effect: catalog.Destructive, Aliases: []string{"erase_item"}, InputSchema: object},
			{Name: "list_files", Description: "Lists the files of a folder", Domain: "files", Action: "read", Effect: catalog.Read, InputSchema: object},
		}},
		{Name: "shares", Summary: "Who may see what", Tools: []*catalog.Tool{
			{Name: "list_shares", Description: "Lists with whom a file is shared", Domain: "shares", Action: "read", Effect: catalog.Read, InputSchema: object},
		}},
	}})
}

func names(hits []Hit) []string {
	var names []string
	for _, h := range hits {
		names = append(names, h.Tool.Name)
	}
	return names
}

func TestFind(t *testing.T) {
	for _, tc := range []struct {
		what, query string
		options     Options
		want        []string // the first ones
	}{
		{"name", "list_shares", Options{}, []string{"list_shares"}},
		{"title", "duplicates", Options{}, []string{"copy_file"}},
		{"argument name", "target", Options{}, []string{"copy_file"}},
		{"argument description", "new", Options{}, []string{"copy_file"}},
		{"nested argument", "conflicts", Options{}, []string{"copy_file"}},
		{"enum", "overwriting", Options{}, []string{"copy_file"}},
		{"example", "yearly", Options{}, []string{"copy_file"}},
		{"alias", "erase", Options{}, []string{"delete_file"}},
		{"domain", "drive", Options{}, []string{"copy_file", "delete_file", "list_files"}},
		{"ties by name", "documents", Options{}, []string{"copy_file", "delete_file", "list_files"}},
		{"filter by domain", "list", Options{Domain: "shares"}, []string{"list_shares"}},
		{"filter by action", "file", Options{Action: "delete"}, []string{"delete_file"}},
		{"limit", "file", Options{Limit: 1}, []string{"delete_file"}},
		{"nothing", "zebra", Options{}, nil},
		{"no words", " ?! ", Options{}, nil},
	} {
		t.Run(tc.what, func(t *testing.T) {
			got := names(New(files()).Find(tc.query, tc.options))
			if len(got) < len(tc.want) || !slices.Equal(got[:len(tc.want)], tc.want) || len(tc.want) == 0 && len(got) > 0 {
				t.Errorf("%q found %q, want %q first", tc.query, got, tc.want)
			}
			if l := tc.options.Limit; l > 0 && len(got) > l {
				t.Errorf("%q found %q, more than %d", tc.query, got, l)
			}
		})
	}
}
