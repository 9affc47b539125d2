package sample_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/metacue/metacue/internal/sample"
)

const contoso = "/Contoso/_apis"

// look answers a GET and gives what stands at a path of members and indexes.
func look(t *testing.T, org *sample.Org, path string, at ...any) string {
	t.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	_, body := send(t, org, "GET", "/contoso"+path+sep+"api-version=7.2-preview", "")
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%s: %v: %s", path, err, body)
	}
	for _, a := range at {
		switch x := v.(type) {
		case map[string]any:
			v = x[a.(string)]
		case []any:
			if a.(int) >= len(x) {
				t.Fatalf("%s has no %v: %s", path, at, body)
			}
			v = x[a.(int)]
		}
	}
	s, ok := v.(string)
	if !ok {
		t.Fatalf("%s has no text at %v: %s", path, at, body)
	}
	return s
}

func TestPlanning(t *testing.T) {
	org := sample.New(sample.Options{})
	sprint := look(t, org, contoso+"/work/teamsettings/iterations?$timeframe=current", "value", 0, "id")
	at := "/Contoso/Contoso%20Team/_apis/work/teamsettings"
	member := me(t)
	run(t, org, []step{
		{"GET", contoso + "/wit/classificationnodes?$depth=2", "", 200, []string{`"structureType":"area"`, `"name":"Sprint 2"`, `"path":"\\Contoso\\Iteration\\Sprint 1"`}, nil},
		{"GET", contoso + "/wit/classificationnodes", "", 200, []string{`"hasChildren":true`}, []string{"Sprint"}},
		{"POST", contoso + "/wit/classificationnodes/1", `{"name":"Sprint 3","attributes":{"startDate":"2026-02-02T00:00:00Z","finishDate":"2026-02-13T00:00:00Z"}}`, 201, []string{`"identifier":`}, nil},
		{"POST", contoso + "/wit/classificationnodes/Iterations/Sprint%203", `{"name":"Week 1"}`, 201, []string{`\\Sprint 3\\Week 1`}, nil},
		{"GET", contoso + "/wit/classificationnodes/Iterations/Sprint%203/Week%201", "", 200, []string{`"Week 1"`}, nil},
		{"POST", contoso + "/wit/classificationnodes/iterations", `{"name":"sprint 3"}`, 409, []string{"TF237018"}, nil},
		{"POST", contoso + "/wit/classificationnodes/iterations", `{"name":"a/b"}`, 400, []string{"VS402371"}, nil},
		{"POST", contoso + "/wit/classificationnodes/iterations", `{"name":"x","attributes":{"startDate":"2026-02-02T00:00:00Z"}}`, 400, []string{"finishDate"}, nil},
		{"POST", contoso + "/wit/classificationnodes/iterations", `{"name":"x","attributes":{"startDate":"2026-02-02T00:00:00Z","finishDate":"2026-02-01T00:00:00Z"}}`, 400, []string{"ends before"}, nil},
		{"GET", contoso + "/wit/classificationnodes/iterations/none", "", 404, []string{"VS402485"}, nil},

		{"PATCH", contoso + "/wit/classificationnodes/Iterations/Sprint%203", `{"name":"Sprint C","attributes":{"finishDate":"2026-02-20T00:00:00Z"}}`, 200, []string{`"path":"\\Contoso\\Iteration\\Sprint C"`, "2026-02-02", "2026-02-20"}, nil},
		{"PATCH", contoso + "/wit/classificationnodes/Iterations/Sprint%20C", `{"attributes":{"finishDate":"2026-01-20T00:00:00Z"}}`, 400, nil, nil},

		{"GET", at, "", 200, []string{`"bugsBehavior":"asRequirements"`, `"defaultIteration":{`}, nil},
		{"GET", at + "/teamfieldvalues", "", 200, []string{`"defaultValue":"Contoso"`}, nil},
		{"GET", at + "/iterations", "", 200, []string{`"count":2`, `"timeFrame":"current"`, `"timeFrame":"future"`}, nil},
		{"GET", at + "/iterations?$timeframe=past", "", 400, nil, nil},
		{"GET", "/Contoso/Search%20Team/_apis/work/teamsettings/iterations", "", 200, []string{`"count":0`}, nil},
		{"POST", "/Contoso/Search%20Team/_apis/work/teamsettings/iterations", `{"id":"` + sprint + `"}`, 200, []string{`"Sprint 1"`}, nil},
		{"GET", "/Contoso/Search%20Team/_apis/work/teamsettings/iterations", "", 200, []string{`"count":1`}, nil},
		{"POST", at + "/iterations", `{"id":"nothing"}`, 404, nil, nil},
		{"GET", at + "/iterations/" + sprint + "/workitems", "", 200, []string{`"source":{"id":11`, `"target":{"id":12`, `"rel":null`}, []string{`"id":15`}},
		{"GET", at + "/iterations/" + sprint + "/capacities", "", 200, []string{`"totalCapacityPerDay":6`, `"totalDaysOff":2`, `"Development"`}, nil},
		{"PATCH", at + "/iterations/" + sprint + "/capacities/" + member, `{"activities":[{"name":"Testing","capacityPerDay":3.5}]}`, 200, []string{`"capacityPerDay":3.5`, `"2026-01-15`}, []string{"Development"}},
		{"PATCH", at + "/iterations/" + sprint + "/capacities/nobody", `{}`, 404, nil, nil},
		{"GET", contoso + "/work/iterations/" + sprint + "/iterationcapacities", "", 200, []string{`"teamCapacityPerDay":3.5`, `"totalIterationDaysOff":2`}, nil},
		{"DELETE", at + "/iterations/" + sprint, "", 204, nil, nil},
		{"GET", at + "/iterations", "", 200, []string{`"count":1`}, nil},

		{"GET", at[:len(at)-len("/teamsettings")] + "/backlogs", "", 200, []string{"Microsoft.RequirementCategory"}, nil},
		{"GET", at[:len(at)-len("/teamsettings")] + "/backlogs/Microsoft.RequirementCategory/workItems", "", 200, []string{`"id":14`}, []string{`"id":12`, `"id":16`}},
		{"GET", at[:len(at)-len("/teamsettings")] + "/backlogs/Cakes/workItems", "", 404, nil, nil},
		{"PATCH", at[:len(at)-len("/teamsettings")] + "/workitemsorder", `{"ids":[15,14],"previousId":0,"nextId":0,"parentId":0}`, 200, []string{`"id":15,"order":`}, nil},
		{"GET", contoso + "/work/predefinedqueries/assignedtome", "", 200, []string{`"id":11`, `"id":14`, `"hasMore":false`}, []string{`"id":16`}},
		{"GET", contoso + "/work/predefinedqueries/assignedtome?$top=1", "", 200, []string{`"hasMore":true`}, nil},
		{"GET", contoso + "/work/predefinedqueries/mine", "", 404, nil, nil},
	})
}

