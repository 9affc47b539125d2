package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`

// eofSignal closes a channel when the input has ended.
type eofSignal struct {
	io.Reader
	ended chan struct{}
}

func (r eofSignal) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		close(r.ended)
	}
	return n, err
}

// metacue serve < requests.jsonl: each request of the file is answered, though
// the slow ones end after the input has.
func TestStdinEOF(t *testing.T) {
	file, err := os.ReadFile("testdata/requests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var out bytes.Buffer
	if err := Stdio(t.Context(), eofSignal{bytes.NewReader(file), ended}, &out, options(t, "meta", ended)); err != nil {
		t.Fatal(err)
	}
	answers := map[string]message{}
	for line := range strings.Lines(out.String()) {
		m := parse(t, line)
		answers[fmt.Sprint(m.ID)] = m
	}
	if len(answers) != 9 {
		t.Errorf("%d answers, want 9: %s", len(answers), out.String())
	}
	for id, want := range map[string]string{
		"3": `slow {"n":1}`,
		"4": `slow {"n":2}`,
		"5": `slow {"n":3}`,
	} {
		if m := answers[id]; m.text() != want || m.Error != nil {
			t.Errorf("answer %s: %s, want %s", id, m.raw, want)
		}
	}
	if m := answers["6"]; m.Error == nil || m.Error.Code != -32602 || m.Error.Message != `unknown tool "no_such_tool"` {
		t.Errorf("answer 6: %s", m.raw)
	}
	for id, want := range map[string]string{"2": `"tools":[{"annotations"`, "7": `"prompts":[]`, "8": `"resources":[]`, "last": `"result":{}`} {
		if m := answers[id]; !strings.Contains(m.raw, want) {
			t.Errorf("answer %s: %s, want %s", id, m.raw, want)
		}
	}
}

// Each revision that begins with initialize is agreed on and speaks its own.
func TestHandshakeRevisions(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t.Context(), t, options(t, "meta", nil))
			r := c.initialize(revision).Result
			if r.ProtocolVersion != revision || r.ServerInfo.Name != "sample" || r.ServerInfo.Title != "Sample" || r.ServerInfo.Version != "1.2.3" {
				t.Errorf("%s: %+v", revision, r)
			}
			if want := `{"prompts":{},"resources":{},"tools":{}}`; string(r.Capabilities) != want {
				t.Errorf("%s: capabilities %s, want %s", revision, r.Capabilities, want)
			}
			if !strings.HasPrefix(r.Instructions, "Work with the sample.") {
				t.Errorf("%s: instructions %q", revision, r.Instructions)
			}
			if m := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); len(m.Result.Tools) != 4 || m.Result.ResultType != "" {
				t.Errorf("%s: %s", revision, m.raw)
			}
			for _, name := range []string{`"execute_tool","arguments":{"tool_name":"echo","arguments":{"n":1}}`, `"echo","arguments":{"n":1}`, `"repeat","arguments":{"n":1}`} {
				if m := c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%s}}`, name); m.text() != `echo {"n":1}` || m.Result.IsError {
					t.Errorf("%s: %s", revision, m.raw)
				}
			}
			if rest, err := c.end(); err != nil || rest != "" {
				t.Errorf("%s: end: %q, %v", revision, rest, err)
			}
		})
	}
}

