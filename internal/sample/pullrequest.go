package sample

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// pullRequestRoutes are pull requests and what belongs to them.
var pullRequestRoutes = []route{
	{"GET /git/pullRequests", (*Org).listPullRequests},
	{"GET /git/pullRequests/{pull}", (*Org).getPullRequest},
	{"GET /git/repositories/{repository}/pullRequests", (*Org).listPullRequests},
	{"POST /git/repositories/{repository}/pullRequests", (*Org).createPullRequest},
	{"GET /git/repositories/{repository}/pullRequests/{pull}", (*Org).getPullRequest},
	{"PATCH /git/repositories/{repository}/pullRequests/{pull}", (*Org).updatePullRequest},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/reviewers", one((*Org).pull, func(_ *Org, p *pullRequest) any { return listOf(p.Reviewers) })},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/reviewers", (*Org).addReviewers},
	{"PUT /git/repositories/{repository}/pullRequests/{pull}/reviewers/{reviewer}", (*Org).setReviewer},
	{"DELETE /git/repositories/{repository}/pullRequests/{pull}/reviewers/{reviewer}", (*Org).removeReviewer},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/reviewers/{reviewer}", (*Org).getReviewer},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/commits", (*Org).listPullRequestCommits},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/workItems", one((*Org).pull, func(_ *Org, p *pullRequest) any { return listOf(p.WorkItemRefs) })},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/iterations", one((*Org).pull, func(_ *Org, p *pullRequest) any { return listOf(p.iterations()) })},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/iterations/{iteration}", (*Org).getIteration},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/iterations/{iteration}/changes", (*Org).listChanges},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/labels", one((*Org).pull, func(_ *Org, p *pullRequest) any { return listOf(p.Labels) })},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/labels", (*Org).addLabel},
	{"DELETE /git/repositories/{repository}/pullRequests/{pull}/labels/{label}", (*Org).removeLabel},
}

type commitRef struct {
	CommitID string `json:"commitId"`
	URL      string `json:"url"`
}

type reviewer struct {
	identity
	Vote       int  `json:"vote"`
	IsRequired bool `json:"isRequired"`
	IsFlagged  bool `json:"isFlagged"`
}

type label struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

type resourceRef struct {
	ID  text   `json:"id"`
	URL string `json:"url"`
}

type completionOptions struct {
	MergeCommitMessage  string `json:"mergeCommitMessage,omitempty"`
	MergeStrategy       any    `json:"mergeStrategy,omitempty"`
	DeleteSourceBranch  bool   `json:"deleteSourceBranch,omitempty"`
	TransitionWorkItems bool   `json:"transitionWorkItems,omitempty"`
	BypassPolicy        bool   `json:"bypassPolicy,omitempty"`
	BypassReason        string `json:"bypassReason,omitempty"`
}

type pullRequest struct {
	Repository            repositoryRef      `json:"repository"`
	PullRequestID         int64              `json:"pullRequestId"`
	CodeReviewID          int64              `json:"codeReviewId"`
	Status                string             `json:"status"`
	CreatedBy             *identity          `json:"createdBy"`
	CreationDate          time.Time          `json:"creationDate"`
	ClosedDate            *time.Time         `json:"closedDate,omitempty"`
	ClosedBy              *identity          `json:"closedBy,omitempty"`
	Title                 string             `json:"title"`
	Description           string             `json:"description,omitempty"`
	SourceRefName         string             `json:"sourceRefName"`
	TargetRefName         string             `json:"targetRefName"`
	MergeStatus           string             `json:"mergeStatus"`
	IsDraft               bool               `json:"isDraft"`
	MergeID               string             `json:"mergeId"`
	LastMergeSourceCommit commitRef          `json:"lastMergeSourceCommit"`
	LastMergeTargetCommit commitRef          `json:"lastMergeTargetCommit"`
	Reviewers             []*reviewer        `json:"reviewers"`
	Labels                []*label           `json:"labels,omitempty"`
	WorkItemRefs          []resourceRef      `json:"workItemRefs,omitempty"`
	URL                   string             `json:"url"`
	CompletionOptions     *completionOptions `json:"completionOptions,omitempty"`
	AutoCompleteSetBy     *identity          `json:"autoCompleteSetBy,omitempty"`
	SupportsIterations    bool               `json:"supportsIterations"`
	ArtifactID            string             `json:"artifactId"`

	repo     *repository
	threads  []*thread
	statuses []object
}

