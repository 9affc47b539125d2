package search

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metacue/metacue/runtime/catalog"
)

// files is a small catalog in which every field has a word of its own.
func files() *catalog.Catalog {
	object := json.RawMessage(`{"type":"object"}`)
	return catalog.New(catalog.Catalog{Domains: []*catalog.Domain{
		{Name: "files", Summary: "Documents on a drive", Tools: []*catalog.Tool{
			{Name: "copy_file", Title: "Duplicate", Description: "Copies a file into another folder", Domain: "files", Action: "create", Effect: catalog.Write,
				InputSchema: json.RawMessage(`{"type":"object","properties":{"targetFolder":{"type":"string","description":"Where the new one goes"},
					"options":{"type":"object","properties":{"conflictBehaviour":{"enum":["rename","overwrite"]}}}}}`),
				Examples: []catalog.Example{{Description: "Back up the yearly report"}}},
			{Name: "delete_file", Description: "Deletes a file", Domain: "files", Action: "delete", Effect: catalog.Destructive, Aliases: []string{"erase_item"}, InputSchema: object},
			{Name: "list_files", Description: "Lists the files of a folder", Domain: "files", Action: "read", Effect: catalog.Read, InputSchema: object},
		}},
		{Name: "shares", Summary: "Who may see what", Tools: []*catalog.Tool{
			{Name: "list_shares", Description: "Lists with whom a file is shared", Domain: "shares", Action: "read", Effect: catalog.Read, InputSchema: object},
		}},
	}})
}

func names(hits []Hit) []string {
	var names []string
	for _, h := range hits {
		names = append(names, h.Tool.Name)
	}
	return names
}

func TestFind(t *testing.T) {
	for _, tc := range []struct {
		what, query string
		options     Options
		want        []string // the first ones
	}{
		{"name", "list_shares", Options{}, []string{"list_shares"}},
		{"title", "duplicates", Options{}, []string{"copy_file"}},
		{"argument name", "target", Options{}, []string{"copy_file"}},
		{"argument description", "new", Options{}, []string{"copy_file"}},
		{"nested argument", "conflicts", Options{}, []string{"copy_file"}},
		{"enum", "overwriting", Options{}, []string{"copy_file"}},
		{"example", "yearly", Options{}, []string{"copy_file"}},
		{"alias", "erase", Options{}, []string{"delete_file"}},
		{"domain", "drive", Options{}, []string{"copy_file", "delete_file", "list_files"}},
		{"ties by name", "documents", Options{}, []string{"copy_file", "delete_file", "list_files"}},
		{"filter by domain", "list", Options{Domain: "shares"}, []string{"list_shares"}},
		{"filter by action", "file", Options{Action: "delete"}, []string{"delete_file"}},
		{"limit", "file", Options{Limit: 1}, []string{"delete_file"}},
		{"name in full", "delete file", Options{}, []string{"delete_file"}},
		{"name in full among others", "what does list_shares do with a file", Options{}, []string{"list_shares"}},
		{"alias in full", "erase_item", Options{}, []string{"delete_file"}},
		{"word of two humps", "targetfolder", Options{}, []string{"copy_file"}},
		{"form", "report", Options{}, []string{"copy_file"}},
		{"slip of the pen", "duplcate", Options{}, []string{"copy_file"}},
		{"two slips", "desciptoin overwirte", Options{}, []string{"copy_file"}},
		{"words written as one", "copyfile", Options{}, []string{"copy_file"}},
		{"synonym", "clone", Options{}, []string{"copy_file"}},
		{"only words that say nothing", "with whom", Options{}, []string{"list_shares"}},
		{"contraction", "don't list shares", Options{}, []string{"list_shares"}},
		{"a word without end", strings.Repeat("list", 1<<18) + " shares", Options{}, []string{"list_shares"}},
		{"words without end", "shares " + strings.Repeat("a1 b2 c3 ", 1<<16), Options{}, []string{"list_shares"}},
		{"nothing", "zebra", Options{}, nil},
		{"no words", " ?! ", Options{}, nil},
	} {
		t.Run(tc.what, func(t *testing.T) {
			got := names(New(files()).Find(tc.query, tc.options))
			if len(got) < len(tc.want) || !slices.Equal(got[:len(tc.want)], tc.want) || len(tc.want) == 0 && len(got) > 0 {
				t.Errorf("%.40q found %q, want %q first", tc.query, got, tc.want)
			}
			if l := tc.options.Limit; l > 0 && len(got) > l {
				t.Errorf("%q found %q, more than %d", tc.query, got, l)
			}
		})
	}
}

