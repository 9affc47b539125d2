package sample

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pipelineRoutes are pipelines, which some of the API calls build definitions,
// and their runs, which it calls builds.
var pipelineRoutes = []route{
	{"GET /build/definitions", (*Org).listDefinitions},
	{"GET /build/definitions/{definition}", one((*Org).definition, func(_ *Org, d *definition) any { return d.full() })},
	{"PUT /build/definitions/{definition}", (*Org).replaceDefinition},
	{"GET /build/definitions/{definition}/revisions", one((*Org).definition, func(_ *Org, d *definition) any { return listOf(d.revisions) })},

	{"GET /build/builds", (*Org).listBuilds},
	{"GET /build/builds/{build}", one((*Org).build, func(_ *Org, b *build) any { return b.show() })},
	{"PATCH /build/builds/{build}", (*Org).updateBuild},
	{"GET /build/builds/{build}/report", (*Org).getBuildReport},
	{"GET /build/builds/{build}/changes", (*Org).listBuildChanges},
	{"GET /build/builds/{build}/workItems", (*Org).listBuildWorkItems},
	{"GET /build/builds/{build}/timeline", (*Org).getTimeline},
	{"GET /build/builds/{build}/logs", (*Org).listLogs},
	{"GET /build/builds/{build}/logs/{log}", (*Org).getLog},
	{"GET /build/builds/{build}/artifacts", (*Org).getArtifacts},
	{"PATCH /build/builds/{build}/stages/{stage}", (*Org).updateStage},

	{"GET /pipelines/approvals", (*Org).listApprovals},
	{"PATCH /pipelines/approvals", (*Org).updateApprovals},
	{"GET /pipelines", (*Org).listPipelines},
	{"POST /pipelines", (*Org).createPipeline},
	{"GET /pipelines/{definition}", one((*Org).definition, func(_ *Org, d *definition) any { return d.pipeline() })},
	{"GET /pipelines/{definition}/runs", (*Org).listRuns},
	{"POST /pipelines/{definition}/runs", (*Org).createRun},
	{"GET /pipelines/{definition}/runs/{build}", (*Org).getRun},
}

// building is the part of Azure DevOps that runs pipelines.
const building = "Microsoft.TeamFoundation.Build.WebApi"

// definition is a pipeline.
type definition struct {
	ID        int64
	Name      string
	Folder    string // \ or \folder
	YAML      string // path of the file
	repo      *repository
	project   *project
	revisions []definitionRevision
}

type definitionRevision struct {
	Revision    int       `json:"revision"`
	Name        string    `json:"name"`
	ChangedBy   *identity `json:"changedBy"`
	ChangedDate time.Time `json:"changedDate"`
	ChangeType  string    `json:"changeType"`
	Comment     string    `json:"comment,omitempty"`
}

// The enumerations of builds.
var (
	buildStates  = enum{"none": 0, "inProgress": 1, "completed": 2, "cancelling": 4, "postponed": 8, "notStarted": 32, "all": 47}
	buildResults = enum{"none": 0, "succeeded": 2, "partiallySucceeded": 4, "failed": 8, "canceled": 32}
	buildReasons = enum{"none": 0, "manual": 1, "individualCI": 2, "batchedCI": 4, "schedule": 8, "pullRequest": 256, "all": 2031}
	buildOrders  = enum{"finishTimeAscending": 2, "finishTimeDescending": 3, "queueTimeDescending": 4, "queueTimeAscending": 5, "startTimeDescending": 6, "startTimeAscending": 7}
	stageChanges = enum{"cancel": 0, "retry": 1, "run": 2}
)

// build is one run of a pipeline.
type build struct {
	ID                             int64
	Number, Status, Result, Reason string
	Branch, Commit                 string
	Queued                         time.Time
	Started, Finished              *time.Time
	By                             *identity
	Tags                           []string
	Parameters                     map[string]any
	definition                     *definition
	records                        []*record
}

// record is a step of a build's timeline, and what it is part of.
type record struct {
	ID, ParentID, Type, Name string
	State, Result            string
	Order                    int
	Errors                   []string
	Log                      int // 0 for none
	Lines                    []string
}

func (o *Org) addDefinition(p *project, name, folder, yaml string, repo *repository) *definition {
	d := &definition{ID: o.next("build definition"), Name: name, Folder: folder, YAML: yaml, repo: repo, project: p}
	d.change(o, "add", "")
	o.definitions = append(o.definitions, d)
	return d
}

