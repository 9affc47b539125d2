package exec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/rest"
)

// Paging says how the answers of a tool come in pages. Such a tool takes one
// more argument, cursor, and answers {"items": […], "nextCursor": "…"}, the
// latter unless the page is the last one.
type Paging struct {
	// Items finds the list of items in an answer, whose length says how far the
	// page reaches; nil means what the response's jq gives, or the answer itself.
	Items *JQ
	// More says whether there are more pages; nil leaves that to By.
	More *JQ
	// Also gives, as an object, what a page says beside its items; nil is nothing.
	Also *JQ
	// Step names the step whose answers are the pages; "" for a tool that makes one
	// request.
	Step string
	// By is how the API pages.
	By Pager
}

// CursorArgument is the argument that a tool with pages takes.
const CursorArgument = "cursor"

// cursorSchema declares it.
const cursorSchema = `{"type":"string","description":"From nextCursor"}`

// WithCursor gives the schema of a tool's arguments with the cursor added.
func WithCursor(schema json.RawMessage) (json.RawMessage, error) {
	old, ok := at(schema, []string{"properties"})
	if !ok || len(old) < 2 || old[0] != '{' {
		return nil, errors.New("the schema has no properties")
	}
	properties := slices.Clone(old[:len(old)-1])
	if len(old) > 2 {
		properties = append(properties, ',')
	}
	properties = fmt.Appendf(properties, `%q:%s}`, CursorArgument, cursorSchema)
	return edit(schema, []string{"properties"}, properties)
}

// PageSchema gives the output schema of a tool with such pages from that of one
// item. Definitions move to the root, where references look for them.
func (p *Paging) PageSchema(item json.RawMessage) (json.RawMessage, error) {
	page := `{"type":"object","properties":{"items":{"type":"array","items":%s},"nextCursor":{"type":"string"}},"required":["items"]%s}`
	definitions := ""
	if _, whole := p.By.(*ByPart); whole {
		page = strings.Replace(page, `"nextCursor":`, `"total":{"type":"integer"},"nextCursor":`, 1)
	}
	if p.Also == nil {
		definitions = `,"additionalProperties":false`
	}
	if defs, ok := at(item, []string{"$defs"}); ok {
		definitions += `,"$defs":` + string(defs)
		rest, err := edit(item, []string{"$defs"}, nil)
		if err != nil {
			return nil, err
		}
		item = rest
	}
	return json.RawMessage(fmt.Sprintf(page, item, definitions)), nil
}

// Pager is one way in which APIs page.
type Pager interface {
	// Turn changes the request of the first page into that of the page at a
	// position.
	Turn(r *bind.Request, req *bind.HTTP, position string) error
	// Next gives the position of the page after one, "" when there is none.
	Next(ctx context.Context, p *Page) (string, error)
}

// Page is one page that an API has answered.
type Page struct {
	// Request is how requests are made, Sent the one that was answered.
	Request *bind.Request
	Sent    *bind.HTTP
	Answer  *rest.Response
	// Body is the answer as jq sees it, Result what the step's own jq made of it;
	// nil when it has none.
	Body   any
	Result json.RawMessage
	// Position is where the page stands, "" for the first.
	Position string
	// Count is the number of its items.
	Count int
	// More says whether there are more pages, and Total how many items all of them
	// have, where that is known.
	More  *bool
	Total *int

	c *prepared
}

// run gives the outputs of a program over the page.
func (p *Page) run(ctx context.Context, jq *JQ) ([]json.RawMessage, error) {
	return jq.all(ctx, p.Body, p.c.jqArgs(), p.Answer.Status, jqHeaders(p.Answer.Header))
}

// result is the page as it is passed on: what the step's jq made of it, or the
// answer; null when it has no body.
func (p *Page) result() (json.RawMessage, error) {
	switch {
	case p.Result != nil:
		return p.Result, nil
	case len(p.Answer.Body) == 0:
		return json.RawMessage("null"), nil
	}
	return p.Answer.Compact()
}

// jq gives the one output of a program over the page as text: a string, or a
// number as it is written. Nothing, null, false and "" give "".
func (p *Page) jq(ctx context.Context, jq *JQ) (string, error) {
	out, err := p.run(ctx, jq)
	if err != nil || len(out) == 0 {
		return "", err
	}
	var text string
	switch v := out[0]; {
	case string(v) == "null", string(v) == "false":
		return "", nil
	case json.Unmarshal(v, &text) == nil:
		return text, nil
	case v[0] == '{', v[0] == '[', v[0] == 't':
		return "", fmt.Errorf("the position of the next page is %s, neither text nor a number", abbreviate(v))
	default:
		return string(v), nil
	}
}

