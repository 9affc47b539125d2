package sample

import (
	"crypto/sha1"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// noCommit stands for the absence of a commit in updates of refs.
const noCommit = "0000000000000000000000000000000000000000"

var objectForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// repositoryRef is a repository as answers show it.
type repositoryRef struct {
	ID            string     `json:"id"`
	Name          string     `json:"name"`
	URL           string     `json:"url"`
	Project       projectRef `json:"project"`
	DefaultBranch string     `json:"defaultBranch,omitempty"`
	Size          int64      `json:"size"`
	RemoteURL     string     `json:"remoteUrl"`
	SSHURL        string     `json:"sshUrl"`
	WebURL        string     `json:"webUrl"`
	IsDisabled    bool       `json:"isDisabled"`
}

type repository struct {
	repositoryRef
	refs    []*ref // by name
	commits []*commit
}

type ref struct {
	Name     string    `json:"name"`
	ObjectID string    `json:"objectId"`
	Creator  *identity `json:"creator"`
	URL      string    `json:"url"`
}

type signature struct {
	Name  string    `json:"name"`
	Email string    `json:"email"`
	Date  time.Time `json:"date"`
}

type commit struct {
	CommitID  string    `json:"commitId"`
	Author    signature `json:"author"`
	Committer signature `json:"committer"`
	Comment   string    `json:"comment"`
	URL       string    `json:"url"`
	RemoteURL string    `json:"remoteUrl"`
	parent    string
	files     []string // that it changes
}

func (o *Org) addRepository(p *project, name string) *repository {
	id := guid("repository", p.Name, name)
	r := &repository{repositoryRef: repositoryRef{
		ID: id, Name: name, URL: PublicURL + "/" + p.ID + "/_apis/git/repositories/" + id, Project: p.projectRef,
		RemoteURL: p.webURL() + "/_git/" + url.PathEscape(name),
		SSHURL:    "git@ssh.dev.azure.com:v3/" + Name + "/" + url.PathEscape(p.Name) + "/" + url.PathEscape(name),
		WebURL:    p.webURL() + "/_git/" + url.PathEscape(name),
	}}
	p.repos = append(p.repos, r)
	return r
}

// addCommit makes a commit on a branch, and the branch where there is none.
func (o *Org) addCommit(r *repository, branch, comment string, at time.Time, files ...string) {
	name := "refs/heads/" + branch
	parent := ""
	if b := r.ref(name); b != nil {
		parent = b.ObjectID
	}
	h := sha1.Sum([]byte(strings.Join([]string{r.ID, branch, parent, comment}, "\x00"))) // git's own form of object names
	id := hex.EncodeToString(h[:])
	s := signature{o.me().DisplayName, o.me().UniqueName, at}
	r.commits = append(r.commits, &commit{
		CommitID: id, Author: s, Committer: s, Comment: comment, parent: parent, files: files,
		URL: r.URL + "/commits/" + id, RemoteURL: r.WebURL + "/commit/" + id,
	})
	r.Size += 1024
	o.setRef(r, name, id)
}

// since gives the commits of a branch that another does not have, newest first.
func (r *repository) since(tip, base string) []*commit {
	has := map[string]bool{}
	for c := r.commit(base); c != nil; c = r.commit(c.parent) {
		has[c.CommitID] = true
	}
	var new []*commit
	for c := r.commit(tip); c != nil && !has[c.CommitID]; c = r.commit(c.parent) {
		new = append(new, c)
	}
	return new
}

// setRef points a ref to a commit; noCommit removes it.
func (o *Org) setRef(r *repository, name, id string) {
	i, found := slices.BinarySearchFunc(r.refs, name, func(f *ref, n string) int { return strings.Compare(f.Name, n) })
	switch {
	case id == noCommit:
		if found {
			r.refs = slices.Delete(r.refs, i, i+1)
		}
	case found:
		r.refs[i].ObjectID = id
	default:
		r.refs = slices.Insert(r.refs, i, &ref{name, id, o.me(), r.URL + "/refs?filter=" + strings.TrimPrefix(name, "refs/")})
		if r.DefaultBranch == "" && strings.HasPrefix(name, "refs/heads/") {
			r.DefaultBranch = name
		}
	}
}

// ref finds a ref by its full name. Names of refs keep their case.
func (r *repository) ref(name string) *ref {
	for _, f := range r.refs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func (r *repository) commit(id string) *commit {
	for _, c := range r.commits {
		if c.CommitID == id {
			return c
		}
	}
	return nil
}

// reposIn gives the repositories of the request's project, or all.
func (o *Org) reposIn(r *request) []*repository {
	if r.project != nil {
		return r.project.repos
	}
	var all []*repository
	for _, p := range o.projects {
		all = append(all, p.repos...)
	}
	return all
}

// repository finds the repository that the path names. A name counts within the
// project of the path alone, an ID everywhere.
func (o *Org) repository(r *request) (*repository, error) {
	name := r.PathValue("repository")
	for _, repo := range o.reposIn(r) {
		if strings.EqualFold(repo.ID, name) || r.project != nil && strings.EqualFold(repo.Name, name) {
			return repo, nil
		}
	}
	if r.project == nil && !guidForm.MatchString(name) {
		return nil, badRequest("the repository %q is given by its name, and the path names no project; give the project, or the repository's ID", name)
	}
	where := "the organization"
	var have []string
	if r.project != nil {
		where = "project " + r.project.Name
		for _, repo := range r.project.repos {
			have = append(have, repo.Name)
		}
		where += ", which has " + strings.Join(have, ", ")
	}
	return nil, faultf(http.StatusNotFound, git, "GitRepositoryNotFoundException", "TF401019: there is no Git repository %q in %s", name, where)
}

func (o *Org) listRepositories(r *request) (any, error) {
	refs := []repositoryRef{}
	for _, repo := range o.reposIn(r) {
		refs = append(refs, repo.repositoryRef)
	}
	return listOf(refs), nil
}

func (o *Org) getRepository(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	return repo.repositoryRef, nil
}

// repositoryName is what Azure DevOps takes as one: no control characters, none
// of \/:*?"<>;#$*{}|+=[], no leading _ and no . at either end.
var repositoryName = regexp.MustCompile(`^[^\x00-\x1f\\/:*?"<>;#${},|+=\[\]_.]([^\x00-\x1f\\/:*?"<>;#${},|+=\[\]]{0,62}[^\x00-\x1f\\/:*?"<>;#${},|+=\[\].])?$`)

func (o *Org) createRepository(r *request) (any, error) {
	var in struct {
		Name    string
		Project struct{ ID, Name string }
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	p := r.project
	if named := in.Project.ID + in.Project.Name; p == nil && named != "" {
		var err error
		if in.Project.ID != "" {
			named = in.Project.ID
		}
		if p, err = o.projectNamed(named); err != nil {
			return nil, err
		}
	}
	if p == nil {
		return nil, r.need()
	}
	if !repositoryName.MatchString(in.Name) {
		return nil, faultf(http.StatusBadRequest, git, "InvalidArgumentValueException", "%q cannot be the name of a repository", in.Name)
	}
	for _, repo := range p.repos {
		if strings.EqualFold(repo.Name, in.Name) {
			return nil, faultf(http.StatusConflict, git, "GitRepositoryNameAlreadyExistsException",
				"TF400948: project %s already has a Git repository %q", p.Name, repo.Name)
		}
	}
	return created{o.addRepository(p, in.Name).repositoryRef}, nil
}

func (o *Org) listRefs(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	refs := []*ref{}
	for _, f := range repo.refs {
		if strings.HasPrefix(f.Name, "refs/"+q.Get("filter")) && strings.Contains(f.Name, q.Get("filterContains")) {
			refs = append(refs, f)
		}
	}
	refs, err = page(r, refs, 1000)
	if err != nil {
		return nil, err
	}
	return listOf(refs), nil
}

// refName is git's rule for a full name, as far as it matters here
// (git-check-ref-format).
var refName = regexp.MustCompile(`^refs/(heads|tags)/[^\x00-\x20\x7f~^:?*\[\\]+$`)

// refUpdate is the answer to one update of a ref. A refusal is an answer too:
// its status says why, and the response's own status stays 200.
type refUpdate struct {
	RepositoryID string `json:"repositoryId"`
	Name         string `json:"name"`
	OldObjectID  string `json:"oldObjectId"`
	NewObjectID  string `json:"newObjectId"`
	IsLocked     bool   `json:"isLocked"`
	UpdateStatus string `json:"updateStatus"`
	Success      bool   `json:"success"`
}

func (o *Org) updateRefs(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	var in []struct{ Name, OldObjectID, NewObjectID string }
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return nil, badRequest("the body must be a list of at least one update of a ref")
	}
	updates := []refUpdate{}
	for i, u := range in {
		if !objectForm.MatchString(u.OldObjectID) || !objectForm.MatchString(u.NewObjectID) {
			return nil, badRequest("update %d: oldObjectId and newObjectId must be 40 lower-case hexadecimal digits each", i)
		}
		now := noCommit
		if f := repo.ref(u.Name); f != nil {
			now = f.ObjectID
		}
		status := "succeeded"
		switch {
		case !refName.MatchString(u.Name), strings.Contains(u.Name, ".."), strings.Contains(u.Name, "//"),
			strings.HasSuffix(u.Name, "/"), strings.HasSuffix(u.Name, "."), strings.HasSuffix(u.Name, ".lock"):
			status = "invalidRefName"
		case now != u.OldObjectID:
			status = "staleOldObjectId"
		case u.NewObjectID != noCommit && repo.commit(u.NewObjectID) == nil:
			status = "unresolvableToCommit"
		case u.NewObjectID != noCommit && slices.ContainsFunc(repo.refs, func(f *ref) bool {
			return strings.HasPrefix(f.Name, u.Name+"/") || strings.HasPrefix(u.Name, f.Name+"/")
		}):
			status = "refNameConflict"
		default:
			o.setRef(repo, u.Name, u.NewObjectID)
		}
		updates = append(updates, refUpdate{repo.ID, u.Name, u.OldObjectID, u.NewObjectID, false, status, status == "succeeded"})
	}
	return listOf(updates), nil
}

// listCommits gives the history of a branch, of the default branch when none is
// named, newest first.
func (o *Org) listCommits(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	branch := repo.DefaultBranch
	if v := r.URL.Query().Get("searchCriteria.itemVersion.version"); v != "" {
		branch = "refs/heads/" + v
	}
	commits := []*commit{}
	if f := repo.ref(branch); f != nil {
		for c := repo.commit(f.ObjectID); c != nil; c = repo.commit(c.parent) {
			commits = append(commits, c)
		}
	} else if branch != "" {
		return nil, faultf(http.StatusNotFound, git, "GitUnresolvableToCommitException", "TF401175: there is no branch %q in repository %s", strings.TrimPrefix(branch, "refs/heads/"), repo.Name)
	}
	n, err := r.number("searchCriteria.$top", 1, 100)
	if err != nil {
		return nil, err
	}
	return listOf(commits[:min(n, len(commits))]), nil
}

// text is a string that is also taken as a number, as Azure DevOps takes IDs.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	s := string(b)
	if u, err := strconv.Unquote(s); err == nil {
		s = u
	}
	*t = text(s)
	return nil
}
