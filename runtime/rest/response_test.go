package rest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestNumberFormat pins number-format: digits come through as the upstream
// wrote them.
func TestNumberFormat(t *testing.T) {
	for _, n := range []string{"9007199254740993", "1e400", "0.1", "-0", "1.0", "1E+2", "12345678", "123456789012345678901234567890", "1.10"} {
		r := &Response{Body: []byte(`{"a":[` + n + `]}`)}
		v, err := r.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if want := any(map[string]any{"a": []any{json.Number(n)}}); !reflect.DeepEqual(v, want) {
			t.Errorf("got %v, want %v", v, want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ body, charset, want, err string }{
		{body: ` null `, want: `null`},
		{body: `"x"`, want: `"x"`},
		{body: "\ufeff[1]\n", want: `[1]`},
		{body: "\"\xe9\"", charset: "iso-8859-1", want: `"é"`},
		{body: "\xff\xfe[\x001\x00]\x00", want: `[1]`},
		{body: "", err: "empty where JSON was expected"},
		{body: " \n", err: "empty where JSON was expected"},
		{body: "<html>", err: "not JSON"},
		{body: `{"a":1`, err: "not JSON"},
		{body: `{"a":1} x`, err: "something follows the value"},
		{body: `{"a":1}{}`, err: "something follows the value"},
		{body: `1]`, err: "something follows the value"},
		{body: "\"\xe9\"", charset: "klingon", err: `charset "klingon" is not known`},
		{body: strings.Repeat("[", 1_000_000), err: "not JSON"},
	} {
		v, err := (&Response{Body: []byte(tt.body), Charset: tt.charset}).Decode()
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%.40q: got %v, want %s", tt.body, err, tt.err)
			}
			continue
		}
		if got, _ := json.Marshal(v); err != nil || string(got) != tt.want {
			t.Errorf("%q: got %s, %v, want %s", tt.body, got, err, tt.want)
		}
	}
}

// TestCharset pins charset: text is UTF-8 whatever the upstream wrote it in.
func TestCharset(t *testing.T) {
	for _, tt := range []struct{ contentType, body, want string }{
		{"text/plain", "Zürich", "Zürich"},
		{"text/plain; charset=utf-8", "Zürich", "Zürich"},
		{"text/plain; charset=UTF-8", "Z\xfcrich", "Z\ufffdrich"},
		{"text/plain; charset=iso-8859-1", "Z\xfcrich", "Zürich"},
		{`text/plain; charset="ISO-8859-1"`, "Z\xfcrich", "Zürich"},
		{"text/plain", "Z\xfcrich \x80", "Zürich €"},
		{"", "Z\xfcrich", "Zürich"},
		{"text/plain; charset=shift_jis", "\x93\xfa\x96{", "日本"},
		{"text/plain; charset=gb18030", "\xd6\xd0", "中"},
		{"text/plain; charset=utf-16", "\xfe\xff\x00Z\x00\xfc", "Zü"},
		{"text/plain; charset=utf-16le", "Z\x00\xfc\x00", "Zü"},
		{"text/plain; charset=utf-8", "\xff\xfeZ\x00\xfc\x00", "Zü"},
		{"text/plain; charset=iso-8859-1", "\xef\xbb\xbfZürich", "Zürich"},
		{"application/xml", `<?xml version="1.0" encoding="ISO-8859-1"?><a>` + "\xfc</a>", `<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>`},
		{"image/svg+xml", `<?xml version='1.0' encoding='utf-8'?><a>ü</a>`, `<?xml version='1.0' encoding='utf-8'?><a>ü</a>`},
		{"text/xml; charset=utf-8", `<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>`, `<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>`},
		{"text/plain; charset=klingon", "plain", "plain"},
		{"text/plain; charset", "plain", "plain"},
		{"text/plain", "", ""},
	} {
		r := &Response{Body: []byte(tt.body)}
		r.MediaType, r.Charset = contentType(tt.contentType)
		if got, err := r.Text(); err != nil || got != tt.want {
			t.Errorf("%s %q: got %q, %v, want %q", tt.contentType, tt.body, got, err, tt.want)
		}
	}
	_, err := (&Response{Body: []byte("Z\xfcrich"), Charset: "klingon"}).Text()
	if err == nil || !strings.Contains(err.Error(), `"klingon"`) {
		t.Errorf("an unknown charset: got %v", err)
	}
}

func TestMediaType(t *testing.T) {
	for _, tt := range []struct {
		contentType, body, mediaType string
		json, text                   bool
	}{
		{"application/json; charset=utf-8", "", "application/json", true, true},
		{"Application/Problem+JSON", "", "application/problem+json", true, true},
		{"application/json; =broken", "", "application/json", true, true},
		{"text/html", "", "text/html", false, true},
		{"application/atom+xml", "", "application/atom+xml", false, true},
		{"application/yaml", "", "application/yaml", false, true},
		{"application/vnd.oai+yaml", "", "application/vnd.oai+yaml", false, true},
		{"image/png", "", "image/png", false, false},
		{"application/octet-stream", "text", "application/octet-stream", false, false},
		{"application/octet-stream; charset=utf-8", "text", "application/octet-stream", false, true},
		{"", "text", "", false, true},
		{"", "\x89PNG\x00", "", false, false},
		{"", "a\x00b", "", false, false},
	} {
		r := &Response{Body: []byte(tt.body)}
		r.MediaType, r.Charset = contentType(tt.contentType)
		if r.MediaType != tt.mediaType || r.IsJSON() != tt.json || r.IsText() != tt.text {
			t.Errorf("%s: got %q, JSON %v, text %v", tt.contentType, r.MediaType, r.IsJSON(), r.IsText())
		}
	}
}
