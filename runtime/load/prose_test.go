package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Prose names much that is no tool, and nothing is told of it; what is near to a tool
// and is said to be nothing else is told.
func TestStaleWords(t *testing.T) {
	for _, tt := range []struct {
		tools string
		prose string // the description of a domain
		decl  string // further declarations of the package
		want  string
	}{
		{tools: "get_issue create_issue create_comment get_comment", prose: "Needs GET_ISSUE, GET_COMMENT_ID and `GET_ISSUES`"},
		{tools: "get_issue create_issue create_comment get_comment", prose: "Gives get_comment_url; the webhook event is `create_issue_comment`"},
		{tools: "get_issue create_issue create_comment get_comment", prose: "See `create_issue_comment`", want: "create_issue_comment"},
		{tools: "get_issue create_issue create_comment get_comment", prose: "See create_issues; scope `create_comments`, or the `get_issues` permission", want: "create_issues"},
		{tools: "list_orders list_customers", prose: "Lists orders, and list_orders_total"},
		{tools: "list_orders list_customers", prose: "As `list_orders_total` does", want: "list_orders_total"},
		{tools: "list_orders get_customer get_user", prose: "After get_orders; see get_customer_orders", want: "get_orders"},
		{tools: "list_customer_orders get_customer get_user", prose: "See get_customer_orders", want: "get_customer_orders"},
		{tools: "send_message send_file", prose: "The event message_send or send_messages follows; needs the OAuth scope send_messages_all, and `send_at`"},
		{tools: "send_message send_file", prose: "Gives send_message_id and send_messages_all"},
		{tools: "send_message send_file", prose: "The fields are: `send_files`, `send_messages`."},
		{tools: "list-items list-users", prose: "The header `list-item-count`, and `list-style-type`; a read-only list-item"},
		{tools: "list-items list-users", prose: "As `list-item` does, and `list_user`", want: "list-item"},
		{tools: "get_user get_page", prose: "Run get_user.sh, `get_users.md`, `get-users`, `git config user.name`, user_id"},
		{tools: "get_user get_page", prose: "[the page](get_wiki_page.md) and [another](get_pages)"},
		{tools: "get_user get_page", prose: "https://docs.example.com/api/get_pages and get_page/list"},
		{tools: "get_page update_thing", prose: "Steps:\n```yaml\n- script: create_page\n- get_pages\n```\nThen ~~~ get_users"},
		{tools: "get_page get_thing", prose: "~~~\nget_pages\n```\nget_things\n~~~\nthen get_pages", want: "get_pages"},
		{tools: "run_pipeline start_job stop_job", prose: "Then `start_pipeline`", want: "start_pipeline"},
		{tools: "run_pipeline start_job", prose: "Has start_pipeline and `start_time`"},
		{tools: "review_plan list_comments list_reviews", prose: "Their number is `review_comments`"},
		{tools: "get_order get_user", prose: "D", decl: "// The path of get_orders, kept for 2019.\n_path: \"/a\""},
		{tools: "get_order get_user", prose: "D", decl: "_jq: {\n\t// Ported from get_orders of the old server.\n\tx: \".\"\n}"},
		{tools: "get_order get_user", prose: "D", decl: "_mixin: #Of\n#Of: {\n\t// As get_orders has it\n\ta?: string\n}\n#T: input: {_mixin}", want: "get_orders"},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "package x\nserver: name: \"x\"\nupstreams: api: url: \"https://api.example.com\"\n%s\ndomains: d: description: %q\n", tt.decl, tt.prose)
		for name := range strings.FieldsSeq(tt.tools) {
			action := "update"
			if slices.Contains([]string{"get", "list"}, wordsOf(name)[0]) {
				action = "read"
			}
			fmt.Fprintf(&b, "domains: d: tools: %q: {description: \"D\", action: %q, http: {method: \"GET\", path: \"/a\"}}\n", name, action)
		}
		cfg, findings := FS(fstest.MapFS{"a.cue": {Data: []byte(b.String())}}, "c", Options{})
		if len(findings) > 0 {
			t.Fatalf("%s\n%s", b.String(), text(t, findings))
		}
		got := ""
		for _, f := range cfg.Stale() {
			word, _, _ := strings.Cut(strings.TrimPrefix(f.Message, "there is no tool "), ";")
			got += " " + word
		}
		if got = strings.TrimSpace(got); got != tt.want {
			t.Errorf("%s: %s%s\n got %s\nwant %s", tt.tools, tt.prose, tt.decl, got, tt.want)
		}
	}
}