// truthy says whether a program over the page gives anything but false and null.
func (p *Page) truthy(ctx context.Context, jq *JQ) (bool, error) {
	out, err := p.run(ctx, jq)
	if err != nil || len(out) == 0 {
		return false, err
	}
	return string(out[0]) != "null" && string(out[0]) != "false", nil
}

// ByCursor pages by a text that the API gives with each page and takes back.
type ByCursor struct {
	// In is where requests hold the text.
	In Place
	// Header names the header that holds the text; or JQ finds it in the answer.
	Header string
	JQ     *JQ
}

// Turn puts the text into the request.
func (b *ByCursor) Turn(_ *bind.Request, req *bind.HTTP, position string) error {
	return b.In.put(req, position)
}

// Next gives the text that came with the page.
func (b *ByCursor) Next(ctx context.Context, p *Page) (string, error) {
	if p.More != nil && !*p.More {
		return "", nil
	}
	if b.JQ == nil {
		return p.Answer.Header.Get(b.Header), nil
	}
	return p.jq(ctx, b.JQ)
}

// ByLink pages by links to the next page, in the Link header (RFC 8288) or where
// JQ finds them in the answer.
type ByLink struct{ JQ *JQ }

// Turn goes to the link: at the upstream's origin, below its base path.
func (b *ByLink) Turn(r *bind.Request, req *bind.HTTP, position string) error {
	to, err := bind.Link(r.Base, nil, position)
	if err != nil {
		return err
	}
	// What every request to the upstream has, this one has too.
	u, err := url.Parse(req.URL)
	if err != nil {
		return err
	}
	raw := to.RawQuery
	linked := to.Query()
	for _, f := range r.BaseQuery {
		if linked.Has(f.Name) {
			continue
		}
		if own := bind.FilterQuery(u.RawQuery, func(name string) bool { return name == f.Name }); own != "" {
			raw = strings.TrimPrefix(raw+"&"+own, "&")
		}
	}
	to.RawQuery = raw
	req.URL = to.String()
	return nil
}

// Next gives the link without its origin. Credentials that the upstream has put
// into it are taken out.
func (b *ByLink) Next(ctx context.Context, p *Page) (string, error) {
	if p.More != nil && !*p.More {
		return "", nil
	}
	ref := ""
	if b.JQ == nil {
		ref = linkTarget(p.Answer.Header.Values("Link"), "next")
	} else {
		var err error
		if ref, err = p.jq(ctx, b.JQ); err != nil {
			return "", err
		}
	}
	if ref == "" {
		return "", nil
	}
	from, err := url.Parse(p.Sent.URL)
	if err != nil {
		return "", err
	}
	to, err := bind.Link(p.Request.Base, from, ref)
	if err != nil {
		return "", fmt.Errorf("the link to the next page cannot be followed: %w", err)
	}
	to.RawQuery = bind.FilterQuery(to.RawQuery, func(name string) bool { return !slices.Contains(p.Request.Strip, name) })
	if position := to.RequestURI(); position != from.RequestURI() {
		return position, nil
	}
	return "", errStands
}

// errStands says that the API points to the page that it has just answered.
var errStands = errors.New("the page after this one would be the same again: the API's paging does not advance")

// ByNumber pages by the number of the page.
type ByNumber struct {
	// Number is where requests hold the number, First that of the first page.
	Number Place
	First  int
	// Size is where they say how many items a page has, "" when they do not. A page
	// with fewer is the last one.
	Size Place
}

// Turn sets the number.
func (b *ByNumber) Turn(_ *bind.Request, req *bind.HTTP, position string) error {
	return putNumber(b.Number, req, position)
}

// Next counts up.
func (b *ByNumber) Next(_ context.Context, p *Page) (string, error) {
	n, err := b.Number.number(p.Sent, b.First)
	if err != nil || p.ends(b.Size) {
		return "", err
	}
	return strconv.Itoa(n + 1), nil
}

// ByOffset pages by the number of items before the page.
type ByOffset struct {
	// Skip is where requests hold that number.
	Skip Place
	// Size is that of ByNumber.
	Size Place
}

// Turn sets the offset.
func (b *ByOffset) Turn(_ *bind.Request, req *bind.HTTP, position string) error {
	return putNumber(b.Skip, req, position)
}

