package exec_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/rest"
)

// slow is a client whose answers take a second.
type slow struct{ *scripted }

func (c slow) Do(ctx context.Context, req *bind.HTTP, o rest.CallOptions) (*rest.Response, error) {
	time.Sleep(time.Second)
	return c.scripted.Do(ctx, req, o)
}

// The requests of a list that change something are made in order, one after the
// other; those that read, whatever the method, four at a time.
func TestEachInOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		action, method string
		took           time.Duration
	}{
		"changes":        {"create", "POST", 8 * time.Second},
		"reads":          {"create", "GET", 2 * time.Second},
		"reads by POST":  {"read", "POST", 2 * time.Second},
		"reads by a GET": {"read", "GET", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			p := *program(t, "http://127.0.0.1:1", "", `t: {
				description: "T", action: "`+tt.action+`", input: names!: [...string]
				steps: all: each: [for n in input.names {method: "`+tt.method+`", path: "/{n}", vars: "n": n}]
			}`, "")
			client := &scripted{Client: p.Client, answers: []rest.Response{answered(200, `{}`)}}
			p.Client = slow{client}
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				wantText(t, do(t, &p, `{"names":["a","b","c","d","e","f","g","h"]}`), "[{},{},{},{},{},{},{},{}]")
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %s", took)
				}
				if want := []string{"a", "b", "c", "d", "e", "f", "g", "h"}; tt.took > 2*time.Second && !slices.Equal(client.paths, want) {
					t.Errorf("sent %q", client.paths)
				}
			})
		})
	}
}
