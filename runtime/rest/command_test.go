package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestExecSecret shows that a command's output is kept for its life and no
// longer, that calls share it, and that a 401 has it run again.
func TestExecSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Auth = &Auth{Bearer: &Secret{Exec: []string{"az", "account", "get-access-token"}}}
		u.SecretHeaders = []Named{{"X-Same", Secret{Exec: []string{"az", "account", "get-access-token"}}}}
		runs := 0
		format := `{"accessToken":"exec-token-%d","expires_on":%d}`
		c := newClient(t, Options{Run: func(_ context.Context, argv []string) ([]byte, error) {
			runs++
			if strings.Join(argv, " ") != "az account get-access-token" {
				t.Errorf("ran %q", argv)
			}
			if strings.HasPrefix(format, "{") {
				return fmt.Appendf(nil, format, runs, time.Now().Add(10*time.Minute).Unix()), nil
			}
			return fmt.Appendf(nil, format, runs), nil
		}}, u)
		refuse := ""
		pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == refuse {
				w.WriteHeader(401)
			}
			// In upper case nobody knows it for a secret.
			io.WriteString(w, strings.ToUpper(r.Header.Get("Authorization")+" "+r.Header.Get("X-Same")))
		})
		call := func(n int) {
			t.Helper()
			r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Idempotent: true})
			if want := fmt.Sprintf("BEARER EXEC-TOKEN-%d EXEC-TOKEN-%d", n, n); err != nil || string(r.Body) != want || r.Status != 200 {
				t.Errorf("got %v, %v, want %s", r, err, want)
			}
		}
		call(1)
		time.Sleep(9 * time.Minute)
		call(1)
		time.Sleep(time.Minute)
		call(2)
		time.Sleep(time.Second)
		refuse = "Bearer exec-token-2"
		call(3)
		if got := c.Scrub("exec-token-3 exec-token-1"); got != "*** ***" {
			t.Errorf("shown as %s", got)
		}
		format = "exec-token-%d\n"
		time.Sleep(time.Hour)
		call(4)
		time.Sleep(59 * time.Second)
		call(4)
		time.Sleep(2 * time.Second)
		call(5)
	})
}

// TestExecFailOpen shows that a command which fails ends the call before
// anything is sent, and is run again for the next one.
func TestExecFailOpen(t *testing.T) {
	s := record(t, nil)
	u := s.upstream(t)
	u.Auth = &Auth{Bearer: &Secret{Exec: []string{"az", "--password=hidden"}}}
	out, fails := "", errors.New("it ended with exit status 1")
	c := newClient(t, Options{Run: func(context.Context, []string) ([]byte, error) { return []byte(out), fails }}, u)
	for _, tt := range []struct {
		out   string
		fails error
		want  string
	}{
		{"", fails, "exec az: it ended with exit status 1"},
		{"", nil, "exec az: it is empty"},
		{"one\ntwo\nthree", nil, "exec az: it holds a line break"},
		{"{", nil, "exec az: its output begins like JSON and is none"},
		{`{"password":"x"}`, nil, "exec az: its output has no member accessToken, access_token or token"},
		{`{"token":"0123456789","expiry":"soon"}`, nil, "exec az: its member expiry is no time"},
	} {
		out, fails = tt.out, tt.fails
		_, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
		if e := wantKind(t, err, SecretUnreadable); !strings.Contains(e.Message, tt.want) || strings.Contains(e.Message, "hidden") {
			t.Errorf("got %+v, want %s", e, tt.want)
		}
	}
	if len(s.got()) != 0 {
		t.Error("something was sent")
	}
	out, fails = "good-token", nil
	if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
		t.Error(err)
	}
}

func TestParseOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := time.Now().Add(plainLife)
		for _, tt := range []struct {
			out, value string
			until      time.Time
		}{
			{" plain-token \n", "plain-token", plain},
			{`{"token":"t0ken"}`, "t0ken", plain},
			{`{"accessToken":"a","expiresOn":"2031-02-03 04:05:06.000000","expires_on":1900000000}`, "a", time.Unix(1900000000, 0)},
			{`{"accessToken":"a","expires_on":"1900000000"}`, "a", time.Unix(1900000000, 0)},
			{`{"accessToken":"a","expiresOn":"2031-02-03 04:05:06.000000"}`, "a", time.Date(2031, 2, 3, 4, 5, 6, 0, time.Local)},
			{`{"accessToken":"a","expiresOn":"2031-02-03T04:05:06Z"}`, "a", time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)},
			{`{"access_token":"a","expiry":"2031-02-03T04:05:06+01:00"}`, "a", time.Date(2031, 2, 3, 3, 5, 6, 0, time.UTC)},
			{"\n{\"token\":\"a\",\n\"expiry\":\"2031-02-03T04:05:06.789Z\"}\n", "a", time.Date(2031, 2, 3, 4, 5, 6, 789e6, time.UTC)},
		} {
			value, until, err := parseOutput([]byte(tt.out))
			if err != nil || value != tt.value || !until.Equal(tt.until) {
				t.Errorf("%s: got %q until %s, %v", tt.out, value, until, err)
			}
		}
	})
}

