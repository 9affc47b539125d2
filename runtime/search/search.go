// Package search ranks the tools of a catalog for a query in words. It knows
// the catalog alone: what it finds is in it, so an Index over a catalog that is
// within a caller's bounds leaks no name of what is not.
//
// The ranking is BM25F (Robertson, Zaragoza: The Probabilistic Relevance
// Framework, 2009, section 3.6): a word counts more the fewer tools it belongs
// to and the weightier the field where it stands. The table fields says which
// there are. Words meet by their stems; one that no tool has meets those that
// are nearly it, for less.
package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/metacue/metacue/runtime/catalog"
)

// Index finds tools of one catalog. It is built at the first Find and is safe
// for concurrent use.
type Index struct {
	catalog *catalog.Catalog
	once    sync.Once
	docs    []doc
	terms   map[string][]posting
	// near holds the terms that a misspelt word is compared with, by their first
	// letter.
	near map[rune][]string
}

// Options narrows a search. The zero value is everything.
type Options struct {
	// Domain and Action leave the tools of one domain, of one action; "" for all.
	Domain, Action string
	// Limit is how many hits there are at most; 0 for all.
	Limit int
}

// Hit is one tool found.
type Hit struct {
	Tool *catalog.Tool
	// Score is comparable within one search only.
	Score float64
	// Why says what the score is made of, the largest part first.
	Why []Match
}

// Match is what one word of a query adds to a score.
type Match struct {
	// Word is the query's word as written.
	Word string
	// Near is the catalog's word, by its stem, that it is nearly; "" when it is
	// that word.
	Near string
	// Fields are the parts of the tool where it stands, the weightiest first.
	Fields []string
	Score  float64
}

// New makes an index over a catalog.
func New(c *catalog.Catalog) *Index { return &Index{catalog: c} }

// maxWords is how many different words of a query count. Nobody asks in more,
// and the time that a search takes grows with them.
const maxWords = 100

// Find ranks the tools that a query in words may mean, the best first, ties by
// name. Tools that no word of it fits are left out.
func (x *Index) Find(query string, o Options) []Hit {
	x.once.Do(x.build)
	hits := make([]*found, len(x.docs))
	for _, w := range queryWords(query) {
		for _, m := range x.meanings(w) {
			for _, p := range x.terms[m.term] {
				d := &x.docs[p.doc]
				if o.Domain != "" && d.tool.Domain != o.Domain || o.Action != "" && d.tool.Action != o.Action {
					continue
				}
				h := hits[p.doc]
				if h == nil {
					h = &found{doc: d}
					hits[p.doc] = h
				}
				h.add(w, m, p)
			}
		}
	}
	hits = slices.DeleteFunc(hits, func(h *found) bool { return h == nil })
	exact := slices.ContainsFunc(hits, func(h *found) bool { return h.exact > 0 })
	slices.SortFunc(hits, func(a, b *found) int {
		return cmp.Or(
			cmp.Compare(a.class(exact), b.class(exact)),
			cmp.Compare(b.score(), a.score()),
			strings.Compare(a.doc.tool.Name, b.doc.tool.Name))
	})
	if o.Limit > 0 && len(hits) > o.Limit {
		hits = hits[:o.Limit]
	}
	out := make([]Hit, len(hits))
	for i, h := range hits {
		out[i] = h.hit()
	}
	return out
}

// found is a tool while its score is added up.
type found struct {
	doc         *doc
	exact, near float64
	parts       []part
}

// part is what one word added.
type part struct {
	word  word
	as    meaning
	at    fieldSet
	score float64
}

func (h *found) add(w word, m meaning, p posting) {
	score := m.weight * p.weight
	if m.near {
		h.near += score
	} else {
		h.exact += score
	}
	h.parts = append(h.parts, part{w, m, p.fields, score})
}

// score is what the tool is ranked by. What a destructive tool has of words that
// are nearly its own does not count beside one that is: a slip of the pen must
// not lift it above the tool that was meant.
func (h *found) score() float64 {
	if h.doc.tool.Effect == catalog.Destructive && h.exact > 0 {
		return h.exact
	}
	return h.exact + h.near
}

// class puts a destructive tool that was found by near misses alone behind all
// others, if any word was found exactly.
func (h *found) class(exact bool) int {
	if exact && h.doc.tool.Effect == catalog.Destructive && h.exact == 0 {
		return 1
	}
	return 0
}

func (h *found) hit() Hit {
	out := Hit{Tool: h.doc.tool, Score: h.score()}
	for _, p := range h.parts {
		m := Match{Word: p.word.text, Fields: p.at.names(), Score: p.score}
		if p.as.near {
			m.Near = p.as.term
			if h.doc.tool.Effect == catalog.Destructive && h.exact > 0 {
				m.Score = 0
			}
		}
		out.Why = append(out.Why, m)
	}
	slices.SortStableFunc(out.Why, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return out
}
