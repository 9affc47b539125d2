package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a server that a script started.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer // nil unless the end of input stops it
	stdout *tap
	stderr *bytes.Buffer
	exited chan struct{} // closed when it has ended, err then being set
	err    error
}

// startProcess starts a command. A tap and stdout get its standard output; a nil
// stdin is an empty one.
func startProcess(command []string, dir string, env []string, stdin *os.File, stdout io.Writer) (*process, error) {
	p := &process{stdout: &tap{}, stderr: &bytes.Buffer{}, exited: make(chan struct{})}
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Dir = dir
	p.cmd.Env = env
	if stdin != nil {
		p.cmd.Stdin = stdin
	}
	p.cmd.Stdout = p.stdout
	if stdout != nil {
		p.cmd.Stdout = io.MultiWriter(p.stdout, stdout)
	}
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// stop asks the process to end and gives an error unless it does, with status 0.
func (p *process) stop() error {
	if p.stdin != nil {
		p.stdin.Close()
	} else if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.exited:
		return p.err
	case <-time.After(patience):
		p.kill()
		return fmt.Errorf("still running after %v", patience)
	}
}

// kill ends the process at once.
func (p *process) kill() {
	if p.stdin != nil {
		p.stdin.Close()
	}
	p.cmd.Process.Kill()
	<-p.exited
}

// tap sees what a server sends, as it sends it: clients decode results into
// values that no longer tell the order of members or the digits of a number.
type tap struct {
	mu     sync.Mutex
	main   bytes.Buffer // the line of standard output that has not ended
	result json.RawMessage
	stray  strings.Builder // lines that are no JSON-RPC
}

// message is as much of a JSON-RPC message as a tap looks at.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	Result  json.RawMessage `json:"result"`
}

func (t *tap) Write(p []byte) (int, error) { return t.write(&t.main, p) }

// write takes the next bytes of a stream, line being its line that has not ended.
func (t *tap) write(line *bytes.Buffer, p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line.Write(p)
	for {
		text, _, ended := bytes.Cut(line.Bytes(), []byte("\n"))
		if !ended {
			return len(p), nil
		}
		t.see(text)
		line.Next(len(text) + 1)
	}
}

// flush takes what a stream holds behind its last newline.
func (t *tap) flush(line *bytes.Buffer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line.Len() > 0 {
		t.see(line.Bytes())
		line.Reset()
	}
}

// see takes one line: a JSON-RPC message, bare or as the data of a server-sent
// event.
func (t *tap) see(text []byte) {
	var m message
	data, _ := bytes.CutPrefix(text, []byte("data: "))
	if err := json.Unmarshal(data, &m); err != nil || m.JSONRPC != "2.0" {
		t.stray.Write(text)
		t.stray.WriteByte('\n')
		return
	}
	if m.Result != nil {
		t.result = m.Result
	}
}

func (t *tap) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result = nil
}

// last is the last result that was sent, nil when there was none.
func (t *tap) last() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if json.Valid(t.main.Bytes()) { // the client does not wait for the newline
		t.see(t.main.Bytes())
		t.main.Reset()
	}
	return t.result
}

// strays are the lines that were no JSON-RPC, once the process has ended.
func (t *tap) strays() string {
	t.flush(&t.main)
	return t.stray.String()
}

// roundTripper hands each answer's body on by way of the tap.
func (t *tap) roundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil {
			resp.Body = &tappedBody{ReadCloser: resp.Body, tap: t}
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type tappedBody struct {
	io.ReadCloser
	tap  *tap
	line bytes.Buffer
}

func (b *tappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.tap.write(&b.line, p[:n])
	if err != nil {
		b.tap.flush(&b.line)
	}
	return n, err
}

// queue is a pipe that never blocks its writer, so that a process can always
// write what it has to say.
type queue struct {
	mu     sync.Mutex
	more   *sync.Cond
	buf    bytes.Buffer
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.more = sync.NewCond(&q.mu)
	return q
}

func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.more.Broadcast()
	return q.buf.Write(p)
}

func (q *queue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.buf.Len() == 0 && !q.closed {
		q.more.Wait()
	}
	return q.buf.Read(p)
}

func (q *queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
	return nil
}
