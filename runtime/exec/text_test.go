package exec

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// TestUpstreamText pins that control characters, terminal sequences and
// bidirectional overrides do not reach an agent (fault kind upstream-text).
func TestUpstreamText(t *testing.T) {
	text := "a\x1b[31mred\x00 \u202eevil\u2066x\u2069 \u009b1;2HC1 tab\t line\n \x7fé日本\ufeff\u2060\U000e0041\U000e0100"
	if got, want := cleanText(text), "ared evilx C1 tab\t line\n é日本"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
	for in, want := range map[string]string{
		"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ \x1b[0m.": "link .",
		"\x1bP1$r0m\u009c\x1b_a\x1b\\.":                   ".",
		// What has no end takes nothing with it.
		"\x1b]8;;http://x\nline": "]8;;http://x\nline",
		"\x1b]a\x1b[1mb":         "]ab",
		"\x1b[31":                "[31", "\x1b": "", "\x1b[3é": "[3é", "\x9b\xff": "\ufffd\ufffd",
		// What shapes text stays.
		"❤\ufe0f \u200d\u200c ｆｕｌｌ 👩\u200d🚀": "❤\ufe0f \u200d\u200c ｆｕｌｌ 👩\u200d🚀",
	} {
		if got := cleanText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if !utf8.ValidString(in) {
			continue
		}
		// The same in JSON, escaped as encoding/json does and throughout, as the name of a
		// member and as its value; a sequence does not reach beyond its string.
		quoted, _ := json.Marshal(in)
		every := ""
		for _, u := range utf16.Encode([]rune(in)) {
			every += fmt.Sprintf(`\u%04x`, u)
		}
		for _, s := range []string{string(quoted), `"` + every + `"`} {
			var got map[string]string
			doc := cleanJSON(json.RawMessage(`{` + s + `:` + s + `,"end\u001b[":"m"}`))
			if err := json.Unmarshal(doc, &got); err != nil || !maps.Equal(got, map[string]string{want: want, "end[": "m"}) {
				t.Errorf("%s became %s, %v", s, doc, err)
			}
		}
	}
	// Written out, escaped by encoding/json, and escaped by hand.
	escaped, _ := json.Marshal(map[string]any{text: []any{text, 9007199254740993, 1.5}})
	for _, doc := range []string{
		string(escaped),
		`{"a":"x\u001b[31m\u202Ey","b\u0000":"\b\f\n\\u001b","n":1.10e400}`,
		"{\"raw\u202e\":\"\u2067z\x7f\u0085\"}",
	} {
		got := cleanJSON(json.RawMessage(doc))
		var v any
		d := json.NewDecoder(strings.NewReader(string(got)))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s is no JSON any more: %v", got, err)
		}
		walkStrings(v, func(s string) {
			if strings.ContainsFunc(s, hidden) {
				t.Errorf("%q holds a hidden character, from %s", s, doc)
			}
		})
	}
	if got := string(cleanJSON(json.RawMessage("[\"a\ufeff\"]"))) + string(cleanJSON(json.RawMessage("[\"\U000e0041b\"]"))); got != `["a"]["b"]` {
		t.Errorf("written out: got %q", got)
	}
	if got := string(cleanJSON(json.RawMessage(`{"a":"\\u001b \" <&> \u00e9","n":1.10e400}`))); got != `{"a":"\\u001b \" <&> \u00e9","n":1.10e400}` {
		t.Errorf("what is harmless was changed: %s", got)
	}
}

func walkStrings(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			walkStrings(e, f)
		}
	case map[string]any:
		for k, e := range v {
			f(k)
			walkStrings(e, f)
		}
	}
}

// TestTooLarge pins that a large result stays valid JSON within its limit and
// says what is missing.
func TestTooLarge(t *testing.T) {
	list := func(n int) string {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf(`{"id":%d,"text":"%s"}`, i, strings.Repeat("x", 20)))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	const limit = 2000
	for name, tt := range map[string]struct {
		doc         string
		total, some int
		member      string
		unit        string
	}{
		"small":         {doc: list(3)},
		"list":          {doc: list(1000), total: 1000, some: 1},
		"object":        {doc: `{"count":1000,"value":` + list(1000) + `,"tags":["a"]}`, total: 1000, some: 1, member: "value"},
		"text":          {doc: `"` + strings.Repeat("é", 5000) + `"`, total: 10002, some: 1, unit: "bytes"},
		"large element": {doc: `[` + list(1000) + `]`, total: 1},
		"large member":  {doc: `{"a":"` + strings.Repeat("x", 5000) + `","value":[1]}`, total: 5020, some: 1, unit: "bytes"},
		"quotes":        {doc: `{"a":"` + strings.Repeat(`\"`, 5000) + `"}`, total: 10008, some: 1, unit: "bytes"},
	} {
		got := truncate(json.RawMessage(tt.doc), limit)
		if !json.Valid(got) || len(got) > limit {
			t.Errorf("%s: %d bytes, valid %t", name, len(got), json.Valid(got))
		}
		if tt.total == 0 {
			if string(got) != tt.doc {
				t.Errorf("%s: changed to %s", name, got)
			}
			continue
		}
		var c cut
		if err := json.Unmarshal(got, &c); err != nil {
			t.Fatal(err)
		}
		if !c.Truncated || c.Total != tt.total || c.Shown < tt.some || c.Shown >= c.Total || c.Member != tt.member || c.Unit != tt.unit || c.Hint == "" {
			t.Errorf("%s: %+v", name, c)
		}
		if tt.member != "" {
			var object struct {
				Value []any
				Count int
				Tags  []string
			}
			if err := json.Unmarshal(c.Result, &object); err != nil || len(object.Value) != c.Shown || object.Count != 1000 || len(object.Tags) != 1 {
				t.Errorf("%s: %s, %v", name, c.Result, err)
			}
		}
	}
	text := truncateText(strings.Repeat("é", 5000), limit)
	if len(text) > limit || !strings.Contains(text, "of 10000 bytes shown") {
		t.Errorf("%d bytes: …%s", len(text), text[len(text)-100:])
	}
}
