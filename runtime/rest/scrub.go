package rest

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
)

const (
	// masked stands where a secret would.
	masked = "***"
	// remasked stands there in the other copy of an answer, and must differ from masked in
	// its characters and in its length.
	remasked = "+++++"
)

// maxOfSecret is how many values of one secret are masked: of one that is rotated the
// latest.
const maxOfSecret = 32

// Brought holds the secrets that the caller of one call has brought in headers. They
// are masked in that call alone: whoever could have a value masked in the calls of
// others would change what those read. The zero Brought is ready, nil holds none, and
// it is safe for concurrent use.
type Brought struct{ mask mask }

// Scrub masks the secrets of the caller, as Client.Scrub does those of the server.
func (b *Brought) Scrub(s string) string {
	return b.replace(s, masked, looksLikeJSON(s))
}

func (b *Brought) replace(s, with string, isJSON bool) string {
	if b == nil {
		return s
	}
	return b.mask.replaceIn(s, with, isJSON)
}

// Scrub masks the latest values that have been read of each secret of the
// configuration: as they are, and as they look percent-encoded (once or twice),
// escaped in JSON, Go or HTML, in hexadecimal digits, and in base64, alone or within a
// longer text such as a Basic credential, also broken into lines. In a JSON object or
// list they are masked inside strings and numbers, so that it stays one with the same
// members. Scrub before cutting: half a secret is not found.
func (c *Client) Scrub(s string) string {
	return c.mask.replaceIn(s, masked, looksLikeJSON(s))
}

func looksLikeJSON(s string) bool { return s != "" && (s[0] == '{' || s[0] == '[') }

// scrub masks the server's own secrets and then those of the caller: what the latter
// brings cannot break up what is the server's.
func (c *Client) scrub(b *Brought, s string) string { return b.Scrub(c.Scrub(s)) }

// conceal gives an answer as it is passed on. A secret in its text or headers is
// masked before anything is made of the answer, so that nothing that cuts texts,
// such as the errors of an evaluation, shows a part of one. What is binary cannot
// be masked without breaking it, and is refused.
func (c *Client) conceal(u *upstream, r *Response, b *Brought) (*Response, error) {
	out, ok := c.masking(r, b, masked)
	if !ok {
		return nil, &Error{Kind: BadAnswer, Upstream: u.Name, Status: r.Status, Sent: true, Message: c.say(b,
			"the upstream %q answered %d, and its answer is %s that holds a secret of this server: it is not passed on",
			u.Name, r.Status, cmp.Or(r.MediaType, "binary data"))}
	}
	if out != r {
		out.Masked, _ = c.masking(r, b, remasked)
	}
	return out, nil
}

// masking gives an answer with a text in the place of secrets: a copy, or the answer
// itself where it has none. It is not ok where a secret is in what is no text.
func (c *Client) masking(r *Response, b *Brought, with string) (_ *Response, ok bool) {
	replace := func(s string, isJSON bool) string {
		return b.replace(c.mask.replaceIn(s, with, isJSON), with, isJSON)
	}
	out, changed := *r, false
	for name, values := range r.Header {
		for i, v := range values {
			if s := replace(v, looksLikeJSON(v)); s != v {
				if !changed {
					out.Header, changed = r.Header.Clone(), true
				}
				out.Header[name][i] = s
			}
		}
	}
	if changed {
		out.MediaType, out.Charset = contentType(out.Header.Get("Content-Type"))
	}
	text, err := r.Text()
	if err != nil || !r.IsText() {
		if body := string(r.Body); replace(body, false) != body {
			return nil, false
		}
	} else if s := replace(text, r.IsJSON() || looksLikeJSON(text)); s != text {
		out.Body, out.Charset, changed = []byte(s), "utf-8", true
	}
	if !changed {
		return r, true
	}
	return &out, true
}

