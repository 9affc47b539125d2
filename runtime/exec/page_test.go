package exec_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
)

// page is a page as an agent gets it.
type page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor *string           `json:"nextCursor"`
	Truncated  bool              `json:"truncated"`
}

func pageOf(t testing.TB, r call.Result) page {
	t.Helper()
	if r.IsError {
		t.Fatalf("failed: %s", told(r))
	}
	var p page
	d := json.NewDecoder(strings.NewReader(told(r)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || p.Items == nil {
		t.Fatalf("%s: %v", told(r), err)
	}
	return p
}

// things is an upstream of 7 things, which pages in every way, 3 at a time where
// the caller does not say. It keeps what it is asked.
type things struct {
	url string
	log []string
}

func newThings(t testing.TB) *things {
	s := &things{}
	s.url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		s.log = append(s.log, r.URL.RequestURI())
		q := r.URL.Query()
		number := func(name string, otherwise int) int {
			if n, err := strconv.Atoi(q.Get(name)); err == nil {
				return n
			}
			return otherwise
		}
		size := number("size", 3)
		from := number("skip", (number("page", 1)-1)*size)
		if token, ok := strings.CutPrefix(q.Get("after"), "tok/"); ok {
			from, _ = strconv.Atoi(token)
		}
		from = min(from, 7)
		to := min(from+size, 7)
		list := []int{}
		for i := from; i < to; i++ {
			list = append(list, i)
		}
		answer := map[string]any{"value": list, "more": to < 7}
		if to < 7 {
			next := fmt.Sprintf("/v1/things?after=tok/%d&size=%d&f=%s", to, size, q.Get("f"))
			w.Header().Set("X-Next", fmt.Sprintf("tok/%d", to))
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s>; rel="next", </v1/things>; rel="first"`, r.Host, next))
			answer["next"], answer["nextLink"] = fmt.Sprintf("tok/%d", to), next
		} else {
			answer["next"] = nil
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
	return s
}

// paged is a tool over things.
func paged(paginate, more string) string {
	return read(`input: {f!: string, top: int | *3}, http: {method: "GET", path: "/things", query: {f: input.f, size: input.top}}, response: {paginate: {` + paginate + `}` + more + `}`)
}

// TestPagination reads all pages in every way that APIs have.
func TestPagination(t *testing.T) {
	for name, tt := range map[string]struct {
		paginate, more string
		pages          int
		second         string // the second request
	}{
		"cursor in a header":   {`items: ".value", cursor: {in: "after", header: "x-next"}`, ``, 3, `/v1/things?f=a%20b&size=3&after=tok%2F3`},
		"cursor in the answer": {`items: ".value", cursor: {in: "after", jq: ".next"}`, ``, 3, `/v1/things?f=a%20b&size=3&after=tok%2F3`},
		"cursor made of items": {`items: ".value", more: ".more", cursor: {in: "after", jq: "\"tok/\\(.value[-1] + 1)\""}`, ``, 3, `/v1/things?f=a%20b&size=3&after=tok%2F3`},
		"Link":                 {`items: ".value", link: true`, ``, 3, `/v1/things?after=tok/3&size=3&f=a%20b`},
		"a link in the answer": {`items: ".value", nextLink: ".nextLink"`, ``, 3, `/v1/things?after=tok/3&size=3&f=a%20b`},
		"numbers, with a size": {`items: ".value", page: {number: "page", size: "size"}`, ``, 3, `/v1/things?f=a%20b&size=3&page=2`},
		"numbers, without":     {`items: ".value", page: number: "page"`, ``, 4, `/v1/things?f=a%20b&size=3&page=2`},
		"numbers, and more":    {`items: ".value", more: ".more", page: number: "page"`, ``, 3, `/v1/things?f=a%20b&size=3&page=2`},
		"offset, with a top":   {`items: ".value", offset: {skip: "skip", top: "size"}`, ``, 3, `/v1/things?f=a%20b&size=3&skip=3`},
		"offset, without":      {`items: ".value", offset: skip: "skip"`, ``, 4, `/v1/things?f=a%20b&size=3&skip=3`},
		"shaped, one by one":   {`items: ".value", link: true`, `, jq: ".value[]"`, 3, `/v1/things?after=tok/3&size=3&f=a%20b`},
		"shaped, as a list":    {`offset: {skip: "skip", top: "size"}`, `, jq: "[.value[]]"`, 3, `/v1/things?f=a%20b&size=3&skip=3`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newThings(t)
			p := program(t, s.url, "", paged(tt.paginate, tt.more), "")
			var all []string
			args := `{"f":"a b"}`
			pages := 0
			for {
				got := pageOf(t, do(t, p, args))
				for _, i := range got.Items {
					all = append(all, string(i))
				}
				if pages++; got.NextCursor == nil || pages > 9 {
					break
				}
				// The other arguments may come again, or be left out.
				args = fmt.Sprintf(`{"cursor":%q}`, *got.NextCursor)
				if pages == 2 {
					args = fmt.Sprintf(`{"cursor":%q,"f":"a b","top":3}`, *got.NextCursor)
				}
			}
			if got := strings.Join(all, ""); got != "0123456" || pages != tt.pages {
				t.Errorf("items %s in %d pages, want %d: %q", got, pages, tt.pages, s.log)
			}
			if s.log[1] != tt.second && s.log[1] != strings.ReplaceAll(tt.second, "a%20b", "a b") {
				t.Errorf("second request:\n got %s\nwant %s", s.log[1], tt.second)
			}
		})
	}
}

// TestPaginationInBody reads all pages of an API that is asked by bodies.
func TestPaginationInBody(t *testing.T) {
	for name, tt := range map[string]struct {
		paginate string
		pages    int
		second   string // the second body
	}{
		"cursor, new":   {`items: ".value", cursor: {in: "/after", jq: ".next"}`, 3, `{"size":3,"in":{"a~/b":"é"},"after":"3"}`},
		"cursor, below": {`items: ".value", cursor: {in: "/in/a~0~1b", jq: ".next"}`, 3, `{"size":3,"in":{"a~/b":"3"}}`},
		"number":        {`items: ".value", page: {number: "/page", size: "/size"}`, 3, `{"size":3,"in":{"a~/b":"é"},"page":2}`},
		"offset":        {`items: ".value", offset: {skip: "/in/skip", top: "/size"}`, 3, `{"size":3,"in":{"a~/b":"é","skip":3}}`},
		"query":         {`items: ".value", cursor: {in: "after", jq: ".next"}`, 3, `{"size":3,"in":{"a~/b":"é"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				log = append(log, string(body))
				var asked struct {
					After string
					Page  int
					In    struct {
						Below string `json:"a~/b"`
						Skip  int
					}
				}
				if err := json.Unmarshal(body, &asked); err != nil {
					t.Errorf("%s: %v", body, err)
				}
				from := max(asked.In.Skip, 3*(asked.Page-1), 0)
				for _, text := range []string{asked.After, asked.In.Below, r.URL.Query().Get("after")} {
					if n, err := strconv.Atoi(text); err == nil {
						from = n
					}
				}
				answer := map[string]any{"value": []int{0, 1, 2, 3, 4, 5, 6}[from:min(from+3, 7)]}
				if from+3 < 7 {
					answer["next"] = strconv.Itoa(from + 3)
				}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(answer)
			})
			p := program(t, url, "", read(`http: {method: "POST", path: "/search", body: {size: 3, in: "a~/b": "é"}}, response: paginate: {`+tt.paginate+`}`), "")
			var items []string
			args := `{}`
			for {
				got := pageOf(t, p.Call(t.Context(), call.Caller{}, "t", json.RawMessage(args)))
				for _, item := range got.Items {
					items = append(items, string(item))
				}
				if got.NextCursor == nil {
					break
				}
				args = fmt.Sprintf(`{"cursor":%q}`, *got.NextCursor)
			}
			if all := strings.Join(items, " "); all != "0 1 2 3 4 5 6" {
				t.Errorf("items %s", all)
			}
			if len(log) != tt.pages || log[1] != tt.second {
				t.Errorf("sent %q", log)
			}
		})
	}
	t.Run("no place for it", func(t *testing.T) {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"value":[1],"next":"x"}`))
		})
		p := program(t, url, "", read(`http: {method: "POST", path: "/search", body: [1]}, response: paginate: {items: ".value", cursor: {in: "/0/after", jq: ".next"}}`), "")
		first := pageOf(t, p.Call(t.Context(), call.Caller{}, "t", json.RawMessage(`{}`)))
		r := p.Call(t.Context(), call.Caller{}, "t", json.RawMessage(fmt.Sprintf(`{"cursor":%q}`, *first.NextCursor)))
		if want := "no place for the page at /0/after"; !r.IsError || !strings.Contains(told(r), want) {
			t.Errorf("got %s, want %s", told(r), want)
		}
	})
}

// TestPaginationSchema pins what a tool with pages declares, and that its result
// fits.
func TestPaginationSchema(t *testing.T) {
	s := newThings(t)
	p := program(t, s.url, "", paged(`items: ".value", link: true`, `, jq: "[.value[] | {n: .}]", schema: {n!: int}`), "")
	info := p.Tools["t"].Info
	if want := `{"type":"object","properties":{"f":{"type":"string"},"top":{"type":"integer","default":3},"cursor":{"type":"string","description":"From nextCursor"}},"required":["f"],"additionalProperties":false}`; string(info.InputSchema) != want {
		t.Errorf("input:\n got %s\nwant %s", info.InputSchema, want)
	}
	if want := `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}},"nextCursor":{"type":"string"}},"required":["items"],"additionalProperties":false}`; string(info.OutputSchema) != want {
		t.Errorf("output:\n got %s\nwant %s", info.OutputSchema, want)
	}
	r := do(t, p, `{"f":"x","top":5}`)
	if string(r.Structured) != told(r) || len(pageOf(t, r).Items) != 5 {
		t.Errorf("%+v", r)
	}
	r = do(t, p, fmt.Sprintf(`{"f":"x","top":5,"cursor":%q}`, *pageOf(t, r).NextCursor))
	if told(r) != `{"items":[{"n":5},{"n":6}]}` {
		t.Errorf("last page: %s", told(r))
	}
	p = program(t, s.url, "", `t: {description: "T", action: "read", http: {method: "GET", path: "/things"}, response: {paginate: {items: ".value", link: true}, jq: "[.value[] | {next: {}}]", schema: #Node}}`, "#Node: {next?: #Node}")
	if out := string(p.Tools["t"].Info.OutputSchema); !strings.Contains(out, `"$defs":{`) || strings.Index(out, `"$defs"`) < strings.Index(out, `"required":["items"]`) {
		t.Errorf("definitions are not at the root: %s", out)
	}
	if r := do(t, p, ``); r.IsError {
		t.Error(told(r))
	}
}

// TestPaginationStands pins that paging which does not advance ends with an
// error, and that the items of the page are in it (fault kind pagination).
func TestPaginationStands(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Next", "same")
		w.Header().Set("Link", `<`+r.URL.RequestURI()+`>; rel=next`)
		fmt.Fprint(w, `{"value":[1,2],"none":[],"link":"/v1/x?again=1"}`)
	})
	tool := func(paginate string) string { return read(get + `, response: paginate: {` + paginate + `}`) }
	p := program(t, url, "", tool(`items: ".value", cursor: {in: "after", header: "X-Next"}`), "")
	next := pageOf(t, do(t, p, `{}`)).NextCursor
	wantError(t, do(t, p, fmt.Sprintf(`{"cursor":%q}`, *next)), "t was done, but its pages cannot be followed", "does not advance", `"body":{"items":[1,2]}`)
	wantError(t, do(t, program(t, url, "", tool(`items: ".value", link: true`), ""), `{}`), "does not advance", `"body":{"items":[1,2]}`)
	p = program(t, url, "", tool(`items: ".value", nextLink: ".link"`), "")
	next = pageOf(t, do(t, p, `{}`)).NextCursor
	wantError(t, do(t, p, fmt.Sprintf(`{"cursor":%q}`, *next)), "does not advance")
	wantError(t, do(t, program(t, url, "", tool(`items: ".none", more: "true", offset: skip: "skip"`), ""), `{}`), "does not advance")
}

