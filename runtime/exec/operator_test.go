package exec_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
)

// TestReport shows which failures are told to the operator, each in one line
// without what the caller gave.
func TestReport(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	secure.StartTLS()
	defer secure.Close()
	unwilling := answering(t, 401, "text/plain", "no")
	const own, callers = `auth: bearer: env: "TOKEN"`, `auth: header: {name: "X-Key", value: inboundHeader: "X-Desk-Key"}`
	each := `t: {description: "T", action: "read", input: q!: string, steps: all: {optional: true, each: [for n in [1, 2, 3] {method: "GET", path: "/x", query: {"n": n, "q": input.q}}]}}`
	for _, tt := range []struct {
		name, url, upstream, tool, want string
	}{
		{"certificate", secure.URL, "", "", "certificate"},
		{"ca file", secure.URL, `tls: caFile: "/nowhere/ca.pem"`, "", "caFile /nowhere/ca.pem"},
		{"no secret", unwilling, `auth: bearer: env: "UNSET"`, "", "env UNSET: it is not set"},
		{"refused", unwilling, own, "", "refused the credentials from env TOKEN"},
		{"nobody there", "http://127.0.0.1:1", "", "", "cannot connect"},
		{"a list, once", "http://127.0.0.1:1", "", each, "cannot connect"},
		{"the caller's secret missing", unwilling, callers, "", ""},
		{"the caller's secret refused", unwilling, callers, "", ""},
		{"an answer that is a failure", answering(t, 500, "text/plain", "no"), own, "", ""},
		{"an answer", answering(t, 200, "application/json", "{}"), own, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.tool == "" {
				tt.tool = `t: {description: "T", action: "read", input: q!: string, http: {method: "GET", path: "/x"}}`
			}
			var log bytes.Buffer
			o := options()
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			p := compiled(t, source(tt.url, tt.upstream, tt.tool, ""), o)
			caller := call.Caller{Header: http.Header{}}
			if strings.Contains(tt.name, "refused") {
				caller.Header.Set("X-Desk-Key", "a secret of the caller")
			}
			p.Call(t.Context(), caller, "t", []byte(`{"q":"words-of-a-caller"}`))
			got := log.String()
			if tt.want == "" {
				if got != "" {
					t.Errorf("logged %s", got)
				}
				return
			}
			if strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") || !strings.Contains(got, "tool=t upstream=api reason=") ||
				!strings.Contains(got, tt.want) || strings.Contains(got, "words-of-a-caller") || strings.Contains(got, token) {
				t.Errorf("logged %s, want one line with %q", got, tt.want)
			}
		})
	}
}
