package sample

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// coreRoutes are projects, teams and identities; those are of vssps.dev.azure.com.
var coreRoutes = []route{
	{"GET /connectionData", (*Org).connectionData},
	{"GET /identities", (*Org).listIdentities},
	{"GET /projects", (*Org).listProjects},
	{"GET /projects/{project}", (*Org).getProject},
	{"GET /projects/{project}/teams", (*Org).listTeams},
	{"GET /projects/{project}/teams/{team}/members", (*Org).listTeamMembers},
}

// guid derives an identifier from what it names, so that it is the same in
// every run (the form of RFC 9562 §5.8, version 8).
func guid(kind string, name ...string) string {
	h := sha256.Sum256([]byte(kind + "\x00" + strings.Join(name, "\x00")))
	h[6] = h[6]&0x0f | 0x80
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// identity is a person or service as answers show it.
type identity struct {
	DisplayName string `json:"displayName"`
	URL         string `json:"url"`
	ID          string `json:"id"`
	UniqueName  string `json:"uniqueName"`
	Descriptor  string `json:"descriptor"`
}

func newIdentity(displayName, uniqueName string) *identity {
	id := guid("identity", uniqueName)
	return &identity{
		DisplayName: displayName,
		URL:         PublicURL + "/_apis/Identities/" + id,
		ID:          id,
		UniqueName:  uniqueName,
		Descriptor:  "aad." + strings.ReplaceAll(id, "-", ""),
	}
}

// user finds an identity by its ID.
func (o *Org) user(id string) (*identity, error) {
	for _, u := range o.users {
		if strings.EqualFold(u.ID, id) {
			return u, nil
		}
	}
	return nil, faultf(http.StatusNotFound, core, "IdentityNotFoundException", "TF14045: there is no identity with the ID %q", id)
}

// userNamed finds an identity by what a work item's field may call it.
func (o *Org) userNamed(name string) *identity {
	for _, u := range o.users {
		for _, n := range []string{u.UniqueName, u.DisplayName, u.DisplayName + " <" + u.UniqueName + ">", u.ID} {
			if strings.EqualFold(n, name) {
				return u
			}
		}
	}
	return nil
}

func (o *Org) me() *identity { return o.users[0] }

// projectRef is a project as other resources show it.
type projectRef struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Description    string    `json:"description,omitempty"`
	URL            string    `json:"url"`
	State          string    `json:"state"`
	Revision       int       `json:"revision"`
	Visibility     string    `json:"visibility"`
	LastUpdateTime time.Time `json:"lastUpdateTime"`
}

type project struct {
	projectRef
	teams []*team
	repos []*repository
	planning
}

type team struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	URL         string      `json:"url"`
	Description string      `json:"description"`
	ProjectName string      `json:"projectName"`
	ProjectID   string      `json:"projectId"`
	members     []*identity // the first is its administrator
	iterations  []string    // IDs of nodes, in the order in which they were taken
	capacities  map[string]capacity
}

func (o *Org) addProject(name, description string) *project {
	id := guid("project", name)
	p := &project{projectRef: projectRef{
		ID: id, Name: name, Description: description, URL: PublicURL + "/_apis/projects/" + id,
		State: "wellFormed", Revision: 11, Visibility: "private", LastUpdateTime: epoch,
	}}
	p.addTeam(guid("team", name), name+" Team", "The default project team.", o.users...)
	o.projects = append(o.projects, p)
	return p
}

func (p *project) addTeam(id, name, description string, members ...*identity) *team {
	t := &team{
		ID: id, Name: name, URL: p.URL + "/teams/" + id, Description: description, ProjectName: p.Name, ProjectID: p.ID,
		members: members, capacities: map[string]capacity{},
	}
	p.teams = append(p.teams, t)
	return t
}

// webURL is where people look at the project.
func (p *project) webURL() string { return PublicURL + "/" + url.PathEscape(p.Name) }

// projectNamed finds a project by name or ID.
func (o *Org) projectNamed(name string) (*project, error) {
	for _, p := range o.projects {
		if strings.EqualFold(p.Name, name) || strings.EqualFold(p.ID, name) {
			return p, nil
		}
	}
	var have []string
	for _, p := range o.projects {
		have = append(have, p.Name)
	}
	return nil, faultf(http.StatusNotFound, teams, "ProjectDoesNotExistWithNameException",
		"TF200016: there is no project %q in the organization; it has %s", name, strings.Join(have, ", "))
}

func (p *project) teamNamed(name string) (*team, error) {
	for _, t := range p.teams {
		if strings.EqualFold(t.Name, name) || strings.EqualFold(t.ID, name) {
			return t, nil
		}
	}
	return nil, faultf(http.StatusNotFound, teams, "TeamNotFoundException", "there is no team %q in project %s", name, p.Name)
}