func (d *definition) change(o *Org, kind, comment string) {
	d.revisions = append(d.revisions, definitionRevision{len(d.revisions) + 1, d.Name, o.me(), o.now(), kind, comment})
}

func (d *definition) short() object {
	return object{
		"id": d.ID, "name": d.Name, "path": d.Folder, "revision": len(d.revisions), "type": "build", "queueStatus": "enabled",
		"project": d.project.projectRef, "uri": fmt.Sprintf("vstfs:///Build/Definition/%d", d.ID),
		"url": fmt.Sprintf("%s/_apis/build/Definitions/%d?revision=%d", d.project.scopeURL(), d.ID, len(d.revisions)),
	}
}

func (d *definition) webURL() string {
	return fmt.Sprintf("%s/_build?definitionId=%d", d.project.webURL(), d.ID)
}

func (d *definition) full() object {
	v := d.short()
	v["quality"], v["authoredBy"], v["createdDate"] = "definition", d.revisions[0].ChangedBy, d.revisions[0].ChangedDate
	v["process"] = object{"yamlFilename": d.YAML, "type": 2}
	v["repository"] = object{"id": d.repo.ID, "name": d.repo.Name, "type": "TfsGit", "defaultBranch": d.repo.DefaultBranch, "url": d.repo.RemoteURL}
	v["_links"] = map[string]link{"web": {d.webURL()}}
	return v
}

func (b *build) webURL() string {
	return fmt.Sprintf("%s/_build/results?buildId=%d", b.definition.project.webURL(), b.ID)
}

func (b *build) url() string {
	return fmt.Sprintf("%s/_apis/build/Builds/%d", b.definition.project.scopeURL(), b.ID)
}

func (b *build) show() object {
	v := object{
		"id": b.ID, "buildNumber": b.Number, "status": b.Status, "reason": b.Reason, "queueTime": b.Queued,
		"definition": b.definition.short(), "project": b.definition.project.projectRef, "sourceBranch": b.Branch, "sourceVersion": b.Commit,
		"requestedFor": b.By, "requestedBy": b.By, "tags": append([]string{}, b.Tags...), "priority": "normal",
		"repository": object{"id": b.definition.repo.ID, "type": "TfsGit", "name": b.definition.repo.Name},
		"uri":        fmt.Sprintf("vstfs:///Build/Build/%d", b.ID), "url": b.url(), "_links": map[string]link{"web": {b.webURL()}},
	}
	if b.Result != "" {
		v["result"] = b.Result
	}
	if b.Started != nil {
		v["startTime"] = b.Started
	}
	if b.Finished != nil {
		v["finishTime"] = b.Finished
	}
	return v
}

// run is a build as the newer part of the API shows it.
func (b *build) run() object {
	states := map[string]string{"completed": "completed", "cancelling": "canceling"}
	v := object{
		"id": b.ID, "name": b.Number, "state": cmp.Or(states[b.Status], "inProgress"), "createdDate": b.Queued,
		"pipeline":  object{"id": b.definition.ID, "name": b.definition.Name, "folder": b.definition.Folder, "revision": len(b.definition.revisions)},
		"resources": object{"repositories": object{"self": object{"refName": b.Branch, "version": b.Commit, "repository": object{"id": b.definition.repo.ID, "type": "azureReposGit"}}}},
		"url":       fmt.Sprintf("%s/_apis/pipelines/%d/runs/%d", b.definition.project.scopeURL(), b.definition.ID, b.ID), "_links": map[string]link{"web": {b.webURL()}},
	}
	if b.Result != "" {
		v["result"], v["finishedDate"] = b.Result, b.Finished
	}
	if len(b.Parameters) > 0 {
		v["templateParameters"] = b.Parameters
	}
	return v
}

// addBuild queues a build of a branch. It runs on no machine, so that it stays as
// it is until it is told otherwise.
func (o *Org) addBuild(d *definition, branch, reason string, by *identity) (*build, error) {
	f := d.repo.ref(branch)
	if f == nil {
		return nil, faultf(http.StatusBadRequest, building, "BuildRequestValidationFailedException", "there is no branch %q in repository %s", branch, d.repo.Name)
	}
	now := o.now()
	b := &build{
		ID: o.next("build"), Status: "inProgress", Reason: reason, Branch: branch, Commit: f.ObjectID, Queued: now, Started: &now, By: by, definition: d,
	}
	b.Number = fmt.Sprintf("%s.%d", now.Format("20060102"), b.ID)
	o.builds = append(o.builds, b)
	return b, nil
}

