package sample

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// workItemRoutes are work items themselves.
var workItemRoutes = []route{
	{"POST /wit/wiql", (*Org).queryWorkItems},
	{"GET /wit/workItems", (*Org).listWorkItems},
	{"POST /wit/workItemsBatch", (*Org).batchWorkItems},
	{"POST /wit/workItems/{type}", (*Org).createWorkItem},
	{"GET /wit/workItems/{id}", (*Org).getWorkItem},
	{"PATCH /wit/workItems/{id}", (*Org).updateWorkItem},
}

// kind is the type of a field.
type kind int

const (
	textField kind = iota
	integerField
	doubleField
	dateField
	identityField
	pathField // an area or iteration: the project's name, or that and \ and more
)

// field is what is known of a field of work items.
type field struct {
	name, title string
	kind        kind
	readOnly    bool
}

// fields are the fields that the sample's work items can have. Custom.TicketNumber
// stands for what organizations add of their own.
var fields = []field{
	{"System.Id", "ID", integerField, true},
	{"System.Rev", "Rev", integerField, true},
	{"System.TeamProject", "Team Project", textField, true},
	{"System.WorkItemType", "Work Item Type", textField, true},
	{"System.CreatedDate", "Created Date", dateField, true},
	{"System.CreatedBy", "Created By", identityField, true},
	{"System.ChangedDate", "Changed Date", dateField, true},
	{"System.ChangedBy", "Changed By", identityField, true},
	{"System.CommentCount", "Comment Count", integerField, true},
	{"System.Parent", "Parent", integerField, true},
	{"System.Title", "Title", textField, false},
	{"System.State", "State", textField, false},
	{"System.Reason", "Reason", textField, false},
	{"System.AssignedTo", "Assigned To", identityField, false},
	{"System.AreaPath", "Area Path", pathField, false},
	{"System.IterationPath", "Iteration Path", pathField, false},
	{"System.Tags", "Tags", textField, false},
	{"System.Description", "Description", textField, false},
	{"System.History", "History", textField, false},
	{"Microsoft.VSTS.Common.Priority", "Priority", integerField, false},
	{"Microsoft.VSTS.Common.Severity", "Severity", textField, false},
	{"Microsoft.VSTS.Common.StackRank", "Stack Rank", doubleField, false},
	{"Microsoft.VSTS.Scheduling.StoryPoints", "Story Points", doubleField, false},
	{"Microsoft.VSTS.Scheduling.RemainingWork", "Remaining Work", doubleField, false},
	{"Microsoft.VSTS.Common.AcceptanceCriteria", "Acceptance Criteria", textField, false},
	{"Microsoft.VSTS.TCM.ReproSteps", "Repro Steps", textField, false},
	{"Microsoft.VSTS.TCM.Steps", "Steps", textField, false},
	{"Custom.TicketNumber", "Ticket Number", integerField, false},
}

// fieldNamed finds a field by its reference name or title.
func fieldNamed(name string) (field, bool) {
	for _, f := range fields {
		if strings.EqualFold(f.name, name) || strings.EqualFold(f.title, name) {
			return f, true
		}
	}
	return field{}, false
}

// types are the types of work items with their states; the first is that of a
// new item.
var types = []struct {
	name   string
	states []string
}{
	{"Epic", []string{"New", "Active", "Resolved", "Closed", "Removed"}},
	{"Feature", []string{"New", "Active", "Resolved", "Closed", "Removed"}},
	{"User Story", []string{"New", "Active", "Resolved", "Closed", "Removed"}},
	{"Task", []string{"New", "Active", "Closed", "Removed"}},
	{"Bug", []string{"New", "Active", "Resolved", "Closed"}},
	{"Test Case", []string{"Design", "Ready", "Closed"}},
}

func statesOf(workItemType string) []string {
	for _, t := range types {
		if t.name == workItemType {
			return t.states
		}
	}
	return nil
}

type relation struct {
	Rel        string         `json:"rel"`
	URL        string         `json:"url"`
	Attributes map[string]any `json:"attributes"`
}

// revision is a work item as it stood from one change to the next.
type revision struct {
	// fields holds string, json.Number, time.Time or *identity by reference name.
	fields    map[string]any
	relations []relation
}

// workItem is its revisions, oldest first.
type workItem struct {
	ID        int64
	URL       string
	project   *project
	revisions []revision
	comments  []*itemComment // oldest first
}

func (w *workItem) now() revision { return w.revisions[len(w.revisions)-1] }

