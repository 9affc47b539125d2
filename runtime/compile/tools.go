package compile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/expr"
	"github.com/metacue/metacue/runtime/jsonschema"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/nearest"
)

// domains compiles the tools, domain by domain. Tools at fault are left out.
func (c *compiler) domains(tools map[string]*exec.Tool) []*catalog.Domain {
	var domains []*catalog.Domain
	byName := map[string]*catalog.Domain{}
	for name, v := range c.own("domains") {
		d := &catalog.Domain{
			Name:        name,
			Description: clean(text(v, "description")),
			Summary:     clean(text(v, "summary")),
			Unlisted:    !yes(v, "listed", true),
		}
		if d.Description == "" && v.LookupPath(parsePath("description")).Exists() {
			c.add(member("domains", name)+".description", "says nothing")
		}
		if d.Summary == "" {
			d.Summary = d.Description
		}
		domains = append(domains, d)
		byName[name] = d
		c.upstreamName(v, member("domains", name))
	}
	for _, t := range c.cfg.Tools() {
		before := c.faults
		b := &toolCompiler{compiler: c, src: t, path: t.Path.String(), inPaths: map[string]bool{}, spoilt: map[string]bool{}}
		tool := b.compile()
		broken, arguments := c.known.broken(b.path)
		broken = broken || c.faults > before || b.unsendable
		arguments = arguments || len(b.spoilt) > 0
		_, taken := tools[t.Name] // the first keeps the name, and the other is a finding
		c.compiled = append(c.compiled, compiled{t, tool, broken || taken, arguments})
		if broken || taken {
			continue
		}
		tools[t.Name] = tool
		byName[t.Domain].Tools = append(byName[t.Domain].Tools, tool.Info)
	}
	for _, s := range c.cfg.State() {
		if tool := c.state(s); tool != nil {
			tools[tool.Info.Name] = tool
			byName[s.Domain].State = append(byName[s.Domain].State, tool.Info)
		}
	}
	return slices.DeleteFunc(domains, func(d *catalog.Domain) bool { return len(d.Tools) == 0 })
}

// upstreamName checks an upstream that v names, and gives it; without one "".
func (c *compiler) upstreamName(v cue.Value, path string) string {
	name := text(v, "upstream")
	switch {
	case name == "" || c.upstreams[name] != nil:
	case len(c.order) == 0:
		c.noUpstream()
	default:
		c.add(path+".upstream", "there is no upstream %q%s", name, didYouMean(name, c.order))
	}
	return name
}

// noUpstream reports that there is none at all, once, and not when loading has
// told why.
func (c *compiler) noUpstream() {
	if len(c.o.Known) == 0 {
		c.add("upstreams", "holds no upstream that requests could go to")
	}
}

// clean makes one paragraph of a description.
func clean(s string) string { return strings.TrimSpace(s) }

// compiled is a tool and what is known of it.
type compiled struct {
	src  load.Tool
	tool *exec.Tool
	// broken says that the tool is at fault, arguments that its arguments are.
	broken, arguments bool
}

// toolCompiler compiles one tool.
type toolCompiler struct {
	*compiler
	src    load.Tool
	path   string // of the tool, for findings
	schema *jsonschema.Schema
	// inPaths holds the variables of the paths of all requests.
	inPaths map[string]bool
	// spoilt holds the arguments that there are findings about; the empty name is
	// that of all.
	spoilt map[string]bool
	// unsendable says that an upstream is at fault that requests go to, unread that
	// a path is, so that what it refers to is not known.
	unsendable, unread bool
	// isState says that it is a state request, which has no arguments.
	isState bool
	// required and all are the tool with what withRequired and withAll put in, once
	// they have; certain is what withAll says.
	required, all cue.Value
	certain       bool
}

// at gives a field of the tool, checked.
func (b *toolCompiler) at(path string) cue.Value { return b.src.Value.LookupPath(parsePath(path)) }

// fault reports a finding at a field of the tool.
func (b *toolCompiler) fault(field, format string, args ...any) {
	b.add(b.path+"."+field, format, args...)
}

