package load

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/nearest"
)

// WithAttribute is the attribute of a server-level default that goes with another:
// team: "Web" @with(project).
const WithAttribute = "with"

// DefaultAttribute is the attribute of an argument that takes no server-level
// default: project?: string @default(none).
const DefaultAttribute = "default"

// attributes are those that mean something on a field, and where they do. "" in a
// place stands for any name, and what is below a place that ends in "…" is meant
// too. @tag has its own rules (findTags).
var attributes = []struct {
	name, where string
	places      [][]string
}{
	{name: "tag"},
	{WithAttribute, "on a default: defaults: {project: …, team: … @with(project)}", [][]string{{"defaults", ""}}},
	{DefaultAttribute, "on an argument: project?: string @default(none)", [][]string{{"domains", "", "tools", "", "input", ""}}},
	{"example", "on an argument, on a member of one, or in response.schema", [][]string{
		{"domains", "", "tools", "", "input", "…"},
		{"domains", "", "tools", "", "response", "schema", "…"},
	}},
}

// misspelt finds attributes that are nearly one of those: CUE lets any pass.
func misspelt(files []*ast.File) (findings diag.List) {
	for _, file := range files {
		ast.Walk(file, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			for _, a := range f.Attrs {
				for _, own := range attributes {
					if name := a.Name(); name != own.name && nearest.Distance(strings.ToLower(name), own.name) <= len(own.name)/3 {
						findings = append(findings, finding(a.Pos(), "", fmt.Sprintf("@%s means nothing; did you mean @%s?", name, own.name)))
					}
				}
			}
			return true
		}, nil)
	}
	return findings
}

// idle is an attribute that means nothing where it stands.
type idle struct {
	attr  *ast.Attribute
	where string // it would mean something
	path  []string
}

// idle tells of attributes that mean nothing where they stand, unless the place
// itself is none: then that is told.
func (l *loader) idle(all []idle) {
	for _, i := range all {
		if path := l.path(i.path).String(); !l.told(path) {
			l.report(i.attr.Pos(), path, fmt.Sprintf("@%s means nothing here: it belongs %s", i.attr.Name(), i.where), "")
		}
	}
}

// misplaced finds attributes that mean nothing where they stand. What is hidden, a
// definition or a part of an expression may come to stand anywhere.
func misplaced(files []*ast.File) (all []idle) {
	for _, file := range files {
		var path []string
		ast.Walk(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.LetClause, *ast.SelectorExpr, *ast.IndexExpr, *ast.CallExpr:
				return false
			case *ast.Field:
				name, ident, err := ast.LabelName(x.Label)
				if err != nil {
					name = "" // any
				} else if ident && (strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#")) {
					return false
				}
				path = append(path, name)
				for _, a := range x.Attrs {
					for _, own := range attributes {
						if a.Name() == own.name && own.places != nil && !slices.ContainsFunc(own.places, func(place []string) bool { return stands(path, place) }) {
							all = append(all, idle{a, own.where, slices.Clone(path)})
						}
					}
				}
			}
			return true
		}, func(n ast.Node) {
			if _, ok := n.(*ast.Field); ok {
				path = path[:len(path)-1]
			}
		})
	}
	return all
}

// stands says whether a path is that of a place.
func stands(path, place []string) bool {
	for i, name := range place {
		switch {
		case i >= len(path):
			return false
		case name == "…":
			return true
		case name != "" && path[i] != "" && path[i] != name:
			return false
		}
	}
	return len(path) == len(place)
}
