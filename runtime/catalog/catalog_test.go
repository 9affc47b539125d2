package catalog

import (
	"slices"
	"testing"
)

func sample() *Catalog {
	return New(Catalog{
		Actions: []Action{{Name: "read", Effect: Read}, {Name: "create", Effect: Write}, {Name: "delete", Effect: Destructive}, {Name: "run", Effect: Write}},
		Domains: []*Domain{
			{Name: "core", Tools: []*Tool{
				{Name: "list_projects", Domain: "core", Action: "read", Effect: Read, Aliases: []string{"core_list_projects"}},
				{Name: "delete_project", Domain: "core", Action: "delete", Effect: Destructive},
			}},
			{Name: "wiki", Tools: []*Tool{{Name: "create_page", Domain: "wiki", Action: "create", Effect: Write}}},
		},
		Skills: []Skill{{Name: "mixed", Tools: []string{"list_projects", "create_page"}}, {Name: "writes", Tools: []string{"create_page"}}},
	})
}

// TestWithin shows that what is out of bounds is not in the catalog, by any name.
func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		bounds              Bounds
		tools, skills, acts []string
	}{
		{Bounds{}, []string{"list_projects", "delete_project", "create_page"}, []string{"mixed", "writes"}, []string{"read", "create", "delete"}},
		{Bounds{ReadOnly: true}, []string{"list_projects"}, []string{"mixed"}, []string{"read"}},
		{Bounds{Domains: []string{"wiki"}}, []string{"create_page"}, []string{"mixed", "writes"}, []string{"create"}},
		{Bounds{Exclude: []string{"list_projects"}}, []string{"delete_project", "create_page"}, []string{"mixed", "writes"}, []string{"create", "delete"}},
		{Bounds{Domains: []string{"wiki"}, ReadOnly: true}, nil, nil, nil},
	} {
		c := sample().Within(tt.bounds)
		var tools, skills, acts []string
		for _, tool := range c.Tools() {
			tools = append(tools, tool.Name)
		}
		for _, s := range c.Skills {
			skills = append(skills, s.Name)
			for _, n := range s.Tools {
				if !slices.Contains(tools, n) {
					t.Errorf("%+v: the skill %s names %s", tt.bounds, s.Name, n)
				}
			}
		}
		for _, a := range c.ActionsInUse() {
			acts = append(acts, a.Name)
		}
		if !slices.Equal(tools, tt.tools) || !slices.Equal(skills, tt.skills) || !slices.Equal(acts, tt.acts) {
			t.Errorf("%+v: tools %q, skills %q, actions %q", tt.bounds, tools, skills, acts)
		}
		for _, name := range []string{"list_projects", "core_list_projects", "delete_project", "create_page"} {
			tool, ok := c.Tool(name)
			if ok != (ok && slices.Contains(tt.tools, tool.Name)) {
				t.Errorf("%+v: %s is found", tt.bounds, name)
			}
		}
		for _, d := range c.Domains {
			if len(d.Tools) == 0 {
				t.Errorf("%+v: the domain %s is empty", tt.bounds, d.Name)
			}
		}
	}
	if _, ok := sample().Tool("core_list_projects"); !ok {
		t.Error("an alias is not found")
	}
}

// What bounds take away stays in the catalog that they are applied to.
func TestWithinChangesNothing(t *testing.T) {
	c := sample()
	c.Domains[0].State = []*Tool{{Name: "core/open", Domain: "core", Effect: Read, Description: "Before delete_project"}}
	c.Escape = []*Tool{{Name: "api_request/GET", Effect: Read, Description: "Not delete_project"}, {Name: "api_request/PUT", Effect: Write}}
	c.Meta.Pin = []string{"delete_project", "list_projects"}
	c = New(*c)
	in := c.Within(Bounds{ReadOnly: true})
	if got := in.Domains[0].State[0]; got.Description != "Core open" || len(in.Escape) != 1 || !slices.Equal(in.Meta.Pin, []string{"list_projects"}) {
		t.Errorf("within: state %+v, %d requests, pins %q", got, len(in.Escape), in.Meta.Pin)
	}
	if got := c.Domains[0].State[0]; got.Description == "" || len(c.Escape) != 2 || c.Escape[0].Description == "" || len(c.Meta.Pin) != 2 {
		t.Errorf("without: state %+v, %d requests, pins %q", got, len(c.Escape), c.Meta.Pin)
	}
	if _, ok := in.Callable("api_request/PUT"); ok {
		t.Error("a request that writes is callable")
	}
	if _, ok := in.Tool("core/open"); ok {
		t.Error("state is a tool")
	}
	if got, ok := in.Callable("core/open"); !ok || got.Name != "core/open" {
		t.Error("state is not callable")
	}
}
