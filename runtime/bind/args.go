package bind

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Bounds are how large the arguments of a call may be. A bound of 0 is none.
type Bounds struct {
	// MaxBytes is the size of the JSON as it came.
	MaxBytes int
	// MaxElements counts members and elements at every depth.
	MaxElements int
	// MaxDepth is the nesting of objects and lists; the arguments themselves are
	// one level.
	MaxDepth int
}

// DefaultBounds hold where a configuration sets no limits of its own.
var DefaultBounds = Bounds{MaxBytes: 1 << 20, MaxElements: 10_000, MaxDepth: 32}

// ParseArgs splits a JSON object into its members, in one pass that stops at
// the first fault. White space between values is dropped; every digit, every
// escape and the order of nested members stay as they came.
//
// Besides what is no JSON object (RFC 8259), it refuses what receivers are
// known to read differently from one another: a name given twice in one object,
// half a surrogate pair, and invalid UTF-8. The error is an [Errors].
func ParseArgs(data []byte, b Bounds) (Args, error) {
	if b.MaxBytes > 0 && len(data) > b.MaxBytes {
		return nil, Errors{{Reason: fmt.Sprintf("the arguments are larger than %d bytes", b.MaxBytes)}}
	}
	p := argsParser{data: data, bounds: b, out: make([]byte, 0, len(data)), args: Args{}}
	if fault := p.parse(); fault != "" {
		return nil, Errors{{Argument: p.name, Reason: fault}}
	}
	return p.args, nil
}

// argsParser reads the arguments of a call. Its depth is that of a slice, not
// of the goroutine's stack.
type argsParser struct {
	data   []byte
	bounds Bounds

	i     int     // the next byte of data
	open  []frame // objects and lists begun and not ended
	keys  [][]byte
	count int // members and elements

	out   []byte // data without white space; the arguments are parts of it
	args  Args
	name  string // the argument that is being read
	start int    // where it begins in out
}

// frame is an object or list that has begun.
type frame struct {
	object bool
	keys   int                 // where the object's names begin in argsParser.keys
	seen   map[string]struct{} // the names of a large object
}

// fewKeys is how many names are compared one by one before a map is made.
const fewKeys = 16

// parse reads everything and gives the first fault as a sentence, "" for none.
func (p *argsParser) parse() string {
	if p.space(); p.next() != '{' {
		return "the arguments must be one JSON object"
	}
	for {
		begun, fault := p.value()
		if fault != "" {
			return fault
		}
		// Unless a value inside it comes first, a value has ended, and perhaps
		// the one around it too.
		for more := begun; !more; {
			switch len(p.open) {
			case 0:
				if p.space(); p.i < len(p.data) {
					return p.unexpected("after the end of the arguments")
				}
				return ""
			case 1:
				p.args[p.name] = slices.Clip(p.out[p.start:])
				p.name = ""
			}
			if more, fault = p.after(); fault != "" {
				return fault
			}
		}
	}
}

// value reads a whole value, or, with begun true, an object or list up to the
// first value inside.
func (p *argsParser) value() (begun bool, fault string) {
	if len(p.open) > 0 {
		if p.count++; p.bounds.MaxElements > 0 && p.count > p.bounds.MaxElements {
			return false, fmt.Sprintf("the arguments hold more than %d members and elements", p.bounds.MaxElements)
		}
	}
	switch c := p.next(); c {
	case '{', '[':
		p.copy(1)
		if p.bounds.MaxDepth > 0 && len(p.open) == p.bounds.MaxDepth {
			return false, fmt.Sprintf("the arguments are nested deeper than %d levels", p.bounds.MaxDepth)
		}
		p.space()
		if p.next() == c+2 { // "}" after "{", "]" after "["
			p.copy(1)
			return false, ""
		}
		p.open = append(p.open, frame{object: c == '{', keys: len(p.keys)})
		if c == '{' {
			fault = p.key()
		}
		return true, fault
	case '"':
		_, fault = p.string()
	case 't':
		fault = p.word("true")
	case 'f':
		fault = p.word("false")
	case 'n':
		fault = p.word("null")
	default:
		fault = p.number()
	}
	return false, fault
}

// after reads what stands after a value: a comma, with more true, or the end of
// the object or list that the value is in.
func (p *argsParser) after() (more bool, fault string) {
	p.space()
	f := p.open[len(p.open)-1]
	switch c := p.next(); {
	case c == ',':
		p.copy(1)
		p.space()
		if f.object {
			fault = p.key()
		}
		return true, fault
	case c == '}' && f.object, c == ']' && !f.object:
		p.copy(1)
		p.open = p.open[:len(p.open)-1]
		p.keys = p.keys[:f.keys]
		return false, ""
	}
	return false, p.unexpected("after a value")
}

