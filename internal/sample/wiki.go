package sample

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// wikiRoutes are wikis and their pages.
var wikiRoutes = []route{
	{"GET /wiki/wikis", (*Org).listWikis},
	{"POST /wiki/wikis", (*Org).createWiki},
	{"GET /wiki/wikis/{wiki}", one((*Org).wiki, func(_ *Org, w *wiki) any { return w.show() })},
	{"GET /wiki/wikis/{wiki}/pages", (*Org).getPage},
	{"PUT /wiki/wikis/{wiki}/pages", (*Org).putPage},
	{"DELETE /wiki/wikis/{wiki}/pages", (*Org).deletePage},
	{"GET /wiki/wikis/{wiki}/pages/{page}", (*Org).getPage},
	{"PATCH /wiki/wikis/{wiki}/pages/{page}", (*Org).putPage},
	{"DELETE /wiki/wikis/{wiki}/pages/{page}", (*Org).deletePage},
	{"GET /wiki/wikis/{wiki}/pages/{page}/stats", (*Org).getPageStats},
	{"POST /wiki/wikis/{wiki}/pagesBatch", (*Org).listPages},
	{"POST /wiki/wikis/{wiki}/pageMoves", (*Org).movePage},
}

// wikiPart is the part of Azure DevOps that has wikis.
const wikiPart = "Microsoft.TeamFoundation.Wiki.Server"

type wiki struct {
	id, name string
	project  *project
	repo     *repository // of a code wiki; nil for the wiki of a project
	folder   string      // that the pages of a code wiki are in
	branch   string      // where the wiki keeps its pages
	pages    []*wikiPage // the first is the root, which has no text
}

type wikiPage struct {
	id      int64
	path    string
	content string
	version int
	order   int
}

// branchOfWiki is where the wiki of a project keeps its pages.
const branchOfWiki = "wikiMaster"

func (o *Org) addWiki(p *project, name string) *wiki {
	w := &wiki{id: guid("wiki", name), name: name, project: p, branch: branchOfWiki, pages: []*wikiPage{{path: "/"}}}
	o.wikis = append(o.wikis, w)
	return w
}

// createWiki makes the one wiki of a project, or one of the pages that are in a
// repository now.
func (o *Org) createWiki(r *request) (any, error) {
	var in struct {
		Name, Type, ProjectID, RepositoryID, MappedPath string
		Version                                         struct{ Version string }
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	p, err := o.projectNamed(in.ProjectID)
	if err != nil {
		return nil, err
	}
	kind, err := wikiKinds.parse("type", in.Type, "projectWiki")
	if err != nil {
		return nil, err
	}
	for _, w := range o.wikis {
		if w.project == p && (strings.EqualFold(w.name, in.Name) || kind == "projectWiki" && w.repo == nil) {
			return nil, faultf(http.StatusConflict, wikiPart, "WikiAlreadyExistsException", "project %s has the wiki %s already", p.Name, w.name)
		}
	}
	if in.Name == "" {
		return nil, badRequest("a wiki needs a name")
	}
	if kind == "projectWiki" {
		return created{o.addWiki(p, in.Name).show()}, nil
	}
	i := slices.IndexFunc(p.repos, func(repo *repository) bool { return strings.EqualFold(repo.ID, in.RepositoryID) })
	if i < 0 || !strings.HasPrefix(in.MappedPath, "/") {
		return nil, badRequest("a code wiki needs the repositoryId of a repository in its project, and a mappedPath that begins with /")
	}
	repo := p.repos[i]
	tip := repo.ref("refs/heads/" + in.Version.Version)
	if tip == nil {
		return nil, faultf(http.StatusNotFound, wikiPart, "WikiVersionNotFoundException", "repository %s has no branch %q", repo.Name, in.Version.Version)
	}
	at := repo.commit(tip.ObjectID)
	root := strings.TrimSuffix(in.MappedPath, "/")
	files, folders := repo.paths(at)
	if root != "" && !slices.Contains(folders, root) {
		return nil, faultf(http.StatusNotFound, wikiPart, "WikiMappedPathNotFoundException", "repository %s has no folder %s", repo.Name, in.MappedPath)
	}
	w := o.addWiki(p, in.Name)
	w.repo, w.folder, w.branch = repo, in.MappedPath, in.Version.Version
	for _, f := range files {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(f, root), ".md"); ok && strings.HasPrefix(f, root+"/") {
			o.addPage(w, strings.NewReplacer("-", " ", "%2D", "-").Replace(name), repo.content(at, f))
		}
	}
	return created{w.show()}, nil
}

var wikiKinds = enum{"projectWiki": 0, "codeWiki": 1}

func (o *Org) addPage(w *wiki, path, content string) *wikiPage {
	n := 0
	for _, p := range w.pages[1:] {
		if parent(p.path) == parent(path) {
			n++
		}
	}
	p := &wikiPage{id: o.next("wiki page"), path: path, content: content, version: 1, order: n}
	w.pages = append(w.pages, p)
	return p
}

