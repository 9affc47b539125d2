package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnSets holds the ranking above plain BM25 on the project's own sets.
func TestOwnSets(t *testing.T) {
	for _, file := range []string{"testdata/office.json", "testdata/shop.json"} {
		s, err := readSet(file)
		if err != nil {
			t.Fatal(err)
		}
		plain, ours := measure(s, rankings[0].over(s.catalog)), measure(s, ours.over(s.catalog))
		if ours.recall5 < plain.recall5+0.05 || ours.recall5 < 0.95 || ours.ndcg10 < 0.89 || ours.ndcg10 < plain.ndcg10+0.05 {
			t.Errorf("%s: ours %+v, plain %+v", s.name, ours, plain)
		}
	}
}

// TestByName holds how often a tool that is asked for by its own name is the first,
// and among the first five, whatever the form: said in full, and misspelt.
func TestByName(t *testing.T) {
	builtIn, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	office, err := readSet("testdata/office.json")
	if err != nil {
		t.Fatal(err)
	}
	shop, err := readSet("testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	// floor is lower where one letter is wrong, or two words are one: then it may be
	// another word.
	floors := func(form string) (recall1, recall5 float64) {
		switch form {
		case "snake_case", "camelCase", "kebab-case", "UPPER_CASE", "inonepiece", "words":
			return 1, 1
		case "other number":
			return 0.93, 1
		case "the lasttwo joined":
			return 0.9, 1
		case "letter left out", "letter twice", "letters swapped", "wrong letter", "short word misspelt":
			return 0.88, 0.96
		}
		return 0.97, 1
	}
	for _, s := range []*set{builtIn, office, shop} {
		find := ours.over(s.catalog)
		for _, form := range forms {
			asked := byName(s.catalog, form)
			f := measure(asked, find)
			if at1, at5 := floors(form.name); len(asked.queries) == 0 || f.recall1 < at1 || f.recall5 < at5 {
				t.Errorf("%s, %s: recall@1 %.3f of %.3f, recall@5 %.3f of %.3f, of %d queries", s.name, form.name, f.recall1, at1, f.recall5, at5, len(asked.queries))
			}
		}
	}
}

func TestForms(t *testing.T) {
	got := map[string]string{}
	for _, f := range forms {
		got[f.name] = f.ask(nameWords("list_pullRequest-threads"))
	}
	for form, want := range map[string]string{
		"snake_case": "list_pull_request_threads", "camelCase": "listPullRequestThreads", "inonepiece": "listpullrequestthreads",
		"VERB the REST": "list the pull request threads", "REST, VERB": "pull request threads list", "reversed": "threads request pull list",
		"other number": "list pull request thread", "the lasttwo joined": "list the pull requestthreads",
		"letter left out": "list pull reuest threads", "letter twice": "list pull reqquest threads", "letters swapped": "list pull reuqest threads",
		"wrong letter": "list pull rexuest threads", "short word misspelt": "list pll request threads",
	} {
		if got[form] != want {
			t.Errorf("%s: got %q, want %q", form, got[form], want)
		}
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
	for _, want := range []string{"office               plain        50       60", "office               search     1000", "recall@5", "nDCG@10",
		"office               VERB the REST              50", "built-in             reversed                  11"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
