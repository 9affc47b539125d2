package bind_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/metacue/metacue/runtime/bind"
)

// go test ./runtime/bind -run AnyValue -args -bind.duration=30s
var (
	duration = flag.Duration("bind.duration", time.Second, "how long each test of random values goes on")
	seed     = flag.Uint64("bind.seed", 0, "the seed of random values; 0 for one that is never the same")
)

// random gives random numbers, and tells the seed when the test fails.
func random(t *testing.T) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again with -bind.seed=%d", s)
		}
	})
	return rand.New(rand.NewPCG(s, 0))
}

// received is a request as a server sees it.
type received struct {
	host     string
	escaped  string   // the path as it was sent
	segments []string // of the path, each decoded
	query    url.Values
	header   http.Header
	body     []byte
}

// receive reads a request as net/http's server has read it.
func receive(r *http.Request) (received, error) {
	v := received{host: r.Host, escaped: r.URL.EscapedPath(), header: r.Header}
	for s := range strings.SplitSeq(strings.TrimPrefix(v.escaped, "/"), "/") {
		d, err := url.PathUnescape(s)
		if err != nil {
			return v, err
		}
		v.segments = append(v.segments, d)
	}
	var err error
	if v.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return v, err
	}
	v.body, err = io.ReadAll(r.Body)
	return v, err
}

// send makes the request for net/http's client.
func send(h *bind.HTTP) (*http.Request, error) {
	r, err := http.NewRequest(h.Method, h.URL, bytes.NewReader(h.Body))
	if err != nil {
		return nil, err
	}
	for _, f := range h.Header {
		r.Header.Add(f.Name, f.Value)
	}
	return r, nil
}

// transmit writes the request as net/http's client does and reads it as the
// server does.
func transmit(h *bind.HTTP) (received, error) {
	out, err := send(h)
	if err != nil {
		return received{}, err
	}
	var wire bytes.Buffer
	if err := out.Write(&wire); err != nil {
		return received{}, err
	}
	line, _, _ := bytes.Cut(wire.Bytes(), []byte("\r\n"))
	in, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		return received{}, err
	}
	v, err := receive(in)
	// Nothing on the way has changed the URL.
	if target := strings.TrimPrefix(h.URL, out.URL.Scheme+"://"+v.host); err == nil && string(line) != h.Method+" "+target+" HTTP/1.1" {
		err = fmt.Errorf("%q is sent as %q", h.URL, line)
	}
	return v, err
}

// parse is what a server sees of a request.
func parse(t testing.TB, h *bind.HTTP) received {
	t.Helper()
	v, err := transmit(h)
	if err != nil {
		t.Fatalf("%s: %v", h.URL, err)
	}
	return v
}

// pathCase is a random template with values, and what a server must see.
type pathCase struct {
	template string
	base     string
	args     bind.Args
	values   map[string]string
	// segments are the segments of the template, each a list of pieces: literal
	// text, or a variable's name behind a NUL. Below base.
	segments [][]string
	// free says that {+x} is in the template: the number of segments is not fixed.
	free bool
}

