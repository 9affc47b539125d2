package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueload "cuelang.org/go/cue/load"

	config "github.com/metacue/metacue/cue"
	"github.com/metacue/metacue/internal/sample"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/expect"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/rest"
)

// update rewrites the goldens: UPDATE=1 go test.
var update = os.Getenv("UPDATE") != ""

// organization starts a sample organization and gives its URL.
func organization(t *testing.T) (*sample.Org, string) {
	t.Helper()
	org := sample.New(sample.Options{PAT: "the-token-of-a-test"})
	url, stop, err := org.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return org, url
}

// program compiles the built-in configuration against an organization, and the
// host of its users.
func program(t *testing.T, url, identities string, tags map[string]string) *exec.Program {
	t.Helper()
	cfg, findings := load.FS(config.Files, "built-in", load.Options{Tags: tags})
	if len(findings) > 0 {
		t.Fatalf("findings:\n%v", findings)
	}
	p, findings := compile.Compile(cfg, compile.Options{
		Upstreams: map[string]string{"devops": url, "identities": identities, "search": url, "security": url, "results": url},
		Rest:      rest.Options{Getenv: func(string) (string, bool) { return "the-token-of-a-test", true }},
	})
	if len(findings) > 0 {
		t.Fatalf("findings:\n%v", findings)
	}
	return p
}

