package config_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// enumeration is one of the API: the number of each name, names in lower case.
// Where several numbers are added up to one value, flags is set.
type enumeration struct {
	numbers map[string]int
	flags   bool
}

// The enumerations of the Azure DevOps REST API 7.2, each under the name it has
// there. The API takes either form; the names are documented.
var (
	// Build.
	buildStatus   = flags("none", 0, "inProgress", 1, "completed", 2, "cancelling", 4, "postponed", 8, "notStarted", 32, "all", 47)
	buildResult   = flags("none", 0, "succeeded", 2, "partiallySucceeded", 4, "failed", 8, "canceled", 32)
	buildReason   = flags("none", 0, "manual", 1, "individualCI", 2, "batchedCI", 4, "schedule", 8, "userCreated", 32, "validateShelveset", 64, "checkInShelveset", 128, "pullRequest", 256, "buildCompletion", 512, "resourceTrigger", 1024, "triggered", 1967, "all", 2031, "scheduleForced", 16)
	queryDeleted  = names("excludeDeleted", 0, "includeDeleted", 1, "onlyDeleted", 2)
	buildOrder    = names("finishTimeAscending", 2, "finishTimeDescending", 3, "queueTimeDescending", 4, "queueTimeAscending", 5, "startTimeDescending", 6, "startTimeAscending", 7)
	definitions   = names("none", 0, "lastModifiedAscending", 1, "lastModifiedDescending", 2, "definitionNameAscending", 3, "definitionNameDescending", 4)
	stageState    = names("cancel", 0, "retry", 1, "run", 2)
	pullStatus    = names("notSet", 0, "active", 1, "abandoned", 2, "completed", 3, "all", 4)
	mergeStrategy = names("noFastForward", 1, "squash", 2, "rebase", 3, "rebaseMerge", 4)
	pullQueryType = names("notSet", 0, "lastMergeCommit", 1, "commit", 2)
	threadStatus  = names("unknown", 0, "active", 1, "fixed", 2, "wontFix", 3, "closed", 4, "byDesign", 5, "pending", 6)
	commentType   = names("unknown", 0, "text", 1, "codeChange", 2, "system", 3)
	// Git.
	versionType    = names("branch", 0, "tag", 1, "commit", 2)
	versionOptions = names("none", 0, "previousChange", 1, "firstParent", 2)
	recursionLevel = names("none", 0, "oneLevel", 1, "oneLevelPlusNestedEmptyFolders", 4, "full", 120)
	historyMode    = names("simplifiedHistory", 0, "firstParent", 1, "fullHistory", 2, "fullHistorySimplifyMerges", 3)
	// Work item tracking.
	workItemExpand = names("none", 0, "relations", 1, "fields", 2, "links", 3, "all", 4)
	queryExpand    = names("none", 0, "wiql", 1, "clauses", 2, "all", 3, "minimal", 4)
	commentFormat  = names("markdown", 0, "html", 1)
	structureGroup = names("areas", 0, "iterations", 1)
	patchOperation = names("add", 0, "remove", 1, "replace", 2, "move", 3, "copy", 4, "test", 5)
	// Test plans.
	suiteType = names("none", 0, "dynamicTestSuite", 1, "staticTestSuite", 2, "requirementTestSuite", 3)
	// Advanced Security.
	alertType       = names("unknown", 0, "dependency", 1, "secret", 2, "code", 3, "license", 4)
	alertState      = names("unknown", 0, "active", 1, "dismissed", 2, "fixed", 4, "autoDismissed", 8)
	alertSeverity   = names("low", 0, "medium", 1, "high", 2, "critical", 3, "note", 4, "warning", 5, "error", 6, "undefined", 7)
	alertConfidence = names("high", 0, "other", 1)
	alertValidity   = names("none", 0, "unknown", 1, "active", 2, "inactive", 3)
)

