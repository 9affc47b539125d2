package exec_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
)

// TestMemory pins that calls with names never seen before do not add up: CUE
// keeps every name, and workers that have seen many are replaced (fault kind
// resource-bomb).
func TestMemory(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("100,000 calls take half a minute, and ten times as long under the race detector")
	}
	p := program(t, "http://127.0.0.1:9", "", read(`input: m!: [string]: int, http: {method: "GET", path: "/x", query: {for k, v in input.m {"f[\(k)]": v}}}`), "")
	n := 0
	// calls makes calls, each with keys of its own, and gives the most bytes that
	// were in use after some of them: memory goes up and down.
	calls := func(thousands int) (most uint64) {
		for i := range thousands * 1000 {
			var m []string
			for range 3 {
				n++
				m = append(m, fmt.Sprintf(`"key-%d":%d`, n, n))
			}
			plan, r := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(`{"m":{`+strings.Join(m, ",")+`}}`))
			if plan == nil || strings.Count(plan.Request.URL, "f%5Bkey-") != 3 {
				t.Fatal(told(r))
			}
			if i%250 == 249 {
				runtime.GC()
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				most = max(most, s.HeapAlloc)
			}
		}
		return most
	}
	few := calls(10)
	calls(80)
	many := calls(10)
	t.Logf("at most %.1f MiB in the first 10,000 calls, %.1f MiB in the last of 100,000", float64(few)/(1<<20), float64(many)/(1<<20))
	if many > few+few/5 {
		t.Errorf("%d bytes in the first 10,000 calls, %d in the last of 100,000: more than a fifth above", few, many)
	}
}