func TestTracking(t *testing.T) {
	org := sample.New(sample.Options{})
	query := look(t, org, contoso+"/wit/queries?$depth=1", "value", 1, "children", 0, "id")
	run(t, org, []step{
		{"GET", contoso + "/wit/workItems/14/comments", "", 200, []string{`"totalCount":1`, "every accent"}, nil},
		{"POST", contoso + "/wit/workItems/14/comments?format=markdown", `{"text":"**Mine** now"}`, 200, []string{`"format":"markdown"`, `"id":2`}, nil},
		{"POST", contoso + "/wit/workItems/14/comments", `{"text":" "}`, 400, nil, nil},
		{"PATCH", contoso + "/wit/workItems/14/comments/2?format=0", `{"text":"Yours"}`, 200, []string{`"version":2`, "Yours"}, nil},
		{"GET", contoso + "/wit/workItems/14/comments?$top=1", "", 200, []string{`"continuationToken":"1"`, "Yours"}, []string{"every accent"}},
		{"DELETE", contoso + "/wit/workItems/14/comments/2", "", 204, nil, nil},
		{"PATCH", contoso + "/wit/workItems/14/comments/2", `{"text":"x"}`, 404, nil, nil},
		{"GET", contoso + "/wit/workItems/14/revisions?$expand=relations", "", 200, []string{`"count":2`, `"rel":"AttachedFile"`}, nil},
		{"GET", contoso + "/wit/workItems/14/revisions?$top=1&$skip=1", "", 200, []string{`"count":1`, `"rev":2`}, nil},
		{"GET", contoso + "/wit/workItems/14/revisions/3", "", 404, nil, nil},
		{"GET", contoso + "/wit/workItems/14/updates", "", 200, []string{`"System.Rev":{"newValue":2,"oldValue":1}`}, nil},

		{"PATCH", "/_apis/wit/$batch", `[
			{"method":"PATCH","uri":"/_apis/wit/workitems/15?api-version=5.0","headers":{"Content-Type":"application/json-patch+json"},"body":[{"op":"Add","path":"/fields/System.State","value":"Active"}]},
			{"method":"PATCH","uri":"/Contoso/_apis/wit/workitems/$User%20Story?api-version=5.0","headers":{"Content-Type":"application/json-patch+json"},"body":[
				{"op":"add","path":"/id","value":"-1"},{"op":"add","path":"/fields/System.Title","value":"New"},{"op":"add","path":"/multilineFieldsFormat/System.Description","value":"Markdown"}]},
			{"method":"PATCH","uri":"/_apis/wit/workitems/999?api-version=5.0","headers":{"Content-Type":"application/json-patch+json"},"body":[{"op":"add","path":"/fields/System.State","value":"Active"}]}]`, 200,
			[]string{`"count":3`, `"code":200`, `\"id\":23`, `"code":404`}, nil},
		{"PATCH", "/_apis/wit/$batch", `[{"method":"PATCH","uri":"/_apis/wit/workitems/15","headers":{"Content-Type":"application/json-patch+json"},"body":[]}]`, 200, []string{"api-version", `"code":400`}, nil},
		{"PATCH", "/_apis/wit/$batch", `[{"method":"PATCH","uri":"/_apis/wit/workitems/15?api-version=5.0","headers":{},"body":[]}]`, 400, []string{"json-patch"}, nil},
		{"GET", "/_apis/wit/workitems/15", "", 200, []string{`"System.State":"Active"`}, nil},

		{"GET", contoso + "/wit/workitemtypes", "", 200, []string{`"name":"User Story"`, `"name":"Test Case"`}, nil},
		{"GET", contoso + "/wit/workitemtypes/user%20story", "", 200, []string{`"states":[{"category":"Proposed"`, `"referenceName":"System.Title"`}, nil},
		{"GET", contoso + "/wit/workitemtypes/Cake", "", 404, []string{"VS402323", "Test Case"}, nil},
		{"GET", contoso + "/wit/workitemtypes/Bug/states", "", 200, []string{`"count":4`}, nil},
		{"GET", contoso + "/wit/tags", "", 200, []string{`"name":"sign-in"`}, nil},

		{"GET", contoso + "/wit/queries", "", 200, []string{`"Shared Queries"`}, []string{"Open bugs"}},
		{"GET", contoso + "/wit/queries/Shared%20Queries%2FOpen%20bugs?$expand=wiql", "", 200, []string{`"wiql":"SELECT`}, nil},
		{"GET", contoso + "/wit/queries/Shared%20Queries/Open%20bugs", "", 200, []string{query}, []string{"SELECT"}},
		{"GET", contoso + "/wit/queries/" + query, "", 200, []string{`"path":"Shared Queries/Open bugs"`}, nil},
		{"GET", contoso + "/wit/queries/nothing", "", 404, []string{"TF401243"}, nil},
		{"GET", contoso + "/wit/queries?$depth=3", "", 400, nil, nil},
		{"GET", contoso + "/wit/wiql/" + query, "", 200, []string{`"workItems":[{"id":14`}, nil},

		{"POST application/octet-stream", contoso + "/wit/attachments?fileName=a.txt", "hello", 201, []string{`"id":`}, nil},
		{"POST application/octet-stream", contoso + "/wit/attachments", "hello", 400, []string{"fileName"}, nil},
		{"PATCH " + patch, "/_apis/wit/workitems/11", `[{"op":"add","path":"/fields/System.Tags","value":"ui"}]`, 200, []string{`"System.Tags":"security; sign-in; ui"`}, nil},
		{"PATCH " + patch, "/_apis/wit/workitems/11", `[{"op":"replace","path":"/fields/System.Tags","value":"ui"}]`, 200, []string{`"System.Tags":"ui"`}, nil},
		{"DELETE", contoso + "/wit/workitems/15", "", 200, []string{`"id":15`}, nil},
		{"GET", contoso + "/wit/workitems/15", "", 404, nil, nil},
	})
	address := strings.TrimPrefix(look(t, org, "/_apis/wit/workitems/14?$expand=relations", "relations", 0, "url"), sample.PublicURL)
	if status, body := send(t, org, "GET", "/contoso"+address+"&api-version=7.2-preview", ""); status != 200 || body != "query=café hits=0\n" {
		t.Errorf("the attachment: %d %q", status, body)
	}
}

