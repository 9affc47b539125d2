package bind_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/metacue/metacue/runtime/bind"
)

func TestCurl(t *testing.T) {
	accept := bind.Header{Name: "Accept", Value: "application/json"}
	for _, c := range []struct {
		h    bind.HTTP
		want string
	}{
		{bind.HTTP{Method: "GET", URL: "https://h.example/a", Header: []bind.Header{accept}},
			"curl -g https://h.example/a \\\n  -H 'Accept: application/json'"},
		{bind.HTTP{Method: "DELETE", URL: "https://h.example/a?$top=1&x=%20"},
			"curl -g -X DELETE 'https://h.example/a?$top=1&x=%20'"},
		{bind.HTTP{Method: "HEAD", URL: "https://h.example/users('x')"},
			`curl -g -I 'https://h.example/users('\''x'\'')'`},
		{bind.HTTP{Method: "POST", URL: "https://h.example/a", Header: []bind.Header{{Name: "X-Empty"}}},
			"curl -g -X POST https://h.example/a \\\n  -H 'X-Empty;' \\\n  -H 'Content-Length: 0'"},
		{bind.HTTP{Method: "POST", URL: "https://h.example/a", Body: []byte(`@{"a":"it's"}`)},
			"curl -g -X POST https://h.example/a \\\n  --data-raw '@{\"a\":\"it'\\''s\"}'"},
		{bind.HTTP{Method: "GET", URL: "https://h.example/a", Body: []byte("a\n")},
			"curl -g -X GET https://h.example/a \\\n  --data-raw 'a\n'"},
		{bind.HTTP{Method: "PUT", URL: "https://h.example/a", Body: []byte{}},
			"curl -g -X PUT https://h.example/a \\\n  --data-raw ''"},
		{bind.HTTP{Method: "PUT", URL: "https://h.example/a", Body: []byte("\x00'\\%é\xff\n")},
			`printf '\000\047\\%%é\377` + "\n' | curl -g -X PUT https://h.example/a \\\n  --data-binary @-"},
		{bind.HTTP{Method: "GET", URL: "https://h.example/a", Header: []bind.Header{{Name: "X", Value: "a\u202eb"}}},
			"curl -g https://h.example/a \\\n  -H \"$(printf 'X: a\\342\\200\\256b')\""},
		{bind.HTTP{Method: "HEAD", URL: "https://h.example/a", Body: []byte("\x1b[2J")},
			"printf '\\033[2J' | curl -g -X HEAD https://h.example/a \\\n  --data-binary @-"},
	} {
		if got := c.h.Curl(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// hostile are texts that a shell, curl or a terminal would give a meaning.
var hostile = []string{
	"", "'", "''", `"`, "$(id)", "`id`", "${HOME}", "$HOME", "!!", "~", "a'b\"c", `\`, `\'`, `\n`, `\101`, "%s%n%%", "a\nb\n", "\n", "-d", "@/etc/passwd", "<x", "a;b&c|d",
	"*?[a]{b,c}", "#", "a\tb", "é日本😀", "\u202eabc", "\x1b[31m", "\x7f", "\u0085", " ", "\x00", "\xff\xfe", "a\x00'\\%\n\n", "\r\n",
}

// A POSIX shell reads the command as the request.
func TestCurlInShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	for _, s := range hostile {
		h := &bind.HTTP{Method: "POST", URL: "https://h.example/a?x='" + strings.ReplaceAll(s, "\x00", ""), Body: []byte(s)}
		h.URL = strings.TrimRight(h.URL, "\r\n")
		if v := strings.TrimSpace(strings.ReplaceAll(s, "\x00", "")); v != "" {
			h.Header = append(h.Header, bind.Header{Name: "X-A", Value: v})
		}
		// A curl that prints its arguments and its input, each in angle brackets.
		script := `curl() { for a; do printf '<%s>' "$a"; done; case "$*" in *@-*) printf '<'; cat; printf '>';; esac; }` + "\n" + h.Curl()
		out, err := exec.Command(sh, "-c", script).Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", s, err, script)
		}
		want := "<-g><-X><POST><" + h.URL + ">"
		for _, f := range h.Header {
			want += "<-H><" + f.Name + ": " + f.Value + ">"
		}
		if strings.HasPrefix(h.Curl(), "printf") {
			want += "<--data-binary><@-><" + s + ">"
		} else {
			want += "<--data-raw><" + s + ">"
		}
		if string(out) != want {
			t.Errorf("%q:\n got %q\nwant %q", s, out, want)
		}
	}
}

// words reads a command as a POSIX shell does, as far as Curl writes it (POSIX
// XCU section 2.2), with the input of a printf in front of it.
func words(command string) (args []string, input string, err error) {
	if rest, ok := strings.CutPrefix(command, "printf '"); ok {
		format, after, _ := strings.Cut(rest, "' | ")
		if input, err = printed(format); err != nil {
			return nil, "", err
		}
		command = after
	}
	var word strings.Builder
	begun := false
	for i := 0; i < len(command); i++ {
		rest := command[i:]
		switch c := command[i]; {
		case strings.HasPrefix(rest, "\\\n"):
			i++
		case c == ' ':
			if begun {
				args = append(args, word.String())
			}
			word.Reset()
			begun = false
		case c == '\'':
			text, _, ok := strings.Cut(rest[1:], "'")
			if !ok {
				return nil, "", errors.New("a quote is not closed")
			}
			word.WriteString(text)
			i += len(text) + 1
			begun = true
		case strings.HasPrefix(rest, `"$(printf '`):
			format, _, ok := strings.Cut(rest[len(`"$(printf '`):], `')"`)
			if !ok {
				return nil, "", errors.New("a substitution is not closed")
			}
			text, err := printed(format)
			if err != nil {
				return nil, "", err
			}
			word.WriteString(strings.TrimRight(text, "\n"))
			i += len(`"$(printf '`) + len(format) + len(`')"`) - 1
			begun = true
		case c == '\\' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
			begun = true
		case strings.IndexByte("|&;<>()$`\"\t\n*?[#~=", c) >= 0 && !begun, strings.IndexByte("|&;<>()$`\"\t\n*?[", c) >= 0:
			return nil, "", errors.New("a character with a meaning is not quoted: " + string(c))
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		args = append(args, word.String())
	}
	return args, input, nil
}

// printed gives what printf prints.
func printed(format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		rest := format[i:]
		switch {
		case strings.HasPrefix(rest, "%%"):
			b.WriteByte('%')
			i++
		case strings.HasPrefix(rest, `\\`):
			b.WriteByte('\\')
			i++
		case rest[0] == '\\' && len(rest) >= 4:
			n, err := strconv.ParseUint(rest[1:4], 8, 8)
			if err != nil {
				return "", err
			}
			b.WriteByte(byte(n))
			i += 3
		case rest[0] == '%' || rest[0] == '\\':
			return "", errors.New("a character of the format has a meaning")
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String(), nil
}

func FuzzCurl(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, hostile[(i*5)%len(hostile)], []byte(hostile[(i*3)%len(hostile)]))
	}
	f.Fuzz(func(t *testing.T, query, value string, body []byte) {
		query, value = strings.ToValidUTF8(query, ""), strings.ToValidUTF8(value, "")
		r := request(t, "/users('{q}')/[x]")
		r.Method = "POST"
		r.Headers = []bind.Field{field("X-A", bind.Const(quoted(t, value)))}
		h, err := r.Build(t.Context(), &bind.Scope{Args: bind.Args{"q": quoted(t, query)}})
		if err != nil {
			return
		}
		h.Body = body
		command := h.Curl()
		if i := strings.IndexFunc(command, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }); i >= 0 || !utf8.ValidString(command) {
			t.Fatalf("%q would act on a terminal", command)
		}
		got, input, err := words(command)
		if err != nil {
			t.Fatalf("%q: %v", command, err)
		}
		want := []string{"curl", "-g", "-X", "POST", h.URL}
		for _, f := range h.Header {
			if f.Value == "" {
				want = append(want, "-H", f.Name+";")
				continue
			}
			want = append(want, "-H", f.Name+": "+f.Value)
		}
		data := got[len(got)-1]
		switch {
		case body == nil:
			want = append(want, "-H", "Content-Length: 0")
			data = ""
		case data == "@-" && got[len(got)-2] == "--data-binary":
			want = append(want, "--data-binary", "@-")
			data = input
		default:
			want = append(want, "--data-raw", string(body))
		}
		if !slices.Equal(got, want) || data != string(body) {
			t.Fatalf("%q\n got %q %q\nwant %q %q", command, got, data, want, body)
		}
	})
}

