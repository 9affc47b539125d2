package bind_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// post is a POST with a body.
func post(t testing.TB, kind bind.BodyKind, n bind.Node) *bind.Request {
	r := request(t, "/a")
	r.Method, r.Body = "POST", &bind.Body{Kind: kind, Value: n}
	return r
}

func TestForm(t *testing.T) {
	r := post(t, bind.BodyForm, bind.Object{
		field("grant_type", bind.Const(`"client_credentials"`)), field("scope", input("scope")), field("n", input("n")), field("$x[y]", input("x")),
	})
	for _, c := range []struct{ args, want string }{
		{`{}`, "grant_type=client_credentials"},
		{`{"scope":"a b&c=d+e%\r\né","n":1.50}`, "grant_type=client_credentials&scope=a%20b%26c%3Dd%2Be%25%0D%0A%C3%A9&n=1.50"},
		{`{"scope":["a","b"],"n":null,"x":""}`, "grant_type=client_credentials&scope=a&scope=b&$x%5By%5D="},
		{`{"scope":[]}`, "grant_type=client_credentials"},
	} {
		h := build(t, r, scope(t, c.args))
		if string(h.Body) != c.want || header(h, "Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("%s: %s %v", c.args, h.Body, h.Header)
		}
		if _, err := url.ParseQuery(string(h.Body)); err != nil {
			t.Error(err)
		}
	}
	for _, args := range []string{`{"scope":{"a":1}}`, `{"scope":[null]}`, `{"scope":[[1]]}`} {
		if got := arguments(refused(t, r, scope(t, args), `form field "scope"`)); !slices.Equal(got, []string{"scope"}) {
			t.Errorf("%s: the faults are about %q", args, got)
		}
	}
	whole := post(t, bind.BodyForm, input("x"))
	for args, want := range map[string]string{`{"x":{"a":1}}`: "a=1", `{"x":{}}`: "", `{"x":{"a":null}}`: ""} {
		if h := build(t, whole, scope(t, args)); h.Body == nil || string(h.Body) != want {
			t.Errorf("%s: %q", args, h.Body)
		}
	}
	for _, args := range []string{`{}`, `{"x":null}`} {
		if h := build(t, whole, scope(t, args)); h.Body != nil || header(h, "Content-Type") != "" {
			t.Errorf("%s: %q %v", args, h.Body, h.Header)
		}
	}
	refused(t, whole, scope(t, `{"x":[1]}`), "the body must be an object, not a list")
	refused(t, whole, scope(t, `{"x":{"f":{}}}`), `form field "f" is an object`)
	refused(t, whole, &bind.Scope{Args: bind.Args{"x": json.RawMessage(`{"\ud800":1}`)}}, "surrogate")
}

func TestText(t *testing.T) {
	r := post(t, bind.BodyText, input("x"))
	for args, want := range map[string]string{
		`{"x":"a\r\n\"é\u0000"}`: "a\r\n\"é\x00", `{"x":""}`: "", `{"x":9007199254740993}`: "9007199254740993", `{"x":true}`: "true",
	} {
		h := build(t, r, scope(t, args))
		if h.Body == nil || string(h.Body) != want || header(h, "Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %q %v", args, h.Body, h.Header)
		}
	}
	for _, args := range []string{`{}`, `{"x":null}`} {
		if h := build(t, r, scope(t, args)); h.Body != nil {
			t.Errorf("%s: %q", args, h.Body)
		}
	}
	for _, args := range []string{`{"x":{}}`, `{"x":["a"]}`} {
		if got := refused(t, r, scope(t, args), "the body is")[0].Argument; got != "x" {
			t.Errorf("%s: the fault is about %q", args, got)
		}
	}
	r.Headers = []bind.Field{field("Content-Type", bind.Const(`"text/markdown"`))}
	if h := build(t, r, scope(t, `{"x":"# a"}`)); header(h, "Content-Type") != "text/markdown" {
		t.Errorf("%v", h.Header)
	}
}