// say makes a text that may be shown, whatever is in its parts: masked, and then
// cut where it is long.
func (c *Client) say(b *Brought, format string, args ...any) string {
	const most = 1000
	text := c.scrub(b, fmt.Sprintf(format, args...))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// owner is whose values take the place of one another: a secret's, or those made of an
// upstream's credentials.
type owner struct{ env, file, exec, header, upstream, credential string }

// owner gives that of a secret.
func (s Secret) owner() owner {
	return owner{env: s.Env, file: s.File, exec: strings.Join(s.Exec, "\x00"), header: s.InboundHeader}
}

// brought says whether the secret is one of the caller.
func (s Secret) brought() bool { return s.InboundHeader != "" }

// maskOf gives where a secret is masked that a call has read.
func (c *Client) maskOf(o CallOptions, brought bool) *mask {
	if brought {
		return &o.Brought.mask
	}
	return &c.mask
}

// mask holds the values to be masked.
type mask struct {
	mu     sync.Mutex         // held while values change
	owners map[owner][]string // the value used longest ago first
	set    atomic.Pointer[needles]
}

// add has a value masked from now on, as one of the latest of its owner.
func (m *mask) add(of owner, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := m.owners[of]
	if i := slices.Index(values, text); i >= 0 {
		copy(values[i:], values[i+1:])
		values[len(values)-1] = text
		return
	}
	var drop []string
	if len(values) == maxOfSecret {
		drop, values = forms(values[0]), values[1:]
	}
	if m.owners == nil {
		m.owners = map[owner][]string{}
	}
	m.owners[of] = append(values, text)
	m.set.Store(m.set.Load().change(forms(text), drop))
}

// needles is what is looked for: forms by their first byte, longest first, one as
// often as values have it. It is not changed once it is in use.
type needles struct {
	forms [256][]string
	// second has, for each first byte, a bit for each byte with which a match may
	// go on: most places in a text are passed over by it.
	second [256][4]uint64
}

// change gives the set with forms added and dropped. It takes over what begins with
// other bytes.
func (n *needles) change(add, drop []string) *needles {
	next := &needles{}
	if n != nil {
		*next = *n
	}
	own := map[byte]bool{} // first bytes whose forms are no longer shared with n
	of := func(form string) *[]string {
		list := &next.forms[form[0]]
		if !own[form[0]] {
			own[form[0]] = true
			*list = slices.Clone(*list)
		}
		return list
	}
	for _, form := range drop {
		list := of(form)
		if i, ok := slices.BinarySearchFunc(*list, form, longestFirst); ok {
			*list = slices.Delete(*list, i, i+1)
		}
	}
	for _, form := range add {
		list := of(form)
		i, _ := slices.BinarySearchFunc(*list, form, longestFirst)
		*list = slices.Insert(*list, i, form)
	}
	for first := range own {
		next.second[first] = [4]uint64{}
		for _, form := range next.forms[first] {
			next.mayGoOn(first, form[1])
			next.mayGoOn(first, '\n')
			next.mayGoOn(first, '\r')
		}
	}
	for c, introduce := range introduces {
		if !introduce {
			continue
		}
		next.second[c] = [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
		// An escape may stand for any byte, the first or the second.
		for other := range 256 {
			if len(next.forms[other]) > 0 {
				next.mayGoOn(byte(other), byte(c))
			}
		}
	}
	return next
}

func (n *needles) mayGoOn(first, second byte) { n.second[first][second>>6] |= 1 << (second & 63) }

func longestFirst(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }

// forms are the texts by which a value is known; escapes are undone in matching.
func forms(value string) []string {
	digits := hex.EncodeToString([]byte(value))
	all := []string{value, digits, strings.ToUpper(digits)}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// In base64 a value looks one of three ways, by how many bytes stand
		// before it. Characters that hold bits of its neighbours are left out.
		for before := range 3 {
			coded := e.EncodeToString(append(make([]byte, before), value...))
			from, to := (before*8+5)/6, (before+len(value))*8/6
			all = append(all, coded[from:to])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// replaceIn puts a text in the place of the values. JSON stays JSON.
func (m *mask) replaceIn(s, with string, isJSON bool) string {
	if isJSON {
		return m.replaceJSON(s, with)
	}
	return m.replace(s, with)
}

// replace puts a text in the place of the values.
func (m *mask) replace(s, with string) string {
	set := m.set.Load()
	if set == nil {
		return s
	}
	scan := scan{set: set}
	var out strings.Builder
	kept := 0
	for i := 0; i+1 < len(s); { // every form has more than one byte
		if c := s[i+1]; set.second[s[i]][c>>6]&(1<<(c&63)) == 0 {
			i++
			continue
		}
		n := scan.at(s[i:])
		if n == 0 {
			i++
			continue
		}
		out.WriteString(s[kept:i])
		out.WriteString(with)
		i += n
		kept = i
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// replaceJSON puts a text in the place of values inside the strings of JSON, names of
// members included, and in the place of numbers that have one in them. What spans
// several of them is none: a value can hold the syntax of JSON, and must not take
// members away. What is no JSON is a text.
func (m *mask) replaceJSON(s, with string) string {
	text := m.replace(s, with)
	if text == s || !json.Valid([]byte(s)) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		end := i + 1
		switch c := s[i]; {
		case c == '"':
			for ; s[end] != '"'; end++ {
				if s[end] == '\\' {
					end++
				}
			}
			end++
			out.WriteString(m.replaceString(s[i:end], with))
		case c == '-' || '0' <= c && c <= '9':
			for end < len(s) && strings.IndexByte("+-.eE0123456789", s[end]) >= 0 {
				end++
			}
			if number := s[i:end]; m.replace(number, with) != number {
				out.WriteString(`"` + with + `"`)
			} else {
				out.WriteString(number)
			}
		default:
			out.WriteByte(c)
		}
		i = end
	}
	return out.String()
}

// replaceString puts a text in the place of values in a string of JSON, in what it
// means. One that reads like a value only as it is written is replaced as a whole.
func (m *mask) replaceString(token, with string) string {
	raw := token[1 : len(token)-1]
	if strings.IndexByte(raw, '\\') < 0 {
		return `"` + m.replace(raw, with) + `"`
	}
	var text string
	if m.replace(raw, with) == raw || json.Unmarshal([]byte(token), &text) != nil {
		return token
	}
	replaced := m.replace(text, with)
	if replaced == text {
		replaced = with
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(replaced) // a string can be encoded, and a Builder written to
	return strings.TrimSuffix(out.String(), "\n")
}

// scan is one pass over a text.
type scan struct {
	set *needles
	// failed holds what did not match behind an escape, so that a secret and a
	// text of nothing but escapes, which can be read in many ways, cost no more
	// than the product of their lengths.
	failed map[attempt]bool
}

// attempt is a form, and how many bytes of the text and of it are left.
type attempt struct {
	form       string
	text, left int
}

// at gives the length of the text at the start of s that is one of the forms,
// or 0.
func (c *scan) at(s string) int {
	for _, form := range c.set.forms[s[0]] {
		if len(s) > 1 && s[1] != form[1] && !introduces[s[1]] && !breaks(s[1]) {
			continue
		}
		if n := c.match(s[1:], form, form[1:]); n >= 0 {
			return 1 + n
		}
	}
	if !introduces[s[0]] {
		return 0
	}
	longest := 0
	escapes(s, func(decoded string, width int) {
		if decoded == "" {
			return
		}
		for _, form := range c.set.forms[decoded[0]] {
			if rest, ok := strings.CutPrefix(form, decoded); ok {
				if n := c.match(s[width:], form, rest); n >= 0 {
					longest = max(longest, width+n)
				}
			}
		}
	})
	return longest
}

// match gives the length of the text at the start of s that means rest, the end
// of form, or -1.
func (c *scan) match(s, form, rest string) int {
	for i := 0; ; i++ {
		if rest == "" {
			return i
		}
		if i == len(s) {
			return -1
		}
		if !introduces[s[i]] {
			if s[i] == rest[0] {
				rest = rest[1:]
			} else if !breaks(s[i]) {
				return -1
			}
			continue
		}
		found := -1
		escapes(s[i:], func(decoded string, width int) {
			after, ok := strings.CutPrefix(rest, decoded)
			if !ok || found >= 0 {
				return
			}
			key := attempt{form, len(s) - i - width, len(after)}
			if c.failed[key] {
				return
			}
			if n := c.match(s[i+width:], form, after); n >= 0 {
				found = i + width + n
				return
			}
			if c.failed == nil {
				c.failed = map[attempt]bool{}
			}
			c.failed[key] = true
		})
		if found >= 0 {
			return found
		}
		if s[i] != rest[0] {
			return -1
		}
		rest = rest[1:]
	}
}

// breaks says whether a byte is of a line end. No value holds one, and a text may be
// broken into lines anywhere, as base64 is (RFC 2045 §6.8).
func breaks(c byte) bool { return c == '\n' || c == '\r' }

// introduces holds the bytes at which escapes may be read.
var introduces = [256]bool{'+': true, '%': true, '&': true, '\\': true}

// references holds the named references of the characters that HTML must escape.
var references = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// escapes calls yield for each way to read an escape sequence at the start of
// s, the widest first: what it means, which is nothing for a line end, and its width. Nothing is an escape by itself.
func escapes(s string, yield func(decoded string, width int)) {
	switch s[0] {
	case '+':
		yield(" ", 1)
	case '%':
		for _, width := range [...]int{5, 3} { // %2541, which was encoded twice, and %41
			if len(s) >= width && (width == 3 || s[1:3] == "25") {
				if b, err := strconv.ParseUint(s[width-2:width], 16, 8); err == nil {
					yield(string([]byte{byte(b)}), width)
					if b == '+' {
						yield(" ", width)
					}
				}
			}
		}
	case '&':
		end := strings.IndexByte(s[:min(len(s), 10)], ';')
		if end < 2 {
			return
		}
		name := s[1:end]
		if text, ok := references[name]; ok {
			yield(text, end+1)
		} else if name[0] == '#' {
			base, digits := 10, name[1:]
			if len(digits) > 1 && (digits[0] == 'x' || digits[0] == 'X') {
				base, digits = 16, digits[1:]
			}
			if r, err := strconv.ParseUint(digits, base, 21); err == nil {
				yield(string(rune(r)), end+1)
			}
		}
	case '\\':
		// A text that was escaped more than once has more than one backslash.
		n := 1
		for n < len(s) && s[n] == '\\' {
			n++
		}
		for _, width := range [...]int{4, 2} {
			if width <= n {
				yield(`\`, width)
			}
		}
		if n == len(s) {
			return
		}
		switch c := s[n]; c {
		case '"', '\'', '/':
			yield(s[n:n+1], n+1)
		case 'n', 'r':
			yield("", n+1)
		case 'x':
			if len(s) >= n+3 {
				if b, err := strconv.ParseUint(s[n+1:n+3], 16, 8); err == nil {
					yield(string([]byte{byte(b)}), n+3)
				}
			}
		case 'U': // Go alone writes these
			if len(s) >= n+9 {
				if r, err := strconv.ParseUint(s[n+1:n+9], 16, 21); err == nil {
					yield(string(rune(r)), n+9)
				}
			}
		case 'u':
			r, ok := unit(s[n:])
			width := n + 5
			if ok && utf16.IsSurrogate(r) {
				low := strings.TrimLeft(s[width:], `\`)
				var l rune
				l, ok = unit(low)
				r, width = utf16.DecodeRune(r, l), len(s)-len(low)+5
			}
			if ok {
				yield(string(r), width)
			}
		}
	}
}

// unit reads the code unit of an escape from its u on.
func unit(s string) (rune, bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(s[1:5], 16, 16)
	return rune(r), err == nil
}
