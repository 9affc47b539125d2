package sample

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trackingRoutes are what stands beside work items: their types, history,
// comments and attachments, stored queries, and many changes in one request.
var trackingRoutes = []route{
	{"GET /wit/workItems/{id}/revisions", (*Org).listRevisions},
	{"GET /wit/workItems/{id}/revisions/{revision}", (*Org).getRevision},
	{"GET /wit/workItems/{id}/updates", (*Org).listUpdates},
	{"GET /wit/workItems/{id}/comments", (*Org).listItemComments},
	{"POST /wit/workItems/{id}/comments", (*Org).createItemComment},
	{"GET /wit/workItems/{id}/comments/{comment}", (*Org).getItemComment},
	{"PATCH /wit/workItems/{id}/comments/{comment}", (*Org).updateItemComment},
	{"DELETE /wit/workItems/{id}/comments/{comment}", (*Org).deleteItemComment},
	{"DELETE /wit/workItems/{id}", (*Org).deleteWorkItem},
	{"PATCH /wit/$batch", (*Org).changeMany},
	{"POST /wit/$batch", (*Org).changeMany},

	{"GET /wit/workItemTypes", (*Org).listTypes},
	{"GET /wit/workItemTypes/{type}", (*Org).getType},
	{"GET /wit/workItemTypes/{type}/states", (*Org).listTypeStates},
	{"GET /wit/workItemTypes/{type}/fields", (*Org).listTypeFields},
	{"GET /wit/fields", (*Org).listFields},
	{"GET /wit/tags", (*Org).listTags},

	{"GET /wit/queries", (*Org).listQueries},
	{"GET /wit/queries/{query...}", (*Org).getQuery},
	{"GET /wit/wiql/{query}", (*Org).runStoredQuery},

	{"POST /wit/attachments", (*Org).createAttachment},
	{"GET /wit/attachments/{attachment}", (*Org).getAttachment},
}

func (o *Org) listRevisions(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	expand, err := expansions.parse("$expand", r.URL.Query().Get("$expand"), "none")
	if err != nil {
		return nil, err
	}
	all := []view{}
	for rev := range w.revisions {
		v, err := w.show(rev+1, nil, expand)
		if err != nil {
			return nil, err
		}
		v.URL += "/revisions/" + strconv.Itoa(rev+1)
		all = append(all, v)
	}
	if all, err = page(r, all, 200); err != nil {
		return nil, err
	}
	return listOf(all), nil
}

func (o *Org) getRevision(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	rev, ok := r.pathNumber("revision")
	if !ok || int(rev) > len(w.revisions) {
		return nil, faultf(http.StatusNotFound, wit, "WorkItemRevisionNotFoundException", "TF401320: work item %d has no revision %s", w.ID, r.PathValue("revision"))
	}
	return w.show(int(rev), nil, "all")
}

// listUpdates gives what each revision changed.
func (o *Org) listUpdates(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	all := []object{}
	before := revision{}
	for i, v := range w.revisions {
		changed := object{}
		for _, f := range fields {
			was, had := before.value(f.name)
			is, has := v.value(f.name)
			if had == has && (!has || sameValue(was, is)) {
				continue
			}
			c := object{}
			if had {
				c["oldValue"] = was
			}
			if has {
				c["newValue"] = is
			}
			changed[f.name] = c
		}
		all = append(all, object{
			"id": i + 1, "workItemId": w.ID, "rev": i + 1, "revisedBy": v.fields["System.ChangedBy"], "revisedDate": v.fields["System.ChangedDate"],
			"fields": changed, "url": w.URL + "/updates/" + strconv.Itoa(i+1),
		})
		before = v
	}
	if all, err = page(r, all, 200); err != nil {
		return nil, err
	}
	return listOf(all), nil
}