func TestGitContents(t *testing.T) {
	org := sample.New(sample.Options{})
	commits := repo + "/commits"
	tip := look(t, org, commits+"?searchCriteria.itemVersion.version=feature/auth", "value", 0, "commitId")
	base := look(t, org, commits, "value", 0, "commitId")
	run(t, org, []step{
		{"GET", repo + "/items?scopePath=/&recursionLevel=OneLevel&versionDescriptor.version=feature/auth", "", 200, []string{`"path":"/src"`, `"isFolder":true`, `"path":"/README.md"`}, []string{"/src/passkey.ts"}},
		{"GET", repo + "/items?scopePath=/src&recursionLevel=full&versionDescriptor.version=" + tip + "&versionDescriptor.versionType=commit", "", 200, []string{`"path":"/src/passkey.ts"`}, []string{"README"}},
		{"GET", repo + "/items?path=README.md&includeContent=true", "", 200, []string{`"content":"Begin\n"`, `"gitObjectType":"blob"`}, nil},
		{"GET", repo + "/items?path=/src/passkey.ts", "", 404, []string{"TF401174"}, nil},
		{"GET", repo + "/items?path=/x&versionDescriptor.version=none", "", 404, []string{"TF401175"}, nil},
		{"GET", repo + "/items?path=/x&versionDescriptor.versionType=week", "", 400, nil, nil},
		{"GET", commits + "?searchCriteria.author=developer&searchCriteria.itemPath=/src&searchCriteria.itemVersion.version=feature/auth", "", 200, []string{`"count":1`, "passkey"}, nil},
		{"GET", commits + "?searchCriteria.author=nobody", "", 200, []string{`"count":0`}, nil},
		{"GET", commits + "?searchCriteria.fromDate=2030-01-01", "", 200, []string{`"count":0`}, nil},
		{"GET", commits + "/" + tip, "", 200, []string{"Sign in with a passkey"}, []string{`"changes"`}},
		{"GET", commits + "/" + tip + "?changeCount=1", "", 200, []string{`"changeCounts":{"Add":2}`, "/src/passkey.ts"}, []string{"/src/sign-in.ts"}},
		{"GET", commits + "/" + tip + "/changes", "", 200, []string{`"changeType":"add"`, "/src/sign-in.ts"}, nil},
		{"GET", commits + "/none", "", 404, nil, nil},
		{"POST", repo + "/FileDiffs", `{"baseVersionCommit":"` + base + `","targetVersionCommit":"` + tip + `","fileDiffParams":[{"path":"/src/passkey.ts"}]}`, 200, []string{`"changeType":"add"`, `"modifiedLinesCount":1`}, nil},
		{"POST", repo + "/FileDiffs", `{"baseVersionCommit":"x","targetVersionCommit":"y","fileDiffParams":[{"path":"/a"}]}`, 404, nil, nil},
		{"GET", repo + "/refs?filter=heads/&includeMyBranches=true", "", 200, []string{"refs/heads/main"}, []string{"release/1.0"}},
		{"GET", pulls + "/101/commits", "", 200, []string{`"count":1`}, nil},
		{"GET", pulls + "/101/iterations/1", "", 200, []string{`"commonRefCommit"`}, nil},
		{"GET", pulls + "/101/iterations/2/changes", "", 404, nil, nil},
		{"GET", pulls + "/101/iterations/1/changes", "", 200, []string{`"changeType":"add"`, "/src/search.ts"}, nil},
		{"GET", pulls + "/101/reviewers/" + me(t), "", 404, nil, nil},
		{"PATCH", pulls + "/101/threads/1/comments/1", `{"content":"And ß?"}`, 200, []string{"And ß?"}, nil},
		{"DELETE", pulls + "/101/threads/1/comments/1", "", 204, nil, nil},
		{"PATCH", pulls + "/101/threads/1/comments/2", `{"content":"x"}`, 404, nil, nil},
	})
	source := look(t, org, pulls+"/101", "lastMergeSourceCommit", "commitId")
	run(t, org, []step{
		{"POST", repo + "/pullrequestquery", `{"queries":[{"type":"commit","items":["` + source + `"]}]}`, 200, []string{`"pullRequestId":101`}, nil},
		{"POST", repo + "/pullrequestquery", `{"queries":[{"type":2,"items":["none"]}]}`, 200, []string{`"results":[{}]`}, nil},
	})
	status, body := send(t, org, "GET", "/contoso"+repo+"/items?path=/README.md&api-version=7.1", "", "Accept", "text/plain")
	if status != 200 || body != "Begin\n" {
		t.Errorf("as text: %d %q", status, body)
	}
}