// TestPaginationAway pins that no page is at another origin or above the base
// path, and that credentials are not part of a cursor.
func TestPaginationAway(t *testing.T) {
	link := ""
	var log []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		log = append(log, r.URL.RequestURI())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Link", `<`+link+`>; rel=next`)
		fmt.Fprint(w, `[1]`)
	})
	p := program(t, url, `auth: query: {name: "key", value: env: "TOKEN"}, query: version: 7`, read(get+`, response: paginate: link: true`), "")
	for _, link = range []string{"https://evil.example/v1/x?page=2", "//evil.example/v1/x", "/v2/x", "/v1/../x", "http://u:p@" + strings.TrimPrefix(url, "http://") + "/v1/x"} {
		wantError(t, do(t, p, `{}`), "the link to the next page cannot be followed", `"body":{"items":[1]}`)
	}
	link, log = "?key="+token+"&page=2", nil
	next := pageOf(t, do(t, p, `{}`)).NextCursor
	link = "?page=3"
	pageOf(t, do(t, p, fmt.Sprintf(`{"cursor":%q}`, *next)))
	if want := []string{"/v1/x?version=7&key=" + token, "/v1/x?page=2&version=7&key=" + token}; !slices.Equal(log, want) {
		t.Errorf("sent %q, want %q", log, want)
	}
}