// parentLink is the relation from a child to its parent.
const parentLink = "System.LinkTypes.Hierarchy-Reverse"

var workItemURL = regexp.MustCompile(`(?i)/_apis/wit/workItems/([0-9]+)$`)

// value gives a field as answers show it.
func (v revision) value(name string) (any, bool) {
	if name == "System.Parent" {
		for _, r := range v.relations {
			if m := workItemURL.FindStringSubmatch(r.URL); r.Rel == parentLink && m != nil {
				return json.Number(m[1]), true
			}
		}
		return nil, false
	}
	x, ok := v.fields[name]
	return x, ok
}

// view is a work item as an answer shows it.
type view struct {
	ID        int64           `json:"id"`
	Rev       int             `json:"rev"`
	Fields    map[string]any  `json:"fields"`
	Relations []relation      `json:"relations,omitempty"`
	URL       string          `json:"url"`
	Links     map[string]link `json:"_links,omitempty"`
}

// show gives a revision, counted from 1, with some fields, or all when names is
// empty. expand is one of expansions.
func (w *workItem) show(rev int, names []string, expand string) (view, error) {
	r := w.revisions[rev-1]
	v := view{ID: w.ID, Rev: rev, Fields: map[string]any{}, URL: w.URL}
	for _, n := range names {
		f, ok := fieldNamed(n)
		if !ok {
			return view{}, unknownField(n)
		}
		if x, ok := r.value(f.name); ok {
			v.Fields[f.name] = x
		}
	}
	if len(names) == 0 {
		for _, f := range fields {
			if x, ok := r.value(f.name); ok {
				v.Fields[f.name] = x
			}
		}
	}
	if expand == "relations" || expand == "all" {
		v.Relations = r.relations
	}
	if expand == "links" || expand == "all" {
		v.Links = map[string]link{"self": {w.URL}, "html": {w.project.webURL() + "/_workitems/edit/" + strconv.FormatInt(w.ID, 10)}}
	}
	return v, nil
}

var expansions = enum{"none": 0, "relations": 1, "fields": 2, "links": 3, "all": 4}

func unknownField(name string) error {
	return faultf(http.StatusBadRequest, wit, "WorkItemTrackingFieldDefinitionNotFoundException", "TF51535: there is no field %q", name)
}

// item finds a work item, within a project or anywhere.
func (o *Org) item(id int64, p *project) (*workItem, error) {
	for _, w := range o.items {
		if w.ID == id && (p == nil || w.project == p) {
			return w, nil
		}
	}
	where := "the organization"
	if p != nil {
		where = "project " + p.Name
	}
	return nil, faultf(http.StatusNotFound, wit, "WorkItemUnauthorizedAccessException", "TF401232: there is no work item %d in %s", id, where)
}

// itemInPath finds the work item that the path names.
func (o *Org) itemInPath(r *request) (*workItem, error) {
	id, ok := r.pathNumber("id")
	if !ok {
		return nil, badRequest("the ID of a work item is a number, not %q", r.PathValue("id"))
	}
	return o.item(id, r.project)
}

// at gives the revision that a work item had at a time; the newest for "".
func (w *workItem) at(asOf string) (int, error) {
	if asOf == "" {
		return len(w.revisions), nil
	}
	t, err := parseDate(asOf)
	if err != nil {
		return 0, badRequest("asOf is %q, which is no date", asOf)
	}
	for i, v := range slices.Backward(w.revisions) {
		if !v.fields["System.ChangedDate"].(time.Time).After(t) {
			return i + 1, nil
		}
	}
	return 0, faultf(http.StatusNotFound, wit, "WorkItemUnauthorizedAccessException", "TF401232: work item %d did not exist at %s", w.ID, asOf)
}

// parseDate takes a date as ISO 8601, with or without a time, or as HTTP has it.
func parseDate(s string) (time.Time, error) {
	var err error
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateOnly, http.TimeFormat} {
		var t time.Time
		if t, err = time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, err
}

// selection is what a request wants to see of work items.
type selection struct {
	ids          []int64
	fields       []string
	expand, asOf string
	omit         bool // leave out what is not there
}

func (r *request) selection() (selection, error) {
	q := r.URL.Query()
	s := selection{asOf: q.Get("asOf")}
	for name := range strings.SplitSeq(q.Get("fields"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			s.fields = append(s.fields, name)
		}
	}
	var err error
	s.expand, err = expansions.parse("$expand", q.Get("$expand"), "")
	return s, err
}

