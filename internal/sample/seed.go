package sample

import (
	"encoding/json"
	"fmt"
)

// seed fills the organization: two projects, four repositories, two pull
// requests, eight work items. Users are roles, not people.
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
	)
	story := add(contoso, "User Story", "Sign in with a passkey", map[string]any{
		state: "Active", assigned: o.users[0].UniqueName, priority: 1, points: 5, tags: "security; sign-in"})
	child := relation{Rel: parentLink, URL: story.URL, Attributes: map[string]any{"name": "Parent"}}
	add(contoso, "Task", "Store public keys", map[string]any{assigned: o.users[0].UniqueName, priority: 2}, child)
	add(contoso, "Task", "Add the button to the sign-in page", map[string]any{state: "Active", priority: 2}, child)
	add(contoso, "Bug", "Search does not find words with accents: é, ü, 日本", map[string]any{
		state: "Active", assigned: o.users[0].UniqueName, priority: 1, severity: "2 - High",
		"Custom.TicketNumber": json.Number("9007199254740993")}) // 2^53 + 1: lost by whoever reads it as a float
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

	done := open(api, newPull{SourceRefName: "refs/heads/fix/time-outs", Title: "Tell time-outs from successes"})
	now := o.now()
	done.Status, done.ClosedDate, done.ClosedBy = "completed", &now, o.users[1]
	o.setRef(api, done.TargetRefName, done.LastMergeSourceCommit.CommitID)
}

// must is for the seed, which is right or a fault of this file.
func must(err error) {
	if err != nil {
		panic("seed: " + err.Error())
	}
}