// itemComment is what somebody says of a work item.
type itemComment struct {
	ID           int64     `json:"id"`
	WorkItemID   int64     `json:"workItemId"`
	Version      int       `json:"version"`
	Text         string    `json:"text"`
	Format       string    `json:"format"`
	CreatedBy    *identity `json:"createdBy"`
	CreatedDate  time.Time `json:"createdDate"`
	ModifiedBy   *identity `json:"modifiedBy"`
	ModifiedDate time.Time `json:"modifiedDate"`
	URL          string    `json:"url"`
}

var commentFormats = enum{"markdown": 0, "html": 1}

// readComment reads the body and format of a new comment, or of a changed one.
func (r *request) readComment() (text, format string, err error) {
	var in struct{ Text string }
	if err := r.decode(&in, mediaJSON); err != nil {
		return "", "", err
	}
	if strings.TrimSpace(in.Text) == "" {
		return "", "", badRequest("the comment has no text")
	}
	format, err = commentFormats.parse("format", r.URL.Query().Get("format"), "html")
	return in.Text, format, err
}

func (o *Org) createItemComment(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	text, format, err := r.readComment()
	if err != nil {
		return nil, err
	}
	if err := o.change(w, []operation{{Op: "add", Path: "/fields/System.History", Value: quote(text)}}); err != nil {
		return nil, err
	}
	return w.comments[len(w.comments)-1].as(format), nil
}

func (c *itemComment) as(format string) *itemComment {
	c.Format = format
	return c
}

// comment adds one to a work item.
func (o *Org) comment(w *workItem, text string, at time.Time) {
	id := o.next("comment")
	w.comments = append(w.comments, &itemComment{
		ID: id, WorkItemID: w.ID, Version: 1, Text: text, Format: "html", CreatedBy: o.me(), CreatedDate: at, ModifiedBy: o.me(), ModifiedDate: at,
		URL: w.URL + "/comments/" + strconv.FormatInt(id, 10),
	})
}

func (o *Org) listItemComments(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	top, err := r.number("$top", 1, 200)
	if err != nil {
		return nil, err
	}
	order, err := enum{"asc": 1, "desc": 2}.parse("order", r.URL.Query().Get("order"), "desc")
	if err != nil {
		return nil, err
	}
	all := slices.Clone(w.comments)
	if order == "desc" {
		slices.Reverse(all)
	}
	begin, err := r.after(r.URL.Query().Get("continuationToken"))
	if err != nil {
		return nil, err
	}
	begin = min(begin, len(all))
	shown := all[begin:min(begin+top, len(all))]
	out := object{"totalCount": len(all), "count": len(shown), "comments": shown}
	if next := begin + len(shown); next < len(all) {
		out["continuationToken"] = strconv.Itoa(next)
	}
	return out, nil
}

// itemComment finds the comment that the path names.
func (o *Org) itemComment(r *request) (*workItem, int, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, 0, err
	}
	id, _ := r.pathNumber("comment")
	i := slices.IndexFunc(w.comments, func(c *itemComment) bool { return c.ID == id })
	if i < 0 {
		return nil, 0, faultf(http.StatusNotFound, wit, "WorkItemCommentNotFoundException", "work item %d has no comment %s", w.ID, r.PathValue("comment"))
	}
	return w, i, nil
}

func (o *Org) getItemComment(r *request) (any, error) {
	w, i, err := o.itemComment(r)
	if err != nil {
		return nil, err
	}
	return w.comments[i], nil
}

func (o *Org) updateItemComment(r *request) (any, error) {
	w, i, err := o.itemComment(r)
	if err != nil {
		return nil, err
	}
	text, format, err := r.readComment()
	if err != nil {
		return nil, err
	}
	c := w.comments[i]
	c.Text, c.Format, c.Version, c.ModifiedDate = text, format, c.Version+1, o.now()
	return c, nil
}

func (o *Org) deleteItemComment(r *request) (any, error) {
	w, i, err := o.itemComment(r)
	if err != nil {
		return nil, err
	}
	w.comments = slices.Delete(w.comments, i, i+1)
	return nil, nil
}

