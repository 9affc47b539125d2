package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metacue/metacue/internal/sample"
	"github.com/metacue/metacue/runtime/call"
)

// hostile are texts that mean something where they should not.
var hostile = []string{"zz/../../x", "..", "zz%2F..%2Fx?y=1&z=2#f", "zz\r\nX-Evil: y", `<b>' or "1"~1{zz}$top\x`}

// several are arguments that hold several segments, words or lines.
var several = []string{"update_iteration path", "create_pull_request workItems", "create_test_case steps", "update_test_case_steps steps"}

// A text changes what stands where it stands and nothing else: requests go to the
// same places, with the same parameters, headers and members, as with a text that
// means nothing.
func TestHostileTexts(t *testing.T) {
	var mu sync.Mutex
	var org *sample.Org
	var log []string // what the requests are like
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		log = append(log, likeness(r, body))
		o := org
		mu.Unlock()
		o.ServeHTTP(w, r)
	}))
	defer server.Close()
	begin := func() {
		mu.Lock()
		defer mu.Unlock()
		org, log = sample.New(sample.Options{PAT: "the-token-of-a-test"}), nil
	}
	begin()
	p := program(t, server.URL+"/"+sample.Name, server.URL+"/"+sample.Name, nil)
	known := knownOf(t, p)
	first := func(tool, args string) string {
		begin()
		p.Call(t.Context(), call.Caller{}, tool, []byte(args))
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(log[:min(len(log), 1)], "")
	}
	compared := 0
	for _, c := range calls {
		tool, args := strings.TrimPrefix(c.tool, "!"), known.Replace(c.args)
		for _, at := range textsIn(t, args) {
			if slices.Contains(several, tool+" "+at) {
				continue
			}
			want := first(tool, withText(t, args, at, "zz"))
			for _, text := range hostile {
				got := first(tool, withText(t, args, at, text))
				if got == "" || want == "" { // refused
					continue
				}
				if compared++; got != want {
					t.Errorf("%s: %s %q: is like\n%s\nand not\n%s", tool, at, text, got, want)
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d requests are too few to compare", compared)
	}
}

// textsIn gives where texts stand in the arguments of a call.
func textsIn(t *testing.T, args string) (all []string) {
	t.Helper()
	edited(t, args, func(at, text string) string {
		all = append(all, at)
		return text
	})
	return all
}

// withText gives the arguments with another text in one place.
func withText(t *testing.T, args, in, text string) string {
	t.Helper()
	return edited(t, args, func(at, old string) string {
		if at == in {
			return text
		}
		return old
	})
}

// edited gives JSON with each of its texts as edit wants it.
func edited(t *testing.T, args string, edit func(at, text string) string) string {
	t.Helper()
	var v any
	if err := decodeJSON([]byte(args), &v); err != nil {
		t.Fatalf("%v: %s", err, args)
	}
	var walk func(at string, v any) any
	walk = func(at string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				v[name] = walk(strings.TrimSpace(at+" "+name), v[name])
			}
		case []any:
			for i := range v {
				v[i] = walk(fmt.Sprint(at, " ", i), v[i])
			}
		case string:
			return edit(at, v)
		}
		return v
	}
	b, err := json.Marshal(walk("", v))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// address is how an address in a body begins.
var address = regexp.MustCompile(`^(https?:/|vstfs:/|/)`)

// likeness tells everything of a request but the texts in it.
func likeness(r *http.Request, body []byte) string {
	lines := []string{r.Method + " " + segments(r.URL.EscapedPath()), strings.Join(slices.Sorted(maps.Keys(r.Header)), " ")}
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		lines = append(lines, "?"+name)
	}
	var v any
	if decodeJSON(body, &v) != nil {
		return strings.Join(append(lines, "no JSON"), "\n")
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(at+"."+name, v[name])
			}
		case []any:
			for i := range v {
				walk(fmt.Sprint(at, "[", i, "]"), v[i])
			}
		case string:
			if (strings.HasSuffix(at, ".uri") || strings.HasSuffix(at, ".url")) && address.MatchString(v) {
				u, err := url.Parse(v)
				if err != nil {
					lines = append(lines, fmt.Sprintf("%s is no address: %v", at, err))
					return
				}
				lines = append(lines, at+" "+u.Scheme+"://"+u.Host+segments(u.EscapedPath()))
				return
			}
			lines = append(lines, at)
		default:
			lines = append(lines, fmt.Sprint(at, v))
		}
	}
	walk("", v)
	return strings.Join(lines, "\n")
}

// segments tells how many segments a path has, and whether some are dots.
func segments(escaped string) string {
	all := strings.Split(escaped, "/")
	for i, s := range all {
		plain, err := url.PathUnescape(s)
		switch {
		case err != nil:
			all[i] = "broken"
		case plain == "." || plain == ".." || plain == "":
			all[i] = plain
		default:
			all[i] = "x"
		}
	}
	return strings.Join(all, "/")
}
