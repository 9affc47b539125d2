package sample

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// testPlanRoutes are test plans and what is in them, and the results of tests in
// builds, which are those of vstmr.dev.azure.com.
var testPlanRoutes = []route{
	{"GET /testPlan/plans", (*Org).listTestPlans},
	{"POST /testPlan/plans", (*Org).createTestPlan},
	{"GET /testPlan/plans/{plan}", one((*Org).plan, func(o *Org, t *testPlan) any { return o.showPlan(t, true) })},
	{"GET /testPlan/plans/{plan}/suites", (*Org).listTestSuites},
	{"POST /testPlan/plans/{plan}/suites", (*Org).createTestSuite},
	{"GET /testPlan/plans/{plan}/suites/{suite}", (*Org).getTestSuite},
	{"GET /testPlan/plans/{plan}/suites/{suite}/testCase", (*Org).listTestCases},
	{"GET /testPlan/plans/{plan}/suites/{suite}/testPoint", (*Org).listTestPoints},
	{"PATCH /testPlan/plans/{plan}/suites/{suite}/testPoint", (*Org).updateTestPoints},
	{"POST /test/plans/{plan}/suites/{suite}/testCases/{ids}", (*Org).addTestCases},
	{"GET /testResults/resultDetailsByBuild", (*Org).listTestResults},
}

// testing is the part of Azure DevOps that tests.
const testing = "Microsoft.TeamFoundation.TestManagement.Server"

type testPlan struct {
	id                              int64
	name, description, area, sprint string
	start, end                      *time.Time
	closed                          bool
	project                         *project
	suites                          []*testSuite // the first is the root
	revision                        int
}

type testSuite struct {
	id, parent  int64 // 0 for none
	name, kind  string
	requirement int64
	query       string
	cases       []int64
	outcomes    map[int64]testOutcome // of points, by their IDs
}

type testOutcome struct {
	outcome string
	at      time.Time
	run     int64
}

var suiteKinds = enum{"none": 0, "dynamicTestSuite": 1, "staticTestSuite": 2, "requirementTestSuite": 3}

// addTestPlan makes a plan with its root suite. Plans and suites are work items,
// and have their numbers.
func (o *Org) addTestPlan(p *project, name string) *testPlan {
	t := &testPlan{id: o.next("work item"), name: name, area: p.Name, sprint: p.Name, project: p, revision: 1}
	o.addTestSuite(t, testSuite{name: name, kind: "staticTestSuite"})
	o.plans = append(o.plans, t)
	return t
}

func (o *Org) addTestSuite(t *testPlan, s testSuite) *testSuite {
	s.id = o.next("work item")
	t.suites = append(t.suites, &s)
	return &s
}

func (t *testPlan) url() string {
	return fmt.Sprintf("%s/_apis/testplan/Plans/%d", t.project.scopeURL(), t.id)
}

func (t *testPlan) state() string {
	if t.closed {
		return "Inactive"
	}
	return "Active"
}

func (o *Org) showPlan(t *testPlan, details bool) object {
	v := object{
		"id": t.id, "name": t.name, "state": t.state(), "areaPath": t.area, "iteration": t.sprint, "revision": t.revision, "project": t.project.projectRef,
		"rootSuite": object{"id": t.suites[0].id, "name": t.suites[0].name}, "_links": map[string]link{"_self": {t.url()}},
	}
	if details {
		v["owner"], v["description"], v["startDate"], v["endDate"] = o.me(), t.description, t.start, t.end
	}
	return v
}

func (o *Org) listTestPlans(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	all := []object{}
	for _, t := range o.plans {
		if t.project == r.project && !(r.flag("filterActivePlans") && t.closed) {
			all = append(all, o.showPlan(t, r.flag("includePlanDetails")))
		}
	}
	all, err := pageAfter(r, all, r.URL.Query().Get("continuationToken"), 200)
	if err != nil {
		return nil, err
	}
	return listOf(all), nil
}