// TestPaginationShapes pins where items may be, and what is told where they are
// not.
func TestPaginationShapes(t *testing.T) {
	for _, tt := range []struct{ body, response, want string }{
		{`[1, 2]`, `paginate: page: number: "p"`, `{"items":[1,2]`},
		{`null`, `paginate: link: true`, `{"items":[]}`},
		{``, `paginate: link: true`, `{"items":[]}`},
		{`{"value":null}`, `paginate: {items: ".value", link: true}`, `{"items":[]}`},
		{`{"value":[9007199254740993,1e400]}`, `paginate: {items: ".value", link: true}`, `{"items":[9007199254740993,1e400]}`},
		{`{"value":[]}`, `paginate: {link: true}, jq: ".value[]"`, `{"items":[]}`},
		{`{"value":[[1]]}`, `paginate: {items: ".value", link: true}`, `{"items":[[1]]}`},
		{`{"a":1}`, `paginate: link: true`, `error t was done (the API answered 200 OK), but its answer cannot be read: it holds no list where the items should be`},
		{`{"a":1}`, `paginate: {items: ".a", link: true}`, `{"items":[1]}`},
		{`{"next":{}}`, `paginate: {items: ".a", cursor: {in: "c", jq: ".next"}}`, `error the position of the next page is {}`},
		{`{"next":5,"a":[1]}`, `paginate: {items: ".a", cursor: {in: "c", jq: ".next"}}`, `{"items":[1],"nextCursor":"`},
		{`{"next":false,"a":[1]}`, `paginate: {items: ".a", cursor: {in: "c", jq: ".next"}}`, `{"items":[1]}`},
		{`<html>`, `paginate: link: true`, `error its answer cannot be read: the answer is not JSON`},
		{`[1]`, `paginate: {items: "error(\"refused\")", link: true}`, `error {"error":"refused"}`},
	} {
		p := program(t, answering(t, 200, "application/json", tt.body), "", read(get+`, response: {`+tt.response+`}`), "")
		r := do(t, p, `{}`)
		if want, ok := strings.CutPrefix(tt.want, "error "); ok {
			wantError(t, r, want)
		} else if r.IsError || !strings.HasPrefix(told(r), tt.want) {
			t.Errorf("%s with %s:\n got %s\nwant %s", tt.body, tt.response, told(r), tt.want)
		}
	}
}