// calls are made one after the other against one organization, over HTTP: each
// tool fits what the others answer and leave behind. What one call by itself
// does is told by the tests of the configuration. A name that begins with !
// must be refused.
var calls = []struct{ tool, args string }{
	{"list_projects", `{"stateFilter":"all","projectNameFilter":"FABR","top":1,"skip":1,"continuationToken":0}`},
	{"core_list_projects", `{"top":1}`},
	{"get_current_user", `{}`},
	{"find_identities", `{"searchFilter":"reviewer"}`},
	{"list_teams", `{"project":"Contoso","mine":true,"top":5,"skip":0}`},
	{"list_team_members", `{"project":"Contoso","team":"Search Team"}`},
	{"!list_team_members", `{"project":"Contoso","team":"None"}`},

	{"list_repositories", `{"project":"Contoso","repoNameFilter":"E","top":1,"skip":0}`},
	{"create_repository", `{"project":"Contoso","name":"docs & more"}`},
	{"!create_repository", `{"project":"Contoso","name":"docs & more"}`},
	{"list_branches", `{"project":"Contoso","repositoryId":"web","filterContains":"feature/","top":1}`},
	{"create_branch", `{"project":"Contoso","repositoryId":"web","branchName":"topic/ü","sourceCommitId":"$commit"}`},
	{"create_branch", `{"repositoryId":"$repository","branchName":"from-release","sourceBranchName":"release/1.0"}`},
	{"!create_branch", `{"project":"Contoso","repositoryId":"web","branchName":"refs/heads/topic/ü","sourceCommitId":"$commit"}`},
	{"get_repository", `{"project":"Contoso","repositoryNameOrId":"web"}`},
	{"!get_repository", `{"project":"Contoso","repositoryNameOrId":"shop"}`},
	{"get_branch", `{"project":"Contoso","repositoryId":"web","branchName":"feature/auth"}`},
	{"list_my_branches", `{"project":"Contoso","repositoryId":"web","filterContains":"release"}`},
	{"list_directory", `{"project":"Contoso","repositoryId":"web","path":"/","version":"feature/auth","versionType":"Branch","recursive":true,"recursionDepth":2}`},
	{"get_file_content", `{"project":"Contoso","repositoryId":"web","path":"/src/passkey.ts","version":"feature/auth","versionType":"Branch"}`},
	{"!get_file_content", `{"project":"Contoso","repositoryId":"web","path":"/src/passkey.ts"}`},
	{"search_commits", `{"project":"Contoso","repository":"web","version":"feature/auth","author":"developer","top":1}`},
	{"get_commit", `{"project":"Contoso","repositoryId":"web","commitId":"$tip"}`},

	{"create_pull_request", `{"project":"Contoso","repositoryId":"web","sourceRefName":"refs/heads/feature/auth","targetRefName":"refs/heads/main","title":"T<1> & \"é\""}`},
	{"create_pull_request", `{"project":"Contoso","repositoryId":"web","sourceRefName":"refs/heads/release/1.0","targetRefName":"refs/heads/main","title":"Release","description":"All\nof it","isDraft":true,"workItems":"11 12","labels":["x a","y,b"]}`},
	{"get_pull_request", `{"repositoryId":"$repository","pullRequestId":104,"includeWorkItemRefs":true,"includeLabels":true,"includeChangedFiles":true}`},
	{"list_pull_requests", `{"project":"Contoso"}`},
	{"list_pull_requests", `{"project":"Contoso","repositoryId":"web","status":"All","sourceRefName":"refs/heads/feature/search","targetRefName":"refs/heads/main","created_by_me":true,"i_am_reviewer":true,"user_is_reviewer":"reviewer@contoso.example","top":5,"skip":0}`},
	{"update_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":104,"title":"R","description":"","isDraft":false,"targetRefName":"refs/heads/feature/search","autoComplete":true,"mergeStrategy":"Squash","deleteSourceBranch":true,"transitionWorkItems":false,"bypassReason":"urgent","labels":["y,b"]}`},
	{"update_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":104,"autoComplete":false}`},
	{"update_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":104,"status":"Abandoned"}`},
	{"create_pull_request_comment", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"content":"Here","filePath":"src/a.go","status":"WontFix","rightFileStartLine":3,"rightFileStartOffset":1,"rightFileEndLine":4,"rightFileEndOffset":9}`},
	{"reply_to_pull_request_comment", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"threadId":1,"content":"It becomes ss."}`},
	{"update_pull_request_comment", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"threadId":1,"commentId":2,"content":"It becomes \"ss\"."}`},
	{"list_pull_request_threads", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"status":"WontFix","top":5}`},
	{"list_pull_request_comments", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"threadId":1,"top":5}`},
	{"update_pull_request_thread", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"threadId":1,"status":"Fixed"}`},
	{"!update_pull_request_thread", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"threadId":9,"status":"Fixed"}`},
	{"update_pull_request_reviewers", `{"project":"Contoso","repositoryId":"web","pullRequestId":103,"reviewerIds":["$me"],"action":"add"}`},
	{"vote_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":103,"vote":"ApprovedWithSuggestions"}`},
	{"vote_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"vote":"WaitingForAuthor"}`},
	{"update_pull_request_reviewers", `{"project":"Contoso","repositoryId":"web","pullRequestId":103,"reviewerIds":["$me"],"action":"remove"}`},
	{"get_pull_request_changes", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"includeDiffs":true}`},
	{"list_pull_requests_by_commits", `{"project":"Contoso","repository":"web","commits":["$tip"],"queryType":"Commit"}`},
	{"list_pull_request_checks", `{"project":"Contoso","repositoryId":"web","pullRequestId":101}`},
	{"!complete_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":101}`},
	{"complete_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":103,"mergeStrategy":"Squash","deleteSourceBranch":true}`},
	{"!complete_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":103}`},

	{"run_work_item_query", `{"project":"Contoso","team":"Contoso Team","wiql":"SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project","timePrecision":true,"top":2}`},
	{"get_work_item", `{"project":"Contoso","id":12,"expand":"relations"}`},
	{"get_work_item", `{"project":"Contoso","id":14,"fields":["System.Title","System.State"],"asOf":"2030-01-02T03:04:05Z","expand":"all"}`},
	{"get_work_items", `{"project":"Contoso","ids":[14],"fields":["System.Id","Custom.TicketNumber"]}`},
	{"update_work_item", `{"id":14,"updates":[{"op":"test","path":"/rev","value":1},{"op":"add","path":"/fields/System.State","value":"Resolved"},{"op":"replace","path":"/fields/Custom.TicketNumber","value":9007199254740995},{"op":"remove","path":"/fields/System.AssignedTo"}]}`},
	{"!update_work_item", `{"id":14,"updates":[{"op":"test","path":"/rev","value":1},{"op":"add","path":"/fields/System.State","value":"Closed"}]}`},
	{"change_work_item", `{"id":13,"state":"Closed","assignedTo":"reviewer@contoso.example","addTags":["ui"],"comment":"The button is there."}`},
	{"!change_work_item", `{"id":13,"state":"Baked"}`},
	{"list_work_item_comments", `{"project":"Contoso","workItemId":14,"top":1}`},
	{"add_work_item_comment", `{"project":"Contoso","workItemId":14,"comment":"See **search.log**"}`},
	{"update_work_item_comment", `{"project":"Contoso","workItemId":14,"commentId":1,"text":"With <b>every</b> accent.","format":"Html"}`},
	{"list_work_item_revisions", `{"project":"Contoso","workItemId":14,"top":1,"skip":1}`},
	{"get_work_item_attachment", `{"project":"Contoso","attachmentId":"$attachment","fileName":"search.log"}`},
	{"add_work_item_attachment", `{"project":"Contoso","workItemId":14,"fileName":"more.log","text":"query=ü hits=0\n"}`},
	{"create_work_item", `{"project":"Contoso","workItemType":"Bug","title":"T<1> & \"é\"","parentId":11,"fields":[{"name":"Microsoft.VSTS.Common.Priority","value":"2"}]}`},
	{"!create_work_item", `{"project":"Contoso","workItemType":"Cake","title":"T"}`},
	{"!add_child_work_items", `{"project":"Contoso","parentId":11,"workItemType":"User Story","items":[{"title":"A & b","description":"*c*"},{"title":"d","areaPath":"Fabrikam"}]}`},
	{"!update_work_items", `{"updates":[{"id":15,"path":"/fields/System.State","value":"Active"},{"id":15,"op":"Add","path":"/fields/System.Description","value":"<b>"},{"id":99,"path":"/fields/System.State","value":"Active"}]}`},
	{"link_work_items", `{"project":"Contoso","updates":[{"id":15,"linkToId":14,"type":"related","comment":"the same page"}]}`},
	{"unlink_work_item", `{"project":"Contoso","id":15,"type":"related"}`},
	{"!unlink_work_item", `{"project":"Contoso","id":15,"type":"related"}`},
	{"link_work_item_to_pull_request", `{"project":"Contoso","repositoryId":"web","pullRequestId":101,"workItemId":15}`},
	{"add_artifact_link", `{"project":"Contoso","workItemId":15,"linkType":"Build","buildId":302}`},
	{"get_work_item_type", `{"project":"Contoso","workItemType":"User Story"}`},
	{"list_my_work_items", `{"project":"Contoso","top":2,"includeCompleted":true}`},
	{"get_saved_query", `{"project":"Contoso","query":"Shared Queries/Open bugs","expand":"Wiql"}`},
	{"run_saved_query", `{"project":"Contoso","id":"$query","top":5}`},
	{"list_backlogs", `{"project":"Contoso","team":"Contoso Team"}`},
	{"list_backlog_work_items", `{"project":"Contoso","team":"Contoso Team","backlogId":"Microsoft.RequirementCategory"}`},
	{"reorder_work_items", `{"project":"Contoso","team":"Contoso Team","ids":[15],"previousId":0,"nextId":14,"parentId":0}`},
	{"list_iteration_work_items", `{"project":"Contoso","team":"Contoso Team","iterationId":"$sprint"}`},
	{"delete_work_item", `{"project":"Contoso","id":15}`},
	{"!get_work_item", `{"project":"Contoso","id":15}`},

	{"list_iterations", `{"project":"Contoso"}`},
	{"create_iterations", `{"project":"Contoso","iterations":[{"iterationName":"Sprint 3","startDate":"2026-02-02T00:00:00Z","finishDate":"2026-02-13T00:00:00Z"}]}`},
	{"!create_iterations", `{"project":"Contoso","iterations":[{"iterationName":"sprint 3"}]}`},
	{"update_iteration", `{"project":"Contoso","path":"Sprint 3","name":"Sprint C","finishDate":"2026-02-20"}`},
	{"list_areas", `{"project":"Contoso"}`},
	{"list_team_iterations", `{"project":"Contoso","team":"Contoso Team","timeframe":"current"}`},
	{"assign_iterations", `{"project":"Contoso","team":"Search Team","iterations":[{"identifier":"$sprint","path":"Contoso\\Sprint 1"}]}`},
	{"get_team_settings", `{"project":"Contoso","team":"Contoso Team"}`},
	{"get_team_capacity", `{"project":"Contoso","team":"Contoso Team","iterationId":"$sprint"}`},
	{"update_team_capacity", `{"project":"Contoso","team":"Contoso Team","teamMemberId":"$me","iterationId":"$sprint","activities":[{"name":"Testing","capacityPerDay":3.5}]}`},
	{"get_iteration_capacities", `{"project":"Contoso","iterationId":"$sprint"}`},

	{"list_pipelines", `{"project":"Contoso","name":"web-*","repository":"web","top":1,"includeLatestBuilds":true}`},
	{"list_builds", `{"project":"Contoso","pipeline":"web-ci","branch":"feature/search","resultFilter":"failed","statusFilter":"completed","queryOrder":"FinishTimeDescending","top":1}`},
	{"get_build", `{"project":"Contoso","buildId":303}`},
	{"update_approval", `{"project":"Contoso","approvalId":"$approval","status":"approved","comment":"It is quiet."}`},
	{"!update_approval", `{"project":"Contoso","approvalId":"$approval","status":"rejected"}`},
	{"explain_build_failure", `{"project":"Contoso","buildId":302,"logLines":4}`},
	{"list_build_test_results", `{"project":"Contoso","buildid":302,"outcomes":["Failed","Aborted"]}`},
	{"list_build_logs", `{"project":"Contoso","buildId":302}`},
	{"get_build_log", `{"project":"Contoso","buildId":302,"logId":3,"startLine":2,"endLine":5}`},
	{"list_build_changes", `{"project":"Contoso","buildId":302,"top":5}`},
	{"get_build_report", `{"project":"Contoso","buildId":302}`},
	{"list_build_artifacts", `{"project":"Contoso","buildId":301}`},
	{"download_build_artifact", `{"project":"Contoso","buildId":301,"artifactName":"drop"}`},
	{"!download_build_artifact", `{"project":"Contoso","buildId":302,"artifactName":"drop"}`},
	{"update_build_stage", `{"project":"Contoso","buildId":302,"stageName":"Test","status":"Retry"}`},
	{"cancel_build", `{"project":"Contoso","buildId":302}`},
	{"create_pipeline", `{"project":"Contoso","name":"docs","yamlPath":"/docs.yml","repositoryName":"web"}`},
	{"rename_pipeline", `{"project":"Contoso","pipeline":"docs","name":"docs & more"}`},
	{"run_pipeline", `{"project":"Contoso","pipeline":"docs & more","branch":"topic/ü","variables":{"level":2},"templateParameters":{"what":"all"}}`},
	{"!run_pipeline", `{"project":"Contoso","pipelineId":1,"branch":"none"}`},
	{"list_pipeline_runs", `{"project":"Contoso","pipelineId":1,"top":1}`},
	{"get_pipeline_run", `{"project":"Contoso","pipelineId":4,"runId":304}`},
	{"!retry_build", `{"project":"Contoso","buildId":301}`},
	{"list_pipeline_revisions", `{"project":"Contoso","definitionId":4}`},

	{"list_wikis", `{"project":"Contoso"}`},
	{"get_wiki", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki"}`},
	{"list_wiki_pages", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","top":2,"pageViewsForDays":1}`},
	{"get_wiki_page", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"/Team","recursionLevel":"OneLevel"}`},
	{"get_wiki_page_content", `{"url":"https://dev.azure.com/contoso/Contoso/_wiki/wikis/Contoso.wiki/3/On-call"}`},
	{"write_wiki_page", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"Team/Rota","content":"# é\n"}`},
	{"write_wiki_page", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"/Team/Rota","content":"# ü\n"}`},
	{"!write_wiki_page", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"/Team/Rota","content":"# ö\n","etag":"\"old\""}`},
	{"append_to_wiki_page", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"/Team/Rota","content":"Monday: tester"}`},
	{"get_wiki_page_content", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"/Team/Rota"}`},
	{"move_wiki_page", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"/Team/Rota","newPath":"/Rota"}`},
	{"delete_wiki_page", `{"project":"Contoso","wikiIdentifier":"Contoso.wiki","path":"/Rota"}`},

	{"search_code", `{"searchText":"begin","project":["Fabrikam"],"repository":["scanner"],"top":1,"includeFacets":true}`},
	{"search_commit_messages", `{"searchText":"accents","project":["Contoso"],"repository":["web"]}`},
	{"search_wiki", `{"searchText":"accents","project":"Contoso"}`},
	{"search_workitem", `{"searchText":"accents","project":["Contoso"],"workItemType":["Bug"],"assignedTo":[]}`},

	{"list_test_plans", `{"project":"Contoso","includePlanDetails":true}`},
	{"create_test_plan", `{"project":"Contoso","name":"Sprint 2","iteration":"Contoso\\Sprint 2","startDate":"2026-01-19"}`},
	{"list_test_suites", `{"project":"Contoso","planId":20}`},
	{"create_test_suite", `{"project":"Contoso","planId":20,"name":"Sign in","requirementId":11}`},
	{"create_test_suite", `{"project":"Contoso","planId":20,"name":"Smoke"}`},
	{"list_test_cases", `{"project":"Contoso","planid":20,"suiteid":22,"includeSteps":true}`},
	{"create_test_case", `{"project":"Contoso","title":"Sign in","steps":"1. Press <b>|It asks & waits\n2. Touch","priority":1,"testsWorkItemId":11}`},
	{"update_test_case_steps", `{"id":19,"steps":"1. Search for \"cafe\"|café is found"}`},
	{"add_test_cases_to_suite", `{"project":"Contoso","planId":20,"suiteId":21,"testCaseIds":"19"}`},
	{"list_test_points", `{"project":"Contoso","planId":20,"suiteId":22,"testCaseId":19}`},
	{"record_test_outcomes", `{"project":"Contoso","planId":20,"suiteId":22,"outcomes":[{"pointId":2200,"outcome":"failed"}]}`},
	{"!record_test_outcomes", `{"project":"Contoso","planId":20,"suiteId":22,"outcomes":[{"pointId":1,"outcome":"failed"}]}`},

	{"list_security_alerts", `{"project":"Contoso","repository":"web","severities":["High","Critical"],"top":1}`},
	{"get_security_alert", `{"project":"Contoso","repository":"web","alertId":2}`},
	{"update_security_alert", `{"project":"Contoso","repository":"web","alertId":3,"state":"Dismissed","dismissedReason":"FalsePositive","dismissedComment":"It is encoded."}`},

	{"commit_files", `{"project":"Contoso","repositoryId":"docs & more","branchName":"main","message":"Begin","changes":[{"path":"/README.md","content":"# Docs\n"},{"path":"/a.md","content":"A\n"},{"path":"/logo.png","base64":"iVBORw0KGgo="}]}`},
	{"commit_files", `{"project":"Contoso","repositoryId":"docs & more","branchName":"topic/é","sourceBranchName":"main","message":"Go on","changes":[{"path":"README.md","content":"# Docs & more\n"},{"path":"/b.md","renameFrom":"/a.md"}]}`},
	{"!commit_files", `{"project":"Contoso","repositoryId":"docs & more","branchName":"topic/é","sourceBranchName":"main","message":"Again","changes":[{"path":"/a.md","delete":true}]}`},
	{"!commit_files", `{"project":"Contoso","repositoryId":"docs & more","branchName":"none","message":"No","changes":[{"path":"/a.md","delete":true}]}`},
	{"add_work_item_comment", `{"project":"Contoso","workItemId":14,"comment":"it is done","mentions":["tester@contoso.example"]}`},
	{"create_wiki", `{"project":"Contoso","name":"docs","repositoryId":"docs & more"}`},
	{"!create_wiki", `{"project":"Contoso","name":"Contoso.wiki"}`},
	{"create_wiki", `{"project":"Fabrikam","name":"Fabrikam.wiki"}`},
	{"list_wiki_pages", `{"project":"Contoso","wikiIdentifier":"docs"}`},
	{"delete_branch", `{"project":"Contoso","repositoryId":"docs & more","branchName":"topic/é"}`},
	{"!delete_branch", `{"project":"Contoso","repositoryId":"docs & more","branchName":"topic/é"}`},
}

// attachment is the ID of one in its URL.
var attachment = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// cursors are sealed with a key of each process.
var cursors = regexp.MustCompile(`"nextCursor":"[^"]*"`)

