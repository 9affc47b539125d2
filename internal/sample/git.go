package sample

import (
	"cmp"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// gitRoutes are repositories, refs, commits and files.
var gitRoutes = []route{
	{"GET /git/repositories", (*Org).listRepositories},
	{"POST /git/repositories", (*Org).createRepository},
	{"GET /git/repositories/{repository}", one((*Org).repository, func(_ *Org, repo *repository) any { return repo.repositoryRef })},
	{"GET /git/repositories/{repository}/refs", (*Org).listRefs},
	{"POST /git/repositories/{repository}/refs", (*Org).updateRefs},
	{"POST /git/repositories/{repository}/pushes", (*Org).push},
	{"GET /git/repositories/{repository}/commits", (*Org).listCommits},
	{"GET /git/repositories/{repository}/commits/{commit}", (*Org).getCommit},
	{"GET /git/repositories/{repository}/commits/{commit}/changes", (*Org).listCommitChanges},
	{"GET /git/repositories/{repository}/items", (*Org).getItems},
	{"POST /git/repositories/{repository}/FileDiffs", (*Org).diffFiles},
	{"POST /git/repositories/{repository}/pullRequestQuery", (*Org).queryPullRequests},
}

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
	files     []string           // that it changes
	contents  map[string]*string // of the files that a push wrote; nil is a file that is gone
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
	o.commitOn(r, name, parent, comment, at).files = files
}

// commitOn makes a commit behind a parent, and points a branch to it. Commits
// that are else alike differ by more.
func (o *Org) commitOn(r *repository, name, parent, comment string, at time.Time, more ...string) *commit {
	id := objectID(append([]string{r.ID, strings.TrimPrefix(name, "refs/heads/"), parent, comment}, more...)...)
	s := signature{o.me().DisplayName, o.me().UniqueName, at}
	c := &commit{
		CommitID: id, Author: s, Committer: s, Comment: comment, parent: parent,
		URL: r.URL + "/commits/" + id, RemoteURL: r.WebURL + "/commit/" + id,
	}
	r.commits = append(r.commits, c)
	r.Size += 1024
	o.setRef(r, name, id)
	for _, p := range o.pulls {
		if p.repo == r && p.Status == "active" && p.SourceRefName == name {
			p.LastMergeSourceCommit = commitRef{id, c.URL}
		}
	}
	return c
}

// changeKinds are what a push may do to a file.
var changeKinds = enum{"add": 1, "edit": 2, "rename": 8, "delete": 16}

