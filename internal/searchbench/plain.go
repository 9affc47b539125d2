package main

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/metacue/metacue/runtime/catalog"
)

// plain is the base line: BM25 (k1 = 1.2, b = 0.75) with stop words and a stemmer
// over one bag of words a tool, from its name, title, description and the names
// and descriptions of its arguments.
type plain struct {
	tools   []*catalog.Tool
	counts  []map[string]float64
	lengths []float64
	mean    float64
	holding map[string]float64 // how many tools hold a term
}

func newPlain(c *catalog.Catalog) *plain {
	p := &plain{tools: c.Tools(), holding: map[string]float64{}}
	for _, t := range p.tools {
		text := t.Name + " " + t.Title + " " + t.Description
		var s struct {
			Properties map[string]struct{ Description string }
		}
		_ = json.Unmarshal(t.InputSchema, &s) // the set made it
		for name, a := range s.Properties {
			text += " " + name + " " + a.Description
		}
		counts := map[string]float64{}
		terms := plainTerms(text)
		for _, term := range terms {
			counts[term]++
		}
		for term := range counts {
			p.holding[term]++
		}
		p.counts = append(p.counts, counts)
		p.lengths = append(p.lengths, float64(len(terms)))
		p.mean += float64(len(terms)) / float64(len(p.tools))
	}
	return p
}

func (p *plain) find(query string, limit int) []string {
	const k1, b = 1.2, 0.75
	scores := make([]float64, len(p.tools))
	for _, term := range plainTerms(query) {
		n := p.holding[term]
		idf := math.Log(1 + (float64(len(p.tools))-n+0.5)/(n+0.5))
		for i, counts := range p.counts {
			tf := counts[term]
			scores[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*p.lengths[i]/p.mean))
		}
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(scores[j], scores[i]), strings.Compare(p.tools[i].Name, p.tools[j].Name))
	})
	var names []string
	for _, i := range order[:min(limit, len(order))] {
		if scores[i] > 0 {
			names = append(names, p.tools[i].Name)
		}
	}
	return names
}

// plainTerms splits text at case and at whatever is no letter or digit.
func plainTerms(text string) []string {
	var spaced []rune
	var prev rune
	for _, r := range text {
		if unicode.IsLower(prev) && unicode.IsUpper(r) {
			spaced = append(spaced, ' ')
		}
		spaced = append(spaced, r)
		prev = r
	}
	var terms []string
	for _, w := range strings.FieldsFunc(strings.ToLower(string(spaced)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !english.IsStopWord(w) {
			terms = append(terms, english.Stem(w, false))
		}
	}
	return terms
}
