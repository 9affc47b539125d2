package bind_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// TestLinkTarget pins where a link from an answer may lead (fault kinds
// host-override, base-path and path-traversal).
func TestLinkTarget(t *testing.T) {
	at := base(t, "https://api.example.com/v1")
	from, err := url.Parse("https://api.example.com/v1/things/7?page=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ref  string
		from *url.URL
		want string // the URL, or "error " and a part of the reason
	}{
		{"https://api.example.com/v1/x?page=2", nil, "https://api.example.com/v1/x?page=2"},
		{"HTTPS://API.example.com:443/v1/x", nil, "https://api.example.com/v1/x"},
		{"/v1/x?a=b&c=d%20e", nil, "https://api.example.com/v1/x?a=b&c=d%20e"},
		{"/v1", nil, "https://api.example.com/v1"},
		{"/v1/a%2Fb/%E9?q=é ü#frag", nil, "https://api.example.com/v1/a%2Fb/%E9?q=%C3%A9%20%C3%BC"},
		{"//api.example.com/v1/x", nil, "https://api.example.com/v1/x"},
		{"?page=2", from, "https://api.example.com/v1/things/7?page=2"},
		{"8", from, "https://api.example.com/v1/things/8"},
		{"/v1/y", from, "https://api.example.com/v1/y"},
		{"", nil, "error is empty"},
		{"x/y", nil, "error is relative"},
		{"?page=2", nil, "error is relative"},
		{"http://[", nil, "error is no URL"},
		{"http://api.example.com/v1/x", nil, "error leads to \"http://api.example.com\""},
		{"https://api.example.com:8443/v1/x", nil, "error leads to"},
		{"https://evil.example/v1/x?secret", nil, "error leads to \"https://evil.example\", and requests stay at https://api.example.com"},
		{"//evil.example/v1/x", nil, "error leads to"},
		{"https://api.example.com.evil.example/v1", nil, "error leads to"},
		{"https://u:p@api.example.com/v1/x", nil, "error holds credentials"},
		{"mailto:a@b", nil, "error leads to"},
		{"https:v1/x", nil, "error leads to"},
		{"/v2/x", nil, "error leads out of /v1"},
		{"/v1x", nil, "error leads out of /v1"},
		{"/", nil, "error leads out of /v1"},
		{"/v1/../x", nil, "error dot segment"},
		{"../../x", from, "error dot segment"},
		{"/v1/%2e%2e/x", nil, "error dot segment"},
		{"/v1/..%2Fx", nil, "error dot segment"},
		{"/v1/x%5C..%5Cy", nil, "error dot segment"},
	} {
		to, err := bind.Link(at, tt.from, tt.ref)
		if want, refused := strings.CutPrefix(tt.want, "error "); refused {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: got %v, %v; want an error with %q", tt.ref, to, err, want)
			}
			continue
		}
		if err != nil || to.String() != tt.want {
			t.Errorf("%q: got %v, %v; want %s", tt.ref, to, err, tt.want)
		}
	}
}

// TestLinkRequest shows a request to a link: its own parameters take the place
// of the link's, the upstream's constant ones are added, and credentials that
// the upstream has sent back are taken out.
func TestLinkRequest(t *testing.T) {
	r := &bind.Request{
		Base: base(t, "https://api.example.com/v1"), Method: "GET", URL: step("a", "result", "next"),
		Query:     []bind.Field{field("size", input("size")), field("own", bind.Const(`"o"`))},
		BaseQuery: []bind.Field{field("version", bind.Const("7")), field("client", bind.Const(`"c"`))},
		Strip:     []string{"key"},
	}
	for _, tt := range []struct{ next, args, want string }{
		{`"/v1/x?size=1&version=8&key=SECRET&z=%20"`, `{}`, "https://api.example.com/v1/x?size=1&version=8&z=%20&own=o&client=c"},
		{`"/v1/x?size=1&k%65y=SECRET"`, `{"size":5}`, "https://api.example.com/v1/x?size=5&own=o&version=7&client=c"},
		{`"/v1/x"`, `{}`, "https://api.example.com/v1/x?own=o&version=7&client=c"},
	} {
		s := scope(t, tt.args)
		s.Steps = map[string]json.RawMessage{"a": json.RawMessage(`{"result":{"next":` + tt.next + `}}`)}
		if got := build(t, r, s); got.URL != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.next, got.URL, tt.want)
		}
	}
	for state, want := range map[string]string{
		`{"result":{"next":"https://evil.example/v1"}}`: "url cannot be followed: the link leads to",
		`{"result":{"next":null}}`:                      "gave none",
		`{"result":{"next":["/v1/x"]}}`:                 "only text",
		`{"result":{}}`:                                 "needs a.result.next",
	} {
		refused(t, r, &bind.Scope{Steps: map[string]json.RawMessage{"a": json.RawMessage(state)}}, want)
	}
	refused(t, r, &bind.Scope{Steps: map[string]json.RawMessage{"a": nil}}, "gave none")
}

func TestWithParameter(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"https://h/x", "https://h/x?$skip=a%20%26"},
		{"https://h/x?a=1", "https://h/x?a=1&$skip=a%20%26"},
		{"https://h/x?$skip=1&a=%C3%A9&%24skip=2", "https://h/x?a=%C3%A9&$skip=a%20%26"},
	} {
		if got := bind.WithParameter(tt.url, "$skip", "a &"); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.url, got, tt.want)
		}
	}
}

// FuzzLink shows that whatever an upstream answers as a link, a request that
// follows it stays at the upstream's origin and below its base path.
func FuzzLink(f *testing.F) {
	for _, seed := range []string{"/v1/x", "https://api.example.com/v1/../v2", "//evil.example/v1", "/v1/%2e%2e%2fx?y", `\\evil.example\v1`, "?page=2", "https://api.example.com:443/v1;..", "/v1/\x7f"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	at := base(f, "https://api.example.com/v1")
	from, _ := url.Parse("https://api.example.com/v1/things")
	f.Fuzz(func(t *testing.T, ref string, relative bool) {
		start := from
		if !relative {
			start = nil
		}
		to, err := bind.Link(at, start, ref)
		if err != nil {
			return
		}
		again, err := url.Parse(to.String())
		if err != nil || again.String() != to.String() || strings.ContainsFunc(to.String(), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q gives %q, which is not in its normal form (%v)", ref, to, err)
		}
		path, err := url.PathUnescape(again.EscapedPath())
		if err != nil || again.Scheme != "https" || again.Host != "api.example.com" || again.User != nil || again.Fragment != "" ||
			again.EscapedPath() != "/v1" && !strings.HasPrefix(again.EscapedPath(), "/v1/") {
			t.Fatalf("%q leads to %q", ref, to)
		}
		for segment := range strings.SplitSeq(path, "/") {
			if segment == ".." || segment == "." {
				t.Fatalf("%q leads to a dot segment: %q", ref, to)
			}
		}
	})
}