func TestBinary(t *testing.T) {
	r := post(t, bind.BodyBinary, input("x"))
	data := []byte("\x00\xff\r\n\x89PNG")
	h := build(t, r, &bind.Scope{Args: bind.Args{"x": quoted(t, base64.StdEncoding.EncodeToString(data))}})
	if !bytes.Equal(h.Body, data) || header(h, "Content-Type") != "application/octet-stream" {
		t.Errorf("%q %v", h.Body, h.Header)
	}
	if h := build(t, r, scope(t, `{"x":""}`)); h.Body == nil || len(h.Body) != 0 {
		t.Errorf("%q", h.Body)
	}
	if h := build(t, r, scope(t, `{"x":null}`)); h.Body != nil {
		t.Errorf("%q", h.Body)
	}
	for _, args := range []string{`{"x":"%%%"}`, `{"x":"YQ"}`, `{"x":{}}`, `{"x":["YQ=="]}`, `{"x":true}`} {
		if got := refused(t, r, scope(t, args), "the body is")[0].Argument; got != "x" {
			t.Errorf("%s: the fault is about %q", args, got)
		}
	}
}

// received part of a multipart body.
type part struct{ name, filename, contentType, content string }

// parts reads a body as a server does.
func parts(t testing.TB, h *bind.HTTP) (list []part) {
	t.Helper()
	mediaType, params, err := mime.ParseMediaType(header(h, "Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") {
		t.Fatalf("%v: %v", h.Header, err)
	}
	r := multipart.NewReader(bytes.NewReader(h.Body), params["boundary"])
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, h.Body)
		}
		content, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		_, disposition, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, part{disposition["name"], disposition["filename"], p.Header.Get("Content-Type"), string(content)})
	}
}

func TestMultipart(t *testing.T) {
	r := post(t, bind.BodyMultipart, bind.Object{
		field("title", input("title")),
		field("n", bind.Const("1.50")),
		field("tag", input("tags")),
		field("meta", bind.Object{field("contentType", bind.Const(`"application/json"`)), field("text", bind.Const(`"{}"`))}),
		field("file", bind.Object{field("filename", input("name")), field("base64", input("data"))}),
		field("log", input("log")),
	})
	args := `{"title":"a\r\n--x\r\nb é","tags":["x",true],"name":"a \"b\".png","data":"AP8NCg==",
		"log":[{"filename":"1.txt","text":"one"},{"filename":null,"text":"two"},{"filename":"3","contentType":"text/csv","text":""}]}`
	h := build(t, r, scope(t, args))
	want := []part{
		{"title", "", "", "a\r\n--x\r\nb é"},
		{"n", "", "", "1.50"},
		{"tag", "", "", "x"},
		{"tag", "", "", "true"},
		{"meta", "", "application/json", "{}"},
		{"file", "a %22b%22.png", "application/octet-stream", "\x00\xff\r\n"},
		{"log", "1.txt", "text/plain; charset=utf-8", "one"},
		{"log", "", "", "two"},
		{"log", "3", "text/csv", ""},
	}
	if got := parts(t, h); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// The same arguments give the same bytes, others another boundary.
	if again := build(t, r, scope(t, args)); !bytes.Equal(again.Body, h.Body) || header(again, "Content-Type") != header(h, "Content-Type") {
		t.Error("the request is not the same the second time")
	}
	if other := build(t, r, scope(t, strings.Replace(args, "one", "own", 1))); header(other, "Content-Type") == header(h, "Content-Type") {
		t.Error("other parts have the same boundary")
	}

	unknown := post(t, bind.BodyMultipart, bind.Object{field("f", bind.Object{field("path", input("a")), field("text", input("a"))})})
	if got := refused(t, unknown, scope(t, `{"a":"x"}`), `part "f.path" is not known`)[0].Argument; got != "" {
		t.Errorf("a name in the request is told as a fault of the argument %q", got)
	}
	whole := post(t, bind.BodyMultipart, input("x"))
	if got := parts(t, build(t, whole, scope(t, `{"x":{}}`))); got != nil {
		t.Errorf("%q", got)
	}
	if got := parts(t, build(t, whole, scope(t, `{"x":{"a":null,"b":[],"c":[{"text":null,"base64":"YQ=="}]}}`))); !slices.Equal(got, []part{{"c", "", "application/octet-stream", "a"}}) {
		t.Errorf("%q", got)
	}
	if h := build(t, whole, scope(t, `{"x":null}`)); h.Body != nil {
		t.Errorf("%q", h.Body)
	}
	whole.Headers = []bind.Field{field("Content-Type", input("type"))}
	if h := build(t, whole, scope(t, `{"x":{"a":1},"type":"multipart/related; x=y"}`)); !slices.Equal(parts(t, h), []part{{"a", "", "", "1"}}) {
		t.Errorf("%v", h.Header)
	}
	refused(t, whole, scope(t, `{"x":{"a":1},"type":"multipart/related; Boundary=z"}`), "must not have a boundary")
}

