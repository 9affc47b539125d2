package surface

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/nearest"
)

// envelope is the arguments of one of a surface's own tools, being taken apart.
// Hosts and models send much that is not quite what the schema says; what can
// only mean one thing is read so and told in repairs, the rest is a fault. All
// faults are gathered, so that one answer tells them all.
type envelope struct {
	tool    *mcp.Tool
	members []member
	taken   []string // the names that were asked for
	repairs []string
	faults  []string
}

const (
	// maxMembers is how many members an object may have that is taken apart here,
	// and so how many faults an answer can tell of.
	maxMembers = 1000
	// maxNames is how many names one list may hold.
	maxNames = 100
)

// member is one member of a JSON object. Its value is never decoded further
// than needed, so that numbers keep every digit.
type member struct {
	name  string
	value json.RawMessage
}

// open reads the arguments of a call of tool, which should be a JSON object;
// absent and null mean an empty one, and a string that holds an object means
// that object.
func open(tool *mcp.Tool, args json.RawMessage) *envelope {
	e := &envelope{tool: tool}
	if absent(args) {
		return e
	}
	object, unquoted := unquote(args, '{')
	if unquoted {
		e.repairs = append(e.repairs, "the arguments were JSON text and were read as the object in it")
	}
	var err error
	if e.members, err = readObject(object); err != nil {
		e.faults = append(e.faults, "the arguments must be a JSON object: "+err.Error())
	}
	return e
}

// take gives the value of an argument and removes it; nil when it is absent.
func (e *envelope) take(name string) json.RawMessage {
	e.taken = append(e.taken, name)
	for i, m := range e.members {
		if m.name == name {
			e.members = slices.Delete(e.members, i, i+1)
			return m.value
		}
	}
	return nil
}

// optional is take for an argument of which null and "" say no more than its
// absence does.
func (e *envelope) optional(name string) json.RawMessage {
	raw := e.take(name)
	if s := string(raw); s != `""` && s != "null" {
		return raw
	}
	e.repairs = append(e.repairs, name+" was empty and was left out")
	return nil
}

// text takes an argument that is a string. Numbers and booleans are read as the
// text they were written in: command lines send 42 where "42" is meant.
func (e *envelope) text(name string, required bool) string {
	var raw json.RawMessage
	if required {
		if raw = e.take(name); absent(raw) || string(raw) == `""` {
			e.faults = append(e.faults, "missing required argument: "+name)
			return ""
		}
	} else if raw = e.optional(name); raw == nil {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	s, ok := e.scalar(name, raw)
	if !ok {
		e.faults = append(e.faults, name+" must be a string")
	}
	return s
}

// texts takes an argument that is a list of strings. A string alone is a list
// of one, and JSON text of a list is that list. single says that it was given as
// a string.
func (e *envelope) texts(name string) (list []string, single bool) {
	raw := e.optional(name)
	if raw == nil {
		return nil, false
	}
	raw, unquoted := unquote(raw, '[')
	if unquoted {
		e.repairs = append(e.repairs, name+" was JSON text and was read as the list in it")
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items, single = []json.RawMessage{raw}, true
	}
	if len(items) > maxNames {
		e.faults = append(e.faults, fmt.Sprintf("%s holds %d names: ask for at most %d at a time", name, len(items), maxNames))
		return nil, false
	}
	for _, item := range items {
		var s string
		if json.Unmarshal(item, &s) != nil || absent(item) {
			var ok bool
			if s, ok = e.scalar(name, item); !ok {
				e.faults = append(e.faults, name+" must hold strings")
				return nil, single
			}
		}
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list, single
}

// scalar reads a number or a boolean as the text it was written in.
func (e *envelope) scalar(name string, raw json.RawMessage) (string, bool) {
	s := string(raw)
	if s == "null" || s[0] == '{' || s[0] == '[' {
		return "", false
	}
	e.repairs = append(e.repairs, fmt.Sprintf("%s was %s and was read as text", name, echo(s)))
	return s, true
}

// close ends the reading. What nobody took is a fault; with any fault the call
// is refused, in an answer that tells them all and what was expected.
func (e *envelope) close() (refusal call.Result, refused bool) {
	for _, m := range e.members {
		fault := "unknown argument: " + echo(m.name)
		if near := nearest.Names(m.name, e.taken); len(near) > 0 {
			fault += " (nearest: " + near[0] + ")"
		}
		e.faults = append(e.faults, fault)
	}
	if len(e.faults) == 0 {
		return call.Result{}, false
	}
	return wrongArguments(strings.Join(e.faults, "; "), e.tool.Name, e.tool.InputSchema), true
}

// wrongArguments is the answer to a call with wrong arguments: what is wrong, and
// the schema that says what is right.
func wrongArguments(fault, tool string, inputSchema any) call.Result {
	return call.Error(string(compact(struct {
		Error       string `json:"error"`
		ToolName    string `json:"tool_name"`
		InputSchema any    `json:"inputSchema"`
	}{fault, tool, inputSchema})))
}

// absent says whether a value was not given, or given as null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// unquote gives the JSON that a JSON string holds, if it begins like the kind
// wanted, '{' or '['; otherwise raw as it is.
func unquote(raw json.RawMessage, kind byte) (json.RawMessage, bool) {
	var s string
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'"'}) || json.Unmarshal(raw, &s) != nil {
		return raw, false
	}
	s = strings.TrimSpace(s)
	if s == "" || s[0] != kind || !json.Valid([]byte(s)) {
		return raw, false
	}
	return json.RawMessage(s), true
}

// readObject reads the members of a JSON object in their order. A name that
// occurs twice is refused: readers differ on which one counts.
func readObject(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil {
		return nil, errors.New("it is not JSON")
	} else if t != json.Delim('{') {
		return nil, fmt.Errorf("it is %s", kindOf(t))
	}
	var members []member
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, errors.New("it is not JSON")
		}
		m := member{name: t.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, errors.New("it is not JSON")
		}
		if seen[m.name] {
			return nil, fmt.Errorf("it holds %s twice", echo(m.name))
		}
		if seen[m.name] = true; len(seen) > maxMembers {
			return nil, fmt.Errorf("it has more than %d members", maxMembers)
		}
		members = append(members, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("it is not JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("it is not JSON")
	}
	return members, nil
}

// kindOf names the kind of JSON value that begins with t.
func kindOf(t json.Token) string {
	switch t.(type) {
	case json.Delim:
		return "an array"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	}
	return "a number"
}

// writeObject writes members as a JSON object, values as they were read.
func writeObject(members []member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, compact(m.name)...), ':'), m.value...)
	}
	return append(b, '}')
}

// namesOf gives the names of members.
func namesOf(members []member) []string {
	var names []string
	for _, m := range members {
		names = append(names, echo(m.name))
	}
	return names
}
