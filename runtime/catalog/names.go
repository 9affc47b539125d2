package catalog

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// label is a name that a catalog gives to something.
type label struct {
	what string // tool, domain, noun or action
	name string
}

// labels are the names of the tools of a catalog, with their aliases, and of the
// domains, nouns and actions that have a tool. The actions that every catalog has
// are words of the language and tell of nothing.
func labels(c *Catalog) map[label]bool {
	all := map[label]bool{}
	for _, t := range c.Tools() {
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			all[label{"tool", name}] = true
		}
		all[label{"domain", t.Domain}] = true
		if t.Noun != "" {
			all[label{"noun", t.Noun}] = true
		}
		if !slices.Contains([]string{"read", "create", "update", "delete"}, t.Action) {
			all[label{"action", t.Action}] = true
		}
	}
	return all
}

// matcher finds names in prose however they are written there: secret_purge also as
// mcp__server__secret_purge, secretPurge, SECRET-PURGE, secret\_purge and secret_*.
// It has them by their letters and digits in lower case.
type matcher struct {
	gone    map[string][]wanted
	kept    map[string]string // as they are spelt
	longest int               // of the keys of gone and kept
	// begin has the keys of gone by what they begin with, firstLetters or all of them.
	begin map[string][]string
}

// wanted is a name that is looked for.
type wanted struct {
	label
	// plain says that the name may be a word of the language, so that it counts
	// only where what is around it says that it is a name.
	plain bool
	// exact says that a name in bounds differs in case and separators alone.
	exact bool
}

// capitalInside finds names such as listPages and listIDs.
var capitalInside = regexp.MustCompile(`[a-z].*[A-Z]|[A-Z][A-Z]+[a-z]`)

// several says whether a name shows that it is one by what is inside it.
func several(name string) bool {
	return strings.ContainsAny(strings.Trim(name, `_.-\/:`), "_.-/:") || capitalInside.MatchString(name)
}

// newMatcher looks for the names that are gone; where one stands in a longer name
// that is kept, that one is meant. Clients put the name of the server before others:
// with it a plain name is one that shows what it is.
func newMatcher(server string, gone, kept map[label]bool) *matcher {
	m := &matcher{gone: map[string][]wanted{}, kept: map[string]string{}, begin: map[string][]string{}}
	spelt := map[string]bool{}
	for l := range kept {
		spelt[l.name] = true
		for _, name := range []string{l.name, server + "_" + l.name} {
			key := joined(name)
			m.kept[key] = name
			m.longest = max(m.longest, len(key))
		}
	}
	look := func(l label) {
		if key := joined(l.name); key != "" && !spelt[l.name] {
			_, same := m.kept[key]
			m.gone[key] = append(m.gone[key], wanted{l, !several(l.name), same})
			m.longest = max(m.longest, len(key))
		}
	}
	for l := range gone {
		look(l)
		if !several(l.name) {
			look(label{l.what, server + "_" + l.name})
		}
	}
	for key := range m.gone {
		first := key[:min(firstLetters, len(key))]
		m.begin[first] = append(m.begin[first], key)
	}
	return m
}

// joined is a name in lower case without its separators.
func joined(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && alphanumeric(byte(r)) {
			return r
		}
		return -1
	}, name))
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

func separator(c byte) bool { return strings.IndexByte(`_.-\/:`, c) >= 0 }

// span is a part of a text, from its first byte to the one after its last.
type span struct{ from, to int }

// told says whether a text tells one of the names that are gone.
func (m *matcher) told(text string) bool {
	if m == nil || !m.possible(text) {
		return false
	}
	text = folded(text)
	if m.toldInWords(text) {
		return true
	}
	var parts []span // of the run of letters, digits and separators that is read
	for i := 0; i < len(text); {
		switch {
		case alphanumeric(text[i]):
			part := span{i, i}
			for i < len(text) && alphanumeric(text[i]) {
				i++
			}
			part.to = i
			parts = append(parts, part)
		case separator(text[i]):
			i++
		default:
			if len(parts) > 0 && m.toldBy(text, parts) {
				return true
			}
			parts = parts[:0]
			i++
		}
	}
	return len(parts) > 0 && m.toldBy(text, parts)
}

// possible says whether a text may tell one of the names. In most none can stand, and
// that is seen fast: of a text whose characters are what they look like, no part has
// the letters and digits of a name, one after the other.
func (m *matcher) possible(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c == '&' || c == '%' || c == '*' {
			return len(m.gone) > 0
		}
	}
	letters := joined(text)
	for i := range letters {
		for n := 1; n <= firstLetters && i+n <= len(letters); n++ {
			for _, key := range m.begin[letters[i:i+n]] {
				if strings.HasPrefix(letters[i:], key) {
					return true
				}
			}
		}
	}
	return false
}

// firstLetters is how many letters and digits of a name are looked up at once.
const firstLetters = 3

// toldBy looks at the parts of one run: some of them that stand together may be a name.
func (m *matcher) toldBy(text string, parts []span) bool {
	for i := range parts {
		for j, key := range m.keys(text, parts, i) {
			for _, w := range m.gone[key] {
				if m.meant(w, text, span{parts[i].from, parts[j].to}) && !m.inside(text, parts, i, j) {
					return true
				}
			}
			// Several of what a tool is named for: secret_purges.
			for _, w := range m.gone[strings.TrimSuffix(key, "s")] {
				if strings.HasSuffix(key, "s") && m.kept[key] == "" && !w.plain && !w.exact && several(text[parts[i].from:parts[j].to]) && !m.inside(text, parts, i, j) {
					return true
				}
			}
		}
	}
	return m.toldByPattern(text, parts)
}

