package rest

import (
	"cmp"
	"container/list"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
)

// masked stands where a secret would.
const masked = "***"

const (
	// maxOfSecret is how many values of one secret of the configuration are masked:
	// of one that is rotated the latest.
	maxOfSecret = 32
	// maxOfCallers is how many values that callers have brought are masked, beside
	// those of calls under way: of more, the ones used longest ago are forgotten.
	maxOfCallers = 512
)

// Scrub masks every secret that has been read so far: as it is, and as it looks
// percent-encoded (once or twice), escaped in JSON, Go or HTML, and in base64,
// alone or within a longer text such as a Basic credential. A JSON object or list
// stays valid JSON. Scrub before cutting: half a secret is not found.
func (c *Client) Scrub(s string) string {
	if s != "" && (s[0] == '{' || s[0] == '[') {
		return c.mask.scrubJSON(s)
	}
	return c.mask.scrub(s)
}

// conceal gives an answer as it is passed on. A secret in its text or headers is
// masked before anything is made of the answer, so that nothing that cuts texts,
// such as the errors of an evaluation, shows a part of one. What is binary cannot
// be masked without breaking it, and is refused.
func (c *Client) conceal(u *upstream, r *Response) (*Response, error) {
	out := *r
	for name, values := range r.Header {
		for i, v := range values {
			if s := c.Scrub(v); s != v {
				if !out.Masked {
					out.Header, out.Masked = r.Header.Clone(), true
				}
				out.Header[name][i] = s
			}
		}
	}
	if out.Masked {
		out.MediaType, out.Charset = contentType(out.Header.Get("Content-Type"))
	}
	scrub := c.Scrub
	if r.IsJSON() {
		scrub = c.mask.scrubJSON
	}
	text, err := r.Text()
	if err != nil || !r.IsText() {
		if body := string(r.Body); c.mask.scrub(body) != body {
			return nil, &Error{Kind: BadAnswer, Upstream: u.Name, Status: r.Status, Sent: true, Message: c.say(
				"the upstream %q answered %d, and its answer is %s that holds a secret of this server: it is not passed on",
				u.Name, r.Status, cmp.Or(out.MediaType, "binary data"))}
		}
	} else if s := scrub(text); s != text {
		out.Body, out.Charset, out.Masked = []byte(s), "utf-8", true
	}
	return &out, nil
}

// say makes a text that may be shown, whatever is in its parts: masked, and then
// cut where it is long.
func (c *Client) say(format string, args ...any) string {
	const most = 1000
	text := c.Scrub(fmt.Sprintf(format, args...))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// owner is whose values take the place of one another: a secret's, those made of an
// upstream's credentials, or, the zero owner, those that callers have brought.
type owner struct{ env, file, exec, upstream, credential string }

// owner gives that of a secret.
func (s Secret) owner() owner {
	if s.brought() {
		return owner{}
	}
	return owner{env: s.Env, file: s.File, exec: strings.Join(s.Exec, "\x00")}
}

// brought says whether the secret is one of the caller.
func (s Secret) brought() bool { return s.InboundHeader != "" }

// held is what a call under way has had masked for its caller. That is not forgotten
// before the call ends.
type held struct{ release []func() }

// mask has a value masked from now on; nil is no call.
func (h *held) mask(m *mask, of owner, value string) {
	if of != (owner{}) || h == nil {
		m.add(of, value)
	} else {
		h.release = append(h.release, m.hold(value))
	}
}

func (h *held) end() {
	for _, release := range h.release {
		release()
	}
}

// mask holds the values to be masked.
type mask struct {
	mu     sync.Mutex // held while values change
	owners map[owner]*values
	set    atomic.Pointer[needles]
}

// values are those of one owner, the one used longest ago first.
type values struct {
	order *list.List // of *value
	at    map[string]*list.Element
	most  int
}

// value is one secret, and how many calls hold it.
type value struct {
	text  string
	calls int
}

// add has a value masked from now on, as one of the latest of its owner.
func (m *mask) add(of owner, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest(of, text)
}

// hold has a value of a caller masked from now on, and at least until it is
// released.
func (m *mask) hold(text string) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.latest(owner{}, text)
	v.calls++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if v.calls--; v.calls == 0 {
			m.change(nil, m.owners[owner{}].shrink())
		}
	}
}