// 2026-07-28 has no handshake: each request says its revision, and each result
// that it is complete, by whatever name a tool is called.
func TestRevision20260728(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t.Context(), t, options(t, "meta", nil))
		m := c.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{%s}}`, modern)
		if !strings.Contains(m.raw, `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18",`) || m.Result.CacheScope != "private" {
			t.Errorf("discover: %s", m.raw)
		}
		m = c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{%s}}`, modern)
		if len(m.Result.Tools) != 4 || m.Result.ResultType != "complete" || m.Result.TTLMs != 300_000 || m.Result.CacheScope != "private" {
			t.Errorf("list: %s", m.raw)
		}
		for _, name := range []string{`"execute_tool","arguments":{"tool_name":"echo","arguments":{"n":1}}`, `"echo","arguments":{"n":1}`, `"repeat","arguments":{"n":1}`} {
			m = c.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":%s,%s}}`, name, modern)
			if m.text() != `echo {"n":1}` || m.Result.ResultType != "complete" {
				t.Errorf("call of %s: %s", name, m.raw)
			}
		}
		m = c.ask(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"ecoh",%s}}`, modern)
		if m.Error == nil || m.Error.Code != -32602 || m.Error.Message != `unknown tool "ecoh"; nearest: echo` {
			t.Errorf("unknown tool: %s", m.raw)
		}
		if rest, err := c.end(); err != nil || rest != "" {
			t.Errorf("end: %q, %v", rest, err)
		}
	})
}

// What is no request is answered as JSON-RPC says, and the session goes on.
func TestGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said log
		o := options(t, "flat", nil)
		o.Log = said.logger()
		c := dial(t.Context(), t, o)
		c.initialize("2025-11-25")
		for _, g := range []struct {
			line, id string
			code     int
		}{
			{`{`, "null", -32700},
			{`hello`, "null", -32700},
			{`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", -32700},
			{`7`, "null", -32600},
			{`"x"`, "null", -32600},
			{`{}`, "null", -32600},
			{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, "5", -32600},
			{`{"jsonrpc":"2.0","id":"a","method":7}`, `"a"`, -32600},
			{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
			{`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, "null", -32600},
			{`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`, "null", -32600},
			{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "1.5", -32600},
			{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", -32600},
			{`{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, "1e300", -32600},
			{`[]`, "null", -32600},
			{`[{"jsonrpc":"2.0","id":6,"method":"ping"}]`, "null", -32600},
			{strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "null", -32600},
			{`{"jsonrpc":"2.0","id":9,"method":"ping","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, "9", -32600},
			{`{"jsonrpc":"2.0","id":8,"method":"ping","params":"` + strings.Repeat("x", maxMessageBytes) + `"}`, "null", -32600},
		} {
			m := c.ask("%s", g.line)
			if m.Error == nil || m.Error.Code != g.code || !strings.Contains(m.raw, `"id":`+g.id+`,`) {
				t.Errorf("%.60s: %s, want %d with id %s", g.line, m.raw, g.code, g.id)
			}
			if m := c.ask(`{"jsonrpc":"2.0","id":"after","method":"ping"}`); m.ID != "after" || m.Error != nil {
				t.Fatalf("after %.60s: %s", g.line, m.raw)
			}
		}
		if !strings.Contains(said.String(), "the line is not JSON") {
			t.Errorf("nothing was said of it: %s", said.String())
		}
		if rest, err := c.end(); err != nil || rest != "" {
			t.Errorf("end: %q, %v", rest, err)
		}
	})
}

// TestDecode shows that a message means what it means to the SDK.
func TestDecode(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":9007199254740993}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1e3,"method":"ping","params":null}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":""}`,
		`{"jsonrpc":"2.0","id":1,"method":null}`,
		`{"jsonrpc":"2.0","id":1,"method":5}`,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`,
		`{"jsonrpc":"2.0","ID":1,"Method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"METHOD":"one","method":"two","Params":[1]}`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		`{"id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":1}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`,
		`{}`, `null`, `1`, `"x"`, `[]`,
	} {
		got, err := decode(json.RawMessage(text))
		want, wantErr := jsonrpc.DecodeMessage([]byte(text))
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%.200s:\n got %#v, %v\nwant %#v, %v", text, got, err, want, wantErr)
		}
	}
}

// A message of exactly the limit is taken.
func TestLargestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t.Context(), t, options(t, "flat", nil))
		c.initialize("2025-11-25")
		const head, tail = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`, `"}}`
		line := head + strings.Repeat("x", maxMessageBytes-len(head)-len(tail)-1) + tail
		if m := c.ask("%s", line); m.Error != nil {
			t.Errorf("%.200s", m.raw)
		}
		c.end()
	})
}

// The revisions with batches get one array for an array, the others an error.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t.Context(), t, options(t, "flat", nil))
		c.initialize("2025-03-26")
		c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}},7,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]`)
		line, err := c.out.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "[") || strings.Count(line, `"jsonrpc"`) != 3 ||
			!strings.Contains(line, `"id":1,`) || !strings.Contains(line, `"id":2,`) || !strings.Contains(line, `"id":null,"error":{"code":-32600`) {
			t.Errorf("%s, %v", line, err)
		}
		c.send(`[7,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}]`)
		if line, err := c.out.ReadString('\n'); err != nil || !strings.HasPrefix(line, `[{"jsonrpc":"2.0","id":null,`) || strings.Count(line, `"jsonrpc"`) != 1 {
			t.Errorf("a batch of faults: %s, %v", line, err)
		}
		c.send(`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}]`)
		if m := c.ask(`[]`); m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("an empty batch: %s", m.raw)
		}
		if rest, err := c.end(); err != nil || rest != "" {
			t.Errorf("end: %q, %v", rest, err)
		}
	})
}

// A quick call is answered while a slow one runs, and no id is used twice at a time.
func TestConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := dial(t.Context(), t, options(t, "flat", gate))
		c.initialize("2025-11-25")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
		if m := c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`); m.ID != 2.0 {
			t.Errorf("first answer: %s", m.raw)
		}
		if m := c.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); m.ID != nil || m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("an id in use: %s", m.raw)
		}
		close(gate)
		if m := c.recv(); m.ID != 1.0 || m.text() != "slow " {
			t.Errorf("the slow answer: %s", m.raw)
		}
		if m := c.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); m.ID != 1.0 || m.Error != nil {
			t.Errorf("an id used again: %s", m.raw)
		}
		c.end()
	})
}

