package load

import (
	"fmt"
	"regexp"
	"strings"

	cuescanner "cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/words"
)

// syntaxFindings gives the syntax errors of a file, the first of each line: what
// follows on a line is mostly its echo, and so is all that follows a bracket that
// is not closed. Where it is plain what was meant, the message says how CUE has it.
func syntaxFindings(err error, shown string, data []byte) diag.List {
	var findings diag.List
	open := unclosed(shown, data)
	lines := strings.Split(string(data), "\n")
	line, told := 0, false
	for _, f := range errorFindings(err, shown) {
		if f.Line == line && f.Line != 0 {
			continue
		}
		line = f.Line
		eof := strings.Contains(f.Message, "'EOF'")
		if open != nil && f.Line >= open.at.Line() {
			if told {
				continue
			}
			told = true
			switch {
			case eof && open.suspect:
				f.Message = fmt.Sprintf("the %s is not closed: %s in line %d", open.bracket, f.Message, f.Line)
				f.Line, f.Column = open.at.Line(), open.at.Column()
			case open.by != "":
				f.Message += fmt.Sprintf("; the %s in line %d is not closed when %s comes in line %d", open.bracket, open.at.Line(), open.by, open.end.Line())
			case !open.suspect && f.Line > open.at.Line():
				f.Message += fmt.Sprintf("; the %s in line %d is not closed", open.bracket, open.at.Line())
			}
		} else if eof && len(findings) > 0 {
			continue
		}
		if f.Line > 0 && f.Line <= len(lines) {
			f.Message += slip(f.Message, lines[f.Line-1], f.Column)
		}
		f.Message = words.Advised(f.Message)
		findings = append(findings, f)
	}
	return findings
}

// bracket is one that is not closed as it should be.
type bracket struct {
	bracket string
	at      token.Pos
	indent  string // of its line
	// by is the bracket that comes in place of the closing one, at end; "" when
	// the file ends without one.
	by     string
	end    token.Pos
	resume bool // it is that of an interpolation
	// suspect says that the indentation tells that it is this one.
	suspect bool
}

// closing are the brackets that close others.
var closing = map[token.Token]string{token.RBRACE: "{", token.RBRACK: "[", token.RPAREN: "("}

// unclosed finds the first bracket of a file that is closed by another kind, or
// not at all; nil when there is none, or a string is at fault already.
func unclosed(name string, data []byte) *bracket {
	file := token.NewFile(name, -1, len(data))
	var s cuescanner.Scanner
	s.Init(file, data, nil, 0)
	var stack []*bracket
	var suspect *bracket
	line, indent, interpolation := 0, "", false
	for s.ErrorCount == 0 {
		p, tok, _ := s.Scan()
		first := p.IsValid() && p.Line() != line
		if first {
			line = p.Line()
			start := p.Offset() - (p.Column() - 1)
			indent = string(data[start:p.Offset()])
		}
		switch tok {
		case token.EOF:
			switch {
			case len(stack) == 0:
				return nil
			case suspect != nil:
				suspect.suspect = true
				return suspect
			}
			return stack[len(stack)-1]
		case token.INTERPOLATION: // its ( comes next
			interpolation = true
			continue
		case token.LBRACE, token.LBRACK, token.LPAREN:
			stack = append(stack, &bracket{bracket: tok.String(), at: p, indent: indent, resume: interpolation})
			interpolation = false
		case token.RBRACE, token.RBRACK, token.RPAREN:
			if len(stack) == 0 {
				return nil
			}
			top := stack[len(stack)-1]
			if top.bracket != closing[tok] {
				top.by, top.end = tok.String(), p
				return top
			}
			if first && suspect == nil && len(top.indent) > len(indent) {
				suspect = top
			}
			stack = stack[:len(stack)-1]
			if top.resume { // with the text up to the next interpolation
				interpolation = strings.HasSuffix(s.ResumeInterpolation(), "(")
			}
		}
	}
	return nil
}

const (
	typeName = `(?:string|str|int|integer|number|float|bool|boolean)`
	declared = "an argument is declared NAME!: T, or NAME?: T"
)