// TestWhy demands that a score is the sum of its parts, and that a part says what
// was taken for what.
func TestWhy(t *testing.T) {
	x := New(files())
	for _, tc := range []struct {
		query string
		want  Match
	}{
		{"Duplicates", Match{Word: "duplicates", Fields: []string{"title"}}},
		{"duplcate", Match{Word: "duplcate", As: "duplicate", How: Typo, Fields: []string{"title"}}},
		{"confl", Match{Word: "confl", As: "conflict", How: Form, Fields: []string{"argument"}}},
		{"clone", Match{Word: "clone", As: "copy", How: Synonym, Fields: []string{"name", "summary"}}},
		{"folderfile", Match{Word: "folderfile", As: "folder", How: Part, Fields: []string{"summary", "argument"}}},
		{"copyfile of a folder", Match{Word: "copyfile", As: "copy", How: Joined, Fields: []string{"name", "summary"}}},
		{"into a folder: copying file", Match{Word: "copying file", As: "copy_file", How: Name, Fields: []string{"name"}}},
	} {
		hits := x.Find(tc.query, Options{})
		if len(hits) == 0 || hits[0].Tool.Name != "copy_file" {
			t.Errorf("%q found %q", tc.query, names(hits))
			continue
		}
		var sum float64
		for _, m := range hits[0].Why {
			sum += m.Score
		}
		if math.Abs(sum-hits[0].Score) > 1e-9 {
			t.Errorf("%q: the parts are %v together, the score %v", tc.query, sum, hits[0].Score)
		}
		found := slices.ContainsFunc(hits[0].Why, func(m Match) bool {
			return m.Word == tc.want.Word && m.As == tc.want.As && m.How == tc.want.How && slices.Equal(m.Fields, tc.want.Fields)
		})
		if !found {
			t.Errorf("%q: %+v, want %+v", tc.query, hits[0].Why, tc.want)
		}
	}
}

