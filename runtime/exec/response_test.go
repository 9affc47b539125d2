package exec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/metacue/metacue/runtime/call"
)

const get = `http: {method: "GET", path: "/x"}`

func read(rest string) string { return "t: {description: \"T\", action: \"read\", " + rest + "}" }

// TestErrorAsSuccess pins which statuses are failures: by class, and by the
// declared list.
func TestErrorAsSuccess(t *testing.T) {
	for status, isError := range map[int]bool{200: false, 203: false, 207: false, 400: true, 404: true, 409: false, 429: true, 500: true, 503: true} {
		p := program(t, answering(t, status, "application/json", `{"a":1}`), "", read(get+`, response: accept: [409]`), "")
		r := do(t, p, `{}`)
		if r.IsError != isError {
			t.Errorf("%d: %+v", status, r)
		}
		if isError {
			wantError(t, r, fmt.Sprintf(`"status":%d`, status), `"body":{"a":1}`)
		}
	}
}

// TestErrorIn200 pins that a failure inside an answer of success is found by the
// declared condition (fault kind error-in-200).
func TestErrorIn200(t *testing.T) {
	for _, tt := range []struct{ jq, contentType, body, args, want string }{
		{`.message`, "application/json", `{"message":"no such thing\u001b[31m"}`, `{}`, `{"error":"no such thing","status":200}`},
		{`.ok == false`, "application/json", `{"ok":false,"why":"x"}`, `{}`, `{"error":"api answered 200 OK, and says in it that the call failed","status":200,"body":{"ok":false,"why":"x"}}`},
		{`.errors`, "application/json", `{"errors":[{"code":7}]}`, `{}`, `"body":[{"code":7}]}`},
		{`.errors[]?`, "application/json", `{"errors":[null,"second"]}`, `{}`, `"error":"second"`},
		{`if $args.n > 3 and $status == 200 and $headers["x-which"] == "seven" then "seen" else false end`, "application/json", `{}`, `{"n":4}`, `"error":"seen"`},
		{`if test("Sign in") then "the credentials were not accepted" else false end`, "text/html", `<html>Sign in</html>`, `{}`, `"error":"the credentials were not accepted"`},
		{`error("said outright")`, "application/json", `{}`, `{}`, `{"error":"said outright"}`},
		{`.a.b.c[0]`, "application/json", `{"a":1}`, `{}`, `t was done (the API answered 200 OK), but the jq program that shapes its answer failed: expected an object`},
		{`.a`, "application/json", `{"a":`, `{}`, `t was done (the API answered 200 OK), but its answer cannot be read`},
		// No failures.
		{`.errors`, "application/json", `{"errors":[]}`, `{}`, ""},
		{`.errors`, "application/json", `{"errors":{}}`, `{}`, ""},
		{`.error`, "application/json", `{"error":""}`, `{}`, ""},
		{`.errno`, "application/json", `{"errno":0}`, `{}`, ""},
		{`.error`, "application/json", `{"error":false}`, `{}`, ""},
		{`.error`, "application/json", `{}`, `{}`, ""},
		{`empty`, "application/json", `{}`, `{}`, ""},
		{`.error`, "application/json", ``, `{}`, ""},
	} {
		cue, _ := json.Marshal(tt.jq)
		p := program(t, answering(t, 200, tt.contentType, tt.body), "", read(`input: n?: int, http: {method: "GET", path: "/x", query: n: input.n}, response: error: `+string(cue)), "")
		r := do(t, p, tt.args)
		if tt.want == "" {
			if r.IsError {
				t.Errorf("%s of %s is taken for a failure: %s", tt.jq, tt.body, told(r))
			}
			continue
		}
		wantError(t, r, tt.want)
	}
}

// TestErrorIn200Steps pins that a step's own condition ends the steps, and that
// an optional step makes the failure soft.
func TestErrorIn200Steps(t *testing.T) {
	var log []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		log = append(log, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":false,"message":"full"}`)
	})
	steps := func(optional string) string {
		return read(`input: {}, steps: {
			a: {http: {method: "POST", path: "/a"}` + optional + `, error: "if .ok then false else .message end"}
			b: http: {method: "POST", path: "/b", body: was: steps.a.result.message}
		}`)
	}
	wantError(t, do(t, program(t, url, "", steps(""), ""), `{}`), `"error":"full"`, `"step":"a"}`)
	if len(log) != 1 {
		t.Errorf("sent %q", log)
	}
	wantText(t, do(t, program(t, url, "", steps(", optional: true"), ""), `{}`), `{"ok":false,"message":"full"}`)
}