// end completes a build with the steps that it had.
func (o *Org) end(b *build, result string, steps ...record) {
	now := o.now()
	b.Status, b.Result, b.Finished = "completed", result, &now
	log := 0
	for i, s := range steps {
		s.ID, s.Order = guid("record", strconv.FormatInt(b.ID, 10), s.Name), i+1
		if s.ParentID != "" {
			s.ParentID = guid("record", strconv.FormatInt(b.ID, 10), s.ParentID)
		}
		s.State, s.Result = "completed", cmp.Or(s.Result, "succeeded")
		if len(s.Lines) > 0 {
			log++
			s.Log = log
		}
		b.records = append(b.records, &s)
	}
}

// wildcard matches a name whatever its case, * standing for anything.
func wildcard(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}

// numbers reads a list of whole numbers, joined by commas, from the query.
func (r *request) numbers(name string) ([]int64, error) {
	var all []int64
	for s := range strings.SplitSeq(r.URL.Query().Get(name), ",") {
		if s == "" {
			continue
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, badRequest("%s holds %q, which is no number", name, s)
		}
		all = append(all, n)
	}
	return all, nil
}

func (o *Org) listDefinitions(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	ids, err := r.numbers("definitionIds")
	if err != nil {
		return nil, err
	}
	if q.Get("repositoryId") != "" && q.Get("repositoryType") == "" {
		return nil, badRequest("repositoryId needs repositoryType")
	}
	all := []object{}
	for _, d := range o.definitions {
		if d.project == r.project && (len(ids) == 0 || slices.Contains(ids, d.ID)) &&
			(q.Get("name") == "" || wildcard(q.Get("name"), d.Name)) &&
			(q.Get("path") == "" || strings.EqualFold(q.Get("path"), d.Folder)) &&
			(q.Get("repositoryId") == "" || q.Get("repositoryType") == "TfsGit" && strings.EqualFold(q.Get("repositoryId"), d.repo.ID)) {
			v := d.short()
			if r.flag("includeAllProperties") {
				v = d.full()
			}
			v["authoredBy"], v["createdDate"] = d.revisions[0].ChangedBy, d.revisions[0].ChangedDate
			if r.flag("includeLatestBuilds") {
				for _, b := range o.builds {
					if b.definition == d {
						v["latestBuild"] = b.show()
						if b.Status == "completed" {
							v["latestCompletedBuild"] = b.show()
						}
					}
				}
			}
			all = append(all, v)
		}
	}
	order := q.Get("queryOrder")
	slices.SortStableFunc(all, func(a, b object) int {
		c := 0
		switch strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(order), "ascending"), "descending") {
		case "definitionname":
			c = strings.Compare(a["name"].(string), b["name"].(string))
		case "lastmodified":
			c = cmp.Compare(a["revision"].(int), b["revision"].(int))
		}
		if strings.HasSuffix(strings.ToLower(order), "descending") {
			c = -c
		}
		return c
	})
	top, err := r.number("$top", 1, 10000)
	if err != nil {
		return nil, err
	}
	if all, err = pageAfter(r, all, q.Get("continuationToken"), top); err != nil {
		return nil, err
	}
	return listOf(all), nil
}

// definition finds the pipeline that the path names.
func (o *Org) definition(r *request) (*definition, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	id, _ := r.pathNumber("definition")
	for _, d := range o.definitions {
		if d.ID == id && d.project == r.project {
			return d, nil
		}
	}
	return nil, faultf(http.StatusNotFound, building, "DefinitionNotFoundException", "TF215016: there is no build definition %s in project %s", r.PathValue("definition"), r.project.Name)
}

