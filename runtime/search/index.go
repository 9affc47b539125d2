package search

import (
	"math"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/catalog"
)

// index says which tools have which words.
type index struct {
	tools []*catalog.Tool
	// names are the words of the tools' names.
	names []nameWords
	// terms are the stems of words.
	terms map[string][]posting
	// idf is how rare each term is (inverse document frequency), above 0.
	idf map[string]float64
	// spelling is the shortest word of each stem, the first of several.
	spelling map[string]string
	// written holds the words of each term, as they stand somewhere by themselves. The
	// terms without are only names in one piece (listpullrequests), which nothing is
	// near to.
	written map[string][]spelled
	// inNames holds the terms of names, pairs those that stand there side by side.
	inNames map[string]bool
	pairs   map[[2]string]bool
	// initials are the terms that go by their first letters.
	initials map[string][]string
	// byName gives the tools of a name or alias, folded.
	byName map[string][]int
	// shapes are the stems, sorted, as words are compared with them.
	shapes []shape
}

// nameWords are the words of one tool's name: as they are written, and how many
// different ones are more than grammar.
type nameWords struct {
	written map[string]bool
	telling int
}

// posting says how much a term counts for one tool: its part of the score.
type posting struct {
	tool   int
	weight float64
	fields fieldSet
}

// k1 is how soon a term that stands there more often counts no more: BM25's
// usual range is 1.2 to 2.
const k1 = 1.6

// build reads the tools of a catalog.
func build(c *catalog.Catalog) index {
	x := index{tools: c.Tools(), terms: map[string][]posting{}, idf: map[string]float64{}, spelling: map[string]string{},
		written: map[string][]spelled{}, inNames: map[string]bool{}, pairs: map[[2]string]bool{}, byName: map[string][]int{}}
	actions := map[string]catalog.Action{}
	for _, a := range c.Actions {
		actions[a.Name] = a
	}
	stem, short := newStemmer(), initials{}
	var texts []tally
	means := make([]float64, len(fields)) // of the lengths of a field, over all tools
	for _, d := range c.Domains {
		for _, t := range d.Tools {
			counted := x.count(source{tool: t, domain: d, action: actions[t.Action], input: readInput(t.InputSchema)}, stem)
			for f := range fields {
				means[f] += counted.lengths[f] / float64(len(x.tools))
			}
			for _, name := range append(slices.Clone(t.Aliases), t.Name) {
				if folded := fold(name); folded != "" { // a name of signs alone is none that anybody asks for
					x.byName[folded] = append(x.byName[folded], len(texts))
				}
			}
			texts = append(texts, counted)
			name := slices.DeleteFunc(words(t.Name), func(w token) bool { return w.whole })
			short.count(name, stem)
			x.names = append(x.names, x.readName(name, stem))
		}
	}
	for i, text := range texts {
		for term, p := range text.postings(means) {
			p.tool = i
			x.terms[term] = append(x.terms[term], p)
		}
	}
	for term, postings := range x.terms {
		n := float64(len(postings))
		idf := math.Log(1 + (float64(len(x.tools))-n+0.5)/(n+0.5))
		x.idf[term] = idf
		for i, p := range postings {
			postings[i].weight = idf * p.weight * (k1 + 1) / (p.weight + k1)
		}
		if written := x.written[term]; written != nil {
			x.shapes = append(x.shapes, shape{term, written, spell(term)})
		}
	}
	x.initials = short.known()
	slices.SortFunc(x.shapes, func(a, b shape) int { return strings.Compare(a.term, b.term) })
	return x
}

// readName takes in the words of a tool's name.
func (x *index) readName(name []token, stem stemmer) nameWords {
	out := nameWords{written: map[string]bool{}}
	terms := map[string]bool{}
	for i, w := range name {
		term := stem.stem(w.text)
		if !terms[term] && !grammar[w.text] {
			out.telling++
		}
		terms[term], x.inNames[term], out.written[w.text] = true, true, true
		if i > 0 {
			x.pairs[[2]string{stem.stem(name[i-1].text), term}] = true
		}
	}
	return out
}

// tally is how often each term stands in each field of one tool.
type tally struct {
	counts  []map[string]float64
	lengths []float64
}

func (x *index) count(s source, stem stemmer) tally {
	out := tally{make([]map[string]float64, len(fields)), make([]float64, len(fields))}
	for f, field := range fields {
		out.counts[f] = map[string]float64{}
		for _, text := range field.texts(s) {
			all := words(text)
			for _, w := range all {
				term := stem.stem(w.text)
				out.counts[f][term]++
				if !w.whole && !slices.ContainsFunc(x.written[term], func(o spelled) bool { return o.text == w.text }) {
					x.written[term] = append(x.written[term], spell(w.text))
				}
				if old, ok := x.spelling[term]; !ok || len(w.text) < len(old) || len(w.text) == len(old) && w.text < old {
					x.spelling[term] = w.text
				}
			}
			out.lengths[f] += float64(len(all))
		}
	}
	return out
}

// postings gives what each term weighs in all fields together. means are the mean
// lengths of the fields.
func (t tally) postings(means []float64) map[string]posting {
	sums := map[string]posting{}
	for f, field := range fields {
		if len(t.counts[f]) == 0 {
			continue
		}
		norm := 1 - field.b + field.b*t.lengths[f]/means[f]
		for term, n := range t.counts[f] {
			p := sums[term]
			p.weight += field.weight * n / norm
			p.fields |= 1 << f
			sums[term] = p
		}
	}
	return sums
}

// named gives the tools whose name or alias is in the query in full: alone, or
// among other words where it is a word that only names have (create_branch).
func (x *index) named(query string) []int {
	out := slices.Clone(x.byName[fold(query)])
	for _, w := range strings.Fields(query) {
		if len(words(w)) > 1 {
			out = append(out, x.byName[fold(w)]...)
		}
	}
	return out
}
