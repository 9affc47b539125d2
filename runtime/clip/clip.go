// Package clip cuts texts that are too long to be shown whole. Standard library only.
package clip

import "strings"

// Text gives the first most bytes of a text, no half of a character, and an
// ellipsis; a text that is no longer than that as it is.
func Text(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return Head(s, most) + "…"
}

// Head gives the first most bytes of a text, no half of a character.
func Head(s string, most int) string {
	return strings.ToValidUTF8(s[:min(most, len(s))], "")
}
