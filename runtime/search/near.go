package search

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metacue/metacue/runtime/nearest"
)

// How says why a word of a query was taken for a word of the catalog.
type How string

// The ways in which words meet.
const (
	Itself   How = ""         // they are one word
	Synonym  How = "synonym"  // they say the same of what a tool does
	Form     How = "form"     // one begins as the other does: rental, rent; repo, repository
	Typo     How = "typo"     // they differ by slips of the pen
	Part     How = "part"     // the word is put together from it and another: pull, of pullrequest
	Initials How = "initials" // the word is the first letters of words of a name: pr
	Lookup   How = "look-up"  // the word names something, which has to be looked up first
)

// near says whether it is a guess: guesses lift no destructive tool.
func (h How) near() bool { return h != Itself && h != Synonym }

// weights is what a word counts by the way in which it was met, at most. Each stands
// in the middle of a range that makes little difference (internal/searchbench).
var weights = map[How]float64{Itself: 1, Synonym: 0.3, Form: 0.6, Typo: 0.6, Part: 0.6, Initials: 0.6, Lookup: 0.8}

// meaning is a term of the index that a word may stand for.
type meaning struct {
	word, term string
	how        How
	weight     float64
	// group is the same for all meanings of which only one counts.
	group int
}

// meanings gives the terms that the words of a query stand for, each once for
// each word.
func (x *index) meanings(query []word) []meaning {
	var out []meaning
	var name string // a word that is a name of something
	given := map[string]bool{}
	for _, w := range query {
		given[w.stem] = true
	}
	group := 0
	for _, w := range query {
		group++
		begin := len(out)
		add := func(how How, term string, similarity float64) {
			same := func(m meaning) bool { return m.term == term }
			if how == Itself || !given[term] && !slices.ContainsFunc(out[begin:], same) {
				out = append(out, meaning{w.text, term, how, weights[how] * similarity, group})
			}
		}
		_, known := x.spelling[w.stem]
		if known {
			add(Itself, w.stem, 1)
		}
		for _, s := range synonyms[w.stem] {
			if _, ok := x.spelling[s]; ok {
				add(Synonym, s, 1)
			}
		}
		if !known {
			for _, term := range x.parts(w.text) {
				group++
				add(Part, term, 1)
			}
			group++
		}
		for _, n := range x.near(w, known) {
			add(n.how, n.term, n.weight)
		}
		short := x.initials[w.text]
		for _, term := range short {
			group++
			add(Initials, term, 1)
		}
		if known {
			continue
		}
		if w.capital && len(short) == 0 {
			name = w.text
		}
	}
	if _, ok := x.spelling[lookup]; ok && name != "" && !given[lookup] {
		out = append(out, meaning{name, lookup, Lookup, weights[Lookup], group + 1})
	}
	return out
}

// maxNear is how many terms a word is taken for at most, beside itself.
const maxNear = 3

// shape is a term with what makes comparing quick.
type shape struct {
	term    string
	written spelled // the shortest word of the term
	stem    spelled
}

// spelled is text with the set of its letters.
type spelled struct {
	text    string
	letters uint32
}

func spell(text string) spelled {
	s := spelled{text: text}
	for i := range len(text) {
		s.letters |= 1 << (text[i] % 32)
	}
	return s
}

// near gives the terms that are near to a word, the nearest first. Slips of the
// pen are looked for where the catalog does not know the word.
func (x *index) near(w word, known bool) []meaning {
	var out []meaning
	if len(w.stem) < minNear {
		return nil
	}
	if !known {
		written, stem := spell(w.text), spell(w.stem)
		for _, s := range x.shapes {
			similarity := max(slip(written, s.written), slip(stem, s.stem))
			if similarity > 0 {
				out = append(out, meaning{term: s.term, how: Typo, weight: similarity})
			}
		}
	}
	begin, _ := slices.BinarySearchFunc(x.shapes, w.stem[:minNear], func(s shape, p string) int { return strings.Compare(s.term, p) })
	for _, s := range x.shapes[begin:] {
		if !strings.HasPrefix(s.term, w.stem[:minNear]) {
			break
		}
		if similarity := sameForm(w.stem, s.term); similarity > 0 && s.term != w.stem {
			out = append(out, meaning{term: s.term, how: Form, weight: similarity})
		}
	}
	slices.SortStableFunc(out, func(a, b meaning) int { return cmp.Compare(b.weight, a.weight) })
	return out[:min(len(out), maxNear)]
}

// minNear is the shortest stem, in bytes, that others can be near to.
const minNear = 3

// sameForm says how alike two stems are by their beginnings, from 0 to 1: 0
// unless most of both is the same (rental, rent), or a is short for b (repo,
// repository).
func sameForm(a, b string) float64 {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	alike := float64(n) / float64(max(len(a), len(b)))
	if n == len(a) || n > minNear && (n == len(b) || alike >= 0.55) {
		return alike
	}
	return 0
}

// slip says how alike two words are that differ by slips of the pen, from 0 to 1:
// letters left out, added, exchanged or swapped. A word may have one from 4 bytes
// on, and two from 8; 0 when there are more.
func slip(a, b spelled) float64 {
	limit := 0
	switch n := len(a.text); {
	case n >= 8:
		limit = 2
	case n >= 4:
		limit = 1
	}
	if d := len(a.text) - len(b.text); limit == 0 || d > limit || -d > limit || bits.OnesCount32(a.letters^b.letters) > 2*limit {
		return 0
	}
	d := nearest.Distance(a.text, b.text)
	if d > limit {
		return 0
	}
	return 1 - float64(d)/float64(max(len(a.text), len(b.text)))
}

// minInitials is how many tools must have names with the same words for these to
// be known by their initials: what is said often is said short.
const minInitials = 3

// initials collects which words of names are known by their first letters: pr,
// the pull requests of list_pull_requests and others.
type initials map[string]map[string]int // letters to words, as stems, to how many tools have them

// count takes the runs of two and three words in one name.
func (in initials) count(name []token, stem stemmer) {
	for i := range name {
		var letters, terms string
		for n, t := range name[i:min(i+3, len(name))] {
			r, _ := utf8.DecodeRuneInString(t.text)
			letters, terms = letters+string(r), strings.TrimSpace(terms+" "+stem.stem(t.text))
			if n == 0 {
				continue
			}
			if in[letters] == nil {
				in[letters] = map[string]int{}
			}
			in[letters][terms]++
		}
	}
}

// known gives the terms that each initials stand for: those that most tools have.
func (in initials) known() map[string][]string {
	out := map[string][]string{}
	for letters, all := range in {
		terms := slices.MaxFunc(slices.Sorted(maps.Keys(all)), func(a, b string) int { return cmp.Compare(all[a], all[b]) })
		if all[terms] >= minInitials {
			out[letters] = strings.Fields(terms)
		}
	}
	return out
}

// parts gives the two words of the catalog that a word is put together from
// (pullrequest), as stems; none if it is not.
func (x *index) parts(w string) []string {
	if len(w) > maxWord {
		return nil
	}
	stem := newStemmer()
	for i := minNear; i <= len(w)-minNear; i++ {
		a, b := stem.stem(w[:i]), stem.stem(w[i:])
		if x.spelling[a] != "" && x.spelling[b] != "" {
			return []string{a, b}
		}
	}
	return nil
}
