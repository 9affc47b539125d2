package sample_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metacue/metacue/internal/sample"
)

// send makes one request of an organization and gives status and body.
func send(t *testing.T, org http.Handler, method, target, body string, headers ...string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	org.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const patch = "application/json-patch+json"

// step is a request with what its answer must hold.
type step struct {
	method, path, body string
	status             int
	want               []string // parts of the body
	not                []string // what the body must not hold
}

// run sends the steps one after the other. The path is what follows /contoso.
func run(t *testing.T, org http.Handler, steps []step) {
	t.Helper()
	for _, s := range steps {
		method, contentType, _ := strings.Cut(s.method, " ")
		var headers []string
		if contentType != "" {
			headers = []string{"Content-Type", contentType}
		}
		sep := "?"
		if strings.Contains(s.path, "?") {
			sep = "&"
		}
		status, body := send(t, org, method, "/contoso"+s.path+sep+"api-version=7.2-preview", s.body, headers...)
		if status != s.status {
			t.Errorf("%s %s: status %d, want %d: %s", s.method, s.path, status, s.status, body)
			continue
		}
		for _, w := range s.want {
			if !strings.Contains(body, w) {
				t.Errorf("%s %s: the answer lacks %s:\n%s", s.method, s.path, w, body)
			}
		}
		for _, n := range s.not {
			if strings.Contains(body, n) {
				t.Errorf("%s %s: the answer has %s:\n%s", s.method, s.path, n, body)
			}
		}
	}
}

const (
	repo  = "/Contoso/_apis/git/repositories/web"
	pulls = repo + "/pullrequests"
)

func TestPullRequests(t *testing.T) {
	run(t, sample.New(sample.Options{}), []step{
		{"POST", pulls, `{"sourceRefName":"refs/heads/feature/auth","targetRefName":"refs/heads/main","title":"T<1> & é","isDraft":true,"workItemRefs":[{"id":"11"}],"labels":[{"name":"ui"}]}`, 201,
			[]string{`"pullRequestId":103`, `"status":"active"`, `"title":"T<1> & é"`, `"isDraft":true`, `"workItemRefs":[{"id":"11"`, `"labels":[{"id":`, `"webUrl":"https://dev.azure.com/contoso/Contoso/_git/web"`}, nil},
		{"POST", pulls, `{"sourceRefName":"refs/heads/feature/auth","targetRefName":"refs/heads/main","title":"again"}`, 409,
			[]string{`"$id":"1"`, `"innerException":null`, `"typeKey":"GitPullRequestExistsException"`, `"errorCode":0`, `"eventId":3000`, `TF401179`}, nil},
		{"POST", pulls, `{"sourceRefName":"refs/heads/none","targetRefName":"refs/heads/main","title":"x"}`, 404, []string{"TF401398", "refs/heads/none"}, nil},
		{"POST", pulls, `{"sourceRefName":"feature/auth","targetRefName":"refs/heads/main","title":"x"}`, 404, []string{"full refs"}, nil},
		{"POST", pulls, `{"sourceRefName":"refs/heads/main","targetRefName":"refs/heads/main","title":"x"}`, 400, []string{"same branch"}, nil},
		{"POST", pulls, `{"sourceRefName":"refs/heads/feature/auth","title":"x"}`, 400, []string{"targetRefName"}, nil},
		{"POST", pulls, `{"sourceRefName":"refs/heads/release/1.0","targetRefName":"refs/heads/main","title":" "}`, 400, []string{"title"}, nil},
		{"POST", pulls, `{"sourceRefName":"refs/heads/release/1.0","targetRefName":"refs/heads/main","title":"x","workItemRefs":[{"id":"999"}]}`, 404, []string{"TF401232"}, nil},
		{"POST", pulls, `{"sourceRefName":`, 400, []string{"cannot be read"}, nil},
		{"POST", pulls, `{} {}`, 400, []string{"more than one"}, nil},
		{"POST text/plain", pulls, `{}`, 415, []string{"application/json"}, nil},

		{"GET", pulls, "", 200, []string{`"count":2`, `"pullRequestId":103`, `"pullRequestId":101`}, []string{"workItemRefs"}},
		{"GET", pulls + "?searchCriteria.status=Completed", "", 200, []string{`{"count":0,"value":[]}`}, nil},
		{"GET", "/contoso/_apis/git/pullRequests?searchCriteria.status=4", "", 200, []string{`"count":3`, `"pullRequestId":102`}, nil},
		{"GET", pulls + "?searchCriteria.sourceRefName=refs/heads/feature/auth", "", 200, []string{`"count":1`}, nil},
		{"GET", pulls + "?searchCriteria.targetRefName=refs/heads/x", "", 200, []string{`"count":0`}, nil},
		{"GET", pulls + "?searchCriteria.creatorId=me", "", 400, []string{"creatorId"}, nil},
		{"GET", pulls + "?searchCriteria.status=open", "", 400, []string{"open"}, nil},
		{"GET", pulls + "?$top=1", "", 200, []string{`"count":1`, `"pullRequestId":103`}, nil},
		{"GET", pulls + "?$top=1&$skip=1", "", 200, []string{`"pullRequestId":101`}, nil},
		{"GET", pulls + "?$top=ten", "", 400, []string{"$top"}, nil},

		{"GET", pulls + "/103", "", 200, []string{`"pullRequestId":103`}, []string{"workItemRefs"}},
		{"GET", pulls + "/103?includeWorkItemRefs=true", "", 200, []string{"workItemRefs"}, nil},
		{"GET", "/_apis/git/pullRequests/103", "", 200, []string{`"pullRequestId":103`}, nil},
		{"GET", "/Contoso/_apis/git/repositories/api/pullrequests/103", "", 404, []string{"TF401180"}, nil},
		{"GET", pulls + "/12345678901234567890", "", 404, []string{"12345678901234567890"}, nil},

		{"PATCH", pulls + "/103", `{"title":"New title"}`, 200, []string{`"title":"New title"`, `"isDraft":true`}, nil},
		{"PATCH", pulls + "/103", `{"isDraft":false,"description":""}`, 200, []string{`"isDraft":false`}, nil},
		{"PATCH", pulls + "/103", `{"targetRefName":"refs/heads/release/1.0"}`, 200, []string{`"targetRefName":"refs/heads/release/1.0"`}, nil},
		{"PATCH", pulls + "/103", `{"targetRefName":"refs/heads/nowhere","title":"lost"}`, 404, nil, nil},
		{"PATCH", pulls + "/103", `{"status":"all"}`, 400, nil, nil},
		{"PATCH", pulls + "/103", `{"status":"completed"}`, 400, []string{"lastMergeSourceCommit"}, nil},
		{"PATCH", pulls + "/103", `{"status":"completed","lastMergeSourceCommit":{"commitId":"old"}}`, 409, []string{"moved on"}, nil},
		{"PATCH", pulls + "/103", `{"autoCompleteSetBy":{"id":"` + me(t) + `"},"completionOptions":{"mergeStrategy":2,"deleteSourceBranch":true}}`, 200, []string{`"autoCompleteSetBy":{"displayName"`, `"mergeStrategy":"squash"`}, nil},
		{"PATCH", pulls + "/103", `{"autoCompleteSetBy":{"id":"00000000-0000-0000-0000-000000000000"}}`, 200, nil, []string{"autoCompleteSetBy"}},
		{"PATCH", pulls + "/103", `{"status":2}`, 200, []string{`"status":"abandoned"`, "closedDate"}, nil},
		{"PATCH", pulls + "/103", `{"title":"too late"}`, 409, []string{"TF401181"}, nil},
		{"PATCH", pulls + "/103", `{"status":"Active"}`, 200, []string{`"status":"active"`, `"title":"New title"`}, []string{"closedDate"}},
	})
}

// me asks an organization who is asking.
func me(t *testing.T) string {
	t.Helper()
	_, body := send(t, sample.New(sample.Options{}), "GET", "/contoso/_apis/connectionData", "")
	var data struct{ AuthenticatedUser struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &data); err != nil || data.AuthenticatedUser.ID == "" {
		t.Fatalf("connectionData: %v: %s", err, body)
	}
	return data.AuthenticatedUser.ID
}

func TestCompletingMovesTheTarget(t *testing.T) {
	org := sample.New(sample.Options{})
	_, body := send(t, org, "GET", "/contoso"+pulls+"/101?api-version=7.1", "")
	var p struct{ LastMergeSourceCommit struct{ CommitID string } }
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	id := p.LastMergeSourceCommit.CommitID
	run(t, org, []step{
		{"PATCH", pulls + "/101", `{"status":"completed","lastMergeSourceCommit":{"commitId":"` + id + `"},"completionOptions":{"deleteSourceBranch":true}}`, 403, []string{"GitPullRequestUpdateRejectedByPolicyException", "Required reviewers, web-ci."}, nil},
		{"PATCH", pulls + "/101", `{"status":"completed","lastMergeSourceCommit":{"commitId":"` + id + `"},"completionOptions":{"deleteSourceBranch":true,"bypassPolicy":true}}`, 200, []string{`"status":"completed"`}, nil},
		{"GET", repo + "/refs?filter=heads/main", "", 200, []string{`"objectId":"` + id + `"`}, nil},
		{"GET", repo + "/refs?filter=heads/feature/search", "", 200, []string{`"count":0`}, nil},
		{"GET", repo + "/commits", "", 200, []string{`"count":2`, id}, nil},
	})
}

func TestThreadsReviewersAndLabels(t *testing.T) {
	id := me(t)
	pull := pulls + "/101"
	run(t, sample.New(sample.Options{}), []step{
		{"POST", pull + "/threads", `{"comments":[{"content":"Hello"}],"threadContext":{},"status":1}`, 200, []string{`"id":2`, `"content":"Hello"`, `"status":"active"`, `"commentType":"text"`, `"threadContext":null`}, nil},
		{"POST", pull + "/threads", `{"comments":[{"content":"Here"}],"threadContext":{"filePath":"/a.go","rightFileStart":{"line":3,"offset":1},"rightFileEnd":{"line":3,"offset":9}}}`, 200, []string{`"id":3`, `"line":3`}, nil},
		{"POST", pull + "/threads", `{"comments":[{"content":"x"}],"threadContext":{"rightFileStart":{"line":3,"offset":1}}}`, 400, []string{"filePath"}, nil},
		{"POST", pull + "/threads", `{"comments":[{"content":"x"}],"threadContext":{"filePath":"/a","rightFileStart":{"line":3,"offset":1}}}`, 400, []string{"rightFileEnd"}, nil},
		{"POST", pull + "/threads", `{"comments":[]}`, 400, nil, nil},
		{"POST", pull + "/threads", `{"comments":[{"content":" "}]}`, 400, nil, nil},
		{"GET", pull + "/threads", "", 200, []string{`"count":3`}, nil},
		{"POST", pull + "/threads/2/comments", `{"content":"Again","parentCommentId":1}`, 200, []string{`"id":2`, `"parentCommentId":1`}, nil},
		{"POST", pull + "/threads/2/comments", `{"content":"Again","parentCommentId":9}`, 400, nil, nil},
		{"GET", pull + "/threads/2/comments", "", 200, []string{`"count":2`}, nil},
		{"PATCH", pull + "/threads/2", `{"status":"Fixed"}`, 200, []string{`"status":"fixed"`}, nil},
		{"GET", pull + "/threads/2", "", 200, []string{`"status":"fixed"`}, nil},
		{"GET", pull + "/threads/99", "", 404, []string{"no thread 99"}, nil},

		{"POST", pull + "/reviewers", `[{"id":"` + id + `"}]`, 200, []string{`"count":2`}, nil},
		{"PUT", pull + "/reviewers/" + id, `{"vote":10}`, 200, []string{`"vote":10`}, nil},
		{"PUT", pull + "/reviewers/" + id, `{"vote":3}`, 400, nil, nil},
		{"POST", pull + "/reviewers", `[{"id":"nobody"}]`, 404, nil, nil},
		{"DELETE", pull + "/reviewers/" + id, "", 204, nil, nil},
		{"GET", pull + "/reviewers", "", 200, []string{`"count":1`}, nil},

		{"GET", pull + "/iterations", "", 200, []string{`"count":1`, `"id":1`}, nil},
		{"GET", pull + "/iterations/1/changes", "", 200, []string{`"changeEntries":[{"changeId":1`, `"path":"/src/search.ts"`}, []string{"README"}},
		{"GET", pull + "/iterations/2/changes", "", 404, nil, nil},

		{"POST", pull + "/labels", `{"name":"x a"}`, 200, []string{`"name":"x a"`}, nil},
		{"GET", pull + "/labels", "", 200, []string{`"count":1`}, nil},
		{"DELETE", pull + "/labels/x%20a", "", 204, nil, nil},
		{"GET", pull + "/labels", "", 200, []string{`{"count":0,"value":[]}`}, nil},
	})
}

func TestRepositoriesAndRefs(t *testing.T) {
	org := sample.New(sample.Options{})
	_, body := send(t, org, "GET", "/contoso"+repo+"/refs?filter=heads/main&api-version=7.1", "")
	var refs struct {
		Value []struct{ Name, ObjectID string }
	}
	if err := json.Unmarshal([]byte(body), &refs); err != nil || len(refs.Value) != 1 {
		t.Fatalf("refs: %v: %s", err, body)
	}
	main := refs.Value[0].ObjectID
	none := strings.Repeat("0", 40)
	update := func(name, from, to string) string {
		return `[{"name":"` + name + `","oldObjectId":"` + from + `","newObjectId":"` + to + `"}]`
	}
	run(t, org, []step{
		{"GET", "/Contoso/_apis/git/repositories", "", 200, []string{`"count":2`, `"defaultBranch":"refs/heads/main"`}, []string{"scanner"}},
		{"GET", "/_apis/git/repositories", "", 200, []string{`"count":4`}, nil},
		{"POST", "/Contoso/_apis/git/repositories", `{"name":"docs"}`, 201, []string{`"name":"docs"`, `/Contoso/_git/docs`}, nil},
		{"POST", "/Contoso/_apis/git/repositories", `{"name":"DOCS"}`, 409, []string{"TF400948"}, nil},
		{"POST", "/_apis/git/repositories", `{"name":"docs","project":{"name":"Fabrikam"}}`, 201, nil, nil},
		{"POST", "/_apis/git/repositories", `{"name":"docs"}`, 400, []string{"project"}, nil},
		{"POST", "/Contoso/_apis/git/repositories", `{"name":"a/b"}`, 400, nil, nil},
		{"POST", "/Contoso/_apis/git/repositories", `{}`, 400, nil, nil},

		{"POST", repo + "/refs", update("refs/heads/new", none, main), 200, []string{`"success":true`, `"updateStatus":"succeeded"`}, nil},
		{"POST", repo + "/refs", update("refs/heads/new", none, main), 200, []string{`"success":false`, `"updateStatus":"staleOldObjectId"`}, nil},
		{"POST", repo + "/refs", update("refs/heads/x", none, strings.Repeat("a", 40)), 200, []string{`"updateStatus":"unresolvableToCommit"`}, nil},
		{"POST", repo + "/refs", update("refs/heads/a..b", none, main), 200, []string{`"updateStatus":"invalidRefName"`}, nil},
		{"POST", repo + "/refs", update("refs/heads/new/er", none, main), 200, []string{`"updateStatus":"refNameConflict"`}, nil},
		{"POST", repo + "/refs", update("refs/heads/new", "main", main), 400, []string{"40"}, nil},
		{"POST", repo + "/refs", `[]`, 400, nil, nil},
		{"GET", repo + "/refs?filter=heads/&filterContains=ew", "", 200, []string{`"count":1`, `"refs/heads/new"`}, nil},
		{"POST", repo + "/refs", update("refs/heads/new", main, none), 200, []string{`"success":true`}, nil},
		{"GET", repo + "/refs?filterContains=new", "", 200, []string{`"count":0`}, nil},
		{"GET", repo + "/commits?searchCriteria.itemVersion.version=feature/auth", "", 200, []string{`"count":2`}, nil},
		{"GET", repo + "/commits?searchCriteria.itemVersion.version=gone", "", 404, []string{"TF401175"}, nil},
	})
}

func TestScope(t *testing.T) {
	run(t, sample.New(sample.Options{}), []step{
		{"GET", "/_apis/projects", "", 200, []string{`"count":2`, "Contoso", "Fabrikam"}, nil},
		{"GET", "/_apis/projects?$top=1", "", 200, []string{`"count":1`}, nil},
		{"GET", "/_apis/projects?stateFilter=createPending", "", 200, []string{`{"count":0,"value":[]}`}, nil},
		{"GET", "/_apis/identities?searchFilter=General&filterValue=REVIEWER@contoso.example", "", 200, []string{`"count":1`, `"providerDisplayName":"Contoso Reviewer"`}, nil},
		{"GET", "/_apis/identities?searchFilter=General&filterValue=nobody", "", 200, []string{`"count":0`}, nil},
		{"GET", "/_apis/identities?filterValue=x", "", 400, nil, nil},
		{"GET", "/_apis/projects/contoso", "", 200, []string{`"defaultTeam"`}, nil},
		{"GET", "/_apis/projects/contoso/teams", "", 200, []string{"Contoso Team"}, nil},
		{"GET", "/CONTOSO/_APIS/Git/Repositories/WEB/PullRequests", "", 200, []string{`"pullRequestId":101`}, nil},
		{"GET", "/Contso/_apis/git/repositories", "", 404, []string{"TF200016", `\"Contso\"`, "Contoso, Fabrikam"}, nil},
		{"GET", "/Contoso/_apis/git/repositories/wbe", "", 404, []string{"TF401019", "web, api"}, nil},
		{"GET", "/Contoso/_apis/git/repositories/scanner", "", 404, nil, nil},
		{"GET", "/_apis/git/repositories/web", "", 400, []string{"names no project"}, nil},
		{"GET", "/Contoso/Contoso%20Team/_apis/git/repositories", "", 200, nil, nil},
		{"GET", "/Contoso/nobody/_apis/git/repositories", "", 404, []string{"nobody"}, nil},
		{"GET", "/_apis/git/nothing", "", 404, []string{"git/nothing"}, nil},
		{"DELETE", "/_apis/projects", "", 405, []string{"DELETE"}, nil},
		{"GET", "/Contoso/projects", "", 404, nil, nil},
		{"GET", "/a/b/c/_apis/projects", "", 404, nil, nil},
		{"GET", "/Contoso/_apis", "", 404, nil, nil},
	})
	if status, body := send(t, sample.New(sample.Options{}), "GET", "/tailspin/_apis/projects?api-version=7.1", ""); status != 404 || !strings.Contains(body, "tailspin") {
		t.Errorf("another organization: %d %s", status, body)
	}
}

// A client that lets a path argument out of its segment must not get an answer
// that looks right.
func TestPathTraversal(t *testing.T) {
	run(t, sample.New(sample.Options{}), []step{
		{"GET", "/Contoso/_apis/git/repositories/../repositories", "", 400, []string{"segment"}, nil},
		{"GET", "/Contoso/_apis/git/repositories/%2e%2e/refs", "", 400, []string{"segment"}, nil},
		{"GET", "/Contoso/_apis/git/repositories//refs", "", 400, []string{"segment"}, nil},
		{"GET", "/Contoso/_apis/git/repositories/web%2Frefs", "", 404, []string{`web/refs`}, nil},
	})
}

func TestAPIVersion(t *testing.T) {
	org := sample.New(sample.Options{})
	for _, c := range []struct {
		target, accept string
		status         int
	}{
		{"/contoso/_apis/projects", "", 400},
		{"/contoso/_apis/projects?api-version=7.1", "", 200},
		{"/contoso/_apis/projects", "application/json;api-version=7.2-preview.4", 200},
		{"/contoso/_apis/projects", "text/plain, application/json; api-version=7.1", 200},
		{"/contoso/_apis/projects?api-version=latest", "", 400},
		{"/contoso/_apis/connectionData", "", 200},
	} {
		if status, body := send(t, org, "GET", c.target, "", "Accept", c.accept); status != c.status {
			t.Errorf("%s with Accept %q: %d, want %d: %s", c.target, c.accept, status, c.status, body)
		}
	}
}

func TestAuthorization(t *testing.T) {
	org := sample.New(sample.Options{PAT: "correct-horse"})
	basic := func(user, password string) string {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	for _, c := range []struct {
		authorization string
		status        int
		logged        string
	}{
		{"", 401, ""},
		{basic("", "wrong"), 401, "Basic *** (wrong)"},
		{"Bearer correct-horse", 401, "Bearer *** (wrong)"},
		{"correct-horse", 401, "other *** (wrong)"},
		{basic("", "correct-horse"), 200, "Basic *** (right)"},
		{basic("anyone", "correct-horse"), 200, "Basic *** (right)"},
	} {
		status, body := send(t, org, "GET", "/contoso/_apis/projects?api-version=7.1", "", "Authorization", c.authorization)
		if status != c.status {
			t.Errorf("%q: status %d, want %d: %s", c.authorization, status, c.status, body)
		}
		log := org.Log()
		last := log[len(log)-1]
		if got := last.Headers["Authorization"]; got != c.logged {
			t.Errorf("%q is logged as %q, want %q", c.authorization, got, c.logged)
		}
		if s := last.String(); strings.Contains(s, "horse") || c.authorization != "" && strings.Contains(s, c.authorization) {
			t.Errorf("the log shows a credential: %s", s)
		}
	}
}

func TestWorkItems(t *testing.T) {
	item := "/_apis/wit/workitems/14"
	run(t, sample.New(sample.Options{}), []step{
		{"GET", "/Contoso" + item, "", 200, []string{`"id":14`, `"rev":1`, `"Custom.TicketNumber":9007199254740993`, `"html":{"href":"https://dev.azure.com/contoso/Contoso/_workitems/edit/14"}`, "日本"}, nil},
		{"GET", item + "?fields=System.Title,System.State", "", 200, []string{`"fields":{"System.State":"Active","System.Title":`}, []string{"_links", "Priority"}},
		{"GET", item + "?fields=System.Title&$expand=relations", "", 400, []string{"exclude"}, nil},
		{"GET", item + "?fields=System.Titel", "", 400, []string{"TF51535", "System.Titel"}, nil},
		{"GET", "/_apis/wit/workitems/12?$expand=Relations", "", 200, []string{`"System.Parent":11`, `"rel":"System.LinkTypes.Hierarchy-Reverse"`}, nil},
		{"GET", "/_apis/wit/workitems/999", "", 404, []string{"TF401232", `"typeKey":"WorkItemUnauthorizedAccessException"`}, nil},
		{"GET", "/Fabrikam" + item, "", 404, []string{"Fabrikam"}, nil},
		{"GET", "/_apis/wit/workitems/x", "", 400, nil, nil},
		{"GET", "/_apis/wit/workitems?ids=11,12&fields=System.Id", "", 200, []string{`"count":2`}, nil},
		{"GET", "/_apis/wit/workitems?ids=11,x", "", 400, nil, nil},
		{"POST", "/Contoso/_apis/wit/workitemsbatch", `{"ids":[12,11],"fields":["System.Id"]}`, 200, []string{`{"count":2,"value":[{"id":12,`}, nil},
		{"POST", "/_apis/wit/workitemsbatch", `{"ids":[11,999]}`, 404, nil, nil},
		{"POST", "/_apis/wit/workitemsbatch", `{"ids":[11,999],"errorPolicy":"omit"}`, 200, []string{"null"}, nil},
		{"POST", "/_apis/wit/workitemsbatch", `{"ids":[]}`, 400, nil, nil},

		{"PATCH " + patch, item, `[{"op":"test","path":"/rev","value":1},{"op":"add","path":"/fields/System.State","value":"Resolved"},{"op":"replace","path":"/fields/Custom.TicketNumber","value":18446744073709551617},{"op":"add","path":"/fields/System.History","value":"Done."}]`, 200,
			[]string{`"rev":2`, `"System.State":"Resolved"`, `"Custom.TicketNumber":18446744073709551617`, `"System.CommentCount":2`, `"System.History":"Done."`}, nil},
		{"PATCH " + patch, item, `[{"op":"test","path":"/rev","value":1},{"op":"add","path":"/fields/System.State","value":"Closed"}]`, 412, []string{"TF26071", "revision 2"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/System.Title","value":"lost"},{"op":"add","path":"/fields/System.State","value":"Done"}]`, 400, []string{"TF401320", "operation 1", "New, Active, Resolved, Closed"}, nil},
		{"GET", item, "", 200, []string{`"rev":2`, "Search does not find"}, []string{"lost"}},
		{"GET", item + "?asOf=2026-01-12T09:21:00Z", "", 200, []string{`"rev":1`, `"System.State":"Active"`}, nil},
		{"GET", item + "?asOf=2020-01-01", "", 404, []string{"did not exist"}, nil},
		{"GET", item + "?asOf=yesterday", "", 400, nil, nil},
		{"PATCH", item, `[]`, 415, []string{patch}, nil},
		{"PATCH " + patch, item, `[]`, 400, nil, nil},
		{"PATCH " + patch, item, `{"op":"add"}`, 400, nil, nil},
		{"PATCH " + patch, item, `[{"op":"move","from":"/fields/System.Title","path":"/fields/System.Tags"}]`, 400, []string{"add, replace, remove and test"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/System.Tags"}]`, 400, []string{"lacks its value"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/Nm","value":1}]`, 400, []string{"TF51535"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/System.Id","value":1}]`, 400, []string{"cannot be written"}, nil},
		{"PATCH " + patch, item, `[{"op":"remove","path":"/fields/System.Title"}]`, 400, []string{"required"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/System.Title","value":null}]`, 400, []string{"required"}, nil},
		{"PATCH " + patch, item, `[{"op":"remove","path":"/fields/System.State"}]`, 400, []string{"required"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/Microsoft.VSTS.Common.Priority","value":"2"}]`, 200, []string{`"Microsoft.VSTS.Common.Priority":2`}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/Microsoft.VSTS.Common.Priority","value":9}]`, 400, []string{"1, 2, 3 or 4"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/Microsoft.VSTS.Common.Priority","value":"high"}]`, 400, []string{"TF401326"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/Microsoft.VSTS.Scheduling.StoryPoints","value":0.1}]`, 200, []string{`StoryPoints":0.1`}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/System.AssignedTo","value":"reviewer@contoso.example"}]`, 200, []string{"Contoso Reviewer"}, nil},
		{"PATCH " + patch, item, `[{"op":"test","path":"/fields/System.AssignedTo","value":"Contoso Reviewer"},{"op":"add","path":"/fields/System.AssignedTo","value":""}]`, 200, nil, []string{"AssignedTo"}},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/System.AssignedTo","value":"stranger"}]`, 400, []string{"stranger"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/fields/System.AreaPath","value":"Fabrikam\\x"}]`, 400, []string{"TF401347"}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/relations/-","value":{"rel":"System.LinkTypes.Hierarchy-Reverse","url":"https://dev.azure.com/contoso/_apis/wit/workItems/11"}}]`, 200, []string{`"System.Parent":11`}, nil},
		{"PATCH " + patch, item, `[{"op":"add","path":"/relations/-","value":{"rel":"x","url":"https://dev.azure.com/contoso/_apis/wit/workItems/999"}}]`, 404, nil, nil},
		{"PATCH " + patch, item, `[{"op":"remove","path":"/relations/5"}]`, 400, nil, nil},
		{"PATCH " + patch, item, `[{"op":"remove","path":"/relations/1"}]`, 200, nil, []string{"System.Parent"}},
		{"PATCH " + patch, "/_apis/wit/workitems/999", `[{"op":"add","path":"/fields/System.Title","value":"x"}]`, 404, []string{"TF401232"}, nil},

		{"POST " + patch, "/Contoso/_apis/wit/workitems/$User%20Story", `[{"op":"add","path":"/fields/System.Title","value":"New"}]`, 200, []string{`"id":23`, `"rev":1`, `"System.State":"New"`, `"System.WorkItemType":"User Story"`}, nil},
		{"POST " + patch, "/Contoso/_apis/wit/workitems/$Bug", `[{"op":"add","path":"/fields/System.Tags","value":"x"}]`, 400, []string{"System.Title"}, nil},
		{"POST " + patch, "/Contoso/_apis/wit/workitems/$Wish", `[]`, 404, []string{"VS402323", "User Story"}, nil},
		{"POST " + patch, "/Contoso/_apis/wit/workitems/Bug", `[]`, 400, []string{"$Type"}, nil},
		{"POST " + patch, "/_apis/wit/workitems/$Bug", `[]`, 400, []string{"project"}, nil},
	})
}

func TestWIQL(t *testing.T) {
	org := sample.New(sample.Options{})
	ids := func(body string) string {
		var r struct{ WorkItems []struct{ ID json.Number } }
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			return body
		}
		var out []string
		for _, w := range r.WorkItems {
			out = append(out, w.ID.String())
		}
		return strings.Join(out, " ")
	}
	query := func(path, wiql string) (int, string) {
		b, _ := json.Marshal(map[string]string{"query": wiql})
		return send(t, org, "POST", "/contoso"+path, string(b))
	}
	for _, c := range []struct{ wiql, want string }{
		{"SELECT [System.Id] FROM WorkItems", "11 12 13 14 15 16 17 18 19"},
		{"select System.Id, [Title] from workitems where [System.TeamProject] = @project", "11 12 13 14 15 16 19"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.WorkItemType] = 'bug' AND [System.State] <> 'Closed'", "14 15 18"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.WorkItemType] = 'Bug' ORDER BY [Microsoft.VSTS.Common.Priority] DESC, [System.Id] DESC", "18 15 16 14"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.WorkItemType] IN ('Task', \"Epic\")", "12 13"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.Title] CONTAINS 'SIGN-IN'", "13 15"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.AssignedTo] = @me", "11 12 14"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.AssignedTo] = 'Contoso Reviewer'", "16"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.Parent] = 11", "12 13"},
		{"SELECT [System.Id] FROM WorkItems WHERE [Custom.TicketNumber] = 9007199254740993", "14"},
		{"SELECT [System.Id] FROM WorkItems WHERE [Custom.TicketNumber] = 9007199254740992", ""},
		{"SELECT [System.Id] FROM WorkItems WHERE [Microsoft.VSTS.Common.Priority] <= 1 AND [System.Id] > 13", "14 16"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.CreatedDate] >= @today", "11 12 13 14 15 16 17 18 19"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.CreatedDate] < '2026-01-12'", ""},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.AssignedTo] = '' AND [System.Title] = 'It''s'", ""},
	} {
		status, body := query("/Contoso/Contoso%20Team/_apis/wit/wiql?api-version=7.1", c.wiql)
		if got := ids(body); status != 200 || got != c.want {
			t.Errorf("%s\n gives %d %q, want %q", c.wiql, status, got, c.want)
		}
	}
	if _, body := query("/_apis/wit/wiql?$top=2&api-version=7.1", "SELECT [System.Id] FROM WorkItems"); ids(body) != "11 12" {
		t.Errorf("$top is not kept: %s", body)
	}
	for _, c := range []struct{ wiql, want string }{
		{"", "SELECT"},
		{"DELETE FROM WorkItems", "SELECT"},
		{"SELECT * FROM WorkItems", "cannot be read"},
		{"SELECT [System.Id]", "TF51006"},
		{"SELECT [System.Id] FROM WorkItemLinks", "WorkItems alone"},
		{"SELECT [System.Idd] FROM WorkItems", "TF51005"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.State] = 'New' OR [System.State] = 'Active'", "AND alone"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.State] UNDER 'x'", "TF51004"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.State] = Active", "a value is expected"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.Id] = 'many'", "cannot be compared"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.State] = @currentIteration", "@currentIteration"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.ChangedDate] > '2026-01-12T10:00:00Z'", "timePrecision"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.State] =", "the end"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.State] IN 'x'", "("},
		{"SELECT [System.Id] FROM WorkItems ORDER [System.Id]", "BY"},
		{"SELECT [System.Id] FROM WorkItems WHERE [System.State] = 'open", "cannot be read"},
	} {
		status, body := query("/Contoso/_apis/wit/wiql?api-version=7.1", c.wiql)
		if status != 400 || !strings.Contains(body, c.want) || !strings.Contains(body, `"eventId":3000`) {
			t.Errorf("%s\n gives %d, want 400 with %q: %s", c.wiql, status, c.want, body)
		}
	}
	if status, body := query("/_apis/wit/wiql?api-version=7.1", "SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project"); status != 400 || !strings.Contains(body, "@project") {
		t.Errorf("@project without a project: %d %s", status, body)
	}
	if status, body := query("/_apis/wit/wiql?timePrecision=true&api-version=7.1", "SELECT [System.Id] FROM WorkItems WHERE [System.ChangedDate] > '2026-01-12T09:00:00Z'"); status != 200 || ids(body) == "" {
		t.Errorf("timePrecision: %d %s", status, body)
	}
}

