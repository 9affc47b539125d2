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
	Joined   How = "joined"   // the word is two words of a name, written as one: pull, of pullrequest
	Part     How = "part"     // the word is put together from it and another
	Initials How = "initials" // the word is the first letters of words of a name: pr
	Lookup   How = "look-up"  // the word names something, which has to be looked up first
	Name     How = "name"     // the words say so much of the tool's name (nameWeight)
)

// ways says what a word counts by the way in which it was met, at most, and whether
// that way is a guess: guesses lift no destructive tool. Each weight stands in the
// middle of a range that makes little difference (internal/searchbench).
var ways = map[How]struct {
	weight float64
	guess  bool
}{
	Itself: {1, false}, Synonym: {0.3, false}, Joined: {0.9, false}, Form: {0.6, true}, Typo: {0.6, true}, Part: {0.6, true},
	Initials: {0.6, true}, Lookup: {0.8, true},
}

// near says whether it is a guess.
func (h How) near() bool { return ways[h].guess }

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
		_, known := x.spelling[w.stem]
		asked := x.asked(w)
		add := func(how How, term string, similarity float64) {
			same := func(m meaning) bool { return m.term == term }
			if how == Itself || !given[term] && !slices.ContainsFunc(out[begin:], same) {
				out = append(out, meaning{w.text, term, how, ways[how].weight * similarity, group})
			}
		}
		// noRarer keeps a word that the catalog knows from counting more where it is
		// taken for a rarer one than where it stands itself.
		noRarer := func(term string) float64 {
			if known {
				return min(1, asked*x.idf[w.stem]/x.idf[term])
			}
			return 1
		}
		if known {
			add(Itself, w.stem, asked)
		}
		for _, s := range synonyms[w.stem] {
			if _, ok := x.spelling[s]; ok {
				add(Synonym, s, noRarer(s))
			}
		}
		parts, how := x.parts(w.text, known)
		for _, term := range parts {
			group++
			add(how, term, 1)
		}
		if how != Joined {
			if len(parts) > 0 {
				group++
			}
			for _, n := range x.near(w, known) {
				add(n.how, n.term, n.weight*noRarer(n.term))
			}
		}
		short := x.initials[w.text]
		if short == nil {
			short = x.initials[strings.TrimSuffix(w.text, "s")] // PRs
		}
		for _, term := range short {
			group++
			add(Initials, term, noRarer(term))
		}
		if known {
			continue
		}
		if w.capital && len(short) == 0 {
			name = w.text
		}
	}
	if _, ok := x.spelling[lookup]; ok && name != "" && !given[lookup] {
		out = append(out, meaning{name, lookup, Lookup, ways[Lookup].weight, group + 1})
	}
	return out
}

// asked says how much a word of a query counts, from 0 to 1. One of asking is no
// rarer than its synonyms in names are: whoever says show may mean get.
func (x *index) asked(w word) float64 {
	out := 1.0
	if asking[w.text] {
		for _, s := range synonyms[w.stem] {
			if own := x.idf[w.stem]; own > 0 && x.inNames[s] {
				out = min(out, x.idf[s]/own)
			}
		}
	}
	return out
}

// maxNear is how many terms a word is taken for at most, beside itself.
const maxNear = 3

// shape is a term with what makes comparing quick.
type shape struct {
	term    string
	written []spelled // the words of the term
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
// pen are looked for where the catalog does not know the word; only the fewest
// that explain it count.
func (x *index) near(w word, known bool) []meaning {
	var out []meaning
	if len(w.stem) < minNear {
		return nil
	}
	if !known {
		written, stem := spell(w.text), spell(w.stem)
		least := maxSlips
		for _, s := range x.shapes {
			// A form that no text has is as far as one slip more.
			n, length := slips(stem, s.stem)+1, max(len(w.stem), len(s.term))
			for _, o := range s.written {
				if m := slips(written, o); m < n {
					n, length = m, max(len(w.text), len(o.text))
				}
			}
			if n < least {
				out, least = nil, n
			}
			if n == least {
				out = append(out, meaning{term: s.term, how: Typo, weight: 1 - float64(n)/float64(length)})
			}
		}
	}
	misspelt := len(out) > 0
	begin, _ := slices.BinarySearchFunc(x.shapes, w.stem[:minNear], func(s shape, p string) int { return strings.Compare(s.term, p) })
	for _, s := range x.shapes[begin:] {
		if !strings.HasPrefix(s.term, w.stem[:minNear]) {
			break
		}
		whole := strings.HasPrefix(s.term, w.stem) || strings.HasPrefix(w.stem, s.term)
		if s.term == w.stem || misspelt && !whole {
			continue
		}
		if similarity := sameForm(w.stem, s.term); similarity > 0 {
			out = append(out, meaning{term: s.term, how: Form, weight: similarity})
		}
	}
	slices.SortStableFunc(out, func(a, b meaning) int { return cmp.Compare(b.weight, a.weight) })
	return out[:min(len(out), maxNear)]
}

// minNear is the shortest stem, in bytes, that others can be near to.
const minNear = 3

// sameForm says how alike two stems are by their beginnings, from 0 to 1: 0
// unless two thirds of both are the same (rental, rent; not comment, commit), or one
// is short for the other (repo, repository).
func sameForm(a, b string) float64 {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	alike := float64(n) / float64(max(len(a), len(b)))
	if n == len(a) || n > minNear && (n == len(b) || alike >= 0.65) {
		return alike
	}
	return 0
}

// maxSlips is how many slips of the pen a word may have.
const maxSlips = 2

// slips says by how many slips of the pen two words differ: letters left out,
// added, exchanged or swapped. A word may have one from 4 bytes on, and two from
// 8; above maxSlips when there are more.
func slips(a, b spelled) int {
	limit := 0
	switch n := len(a.text); {
	case n >= 8:
		limit = maxSlips
	case n >= 4:
		limit = 1
	}
	if d := len(a.text) - len(b.text); limit == 0 || d > limit || -d > limit || bits.OnesCount32(a.letters^b.letters) > 2*limit {
		return maxSlips + 1
	}
	if d := nearest.Distance(a.text, b.text); d <= limit {
		return d
	}
	return maxSlips + 1
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

// parts gives the two words of the catalog that a word is put together from, as
// stems: two that stand side by side in a name (pullrequest), whether or not the
// catalog knows the word elsewhere; or else any two, if it does not.
func (x *index) parts(w string, known bool) ([]string, How) {
	if len(w) > maxWord {
		return nil, Part
	}
	stem := newStemmer()
	var other []string
	for i := minNear; i <= len(w)-minNear; i++ {
		a, b := stem.stem(w[:i]), stem.stem(w[i:])
		if x.pairs[[2]string{a, b}] {
			return []string{a, b}, Joined
		}
		if other == nil && !known && x.spelling[a] != "" && x.spelling[b] != "" {
			other = []string{a, b}
		}
	}
	return other, Part
}
