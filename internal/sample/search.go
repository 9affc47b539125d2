package sample

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// searchRoutes are those of almsearch.dev.azure.com. They find what holds every
// word of the question, whatever its case; operators are taken as words.
var searchRoutes = []route{
	{"POST /search/codeSearchResults", searchWith((*Org).searchCode)},
	{"POST /search/wikiSearchResults", searchWith((*Org).searchWiki)},
	{"POST /search/workItemSearchResults", searchWith((*Org).searchWorkItems)},
	{"POST /search/commitSearchResults", searchWith((*Org).searchCommits)},
}

// question is what a search asks for.
type question struct {
	Text    string              `json:"searchText"`
	Skip    int                 `json:"$skip"`
	Top     int                 `json:"$top"`
	Facets  bool                `json:"includeFacets"`
	Filters map[string][]string `json:"filters"`
	words   []string
}

// searchWith makes a handler of what finds the hits.
func searchWith(find func(*Org, *request, question) []object) handler {
	return func(o *Org, r *request) (any, error) {
		var q question
		if err := r.decode(&q, mediaJSON); err != nil {
			return nil, err
		}
		q.words = strings.Fields(strings.ToLower(strings.ReplaceAll(q.Text, `"`, " ")))
		if len(q.words) == 0 {
			return nil, badRequest("searchText is empty")
		}
		if q.Top < 1 || q.Skip < 0 {
			return nil, badRequest("$top is at least 1 and $skip at least 0")
		}
		hits := find(o, r, q)
		shown := hits[min(q.Skip, len(hits)):]
		shown = shown[:min(q.Top, len(shown))]
		out := object{"count": len(hits), "results": shown, "infoCode": 0}
		if q.Facets {
			out["facets"] = facets(hits)
		}
		return out, nil
	}
}

// facets counts hits by project.
func facets(hits []object) object {
	counts := []object{}
	for _, h := range hits {
		p := h["project"].(object)
		if i := slices.IndexFunc(counts, func(c object) bool { return c["id"] == p["name"] }); i >= 0 {
			counts[i]["resultCount"] = counts[i]["resultCount"].(int) + 1
			continue
		}
		counts = append(counts, object{"id": p["name"], "name": p["name"], "resultCount": 1})
	}
	return object{"Project": counts}
}

// wants says whether a filter lets a value pass; one that begins with / lets
// pass what is below it.
func (q question) wants(filter, value string) bool {
	list, ok := q.Filters[filter]
	return !ok || slices.ContainsFunc(list, func(w string) bool {
		return strings.EqualFold(w, value) || strings.HasPrefix(w, "/") && strings.HasPrefix(value, strings.TrimSuffix(w, "/")+"/")
	})
}

// in says whether a text holds every word.
func (q question) in(text string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(q.words, func(w string) bool { return !strings.Contains(text, w) })
}

// places are where the words stand in a text, in characters.
func (q question) places(text string) []object {
	lower := strings.ToLower(text)
	places := []object{}
	for _, w := range q.words {
		if i := strings.Index(lower, w); i >= 0 {
			places = append(places, object{"charOffset": utf8.RuneCountInString(lower[:i]), "length": utf8.RuneCountInString(w)})
		}
	}
	return places
}

// marked is a text with the first of the words marked.
func (q question) marked(text string) string {
	i := strings.Index(strings.ToLower(text), q.words[0])
	if i < 0 {
		return text
	}
	end := min(i+len(q.words[0]), len(text))
	return text[:i] + "<highlighthit>" + text[i:end] + "</highlighthit>" + text[end:]
}

func short(p *project) object { return object{"id": p.ID, "name": p.Name} }

