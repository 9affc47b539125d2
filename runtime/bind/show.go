package bind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Curl gives the request as a curl command that any POSIX shell runs as it is,
// whatever the values are, without a newline at the end. Control characters
// and marks that change the direction of text are written as escapes, so that
// the command is also safe to look at.
func (h *HTTP) Curl() string {
	var b strings.Builder
	body := string(h.Body)
	piped := !isShown(body) // and so can hold NUL and end with a newline, too
	if piped {
		b.WriteString(printf(body) + " | ")
	}
	b.WriteString("curl -g ") // -g: [] and {} in the URL are no patterns
	switch {
	case h.Method == "HEAD" && h.Body == nil:
		b.WriteString("-I ")
	case h.Method != "GET" || h.Body != nil:
		b.WriteString("-X " + shellWord(h.Method) + " ")
	}
	b.WriteString(shellWord(h.URL))
	option := func(name, value string) { b.WriteString(" \\\n  " + name + " " + shellWord(value)) }
	for _, f := range h.Header {
		if f.Value == "" {
			option("-H", f.Name+";") // "Name:" would take the header away
			continue
		}
		option("-H", f.Name+": "+f.Value)
	}
	switch {
	case piped:
		option("--data-binary", "@-")
	case h.Body != nil:
		option("--data-raw", body) // --data would read a file for "@name"
	case h.Method == "POST", h.Method == "PUT", h.Method == "PATCH":
		option("-H", "Content-Length: 0")
	}
	return b.String()
}

// shellWord gives s as one word of a POSIX shell. What cannot be shown must not
// end with a newline, which the shell would drop.
func shellWord(s string) string {
	switch {
	case s != "" && strings.IndexFunc(s, func(r rune) bool { return !isPlain(r) }) < 0:
		return s
	case isShown(s):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return `"$(` + printf(s) + `)"`
}

// isShown says whether s can stand in a command as it is.
func isShown(s string) bool { return utf8.ValidString(s) && strings.IndexFunc(s, isHidden) < 0 }

// isPlain says whether a shell gives no meaning to r.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf && (classes[r]&classSlash != 0 && r != '~' || strings.ContainsRune("@:,+%", r))
}

// isHidden says whether r would act on a terminal instead of being shown, or
// change how the text around it is shown (Unicode's Bidi_Control).
func isHidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// printf gives a command of a POSIX shell that prints s.
func printf(s string) string {
	var b strings.Builder
	b.WriteString("printf '")
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '%':
			b.WriteString("%%")
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\'' || isHidden(r) || r == utf8.RuneError && n == 1:
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteString("'")
	return b.String()
}

// JSON gives the request as compact JSON: {"method","url","headers","body"}.
// headers is an object in the order of sending. body is there when the request
// has one: as JSON when its content type says so and it is, else as a string;
// what is no text is "bodyBase64" instead.
func (h *HTTP) JSON() ([]byte, error) {
	headers := []byte{'{'}
	for i, f := range h.Header {
		if i > 0 {
			headers = append(headers, ',')
		}
		headers = appendQuoted(append(appendQuoted(headers, f.Name), ':'), f.Value)
	}
	v := struct {
		Method     string          `json:"method"`
		URL        string          `json:"url"`
		Headers    json.RawMessage `json:"headers"`
		Body       any             `json:"body,omitempty"`
		BodyBase64 []byte          `json:"bodyBase64,omitempty"`
	}{Method: h.Method, URL: h.URL, Headers: append(headers, '}')}
	switch {
	case h.Body == nil:
	case h.isJSON():
		v.Body = json.RawMessage(h.Body)
	case utf8.Valid(h.Body):
		v.Body = string(h.Body)
	default:
		v.BodyBase64 = h.Body
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), err
}

// isJSON says whether the body is JSON and declared as JSON, or as a format
// that is written in JSON (RFC 6839 section 3.1).
func (h *HTTP) isJSON() bool {
	f := find(h.Header, "Content-Type")
	if f == nil || !json.Valid(h.Body) {
		return false
	}
	t, _, _ := mime.ParseMediaType(f.Value)
	return t == "application/json" || strings.HasSuffix(t, "+json")
}