func TestPipelines(t *testing.T) {
	org := sample.New(sample.Options{})
	builds := contoso + "/build/builds"
	approval := look(t, org, contoso+"/pipelines/approvals?state=pending", "value", 0, "id")
	run(t, org, []step{
		{"GET", contoso + "/build/definitions?name=web-*&$top=1", "", 200, []string{`"count":1`, `"name":"web-ci"`}, nil},
		{"GET", contoso + "/build/definitions?name=web-*&$top=1&continuationToken=1", "", 200, []string{`"name":"web-release"`}, nil},
		{"GET", contoso + "/build/definitions?continuationToken=x", "", 400, nil, nil},
		{"GET", contoso + "/build/definitions?definitionIds=3&includeLatestBuilds=true", "", 200, []string{`"api-ci"`}, []string{"latestBuild"}},
		{"GET", contoso + "/build/definitions?repositoryId=web", "", 400, []string{"repositoryType"}, nil},
		{"GET", contoso + "/build/definitions/1", "", 200, []string{`"yamlFilename":"/azure-pipelines.yml"`, `"revision":1`}, nil},
		{"PUT", contoso + "/build/definitions/1", `{"id":1,"name":"web","path":"\\","revision":1,"process":{"yamlFilename":"/azure-pipelines.yml"}}`, 200, []string{`"name":"web"`, `"revision":2`}, nil},
		{"PUT", contoso + "/build/definitions/1", `{"id":1,"name":"web","revision":1,"process":{"yamlFilename":"/x.yml"}}`, 409, []string{"revision 2"}, nil},
		{"PUT", contoso + "/build/definitions/1", `{"name":"web"}`, 400, []string{"whole definition"}, nil},
		{"GET", contoso + "/build/definitions/1/revisions", "", 200, []string{`"count":2`, `"changeType":"update"`}, nil},
		{"GET", contoso + "/build/definitions/9", "", 404, []string{"TF215016"}, nil},

		{"GET", builds, "", 200, []string{`"value":[{`, `"id":303`}, nil},
		{"GET", builds + "?resultFilter=8&branchName=refs/heads/feature/search&statusFilter=completed", "", 200, []string{`"count":1`, `"id":302`, `"result":"failed"`}, nil},
		{"GET", builds + "?branchName=main", "", 400, []string{"full ref"}, nil},
		{"GET", builds + "?resultFilter=good", "", 400, nil, nil},
		{"GET", builds + "?tagFilters=nightly&requestedFor=developer@contoso.example&reasonFilter=pullRequest&definitions=1,2", "", 200, []string{`"count":1`}, nil},
		{"GET", builds + "?$top=1&queryOrder=queueTimeAscending", "", 200, []string{`"id":301`}, nil},
		{"GET", builds + "/302", "", 200, []string{`"sourceBranch":"refs/heads/feature/search"`, "results?buildId=302"}, nil},
		{"GET", builds + "/999", "", 404, []string{"TF209001"}, nil},
		{"GET", builds + "/302/timeline", "", 200, []string{`"type":"Stage"`, `"result":"failed"`, "exit code 1", `"log":{"id":3`}, nil},
		{"GET", builds + "/302/logs", "", 200, []string{`"count":3`, `"lineCount":6`}, nil},
		{"GET", builds + "/302/logs/3?startLine=4", "", 200, []string{"##[error]expected", `"count":2`}, nil},
		{"GET", builds + "/302/logs/9", "", 404, nil, nil},
		{"GET", builds + "/302/changes", "", 200, []string{"Find words with accents"}, nil},
		{"GET", builds + "/302/report", "", 200, []string{`"type":"html"`}, nil},
		{"GET", builds + "/302/artifacts", "", 200, []string{`{"count":0,"value":[]}`}, nil},
		{"GET", builds + "/301/artifacts?artifactName=drop", "", 200, []string{`"name":"drop"`}, nil},
		{"GET", builds + "/301/artifacts?artifactName=cake", "", 404, nil, nil},
		{"PATCH", builds + "/301", `{"status":"cancelling"}`, 400, []string{"completed"}, nil},
		{"PATCH", builds + "/301?retry=true", `{}`, 409, []string{"nothing to retry"}, nil},
		{"PATCH", builds + "/302/stages/Cake", `{"state":"retry"}`, 404, nil, nil},
		{"PATCH", builds + "/302/stages/Test", `{"state":"cancel"}`, 400, nil, nil},
		{"PATCH", builds + "/302/stages/Test", `{"state":1,"forceRetryAllJobs":false}`, 204, nil, nil},
		{"GET", builds + "/302", "", 200, []string{`"status":"inProgress"`}, nil},
		{"PATCH", builds + "/302", `{"status":4}`, 200, []string{`"status":"cancelling"`}, nil},

		{"POST", contoso + "/pipelines", `{"name":"new","configuration":{"type":"Yaml","path":"/x.yml","repository":{"type":"AzureReposGit","name":"web"}}}`, 200, []string{`"id":4`, `"folder":"\\"`}, nil},
		{"POST", contoso + "/pipelines", `{"name":"new","configuration":{"type":"Yaml","path":"/x.yml","repository":{"name":"web"}}}`, 409, nil, nil},
		{"POST", contoso + "/pipelines", `{"name":"n","configuration":{"type":"Yaml","path":"/x.yml","repository":{"name":"none"}}}`, 404, nil, nil},
		{"POST", contoso + "/pipelines", `{"name":"n"}`, 400, nil, nil},
		{"POST", contoso + "/pipelines/4/runs", `{"resources":{"repositories":{"self":{"refName":"refs/heads/feature/auth"}}},"templateParameters":{"a":"b"}}`, 200, []string{`"id":304`, `"state":"inProgress"`, `"templateParameters":{"a":"b"}`}, nil},
		{"POST", contoso + "/pipelines/4/runs", `{"resources":{"repositories":{"self":{"refName":"refs/heads/none"}}}}`, 400, []string{"no branch"}, nil},
		{"POST", contoso + "/pipelines/4/runs", `{"previewRun":true}`, 200, []string{"finalYaml"}, nil},
		{"GET", contoso + "/pipelines/4/runs", "", 200, []string{`"count":1`}, nil},
		{"GET", contoso + "/pipelines/4/runs/304", "", 200, []string{`"refName":"refs/heads/feature/auth"`}, nil},
		{"GET", contoso + "/pipelines/4/runs/301", "", 404, nil, nil},
		{"PATCH", contoso + "/pipelines/approvals", `[{"approvalId":"` + approval + `","status":"approved","comment":"Yes"}]`, 200, []string{`"status":"approved"`}, nil},
		{"PATCH", contoso + "/pipelines/approvals", `[{"approvalId":"` + approval + `","status":"rejected"}]`, 409, nil, nil},
		{"PATCH", contoso + "/pipelines/approvals", `[{"approvalId":"none","status":"approved"}]`, 404, nil, nil},
	})
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/contoso"+builds+"/301/artifacts?artifactName=drop&api-version=7.1", nil)
	r.Header.Set("Accept", "application/zip")
	org.ServeHTTP(w, r)
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || len(z.File) != 1 || w.Header().Get("Content-Type") != "application/zip" {
		t.Errorf("the artifact: %v %q", err, w.Header())
	}
}