// knownOf puts into the arguments of calls what an organization alone knows.
func knownOf(t *testing.T, p *exec.Program) *strings.Replacer {
	t.Helper()
	return strings.NewReplacer(
		"$commit", ask(t, p, "list_branches", `{"project":"Contoso","repositoryId":"web","filterContains":"main"}`, "items", "0", "commitId"),
		"$repository", ask(t, p, "list_repositories", `{"project":"Contoso","repoNameFilter":"web"}`, "items", "0", "id"),
		"$tip", ask(t, p, "get_branch", `{"project":"Contoso","repositoryId":"web","branchName":"feature/search"}`, "commitId"),
		"$me", ask(t, p, "get_current_user", `{}`, "id"),
		"$sprint", ask(t, p, "list_team_iterations", `{"project":"Contoso","timeframe":"current"}`, "0", "id"),
		"$query", ask(t, p, "get_saved_query", `{"project":"Contoso","query":"Shared Queries/Open bugs"}`, "id"),
		"$approval", ask(t, p, "get_build", `{"project":"Contoso","buildId":303}`, "waitingFor", "0", "approvalId"),
		"$attachment", attachment.FindString(ask(t, p, "get_work_item", `{"id":14,"expand":"relations"}`, "relations", "0", "url")),
	)
}

// TestCalls calls every tool of the built-in configuration against the sample
// organization, and compares requests and results with testdata/calls.txt.
func TestCalls(t *testing.T) {
	org, url := organization(t)
	users, usersURL := organization(t)
	p := program(t, url, usersURL, nil)
	known := knownOf(t, p)

	called := map[string]bool{}
	var got strings.Builder
	for _, c := range calls {
		name, refused := strings.CutPrefix(c.tool, "!")
		seen, seenUsers := len(org.Log()), len(users.Log())
		r := p.Call(t.Context(), call.Caller{}, name, []byte(known.Replace(c.args)))
		if r.IsError != refused {
			t.Errorf("%s %s: isError is %v: %v", name, c.args, r.IsError, r.Content)
		}
		if tool, ok := p.Catalog.Tool(name); ok {
			called[tool.Name] = true
		}
		fmt.Fprintf(&got, "## %s %s\n", c.tool, c.args)
		for _, e := range users.Log()[seenUsers:] {
			got.WriteString("identities: " + e.String())
		}
		for _, e := range org.Log()[seen:] {
			got.WriteString(e.String())
		}
		for _, b := range r.Content {
			text, _, _ := strings.Cut(b.Text, `,"inputSchema":`)
			if b.Data != nil {
				text = fmt.Sprintf("%s, %d bytes", b.MIMEType, len(b.Data))
			}
			text = cursors.ReplaceAllString(text, `"nextCursor":"…"`)
			fmt.Fprintf(&got, "%s\n", text)
		}
		got.WriteString("\n")
	}
	for _, tool := range p.Catalog.Tools() {
		if !called[tool.Name] {
			t.Errorf("no call of %s", tool.Name)
		}
	}
	golden(t, "calls.txt", got.String())
}