// need refuses a request whose path names no project.
func (r *request) need() error {
	if r.project == nil {
		return faultf(http.StatusBadRequest, teams, "ProjectNotSpecifiedException", "the path names no project: /%s/{project}/_apis/…", Name)
	}
	return nil
}

func (o *Org) connectionData(*request) (any, error) {
	user := map[string]any{
		"id": o.me().ID, "descriptor": o.me().Descriptor, "subjectDescriptor": o.me().Descriptor,
		"providerDisplayName": o.me().DisplayName, "isActive": true,
		"properties": map[string]any{"Account": map[string]any{"$type": "System.String", "$value": o.me().UniqueName}},
	}
	return map[string]any{
		"authenticatedUser": user, "authorizedUser": user,
		"instanceId": guid("instance", Name), "deploymentType": "hosted",
	}, nil
}

// foundIdentity is an identity as a search shows it.
type foundIdentity struct {
	ID                  string         `json:"id"`
	Descriptor          string         `json:"descriptor"`
	ProviderDisplayName string         `json:"providerDisplayName"`
	IsActive            bool           `json:"isActive"`
	Properties          map[string]any `json:"properties"`
}

// listIdentities searches by name or mail address, as searchFilter=General does.
func (o *Org) listIdentities(r *request) (any, error) {
	q := r.URL.Query()
	if q.Get("searchFilter") != "General" || q.Get("filterValue") == "" {
		return nil, badRequest("the sample searches identities by searchFilter=General and filterValue alone")
	}
	found := []foundIdentity{}
	for _, u := range o.users {
		if strings.Contains(strings.ToLower(u.DisplayName+" "+u.UniqueName), strings.ToLower(q.Get("filterValue"))) {
			found = append(found, foundIdentity{u.ID, u.Descriptor, u.DisplayName, true, map[string]any{
				"Mail": map[string]any{"$type": "System.String", "$value": u.UniqueName},
			}})
		}
	}
	return listOf(found), nil
}

// projectStates are the names of stateFilter, with the numbers that some
// clients send in their place.
var projectStates = enum{"wellFormed": 1, "createPending": 2, "deleted": 4, "all": -1}

func (o *Org) listProjects(r *request) (any, error) {
	state, err := projectStates.parse("stateFilter", r.URL.Query().Get("stateFilter"), "wellFormed")
	if err != nil {
		return nil, err
	}
	var refs []projectRef
	for _, p := range o.projects {
		if state == "all" || state == p.State {
			refs = append(refs, p.projectRef)
		}
	}
	after, err := r.number("continuationToken", 0, 0)
	if err != nil {
		return nil, err
	}
	shown, err := page(r, refs[min(after, len(refs)):], 100)
	if err != nil {
		return nil, err
	}
	skip, _ := r.number("$skip", 0, 0) // page has checked it
	if next := after + skip + len(shown); next < len(refs) {
		r.header.Set("X-MS-ContinuationToken", strconv.Itoa(next))
	}
	return listOf(shown), nil
}

func (o *Org) getProject(r *request) (any, error) {
	p, err := o.projectNamed(r.PathValue("project"))
	if err != nil {
		return nil, err
	}
	return struct {
		projectRef
		DefaultTeam *team `json:"defaultTeam"`
	}{p.projectRef, p.teams[0]}, nil
}

func (o *Org) listTeams(r *request) (any, error) {
	p, err := o.projectNamed(r.PathValue("project"))
	if err != nil {
		return nil, err
	}
	all := p.teams
	if r.flag("$mine") {
		all = slices.DeleteFunc(slices.Clone(all), func(t *team) bool { return !slices.Contains(t.members, o.me()) })
	}
	if all, err = page(r, all, 100); err != nil {
		return nil, err
	}
	return listOf(all), nil
}

func (o *Org) listTeamMembers(r *request) (any, error) {
	p, err := o.projectNamed(r.PathValue("project"))
	if err != nil {
		return nil, err
	}
	t, err := p.teamNamed(r.PathValue("team"))
	if err != nil {
		return nil, err
	}
	members := []object{}
	for i, u := range t.members {
		members = append(members, object{"identity": u, "isTeamAdmin": i == 0})
	}
	if members, err = page(r, members, 100); err != nil {
		return nil, err
	}
	return listOf(members), nil
}

// enum holds the names of an enumeration with their numbers. Names match
// whatever their case; numbers are taken too, as by Azure DevOps.
type enum map[string]int

func (e enum) parse(what, s, def string) (string, error) {
	if s == "" {
		return def, nil
	}
	for name, n := range e {
		if strings.EqualFold(name, s) || strconv.Itoa(n) == s {
			return name, nil
		}
	}
	return "", badRequest("%s cannot be %q", what, s)
}