// show gives the selected work items.
func (o *Org) show(r *request, s selection) ([]*view, error) {
	if len(s.fields) > 0 && s.expand != "" && s.expand != "none" {
		return nil, badRequest("fields and $expand exclude each other, save for $expand=none")
	}
	views := []*view{}
	for _, id := range s.ids {
		w, err := o.item(id, r.project)
		if err != nil && s.omit {
			views = append(views, nil)
			continue
		} else if err != nil {
			return nil, err
		}
		rev, err := w.at(s.asOf)
		if err != nil {
			return nil, err
		}
		v, err := w.show(rev, s.fields, s.expand)
		if err != nil {
			return nil, err
		}
		views = append(views, &v)
	}
	return views, nil
}

func (o *Org) getWorkItem(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	s, err := r.selection()
	if err != nil {
		return nil, err
	}
	if s.ids = []int64{w.ID}; s.expand == "" && len(s.fields) == 0 {
		s.expand = "links"
	}
	views, err := o.show(r, s)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// maxItems bounds what one request can read.
const maxItems = 200

func (o *Org) listWorkItems(r *request) (any, error) {
	s, err := r.selection()
	if err != nil {
		return nil, err
	}
	for id := range strings.SplitSeq(r.URL.Query().Get("ids"), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
		if err != nil {
			return nil, badRequest("ids holds %q, which is no number", id)
		}
		s.ids = append(s.ids, n)
	}
	if len(s.ids) > maxItems {
		return nil, badRequest("at most %d work items can be read at once", maxItems)
	}
	views, err := o.show(r, s)
	if err != nil {
		return nil, err
	}
	return listOf(views), nil
}

func (o *Org) batchWorkItems(r *request) (any, error) {
	var in struct {
		IDs         []int64
		Fields      []string
		Expand      text `json:"$expand"`
		AsOf        string
		ErrorPolicy text
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if len(in.IDs) == 0 || len(in.IDs) > maxItems {
		return nil, badRequest("ids must hold between 1 and %d IDs", maxItems)
	}
	expand, err := expansions.parse("$expand", string(in.Expand), "")
	if err != nil {
		return nil, err
	}
	policy, err := enum{"fail": 1, "omit": 2}.parse("errorPolicy", string(in.ErrorPolicy), "fail")
	if err != nil {
		return nil, err
	}
	views, err := o.show(r, selection{in.IDs, in.Fields, expand, in.AsOf, policy == "omit"})
	if err != nil {
		return nil, err
	}
	return listOf(views), nil
}

// operation is one of a JSON Patch (RFC 6902).
type operation struct {
	Op, Path, From string
	Value          json.RawMessage
}

const mediaPatch = "application/json-patch+json"

func (o *Org) updateWorkItem(r *request) (any, error) {
	w, err := o.itemInPath(r)
	if err != nil {
		return nil, err
	}
	var ops []operation
	if err := r.decode(&ops, mediaPatch); err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return nil, badRequest("the patch holds no operation")
	}
	if err := o.change(w, ops); err != nil {
		return nil, err
	}
	return w.show(len(w.revisions), nil, "all")
}

func (o *Org) createWorkItem(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	name, ok := strings.CutPrefix(r.PathValue("type"), "$")
	if !ok {
		return nil, badRequest("the type of a new work item is written $Type in the path, not %q", r.PathValue("type"))
	}
	var ops []operation
	if err := r.decode(&ops, mediaPatch); err != nil {
		return nil, err
	}
	w, err := o.addWorkItem(r.project, name, ops)
	if err != nil {
		return nil, err
	}
	return w.show(1, nil, "all")
}

func (o *Org) addWorkItem(p *project, workItemType string, ops []operation) (*workItem, error) {
	for _, t := range types {
		if strings.EqualFold(t.name, workItemType) {
			workItemType = t.name
		}
	}
	if statesOf(workItemType) == nil {
		return nil, noType(p, workItemType)
	}
	id := o.counter["work item"] + 1
	w := &workItem{ID: id, URL: fmt.Sprintf("%s/%s/_apis/wit/workItems/%d", PublicURL, p.ID, id), project: p}
	if err := o.change(w, append([]operation{
		{Op: "add", Path: "/fields/System.State", Value: quote(statesOf(workItemType)[0])},
		{Op: "add", Path: "/fields/System.AreaPath", Value: quote(p.Name)},
		{Op: "add", Path: "/fields/System.IterationPath", Value: quote(p.Name)},
	}, ops...), workItemType); err != nil {
		return nil, err
	}
	o.next("work item")
	o.items = append(o.items, w)
	return w, nil
}

func noType(p *project, name string) error {
	var have []string
	for _, t := range types {
		have = append(have, t.name)
	}
	return faultf(http.StatusNotFound, wit, "WorkItemTypeNotFoundException",
		"VS402323: project %s has no type of work item %q; it has %s", p.Name, name, strings.Join(have, ", "))
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always can be
	return b
}

// change makes a new revision of a work item by a patch, or leaves the item as
// it is. newType is the type of an item that has no revision yet.
func (o *Org) change(w *workItem, ops []operation, newType ...string) error {
	v := revision{fields: map[string]any{}}
	if len(w.revisions) > 0 {
		v = revision{maps.Clone(w.now().fields), slices.Clone(w.now().relations)}
		delete(v.fields, "System.History") // is of one revision alone
	} else {
		v.fields["System.Id"] = json.Number(strconv.FormatInt(w.ID, 10))
		v.fields["System.TeamProject"] = w.project.Name
		v.fields["System.WorkItemType"] = newType[0]
		v.fields["System.CreatedBy"] = o.me()
		v.fields["System.CommentCount"] = json.Number("0")
	}
	for i, op := range ops {
		if err := o.apply(w, &v, op); err != nil {
			if f, ok := err.(*fault); ok {
				f.message = fmt.Sprintf("operation %d (%s %s): %s", i, op.Op, op.Path, f.message)
			}
			return err
		}
	}
	if t, _ := v.fields["System.Title"].(string); strings.TrimSpace(t) == "" {
		return ruleError("System.Title", "it is required")
	}
	if _, ok := v.fields["System.History"]; ok {
		n, _ := strconv.Atoi(string(v.fields["System.CommentCount"].(json.Number)))
		v.fields["System.CommentCount"] = json.Number(strconv.Itoa(n + 1))
	}
	now := o.now()
	if len(w.revisions) == 0 {
		v.fields["System.CreatedDate"] = now
	}
	v.fields["System.ChangedDate"] = now
	v.fields["System.ChangedBy"] = o.me()
	v.fields["System.Rev"] = json.Number(strconv.Itoa(len(w.revisions) + 1))
	w.revisions = append(w.revisions, v)
	if said, ok := v.fields["System.History"].(string); ok {
		o.comment(w, said, now)
	}
	return nil
}

func ruleError(name, reason string) error {
	return faultf(http.StatusBadRequest, wit, "RuleValidationException", "TF401320: the field %s breaks a rule: %s", name, reason)
}

// apply carries out one operation on v.
func (o *Org) apply(w *workItem, v *revision, op operation) error {
	op.Op = strings.ToLower(op.Op)
	if !slices.Contains([]string{"add", "replace", "remove", "test"}, op.Op) {
		return badRequest("the sample takes add, replace, remove and test")
	}
	if op.Op != "remove" && op.Value == nil {
		return badRequest("the operation lacks its value")
	}
	switch name, isField := strings.CutPrefix(op.Path, "/fields/"); {
	case isField:
		return o.applyField(w, v, op, name)
	case op.Path == "/rev" && op.Op == "test":
		if strings.Trim(string(op.Value), `"`) != strconv.Itoa(len(w.revisions)) {
			return faultf(http.StatusPreconditionFailed, wit, "TestPatchOperationFailedException",
				"TF26071: the work item is at revision %d, not %s; somebody has changed it since", len(w.revisions), op.Value)
		}
		return nil
	case op.Path == "/relations/-" && op.Op == "add":
		var n relation
		if err := json.Unmarshal(op.Value, &n); err != nil || n.Rel == "" || n.URL == "" {
			return badRequest("the value of a new relation is {rel, url, attributes}")
		}
		if n.Attributes == nil {
			n.Attributes = map[string]any{}
		}
		if m := workItemURL.FindStringSubmatch(n.URL); m != nil {
			id, _ := strconv.ParseInt(m[1], 10, 64) // the pattern has digits alone; too many find nothing
			if _, err := o.item(id, nil); err != nil {
				return err
			}
		}
		v.relations = append(v.relations, n)
		return nil
	case strings.HasPrefix(op.Path, "/relations/") && op.Op == "remove":
		i, err := strconv.Atoi(strings.TrimPrefix(op.Path, "/relations/"))
		if err != nil || i < 0 || i >= len(v.relations) {
			return badRequest("the work item has no such relation; it has %d", len(v.relations))
		}
		v.relations = slices.Delete(v.relations, i, i+1)
		return nil
	}
	// How a field is written, Markdown or HTML, is taken and not kept.
	if strings.HasPrefix(op.Path, "/multilineFieldsFormat/") && op.Op == "add" {
		return nil
	}
	return badRequest("the sample can change /fields/NAME and /relations, and test /rev")
}

func (o *Org) applyField(w *workItem, v *revision, op operation, name string) error {
	f, ok := fieldNamed(name)
	if !ok || !strings.EqualFold(f.name, name) {
		return unknownField(name)
	}
	var value any
	if op.Op != "remove" {
		var err error
		if value, err = o.read(w, f, op.Value); err != nil {
			return err
		}
	}
	switch {
	case op.Op == "test":
		have, _ := v.value(f.name)
		if want := value; !sameValue(have, want) {
			return faultf(http.StatusPreconditionFailed, wit, "TestPatchOperationFailedException", "the field %s holds another value", f.name)
		}
	case f.readOnly:
		return faultf(http.StatusBadRequest, wit, "RuleValidationException", "TF401326: the field %s cannot be written", f.name)
	case value == nil:
		if f.name == "System.State" || f.kind == pathField {
			return ruleError(f.name, "it is required")
		}
		delete(v.fields, f.name)
	default:
		if err := o.rule(w, v, f, value); err != nil {
			return err
		}
		if have, ok := v.fields[f.name].(string); ok && f.name == "System.Tags" && op.Op == "add" {
			value = have + "; " + value.(string) // to add a tag is no replacement
		}
		v.fields[f.name] = value
	}
	return nil
}

// read takes a JSON value for a field; nil stands for null and the empty string.
func (o *Org) read(w *workItem, f field, raw json.RawMessage) (any, error) {
	var s string
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return nil, badRequest("the value cannot be read: %v", err)
	}
	switch x := x.(type) {
	case nil:
		return nil, nil
	case string:
		s = x
	case json.Number:
		s = x.String()
	case bool:
		s = strconv.FormatBool(x)
	case map[string]any:
		if n, ok := x["uniqueName"].(string); ok && f.kind == identityField {
			s = n
			break
		}
		return nil, badType(f)
	default:
		return nil, badType(f)
	}
	if s == "" {
		return nil, nil
	}
	switch f.kind {
	case integerField:
		if n, ok := new(big.Int).SetString(s, 10); ok {
			return json.Number(n.String()), nil
		}
		return nil, badType(f)
	case doubleField:
		if _, ok := new(big.Rat).SetString(s); ok && json.Valid([]byte(s)) {
			return json.Number(s), nil
		}
		return nil, badType(f)
	case dateField:
		if t, err := parseDate(s); err == nil {
			return t.UTC(), nil
		}
		return nil, badType(f)
	case identityField:
		if u := o.userNamed(s); u != nil {
			return u, nil
		}
		return nil, ruleError(f.name, fmt.Sprintf("%q is nobody that the organization knows", s))
	}
	return s, nil
}