// ask calls a tool for one text in its result.
func ask(t *testing.T, p *exec.Program, tool, args string, path ...string) string {
	t.Helper()
	r := p.Call(t.Context(), call.Caller{}, tool, []byte(args))
	var v any
	if err := json.Unmarshal([]byte(r.Content[0].Text), &v); err != nil || r.IsError {
		t.Fatalf("%s %s: %v", tool, args, r.Content)
	}
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			v = x[0]
		}
	}
	s, ok := v.(string)
	if !ok {
		t.Fatalf("%s %s has no text at %v: %v", tool, args, path, r.Content)
	}
	return s
}

// golden compares with a file of testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; UPDATE=1 go test writes it", err)
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			line := func(l []string) string {
				if i < len(l) {
					return l[i]
				}
				return "(the end)"
			}
			t.Fatalf("%s, line %d:\n got %s\nwant %s\nUPDATE=1 go test rewrites it", file, i+1, line(g), line(w))
		}
	}
}

// A default project makes the argument optional where it was required, and is
// sent where the caller names none.
func TestDefaultProject(t *testing.T) {
	org, url := organization(t)
	p := program(t, url, url, map[string]string{"project": "Fabrikam", "organization": "contoso"})
	if r := p.Call(t.Context(), call.Caller{}, "list_repositories", []byte(`{}`)); r.IsError || !strings.Contains(r.Content[0].Text, "scanner") {
		t.Errorf("unexpected result: %+v", r)
	}
	if got := org.Log()[0].Path; got != "/contoso/Fabrikam/_apis/git/repositories" {
		t.Errorf("sent to %s", got)
	}
}