// push makes one commit on one branch: all of its changes, or none. The branch
// must be where the push says; one that is not there begins at that commit.
func (o *Org) push(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		RefUpdates []struct{ Name, OldObjectID string }
		Commits    []struct {
			Comment string
			Changes []struct {
				ChangeType       text
				SourceServerItem string
				Item             struct{ Path string }
				NewContent       *struct{ Content, ContentType string }
			}
		}
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if len(in.RefUpdates) != 1 || len(in.Commits) != 1 || len(in.Commits[0].Changes) == 0 {
		return nil, badRequest("a push to the sample has one update of a ref and one commit, which changes something")
	}
	update, made := in.RefUpdates[0], in.Commits[0]
	if !isRefName(update.Name) || !objectForm.MatchString(update.OldObjectID) {
		return nil, badRequest("%q is no name of a branch, or %q no commit", update.Name, update.OldObjectID)
	}
	base, now := repo.commit(update.OldObjectID), repo.ref(update.Name)
	switch {
	case now != nil && now.ObjectID != update.OldObjectID:
		return nil, faultf(http.StatusConflict, git, "GitReferenceStaleException", "TF401028: The reference %q was updated by somebody else; it does not point to %s", update.Name, update.OldObjectID)
	case base == nil && update.OldObjectID != noCommit:
		return nil, faultf(http.StatusNotFound, git, "GitCommitDoesNotExistException", "TF401175: repository %s has no commit %s", repo.Name, update.OldObjectID)
	}
	if err := o.guarded(repo, update.Name); err != nil {
		return nil, err
	}
	contents := map[string]*string{}
	for i, c := range made.Changes {
		kind, err := changeKinds.parse("changeType", string(c.ChangeType), "")
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(c.Item.Path, "/") || (kind == "rename") != (c.SourceServerItem != "") || (kind == "add" || kind == "edit") != (c.NewContent != nil) {
			return nil, badRequest("change %d: a path begins with /, only a rename has sourceServerItem, and only an add and an edit have newContent", i)
		}
		was := cmp.Or(c.SourceServerItem, c.Item.Path)
		there := repo.has(base, was)
		if there != (kind != "add") {
			return nil, faultf(http.StatusBadRequest, git, "GitArgumentException", "TF401035: %s does not fit the file %s, which is%s there", kind, was, map[bool]string{false: " not"}[there])
		}
		var content *string
		switch kind {
		case "rename":
			old := repo.content(base, was)
			content, contents[was] = &old, nil
		case "add", "edit":
			content = &c.NewContent.Content
			if strings.EqualFold(c.NewContent.ContentType, "base64encoded") {
				data, err := base64.StdEncoding.DecodeString(*content)
				if err != nil {
					return nil, badRequest("change %d: the content is no base64", i)
				}
				content = new(string(data))
			}
		}
		contents[c.Item.Path] = content
	}
	before := noCommit
	if now != nil {
		before = now.ObjectID
	}
	parent := ""
	if base != nil {
		parent = base.CommitID
	}
	n := o.next("push")
	c := o.commitOn(repo, update.Name, parent, made.Comment, o.now(), strconv.FormatInt(n, 10))
	c.contents, c.files = contents, slices.Sorted(maps.Keys(contents))
	return created{object{
		"commits": []*commit{c}, "refUpdates": []object{{"repositoryId": repo.ID, "name": update.Name, "oldObjectId": before, "newObjectId": c.CommitID}},
		"repository": repo.repositoryRef, "pushedBy": o.me(), "pushId": n, "date": c.Author.Date, "url": fmt.Sprintf("%s/pushes/%d", repo.URL, n),
	}}, nil
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
		if strings.HasPrefix(f.Name, "refs/"+q.Get("filter")) && strings.Contains(f.Name, q.Get("filterContains")) &&
			(!r.flag("includeMyBranches") || f.Creator == o.me()) {
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

func isRefName(name string) bool {
	return refName.MatchString(name) && !strings.Contains(name, "..") && !strings.Contains(name, "//") &&
		!strings.HasSuffix(name, "/") && !strings.HasSuffix(name, ".") && !strings.HasSuffix(name, ".lock")
}

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
		case !isRefName(u.Name):
			status = "invalidRefName"
		case now != u.OldObjectID:
			status = "staleOldObjectId"
		case u.NewObjectID != noCommit && repo.commit(u.NewObjectID) == nil:
			status = "unresolvableToCommit"
		case u.NewObjectID != noCommit && slices.ContainsFunc(repo.refs, func(f *ref) bool {
			return strings.HasPrefix(f.Name, u.Name+"/") || strings.HasPrefix(u.Name, f.Name+"/")
		}):
			status = "refNameConflict"
		case o.guarded(repo, u.Name) != nil:
			status = "rejectedByPolicy"
		default:
			o.setRef(repo, u.Name, u.NewObjectID)
		}
		updates = append(updates, refUpdate{repo.ID, u.Name, u.OldObjectID, u.NewObjectID, false, status, status == "succeeded"})
	}
	return listOf(updates), nil
}

// versionKinds are how a request may name a state of a repository.
var versionKinds = enum{"branch": 0, "tag": 1, "commit": 2}

