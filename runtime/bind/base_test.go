package bind_test

import (
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

func TestParseBase(t *testing.T) {
	for _, s := range []string{"https://h.example", "http://127.0.0.1:1/", "https://h.example/a%2Fb/%e9?k=v&x", "https://[::1]/v1/", "HTTPS://h.example/a.b/.well-known"} {
		if u, err := bind.ParseBase(s); err != nil || u.Host == "" {
			t.Errorf("%s: %v", s, err)
		}
	}
	for s, want := range map[string]string{
		"":                             "http://",
		"h.example/a":                  "http://",
		"ftp://h.example":              "http://",
		"https:h.example":              "no host",
		"https:///a":                   "no host",
		"https://:80/a":                "no host",
		"https://u:geheim@h.example":   "auth",
		"https://u:geheim@h.example:x": "port",
		"https://h.example/#a":         "fragment",
		"https://h.example/#":          "fragment",
		"https://h.example/a//b":       "empty segment",
		"https://h.example//":          "empty segment",
		"https://h.example/a/../b":     "dot segment",
		"https://h.example/%2e%2e":     "dot segment",
		"https://h.example/..;/b":      "dot segment",
		"https://h.example/?a b":       "percent-encoded",
		"https://h.example/?a=é":       "percent-encoded",
		"https://h.example/%zz":        "%zz",
		"https://h.example\n":          "control character",
	} {
		u, err := bind.ParseBase(s)
		if err == nil || u != nil {
			t.Errorf("%q is taken", s)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", s, err)
		}
	}
}
