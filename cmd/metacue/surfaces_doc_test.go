package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/surface"
)

// shown is an answer in docs/surfaces.md: the mode that is asked, the tool that is
// called, or tools/list and the tool that is looked at, and what it gives.
var shown = regexp.MustCompile("(?m)^In (\\w+) mode, `(\\S+) (\\S.*)`:\n\n```json\n((?s:.*?))```$")

// TestSurfacesPage asks the configuration of docs/surfaces.md what the page shows.
// UPDATE=1 writes the answers into it.
func TestSurfacesPage(t *testing.T) {
	const file = "../../docs/surfaces.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"total":12}`)
	}))
	defer api.Close()
	src := regexp.MustCompile("(?ms)^```cue\n(.*?)^```$").FindSubmatch(page)[1]
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: src}}, "desk", load.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p, findings := compile.Compile(cfg, compile.Options{Upstreams: map[string]string{"api": api.URL}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	n := 0
	got := shown.ReplaceAllFunc(page, func(block []byte) []byte {
		n++
		m := shown.FindSubmatch(block)
		mode, tool, args := string(m[1]), string(m[2]), string(m[3])
		s, err := surface.New(mode, p.Catalog, p.Call)
		if err != nil {
			t.Fatal(err)
		}
		var answer []byte
		if tool == "tools/list" {
			for _, listed := range s.Tools() {
				if listed.Name == args {
					answer, err = json.Marshal(listed)
				}
			}
		} else {
			var r *mcp.CallToolResult
			if r, err = s.Call(t.Context(), call.Caller{}, tool, json.RawMessage(args)); err == nil {
				answer = []byte(r.Content[0].(*mcp.TextContent).Text)
			}
		}
		if err != nil {
			t.Fatalf("%s %s %s: %v", mode, tool, args, err)
		}
		return fmt.Appendf(nil, "In %s mode, `%s %s`:\n\n```json\n%s\n```", mode, tool, args, laidOut(answer))
	})
	if n < 9 {
		t.Errorf("%d answers found: the page is not read as it should be", n)
	}
	if bytes.Equal(got, page) {
		return
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, is := strings.Split(string(page), "\n"), strings.Split(string(got), "\n")
	for i := range is {
		if i >= len(was) || was[i] != is[i] {
			t.Fatalf("%s, line %d: is\n%s\nUPDATE=1 writes it", file, i+1, is[i])
		}
	}
}

// laidOut breaks JSON into lines that a page can hold: members and elements stand
// on lines of their own as long as one of them would be too long.
func laidOut(raw json.RawMessage) string { return layOut(raw, "", 0) }

// maxLine is how long a line of JSON may be.
const maxLine = 140

func layOut(raw json.RawMessage, indent string, before int) string {
	raw = bytes.TrimSpace(raw)
	if before+len(indent)+len(raw) <= maxLine || raw[0] != '{' && raw[0] != '[' {
		return string(raw)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return string(raw)
	}
	var parts []string
	inner := indent + "  "
	for d.More() {
		name := ""
		if raw[0] == '{' {
			t, err := d.Token()
			if err != nil {
				return string(raw)
			}
			name = fmt.Sprintf("%q:", t)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return string(raw)
		}
		parts = append(parts, inner+name+layOut(v, inner, len(name)))
	}
	return string(raw[0]) + "\n" + strings.Join(parts, ",\n") + "\n" + indent + string(raw[len(raw)-1])
}