func TestProjectsPage(t *testing.T) {
	org := sample.New(sample.Options{})
	r := httptest.NewRequest("GET", "/contoso/_apis/projects?$top=1&api-version=7.1", nil)
	w := httptest.NewRecorder()
	org.ServeHTTP(w, r)
	token := w.Header().Get("X-MS-ContinuationToken")
	if token == "" {
		t.Fatal("the first page has no continuation token")
	}
	status, body := send(t, org, "GET", "/contoso/_apis/projects?$top=1&continuationToken="+token+"&api-version=7.1", "")
	if status != 200 || !strings.Contains(body, "Fabrikam") || strings.Contains(body, `"name":"Contoso"`) {
		t.Errorf("the second page: %d %s", status, body)
	}
}

// Equal requests give equal answers, to the byte, and the log is the golden of
// scenarios.
func TestUnstableAnswers(t *testing.T) {
	day := func(o sample.Options) string {
		org := sample.New(o)
		var all strings.Builder
		for _, s := range []struct{ method, path, body string }{
			{"GET", pulls, ""},
			{"POST", pulls, `{"sourceRefName":"refs/heads/feature/auth","targetRefName":"refs/heads/main","title":"T"}`},
			{"GET", "/_apis/wit/workitems?ids=11,12,13,14,15,16,17,18&$expand=all", ""},
			{"GET", "/Contoso/_apis/git/repositories/web/refs?filter=heads/", ""},
			{"GET", "/_apis/nothing", ""},
		} {
			sep := "?"
			if strings.Contains(s.path, "?") {
				sep = "&"
			}
			_, body := send(t, org, s.method, "/contoso"+s.path+sep+"api-version=7.1", s.body)
			all.WriteString(body + "\n")
		}
		for _, e := range org.Log() {
			all.WriteString(e.String())
		}
		return all.String()
	}
	first, second := day(sample.Options{}), day(sample.Options{})
	if first != second {
		t.Error("two organizations answer differently")
	}
	clock := func() time.Time { return time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC) }
	if got := day(sample.Options{Now: clock}); !strings.Contains(got, "2031-02-03T04:05:06Z") || strings.Contains(got, "2026-01-12T09:0") && strings.Contains(got, `"creationDate":"2026`) {
		t.Error("Options.Now is not the clock")
	}
}