// TestPaginationTooLarge pins that a page which is too large ends early where
// an offset lets the next one go on there, so that nothing is missing.
func TestPaginationTooLarge(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		skip, _ := strconv.Atoi(r.URL.Query().Get("skip"))
		var items []string
		for i := skip; i < min(skip+50, 100); i++ {
			items = append(items, fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", 90)))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[%s]`, strings.Join(items, ","))
	})
	p := program(t, url, "", read(`input: top: int | *50, http: {method: "GET", path: "/x", query: top: input.top}, response: {maxBytes: 2048, paginate: offset: {skip: "skip", top: "top"}}`), "")
	args, n := `{}`, 0
	for range 100 {
		r := do(t, p, args)
		got := pageOf(t, r)
		if got.Truncated || len(told(r)) > 2048 {
			t.Fatalf("cut: %s", told(r))
		}
		for _, item := range got.Items {
			if !strings.HasPrefix(string(item), fmt.Sprintf(`{"n":%d,`, n)) {
				t.Fatalf("item %d is %s", n, item)
			}
			n++
		}
		if got.NextCursor == nil {
			break
		}
		args = fmt.Sprintf(`{"cursor":%q}`, *got.NextCursor)
	}
	if n != 100 {
		t.Errorf("%d items of 100", n)
	}
	// Where only a cut is left, it says so, and the cursor stays.
	p = program(t, url, "", read(get+`, response: {maxBytes: 2048, paginate: page: number: "page"}`), "")
	var cut struct {
		Truncated    bool
		Total, Shown int
		Result       page
	}
	if err := json.Unmarshal([]byte(told(do(t, p, `{}`))), &cut); err != nil || !cut.Truncated || cut.Total != 50 || cut.Shown != len(cut.Result.Items) || cut.Result.NextCursor == nil {
		t.Errorf("%+v, %v", cut, err)
	}
}

