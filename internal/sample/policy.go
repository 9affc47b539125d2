package sample

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// policyRoutes are the policies of branches, and the statuses that other services
// give pull requests.
var policyRoutes = []route{
	{"GET /policy/evaluations", (*Org).listEvaluations},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/statuses", one((*Org).pull, func(_ *Org, p *pullRequest) any { return listOf(p.statuses) })},
}

// policy is what a pull request of a repository needs to be merged.
type policy struct {
	id       int64
	kind     policyKind
	blocking bool
	repo     *repository
	below    string // it is for pull requests that change files below this
	settings object
}

// policyKind is a kind of policies, with the ID that it has everywhere.
type policyKind struct {
	id, name string
	// state says how a pull request stands to it, and what that was seen from.
	state func(*Org, *policy, *pullRequest) (state string, context object)
}

var (
	requiredReviewers = policyKind{"fd2167ab-b0be-447a-8ec8-39368250530e", "Required reviewers", reviewersState}
	buildValidation   = policyKind{"0609b952-1397-4640-95ec-e00a01b2c241", "Build", buildState}
	workItemLinking   = policyKind{"40e92b44-2fe1-4dd6-b3d8-74a9c21d0c6e", "Work item linking", workItemState}
)

func (o *Org) addPolicy(repo *repository, kind policyKind, blocking bool, below string, settings object) {
	o.policies = append(o.policies, &policy{o.next("policy"), kind, blocking, repo, below, settings})
}

func reviewersState(_ *Org, y *policy, p *pullRequest) (string, object) {
	state := "approved"
	for _, id := range y.settings["requiredReviewerIds"].([]string) {
		vote := 0
		if i := slices.IndexFunc(p.Reviewers, func(v *reviewer) bool { return v.ID == id }); i >= 0 {
			vote = p.Reviewers[i].Vote
		}
		switch {
		case vote < 0:
			return "rejected", nil
		case vote == 0:
			state = "queued"
		}
	}
	return state, nil
}

// buildState is that of the last build of the source branch.
func buildState(o *Org, y *policy, p *pullRequest) (string, object) {
	for _, b := range slices.Backward(o.builds) {
		if b.definition.ID != y.settings["buildDefinitionId"].(int64) || b.Branch != p.SourceRefName {
			continue
		}
		state := "running"
		switch {
		case b.Result == "succeeded":
			state = "approved"
		case b.Result != "":
			state = "rejected"
		}
		return state, object{"buildId": b.ID, "buildDefinitionId": b.definition.ID, "buildDefinitionName": b.definition.Name, "buildIsNotCurrent": false, "isExpired": false}
	}
	return "queued", nil
}

func workItemState(_ *Org, _ *policy, p *pullRequest) (string, object) {
	if len(p.WorkItemRefs) == 0 {
		return "rejected", nil
	}
	return "approved", nil
}

// applies says whether a policy is for a pull request.
func (y *policy) applies(p *pullRequest) bool {
	return y.repo == p.repo && slices.ContainsFunc(p.repo.since(p.LastMergeSourceCommit.CommitID, p.LastMergeTargetCommit.CommitID), func(c *commit) bool {
		return slices.ContainsFunc(c.files, func(f string) bool { return strings.HasPrefix(f, y.below) })
	})
}

// name is what people call a policy: the name that it was given, else that of its kind.
func (y *policy) name() string {
	if given, ok := y.settings["displayName"].(string); ok {
		return given
	}
	return y.kind.name
}

// guarded refuses what changes a branch without a pull request where blocking policies
// hold for it: here those of a repository are all for its default branch.
func (o *Org) guarded(repo *repository, branch string) error {
	if branch != repo.DefaultBranch || !slices.ContainsFunc(o.policies, func(y *policy) bool { return y.repo == repo && y.blocking }) {
		return nil
	}
	return faultf(http.StatusForbidden, git, "GitRefUpdateRejectedByPolicyException", "TF402455: %s takes no pushes; a pull request is needed to change it.", branch)
}

// unmet gives the blocking policies that keep a pull request from being merged.
func (o *Org) unmet(p *pullRequest) (names []string) {
	for _, y := range o.policies {
		if state, _ := y.kind.state(o, y, p); y.blocking && y.applies(p) && state != "approved" {
			names = append(names, y.name())
		}
	}
	return names
}

func (o *Org) listEvaluations(r *request) (any, error) {
	if r.project == nil {
		return nil, r.need()
	}
	artifact := r.URL.Query().Get("artifactId")
	number, ok := strings.CutPrefix(artifact, "vstfs:///CodeReview/CodeReviewId/"+r.project.ID+"/")
	if !ok {
		return nil, badRequest("artifactId is %q; it must be vstfs:///CodeReview/CodeReviewId/PROJECT/PULLREQUEST, with the ID of the project that the path names", artifact)
	}
	id, _ := strconv.ParseInt(number, 10, 64)
	i := slices.IndexFunc(o.pulls, func(p *pullRequest) bool {
		return p.PullRequestID == id && p.repo.Project.ID == r.project.ID
	})
	if i < 0 {
		return nil, faultf(http.StatusNotFound, git, "GitPullRequestNotFoundException", "TF401180: there is no pull request %s here", number)
	}
	p, all := o.pulls[i], []object{}
	for _, y := range o.policies {
		if !y.applies(p) {
			continue
		}
		state, context := y.kind.state(o, y, p)
		all = append(all, object{
			"artifactId": artifact, "evaluationId": guid("evaluation", strconv.FormatInt(y.id, 10), number), "startedDate": p.CreationDate, "status": state, "context": context,
			"configuration": object{
				"id": y.id, "isEnabled": true, "isBlocking": y.blocking, "isDeleted": false, "settings": y.settings,
				"type": object{"id": y.kind.id, "displayName": y.kind.name, "url": fmt.Sprintf("%s/_apis/policy/types/%s", r.project.scopeURL(), y.kind.id)},
			},
		})
	}
	all, err := page(r, all, 1000)
	if err != nil {
		return nil, err
	}
	return listOf(all), nil
}
