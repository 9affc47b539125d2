package jsonschema

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CUE's =~ is RE2 (package regexp). JSON Schema's pattern is ECMA-262, and the
// hosts that read a schema take it with the flag u, as the specification asks
// (draft 2020-12, core, 6.4). portable finds an expression that means the same
// in both, so that one text serves hosts and our own check.

// maxRanges is how many ranges a character class may have to be worth writing
// out: a class of Unicode has hundreds.
const maxRanges = 32

// portable gives an expression that accepts in ECMA-262 and in RE2 what re
// accepts in RE2. ok is false when there is none that a reader could bear; err
// is set when re is no regular expression at all.
func portable(re string) (pattern string, ok bool, err error) {
	tree, err := syntax.Parse(re, syntax.Perl)
	if err != nil {
		return "", false, err
	}
	if plain(re) {
		return re, true, nil
	}
	var b strings.Builder
	if !printTree(&b, tree) {
		return "", false, nil
	}
	return b.String(), true, nil
}

// plain says whether re is written with nothing but what both dialects share.
// It may say no to an expression that is.
func plain(re string) bool {
	atom := false // whether the last thing read can be repeated
	for i := 0; i < len(re); {
		c := re[i]
		i++
		switch c {
		case '\\':
			n := plainEscape(re[i:], "dDwWbB")
			if n == 0 {
				return false
			}
			atom = re[i] != 'b' && re[i] != 'B'
			i += n
		case '[':
			n := plainClass(re[i:])
			if n == 0 {
				return false
			}
			i += n
			atom = true
		case '(':
			if strings.HasPrefix(re[i:], "?") && !strings.HasPrefix(re[i:], "?:") {
				return false
			}
			if strings.HasPrefix(re[i:], "?:") {
				i += 2
			}
			atom = false
		case '*', '+', '?':
			if !atom {
				return false
			}
			if i < len(re) && re[i] == '?' {
				i++
			}
			atom = false
		case '{':
			end := strings.IndexByte(re[i:], '}')
			if !atom || end <= 0 || strings.Trim(re[i:i+end], "0123456789,") != "" || re[i] == ',' {
				return false
			}
			i += end + 1
			atom = false
		case '.', ']', '}':
			return false
		case '^', '$', '|':
			atom = false
		default:
			atom = true
		}
	}
	return true
}

// plainEscape gives the length of what follows a backslash, 0 when the
// dialects differ on it. classes are the letters that are escapes of more than
// one character.
func plainEscape(s, classes string) int {
	switch {
	case s == "":
		return 0
	case strings.IndexByte(classes, s[0]) >= 0, strings.IndexByte(`tnrfv^$\.*+?()[]{}|/`, s[0]) >= 0:
		return 1
	case len(s) >= 3 && s[0] == 'x' && isHex(s[1]) && isHex(s[2]):
		return 3
	}
	return 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// plainClass gives the length of a character class after its opening bracket,
// closing one included; 0 when the dialects may differ on it.
func plainClass(s string) int {
	i := 0
	if strings.HasPrefix(s, "^") {
		i++
	}
	start, wide, dash := i, false, false
	for i < len(s) {
		switch c := s[i]; c {
		case ']':
			if i == start || wide && dash {
				return 0
			}
			return i + 1
		case '[':
			return 0
		case '\\':
			n := plainEscape(s[i+1:], "dDwW-")
			if n == 0 {
				return 0
			}
			wide = wide || strings.IndexByte("dDwW", s[i+1]) >= 0
			i += 1 + n
		default:
			if c == '-' && i != start && i+1 < len(s) && s[i+1] != ']' {
				dash = true
			}
			i++
		}
	}
	return 0
}

// printTree writes a parsed expression in the syntax that both dialects share.
func printTree(b *strings.Builder, re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpNoMatch:
		b.WriteString(`[^\s\S]`)
	case syntax.OpEmptyMatch:
		b.WriteString("(?:)")
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 {
				if !printClass(b, folds(r)) {
					return false
				}
			} else {
				printRune(b, r, `^$\.*+?()[]{}|`)
			}
		}
	case syntax.OpCharClass:
		return printClass(b, re.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		b.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		b.WriteByte('^')
	case syntax.OpEndText:
		b.WriteByte('$')
	case syntax.OpWordBoundary:
		b.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		b.WriteString(`\B`)
	case syntax.OpCapture:
		b.WriteByte('(')
		if !printTree(b, re.Sub[0]) {
			return false
		}
		b.WriteByte(')')
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		if !printAtom(b, re.Sub[0]) {
			return false
		}
		switch re.Op {
		case syntax.OpStar:
			b.WriteByte('*')
		case syntax.OpPlus:
			b.WriteByte('+')
		case syntax.OpQuest:
			b.WriteByte('?')
		default:
			b.WriteString("{" + strconv.Itoa(re.Min))
			if re.Max != re.Min {
				b.WriteByte(',')
				if re.Max >= 0 {
					b.WriteString(strconv.Itoa(re.Max))
				}
			}
			b.WriteByte('}')
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			print := printTree
			if sub.Op == syntax.OpAlternate {
				print = printAtom
			}
			if !print(b, sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				b.WriteByte('|')
			}
			if !printTree(b, sub) {
				return false
			}
		}
	default: // ^ and $ that match at lines
		return false
	}
	return true
}