// TestPaginationOfWhole pins that the pages of an answer that holds all items
// are parts of it: none is lost, none comes twice.
func TestPaginationOfWhole(t *testing.T) {
	var items []string
	for i := range 90 {
		items = append(items, fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", 90)))
	}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			t.Errorf("the query is %s", r.URL.RawQuery)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"value":[%s],"at":"here"}`, strings.Join(items, ","))
	})
	tool := `input: {top?: int, skip: int | *0}, http: {method: "GET", path: "/x"}, response: {maxBytes: 2048, jq: "[.value[] | select(.n % 3 != 0)]", paginate: {also: "{at}", whole: {top: "top", skip: "skip"}}}`
	p := program(t, url, "", read(tool), "")
	for _, tt := range []struct {
		args         string
		first, pages int
	}{
		{`"skip":0`, 0, 4},            // as many as there is room for
		{`"top":60`, 0, 4},            // no more than there is room for
		{`"top":10`, 0, 6},            // so many
		{`"top":7,"skip":50`, 50, 2},  // from there on
		{`"top":10,"skip":-5`, 0, 6},  // nothing is before the first
		{`"top":10,"skip":90`, 60, 1}, // behind the last
	} {
		args, n, pages := "{"+tt.args+"}", tt.first, 0
		for more := true; more; pages++ {
			r := do(t, p, args)
			var got struct {
				Total, Shown int
				At           string
				Items        []struct{ N int }
				NextCursor   string
				Truncated    bool
			}
			if err := json.Unmarshal([]byte(told(r)), &got); err != nil || got.Truncated || len(told(r)) > 2048 {
				t.Fatalf("%s: %v: %s", args, err, told(r))
			}
			if got.Total != 60 || got.At != "here" {
				t.Errorf("%s: total %d at %q", args, got.Total, got.At)
			}
			for _, item := range got.Items {
				if want := n/2*3 + n%2 + 1; item.N != want {
					t.Fatalf("%s: item %d is %d, not %d", args, n, item.N, want)
				}
				n++
			}
			args, more = fmt.Sprintf(`{"cursor":%q}`, got.NextCursor), got.NextCursor != ""
		}
		if n != 60 || pages != tt.pages {
			t.Errorf("%s: up to %d of 60 items, on %d pages, not %d", tt.args, n, pages, tt.pages)
		}
	}
	// Nothing beside the items takes the total away.
	for _, also := range []string{"null", "empty", "{}"} {
		silent := program(t, url, "", read(strings.Replace(tool, "{at}", also, 1)), "")
		if got := told(do(t, silent, `{"top":1}`)); !strings.HasPrefix(got, `{"total":60,"items":[`) {
			t.Errorf("also %s: %s", also, got)
		}
	}
	// From a page of no items nothing would lead on.
	for _, top := range []string{"0", "-1"} {
		if got := do(t, p, `{"top":`+top+`}`); !got.IsError || !strings.Contains(told(got), "top: must be at least 1: it says how many items a page has") {
			t.Errorf("top %s: %s", top, told(got))
		}
	}
}

// TestCursorTampering pins that a cursor serves nothing but the next page of the
// call that it came from.
func TestCursorTampering(t *testing.T) {
	s := newThings(t)
	other := strings.Replace(paged(`items: ".value", link: true`, ``), "t: {", "u: {", 1)
	src := source(s.url, "", paged(`items: ".value", link: true`, ``)+"\n"+other, `server: sealKey: env: "SEAL"`)
	p := compiled(t, src, options())
	cursor := *pageOf(t, do(t, p, `{"f":"project-x"}`)).NextCursor

	// It shows nothing.
	if sealed, err := base64.RawURLEncoding.DecodeString(cursor); err != nil || bytes.Contains(sealed, []byte("things")) || bytes.Contains(sealed, []byte("project-x")) {
		t.Errorf("%q, %v", sealed, err)
	}
	// Another process with the same key takes it; the same page twice is no harm.
	for range 2 {
		if got := pageOf(t, do(t, compiled(t, src, options()), fmt.Sprintf(`{"cursor":%q}`, cursor))); string(got.Items[0]) != "3" {
			t.Errorf("second page: %s", got.Items)
		}
	}

	s.log = nil
	refused := func(p *exec.Program, caller call.Caller, tool, args, want string) {
		t.Helper()
		r := p.Call(t.Context(), caller, tool, json.RawMessage(args))
		wantError(t, r, want)
		if s.log != nil {
			t.Fatalf("sent %q for %s", s.log, args)
		}
	}
	const why = "cursor: it was not given by this server for this tool, or is no longer valid"
	for i := range cursor {
		changed := []byte(cursor)
		changed[i] = "AB"[map[bool]int{true: 1}[changed[i] == 'A']]
		refused(p, call.Caller{}, "t", fmt.Sprintf(`{"cursor":%q}`, changed), why)
	}
	for _, c := range []string{"x", "tok/3", cursor[:len(cursor)-1], cursor + "A", cursor + "=", base64.RawURLEncoding.EncodeToString([]byte(`{"p":"/v1/things?after=tok/6"}`))} {
		refused(p, call.Caller{}, "t", fmt.Sprintf(`{"cursor":%q}`, c), why)
	}
	refused(p, call.Caller{}, "u", fmt.Sprintf(`{"cursor":%q}`, cursor), why)
	refused(p, call.Caller{Bounds: catalog.Bounds{ReadOnly: true}}, "t", fmt.Sprintf(`{"cursor":%q}`, cursor), why)
	refused(program(t, s.url, "", paged(`items: ".value", link: true`, ``), ""), call.Caller{}, "t", fmt.Sprintf(`{"cursor":%q}`, cursor), why)
	// With other arguments.
	refused(p, call.Caller{}, "t", fmt.Sprintf(`{"f":"project-y","cursor":%q}`, cursor), "cursor: f differs from the call that it goes on from")
	refused(p, call.Caller{}, "t", fmt.Sprintf(`{"top":7,"cursor":%q}`, cursor), "cursor: top differs")
	refused(p, call.Caller{}, "t", fmt.Sprintf(`{"more":7,"cursor":%q}`, cursor), "unknown argument: more")
	refused(p, call.Caller{}, "t", `{"f":"x","cursor":7}`, "cursor")
	refused(p, call.Caller{}, "t", `{"cursor":""}`, "missing required argument: f")
	// The same arguments, and defaults written out, are no other ones.
	pageOf(t, do(t, p, fmt.Sprintf(`{"top":3,"f":"project-x","cursor":%q}`, cursor)))
	// None asks for the first page.
	for _, none := range []string{`""`, `null`} {
		if got := pageOf(t, do(t, p, `{"f":"x","cursor":`+none+`}`)); string(got.Items[0]) != "0" {
			t.Errorf("cursor %s: %s", none, got.Items)
		}
	}
}

// TestCursorLargeArguments pins that large arguments are not carried in the
// cursor, but have to be the same.
func TestCursorLargeArguments(t *testing.T) {
	s := newThings(t)
	p := program(t, s.url, "", paged(`items: ".value", page: {number: "page", size: "size"}`, ``), "")
	large := strings.Repeat("y", 3000)
	cursor := *pageOf(t, do(t, p, fmt.Sprintf(`{"f":%q}`, large))).NextCursor
	if len(cursor) > 200 {
		t.Errorf("%d bytes", len(cursor))
	}
	wantError(t, do(t, p, fmt.Sprintf(`{"cursor":%q}`, cursor)), "missing required argument: f")
	wantError(t, do(t, p, fmt.Sprintf(`{"f":"%sz","cursor":%q}`, large, cursor)), "an argument differs")
	if got := pageOf(t, do(t, p, fmt.Sprintf(`{"f":%q,"cursor":%q}`, large, cursor))); string(got.Items[0]) != "3" {
		t.Errorf("%s", got.Items)
	}
}

// TestSealKey pins that nothing is sent when the key of cursors cannot be read,
// and that a random one is told of, once.
func TestSealKey(t *testing.T) {
	s := newThings(t)
	tool := paged(`items: ".value", link: true`, ``)
	p := compiled(t, source(s.url, "", tool, `server: sealKey: env: "UNSET"`), options())
	wantError(t, do(t, p, `{"f":"x"}`), "the key of cursors (server: sealKey) cannot be used: env UNSET: it is not set")
	wantError(t, do(t, p, `{"f":"x","cursor":"AAAA"}`), "env UNSET")
	if s.log != nil {
		t.Errorf("sent %q", s.log)
	}
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	p = compiled(t, source(s.url, "", tool, ""), o)
	for range 3 {
		pageOf(t, do(t, p, `{"f":"x"}`))
	}
	if n := strings.Count(log.String(), "sealKey"); n != 1 {
		t.Errorf("told %d times: %s", n, &log)
	}
}

// TestCursorPreview shows that a dry run of a further page shows its request.
func TestCursorPreview(t *testing.T) {
	s := newThings(t)
	p := program(t, s.url, "", paged(`items: ".value", offset: {skip: "skip", top: "size"}`, ``), "")
	cursor := *pageOf(t, do(t, p, `{"f":"x"}`)).NextCursor
	plan, r := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(fmt.Sprintf(`{"cursor":%q}`, cursor)))
	if plan == nil || plan.Request.URL != s.url+"/v1/things?f=x&size=3&skip=3" {
		t.Errorf("%+v, %s", plan, told(r))
	}
}

// FuzzCursor shows that no text but a sealed one asks an upstream for a page.
func FuzzCursor(f *testing.F) {
	s := newThings(f)
	// The key is random: what one process has sealed is nothing to the next.
	p := program(f, s.url, "", paged(`items: ".value", link: true`, ``), "")
	valid := *pageOf(f, do(f, p, `{"f":"x"}`)).NextCursor
	for _, seed := range []string{valid, valid[1:], "", "AAAA", `{"p":"2"}`, strings.Repeat("A", 200), "é\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		s.log = nil
		args, err := json.Marshal(map[string]string{"f": "x", "cursor": cursor})
		if err != nil {
			t.Skip()
		}
		r := p.Call(t.Context(), call.Caller{}, "t", args)
		switch trimmed := strings.TrimSpace(cursor); {
		case trimmed == "", trimmed == valid:
		case !r.IsError, s.log != nil:
			t.Fatalf("%q is taken: %s, sent %q", cursor, told(r), s.log)
		}
	})
}

// TestPaginationOfSteps pages by one of several steps: those before it are made
// again for each page, those after it for the items of the page.
func TestPaginationOfSteps(t *testing.T) {
	const steps = `steps: {
		who: {http: {method: "GET", path: "/who", query: name: input.f}, jq: ".id"}
		list: http: {method: "GET", path: "/things", query: {size: 3, who: steps.who.result}}
		each: each: [for i in steps.list.result.value {method: "GET", path: "/thing/{i}", vars: "i": "\(i)"}]
	}, response: {jq: ".steps.each.result[] | {n: .id}", paginate: `
	for name, tt := range map[string]struct{ paginate, second string }{
		"the last step with http, by default": {`{cursor: {in: "after", jq: ".next"}, items: ".value", also: "{who: .steps.who.result}"}`, "/v1/things?size=3&who=u7&after=tok%2F3"},
		"the one that is named":               {`{step: "list", offset: {skip: "skip", top: "size"}, also: "{who: .steps.who.result}"}`, "/v1/things?size=3&who=u7&skip=3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newThings(t)
			things := s.url
			var log []string
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				log = append(log, r.URL.RequestURI())
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/v1/things" {
					answer, err := http.Get(things + strings.TrimPrefix(r.URL.RequestURI(), "/v1"))
					if err != nil {
						t.Error(err)
						return
					}
					defer answer.Body.Close()
					_, _ = io.Copy(w, answer.Body)
					return
				}
				id := strings.TrimPrefix(r.URL.Path, "/v1/thing/")
				if r.URL.Path == "/v1/who" {
					id = `"u7"`
				}
				_, _ = fmt.Fprintf(w, `{"id":%s}`, id)
			})
			p := program(t, url, "", read(`input: f!: string, `+steps+tt.paginate+`}`), "")
			args, pages := `{"f":"a"}`, []string{}
			for len(pages) < 9 {
				r := do(t, p, args)
				var page struct{ NextCursor string }
				if err := json.Unmarshal([]byte(told(r)), &page); err != nil || r.IsError {
					t.Fatalf("%s: %v", told(r), err)
				}
				text, _, _ := strings.Cut(told(r), `,"nextCursor"`)
				pages = append(pages, text)
				if page.NextCursor == "" {
					break
				}
				args = fmt.Sprintf(`{"cursor":%q}`, page.NextCursor)
			}
			want := []string{`{"who":"u7","items":[{"n":0},{"n":1},{"n":2}]`, `{"who":"u7","items":[{"n":3},{"n":4},{"n":5}]`, `{"who":"u7","items":[{"n":6}]}`}
			if !slices.Equal(pages, want) {
				t.Errorf("pages\n%s", strings.Join(pages, "\n"))
			}
			count := map[string]int{}
			for _, uri := range log {
				path, _, _ := strings.Cut(uri, "?")
				count[path]++
			}
			if count["/v1/who"] != 3 || count["/v1/things"] != 3 || !slices.Contains(log, tt.second) {
				t.Errorf("sent\n%s", strings.Join(log, "\n"))
			}
		})
	}
}

// A step with the pages that does not apply leaves one page, of what there is.
func TestPaginationSkipped(t *testing.T) {
	p := program(t, answering(t, 200, "application/json", `{"id":1}`), "", read(`input: more: bool | *false, steps: {
		one: http: {method: "GET", path: "/one"}
		list: {when: input.more, http: {method: "GET", path: "/things"}}
	}, response: {jq: "[.steps.one.result.id]", paginate: offset: skip: "skip"}`), "")
	wantText(t, do(t, p, `{}`), `{"items":[1]}`)
}

// What a page says beside its items is an object without the page's own members.
func TestPaginationAlso(t *testing.T) {
	for also, want := range map[string]string{
		`{total: .count}`:      `{"total":9,"items":[1]}`,
		`null`:                 `{"items":[1]}`,
		`empty`:                `{"items":[1]}`,
		`{}`:                   `{"items":[1]}`,
		`.count`:               "no object",
		`{items: 1}`:           "which the page itself has",
		`{nextCursor: .count}`: "which the page itself has",
	} {
		p := program(t, answering(t, 200, "application/json", `{"count":9,"value":[1]}`), "",
			read(`http: {method: "GET", path: "/things"}, response: paginate: {items: ".value", offset: {skip: "skip"}, more: "false", also: `+strconv.Quote(also)+`}`), "")
		r := do(t, p, `{}`)
		if strings.HasPrefix(want, "{") {
			wantText(t, r, want)
		} else {
			wantError(t, r, want)
		}
	}
}
