package sample

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// threadRoutes are the comments of pull requests.
var threadRoutes = []route{
	{"GET /git/repositories/{repository}/pullRequests/{pull}/threads", one((*Org).pull, func(_ *Org, p *pullRequest) any { return listOf(p.threads) })},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/threads", (*Org).createThread},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}", (*Org).getThread},
	{"PATCH /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}", (*Org).updateThread},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}/comments", one((*Org).thread, func(_ *Org, t *thread) any { return listOf(t.Comments) })},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}/comments", (*Org).createComment},
	{"PATCH /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}/comments/{comment}", (*Org).updateComment},
	{"DELETE /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}/comments/{comment}", (*Org).deleteComment},
}

type link struct {
	Href string `json:"href"`
}

type comment struct {
	ID              int64           `json:"id"`
	ParentCommentID int64           `json:"parentCommentId"`
	Author          *identity       `json:"author"`
	Content         string          `json:"content"`
	PublishedDate   time.Time       `json:"publishedDate"`
	LastUpdatedDate time.Time       `json:"lastUpdatedDate"`
	CommentType     string          `json:"commentType"`
	IsDeleted       bool            `json:"isDeleted,omitempty"`
	Links           map[string]link `json:"_links"`
}

type position struct {
	Line   int `json:"line"`
	Offset int `json:"offset"`
}

type threadContext struct {
	FilePath       string    `json:"filePath"`
	RightFileStart *position `json:"rightFileStart"`
	RightFileEnd   *position `json:"rightFileEnd"`
	LeftFileStart  *position `json:"leftFileStart"`
	LeftFileEnd    *position `json:"leftFileEnd"`
}

type thread struct {
	ID              int64           `json:"id"`
	PublishedDate   time.Time       `json:"publishedDate"`
	LastUpdatedDate time.Time       `json:"lastUpdatedDate"`
	Comments        []*comment      `json:"comments"`
	Status          string          `json:"status,omitempty"`
	ThreadContext   *threadContext  `json:"threadContext"`
	IsDeleted       bool            `json:"isDeleted"`
	Links           map[string]link `json:"_links"`
}

type newComment struct {
	Content         string
	ParentCommentID int64
	CommentType     *text
}

var commentTypes = enum{"unknown": 0, "text": 1, "codeChange": 2, "system": 3}

// add puts a comment at the end of a thread.
func (o *Org) add(t *thread, in newComment) (*comment, error) {
	if strings.TrimSpace(in.Content) == "" {
		return nil, badRequest("the comment has no content")
	}
	if in.ParentCommentID != 0 && !slices.ContainsFunc(t.Comments, func(c *comment) bool { return c.ID == in.ParentCommentID }) {
		return nil, badRequest("parentCommentId is %d, and thread %d has no such comment", in.ParentCommentID, t.ID)
	}
	kind, err := commentTypes.parse("commentType", string(*cmp.Or(in.CommentType, new(text))), "text")
	if err != nil {
		return nil, err
	}
	now := o.now()
	c := &comment{
		ID: int64(len(t.Comments)) + 1, ParentCommentID: in.ParentCommentID, Author: o.me(), Content: in.Content,
		PublishedDate: now, LastUpdatedDate: now, CommentType: kind,
	}
	c.Links = map[string]link{"self": {t.Links["self"].Href + "/comments/" + strconv.FormatInt(c.ID, 10)}}
	t.Comments = append(t.Comments, c)
	t.LastUpdatedDate = now
	return c, nil
}

func (o *Org) createThread(r *request) (any, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Comments      []newComment
		Status        text
		ThreadContext *threadContext
	}
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if len(in.Comments) == 0 {
		return nil, badRequest("a thread begins with a comment, and the body has none")
	}
	status, err := threadStates.parse("status", string(in.Status), "")
	if err != nil {
		return nil, err
	}
	c := in.ThreadContext
	if c != nil && c.FilePath == "" {
		if c.RightFileStart != nil || c.LeftFileStart != nil {
			return nil, badRequest("threadContext has positions and no filePath")
		}
		c = nil // of the pull request as a whole
	}
	if c != nil && (c.RightFileStart == nil) != (c.RightFileEnd == nil) {
		return nil, badRequest("threadContext needs rightFileStart and rightFileEnd together")
	}

	id := o.counter["thread"] + 1
	t := &thread{ID: id, Status: status, ThreadContext: c, Comments: []*comment{}, Links: map[string]link{"self": {fmt.Sprintf("%s/threads/%d", p.URL, id)}}}
	for _, n := range in.Comments {
		if _, err := o.add(t, n); err != nil {
			return nil, err
		}
	}
	t.PublishedDate = t.Comments[0].PublishedDate
	o.next("thread")
	p.threads = append(p.threads, t)
	return t, nil
}

// thread finds the thread that the path names.
func (o *Org) thread(r *request) (*thread, error) {
	p, err := o.pull(r)
	if err != nil {
		return nil, err
	}
	if id, ok := r.pathNumber("thread"); ok {
		for _, t := range p.threads {
			if t.ID == id {
				return t, nil
			}
		}
	}
	return nil, faultf(http.StatusNotFound, git, "CommentThreadNotFoundException", "pull request %d has no thread %s", p.PullRequestID, r.PathValue("thread"))
}

func (o *Org) getThread(r *request) (any, error) { return o.thread(r) }

func (o *Org) updateThread(r *request) (any, error) {
	t, err := o.thread(r)
	if err != nil {
		return nil, err
	}
	var in struct{ Status text }
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	status, err := threadStates.parse("status", string(in.Status), t.Status)
	if err != nil {
		return nil, err
	}
	t.Status, t.LastUpdatedDate = status, o.now()
	return t, nil
}

func (o *Org) createComment(r *request) (any, error) {
	t, err := o.thread(r)
	if err != nil {
		return nil, err
	}
	var in newComment
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	return o.add(t, in)
}

// commentInPath finds the comment that the path names.
func (o *Org) commentInPath(r *request) (*thread, *comment, error) {
	t, err := o.thread(r)
	if err != nil {
		return nil, nil, err
	}
	id, _ := r.pathNumber("comment")
	for _, c := range t.Comments {
		if c.ID == id {
			return t, c, nil
		}
	}
	return nil, nil, faultf(http.StatusNotFound, git, "CommentNotFoundException", "thread %d has no comment %s", t.ID, r.PathValue("comment"))
}

func (o *Org) updateComment(r *request) (any, error) {
	t, c, err := o.commentInPath(r)
	if err != nil {
		return nil, err
	}
	var in newComment
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Content) == "" {
		return nil, badRequest("the comment has no content")
	}
	now := o.now()
	c.Content, c.LastUpdatedDate, t.LastUpdatedDate = in.Content, now, now
	return c, nil
}

// deleteComment leaves the place of a comment in its thread, as Azure DevOps does.
func (o *Org) deleteComment(r *request) (any, error) {
	_, c, err := o.commentInPath(r)
	if err != nil {
		return nil, err
	}
	c.Content, c.IsDeleted, c.LastUpdatedDate = "", true, o.now()
	return nil, nil
}