// Next adds up.
func (b *ByOffset) Next(_ context.Context, p *Page) (string, error) {
	if p.ends(b.Size) {
		return "", nil
	}
	if p.Count == 0 {
		return "", errStands
	}
	return b.after(p, p.Count)
}

// after is the position behind the first items of a page.
func (b *ByOffset) after(p *Page, items int) (string, error) {
	n, err := b.Skip.number(p.Sent, 0)
	if err != nil {
		return "", err
	}
	return strconv.Itoa(n + items), nil
}

// ByPart makes pages of an answer that holds all items: each page is a part of
// it, and asks for it again.
type ByPart struct {
	// Skip and Top are the arguments that say how many items come before the first
	// page and how many a page has, "" for none: all, as far as there is room.
	Skip, Top string
}

// Turn changes nothing: the answer is the same for all pages.
func (b *ByPart) Turn(_ *bind.Request, _ *bind.HTTP, position string) error {
	_, err := strconv.Atoi(position)
	return err
}

// part gives the items of a page out of all, and says in the page whether there
// are more.
func (b *ByPart) part(p *Page, all []json.RawMessage) []json.RawMessage {
	shown := all[min(b.from(p), len(all)):]
	left := len(shown)
	if top, ok := p.c.natural(b.Top); ok {
		shown = shown[:min(top, left)]
	}
	total, more := len(all), len(shown) < left
	p.Total, p.More = &total, &more
	return shown
}

// Next adds up.
func (b *ByPart) Next(_ context.Context, p *Page) (string, error) {
	if !*p.More {
		return "", nil
	}
	return b.after(p, p.Count)
}

// after is the position behind the first items of a page.
func (b *ByPart) after(p *Page, items int) (string, error) {
	return strconv.Itoa(b.from(p) + items), nil
}

// from is where a page begins.
func (b *ByPart) from(p *Page) int {
	if p.Position == "" {
		n, _ := p.c.natural(b.Skip)
		return n
	}
	n, _ := strconv.Atoi(p.Position)
	return n
}

// refuses gives the reason why there are no such pages: from one of no items nothing
// leads on, and it would read as if there were none.
func (b *ByPart) refuses(args bind.Args) error {
	if n, err := strconv.Atoi(string(args[b.Top])); err == nil && n < 1 {
		return fmt.Errorf("%s: must be at least 1: it says how many items a page has", b.Top)
	}
	return nil
}

// natural gives the value of an argument that is a whole number, at least 0.
func (c *prepared) natural(name string) (int, bool) {
	n, err := strconv.Atoi(string(c.scope.Args[name]))
	return max(n, 0), err == nil
}

// ends says whether a page is the last one: by what the API says, or else when
// it is empty or has fewer items than its request asks for.
func (p *Page) ends(size Place) bool {
	if p.More != nil {
		return !*p.More
	}
	want, err := size.number(p.Sent, 0)
	return p.Count == 0 || err == nil && p.Count < want
}

// putNumber puts a position that is a number into a request.
func putNumber(where Place, req *bind.HTTP, position string) error {
	n, err := strconv.Atoi(position)
	if err != nil {
		return err
	}
	return where.put(req, n)
}

// cursor is what a cursor holds.
type cursor struct {
	Position string `json:"p"`
	// Args are the arguments of the call that it goes on from; where they are
	// large Hash stands for them, and they have to be given again.
	Args bind.Args `json:"a,omitempty"`
	Hash string    `json:"h,omitempty"`
}

// maxSealed bounds the arguments, in bytes, that a cursor holds.
const maxSealed = 2048