// TestOutputSchema pins that a result either fits what the tool declares, and is
// structured content, or is a failure with the text (fault kind output-schema).
func TestOutputSchema(t *testing.T) {
	const schema = `{
		// The number
		n!: int
		name?: string
		tags?: [...string]
	}`
	want := `{"type":"object","properties":{"n":{"type":"integer","description":"The number"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["n"],"additionalProperties":false}`
	for _, tt := range []struct {
		status            int
		contentType, body string
		more              string // of response
		want              []string
	}{
		{200, "application/json", `{"n": 9007199254740993, "name":"x"}`, "", nil},
		{200, "application/json", `{"items":[{"n":1}]}`, `, jq: ".items[0]"`, nil},
		{200, "application/json", `{"n":"x"}`, "", []string{`t was done, but its answer does not fit the output schema that it declares: n: must be an integer`, `"body":{"n":"x"}`}},
		{200, "application/json", `{}`, "", []string{`n is missing`}},
		{200, "application/json", `{"n":1,"more":2}`, "", []string{`more is not declared`}},
		{200, "application/json", `[1]`, "", []string{`must be an object`}},
		{200, "application/json", `null`, "", []string{`must be an object`}},
		{200, "application/json", `{"n":1,"name":"` + strings.Repeat("x", 3000) + `"}`, ", maxBytes: 1024", []string{`it has 3017 bytes, above the 1024 that can be shown, and would have to be cut`, `"truncated":true`}},
		{204, "", ``, "", []string{`it is no JSON`, `204 No Content: done`}},
		{200, "text/html", `<html>`, "", []string{`it is no JSON`, `"body":"<html>"`}},
		{200, "image/png", "\x89PNG", "", []string{`it is image/png, not JSON`}},
		{200, "application/json", `{"tags":[1,2,3,4,5,6,7]}`, "", []string{`n is missing; tags[0]: must be a string, not a number`, `and 3 more`}},
	} {
		p := program(t, answering(t, tt.status, tt.contentType, tt.body), "", read(get+`, response: {schema: `+schema+tt.more+`}`), "")
		if got := string(p.Tools["t"].Info.OutputSchema); got != want {
			t.Fatalf("schema:\n got %s\nwant %s", got, want)
		}
		r := do(t, p, `{}`)
		if tt.want != nil {
			wantError(t, r, tt.want...)
			continue
		}
		if r.IsError || string(r.Structured) != told(r) || !strings.HasPrefix(told(r), `{"n":`) {
			t.Errorf("%s: %+v", tt.body, r)
		}
	}
}

// TestOutputSchemaSkipped pins that a call which sends nothing does not pass for
// the declared result.
func TestOutputSchemaSkipped(t *testing.T) {
	p := program(t, answering(t, 200, "application/json", `{}`), "", read(`input: on?: bool, steps: a: {when: input.on, http: {method: "GET", path: "/x"}}, response: schema: {}`), "")
	wantError(t, do(t, p, `{}`), "Nothing was sent")
	if r := do(t, p, `{"on":true}`); r.IsError || string(r.Structured) != `{}` {
		t.Errorf("%+v", r)
	}
}

// TestBinary pins that images and other binaries are blocks of content, with a
// limit, and never text.
func TestBinary(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x01"
	for _, tt := range []struct{ contentType, want string }{
		{"image/png", "image/png"},
		{"application/pdf", "application/pdf"},
		{"", "application/octet-stream"},
	} {
		p := program(t, answering(t, 200, tt.contentType, png), "", read(get), "")
		r := do(t, p, `{}`)
		if r.IsError || len(r.Content) != 1 || !bytes.Equal(r.Content[0].Data, []byte(png)) || r.Content[0].MIMEType != tt.want {
			t.Errorf("%q: %+v", tt.contentType, r)
		}
	}
	p := program(t, answering(t, 200, "image/png", strings.Repeat(png, 1000)), "", read(get+`, response: maxBytes: 2000`), "")
	wantError(t, do(t, p, `{}`), "t was done, but its answer is 10000 bytes of image/png, more than the 2000 that can be shown")
}

