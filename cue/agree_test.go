package config_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// message is one HTTP request as TestReplay compares it.
type message struct {
	Method      string      `json:"method"`
	Host        string      `json:"host"`
	Path        string      `json:"path"` // as sent, percent-encoded
	Query       [][2]string `json:"query"`
	Accept      string      `json:"accept"`
	ContentType string      `json:"contentType"`
	IfMatch     string      `json:"ifMatch"`
	Body        any         `json:"body"` // numbers as json.Number; text where it is no JSON
}

func (m message) String() string {
	var q []string
	for _, p := range m.Query {
		q = append(q, p[0]+"="+p[1])
	}
	s := m.Method + " " + m.Host + m.Path
	if len(q) > 0 {
		s += "?" + strings.Join(q, "&")
	}
	for _, h := range [][2]string{{"Accept", m.Accept}, {"If-Match", m.IfMatch}} {
		if h[1] != "" {
			s += " | " + h[0] + ": " + h[1]
		}
	}
	if m.Body != nil {
		s += " | " + text(m.Body)
	}
	return s
}

// read says whether a request changes nothing: by its method, or because it is
// one of those that read by POST.
func (m message) read() bool {
	return m.Method == http.MethodGet || m.Method == http.MethodPost && readsByPost.MatchString(m.Path)
}

var readsByPost = fold(`/(workitemsbatch|wiql|pagesbatch|pullrequestquery|filediffs|\w+searchresults)$`)

// agreement is the outcome of comparing the requests of one call.
type agreement struct {
	faults []string // what differs
	notes  []string // what the rules forgive and is no mere spelling
}

// agree compares the requests that a call made with those that were expected.
// They agree when each has its like, in any order, except that a read may be
// missing when it only led up to a later request, and that one thing may be read
// where a list was read to pick it. asked tells what the call asked for.
func agree(got, want []message, asked asked) agreement {
	var a agreement
	left := slices.Clone(got)
	for i, w := range want {
		var nearest []string
		found := slices.IndexFunc(left, func(g message) bool {
			faults, notes := compareMessages(g, w, asked)
			if len(faults) == 0 {
				a.notes = append(a.notes, notes...)
				return true
			}
			if g.Method == w.Method && samePath(g.Path, w.Path) && (nearest == nil || len(faults) < len(nearest)) {
				nearest = faults
			}
			return false
		})
		if found < 0 {
			if found = slices.IndexFunc(left, func(g message) bool { return picks(g, w, asked) }); found >= 0 {
				a.notes = append(a.notes, "read by itself: "+left[found].String())
			}
		}
		switch {
		case found >= 0:
			left = slices.Delete(left, found, found+1)
		case w.read() && i < len(want)-1 && nearest == nil:
			a.notes = append(a.notes, "not looked up: "+w.String())
		case nearest != nil:
			a.faults = append(a.faults, nearest...)
		default:
			a.faults = append(a.faults, "not sent: "+w.String())
		}
	}
	for _, g := range left {
		if !slices.ContainsFunc(want, func(w message) bool { return g.Method == w.Method && samePath(g.Path, w.Path) }) {
			a.faults = append(a.faults, "not expected: "+g.String())
		} else if len(a.faults) == 0 {
			a.faults = append(a.faults, "sent once too often: "+g.String())
		}
	}
	return a
}

// picks says whether got reads the thing that a call asked for by itself where
// want reads the list that holds it.
func picks(got, want message, asked asked) bool {
	i := strings.LastIndex(got.Path, "/")
	if i < 0 || got.Method != http.MethodGet || want.Method != http.MethodGet || got.Host != want.Host || !samePath(got.Path[:i], want.Path) {
		return false
	}
	name, err := url.PathUnescape(got.Path[i+1:])
	return err == nil && asked.values[name] && release(got.version()) == release(want.version())
}

// asked is what a call gave and what its answers held, to tell a value that
// somebody asked for from one that is always sent.
type asked struct {
	names  map[string]bool // of arguments, in lower case
	values map[string]bool // texts and numbers in arguments, lists joined; texts in answers
}

