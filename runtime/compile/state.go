package compile

import (
	"net/http"
	"slices"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/load"
)

// reads is what a request that only reads does.
var reads = catalog.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true}

// state compiles a state request into a tool of the program that takes no
// arguments; nil when it is at fault.
func (c *compiler) state(s load.Tool) *exec.Tool {
	before := c.faults
	b := &toolCompiler{compiler: c, src: s, path: s.Path.String(), inPaths: map[string]bool{}, spoilt: map[string]bool{}, isState: true}
	tool := &exec.Tool{Info: &catalog.Tool{
		Name:        s.Domain + "/" + s.Name,
		Title:       s.Name,
		Description: "Reads " + s.Name + " of " + s.Domain,
		Domain:      s.Domain,
		Action:      builtin[0].Name,
		Effect:      catalog.Read,
		Idempotent:  true,
		Annotations: reads,
	}}
	if !b.at("http").Exists() { // which loading has told
		return nil
	}
	b.input(tool)
	if m := text(b.at("http"), "method"); m != "" && !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, m) {
		b.fault("http.method", "%s changes something, and state is read whenever an agent looks: it must be GET, HEAD or POST", m)
	}
	req := b.request(tool, "http", true)
	tool.Response.JQ = b.jq("jq")
	if broken, _ := c.known.broken(b.path); broken || req == nil || c.faults > before || b.unsendable {
		return nil
	}
	tool.Steps = []exec.Step{{Request: req}}
	return tool
}