// TestEmpty pins that an answer without content is told in words, or in what jq
// makes of its headers.
func TestEmpty(t *testing.T) {
	wantText(t, do(t, program(t, answering(t, 204, "", ""), "", read(get), ""), `{}`), "204 No Content: done; the API sent no content.")
	wantText(t, do(t, program(t, answering(t, 200, "application/json", ""), "", read(get), ""), `{}`), "200 OK: done; the API sent no content.")
	wantText(t, do(t, program(t, answering(t, 404, "", ""), "", read(get+`, response: accept: [404]`), ""), `{}`), "The API answered 404 Not Found, without content.")
	wantText(t, do(t, program(t, answering(t, 204, "", ""), "", read(get+`, response: jq: ".a[]"`), ""), `{}`), "204 No Content: done; the API sent no content.")
	head := strings.Replace(get, "GET", "HEAD", 1)
	wantText(t, do(t, program(t, answering(t, 200, "application/json", ""), "", read(head+`, response: jq: "{status: $status, which: $headers[\"x-which\"]}"`), ""), `{}`), `{"status":200,"which":"seven"}`)
	wantError(t, do(t, program(t, answering(t, 202, "", ""), "", read(get+`, response: jq: "if . == null then error(\"not ready\") else . end"`), ""), `{}`), `{"error":"not ready"}`)
}

// TestCharset pins that text arrives as UTF-8, whatever the upstream writes.
func TestCharset(t *testing.T) {
	wantText(t, do(t, program(t, answering(t, 200, "text/plain; charset=iso-8859-1", "caf\xe9"), "", read(get), ""), `{}`), "café")
	wantText(t, do(t, program(t, answering(t, 200, "application/json; charset=utf-16", "\xff\xfe{\x00}\x00"), "", read(get), ""), `{}`), "{}")
	wantText(t, do(t, program(t, answering(t, 200, "application/xml", "<?xml version=\"1.0\" encoding=\"windows-1252\"?><a>\x80</a>"), "", read(get), ""), `{}`), "<?xml version=\"1.0\" encoding=\"windows-1252\"?><a>€</a>")
	wantError(t, do(t, program(t, answering(t, 200, "application/json; charset=klingon", "\"\xe9\""), "", read(get), ""), `{}`), "charset", "klingon")
}

// TestContentType pins that a declared content type takes the place of one that
// lies.
func TestContentType(t *testing.T) {
	url := answering(t, 200, "application/octet-stream", `{"a": 1}`)
	wantText(t, do(t, program(t, url, "", read(get+`, response: {contentType: "application/json", jq: ".a"}`), ""), `{}`), `1`)
	p := program(t, url, "", read(`input: as?: string, http: {method: "GET", path: "/x"}, response: contentType: input.as`), "")
	wantText(t, do(t, p, `{"as":"text/plain"}`), `{"a": 1}`)
	if r := do(t, p, `{}`); r.IsError || r.Content[0].MIMEType != "application/octet-stream" {
		t.Errorf("%+v", r)
	}
	wantError(t, do(t, p, `{"as":"//"}`), "no media type")
	// It follows an argument, also where it has a value without one. Text stays as it is.
	p = program(t, url, "", read(`input: as?: string, http: {method: "GET", path: "/x"}, response: contentType: *{text: "text/plain"}[input.as] | "application/json"`), "")
	wantText(t, do(t, p, `{}`), `{"a":1}`)
	wantText(t, do(t, p, `{"as":"x"}`), `{"a":1}`)
	wantText(t, do(t, p, `{"as":"text"}`), `{"a": 1}`)
}

// TestNumberFormat pins that digits come through as the upstream wrote them, in
// and beside jq.
func TestNumberFormat(t *testing.T) {
	body := `{"a":9007199254740993,"b":1e400,"c":0.1,"d":-0,"e":1.10,"f":1.0}`
	url := answering(t, 200, "application/json", body)
	wantText(t, do(t, program(t, url, "", read(get), ""), `{}`), body)
	wantText(t, do(t, program(t, url, "", read(get+`, response: jq: "[.a, .c, .a + 1]"`), ""), `{}`), `[9007199254740993,0.1,9007199254740994]`)
	wantText(t, do(t, program(t, url, "", read(get+`, response: jq: "."`), ""), `{}`), body)
}