// TestRanks holds one case of each kind of fault that a ranking by words has, on a
// small catalog of its own: a tool is its name, after ! if it is destructive, and
// may have a description.
func TestRanks(t *testing.T) {
	work := []string{"create_work_item", "get_work_item", "get_work_item_type", "list_work_item_comments", "!unlink_work_item", "cancel_build", "get_build",
		"list_work_items: Lists things to do", "get_build_log: Shows a log of a build"}
	pulls := []string{"list_pull_request_comments: Lists the comments of a pull request",
		"list_pull_request_threads: Lists the threads of a pull request", "list_pull_requests: Lists what is to be merged", "vote_pull_request: Votes on a pull request",
		"pull_image: Pulls an image", "search_pullrequest: Looks in them"}
	shop := []string{"get_customer: One customer", "list_customers: Lists customers", "!purge_customer: Purges a customer", "list_companies: Lists companies", "complete_step: Completes a step", "get_content: Gets the content",
		"get_contact: Gets a contact", "!delete_contacts: Deletes contacts", "get_transaction: Gets a transaction", "list_comments", "commit_stock: Commits goods"}
	for _, tc := range []struct {
		what, query string
		tools       []string
		first       []string // in this order
		absent      string   // is not found
	}{
		{"a word of asking is an action", "get the work item", work, []string{"get_work_item"}, ""},
		{"a word of asking is a synonym of an action", "show me the build", work, []string{"get_build"}, ""},
		{"a word of asking for several", "find the work items", work, []string{"list_work_items"}, ""},
		{"a word of asking is in a name", "the type of a work item", work, []string{"get_work_item_type"}, ""},
		{"a synonym is no more than the word", "get the customer", shop, []string{"get_customer"}, ""},
		{"a synonym in the action of every tool", "get the customer", []string{"get_customer: Gets one customer", "get_contact: Gets a contact", "get_content: Gets the content",
			"get_contract: Gets a contract", "list_customers: Lists customers", "list_fields: Lists fields", "list_companies: Lists companies", "complete_step: Completes a step"},
			[]string{"get_customer"}, ""},
		{"a rare synonym", "change an order", []string{"change_order: Sets its state", "update_orders: Patches an order, or a patch of orders", "list_order_changes: Who changed an order",
			"list_changes: Changes of orders", "get_change: A change of an order"}, []string{"change_order"}, ""},
		{"the whole name", "list all pull requests", pulls, []string{"list_pull_requests"}, ""},
		{"the whole name, as it is written", "get all work items", append(work, "get_work_items: Gets several of them"), []string{"get_work_items", "get_work_item"}, ""},
		{"a like beginning is no form: company", "company", shop, []string{"list_companies"}, "complete_step"},
		{"a like beginning is no form: contact", "contact", shop, []string{"get_contact"}, "get_content"},
		{"a like beginning is no form: transfer", "transfer", shop, nil, "get_transaction"},
		{"a like beginning is no form: comments", "comments", shop, []string{"list_comments"}, "commit_stock"},
		{"a nearer slip of the pen", "reviwers", []string{"add_reviewers: Reviews are made by reviewers", "list_reviews", "list_revisions"},
			[]string{"add_reviewers"}, "list_revisions"},
		{"a farther slip of the pen where there is no nearer", "reviisons", []string{"add_reviewers", "list_revisions"}, []string{"list_revisions"}, ""},
		{"two words of a name as one", "list pullrequests", pulls, []string{"list_pull_requests"}, ""},
		{"two words of a name as one, known", "pullrequest", []string{"pull_image", "read_pull_request", "search_pullrequest"},
			[]string{"read_pull_request"}, ""},
		{"initials of several", "list the PRs", pulls, []string{"list_pull_requests"}, ""},
		{"a short plural, misspelt", "list tems", []string{"list_teams", "list_trees"}, []string{"list_teams", "list_trees"}, ""},
		{"each form of a word is compared", "tems", []string{"list_trees", "list_team_notes: Teams have them"}, []string{"list_team_notes"}, "list_trees"},
		{"a guess alone leads to no destructive tool", "contcats", shop, []string{"get_contact", "delete_contacts"}, ""},
	} {
		t.Run(tc.what, func(t *testing.T) {
			var tools []*catalog.Tool
			for _, text := range tc.tools {
				name, description, _ := strings.Cut(text, ": ")
				effect := catalog.Read
				if name, _ = strings.CutPrefix(name, "!"); name != text && text[0] == '!' {
					effect = catalog.Destructive
				}
				tools = append(tools, &catalog.Tool{Name: name, Description: description, Effect: effect, Action: "read"})
			}
			got := names(New(catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Tools: tools}}})).Find(tc.query, Options{}))
			if len(got) < len(tc.first) || !slices.Equal(got[:len(tc.first)], tc.first) || slices.Contains(got, tc.absent) {
				t.Errorf("%q found %q, want %q first, without %q", tc.query, got, tc.first, tc.absent)
			}
		})
	}
}