func TestNewWikis(t *testing.T) {
	org := sample.New(sample.Options{})
	project := func(name string) string { return look(t, org, "/_apis/projects/"+name, "id") }
	code := func(name, folder, branch string) string {
		return `{"name":"` + name + `","type":"codeWiki","projectId":"` + project("Contoso") + `","repositoryId":"` + look(t, org, repo, "id") + `","mappedPath":"` + folder + `","version":{"version":"` + branch + `"}}`
	}
	run(t, org, []step{
		{"POST", "/_apis/wiki/wikis", `{"name":"F","type":"projectWiki","projectId":"` + project("Fabrikam") + `"}`, 201, []string{`"type":"projectWiki"`, `"wikiMaster"`}, nil},
		{"POST", "/_apis/wiki/wikis", `{"name":"G","projectId":"` + project("Fabrikam") + `"}`, 409, []string{"has the wiki F already"}, nil},
		{"POST", contoso + "/wiki/wikis", code("docs", "/", "main"), 201, []string{`"type":"codeWiki"`, `"version":"main"`}, nil},
		{"GET", contoso + "/wiki/wikis/docs/pages?path=/README&includeContent=true", "", 200, []string{`"content":"Begin\n"`}, nil},
		{"POST", contoso + "/wiki/wikis", code("DOCS", "/", "main"), 409, nil, nil},
		{"POST", contoso + "/wiki/wikis", code("x", "docs", "main"), 400, []string{"mappedPath"}, nil},
		{"POST", contoso + "/wiki/wikis", code("x", "/docs", "main"), 404, []string{"no folder /docs"}, nil},
		{"POST", contoso + "/wiki/wikis", code("x", "/", "none"), 404, []string{"no branch"}, nil},
		{"POST", contoso + "/wiki/wikis", code("", "/", "main"), 400, []string{"name"}, nil},
		{"POST", contoso + "/wiki/wikis", code("x", "/", "main")[:20], 400, nil, nil},
	})
}

