package compile

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/jsonschema"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/rest"
)

// pages compiles how the answers of the tool come in pages, and adds the
// argument that asks for one.
func (b *toolCompiler) pages(tool *exec.Tool) {
	const field = "response.paginate"
	v := b.at(field)
	if !v.Exists() {
		return
	}
	step := b.pagedStep(tool, v, field)
	if step == nil {
		return
	}
	if i := slices.IndexFunc(b.schema.Fields, func(f jsonschema.Field) bool { return f.Name == exec.CursorArgument }); i >= 0 {
		b.addAt(b.schema.Fields[i].Pos, member(b.path+".input", exec.CursorArgument), "the tool has an argument of that name by response.paginate: rename this one, or leave it out where it is what paginate asks the API for")
		return
	}
	pages := &exec.Paging{
		Items: b.jq(field + ".items"),
		More:  b.jq(field + ".more"),
		Also:  b.jq(field + ".also"),
		Step:  step.Name,
		By:    b.pager(tool, step, v, field),
	}
	for name, jq := range map[string]*exec.JQ{"response.jq": tool.Response.JQ, field + ".items": pages.Items} {
		if jq != nil && jq.OneObject {
			b.fault(name, "makes one object, which would be the only item of every page: with paginate it gives the list of the items, or one output for each; where the answer is one item, write [{…}]")
		}
	}
	with, err := exec.WithCursor(tool.Info.InputSchema)
	if err == nil {
		tool.Validator, err = jsonschema.NewValidator(with)
	}
	if err != nil {
		b.fault(field, "the argument cursor cannot be added: %v", err)
		return
	}
	tool.Info.InputSchema, tool.Response.Paging = with, pages
}

// pagedStep finds the step whose answers are the pages; nil when there is none,
// which is told where it is not told already.
func (b *toolCompiler) pagedStep(tool *exec.Tool, v cue.Value, field string) *exec.Step {
	name, named := below(v, "step")
	if !b.at("steps").Exists() {
		if named {
			b.fault(field+".step", "needs steps: the tool makes one request, and its answers are the pages")
		}
		if len(tool.Steps) == 0 {
			return nil
		}
		return &tool.Steps[0]
	}
	if tool.Info.Effect != catalog.Read {
		b.fault(field, "needs an action that only reads: each page makes the requests of all the steps again")
		return nil
	}
	if !named {
		for i := range slices.Backward(tool.Steps) {
			if tool.Steps[i].Request != nil {
				return &tool.Steps[i]
			}
		}
		if len(tool.Steps) > 0 {
			b.fault(field, "needs a step with http: of the list of requests of a step, none has the pages")
		}
		return nil
	}
	want, _ := name.String()
	i := slices.IndexFunc(tool.Steps, func(s exec.Step) bool { return s.Name == want })
	switch {
	case i >= 0 && tool.Steps[i].Request != nil:
		return &tool.Steps[i]
	case i >= 0:
		b.fault(field+".step", "must be a step with http: of a list of requests, none has the pages")
	case !b.at("steps").LookupPath(cue.MakePath(cue.Str(want))).Exists():
		b.fault(field+".step", "there is no step %q", want)
	}
	return nil
}

// pager compiles the way in which the API pages.
func (b *toolCompiler) pager(tool *exec.Tool, step *exec.Step, v cue.Value, field string) exec.Pager {
	if m, ok := below(v, "cursor"); ok {
		by := &exec.ByCursor{In: b.place(step, m, field+".cursor", "in"), Header: text(m, "header"), JQ: b.jq(field + ".cursor.jq")}
		if _, ok := below(m, "header"); ok {
			b.headerToken(b.path+"."+field+".cursor.header", by.Header)
		}
		return by
	}
	if m, ok := below(v, "page"); ok {
		return &exec.ByNumber{Number: b.place(step, m, field+".page", "number"), First: whole(m, "first", 1), Size: b.size(step, m, field+".page", "size")}
	}
	if m, ok := below(v, "offset"); ok {
		return &exec.ByOffset{Skip: b.place(step, m, field+".offset", "skip"), Size: b.size(step, m, field+".offset", "top")}
	}
	if m, ok := below(v, "whole"); ok {
		b.parts(tool, step, v, m, field)
		return &exec.ByPart{Skip: text(m, "skip"), Top: text(m, "top")}
	}
	for _, name := range []string{"link", "nextLink"} {
		if _, ok := below(v, name); ok && step.Request.Method != "GET" && !b.known.implies(b.path+".http") {
			b.fault(field+"."+name, "needs the method GET: a link says nothing of a body")
		}
	}
	if m, ok := below(v, "link"); ok {
		if is, err := m.Bool(); err == nil && !is {
			b.fault(field+".link", "must be true, or left out")
		}
	}
	return &exec.ByLink{JQ: b.jq(field + ".nextLink")}
}