// TestInitials demands that what several names say in full is known by its first
// letters, and not taken for the name of something.
func TestInitials(t *testing.T) {
	x := New(catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Summary: "files, PRs", Tools: []*catalog.Tool{
		{Name: "close_pull_request"}, {Name: "list_pull_requests"}, {Name: "search_commits"}, {Name: "vote_pull_request"}, {Name: "wipe_disk"},
	}}}}))
	want := []string{"close_pull_request", "list_pull_requests", "vote_pull_request"}
	for _, query := range []string{"close PR", "close PRs"} { // the domain has PRs, and so every tool of it
		if got := names(x.Find(query, Options{})); len(got) < 3 || !slices.Equal(got[:3], want) {
			t.Errorf("%q found %q", query, got)
		}
	}
	if got := names(x.Find("PR", Options{})); !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	if got := names(x.Find("wd", Options{})); got != nil {
		t.Errorf("found %q by letters that one tool has", got)
	}
}

// TestOnce demands that a word counts once for a tool, however many words of it
// are near.
func TestOnce(t *testing.T) {
	x := New(catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Tools: []*catalog.Tool{
		{Name: "a", Description: "attach attachment attachments attaching attachable"},
		{Name: "b", Description: "b"},
	}}}}))
	if hits := x.Find("attach", Options{}); len(hits) != 1 || len(hits[0].Why) != 1 || hits[0].Why[0].How != Itself {
		t.Errorf("found %+v", hits)
	}
}

// TestLookup demands that a name which the catalog does not know calls for what
// looks things up.
func TestLookup(t *testing.T) {
	x := New(catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Tools: []*catalog.Tool{
		{Name: "get_cast", Description: "Cast of a movie"},
		{Name: "search_titles", Description: "Search by words of a title"},
	}}}}))
	if got := names(x.Find("who is in the cast of Casablanca", Options{})); !slices.Contains(got, "search_titles") {
		t.Errorf("found %q", got)
	}
	if got := names(x.Find("who is in the cast", Options{})); slices.Contains(got, "search_titles") {
		t.Errorf("found %q", got)
	}
}

// TestNearMissOfDestructive demands that no guess lifts a destructive tool above
// one that has a word of the query itself.
func TestNearMissOfDestructive(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	c := catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Tools: []*catalog.Tool{
		{Name: "purge_queue", Title: "Purge", Description: "Purges a queue and what is queued", Effect: catalog.Destructive, InputSchema: object},
		{Name: "read_page", Description: "Reads a page; long ones too, queue or not", Effect: catalog.Read, InputSchema: object},
		{Name: "merge_page", Description: "Merges pages", Effect: catalog.Write, InputSchema: object},
	}}}})
	x := New(c)
	for _, tc := range []struct {
		query string
		want  []string
	}{
		{"purge page", []string{"purge_queue"}}, // its own word
		{"purgr page", []string{"merge_page", "read_page", "purge_queue"}},
		{"purgr queue reads", []string{"read_page", "purge_queue"}},
		{"purgr", []string{"purge_queue"}}, // nothing else is meant
	} {
		got := names(x.Find(tc.query, Options{}))
		if len(got) < len(tc.want) || !slices.Equal(got[:len(tc.want)], tc.want) {
			t.Errorf("%q found %q, want %q first", tc.query, got, tc.want)
		}
	}
	wipe := []*catalog.Tool{{Name: "wipe_disk", Effect: catalog.Destructive}, {Name: "wipe_tape", Effect: catalog.Destructive}}
	hits := New(catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Tools: wipe}}})).Find("wipe dsik", Options{})
	if len(hits) != 2 || hits[0].Score != hits[1].Score {
		t.Errorf("a guess counts: %+v", hits)
	}
	// Whatever the query: what stands behind a destructive tool and has a word of
	// the query itself has no higher score of such words.
	for _, first := range []string{"purgr", "prge", "purge", "queu", "que", "merg", "pag", "rd"} {
		for _, second := range []string{"page", "queue", "merges", "long", ""} {
			hits := x.Find(first+" "+second, Options{})
			for i, h := range hits {
				for _, after := range hits[i+1:] {
					if h.Tool.Effect == catalog.Destructive && own(after) > own(h) {
						t.Errorf("%q %q: %s is above %s", first, second, h.Tool.Name, after.Tool.Name)
					}
				}
			}
		}
	}
}