// key reads the name of a member and the colon.
func (p *argsParser) key() (fault string) {
	top := len(p.open) == 1
	if p.next() != '"' {
		return p.unexpected("where the name of a member should begin")
	}
	quoted, fault := p.string()
	if fault != "" {
		return fault
	}
	key, err := unquote(quoted)
	if err != nil {
		return p.at(err.Error())
	}
	if p.repeated(key) {
		return p.at(fmt.Sprintf("the name %q is given twice in one object", key))
	}
	if p.space(); p.next() != ':' {
		return p.unexpected("where a colon should be")
	}
	p.copy(1)
	p.space()
	if top {
		p.name, p.start = string(key), len(p.out)
	}
	return ""
}

// repeated says whether the innermost object has had this name before, and
// notes it.
func (p *argsParser) repeated(key []byte) bool {
	f := &p.open[len(p.open)-1]
	if f.seen == nil {
		keys := p.keys[f.keys:]
		if slices.ContainsFunc(keys, func(k []byte) bool { return string(k) == string(key) }) {
			return true
		}
		if len(keys) < fewKeys {
			p.keys = append(p.keys, key)
			return false
		}
		f.seen = make(map[string]struct{}, 2*fewKeys)
		for _, k := range keys {
			f.seen[string(k)] = struct{}{}
		}
	}
	n := len(f.seen)
	f.seen[string(key)] = struct{}{}
	return len(f.seen) == n
}

// string reads a string, checks it, and gives it with its quotes.
func (p *argsParser) string() (quoted []byte, fault string) {
	start := p.i
	for p.i++; p.i < len(p.data); {
		switch c := p.data[p.i]; {
		case c == '"':
			p.i++
			quoted = p.data[start:p.i]
			p.out = append(p.out, quoted...)
			return quoted, ""
		case c == '\\':
			_, n, err := unescape(p.data[p.i:])
			if err != nil {
				return nil, p.at(err.Error())
			}
			p.i += n
		case c < ' ':
			return nil, p.at("a string holds a control character that is not escaped")
		case c < utf8.RuneSelf:
			p.i++
		default:
			r, n := utf8.DecodeRune(p.data[p.i:])
			if r == utf8.RuneError && n == 1 {
				return nil, p.at("a string is not valid UTF-8")
			}
			p.i += n
		}
	}
	return nil, p.unexpected("inside a string")
}

// word reads one of the literal names.
func (p *argsParser) word(w string) (fault string) {
	if end := min(p.i+len(w), len(p.data)); string(p.data[p.i:end]) != w {
		return p.unexpected("where a value should be")
	}
	p.copy(len(w))
	return ""
}

// number reads a number (RFC 8259 section 6).
func (p *argsParser) number() (fault string) {
	start := p.i
	if p.next() == '-' {
		p.i++
	}
	if p.next() == '0' {
		p.i++
	} else if !p.digits() {
		p.i = start
		return p.unexpected("where a value should be")
	}
	if p.next() == '.' {
		if p.i++; !p.digits() {
			return p.unexpected("in a number")
		}
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.i++
		if c := p.next(); c == '+' || c == '-' {
			p.i++
		}
		if !p.digits() {
			return p.unexpected("in a number")
		}
	}
	p.out = append(p.out, p.data[start:p.i]...)
	return ""
}

// digits passes over digits and says whether there was one.
func (p *argsParser) digits() bool {
	start := p.i
	for c := p.next(); '0' <= c && c <= '9'; c = p.next() {
		p.i++
	}
	return p.i > start
}

// next gives the next byte, 0 at the end.
func (p *argsParser) next() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

// copy takes over the next n bytes.
func (p *argsParser) copy(n int) {
	p.out = append(p.out, p.data[p.i:p.i+n]...)
	p.i += n
}

// space passes over white space.
func (p *argsParser) space() {
	for p.i < len(p.data) {
		switch p.data[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// at adds the place to a fault.
func (p *argsParser) at(fault string) string { return fmt.Sprintf("%s (byte %d)", fault, p.i) }

// unexpected is the fault of a byte that cannot stand where it does.
func (p *argsParser) unexpected(where string) string {
	if p.i >= len(p.data) {
		return "the arguments are not valid JSON: they end " + where
	}
	r, _ := utf8.DecodeRune(p.data[p.i:])
	return p.at(fmt.Sprintf("the arguments are not valid JSON: %q stands %s", r, where))
}