func TestLog(t *testing.T) {
	org := sample.New(sample.Options{})
	send(t, org, "POST", "/contoso/Contoso/_apis/git/repositories/w%20b/pullrequests?api-version=7.1&q=a%20b", "{\n}", "Accept", "application/json")
	log := org.Log()
	if len(log) != 1 {
		t.Fatalf("%d entries, want 1", len(log))
	}
	e := log[0]
	if e.Path != "/contoso/Contoso/_apis/git/repositories/w b/pullrequests" || e.Query.Get("q") != "a b" || e.Status != 404 {
		t.Errorf("unexpected entry: %+v", e)
	}
	want := "POST /contoso/Contoso/_apis/git/repositories/w%20b/pullrequests?api-version=7.1&q=a%20b -> 404\n" +
		"  Accept: application/json\n  Content-Type: application/json\n  {\n  }\n"
	if got := e.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestTooLarge(t *testing.T) {
	status, body := send(t, sample.New(sample.Options{}), "POST", "/contoso"+pulls+"?api-version=7.1", strings.Repeat("x", 4<<20+1))
	if status != 413 {
		t.Errorf("status %d: %.200s", status, body)
	}
}

func TestStart(t *testing.T) {
	org := sample.New(sample.Options{})
	base, stop, err := org.Start()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			resp, err := http.Get(base + "/_apis/projects?api-version=7.1")
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Errorf("status %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	if n := len(org.Log()); n != 20 {
		t.Errorf("%d entries in the log, want 20", n)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if _, err := http.Get(base); err == nil {
		t.Error("the server still answers after stop")
	}
}

// A push changes all that it names, or nothing, where the branch is still there.
func TestPushes(t *testing.T) {
	org := sample.New(sample.Options{})
	main := look(t, org, repo+"/refs?filter=heads/main", "value", 0, "objectId")
	push := func(name, at, changes string) string {
		return `{"refUpdates":[{"name":"` + name + `","oldObjectId":"` + at + `"}],"commits":[{"comment":"C","changes":[` + changes + `]}]}`
	}
	write := func(kind, path, content string) string {
		return `{"changeType":"` + kind + `","item":{"path":"` + path + `"},"newContent":{"content":"` + content + `","contentType":"rawtext"}}`
	}
	const topic = "refs/heads/topic"
	run(t, org, []step{
		{"POST", repo + "/pushes", push(topic, main, write("edit", "/README.md", `One\nTwo\n`)+","+write("add", "/a/b.md", `B\n`)), 201, []string{`"pushId":1`, `"oldObjectId":"0000`}, nil},
		{"GET", repo + "/items?path=/README.md&includeContent=true&versionDescriptor.version=topic", "", 200, []string{`"content":"One\nTwo\n"`}, nil},
		{"GET", repo + "/items?path=/a&versionDescriptor.version=topic", "", 200, []string{`"isFolder":true`}, nil},
		{"GET", repo + "/items?path=/a/b.md", "", 404, nil, nil},
		{"POST", repo + "/pushes", push(topic, main, write("edit", "/README.md", "x")), 409, []string{"GitReferenceStaleException", "TF401028"}, nil},
		{"POST", repo + "/pushes", push("refs/heads/x", strings.Repeat("a", 40), write("edit", "/README.md", "x")), 404, nil, nil},
		{"POST", repo + "/pushes", push("refs/heads/main", main, write("edit", "/README.md", "x")), 403, []string{"GitRefUpdateRejectedByPolicyException", "TF402455"}, nil},
		{"POST", repo + "/refs", `[{"name":"refs/heads/main","oldObjectId":"` + main + `","newObjectId":"0000000000000000000000000000000000000000"}]`, 200, []string{`"updateStatus":"rejectedByPolicy"`}, nil},
		{"POST", repo + "/pushes", push("x", main, write("edit", "/README.md", "x")), 400, nil, nil},
		{"POST", repo + "/pushes", push("refs/heads/x", main, write("add", "/README.md", "x")), 400, []string{"is there"}, nil},
		{"POST", repo + "/pushes", push("refs/heads/x", main, write("edit", "/none", "x")), 400, []string{"is not there"}, nil},
		{"POST", repo + "/pushes", push("refs/heads/x", main, `{"changeType":"delete","item":{"path":"README.md"}}`), 400, []string{"begins with /"}, nil},
		{"POST", repo + "/pushes", push("refs/heads/x", main, ""), 400, nil, nil},
		{"GET", repo + "/refs?filter=heads/x", "", 200, []string{`"count":0`}, nil},
	})
	tip := look(t, org, repo+"/refs?filter=heads/topic", "value", 0, "objectId")
	run(t, org, []step{
		{"POST", repo + "/pushes", push(topic, tip, `{"changeType":"delete","item":{"path":"/README.md"}},{"changeType":"rename","sourceServerItem":"/a/b.md","item":{"path":"/c.md"}}`), 201, []string{tip}, nil},
		{"GET", repo + "/items?scopePath=/&recursionLevel=full&versionDescriptor.version=topic", "", 200, []string{`"/c.md"`}, []string{"README", "/a"}},
		{"GET", repo + "/items?path=/c.md&includeContent=true&versionDescriptor.version=topic", "", 200, []string{`"content":"B\n"`}, nil},
		{"POST", pulls, `{"sourceRefName":"refs/heads/topic","targetRefName":"refs/heads/main","title":"T"}`, 201, nil, nil},
		{"GET", pulls + "/103/iterations/1/changes", "", 200, []string{`"path":"/README.md"},"changeType":"delete"`, `"path":"/c.md"},"changeType":"add"`}, nil},
	})
}

func TestPolicies(t *testing.T) {
	org := sample.New(sample.Options{})
	project := look(t, org, "/_apis/projects/Contoso", "id")
	reviewer := look(t, org, pulls+"/101/reviewers", "value", 0, "id")
	evaluations := "/Contoso/_apis/policy/evaluations?artifactId=vstfs:///CodeReview/CodeReviewId/" + project
	run(t, org, []step{
		{"GET", evaluations + "/101", "", 200, []string{`"count":3`, `"isBlocking":true`, `"buildId":302`, `"status":"rejected"`}, []string{"queued"}},
		{"GET", pulls + "/101/statuses", "", 200, []string{`"genre":"contoso"`}, nil},
		{"PUT", pulls + "/101/reviewers/" + reviewer, `{"vote":0}`, 200, nil, nil},
		{"GET", evaluations + "/101", "", 200, []string{`"status":"queued"`}, nil},
		{"GET", evaluations + "/102", "", 200, []string{`{"count":0,"value":[]}`}, nil},
		{"GET", evaluations + "/999", "", 404, []string{"TF401180"}, nil},
		{"GET", "/Contoso/_apis/policy/evaluations?artifactId=101", "", 400, []string{"artifactId"}, nil},
		{"GET", "/_apis/policy/evaluations", "", 400, []string{"project"}, nil},
	})
}