func TestWikis(t *testing.T) {
	org := sample.New(sample.Options{})
	wiki := contoso + "/wiki/wikis/Contoso.wiki"
	page := func(path string) string {
		w := httptest.NewRecorder()
		org.ServeHTTP(w, httptest.NewRequest("GET", "/contoso"+wiki+"/pages?path="+path+"&api-version=7.1", nil))
		return w.Header().Get("ETag")
	}
	tag := page("/Home")
	run(t, org, []step{
		{"GET", contoso + "/wiki/wikis", "", 200, []string{`"type":"projectWiki"`, `"remoteUrl":"https://dev.azure.com/contoso/Contoso/_wiki/wikis/Contoso.wiki"`}, nil},
		{"GET", wiki, "", 200, []string{`"wikiMaster"`}, nil},
		{"GET", contoso + "/wiki/wikis/none", "", 404, nil, nil},
		{"GET", wiki + "/pages?path=/&recursionLevel=full", "", 200, []string{`"path":"/Team/On call"`, `"gitItemPath":"/Team/On-call.md"`}, []string{`"content"`}},
		{"GET", wiki + "/pages?path=/&recursionLevel=1", "", 200, []string{`"path":"/Team"`}, []string{"On call"}},
		{"GET", wiki + "/pages?path=Home&includeContent=true", "", 200, []string{`"content":"# Contoso`, `"id":1`}, nil},
		{"GET", wiki + "/pages/3?includeContent=true", "", 200, []string{"Call the tester"}, nil},
		{"GET", wiki + "/pages/3/stats", "", 200, []string{`"count":3`}, nil},
		{"GET", wiki + "/pages/99", "", 404, nil, nil},
		{"GET", wiki + "/pages?path=/None", "", 404, []string{"WikiPageNotFoundException"}, nil},
		{"GET", wiki + "/pages?path=/Home&versionDescriptor.version=main", "", 404, []string{"wikiMaster"}, nil},
		{"PUT", wiki + "/pages?path=/Home", `{"content":"x"}`, 409, []string{"ETag"}, nil},
		{"PUT", wiki + "/pages?path=/A/B", `{"content":"x"}`, 404, []string{"/A"}, nil},
		{"PUT", wiki + "/pages?path=/A", `{"content":"é"}`, 201, []string{`"id":5`}, nil},
		{"PUT", wiki + "/pages?path=/A/B", `{"content":"x"}`, 201, nil, nil},
		{"POST", wiki + "/pagemoves", `{"path":"/A","newPath":"/Team/A"}`, 201, []string{`"newPath":"/Team/A"`}, nil},
		{"GET", wiki + "/pages?path=/Team/A/B", "", 200, nil, nil},
		{"POST", wiki + "/pagemoves", `{"path":"/Team","newPath":"/Team/A/C"}`, 400, nil, nil},
		{"POST", wiki + "/pagemoves", `{"path":"/Home","newPath":"/Team"}`, 409, nil, nil},
		{"POST", wiki + "/pagemoves", `{"path":"/Home","newPath":"/X/Y"}`, 404, nil, nil},
		{"POST", wiki + "/pagesbatch", `{"top":2,"pageViewsForDays":2}`, 200, []string{`"count":2`, `"viewStats":[{"count":1,"day":"2026-01-1`}, nil},
		{"POST", wiki + "/pagesbatch", `{"top":2,"continuationToken":"4"}`, 200, []string{`"path":"/Team/A"`}, nil},
		{"POST", wiki + "/pagesbatch", `{"top":0}`, 400, nil, nil},
		{"DELETE", wiki + "/pages?path=/Team", "", 200, []string{`"path":"/Team"`}, nil},
		{"GET", wiki + "/pages?path=/Team/On%20call", "", 404, nil, nil},
		{"DELETE", wiki + "/pages?path=/", "", 404, nil, nil},
	})
	put := func(tag string) (int, string) {
		return send(t, org, "PUT", "/contoso"+wiki+"/pages?path=/Home&api-version=7.1", `{"content":"new"}`, "If-Match", tag)
	}
	if status, body := put(tag); status != 200 || !strings.Contains(body, `"content":"new"`) {
		t.Errorf("with the ETag: %d %s", status, body)
	}
	if status, body := put(tag); status != 412 {
		t.Errorf("with an old ETag: %d %s", status, body)
	}
	if page("/Home") == tag {
		t.Error("the ETag did not change")
	}
	if status, body := send(t, org, "GET", "/contoso"+wiki+"/pages?path=/Home&api-version=7.1", "", "Accept", "text/plain"); status != 200 || body != "new" {
		t.Errorf("as text: %d %q", status, body)
	}
}