func askedBy(arguments any, answers ...any) asked {
	a := asked{names: map[string]bool{}, values: map[string]bool{}}
	var walk func(v any, answer bool)
	walk = func(v any, answer bool) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if !answer {
					a.names[strings.ToLower(name)] = true
				}
				walk(member, answer)
			}
		case []any:
			var parts []string
			for _, e := range v {
				walk(e, answer)
				parts = append(parts, plain(e))
			}
			if !answer && len(parts) > 0 {
				a.values[strings.Join(parts, ",")] = true
			}
		case string:
			// A short text is as likely to be there by chance.
			if !answer && v != "" || len(v) >= 3 {
				a.values[v] = true
			}
		case json.Number:
			if !answer {
				a.values[v.String()] = true
			}
		}
	}
	walk(arguments, false)
	for _, v := range answers {
		walk(v, true)
	}
	return a
}

// forField says whether the field of a request is there because of an argument.
func (a asked) forField(name, value string) bool {
	name = strings.ToLower(name)
	last := name[strings.LastIndex(name, ".")+1:]
	if a.names[strings.TrimPrefix(last, "$")] || a.values[value] {
		return true
	}
	for v := range a.values {
		if sameInstant(v, value) {
			return true
		}
	}
	return false
}

// compareMessages tells how one request differs from the one expected.
func compareMessages(got, want message, asked asked) (faults, notes []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if got.Method != want.Method {
		fault("the method is %s, not %s", got.Method, want.Method)
	}
	if got.Host != want.Host {
		fault("the host is %s, not %s", got.Host, want.Host)
	}
	if !samePath(got.Path, want.Path) {
		fault("the path is %s, not %s", got.Path, want.Path)
	}
	if w := want.version(); w != "" && release(got.version()) != release(w) {
		fault("the api-version is %q, not %q", got.version(), w)
	}
	if got.IfMatch != want.IfMatch {
		fault("If-Match is %q, not %q", got.IfMatch, want.IfMatch)
	}
	if want.Body != nil && mediaType(got.ContentType) != mediaType(want.ContentType) {
		fault("the Content-Type is %q, not %q", got.ContentType, want.ContentType)
	}

	g, w := got.parameters(), want.parameters()
	for _, name := range slices.Sorted(maps.Keys(w)) {
		have, ok := g[name]
		switch {
		case !ok && !asked.forField(name, strings.Join(w[name], ",")):
			if slices.ContainsFunc(w[name], func(v string) bool { return !slices.Contains([]string{"", "0", "false", "none"}, strings.ToLower(v)) }) {
				notes = append(notes, fmt.Sprintf("nobody asked for %s=%s", name, strings.Join(w[name], ",")))
			}
		case !ok:
			fault("the query lacks %s=%s", name, strings.Join(w[name], ","))
		case !slices.EqualFunc(have, w[name], func(x, y string) bool { return sameText(want.Path, name, x, y) }):
			fault("the query has %s=%s, not %s", name, strings.Join(have, " & "), strings.Join(w[name], " & "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g)) {
		if _, ok := w[name]; !ok {
			fault("the query has %s=%s, which is not expected", name, strings.Join(g[name], ","))
		}
	}

	update := want.Method == http.MethodPatch || want.Method == http.MethodPut
	compareValues(want.Path, "", "body", got.Body, want.Body, func(name string, value any) bool {
		return update && !asked.names[strings.ToLower(name)] && slices.Contains([]string{"false", "null", "[]", "{}", `""`, "0"}, text(value))
	}, fault)
	return faults, notes
}

// compareValues tells how two JSON values differ. optional says which members
// of an object may be missing.
func compareValues(path, field, at string, got, want any, optional func(name string, value any) bool, fault func(string, ...any)) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if v, ok := g[name]; ok {
				compareValues(path, name, at+"."+name, v, w[name], optional, fault)
			} else if !optional(name, w[name]) {
				fault("%s.%s is missing: %s", at, name, text(w[name]))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[name]; !ok {
				fault("%s.%s is not expected: %s", at, name, text(g[name]))
			}
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(g), len(w)) {
			switch place := fmt.Sprintf("%s[%d]", at, i); {
			case i >= len(g):
				fault("%s is missing: %s", place, text(w[i]))
			case i >= len(w):
				fault("%s is not expected: %s", place, text(g[i]))
			default:
				compareValues(path, field, place, g[i], w[i], optional, fault)
			}
		}
		return
	case bool, nil:
		if got == want {
			return
		}
	case json.Number:
		_, isText := got.(string)
		if g, ok := got.(json.Number); ok && sameNumber(g.String(), w.String()) || isText && sameName(path, field, got.(string), w.String()) {
			return
		}
	case string:
		if g, ok := got.(string); ok && sameText(path, field, g, w) {
			return
		}
	}
	fault("%s is %s, not %s", at, text(got), text(want))
}