// enumerations says which parameter of the query or member of a body holds
// which enumeration: the first row that fits the path holds.
var enumerations = []struct {
	path  *regexp.Regexp
	field string
	of    enumeration
}{
	{fold(`/build/builds$`), "statusFilter", buildStatus},
	{fold(`/build/builds$`), "resultFilter", buildResult},
	{fold(`/build/builds$`), "reasonFilter", buildReason},
	{fold(`/build/builds$`), "deletedFilter", queryDeleted},
	{fold(`/build/builds$`), "queryOrder", buildOrder},
	{fold(`/build/definitions$`), "queryOrder", definitions},
	{fold(`/stages/[^/]+$`), "state", stageState},

	{fold(`/pullrequests/\d+/threads`), "status", threadStatus},
	{fold(`/pullrequests/\d+/threads`), "commentType", commentType},
	{fold(`/pullrequests(/\d+)?$`), "status", pullStatus},
	{fold(`/pullrequests(/\d+)?$`), "searchCriteria.status", pullStatus},
	{fold(`/pullrequests(/\d+)?$`), "mergeStrategy", mergeStrategy},
	{fold(`/pullrequestquery$`), "type", pullQueryType},
	{fold(`/git/`), "versionDescriptor.versionType", versionType},
	{fold(`/git/`), "versionDescriptor.versionOptions", versionOptions},
	{fold(`/commits$`), "searchCriteria.itemVersion.versionType", versionType},
	{fold(`/commits$`), "searchCriteria.compareVersion.versionType", versionType},
	{fold(`/commits$`), "searchCriteria.historyMode", historyMode},
	{fold(`/items$`), "recursionLevel", recursionLevel},
	{fold(`/wiki/`), "recursionLevel", recursionLevel},
	{fold(`/wiki/`), "versionDescriptor.versionType", versionType},

	{fold(`/wit/workitems/[^/]+(/revisions)?$`), "$expand", workItemExpand},
	{fold(`/wit/workitemsbatch$`), "$expand", workItemExpand},
	{fold(`/wit/queries`), "$expand", queryExpand},
	{fold(`/comments(/\d+)?$`), "format", commentFormat},
	{fold(`/wit/`), "op", patchOperation},
	{fold(`/testplan/plans/\d+/suites$`), "suiteType", suiteType},

	{fold(`/alerts$`), "criteria.alertType", alertType},
	{fold(`/alerts$`), "criteria.states", alertState},
	{fold(`/alerts$`), "criteria.severities", alertSeverity},
	{fold(`/alerts$`), "criteria.confidenceLevels", alertConfidence},
	{fold(`/alerts$`), "criteria.validity", alertValidity},
}

func fold(expr string) *regexp.Regexp { return regexp.MustCompile("(?i)" + expr) }

func names(pairs ...any) enumeration {
	e := enumeration{numbers: map[string]int{}}
	for i := 0; i < len(pairs); i += 2 {
		e.numbers[strings.ToLower(pairs[i].(string))] = pairs[i+1].(int)
	}
	return e
}

func flags(pairs ...any) enumeration {
	e := names(pairs...)
	e.flags = true
	return e
}

// enumerationOf gives the enumeration that a field of a request holds.
func enumerationOf(path, field string) (enumeration, bool) {
	for _, row := range enumerations {
		if row.field == field && row.path.MatchString(path) {
			return row.of, true
		}
	}
	return enumeration{}, false
}

// same says whether two texts, each of names or numbers with commas between
// them, are the same values. A name that is none of the enumeration is no value.
func (e enumeration) same(a, b string) bool {
	x, okX := e.values(a)
	y, okY := e.values(b)
	return okX && okY && slices.Equal(x, y)
}

func (e enumeration) values(s string) ([]int, bool) {
	var out []int
	sum := 0
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		n, err := strconv.Atoi(part)
		if err != nil {
			known := false
			if n, known = e.numbers[strings.ToLower(part)]; !known {
				return nil, false
			}
		}
		out = append(out, n)
		sum |= n
	}
	if e.flags {
		return []int{sum}, true
	}
	return out, true
}
