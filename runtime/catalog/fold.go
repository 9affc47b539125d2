package catalog

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// escaped is a character of a URL, written by its number (RFC 3986 §2.1).
var escaped = regexp.MustCompile(`%[2-7][0-9A-Fa-f]`)

// apart are the separators of a name with white space beside them: on both sides, or
// where a line is wrapped.
var (
	apart   = regexp.MustCompile(`([A-Za-z0-9])\s+_\s+([A-Za-z0-9])`)
	wrapped = regexp.MustCompile(`(^|[^_A-Za-z0-9-])([A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*[_-])\r?\n[ \t>]*([A-Za-z0-9])`)
)

// folded is a text in which names are looked for: one form for what looks the same.
// Entities of HTML and escapes of URLs are decoded, wide letters are plain ones
// (Unicode NFKC), characters without a form are dropped, and a dash is a hyphen.
func folded(text string) string {
	if strings.Contains(text, "&") {
		text = html.UnescapeString(text)
	}
	if strings.Contains(text, "%") {
		text = escaped.ReplaceAllStringFunc(text, func(e string) string {
			hex := func(c byte) byte {
				if c > '9' {
					return c&^0x20 - 'A' + 10
				}
				return c - '0'
			}
			return string(rune(hex(e[1])<<4 | hex(e[2])))
		})
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		text = strings.Map(func(r rune) rune {
			switch {
			case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
				return -1
			case unicode.In(r, unicode.Pd), r == '\u2212':
				return '-'
			}
			return r
		}, norm.NFKC.String(text))
	}
	if holds(text, " _", "\t_", "\n_") {
		text = apart.ReplaceAllString(text, "${1}_${2}")
	}
	if holds(text, "_\n", "-\n", "_\r\n", "-\r\n") {
		text = wrapped.ReplaceAllString(text, "$1$2$3")
	}
	return text
}

// holds says whether a text has one of the parts in it.
func holds(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// inTitle and inQuotes are names without separators that show what they are: Secret
// Purge, and `secret purge`.
var (
	inTitle  = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*(?:[ \t]*[ \t\n][ \t]*[A-Z0-9][A-Za-z0-9]*)+\b`)
	inQuotes = regexp.MustCompile("`[A-Za-z0-9]+(?:[ \\t\\n]+[A-Za-z0-9]+)+`")
	letters  = regexp.MustCompile(`[A-Za-z0-9]+`)
)

// toldInWords says whether a text tells a tool in words alone. Those of domains and
// nouns are words of the language, and so are words that nothing marks: he lists
// builds is not list_builds.
func (m *matcher) toldInWords(text string) bool {
	named := func(key string) bool {
		for _, w := range m.gone[key] {
			if w.what == "tool" && !w.plain && !w.exact {
				return true
			}
		}
		return false
	}
	for _, phrase := range inQuotes.FindAllString(text, -1) {
		if named(joined(phrase)) {
			return true
		}
	}
	for _, phrase := range inTitle.FindAllString(text, -1) {
		var parts []span
		for _, at := range letters.FindAllStringIndex(phrase, -1) {
			parts = append(parts, span{at[0], at[1]})
		}
		for i := range parts {
			for j, key := range m.keys(phrase, parts, i) {
				if j > i && named(key) && !m.inside(phrase, parts, i, j) {
					return true
				}
			}
		}
	}
	return false
}