// awkward are pieces of values that go wrong somewhere.
var awkward = []string{
	"..", ".", "/", "//", `\`, "%2e", "%2F", "%2f", "%5c", "%", "%25", "%00", "?", "#", ";", "&", "=", "+", " ", "\t", "\r\n", "\x00", "\x7f",
	"@", ":", "://", "http://evil.example", "//evil.example", "{x}", "{a}", "${a}", "$", "'", `"`, "`", "<", ">", "|", "^", "[", "]", "*", "~", "!",
	"é", "日本", "😀", "\u202e", "\u2028", "\ufeff", "\u00a0", "a", "b", "x", "main", "refs/heads/main", "1", ",", "…", "．．", "\U0010ffff",
}

// randomValue gives a string: pieces that are awkward, random characters, and
// now and then a very long one.
func randomValue(r *rand.Rand) string {
	var b strings.Builder
	n := r.IntN(6)
	if r.IntN(2000) == 0 {
		n = r.IntN(20_000)
	}
	for range n {
		switch r.IntN(3) {
		case 0:
			b.WriteRune(rune(r.IntN(0x80)))
		case 1:
			b.WriteRune(rune(r.IntN(utf8.MaxRune + 1))) // a surrogate becomes U+FFFD
		default:
			b.WriteString(awkward[r.IntN(len(awkward))])
		}
	}
	return b.String()
}

func randomCase(r *rand.Rand) pathCase {
	c := pathCase{
		base:   []string{"http://api.example", "http://api.example/", "http://api.example:8080/v1", "http://api.example/v%201/%2e%2ea/"}[r.IntN(4)],
		args:   bind.Args{},
		values: map[string]string{},
	}
	var names int
	variable := func() string {
		names++
		n := fmt.Sprintf("v%d", names)
		c.values[n] = randomValue(r)
		c.args[n], _ = json.Marshal(c.values[n])
		return n
	}
	for range 1 + r.IntN(4) {
		switch r.IntN(6) {
		case 0:
			c.template += "/items"
			c.segments = append(c.segments, []string{"items"})
		case 1: // a segment of its own, and optional
			n := variable()
			if r.IntN(3) == 0 {
				delete(c.args, n)
			} else {
				c.segments = append(c.segments, []string{"\x00" + n})
			}
			c.template += "{/" + n + "}"
		case 2:
			n := variable()
			c.template += "/{+" + n + "}"
			c.segments = append(c.segments, []string{"\x00" + n})
			c.free = true
		default: // literal text and variables in one segment
			var segment []string
			c.template += "/"
			for range 1 + r.IntN(3) {
				if l := []string{"", ".", "$", "v", "%2e", ".."}[r.IntN(6)]; l != "" && r.IntN(2) == 0 {
					c.template += l
					l, _ = url.PathUnescape(l)
					segment = append(segment, l)
				}
				n := variable()
				c.template += "{" + n + "}"
				segment = append(segment, "\x00"+n)
			}
			c.segments = append(c.segments, segment)
		}
	}
	return c
}

// want gives the decoded segments below the base path, those of {+x} joined.
func (c pathCase) want() string {
	var segments []string
	for _, s := range c.segments {
		var b strings.Builder
		for _, piece := range s {
			if name, ok := strings.CutPrefix(piece, "\x00"); ok {
				piece = c.values[name]
			}
			b.WriteString(piece)
		}
		segments = append(segments, b.String())
	}
	return strings.Join(segments, "/")
}

// check says what is wrong with what a server has received.
func (c pathCase) check(v received) error {
	b, _ := url.Parse(c.base)
	if v.host != b.Host {
		return fmt.Errorf("the host is %q", v.host)
	}
	prefix := strings.TrimSuffix(b.EscapedPath(), "/")
	if len(c.segments) == 0 {
		if v.escaped != prefix && prefix+v.escaped != "/" {
			return fmt.Errorf("the path is %q", v.escaped)
		}
		return nil
	}
	if !strings.HasPrefix(v.escaped, prefix+"/") {
		return fmt.Errorf("the path is %q", v.escaped)
	}
	segments := v.segments[strings.Count(prefix, "/"):]
	if !c.free && len(segments) != len(c.segments) {
		return fmt.Errorf("%d segments instead of %d: %q", len(segments), len(c.segments), v.escaped)
	}
	if got := strings.Join(segments, "/"); got != c.want() {
		return fmt.Errorf("decodes to %q instead of %q", got, c.want())
	}
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return fmt.Errorf("a segment is %q", s)
		}
	}
	return nil
}

// Whatever values are sent through whatever position of a path, the server sees
// the number of segments, the host and the prefix of the template, and the
// values that were sent; or the call was refused.
func TestAnyValueAnyPath(t *testing.T) {
	r := random(t)
	deadline := time.Now().Add(*duration)
	var sent, refusals int
	for n := 0; n < 2000 || time.Now().Before(deadline); n++ {
		c := randomCase(r)
		p, err := bind.ParseTemplate(c.template)
		if err != nil {
			t.Fatalf("template %q: %v", c.template, err)
		}
		req := &bind.Request{Base: base(t, c.base), Method: "GET", Path: p}
		h, err := req.Build(t.Context(), &bind.Scope{Args: c.args})
		if err != nil {
			refusals++
			var faults bind.Errors
			if !errors.As(err, &faults) || h != nil || faults[0].Argument == "" {
				t.Fatalf("%q %q: %#v", c.template, c.values, err)
			}
			if why := c.refusable(); !why {
				t.Fatalf("%q %q: refused without need: %v", c.template, c.values, err)
			}
			continue
		}
		sent++
		v, err := transmit(h)
		if err == nil {
			err = c.check(v)
		}
		if err != nil {
			t.Fatalf("%q %q: %s: %v", c.template, c.values, h.URL, err)
		}
	}
	t.Logf("%d requests sent, %d refused", sent, refusals)
	if sent < 100 || refusals < 100 {
		t.Errorf("the values are not what they should be")
	}
}

// Whatever values are sent as query parameter, header or body of any kind, the
// server reads the values that were sent; or the call was refused, which only a
// header can need.
func TestAnyValueAnyPlace(t *testing.T) {
	r := random(t)
	kinds := []bind.BodyKind{bind.BodyJSON, bind.BodyForm, bind.BodyText, bind.BodyBinary, bind.BodyMultipart}
	deadline := time.Now().Add(*duration)
	for n := 0; n < 2000 || time.Now().Before(deadline); n++ {
		v, w := randomValue(r), randomValue(r)
		kind := kinds[n%len(kinds)]
		req := post(t, kind, bind.Object{field("a", input("v")), field("l", bind.List{input("v"), input("w")})})
		want, _ := json.Marshal(map[string]any{"a": v, "l": []string{v, w}})
		switch kind {
		case bind.BodyText:
			req.Body.Value = input("v")
		case bind.BodyBinary:
			req.Body.Value = bind.Const(quoted(t, base64.StdEncoding.EncodeToString([]byte(v))))
		}
		req.Query = []bind.Field{field("a", input("v")), field("l", bind.List{input("v"), input("w")}), field("", bind.Const(`{`+string(quoted(t, w))+`:"named"}`))}
		req.Headers = []bind.Field{field("X-A", input("v"))}
		h, err := req.Build(t.Context(), &bind.Scope{Args: bind.Args{"v": quoted(t, v), "w": quoted(t, w)}})
		noHeader := strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) || strings.Trim(v, " \t") != v
		if (err != nil) != noHeader {
			t.Fatalf("%q: refused: %v", v, err)
		}
		if err != nil {
			req.Headers = nil
			h = build(t, req, &bind.Scope{Args: bind.Args{"v": quoted(t, v), "w": quoted(t, w)}})
		}
		got, err := transmit(h)
		if err != nil {
			t.Fatalf("%q: %s: %v", v, h.URL, err)
		}
		wantQuery := url.Values{"a": {v}, "l": {v, w}}
		wantQuery.Add(w, "named")
		if !reflect.DeepEqual(got.query, wantQuery) {
			t.Fatalf("%q %q: the query is %q", v, w, got.query)
		}
		if !noHeader && got.header.Get("X-A") != v {
			t.Fatalf("%q: the header is %q", v, got.header.Get("X-A"))
		}
		switch kind {
		case bind.BodyJSON:
			var body any
			err = json.Unmarshal(got.body, &body)
			if again, _ := json.Marshal(body); err != nil || !bytes.Equal(again, want) {
				t.Fatalf("%q %q: the body is %s: %v", v, w, got.body, err)
			}
		case bind.BodyForm:
			if form, err := url.ParseQuery(string(got.body)); err != nil || !reflect.DeepEqual(form, url.Values{"a": {v}, "l": {v, w}}) {
				t.Fatalf("%q %q: the form is %s: %v", v, w, got.body, err)
			}
		case bind.BodyMultipart:
			if p := parts(t, h); !slices.Equal(p, []part{{"a", "", "", v}, {"l", "", "", v}, {"l", "", "", w}}) {
				t.Fatalf("%q %q: the parts are %q", v, w, p)
			}
		default:
			if string(got.body) != v {
				t.Fatalf("%q: the body is %q", v, got.body)
			}
		}
	}
}

// refusable says whether there is anything in the case that can be refused: an
// empty value, a dot next to an end, a separator or an escape, or slashes that
// leave a segment empty.
func (c pathCase) refusable() bool {
	for _, s := range c.segments {
		for _, piece := range s {
			if name, ok := strings.CutPrefix(piece, "\x00"); ok && c.values[name] == "" {
				return true
			}
		}
	}
	w := "/" + c.want() + "/"
	return strings.Contains(w, ".") || strings.Contains(strings.ToLower(w), "%2") || c.free && strings.Contains(w, "//")
}

// The same over a real connection, through net/http's client and server.
func TestAnyValueOverTheWire(t *testing.T) {
	var got received
	var fault error
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, fault = receive(r) }))
	defer server.Close()
	r := random(t)
	for sent := 0; sent < 300; {
		c := randomCase(r)
		c.base = server.URL + "/v1"
		req := &bind.Request{Base: base(t, c.base), Method: "GET", Path: template(t, c.template)}
		q := randomValue(r)
		req.Query = []bind.Field{field("q", bind.Const(quoted(t, q)))}
		h, err := req.Build(t.Context(), &bind.Scope{Args: c.args})
		if err != nil || len(h.URL) > 4000 {
			continue
		}
		sent++
		out, err := send(h)
		if err != nil {
			t.Fatalf("%s: %v", h.URL, err)
		}
		res, err := server.Client().Do(out)
		if err != nil {
			t.Fatalf("%s: %v", h.URL, err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK || fault != nil {
			t.Fatalf("%s: %s %v", h.URL, res.Status, fault)
		}
		if err := c.check(got); err != nil {
			t.Fatalf("%q %q: %s: %v", c.template, c.values, h.URL, err)
		}
		if v := got.query["q"]; len(v) != 1 || v[0] != q {
			t.Fatalf("%q became %q", q, v)
		}
	}
}