// The program holds every file of the configuration but its tests.
func TestFiles(t *testing.T) {
	var want, got []string
	files, err := filepath.Glob("*.cue")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_tests.cue") {
			want = append(want, f)
		}
	}
	entries, err := config.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("built in are %v, not %v: see embed.go", got, want)
	}
}

// Every configuration, here and in the folders below, is a package that CUE can
// read by itself, and does what its own tests say, whatever its operator sets.
func TestFolders(t *testing.T) {
	files, err := filepath.Glob("*/*.cue")
	if err != nil || len(files) == 0 {
		t.Fatalf("no folders: %v", err)
	}
	dirs := []string{"."}
	if testing.Short() { // one evaluation after the other, in which the race detector finds nothing
		dirs = nil
	}
	for _, f := range files {
		if dir := filepath.Dir(f); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	set := map[string]map[string]string{
		".":            {"organization": "fabrikam", "project": "Contoso", "team": "Web"},
		"alertmanager": {"created_by": "desk"},
	}
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) {
			for _, inst := range cueload.Instances([]string{"./" + dir}, nil) {
				if err := cuecontext.New().BuildInstance(inst).Err(); err != nil {
					t.Error(err)
				}
			}
			cfg, findings := load.Dir(dir, load.Options{Tags: set[dir]})
			if len(findings) > 0 {
				t.Fatalf("\n%v", findings)
			}
			if _, findings := compile.Compile(cfg, compile.Options{}); len(findings) > 0 {
				t.Fatalf("\n%v", findings)
			}
			outcome := expect.Run(t.Context(), cfg, compile.With(cfg, compile.Options{}))
			if len(outcome.Findings) > 0 {
				t.Errorf("\n%v", outcome.Findings)
			}
			if outcome.Run == 0 {
				t.Error("no tests")
			}
		})
	}
}

