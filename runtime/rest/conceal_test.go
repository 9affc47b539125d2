package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
)

// TestConceal pins secret-in-log for answers: what an upstream echoes is masked
// before anything is made of the answer, JSON stays JSON, and what cannot be masked
// is refused.
func TestConceal(t *testing.T) {
	utf16 := func(s string) string {
		b, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const token, digits = "s3cr3t-t0ken", "1234567890"
	for name, tt := range map[string]struct {
		mediaType, body string
		want            string // in UTF-8; "" where the answer is refused
		masked          bool
	}{
		"plain":               {"application/json", `{"a": [1.10, "é"]}`, `{"a": [1.10, "é"]}`, false},
		"member":              {"application/json", `{"a": "` + token + `"}`, `{"a": "***"}`, true},
		"name of a member":    {"application/json", `{"` + token + `":1}`, `{"***":1}`, true},
		"escaped":             {"application/json", `{"a":"x\"` + everyEscape(token) + `\""}`, `{"a":"x\"***\""}`, true},
		"syntax":              {"application/json", `{"a":"x","m":"GET","b":"x\",\"m\":\"GET"}`, `{"a":"x","m":"GET","b":"x***"}`, true},
		"syntax alone":        {"application/json", `{"a":"x","m":"GET"}`, `{"a":"x","m":"GET"}`, false},
		"written like one":    {"application/json", `{"a":"\u0053ECRET","b":1}`, `{"a":"***","b":1}`, true},
		"JSON in a string":    {"application/json", `{"a":"{\"t\":\"` + token + `\"}"}`, `{"a":"{\"t\":\"***\"}"}`, true},
		"number":              {"application/json", `{"a":` + digits + `,"b":[91234567890.5]}`, `{"a":"***","b":["***"]}`, true},
		"number alone":        {"application/json", digits, `"***"`, true},
		"JSON in UTF-16":      {"application/json", utf16(`["` + token + `"]`), `["***"]`, true},
		"JSON as text":        {"text/plain", `{"a":` + digits + `}`, `{"a":"***"}`, true},
		"broken JSON":         {"application/json", `{"a":"` + token, `{"a":"***`, true},
		"text":                {"text/plain", "a " + token + " b", "a *** b", true},
		"text, older charset": {"text/plain; charset=iso-8859-1", "caf\xe9 " + token, "café ***", true},
		"XML":                 {"application/xml", `<?xml version="1.0" encoding="iso-8859-1"?><a>` + "\xe9" + token + `</a>`, `<?xml version="1.0" encoding="iso-8859-1"?><a>é***</a>`, true},
		"no media type":       {"", "a " + token, "a ***", true},
		"binary":              {"application/octet-stream", "a " + token, "", true},
		"binary, plain":       {"application/octet-stream", "\x00PNG", "\x00PNG", false},
		"media type":          {"text/x-" + strings.ToUpper(token), "{}", "{}", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, status := range []int{200, 404} {
				s := record(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Content-Type"] = []string{tt.mediaType}
					if tt.mediaType == "" {
						w.Header()["Content-Type"] = nil
					}
					w.WriteHeader(status)
					io.WriteString(w, tt.body)
				})
				u := s.upstream(t)
				u.Auth = &Auth{Bearer: &Secret{Env: "TOKEN"}}
				u.SecretHeaders = []Named{{"X-Digits", Secret{Env: "DIGITS"}}, {"X-Upper", Secret{Env: "UPPER"}}, {"X-Syntax", Secret{Env: "SYNTAX"}}, {"X-Written", Secret{Env: "WRITTEN"}}}
				c := newClient(t, Options{Getenv: func(name string) (string, bool) {
					return map[string]string{"TOKEN": token, "DIGITS": digits, "UPPER": strings.ToUpper(token), "SYNTAX": `","m":"GET`, "WRITTEN": "u0053ECRET"}[name], true
				}}, u)
				r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
				if tt.want == "" {
					if e := wantKind(t, err, BadAnswer); e.Status != status || !e.Sent || !strings.Contains(e.Message, "holds a secret") {
						t.Errorf("got %+v", e)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.Text()
				if err != nil || got != tt.want || (r.Masked != nil) != tt.masked || r.Status != status {
					t.Errorf("got %d %q masked %v, %v", r.Status, got, r.Masked, err)
				}
				if r.IsJSON() && json.Valid([]byte(tt.want)) != json.Valid([]byte(got)) {
					t.Errorf("no JSON: %s", got)
				}
				if strings.Contains(strings.ToLower(r.MediaType+fmt.Sprint(r.Header)), token) {
					t.Errorf("the headers show it: %s %v", r.MediaType, r.Header)
				}
			}
		})
	}
}

func everyEscape(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// TestConcealKept shows that an answer that is kept is not changed by what is masked
// in it for one call.
func TestConcealKept(t *testing.T) {
	body, header := []byte(`["`+token+`"]`), http.Header{"X-Echo": {token, "b"}}
	var c Client
	c.mask.add(owner{env: "TOKEN"}, token)
	r, err := c.conceal(&upstream{}, &Response{Body: body, Header: header, MediaType: "application/json"}, nil)
	if err != nil || r.Masked == nil || string(r.Masked.Body) != `["`+remasked+`"]` || string(r.Body) != `["***"]` || r.Header.Get("X-Echo") != masked {
		t.Errorf("got %+v, %v", r, err)
	}
	if !bytes.Contains(body, []byte(token)) || header["X-Echo"][0] != token {
		t.Error("the answer itself was changed")
	}
}

// TestCutMessages pins that no message is cut before it is masked: half a secret is
// not found.
func TestCutMessages(t *testing.T) {
	var c Client
	c.mask.add(owner{env: "TOKEN"}, token)
	for pad := range 1010 {
		if got := c.say(nil, "%q", strings.Repeat("x", pad)+token+strings.Repeat("y", 100)); strings.Contains(got, token[:4]) || len(got) > 1010 {
			t.Fatalf("after %d characters: %s", pad, got)
		}
	}
	for _, pad := range []int{0, 32, 36, 72, 76, 190, 196, 286, 296, 985, 995} {
		long := strings.Repeat("x", pad) + token
		for name, answer := range map[string]http.HandlerFunc{
			"description": func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(401)
				json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": long})
			},
			"code": func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(401)
				json.NewEncoder(w).Encode(map[string]string{"error": long})
			},
			"type": func(w http.ResponseWriter, _ *http.Request) {
				json.NewEncoder(w).Encode(map[string]string{"access_token": "a-token-of-ours", "token_type": long})
			},
		} {
			s := record(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				answer(w, r)
			})
			u := s.upstream(t)
			u.Auth = &Auth{OAuth2: &ClientCredentials{TokenURL: mustURL(t, s.URL+"/token"), ClientID: Text{Literal: "me"}, ClientSecret: Secret{Env: "TOKEN"}}}
			_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
			if err == nil || strings.Contains(err.Error(), token[:4]) {
				t.Errorf("%s after %d characters: %v", name, pad, err)
			}
		}
		s := record(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", long) })
		u := s.upstream(t)
		u.Auth = &Auth{Bearer: &Secret{Env: "TOKEN"}}
		_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
		if err == nil || strings.Contains(err.Error(), token[:4]) {
			t.Errorf("Content-Encoding after %d characters: %v", pad, err)
		}
	}
}
