package compile

import (
	"encoding/json"
	"mime"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/exec"
)

// steps compiles what the tool does: its one request, or its steps in the order
// in which the operator declares them.
func (b *toolCompiler) steps(tool *exec.Tool) {
	b.absentRules()
	if b.at("http").Exists() {
		if req := b.request(tool, "http", true); req != nil {
			tool.Steps = []exec.Step{{
				Request:     req,
				Accept:      b.statuses("response.accept"),
				ContentType: b.contentType("response.contentType"),
				Error:       b.jq("response.error"),
				Retry:       b.retry("response.retry"),
			}}
		}
		return
	}
	var names []string
	for name := range fields(b.src.Own.LookupPath(parsePath("steps"))) {
		names = append(names, name)
	}
	if len(names) == 0 && b.at(bind.RootSteps).Exists() {
		b.fault(bind.RootSteps, "holds no step")
	}
	for _, name := range names {
		b.step(tool, name)
	}
	b.unsent()
	b.stepOrder(tool, names)
}

// step compiles one step.
func (b *toolCompiler) step(tool *exec.Tool, name string) {
	field := cue.MakePath(cue.Str("steps"), cue.Str(name)).String()
	step := exec.Step{
		Name:        name,
		Accept:      b.statuses(field + ".accept"),
		Optional:    yes(b.at(field), "optional", false),
		ContentType: b.contentType(field + ".contentType"),
		Error:       b.jq(field + ".error"),
		Retry:       b.retry(field + ".retry"),
		JQ:          b.jq(field + ".jq"),
	}
	if when := parsePath(field + ".when"); b.src.Own.LookupPath(when).Exists() {
		step.When = b.evaluator([]cue.Path{when})
	}
	if b.src.Own.LookupPath(parsePath(field + ".each")).Exists() {
		step.Each = b.each(tool, field+".each")
	} else {
		step.Request = b.request(tool, field+".http", false)
	}
	if step.Each == nil && step.Request == nil {
		return
	}
	tool.Steps = append(tool.Steps, step)
}

// contentType compiles the media type that answers are taken for, nil when none
// is given.
func (b *toolCompiler) contentType(field string) bind.Evaluator {
	path := parsePath(field)
	v := b.src.Own.LookupPath(path)
	if !v.Exists() {
		return nil
	}
	value, err := v.String()
	if err != nil {
		return b.evaluator([]cue.Path{path})
	}
	if mediaType, _, err := mime.ParseMediaType(value); err != nil || !strings.Contains(mediaType, "/") {
		b.fault(field, "%q is no media type, such as application/json", value)
	}
	if !refersToNothing(v.Source()) { // what it is without arguments, and not with all
		return b.evaluator([]cue.Path{path})
	}
	literal, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string is always valid
	}
	return exec.Constant(literal)
}

// retry compiles which failures make a request again, nil when none do.
func (b *toolCompiler) retry(field string) *exec.Retry {
	v := b.at(field)
	if !v.Exists() {
		return nil
	}
	return &exec.Retry{On: b.jq(field + ".on"), Pace: b.pace(v, b.path+"."+field)}
}

// each compiles a list of requests, which is made by CUE at the call.
func (b *toolCompiler) each(tool *exec.Tool, field string) *exec.Each {
	e := &exec.Each{List: b.evaluator([]cue.Path{parsePath(field)}), Base: map[string]bind.Request{}}
	for name, up := range b.upstreams {
		e.Base[name] = up.request(name)
		tool.Timeout = max(tool.Timeout, up.timeout)
	}
	r := &requestCompiler{toolCompiler: b, field: field}
	if name := r.upstream(); name != "" {
		e.Base[""] = b.to(name).request(name)
	}
	b.tryOut([]cue.Path{parsePath(field)}, nil)
	b.slips(field)
	b.literalEach(field)
	return e
}

// literalEach finds paths, methods and upstreams in a list of requests that
// depend on what the list is made of, and links that come from a caller:
// nothing that does is read as a template or a URL.
func (b *toolCompiler) literalEach(field string) {
	bound := []string{bind.RootInput, bind.RootSteps}
	src := b.src.Own.LookupPath(parsePath(field)).Source()
	if src == nil {
		return
	}
	from := map[string]origins{} // of the names that are bound in it
	ast.Walk(src, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForClause:
			for _, id := range []*ast.Ident{n.Key, n.Value} {
				if id != nil {
					bound = append(bound, id.Name)
					from[id.Name] = b.origins(n.Source, from)
				}
			}
		case *ast.LetClause:
			bound = append(bound, n.Ident.Name)
			from[n.Ident.Name] = b.origins(n.Expr, from)
		}
		return true
	}, nil)
	ast.Walk(src, func(n ast.Node) bool {
		f, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		name, _, err := ast.LabelName(f.Label)
		if err == nil && name == "url" {
			b.link(field, f.Pos(), b.origins(f.Value, from))
			return false
		}
		if err == nil && slices.Contains([]string{"vars", "query", "headers", "body", "form", "multipart", "text", "binary"}, name) {
			return false // what is sent may have members of any name
		}
		if err != nil || !slices.Contains([]string{"path", "method", "upstream"}, name) {
			return true
		}
		ast.Walk(f.Value, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && slices.Contains(bound, id.Name) {
				b.addAt(id.Pos(), b.path+"."+field, "%s must be literal: give what varies as vars, and refer to it as a variable of the path", name)
			}
			return true
		}, nil)
		return false
	}, nil)
}

// unsent finds arguments of a tool with steps that nothing refers to.
func (b *toolCompiler) unsent() {
	if b.unread {
		return
	}
	r := &requestCompiler{toolCompiler: b}
	referred, everything := r.referred(nil)
	if !everything {
		b.open()
	}
	for name := range b.inPaths {
		referred[name] = true
	}
	for _, f := range b.schema.Fields {
		if !everything && !referred[f.Name] && b.sound(f.Name) {
			b.addAt(f.Pos, member(b.path+".input", f.Name), "argument %s is accepted and never sent: no step refers to it", f.Name)
		}
	}
}

// stepOrder finds references to steps that come later, and notes the others.
func (b *toolCompiler) stepOrder(tool *exec.Tool, names []string) {
	for i, name := range names {
		field := cue.MakePath(cue.Str("steps"), cue.Str(name)).String()
		src := b.src.Own.LookupPath(parsePath(field)).Source()
		if src == nil {
			continue
		}
		for _, ref := range b.src.Refs() {
			if ref.Root != bind.RootSteps || len(ref.Path) == 0 || !within(ref, src) {
				continue
			}
			to := slices.Index(names, ref.Path[0])
			if to >= i {
				b.addAt(ref.Pos, b.path+"."+field, "refers to step %s, which comes later: a step sees only earlier ones", ref.Path[0])
			}
			j := slices.IndexFunc(tool.Steps, func(s exec.Step) bool { return s.Name == name })
			if to >= 0 && j >= 0 && !slices.Contains(tool.Steps[j].Refers, ref.Path[0]) {
				tool.Steps[j].Refers = append(tool.Steps[j].Refers, ref.Path[0])
			}
		}
	}
}
