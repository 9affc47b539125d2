package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

// memory is what the agent has read so far: members of answers by their names.
type memory map[string]json.RawMessage

// step is one thing that the agent does.
type step struct {
	why  string
	tool string
	args func(memory) any
	// discovery marks a call of a meta-tool, which the flat mode has no need of.
	discovery bool
	// fails says that the answer must be an error.
	fails bool
	// requests is how many HTTP requests must come of it.
	requests int
	// want are parts that the answer must have.
	want []string
	// keep names members of the answer to remember; of a list or of a page, of its
	// first.
	keep []string
}

// object is the arguments of a call.
type object = map[string]any

func given(o object) func(memory) any { return func(memory) any { return o } }

// script is the session: why a build failed, the bug behind it, a change that goes
// up for review and is built, and a note of it. Each step is main work of another
// domain.
var script = []step{
	{
		why: "Which areas are there?", tool: "list_domains", discovery: true,
		args: given(object{}), want: []string{"pipelines", "repositories", "work-items", "wiki"},
	},
	{
		why: "What can be read of builds?", tool: "list_domain_tools", discovery: true,
		args: given(object{"domain": "pipelines", "action": "read"}),
		want: []string{"list_builds", "explain_build_failure", `"project":"Contoso"`},
	},
	{
		why: "Two schemas in one call:", tool: "get_tool_schema", discovery: true,
		args: given(object{"tool_names": []string{"list_builds", "explain_build_failure"}}),
		want: []string{"resultFilter", "logLines"},
	},
	{
		why: "Pipelines by name, results by name:", tool: "list_builds",
		args: given(object{"pipeline": "web-ci", "branch": "feature/search", "resultFilter": "failed", "top": 1}),
		want: []string{"web-ci", "failed", "https://"}, requests: 2, keep: []string{"id"},
	},
	{
		why: "Why did it fail? One call reads the timeline and the end of the log of each failed step.", tool: "explain_build_failure",
		args: func(m memory) any { return object{"buildId": m["id"]} },
		want: []string{"npm test", "exit code 1", "café"}, requests: 4,
	},

	{
		why: "Is that a known bug?", tool: "search_workitem",
		args: given(object{"searchText": "accents", "workItemType": []string{"Bug"}}),
		want: []string{"日本"}, requests: 1, keep: []string{"id"},
	},
	{
		tool: "get_work_items",
		args: func(m memory) any {
			return object{"ids": []json.RawMessage{m["id"]}, "fields": []string{"System.Title", "System.State", "Custom.TicketNumber"}}
		},
		// 2^53 + 1: a program that reads numbers as floats loses the last digit.
		want: []string{"9007199254740993", "Active"}, requests: 1,
	},
	{
		why: "An agent that guesses is refused before anything is sent, and gets the schema.", tool: "change_work_item",
		args: func(m memory) any { return object{"id": m["id"], "status": "Resolved"} },
		want: []string{"status", "inputSchema"}, fails: true,
	},
	{
		why: "Corrected: a state and a comment at once.", tool: "change_work_item",
		args: func(m memory) any {
			return object{"id": m["id"], "state": "Resolved", "comment": "Both sides lose their accents now."}
		},
		want: []string{"Resolved", `"rev":2`, "https://"}, requests: 1,
	},

	{
		why: "Another area: a branch waits for a pull request.", tool: "list_domain_tools", discovery: true,
		args: given(object{"domain": "repositories", "action": "create"}),
		want: []string{"create_pull_request", "create_pull_request_comment"},
	},
	{
		why: "It is linked to its work items as it is made.", tool: "create_pull_request",
		args: given(object{"repositoryId": "web", "sourceRefName": "refs/heads/feature/auth", "targetRefName": "refs/heads/main",
			"title": "Sign in with a passkey", "workItems": "11 12"}),
		want: []string{"Sign in with a passkey", "active", "https://"}, requests: 1,
		keep: []string{"pullRequestId"},
	},
	{
		why: "A failure of the API comes back as one, with its reason.", tool: "create_pull_request",
		args: given(object{"repositoryId": "web", "sourceRefName": "refs/heads/feature/auth", "targetRefName": "refs/heads/main",
			"title": "Once more"}),
		want: []string{"409", "TF401179"}, fails: true, requests: 1,
	},
	{
		tool: "create_pull_request_comment",
		args: func(m memory) any {
			return object{"repositoryId": "web", "pullRequestId": m["pullRequestId"], "content": "Ready for review."}
		},
		want: []string{"threadId", "Ready for review."}, requests: 1,
	},
	{
		why: "A branch is a plain argument:", tool: "run_pipeline",
		args: given(object{"pipeline": "web-ci", "branch": "feature/auth"}),
		want: []string{"inProgress", "https://"}, requests: 2,
	},
	{
		why: "The page is read, and written only if nobody has changed it since.", tool: "append_to_wiki_page",
		args: given(object{"wikiIdentifier": "Contoso.wiki", "path": "/Search", "content": "Queries lose their accents too."}),
		want: []string{"/Search", "etag"}, requests: 2,
	},
}

// check says what is wrong with the answer to a step.
func (s step) check(answer string, isError bool, requests int) error {
	switch {
	case isError && !s.fails:
		return fmt.Errorf("the call failed: %s", answer)
	case !isError && s.fails:
		return fmt.Errorf("the call should have been refused: %s", answer)
	case requests != s.requests:
		return fmt.Errorf("%d HTTP requests were made, not %d", requests, s.requests)
	}
	for _, w := range s.want {
		if !strings.Contains(answer, w) {
			return fmt.Errorf("the answer lacks %s: %s", w, answer)
		}
	}
	return nil
}

// remember keeps what later steps need of an answer.
func (s step) remember(m memory, answer string) error {
	if len(s.keep) == 0 {
		return nil
	}
	var o map[string]json.RawMessage
	if err := json.Unmarshal(first(json.RawMessage(answer)), &o); err != nil {
		return fmt.Errorf("the answer is no JSON object: %s", answer)
	}
	for _, k := range s.keep {
		if o[k] == nil {
			return fmt.Errorf("the answer has no %s: %s", k, answer)
		}
		m[k] = o[k]
	}
	return nil
}

// first gives the first item of a list or of a page, and anything else as it is.
func first(answer json.RawMessage) json.RawMessage {
	var page struct{ Items []json.RawMessage }
	var list []json.RawMessage
	if json.Unmarshal(answer, &page) == nil && len(page.Items) > 0 {
		return page.Items[0]
	}
	if json.Unmarshal(answer, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return answer
}
