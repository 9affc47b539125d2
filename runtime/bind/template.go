package bind

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Template is a path with variables, as RFC 6570 writes it. Four kinds of
// expression are known:
//
//	{x}    one segment, or a part of one; a list is joined by commas
//	{+x}   as many segments as the value has: "/" stays
//	{/x}   a segment of its own, dropped with its "/" when x is absent;
//	       {/x*} makes each element of a list a segment
//	{?x}   a query parameter, left out when x is absent; {?x*} repeats it for
//	       each element of a list
//
// each for one variable or several, {/x,y}.
//
// It departs from the RFC where the RFC lets a value reach another resource
// than the one meant: {+x} keeps no other reserved character than "/" and no
// escape; an absent variable in {x} and {+x}, and an empty value in a path, is
// refused; so is a value that makes an empty or dot segment. Objects are refused
// and there is no prefix modifier ({x:3}): nothing is cut. Names may hold "-".
type Template struct {
	source string
	parts  []part
	query  []variable // of {?x}
	vars   []TemplateVar
	// slash says that the path ends with a "/" of the template's own: the one
	// empty segment that there may be.
	slash bool
}

// part is literal text, percent-encoded, or an expression.
type part struct {
	literal string
	op      byte // '/', '+' or 0
	vars    []variable
}

// variable is a variable in an expression.
type variable struct {
	name    string
	explode bool
	arg     Node // the argument of that name
}

// TemplateVar is one variable of a template, where it stands.
type TemplateVar struct {
	Name string
	// Optional says that the variable may be absent: {/x} and {?x}.
	Optional bool
	// Query says that the variable makes a query parameter: {?x}.
	Query bool
	// Offset is where the name begins, in bytes from the start of the template.
	Offset int
}

// String is the template as it was written.
func (t *Template) String() string { return t.source }

// Vars gives every place of a variable, in order.
func (t *Template) Vars() []TemplateVar { return t.vars }

// TemplateError is a fault of a template.
type TemplateError struct {
	// Offset is where it stands, in bytes from the start of the template.
	Offset  int
	Message string
}

func (e *TemplateError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Message) }

// TemplateErrors are all faults of a template, by offset.
type TemplateErrors []*TemplateError

func (e TemplateErrors) Error() string {
	texts := make([]string, len(e))
	for i, f := range e {
		texts[i] = f.Error()
	}
	return strings.Join(texts, "; ")
}

// operators say what becomes of each operator of RFC 6570, those that are
// reserved included: "" for the known ones, else what to write instead.
var operators = map[byte]string{
	'+': "",
	'/': "",
	'?': "",
	'#': "a request has no fragment; use {x} or {+x}",
	'.': "write .{x}",
	';': "write ;x={x}",
	'&': "use {?x} at the end, or query",
	'=': "it is reserved",
	',': "it is reserved",
	'!': "it is reserved",
	'@': "it is reserved",
	'|': "it is reserved",
}

// ParseTemplate reads a path template. The error is a [TemplateErrors].
func ParseTemplate(s string) (*Template, error) {
	p := templateParser{text: s, t: &Template{source: s}}
	p.parse()
	if len(p.faults) == 0 {
		p.checkStart()
	}
	if len(p.faults) == 0 {
		p.checkSegments()
	}
	if len(p.faults) > 0 {
		slices.SortStableFunc(p.faults, func(a, b *TemplateError) int { return cmp.Compare(a.Offset, b.Offset) })
		return nil, p.faults
	}
	return p.t, nil
}

type templateParser struct {
	text    string
	t       *Template
	offsets [][]int // of each byte of each part; of an expression, where it begins
	faults  TemplateErrors
}

func (p *templateParser) fault(offset int, format string, args ...any) {
	p.faults = append(p.faults, &TemplateError{offset, fmt.Sprintf(format, args...)})
}

func (p *templateParser) parse() {
	if !strings.HasPrefix(p.text, "/") && !strings.HasPrefix(p.text, "{/") {
		p.fault(0, `a path must begin with "/" or {/x}`)
	}
	for i := 0; i < len(p.text); {
		rest := p.text[i:]
		if p.t.query != nil {
			p.fault(i, "nothing can stand after {?x}")
			return
		}
		if rest[0] != '{' {
			n := strings.IndexByte(rest, '{')
			if n < 0 {
				n = len(rest)
			}
			p.literal(i, rest[:n])
			i += n
			continue
		}
		if name, _, ok := strings.Cut(strings.TrimLeft(rest, "{"), "}}"); ok && strings.HasPrefix(rest, "{{") && validName(strings.TrimSpace(name)) {
			p.fault(i, "a variable stands between single braces: write {%s}", strings.TrimSpace(name))
			return
		}
		n := strings.IndexAny(rest[1:], "{}") + 1
		if n == 0 || rest[n] == '{' {
			p.fault(i, `"{" has no "}"`)
			return
		}
		p.expression(i+1, rest[1:n])
		i += n + 1
	}
	if n := len(p.t.parts); n > 0 {
		p.t.slash = strings.HasSuffix(p.t.parts[n-1].literal, "/")
	}
}

