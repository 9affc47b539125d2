package diag

import (
	"regexp"
	"strings"

	"github.com/metacue/metacue/runtime/clip"
)

// maxText is how much of what CUE says is looked at, in bytes. It is more than
// anyone reads, and the search for the ends of values is quadratic at worst.
const maxText = 16 << 10

// maxQuoted is how long a value in a message may be, in runes, before it is
// shortened.
const maxQuoted = 60

var (
	// heredoc is a string of several lines, as CUE prints it.
	heredoc = regexp.MustCompile(`(?s)"""\s(.*?)\s*"""`)
	// comment is what CUE adds to values that it prints: where they come from.
	comment = regexp.MustCompile(`//cue:path:[^\n]*`)
)

// Brief makes one line of what CUE says: its lines are joined by semicolons, and
// whole structs and long texts in it shortened. What goes beyond 16 KiB is left
// out, with an ellipsis in its place.
func Brief(text string) string {
	text = comment.ReplaceAllString(clip.Text(text, maxText), "")
	text = heredoc.ReplaceAllStringFunc(text, func(s string) string {
		return `"` + strings.Join(strings.Fields(heredoc.FindStringSubmatch(s)[1]), " ") + `"`
	})
	var b strings.Builder
	for rest := oneLine(text); rest != ""; {
		n, short := quoted(rest)
		b.WriteString(short)
		rest = rest[n:]
	}
	return b.String()
}

// oneLine joins the lines of a text.
func oneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if so := b.String(); so != "" {
			if !strings.ContainsAny(so[len(so)-1:], ":;,") {
				b.WriteByte(';')
			}
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// quoted gives what the value at the beginning of a text is written as, and how
// long it is; anything but a structure or a string is taken byte by byte.
func quoted(text string) (n int, short string) {
	switch text[0] {
	case '{':
		if n = group(text); n > 0 {
			if len([]rune(text[:n])) > maxQuoted {
				return n, "{…}"
			}
			return n, text[:n]
		}
	case '"':
		if n = str(text); n > 0 {
			if r := []rune(text[:n]); len(r) > maxQuoted {
				return n, string(r[:maxQuoted-1]) + `…"`
			}
			return n, text[:n]
		}
	}
	return 1, text[:1]
}

// str is the length of the string that a text begins with, 0 without an end.
func str(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// group is the length of the structure that a text begins with, 0 without an end.
func group(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			if n := str(text[i:]); n > 0 {
				i += n - 1
			}
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