func (b *toolCompiler) compile() *exec.Tool {
	v := b.src.Value
	info := &catalog.Tool{
		Name:        b.src.Name,
		Title:       text(v, "title"),
		Description: clean(text(v, "description")),
		Domain:      b.src.Domain,
		Noun:        text(v, "noun"),
		Returns:     clean(text(v, "returns")),
		Action:      text(v, "action"),
	}
	if info.Description == "" && b.at("description").Exists() {
		b.fault("description", "says nothing")
	}
	if why := clean(text(v, "deprecated")); why != "" {
		info.Deprecated = why
		info.Description += catalog.Deprecation(why)
	} else if b.at("deprecated").Exists() {
		b.fault("deprecated", "says nothing")
	}
	info.Aliases = strs(v, "aliases")
	action, ok := b.actions[info.Action]
	if !ok && info.Action != "" {
		own := ""
		if len(nearest.Names(info.Action, b.actionNames())) == 0 {
			own = fmt.Sprintf("; actions of your own are declared at the top, actions: %s: effect: \"write\"", cue.Str(info.Action))
		}
		b.fault("action", "there is no action %q%s%s", info.Action, didYouMean(info.Action, b.actionNames()), own)
	}
	info.Effect, info.Idempotent = action.Effect, action.Idempotent
	info.Annotations = catalog.Annotations{
		ReadOnly:    yes(v, "annotations.readOnlyHint", action.Effect == catalog.Read),
		Destructive: yes(v, "annotations.destructiveHint", action.Effect == catalog.Destructive),
		Idempotent:  yes(v, "annotations.idempotentHint", action.Idempotent),
		OpenWorld:   yes(v, "annotations.openWorldHint", true),
	}

	b.hints(action)

	tool := &exec.Tool{Info: info}
	b.input(tool)
	b.steps(tool)
	b.response(tool)
	if ex, err := b.at("examples").List(); err == nil {
		for ex.Next() {
			if args, err := expr.Export(ex.Value().LookupPath(parsePath("arguments"))); err == nil {
				info.Examples = append(info.Examples, catalog.Example{Description: text(ex.Value(), "description"), Arguments: args})
			}
		}
	}
	return tool
}