// latest makes a value the latest one of its owner.
func (m *mask) latest(of owner, text string) *value {
	all := m.owners[of]
	if all == nil {
		if m.owners == nil {
			m.owners = map[owner]*values{}
		}
		all = &values{order: list.New(), at: map[string]*list.Element{}, most: maxOfSecret}
		if of == (owner{}) {
			all.most = maxOfCallers
		}
		m.owners[of] = all
	}
	at, ok := all.at[text]
	if !ok {
		at = all.order.PushBack(&value{text: text})
		all.at[text] = at
		m.change(forms(text), all.shrink())
	}
	all.order.MoveToBack(at)
	return at.Value.(*value)
}

// change adds and drops forms.
func (m *mask) change(add, drop []string) {
	if len(add)+len(drop) > 0 {
		m.set.Store(m.set.Load().change(add, drop))
	}
}

// shrink forgets values that no call holds, the latest one excepted, until there are
// few enough, and gives their forms.
func (all *values) shrink() (forgotten []string) {
	for e := all.order.Front(); all.order.Len() > all.most && e != all.order.Back(); {
		v, next := e.Value.(*value), e.Next()
		if v.calls == 0 {
			all.order.Remove(e)
			delete(all.at, v.text)
			forgotten = append(forgotten, forms(v.text)...)
		}
		e = next
	}
	return forgotten
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
		}
	}
	for c, introduce := range introduces {
		for other := range 256 {
			if introduce { // an escape may stand for any byte, the first or the second
				next.mayGoOn(byte(c), byte(other))
				if len(next.forms[other]) > 0 {
					next.mayGoOn(byte(other), byte(c))
				}
			}
		}
	}
	return next
}

func (n *needles) mayGoOn(first, second byte) { n.second[first][second>>6] |= 1 << (second & 63) }

func longestFirst(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }

// forms are the texts by which a value is known; escapes are undone in matching.
func forms(value string) []string {
	all := []string{value}
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

func (m *mask) scrub(s string) string {
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
		out.WriteString(masked)
		i += n
		kept = i
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// scrubJSON masks secrets in JSON. A number that is a secret, or has one in it,
// becomes a string.
func (m *mask) scrubJSON(s string) string {
	scrubbed := m.scrub(s)
	if scrubbed == s || json.Valid([]byte(scrubbed)) || !json.Valid([]byte(s)) {
		return scrubbed
	}
	var out strings.Builder
	inString := false
	for i := 0; i < len(scrubbed); i++ {
		switch c := scrubbed[i]; {
		case inString && c == '\\' && i+1 < len(scrubbed):
			out.WriteByte(c)
			i++
			out.WriteByte(scrubbed[i])
		case !inString && strings.IndexByte("{}[],:\"", c) < 0:
			end := i + strings.IndexAny(scrubbed[i:]+",", "{}[],:\"")
			if token := scrubbed[i:end]; strings.Contains(token, masked) {
				out.WriteString(`"` + masked + `"`)
			} else {
				out.WriteString(token)
			}
			i = end - 1
		default:
			inString = inString != (c == '"')
			out.WriteByte(c)
		}
	}
	return out.String()
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
		if len(s) > 1 && s[1] != form[1] && !introduces[s[1]] {
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
			if s[i] != rest[0] {
				return -1
			}
			rest = rest[1:]
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

// introduces holds the bytes at which escapes may be read.
var introduces = [256]bool{'+': true, '%': true, '&': true, '\\': true}

// references holds the named references of the characters that HTML must escape.
var references = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// escapes calls yield for each way to read an escape sequence at the start of
// s, the widest first: what it means, never empty, and its width. Nothing is an escape by itself.
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
