package sample

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// planningRoutes are areas and iterations, and what teams plan with them.
var planningRoutes = []route{
	{"GET /wit/classificationNodes", (*Org).listNodes},
	{"GET /wit/classificationNodes/{group}", (*Org).getNode},
	{"POST /wit/classificationNodes/{group}", (*Org).createNode},
	{"GET /wit/classificationNodes/{group}/{path...}", (*Org).getNode},
	{"POST /wit/classificationNodes/{group}/{path...}", (*Org).createNode},
	{"PATCH /wit/classificationNodes/{group}/{path...}", (*Org).updateNode},

	{"GET /work/teamSettings", (*Org).getTeamSettings},
	{"GET /work/teamSettings/teamFieldValues", (*Org).getTeamFieldValues},
	{"GET /work/teamSettings/iterations", (*Org).listTeamIterations},
	{"POST /work/teamSettings/iterations", (*Org).addTeamIteration},
	{"GET /work/teamSettings/iterations/{iteration}", (*Org).getTeamIteration},
	{"DELETE /work/teamSettings/iterations/{iteration}", (*Org).removeTeamIteration},
	{"GET /work/teamSettings/iterations/{iteration}/workItems", (*Org).listIterationWorkItems},
	{"GET /work/teamSettings/iterations/{iteration}/capacities", (*Org).listCapacities},
	{"PATCH /work/teamSettings/iterations/{iteration}/capacities/{member}", (*Org).updateCapacity},
	{"GET /work/iterations/{iteration}/iterationCapacities", (*Org).listIterationCapacities},

	{"GET /work/backlogs", (*Org).listBacklogs},
	{"GET /work/backlogs/{backlog}", (*Org).getBacklog},
	{"GET /work/backlogs/{backlog}/workItems", (*Org).listBacklogWorkItems},
	{"PATCH /work/workItemsOrder", (*Org).reorder},
	{"PATCH /work/iterations/{iteration}/workItemsOrder", (*Org).reorder},
	{"GET /work/predefinedQueries/{query}", (*Org).runPredefinedQuery},
}

// planning is the areas and iterations of a project.
type planning struct {
	areas, sprints *node
	folder         *queryItem // the root of its queries
}

// node is an area or an iteration.
type node struct {
	ID         int64      `json:"id"`
	Identifier string     `json:"identifier"`
	Name       string     `json:"name"`
	Structure  string     `json:"structureType"`
	HasChild   bool       `json:"hasChildren"`
	Children   []*node    `json:"children,omitempty"`
	Path       string     `json:"path"`
	Attributes *nodeDates `json:"attributes,omitempty"`
	URL        string     `json:"url"`
	value      string     // the path as fields of work items have it
	project    *project   // that it belongs to
}

type nodeDates struct {
	StartDate  *time.Time `json:"startDate"`
	FinishDate *time.Time `json:"finishDate"`
}

func (d *nodeDates) check() error {
	switch {
	case d == nil || d.StartDate == nil && d.FinishDate == nil:
		return nil
	case d.StartDate == nil || d.FinishDate == nil:
		return badRequest("an iteration has startDate and finishDate, or neither")
	case d.FinishDate.Before(*d.StartDate):
		return badRequest("the iteration ends before it begins")
	}
	return nil
}

// structures are the two trees of a project, by the names and numbers in paths.
var structures = enum{"areas": 0, "iterations": 1}

