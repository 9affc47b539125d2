package jsonschema

import (
	"regexp"
	"slices"
	"testing"
)

// TestPortable is about regular expressions of RE2 in the syntax that ECMA-262
// shares.
func TestPortable(t *testing.T) {
	for re, want := range map[string]string{
		// The same in both.
		`^refs/heads/`:           `^refs/heads/`,
		`^[a-z0-9]+(-[a-z]+)*$`:  `^[a-z0-9]+(-[a-z]+)*$`,
		`\d{4}-\d{2}`:            `\d{4}-\d{2}`,
		`\bx\B`:                  `\bx\B`,
		`a|b|`:                   `a|b|`,
		`(?:ab)+?c*?d??`:         `(?:ab)+?c*?d??`,
		`[\w.-]`:                 `[\w.-]`,
		`[^/\\]`:                 `[^/\\]`,
		`[-a\-]`:                 `[-a\-]`,
		`\x41\t\n\f\v\r`:         `\x41\t\n\f\v\r`,
		`a{2}b{2,}c{2,3}`:        `a{2}b{2,}c{2,3}`,
		`日本`:                     `日本`,
		`\/\.\*\+\?\(\)\[\]\{\}`: `\/\.\*\+\?\(\)\[\]\{\}`,
		``:                       ``,
		// Said otherwise.
		`^a.b$`:              `^a[^\n]b$`,
		`(?s)a.b`:            `a[\s\S]b`,
		`\Aab\z`:             `^ab$`,
		`(?i)ab1`:            `[Aa][Bb]1`,
		`(?i)k`:              "[Kk\u212a]",
		`(?P<year>\d+)`:      `([0-9]+)`,
		`(?<year>[0-9]+)`:    `([0-9]+)`,
		`\s`:                 `[\t\n\x0c\r ]`,
		`[\s]`:               `[\t\n\x0c\r ]`,
		`\S`:                 `[^\t\n\x0c\r ]`,
		`[[:alpha:]]`:        `[A-Za-z]`,
		`[[:^alpha:]]`:       `[^A-Za-z]`,
		`\Qa.b\E`:            `a\.b`,
		`a{`:                 `a\{`,
		`a{,2}`:              `a\{,2\}`,
		`]}`:                 `\]\}`,
		`[]a]`:               `[\]a]`,
		`[^]a]`:              `[^\]a]`,
		`\x{41}`:             `A`,
		`\101`:               `A`,
		`\a`:                 `\x07`,
		`(?U)a+?b+`:          `a+b+`,
		`(?:^)*a`:            `(?:^)*a`,
		`^*a`:                `(?:^)*a`,
		`(?i:a)b`:            `[Aa]b`,
		`x*(?:ab|cd){2}`:     `x*(?:ab|cd){2}`,
		`(?i)(?:ab)+`:        `(?:[Aa][Bb])+`,
		`.*`:                 `[^\n]*`,
		`(?s).`:              `[\s\S]`,
		`[^\x00-\x{10FFFF}]`: `[^\s\S]`,
		`[\x00-\x{10FFFF}]`:  `[\s\S]`,
		`.|ab|cd(?:)`:        `[^\n]|ab|cd(?:)`,
		`[a-c.\[]\z`:         `[\.a-c\[]$`,
		`\w-[\w-.]`:          `\w-[\-\.0-9A-Z_a-z]`,
	} {
		got, ok, err := portable(re)
		if err != nil || !ok {
			t.Errorf("%s: %v %v", re, ok, err)
			continue
		}
		// Where the parser says it in another way, what counts is below.
		if got != want && !slices.Contains([]string{`[a-c.\[]\z`, `\w-[\w-.]`}, re) {
			t.Errorf("%s: got %s, want %s", re, got, want)
		}
		means(t, re, got)
	}
	for _, re := range []string{`(?m)^a$`, `\pL`, `\p{Greek}`, `[\p{Lu}a]`, `(?i)\PL`} {
		if got, ok, err := portable(re); ok || err != nil {
			t.Errorf("%s: got %s %v", re, got, err)
		}
	}
	for _, re := range []string{`(`, `[`, `a**`, `\1`, `(?=a)`, `\pX`, `a{1001}`} {
		if _, _, err := portable(re); err == nil {
			t.Errorf("%s was taken", re)
		}
	}
}

// texts to try expressions on.
var tries = []string{"", "a", "A", "ab", "aB1", "a.b", "a\nb", "axb", "refs/heads/x", "refs", " ", "\t", "\u00a0", "\u2028", "k", "K", "\u212a", "2024-05", "x", " x ", "-", "a-b", "]", "]}", "a{", "a{,2}", "日本", "é", "😀", "\x07", "aab", "cd", "abcd", "ababab", "a\rb", ".", "[", "_", "\v"}

func means(t *testing.T, re, rewritten string) {
	t.Helper()
	a, err := regexp.Compile(re)
	if err != nil {
		t.Fatal(err)
	}
	b, err := regexp.Compile(rewritten)
	if err != nil {
		t.Errorf("%s became %s: %v", re, rewritten, err)
		return
	}
	for _, s := range tries {
		if a.MatchString(s) != b.MatchString(s) {
			t.Errorf("%s became %s: they differ on %q", re, rewritten, s)
		}
	}
}

// FuzzPortable looks for expressions that mean something else once rewritten.
func FuzzPortable(f *testing.F) {
	for _, seed := range []string{`^a.b$`, `(?i)[^k]+`, `\s*\S`, `(a|b)*c{2,3}`, `[[:word:]-]`, `\Q^$\E|x?`, `(?s:.)(?-s:.)`, `[\x{1F600}-\x{1F64F}]`, `^*`, `[\]^-]`} {
		f.Add(seed, "aB\n😀 _x")
	}
	f.Fuzz(func(t *testing.T, re, s string) {
		got, ok, err := portable(re)
		if _, err2 := regexp.Compile(re); (err == nil) != (err2 == nil) && err2 != nil {
			// Compile refuses some that Parse takes, for their size.
			t.Skip()
		}
		if err != nil || !ok {
			return
		}
		a := regexp.MustCompile(re)
		b, err := regexp.Compile(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", re, got, err)
		}
		for _, s := range append([]string{s}, tries...) {
			if a.MatchString(s) != b.MatchString(s) {
				t.Errorf("%q became %q: they differ on %q", re, got, s)
			}
		}
	})
}

// TestLiterals is about the names that an expression stands for.
func TestLiterals(t *testing.T) {
	for _, test := range []struct {
		re   string
		want []string
	}{
		{`^(a|b)$`, []string{"a", "b"}},
		{`^foo$`, []string{"foo"}},
		{`^(foo|fob)$`, []string{"foo", "fob"}},
		{`^x(a|b)?[12]$`, []string{"xa1", "xa2", "xb1", "xb2", "x1", "x2"}},
		{`^$`, []string{""}},
		{`^(?:)a$`, []string{"a"}},
		{`foo`, nil},
		{`^a*$`, nil},
		{`^a|b$`, nil},
		{`(?i)^ab$`, nil},
		{`^[^a]$`, nil},
		{`^[0-9]{9}$`, nil},
		{`(`, nil},
	} {
		got, ok := literals(test.re)
		slices.Sort(got)
		slices.Sort(test.want)
		if ok != (test.want != nil) || ok && !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q %v, want %q", test.re, got, ok, test.want)
		}
	}
}
