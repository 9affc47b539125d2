package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drain is how long the calls still running when the input ends have to be
// answered. Each has a time-out of its own, so this only bounds one that does
// not keep it.
const drain = 5 * time.Minute

// Stdio serves one client that writes JSON-RPC messages to in, one a line, and
// reads the answers from out (MCP, Transports, stdio). Nothing else is written to
// out. Requests are answered as they are done, several at once.
//
// Stdio returns when in ends, after everything is answered; or when ctx ends,
// after the running calls have been cancelled and answered so. The error is nil
// in both cases. It does not close in or out; a read of in that is under way
// when ctx ends is left to whoever owns in.
func Stdio(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	l := &lines{
		out: out, log: o.log(), stop: ctx,
		incoming: make(chan line), closed: make(chan struct{}), overdue: make(chan struct{}),
		pending: map[jsonrpc.ID]*pending{},
	}
	session, err := newServer(o, ctx).Connect(context.WithoutCancel(ctx), l, nil)
	if err != nil {
		return err
	}
	go l.scan(in)
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()
	select {
	case err := <-done:
		return err
	case <-l.overdue:
	}
	// The SDK waits for calls without a bound.
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return errors.New("calls that do not end were left behind")
	}
}

// lines is the transport, and the one connection, of Stdio. The SDK's own ends
// the session at the first line it cannot read, and drops the answers that are
// under way when the input ends.
type lines struct {
	out  io.Writer
	log  *slog.Logger
	stop context.Context

	incoming  chan line // closed when the input ends
	readErr   error     // why it ended; set before incoming is closed
	closed    chan struct{}
	closeOnce sync.Once
	overdue   chan struct{} // closed when the wait for answers is given up
	queue     []jsonrpc.Message

	mu       sync.Mutex // guards out and what follows
	pending  map[jsonrpc.ID]*pending
	answered chan struct{} // closed when pending is empty; nil before someone waits
	batches  bool          // the revision agreed on has batches
}

// line is one line of input, or how long it was when it was too long to keep.
type line struct {
	text []byte
	over int
}

// pending is a call that has not been answered.
type pending struct {
	initialize bool
	batch      *batch // that it came in, if any
}

// batch is a JSON array of messages, whose answers are one array.
type batch struct {
	open    int // calls not answered
	answers []json.RawMessage
}

func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }
func (l *lines) SessionID() string                               { return "" }

// Close ends reading. Writing goes on: what is under way is still answered.
func (l *lines) Close() error {
	l.closeOnce.Do(func() { close(l.closed) })
	return nil
}

// scan reads lines until the input ends.
func (l *lines) scan(in io.Reader) {
	defer close(l.incoming)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		next, err := readLine(r)
		if len(next.text) > 0 || next.over > 0 {
			select {
			case l.incoming <- next:
			case <-l.closed:
				return
			case <-l.stop.Done():
				return
			}
		}
		if err != nil {
			l.readErr = err
			return
		}
	}
}

// readLine reads one line, without the white space around it. It keeps no more
// than maxMessageBytes of it.
func readLine(r *bufio.Reader) (line, error) {
	var text []byte
	n := 0
	for {
		part, err := r.ReadSlice('\n')
		if n += len(part); n <= maxMessageBytes {
			text = append(text, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if n > maxMessageBytes {
			return line{over: n}, err
		}
		return line{text: bytes.TrimSpace(text)}, err
	}
}

// Read gives the next message. What is no message it answers itself. When the
// input or the server ends it holds that back until every call is answered,
// since nothing can be written after it.
func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	for len(l.queue) == 0 {
		select {
		case next, ok := <-l.incoming:
			if !ok {
				l.wait()
				return nil, l.readErr
			}
			l.queue = l.parse(next)
		case <-l.stop.Done():
			l.wait()
			return nil, io.EOF
		case <-l.closed:
			return nil, io.EOF
		}
	}
	next := l.queue[0]
	l.queue = l.queue[1:]
	return next, nil
}

// wait returns when every call is answered or no more time is left for it.
func (l *lines) wait() {
	l.mu.Lock()
	answered := make(chan struct{})
	if len(l.pending) == 0 {
		close(answered)
	} else {
		l.answered = answered
	}
	l.mu.Unlock()
	limit := time.NewTimer(drain)
	defer limit.Stop()
	select {
	case <-answered:
		return
	case <-l.closed:
		return
	case <-l.stop.Done():
		limit.Reset(grace)
	case <-limit.C:
		l.giveUp()
		return
	}
	select {
	case <-answered:
	case <-l.closed:
	case <-limit.C:
		l.giveUp()
	}
}

func (l *lines) giveUp() {
	l.mu.Lock()
	n := len(l.pending)
	l.mu.Unlock()
	l.log.Error("requests are left unanswered: their calls do not end", "requests", n)
	close(l.overdue)
}

// parse gives the messages of a line, and answers what is wrong with it.
func (l *lines) parse(next line) []jsonrpc.Message {
	switch {
	case next.over > 0:
		l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxMessageBytes))
		return nil
	case !json.Valid(next.text):
		l.refuse(jsonrpc.CodeParseError, "the line is not JSON")
		return nil
	case next.text[0] == '[':
		return l.parseBatch(next.text)
	}
	m, fault := l.message(next.text, nil)
	if fault != nil {
		l.write(fault)
		return nil
	}
	return []jsonrpc.Message{m}
}