func (o *Org) deleteWorkItem(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	o.items = slices.DeleteFunc(o.items, func(x *workItem) bool { return x == w })
	return object{
		"id": w.ID, "code": 200, "type": w.now().fields["System.WorkItemType"], "name": w.now().fields["System.Title"],
		"project": w.project.Name, "deletedDate": o.now(), "deletedBy": o.me().DisplayName, "url": PublicURL + "/_apis/wit/recycleBin/" + strconv.FormatInt(w.ID, 10),
	}, nil
}

// changeMany carries out several changes, each by itself: a failure of one is
// told in its own answer and undoes no other.
func (o *Org) changeMany(r *request) (any, error) {
	var in []struct {
		Method, URI string
		Headers     map[string]string
		Body        []operation
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if len(in) > maxItems {
		return nil, badRequest("at most %d changes can be made at once", maxItems)
	}
	answers := []object{}
	for i, c := range in {
		if c.Headers["Content-Type"] != mediaPatch {
			return nil, badRequest("change %d has the Content-Type %q, not %s", i, c.Headers["Content-Type"], mediaPatch)
		}
		w, err := o.changeOne(c.URI, c.Body)
		code, body := http.StatusOK, any(nil)
		if err == nil {
			body, err = w.show(len(w.revisions), nil, "all")
		}
		if f, ok := errors.AsType[*fault](err); ok {
			code, body = f.status, f.answer()
		} else if err != nil {
			return nil, err
		}
		text, err := encode(body)
		if err != nil {
			return nil, err
		}
		answers = append(answers, object{"code": code, "headers": object{"Content-Type": "application/json; charset=utf-8"}, "body": string(text)})
	}
	return listOf(answers), nil
}

// changeOne makes or changes the work item that an address in a batch names.
func (o *Org) changeOne(uri string, ops []operation) (*workItem, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Query().Get("api-version") == "" {
		return nil, badRequest("%q is no path with an api-version", uri)
	}
	// The address begins below the organization.
	scope, resource, err := split(&url.URL{Path: "/" + Name + u.Path, RawPath: "/" + Name + u.EscapedPath()})
	if err != nil {
		return nil, err
	}
	if len(resource) != 3 || !strings.EqualFold(resource[0]+"/"+resource[1], "wit/workItems") {
		return nil, badRequest("a batch changes work items, not %s", u.Path)
	}
	var p *project
	if len(scope) > 1 {
		if p, err = o.projectNamed(scope[1]); err != nil {
			return nil, err
		}
	}
	workItemType, isNew := strings.CutPrefix(resource[2], "$")
	if !isNew {
		id, err := strconv.ParseInt(resource[2], 10, 64)
		if err != nil {
			return nil, badRequest("the ID of a work item is a number, not %q", resource[2])
		}
		w, err := o.item(id, p)
		if err != nil {
			return nil, err
		}
		return w, o.change(w, ops)
	}
	if p == nil {
		return nil, badRequest("the address of a new work item names no project")
	}
	// A new item has a negative number, which holds within the batch.
	ops = slices.DeleteFunc(slices.Clone(ops), func(op operation) bool { return op.Path == "/id" })
	return o.addWorkItem(p, workItemType, ops)
}

// stateCategories are those of the states of work items.
var stateCategories = map[string]string{
	"New": "Proposed", "Design": "Proposed", "Active": "InProgress", "Ready": "InProgress", "Resolved": "Resolved", "Closed": "Completed", "Removed": "Removed",
}

func typeStates(name string) []object {
	states := []object{}
	for _, s := range statesOf(name) {
		states = append(states, object{"name": s, "category": stateCategories[s], "color": "b2b2b2"})
	}
	return states
}

func typeFields() []object {
	out := []object{}
	for _, f := range fields {
		out = append(out, object{
			"referenceName": f.name, "name": f.title, "alwaysRequired": f.name == "System.Title" || f.kind == pathField, "defaultValue": nil,
			"url": PublicURL + "/_apis/wit/fields/" + f.name,
		})
	}
	return out
}

func (p *project) workItemType(name string) object {
	return object{
		"name": name, "referenceName": "Microsoft.VSTS.WorkItemTypes." + strings.ReplaceAll(name, " ", ""), "description": "", "color": "009ccc",
		"icon": object{"id": "icon_book", "url": PublicURL + "/_apis/wit/workItemIcons/icon_book"}, "isDisabled": false,
		"fields": typeFields(), "states": typeStates(name), "url": p.scopeURL() + "/_apis/wit/workItemTypes/" + url.PathEscape(name),
	}
}

func (o *Org) listTypes(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	all := []object{}
	for _, t := range types {
		all = append(all, r.project.workItemType(t.name))
	}
	return listOf(all), nil
}

// typeInPath gives the name of the type that the path names.
func (r *request) typeInPath() (string, error) {
	if err := r.need(); err != nil {
		return "", err
	}
	for _, t := range types {
		if strings.EqualFold(t.name, r.PathValue("type")) {
			return t.name, nil
		}
	}
	return "", noType(r.project, r.PathValue("type"))
}

func (o *Org) getType(r *request) (any, error) {
	name, err := r.typeInPath()
	if err != nil {
		return nil, err
	}
	return r.project.workItemType(name), nil
}

func (o *Org) listTypeStates(r *request) (any, error) {
	name, err := r.typeInPath()
	if err != nil {
		return nil, err
	}
	return listOf(typeStates(name)), nil
}

func (o *Org) listTypeFields(r *request) (any, error) {
	if _, err := r.typeInPath(); err != nil {
		return nil, err
	}
	return listOf(typeFields()), nil
}

func (o *Org) listFields(*request) (any, error) {
	kinds := []string{"string", "integer", "double", "dateTime", "identity", "treePath"}
	all := []object{}
	for _, f := range fields {
		all = append(all, object{
			"name": f.title, "referenceName": f.name, "type": kinds[f.kind], "readOnly": f.readOnly, "isIdentity": f.kind == identityField,
			"url": PublicURL + "/_apis/wit/fields/" + f.name,
		})
	}
	return listOf(all), nil
}

func (o *Org) listTags(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	tags := []object{}
	for _, w := range o.itemsOf(r.project) {
		for tag := range strings.SplitSeq(plain(w.now().fields["System.Tags"]), ";") {
			tag = strings.TrimSpace(tag)
			if tag != "" && !slices.ContainsFunc(tags, func(t object) bool { return t["name"] == tag }) {
				tags = append(tags, object{"id": guid("tag", r.project.Name, tag), "name": tag, "url": r.project.scopeURL() + "/_apis/wit/tags/" + guid("tag", r.project.Name, tag)})
			}
		}
	}
	return listOf(tags), nil
}

// queryItem is a stored query, or a folder of them.
type queryItem struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	Path     string       `json:"path"`
	IsFolder bool         `json:"isFolder,omitempty"`
	HasChild bool         `json:"hasChildren,omitempty"`
	Children []*queryItem `json:"children,omitempty"`
	IsPublic bool         `json:"isPublic"`
	Type     string       `json:"queryType,omitempty"`
	WIQL     string       `json:"wiql,omitempty"`
	URL      string       `json:"url"`
}