// The enumerations, with the numbers that some clients send.
var (
	pullStates      = enum{"notSet": 0, "active": 1, "abandoned": 2, "completed": 3, "all": 4}
	mergeStrategies = enum{"noFastForward": 1, "squash": 2, "rebase": 3, "rebaseMerge": 4}
	threadStates    = enum{"unknown": 0, "active": 1, "fixed": 2, "wontFix": 3, "closed": 4, "byDesign": 5, "pending": 6}
	votes           = []int{10, 5, 0, -5, -10}
)

// maxDescriptionRunes is the bound of a pull request's description.
const maxDescriptionRunes = 4000

// newPull is the body of a request that makes a pull request.
type newPull struct {
	Title, Description           string
	SourceRefName, TargetRefName string
	IsDraft                      bool
	Reviewers                    []newReviewer
	Labels                       []struct{ Name string }
	WorkItemRefs                 []struct{ ID text }
}

type newReviewer struct {
	ID         string
	Vote       int
	IsRequired bool
}

func (o *Org) createPullRequest(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	var in newPull
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	p, err := o.addPullRequest(repo, in)
	if err != nil {
		return nil, err
	}
	return created{p}, nil
}

func (o *Org) addPullRequest(repo *repository, in newPull) (*pullRequest, error) {
	if err := checkBranches(repo, in.SourceRefName, in.TargetRefName); err != nil {
		return nil, err
	}
	if err := checkTexts(&in.Title, &in.Description); err != nil {
		return nil, err
	}
	for _, p := range o.pulls {
		if p.repo == repo && p.Status == "active" && p.SourceRefName == in.SourceRefName && p.TargetRefName == in.TargetRefName {
			return nil, faultf(http.StatusConflict, git, "GitPullRequestExistsException",
				"TF401179: pull request %d, from %s into %s, is active already", p.PullRequestID, in.SourceRefName, in.TargetRefName)
		}
	}
	p := &pullRequest{
		repo: repo, Repository: repo.repositoryRef, Status: "active",
		CreatedBy: o.me(), Title: in.Title, Description: in.Description, SourceRefName: in.SourceRefName,
		MergeStatus: "succeeded", IsDraft: in.IsDraft, Reviewers: []*reviewer{}, SupportsIterations: true,
	}
	if err := o.addTo(p, in.Reviewers); err != nil {
		return nil, err
	}
	for _, l := range in.Labels {
		if _, err := p.label(l.Name); err != nil {
			return nil, err
		}
	}
	for _, w := range in.WorkItemRefs {
		id, err := strconv.ParseInt(string(w.ID), 10, 64)
		if err != nil {
			return nil, badRequest("workItemRefs holds the ID %q, which is no number", w.ID)
		}
		item, err := o.item(id, nil)
		if err != nil {
			return nil, err
		}
		p.WorkItemRefs = append(p.WorkItemRefs, resourceRef{w.ID, item.URL})
	}

	p.PullRequestID = o.next("pull request")
	p.CodeReviewID = p.PullRequestID
	p.CreationDate = o.now()
	p.MergeID = guid("merge", strconv.FormatInt(p.PullRequestID, 10))
	p.URL = fmt.Sprintf("%s/pullRequests/%d", repo.URL, p.PullRequestID)
	p.ArtifactID = fmt.Sprintf("vstfs:///Git/PullRequestId/%s%%2f%s%%2f%d", repo.Project.ID, repo.ID, p.PullRequestID)
	p.setTarget(in.TargetRefName)
	o.pulls = append(o.pulls, p)
	return p, nil
}

// setTarget points an existing pull request, or a new one, to a branch.
func (p *pullRequest) setTarget(name string) {
	p.TargetRefName = name
	at := func(name string) commitRef {
		id := p.repo.ref(name).ObjectID
		return commitRef{id, p.repo.URL + "/commits/" + id}
	}
	p.LastMergeSourceCommit, p.LastMergeTargetCommit = at(p.SourceRefName), at(name)
}

func checkBranches(repo *repository, source, target string) error {
	if source == "" || target == "" {
		return badRequest("the body lacks sourceRefName or targetRefName")
	}
	for _, name := range []string{source, target} {
		if repo.ref(name) == nil {
			return faultf(http.StatusNotFound, git, "GitPullRequestCannotBeActivated",
				"TF401398: repository %s has no branch %q; branches are full refs, such as refs/heads/main", repo.Name, name)
		}
	}
	if source == target {
		return faultf(http.StatusBadRequest, git, "GitArgumentException", "the source and the target of a pull request are the same branch, %s", source)
	}
	return nil
}