func (o *Org) replaceDefinition(r *request) (any, error) {
	d, err := o.definition(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		ID       int64
		Name     string
		Revision int
		Path     string
		Comment  string
		Process  *struct{ YamlFilename string }
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	switch {
	case in.ID != d.ID || in.Name == "" || in.Process == nil:
		return nil, badRequest("the body must be the whole definition %d, as it was read", d.ID)
	case in.Revision != len(d.revisions):
		return nil, faultf(http.StatusConflict, building, "DefinitionOutOfDateException", "definition %d is at revision %d, not %d: somebody has changed it since", d.ID, len(d.revisions), in.Revision)
	case slices.ContainsFunc(o.definitions, func(x *definition) bool {
		return x != d && x.project == d.project && strings.EqualFold(x.Name, in.Name) && strings.EqualFold(x.Folder, in.Path)
	}):
		return nil, faultf(http.StatusConflict, building, "DefinitionExistsException", "there is a definition %q in %s already", in.Name, in.Path)
	}
	d.Name, d.Folder, d.YAML = in.Name, cmp.Or(in.Path, d.Folder), in.Process.YamlFilename
	d.change(o, "update", in.Comment)
	return d.full(), nil
}

func (o *Org) listBuilds(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	ids, err := r.numbers("buildIds")
	if err != nil {
		return nil, err
	}
	of, err := r.numbers("definitions")
	if err != nil {
		return nil, err
	}
	status, err := buildStates.parse("statusFilter", q.Get("statusFilter"), "all")
	if err != nil {
		return nil, err
	}
	result, err := buildResults.parse("resultFilter", q.Get("resultFilter"), "")
	if err != nil {
		return nil, err
	}
	reason, err := buildReasons.parse("reasonFilter", q.Get("reasonFilter"), "all")
	if err != nil {
		return nil, err
	}
	order, err := buildOrders.parse("queryOrder", q.Get("queryOrder"), "queueTimeDescending")
	if err != nil {
		return nil, err
	}
	if b := q.Get("branchName"); b != "" && !strings.HasPrefix(b, "refs/") {
		return nil, badRequest("branchName is a full ref, refs/heads/…, not %q", b)
	}
	found := slices.DeleteFunc(slices.Clone(o.builds), func(b *build) bool {
		is := func(want, have string) bool { return want == "" || strings.EqualFold(want, have) }
		return b.definition.project != r.project || len(ids) > 0 && !slices.Contains(ids, b.ID) || len(of) > 0 && !slices.Contains(of, b.definition.ID) ||
			status != "all" && b.Status != status || result != "" && b.Result != result || reason != "all" && b.Reason != reason ||
			!is(q.Get("branchName"), b.Branch) || !is(q.Get("buildNumber"), b.Number) ||
			q.Get("requestedFor") != "" && o.userNamed(q.Get("requestedFor")) != b.By ||
			q.Get("tagFilters") != "" && !slices.ContainsFunc(strings.Split(q.Get("tagFilters"), ","), func(t string) bool { return slices.Contains(b.Tags, t) })
	})
	slices.SortStableFunc(found, func(a, b *build) int {
		if strings.HasSuffix(order, "Descending") {
			a, b = b, a
		}
		return cmp.Compare(a.ID, b.ID) // builds begin and end in the order of their numbers
	})
	top, err := r.number("$top", 1, 1000)
	if err != nil {
		return nil, err
	}
	if found, err = pageAfter(r, found, q.Get("continuationToken"), top); err != nil {
		return nil, err
	}
	all := []object{}
	for _, b := range found {
		all = append(all, b.show())
	}
	return listOf(all), nil
}

// build finds the build that the path names.
func (o *Org) build(r *request) (*build, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	id, _ := r.pathNumber("build")
	for _, b := range o.builds {
		if b.ID == id && b.definition.project == r.project {
			return b, nil
		}
	}
	return nil, faultf(http.StatusNotFound, building, "BuildNotFoundException", "TF209001: there is no build %s in project %s", r.PathValue("build"), r.project.Name)
}

func (o *Org) updateBuild(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Status  text
		AddTags []string
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if r.flag("retry") {
		if b.Status != "completed" || b.Result == "succeeded" {
			return nil, faultf(http.StatusConflict, building, "InvalidBuildException", "build %d has nothing to retry: it is %s", b.ID, cmp.Or(b.Result, b.Status))
		}
		b.Status, b.Result, b.Finished = "inProgress", "", nil
		return b.show(), nil
	}
	if in.Status != "" {
		status, err := buildStates.parse("status", string(in.Status), "")
		if err != nil {
			return nil, err
		}
		if status != "cancelling" {
			return nil, badRequest("a build can become cancelling alone, not %s", status)
		}
		if b.Status == "completed" {
			return nil, faultf(http.StatusBadRequest, building, "BuildStatusInvalidChangeException", "build %d is completed and cannot be cancelled", b.ID)
		}
		b.Status = status
	}
	return b.show(), nil
}

func (o *Org) getBuildReport(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	return object{"buildId": b.ID, "type": "html", "content": fmt.Sprintf("<h1>%s %s</h1><p>%s</p>", b.definition.Name, b.Number, cmp.Or(b.Result, b.Status))}, nil
}

func (o *Org) listBuildChanges(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	base := ""
	if f := b.definition.repo.ref(b.definition.repo.DefaultBranch); f != nil && f.ObjectID != b.Commit {
		base = f.ObjectID
	}
	changes := []object{}
	for _, c := range b.definition.repo.since(b.Commit, base) {
		changes = append(changes, object{
			"id": c.CommitID, "message": c.Comment, "type": "TfsGit", "author": o.me(), "timestamp": c.Author.Date,
			"location": c.URL, "displayUri": c.RemoteURL,
		})
	}
	top, err := r.number("$top", 1, 50)
	if err != nil {
		return nil, err
	}
	if changes, err = pageAfter(r, changes, r.URL.Query().Get("continuationToken"), top); err != nil {
		return nil, err
	}
	return listOf(changes), nil
}

func (o *Org) listBuildWorkItems(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	refs := []resourceRef{}
	for _, p := range o.pulls {
		if p.repo == b.definition.repo && p.SourceRefName == b.Branch {
			refs = append(refs, p.WorkItemRefs...)
		}
	}
	return listOf(refs), nil
}

func (o *Org) getTimeline(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	if len(b.records) == 0 {
		return nil, nil // it has not begun
	}
	records := []object{}
	for _, s := range b.records {
		v := object{
			"id": s.ID, "parentId": nil, "type": s.Type, "name": s.Name, "identifier": strings.ReplaceAll(s.Name, " ", "_"), "order": s.Order, "state": s.State, "result": nil, "attempt": 1,
			"startTime": b.Started, "finishTime": b.Finished, "errorCount": len(s.Errors), "warningCount": 0, "log": nil,
		}
		if s.ParentID != "" {
			v["parentId"] = s.ParentID
		}
		if s.Result != "" {
			v["result"] = s.Result
		}
		issues := []object{}
		for _, e := range s.Errors {
			issues = append(issues, object{"type": "error", "category": "General", "message": e})
		}
		v["issues"] = issues
		if s.Log > 0 {
			v["log"] = object{"id": s.Log, "type": "Container", "url": fmt.Sprintf("%s/logs/%d", b.url(), s.Log)}
		}
		records = append(records, v)
	}
	id := guid("timeline", strconv.FormatInt(b.ID, 10))
	return object{"id": id, "changeId": 1, "records": records, "url": b.url() + "/Timeline/" + id}, nil
}

func (o *Org) listLogs(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	logs := []object{}
	for _, s := range b.records {
		if s.Log > 0 {
			logs = append(logs, object{"id": s.Log, "type": "Container", "lineCount": len(s.Lines), "createdOn": b.Started, "url": fmt.Sprintf("%s/logs/%d", b.url(), s.Log)})
		}
	}
	return listOf(logs), nil
}

func (o *Org) getLog(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	id, _ := r.pathNumber("log")
	i := slices.IndexFunc(b.records, func(s *record) bool { return s.Log > 0 && int64(s.Log) == id })
	if i < 0 {
		return nil, faultf(http.StatusNotFound, building, "BuildLogNotFoundException", "build %d has no log %s", b.ID, r.PathValue("log"))
	}
	var lines []string
	for n, l := range b.records[i].Lines {
		lines = append(lines, b.Started.Add(time.Duration(n)*time.Second).Format("2006-01-02T15:04:05.0000000Z")+" "+l)
	}
	from, err := r.number("startLine", 0, 0)
	if err != nil {
		return nil, err
	}
	to, err := r.number("endLine", 0, len(lines))
	if err != nil {
		return nil, err
	}
	to = min(to, len(lines))
	return listOf(lines[min(from, to):to]), nil
}

// getArtifacts gives the artifacts of a build, one of them, or what is in that.
func (o *Org) getArtifacts(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	all := []object{}
	if b.Result == "succeeded" {
		at := b.url() + "/artifacts?artifactName=drop"
		all = append(all, object{"id": b.ID*10 + 1, "name": "drop", "source": guid("record", strconv.FormatInt(b.ID, 10), "Job"), "resource": object{
			"type": "PipelineArtifact", "data": "drop", "properties": object{"artifactsize": "10"}, "url": at, "downloadUrl": at + "&%24format=zip",
		}})
	}
	name := r.URL.Query().Get("artifactName")
	if name == "" {
		return listOf(all), nil
	}
	if len(all) == 0 || !strings.EqualFold(name, "drop") {
		return nil, faultf(http.StatusNotFound, building, "ArtifactNotFoundException", "build %d has no artifact %q", b.ID, name)
	}
	if !strings.Contains(r.Header.Get("Accept"), "zip") && r.URL.Query().Get("$format") != "zip" {
		return all[0], nil
	}
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	f, err := w.Create("drop/version.txt")
	if err == nil {
		_, err = fmt.Fprintf(f, "%s\n", b.Number)
	}
	if err == nil {
		err = w.Close()
	}
	return raw{"application/zip", z.Bytes()}, err
}

func (o *Org) updateStage(r *request) (any, error) {
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		State             text
		ForceRetryAllJobs bool
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	state, err := stageChanges.parse("state", string(in.State), "")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(b.records, func(s *record) bool {
		return s.Type == "Stage" && strings.EqualFold(strings.ReplaceAll(s.Name, " ", "_"), r.PathValue("stage"))
	})
	if i < 0 {
		return nil, faultf(http.StatusNotFound, building, "StageNotFoundException", "build %d has no stage %q", b.ID, r.PathValue("stage"))
	}
	if state == "cancel" && b.records[i].State == "completed" {
		return nil, faultf(http.StatusBadRequest, building, "InvalidStageStateException", "the stage %q is completed and cannot be cancelled", b.records[i].Name)
	}
	if state != "cancel" {
		b.records[i].State, b.records[i].Result = "pending", ""
		b.Status, b.Result, b.Finished = "inProgress", "", nil
	}
	return nil, nil
}

// pipeline is a definition as the newer part of the API shows it.
func (d *definition) pipeline() object {
	return object{
		"id": d.ID, "name": d.Name, "folder": d.Folder, "revision": len(d.revisions), "_links": map[string]link{"web": {d.webURL()}},
		"configuration": object{"type": "yaml", "path": d.YAML, "repository": object{"id": d.repo.ID, "type": "azureReposGit"}},
		"url":           fmt.Sprintf("%s/_apis/pipelines/%d?revision=%d", d.project.scopeURL(), d.ID, len(d.revisions)),
	}
}

func (o *Org) listPipelines(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	all := []object{}
	for _, d := range o.definitions {
		if d.project == r.project {
			all = append(all, d.pipeline())
		}
	}
	return listOf(all), nil
}

func (o *Org) createPipeline(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	var in struct {
		Name, Folder  string
		Configuration struct {
			Type, Path string
			Repository struct{ ID, Name, Type string }
		}
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	c := in.Configuration
	if in.Name == "" || !strings.EqualFold(c.Type, "yaml") || c.Path == "" {
		return nil, badRequest("a pipeline has a name and a configuration of the type yaml with a path")
	}
	var repo *repository
	for _, x := range r.project.repos {
		if strings.EqualFold(x.ID, c.Repository.ID) || c.Repository.ID == "" && strings.EqualFold(x.Name, c.Repository.Name) {
			repo = x
		}
	}
	if repo == nil {
		return nil, faultf(http.StatusNotFound, git, "GitRepositoryNotFoundException", "TF401019: there is no Git repository %q in project %s", cmp.Or(c.Repository.ID, c.Repository.Name), r.project.Name)
	}
	folder := cmp.Or(in.Folder, `\`)
	if slices.ContainsFunc(o.definitions, func(d *definition) bool {
		return d.project == r.project && strings.EqualFold(d.Name, in.Name) && strings.EqualFold(d.Folder, folder)
	}) {
		return nil, faultf(http.StatusConflict, building, "DefinitionExistsException", "there is a pipeline %q in %s already", in.Name, folder)
	}
	return o.addDefinition(r.project, in.Name, folder, c.Path, repo).pipeline(), nil
}

func (o *Org) listRuns(r *request) (any, error) {
	d, err := o.definition(r)
	if err != nil {
		return nil, err
	}
	runs := []object{}
	for _, b := range slices.Backward(o.builds) {
		if b.definition == d {
			runs = append(runs, b.run())
		}
	}
	return listOf(runs), nil
}

func (o *Org) createRun(r *request) (any, error) {
	d, err := o.definition(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Resources struct {
			Repositories map[string]struct{ RefName string }
		}
		TemplateParameters map[string]any
		PreviewRun         bool
		YamlOverride       string
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if in.PreviewRun {
		return object{"id": -1, "state": "unknown", "finalYaml": cmp.Or(in.YamlOverride, "# "+d.YAML+"\n"), "pipeline": object{"id": d.ID, "name": d.Name}}, nil
	}
	b, err := o.addBuild(d, cmp.Or(in.Resources.Repositories["self"].RefName, d.repo.DefaultBranch), "manual", o.me())
	if err != nil {
		return nil, err
	}
	b.Parameters = in.TemplateParameters
	return b.run(), nil
}

func (o *Org) getRun(r *request) (any, error) {
	d, err := o.definition(r)
	if err != nil {
		return nil, err
	}
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	if b.definition != d {
		return nil, faultf(http.StatusNotFound, building, "RunNotFoundException", "pipeline %d has no run %d", d.ID, b.ID)
	}
	return b.run(), nil
}

// approval is what a build waits for.
type approval struct {
	ID          string    `json:"id"`
	Status      string    `json:"status"`
	CreatedOn   time.Time `json:"createdOn"`
	Instruction string    `json:"instructions"`
	Steps       []object  `json:"steps"`
	Pipeline    object    `json:"pipeline"`
	project     *project
}

// addApproval lets a stage of a running build wait until somebody says yes.
func (o *Org) addApproval(b *build, stage, instructions string, approver *identity) {
	in := func(name string) string { return guid("record", strconv.FormatInt(b.ID, 10), name) }
	a := &approval{
		ID: in("Checkpoint.Approval"), Status: "pending", CreatedOn: b.Queued, Instruction: instructions, project: b.definition.project,
		Steps:    []object{{"assignedApprover": approver, "status": "pending"}},
		Pipeline: object{"owner": object{"id": b.ID, "name": b.Number, "_links": map[string]link{"web": {b.webURL()}}}, "id": strconv.FormatInt(b.definition.ID, 10), "name": b.definition.Name},
	}
	b.records = append(b.records,
		&record{ID: in(stage), Type: "Stage", Name: stage, State: "pending", Order: 1},
		&record{ID: in("Checkpoint"), ParentID: in(stage), Type: "Checkpoint", Name: "Checkpoint", State: "inProgress", Order: 1},
		&record{ID: a.ID, ParentID: in("Checkpoint"), Type: "Checkpoint.Approval", Name: "Checkpoint.Approval", State: "inProgress", Order: 1})
	o.approvals = append(o.approvals, a)
}

func (o *Org) listApprovals(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	found := []*approval{}
	for _, a := range o.approvals {
		if a.project == r.project && (q.Get("state") == "" || strings.EqualFold(q.Get("state"), a.Status)) &&
			(q.Get("approvalIds") == "" || slices.Contains(strings.Split(q.Get("approvalIds"), ","), a.ID)) {
			found = append(found, a)
		}
	}
	return listOf(found), nil
}

func (o *Org) updateApprovals(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	var in []struct{ ApprovalID, Status, Comment string }
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	changed := []*approval{}
	for _, u := range in {
		i := slices.IndexFunc(o.approvals, func(a *approval) bool { return strings.EqualFold(a.ID, u.ApprovalID) && a.project == r.project })
		if i < 0 {
			return nil, faultf(http.StatusNotFound, building, "ApprovalNotFoundException", "there is no approval %q in project %s", u.ApprovalID, r.project.Name)
		}
		a := o.approvals[i]
		if a.Status != "pending" {
			return nil, faultf(http.StatusConflict, building, "ApprovalAlreadyCompletedException", "the approval %s is %s already", a.ID, a.Status)
		}
		if u.Status != "approved" && u.Status != "rejected" {
			return nil, badRequest("an approval becomes approved or rejected, not %q", u.Status)
		}
		a.Status = u.Status
		a.Steps[0]["status"], a.Steps[0]["comment"], a.Steps[0]["actualApprover"], a.Steps[0]["lastModifiedOn"] = u.Status, u.Comment, o.me(), o.now()
		for _, b := range o.builds {
			for _, s := range b.records {
				if s.ID == a.ID {
					s.State, s.Result = "completed", map[string]string{"approved": "succeeded", "rejected": "failed"}[u.Status]
				}
			}
		}
		changed = append(changed, a)
	}
	return listOf(changed), nil
}
