package sample

import (
	"encoding/json"
	"fmt"
	"time"
)

// seed fills the organization: two projects, four repositories, three pull
// requests, eight work items, and what the other domains have about the same
// work (see the seeds below). Users are roles, not people.
func (o *Org) seed() {
	o.users = []*identity{
		newIdentity("Contoso Developer", "developer@contoso.example"),
		newIdentity("Contoso Reviewer", "reviewer@contoso.example"),
		newIdentity("Contoso Tester", "tester@contoso.example"),
	}
	contoso := o.addProject("Contoso", "The shop and what it runs on.")
	fabrikam := o.addProject("Fabrikam", "Tools for the warehouse.")

	web := o.addRepository(contoso, "web")
	api := o.addRepository(contoso, "api")
	scanner := o.addRepository(fabrikam, "scanner")
	otherWeb := o.addRepository(fabrikam, "web") // names are unique only within a project
	for _, r := range []*repository{web, api, scanner, otherWeb} {
		o.addCommit(r, "main", "Begin", o.now(), "/README.md")
	}
	fork := func(r *repository, branch, comment string, files ...string) {
		o.setRef(r, "refs/heads/"+branch, r.ref("refs/heads/main").ObjectID)
		o.addCommit(r, branch, comment, o.now(), files...)
	}
	fork(web, "feature/auth", "Sign in with a passkey", "/src/passkey.ts", "/src/sign-in.ts")
	fork(web, "feature/search", "Find words with accents", "/src/search.ts")
	fork(web, "release/1.0", "Set the version to 1.0", "/package.json")
	fork(api, "fix/time-outs", "Tell time-outs from successes", "/client.go")
	fork(scanner, "develop", "Read codes at an angle", "/scan.go")

	patch := func(values map[string]any, relations ...relation) []operation {
		var ops []operation
		for _, f := range fields {
			if v, ok := values[f.name]; ok {
				b, err := json.Marshal(v)
				must(err)
				ops = append(ops, operation{Op: "add", Path: "/fields/" + f.name, Value: b})
			}
		}
		for _, r := range relations {
			b, err := json.Marshal(r)
			must(err)
			ops = append(ops, operation{Op: "add", Path: "/relations/-", Value: b})
		}
		return ops
	}
	o.counter["work item"] = 10
	add := func(p *project, workItemType, title string, values map[string]any, relations ...relation) *workItem {
		if values == nil {
			values = map[string]any{}
		}
		values["System.Title"] = title
		w, err := o.addWorkItem(p, workItemType, patch(values, relations...))
		must(err)
		return w
	}
	const (
		state    = "System.State"
		assigned = "System.AssignedTo"
		priority = "Microsoft.VSTS.Common.Priority"
		severity = "Microsoft.VSTS.Common.Severity"
		points   = "Microsoft.VSTS.Scheduling.StoryPoints"
		tags     = "System.Tags"
		sprint   = "System.IterationPath"
	)
	log := o.addAttachment("search.log", []byte("query=café hits=0\n"))
	story := add(contoso, "User Story", "Sign in with a passkey", map[string]any{
		state: "Active", assigned: o.users[0].UniqueName, priority: 1, points: 5, tags: "security; sign-in", sprint: `Contoso\Sprint 1`})
	child := relation{Rel: parentLink, URL: story.URL, Attributes: map[string]any{"name": "Parent"}}
	add(contoso, "Task", "Store public keys", map[string]any{assigned: o.users[0].UniqueName, priority: 2, sprint: `Contoso\Sprint 1`}, child)
	add(contoso, "Task", "Add the button to the sign-in page", map[string]any{state: "Active", priority: 2, sprint: `Contoso\Sprint 1`}, child)
	add(contoso, "Bug", "Search does not find words with accents: é, ü, 日本", map[string]any{
		state: "Active", assigned: o.users[0].UniqueName, priority: 1, severity: "2 - High",
		"Custom.TicketNumber": json.Number("9007199254740993"), // 2^53 + 1: lost by whoever reads it as a float
		sprint:                `Contoso\Sprint 1`, "System.History": "It happens with every accent."},
		relation{Rel: "AttachedFile", URL: log.url(), Attributes: map[string]any{"name": log.name, "resourceSize": len(log.data)}})
	add(contoso, "Bug", "The sign-in page shifts while it loads", map[string]any{priority: 3, severity: "4 - Low"})
	add(contoso, "Bug", "A time-out is shown as a success", map[string]any{
		state: "Closed", assigned: o.users[1].UniqueName, priority: 1, severity: "1 - Critical"})
	add(fabrikam, "User Story", "Scan codes at an angle", map[string]any{state: "Active", priority: 2, points: 8})
	add(fabrikam, "Bug", "The scanner beeps twice", map[string]any{priority: 4, severity: "4 - Low"})

	o.counter["pull request"] = 100
	open := func(r *repository, in newPull) *pullRequest {
		in.TargetRefName = "refs/heads/main"
		p, err := o.addPullRequest(r, in)
		must(err)
		return p
	}
	search := open(web, newPull{
		SourceRefName: "refs/heads/feature/search", Title: "Find words with accents",
		Description:  "Compares words after taking the accents off.",
		Reviewers:    []newReviewer{{ID: o.users[1].ID, Vote: -5, IsRequired: true}},
		WorkItemRefs: []struct{ ID text }{{"14"}},
	})
	t := &thread{ID: o.next("thread"), Status: "active", Comments: []*comment{}, Links: map[string]link{}}
	t.Links["self"] = link{fmt.Sprintf("%s/threads/%d", search.URL, t.ID)}
	c, err := o.add(t, newComment{Content: "What becomes of ß?"})
	must(err)
	c.Author, t.PublishedDate = o.users[1], c.PublishedDate
	search.threads = []*thread{t}
	search.statuses = []object{{
		"id": 1, "state": "succeeded", "description": "No licence is new", "context": object{"name": "licences", "genre": "contoso"},
		"creationDate": search.CreationDate, "createdBy": o.users[2], "targetUrl": "https://licences.contoso.example/101",
	}}

	done := open(api, newPull{SourceRefName: "refs/heads/fix/time-outs", Title: "Tell time-outs from successes"})
	now := o.now()
	done.Status, done.ClosedDate, done.ClosedBy = "completed", &now, o.users[1]
	o.setRef(api, done.TargetRefName, done.LastMergeSourceCommit.CommitID)

	web.ref("refs/heads/release/1.0").Creator = o.users[1]
	o.seedPlanning(contoso, fabrikam)
	o.seedTracking(contoso)
	o.seedPipelines(contoso, web, api)
	o.seedWikis(contoso)
	o.seedTestPlans(contoso)
	o.seedAlerts(web)

	// One that nothing keeps from being merged.
	o.counter["pull request"] = 99
	open(scanner, newPull{SourceRefName: "refs/heads/develop", Title: "Read codes at an angle"})
	o.counter["pull request"] = 102
	// Whatever the seed is, those who come find the same time.
	o.ticks = 60
}