// parseBatch gives the messages of a batch, which is a thing of revision
// 2025-03-26 and those before it.
func (l *lines) parseBatch(text []byte) []jsonrpc.Message {
	l.mu.Lock()
	batches := l.batches
	l.mu.Unlock()
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil || len(items) == 0 || !batches {
		l.refuse(jsonrpc.CodeInvalidRequest, "a batch is not taken: MCP has none since revision 2025-06-18")
		return nil
	}
	b := &batch{}
	var messages []jsonrpc.Message
	for _, item := range items {
		m, fault := l.message(item, b)
		if fault != nil {
			b.answers = append(b.answers, fault)
			continue
		}
		messages = append(messages, m)
	}
	// None of its calls has begun yet. Where it has none, its faults are the answer.
	if b.open == 0 && len(b.answers) > 0 {
		l.write(array(b.answers))
	}
	return messages
}

// message reads one message and notes the call that it may be. The fault is an
// error response, for what is not a message or cannot be answered.
func (l *lines) message(text json.RawMessage, b *batch) (jsonrpc.Message, json.RawMessage) {
	m, err := decode(text)
	if err != nil {
		return nil, errorResponse(idOf(text), jsonrpc.CodeInvalidRequest, notMessage(err))
	}
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return m, nil
	}
	if !r.IsCall() {
		if !strings.HasPrefix(r.Method, "notifications/") {
			return nil, errorResponse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("%q has no id, so it cannot be answered", r.Method))
		}
		return m, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[r.ID] != nil {
		return nil, errorResponse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %v belongs to a request that is not answered yet", r.ID.Raw()))
	}
	l.pending[r.ID] = &pending{initialize: r.Method == "initialize", batch: b}
	if b != nil {
		b.open++
	}
	return m, nil
}

// notMessage says why something is no message.
func notMessage(err error) string { return "not a JSON-RPC 2.0 message: " + err.Error() }

// decode reads a message. jsonrpc.DecodeMessage sets 64 KiB aside for each, half of
// what a call costs the garbage collector, so that it is asked only for what is
// no plain request, and for what may be nested deeper than it allows.
func decode(text json.RawMessage) (jsonrpc.Message, error) {
	var m map[string]json.RawMessage // a struct would take names in any case
	if bytes.Count(text, []byte{'['})+bytes.Count(text, []byte{'{'}) > maxPlain ||
		json.Unmarshal(text, &m) != nil || string(m["jsonrpc"]) != `"2.0"` || m["method"] == nil {
		return decodeOther(text)
	}
	var method string
	if json.Unmarshal(m["method"], &method) != nil {
		return decodeOther(text)
	}
	id, err := readID(m["id"])
	return &jsonrpc.Request{ID: id, Method: method, Params: m["params"]}, err
}

func decodeOther(text json.RawMessage) (jsonrpc.Message, error) {
	m, err := jsonrpc.DecodeMessage(text)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		_, err = readID(idOf(text))
	}
	return m, err
}

// maxPlain is how many brackets a request may open that decode reads itself.
const maxPlain = 1000

// Write sends a message.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return l.send(text)
	}
	p := l.pending[r.ID]
	if p == nil {
		return l.send(text)
	}
	defer l.settle(r.ID)
	if p.initialize {
		var agreed struct{ ProtocolVersion string }
		if json.Unmarshal(r.Result, &agreed) == nil {
			l.batches = agreed.ProtocolVersion != "" && agreed.ProtocolVersion < "2025-06-18"
		}
	}
	if b := p.batch; b != nil {
		b.answers = append(b.answers, text)
		if b.open--; b.open > 0 {
			return nil
		}
		text = array(b.answers)
	}
	return l.send(text)
}

// settle notes that a call is answered.
func (l *lines) settle(id jsonrpc.ID) {
	delete(l.pending, id)
	if len(l.pending) == 0 && l.answered != nil {
		close(l.answered)
		l.answered = nil
	}
}

// send writes a line in one piece. l.mu is held.
func (l *lines) send(text []byte) error {
	_, err := l.out.Write(append(text, '\n'))
	return err
}

// write is send for what no call waits for.
func (l *lines) write(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.send(text); err != nil {
		l.log.Error("writing an answer", "error", err)
	}
}

// refuse answers a line that is no request, so has no id.
func (l *lines) refuse(code int, message string) {
	l.log.Warn("a line was refused", "reason", message)
	l.write(errorResponse(nil, code, message))
}

// errorResponse is a JSON-RPC error, its id null where none could be read (JSON-RPC
// 2.0 §5); jsonrpc.EncodeMessage would leave the id out.
func errorResponse(id json.RawMessage, code int, message string) json.RawMessage {
	text, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: int64(code), Message: message}})
	return text
}

// idOf gives the id of what is otherwise no message, if it has one.
func idOf(text json.RawMessage) json.RawMessage {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal(text, &m) != nil || len(m.ID) == 0 {
		return nil
	}
	if c := m.ID[0]; c == '"' || c == '-' || '0' <= c && c <= '9' {
		return m.ID
	}
	return nil
}

// array joins JSON values.
func array(items []json.RawMessage) []byte {
	var b bytes.Buffer
	for i, item := range items {
		b.WriteByte("[,"[min(i, 1)])
		b.Write(item)
	}
	b.WriteByte(']')
	return b.Bytes()
}
