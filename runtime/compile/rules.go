package compile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/jsonschema"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/words"
)

// maxName bounds a tool's name together with that of the server: many clients
// prefix the one with the other and refuse names over 64.
const maxName = 64

// unique finds names that two tools answer to, and names that are too long.
func (c *compiler) unique(cat *catalog.Catalog) {
	seen := map[string]string{} // the path that a name was first given at
	take := func(name, path string) {
		if first, ok := seen[name]; ok {
			file, line, _ := c.cfg.Position(declaredAt(c.cfg.Own.LookupPath(parsePath(first))))
			c.add(path, "the name %s is taken: %s at %s:%d answers to it", name, first, file, line)
			return
		}
		seen[name] = path
	}
	tools := slices.DeleteFunc(slices.Clone(c.cfg.Tools()), func(t load.Tool) bool { return c.known.implies(t.Path.String()) })
	for _, t := range tools {
		take(t.Name, t.Path.String())
	}
	for _, t := range tools {
		path := t.Path.String()
		for i, alias := range strs(t.Value, "aliases") {
			take(alias, fmt.Sprintf("%s.aliases[%d]", path, i))
		}
		if n := len(cat.Server.Name) + 1 + len(t.Name); n > maxName {
			c.add(path, "the name is too long: with the server's name in front (%s_%s) it has %d characters, and clients take at most %d", cat.Server.Name, t.Name, n, maxName)
		}
	}
	for i, name := range strs(c.cfg.Value, "server.exclude") {
		if _, ok := seen[name]; !ok { // and none at fault either
			c.noTool(fmt.Sprintf("server.exclude[%d]", i), name)
		}
	}
}

// noTool reports the name of a tool that there is not, unless a fault found before
// may have taken it away.
func (c *compiler) noTool(path, name string) {
	if !c.known.lacks(name) {
		c.add(path, "there is no tool %q%s", name, didYouMean(name, c.toolNames()))
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
	known := map[string]bool{}
	for _, n := range c.toolNames() {
		known[n] = true
	}
	for name, v := range c.own("skills") {
		s := catalog.Skill{Name: name, Description: text(v, "description"), Notes: text(v, "notes")}
		for i, tool := range strs(v, "tools") {
			if !known[tool] {
				c.noTool(fmt.Sprintf("%s.tools[%d]", member("skills", name), i), tool)
				continue
			}
			s.Tools = append(s.Tools, tool)
		}
		skills = append(skills, s)
	}
	return skills
}

// examples checks the arguments of every example against the tool's schema, and
// makes its request as a call would. failing are the paths of expressions that no
// call gets past, which is told already.
func (c *compiler) examples(p *exec.Program, failing []string) {
	for _, t := range c.compiled {
		if t.arguments {
			continue
		}
		for i, example := range t.tool.Info.Examples {
			path := fmt.Sprintf("%s.examples[%d].arguments", t.src.Path, i)
			fits := true
			for _, f := range t.tool.Validator.Validate(example.Arguments) {
				fits = false
				if f.Keyword == "required" && len(f.Path) == 0 && slices.Contains(c.meant, f.Name) {
					continue // a default was meant to stand for it
				}
				c.add(instance(path, f), "the example does not fit: %s%s", f.Message, exec.Meant(t.tool.Info.InputSchema, f))
			}
			if !fits || t.broken {
				continue
			}
			_, r := p.Plan(context.Background(), call.Caller{}, t.src.Name, example.Arguments)
			why := exec.Reason(r)
			told := slices.ContainsFunc(failing, func(at string) bool {
				field, ok := strings.CutPrefix(at, t.src.Path.String()+".")
				return ok && strings.Contains(why, " "+field+": ")
			})
			if r.IsError && !told {
				c.add(path, "the example would be refused: %s", words.Advised(why))
			}
		}
	}
}

// instance is the path of the place of a fault below that of the whole.
func instance(path string, f jsonschema.Fault) string {
	for _, name := range f.Path {
		if _, err := strconv.Atoi(name); err == nil {
			path += "[" + name + "]"
		} else {
			path = member(path, name)
		}
	}
	if f.Keyword == "additionalProperties" {
		path = member(path, f.Name)
	}
	return path
}
