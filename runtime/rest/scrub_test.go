package rest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// encoders are the ways in which a secret turns up in texts.
var encoders = map[string]func(string) string{
	"raw":             func(s string) string { return s },
	"path":            url.PathEscape,
	"query":           url.QueryEscape,
	"query of a URL":  func(s string) string { return (&url.URL{Path: s}).EscapedPath() },
	"lower-case hex":  func(s string) string { return hexLower(url.QueryEscape(s)) },
	"every byte":      everyByte,
	"encoded twice":   func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"twice, lower":    func(s string) string { return hexLower(url.PathEscape(url.PathEscape(s))) },
	"JSON":            func(s string) string { return jsonOf(s, true) },
	"JSON, HTML kept": func(s string) string { return jsonOf(s, false) },
	"JSON in ASCII":   func(s string) string { return asciiJSON(s) },
	"JSON, slashes":   func(s string) string { return strings.ReplaceAll(jsonOf(s, false), "/", `\/`) },
	"JSON in JSON":    func(s string) string { return jsonOf(jsonOf(s, false), false) },
	"Go":              func(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] },
	"Go in ASCII":     func(s string) string { q := strconv.QuoteToASCII(s); return q[1 : len(q)-1] },
	"HTML":            html.EscapeString,
	"HTML, named": func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(s)
	},
	"hexadecimal":        func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hexadecimal, upper": func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"HTML, hex":          func(s string) string { return strings.NewReplacer("&", "&#x26;", "<", "&#X3c;").Replace(s) },
}

// inLines breaks a text after every fifth character.
func inLines(s, end string) string {
	var b strings.Builder
	for i, c := range s {
		if i > 0 && i%5 == 0 {
			b.WriteString(end)
		}
		b.WriteRune(c)
	}
	return b.String()
}

var hexPair = regexp.MustCompile(`%[0-9A-F]{2}`)

func hexLower(s string) string { return hexPair.ReplaceAllStringFunc(s, strings.ToLower) }

func everyByte(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

func jsonOf(s string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(s)
	return b.String()[1 : b.Len()-2]
}

func asciiJSON(s string) string {
	q := strings.ReplaceAll(jsonOf(s, true), `\\`, `\u005c`)
	var b strings.Builder
	for _, r := range q {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return b.String()
}

// TestScrubForms shows that a secret is masked in every encoding, and nothing
// around it is.
func TestScrubForms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune(`abcXYZ019 %+/\"'<>&=?#:;.,-_~{}[]()$|` + "`^éü日本😀\u2028\ufeff\U000E0001")
	for range 2000 {
		secret := make([]rune, minSecret+random.IntN(30))
		for i := range secret {
			secret[i] = alphabet[random.IntN(len(alphabet))]
		}
		var m mask
		m.add(owner{env: "X"}, string(secret))
		for name, encode := range encoders {
			text := "before:<" + encode(string(secret)) + ">:behind " + encode(string(secret))
			if got := m.replace(text, masked); got != "before:<***>:behind ***" {
				t.Fatalf("%s of %q: %q became %q", name, string(secret), text, got)
			}
		}
	}
}

// TestScrubBase64 shows that a secret is masked within longer texts that were
// encoded as a whole, whatever stands before and behind it.
func TestScrubBase64(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	bytesOf := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.UintN(256))
		}
		return string(b)
	}
	for range 5000 {
		secret := bytesOf(minSecret + random.IntN(20))
		before, behind := bytesOf(random.IntN(5)), bytesOf(random.IntN(5))
		var m mask
		m.add(owner{env: "X"}, secret)
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			coded := e.EncodeToString([]byte(before + secret + behind))
			got := m.replace(coded, masked)
			left := strings.Replace(got, masked, "", 1)
			// What is left are the neighbours' own characters, and the ones that
			// they share with the secret: at most one at each end.
			if got == left || len(left) > (len(before)*8+5)/6+(len(behind)*8+5)/6+2+strings.Count(coded, "=") {
				t.Fatalf("%q + %q + %q: %s became %s", before, secret, behind, coded, got)
			}
			for _, end := range []string{"\n", "\r\n", `\n`, `\r\n`} {
				if got := m.replace(inLines(coded, end), masked); strings.ReplaceAll(strings.Replace(got, masked, "", 1), end, "") != left {
					t.Fatalf("%q in lines: %s became %s", secret, coded, got)
				}
			}
			if got := m.replace(url.QueryEscape(coded), masked); !strings.Contains(got, masked) {
				t.Fatalf("%s in a query became %s", coded, got)
			}
		}
	}
}