// TestTooLargeAnswer pins that what is cut stays whole JSON and says so, and that
// secrets are masked before the cut, so that no half of one is left.
func TestTooLargeAnswer(t *testing.T) {
	body := `{"text":"` + strings.Repeat("y", 400) + strings.Repeat(token, 300) + `"}`
	url := answering(t, 200, "application/json", body)
	for limit := 1000; limit < 1040; limit++ {
		p := program(t, url, `auth: header: {name: "X-Key", value: env: "TOKEN"}`, read(get+fmt.Sprintf(`, response: maxBytes: %d`, limit)), "")
		r := do(t, p, `{}`)
		if !json.Valid([]byte(told(r))) || strings.Contains(told(r), token[:6]) || !strings.Contains(told(r), `"truncated":true`) || len(told(r)) > limit {
			t.Fatalf("%d: %s", limit, told(r))
		}
	}
}

// TestSecretInJSON pins that masking leaves JSON valid, also where a number is
// the secret (fault kind secret-in-log).
func TestSecretInJSON(t *testing.T) {
	url := answering(t, 200, "application/json", `{"a":1234567890,"b":[-1234567890.5,"x1234567890\"y",7],"1234567890":{"c":true}}`)
	p := program(t, url, `auth: header: {name: "X-Key", value: env: "DIGITS"}`, read(get+`, response: schema: {...}`), "")
	wantText(t, do(t, p, `{}`), `{"a":"***","b":["***","x***\"y",7],"***":{"c":true}}`)
	// Cleaning puts together what was apart.
	url = answering(t, 200, "application/json", `{"a":"12345\u001b[0m67890 12345\u206067890"}`)
	wantText(t, do(t, program(t, url, `auth: header: {name: "X-Key", value: env: "DIGITS"}`, read(get), ""), `{}`), `{"a":"*** ***"}`)
}

// TestResourceBombJQ pins that a jq program ends by its deadline and its bound,
// and that the next call works.
func TestResourceBombJQ(t *testing.T) {
	url := answering(t, 200, "application/json", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`)
	p := program(t, url, "", read(get+`, response: jq: "def f: f; f"`)+"\nbig: {description: \"B\", action: \"read\", "+get+", response: jq: \"range(1000000) as $i | .a\"}\nok: {description: \"O\", action: \"read\", "+get+", response: jq: \".a | length\"}", "")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	wantError(t, p.Call(ctx, call.Caller{}, "t", nil), "t was done (the API answered 200 OK), but the jq program", "the time of the call was over")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	wantError(t, p.Call(t.Context(), call.Caller{}, "big", nil), "it gives more than 16777216 bytes")
	wantText(t, p.Call(t.Context(), call.Caller{}, "ok", nil), "1048576")
}

// TestSentThenLost pins that a change whose answer is lost is not taken for one
// that was not made.
func TestSentThenLost(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	p := program(t, url, "", `t: {description: "T", action: "create", http: {method: "POST", path: "/x"}}
		r: {description: "R", action: "read", http: {method: "GET", path: "/x"}}`, "")
	wantError(t, do(t, p, `{}`), "may have been carried out")
	if r := p.Call(context.Background(), call.Caller{}, "r", nil); !r.IsError || strings.Contains(told(r), "carried out") {
		t.Errorf("%+v", r)
	}
}

// TestRetryAfter pins that an agent is told how long to wait.
func TestRetryAfter(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	wantError(t, do(t, program(t, url, "", read(get), ""), `{}`), `{"error":"api answered 429 Too Many Requests","status":429,"retryAfter":120}`)
	wantError(t, do(t, program(t, url, `retry: {}`, read(get), ""), `{}`), "asks to wait 120 seconds")
}

// TestNumberFormatBothWays pins that digits go out as the caller writes them and
// come back so, and that null clears a field where it may (fault kind null).
func TestNumberFormatBothWays(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, r.Body)
	})
	const input = `t: {description: "T", action: "update", input: {big!: int, wide!: number, part!: number, minus!: number, none?: string | null}, `
	args := `{"big":9007199254740993,"wide":1e400,"part":0.1,"minus":-0,"none":null}`
	for name, http := range map[string]string{
		"by convention": `http: {method: "PATCH", path: "/x"}}`,
		"by reference":  `http: {method: "PATCH", path: "/x", body: {big: input.big, wide: input.wide, part: input.part, minus: input.minus, none: input.none}}}`,
		"by expression": `http: {method: "PATCH", path: "/x", body: {for k, v in input {(k): v}}}}`,
	} {
		r := do(t, program(t, url, "", input+http, ""), args)
		if r.IsError || told(r) != args {
			t.Errorf("%s:\n got %s\nwant %s", name, told(r), args)
		}
	}
}
