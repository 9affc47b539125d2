package account

import (
	"maps"
	"math"
	"slices"
)

// BreakEven says after how many distinct tools, used in one session, flat is
// cheaper than a path of meta.
//
// It is computed from the exchanges that were measured. A session reads its list
// once and makes each call that finds tools once, however many of its tools that
// call finds; each tool is then run once. Running one again costs nearly the same in
// both modes. The tools of a session may be any, so that a session of k tools costs
// the mean over all ways to choose k.
type BreakEven struct {
	Path string `json:"path"`
	// Cheaper says whether flat ever becomes cheaper.
	Cheaper bool `json:"flatBecomesCheaper"`
	// Tools is the least number of distinct tools with which flat is cheaper, and all
	// tools where it never is.
	Tools int `json:"tools"`
	// Flat and Meta are the tokens of such a session, rounded.
	Flat int `json:"flat"`
	Meta int `json:"meta"`
}

// session is what sessions that use some of a number of tools cost.
type session struct {
	tools int
	list  int // tokens of tools/list
	// uses holds the tokens of exchanges by the number of tools that need them.
	uses map[int]int
}

// after gives the mean tokens of a session over all choices of k distinct tools.
func (s session) after(k int) float64 {
	total := float64(s.list)
	for _, users := range slices.Sorted(maps.Keys(s.uses)) { // in one order, so that the sum is one
		total += float64(s.uses[users]) * (1 - missing(s.tools, users, k))
	}
	return total
}

// missing gives the probability that k of n tools, chosen at random, hold none of
// some u: C(n-u, k) / C(n, k).
func missing(n, u, k int) float64 {
	p := 1.0
	for i := 0; i < k && p > 0; i++ {
		p *= float64(max(n-u-i, 0)) / float64(n-i)
	}
	return p
}

// noise is more than the sums of a session are off by, and less than any difference
// that matters, in tokens.
const noise = 1e-6

// breakEven finds from how many distinct tools on flat is cheaper than a path of
// meta. There must be a tool.
func breakEven(path string, flat, meta session) BreakEven {
	for k := 1; ; k++ {
		f, m := flat.after(k), meta.after(k)
		if cheaper := m-f > noise; cheaper || k >= flat.tools {
			return BreakEven{path, cheaper, k, int(math.Round(f)), int(math.Round(m))}
		}
	}
}
