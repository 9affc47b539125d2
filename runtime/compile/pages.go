package compile

import (
	"slices"

	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/jsonschema"
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
	if b.at("steps").Exists() {
		b.fault(field, "needs http: of several steps, none has the pages")
		return
	}
	if i := slices.IndexFunc(b.schema.Fields, func(f jsonschema.Field) bool { return f.Name == exec.CursorArgument }); i >= 0 {
		b.addAt(b.schema.Fields[i].Pos, member(b.path+".input", exec.CursorArgument), "the tool has an argument of that name by response.paginate: rename this one, or leave it out where it is what paginate asks the API for")
		return
	}
	pages := &exec.Paging{Items: b.jq(field + ".items"), More: b.jq(field + ".more"), By: b.pager(tool, v, field)}
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

// pager compiles the way in which the API pages.
func (b *toolCompiler) pager(tool *exec.Tool, v cue.Value, field string) exec.Pager {
	if m, ok := below(v, "cursor"); ok {
		by := &exec.ByCursor{In: b.place(tool, m, field+".cursor", "in"), Header: text(m, "header"), JQ: b.jq(field + ".cursor.jq")}
		if _, ok := below(m, "header"); ok {
			b.headerToken(b.path+"."+field+".cursor.header", by.Header)
		}
		return by
	}
	if m, ok := below(v, "page"); ok {
		return &exec.ByNumber{Number: b.place(tool, m, field+".page", "number"), First: whole(m, "first", 1), Size: b.place(tool, m, field+".page", "size")}
	}
	if m, ok := below(v, "offset"); ok {
		return &exec.ByOffset{Skip: b.place(tool, m, field+".offset", "skip"), Size: b.place(tool, m, field+".offset", "top")}
	}
	for _, name := range []string{"link", "nextLink"} {
		if _, ok := below(v, name); ok && text(b.at("http"), "method") != "GET" {
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

// place reads where requests hold what pages are asked for by. A place in the
// body needs one, of JSON.
func (b *toolCompiler) place(tool *exec.Tool, v cue.Value, field, name string) exec.Place {
	p := exec.Place(text(v, name))
	if !p.InBody() || len(tool.Steps) == 0 {
		return p
	}
	if req := tool.Steps[0].Request; req.Body == nil || req.Body.Kind != bind.BodyJSON {
		b.fault(field+"."+name, "%s is a member of the body, and the request has no body of JSON", p)
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