// literal reads text between expressions.
func (p *templateParser) literal(offset int, s string) {
	var enc []byte
	var offsets []int
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch c := s[i]; {
		case classes[c]&classLiteral != 0 || isEscape(s[i:]):
			enc = append(enc, c)
		case r == utf8.RuneError && n == 1:
			p.fault(offset+i, "the path is not valid UTF-8")
		case c >= utf8.RuneSelf:
			enc = appendEncoded(enc, s[i:i+n], classLiteral)
		case c == '}':
			p.fault(offset+i, `"}" has no "{"`)
		case c == '?':
			p.fault(offset+i, `"?" would end the path: put parameters into query or {?x}, or write %%3F`)
		case c == '%':
			p.fault(offset+i, `"%%" must begin an escape of two hexadecimal digits: write %%25`)
		default:
			p.fault(offset+i, "%q cannot stand in a path: write %%%02X", c, c)
		}
		for len(offsets) < len(enc) {
			offsets = append(offsets, offset+i)
		}
		i += n
	}
	p.t.parts = append(p.t.parts, part{literal: string(enc)})
	p.offsets = append(p.offsets, offsets)
}

// expression reads what stands between braces.
func (p *templateParser) expression(offset int, s string) {
	e := part{}
	start := offset - 1
	if len(s) > 0 {
		if instead, ok := operators[s[0]]; ok {
			if instead != "" {
				p.fault(offset, "the operator %q is not supported: %s", s[0], instead)
				return
			}
			e.op = s[0]
			s = s[1:]
			offset++
		}
	}
	for spec := range strings.SplitSeq(s, ",") {
		var v variable
		v.name, v.explode = strings.CutSuffix(spec, "*")
		v.arg = Ref{RootInput, []string{v.name}}
		base, prefix, hasPrefix := strings.Cut(v.name, ":")
		switch {
		case spec == "":
			p.fault(offset, "the name of a variable is missing")
		case hasPrefix:
			p.fault(offset+len(base), "the modifier %q is not supported: a value is never cut", ":"+prefix)
		case !validName(v.name):
			p.fault(offset, "%q is no name of a variable: use letters, digits, \"_\", \"-\", and \".\" between them", v.name)
		default:
			p.t.vars = append(p.t.vars, TemplateVar{Name: v.name, Optional: e.op == '/' || e.op == '?', Query: e.op == '?', Offset: offset})
		}
		e.vars = append(e.vars, v)
		offset += len(spec) + 1
	}
	if e.op == '?' {
		p.t.query = e.vars
		return
	}
	p.t.parts = append(p.t.parts, e)
	p.offsets = append(p.offsets, []int{start, start})
}

func validName(s string) bool {
	return all(s, className) && s[0] != '.' && s[len(s)-1] != '.' && !strings.Contains(s, "..")
}

// checkStart sees to it that a finished path is empty or begins with "/": what
// follows a {/x} that may vanish at the very start would else become part of the
// host.
func (p *templateParser) checkStart() {
	i := slices.IndexFunc(p.t.parts, func(e part) bool { return e.op != '/' })
	if i > 0 && !strings.HasPrefix(p.t.parts[i].literal, "/") {
		p.fault(p.offsets[i][0], `after {/x} at the start of a path there must be a "/"`)
	}
}

// checkSegments looks for empty and dot segments that the template has by
// itself: once with every optional segment there, once with none.
func (p *templateParser) checkSegments() {
	told := map[int]bool{}
	for _, with := range []bool{true, false} {
		var path []byte
		var offsets []int
		for i, part := range p.t.parts {
			example := part.literal
			switch {
			case part.vars == nil:
			case part.op != '/':
				example = "x"
			case with:
				example = "/x"
			}
			path = append(path, example...)
			offsets = append(offsets, p.offsets[i][:len(example)]...)
		}
		for s := range badSegments(path, p.t.slash) {
			at := offsets[min(s.from, len(path)-1)]
			// What is empty without {/x} is empty with it, too.
			if told[at] || !with && s.from == s.to {
				continue
			}
			told[at] = true
			if s.from == s.to {
				p.fault(at, "a segment of the path is empty")
			} else {
				p.fault(at, "a segment of the path is %q, which servers take away with what stands before it", path[s.from:s.to])
			}
		}
	}
}

// segment is a part of a path between slashes.
type segment struct{ from, to int }

// badSegments gives the segments of a path that are empty or, after decoding,
// dot segments. With slash the path may end with "/".
func badSegments(path []byte, slash bool) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		for from := 1; from <= len(path); {
			to := len(path)
			if n := bytes.IndexByte(path[from:], '/'); n >= 0 {
				to = from + n
			}
			empty := from == to && !(slash && to == len(path))
			if (empty || hasDotSegment(path[from:to])) && !yield(segment{from, to}) {
				return
			}
			from = to + 1
		}
	}
}

// hasDotSegment says whether some server may find a dot segment in a segment of
// a path. Servers and proxies decode once, or twice, before they look; take an
// escaped "/" or "\" for a separator; cut a segment at ";" (path parameters) or,
// when they parse the decoded text anew, at "?" and "#", or at NUL; or drop
// white space around it. No identifier worth sending looks like that, so all of
// it is refused.
func hasDotSegment(segment []byte) bool {
	if bytes.IndexByte(segment, '.') < 0 && bytes.IndexByte(segment, '%') < 0 {
		return false
	}
	var buf [128]byte
	for s := appendDecoded(buf[:0], segment); len(s) > 0; {
		piece, rest := s, []byte(nil)
		if i := bytes.IndexAny(s, `/\`); i >= 0 {
			piece, rest = s[:i], s[i+1:]
		}
		if i := bytes.IndexAny(piece, ";?#\x00"); i >= 0 {
			piece = piece[:i]
		}
		if piece = bytes.TrimSpace(piece); string(piece) == "." || string(piece) == ".." {
			return true
		}
		s = rest
	}
	return false
}
