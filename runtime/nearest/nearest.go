// Package nearest finds the names that someone who wrote another may have meant:
// a hint in messages for people and agents. No misspelling is ever resolved by
// it. Standard library only.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// maxNames is how many names Names gives: enough to choose from, few
// enough to read.
const maxNames = 3

// maxLength is the longest name, in bytes, for which Names looks: nobody means a
// name by more, and the cost grows with the length.
const maxLength = 256

// Names gives the names that someone who wrote name may have meant, best
// first, at most three; none when nothing is near or name is no name (over 256
// bytes).
func Names(name string, names []string) []string {
	if len(name) > maxLength {
		return nil
	}
	type scored struct {
		name string
		d    int
	}
	want := fold(name)
	var near []scored
	for _, n := range names {
		have := fold(n)
		d := Distance(want, have)
		limit := max(2, len(want)/3)
		switch {
		case d <= limit:
		case len(want) >= 3 && (strings.Contains(have, want) || strings.Contains(want, have) && len(have) >= 3):
			d = limit + 1
		case sharesWords(name, n):
			d = limit + 2
		default:
			continue
		}
		near = append(near, scored{n, d})
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, s := range near[:min(len(near), maxNames)] {
		out = append(out, s.name)
	}
	return out
}

// Question ends a message about an unknown name: "; did you mean a, b or c?", and ""
// where there is nothing to ask.
func Question(names []string) string {
	switch n := len(names) - 1; n {
	case -1:
		return ""
	case 0:
		return "; did you mean " + names[0] + "?"
	default:
		return "; did you mean " + strings.Join(names[:n], ", ") + " or " + names[n] + "?"
	}
}

// fold takes away what people confuse: case and separators.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(s))
}

// sharesWords says whether two names of several words share two of them, or
// all of the shorter one's, whatever their order: get_pr_comments, list_comments_pr.
func sharesWords(a, b string) bool {
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("_-. ", r) })
	}
	wa, wb := split(a), split(b)
	n := 0
	for _, w := range wa {
		if slices.Contains(wb, w) {
			n++
		}
	}
	return n >= 2
}

// Distance is the Damerau-Levenshtein distance (optimal string alignment), in
// bytes.
func Distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
