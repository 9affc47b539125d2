package load

import (
	"slices"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// TestReadJQ pins what a program is seen to take from what it is run over, in every
// kind of term.
func TestReadJQ(t *testing.T) {
	for program, want := range map[string]string{
		`.a.b | .c`:                            "a a.b a.b.c",
		`.["a"]?."b"`:                          "a a.b",
		`.a[.b].c`:                             "a b",
		`.a[1:.b]`:                             "a b",
		`.[] | .x`:                             "",
		`.. | .x`:                              "",
		`"\(.a)" + @base64 "\(.b)"`:            "a b",
		`{(.a): .b, "x\(.c)": 1, d, $__loc__}`: "a b c d",
		`-(.a)`:                                "a",
		`[.a, .b // .c]`:                       "a b c",
		`if .a then .b elif .c then .d else .e end`: "a b c d e",
		`if .a then .b end`:                         "a b",
		`try .a catch .b`:                           "a",
		`reduce .a[] as $x (.b; .c + $x)`:           "b a",
		`foreach .a[] as [$x, $y] (.b; .c; .d)`:     "b a",
		`label $out | .a, break $out`:               "a",
		`. as $r | .a[] | $r.b`:                     "a b",
		`.a as $r | $r.b`:                           "a a.b",
		`. as {a: $x} | . as [$y] ?// $y | .b`:      "b",
		`.a |= .b`:                                  "a",
		`.a = .b`:                                   "a b",
		`map(.a)`:                                   "",
		`first(.a, .b)`:                             "a b",
		`def f(g): .a | g; f(.b)`:                   "",
		`select(.a) | .b`:                           "a b",
		`$ENV.a, $args.b, input.c`:                  "",
		`.a |`:                                      "",
	} {
		var got []string
		for _, path := range readJQ(program).seen {
			got = append(got, strings.Join(path, "."))
		}
		if _, err := gojq.Parse(program); err != nil && program != `.a |` {
			t.Errorf("%s: %v", program, err)
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %q, want %q", program, got, strings.Fields(want))
		}
	}
}
