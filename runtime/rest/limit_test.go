package rest

import (
	"context"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestConcurrency shows that no more requests than allowed are under way, that
// the others wait, and that one whose deadline comes first says what it waited for.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Concurrency = 3
		c := newClient(t, Options{}, u)
		var now, most, all atomic.Int32
		release := make(chan struct{})
		pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			all.Add(1)
			<-release
		})
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() {
				if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if all.Load() != 3 {
			t.Errorf("%d requests are under way", all.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Do(ctx, get(u, "/x"), CallOptions{})
		want := `none of the 3 requests that the upstream "api" may have at once had ended (concurrency) within 5s`
		if e := wantKind(t, err, TimedOut); e.Message != want || e.Sent {
			t.Errorf("got %+v", e)
		}
		close(release)
		calls.Wait()
		if most.Load() != 3 || all.Load() != 10 {
			t.Errorf("%d requests, at most %d at once", all.Load(), most.Load())
		}
	})
}

// TestRate shows that requests keep their distance, and that a call whose turn
// would come too late is refused at once.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Rate = &Rate{PerSecond: 2, Burst: 3}
		c := newClient(t, Options{}, u)
		pipes(t, c, func(w http.ResponseWriter, r *http.Request) {})
		began := time.Now()
		for i := range 7 {
			if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
				t.Fatal(err)
			}
			if took, want := time.Since(began), time.Duration(max(0, i-2))*500*time.Millisecond; took != want {
				t.Errorf("request %d went after %s, want %s", i, took, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := c.Do(ctx, get(u, "/x"), CallOptions{})
		if e := wantKind(t, err, Busy); !strings.Contains(e.Message, "no more than 2 requests a second (rate)") || e.Sent || ctx.Err() != nil {
			t.Errorf("got %+v", e)
		}
		cancel()
		_, err = c.Do(ctx, get(u, "/x"), CallOptions{})
		wantKind(t, err, Cancelled)
	})
}

// TestRateCountsRepetitions shows that repeated requests wait for their turn too.
func TestRateCountsRepetitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := inMemory(t)
		u.Rate, u.Retry = &Rate{PerSecond: 0.125}, &Retry{}
		c := newClient(t, Options{}, u)
		requests := 0
		pipes(t, c, func(w http.ResponseWriter, r *http.Request) {
			if requests++; requests < 3 {
				w.WriteHeader(503)
			}
		})
		began := time.Now()
		if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{Idempotent: true}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began).Round(time.Millisecond); took != 16*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestLimitCheck(t *testing.T) {
	for _, r := range []Rate{{}, {PerSecond: -1}, {PerSecond: math.NaN()}, {PerSecond: math.Inf(1)}, {PerSecond: 1, Burst: -1}} {
		if len(r.check()) != 1 {
			t.Errorf("%+v passes", r)
		}
	}
	_, err := New([]Upstream{{Name: "api", URL: mustURL(t, "https://x"), Concurrency: -1, Rate: &Rate{}, Retry: &Retry{Attempts: -1}}}, Options{})
	want := `upstream "api": concurrency must not be negative
upstream "api": retry: no number may be negative
upstream "api": rate: perSecond must be above 0 and burst not below`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
