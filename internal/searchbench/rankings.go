package main

import (
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/search"
)

// ranking makes, over a catalog, a function that gives the names of tools for a
// query, the best first, at most depth.
type ranking struct {
	name string
	over func(*catalog.Catalog) func(query string) []string
}

// ours is the ranking of package search.
var ours = ranking{"search", func(c *catalog.Catalog) func(string) []string {
	x := search.New(c)
	return func(query string) []string {
		var names []string
		for _, h := range x.Find(query, search.Options{Limit: depth}) {
			names = append(names, h.Tool.Name)
		}
		return names
	}
}}

// rankings are what is compared: the base line and ours.
var rankings = []ranking{
	{"plain", func(c *catalog.Catalog) func(string) []string {
		p := newPlain(c)
		return func(query string) []string { return p.find(query, depth) }
	}},
	ours,
}
