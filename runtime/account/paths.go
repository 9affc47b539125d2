package account

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/metacue/metacue/runtime/catalog"
)

// request is a call of one of a surface's tools.
type request struct {
	tool string
	args json.RawMessage
}

func (r request) text() string { return r.tool + " " + string(r.args) }

// way is how an agent comes to a tool.
type way struct {
	name, mode string
	// needs says of which catalogs there is such a way; nil of all.
	needs func(*catalog.Catalog) bool
	// steps are the calls before that of the tool.
	steps []func(*catalog.Catalog, *catalog.Tool) request
}

// ways are the paths of the account: flat first, which the others are held against.
// Typical, unfamiliar and skill in hand are those of the proposal that meta mode
// comes from. Only one of an agent that searches is missing: what it would ask for
// is not in the catalog.
var ways = []way{
	{"flat", "flat", nil, nil},
	{"typical", "meta", nil, steps{listDomain, getSchema}},
	{"typical, by action", "meta", nil, steps{listAction, getSchema}},
	{"typical, by signature", "meta", func(c *catalog.Catalog) bool { return c.Meta.Signatures }, steps{listDomain}},
	{"unfamiliar, domains first", "meta", nil, steps{listDomains, listDomain, getSchema}},
	{"unfamiliar, wrong domain first", "meta", func(c *catalog.Catalog) bool { return len(c.Domains) > 1 }, steps{listWrong, listDomain, getSchema}},
	{"skill in hand", "meta", nil, nil},
}

type steps = []func(*catalog.Catalog, *catalog.Tool) request

func listDomains(*catalog.Catalog, *catalog.Tool) request {
	return request{"list_domains", json.RawMessage("{}")}
}

func listDomain(c *catalog.Catalog, t *catalog.Tool) request {
	d, _ := c.Domain(t.Domain)
	return list(d)
}

// listWrong lists the domain declared before that of the tool, before the first the
// last.
func listWrong(c *catalog.Catalog, t *catalog.Tool) request {
	i := slices.IndexFunc(c.Domains, func(d *catalog.Domain) bool { return d.Name == t.Domain })
	return list(c.Domains[(i+len(c.Domains)-1)%len(c.Domains)])
}

func list(d *catalog.Domain) request { return named("list_domain_tools", "domain", d.Name) }

func listAction(_ *catalog.Catalog, t *catalog.Tool) request {
	return named("list_domain_tools", "domain", t.Domain, "action", t.Action)
}

func getSchema(_ *catalog.Catalog, t *catalog.Tool) request {
	return named("get_tool_schema", "tool_name", t.Name)
}

// named is a call with arguments that are text, as pairs of name and value.
func named(tool string, pairs ...string) request {
	var members []string
	for pair := range slices.Chunk(pairs, 2) {
		members = append(members, quoted(pair[0])+":"+quoted(pair[1]))
	}
	return request{tool, json.RawMessage("{" + strings.Join(members, ",") + "}")}
}

// walk goes a way to every tool of a catalog. A tool that is listed under its own
// name, as flat does and meta where it is pinned, needs no step.
func walk(c *catalog.Catalog, w way, m *meter) (Path, session, error) {
	path := Path{Name: w.name, Mode: w.mode, List: m.mode.Tokens, Steps: []Step{}}
	calls, answers := make([][]int, len(w.steps)), make([][]int, len(w.steps))
	names := make([]string, len(w.steps))
	costs, users := map[string]int{}, map[string]int{} // of each call that was made
	use := func(r request, tokens int) {
		costs[r.text()] = tokens
		users[r.text()]++
	}
	var decisions, runs []int
	for _, t := range c.Tools() {
		run, x, err := m.run(t)
		if err != nil {
			return Path{}, session{}, err
		}
		runs = append(runs, x.call)
		use(run, x.call)
		decision := m.mode.Tokens
		for i, step := range w.steps {
			if run.tool == t.Name {
				break
			}
			r := step(c, t)
			x, err := m.make(r)
			if err != nil {
				return Path{}, session{}, err
			}
			names[i], calls[i], answers[i] = r.tool, append(calls[i], x.call), append(answers[i], x.answer)
			use(r, x.call+x.answer)
			decision += x.call + x.answer
		}
		decisions = append(decisions, decision)
	}
	s := session{len(c.Tools()), m.mode.Tokens, map[int]int{}}
	for text, n := range users {
		s.uses[n] += costs[text]
	}
	for i := range w.steps {
		if len(calls[i]) > 0 { // not all tools are pinned
			path.Steps = append(path.Steps, Step{names[i], figure(calls[i]), figure(answers[i])})
		}
	}
	path.Decision, path.Run = figure(decisions), figure(runs)
	return path, s, nil
}
