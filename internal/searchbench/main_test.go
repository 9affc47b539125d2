package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnSet holds the ranking above plain BM25 on the project's own set.
func TestOwnSet(t *testing.T) {
	s, err := readSet("testdata/office.json")
	if err != nil {
		t.Fatal(err)
	}
	var plain, ours figures
	for _, r := range rankings {
		switch r.name {
		case "plain":
			plain = measure(s, r.over(s.catalog))
		case "search":
			ours = measure(s, r.over(s.catalog))
		}
	}
	if ours.recall5 < plain.recall5+0.05 || ours.recall5 < 0.9 || ours.ndcg10 < plain.ndcg10+0.05 {
		t.Errorf("ours %+v, plain %+v", ours, plain)
	}
}

func TestMeasure(t *testing.T) {
	s := &set{queries: []query{{"one", []string{"a"}}, {"two", []string{"b", "c"}}}}
	answers := map[string][]string{"one": {"x", "a"}, "two": {"b", "x", "x", "x", "x", "c"}}
	got := measure(s, func(q string) []string { return answers[q] })
	second := 1 / math.Log2(3)
	want := figures{
		recall1: (0 + 0.5) / 2,
		recall3: (1 + 0.5) / 2,
		recall5: (1 + 0.5) / 2,
		ndcg10:  (second + (1+1/math.Log2(7))/(1+second)) / 2,
	}
	for _, f := range [][2]float64{{got.recall1, want.recall1}, {got.recall3, want.recall3}, {got.recall5, want.recall5}, {got.ndcg10, want.ndcg10}} {
		if math.Abs(f[0]-f[1]) > 1e-12 {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func TestReadSet(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	api := write("api.json", `{"paths":{"/books/{id}/pages":{"parameters":[{"name":"id","in":"path"}],
		"get":{"summary":"Pages","description":"All pages","parameters":[{"name":"size","schema":{"enum":["s","l"]}}]}}}}`)
	calls := write("calls.json", `[{"query":"pages of a book","solution":["GET /books/{book_id}/pages"]}]`)

	s, err := readSet(calls + "=" + api)
	if err != nil {
		t.Fatal(err)
	}
	tool := s.catalog.Tools()[0]
	if tool.Name != "GET_books_id_pages" || tool.Title != "Pages" || tool.Description != "All pages" ||
		!strings.Contains(string(tool.InputSchema), `"size"`) || s.queries[0].right[0] != tool.Name {
		t.Errorf("got %+v %s and %+v", tool, tool.InputSchema, s.queries)
	}

	for _, tc := range []struct{ file, want string }{
		{calls, "give its OpenAPI description"},
		{write("other.json", `[{"query":"q","solution":["GET /else"]}]`) + "=" + api, "GET /else"},
		{write("gone.json", `{"tools":[{"name":"a"}],"queries":[{"query":"q","tools":["b"]}]}`), "the tool b"},
		{write("right.json", `{"tools":[{"name":"a"}],"queries":[{"query":"q","tools":[]}]}`), "no right tool"},
		{write("none.json", `{"tools":[{"name":"a"}]}`), "no queries"},
		{write("bad.json", `{`), "bad.json"},
		{filepath.Join(dir, "missing.json"), "missing.json"},
	} {
		if _, err := readSet(tc.file); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.file, err, tc.want)
		}
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, []string{"testdata/office.json"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"office               plain        50       60", "office               search     1000", "recall@5", "nDCG@10"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