// searchCode looks at the tip of each default branch.
func (o *Org) searchCode(r *request, q question) []object {
	hits := []object{}
	for _, p := range o.projects {
		for _, repo := range p.repos {
			tip := repo.ref(repo.DefaultBranch)
			branch := strings.TrimPrefix(repo.DefaultBranch, "refs/heads/")
			if tip == nil || !q.wants("Project", p.Name) || !q.wants("Repository", repo.Name) || !q.wants("Branch", branch) {
				continue
			}
			c := repo.commit(tip.ObjectID)
			files, _ := repo.paths(c)
			for _, f := range files {
				text := repo.content(c, f)
				if !q.in(f+" "+text) || !q.wants("Path", f) {
					continue
				}
				hits = append(hits, object{
					"fileName": path.Base(f), "path": f, "matches": object{"content": q.places(text), "fileName": []object{}},
					"collection": object{"name": Name}, "project": short(p), "repository": object{"id": repo.ID, "name": repo.Name, "type": "git"},
					"versions": []object{{"branchName": branch, "changeId": c.CommitID}}, "contentId": objectID(repo.ID, f, text),
				})
			}
		}
	}
	return hits
}

func (o *Org) searchWiki(r *request, q question) []object {
	hits := []object{}
	for _, w := range o.wikis {
		if !q.wants("Project", w.project.Name) || !q.wants("Wiki", w.name) {
			continue
		}
		for _, p := range w.pages[1:] {
			if q.in(p.path + " " + p.content) {
				hits = append(hits, object{
					"fileName": path.Base(file(p.path)), "path": file(p.path), "collection": object{"name": Name}, "project": short(w.project),
					"wiki": object{"id": w.id, "name": w.name, "mappedPath": "/", "version": w.branch}, "contentId": objectID(w.id, p.path, p.content),
					"hits": []object{{"fieldReferenceName": "content", "highlights": []string{q.marked(p.content)}}},
				})
			}
		}
	}
	return hits
}

func (o *Org) searchWorkItems(r *request, q question) []object {
	hits := []object{}
	for _, w := range o.items {
		v := w.now()
		all := strconv.FormatInt(w.ID, 10)
		found := []object{}
		shown := object{}
		for _, f := range fields {
			x, ok := v.value(f.name)
			if !ok {
				continue
			}
			s := plain(x)
			if u, ok := x.(*identity); ok {
				s = u.DisplayName + " <" + u.UniqueName + ">"
			}
			all += " " + s
			if f.kind == textField && strings.Contains(strings.ToLower(s), q.words[0]) {
				found = append(found, object{"fieldReferenceName": strings.ToLower(f.name), "highlights": []string{q.marked(s)}})
			}
			if slices.Contains([]string{"System.Id", "System.WorkItemType", "System.Title", "System.AssignedTo", "System.State", "System.Tags", "System.Rev", "System.CreatedDate", "System.ChangedDate"}, f.name) {
				shown[strings.ToLower(f.name)] = s
			}
		}
		assigned, _ := v.fields["System.AssignedTo"].(*identity)
		if assigned == nil {
			assigned = &identity{}
		}
		if q.in(all) && q.wants("System.TeamProject", w.project.Name) && q.wants("System.AreaPath", v.fields["System.AreaPath"].(string)) &&
			q.wants("System.WorkItemType", v.fields["System.WorkItemType"].(string)) && q.wants("System.State", v.fields["System.State"].(string)) &&
			(q.wants("System.AssignedTo", assigned.DisplayName) || q.wants("System.AssignedTo", assigned.DisplayName+" <"+assigned.UniqueName+">")) {
			hits = append(hits, object{"project": short(w.project), "fields": shown, "hits": found, "url": w.URL})
		}
	}
	return hits
}

func (o *Org) searchCommits(r *request, q question) []object {
	hits := []object{}
	for _, p := range o.projects {
		for _, repo := range p.repos {
			for _, c := range repo.commits {
				if q.in(c.Comment) && q.wants("projectName", p.Name) && q.wants("repositoryName", repo.Name) && q.wants("authorName", c.Author.Name) {
					hits = append(hits, object{"commitId": c.CommitID, "comment": c.Comment, "author": c.Author, "committer": c.Committer, "project": short(p), "repository": object{"id": repo.ID, "name": repo.Name}})
				}
			}
		}
	}
	return hits
}