// at finds the commit that a request names by two parameters; the tip of the
// default branch when it names none.
func (r *request) at(repo *repository, name, kind string) (*commit, error) {
	q := r.URL.Query()
	version := q.Get(name)
	what, err := versionKinds.parse(kind, q.Get(kind), "branch")
	if err != nil {
		return nil, err
	}
	var c *commit
	switch {
	case what == "commit" && version != "":
		c = repo.commit(version)
	case version == "":
		version = strings.TrimPrefix(repo.DefaultBranch, "refs/heads/")
		fallthrough
	default:
		if f := repo.ref("refs/heads/" + version); f != nil {
			c = repo.commit(f.ObjectID)
		}
	}
	if c == nil && version != "" {
		return nil, faultf(http.StatusNotFound, git, "GitUnresolvableToCommitException", "TF401175: the version %s %q cannot be resolved to a commit of repository %s", what, version, repo.Name)
	}
	return c, nil
}

// history gives a commit and what led to it, newest first.
func (r *repository) history(c *commit) []*commit {
	all := []*commit{}
	for ; c != nil; c = r.commit(c.parent) {
		all = append(all, c)
	}
	return all
}

// listCommits gives the history of a branch, of the default branch when none is
// named, newest first.
func (o *Org) listCommits(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	const criteria = "searchCriteria."
	tip, err := r.at(repo, criteria+"itemVersion.version", criteria+"itemVersion.versionType")
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	has := func(s signature, want string) bool {
		return strings.Contains(strings.ToLower(s.Name+" "+s.Email), strings.ToLower(want))
	}
	from, ferr := parseDate(cmp.Or(q.Get(criteria+"fromDate"), "0001-01-01"))
	to, terr := parseDate(cmp.Or(q.Get(criteria+"toDate"), "9999-12-31"))
	if ferr != nil || terr != nil {
		return nil, badRequest("fromDate or toDate is no date")
	}
	ids := strings.FieldsFunc(q.Get(criteria+"ids"), func(c rune) bool { return c == ',' })
	commits := slices.DeleteFunc(repo.history(tip), func(c *commit) bool {
		path := q.Get(criteria + "itemPath")
		return !has(c.Author, q.Get(criteria+"author")) || !has(c.Committer, q.Get(criteria+"user")) ||
			c.Author.Date.Before(from) || c.Author.Date.After(to) ||
			len(ids) > 0 && !slices.Contains(ids, c.CommitID) ||
			path != "" && !slices.ContainsFunc(c.files, func(f string) bool { return f == path || strings.HasPrefix(f, strings.TrimSuffix(path, "/")+"/") })
	})
	n, err := r.number(criteria+"$top", 1, 100)
	if err != nil {
		return nil, err
	}
	if commits, err = page(r, commits, n); err != nil {
		return nil, err
	}
	return listOf(commits), nil
}

// commitInPath finds the commit that the path names.
func (o *Org) commitInPath(r *request) (*repository, *commit, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, nil, err
	}
	c := repo.commit(r.PathValue("commit"))
	if c == nil {
		return nil, nil, faultf(http.StatusNotFound, git, "GitCommitDoesNotExistException", "TF401175: repository %s has no commit %s", repo.Name, r.PathValue("commit"))
	}
	return repo, c, nil
}

func (o *Org) getCommit(r *request) (any, error) {
	repo, c, err := o.commitInPath(r)
	if err != nil {
		return nil, err
	}
	n, err := r.number("changeCount", 0, 0)
	if err != nil {
		return nil, err
	}
	counts, changes := repo.changes(c)
	return struct {
		*commit
		ChangeCounts map[string]int `json:"changeCounts,omitempty"`
		Changes      []object       `json:"changes,omitempty"`
	}{c, counts, changes[:min(n, len(changes))]}, nil
}

func (o *Org) listCommitChanges(r *request) (any, error) {
	repo, c, err := o.commitInPath(r)
	if err != nil {
		return nil, err
	}
	counts, changes := repo.changes(c)
	return object{"changeCounts": counts, "changes": changes}, nil
}

