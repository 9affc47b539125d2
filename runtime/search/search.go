// Package search ranks the tools of a catalog for a query in words. It knows
// the catalog alone: what it finds is in it, so an Index over a catalog that is
// within a caller's bounds leaks no name of what is not.
//
// The ranking is BM25F (Robertson, Zaragoza: The Probabilistic Relevance
// Framework, 2009, section 3.6): a word counts more the fewer tools have it, and
// the weightier the part of the tool where it stands (the table fields). Words
// meet by their stems, and for less by what is near to them (near.go). The whole
// counts more the more of the tool's name it says (nameWeight).
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
	index
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
	// Score is above 0 and comparable within one search only.
	Score float64
	// Why says what the score is the sum of, the largest part first.
	Why []Match
}

// Match is what one word of a query adds to the score of a tool, or what all
// words that say its name add together.
type Match struct {
	// Word is the query's, in lower case; of several, with spaces between them.
	Word string
	// As is the catalog's word that it was taken for, or the tool's name; "" when it
	// is that word, whatever its ending.
	As string
	// How says why Word was taken for As: see the constants.
	How How
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
// name. A tool that is asked for by its name or alias in full is first; one that
// no word fits is left out.
func (x *Index) Find(query string, o Options) []Hit {
	x.once.Do(func() { x.index = build(x.catalog) })
	all := make([]found, len(x.tools))
	at := func(i int) *found {
		t := x.tools[i]
		if o.Domain != "" && t.Domain != o.Domain || o.Action != "" && t.Action != o.Action {
			return nil
		}
		all[i].tool, all[i].name = t, x.names[i]
		return &all[i]
	}
	meanings := x.meanings(x.queryWords(query))
	for i := range meanings {
		m := &meanings[i]
		for _, p := range x.terms[m.term] {
			if f := at(p.tool); f != nil {
				f.add(m, p)
			}
		}
	}
	for _, i := range x.named(query) {
		if f := at(i); f != nil {
			f.named = true
		}
	}
	var hits []*found
	for i := range all {
		if f := &all[i]; f.tool != nil {
			f.sum()
			hits = append(hits, f)
		}
	}
	slices.SortFunc(hits, func(a, b *found) int {
		return cmp.Or(
			cmp.Compare(a.class(), b.class()),
			cmp.Compare(b.score, a.score),
			strings.Compare(a.tool.Name, b.tool.Name))
	})
	if o.Limit > 0 && len(hits) > o.Limit {
		hits = hits[:o.Limit]
	}
	out := make([]Hit, len(hits))
	for i, f := range hits {
		out[i] = x.hit(f)
	}
	return out
}

// found is a tool while its score is added up.
type found struct {
	tool *catalog.Tool
	name nameWords
	// named says that the query holds the tool's name or alias in full.
	named bool
	// exact is what the query's own words add, near what words near to them do.
	exact, near float64
	// score is what they add together, forName of it what is for saying the tool's
	// name.
	score, forName float64
	parts          []part
}

// part is what one word added.
type part struct {
	*meaning
	fields fieldSet
	score  float64
}

// add counts what a meaning of a word adds. Of several that one word has, the one
// that adds most counts: a word is not said twice because a tool has two forms of
// it. For a destructive tool a near one never takes the place of the word itself.
func (f *found) add(m *meaning, p posting) {
	if m.how == Joined && slices.ContainsFunc(f.parts, func(o part) bool { return o.word == m.word && o.how == Itself && o.fields&inName != 0 }) {
		return // its name has them as one: search_workitem
	}
	new := part{m, p.fields, m.weight * p.weight}
	if last := len(f.parts) - 1; last >= 0 && f.parts[last].group == m.group {
		old := f.parts[last]
		if new.score <= old.score || f.tool.Effect == catalog.Destructive && m.how.near() && !old.how.near() {
			return
		}
		f.parts = f.parts[:last]
	}
	if f.parts == nil {
		f.parts = make([]part, 0, 4) // most queries are short
	}
	f.parts = append(f.parts, new)
}

// sum adds the parts up.
func (f *found) sum() {
	var said float64 // how many words of the name
	for i, p := range f.parts {
		if f.saysName(p) && !slices.ContainsFunc(f.parts[:i], func(o part) bool { return o.term == p.term && f.saysName(o) }) {
			said += f.saying(p)
		}
		if p.how.near() {
			f.near += p.score
		} else {
			f.exact += p.score
		}
	}
	f.score = f.exact
	if !f.cautious() {
		f.score += f.near
	}
	if said > 0 {
		f.forName = f.score * nameWeight * min(1, said/float64(f.name.telling))
		f.score += f.forName
	}
}

// nameWeight is how much more a tool counts whose whole name the query says. Any
// from 0.2 to 0.4 makes little difference (internal/searchbench).
const nameWeight = 0.3

// inOtherWords is what it counts to say a word of a name in another form or by a
// synonym: list_orders and get_orders differ from list_order and make_orders.
const inOtherWords = 0.7

// saysName says whether a part is a word of the tool's name, and not guessed for a
// destructive tool.
func (f *found) saysName(p part) bool {
	return p.fields&inName != 0 && f.name.telling > 0 && !(p.how.near() && f.tool.Effect == catalog.Destructive)
}

// saying is how well a part says its word of the name, from 0 to 1.
func (f *found) saying(p part) float64 {
	switch {
	case p.how.near() || p.how == Joined:
		return p.weight
	case p.how == Itself && f.name.written[p.word]:
		return 1
	}
	return inOtherWords
}

// cautious says that near words do not count: what a destructive tool owes to
// them must not lift it above a tool whose own words were written.
func (f *found) cautious() bool { return f.tool.Effect == catalog.Destructive && f.exact > 0 }

// class is where a tool stands before scores are compared: a destructive one that
// was only guessed comes after all others.
func (f *found) class() int {
	switch {
	case f.named:
		return 0
	case f.exact == 0 && f.tool.Effect == catalog.Destructive:
		return 2
	}
	return 1
}

// hit is f for whoever asked.
func (x *index) hit(f *found) Hit {
	h := Hit{Tool: f.tool, Score: f.score}
	var saying []string
	for _, p := range f.parts {
		if p.how.near() && f.cautious() {
			continue
		}
		m := Match{Word: p.word, How: p.how, Fields: p.fields.names(), Score: p.score}
		if p.how != Itself {
			m.As = x.spelling[p.term]
		}
		h.Why = append(h.Why, m)
		if f.saysName(p) && !slices.Contains(saying, p.word) {
			saying = append(saying, p.word)
		}
	}
	if len(saying) > 0 {
		h.Why = append(h.Why, Match{Word: strings.Join(saying, " "), As: f.tool.Name, How: Name, Fields: inName.names(), Score: f.forName})
	}
	slices.SortStableFunc(h.Why, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return h
}