// seedPlanning gives each project its areas and iterations, and Contoso a second
// team. The first sprint is the current one.
func (o *Org) seedPlanning(projects ...*project) {
	for _, p := range projects {
		o.addRoots(p)
		for i, name := range []string{"Sprint 1", "Sprint 2"} {
			start := time.Date(2026, 1, 5+14*i, 0, 0, 0, 0, time.UTC)
			finish := start.AddDate(0, 0, 11)
			n, err := o.addNode(p.sprints, name, &nodeDates{&start, &finish})
			must(err)
			p.teams[0].iterations = append(p.teams[0].iterations, n.Identifier)
		}
	}
	contoso := projects[0]
	for _, area := range []string{"Web", "API"} {
		_, err := o.addNode(contoso.areas, area, nil)
		must(err)
	}
	contoso.addTeam(guid("team", contoso.Name, "Search"), "Search Team", "Finds things.", o.users[1], o.users[2])
	sprint := contoso.sprints.Children[0]
	var c capacity
	must(json.Unmarshal([]byte(`{"activities":[{"name":"Development","capacityPerDay":6}],"daysOff":[{"start":"2026-01-15T00:00:00Z","end":"2026-01-16T00:00:00Z"}]}`), &c))
	contoso.teams[0].capacities[sprint.Identifier+o.me().ID] = c
}

// seedTracking gives the project its queries.
func (o *Org) seedTracking(p *project) {
	p.folder = &queryItem{}
	p.addQuery(p.folder, "My Queries", "")
	shared := p.addQuery(p.folder, "Shared Queries", "")
	p.addQuery(shared, "Open bugs", "SELECT [System.Id], [System.Title], [System.State] FROM WorkItems WHERE [System.TeamProject] = @project"+
		" AND [System.WorkItemType] = 'Bug' AND [System.State] <> 'Closed' ORDER BY [Microsoft.VSTS.Common.Priority]")
}

