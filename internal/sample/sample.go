// Package sample is an organization with the REST shape of Azure DevOps, held
// in memory: projects and teams, repositories and pull requests, work items and
// sprints, pipelines, wikis, test plans, alerts and the search over them, which
// behave as those of dev.azure.com do, as far as they go. All hosts of Azure
// DevOps are one here. It is the upstream of the demonstration and of the
// scenarios. Equal requests in equal order give equal answers, to the byte. It
// knows nothing of the program that calls it.
//
// A path is /{organization}[/{project}[/{team}]]/_apis/{resource}. The scope
// before _apis is resolved once, for every resource alike; routes name the
// resource alone.
package sample

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Name is the name of the organization, the first segment of every path.
const Name = "contoso"

// PublicURL is where the organization says it lives: addresses in answers begin
// with it, whatever the address it listens on, so that answers do not vary.
const PublicURL = "https://dev.azure.com/" + Name

// maxBodyBytes bounds a request's body.
const maxBodyBytes = 4 << 20

// epoch is when the seed was made, and the first reading of the default clock.
var epoch = time.Date(2026, 1, 12, 9, 0, 0, 0, time.UTC)

// Options say what an organization demands and what time it is there.
type Options struct {
	// PAT is the personal access token that every request must carry by Basic
	// authentication, with any user name. Empty means that none is demanded.
	PAT string
	// Now is the clock. nil means a clock of the organization's own, which
	// begins at a fixed time and goes on by a minute with each change.
	Now func() time.Time
}

// Org is a sample organization. It is safe for concurrent use.
type Org struct {
	options Options

	mu      sync.Mutex // guards all below
	log     []Entry
	ticks   int
	counter map[string]int64 // last number given out, by kind

	users    []*identity // the first is who asks
	projects []*project
	pulls    []*pullRequest
	policies []*policy
	items    []*workItem

	attachments []attachment
	definitions []*definition
	builds      []*build
	approvals   []*approval
	wikis       []*wiki
	alerts      []*alert
	plans       []*testPlan
}

// New gives an organization as it always begins: see seed.
func New(o Options) *Org {
	org := &Org{options: o, counter: map[string]int64{}}
	org.seed()
	return org
}

// Start serves the organization on a free loopback port. It gives the base URL,
// http://127.0.0.1:PORT/contoso, and a function that ends the server.
func (o *Org) Start() (base string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("start the sample organization: %w", err)
	}
	s := &http.Server{Handler: o, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // always ErrServerClosed, by stop
	}()
	return "http://" + l.Addr().String() + "/" + Name, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
		<-done
	}, nil
}

// request is one request with its scope resolved.
type request struct {
	*http.Request
	project *project // nil when the path names none
	team    *team    // nil when the path names none
	body    []byte
	header  http.Header // of the answer
}

// created is a result that answers 201 instead of 200.
type created struct{ value any }

// raw is a result that is no JSON.
type raw struct {
	contentType string
	data        []byte
}

// object is a JSON object whose shape no code here depends on.
type object = map[string]any

// list is the shape of every list in an answer.
type list[T any] struct {
	Count int `json:"count"`
	Value []T `json:"value"`
}

func listOf[T any](v []T) list[T] { return list[T]{len(v), append([]T{}, v...)} }

