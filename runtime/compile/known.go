package compile

import (
	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/load"
)

// known is what is at fault already: a fault found before makes others follow
// that say nothing new, and each fault is told once.
type known struct {
	// sections holds the first two names of the paths outside tools, such as
	// upstreams.api.
	sections map[[2]string]bool
	// tools holds, for each tool by the first four names of its path, the fields
	// at fault; the empty name is the tool as a whole.
	tools map[[4]string]map[string]bool
	// lost says that a fault may have taken tools away: of a domain as a whole, or of
	// a field that there is not and that may hold some.
	lost bool
}

// newKnown gathers what findings are about, and the tools that lost something to
// faults of what they share with others.
func newKnown(findings diag.List, tools []load.Tool) known {
	k := known{sections: map[[2]string]bool{}, tools: map[[4]string]map[string]bool{}}
	for _, f := range findings {
		names := pathNames(f.Path)
		if tool, field, ok := toolField(names); ok {
			if k.tools[tool] == nil {
				k.tools[tool] = map[string]bool{}
			}
			k.tools[tool][field] = true
		} else if len(names) > 0 {
			k.sections[section(names)] = true
			k.lost = k.lost || names[0] == "domains" || len(names) == 1
		}
	}
	for _, t := range tools {
		if tool, _, ok := toolField(pathNames(t.Path.String())); ok && t.Faulty && k.tools[tool] == nil {
			k.tools[tool] = map[string]bool{"": true}
		}
	}
	return k
}

// pathNames gives the names of a path, as far as it is one.
func pathNames(path string) []string {
	p := cue.ParsePath(path)
	if p.Err() != nil {
		return nil
	}
	var names []string
	for _, s := range p.Selectors() {
		if s.LabelType() != cue.StringLabel {
			break
		}
		names = append(names, s.Unquoted())
	}
	return names
}

// toolField splits the names of a path into that of a tool, or of a state request,
// and a field of it.
func toolField(names []string) (tool [4]string, field string, ok bool) {
	if len(names) < 4 || names[0] != "domains" || names[2] != "tools" && names[2] != "state" {
		return tool, "", false
	}
	copy(tool[:], names)
	if len(names) > 4 {
		field = names[4]
	}
	return tool, field, true
}

func section(names []string) (s [2]string) {
	copy(s[:], names)
	return s
}

// implies says whether a finding at path follows from what is known.
func (k known) implies(path string) bool {
	names := pathNames(path)
	tool, field, ok := toolField(names)
	if !ok {
		return len(names) > 0 && (k.sections[section(names)] || k.sections[section(names[:1])])
	}
	at := k.tools[tool]
	switch {
	case at[""], at["input"], at[field]:
		return true
	case at["http"] || at["steps"]:
		return field == "http" || field == "steps" || field == "input"
	}
	return false
}

// lacks says whether a tool of that name may be there but for what is known.
func (k known) lacks(name string) bool {
	for tool := range k.tools {
		if tool[3] == name {
			return true
		}
	}
	return k.lost
}

// broken says whether a tool is at fault, and whether its arguments are.
func (k known) broken(path string) (tool, arguments bool) {
	name, _, _ := toolField(pathNames(path))
	at := k.tools[name]
	return len(at) > 0, at[""] || at["input"]
}
