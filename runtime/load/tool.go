package load

import (
	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
)

// Tool is one tool of the configuration.
type Tool struct {
	// Domain and Name are the tool's labels.
	Domain, Name string
	// Path is the tool's: domains.DOMAIN.tools.NAME.
	Path cue.Path
	// Own and Value are the tool in Config.Own and Config.Value.
	Own, Value cue.Value
	// Faulty says that there are findings in the tool, and that what they are
	// about is left out: other rules may see gaps where there are none.
	Faulty bool

	refs     []Ref
	literals []*ast.StructLit // what it is made of
}

// Tools gives the tools, domain by domain, in the order in which the operator
// declares them; where one domain is declared in several files, in CUE's.
func (c *Config) Tools() []Tool { return c.tools }

// State gives the state requests of the domains, in the order in which the
// operator declares them: each a Tool whose path is domains.DOMAIN.state.NAME, and
// which refers to no arguments.
func (c *Config) State() []Tool { return members(c.Own, c.Value, "state") }

// Finding is a finding about a field, given by the labels that lead to it. It
// stands where the operator wrote the field, or what is nearest above it: an
// element of a list, or what comes from outside, has no label of its own.
func (c *Config) Finding(labels []string, message string) diag.Finding {
	v, at := c.Own, c.Own.Pos()
	var path []cue.Selector
	for _, label := range labels {
		path = append(path, cue.Str(label))
		next := cue.Value{}
		it, err := v.Fields(cue.Optional(true))
		for err == nil && it.Next() {
			if it.Selector().Unquoted() == label {
				next = it.Value()
			}
		}
		if v = next; v.Exists() && v.Pos().IsValid() {
			at = v.Pos()
		}
	}
	f := diag.Finding{Path: cue.MakePath(path...).String(), Message: message}
	f.File, f.Line, f.Column = c.Position(at)
	return f
}

// Ref is one reference to an argument (or a step) in the syntax of a tool.
type Ref struct {
	// Root is what is referred to: "input" or "steps".
	Root string
	// Path is what follows it, as far as it is literal: ["user", "id"] for
	// input.user.id. Empty means the whole.
	Path []string
	// Pos is where Field makes use of it: the reference itself, or the name
	// through which it is reached, of a let clause or a hidden field. For jq it is
	// that of the program.
	Pos token.Pos
	// Field is the top-level field of the tool in which it stands: http, check,
	// response, steps, …; "" for a condition around such fields.
	Field string
	// InJQ marks $args.x in a jq program.
	InJQ bool
}

// Refs gives every reference of the tool to its arguments and steps that has an
// effect, wherever it stands: in let clauses, hidden fields and mixins too.
func (t Tool) Refs() []Ref { return t.refs }

// members lists what the domains of a configuration hold in a field: tools or state.
func members(own, value cue.Value, field string) []Tool {
	var all []Tool
	for domain, d := range fields(own.LookupPath(cue.ParsePath("domains"))) {
		for name, t := range fields(d.LookupPath(cue.MakePath(cue.Str(field)))) {
			p := cue.MakePath(cue.Str("domains"), cue.Str(domain), cue.Str(field), cue.Str(name))
			all = append(all, Tool{Domain: domain, Name: name, Path: p, Own: t, Value: value.LookupPath(p)})
		}
	}
	return all
}

// fields ranges over the regular fields of a structure.
func fields(v cue.Value) func(func(string, cue.Value) bool) {
	return func(yield func(string, cue.Value) bool) {
		it, err := v.Fields()
		if err != nil {
			return
		}
		for it.Next() {
			if !yield(it.Selector().Unquoted(), it.Value()) {
				return
			}
		}
	}
}