// seedPipelines gives the web shop a pipeline that fails on the branch of the
// search, for a reason that its log tells, and one that waits for a release.
func (o *Org) seedPipelines(p *project, web, api *repository) {
	ci := o.addDefinition(p, "web-ci", `\`, "/azure-pipelines.yml", web)
	o.addPolicy(web, requiredReviewers, true, "/src/search", object{"requiredReviewerIds": []string{o.users[1].ID}, "message": "Search has an owner"})
	o.addPolicy(web, buildValidation, true, "/src/search", object{"buildDefinitionId": ci.ID, "displayName": "web-ci", "manualQueueOnly": false})
	o.addPolicy(web, workItemLinking, false, "/", object{})
	release := o.addDefinition(p, "web-release", `\release`, "/release.yml", web)
	o.addDefinition(p, "api-ci", `\`, "/azure-pipelines.yml", api)
	o.counter["build"] = 300
	run := func(d *definition, branch, reason string, by *identity) *build {
		b, err := o.addBuild(d, "refs/heads/"+branch, reason, by)
		must(err)
		return b
	}
	steps := func(test record) []record {
		return []record{
			{Type: "Stage", Name: "Build"},
			{Type: "Job", Name: "Build job", ParentID: "Build"},
			{Type: "Task", Name: "npm ci", ParentID: "Build job", Lines: []string{"added 412 packages in 9s"}},
			{Type: "Task", Name: "npm run build", ParentID: "Build job", Lines: []string{"built in 4.2s"}},
			{Type: "Stage", Name: "Test", Result: test.Result},
			{Type: "Job", Name: "Test job", ParentID: "Test", Result: test.Result},
			test,
		}
	}
	o.end(run(ci, "main", "individualCI", o.me()), "succeeded",
		steps(record{Type: "Task", Name: "npm test", ParentID: "Test job", Lines: []string{"2 passing", "0 failing"}})...)
	failed := run(ci, "feature/search", "pullRequest", o.me())
	failed.Tags = []string{"nightly"}
	o.end(failed, "failed", steps(record{
		Type: "Task", Name: "npm test", ParentID: "Test job", Result: "failed",
		Errors: []string{"The process ended with exit code 1."},
		Lines: []string{
			"> vitest run", "1 passing", "1 failing", "search.test.ts:8 finds words with accents",
			`##[error]expected ["café"], got []`, "##[error]The process ended with exit code 1.",
		},
	})...)
	o.addApproval(run(release, "release/1.0", "manual", o.users[1]), "Production", "Is the shop quiet?", o.me())
}

func (o *Org) seedWikis(p *project) {
	w := o.addWiki(p, p.Name+".wiki")
	o.addPage(w, "/Home", "# Contoso\n\nThe shop and what it runs on.\n")
	o.addPage(w, "/Team", "Who we are.\n")
	o.addPage(w, "/Team/On call", "Call the tester first.\n")
	o.addPage(w, "/Search", "Search compares words after taking the accents off.\n")
}

// seedTestPlans gives the sprint a plan with a suite and a case.
func (o *Org) seedTestPlans(p *project) {
	w, err := o.addWorkItem(p, "Test Case", []operation{
		{Op: "add", Path: "/fields/System.Title", Value: quote("Search finds words with accents")},
		{Op: "add", Path: "/fields/Microsoft.VSTS.Common.Priority", Value: quote("2")},
		{Op: "add", Path: "/fields/Microsoft.VSTS.TCM.Steps", Value: quote(`<steps id="0" last="1"><step id="1" type="ActionStep"><parameterizedString isformatted="true">Search for cafe</parameterizedString><parameterizedString isformatted="true">café is found</parameterizedString></step></steps>`)},
	})
	must(err)
	plan := o.addTestPlan(p, "Sprint 1")
	plan.sprint = p.sprints.Children[0].value
	o.addTestSuite(plan, testSuite{name: "Search", kind: "staticTestSuite", parent: plan.suites[0].id, cases: []int64{w.ID}})
}

func (o *Org) seedAlerts(web *repository) {
	o.addAlert(web, alert{Kind: "dependency", Title: "tinycolor 1.4.1 runs text of a style as code", Severity: "high", Confidence: "high"},
		"Dependency Scanner", "tinycolor-code-injection", "Raise tinycolor to 1.4.3.", "/package-lock.json", 112)
	leaked := o.addAlert(web, alert{Kind: "secret", Title: "A key of the payment service is in the history", Severity: "critical", Confidence: "high"},
		"Secret Scanner", "payment-service-key", "Revoke the key, then make a new one.", "/src/sign-in.ts", 1)
	leaked.Validity = &validity{"active", leaked.FirstSeen}
	o.addAlert(web, alert{Kind: "code", Title: "A text of the address is shown as HTML", Severity: "medium", Confidence: "other"},
		"CodeQL", "js-reflected-xss", "Encode the text.", "/src/search.ts", 1)
}

// must is for the seed, which is right or a fault of this file.
func must(err error) {
	if err != nil {
		panic("seed: " + err.Error())
	}
}