func (o *Org) addRoots(p *project) {
	root := func(structure, title, group string) *node {
		return &node{
			ID: o.next("node"), Identifier: guid("node", p.Name, structure), Name: p.Name, Structure: structure,
			Path: `\` + p.Name + `\` + title, URL: p.scopeURL() + "/_apis/wit/classificationNodes/" + group, value: p.Name, project: p,
		}
	}
	p.areas, p.sprints = root("area", "Area", "Areas"), root("iteration", "Iteration", "Iterations")
}

// scopeURL is where the API has what belongs to the project.
func (p *project) scopeURL() string { return PublicURL + "/" + p.ID }

// add makes a node below n.
func (o *Org) addNode(n *node, name string, dates *nodeDates) (*node, error) {
	if strings.TrimSpace(name) == "" || strings.ContainsAny(name, `\/$?*:"&><#%|+`) {
		return nil, faultf(http.StatusBadRequest, wit, "InvalidClassificationNodeNameException", "VS402371: %q cannot be the name of an area or iteration", name)
	}
	if slices.ContainsFunc(n.Children, func(c *node) bool { return strings.EqualFold(c.Name, name) }) {
		return nil, faultf(http.StatusConflict, wit, "ClassificationNodeDuplicateNameException", "TF237018: %s has %q already", n.value, name)
	}
	if err := dates.check(); err != nil {
		return nil, err
	}
	c := &node{
		ID: o.next("node"), Identifier: guid("node", n.Identifier, name), Name: name, Structure: n.Structure, Path: n.Path + `\` + name,
		Attributes: dates, URL: n.URL + "/" + url.PathEscape(name), value: n.value + `\` + name, project: n.project,
	}
	n.Children, n.HasChild = append(n.Children, c), true
	return c, nil
}

// below gives n and all under it.
func (n *node) below() []*node {
	all := []*node{n}
	for _, c := range n.Children {
		all = append(all, c.below()...)
	}
	return all
}

// cut is n with depth levels of children.
func (n *node) cut(depth int) *node {
	shown := *n
	shown.Children = nil
	if depth > 0 {
		for _, c := range n.Children {
			shown.Children = append(shown.Children, c.cut(depth-1))
		}
	}
	return &shown
}

func (o *Org) listNodes(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	depth, err := r.number("$depth", 0, 0)
	if err != nil {
		return nil, err
	}
	return listOf([]*node{r.project.areas.cut(depth), r.project.sprints.cut(depth)}), nil
}

// node finds the node that the path names.
func (o *Org) node(r *request) (*node, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	group, err := structures.parse("the group", r.PathValue("group"), "")
	if err != nil {
		return nil, err
	}
	n := r.project.areas
	if group == "iterations" {
		n = r.project.sprints
	}
	for name := range strings.FieldsFuncSeq(r.PathValue("path"), func(c rune) bool { return c == '/' || c == '\\' }) {
		i := slices.IndexFunc(n.Children, func(c *node) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return nil, faultf(http.StatusNotFound, wit, "ClassificationNodeNotFoundException", "VS402485: there is no %q below %s", name, n.value)
		}
		n = n.Children[i]
	}
	return n, nil
}

func (o *Org) getNode(r *request) (any, error) {
	n, err := o.node(r)
	if err != nil {
		return nil, err
	}
	depth, err := r.number("$depth", 0, 0)
	if err != nil {
		return nil, err
	}
	return n.cut(depth), nil
}

func (o *Org) createNode(r *request) (any, error) {
	n, err := o.node(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Name       string
		Attributes *nodeDates
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	c, err := o.addNode(n, in.Name, in.Attributes)
	if err != nil {
		return nil, err
	}
	return created{c}, nil
}

// updateNode renames a node or changes its dates; what is not given stays.
func (o *Org) updateNode(r *request) (any, error) {
	n, err := o.node(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Name       string
		Attributes *nodeDates
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	dates := nodeDates{}
	if n.Attributes != nil {
		dates = *n.Attributes
	}
	if in.Attributes != nil {
		dates.StartDate = cmp.Or(in.Attributes.StartDate, dates.StartDate)
		dates.FinishDate = cmp.Or(in.Attributes.FinishDate, dates.FinishDate)
	}
	if err := dates.check(); err != nil {
		return nil, err
	}
	if dates.StartDate != nil {
		n.Attributes = &dates
	}
	if in.Name != "" {
		cut := func(s string) string { return strings.TrimSuffix(s, n.Name) + in.Name }
		old := n.value
		n.Path, n.value, n.Name = cut(n.Path), cut(n.value), in.Name
		for _, w := range o.itemsOf(r.project) {
			for _, f := range []string{"System.IterationPath", "System.AreaPath"} {
				if w.now().fields[f] == old {
					w.now().fields[f] = n.value
				}
			}
		}
	}
	return n.cut(0), nil
}

// teamInPath gives the team of the path, or the project's default team.
func (r *request) teamInPath() (*team, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	if r.team == nil {
		return r.project.teams[0], nil
	}
	return r.team, nil
}

func (t *team) settingsURL() string {
	return PublicURL + "/" + t.ProjectID + "/" + t.ID + "/_apis/work/teamsettings"
}

func (o *Org) getTeamSettings(r *request) (any, error) {
	t, err := r.teamInPath()
	if err != nil {
		return nil, err
	}
	root := r.project.sprints
	short := func(n *node) object {
		return object{"id": n.Identifier, "name": n.Name, "path": strings.TrimPrefix(n.value, r.project.Name), "url": t.settingsURL() + "/iterations/" + n.Identifier}
	}
	settings := object{
		"backlogIteration": short(root), "bugsBehavior": "asRequirements",
		"workingDays":           []string{"monday", "tuesday", "wednesday", "thursday", "friday"},
		"backlogVisibilities":   object{"Microsoft.EpicCategory": false, "Microsoft.FeatureCategory": true, "Microsoft.RequirementCategory": true},
		"defaultIterationMacro": "@currentIteration", "url": t.settingsURL(),
	}
	if n := o.current(r.project, t); n != nil {
		settings["defaultIteration"] = short(n)
	}
	return settings, nil
}

func (o *Org) getTeamFieldValues(r *request) (any, error) {
	t, err := r.teamInPath()
	if err != nil {
		return nil, err
	}
	return object{
		"field":        object{"referenceName": "System.AreaPath", "url": PublicURL + "/_apis/wit/fields/System.AreaPath"},
		"defaultValue": r.project.Name,
		"values":       []object{{"value": r.project.Name, "includeChildren": t == r.project.teams[0]}},
		"url":          t.settingsURL() + "/teamfieldvalues",
	}, nil
}

// timeFrame says whether an iteration is past, current or future.
func (o *Org) timeFrame(n *node) string {
	today := o.time()
	switch {
	case n.Attributes == nil || n.Attributes.StartDate == nil || n.Attributes.StartDate.After(today):
		return "future"
	case n.Attributes.FinishDate.AddDate(0, 0, 1).Before(today):
		return "past"
	}
	return "current"
}

// current gives the iteration that a team works in; nil for none.
func (o *Org) current(p *project, t *team) *node {
	for _, n := range p.sprints.below() {
		if slices.Contains(t.iterations, n.Identifier) && o.timeFrame(n) == "current" {
			return n
		}
	}
	return nil
}

func (o *Org) teamIteration(t *team, n *node) object {
	attributes := object{"startDate": nil, "finishDate": nil, "timeFrame": o.timeFrame(n)}
	if n.Attributes != nil {
		attributes["startDate"], attributes["finishDate"] = n.Attributes.StartDate, n.Attributes.FinishDate
	}
	return object{"id": n.Identifier, "name": n.Name, "path": n.value, "attributes": attributes, "url": t.settingsURL() + "/iterations/" + n.Identifier}
}

func (o *Org) listTeamIterations(r *request) (any, error) {
	t, err := r.teamInPath()
	if err != nil {
		return nil, err
	}
	frame := r.URL.Query().Get("$timeframe")
	if frame != "" && !strings.EqualFold(frame, "current") {
		return nil, badRequest("$timeframe can be current alone, not %q", frame)
	}
	found := []object{}
	for _, n := range r.project.sprints.below() {
		if slices.Contains(t.iterations, n.Identifier) && (frame == "" || o.timeFrame(n) == "current") {
			found = append(found, o.teamIteration(t, n))
		}
	}
	return listOf(found), nil
}

// iterationNamed finds an iteration of a project by its ID.
func (o *Org) iterationNamed(p *project, id string) (*node, error) {
	for _, n := range p.sprints.below() {
		if strings.EqualFold(n.Identifier, id) {
			return n, nil
		}
	}
	return nil, faultf(http.StatusNotFound, wit, "InvalidTeamSettingsIterationException", "there is no iteration with the ID %q in project %s", id, p.Name)
}

func (o *Org) addTeamIteration(r *request) (any, error) {
	t, err := r.teamInPath()
	if err != nil {
		return nil, err
	}
	var in struct{ ID, Path string }
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	n, err := o.iterationNamed(r.project, in.ID)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.iterations, n.Identifier) {
		t.iterations = append(t.iterations, n.Identifier)
	}
	return o.teamIteration(t, n), nil
}

// iteration finds the team and the iteration that the path names.
func (o *Org) iteration(r *request) (*team, *node, error) {
	t, err := r.teamInPath()
	if err != nil {
		return nil, nil, err
	}
	n, err := o.iterationNamed(r.project, r.PathValue("iteration"))
	return t, n, err
}

func (o *Org) getTeamIteration(r *request) (any, error) {
	t, n, err := o.iteration(r)
	if err != nil {
		return nil, err
	}
	return o.teamIteration(t, n), nil
}

func (o *Org) removeTeamIteration(r *request) (any, error) {
	t, n, err := o.iteration(r)
	if err != nil {
		return nil, err
	}
	t.iterations = slices.DeleteFunc(t.iterations, func(id string) bool { return id == n.Identifier })
	return nil, nil
}

func (o *Org) listIterationWorkItems(r *request) (any, error) {
	t, n, err := o.iteration(r)
	if err != nil {
		return nil, err
	}
	relations := []object{}
	for _, w := range o.itemsOf(r.project) {
		if w.now().fields["System.IterationPath"] != n.value {
			continue
		}
		relation := object{"rel": nil, "source": nil, "target": foundItem{w.ID, w.URL}}
		if parent, ok := w.now().value("System.Parent"); ok {
			id, _ := strconv.ParseInt(plain(parent), 10, 64)
			relation["rel"], relation["source"] = "System.LinkTypes.Hierarchy-Forward", foundItem{id, workItemAt(r.project, id)}
		}
		relations = append(relations, relation)
	}
	return object{"workItemRelations": relations, "url": t.settingsURL() + "/iterations/" + n.Identifier + "/workitems"}, nil
}

// itemsOf gives the work items of a project.
func (o *Org) itemsOf(p *project) []*workItem {
	return slices.DeleteFunc(slices.Clone(o.items), func(w *workItem) bool { return w.project != p })
}

func workItemAt(p *project, id int64) string {
	return fmt.Sprintf("%s/_apis/wit/workItems/%d", p.scopeURL(), id)
}

// capacity is how much a member of a team works in an iteration.
type capacity struct {
	Activities []struct {
		Name           string  `json:"name"`
		CapacityPerDay float64 `json:"capacityPerDay"`
	} `json:"activities"`
	DaysOff []struct {
		Start time.Time `json:"start"`
		End   time.Time `json:"end"`
	} `json:"daysOff"`
}

// capacityOf gives what a member planned; nothing when that is nothing.
func (t *team) capacityOf(n *node, u *identity) object {
	c := t.capacities[n.Identifier+u.ID]
	return object{
		"teamMember": u, "activities": append(c.Activities[:0:0], c.Activities...), "daysOff": append(c.DaysOff[:0:0], c.DaysOff...),
		"url": t.settingsURL() + "/iterations/" + n.Identifier + "/capacities/" + u.ID,
	}
}

// total is the hours of a day and the days off that members planned.
func (t *team) total(n *node) (perDay float64, daysOff int) {
	for _, u := range t.members {
		c := t.capacities[n.Identifier+u.ID]
		for _, a := range c.Activities {
			perDay += a.CapacityPerDay
		}
		for _, d := range c.DaysOff {
			daysOff += int(d.End.Sub(d.Start).Hours()/24) + 1
		}
	}
	return perDay, daysOff
}

func (o *Org) listCapacities(r *request) (any, error) {
	t, n, err := o.iteration(r)
	if err != nil {
		return nil, err
	}
	members := []object{}
	for _, u := range t.members {
		members = append(members, t.capacityOf(n, u))
	}
	perDay, daysOff := t.total(n)
	return object{"teamMembers": members, "totalCapacityPerDay": perDay, "totalDaysOff": daysOff}, nil
}

func (o *Org) updateCapacity(r *request) (any, error) {
	t, n, err := o.iteration(r)
	if err != nil {
		return nil, err
	}
	u, err := o.user(r.PathValue("member"))
	if err != nil {
		return nil, err
	}
	c := t.capacities[n.Identifier+u.ID]
	if err := r.decode(&c, mediaJSON); err != nil { // what is not given stays
		return nil, err
	}
	t.capacities[n.Identifier+u.ID] = c
	return t.capacityOf(n, u), nil
}

func (o *Org) listIterationCapacities(r *request) (any, error) {
	_, n, err := o.iteration(r)
	if err != nil {
		return nil, err
	}
	teams := []object{}
	var perDay float64
	var daysOff int
	for _, t := range r.project.teams {
		if slices.Contains(t.iterations, n.Identifier) {
			p, d := t.total(n)
			perDay, daysOff = perDay+p, daysOff+d
			teams = append(teams, object{"teamId": t.ID, "teamCapacityPerDay": p, "teamTotalDaysOff": d})
		}
	}
	return object{"teams": teams, "totalIterationCapacityPerDay": perDay, "totalIterationDaysOff": daysOff}, nil
}

// backlogs are the levels of the backlog, highest first.
var backlogs = []struct {
	id, name, kind string
	rank           int
	types          []string
}{
	{"Microsoft.EpicCategory", "Epics", "portfolio", 4, []string{"Epic"}},
	{"Microsoft.FeatureCategory", "Features", "portfolio", 3, []string{"Feature"}},
	{"Microsoft.RequirementCategory", "Stories", "requirement", 2, []string{"User Story", "Bug"}},
	{"Microsoft.TaskCategory", "Tasks", "task", 1, []string{"Task"}},
}

func (o *Org) listBacklogs(r *request) (any, error) {
	if _, err := r.teamInPath(); err != nil {
		return nil, err
	}
	levels := []object{}
	for i := range backlogs {
		levels = append(levels, backlogLevel(i))
	}
	return listOf(levels), nil
}

func backlogLevel(i int) object {
	b := backlogs[i]
	types := []object{}
	for _, t := range b.types {
		types = append(types, object{"name": t, "url": PublicURL + "/_apis/wit/workItemTypes/" + url.PathEscape(t)})
	}
	return object{"id": b.id, "name": b.name, "rank": b.rank, "type": b.kind, "workItemTypes": types, "defaultWorkItemType": types[0], "isHidden": b.rank == 4}
}

func backlogNamed(name string) (int, error) {
	for i, b := range backlogs {
		if strings.EqualFold(b.id, name) || strings.EqualFold(b.name, name) {
			return i, nil
		}
	}
	return 0, faultf(http.StatusNotFound, wit, "BacklogLevelNotFoundException", "there is no backlog %q; there are Epics, Features, Stories and Tasks", name)
}

func (o *Org) getBacklog(r *request) (any, error) {
	if _, err := r.teamInPath(); err != nil {
		return nil, err
	}
	i, err := backlogNamed(r.PathValue("backlog"))
	if err != nil {
		return nil, err
	}
	return backlogLevel(i), nil
}

func (o *Org) listBacklogWorkItems(r *request) (any, error) {
	if _, err := r.teamInPath(); err != nil {
		return nil, err
	}
	i, err := backlogNamed(r.PathValue("backlog"))
	if err != nil {
		return nil, err
	}
	found := []*workItem{}
	for _, w := range o.itemsOf(r.project) {
		v := w.now().fields
		if slices.Contains(backlogs[i].types, v["System.WorkItemType"].(string)) && v["System.State"] != "Closed" {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, func(a, b *workItem) int { return strings.Compare(rank(a), rank(b)) })
	items := []object{}
	for _, w := range found {
		items = append(items, object{"rel": nil, "source": nil, "target": foundItem{w.ID, w.URL}})
	}
	return object{"workItems": items}, nil
}

// rank is where a work item stands in its backlog, as a text that sorts so. One
// without a rank stands last.
func rank(w *workItem) string {
	x, ok := w.now().fields["Microsoft.VSTS.Common.StackRank"]
	f, err := strconv.ParseFloat(plain(x), 64)
	if !ok || err != nil {
		f = 1e12
	}
	return fmt.Sprintf("%020.3f", f)
}

// reorder puts work items behind one and before another.
func (o *Org) reorder(r *request) (any, error) {
	if _, err := r.teamInPath(); err != nil {
		return nil, err
	}
	var in struct {
		IDs                  []int64
		ParentID             int64
		PreviousID, NextID   int64
		IterationPath        string
		ParentWorkItemTypeID string
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if len(in.IDs) == 0 {
		return nil, badRequest("ids holds no work item")
	}
	order := []object{}
	from := 1000000.0
	if in.PreviousID != 0 {
		w, err := o.item(in.PreviousID, r.project)
		if err != nil {
			return nil, err
		}
		if f, err := strconv.ParseFloat(plain(w.now().fields["Microsoft.VSTS.Common.StackRank"]), 64); err == nil {
			from = f + 1
		}
	}
	for i, id := range in.IDs {
		w, err := o.item(id, r.project)
		if err != nil {
			return nil, err
		}
		place := from + float64(i)
		if err := o.change(w, []operation{{Op: "add", Path: "/fields/Microsoft.VSTS.Common.StackRank", Value: fmt.Appendf(nil, "%.0f", place)}}); err != nil {
			return nil, err
		}
		order = append(order, object{"id": id, "order": place})
	}
	return listOf(order), nil
}

func (o *Org) runPredefinedQuery(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	top, err := r.number("$top", 1, 200)
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(r.PathValue("query"))
	titles := map[string]string{"assignedtome": "Assigned to me", "myactivity": "My activity", "mentioned": "Mentioned", "following": "Following"}
	if titles[name] == "" {
		return nil, faultf(http.StatusNotFound, wit, "PredefinedQueryNotFoundException", "there is no predefined query %q", name)
	}
	found := []foundItem{}
	for _, w := range o.itemsOf(r.project) {
		v := w.now().fields
		mine := name == "myactivity" && v["System.ChangedBy"] == o.me() || name == "assignedtome" && v["System.AssignedTo"] == o.me()
		if mine && (r.flag("includeCompleted") || v["System.State"] != "Closed") {
			found = append(found, foundItem{w.ID, w.URL})
		}
	}
	shown := found[:min(top, len(found))]
	return object{
		"id": name, "name": titles[name], "results": shown, "hasMore": len(shown) < len(found),
		"url":    r.project.scopeURL() + "/_apis/work/predefinedQueries/" + name,
		"webUrl": r.project.webURL() + "/_workitems/" + name,
	}, nil
}