// checkTexts checks title and description; nil means not given.
func checkTexts(title, description *string) error {
	if title != nil && strings.TrimSpace(*title) == "" {
		return badRequest("the title is empty")
	}
	if description != nil && utf8.RuneCountInString(*description) > maxDescriptionRunes {
		return badRequest("the description has more than %d characters", maxDescriptionRunes)
	}
	return nil
}

// pull finds the pull request that the path names, within what else it names.
func (o *Org) pull(r *request) (*pullRequest, error) {
	var repo *repository
	if r.PathValue("repository") != "" {
		var err error
		if repo, err = o.repository(r); err != nil {
			return nil, err
		}
	}
	if id, ok := r.pathNumber("pull"); ok {
		for _, p := range o.pulls {
			if p.PullRequestID == id && (repo == nil || p.repo == repo) {
				return p, nil
			}
		}
	}
	return nil, faultf(http.StatusNotFound, git, "GitPullRequestNotFoundException", "TF401180: there is no pull request %s here", r.PathValue("pull"))
}

func (o *Org) getPullRequest(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	shown := *p
	if !strings.EqualFold(r.URL.Query().Get("includeWorkItemRefs"), "true") {
		shown.WorkItemRefs = nil
	}
	return shown, nil
}

func (o *Org) listPullRequests(r *request) (any, error) {
	q := r.URL.Query()
	var repo *repository
	if r.PathValue("repository") != "" {
		var err error
		if repo, err = o.repository(r); err != nil {
			return nil, err
		}
	}
	status, err := pullStates.parse("searchCriteria.status", q.Get("searchCriteria.status"), "active")
	if err != nil {
		return nil, err
	}
	if status == "notSet" {
		status = "active"
	}
	for _, n := range []string{"creatorId", "reviewerId"} {
		if id := q.Get("searchCriteria." + n); id != "" && !guidForm.MatchString(id) {
			return nil, badRequest("searchCriteria.%s is %q, which is no ID", n, id)
		}
	}
	is := func(criterion string, have ...string) bool {
		want := q.Get("searchCriteria." + criterion)
		return want == "" || slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, want) })
	}
	pulls := []*pullRequest{}
	for _, p := range slices.Backward(o.pulls) {
		var reviewers []string
		for _, v := range p.Reviewers {
			reviewers = append(reviewers, v.ID)
		}
		if (repo == nil || p.repo == repo) &&
			(r.project == nil || p.Repository.Project.ID == r.project.ID) &&
			(status == "all" || p.Status == status) &&
			is("repositoryId", p.repo.ID, p.repo.Name) &&
			is("sourceRefName", p.SourceRefName) && is("targetRefName", p.TargetRefName) &&
			is("creatorId", p.CreatedBy.ID) && is("reviewerId", reviewers...) {
			shown := *p
			shown.WorkItemRefs = nil
			pulls = append(pulls, &shown)
		}
	}
	pulls, err = page(r, pulls, 101)
	if err != nil {
		return nil, err
	}
	return listOf(pulls), nil
}