// The tests of the built-in configuration say of each tool which request it
// makes, of each tool that makes several what a failure of one leads to, and of
// each tool with rules what they refuse.
func TestTested(t *testing.T) {
	cfg, findings := load.Dir(".", load.Options{})
	if len(findings) > 0 {
		t.Fatalf("\n%v", findings)
	}
	has := func(v cue.Value, field string) bool { return v.LookupPath(cue.ParsePath(field)).Exists() }
	for _, tool := range cfg.Tools() {
		var request, failure, refusal bool
		tests, err := tool.Value.LookupPath(cue.ParsePath("tests")).List()
		for err == nil && tests.Next() {
			v := tests.Value()
			request = request || has(v, "request") || has(v, "exchanges[0].request")
			sends := has(v, "exchanges") || has(v, "response")
			failure = failure || has(v, "error") && sends
			refusal = refusal || has(v, "error") && !sends
		}
		if !request {
			t.Errorf("%s: no test with a request", tool.Name)
		}
		if has(tool.Own, "steps") && !failure {
			t.Errorf("%s: no test of a step that fails", tool.Name)
		}
		if has(tool.Own, "check") && !refusal {
			t.Errorf("%s: no test of a call that is refused", tool.Name)
		}
	}
}

// What a jq program writes into a result is the API's to whoever reads it, and no
// bounds look into it: it names only tools that read, and in the domain of its own, so
// that neither --read-only nor --domains takes one of two away.
func TestResultsNameWhatIsInBounds(t *testing.T) {
	cfg, findings := load.FS(config.Files, "built-in", load.Options{})
	if len(findings) > 0 {
		t.Fatalf("\n%v", findings)
	}
	action := func(tool load.Tool) string {
		s, _ := tool.Value.LookupPath(cue.ParsePath("action")).String()
		return s
	}
	byName := map[string]load.Tool{}
	for _, tool := range cfg.Tools() {
		byName[tool.Name] = tool
	}
	word := regexp.MustCompile(`[a-z]+(_[a-z]+)+`)
	named := 0
	for _, tool := range cfg.Tools() {
		for _, part := range []string{"response", "steps"} {
			tool.Value.LookupPath(cue.ParsePath(part)).Walk(func(v cue.Value) bool {
				program, err := v.String()
				if labels := v.Path().Selectors(); err != nil || labels[len(labels)-1].String() != "jq" {
					return true
				}
				for _, name := range word.FindAllString(program, -1) {
					other, ok := byName[name]
					if !ok {
						continue
					}
					named++
					if action(other) != "read" || other.Domain != tool.Domain {
						t.Errorf("%s: a result names %s, which bounds may take away", v.Path(), name)
					}
				}
				return false
			}, nil)
		}
	}
	if named == 0 {
		t.Error("no program names a tool: the walk finds none")
	}
}