// changes are the files that a commit changes.
func (r *repository) changes(c *commit) (counts map[string]int, changes []object) {
	counts, changes = map[string]int{}, []object{}
	for _, f := range c.files {
		kind := r.change(r.commit(c.parent), c, f)
		counts[strings.ToUpper(kind[:1])+kind[1:]]++
		changes = append(changes, object{"item": r.entry(c, f, false), "changeType": kind})
	}
	return counts, changes
}

// change says what has become of a file between two commits.
func (r *repository) change(base, head *commit, path string) string {
	switch {
	case !r.has(head, path):
		return "delete"
	case !r.has(base, path):
		return "add"
	}
	return "edit"
}

// content is what a file holds at a commit: what the last push wrote, and a line
// for each commit of the seed that changed it. It is empty where there is no such
// file.
func (r *repository) content(at *commit, path string) string {
	var parts []string
	for _, c := range r.history(at) {
		if written, ok := c.contents[path]; ok {
			if written != nil {
				parts = append(parts, *written)
			}
			break
		}
		if slices.Contains(c.files, path) {
			parts = append(parts, c.Comment+"\n")
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// has says whether there is a file at a commit; at nil there is none.
func (r *repository) has(at *commit, path string) bool {
	files, _ := r.paths(at)
	return slices.Contains(files, path)
}

// paths are the files and folders at a commit, sorted.
func (r *repository) paths(at *commit) (files, folders []string) {
	seen := map[string]bool{}
	for _, c := range r.history(at) {
		for _, f := range c.files {
			if seen[f] {
				continue
			}
			seen[f] = true
			if written, ok := c.contents[f]; ok && written == nil {
				continue
			}
			files = append(files, f)
			for d := path.Dir(f); !seen[d]; d = path.Dir(d) {
				seen[d] = true
				folders = append(folders, d)
			}
		}
	}
	slices.Sort(files)
	slices.Sort(folders)
	return files, folders
}

// entry is a file or folder as answers show it.
func (r *repository) entry(c *commit, path string, folder bool) object {
	e := object{
		"objectId": objectID(r.ID, path, r.content(c, path)), "gitObjectType": "blob", "commitId": c.CommitID, "path": path,
		"url": r.URL + "/items/" + strings.TrimPrefix(path, "/") + "?versionType=Commit&version=" + c.CommitID,
	}
	if folder {
		e["gitObjectType"], e["isFolder"] = "tree", true
	}
	return e
}

// objectID has git's own form of object names.
func objectID(parts ...string) string {
	h := sha1.Sum([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:])
}

var recursions = enum{"none": 0, "oneLevel": 1, "oneLevelPlusNestedEmptyFolders": 4, "full": 120}

// getItems gives a file, or what is in a folder.
func (o *Org) getItems(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	at, err := r.at(repo, "versionDescriptor.version", "versionDescriptor.versionType")
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	deep, err := recursions.parse("recursionLevel", q.Get("recursionLevel"), "none")
	if err != nil {
		return nil, err
	}
	scope := cmp.Or(q.Get("path"), q.Get("scopePath"), "/")
	if !strings.HasPrefix(scope, "/") {
		scope = "/" + scope
	}
	if len(scope) > 1 {
		scope = strings.TrimSuffix(scope, "/")
	}
	files, folders := repo.paths(at)
	missing := faultf(http.StatusNotFound, git, "GitItemNotFoundException", "TF401174: there is no %q in repository %s at the version that was asked for", scope, repo.Name)
	if slices.Contains(files, scope) {
		content := repo.content(at, scope)
		if !strings.Contains(r.Header.Get("Accept"), "json") && r.Header.Get("Accept") != "" && r.Header.Get("Accept") != "*/*" {
			return raw{"text/plain; charset=utf-8", []byte(content)}, nil
		}
		e := repo.entry(at, scope, false)
		if r.flag("includeContent") {
			e["content"] = content
		}
		return e, nil
	}
	if !slices.Contains(folders, scope) {
		return nil, missing
	}
	under := func(p string) bool {
		if p == scope {
			return true
		}
		switch deep {
		case "none":
			return false
		case "full":
			return strings.HasPrefix(p, strings.TrimSuffix(scope, "/")+"/")
		}
		return path.Dir(p) == scope
	}
	entries := []object{}
	for _, list := range []struct {
		paths  []string
		folder bool
	}{{folders, true}, {files, false}} {
		for _, p := range list.paths {
			if under(p) {
				entries = append(entries, repo.entry(at, p, list.folder))
			}
		}
	}
	if q.Get("scopePath") == "" && q.Get("path") != "" && deep == "none" {
		return entries[0], nil
	}
	return listOf(entries), nil
}

// diffFiles tells in which lines files differ between two commits: all behind
// those with which both begin.
func (o *Org) diffFiles(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		BaseVersionCommit, TargetVersionCommit string
		FileDiffParams                         []struct{ Path, OriginalPath string }
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	base, target := repo.commit(in.BaseVersionCommit), repo.commit(in.TargetVersionCommit)
	if base == nil || target == nil {
		return nil, faultf(http.StatusNotFound, git, "GitCommitDoesNotExistException", "TF401175: repository %s lacks one of the two commits", repo.Name)
	}
	if len(in.FileDiffParams) == 0 || len(in.FileDiffParams) > 10 {
		return nil, badRequest("fileDiffParams holds between 1 and 10 files")
	}
	diffs := []object{}
	for _, f := range in.FileDiffParams {
		was := slices.Collect(strings.Lines(repo.content(base, cmp.Or(f.OriginalPath, f.Path))))
		is := slices.Collect(strings.Lines(repo.content(target, f.Path)))
		same := 0
		for same < min(len(was), len(is)) && was[same] == is[same] {
			same++
		}
		blocks := []object{}
		if same > 0 {
			blocks = append(blocks, object{"changeType": "none", "originalLineNumberStart": 1, "originalLinesCount": same, "modifiedLineNumberStart": 1, "modifiedLinesCount": same})
		}
		switch gone, come := len(was)-same, len(is)-same; {
		case gone == 0 && come > 0:
			blocks = append(blocks, object{"changeType": "add", "originalLineNumberStart": same, "originalLinesCount": 0, "modifiedLineNumberStart": same + 1, "modifiedLinesCount": come})
		case gone > 0 && come == 0:
			blocks = append(blocks, object{"changeType": "delete", "originalLineNumberStart": same + 1, "originalLinesCount": gone, "modifiedLineNumberStart": same, "modifiedLinesCount": 0})
		case gone > 0:
			blocks = append(blocks, object{"changeType": "edit", "originalLineNumberStart": same + 1, "originalLinesCount": gone, "modifiedLineNumberStart": same + 1, "modifiedLinesCount": come})
		}
		diffs = append(diffs, object{"path": f.Path, "originalPath": cmp.Or(f.OriginalPath, f.Path), "lineDiffBlocks": blocks})
	}
	return diffs, nil
}

var pullQueries = enum{"notSet": 0, "lastMergeCommit": 1, "commit": 2}

// queryPullRequests finds the pull requests that brought commits.
func (o *Org) queryPullRequests(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Queries []struct {
			Type  text
			Items []string
		}
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	results := []map[string][]*pullRequest{}
	for _, q := range in.Queries {
		kind, err := pullQueries.parse("type", string(q.Type), "lastMergeCommit")
		if err != nil {
			return nil, err
		}
		found := map[string][]*pullRequest{}
		for _, id := range q.Items {
			for _, p := range o.pulls {
				at := p.LastMergeSourceCommit.CommitID
				if p.repo == repo && (at == id || kind == "commit" && slices.ContainsFunc(repo.since(at, p.LastMergeTargetCommit.CommitID), func(c *commit) bool { return c.CommitID == id })) {
					found[id] = append(found[id], p)
				}
			}
		}
		results = append(results, found)
	}
	return object{"queries": in.Queries, "results": results}, nil
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
