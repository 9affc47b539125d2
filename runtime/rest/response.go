package rest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// maxHeaderBytes bounds the headers of an answer.
const maxHeaderBytes = 1 << 20

// Response is an answer of any status.
type Response struct {
	Status int
	Header http.Header
	// Body is whole and decoded from gzip, in the bytes that the upstream chose
	// for its characters; in UTF-8 where Masked is set. It must not be changed:
	// other calls may be given the same.
	Body []byte
	// Masked is nil unless the upstream has answered a secret, in the place of which ***
	// stands now, in Body or Header. It is the same answer with another text there: what
	// comes out otherwise, made of the one and of the other, shows what was masked.
	Masked *Response
	// MediaType is that of Content-Type, in lower case and without parameters;
	// empty where there is none.
	MediaType string
	// Charset is that of Content-Type, in lower case; empty where there is none.
	Charset string
}

var (
	errTooLarge = errors.New("the body is too large")
	errAnswer   = errors.New("the answer cannot be read")
)

// response reads an answer whole.
func response(r *http.Response, maxBytes int64) (*Response, error) {
	body, err := readBody(r, maxBytes)
	if err != nil {
		return nil, err
	}
	out := &Response{Status: r.StatusCode, Header: r.Header, Body: body}
	out.MediaType, out.Charset = contentType(r.Header.Get("Content-Type"))
	return out, nil
}

// contentType gives the media type and charset. A header with broken parameters
// still has a type.
func contentType(value string) (mediaType, charset string) {
	mediaType, params, err := mime.ParseMediaType(value)
	if err != nil {
		mediaType, _, _ = strings.Cut(value, ";")
		mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	}
	return mediaType, strings.ToLower(params["charset"])
}

// readBody reads a body to its end, so that the connection can be used again,
// or to maxBytes. A body that would take longer is left, and the connection
// with it.
func readBody(r *http.Response, maxBytes int64) ([]byte, error) {
	defer r.Body.Close()
	if r.StatusCode == http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("%w: it switches to another protocol", errAnswer)
	}
	var body io.Reader = r.Body
	switch coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
		if r.ContentLength > maxBytes && r.Request.Method != http.MethodHead {
			return nil, errTooLarge
		}
	case "gzip", "x-gzip":
		buffered := bufio.NewReader(r.Body)
		if _, err := buffered.Peek(1); err == io.EOF {
			return nil, nil // no body: HEAD, 204, 304
		}
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, broken(err)
		}
		body = z
		r.Header.Del("Content-Encoding")
		r.Header.Del("Content-Length")
	default:
		return nil, fmt.Errorf("%w: its content encoding %q was not asked for", errAnswer, coding)
	}
	// The length that an upstream states is not trusted as a size to set aside.
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= 1<<20 {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	if _, err := buf.ReadFrom(io.LimitReader(body, maxBytes+1)); err != nil {
		return nil, broken(err)
	}
	if int64(buf.Len()) > maxBytes {
		return nil, errTooLarge
	}
	return bytes.Clone(buf.Bytes()), nil
}

// buffers are used again, because a body of unknown length is dear to grow.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// broken tells a fault of the gzip format from one of the connection.
func broken(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || strings.HasPrefix(err.Error(), "flate:") {
		return fmt.Errorf("%w: its gzip encoding is broken", errAnswer)
	}
	return err
}

// IsJSON says whether the media type is JSON or built on it (RFC 6839 §3.1).
func (r *Response) IsJSON() bool {
	return r.MediaType == "application/json" || r.MediaType == "text/json" || strings.HasSuffix(r.MediaType, "+json")
}

// IsText says whether the body is characters: by its media type, or, where
// there is none, by its bytes.
func (r *Response) IsText() bool {
	switch {
	case r.MediaType == "":
		return utf8.Valid(r.Body) && !bytes.ContainsRune(r.Body, 0)
	case strings.HasPrefix(r.MediaType, "text/"), r.Charset != "", r.IsJSON(), r.isXML():
		return true
	}
	switch r.MediaType {
	case "application/javascript", "application/ecmascript", "application/x-www-form-urlencoded", "application/x-ndjson",
		"application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/graphql", "application/jwt":
		return true
	}
	return strings.HasSuffix(r.MediaType, "+yaml")
}

func (r *Response) isXML() bool {
	return r.MediaType == "application/xml" || r.MediaType == "text/xml" || strings.HasSuffix(r.MediaType, "+xml")
}

// Text gives the body as UTF-8. What the bytes mean is said by a byte order
// mark, by the charset of Content-Type, or by an XML declaration, in this order
// (RFC 7303 §3). Where nothing says it, they are UTF-8 if they can be, and else
// windows-1252, which the WHATWG Encoding Standard falls back to. Bytes that do
// not fit become U+FFFD. The error names a charset that is not known.
func (r *Response) Text() (string, error) {
	b, err := r.utf8()
	return string(b), err
}

// xmlEncoding finds the encoding in an XML declaration (XML 1.0 §4.3.3).
var xmlEncoding = regexp.MustCompile(`^<\?xml[^>]{1,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']`)

// utf8 gives the body as UTF-8 without a byte order mark.
func (r *Response) utf8() ([]byte, error) {
	body := r.Body
	if rest, ok := bytes.CutPrefix(body, []byte("\xEF\xBB\xBF")); ok {
		return bytes.ToValidUTF8(rest, []byte("\uFFFD")), nil
	}
	if bytes.HasPrefix(body, []byte("\xFE\xFF")) || bytes.HasPrefix(body, []byte("\xFF\xFE")) {
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Bytes(body)
	}
	charset := r.Charset
	if charset == "" && r.isXML() {
		if m := xmlEncoding.FindSubmatch(body); m != nil {
			charset = string(m[1])
		}
	}
	var from encoding.Encoding
	switch {
	case charset == "" && !utf8.Valid(body):
		from = charmap.Windows1252
	case charset == "":
		return body, nil
	default:
		known, err := htmlindex.Get(charset)
		if err != nil && !utf8.Valid(body) {
			return nil, fmt.Errorf("the answer's charset %q is not known", charset)
		}
		from = known
	}
	if from == nil || from == unicode.UTF8 {
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), nil
	}
	return from.NewDecoder().Bytes(body)
}

// Decode gives the body as decoded JSON, numbers as json.Number with every
// digit. Anything but white space behind the value is an error.
func (r *Response) Decode() (any, error) {
	b, err := r.utf8()
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if err == io.EOF {
			return nil, errors.New("the answer is empty where JSON was expected")
		}
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("the answer is not JSON: something follows the value, at byte %d", d.InputOffset())
	}
	return v, nil
}

// Compact gives the body as JSON in UTF-8, byte for byte save the white space
// between its tokens.
func (r *Response) Compact() (json.RawMessage, error) {
	text, err := r.utf8()
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, len(text)))
	if err := json.Compact(out, text); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	return out.Bytes(), nil
}
