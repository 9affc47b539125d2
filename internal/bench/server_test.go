package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// build gives the program, built as anyone builds it.
func build(tb testing.TB) string {
	program := filepath.Join(tb.TempDir(), "metacue")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", program, "github.com/metacue/metacue/cmd/metacue")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return program
}

// server is a server in a process of its own, and the one MCP session with it.
type server struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended sync.Once
	ask   func(id int, message []byte) ([]byte, error)
}

// startProgram starts metacue serve in front of an upstream, or of the
// configuration's own where that is empty.
func startProgram(tb testing.TB, program, transport, upstream, mode string, dir ...string) *server {
	args := []string{"serve", "--mode", mode}
	if upstream != "" {
		args = append(args, "--upstream", "things="+upstream)
	}
	if transport == "http" {
		args = append(args, "--http", "127.0.0.1:0")
	}
	return start(tb, transport, exec.Command(program, append(args, dir...)...))
}

// startBare starts the bare server: this program, with the upstream's address.
func startBare(tb testing.TB, transport, upstream string) *server {
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self, transport)
	cmd.Env = []string{bareAddress + "=" + upstream}
	return start(tb, transport, cmd)
}

// gogc is that of metacue serve, for both.
const gogc = "GOGC=400"

func start(tb testing.TB, transport string, cmd *exec.Cmd) *server {
	tb.Helper()
	fatal := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	cmd.Env = append(cmd.Env, gogc)
	stdin, err := cmd.StdinPipe()
	fatal(err)
	stdout, err := cmd.StdoutPipe()
	fatal(err)
	stderr, err := cmd.StderrPipe()
	fatal(err)
	fatal(cmd.Start())
	s := &server{cmd: cmd, stdin: stdin}
	tb.Cleanup(s.stop)
	if transport == "http" {
		s.ask = postTo(listening(tb, stderr))
	} else {
		s.ask = writeTo(stdin, stdout)
	}
	go io.Copy(io.Discard, stderr)
	_, err = s.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	fatal(err)
	if transport == "stdio" {
		_, err = io.WriteString(stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
		fatal(err)
	}
	return s
}

// listening reads what a server says until it says where it listens.
func listening(tb testing.TB, stderr io.Reader) string {
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return url
		}
		said.WriteString(lines.Text() + "\n")
	}
	tb.Fatalf("the server does not listen; it said: %s", &said)
	return ""
}

// stop ends the process, as hosts do.
func (s *server) stop() {
	s.ended.Do(func() {
		s.stdin.Close()
		s.cmd.Process.Signal(os.Interrupt)
		s.cmd.Wait()
	})
}

// request makes one request and gives the answer whole.
func (s *server) request(method, params string) ([]byte, error) {
	return s.ask(0, message(0, method, params))
}

func message(id int, method, params string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
}

// caller makes one call and gives the answer whole.
type caller func() ([]byte, error)

// callers gives n clients that can call at once, each one call at a time.
func (s *server) callers(n int, params string) []caller {
	all := make([]caller, n)
	for i := range all {
		m := message(i, "tools/call", params)
		all[i] = func() ([]byte, error) { return s.ask(i, m) }
	}
	return all
}

// maxClients is how many callers a session may have.
const maxClients = 64

// writeTo asks over stdio: any number of requests can be under way, told apart
// by their ids.
func writeTo(stdin io.Writer, stdout io.Reader) func(int, []byte) ([]byte, error) {
	var mu sync.Mutex
	answers := make([]chan []byte, maxClients)
	for i := range answers {
		answers[i] = make(chan []byte, 1)
	}
	go func() {
		defer func() {
			for _, c := range answers {
				close(c)
			}
		}()
		for r := bufio.NewReaderSize(stdout, 64<<10); ; {
			line, err := r.ReadBytes('\n')
			var m struct{ ID *int }
			if err != nil || json.Unmarshal(line, &m) != nil || m.ID == nil {
				return
			}
			answers[*m.ID] <- line
		}
	}()
	return func(id int, message []byte) ([]byte, error) {
		mu.Lock()
		_, err := stdin.Write(message)
		mu.Unlock()
		if err != nil {
			return nil, err
		}
		answer, ok := <-answers[id]
		if !ok {
			return nil, errors.New("the server has ended")
		}
		return answer, nil
	}
}

// postTo asks over HTTP.
func postTo(url string) func(int, []byte) ([]byte, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: maxClients}}
	return func(_ int, message []byte) ([]byte, error) {
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(message))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		return io.ReadAll(resp.Body)
	}
}

// text gives what a model reads of the answer to a call.
func text(tb testing.TB, answer []byte) string {
	var m struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(answer, &m); err != nil || len(m.Result.Content) != 1 {
		tb.Fatalf("no answer to a call: %s", answer)
	}
	return m.Result.Content[0].Text
}

// tick is the unit of processor time in /proc/PID/stat (proc_pid_stat(5)); it
// is the same on all systems that Go runs on.
const tick = 10 * time.Millisecond

// cpu is the processor time that the process has used, 0 where the system does
// not tell.
func (s *server) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// Field 2, in parentheses, may hold anything; utime and stime are 14 and 15.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// memory gives a size from /proc/PID/status in MiB: VmRSS is what is resident,
// VmHWM the most that ever was. 0 where the system does not tell.
func (s *server) memory(name string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var kib float64
	_, value, _ := strings.Cut(string(status), name+":")
	fmt.Sscan(value, &kib)
	return kib / 1024
}