// keys gives what the parts from the first on make together, up to each further one.
func (m *matcher) keys(text string, parts []span, first int) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		key := ""
		for j := first; j < len(parts); j++ {
			part := text[parts[j].from:parts[j].to]
			if len(key)+len(part) > m.longest+1 { // one more for the s of several
				return
			}
			if key += strings.ToLower(part); !yield(j, key) {
				return
			}
		}
	}
}

// inside says whether parts i to j stand within a longer name that is kept.
func (m *matcher) inside(text string, parts []span, i, j int) bool {
	for first := max(0, i-m.longest); first <= i; first++ {
		for last, key := range m.keys(text, parts, first) {
			if last >= j && last-first > j-i && m.kept[key] != "" {
				return true
			}
		}
	}
	return false
}

// meant says whether what stands at a span is the name, and not a word.
func (m *matcher) meant(w wanted, text string, at span) bool {
	written := strings.ReplaceAll(text[at.from:at.to], `\`, "")
	switch {
	case w.exact && written != w.name:
		return false
	case !w.plain && several(written), written == w.name && strings.ContainsAny(w.name, "0123456789"):
		return true
	}
	return marked(w.what, text[:at.from], text[at.to:])
}

// quotes stand around names, and emphasis may.
const quotes, emphasis = "`\"'“”‘’«»", "*_"

// marked says whether what stands before and after a word says that it names a tool,
// a domain, a noun or an action.
func marked(what, before, after string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, `\`))
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case last == '`', strings.ContainsRune(quotes, last) && strings.ContainsRune(quotes, first):
		return true
	case strings.HasSuffix(before, "__") && several(lastField(before)+"x"), what == "tool" && called(after):
		return true
	}
	bare := strings.TrimRight(before, quotes+emphasis)
	if gap := strings.TrimRight(bare, " \t\n:="+quotes); gap != bare {
		word := strings.ToLower(lastField(gap))
		switch {
		case word == what, word == what+"_name", what == "noun" && word == "tool":
			return true
		case word == what+"s", what == "tool" && verbs[word]:
			if ends(after) {
				return true
			}
		}
	}
	bare = strings.TrimLeft(after, quotes+emphasis)
	next := strings.TrimLeft(bare, " \t\n")
	return next != bare && strings.EqualFold(firstField(next), what)
}

// verbs take a tool as their object, without an article.
var verbs = set("call calls calling use uses using invoke invokes invoking")

// following words go on after the name of a tool: what follows a word that only
// stands before a noun (use search terms) is none of them.
var following = set("to for with without first last instead when where if unless and or on in at by before after only then once again next here there now")

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// called says whether a name is followed by arguments; an ending in brackets, as in
// build(s), is none.
func called(after string) bool {
	return strings.HasPrefix(strings.TrimLeft(after, " "), "{") ||
		strings.HasPrefix(after, "(") && !strings.HasPrefix(after, "(s)") && !strings.HasPrefix(after, "(es)")
}

// ends says whether a phrase ends here, or goes on as one does after a name.
func ends(after string) bool {
	after = strings.TrimLeft(strings.TrimLeft(after, quotes+emphasis), " \t")
	first, _ := utf8.DecodeRuneInString(after)
	return after == "" || strings.ContainsRune("\n.,;:!?)]}", first) || following[strings.ToLower(firstField(after))]
}

func inField(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// lastField gives the letters, digits and underscores that a text ends with.
func lastField(text string) string {
	return text[len(strings.TrimRightFunc(text, inField)):]
}

// firstField gives those that it begins with.
func firstField(text string) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, inField))]
}

// toldByPattern finds secret_* and *_purge, which tell the names that they stand for
// where none of them is kept.
func (m *matcher) toldByPattern(text string, parts []span) bool {
	before, after := text[:parts[0].from], text[parts[len(parts)-1].to:]
	head, tail := strings.TrimRight(before, `_-\`), strings.TrimLeft(after, `_-\`)
	opens := strings.HasSuffix(head, "*") && strings.ContainsAny(before[len(head):], "_-")
	closes := strings.HasPrefix(tail, "*") && strings.ContainsAny(after[:len(after)-len(tail)], "_-")
	if opens == closes { // neither, or emphasis around a word
		return false
	}
	if most := m.longest; closes {
		parts = parts[max(0, len(parts)-most):]
	} else {
		parts = parts[:min(len(parts), most)]
	}
	for len(parts) > 0 {
		pattern := spaced(text[parts[0].from:parts[len(parts)-1].to])
		stands := func(name string) bool {
			name = spaced(name)
			return closes && strings.HasPrefix(name, pattern+"_") || opens && strings.HasSuffix(name, "_"+pattern)
		}
		for _, name := range m.kept {
			if stands(name) {
				return false
			}
		}
		for _, all := range m.gone {
			if slices.ContainsFunc(all, func(w wanted) bool { return stands(w.name) }) {
				return true
			}
		}
		if opens {
			parts = parts[:len(parts)-1]
		} else {
			parts = parts[1:]
		}
	}
	return false
}

// boundary is where the next part of a name begins.
var boundary = regexp.MustCompile(`[_.\\/:-]+|([a-z0-9])([A-Z])`)

// spaced is a name in lower case, with one underscore between its parts.
func spaced(name string) string {
	return strings.ToLower(boundary.ReplaceAllString(name, "${1}_${2}"))
}
