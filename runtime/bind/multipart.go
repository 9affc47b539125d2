package bind

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// multipart is a multipart/form-data body being written.
type multipart struct{ parts []formPart }

type formPart struct {
	head    string // header lines
	content []byte
}

func writeMultipart(b *builder, t target, v json.RawMessage) ([]byte, string, string) {
	var m multipart
	if ok := b.fields("part", t, v, func(t target, v json.RawMessage) { b.part(&m, t, v) }); !ok {
		return nil, "", ""
	}
	boundary := m.boundary()
	return m.bytes(boundary), "multipart/form-data", "; boundary=" + boundary
}

// part adds what a member of the body stands for.
func (b *builder) part(m *multipart, t target, v json.RawMessage) {
	switch kind(v) {
	case kindNull:
	case kindObject:
		b.file(m, t, v)
	case kindList:
		for e := range elements(v) {
			if k := kind(e); k == kindList || k == kindNull {
				b.fault(t, "holds %s, which is no part", kindNames[k])
				continue
			}
			b.part(m, t, e)
		}
	default:
		if s, ok := b.text(t, "is", v); ok {
			m.parts = append(m.parts, formPart{"Content-Disposition: form-data" + b.parameter(t, "name", t.name), s})
		}
	}
}

// FileMembers are what a part of multipart that is an object can have: one of text
// and base64, and the others.
var FileMembers = []string{"filename", "contentType", "text", "base64"}

// file adds the part that an object describes.
func (b *builder) file(m *multipart, t target, v json.RawMessage) {
	file := map[string][]byte{}
	for quoted, value := range members(v) {
		name, _ := unquote(quoted)
		n := string(name)
		of := target{t.what, t.name + "." + n, memberNode(t.node, n)}
		switch {
		case !slices.Contains(FileMembers, n):
			of.node = t.node // the name is at fault, not what the member is made of
			b.fault(of, "is not known: a file has filename, contentType, and text or base64")
		case kind(value) == kindNull:
		case n == "base64":
			file[n] = b.bytes(of, value)
		default:
			file[n], _ = b.text(of, "is", value)
		}
	}
	content, isText := file["text"]
	data, isData := file["base64"]
	if isText == isData {
		b.fault(t, "must have one of text and base64")
	}
	filename, isFile := file["filename"]
	contentType, isTyped := file["contentType"]
	switch {
	case isTyped:
		b.headerValue(t, contentType)
	case isData:
		contentType = []byte("application/octet-stream")
	case isFile:
		contentType = []byte("text/plain; charset=utf-8")
	}
	if isData {
		content = data
	}
	head := "Content-Disposition: form-data" + b.parameter(t, "name", t.name)
	if isFile {
		head += b.parameter(t, "filename", string(filename))
	}
	if contentType != nil {
		head += "\r\nContent-Type: " + string(contentType)
	}
	m.parts = append(m.parts, formPart{head, content})
}

// parameter gives a parameter of Content-Disposition, with quotes in it written
// as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm").
func (b *builder) parameter(t target, name, value string) string {
	if strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r == 0x7F }) >= 0 {
		b.fault(t, "has a control character in its %s", name)
	}
	return "; " + name + `="` + strings.ReplaceAll(value, `"`, "%22") + `"`
}

// boundary gives a text that is in no part: a hash of all of them, and no part
// can hold that. The same parts have the same boundary, so that a request can
// be repeated byte for byte. Each piece is hashed by itself first, so that it
// matters where one ends.
func (m *multipart) boundary() string {
	h := sha256.New()
	for _, p := range m.parts {
		for _, s := range [][]byte{[]byte(p.head), p.content} {
			sum := sha256.Sum256(s)
			h.Write(sum[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// bytes gives the body (RFC 2046 section 5.1.1).
func (m *multipart) bytes(boundary string) []byte {
	dst := []byte{}
	for _, p := range m.parts {
		dst = append(dst, "--"+boundary+"\r\n"+p.head+"\r\n\r\n"...)
		dst = append(append(dst, p.content...), "\r\n"...)
	}
	return append(dst, "--"+boundary+"--\r\n"...)
}