// ServeHTTP answers one request and records it. Requests are answered one at a
// time, in the order of the log.
func (o *Org) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))

	o.mu.Lock()
	defer o.mu.Unlock()
	var result any
	if err != nil {
		result, err = nil, faultf(http.StatusRequestEntityTooLarge, core, "RequestContentTooLargeException", "the body is larger than %d bytes", maxBodyBytes)
	} else {
		result, err = o.answer(&request{Request: r, body: body, header: w.Header()})
	}

	status := http.StatusOK
	switch v := result.(type) {
	case created:
		status, result = http.StatusCreated, v.value
	case nil:
		status = http.StatusNoContent
	}
	if err != nil {
		f, ok := errors.AsType[*fault](err)
		if !ok {
			f = faultf(http.StatusInternalServerError, core, "Exception", "%v", err)
		}
		status, result = f.status, f.answer()
	}
	o.log = append(o.log, o.entry(r, body, status))

	w.Header().Set("X-TFS-ProcessId", guid("process", strconv.Itoa(len(o.log))))
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="`+PublicURL+`"`)
	}
	switch v := result.(type) {
	case nil:
		w.WriteHeader(status)
		return
	case raw:
		w.Header().Set("Content-Type", v.contentType)
		w.WriteHeader(status)
		_, _ = w.Write(v.data) // the client has gone; there is no one to tell
		return
	}
	out, err := encode(result)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8; api-version="+apiVersion(r))
	w.WriteHeader(status)
	_, _ = w.Write(out) // the client has gone; there is no one to tell
}

// encode writes JSON as Azure DevOps does: characters of HTML stay themselves.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// answer resolves the scope of a request and calls the handler of its route.
func (o *Org) answer(r *request) (any, error) {
	if o.authorization(r.Request) == "wrong" {
		return nil, faultf(http.StatusUnauthorized, core, "UnauthorizedRequestException", "TF400813: the request carries no valid personal access token")
	}
	scope, resource, err := split(r.URL)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(scope[0], Name) {
		return nil, faultf(http.StatusNotFound, core, "HostNotFoundException", "there is no organization %q here, only %q", scope[0], Name)
	}
	if len(scope) > 1 {
		if r.project, err = o.projectNamed(scope[1]); err != nil {
			return nil, err
		}
	}
	if len(scope) > 2 {
		if r.team, err = r.project.teamNamed(scope[2]); err != nil {
			return nil, err
		}
	}
	serve, err := o.find(r, resource)
	if err != nil {
		return nil, err
	}
	// Azure DevOps lets some reads pass without a version; the sample never does,
	// so that a configuration cannot forget it.
	switch v := apiVersion(r.Request); {
	case strings.EqualFold(resource[0], "connectionData") && v == "":
	case v == "":
		return nil, faultf(http.StatusBadRequest, core, "VssVersionNotSpecifiedException", "the %s request names no api-version, neither in its query nor in its Accept header", r.Method)
	case !apiVersionForm.MatchString(v):
		return nil, faultf(http.StatusBadRequest, core, "VssInvalidApiVersionException", "%q is no api-version: 7.1 and 7.2-preview.2 are", v)
	}
	return serve(o, r)
}

// split takes a path apart: what stands before _apis, and what stands behind.
// Segments are decoded, so that an encoded slash stays within its segment. Empty
// and dot segments are refused, so that no mistake of a client passes unseen.
func split(u *url.URL) (scope, resource []string, err error) {
	var segments []string
	for s := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		d, err := url.PathUnescape(s)
		if err != nil || d == "" || d == "." || d == ".." {
			return nil, nil, faultf(http.StatusBadRequest, core, "HttpException", "the path %q has an empty, dot or broken segment", u.EscapedPath())
		}
		segments = append(segments, d)
	}
	i := slices.IndexFunc(segments, func(s string) bool { return strings.EqualFold(s, "_apis") })
	if i < 1 || i > 3 || i == len(segments)-1 {
		return nil, nil, faultf(http.StatusNotFound, core, "HttpException", "the path %q is not /organization[/project[/team]]/_apis/resource", u.Path)
	}
	return segments[:i], segments[i+1:], nil
}

// find gives the handler of a resource and sets the request's path values.
// Literal segments match whatever their case, as in Azure DevOps; {name...} at
// the end matches all that is left.
func (o *Org) find(r *request, resource []string) (handler, error) {
	known := false
	for _, t := range routes {
		method, path, _ := strings.Cut(t.pattern, " /")
		segments := strings.Split(path, "/")
		have := resource
		if last := len(segments) - 1; strings.HasSuffix(segments[last], "...}") && len(have) > last {
			have = append(slices.Clone(have[:last]), strings.Join(have[last:], "/"))
		}
		if !slices.EqualFunc(segments, have, func(want, have string) bool {
			return strings.HasPrefix(want, "{") || strings.EqualFold(want, have)
		}) {
			continue
		}
		if known = true; method != r.Method {
			continue
		}
		for i, s := range segments {
			if name, ok := strings.CutPrefix(s, "{"); ok {
				r.SetPathValue(strings.TrimSuffix(strings.TrimSuffix(name, "}"), "..."), have[i])
			}
		}
		return t.serve, nil
	}
	name := strings.Join(resource, "/")
	if known {
		return nil, faultf(http.StatusMethodNotAllowed, core, "VssMethodNotAllowedException", "the resource %s does not take %s", name, r.Method)
	}
	return nil, faultf(http.StatusNotFound, core, "VssResourceNotFoundException", "there is no resource %s in the sample organization", name)
}

var (
	apiVersionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(-preview(\.[0-9]+)?)?$`)
	guidForm       = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// apiVersion gives the version that a request names in its query or in its
