package sample

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

// securityRoutes are those of advsec.dev.azure.com.
var securityRoutes = []route{
	{"GET /alert/repositories/{repository}/alerts", (*Org).listAlerts},
	{"GET /alert/repositories/{repository}/alerts/{alert}", one((*Org).alert, func(_ *Org, a *alert) any { return a })},
	{"PATCH /alert/repositories/{repository}/alerts/{alert}", (*Org).updateAlert},
}

// security is the part of Azure DevOps that has alerts.
const security = "Microsoft.VisualStudio.AdvancedSecurity.WebApi"

// alert is a weakness that a tool has found.
type alert struct {
	ID         int64         `json:"alertId"`
	Kind       string        `json:"alertType"`
	Title      string        `json:"title"`
	Severity   string        `json:"severity"`
	Confidence string        `json:"confidence"`
	State      string        `json:"state"`
	Validity   *validity     `json:"validityDetails,omitempty"`
	FirstSeen  time.Time     `json:"firstSeenDate"`
	LastSeen   time.Time     `json:"lastSeenDate"`
	FixedDate  *time.Time    `json:"fixedDate,omitempty"`
	Dismissal  *dismissal    `json:"dismissal,omitempty"`
	GitRef     string        `json:"gitRef"`
	Repository string        `json:"repositoryUrl"`
	Locations  []object      `json:"physicalLocations"`
	Logical    []object      `json:"logicalLocations"`
	Tools      []alertFinder `json:"tools"`
	repo       *repository
}

type validity struct {
	Status string    `json:"validityStatus"`
	Date   time.Time `json:"validityLastCheckedDate"`
}

type dismissal struct {
	Kind        string    `json:"dismissalType"`
	Message     string    `json:"message"`
	RequestedOn time.Time `json:"requestedOn"`
	By          *identity `json:"stateChangedByIdentity"`
}

type alertFinder struct {
	Name  string      `json:"name"`
	Rules []alertRule `json:"rules"`
}

type alertRule struct {
	ID          string   `json:"opaqueId"`
	Name        string   `json:"friendlyName"`
	Description string   `json:"description"`
	Help        string   `json:"helpMessage"`
	Tags        []string `json:"tags"`
}

// The enumerations of alerts.
var (
	alertKinds      = enum{"unknown": 0, "dependency": 1, "secret": 2, "code": 3, "license": 4}
	alertStates     = enum{"unknown": 0, "active": 1, "dismissed": 2, "fixed": 4, "autoDismissed": 8}
	alertSeverities = enum{"low": 0, "medium": 1, "high": 2, "critical": 3, "note": 4, "warning": 5, "error": 6, "undefined": 7}
	alertSureness   = enum{"high": 0, "other": 1}
	alertValidities = enum{"none": 0, "unknown": 1, "active": 2, "inactive": 3}
	dismissals      = enum{"unknown": 0, "fixed": 1, "acceptedRisk": 2, "falsePositive": 3}
)

// addAlert adds what a rule of a tool found in a file.
func (o *Org) addAlert(repo *repository, a alert, tool, rule, help, path string, line int) *alert {
	a.ID, a.repo, a.Repository, a.GitRef, a.State = o.next("alert"), repo, repo.WebURL, repo.DefaultBranch, cmp.Or(a.State, "active")
	a.FirstSeen, a.Logical = o.now(), []object{}
	a.LastSeen = a.FirstSeen
	a.Tools = []alertFinder{{tool, []alertRule{{rule, strings.ReplaceAll(rule, "-", " "), a.Title, help, []string{"security"}}}}}
	a.Locations = []object{{
		"filePath": path, "region": object{"lineStart": line, "lineEnd": line, "columnStart": 1, "columnEnd": 20},
		"versionControl": object{"commitHash": repo.ref(repo.DefaultBranch).ObjectID, "itemUrl": repo.WebURL + "?path=" + path},
	}}
	o.alerts = append(o.alerts, &a)
	return &a
}

// several reads a list of names or numbers, joined by commas, from the query.
func (r *request) several(name string, of enum) ([]string, error) {
	var all []string
	for s := range strings.SplitSeq(r.URL.Query().Get(name), ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		v, err := of.parse(name, s, "")
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (o *Org) listAlerts(r *request) (any, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	keep := func(*alert) bool { return true }
	for _, c := range []struct {
		name string
		of   enum
		have func(*alert) string
	}{
		{"alertType", alertKinds, func(a *alert) string { return a.Kind }},
		{"states", alertStates, func(a *alert) string { return a.State }},
		{"severities", alertSeverities, func(a *alert) string { return a.Severity }},
		{"confidenceLevels", alertSureness, func(a *alert) string { return a.Confidence }},
		{"validity", alertValidities, func(a *alert) string { return cmp.Or(a.Validity, &validity{Status: "none"}).Status }},
	} {
		wanted, err := r.several("criteria."+c.name, c.of)
		if err != nil {
			return nil, err
		}
		if before := keep; len(wanted) > 0 {
			keep = func(a *alert) bool { return before(a) && slices.Contains(wanted, c.have(a)) }
		}
	}
	is := func(name, have string) bool {
		want := q.Get("criteria." + name)
		return want == "" || strings.EqualFold(want, have)
	}
	found := []*alert{}
	for _, a := range o.alerts {
		if a.repo == repo && keep(a) && is("ruleId", a.Tools[0].Rules[0].ID) && is("ruleName", a.Tools[0].Rules[0].Name) && is("toolName", a.Tools[0].Name) && is("ref", a.GitRef) {
			found = append(found, a)
		}
	}
	if strings.EqualFold(q.Get("orderBy"), "severity") {
		slices.SortStableFunc(found, func(a, b *alert) int { return cmp.Compare(alertSeverities[b.Severity], alertSeverities[a.Severity]) })
	}
	top, err := r.number("top", 1, 100)
	if err != nil {
		return nil, err
	}
	if found, err = pageAfter(r, found, q.Get("continuationToken"), top); err != nil {
		return nil, err
	}
	return listOf(found), nil
}

// alert finds the alert that the path names.
func (o *Org) alert(r *request) (*alert, error) {
	repo, err := o.repository(r)
	if err != nil {
		return nil, err
	}
	id, _ := r.pathNumber("alert")
	for _, a := range o.alerts {
		if a.ID == id && a.repo == repo {
			return a, nil
		}
	}
	return nil, faultf(http.StatusNotFound, security, "AlertNotFoundException", "repository %s has no alert %s", repo.Name, r.PathValue("alert"))
}

func (o *Org) updateAlert(r *request) (any, error) {
	a, err := o.alert(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		State, DismissedReason text
		DismissedComment       string
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	state, err := alertStates.parse("state", string(in.State), "")
	if err != nil {
		return nil, err
	}
	switch state {
	case "dismissed":
		kind, err := dismissals.parse("dismissedReason", string(in.DismissedReason), "")
		if err != nil {
			return nil, err
		}
		if kind == "" {
			return nil, badRequest("a dismissal has a dismissedReason")
		}
		a.Dismissal = &dismissal{kind, in.DismissedComment, o.now(), o.me()}
	case "active":
		a.Dismissal = nil
	default:
		return nil, badRequest("an alert becomes dismissed or active, not %q", state)
	}
	a.State = state
	return a, nil
}