// addQuery puts a query into a folder of the project; without text it is a folder.
func (p *project) addQuery(folder *queryItem, name, wiql string) *queryItem {
	path := strings.TrimPrefix(folder.Path+"/"+name, "/")
	q := &queryItem{ID: guid("query", p.Name, path), Name: name, Path: path, IsPublic: strings.HasPrefix(path, "Shared"), IsFolder: wiql == "", WIQL: wiql}
	q.URL = p.scopeURL() + "/_apis/wit/queries/" + q.ID
	if wiql != "" {
		q.Type = "flat"
	}
	folder.Children, folder.HasChild = append(folder.Children, q), true
	return q
}

func (q *queryItem) below() []*queryItem {
	all := []*queryItem{q}
	for _, c := range q.Children {
		all = append(all, c.below()...)
	}
	return all
}

func (q *queryItem) cut(depth int, wiql bool) *queryItem {
	shown := *q
	shown.Children = nil
	if !wiql {
		shown.WIQL = ""
	}
	if depth > 0 {
		for _, c := range q.Children {
			shown.Children = append(shown.Children, c.cut(depth-1, wiql))
		}
	}
	return &shown
}

var queryExpansions = enum{"none": 0, "wiql": 1, "clauses": 2, "all": 3, "minimal": 4}