// own is what the query's own words add to a score.
func own(h Hit) float64 {
	var sum float64
	for _, m := range h.Why {
		if !m.How.near() {
			sum += m.Score
		}
	}
	return sum
}

// TestBounds demands that nothing out of bounds is found, however it is asked for.
func TestBounds(t *testing.T) {
	x := New(files().Within(catalog.Bounds{ReadOnly: true, Domains: []string{"files"}}))
	for _, query := range []string{"copy_file", "delete_file", "erase_item", "list_shares", "duplicate overwrite yearly", "whom shares", "file"} {
		for _, h := range x.Find(query, Options{}) {
			if h.Tool.Name != "list_files" {
				t.Errorf("%q found %s", query, h.Tool.Name)
			}
			for _, m := range h.Why {
				if m.As == "duplicate" || m.As == "share" || m.As == "erase" {
					t.Errorf("%q tells of %s", query, m.As)
				}
			}
		}
	}
}

// TestSame demands the same answer from every index over the same catalog, and
// from one that is asked by many at once.
func TestSame(t *testing.T) {
	const query = "copis a flie into anothr folder for the report, Duplicate overwrite"
	want := New(files()).Find(query, Options{})
	x := New(files())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := x.Find(query, Options{}); !slices.EqualFunc(got, want, func(a, b Hit) bool {
				return a.Tool.Name == b.Tool.Name && a.Score == b.Score && reflect.DeepEqual(a.Why, b.Why)
			}) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	all.Wait()
}

func TestWords(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"list_pull-requests", []string{"list", "pull", "requests"}},
		{"listPullRequests", []string{"list", "pull", "requests", "listpullrequests"}},
		{"HTTPServer", []string{"http", "server", "httpserver"}},
		{"PRs listIDsOf USAs Is", []string{"prs", "list", "ids", "of", "listidsof", "usas", "is"}},
		{"oauth2", []string{"oauth", "2", "oauth2"}},
		{"don't stop, Anna's they’re O'Reilly", []string{"don", "stop", "anna", "they", "o", "reilly", "oreilly"}[:6]},
		{"Größe ändern", []string{"größe", "ändern"}},
		{"$top=5%", []string{"top", "5"}},
		{"", nil},
	} {
		var got []string
		for _, w := range words(tc.text) {
			got = append(got, w.text)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

// FuzzFind demands an answer to whatever is asked: at most every tool once, each
// with a score, in order.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"copy file", "’’'s", "\xff\xfe", "日本語 ファイル", "aaaaaaaaaaaaaaaaaaaaaaaa", "İıſ K", "e\u0301"} {
		f.Add(s)
	}
	x := New(files())
	f.Fuzz(func(t *testing.T, query string) {
		hits := x.Find(query, Options{})
		seen := map[string]bool{}
		for _, h := range hits {
			if seen[h.Tool.Name] || h.Score < 0 {
				t.Errorf("%q: %+v", query, h)
			}
			seen[h.Tool.Name] = true
		}
	})
}

// A query without a letter or digit names nothing, not even a tool without one.
func TestSigns(t *testing.T) {
	x := New(catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Name: "d", Tools: []*catalog.Tool{
		{Name: "-", Domain: "d", Description: "Takes away", Effect: catalog.Destructive, InputSchema: json.RawMessage(`{}`)},
	}}}}))
	for _, query := range []string{"", " ", "?!", "..", "\xff\xfe", "\x1b"} {
		if hits := x.Find(query, Options{}); len(hits) > 0 {
			t.Errorf("%q finds %s", query, hits[0].Tool.Name)
		}
	}
	if hits := x.Find("take", Options{}); len(hits) != 1 {
		t.Errorf("%d hits", len(hits))
	}
}
