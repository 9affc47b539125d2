package exec

import (
	"slices"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/rest"
)

// Absent is something that calls will need and that cannot be read as things are.
type Absent struct {
	// Reason names it and says what is wrong, as in "env TOKEN: it is not set".
	Reason string
	// For names the upstreams, or the setting, that need it.
	For []string
}

// Absent lists the secrets and files that the tools will need and that are not
// there yet, each once. Nothing is wrong with that: they are read when a call
// needs them.
func (p *Program) Absent() []Absent {
	var all []Absent
	add := func(reason, of string) {
		i := slices.IndexFunc(all, func(a Absent) bool { return a.Reason == reason })
		if i < 0 {
			i = len(all)
			all = append(all, Absent{Reason: reason})
		}
		all[i].For = append(all[i].For, of)
	}
	for _, name := range p.upstreams() {
		for _, reason := range p.Client.Absent(name) {
			add(reason, name)
		}
	}
	if p.SealKey != nil && p.pages() {
		if err := p.Client.Look(*p.SealKey); err != nil {
			add(err.Error(), "server.sealKey")
		}
	}
	return all
}

// upstreams lists those that the tools ask, sorted. The requests of a list (each)
// are known at the call alone: theirs is the one that they have unless they name
// another.
func (p *Program) upstreams() []string {
	var all []string
	add := func(r bind.Request) {
		if r.Upstream != "" && !slices.Contains(all, r.Upstream) {
			all = append(all, r.Upstream)
		}
	}
	for _, t := range p.Tools {
		for _, s := range t.Steps {
			if s.Request != nil {
				add(*s.Request)
			}
			if s.Each != nil {
				add(s.Each.Base[""])
			}
		}
	}
	slices.Sort(all)
	return all
}

// pages says whether any tool gives cursors.
func (p *Program) pages() bool {
	for _, t := range p.Tools {
		if t.Response.Paging != nil {
			return true
		}
	}
	return false
}

// report tells the operator of an exchange that failed for a reason that is the
// operator's to mend: callers are told too, but may have no way to pass it on. One
// call reports one reason once.
func (p *Program) report(at *progress, err *rest.Error) {
	if !err.Kind.Operators() {
		return
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if !slices.Contains(at.reported, err.Message) {
		at.reported = append(at.reported, err.Message)
		p.warn(at.tool.Info.Name, "upstream", err.Upstream, "reason", err.Message)
	}
}

// warn logs that a call of a tool failed. Nothing of its arguments is in attrs.
func (p *Program) warn(tool string, attrs ...any) {
	if p.Log != nil {
		p.Log.Warn("a call failed for a reason that its caller cannot mend", append([]any{"tool", tool}, attrs...)...)
	}
}
