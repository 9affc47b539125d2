package rest

import (
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Cache keeps answers to the GETs of reads. What is kept is asked after each
// time by its validator (RFC 9111 §4.3), and the upstream then answers 304
// without a body. Only with MaxAge may an answer be given without asking, and never
// one from before a request of the client's own that may have changed something: an
// agent that reads what it has written sees it (RFC 9111 §4.4, for all URLs, since
// APIs show one resource under several, at several upstreams).
type Cache struct {
	// MaxAge is how long a kept answer may be given without asking the upstream,
	// where the upstream's Cache-Control allows as much. 0 means never.
	MaxAge time.Duration
	// MaxBytes bounds the bodies that are kept; 0 means 16 MiB.
	MaxBytes int64
}

// check lists what is wrong with the numbers.
func (k *Cache) check() (faults []error) {
	if k != nil && (k.MaxAge < 0 || k.MaxBytes < 0) {
		faults = append(faults, errors.New("cache: no number may be negative"))
	}
	return faults
}

// caching is a layer that answers from what it keeps.
func caching(c *Client, u *upstream, next exchange) exchange {
	next = counted(c, next)
	if u.Cache == nil {
		return next
	}
	kept := store{maxBytes: cmp.Or(u.Cache.MaxBytes, 16<<20)}
	return func(ctx context.Context, e *sending) (*Response, error) {
		if !e.options.Read || e.req.Method != http.MethodGet || conditional(e.header) {
			return next(ctx, e)
		}
		key, writes := keyOf(e), c.writes.Load()
		old := kept.get(key)
		if old != nil {
			if old.writes == writes && time.Since(old.at) < min(u.Cache.MaxAge, old.fresh) {
				return old.answer(), nil
			}
			e = e.again()
			e.header = e.header.Clone()
			if tag := old.response.Header.Get("ETag"); tag != "" {
				e.header.Set("If-None-Match", tag)
			} else {
				e.header.Set("If-Modified-Since", old.response.Header.Get("Last-Modified"))
			}
		}
		out, err := next(ctx, e)
		if err != nil {
			return nil, err
		}
		if out.Status == http.StatusNotModified && old != nil {
			// RFC 9111 §4.3.4: the headers of the 304 are newer.
			merged := *old.response
			merged.Header = old.response.Header.Clone()
			for name, values := range out.Header {
				if !strings.HasPrefix(name, "Content-") {
					merged.Header[name] = values
				}
			}
			out = &merged
		}
		if entry := entryOf(out); entry != nil {
			entry.writes = writes
			kept.put(key, entry)
			return entry.answer(), nil
		}
		if out.Status < http.StatusInternalServerError {
			kept.remove(key)
		}
		return out, nil
	}
}

// counted counts the requests that may have changed something, whatever comes
// back: one that failed may have been carried out.
func counted(c *Client, next exchange) exchange {
	return func(ctx context.Context, e *sending) (*Response, error) {
		if !e.options.Read {
			defer c.writes.Add(1)
		}
		return next(ctx, e)
	}
}

// conditional says whether a request asks for a part, or under a condition of
// its own.
func conditional(h http.Header) bool {
	for _, name := range []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}

// keyOf gives a key under which an answer serves one request alone: its URL, all
// its headers, of which upstreams may vary their answers, and its credentials.
// It is a digest, so that no credential stays in memory for it.
func keyOf(e *sending) [sha256.Size]byte {
	h := sha256.New()
	add := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p) // so that no two lists read alike
		}
	}
	add(e.req.URL)
	for _, name := range slices.Sorted(maps.Keys(e.header)) {
		add(name, strconv.Itoa(len(e.header[name])))
		add(e.header[name]...)
	}
	for _, d := range e.credentials {
		add(string(d.place), d.name, d.value)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// entry is a kept answer. It is not changed once it is kept.
type entry struct {
	response *Response
	at       time.Time
	fresh    time.Duration
	writes   uint64 // how many the client had made when it was asked for
}

// entryOf gives an entry for an answer, or nil where it must not or need not be
// kept: any but 200, without a validator, or marked no-store.
func entryOf(r *Response) *entry {
	directives := directivesOf(r.Header)
	_, noStore := directives["no-store"]
	_, noCache := directives["no-cache"]
	if r.Status != http.StatusOK || noStore || r.Header.Get("ETag") == "" && r.Header.Get("Last-Modified") == "" {
		return nil
	}
	e := &entry{response: r, at: time.Now()}
	if !noCache && r.Header.Get("Vary") != "*" {
		e.fresh = seconds(directives["max-age"]) - seconds(r.Header.Get("Age"))
	}
	return e
}

// directivesOf reads Cache-Control (RFC 9111 §5.2).
func directivesOf(h http.Header) map[string]string {
	all := map[string]string{}
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		all[strings.ToLower(name)] = strings.Trim(value, `"`)
	}
	return all
}

// seconds reads a number of seconds; what is none counts as 0.
func seconds(s string) time.Duration {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// answer gives the kept answer to one more caller. The body is shared.
func (e *entry) answer() *Response {
	r := *e.response
	r.Header = r.Header.Clone()
	return &r
}

// store keeps entries up to a size; of more, those used longest ago go.
type store struct {
	maxBytes int64

	mu      sync.Mutex
	bytes   int64
	entries map[[sha256.Size]byte]*list.Element
	order   list.List // of stored, the one used last in front
}

type stored struct {
	key   [sha256.Size]byte
	entry *entry
	size  int64
}

func (s *store) get(key [sha256.Size]byte) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.entries[key]
	if at == nil {
		return nil
	}
	s.order.MoveToFront(at)
	return at.Value.(stored).entry
}

func (s *store) put(key [sha256.Size]byte, e *entry) {
	size := int64(len(e.response.Body)) + 1024 // for headers and bookkeeping
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.entries[key])
	if size > s.maxBytes {
		return
	}
	for s.bytes+size > s.maxBytes {
		s.drop(s.order.Back())
	}
	if s.entries == nil {
		s.entries = map[[sha256.Size]byte]*list.Element{}
	}
	s.entries[key] = s.order.PushFront(stored{key, e, size})
	s.bytes += size
}

func (s *store) remove(key [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.entries[key])
}

// drop takes an element out; the caller holds the lock.
func (s *store) drop(at *list.Element) {
	if at == nil {
		return
	}
	gone := s.order.Remove(at).(stored)
	delete(s.entries, gone.key)
	s.bytes -= gone.size
}
