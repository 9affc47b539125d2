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
	// keep names members of the answer to remember; of a list, of its first.
	keep []string
}

// object is the arguments of a call.
type object = map[string]any

func given(o object) func(memory) any { return func(memory) any { return o } }

// script is the session: a branch is put up for review and a bug is moved on.
var script = []step{
	{
		why: "Which areas are there?", tool: "list_domains", discovery: true,
		args: given(object{}), want: []string{"repositories", "work-items", "core"},
	},
	{
		why: "What can create things in repositories?", tool: "list_domain_tools", discovery: true,
		args: given(object{"domain": "repositories", "action": "create"}),
		want: []string{"create_pull_request", "create_pull_request_comment", `"project":"Contoso"`},
	},
	{
		why: "An agent that guesses is refused before anything is sent, and gets the schema.", tool: "create_pull_request",
		args: given(object{"repositoryId": "web", "sourceRefName": "feature/auth", "title": "Sign in with a passkey"}),
		want: []string{"targetRefName", "sourceRefName", "inputSchema"}, fails: true,
	},
	{
		why: "Corrected:", tool: "create_pull_request",
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
		why: "Two schemas in one call:", tool: "get_tool_schema", discovery: true,
		args: given(object{"tool_names": []string{"list_pull_requests", "create_pull_request_comment"}}),
		want: []string{"targetRefName", "rightFileStartLine"},
	},
	{
		tool: "list_pull_requests",
		args: given(object{"repositoryId": "web", "targetRefName": "refs/heads/main"}),
		want: []string{"Sign in with a passkey", "Find words with accents"}, requests: 1,
	},
	{
		tool: "create_pull_request_comment",
		args: func(m memory) any {
			return object{"repositoryId": "web", "pullRequestId": m["pullRequestId"], "content": "Ready for review."}
		},
		want: []string{"threadId", "Ready for review."}, requests: 1,
	},
	{
		why: "The other area:", tool: "list_domain_tools", discovery: true,
		args: given(object{"domain": "work-items"}),
		want: []string{"run_work_item_query", "update_work_item"},
	},
	{
		tool: "get_tool_schema", discovery: true,
		args: given(object{"tool_names": []string{"run_work_item_query", "get_work_items", "update_work_item"}}),
		want: []string{"wiql", "updates"},
	},
	{
		tool: "run_work_item_query",
		args: given(object{"wiql": "SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project AND [System.WorkItemType] = 'Bug'" +
			" AND [System.State] <> 'Closed' ORDER BY [Microsoft.VSTS.Common.Priority]"}),
		want: []string{"14", "15"}, requests: 1, keep: []string{"ids"},
	},
	{
		tool: "get_work_items",
		args: func(m memory) any {
			return object{"ids": m["ids"], "fields": []string{"System.Title", "System.State", "Custom.TicketNumber"}}
		},
		// 2^53 + 1: a program that reads numbers as floats loses the last digit.
		want: []string{"9007199254740993", "日本"}, requests: 1, keep: []string{"id", "rev"},
	},
	{
		why: "A change that holds only for the revision that was read:", tool: "update_work_item",
		args: func(m memory) any {
			return object{"id": m["id"], "updates": []object{
				{"op": "test", "path": "/rev", "value": m["rev"]},
				{"op": "replace", "path": "/fields/System.State", "value": "Resolved"},
			}}
		},
		want: []string{"Resolved", `"rev":2`}, requests: 1,
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
	var l []map[string]json.RawMessage
	if json.Unmarshal([]byte(answer), &l) == nil && len(l) > 0 {
		o = l[0]
	} else if err := json.Unmarshal([]byte(answer), &o); err != nil {
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
