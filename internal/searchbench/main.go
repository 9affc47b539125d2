// Command searchbench measures the ranking of package search on sets of queries
// with known right tools, beside plain BM25 with a stemmer:
//
//	go run ./internal/searchbench [FILE | FILE=OPENAPI]…
//
// Without files it takes the project's own set. It prints recall at 1, 3 and 5
// and nDCG at 10 in per cent, and the time to index and to search 1,000 tools.
package main

import (
	"fmt"
	"io"
	"os"
)

// ownSet is the project's own, from the folder of the module.
const ownSet = "internal/searchbench/testdata/files.json"

func main() {
	files := os.Args[1:]
	if len(files) == 0 {
		files = []string{ownSet}
	}
	if err := run(os.Stdout, files); err != nil {
		fmt.Fprintln(os.Stderr, "searchbench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, files []string) error {
	fmt.Fprintf(w, "%-20s %-8s %6s %8s %10s %10s %10s %10s\n", "set", "ranking", "tools", "queries", "recall@1", "recall@3", "recall@5", "nDCG@10")
	for _, file := range files {
		s, err := readSet(file)
		if err != nil {
			return err
		}
		for _, r := range rankings {
			f := measure(s, r.over(s.catalog))
			fmt.Fprintf(w, "%-20s %-8s %6d %8d %10.1f %10.1f %10.1f %10.1f\n", s.name, r.name, len(s.catalog.Tools()), len(s.queries),
				100*f.recall1, 100*f.recall3, 100*f.recall5, 100*f.ndcg10)
		}
	}
	return nil
}