func parent(p string) string { return path.Dir(p) }

func (w *wiki) webURL() string {
	return w.project.webURL() + "/_wiki/wikis/" + url.PathEscape(w.name)
}

func (w *wiki) url() string { return w.project.scopeURL() + "/_apis/wiki/wikis/" + w.id }

func (w *wiki) show() object {
	v := object{
		"id": w.id, "name": w.name, "type": "projectWiki", "projectId": w.project.ID, "repositoryId": w.id, "mappedPath": "/",
		"versions": []object{{"version": w.branch}}, "isDisabled": false, "url": w.url(), "remoteUrl": w.webURL(),
	}
	if w.repo != nil {
		v["type"], v["repositoryId"], v["mappedPath"] = "codeWiki", w.repo.ID, w.folder
	}
	return v
}

// tag is the page's ETag (RFC 9110, section 8.8.3).
func (p *wikiPage) tag() string {
	return `"` + objectID(strconv.FormatInt(p.id, 10), p.path, strconv.Itoa(p.version)) + `"`
}

// file is where the wiki's repository has a page.
func file(page string) string {
	return strings.NewReplacer("-", "%2D", " ", "-").Replace(page) + ".md"
}

// showPage gives a page with levels of pages below it; a negative number is all.
func (w *wiki) showPage(p *wikiPage, levels int, content bool) object {
	v := object{
		"path": p.path, "order": p.order, "gitItemPath": file(p.path), "subPages": []object{},
		"url": w.url() + "/pages/" + url.PathEscape(p.path), "remoteUrl": w.webURL() + "?pagePath=" + strings.ReplaceAll(url.QueryEscape(p.path), "+", "%20"),
	}
	if p.path != "/" {
		v["id"] = p.id
	}
	if content {
		v["content"] = p.content
	}
	below := []object{}
	for _, c := range w.pages[1:] {
		if c != p && parent(c.path) == p.path {
			v["isParentPage"] = true
			if levels != 0 {
				below = append(below, w.showPage(c, levels-1, content))
			}
		}
	}
	v["subPages"] = below
	return v
}

func (o *Org) listWikis(r *request) (any, error) {
	all := []object{}
	for _, w := range o.wikis {
		if r.project == nil || w.project == r.project {
			all = append(all, w.show())
		}
	}
	return listOf(all), nil
}

// wiki finds the wiki that the path names. A name counts within the project of
// the path alone, an ID everywhere.
func (o *Org) wiki(r *request) (*wiki, error) {
	name := r.PathValue("wiki")
	for _, w := range o.wikis {
		if (r.project == nil || w.project == r.project) && (strings.EqualFold(w.id, name) || r.project != nil && strings.EqualFold(w.name, name)) {
			return w, nil
		}
	}
	return nil, faultf(http.StatusNotFound, wikiPart, "WikiNotFoundException", "there is no wiki %q here", name)
}

// page finds the page that the request names, by ID in its path or by path in
// its query; it is nil where the wiki has none of that path.
func (o *Org) page(r *request) (w *wiki, p *wikiPage, at string, err error) {
	if w, err = o.wiki(r); err != nil {
		return nil, nil, "", err
	}
	q := r.URL.Query()
	if v := q.Get("versionDescriptor.version"); v != "" && v != w.branch {
		return nil, nil, "", faultf(http.StatusNotFound, wikiPart, "WikiVersionNotFoundException", "the wiki %s has no version %q; it has %s", w.name, v, w.branch)
	}
	if r.PathValue("page") != "" {
		id, _ := r.pathNumber("page")
		i := slices.IndexFunc(w.pages, func(p *wikiPage) bool { return p.id == id })
		if i < 1 {
			return nil, nil, "", noPage(w, r.PathValue("page"))
		}
		return w, w.pages[i], w.pages[i].path, nil
	}
	at = cmp.Or(q.Get("path"), "/")
	if !strings.HasPrefix(at, "/") {
		at = "/" + at
	}
	return w, w.page(at), at, nil
}

func (w *wiki) page(path string) *wikiPage {
	for _, p := range w.pages {
		if strings.EqualFold(p.path, path) {
			return p
		}
	}
	return nil
}

func noPage(w *wiki, what string) error {
	return faultf(http.StatusNotFound, wikiPart, "WikiPageNotFoundException", "the wiki %s has no page %q", w.name, what)
}

func (o *Org) getPage(r *request) (any, error) {
	w, p, at, err := o.page(r)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, noPage(w, at)
	}
	deep, err := recursions.parse("recursionLevel", r.URL.Query().Get("recursionLevel"), "none")
	if err != nil {
		return nil, err
	}
	r.header.Set("ETag", p.tag())
	if strings.Contains(r.Header.Get("Accept"), "text/plain") {
		return raw{"text/plain; charset=utf-8", []byte(p.content)}, nil
	}
	levels := map[string]int{"none": 0, "full": -1}
	n, ok := levels[deep]
	if !ok {
		n = 1
	}
	return w.showPage(p, n, r.flag("includeContent")), nil
}