// hashOf is a digest of arguments.
func hashOf(args bind.Args) string {
	sum := sha256.Sum256([]byte(compact(args)))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// scopeOf is what a cursor belongs to: a tool, and what its caller may reach.
func scopeOf(tool string, b catalog.Bounds) string {
	return tool + "\n" + compact(b)
}

// resume takes the cursor out of the arguments of a call and puts in what the
// cursor knows of the others. The error is for the caller.
func (p *Program) resume(ctx context.Context, caller call.Caller, t *Tool, raw json.RawMessage, args bind.Args) (json.RawMessage, bind.Args, *cursor, error) {
	given := args[CursorArgument]
	if t.Response.Paging == nil || given == nil {
		return raw, args, nil, nil
	}
	var sealed string
	if string(given) != "null" && json.Unmarshal(given, &sealed) != nil {
		return nil, nil, nil, errCursor
	}
	raw, err := edit(raw, []string{CursorArgument}, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	args = maps.Clone(args)
	delete(args, CursorArgument)
	if sealed == "" {
		return raw, args, nil, nil
	}
	content, err := p.Sealer.Open(ctx, scopeOf(t.Info.Name, caller.Bounds), strings.TrimSpace(sealed))
	if err != nil {
		if !errors.Is(err, errCursor) {
			p.warn(t.Info.Name, "reason", err)
		}
		return nil, nil, nil, err
	}
	from := &cursor{}
	if err := json.Unmarshal(content, from); err != nil || from.Position == "" {
		return nil, nil, nil, errCursor
	}
	restored := false
	for name, value := range from.Args {
		if _, ok := args[name]; !ok {
			args[name], restored = value, true
		}
	}
	if restored {
		raw = json.RawMessage(compact(args))
	}
	return raw, args, from, nil
}

// continues checks that the arguments of a call are those of the one that its
// cursor goes on from.
func (from *cursor) continues(args bind.Args, t *Tool) error {
	if from == nil {
		return nil
	}
	var differ []string
	if from.Hash != "" {
		if from.Hash != hashOf(args) {
			differ = []string{"an argument"}
		}
	} else {
		before := bind.Args{}
		maps.Copy(before, from.Args)
		t.FillIn(before)
		for name, value := range args {
			if !bytes.Equal(before[name], value) {
				differ = append(differ, name)
			}
		}
		slices.Sort(differ)
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("cursor: %s differs from the call that it goes on from: give the same arguments with it, or leave it out to begin with the first page", strings.Join(differ, ", "))
}

// page makes the result of a page.
func (p *Program) page(ctx context.Context, at *progress) call.Result {
	pages, page := at.tool.Response.Paging, at.page
	unreadable := func(err error) call.Result { return failed(at.unreadable(at.last, err)) }
	if page == nil {
		page = &Page{c: at.prepared} // the step with the pages did not run
	}
	if at.from != nil {
		page.Position = at.from.Position
	}
	if page.Answer != nil && len(page.Answer.Body) > 0 {
		var err error
		if page.Body, err = page.Answer.Decode(); err != nil {
			return unreadable(err)
		}
	}
	items, counted, err := p.items(ctx, at, page)
	if err != nil {
		return unreadable(err)
	}
	page.Count = counted
	also, err := p.also(ctx, at, page)
	if err != nil {
		return unreadable(err)
	}
	if page.Answer == nil {
		return p.json(at, p.pageJSON(also, items, ""))
	}
	if pages.More != nil {
		more, err := page.truthy(ctx, pages.More)
		if err != nil {
			return unreadable(err)
		}
		page.More = &more
	}
	next, err := pages.By.Next(ctx, page)
	if err == nil && next != "" && next == page.Position {
		err = errStands
	}
	if err != nil {
		e := answerError{
			Error: tell(1, fmt.Sprintf("%s was done, but its pages cannot be followed: %v", at.tool.Info.Name, err)),
			Body:  truncate(p.pageJSON(also, items, ""), at.tool.Response.limit()),
		}
		return call.Error(compact(e))
	}
	sealed, err := p.sealed(ctx, at, next)
	if err != nil {
		return unreadable(err)
	}
	result := p.pageJSON(also, items, sealed)
	if by, ok := pages.By.(divider); ok && len(result) > at.tool.Response.limit() && counted == len(items) {
		if result, err = p.early(ctx, at, page, by, also, items); err != nil {
			return unreadable(err)
		}
	}
	return p.json(at, result)
}

// divider is a pager whose pages may end after any item.
type divider interface {
	// after is the position behind the first items of a page.
	after(p *Page, items int) (string, error)
}

// early ends a page that is too large to be shown whole before its end, and lets
// the cursor go on from there. A page whose first item
// alone is too large stays as it is, to be cut.
func (p *Program) early(ctx context.Context, at *progress, page *Page, by divider, also, items []json.RawMessage) (json.RawMessage, error) {
	behind := func(n int) (string, error) {
		position, err := by.after(page, n)
		if err != nil {
			return "", err
		}
		return p.sealed(ctx, at, position)
	}
	longest, err := behind(len(items))
	if err != nil {
		return nil, err
	}
	n := fitting(items, at.tool.Response.limit()-len(p.pageJSON(also, nil, longest)))
	if n == 0 {
		n = len(items)
	}
	sealed, err := behind(n)
	return p.pageJSON(also, items[:n], sealed), err
}

// items gives what is shown of a page, one by one, and how many items it has.
func (p *Program) items(ctx context.Context, at *progress, page *Page) (shown []json.RawMessage, counted int, err error) {
	list := func(out []json.RawMessage, err error) ([]json.RawMessage, error) {
		if err != nil || len(out) != 1 {
			return out, err
		}
		return elements(out[0], out)
	}
	pages, jq := at.tool.Response.Paging, at.tool.Response.JQ
	switch {
	case jq != nil:
		shown, err = list(p.shaped(ctx, at, page, jq))
	case page.Answer == nil:
	case pages.Items != nil:
		shown, err = list(page.run(ctx, pages.Items))
	default:
		var body json.RawMessage
		if body, err = page.result(); err == nil {
			if shown, err = elements(body, nil); err == nil && shown == nil && string(body) != "null" {
				err = errors.New("it holds no list where the items should be (response.paginate.items says where they are)")
			}
		}
	}
	counted = len(shown)
	if err == nil && jq != nil && pages.Items != nil && page.Answer != nil {
		var all []json.RawMessage
		all, err = list(page.run(ctx, pages.Items))
		counted = len(all)
	}
	if by, ok := pages.By.(*ByPart); ok && err == nil && page.Answer != nil {
		shown = by.part(page, shown)
		counted = len(shown)
	}
	if err == nil {
		// Cleaned one by one they stay one by one.
		for i, item := range shown {
			shown[i] = cleanJSON(item)
		}
	}
	return shown, counted, err
}

// also gives, as objects that are not empty, what a page says beside its items.
func (p *Program) also(ctx context.Context, at *progress, page *Page) ([]json.RawMessage, error) {
	jq := at.tool.Response.Paging.Also
	if jq == nil {
		return total(page), nil
	}
	out, err := p.shaped(ctx, at, page, jq)
	if err != nil {
		return nil, err
	}
	own := total(page)
	if len(out) == 0 || string(out[0]) == "null" {
		return own, nil
	}
	if len(out) > 1 || out[0][0] != '{' {
		return nil, fmt.Errorf("what is told beside the items (response.paginate.also) is no object: %s", abbreviate(out[0]))
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(out[0], &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"items", "nextCursor", "total"} {
		if name == "total" && page.Total == nil {
			continue
		}
		if _, ok := members[name]; ok {
			return nil, fmt.Errorf("what is told beside the items (response.paginate.also) has the member %s, which the page itself has", name)
		}
	}
	if len(members) == 0 {
		return own, nil
	}
	return append(own, cleanJSON(out[0])), nil
}

// total gives, as an object, how many items all pages have; nothing where that is
// not known.
func total(page *Page) []json.RawMessage {
	if page.Total == nil {
		return nil
	}
	return []json.RawMessage{json.RawMessage(compact(map[string]int{"total": *page.Total}))}
}

// shaped runs a program over what the response's jq sees: the page, or with
// steps the states of all of them.
func (p *Program) shaped(ctx context.Context, at *progress, page *Page, jq *JQ) ([]json.RawMessage, error) {
	if at.tool.Response.Paging.Step == "" {
		return page.run(ctx, jq)
	}
	input, err := at.states()
	if err != nil {
		return nil, err
	}
	return jq.all(ctx, input, at.jqArgs(), nil, nil)
}

// elements gives those of a list; null has none. What is no list is otherwise.
func elements(v json.RawMessage, otherwise []json.RawMessage) ([]json.RawMessage, error) {
	switch {
	case string(v) == "null":
		return nil, nil
	case v[0] != '[':
		return otherwise, nil
	}
	list := []json.RawMessage{}
	err := json.Unmarshal(v, &list)
	return list, err
}

// sealed gives the cursor for a position, "" for none.
func (p *Program) sealed(ctx context.Context, at *progress, position string) (string, error) {
	if position == "" {
		return "", nil
	}
	c := cursor{Position: position, Args: at.given}
	if len(compact(at.given)) > maxSealed {
		c.Args, c.Hash = nil, hashOf(at.given)
	}
	return p.Sealer.Seal(ctx, scopeOf(at.tool.Info.Name, at.caller.Bounds), []byte(compact(c)))
}

// pageJSON writes a page: what it says beside its items comes first, where a
// reader of a long page sees it.
func (p *Program) pageJSON(also, items []json.RawMessage, next string) json.RawMessage {
	page := compact(struct {
		Items      json.RawMessage `json:"items"`
		NextCursor string          `json:"nextCursor,omitempty"`
	}{array(items), next})
	for _, object := range slices.Backward(also) {
		page = string(object[:len(object)-1]) + "," + page[1:]
	}
	return json.RawMessage(page)
}
