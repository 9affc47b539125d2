package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
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

// Sent says whether requests hold something at the place, if only where the caller
// gives it, and gives the names that they have there. known is false where that
// shows only when the call is made.
func (p Place) Sent(req *bind.Request) (sent bool, names []string, known bool) {
	if !p.InBody() {
		if req.URL != nil {
			return false, nil, false
		}
		for _, v := range req.Path.Vars() {
			if v.Query {
				names = append(names, v.Name)
			}
		}
		if req.Base != nil {
			names = slices.AppendSeq(names, maps.Keys(req.Base.Query()))
		}
		more, known := fieldNames(slices.Concat(req.Query, req.BaseQuery))
		names = append(names, more...)
		slices.Sort(names)
		return slices.Contains(names, string(p)), names, known
	}
	if req.Body == nil {
		return false, nil, true
	}
	node := req.Body.Value
	for _, name := range p.pointer() {
		object, ok := node.(bind.Object)
		if !ok {
			return false, nil, false
		}
		if names, known = fieldNames(object); !known {
			return false, nil, false
		}
		i := slices.Index(names, name)
		if i < 0 {
			return false, names, true
		}
		node = object[i].Value
	}
	return true, names, true
}

// fieldNames gives the names of fields, unless some show only when the call is made.
func fieldNames(fields []bind.Field) (names []string, known bool) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names, !slices.Contains(names, "")
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
