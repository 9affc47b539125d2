package surface

import (
	"fmt"
	"testing"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
)

// TestSpell makes every call as its surface spells it: under any option the right
// tool runs, with the very arguments, and nothing had to be put right.
func TestSpell(t *testing.T) {
	for name, tune := range map[string]func(*catalog.Catalog){
		"plain":     func(*catalog.Catalog) {},
		"by effect": func(c *catalog.Catalog) { c.Meta.ByEffect = true },
		"pinned":    func(c *catalog.Catalog) { c.Meta.Pin = []string{"get_repository", "delete_repository"} },
	} {
		for _, mode := range Modes() {
			t.Run(name+"/"+mode, func(t *testing.T) {
				c := small()
				tune(c)
				r := recorder{answer: call.Text("done")}
				s := newSurface(t, mode, c, r.do)
				for _, tool := range c.Tools() {
					args := []byte(`{"n":9007199254740993}`)
					if names := argumentsOf(tool); len(names) > 0 {
						args = fmt.Appendf(nil, `{%q:"<&>","n":9007199254740993}`, names[0])
					}
					called, arguments := s.Spell(tool, args)
					if _, res := ask(t, s, called, string(arguments)); res.IsError || res.Meta != nil {
						t.Errorf("%s as %s %s: %+v", tool.Name, called, arguments, res)
					}
					if got := r.calls[len(r.calls)-1]; got != (made{tool.Name, string(args)}) {
						t.Errorf("%s as %s %s ran %v", tool.Name, called, arguments, got)
					}
				}
			})
		}
	}
}