// parts checks pages that are parts of one answer.
func (b *toolCompiler) parts(tool *exec.Tool, step *exec.Step, v, m cue.Value, field string) {
	if tool.Info.Effect != catalog.Read {
		b.fault(field+".whole", "needs an action that only reads: each page makes the request again")
	}
	if _, ok := below(v, "more"); ok {
		b.fault(field+".more", "says nothing here: with whole, what is left of the answer says whether there are more pages")
	}
	if _, ok := below(v, "items"); ok && b.at("response.jq").Exists() {
		b.fault(field+".items", "says nothing here: with whole, the items are what jq of the response makes")
	}
	for _, member := range []string{"skip", "top"} {
		if name, ok := below(m, member); ok {
			b.wholeNumber(field+".whole."+member, name)
			if name, _ := name.String(); b.sends(step, name) {
				b.fault(field+".whole."+member, "the argument %s is sent with the request too, and the answer would be cut twice: leave it out there, or say how the API pages by offset or page", name)
			}
		}
	}
	if skip := text(m, "skip"); skip != "" && skip == text(m, "top") {
		b.fault(field+".whole.top", "names the argument that skip names: each needs its own")
	}
}

// sends says whether a request of the tool refers to an argument. What jq does with
// it is not sent.
func (b *toolCompiler) sends(step *exec.Step, name string) bool {
	if step.Request.Path != nil && slices.ContainsFunc(step.Request.Path.Vars(), func(v bind.TemplateVar) bool { return v.Name == name }) {
		return true
	}
	return slices.ContainsFunc(b.src.Refs(), func(ref load.Ref) bool {
		return ref.Root == bind.RootInput && !ref.InJQ && (ref.Field == "http" || ref.Field == "steps") && (len(ref.Path) == 0 || ref.Path[0] == name)
	})
}

// wholeNumber checks that a field names an argument that is a whole number.
func (b *toolCompiler) wholeNumber(field string, v cue.Value) {
	name, _ := v.String()
	i := slices.IndexFunc(b.schema.Fields, func(f jsonschema.Field) bool { return f.Name == name })
	if i >= 0 && b.schema.Fields[i].Value.IncompleteKind() != cue.IntKind {
		b.fault(field, "the argument %s is no whole number (int)", name)
	}
}

// place reads where requests hold what pages are asked for by. A place in the
// body needs one, of JSON.
func (b *toolCompiler) place(step *exec.Step, v cue.Value, field, name string) exec.Place {
	p := exec.Place(text(v, name))
	if !p.InBody() {
		return p
	}
	if req := step.Request; req.Body == nil || req.Body.Kind != bind.BodyJSON {
		b.fault(field+"."+name, "%s is a member of the body, and the request has no body of JSON", p)
	}
	return p
}

// size reads where requests say how many items a page has. Paging sets all other
// places itself; this one it reads, and what is never sent says nothing.
func (b *toolCompiler) size(step *exec.Step, v cue.Value, field, name string) exec.Place {
	p := b.place(step, v, field, name)
	if p == "" || p.InBody() && (step.Request.Body == nil || step.Request.Body.Kind != bind.BodyJSON) {
		return p
	}
	if sent, names, known := p.Sent(step.Request); known && !sent {
		what := "query parameter"
		if p.InBody() {
			what = "member of the body"
		}
		near := didYouMean(string(p)[strings.LastIndex(string(p), "/")+1:], names)
		b.fault(field+"."+name, "the request never sends the %s %s, which is to say how many items a page has%s", what, p, near)
	}
	return p
}

// sealKey reads the key of cursors, nil when none is given.
func (c *compiler) sealKey() *rest.Secret {
	v, ok := below(c.cfg.Value, "server.sealKey")
	if !ok {
		return nil
	}
	s := c.secret(v, "server.sealKey")
	if s != nil && s.InboundHeader != "" {
		c.add("server.sealKey", "is the server's own, and not for callers to give")
	}
	return s
}
