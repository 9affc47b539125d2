package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// token is one word of a text.
type token struct {
	text    string // in lower case
	capital bool   // it began with a capital letter
	whole   bool   // it is the humps before it in one piece
}

// words splits text into words: at whatever is neither letter nor digit, between
// letters and digits, and at changes of case (listPullRequests, HTTPServer). The
// ending of a contraction or genitive is no word: don't, movie's. Words of
// several humps are there in one piece too (WordPress, OAuth2): people write
// them without.
func words(text string) []token {
	var all []token
	rs := []rune(text)
	for i := 0; i < len(rs); {
		if !inWord(rs[i]) {
			i++
			continue
		}
		end := i
		for end < len(rs) && inWord(rs[end]) {
			end++
		}
		parts := humps(rs[i:end])
		all = append(all, parts...)
		if len(parts) == 2 || len(parts) == 3 {
			whole := newToken(rs[i:end])
			whole.whole = true
			all = append(all, whole)
		}
		i = end
		if i < len(rs) && (rs[i] == '\'' || rs[i] == '’') {
			i += 1 + ending(rs[i+1:])
		}
	}
	return all
}

func newToken(rs []rune) token {
	return token{text: strings.ToLower(string(rs)), capital: unicode.IsUpper(rs[0])}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// ending gives the length of the ending that follows an apostrophe, 0 for none:
// movie's, don't, they're, we'll.
func ending(rs []rune) int {
	n := 0
	for n < len(rs) && inWord(rs[n]) {
		n++
	}
	if n > 2 {
		return 0 // O'Reilly
	}
	return n
}

// humps splits a run of letters and digits at changes of case and kind. The s of
// several (IDs, PRs) belongs to the capitals before it.
func humps(rs []rune) []token {
	var parts []token
	begin := 0
	for i := 1; i < len(rs); i++ {
		prev, r := rs[i-1], rs[i]
		if unicode.IsDigit(prev) != unicode.IsDigit(r) ||
			unicode.IsLower(prev) && unicode.IsUpper(r) ||
			unicode.IsUpper(prev) && unicode.IsUpper(r) && i+1 < len(rs) && unicode.IsLower(rs[i+1]) && !several(rs[i+1:]) {
			parts = append(parts, newToken(rs[begin:i]))
			begin = i
		}
	}
	return append(parts, newToken(rs[begin:]))
}

// several says whether what follows a capital letter is the s of several alone.
func several(rs []rune) bool {
	return rs[0] == 's' && (len(rs) == 1 || !unicode.IsLower(rs[1]))
}

// fold takes away what people confuse in names: case and separators.
func fold(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if inWord(r) {
			return r
		}
		return -1
	}, s))
}

// word is a word of a query.
type word struct {
	token
	stem string
}

// queryWords gives the different words of a query, at most maxWords. Words that
// say nothing here are left out unless there are no others.
func (x *index) queryWords(query string) []word {
	stem := newStemmer()
	var all, telling []word
	for _, t := range words(query) {
		w := word{t, stem.stem(t.text)}
		if slices.ContainsFunc(all, func(o word) bool { return o.stem == w.stem }) {
			continue
		}
		all = append(all, w)
		if x.telling(w) && len([]rune(t.text)) > 1 && strings.Trim(t.text, "0123456789") != "" {
			telling = append(telling, w)
		}
		if len(all) == maxWords {
			break
		}
	}
	if len(telling) == 0 {
		return all
	}
	return telling
}

// telling says whether a word of a query may tell one tool from another.
func (x *index) telling(w word) bool {
	if asking[w.text] {
		return synonyms[w.stem] != nil || x.inNames[w.stem]
	}
	return !grammar[w.text]
}

// maxWord is the longest word, in bytes, that is looked at more closely than for
// whether it is there: nobody means a word by more, and the time grows with it.
const maxWord = 64

// stemmer stems English words (Snowball's English stemmer, "Porter 2"), each
// once.
type stemmer map[string]string

func newStemmer() stemmer { return stemmer{} }

func (s stemmer) stem(w string) string {
	if len(w) > maxWord {
		return w
	}
	stem, ok := s[w]
	if !ok {
		stem = english.Stem(w, true)
		s[w] = stem
	}
	return stem
}
