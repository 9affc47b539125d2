package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/metacue/metacue/runtime/bind"
)

// Place is where a request says which page it asks for: a query parameter, by
// its name, or a member of its JSON body, by a JSON Pointer (RFC 6901), which
// begins with a slash. The empty Place is nowhere.
type Place string

// InBody says whether the place is in the body.
func (p Place) InBody() bool { return strings.HasPrefix(string(p), "/") }

// pointer gives the names that a JSON Pointer is made of.
func (p Place) pointer() []string {
	names := strings.Split(string(p[1:]), "/")
	for i, name := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return names
}

// put changes a request so that the place holds a text or a number.
func (p Place) put(req *bind.HTTP, value any) error {
	if !p.InBody() {
		req.URL = bind.WithParameter(req.URL, string(p), fmt.Sprint(value))
		return nil
	}
	body, err := set(req.Body, p.pointer(), json.RawMessage(compact(value)))
	if err != nil {
		return fmt.Errorf("the body has no place for the page at %s: %w", p, err)
	}
	req.Body = body
	return nil
}

// number gives the number at the place in a request, otherwise where there is
// none.
func (p Place) number(req *bind.HTTP, otherwise int) (int, error) {
	var value string
	if p.InBody() {
		v, _ := at(req.Body, p.pointer())
		value = strings.Trim(string(v), `"`)
	} else {
		u, err := url.Parse(req.URL)
		if err != nil {
			return 0, err
		}
		value = u.Query().Get(string(p))
	}
	if value == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, and paging needs a number there", p, value)
	}
	return n, nil
}

// set gives a document with the value at path replaced, or added to the object
// that it is to be in.
func set(doc json.RawMessage, path []string, value json.RawMessage) (json.RawMessage, error) {
	if _, ok := at(doc, path); ok {
		return edit(doc, path, value)
	}
	above, last := path[:len(path)-1], path[len(path)-1]
	object, ok := at(doc, above)
	if !ok || len(object) == 0 || object[0] != '{' {
		return nil, errors.New("there is no object to put it into")
	}
	object = object[:len(object)-1]
	if strings.TrimSpace(string(object)) != "{" {
		object = append(object[:len(object):len(object)], ',')
	}
	return edit(doc, above, append(object[:len(object):len(object)], compact(last)+":"+string(value)+"}"...))
}
