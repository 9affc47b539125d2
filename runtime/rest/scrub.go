package rest

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
)

// masked stands where a secret would.
const masked = "***"

// maxMasked is how many values are masked at most; of more, the ones used
// longest ago are forgotten. Values come and go where secrets are rotated.
const maxMasked = 512

// Scrub masks every secret that has been read so far: as it is, and as it looks
// percent-encoded (once or twice), escaped in JSON, Go or HTML, and in base64,
// alone or within a longer text such as a Basic credential. Scrub before
// cutting: half a secret is not found.
func (c *Client) Scrub(s string) string { return c.mask.scrub(s) }

// mask holds the values to be masked.
type mask struct {
	mu    sync.Mutex // held while set is replaced
	set   atomic.Pointer[needles]
	clock atomic.Int64
}

// needles is a set of values and of the forms to look for, by first byte and
// longest first. It is not changed once it is in use.
type needles struct {
	used  map[string]*atomic.Int64
	forms [256][]string
}

// add has a value masked from now on.
func (m *mask) add(value string) {
	if m.touch(value) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.touch(value) {
		return
	}
	next := &needles{used: map[string]*atomic.Int64{}}
	if old := m.set.Load(); old != nil {
		maps.Copy(next.used, old.used)
	}
	if len(next.used) >= maxMasked {
		oldest := ""
		for v, at := range next.used {
			if oldest == "" || at.Load() < next.used[oldest].Load() {
				oldest = v
			}
		}
		delete(next.used, oldest)
	}
	next.used[value] = new(atomic.Int64)
	next.used[value].Store(m.clock.Add(1))
	for v := range next.used {
		for _, form := range forms(v) {
			next.forms[form[0]] = append(next.forms[form[0]], form)
		}
	}
	for i, f := range next.forms {
		slices.SortFunc(f, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		next.forms[i] = slices.Compact(f)
	}
	m.set.Store(next)
}

// touch notes a use of a value and says whether it is masked already.
func (m *mask) touch(value string) bool {
	if set := m.set.Load(); set != nil {
		if at, ok := set.used[value]; ok {
			at.Store(m.clock.Add(1))
			return true
		}
	}
	return false
}

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
	for i := 0; i < len(s); {
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