// slips are habits of other languages, by what stands in the line of the error and
// what CUE says of it; each says how CUE has it. Where at is not 0, the error is at
// that group.
var slips = []struct {
	message string // in CUE's message; "" is any
	pattern *regexp.Regexp
	at      int
	advice  string
}{
	{"", regexp.MustCompile(`(?:^|\s)()#\s`), 0, "comments begin with //"},
	// declared
	{"", regexp.MustCompile(`[\w"][?!]()[?!]\s*:`), 1, "an argument is required (!) or optional (?), not both"},
	{"expected operand", regexp.MustCompile(`^\s*(?:[\w$]+:\s*)*()[?!]\w`), 1, "the mark stands behind the name, NAME?: T"},
	{"expected operand, found ':'", regexp.MustCompile(`[\w"?!]:():`), 1, "a field is written NAME: VALUE"},
	{"", regexp.MustCompile(`^\s*(?:[\w$]+:\s*)*` + typeName + `\s+()[A-Za-z_]`), 1, declared},
	{"", regexp.MustCompile(`^\s*(?:[\w$]+:\s*)*[A-Za-z_]\w*[?!]?\s+()` + typeName + `\b`), 1, declared},
	{"", regexp.MustCompile(`^\s*(?:const|var|let|val|field|type|def|public|private)\s+()[A-Za-z_]`), 0, declared},
	{"", regexp.MustCompile(`^\s*[A-Za-z_$][\w$]*\s*():?=[^=~]`), 0, "a field is written NAME: VALUE"},
	{"", regexp.MustCompile(`()=>`), 0, "what is made of each element of a list is [for x in LIST {…}]"},
	// types
	{"", regexp.MustCompile(`\w\[()\]`), 1, "a list of any number is written [...T], and an element [0]"},
	{"", regexp.MustCompile(`\b(?:int|number|float|string)()[\[(]`), 0, "bounds are written int & >=1 & <=50"},
	{"", regexp.MustCompile(`\d()\.\.`), 1, "bounds are written >=1 & <=50"},
	{"", regexp.MustCompile(`[\]})"]()[?!]\s*$`), 0, "? and ! stand behind the name: NAME?: T"},
	{"", regexp.MustCompile(`\b` + typeName + `()!\s*$`), 0, "? and ! stand behind the name: NAME?: T"},
	{"", regexp.MustCompile(`(?::|=~)\s*()[/^]`), 1, "a pattern is written =~\"^a\""},
	{"", regexp.MustCompile(`:\s*()in\s*\[`), 0, "alternatives are written A | B"},
	{"", regexp.MustCompile(`:\s*\(\s*"[^"]*"\s*(),`), 1, "alternatives are written A | B"},
	{"", regexp.MustCompile(`:\s*()\.\.\.`), 1, "a list of any number is written [...T]"},
	// expressions
	{"", regexp.MustCompile(`\s()\?\s.*:`), 0, "CUE has no ?: and picks the first that stands: [if CONDITION {A}, B][0]"},
	{"", regexp.MustCompile(`\[[^\[\]]*\S\s+()for\s`), 1, "a list is made by [for x in LIST {x}]"},
	{"", regexp.MustCompile(`[\w\])]\s+()in\s`), 1, "whether a list holds an element is list.Contains(LIST, x), of the package list"},
	{"", regexp.MustCompile(`\{\s*\.\.\.()[A-Za-z]`), 1, "a structure within another stands by itself, {x, NAME: VALUE}"},
	{"", regexp.MustCompile(`[\s:][a-z]()"`), 1, "a value is put into a text by \"\\(x)\""},
	{"illegal character", regexp.MustCompile(`()%`), 1, "the rest of a division is rem(A, B), and multiples are math.MultipleOf(N)"},
	{"", regexp.MustCompile(`();`), 1, "fields stand in lines of their own, or with commas between them"},
	{"", regexp.MustCompile(`^\s*(?:[\w$]+:\s*)*()[A-Za-z_$][\w$]*(?:-[\w$]+)+[?!]?:`), 0, "a name with - in it is written in quotes"},
	{"", regexp.MustCompile(`\[\]()[A-Za-z_#{]`), 1, "a list of any number is written [...T]"},
	{"", regexp.MustCompile(`:\s*()if\s`), 0, "a field that depends on a condition is written in it, if CONDITION {NAME: A}, and a choice [if CONDITION {A}, B][0]"},
	{"", regexp.MustCompile(`:\s*()for\s`), 0, "what a loop makes is a list, [for x in LIST {…}]"},
	{"expected '{'", regexp.MustCompile(`\b()(?:if|for)\s`), 0, "what stands under a condition or in a loop is in braces: if CONDITION {…}"},
	{"", regexp.MustCompile(`\s()(?:and|or)\s`), 1, "and is written &&, or ||"},
	{"", regexp.MustCompile(`\bnot\s+()[\w(]`), 1, "not is written !"},
	{"", regexp.MustCompile(`()\?\?`), 0, "a value to fall back on is written *A | B"},
	{"", regexp.MustCompile("()`"), 1, "strings are written in double quotes"},
	{"", regexp.MustCompile(`[^=!<>~]()=[^=~]`), 1, "a default is written T | *VALUE"},
	{"", regexp.MustCompile(`()'[^']*$`), 1, "strings are written in double quotes"},
	{"missing ','", regexp.MustCompile(`^\s*(?:[\w$]+:\s*)+"[^"]*"\s+()"`), 1, "texts are put together by +"},
}

// slip ends a message about an error in a line, at a column.
func slip(message, line string, column int) string {
	code := blank(line)
	for _, s := range slips {
		if !strings.Contains(message, s.message) {
			continue
		}
		for _, m := range s.pattern.FindAllStringSubmatchIndex(code, -1) {
			if m[2] < column && s.at == 0 || m[2] == column-1 {
				return "; " + s.advice
			}
		}
	}
	return ""
}

// inLine is a string in a line.
var inLine = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// blank takes strings out of a line, so that what stands in them is not taken for
// code.
func blank(line string) string {
	return inLine.ReplaceAllStringFunc(line, func(s string) string { return "\"" + strings.Repeat("_", len(s)-2) + "\"" })
}
