// Command searchbench measures the ranking of package search on sets of queries
// with known right tools, beside plain BM25 with a stemmer:
//
//	go run ./internal/searchbench [FILE | FILE=OPENAPI | DIR]…
//
// A folder stands for its files of JSON. Without files it takes the project's own
// sets. It prints recall at 1, 3 and 5 and nDCG at 10 in per cent; how often each
// tool of a set, and of the built-in catalog, is the first and among the first five
// where it is asked for by its own name, in many forms (forms); and the time to
// index 1,000 tools of each set and to ask them a query.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// ownSets are the project's own, from the folder of the module.
const ownSets = "internal/searchbench/testdata"

func main() {
	files := os.Args[1:]
	if len(files) == 0 {
		files = []string{ownSets}
	}
	if err := run(os.Stdout, files); err != nil {
		fmt.Fprintln(os.Stderr, "searchbench:", err)
		os.Exit(1)
	}
}

// inFolders puts the files of JSON of a folder into its place.
func inFolders(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			files = append(files, arg)
			continue
		}
		in, err := filepath.Glob(filepath.Join(arg, "*.json"))
		if err != nil {
			return nil, err
		}
		if len(in) == 0 {
			return nil, fmt.Errorf("%s holds no files of JSON", arg)
		}
		files = append(files, in...)
	}
	return files, nil
}

func run(w io.Writer, files []string) error {
	var sets []*set
	files, err := inFolders(files)
	if err != nil {
		return err
	}
	for _, file := range files {
		s, err := readSet(file)
		if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	fmt.Fprintf(w, "%-20s %-8s %6s %8s %9s %9s %9s %9s\n", "set", "ranking", "tools", "queries", "recall@1", "recall@3", "recall@5", "nDCG@10")
	for _, s := range sets {
		for _, r := range rankings {
			f := measure(s, r.over(s.catalog))
			fmt.Fprintf(w, "%-20s %-8s %6d %8d %9.1f %9.1f %9.1f %9.1f\n", s.name, r.name, len(s.catalog.Tools()), len(s.queries),
				100*f.recall1, 100*f.recall3, 100*f.recall5, 100*f.ndcg10)
		}
	}
	b, err := builtIn()
	if err != nil {
		return err
	}
	for _, s := range append(slices.Clone(sets), b) {
		fmt.Fprintf(w, "\n%-20s %-20s %8s %9s %9s\n", "set", "name asked as", "queries", "recall@1", "recall@5")
		find := ours.over(s.catalog)
		for _, form := range forms {
			asked := byName(s.catalog, form)
			if len(asked.queries) == 0 {
				continue
			}
			f := measure(asked, find)
			fmt.Fprintf(w, "%-20s %-20s %8d %9.1f %9.1f\n", s.name, form.name, len(asked.queries), 100*f.recall1, 100*f.recall5)
		}
	}
	fmt.Fprintf(w, "\n%-20s %-8s %6s %12s %12s\n", "set", "ranking", "tools", "index", "query")
	for _, s := range sets {
		c := many(s.catalog, 1000)
		for _, r := range rankings {
			index, query := timing(s, c, r)
			fmt.Fprintf(w, "%-20s %-8s %6d %9.1f ms %9.3f ms\n", s.name, r.name, len(c.Tools()), millis(index), millis(query))
		}
	}
	return nil
}