func TestSearches(t *testing.T) {
	search := "/_apis/search/"
	run(t, sample.New(sample.Options{}), []step{
		{"POST", search + "codesearchresults", `{"searchText":"begin","$top":2,"$skip":0,"includeFacets":true}`, 200, []string{`"count":4`, `"charOffset":0`, `"branchName":"main"`, `"resultCount":2`}, nil},
		{"POST", search + "codesearchresults", `{"searchText":"begin","$top":9,"filters":{"Project":["Fabrikam"],"Repository":["scanner"],"Branch":["main"],"Path":["/"]}}`, 200, []string{`"count":1`}, nil},
		{"POST", search + "codesearchresults", `{"searchText":"begin","$top":9,"filters":{"Project":["None"]}}`, 200, []string{`"count":0`}, nil},
		{"POST", search + "wikisearchresults", `{"searchText":"Accents","$top":9}`, 200, []string{"<highlighthit>accents</highlighthit>", `"path":"/Search.md"`}, nil},
		{"POST", search + "workitemsearchresults", `{"searchText":"accents","$top":9,"filters":{"System.State":["Active"],"System.WorkItemType":["Bug"],"System.AssignedTo":["Contoso Developer"]}}`, 200, []string{`"count":1`, `"system.id":"14"`, "<highlighthit>"}, nil},
		{"POST", search + "workitemsearchresults", `{"searchText":"accents","$top":9,"filters":{"System.TeamProject":["Fabrikam"]}}`, 200, []string{`"count":0`}, nil},
		{"POST", search + "commitsearchresults", `{"searchText":"passkey","$top":9}`, 200, []string{`"count":1`}, nil},
		{"POST", search + "codesearchresults", `{"searchText":" ","$top":9}`, 400, nil, nil},
		{"POST", search + "codesearchresults", `{"searchText":"x"}`, 400, []string{"$top"}, nil},
	})
}

