package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// word is a word of a query.
type word struct {
	text string // as written, in lower case
	stem string
}

// queryWords gives the different words of a query. Words that say nothing are
// left out unless there are no others.
func queryWords(query string) []word {
	s := stemmer{}
	var some, all []word
	for _, w := range words(query) {
		stem := s.stem(w)
		if slices.ContainsFunc(all, func(o word) bool { return o.stem == stem }) {
			continue
		}
		all = append(all, word{w, stem})
		if !stopWords[w] {
			some = append(some, word{w, stem})
		}
		if len(all) == maxWords {
			break
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// words splits text into words in lower case: at whatever is neither letter nor
// digit, between letters and digits, and at changes of case (listPullRequests,
// HTTPServer).
func words(text string) []string {
	var all []string
	var w []rune
	end := func() {
		if len(w) > 0 {
			all = append(all, strings.ToLower(string(w)))
			w = w[:0]
		}
	}
	rs := []rune(text)
	for i, r := range rs {
		switch {
		case r == '\'' || r == '’':
			// don't, movie's: one word, the stemmer takes the ending off
			if len(w) > 0 && i+1 < len(rs) && unicode.IsLetter(rs[i+1]) {
				w = append(w, '\'')
				continue
			}
			end()
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end()
			continue
		case len(w) > 0 && boundary(rs, i):
			end()
		}
		w = append(w, r)
	}
	end()
	return all
}

// boundary says whether a word begins at i.
func boundary(rs []rune, i int) bool {
	prev, r := rs[i-1], rs[i]
	switch {
	case unicode.IsDigit(prev) != unicode.IsDigit(r):
		return true
	case unicode.IsLower(prev) && unicode.IsUpper(r):
		return true
	case unicode.IsUpper(prev) && unicode.IsUpper(r):
		return i+1 < len(rs) && unicode.IsLower(rs[i+1])
	}
	return false
}

// stemmer stems English words (Snowball's English stemmer, "Porter2"), each once.
type stemmer map[string]string

func (s stemmer) stem(w string) string {
	if stem, ok := s[w]; ok {
		return stem
	}
	stem := english.Stem(w, true)
	s[w] = stem
	return stem
}

// stopWords say nothing about what is looked for: words of grammar.
var stopWords = wordSet(`
a an the this that these those it its he she they them his her their i me my mine we us our you your
and or but nor so if then than as of at by for with about into through to from in on up out off over under again
is am are was were be been being have has had having do does did doing will would shall should can could may might must
not no yes what which who whom whose when where why how there here all any both each few more most other some such only
own same too very just also please
`)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}
