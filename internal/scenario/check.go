package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/metacue/metacue/runtime/tokens"
)

// whole is all that a ready file holds, but for the white space around it.
var whole = regexp.MustCompile(`(?s)^\s*(.*\S)\s*$`)

// waitFile waits until a file is there and matches a pattern, and gives the
// pattern's first group. It gives up when the process that is to write the file
// has ended.
func waitFile(file string, pattern *regexp.Regexp, ended <-chan struct{}) (string, error) {
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if m := pattern.FindSubmatch(data); m != nil {
			return string(m[1]), nil
		}
		select {
		case <-tick.C:
		case <-ended:
			return "", errors.New("the server ended before it was ready")
		case <-deadline:
			return "", fmt.Errorf("%s is not there, or does not match %s, after %v", file, pattern, patience)
		}
	}
}

func cmdWaitfile(ts *testscript.TestScript, neg bool, args []string) {
	unsupportedNeg(ts, neg, "waitfile")
	pattern := whole
	if len(args) == 4 && args[0] == "-match" {
		var err error
		pattern, err = regexp.Compile(args[1])
		ts.Check(err)
		args = args[2:]
	}
	if len(args) != 2 || pattern.NumSubexp() != 1 {
		ts.Fatalf("usage: waitfile [-match REGEXP-WITH-ONE-GROUP] FILE VAR")
	}
	text, err := waitFile(ts.MkAbs(args[0]), pattern, nil)
	ts.Check(err)
	stateOf(ts).setenv(ts, args[1], text)
}

// cmdHTTP makes one request, following no redirects. The body goes to standard
// output, the status and the headers to standard error; ! demands a status
// outside 2xx.
func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "usage: http METHOD URL [-H 'Name: value']... [-d BODY|@FILE]"
	if len(args) < 2 || len(args)%2 != 0 {
		ts.Fatalf(usage)
	}
	req, err := http.NewRequest(args[0], args[1], nil)
	ts.Check(err)
	for flags := args[2:]; len(flags) > 0; flags = flags[2:] {
		switch value := flags[1]; flags[0] {
		case "-H":
			name, text, ok := strings.Cut(value, ": ")
			if !ok {
				ts.Fatalf("http: -H %q is not 'Name: value'", value)
			}
			if name == "Host" {
				req.Host = text
			} else {
				req.Header.Add(name, text)
			}
		case "-d":
			if file, ok := strings.CutPrefix(value, "@"); ok {
				value = ts.ReadFile(file)
			}
			req.Body = io.NopCloser(strings.NewReader(value))
			req.ContentLength = int64(len(value))
			if req.Header.Get("Content-Type") == "" {
				req.Header.Set("Content-Type", "application/json")
			}
		default:
			ts.Fatalf(usage)
		}
	}
	client := http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintln(ts.Stderr(), resp.Status)
	ts.Check(resp.Header.Write(ts.Stderr()))
	if !json.Valid(body) || writeIndented(ts.Stdout(), body) != nil {
		ts.Stdout().Write(body)
	}
	if ok := resp.StatusCode/100 == 2; ok == neg {
		ts.Fatalf("http: %s", resp.Status)
	}
}

func cmdIndent(ts *testscript.TestScript, neg bool, args []string) {
	unsupportedNeg(ts, neg, "indent")
	if len(args) != 1 {
		ts.Fatalf("usage: indent FILE")
	}
	ts.Check(writeIndented(ts.Stdout(), []byte(ts.ReadFile(args[0]))))
}

func cmdJQ(ts *testscript.TestScript, neg bool, args []string) {
	unsupportedNeg(ts, neg, "jq")
	variable := ""
	if len(args) == 4 && args[0] == "-env" {
		variable, args = args[1], args[2:]
	}
	if len(args) != 2 {
		ts.Fatalf("usage: jq [-env VAR] EXPRESSION FILE")
	}
	lines, err := jq(args[0], ts.ReadFile(args[1]))
	ts.Check(err)
	if variable != "" {
		stateOf(ts).setenv(ts, variable, strings.Join(lines, "\n"))
		return
	}
	for _, line := range lines {
		fmt.Fprintln(ts.Stdout(), line)
	}
}

// jq gives the results of an expression over each JSON value of a text.
func jq(expression, text string) ([]string, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, err
	}
	var lines []string
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return lines, nil
		} else if err != nil {
			return nil, err
		}
		for results := query.Run(v); ; {
			r, ok := results.Next()
			if !ok {
				break
			}
			switch r := r.(type) {
			case error:
				return nil, r
			case string:
				lines = append(lines, r)
			default:
				data, err := gojq.Marshal(r)
				if err != nil {
					return nil, err
				}
				lines = append(lines, string(data))
			}
		}
	}
}

func cmdTokens(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: tokens FILE MAX")
	}
	limit, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) == nil {
		text = compact.String()
	}
	n := tokens.Count(text)
	fmt.Fprintln(ts.Stdout(), n)
	if ok := n <= limit; ok == neg {
		ts.Fatalf("tokens: %s has %d, the limit is %d", args[0], n, limit)
	}
}

func cmdAnswers(ts *testscript.TestScript, neg bool, args []string) {
	unsupportedNeg(ts, neg, "answers")
	if len(args) != 2 {
		ts.Fatalf("usage: answers FILE REQUESTS")
	}
	ts.Check(answers(ts.ReadFile(args[0]), ts.ReadFile(args[1])))
}

// answers checks that the JSON-RPC messages of a text answer each request of
// another once, and nothing else.
func answers(text, requests string) error {
	asked, err := ids(requests, true)
	if err != nil {
		return err
	}
	answered, err := ids(text, false)
	if err != nil {
		return err
	}
	var faults []error
	for id, n := range answered {
		if asked[id] == 0 {
			faults = append(faults, fmt.Errorf("answers: %d to %s, which was not asked", n, id))
		}
	}
	for id := range asked {
		if n := answered[id]; n != 1 {
			faults = append(faults, fmt.Errorf("answers: %d to %s", n, id))
		}
	}
	return errors.Join(faults...)
}

// ids counts the ids of the requests, or of the responses, in a text of one
// JSON-RPC message a line.
func ids(text string, requests bool) (map[string]int, error) {
	count := map[string]int{}
	for line := range strings.Lines(text) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return nil, fmt.Errorf("answers: %v in %s", err, line)
		}
		if m.ID != nil && (m.Method != "") == requests {
			count[string(m.ID)]++
		}
	}
	return count, nil
}

// writeIndented prints JSON with every member and digit as it stands.
func writeIndented(w io.Writer, data []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(data), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(w)
	return err
}