// The client's own cancellation reaches the call.
func TestClientCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t.Context(), t, options(t, "flat", nil))
		c.initialize("2025-11-25")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
		synctest.Wait()
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if m := c.recv(); m.ID != 1.0 || m.text() != "cancelled: context canceled" {
			t.Errorf("%s", m.raw)
		}
		if _, err := c.end(); err != nil {
			t.Error(err)
		}
	})
}

// A call that panics is an answer and a line of the log, and what it said is not
// for the client.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said log
		o := options(t, "flat", nil)
		o.Log = said.logger()
		c := dial(t.Context(), t, o)
		c.initialize("2025-11-25")
		m := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panics"}}`)
		if !m.Result.IsError || m.Error != nil || strings.Contains(m.raw, "secret") || !strings.HasPrefix(m.text(), "internal error") {
			t.Errorf("%s", m.raw)
		}
		if !strings.Contains(said.String(), "secret-in-a-panic") || !strings.Contains(said.String(), "tool=panics") {
			t.Errorf("the log: %s", said.String())
		}
		if m := c.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); m.Error != nil {
			t.Errorf("after it: %s", m.raw)
		}
		c.end()
	})
}

// When the server is told to end, running calls are cancelled and answered.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := dial(ctx, t, options(t, "flat", nil))
		c.initialize("2025-11-25")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
		synctest.Wait()
		cancel()
		if m := c.recv(); m.ID != 1.0 || !m.Result.IsError || m.text() != "cancelled: the server is stopping" {
			t.Errorf("%s", m.raw)
		}
		if err := <-c.done; err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // with nothing to do
		ctx, cancel := context.WithCancel(t.Context())
		c := dial(ctx, t, options(t, "flat", nil))
		c.initialize("2025-11-25")
		synctest.Wait()
		cancel()
		if err := <-c.done; err != nil {
			t.Error(err)
		}
		c.in.Close()
	})
}

// A call that ends by no means does not keep the server for ever.
func TestCallThatNeverEnds(t *testing.T) {
	for what, end := range map[string]func(*client, context.CancelFunc){
		"input ends":  func(c *client, _ context.CancelFunc) { c.in.Close() },
		"told to end": func(_ *client, cancel context.CancelFunc) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var said log
			release := make(chan struct{})
			o := options(t, "flat", nil)
			o.Surface = deaf{o.Surface, release}
			o.Log = said.logger()
			c := dial(ctx, t, o)
			c.initialize("2025-11-25")
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
			synctest.Wait()
			began := time.Now()
			end(c, cancel)
			if err := <-c.done; err == nil {
				t.Errorf("%s: no error", what)
			}
			if waited, most := time.Since(began), drain+2*grace; waited > most {
				t.Errorf("%s: waited %v, want at most %v", what, waited, most)
			}
			if !strings.Contains(said.String(), "requests=1") {
				t.Errorf("%s: the log: %s", what, said.String())
			}
			close(release)
		})
	}
}

// A client that reads no more ends the server with an error.
func TestOutputGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- Stdio(t.Context(), in, broken{}, options(t, "flat", nil)); in.Close() }()
		fmt.Fprintln(w, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%v, want the error of the output", err)
		}
	})
}

// An input that fails, rather than ends, is told.
func TestInputFails(t *testing.T) {
	fault := errors.New("the disk is on fire")
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"), failing{fault})
	if err := Stdio(t.Context(), in, &out, options(t, "flat", nil)); !errors.Is(err, fault) {
		t.Errorf("%v, want %v", err, fault)
	}
	if !strings.Contains(out.String(), `"id":1`) {
		t.Errorf("what came before is not answered: %s", out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// Whatever comes in, what goes out is JSON-RPC alone, and the end is in order.
func FuzzStdout(f *testing.F) {
	requests, err := os.ReadFile("testdata/requests.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(requests))
	f.Add("\r\n\n{}\n[\n\x00\xff\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}` + "\n" +
		`[{"jsonrpc":"2.0","id":1e400,"method":"ping"},{"jsonrpc":"2.0","id":1.5,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":{}}]`)
	f.Add(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"panics",` + modern + `}}`)
	f.Add(`{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modern + `}}`)
	open := make(chan struct{})
	close(open)
	f.Fuzz(func(t *testing.T, input string) {
		var out bytes.Buffer
		if err := Stdio(t.Context(), strings.NewReader(input), &out, options(t, "meta", open)); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, `{"jsonrpc":"2.0",`) || !json.Valid([]byte(line)) {
				t.Errorf("%q is answered with %q", input, line)
			}
		}
	})
}