// Accept header; empty when it names none.
func apiVersion(r *http.Request) string {
	if v := r.URL.Query().Get("api-version"); v != "" {
		return v
	}
	for _, a := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(a, ",") {
			if _, p, err := mime.ParseMediaType(strings.TrimSpace(part)); err == nil && p["api-version"] != "" {
				return p["api-version"]
			}
		}
	}
	return ""
}

// authorization says of a request: "none" where it carries nothing and nothing
// is demanded, "wrong" where what is demanded is not there, "right", or
// "unchecked" where it carries something and nothing is demanded.
func (o *Org) authorization(r *http.Request) string {
	_, password, basic := r.BasicAuth()
	switch {
	case o.options.PAT != "" && basic && subtle.ConstantTimeCompare([]byte(password), []byte(o.options.PAT)) == 1:
		return "right"
	case o.options.PAT != "":
		return "wrong"
	case r.Header.Get("Authorization") != "":
		return "unchecked"
	}
	return "none"
}

// decode reads a JSON body into v and checks its content type.
func (r *request) decode(v any, contentType string) error {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || t != contentType {
		return faultf(http.StatusUnsupportedMediaType, core, "VssRequestContentTypeNotSupportedException",
			"the %s request has the Content-Type %q; this resource takes %s", r.Method, r.Header.Get("Content-Type"), contentType)
	}
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.UseNumber() // every digit stays
	if err := d.Decode(v); err != nil {
		return badRequest("the body cannot be read: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return badRequest("the body holds more than one JSON value")
	}
	return nil
}

const mediaJSON = "application/json"

// number reads a whole number above low from the query; def when it is absent.
func (r *request) number(name string, low, def int) (int, error) {
	s := r.URL.Query().Get(name)
	if s == "" {
		return def, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < low {
		return 0, badRequest("the query parameter %s is %q; it must be a whole number from %d", name, s, low)
	}
	return n, nil
}

// flag reads a boolean from the query; false when it is absent.
func (r *request) flag(name string) bool { return strings.EqualFold(r.URL.Query().Get(name), "true") }

// after reads a continuation token, which is how many come before the page.
func (r *request) after(token string) (int, error) {
	n, err := strconv.Atoi(cmp.Or(token, "0"))
	if err != nil || n < 0 {
		return 0, badRequest("the continuation token %q is none that the sample gave", token)
	}
	return n, nil
}

// pageAfter cuts a list by a continuation token, and gives the next token in the
// header of the answer.
func pageAfter[T any](r *request, all []T, token string, top int) ([]T, error) {
	begin, err := r.after(token)
	if err != nil {
		return nil, err
	}
	begin = min(begin, len(all))
	end := min(begin+top, len(all))
	if end < len(all) {
		r.header.Set("X-MS-ContinuationToken", strconv.Itoa(end))
	}
	return all[begin:end], nil
}

// page cuts a list by $skip and $top.
func page[T any](r *request, all []T, def int) ([]T, error) {
	skip, err := r.number("$skip", 0, 0)
	if err != nil {
		return nil, err
	}
	top, err := r.number("$top", 1, def)
	if err != nil {
		return nil, err
	}
	all = all[min(skip, len(all)):]
	return all[:min(top, len(all))], nil
}

// pathNumber reads a number from the path; ok is false for anything else.
func (r *request) pathNumber(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	return n, err == nil && n > 0
}

// time is what the clock shows.
func (o *Org) time() time.Time {
	if o.options.Now != nil {
		return o.options.Now().UTC()
	}
	return epoch.Add(time.Duration(o.ticks) * time.Minute)
}

// now is the time of a change, which moves the clock on.
func (o *Org) now() time.Time {
	o.ticks++
	return o.time()
}

// next counts up the numbers of a kind.
func (o *Org) next(kind string) int64 {
	o.counter[kind]++
	return o.counter[kind]
}