// storedQuery finds a query by ID or path.
func (o *Org) storedQuery(r *request) (*queryItem, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	name := r.PathValue("query")
	for _, q := range r.project.folder.below()[1:] {
		if strings.EqualFold(q.ID, name) || strings.EqualFold(q.Path, name) {
			return q, nil
		}
	}
	return nil, faultf(http.StatusNotFound, wit, "QueryItemNotFoundException", "TF401243: there is no query %q in project %s, or you may not read it", name, r.project.Name)
}

// queryView reads what a request wants to see of queries.
func (r *request) queryView() (depth int, wiql bool, err error) {
	if depth, err = r.number("$depth", 0, 0); err != nil {
		return 0, false, err
	}
	if depth > 2 {
		return 0, false, badRequest("$depth is at most 2")
	}
	expand, err := queryExpansions.parse("$expand", r.URL.Query().Get("$expand"), "none")
	return depth, expand != "none" && expand != "minimal", err
}

func (o *Org) listQueries(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	depth, wiql, err := r.queryView()
	if err != nil {
		return nil, err
	}
	return listOf(r.project.folder.cut(depth+1, wiql).Children), nil
}

func (o *Org) getQuery(r *request) (any, error) {
	q, err := o.storedQuery(r)
	if err != nil {
		return nil, err
	}
	depth, wiql, err := r.queryView()
	if err != nil {
		return nil, err
	}
	return q.cut(depth, wiql), nil
}

func (o *Org) runStoredQuery(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	q, err := o.storedQuery(r)
	if err != nil {
		return nil, err
	}
	if q.IsFolder {
		return nil, badRequest("%s is a folder", q.Path)
	}
	return o.runWIQL(r, q.WIQL)
}

// attachment is a file that work items can link to.
type attachment struct {
	id, name string
	data     []byte
}

func (a attachment) url() string {
	return PublicURL + "/_apis/wit/attachments/" + a.id + "?fileName=" + url.QueryEscape(a.name)
}

func (o *Org) addAttachment(name string, data []byte) attachment {
	a := attachment{guid("attachment", name, strconv.FormatInt(o.next("attachment"), 10)), name, data}
	o.attachments = append(o.attachments, a)
	return a
}

func (o *Org) createAttachment(r *request) (any, error) {
	name := r.URL.Query().Get("fileName")
	if name == "" {
		return nil, badRequest("the query lacks fileName")
	}
	a := o.addAttachment(name, r.body)
	return created{object{"id": a.id, "url": a.url()}}, nil
}

func (o *Org) getAttachment(r *request) (any, error) {
	for _, a := range o.attachments {
		if strings.EqualFold(a.id, r.PathValue("attachment")) {
			r.header.Set("Content-Disposition", `attachment; filename="`+a.name+`"`)
			return raw{"application/octet-stream", a.data}, nil
		}
	}
	return nil, faultf(http.StatusNotFound, wit, "AttachmentNotFoundException", "TF237082: there is no attachment %s", r.PathValue("attachment"))
}