func (o *Org) createTestPlan(r *request) (any, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	var in struct {
		Name, Description, AreaPath, Iteration string
		StartDate, EndDate                     *time.Time
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Name) == "" {
		return nil, badRequest("the plan has no name")
	}
	for _, n := range []struct {
		root *node
		path string
	}{{r.project.areas, in.AreaPath}, {r.project.sprints, in.Iteration}} {
		if n.path != "" && !slices.ContainsFunc(n.root.below(), func(x *node) bool { return strings.EqualFold(x.value, n.path) }) {
			return nil, faultf(http.StatusBadRequest, testing, "TestManagementInvalidOperationException", "there is no %s %q in project %s", n.root.Structure, n.path, r.project.Name)
		}
	}
	t := o.addTestPlan(r.project, in.Name)
	t.description, t.start, t.end = in.Description, in.StartDate, in.EndDate
	t.area, t.sprint = cmp.Or(in.AreaPath, t.area), cmp.Or(in.Iteration, t.sprint)
	return o.showPlan(t, true), nil
}

// plan finds the plan that the path names.
func (o *Org) plan(r *request) (*testPlan, error) {
	if err := r.need(); err != nil {
		return nil, err
	}
	id, _ := r.pathNumber("plan")
	for _, t := range o.plans {
		if t.id == id && t.project == r.project {
			return t, nil
		}
	}
	return nil, faultf(http.StatusNotFound, testing, "TestObjectNotFoundException", "there is no test plan %s in project %s", r.PathValue("plan"), r.project.Name)
}

