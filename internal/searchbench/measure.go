package main

import (
	"math"
	"slices"
)

// depth is how many tools of an answer are looked at: nDCG@10 needs ten.
const depth = 10

// figures are means over the queries of a set, from 0 to 1. A query's recall@k is
// the share of its right tools that are among the first k.
type figures struct{ recall1, recall3, recall5, ndcg10 float64 }

// measure asks find every query of a set. find gives names of tools, the best
// first, at most depth.
func measure(s *set, find func(query string) []string) figures {
	var sum figures
	for _, q := range s.queries {
		found := find(q.text)
		sum.recall1 += recall(found, q.right, 1)
		sum.recall3 += recall(found, q.right, 3)
		sum.recall5 += recall(found, q.right, 5)
		sum.ndcg10 += ndcg(found, q.right, 10)
	}
	n := float64(len(s.queries))
	return figures{sum.recall1 / n, sum.recall3 / n, sum.recall5 / n, sum.ndcg10 / n}
}

func recall(found, right []string, k int) float64 {
	n := 0
	for _, name := range found[:min(k, len(found))] {
		if slices.Contains(right, name) {
			n++
		}
	}
	return float64(n) / float64(len(right))
}

// ndcg is the normalized discounted cumulative gain, each right tool a gain of 1
// (Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002).
func ndcg(found, right []string, k int) float64 {
	gain, ideal := 0.0, 0.0
	for i := range k {
		discount := 1 / math.Log2(float64(i)+2)
		if i < len(found) && slices.Contains(right, found[i]) {
			gain += discount
		}
		if i < len(right) {
			ideal += discount
		}
	}
	return gain / ideal
}
