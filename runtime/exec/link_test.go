package exec

import (
	"net/url"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

// TestLinkHeader pins how Link headers are read (RFC 8288).
func TestLinkHeader(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   string
	}{
		{[]string{`<https://h/x?page=2>; rel="next"`}, "https://h/x?page=2"},
		{[]string{`<https://h/x?page=1>; rel="prev", <https://h/x?page=3>; rel="next", <https://h/x?page=9>; rel="last"`}, "https://h/x?page=3"},
		{[]string{`<a>; rel=prev`, `<b>; rel=next`}, "b"},
		{[]string{`</x,y?a="b;c">; title="a, <z>; rel=\"next\""; rel="start next"`}, `/x,y?a="b;c"`},
		{[]string{`<a>;REL=NEXT`}, "a"},
		{[]string{` , <a> ; rel = "next" ;x`}, "a"},
		{[]string{`<a>; rel=next; rel=prev`}, "a"},
		{[]string{`<a>; rel=prev; rel=next`}, ""},
		{[]string{`<a>; rel=next; anchor="#other"`}, ""},
		{[]string{`<a>; rel="nextish"`}, ""},
		{[]string{`<a>`}, ""},
		{[]string{`<>; rel=next`}, ""},
		{[]string{`a; rel=next`}, ""},
		{[]string{`<a; rel=next`}, ""},
		{[]string{`<a>; rel="next`}, "a"},
		{[]string{`<a>; title="x\`}, ""},
		{[]string{``, `,`, `<`, `<a>;`, `<a>;;=;rel`}, ""},
		{nil, ""},
	} {
		if got := linkTarget(tt.values, "next"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.values, got, tt.want)
		}
	}
}

// FuzzLinkHeader shows that whatever an upstream sends as Link, the next page
// stays at the upstream and below its base path.
func FuzzLinkHeader(f *testing.F) {
	for _, seed := range []string{`<https://api.example/v1/x?page=2>; rel="next"`, `<//evil.example/v1>; rel=next`, `</v1/../x>; rel="a next"; title="\"<,"`, `<a>;rel=next,<b>;rel=next;anchor=c`} {
		f.Add(seed)
	}
	r := &bind.Request{Base: &url.URL{Scheme: "https", Host: "api.example", Path: "/v1"}, Strip: []string{"key"}}
	sent := &bind.HTTP{Method: "GET", URL: "https://api.example/v1/things?page=1"}
	f.Fuzz(func(t *testing.T, header string) {
		target := linkTarget([]string{header}, "next")
		if target == "" {
			return
		}
		if !strings.Contains(header, "<"+target+">") {
			t.Fatalf("%q gives %q, which is not in it", header, target)
		}
		to, err := bind.Link(r.Base, mustParse(t, sent.URL), target)
		if err != nil {
			return
		}
		req := *sent
		if err := (&ByLink{}).Turn(r, &req, to.RequestURI()); err != nil {
			t.Fatalf("%q leads to %q, and its position is refused: %v", header, to, err)
		}
		if u := mustParse(t, req.URL); u.Scheme != "https" || u.Host != "api.example" || u.Path != "/v1" && !strings.HasPrefix(u.Path, "/v1/") {
			t.Fatalf("%q leads to %s", header, req.URL)
		}
	})
}

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