// updatePullRequest changes all that the body names, or nothing.
func (o *Org) updatePullRequest(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Title, Description    *string
		Status                *text
		IsDraft               *bool
		TargetRefName         *string
		AutoCompleteSetBy     *struct{ ID string }
		CompletionOptions     *completionOptions
		LastMergeSourceCommit *struct{ CommitID string }
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if err := checkTexts(in.Title, in.Description); err != nil {
		return nil, err
	}
	status := p.Status
	if in.Status != nil {
		if status, err = pullStates.parse("status", string(*in.Status), ""); err != nil {
			return nil, err
		}
	}
	switch {
	case status == "all" || status == "notSet" || status == "":
		return nil, badRequest("a pull request cannot become %q", status)
	case p.Status == "completed" || p.Status == "abandoned" && status != "active":
		return nil, faultf(http.StatusConflict, git, "GitPullRequestNotEditableException", "TF401181: pull request %d is %s and cannot be changed", p.PullRequestID, p.Status)
	case status == "completed" && in.LastMergeSourceCommit == nil:
		return nil, badRequest("completing a pull request needs lastMergeSourceCommit, as it was seen last")
	case status == "completed" && in.LastMergeSourceCommit.CommitID != p.LastMergeSourceCommit.CommitID:
		return nil, faultf(http.StatusConflict, git, "GitPullRequestStaleException", "the source branch of pull request %d has moved on since %s", p.PullRequestID, in.LastMergeSourceCommit.CommitID)
	case status == "completed" && p.IsDraft:
		return nil, faultf(http.StatusConflict, git, "GitPullRequestDraftCannotVoteException", "pull request %d is a draft and cannot be completed", p.PullRequestID)
	}
	if names := o.unmet(p); status == "completed" && len(names) > 0 && (in.CompletionOptions == nil || !in.CompletionOptions.BypassPolicy) {
		return nil, faultf(http.StatusForbidden, git, "GitPullRequestUpdateRejectedByPolicyException", "policies keep pull request %d from being completed: %s.", p.PullRequestID, strings.Join(names, ", "))
	}
	target := p.TargetRefName
	if in.TargetRefName != nil {
		target = *in.TargetRefName
	}
	if in.TargetRefName != nil || status == "active" && p.Status != "active" {
		if err := checkBranches(p.repo, p.SourceRefName, target); err != nil {
			return nil, err
		}
	}
	var autoComplete *identity
	if in.AutoCompleteSetBy != nil && in.AutoCompleteSetBy.ID != guidNone && in.AutoCompleteSetBy.ID != "" {
		if autoComplete, err = o.user(in.AutoCompleteSetBy.ID); err != nil {
			return nil, err
		}
	}
	if in.CompletionOptions != nil && in.CompletionOptions.MergeStrategy != nil {
		if in.CompletionOptions.MergeStrategy, err = mergeStrategies.parse("mergeStrategy", fmt.Sprint(in.CompletionOptions.MergeStrategy), ""); err != nil {
			return nil, err
		}
	}

	now := o.now()
	p.Title = *cmp.Or(in.Title, &p.Title)
	p.Description = *cmp.Or(in.Description, &p.Description)
	p.IsDraft = *cmp.Or(in.IsDraft, &p.IsDraft)
	p.CompletionOptions = cmp.Or(in.CompletionOptions, p.CompletionOptions)
	if in.AutoCompleteSetBy != nil {
		p.AutoCompleteSetBy = autoComplete
	}
	if target != p.TargetRefName {
		p.setTarget(target)
	}
	if status != p.Status {
		p.Status, p.ClosedDate, p.ClosedBy = status, nil, nil
		if status != "active" {
			p.ClosedDate, p.ClosedBy = &now, o.me()
		}
		if status == "completed" {
			o.setRef(p.repo, p.TargetRefName, p.LastMergeSourceCommit.CommitID)
			if p.CompletionOptions != nil && p.CompletionOptions.DeleteSourceBranch {
				o.setRef(p.repo, p.SourceRefName, noCommit)
			}
		}
	}
	return p, nil
}

// guidNone stands for nobody.
const guidNone = "00000000-0000-0000-0000-000000000000"

// addTo adds reviewers to a pull request: all, or none.
func (o *Org) addTo(p *pullRequest, in []newReviewer) error {
	reviewers := slices.Clone(p.Reviewers)
	for _, n := range in {
		u, err := o.user(n.ID)
		if err != nil {
			return err
		}
		if !slices.Contains(votes, n.Vote) {
			return badRequest("a vote cannot be %d", n.Vote)
		}
		v := &reviewer{identity: *u, Vote: n.Vote, IsRequired: n.IsRequired}
		if i := slices.IndexFunc(reviewers, func(v *reviewer) bool { return v.ID == u.ID }); i >= 0 {
			reviewers[i] = v
		} else {
			reviewers = append(reviewers, v)
		}
	}
	p.Reviewers = reviewers
	return nil
}

func (o *Org) addReviewers(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	var in []newReviewer
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if err := o.addTo(p, in); err != nil {
		return nil, err
	}
	return listOf(p.Reviewers), nil
}

func (o *Org) setReviewer(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	var in newReviewer
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	in.ID = r.PathValue("reviewer")
	if err := o.addTo(p, []newReviewer{in}); err != nil {
		return nil, err
	}
	return p.Reviewers[slices.IndexFunc(p.Reviewers, func(v *reviewer) bool { return strings.EqualFold(v.ID, in.ID) })], nil
}

