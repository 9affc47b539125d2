package bind

import (
	"encoding/base64"
	"encoding/json"
)

// bodyWriter writes a body of one kind from a value. The content type, which
// the request may replace by its own, and the parameter, which stands after
// either, make up the header.
type bodyWriter func(b *builder, t target, v json.RawMessage) (body []byte, contentType, parameter string)

var bodyWriters = map[BodyKind]bodyWriter{
	"":            writeJSON,
	BodyJSON:      writeJSON,
	BodyForm:      writeForm,
	BodyMultipart: writeMultipart,
	BodyText:      writeText,
	BodyBinary:    writeBinary,
}

// body makes the body, nil when there is none.
func (b *builder) body() (body []byte, contentType, parameter string) {
	if b.req.Body == nil {
		return nil, "", ""
	}
	t := target{"the body", "", b.req.Body.Value}
	write, ok := bodyWriters[b.req.Body.Kind]
	if !ok {
		b.fault(t, "is of the unknown kind %q", b.req.Body.Kind)
		return nil, "", ""
	}
	faults := len(b.faults)
	v, ok := b.appendJSON(make([]byte, 0, 512), t, false)
	if !ok || faults < len(b.faults) {
		return nil, "", ""
	}
	return write(b, t, v)
}

func writeJSON(_ *builder, _ target, v json.RawMessage) ([]byte, string, string) {
	return v, "application/json", ""
}

func writeText(b *builder, t target, v json.RawMessage) ([]byte, string, string) {
	if kind(v) == kindNull {
		return nil, "", ""
	}
	s, _ := b.text(t, "is", v)
	return s, "text/plain; charset=utf-8", ""
}

func writeBinary(b *builder, t target, v json.RawMessage) ([]byte, string, string) {
	if kind(v) == kindNull {
		return nil, "", ""
	}
	return b.bytes(t, v), "application/octet-stream", ""
}

// bytes decodes the base64 text that v is.
func (b *builder) bytes(t target, v json.RawMessage) []byte {
	if kind(v) != kindString {
		b.fault(t, "is %s, not base64", kindNames[kind(v)])
		return nil
	}
	s, ok := b.text(t, "is", v)
	if !ok {
		return nil
	}
	data, err := base64.StdEncoding.AppendDecode([]byte{}, s)
	if err != nil {
		b.fault(t, "is not base64: %v", err)
	}
	return data
}

func writeForm(b *builder, t target, v json.RawMessage) ([]byte, string, string) {
	q := query{dst: []byte{}}
	ok := b.fields("form field", t, v, func(t target, v json.RawMessage) { b.param(&q, t, v) })
	if !ok {
		return nil, "", ""
	}
	return q.dst, "application/x-www-form-urlencoded", ""
}

// fields calls f for each member of the object v, which the body is made of. It
// gives false when there is no object; any value but null is then a fault.
func (b *builder) fields(what string, t target, v json.RawMessage, f func(target, json.RawMessage)) bool {
	switch kind(v) {
	case kindObject:
	case kindNull:
		return false
	default:
		b.fault(t, "must be an object, not %s", kindNames[kind(v)])
		return false
	}
	for quoted, value := range members(v) {
		name, err := unquote(quoted)
		if err != nil {
			b.fault(t, "has a name that cannot be sent: %v", err)
			continue
		}
		f(target{what, string(name), memberNode(t.node, string(name))}, value)
	}
	return true
}

// memberNode gives what a member of a value is made of, as far as that can be
// told, so that a fault can name the argument.
func memberNode(n Node, name string) Node {
	o, ok := n.(Object)
	if !ok {
		return n
	}
	for _, f := range o {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}