// printAtom writes what a repetition can follow.
func printAtom(b *strings.Builder, re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpCapture, syntax.OpNoMatch:
		return printTree(b, re)
	case syntax.OpLiteral:
		if len(re.Rune) == 1 {
			return printTree(b, re)
		}
	}
	b.WriteString("(?:")
	ok := printTree(b, re)
	b.WriteByte(')')
	return ok
}

// folds gives the characters that equal r but for their case, as ranges.
func folds(r rune) []rune {
	all := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all = append(all, f)
	}
	slices.Sort(all)
	ranges := make([]rune, 0, 2*len(all))
	for _, f := range all {
		ranges = append(ranges, f, f)
	}
	return ranges
}

// printClass writes a character class, given as ranges in order.
func printClass(b *strings.Builder, ranges []rune) bool {
	if len(ranges) == 2 && ranges[0] == ranges[1] {
		printRune(b, ranges[0], `^$\.*+?()[]{}|`)
		return true
	}
	negated := len(ranges) > 0 && ranges[0] == 0 && ranges[len(ranges)-1] == unicode.MaxRune
	if negated {
		var gaps []rune
		for i := 1; i+1 < len(ranges); i += 2 {
			gaps = append(gaps, ranges[i]+1, ranges[i+1]-1)
		}
		ranges = gaps
	}
	switch {
	case len(ranges) > 2*maxRanges:
		return false
	case len(ranges) == 0 && negated:
		b.WriteString(`[\s\S]`)
		return true
	case len(ranges) == 0:
		b.WriteString(`[^\s\S]`)
		return true
	}
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
	}
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if !utf8.ValidRune(lo) || !utf8.ValidRune(hi) {
			return false // a surrogate cannot be written
		}
		printRune(b, lo, `\]^-[`)
		if hi == lo {
			continue
		}
		if hi > lo+1 {
			b.WriteByte('-')
		}
		printRune(b, hi, `\]^-[`)
	}
	b.WriteByte(']')
	return true
}

func printRune(b *strings.Builder, r rune, special string) {
	switch {
	case r < 0x80 && strings.ContainsRune(special, r):
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < 0x20, r >= 0x7f && r < 0xa0:
		const hex = "0123456789abcdef"
		b.WriteString(`\x`)
		b.WriteByte(hex[r>>4])
		b.WriteByte(hex[r&15])
	default:
		b.WriteRune(r)
	}
}

// literals gives the strings that re accepts, when they are few and it is
// anchored at both ends.
func literals(re string) ([]string, bool) {
	tree, err := syntax.Parse(re, syntax.Perl)
	if err != nil {
		return nil, false
	}
	tree = tree.Simplify()
	if tree.Op != syntax.OpConcat || len(tree.Sub) < 2 ||
		tree.Sub[0].Op != syntax.OpBeginText || tree.Sub[len(tree.Sub)-1].Op != syntax.OpEndText {
		return nil, false
	}
	return expand(&syntax.Regexp{Op: syntax.OpConcat, Sub: tree.Sub[1 : len(tree.Sub)-1]})
}

// maxLiterals bounds what literals writes out.
const maxLiterals = 1000

func expand(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, re.Flags&syntax.FoldCase == 0
	case syntax.OpCharClass:
		var all []string
		for i := 0; i < len(re.Rune); i += 2 {
			if len(all)+int(re.Rune[i+1]-re.Rune[i]) >= maxLiterals {
				return nil, false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				all = append(all, string(r))
			}
		}
		return all, true
	case syntax.OpCapture:
		return expand(re.Sub[0])
	case syntax.OpQuest:
		all, ok := expand(re.Sub[0])
		return append(all, ""), ok
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			more, ok := expand(sub)
			if !ok || len(all)+len(more) > maxLiterals {
				return nil, false
			}
			all = append(all, more...)
		}
		return all, true
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range re.Sub {
			ends, ok := expand(sub)
			if !ok || len(all)*len(ends) > maxLiterals {
				return nil, false
			}
			var next []string
			for _, a := range all {
				for _, e := range ends {
					next = append(next, a+e)
				}
			}
			all = next
		}
		return all, true
	}
	return nil, false
}

// quote gives a portable expression for s itself.
func quote(s string) string {
	var b strings.Builder
	for _, r := range s {
		printRune(&b, r, `^$\.*+?()[]{}|`)
	}
	return b.String()
}
