package search

import (
	"math"
	"unicode/utf8"

	"github.com/metacue/metacue/runtime/catalog"
)

// doc is one tool of the index.
type doc struct{ tool *catalog.Tool }

// posting says how much a term counts for one tool: its part of the score.
type posting struct {
	doc    int
	weight float64
	fields fieldSet
}

// k1 is how soon a term that is there more often counts no more (BM25's usual
// range is 1.2 to 2).
const k1 = 1.2

func (x *Index) build() {
	s := stemmer{}
	tools := x.catalog.Tools()
	// counts[d][f] are the terms of field f of tool d; totals[f] is the length of
	// field f in all tools together.
	counts := make([][]map[string]float64, len(tools))
	lengths := make([][]float64, len(tools))
	totals := make([]float64, len(fields))
	domains := map[string]*catalog.Domain{}
	for _, d := range x.catalog.Domains {
		domains[d.Name] = d
	}
	for i, t := range tools {
		x.docs = append(x.docs, doc{t})
		in := readSchema(t)
		counts[i] = make([]map[string]float64, len(fields))
		lengths[i] = make([]float64, len(fields))
		for f, field := range fields {
			terms := map[string]float64{}
			for _, text := range field.texts(t, domains[t.Domain], in) {
				for _, w := range words(text) {
					if stopWords[w] {
						continue
					}
					terms[s.stem(w)]++
					lengths[i][f]++
				}
			}
			counts[i][f] = terms
			totals[f] += lengths[i][f]
		}
	}
	x.terms = map[string][]posting{}
	for i := range tools {
		sums := map[string]posting{}
		for f, field := range fields {
			length := 1.0
			if totals[f] > 0 {
				length = lengths[i][f] * float64(len(tools)) / totals[f]
			}
			for term, n := range counts[i][f] {
				p := sums[term]
				p.doc = i
				p.weight += field.weight * n / (1 - field.b + field.b*length)
				p.fields |= 1 << f
				sums[term] = p
			}
		}
		for term, p := range sums {
			x.terms[term] = append(x.terms[term], p)
		}
	}
	x.near = map[rune][]string{}
	for term, postings := range x.terms {
		idf := math.Log(1 + (float64(len(tools))-float64(len(postings))+0.5)/(float64(len(postings))+0.5))
		for i, p := range postings {
			postings[i].weight = idf * p.weight * (k1 + 1) / (p.weight + k1)
		}
		r, _ := utf8.DecodeRuneInString(term)
		x.near[r] = append(x.near[r], term)
	}
}

// meaning is a term that a word of a query may stand for.
type meaning struct {
	term   string
	near   bool
	weight float64
}

// meanings gives the terms of the index that a word stands for.
func (x *Index) meanings(w word) []meaning {
	if _, ok := x.terms[w.stem]; ok {
		return []meaning{{term: w.stem, weight: 1}}
	}
	return nil
}