func TestScrub(t *testing.T) {
	u := Upstream{Name: "api", URL: mustURL(t, "https://api.example"),
		Auth: &Auth{Basic: &Basic{Username: Text{Literal: "me"}, Password: Secret{Env: "TOKEN"}}}}
	c := newClient(t, Options{}, u)
	if got := c.Scrub(token); got != token {
		t.Errorf("a secret that was never read is masked: %s", got)
	}
	if _, err := c.authorize(t.Context(), c.upstreams["api"], CallOptions{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	basic := base64.StdEncoding.EncodeToString([]byte("me:" + token))
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"nothing here", "nothing here"},
		{token, "***"},
		{token + token, "******"},
		{"Authorization: Basic " + basic + "; x", "Authorization: Basic ***; x"},
		{token[:len(token)-1], token[:len(token)-1]},
		{"%", "%"}, {`\`, `\`}, {"&", "&"}, {`\u`, `\u`}, {"&#", "&#"}, {"&#;", "&#;"}, {"%2", "%2"}, {`\ud83d`, `\ud83d`}, {`\ud83d\u`, `\ud83d\u`},
		{`s3cr3t-t0ken\u`, `s3cr3t-t0ken\u`}, {"s3cr3t-t0ken%2f%2", "s3cr3t-t0ken%2f%2"},
	} {
		if got := c.Scrub(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
	// Of two secrets that begin alike the longer one is masked whole.
	c.mask.add(owner{env: "X"}, token+"-and-more")
	if got := c.Scrub(token + "-and-more " + token + "-and-less"); got != "*** ***-and-less" {
		t.Errorf("got %q", got)
	}
}

// TestScrubForgets shows that of a secret that is rotated the latest values are masked,
// and that what is used stays.
func TestScrubForgets(t *testing.T) {
	var m mask
	for i := range maxOfSecret + 10 {
		m.add(owner{env: "ROTATED"}, fmt.Sprintf("rotated-%06d", i))
		m.add(owner{env: "ROTATED"}, "rotated-000003")
		m.add(owner{env: "KEPT"}, "the-servers-own-secret")
	}
	for text, want := range map[string]bool{
		"the-servers-own-secret": true, "rotated-000000": false, "rotated-000003": true,
		fmt.Sprintf("rotated-%06d", maxOfSecret+9): true,
	} {
		if got := m.replace(text, masked); (got == masked) != want {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
}

// TestBrought pins that what a caller brings is masked in its own calls, in answers,
// errors and logs, and changes nothing for others.
func TestBrought(t *testing.T) {
	const value = "project-alpha"
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", value)
		if r.URL.Query().Has("away") {
			w.Header().Set("Location", "https://"+value+".example")
			w.WriteHeader(302)
		}
		io.WriteString(w, "a "+value)
	})
	u := s.upstream(t)
	u.Auth = &Auth{Header: &Named{"X-Key", Secret{InboundHeader: "X-Key"}}}
	var logged bytes.Buffer
	c := newClient(t, Options{Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}, u)
	c.upstreams["api"].client.SetDebug(true)
	call := func(key, query string) (string, *Brought) {
		b := &Brought{}
		r, err := c.Do(t.Context(), get(u, "/x"+query), CallOptions{Inbound: http.Header{"X-Key": {key}}, Brought: b})
		if err != nil {
			return err.Error(), b
		}
		return string(r.Body) + " " + r.Header.Get("X-Echo"), b
	}
	for _, query := range []string{"", "?away=1"} {
		got, b := call(value, query)
		if !strings.Contains(got, masked) || strings.Contains(got+logged.String(), value) {
			t.Errorf("its own caller reads %s, and the log %s", got, logged.String())
		}
		if got := b.Scrub("a " + value); got != "a ***" || c.Scrub(value) != value {
			t.Errorf("got %s, and for the server %s", got, c.Scrub(value))
		}
		if got, _ := call("another-key", query); !strings.Contains(got, value) {
			t.Errorf("another caller reads %s", got)
		}
		logged.Reset()
	}
}

// TestScrubChanges shows that a set that values were added to and taken from is the
// one that would be made of those that are left.
func TestScrubChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var set *needles
	left := map[string]bool{}
	for range 300 {
		var add, drop []string
		for range random.IntN(3) {
			// Some of them share forms.
			if v := fmt.Sprintf("value%%\\-%d", random.IntN(40)); !left[v] {
				left[v] = true
				add = append(add, forms(v)...)
			}
		}
		for v := range left {
			if random.IntN(10) == 0 && !slices.Contains(add, v) {
				delete(left, v)
				drop = append(drop, forms(v)...)
			}
		}
		set = set.change(add, drop)
		var all []string
		for v := range left {
			all = append(all, forms(v)...)
		}
		fresh := (*needles)(nil).change(all, nil)
		for first := range 256 {
			if !slices.Equal(set.forms[first], fresh.forms[first]) {
				t.Fatalf("%d: %q, not %q", first, set.forms[first], fresh.forms[first])
			}
		}
		if set.second != fresh.second {
			t.Fatal("the second bytes differ")
		}
	}
}

// BenchmarkMask is the cost of what a caller brings to a call.
func BenchmarkMask(b *testing.B) {
	for b.Loop() {
		var m mask
		m.add(owner{header: "X-Key"}, "caller-key-000000000001")
	}
}

// TestSecretInLog pins secret-in-log: with all that resty can say turned on,
// and an upstream that echoes what it gets, no log line and no error holds a
// credential.
func TestSecretInLog(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.URL.RawQuery)
		w.WriteHeader(401)
		fmt.Fprint(w, r.Header, r.RequestURI)
	}
	s := record(t, echo)
	cut := raw(t, func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{") })
	mute := raw(t, func(net.Conn) {})
	garbage := raw(t, func(c net.Conn) { io.WriteString(c, "HTTP/1.1 "+token+"\r\n\r\n") })
	redirect := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://x.example/?"+r.URL.RawQuery)
		w.WriteHeader(302)
	})
	gone := Upstream{Name: "api", URL: mustURL(t, "http://127.0.0.1:1/base")}
	secret := Secret{Env: "TOKEN"}
	for name, auth := range map[string]*Auth{
		"bearer": {Bearer: &secret},
		"header": {Header: &Named{"X-Api-Key", secret}},
		"query":  {Query: &Named{"key", secret}},
		"basic":  {Basic: &Basic{Username: Text{Literal: "me"}, Password: secret}},
	} {
		for _, u := range []Upstream{s.upstream(t), redirect.upstream(t), cut, mute, garbage, gone} {
			t.Run(name, func(t *testing.T) {
				var logged bytes.Buffer
				u.Auth = auth
				c := newClient(t, Options{Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}, u)
				c.upstreams["api"].client.SetDebug(true).EnableTrace().EnableGenerateCurlOnDebug().SetDisableWarn(false)
				// A caller that has the credential may put it anywhere.
				req := get(u, "/x/"+strings.ReplaceAll(url.PathEscape(token), "/", "%2F")+"?a=1")
				req.Method, req.Body = "POST", []byte("{}")
				r, err := c.Do(t.Context(), req, CallOptions{})
				if !strings.Contains(logged.String(), "~~~ REQUEST") {
					t.Error("resty said nothing: the test shows nothing")
				}
				shown := logged.String() + fmt.Sprintf("%v %+v %#v", err, err, err) + c.Scrub(fmt.Sprint(c.Preview(req)))
				if r != nil {
					shown += c.Scrub(string(r.Body) + fmt.Sprint(r.Header))
				}
				for form, encode := range encoders {
					if strings.Contains(shown, encode(token)) {
						t.Errorf("%s of the secret is in %s", form, shown)
					}
				}
				for _, form := range forms(token)[1:] {
					if strings.Contains(shown, form) {
						t.Errorf("the secret is in %s", shown)
					}
				}
			})
		}
	}
	if h := s.got()[0].Header; h.Get("Authorization")+h.Get("X-Api-Key") == "" && !strings.Contains(s.got()[0].URI, "key=") {
		t.Error("no credential was sent: the test shows nothing")
	}
}

// TestScrubCost shows that a secret and a text of nothing but escapes, which can
// be read in many ways, end in good time.
func TestScrubCost(t *testing.T) {
	for _, c := range []string{`\`, "%25", "&amp;"} {
		var m mask
		m.add(owner{env: "X"}, strings.Repeat(c, 40)+"x")
		text := strings.Repeat(c, 1000) + "y"
		if got := m.replace(text, masked); got != text {
			t.Errorf("%q is masked", got)
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add(token, "a %41", "b")
	f.Add("%25%25%25", "%25%2525%25", "%")
	f.Add(`\\\\\\\\`, `\\u005c\\\\\`, `\`)
	f.Add("\xff\xfe\x80\x81aaaa", "&#255;", `\xff`)
	f.Fuzz(func(t *testing.T, secret, before, behind string) {
		if usable(secret) != nil || strings.Contains(secret, "*") {
			t.Skip()
		}
		var m mask
		m.add(owner{env: "X"}, secret)
		if got := m.replace(before+secret+behind, masked); strings.Contains(got, secret) {
			t.Errorf("%q shows %q", got, secret)
		}
		if !utf8.ValidString(secret) {
			return
		}
		for name, encode := range encoders {
			// Of a secret that is itself made of escapes an end may be left.
			if got := m.replace(encode(secret), masked); !strings.HasPrefix(got, masked) || strings.Contains(got, encode(secret)) {
				t.Errorf("%s: %q became %q", name, encode(secret), got)
			}
		}
	})
}

func BenchmarkScrub(b *testing.B) {
	var m mask
	for i := range 4 {
		m.add(owner{env: "X"}, fmt.Sprintf("token-%d-0123456789", i))
	}
	text := strings.Repeat(`{"id":12345,"name":"a \"name\" with words","url":"https://dev.example/a%20b"},`, 3000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.replace(text, masked)
	}
}

// BenchmarkDo beside BenchmarkBareHTTP is the cost of what this package adds.
func BenchmarkDo(b *testing.B) {
	s := record(b, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) })
	u := s.upstream(b)
	u.Auth = &Auth{Bearer: &Secret{Env: "TOKEN"}}
	c := newClient(b, Options{}, u)
	req := get(u, "/x?a=1")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Do(b.Context(), req, CallOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBareHTTP(b *testing.B) {
	s := record(b, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) })
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.ReportAllocs()
	for b.Loop() {
		req, _ := http.NewRequestWithContext(context.Background(), "GET", s.URL+"/base/x?a=1", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		r, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}

var answer = strings.Repeat(`{"id":12345,"name":"x"}`, 100)