// putPage makes a page, or changes one whose ETag the request knows.
func (o *Org) putPage(r *request) (any, error) {
	w, p, at, err := o.page(r)
	if err != nil {
		return nil, err
	}
	var in struct{ Content string }
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	tag := r.Header.Get("If-Match")
	switch {
	case p == nil && tag != "":
		return nil, noPage(w, at)
	case p == nil && w.page(parent(at)) == nil:
		return nil, faultf(http.StatusNotFound, wikiPart, "WikiAncestorPageNotFoundException", "the page %s cannot be made, for there is no %s", at, parent(at))
	case p == nil:
		p = o.addPage(w, at, in.Content)
		r.header.Set("ETag", p.tag())
		return created{w.showPage(p, 0, true)}, nil
	case tag == "":
		return nil, faultf(http.StatusConflict, wikiPart, "WikiPageAlreadyExistsException", "the page %s is there already; give its ETag as If-Match to change it", p.path)
	case tag != p.tag():
		return nil, faultf(http.StatusPreconditionFailed, wikiPart, "WikiPageHasConflictsException", "the page %s has been changed since the version of the ETag", p.path)
	}
	p.content = in.Content
	p.version++
	r.header.Set("ETag", p.tag())
	return w.showPage(p, 0, true), nil
}

func (o *Org) deletePage(r *request) (any, error) {
	w, p, at, err := o.page(r)
	if err != nil {
		return nil, err
	}
	if p == nil || p.path == "/" {
		return nil, noPage(w, at)
	}
	gone := w.showPage(p, 0, false)
	w.pages = slices.DeleteFunc(w.pages, func(c *wikiPage) bool { return c == p || strings.HasPrefix(c.path, p.path+"/") })
	return gone, nil
}

func (o *Org) getPageStats(r *request) (any, error) {
	_, p, _, err := o.page(r)
	if err != nil {
		return nil, err
	}
	return object{"id": p.id, "path": p.path, "viewStats": o.views(p, 1)}, nil
}

// views are how often a page was looked at on each of the last days: as often as
// its number says.
func (o *Org) views(p *wikiPage, days int) []object {
	all := []object{}
	for d := range days {
		all = append(all, object{"day": o.time().AddDate(0, 0, -d).Format("2006-01-02T00:00:00Z"), "count": p.id})
	}
	return all
}

func (o *Org) listPages(r *request) (any, error) {
	w, err := o.wiki(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Top               *int
		ContinuationToken text
		PageViewsForDays  int
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	top := *cmp.Or(in.Top, new(100))
	if top < 1 || top > 100 {
		return nil, badRequest("top is between 1 and 100, not %d", top)
	}
	pages, err := pageAfter(r, w.pages[1:], string(in.ContinuationToken), top)
	if err != nil {
		return nil, err
	}
	all := []object{}
	for _, p := range pages {
		v := object{"id": p.id, "path": p.path}
		if in.PageViewsForDays > 0 {
			v["viewStats"] = o.views(p, in.PageViewsForDays)
		}
		all = append(all, v)
	}
	return listOf(all), nil
}

// movePage moves a page with all below it.
func (o *Org) movePage(r *request) (any, error) {
	w, err := o.wiki(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Path, NewPath string
		NewOrder      *int
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	p := w.page(in.Path)
	switch {
	case p == nil || p.path == "/":
		return nil, noPage(w, in.Path)
	case in.NewPath != "" && !strings.EqualFold(in.NewPath, p.path) && w.page(in.NewPath) != nil:
		return nil, faultf(http.StatusConflict, wikiPart, "WikiPageAlreadyExistsException", "there is a page %s already", in.NewPath)
	case in.NewPath != "" && w.page(parent(in.NewPath)) == nil:
		return nil, faultf(http.StatusNotFound, wikiPart, "WikiAncestorPageNotFoundException", "there is no page %s to move it to", parent(in.NewPath))
	case strings.HasPrefix(in.NewPath, p.path+"/"):
		return nil, badRequest("a page cannot be moved below itself")
	}
	from := p.path
	if in.NewPath != "" {
		for _, c := range w.pages[1:] {
			if c == p || strings.HasPrefix(c.path, from+"/") {
				c.path = in.NewPath + strings.TrimPrefix(c.path, from)
				c.version++
			}
		}
	}
	p.order = *cmp.Or(in.NewOrder, &p.order)
	return created{object{"path": from, "newPath": p.path, "order": 0, "newOrder": p.order, "page": w.showPage(p, 0, false), "url": fmt.Sprintf("%s/pagemoves/%d", w.url(), p.id)}}, nil
}
