package bind

import (
	"slices"
	"strings"
)

// message makes the body and the headers.
func (b *builder) message() (body []byte, headers []Header) {
	headers = make([]Header, 0, len(b.req.Headers)+2)
	own := b.spread("header", b.req.Headers)
	for _, f := range slices.Concat(own, b.baseFields("header", b.req.BaseHeaders, own, sameHeader)) {
		t := target{"header", f.Name, f.Value}
		switch {
		case !ValidHeaderName(f.Name):
			b.fault(t, "has a name that no header can have")
		case ReservedHeader(f.Name):
			b.fault(t, "belongs to what sends the request and cannot be set")
		case find(headers, f.Name) != nil:
			b.fault(t, "is set twice")
		default:
			if v, ok := b.header(t); ok {
				headers = append(headers, Header{f.Name, v})
			}
		}
	}
	body, contentType, parameter := b.body()
	if h := find(headers, "Content-Type"); h != nil {
		if parameter != "" && strings.Contains(strings.ToLower(h.Value), "boundary") {
			b.fault(target{what: "header", name: h.Name}, "must not have a boundary: it is made together with the body")
		}
		h.Value += parameter
	} else if body != nil {
		headers = append(headers, Header{"Content-Type", contentType + parameter})
	}
	if find(headers, "Accept") == nil {
		headers = append(headers, Header{"Accept", "application/json"})
	}
	return body, headers
}

// find gives the header of a name, nil when there is none. Case does not matter.
func find(headers []Header, name string) *Header {
	for i := range headers {
		if strings.EqualFold(headers[i].Name, name) {
			return &headers[i]
		}
	}
	return nil
}

// header makes the value of a header, and says whether there is one.
func (b *builder) header(t target) (value string, present bool) {
	v, ok := b.value(t)
	if !ok {
		return "", false
	}
	var joined []byte
	for s := range b.texts(t, v) {
		if present {
			joined = append(joined, ", "...)
		}
		joined = append(joined, s...)
		present = true
	}
	return string(joined), present && b.headerValue(t, joined)
}

// headerValue says whether a header can carry s, and notes it when not.
func (b *builder) headerValue(t target, s []byte) bool {
	if err := CheckHeaderValue(s); err != nil {
		b.fault(t, "%v", err)
		return false
	}
	return true
}