func (o *Org) getReviewer(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	for _, v := range p.Reviewers {
		if strings.EqualFold(v.ID, r.PathValue("reviewer")) {
			return v, nil
		}
	}
	return nil, faultf(http.StatusNotFound, git, "GitPullRequestReviewerNotFoundException", "TF401186: pull request %d has no reviewer %s", p.PullRequestID, r.PathValue("reviewer"))
}

func (o *Org) listPullRequestCommits(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	commits, err := page(r, p.repo.since(p.LastMergeSourceCommit.CommitID, p.LastMergeTargetCommit.CommitID), 100)
	if err != nil {
		return nil, err
	}
	return listOf(commits), nil
}

func (o *Org) removeReviewer(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	u, err := o.user(r.PathValue("reviewer"))
	if err != nil {
		return nil, err
	}
	p.Reviewers = slices.DeleteFunc(slices.Clone(p.Reviewers), func(v *reviewer) bool { return v.ID == u.ID })
	return nil, nil
}

// label adds a label to a pull request; one that is there already stays.
func (p *pullRequest) label(name string) (*label, error) {
	if strings.TrimSpace(name) == "" {
		return nil, badRequest("a label needs a name")
	}
	for _, l := range p.Labels {
		if strings.EqualFold(l.Name, name) {
			return l, nil
		}
	}
	l := &label{guid("label", strings.ToLower(name)), name, true}
	p.Labels = append(slices.Clone(p.Labels), l)
	return l, nil
}

func (o *Org) addLabel(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	var in struct{ Name string }
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	return p.label(in.Name)
}

func (o *Org) removeLabel(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("label")
	p.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(l *label) bool {
		return strings.EqualFold(l.Name, name) || strings.EqualFold(l.ID, name)
	})
	return nil, nil
}

type iteration struct {
	ID              int       `json:"id"`
	Author          *identity `json:"author"`
	CreatedDate     time.Time `json:"createdDate"`
	SourceRefCommit commitRef `json:"sourceRefCommit"`
	TargetRefCommit commitRef `json:"targetRefCommit"`
	CommonRefCommit commitRef `json:"commonRefCommit"`
	HasMoreCommits  bool      `json:"hasMoreCommits"`
	Reason          string    `json:"reason"`
}

// iterations gives the one push that a pull request of the sample has.
func (p *pullRequest) iterations() []iteration {
	return []iteration{{1, p.CreatedBy, p.CreationDate, p.LastMergeSourceCommit, p.LastMergeTargetCommit, p.LastMergeTargetCommit, false, "create"}}
}

// pullIteration finds the iteration that the path names.
func (o *Org) pullIteration(r *request) (*pullRequest, iteration, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, iteration{}, err
	}
	for _, i := range p.iterations() {
		if strconv.Itoa(i.ID) == r.PathValue("iteration") {
			return p, i, nil
		}
	}
	return nil, iteration{}, faultf(http.StatusNotFound, git, "GitPullRequestIterationNotFoundException", "pull request %d has no iteration %s", p.PullRequestID, r.PathValue("iteration"))
}

func (o *Org) getIteration(r *request) (any, error) {
	_, i, err := o.pullIteration(r)
	if err != nil {
		return nil, err
	}
	return i, nil
}

type change struct {
	ChangeID         int        `json:"changeId"`
	ChangeTrackingID int        `json:"changeTrackingId"`
	Item             changeItem `json:"item"`
	ChangeType       string     `json:"changeType"`
}

type changeItem struct {
	ObjectID string `json:"objectId"`
	Path     string `json:"path"`
}

func (o *Org) listChanges(r *request) (any, error) {
	p, _, err := o.pullIteration(r)
	if err != nil {
		return nil, err
	}
	base := p.repo.commit(p.LastMergeTargetCommit.CommitID)
	entries := []change{}
	for _, c := range p.repo.since(p.LastMergeSourceCommit.CommitID, p.LastMergeTargetCommit.CommitID) {
		for _, f := range c.files {
			if slices.ContainsFunc(entries, func(e change) bool { return e.Item.Path == f }) {
				continue
			}
			n := len(entries) + 1
			entries = append(entries, change{n, n, changeItem{c.CommitID, f}, p.repo.change(base, p.repo.commit(p.LastMergeSourceCommit.CommitID), f)})
		}
	}
	if entries, err = page(r, entries, 100); err != nil {
		return nil, err
	}
	return struct {
		ChangeEntries []change `json:"changeEntries"`
	}{entries}, nil
}
