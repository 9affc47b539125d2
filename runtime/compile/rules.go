package compile

import (
	"context"
	"strings"

	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
)

// maxName bounds a tool's name together with that of the server: many clients
// prefix the one with the other and refuse names over 64.
const maxName = 64

// unique finds names that two tools answer to, and names that are too long.
func (c *compiler) unique(cat *catalog.Catalog) {
	type place struct {
		path string
		v    cue.Value
	}
	seen := map[string]place{}
	for _, t := range c.cfg.Tools() {
		names, values := strs(t.Value, "aliases")
		paths := make([]string, len(names))
		for i := range names {
			paths[i] = t.Path.String() + ".aliases"
		}
		names = append([]string{t.Name}, names...)
		values = append([]cue.Value{t.Own}, values...)
		paths = append([]string{t.Path.String()}, paths...)
		for i, name := range names {
			if first, ok := seen[name]; ok {
				file, line, _ := c.cfg.Position(first.v.Pos())
				c.add(values[i], paths[i], "the name %s is taken: %s at %s:%d answers to it", name, first.path, file, line)
				continue
			}
			seen[name] = place{paths[i], values[i]}
		}
		if n := len(cat.Server.Name) + 1 + len(t.Name); n > maxName {
			c.add(t.Own, t.Path.String(), "the name is too long: with the server's name in front (%s_%s) it has %d characters, and clients take at most %d", cat.Server.Name, t.Name, n, maxName)
		}
	}
	exclude, values := strs(c.cfg.Value, "server.exclude")
	for i, name := range exclude {
		if _, ok := seen[name]; !ok {
			c.add(values[i], "server.exclude", "there is no tool %q%s", name, didYouMean(name, c.toolNames()))
		}
	}
}

func (c *compiler) toolNames() []string {
	var names []string
	for _, t := range c.cfg.Tools() {
		names = append(names, t.Name)
	}
	return names
}

// skills reads the skills and finds tools in them that there are not.
func (c *compiler) skills(cat *catalog.Catalog) []catalog.Skill {
	var skills []catalog.Skill
	names := c.toolNames()
	known := map[string]bool{}
	for _, n := range names {
		known[n] = true
	}
	for name, v := range c.own("skills") {
		s := catalog.Skill{Name: name, Description: text(v, "description"), Notes: text(v, "notes")}
		tools, values := strs(v, "tools")
		for i, tool := range tools {
			if !known[tool] {
				c.add(values[i], "skills."+name+".tools", "there is no tool %q%s", tool, didYouMean(tool, names))
				continue
			}
			s.Tools = append(s.Tools, tool)
		}
		skills = append(skills, s)
	}
	return skills
}

// examples makes the request of every example, as a call would.
func (c *compiler) examples(p *exec.Program) {
	for _, t := range c.cfg.Tools() {
		tool := p.Tools[t.Name]
		if tool == nil || len(tool.Info.Examples) == 0 {
			continue
		}
		list, err := t.Value.LookupPath(cue.ParsePath("examples")).List()
		if err != nil {
			continue
		}
		for i := 0; list.Next() && i < len(tool.Info.Examples); i++ {
			_, r := p.Plan(context.Background(), call.Caller{}, t.Name, tool.Info.Examples[i].Arguments)
			path := t.Path.String() + ".examples"
			where := list.Value().LookupPath(cue.ParsePath("arguments"))
			if r.IsError {
				c.add(where, path, "the example would be refused: %s", exec.Reason(r))
			} else if len(r.Repairs) > 0 {
				c.add(where, path, "the example fits only after repair: %s", strings.Join(r.Repairs, "; "))
			}
		}
	}
}