// TestMain lets the test binary be the command of TestRunCommand.
func TestMain(m *testing.M) {
	switch os.Getenv("REST_TEST_COMMAND") {
	case "":
		os.Exit(m.Run())
	case "print":
		fmt.Print(strings.Join(os.Args[1:], "|"))
	case "fail":
		fmt.Print("out")
		fmt.Fprint(os.Stderr, "a secret of its own")
		os.Exit(3)
	case "flood":
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1000)); err != nil {
				os.Exit(1)
			}
		}
	case "hang":
		fmt.Println("ready")
		select {}
	}
}

func TestRunCommand(t *testing.T) {
	for _, tt := range []struct{ mode, out, want string }{
		{"print", "a|$HOME;`id`|", ""},
		{"fail", "", "it ended with exit status 3: run it by hand to see why"},
		{"flood", "", "it gives more than 65536 bytes"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Setenv("REST_TEST_COMMAND", tt.mode)
			out, err := runCommand(t.Context(), []string{os.Args[0], "a", "$HOME;`id`", ""})
			if string(out) != tt.out || tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
	for _, tt := range []struct{ name, want string }{
		{"no-such-command-anywhere", "there is no such command"},
		{t.TempDir(), "it cannot be run"},
	} {
		if _, err := runCommand(t.Context(), []string{tt.name}); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	t.Run("hang", func(t *testing.T) {
		t.Setenv("REST_TEST_COMMAND", "hang")
		s := record(t, nil)
		u := s.upstream(t)
		u.Timeout, u.Auth = 50*time.Millisecond, &Auth{Bearer: &Secret{Exec: []string{os.Args[0]}}}
		_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
		wantKind(t, err, TimedOut)
	})
}

// TestInboundHeader shows that a credential of the caller's own is taken from
// the header that is named, for this call alone, and from no other.
func TestInboundHeader(t *testing.T) {
	s := record(t, nil)
	u := s.upstream(t)
	u.Auth = &Auth{Bearer: &Secret{InboundHeader: "X-Api-Token"}}
	var brought Brought
	c := newClient(t, Options{}, u)
	for _, tt := range []struct {
		header http.Header
		want   string // the error; "" means sent
	}{
		{http.Header{"X-Api-Token": {"token-of-one"}, "Authorization": {"Bearer of this server"}}, ""},
		{http.Header{"X-Api-Token": {"token-of-two"}}, ""},
		{http.Header{"Authorization": {"Bearer of this server"}}, "inbound header X-Api-Token: the caller has not sent it"},
		{http.Header{"X-Api-Token": {"token-of-one", "token-of-two"}}, "inbound header X-Api-Token: the caller has sent it more than once"},
		{http.Header{"X-Api-Token": {"short"}}, "inbound header X-Api-Token: it is shorter than 8 bytes"},
		{nil, "inbound header X-Api-Token: the call came without HTTP headers"},
	} {
		_, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Inbound: tt.header, Brought: &brought})
		if tt.want == "" {
			if err != nil {
				t.Fatal(err)
			}
			all := s.got()
			if got := all[len(all)-1].Header; got.Get("Authorization") != "Bearer "+tt.header.Get("X-Api-Token") || got.Get("X-Api-Token") != "" {
				t.Errorf("got %v", got)
			}
			continue
		}
		kind := SecretNotBrought
		if tt.header == nil { // over stdio nobody can bring one: the configuration is at fault
			kind = SecretUnreadable
		}
		if e := wantKind(t, err, kind); !strings.HasSuffix(e.Message, tt.want) {
			t.Errorf("got %+v, want %s", e, tt.want)
		}
	}
	if n := len(s.got()); n != 2 {
		t.Errorf("%d requests were sent", n)
	}
	if got := brought.Scrub("token-of-one token-of-two"); got != "*** ***" {
		t.Errorf("shown as %s", got)
	}
}

func TestSecretCheck(t *testing.T) {
	for _, tt := range []struct {
		s    Secret
		name string
		want string
	}{
		{Secret{Env: "A"}, "env A", ""},
		{Secret{File: "/a"}, "file /a", ""},
		{Secret{Exec: []string{"az", "x"}}, "exec az", ""},
		{Secret{InboundHeader: "X-A"}, "inbound header X-A", ""},
		{Secret{Exec: []string{}}, "", "exec needs a command"},
		{Secret{Exec: []string{""}}, "", "exec needs a command"},
		{Secret{Env: "A", Exec: []string{"az"}}, "", "exactly one of"},
		{Secret{InboundHeader: "authorization"}, "", "the header authorization is for this server alone and is never passed on"},
		{Secret{InboundHeader: "Cookie"}, "", "never passed on"},
		{Secret{InboundHeader: "X A"}, "", "no header name"},
	} {
		err := tt.s.Check()
		if tt.want == "" && (err != nil || tt.s.String() != tt.name) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: got %v", tt.s, err)
		}
	}
}