func (t *testPlan) suite(id int64) *testSuite {
	for _, s := range t.suites {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (t *testPlan) showSuite(s *testSuite) object {
	v := object{
		"id": s.id, "name": s.name, "suiteType": s.kind, "plan": object{"id": t.id, "name": t.name}, "revision": 1, "project": t.project.projectRef,
		"hasChildren": slices.ContainsFunc(t.suites, func(c *testSuite) bool { return c.parent == s.id }), "inheritDefaultConfigurations": true,
	}
	if up := t.suite(s.parent); up != nil {
		v["parentSuite"] = object{"id": up.id, "name": up.name}
	}
	if s.requirement != 0 {
		v["requirementId"] = s.requirement
	}
	if s.query != "" {
		v["queryString"] = s.query
	}
	return v
}

func (o *Org) listTestSuites(r *request) (any, error) {
	t, err := o.plan(r)
	if err != nil {
		return nil, err
	}
	all := []object{}
	for _, s := range t.suites {
		v := t.showSuite(s)
		if strings.EqualFold(r.URL.Query().Get("expand"), "children") {
			children := []object{}
			for _, c := range t.suites {
				if c.parent == s.id {
					children = append(children, t.showSuite(c))
				}
			}
			v["children"] = children
		}
		all = append(all, v)
	}
	if all, err = pageAfter(r, all, r.URL.Query().Get("continuationToken"), 200); err != nil {
		return nil, err
	}
	return listOf(all), nil
}

func (o *Org) createTestSuite(r *request) (any, error) {
	t, err := o.plan(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Name          string
		SuiteType     text
		ParentSuite   struct{ ID int64 }
		RequirementID int64
		QueryString   string
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	kind, err := suiteKinds.parse("suiteType", string(in.SuiteType), "")
	if err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(in.Name) == "" || kind == "none" || kind == "":
		return nil, badRequest("a suite has a name and a suiteType")
	case t.suite(in.ParentSuite.ID) == nil:
		return nil, faultf(http.StatusNotFound, testing, "TestObjectNotFoundException", "the plan %d has no suite %d", t.id, in.ParentSuite.ID)
	case kind == "requirementTestSuite":
		if _, err := o.item(in.RequirementID, t.project); err != nil {
			return nil, err
		}
	}
	return t.showSuite(o.addTestSuite(t, testSuite{name: in.Name, kind: kind, parent: in.ParentSuite.ID, requirement: in.RequirementID, query: in.QueryString})), nil
}

// suiteInPath finds the plan and the suite that the path names.
func (o *Org) suiteInPath(r *request) (*testPlan, *testSuite, error) {
	t, err := o.plan(r)
	if err != nil {
		return nil, nil, err
	}
	id, _ := r.pathNumber("suite")
	s := t.suite(id)
	if s == nil {
		return nil, nil, faultf(http.StatusNotFound, testing, "TestObjectNotFoundException", "the plan %d has no suite %s", t.id, r.PathValue("suite"))
	}
	return t, s, nil
}

func (o *Org) getTestSuite(r *request) (any, error) {
	t, s, err := o.suiteInPath(r)
	if err != nil {
		return nil, err
	}
	return t.showSuite(s), nil
}

// configuration is the one on which the sample tests.
var configuration = object{"id": 1, "name": "Browser"}

func (o *Org) listTestCases(r *request) (any, error) {
	t, s, err := o.suiteInPath(r)
	if err != nil {
		return nil, err
	}
	all := []object{}
	for i, id := range s.cases {
		w, err := o.item(id, nil)
		if err != nil {
			continue // deleted since
		}
		fields := []object{}
		for _, f := range []string{"Microsoft.VSTS.TCM.Steps", "System.State", "System.AssignedTo", "Microsoft.VSTS.Common.Priority", "System.WorkItemType", "System.Rev"} {
			if x, ok := w.now().value(f); ok {
				if u, ok := x.(*identity); ok {
					x = u.DisplayName + " <" + u.UniqueName + ">"
				}
				fields = append(fields, object{f: x})
			}
		}
		all = append(all, object{
			"testPlan": object{"id": t.id, "name": t.name}, "testSuite": object{"id": s.id, "name": s.name}, "order": i,
			"workItem":         object{"id": id, "name": w.now().fields["System.Title"], "workItemFields": fields},
			"pointAssignments": []object{{"id": s.point(i), "configurationId": configuration["id"], "configurationName": configuration["name"], "tester": o.users[2]}},
		})
	}
	if all, err = pageAfter(r, all, r.URL.Query().Get("continuationToken"), 200); err != nil {
		return nil, err
	}
	return listOf(all), nil
}

// point is a test case on a configuration, by its place in the suite.
func (s *testSuite) point(place int) int64 { return s.id*100 + int64(place) }

func (o *Org) testPoint(t *testPlan, s *testSuite, place int) object {
	id := s.point(place)
	v := object{
		"id": id, "testCaseReference": object{"id": s.cases[place], "name": ""}, "configuration": configuration, "tester": o.users[2], "isActive": true,
		"testPlan": object{"id": t.id, "name": t.name}, "testSuite": object{"id": s.id, "name": s.name},
	}
	if w, err := o.item(s.cases[place], nil); err == nil {
		v["testCaseReference"] = object{"id": w.ID, "name": w.now().fields["System.Title"], "state": w.now().fields["System.State"]}
	}
	results := object{"outcome": "unspecified", "state": "ready"}
	if r, ok := s.outcomes[id]; ok {
		results = object{"outcome": r.outcome, "state": "completed", "lastTestRunId": r.run, "lastResultDetails": object{"dateCompleted": r.at, "duration": 0, "runBy": o.me()}}
	}
	v["results"] = results
	return v
}

func (o *Org) listTestPoints(r *request) (any, error) {
	t, s, err := o.suiteInPath(r)
	if err != nil {
		return nil, err
	}
	only, err := r.numbers("testCaseId")
	if err != nil {
		return nil, err
	}
	all := []object{}
	for i, id := range s.cases {
		if len(only) == 0 || slices.Contains(only, id) {
			all = append(all, o.testPoint(t, s, i))
		}
	}
	if all, err = pageAfter(r, all, r.URL.Query().Get("continuationToken"), 200); err != nil {
		return nil, err
	}
	return listOf(all), nil
}

var testOutcomes = enum{"unspecified": 0, "passed": 2, "failed": 3, "blocked": 7, "notApplicable": 11}

func (o *Org) updateTestPoints(r *request) (any, error) {
	t, s, err := o.suiteInPath(r)
	if err != nil {
		return nil, err
	}
	var in []struct {
		ID      int64
		Results struct{ Outcome text }
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	changed := []object{}
	run := o.next("test run")
	for _, u := range in {
		outcome, err := testOutcomes.parse("outcome", string(u.Results.Outcome), "unspecified")
		if err != nil {
			return nil, err
		}
		place := -1
		for i := range s.cases {
			if s.point(i) == u.ID {
				place = i
			}
		}
		if place < 0 {
			return nil, faultf(http.StatusNotFound, testing, "TestObjectNotFoundException", "the suite %d has no point %d", s.id, u.ID)
		}
		if s.outcomes == nil {
			s.outcomes = map[int64]testOutcome{}
		}
		s.outcomes[u.ID] = testOutcome{outcome, o.now(), run}
		changed = append(changed, o.testPoint(t, s, place))
	}
	return listOf(changed), nil
}

func (o *Org) addTestCases(r *request) (any, error) {
	_, s, err := o.suiteInPath(r)
	if err != nil {
		return nil, err
	}
	if s.kind != "staticTestSuite" {
		return nil, faultf(http.StatusBadRequest, testing, "TestManagementInvalidOperationException", "the cases of suite %d are found by a %s", s.id, s.kind)
	}
	var ids []int64
	for part := range strings.SplitSeq(r.PathValue("ids"), ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return nil, badRequest("%q is no number of a test case", part)
		}
		w, err := o.item(id, nil)
		if err != nil {
			return nil, err
		}
		if w.now().fields["System.WorkItemType"] != "Test Case" {
			return nil, faultf(http.StatusBadRequest, testing, "TestManagementInvalidOperationException", "the work item %d is a %s, not a test case", id, w.now().fields["System.WorkItemType"])
		}
		ids = append(ids, id)
	}
	added := []object{}
	for _, id := range ids {
		if !slices.Contains(s.cases, id) {
			s.cases = append(s.cases, id)
		}
		added = append(added, object{
			"testCase":         object{"id": strconv.FormatInt(id, 10), "url": fmt.Sprintf("%s/_apis/wit/workItems/%d", PublicURL, id)},
			"pointAssignments": []object{{"configuration": object{"id": "1", "name": configuration["name"]}, "tester": o.users[2]}},
		})
	}
	return listOf(added), nil
}

// listTestResults gives the tests of a build: a failed build has a failed one.
func (o *Org) listTestResults(r *request) (any, error) {
	r.SetPathValue("build", r.URL.Query().Get("buildId"))
	b, err := o.build(r)
	if err != nil {
		return nil, err
	}
	wanted := strings.TrimPrefix(r.URL.Query().Get("$filter"), "Outcome eq ")
	results := []object{}
	add := func(title, outcome, message string) {
		if wanted != "" && !slices.ContainsFunc(strings.Split(wanted, ","), func(w string) bool { return strings.EqualFold(strings.TrimSpace(w), outcome) }) {
			return
		}
		v := object{
			"id": 100000 + len(results), "testRun": object{"id": strconv.FormatInt(b.ID+1000, 10)}, "testCaseTitle": title, "automatedTestName": title, "automatedTestStorage": "search.test.ts",
			"outcome": outcome, "durationInMs": 12.5,
		}
		if message != "" {
			v["errorMessage"], v["stackTrace"] = message, "at search.test.ts:8"
		}
		if r.flag("shouldIncludeResults") {
			results = append(results, v)
		}
	}
	if b.Status == "completed" {
		add("finds plain words", "Passed", "")
		if b.Result == "failed" {
			add("finds words with accents", "Failed", `expected ["café"], got []`)
		}
	}
	return object{"groupByField": "", "resultsForGroup": []object{{"groupByValue": "", "results": results}}}, nil
}