func (c *compiler) actionNames() []string {
	var names []string
	for name := range c.actions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// input compiles the arguments: schema, check, defaults and constants.
func (b *toolCompiler) input(tool *exec.Tool) {
	defaults, unfit := b.fitting()
	schema, findings := jsonschema.Compile(b.inputValue(), jsonschema.Options{
		Defaults: defaults,
		Doc:      b.cfg.Doc,
		Pos:      b.cfg.Position,
		Path:     b.path + ".input",
	})
	for _, f := range findings {
		b.spoil(f.Path)
		if !b.known.implies(f.Path) {
			f.Message = diag.Brief(f.Message)
			b.find(f)
		}
	}
	b.habits()
	b.misfits(unfit)
	if schema == nil {
		schema = &jsonschema.Schema{JSON: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`), Exact: true}
	}
	b.schema = schema
	tool.Info.InputSchema = schema.JSON
	b.readable("input", schema.JSON)
	validator, err := jsonschema.NewValidator(schema.JSON)
	if err != nil {
		b.fault("input", "its schema cannot be used: %v", err)
	}
	tool.Validator = validator

	var shown []exec.Value
	for _, f := range schema.Fields {
		b.arguments[f.Name] = true
		switch {
		case f.Constant != nil:
			tool.Fill = append(tool.Fill, exec.Value{Name: f.Name, JSON: f.Constant})
		case f.Default != nil:
			tool.Fill = append(tool.Fill, exec.Value{Name: f.Name, JSON: f.Default, With: b.goesWith(f), Demanded: f.Demanded})
			if f.ServerDefault {
				shown = append(shown, exec.Value{Name: f.Name, JSON: f.Default})
			}
		}
	}
	tool.Info.Defaults = object(shown)
	if hasCheck := b.src.Own.LookupPath(parsePath("check")).Exists(); hasCheck || !schema.Exact {
		tool.Verifier = expr.NewTool(b.pool, b.src.Path, !schema.Exact, hasCheck)
	}
}

// spoil notes that there is a finding at a path, which may be that of an argument.
func (b *toolCompiler) spoil(path string) {
	rest, ok := strings.CutPrefix(path, b.path+".input")
	if !ok {
		return
	}
	if rest == "" {
		b.spoilt[""] = true
	}
	it, err := b.inputValue().Fields(cue.All())
	if err != nil {
		return
	}
	for it.Next() {
		if it.Selector().LabelType() != cue.StringLabel {
			continue
		}
		name := it.Selector().Unquoted()
		if after, ok := strings.CutPrefix(path, member(b.path+".input", name)); ok && (after == "" || after[0] == '.' || after[0] == '[') {
			b.spoilt[name] = true
		}
	}
}

// sound says whether an argument, if it is one, has no findings: what would be
// said of how it is used follows from them.
func (b *toolCompiler) sound(name string) bool { return !b.spoilt[""] && !b.spoilt[name] }

// fitting gives the server-level defaults for the tool's arguments, and for those
// that do not fit why.
func (b *toolCompiler) fitting() (defaults map[string]json.RawMessage, unfit map[string]error) {
	defaults, unfit = map[string]json.RawMessage{}, map[string]error{}
	for _, d := range b.defaults {
		f, ok := declared(b.inputValue(), d.Name)
		if !ok || b.takesNone(f, d.Name) {
			continue
		}
		if err := f.Unify(b.serverDefault(d.Name)).Validate(cue.Concrete(true), cue.Final()); err != nil {
			unfit[d.Name] = err
			continue
		}
		defaults[d.Name] = d.JSON
	}
	return defaults, unfit
}

// goesWith is what a server-level default for an argument goes with, where the
// tool has an argument for that as well.
func (b *toolCompiler) goesWith(f jsonschema.Field) *exec.Value {
	if i := slices.IndexFunc(b.defaults, func(d exec.Value) bool { return d.Name == f.Name }); f.ServerDefault && i >= 0 {
		with := b.defaults[i].With
		if with != nil && slices.ContainsFunc(b.schema.Fields, func(f jsonschema.Field) bool { return f.Name == with.Name }) {
			return with
		}
	}
	return nil
}

// takesNone says whether an argument takes no server-level default: @default(none).
func (b *toolCompiler) takesNone(f cue.Value, name string) bool {
	a := f.Attribute(load.DefaultAttribute)
	if a.Err() != nil {
		return false
	}
	if what := strings.TrimSpace(a.Contents()); what != "none" {
		b.addAt(f.Pos(), member(b.path+".input", name), "@default takes none, for an argument without the server-level default, and not %q: a default of its own is written *value | type", what)
	}
	return true
}

// misfits reports server-level defaults that do not fit arguments. One is told
// once, whatever the number of tools.
func (b *toolCompiler) misfits(unfit map[string]error) {
	for _, name := range slices.Sorted(maps.Keys(unfit)) {
		b.meant = append(b.meant, name)
		if b.sound(name) && !b.unfit[name] {
			b.unfit[name] = true
			b.add(member("defaults", name), "does not fit the argument %s of %s: %s", name, b.src.Name, reason(unfit[name]))
		}
	}
}

// inputValue is the operator's own input: unified with the definitions it would
// have lost its comments.
func (b *toolCompiler) inputValue() cue.Value {
	return b.src.Own.LookupPath(parsePath("input"))
}

// readable reports a schema with a number that a client cannot read: most keep
// them as doubles (RFC 8259, section 6).
func (b *toolCompiler) readable(field string, schema json.RawMessage) {
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		b.fault(field, "its schema holds a number that is too large for a double, and clients cannot read it")
	}
}

// object writes values as one JSON object, nil when there are none.
func object(values []exec.Value) json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	var out bytes.Buffer
	for i, v := range values {
		name, err := json.Marshal(v.Name)
		if err != nil {
			panic(err) // a string is always valid
		}
		out.WriteByte("{,"[min(i, 1)])
		out.Write(name)
		out.WriteByte(':')
		out.Write(v.JSON)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// response compiles what becomes of the answer.
func (b *toolCompiler) response(tool *exec.Tool) {
	r := b.at("response")
	tool.Response.MaxBytes = whole(r, "maxBytes", 0)
	tool.Response.JQ = b.jq("response.jq")
	if b.at("steps").Exists() {
		for _, field := range []string{"accept", "contentType", "error", "retry"} {
			if b.at("response." + field).Exists() {
				b.fault("response."+field, "belongs to the step whose answer it is about")
			}
		}
	}
	b.pages(tool)
	b.output(tool)
}

// output compiles the declaration of the result.
func (b *toolCompiler) output(tool *exec.Tool) {
	const field = "response.schema"
	v := b.src.Own.LookupPath(parsePath(field))
	if !v.Exists() {
		return
	}
	schema, findings := jsonschema.Compile(v, jsonschema.Options{Doc: b.cfg.Doc, Pos: b.cfg.Position, Data: true, Path: b.path + "." + field})
	for _, f := range findings {
		b.find(f)
	}
	if len(findings) > 0 {
		return
	}
	if tool.Response.Paging != nil {
		page, err := tool.Response.Paging.PageSchema(schema.JSON)
		if err != nil {
			b.fault(field, "cannot be used: %v", err)
			return
		}
		schema.JSON = page
	}
	var root struct{ Type any }
	if err := json.Unmarshal(schema.JSON, &root); err != nil || root.Type != "object" {
		b.fault(field, "must be a struct: MCP knows results that are objects alone; let jq put the result into one")
		return
	}
	for _, gap := range schema.Open {
		b.fault(field, "%s cannot be stated in JSON Schema, and results are held against that alone: %s", cmp.Or(gap.Path, "it"), gap.Reason)
	}
	validator, err := jsonschema.NewValidator(schema.JSON)
	if err != nil {
		b.fault(field, "cannot be used: %v", err)
		return
	}
	b.readable(field, schema.JSON)
	tool.Info.OutputSchema, tool.Response.Schema = schema.JSON, validator
}

// jq compiles the program at a field, nil when there is none.
func (b *toolCompiler) jq(field string) *exec.JQ {
	src, err := b.at(field).String()
	if err != nil {
		return nil
	}
	jq, err := exec.ParseJQ(src)
	if err != nil {
		b.fault(field, "is no jq program: %v", err)
		return nil
	}
	return jq
}

// statuses gives the statuses listed at a field.
func (b *toolCompiler) statuses(field string) []int {
	list, err := b.at(field).List()
	if err != nil {
		return nil
	}
	var out []int
	for list.Next() {
		if n, err := list.Value().Int64(); err == nil {
			out = append(out, int(n))
		}
	}
	return out
}

var _ bind.Evaluator = (*expr.Request)(nil)