// sameText says whether two texts in one place of a request mean the same.
func sameText(path, field, a, b string) bool {
	return a == b || sameName(path, field, a, b) || sameInstant(a, b) || sameDocument(a, b) || sameAddress(a, b)
}

func sameName(path, field, a, b string) bool {
	e, ok := enumerationOf(path, field)
	return ok && e.same(a, b)
}

func sameNumber(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// sameInstant says whether two texts are one date, each as RFC 1123 or ISO 8601.
func sameInstant(a, b string) bool {
	x, okX := instant(a)
	y, okY := instant(b)
	return okX && okY && x.Equal(y)
}

func instant(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, http.TimeFormat, time.RFC1123, time.RFC1123Z, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// sameDocument says whether two texts are one XML document, white space between
// its elements aside.
func sameDocument(a, b string) bool {
	x, okX := document(a)
	y, okY := document(b)
	return okX && okY && slices.Equal(x, y)
}

func document(s string) ([]string, bool) {
	if !strings.HasPrefix(s, "<") {
		return nil, false
	}
	var out []string
	for d := xml.NewDecoder(strings.NewReader(s)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return out, true
		}
		if err != nil {
			return nil, false
		}
		switch t := token.(type) {
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				out = append(out, string(t))
			}
		default:
			out = append(out, fmt.Sprintf("%T %v", t, t))
		}
	}
}

// sameAddress says whether two texts are one URL, or one path and query of the
// API: decoded, letter case aside.
func sameAddress(a, b string) bool {
	address := func(s string) bool { return strings.HasPrefix(s, "https://") || fold(`^/[^?]*_apis/`).MatchString(s) }
	if !address(a) || !address(b) {
		return false
	}
	a, queryA, _ := strings.Cut(a, "?")
	b, queryB, _ := strings.Cut(b, "?")
	return samePath(a, b) && queryA == queryB
}

func samePath(a, b string) bool { return pathForm(a) == pathForm(b) }

// pathForm is a path decoded, letter case aside, with the name of an enumeration
// for its number.
func pathForm(s string) string {
	if d, err := url.PathUnescape(s); err == nil {
		s = d
	}
	s = strings.ToLower(s)
	for name, n := range structureGroup.numbers {
		if head, ok := strings.CutSuffix(s, "/classificationnodes/"+strconv.Itoa(n)); ok {
			s = head + "/classificationnodes/" + name
		}
	}
	return s
}

const apiVersion = "api-version"

// version is the api-version of the query or of the Accept header.
func (m message) version() string {
	for _, p := range m.Query {
		if p[0] == apiVersion {
			return p[1]
		}
	}
	_, parameters, err := mime.ParseMediaType(m.Accept)
	if err != nil {
		return ""
	}
	return parameters[apiVersion]
}

// release is an api-version without its preview part.
func release(version string) string {
	v, _, _ := strings.Cut(version, "-")
	return v
}

func mediaType(s string) string {
	t, _, err := mime.ParseMediaType(s)
	if err != nil {
		return s
	}
	return t
}

// parameters are the query's but api-version.
func (m message) parameters() map[string][]string {
	out := map[string][]string{}
	for _, p := range m.Query {
		if p[0] != apiVersion {
			out[p[0]] = append(out[p[0]], p[1])
		}
	}
	return out
}

// text is a value as compact JSON.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plain is a scalar as a query holds it.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return text(v)
}

// decodeJSON reads one JSON value; numbers keep their digits.
func decodeJSON(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}