func badType(f field) error {
	return faultf(http.StatusBadRequest, wit, "RuleValidationException", "TF401326: the value does not fit the type of the field %s", f.name)
}

func sameValue(a, b any) bool {
	if t, ok := a.(time.Time); ok {
		u, ok := b.(time.Time)
		return ok && t.Equal(u)
	}
	return a == b
}

// rule checks a value against what the type of work item allows.
func (o *Org) rule(w *workItem, v *revision, f field, value any) error {
	switch {
	case f.name == "System.State":
		states := statesOf(v.fields["System.WorkItemType"].(string))
		for _, s := range states {
			if strings.EqualFold(s, value.(string)) {
				return nil
			}
		}
		return ruleError(f.name, fmt.Sprintf("it is one of %s", strings.Join(states, ", ")))
	case f.name == "System.Title" && len(value.(string)) > 255:
		return ruleError(f.name, "it has more than 255 characters")
	case f.name == "Microsoft.VSTS.Common.Priority" && !slices.Contains([]string{"1", "2", "3", "4"}, value.(json.Number).String()):
		return ruleError(f.name, "it is 1, 2, 3 or 4")
	case f.kind == pathField:
		p := w.project.Name
		if s := value.(string); !strings.EqualFold(s, p) && !strings.HasPrefix(strings.ToLower(s), strings.ToLower(p)+`\`) {
			return faultf(http.StatusBadRequest, wit, "WorkItemFieldInvalidTreeNameException", `TF401347: the field %s begins with the project's name, %s\…`, f.name, p)
		}
	}
	return nil
}
