package nearest

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	names := []string{"list_pull_requests", "create_pull_request", "get_pull_request", "list_repositories", "create_branch", "run", "projectId"}
	for name, want := range map[string][]string{
		"list_pull_request":   {"list_pull_requests", "get_pull_request", "create_pull_request"},
		"listPullRequests":    {"list_pull_requests"},
		"pull_request_create": {"create_pull_request", "get_pull_request"},
		"repositories":        {"list_repositories"},
		"ProjectID":           {"projectId"},
		"rnu":                 {"run"},
		"delete_everything":   nil,
		"":                    nil,
	} {
		got := Names(name, names)
		if len(want) == 0 && len(got) > 0 || len(want) > 0 && (len(got) == 0 || got[0] != want[0]) {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
		if len(got) > maxNames {
			t.Errorf("%q: %d names", name, len(got))
		}
		if again := Names(name, names); !slices.Equal(got, again) {
			t.Errorf("%q: %q, then %q", name, got, again)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	for want, names := range map[string][]string{
		"":                          nil,
		"; did you mean a?":         {"a"},
		"; did you mean a or b?":    {"a", "b"},
		"; did you mean a, b or c?": {"a", "b", "c"},
	} {
		if got := Question(names); got != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
}