func TestTestPlans(t *testing.T) {
	plan := contoso + "/testplan/plans"
	run(t, sample.New(sample.Options{}), []step{
		{"GET", plan + "?includePlanDetails=true", "", 200, []string{`"id":20`, `"rootSuite":{"id":21`, `"owner"`}, nil},
		{"POST", plan, `{"name":"Sprint 2","iteration":"Contoso\\Sprint 2","startDate":"2026-01-19T00:00:00Z"}`, 200, []string{`"iteration":"Contoso\\Sprint 2"`, `"state":"Active"`}, nil},
		{"POST", plan, `{"name":"x","iteration":"Contoso\\Sprint 9"}`, 400, []string{"Sprint 9"}, nil},
		{"POST", plan, `{}`, 400, nil, nil},
		{"GET", plan + "/20", "", 200, []string{`"name":"Sprint 1"`}, nil},
		{"GET", plan + "/99", "", 404, nil, nil},
		{"GET", plan + "/20/suites?expand=children", "", 200, []string{`"children":[{`, `"parentSuite":{"id":21`}, nil},
		{"POST", plan + "/20/suites", `{"name":"More","suiteType":2,"parentSuite":{"id":22}}`, 200, []string{`"suiteType":"staticTestSuite"`}, nil},
		{"POST", plan + "/20/suites", `{"name":"R","suiteType":"requirementTestSuite","parentSuite":{"id":21},"requirementId":14}`, 200, []string{`"requirementId":14`}, nil},
		{"POST", plan + "/20/suites", `{"name":"R","suiteType":"requirementTestSuite","parentSuite":{"id":21},"requirementId":999}`, 404, nil, nil},
		{"POST", plan + "/20/suites", `{"name":"More","suiteType":2,"parentSuite":{"id":1}}`, 404, nil, nil},
		{"POST", plan + "/20/suites", `{"name":"More","parentSuite":{"id":21}}`, 400, nil, nil},
		{"GET", plan + "/20/suites/22/testcase", "", 200, []string{`"id":19`, "café is found", `"configurationName":"Browser"`}, nil},
		{"POST", contoso + "/test/Plans/20/suites/21/testcases/19", "", 200, []string{`"testCase":{"id":"19"`}, nil},
		{"GET", plan + "/20/suites/21/testcase", "", 200, []string{`"count":1`}, nil},
		{"POST", contoso + "/test/Plans/20/suites/21/testcases/14", "", 400, []string{"Bug"}, nil},
		{"POST", contoso + "/test/Plans/20/suites/21/testcases/x", "", 400, nil, nil},
		{"GET", plan + "/20/suites/22/testpoint?testCaseId=19", "", 200, []string{`"id":2200`, `"outcome":"unspecified"`}, nil},
		{"PATCH", plan + "/20/suites/22/testpoint", `[{"id":2200,"results":{"outcome":"passed"}}]`, 200, []string{`"outcome":"passed"`, `"lastTestRunId":1`}, nil},
		{"PATCH", plan + "/20/suites/22/testpoint", `[{"id":1,"results":{"outcome":"passed"}}]`, 404, nil, nil},
		{"PATCH", plan + "/20/suites/22/testpoint", `[{"id":2200,"results":{"outcome":"fine"}}]`, 400, nil, nil},
		{"GET", contoso + "/testresults/resultdetailsbybuild?buildId=302&shouldIncludeResults=true&$filter=Outcome%20eq%20Failed,Aborted", "", 200, []string{`"outcome":"Failed"`, "café"}, []string{"Passed"}},
		{"GET", contoso + "/testresults/resultdetailsbybuild?buildId=9", "", 404, nil, nil},
	})
}

func TestAlerts(t *testing.T) {
	alerts := contoso + "/alert/repositories/web/alerts"
	run(t, sample.New(sample.Options{}), []step{
		{"GET", alerts + "?orderBy=severity", "", 200, []string{`"count":3`, `{"count":3,"value":[{"alertId":2`}, nil},
		{"GET", alerts + "?top=1", "", 200, []string{`"count":1`, `"alertId":1`}, nil},
		{"GET", alerts + "?top=1&continuationToken=1", "", 200, []string{`"alertId":2`}, nil},
		{"GET", alerts + "?criteria.alertType=secret&criteria.states=1&criteria.severities=high,critical&criteria.confidenceLevels=0&criteria.validity=active", "", 200, []string{`"count":1`}, nil},
		{"GET", alerts + "?criteria.toolName=CodeQL&criteria.ruleId=js-reflected-xss&criteria.ref=refs/heads/main", "", 200, []string{`"count":1`}, nil},
		{"GET", alerts + "?criteria.states=open", "", 400, nil, nil},
		{"GET", alerts + "/3", "", 200, []string{`"helpMessage":"Encode the text."`}, nil},
		{"GET", alerts + "/9", "", 404, nil, nil},
		{"PATCH", alerts + "/3", `{"state":"dismissed","dismissedReason":"falsePositive","dismissedComment":"No"}`, 200, []string{`"state":"dismissed"`, `"dismissalType":"falsePositive"`}, nil},
		{"PATCH", alerts + "/3", `{"state":"dismissed"}`, 400, nil, nil},
		{"PATCH", alerts + "/3", `{"state":"fixed"}`, 400, nil, nil},
		{"PATCH", alerts + "/3", `{"state":1}`, 200, []string{`"state":"active"`}, []string{"dismissalType"}},
		{"GET", "/Contoso/_apis/alert/repositories/none/alerts", "", 404, []string{"TF401019"}, nil},
	})
}

func TestTeams(t *testing.T) {
	run(t, sample.New(sample.Options{}), []step{
		{"GET", "/_apis/projects/Contoso/teams", "", 200, []string{`"count":2`, "Search Team"}, nil},
		{"GET", "/_apis/projects/Contoso/teams?$mine=true", "", 200, []string{`"count":1`}, nil},
		{"GET", "/_apis/projects/Contoso/teams/Search%20Team/members", "", 200, []string{`"count":2`, `"isTeamAdmin":true`}, nil},
		{"GET", "/_apis/projects/Contoso/teams/None/members", "", 404, nil, nil},
	})
}