func TestMultipartRefuses(t *testing.T) {
	r := post(t, bind.BodyMultipart, bind.Object{field("f", input("f")), field("g", bind.Object{field("filename", input("name")), field("text", input("g"))})})
	for _, c := range []struct{ args, argument, reason string }{
		{`{"f":{}}`, "f", `part "f" must have one of text and base64`},
		{`{"f":{"filename":"x"}}`, "f", "must have one of"},
		{`{"f":{"text":"x","base64":"eA=="}}`, "f", "must have one of"},
		{`{"f":{"base64":"!"}}`, "f", `part "f.base64" is not base64`},
		{`{"f":{"text":{"a":1}}}`, "f", `part "f.text" is an object`},
		{`{"f":{"text":"x","size":1}}`, "f", `part "f.size" is not known`},
		{`{"f":{"text":"x","filename":"a\r\nX: y"}}`, "f", "control character in its filename"},
		{`{"f":{"text":"x","contentType":"a\r\nX: y"}}`, "f", "control character"},
		{`{"f":[[1]]}`, "f", "holds a list"},
		{`{"f":["a",null]}`, "f", "holds null"},
		{`{"name":"x"}`, "", `part "g" must have one of`},
		{`{"name":"\u0000","g":"x"}`, "", "control character"},
		{`{"name":["x"],"g":"x"}`, "name", `part "g.filename" is a list`},
	} {
		if got := refused(t, r, scope(t, c.args), c.reason)[0].Argument; got != c.argument {
			t.Errorf("%s: the fault is about %q", c.args, got)
		}
	}
	whole := post(t, bind.BodyMultipart, input("x"))
	refused(t, whole, scope(t, `{"x":"a"}`), "the body must be an object, not text")
	refused(t, whole, scope(t, `{"x":{"a\nb":1}}`), "control character in its name")
}

func FuzzMultipart(f *testing.F) {
	f.Add("name", "file.txt", "content")
	f.Add(`"; filename="x`, "a\\\"b%22", "--\r\n\r\n--")
	f.Add("é", "\u202e", "\x00\xff")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, name, filename, content string) {
		if strings.ContainsRune(name+filename, '\\') {
			t.Skip() // net/http's reader takes a backslash for an escape, browsers do not write one
		}
		name, filename = strings.ToValidUTF8(name, "\ufffd"), strings.ToValidUTF8(filename, "\ufffd")
		r := post(t, bind.BodyMultipart, bind.Object{
			field("before", bind.Const("1")),
			field(name, bind.Object{field("filename", bind.Const(quoted(t, filename))), field("base64", bind.Const(quoted(t, base64.StdEncoding.EncodeToString([]byte(content)))))}),
			field("after", bind.Const("2")),
		})
		h, err := r.Build(t.Context(), &bind.Scope{})
		if err != nil {
			return
		}
		quote := strings.NewReplacer(`"`, "%22")
		want := []part{{"before", "", "", "1"}, {quote.Replace(name), quote.Replace(filename), "application/octet-stream", content}, {"after", "", "", "2"}}
		if got := parts(t, h); !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}
