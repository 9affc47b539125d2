package main

import (
	"fmt"
	"time"

	"github.com/metacue/metacue/runtime/catalog"
)

// many gives a catalog of n tools: those of c over and over, each time with a
// name and a word of its own, so that the vocabulary grows too.
func many(c *catalog.Catalog, n int) *catalog.Catalog {
	from := c.Tools()
	var tools []*catalog.Tool
	for i := range n {
		t := *from[i%len(from)]
		if round := i / len(from); round > 0 {
			t.Name = fmt.Sprintf("%s_%d", t.Name, round)
			t.Description += " " + madeUp(i)
		}
		tools = append(tools, &t)
	}
	return newCatalog(tools)
}

// madeUp gives word i of a language of its own.
func madeUp(i int) string {
	syllables := []string{"ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"}
	return syllables[i%10] + syllables[i/10%10] + syllables[i/100%10] + syllables[(i+3)%10]
}

// timing gives how long it takes until the first query is answered, which builds
// the index, and then a query on average.
func timing(s *set, c *catalog.Catalog, r ranking) (index, query time.Duration) {
	begin := time.Now()
	find := r.over(c)
	find(s.queries[0].text)
	index = time.Since(begin)
	n := min(len(s.queries), 200)
	begin = time.Now()
	for _, q := range s.queries[:n] {
		find(q.text)
	}
	return index, time.Since(begin) / time.Duration(n)
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
