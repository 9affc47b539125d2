package main

import (
	"slices"
	"strings"
	"unicode"

	"github.com/metacue/metacue/runtime/catalog"
)

// form is a way to ask for a tool by its own name: what people and agents who
// know what they want write. ask gets the words of the name, in lower case; ""
// where a name has no such form.
type form struct {
	name string
	ask  func(words []string) string
}

// forms are asked of every tool of a catalog: whoever says the name of a tool, in
// whatever way, means that tool.
var forms = []form{
	{"snake_case", func(w []string) string { return strings.Join(w, "_") }},
	{"camelCase", func(w []string) string { return w[0] + strings.Join(each(w[1:], title), "") }},
	{"kebab-case", func(w []string) string { return strings.Join(w, "-") }},
	{"UPPER_CASE", func(w []string) string { return strings.ToUpper(strings.Join(w, "_")) }},
	{"inonepiece", func(w []string) string { return strings.Join(w, "") }},
	{"words", func(w []string) string { return strings.Join(w, " ") }},
	{"VERB the REST", around("", " the ", "")},
	{"VERB all REST", around("", " all ", "")},
	{"please …", around("please ", " the ", " for me")},
	{"I want to …", around("I want to ", " a ", "")},
	{"can you … of ours?", around("Can you ", " this ", " of ours?")},
	{"REST, VERB", func(w []string) string { return strings.Join(append(slices.Clone(w[1:]), w[0]), " ") }},
	{"reversed", func(w []string) string { w = slices.Clone(w); slices.Reverse(w); return strings.Join(w, " ") }},
	{"other number", func(w []string) string { return changed(w, len(w)-1, otherNumber) }},
	{"the lasttwo joined", joined},
	{"letter left out", func(w []string) string { return changed(w, longest(w), slipped(func(a, b string) string { return b })) }},
	{"letter twice", func(w []string) string {
		return changed(w, longest(w), slipped(func(a, b string) string { return a + a + b }))
	}},
	{"letters swapped", func(w []string) string {
		return changed(w, longest(w), slipped(func(a, b string) string { return b + a }))
	}},
	{"wrong letter", func(w []string) string {
		return changed(w, longest(w), slipped(func(a, b string) string { return "x" + b }))
	}},
	{"short word misspelt", func(w []string) string {
		return changed(w, shortest(w), slipped(func(a, b string) string { return b }))
	}},
}

// byName gives what asks for each tool of a catalog in one form.
func byName(c *catalog.Catalog, f form) *set {
	s := &set{name: f.name, catalog: c}
	for _, t := range c.Tools() {
		if q := f.ask(nameWords(t.Name)); q != "" {
			s.queries = append(s.queries, query{q, []string{t.Name}})
		}
	}
	return s
}

// nameWords splits a name at case and at whatever is no letter or digit.
func nameWords(name string) []string {
	var spaced []rune
	var prev rune
	for _, r := range name {
		if unicode.IsLower(prev) && unicode.IsUpper(r) {
			spaced = append(spaced, ' ')
		}
		spaced = append(spaced, r)
		prev = r
	}
	return strings.FieldsFunc(strings.ToLower(string(spaced)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// around puts the first word of a name, which says what is done, and the others
// into a sentence.
func around(before, between, after string) func([]string) string {
	return func(w []string) string {
		if len(w) < 2 {
			return ""
		}
		return before + w[0] + between + strings.Join(w[1:], " ") + after
	}
}

func each(words []string, do func(string) string) []string {
	var out []string
	for _, w := range words {
		out = append(out, do(w))
	}
	return out
}

func title(w string) string { return strings.ToUpper(w[:1]) + w[1:] }

// changed gives a name in words, one of them changed; "" where it is as before.
func changed(words []string, i int, change func(string) string) string {
	words = slices.Clone(words)
	old := words[i]
	if words[i] = change(old); words[i] == old {
		return ""
	}
	return strings.Join(words, " ")
}

func otherNumber(w string) string {
	switch {
	case strings.HasSuffix(w, "ies"):
		return strings.TrimSuffix(w, "ies") + "y"
	case strings.HasSuffix(w, "ss"):
		return w
	case strings.HasSuffix(w, "s"):
		return strings.TrimSuffix(w, "s")
	case strings.HasSuffix(w, "y") && !strings.HasSuffix(w, "ay"):
		return strings.TrimSuffix(w, "y") + "ies"
	}
	return w + "s"
}

// joined writes the last two words of a name of three or more as one, in a
// sentence, so that it is not the name.
func joined(w []string) string {
	if len(w) < 3 {
		return ""
	}
	last := len(w) - 2
	return around("", " the ", "")(append(slices.Clone(w[:last]), w[last]+w[last+1]))
}

// slipped exchanges the two letters in the middle of a word of four or more.
func slipped(pair func(a, b string) string) func(string) string {
	return func(w string) string {
		if len(w) < 4 {
			return w
		}
		i := len(w)/2 - 1
		return w[:i] + pair(w[i:i+1], w[i+1:i+2]) + w[i+2:]
	}
}

func longest(words []string) int {
	n := 0
	for i, w := range words {
		if len(w) > len(words[n]) {
			n = i
		}
	}
	return n
}

// shortest is the shortest word behind the first that can be misspelt.
func shortest(words []string) int {
	n := 0
	for i, w := range words[1:] {
		if len(w) >= 4 && (n == 0 || len(w) < len(words[n])) {
			n = i + 1
		}
	}
	return n
}