func TestHTTPAsJSON(t *testing.T) {
	typed := func(s string) []bind.Header { return []bind.Header{{Name: "Content-Type", Value: s}} }
	for _, c := range []struct {
		h    bind.HTTP
		want string
	}{
		{bind.HTTP{Method: "GET", URL: "https://h.example/a?b=1&c=<"}, `{"method":"GET","url":"https://h.example/a?b=1&c=<","headers":{}}`},
		{bind.HTTP{Method: "POST", Header: typed("application/json"), Body: []byte(`{"n":9007199254740993,"m":1.10}`)},
			`{"method":"POST","url":"","headers":{"Content-Type":"application/json"},"body":{"n":9007199254740993,"m":1.10}}`},
		{bind.HTTP{Method: "POST", Header: typed("application/json-patch+json; x=y"), Body: []byte(`[]`)},
			`{"method":"POST","url":"","headers":{"Content-Type":"application/json-patch+json; x=y"},"body":[]}`},
		{bind.HTTP{Method: "POST", Header: typed("application/json"), Body: []byte(`null`)},
			`{"method":"POST","url":"","headers":{"Content-Type":"application/json"},"body":null}`},
		{bind.HTTP{Method: "POST", Header: typed("application/json"), Body: []byte(`{`)},
			`{"method":"POST","url":"","headers":{"Content-Type":"application/json"},"body":"{"}`},
		{bind.HTTP{Method: "POST", Header: typed("text/plain"), Body: []byte(`1`)},
			`{"method":"POST","url":"","headers":{"Content-Type":"text/plain"},"body":"1"}`},
		{bind.HTTP{Method: "POST", Body: []byte{}}, `{"method":"POST","url":"","headers":{},"body":""}`},
		{bind.HTTP{Method: "POST", Body: []byte("\xff")}, `{"method":"POST","url":"","headers":{},"bodyBase64":"/w=="}`},
		{bind.HTTP{Method: "GET", Header: []bind.Header{{Name: "Z", Value: `"`}, {Name: "A", Value: "é"}}},
			`{"method":"GET","url":"","headers":{"Z":"\"","A":"é"}}`},
	} {
		got, err := c.h.JSON()
		if err != nil || string(got) != c.want || !json.Valid(got) {
			t.Errorf("got\n%s (%v)\nwant\n%s", got, err, c.want)
		}
	}
}
