package diag

import (
	"strings"
	"testing"
)

func TestBrief(t *testing.T) {
	long := strings.Repeat("x", 80)
	for text, want := range map[string]string{
		"conflicting values 5 and string": "conflicting values 5 and string",
		"2 errors in empty disjunction:\n  conflicting values 5 and 6\n\tconflicting values 5 and 7\n": "2 errors in empty disjunction: conflicting values 5 and 6; conflicting values 5 and 7",
		"values {a: 1} and {a:\"}\", b: \"" + long + "\"} (mismatched)":                                "values {a: 1} and {…} (mismatched)",
		`values "` + long + `" and 5`:                       `values "` + long[:58] + `…" and 5`,
		"values \"\"\"\n\ta b\n\tc\n\t\"\"\"":               `values "a b c"`,
		"not { INPUT.#x.delta //cue:path: domains.items\n}": "not { INPUT.#x.delta; }",
		`open { and "`: `open { and "`,
		"":             "",
	} {
		if got := Brief(text); got != want {
			t.Errorf("Brief(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

// A text without end is cut, visibly and between characters.
func TestBriefLong(t *testing.T) {
	got := Brief(strings.Repeat("é{", 1<<20))
	if len(got) > maxText+len("…") || !strings.HasSuffix(got, "…") || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-10:])
	}
}

// Whatever CUE says, a message is one line.
func FuzzBrief(f *testing.F) {
	f.Add("a\n{\"\\\n}")
	f.Fuzz(func(t *testing.T, text string) {
		if got := Brief(text); strings.Contains(got, "\n") {
			t.Errorf("%q: %q", text, got)
		}
	})
}
