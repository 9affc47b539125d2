package compile

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/expr"
	"github.com/metacue/metacue/runtime/jsonschema"
	"github.com/metacue/metacue/runtime/load"
)

// requestCompiler compiles one #Request of a tool: what only moves values to
// their places becomes plain Go, everything else an expression for CUE.
type requestCompiler struct {
	*toolCompiler
	field string     // of the tool: http, or steps.NAME.http
	exprs []cue.Path // below the tool, in the order of bind.Expr
	// inList says that the value being compiled is in one of lists.
	inList bool
	lists  []cue.Path // that only move values, below the tool
}

// bodies holds the fields that say what the body of a request is.
var bodies = []struct {
	field string
	kind  bind.BodyKind
}{
	{"body", bind.BodyJSON},
	{"form", bind.BodyForm},
	{"multipart", bind.BodyMultipart},
	{"text", bind.BodyText},
	{"binary", bind.BodyBinary},
}

// request compiles the request at a field of the tool, nil when it is at fault.
// convention says that arguments which nothing refers to are placed.
func (b *toolCompiler) request(tool *exec.Tool, field string, convention bool) *bind.Request {
	r := &requestCompiler{toolCompiler: b, field: field}
	name := r.upstream()
	up := b.to(name)
	req := up.request(name)
	req.Method = text(b.at(r.field), "method")
	found := r.where(&req)
	b.slips(field) // once it is known what the path sends
	if !found {
		b.unread = true
		return nil
	}
	req.Query = r.region("query")
	req.Headers = r.region("headers")
	for _, body := range bodies {
		if !r.own(body.field).Exists() {
			continue
		}
		if req.Body != nil {
			r.fault(r.field+"."+body.field, "a request has one body: there is another kind beside it")
			continue
		}
		req.Body = &bind.Body{Kind: body.kind, Value: r.node(body.field)}
		if body.kind == bind.BodyMultipart {
			for name, part := range fields(r.own(body.field), cue.Optional(true)) {
				r.files(member(r.path+"."+r.field+"."+body.field, name), part)
			}
		}
	}
	r.headerNames(req.Headers)
	up.secrets("query", req.Query, func(f, why string) { r.fault(member(r.field+".query", f), "%s", why) })
	up.secrets("headers", req.Headers, func(f, why string) { r.fault(member(r.field+".headers", f), "%s", why) })
	r.flat("query", req.Query)
	if convention {
		r.place(&req)
	}
	if req.Method == http.MethodHead && req.Body != nil {
		r.fault(r.field+".method", "a HEAD request has no body")
	}
	r.updateDefaults(tool, &req)
	req.Exprs = b.evaluator(r.exprs)
	r.tryOut(r.exprs, r.lists)
	tool.Timeout = max(tool.Timeout, up.timeout) // as long as the slowest may take
	return &req
}

// to gives an upstream by name. Requests to one that there is not, or that is at
// fault, are checked like others and never sent.
func (b *toolCompiler) to(name string) *upstream {
	up := b.upstreams[name]
	if up == nil {
		up = &upstream{base: &url.URL{Scheme: "http", Host: "invalid.invalid"}, faulty: true}
	}
	b.unsendable = b.unsendable || up.faulty
	return up
}

// where compiles the path of the request, or the link that stands in its place.
func (r *requestCompiler) where(req *bind.Request) bool {
	if r.own("url").Exists() {
		if r.own("vars").Exists() {
			r.fault(r.field+".vars", "there is no path that they could stand in: the request goes to a url")
		}
		req.URL = r.node("url")
		r.link(r.field+".url", r.own("url").Pos(), r.origins(r.own("url").Source(), nil))
		return true
	}
	path := text(r.at(r.field), "path")
	template, err := bind.ParseTemplate(path)
	if err != nil {
		r.inTemplate(err)
		r.unknownIn(path)
		return false
	}
	if r.colons(path) {
		return false
	}
	req.Path = template
	req.Vars = r.region("vars")
	r.pathVariables(template, req)
	return true
}

// inTemplate reports the faults of a path, each at its own column where the path
// is one literal.
func (r *requestCompiler) inTemplate(err error) {
	var faults bind.TemplateErrors
	if !errors.As(err, &faults) {
		r.fault(r.field+".path", "%v", err)
	}
	for _, f := range faults {
		r.addAt(r.inPath(f.Offset), r.path+"."+r.field+".path", "%s", f.Message)
	}
}

// variables are expressions of a template that are without fault by themselves.
var variables = regexp.MustCompile(`\{[+/?]?([A-Za-z_]\w*(?:,[A-Za-z_]\w*)*)\}`)

// unknownIn reports the variables that stand for nothing in a path that is at fault
// elsewhere, so that they are not told only once that is mended.
func (r *requestCompiler) unknownIn(path string) {
	if r.isState || r.spoilt[""] {
		return
	}
	names := r.varNames()
	for _, f := range r.schema.Fields {
		names = append(names, f.Name)
	}
	for _, m := range variables.FindAllStringSubmatchIndex(path, -1) {
		if m[0] > 0 && path[m[0]-1] == '{' { // {{x}}, which is told already
			continue
		}
		for name := range strings.SplitSeq(path[m[2]:m[3]], ",") {
			if !slices.Contains(names, name) && r.sound(name) {
				r.addAt(r.inPath(m[0]), r.path+"."+r.field+".path", "{%s} is no argument of the tool%s", name, didYouMean(name, names))
			}
		}
	}
}

// inPath is the place of a byte of the path, or that of the field where the path
// is not one literal without escapes.
func (r *requestCompiler) inPath(offset int) token.Pos {
	v := r.own("path")
	if lit, ok := syntax(v).(*ast.BasicLit); ok {
		if s, err := v.String(); err == nil && lit.Value == `"`+s+`"` {
			return lit.Pos().Add(1 + offset)
		}
	}
	return v.Pos()
}

// colon is a segment of a path as other routers write variables.
var colon = regexp.MustCompile(`/:([A-Za-z_][A-Za-z0-9_]*)(/|$)`)

// colons reports segments such as :id, which would be sent as they stand.
func (r *requestCompiler) colons(path string) bool {
	var segments, variables []string
	first := 0
	for at := 0; ; {
		m := colon.FindStringSubmatchIndex(path[at:])
		if m == nil {
			break
		}
		if len(segments) == 0 {
			first = at + m[0] + 1
		}
		name := path[at+m[2] : at+m[3]]
		segments, variables = append(segments, ":"+name), append(variables, "{"+name+"}")
		at += m[3]
	}
	if len(segments) == 0 {
		return false
	}
	r.addAt(r.inPath(first), r.path+"."+r.field+".path", "%s would be sent as it stands: write %s for a variable, or %%3A for a colon",
		strings.Join(segments, " and "), strings.Join(variables, " and "))
	return true
}

// origins says where values come from.
type origins struct{ input, steps bool }

// origins gives what an expression is made of. bound holds the origins of names
// that comprehensions around it bind.
func (b *toolCompiler) origins(src ast.Node, bound map[string]origins) origins {
	var o origins
	if src == nil {
		return o
	}
	for _, ref := range b.src.Refs() {
		if within(ref, src) {
			o.input = o.input || ref.Root == bind.RootInput
			o.steps = o.steps || ref.Root == bind.RootSteps
		}
	}
	ast.Walk(src, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			from := bound[id.Name]
			o.input, o.steps = o.input || from.input, o.steps || from.steps
		}
		return true
	}, nil)
	return o
}

// link checks what the url at a field is made of: an answer of an earlier step,
// and nothing that a caller sends, which is never read as a URL.
func (b *toolCompiler) link(field string, p token.Pos, from origins) {
	switch {
	case from.input:
		b.addAt(p, b.path+"."+field, "must not refer to input: nothing that a caller sends is read as a URL; give what varies in query")
	case !from.steps:
		b.addAt(p, b.path+"."+field, "must refer to the answer of an earlier step, as steps.NAME.result.link does; any other request has a path")
	}
}

// evaluator gives the evaluator of the expressions at paths below the tool, nil
// when there are none.
func (b *toolCompiler) evaluator(paths []cue.Path) bind.Evaluator {
	if len(paths) == 0 {
		return nil
	}
	return expr.NewTool(b.pool, b.src.Path, false, false).Request(paths)
}

// upstream finds where the request goes: the request's, the domain's, or the
// only one.
func (r *requestCompiler) upstream() string {
	if name := r.upstreamName(r.at(r.field), r.path+"."+r.field); name != "" {
		return name
	}
	if name := text(r.cfg.Value.LookupPath(cue.MakePath(cue.Str("domains"), cue.Str(r.src.Domain))), "upstream"); name != "" {
		return name
	}
	switch len(r.order) {
	case 0:
		r.noUpstream()
		return ""
	case 1:
		return r.order[0]
	}
	r.fault(r.field, "does not say which upstream it goes to, and neither does the domain; there is %s", strings.Join(r.order, ", "))
	return ""
}

// own gives a field of the request as the operator wrote it.
func (r *requestCompiler) own(field string) cue.Value {
	return r.src.Own.LookupPath(parsePath(r.field + "." + field))
}

// region compiles a field that holds a struct of values by name. One that is
// more than a plain literal is an expression whose members are spread.
func (r *requestCompiler) region(name string) []bind.Field {
	v := r.own(name)
	if !v.Exists() {
		return nil
	}
	switch n := r.node(name).(type) {
	case bind.Object:
		if hasField(n, "") {
			r.fault(r.field+"."+name, "holds a field that has no name")
		}
		return n
	default:
		return []bind.Field{{Value: n}}
	}
}

// node compiles the value at a path below the request.
func (r *requestCompiler) node(path string) bind.Node {
	return r.value(r.own(path), parsePath(r.field+"."+path))
}

func (r *requestCompiler) value(v cue.Value, p cue.Path) bind.Node {
	if ref, ok := r.reference(v); ok {
		return ref
	}
	switch x := syntax(v).(type) {
	case *ast.StructLit:
		if names, ok := plainStruct(x); ok {
			object := make(bind.Object, 0, len(names))
			for _, name := range names {
				sel := cue.Str(name)
				object = append(object, bind.Field{Name: name, Value: r.value(v.LookupPath(cue.MakePath(sel)), join(p, sel))})
			}
			return object
		}
	case *ast.ListLit:
		if plainList(x) {
			within := r.inList
			if r.inList = true; !within {
				r.lists = append(r.lists, p)
			}
			list := make(bind.List, 0, len(x.Elts))
			for i := range x.Elts {
				sel := cue.Index(i)
				list = append(list, r.value(v.LookupPath(cue.MakePath(sel)), join(p, sel)))
			}
			r.inList = within
			return list
		}
	default:
		if literal(x) {
			if b, err := v.MarshalJSON(); err == nil {
				return bind.Const(b)
			}
		}
	}
	r.exprs = append(r.exprs, p)
	return bind.Expr(len(r.exprs) - 1)
}

func join(p cue.Path, s cue.Selector) cue.Path {
	return cue.MakePath(append(slices.Clone(p.Selectors()), s)...)
}

// reference says whether v only moves an argument, and which. Arguments in which
// CUE would fill in defaults are left to CUE.
func (r *requestCompiler) reference(v cue.Value) (bind.Ref, bool) {
	switch syntax(v).(type) {
	case *ast.SelectorExpr:
	default:
		return bind.Ref{}, false
	}
	_, p := v.ReferencePath()
	sels := p.Selectors()
	prefix := r.src.Path.Selectors()
	if len(sels) < len(prefix)+2 || !slices.Equal(sels[:len(prefix)], prefix) {
		return bind.Ref{}, false
	}
	ref := bind.Ref{Root: sels[len(prefix)].String()}
	for _, s := range sels[len(prefix)+1:] {
		if s.LabelType() != cue.StringLabel || s.PkgPath() != "" {
			return bind.Ref{}, false
		}
		ref.Path = append(ref.Path, s.Unquoted())
	}
	switch ref.Root {
	case bind.RootSteps:
		// Whatever an answer holds is moved as data.
		return ref, true
	case bind.RootInput:
		at := r.inputValue()
		for _, name := range ref.Path {
			member, ok := declared(at, name)
			if !ok {
				return bind.Ref{}, false
			}
			at = member
		}
		return ref, asGiven(at, 0)
	}
	return bind.Ref{}, false
}

// declared finds a member of v that is declared by name, whatever its marks: a
// pattern that the name would match is no declaration.
func declared(v cue.Value, name string) (cue.Value, bool) {
	it, err := v.Fields(cue.All())
	if err != nil {
		return cue.Value{}, false
	}
	for it.Next() {
		if s := it.Selector(); s.LabelType() == cue.StringLabel && s.Unquoted() == name {
			return it.Value(), true
		}
	}
	return cue.Value{}, false
}

// maxDepth bounds the look into an argument's type; a deeper or recursive one
// is left to CUE.
const maxDepth = 8

// asGiven says whether CUE leaves a value of type v as the caller gives it: no
// default or constant is filled in at any depth.
func asGiven(v cue.Value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	// A list that must not be empty has no kind of its own: CUE's default for it,
	// [], breaks its rule.
	if k := v.IncompleteKind(); k != cue.BottomKind && k&(cue.StructKind|cue.ListKind) == 0 {
		return true
	}
	if op, arms := cue.Dereference(v).Expr(); op == cue.OrOp || op == cue.AndOp {
		for _, a := range arms {
			if !asGiven(a, depth+1) {
				return false
			}
		}
		if op == cue.OrOp {
			return true
		}
	}
	if v.IncompleteKind()&cue.ListKind != 0 {
		if e := v.LookupPath(cue.MakePath(cue.AnyIndex)); e.Exists() && !asGiven(e, depth+1) {
			return false
		}
	}
	if e := v.LookupPath(cue.MakePath(cue.AnyString)); e.Exists() && !asGiven(e, depth+1) {
		return false
	}
	it, err := v.Fields(cue.All())
	if err != nil {
		return v.IncompleteKind()&cue.StructKind == 0
	}
	for it.Next() {
		s := it.Selector()
		if s.ConstraintType() == 0 && s.LabelType() == cue.StringLabel {
			return false // defaulted or constant
		}
		if s.LabelType() == cue.StringLabel && !asGiven(it.Value(), depth+1) {
			return false
		}
	}
	return true
}

// syntax gives the expression that v was written as, nil when it comes from
// more than one place.
func syntax(v cue.Value) ast.Node {
	x := v.Source()
	for {
		switch n := x.(type) {
		case *ast.Field:
			x = n.Value
		case *ast.ParenExpr:
			x = n.X
		default:
			return x
		}
	}
}

// plainStruct gives the names of a struct literal's fields when it is nothing
// but fields with literal names.
func plainStruct(x *ast.StructLit) ([]string, bool) {
	var names []string
	for _, d := range x.Elts {
		switch d := d.(type) {
		case *ast.Field:
			if d.Constraint != token.ILLEGAL || d.Alias != nil {
				return nil, false
			}
			if _, ok := d.Label.(*ast.Alias); ok {
				return nil, false
			}
			name, isIdent, err := ast.LabelName(d.Label)
			if err != nil || slices.Contains(names, name) || isIdent && (strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#")) {
				return nil, false
			}
			names = append(names, name)
		case *ast.CommentGroup, *ast.Attribute, *ast.LetClause:
		default:
			return nil, false
		}
	}
	return names, true
}

// plainList says whether a list literal is nothing but elements.
func plainList(x *ast.ListLit) bool {
	for _, e := range x.Elts {
		switch e.(type) {
		case *ast.Comprehension, *ast.Ellipsis:
			return false
		}
	}
	return true
}

// literal says whether x is one value, written out.
func literal(x ast.Node) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return true
	case *ast.UnaryExpr:
		_, ok := x.X.(*ast.BasicLit)
		return ok && (x.Op == token.SUB || x.Op == token.ADD)
	}
	return false
}

// place puts the arguments that nothing refers to where convention puts them.
func (r *requestCompiler) place(req *bind.Request) {
	referred, everything := r.referred(req)
	if everything {
		return
	}
	r.open()
	where := bind.ConventionPlace(req.Method)
	var body bind.Object
	for _, f := range r.schema.Fields {
		if referred[f.Name] || !r.sound(f.Name) {
			continue
		}
		if f.Name == "" {
			r.addAt(f.Pos, member(r.path+".input", f.Name), "has no name")
			continue
		}
		ref := bind.Field{Name: f.Name, Value: bind.Ref{Root: bind.RootInput, Path: []string{f.Name}}}
		if !asGiven(f.Value, 0) {
			ref.Value = r.inputExpr(f.Name)
		}
		switch {
		case where == bind.PlaceQuery:
			if r.structural(f) {
				r.addAt(f.Pos, member(r.path+".input", f.Name), "an object cannot stand in the query: write an expression for it in %s.query", r.field)
				continue
			}
			if slices.Contains(req.Strip, f.Name) {
				r.addAt(f.Pos, member(r.path+".input", f.Name), "argument %s would be sent as query parameter %s, which holds the upstream's credentials: rename it", f.Name, f.Name)
				continue
			}
			if hasField(req.Query, f.Name) || hasField(req.BaseQuery, f.Name) {
				r.addAt(f.Pos, member(r.path+".input", f.Name), "argument %s would be sent as query parameter %s, which the request sets already: refer to it there, or rename it", f.Name, f.Name)
				continue
			}
			req.Query = append(req.Query, ref)
		case req.Body != nil:
			r.addAt(f.Pos, member(r.path+".input", f.Name), "argument %s is accepted and never sent: the request writes its body itself and does not refer to it", f.Name)
		default:
			body = append(body, ref)
		}
	}
	if len(body) > 0 {
		req.Body = &bind.Body{Kind: bind.BodyJSON, Value: body}
	}
}

// open reports an input that takes arguments which it does not name: no
// convention says where they go.
func (b *toolCompiler) open() {
	var schema struct {
		AdditionalProperties json.RawMessage `json:"additionalProperties"`
		PatternProperties    json.RawMessage `json:"patternProperties"`
	}
	if !b.spoilt[""] && json.Unmarshal(b.schema.JSON, &schema) == nil && (string(schema.AdditionalProperties) != "false" || schema.PatternProperties != nil) {
		b.fault(bind.RootInput, "takes arguments that it does not name, which are accepted and never sent: name them, or refer to input as a whole, as body: input does")
	}
}

// inputExpr is an argument as CUE makes it, with what it fills in.
func (r *requestCompiler) inputExpr(name string) bind.Expr {
	r.exprs = append(r.exprs, cue.MakePath(cue.Str(bind.RootInput), cue.Str(name)))
	return bind.Expr(len(r.exprs) - 1)
}

// referred gives the arguments that the request or the shaping of its answer
// refers to. A rule in check is no reference: it says when a call is refused,
// not what is sent. everything means that input is used as a whole.
func (r *requestCompiler) referred(req *bind.Request) (names map[string]bool, everything bool) {
	names = map[string]bool{}
	for _, ref := range r.src.Refs() {
		if ref.Root != bind.RootInput || ref.Field == "check" {
			continue
		}
		if len(ref.Path) == 0 {
			everything = true
			continue
		}
		names[ref.Path[0]] = true
	}
	if req != nil && req.Path != nil {
		for _, v := range req.Path.Vars() {
			names[v.Name] = true
		}
	}
	return names, everything
}

func hasField(fields []bind.Field, name string) bool {
	return slices.ContainsFunc(fields, func(f bind.Field) bool { return f.Name == name })
}

// structural says whether an argument is an object, or a list of objects or
// lists, which have no place in a query or path.
func (r *requestCompiler) structural(f jsonschema.Field) bool { return structural(f.Value) }

func structural(v cue.Value) bool {
	k := v.IncompleteKind()
	if k == cue.TopKind || k == cue.BottomKind {
		return false
	}
	if k&cue.StructKind != 0 {
		return true
	}
	if k&cue.ListKind != 0 {
		e := v.LookupPath(cue.MakePath(cue.AnyIndex))
		return e.Exists() && e.IncompleteKind() != cue.TopKind && e.IncompleteKind()&(cue.StructKind|cue.ListKind) != 0
	}
	return false
}

// argument finds an argument by name.
func (r *requestCompiler) argument(name string) (jsonschema.Field, bool) {
	i := slices.IndexFunc(r.schema.Fields, func(f jsonschema.Field) bool { return f.Name == name })
	if i < 0 {
		return jsonschema.Field{}, false
	}
	return r.schema.Fields[i], true
}

// pathVariables checks the variables of the path against arguments and vars.
func (r *requestCompiler) pathVariables(t *bind.Template, req *bind.Request) {
	path := r.field + ".path"
	var names []string
	for _, f := range r.schema.Fields {
		names = append(names, f.Name)
	}
	vars := r.varNames()
	names = append(names, vars...)
	seen := map[string]bool{}
	for _, v := range t.Vars() {
		if seen[v.Name] {
			continue
		}
		seen[v.Name] = true
		r.inPaths[v.Name] = true
		if !r.sound(v.Name) {
			continue
		}
		if v.Query {
			r.queryVariable(path, v.Name, req)
		}
		f, ok := r.argument(v.Name)
		given := slices.Contains(vars, v.Name)
		switch {
		case ok && given:
			r.fault(r.field+".vars", "%s is an argument too: a path variable comes from one place", v.Name)
		case given:
		case !ok && r.isState:
			r.fault(path, "{%s} stands for nothing: a state request has no arguments; write the value itself, or give it in vars", v.Name)
		case !ok:
			r.fault(path, "{%s} is no argument of the tool%s", v.Name, didYouMean(v.Name, names))
		case structural(f.Value):
			r.fault(path, "{%s} is an object, which cannot stand in a path", v.Name)
		case !v.Optional && !f.Required && f.Default == nil && f.Constant == nil:
			r.fault(path, "{%s} may be left out by the caller: make the argument required, give it a default, or write {/%s}", v.Name, v.Name)
		}
	}
	for _, name := range vars {
		if !seen[name] {
			r.fault(r.field+".vars", "%s is not in the path%s", name, "")
		}
	}
}

// queryVariable finds a parameter that {?x} would send a second time.
func (r *requestCompiler) queryVariable(path, name string, req *bind.Request) {
	switch {
	case slices.Contains(req.Strip, name):
		r.fault(path, "{?%s} stands in the place of the upstream's credentials", name)
	case hasField(req.BaseQuery, name):
		r.fault(path, "{?%s} would be sent beside the upstream's own query parameter %s: set it in query to replace that", name, name)
	case r.own("query").LookupPath(cue.MakePath(cue.Str(name))).Exists():
		r.fault(path, "{?%s} and query both send %s", name, name)
	}
}

// files finds members that a part of multipart, a file or a list of them, cannot
// have. Those of an argument are what it declares.
func (r *requestCompiler) files(path string, v cue.Value) {
	if ref, _ := r.reference(v); ref.Root == bind.RootInput {
		v = r.inputValue()
		for _, name := range ref.Path {
			v, _ = declared(v, name)
		}
	}
	if list, ok := syntax(v).(*ast.ListLit); ok {
		for i, e := range list.Elts {
			if c, ok := e.(*ast.Comprehension); ok { // which has no value yet
				r.made(path, c.Value)
			} else {
				r.files(path, v.LookupPath(cue.MakePath(cue.Index(i))))
			}
		}
		if e := v.LookupPath(cue.MakePath(cue.AnyIndex)); e.Exists() {
			r.files(path, e)
		}
		return
	}
	if v.IncompleteKind() != cue.StructKind {
		return
	}
	var names []string
	for name, f := range fields(v, cue.Optional(true)) {
		if names = append(names, name); !r.inFile(path, name, f.Pos()) {
			names = append(names, "text") // which it may be meant to be
		}
	}
	if x, ok := syntax(v).(*ast.StructLit); ok && !slices.Contains(names, "text") && !slices.Contains(names, "base64") {
		if _, plain := plainStruct(x); plain {
			r.addAt(v.Pos(), path, "is a file without text and base64, of which it needs one")
		}
	}
}

// made does the same for what a comprehension makes.
func (r *requestCompiler) made(path string, n ast.Expr) {
	if x, ok := n.(*ast.StructLit); ok {
		for _, d := range x.Elts {
			if f, ok := d.(*ast.Field); ok {
				if name, _, err := ast.LabelName(f.Label); err == nil {
					r.inFile(path, name, f.Pos())
				}
			}
		}
	}
}

// inFile says whether a file has a member of that name, and reports it if not.
func (r *requestCompiler) inFile(path, name string, p token.Pos) bool {
	known := slices.Contains(bind.FileMembers, name)
	if !known {
		r.addAt(p, member(path, name), "is no member of a file, which has filename, contentType, and text or base64%s", nearTo(name, bind.FileMembers))
	}
	return known
}

// varNames gives the names in vars as far as they are literal.
func (r *requestCompiler) varNames() []string {
	var names []string
	v := r.own("vars")
	for name := range fields(v, cue.Optional(true)) {
		names = append(names, name)
	}
	if src := v.Source(); src != nil { // one declaration, in which conditions may hide some
		ast.Walk(src, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok {
				name, _, err := ast.LabelName(f.Label)
				if err == nil && name != "vars" && !slices.Contains(names, name) {
					names = append(names, name)
				}
				return name == "vars"
			}
			return true
		}, nil)
	}
	return names
}

// flat finds query parameters that are objects.
func (r *requestCompiler) flat(region string, fields []bind.Field) {
	for _, f := range fields {
		if f.Name == "" {
			continue // an object of parameters, spread
		}
		switch n := f.Value.(type) {
		case bind.Object:
			r.fault(member(r.field+"."+region, f.Name), "an object cannot stand in the query: write an expression that flattens it")
		case bind.Ref:
			if a, ok := r.argument(n.Path[0]); ok && len(n.Path) == 1 && structural(a.Value) {
				r.fault(member(r.field+"."+region, f.Name), "argument %s is an object, which cannot stand in the query: write an expression that flattens it", a.Name)
			}
		}
	}
}

// headerNames checks the names of headers, and the values that are constant.
func (r *requestCompiler) headerNames(headers []bind.Field) {
	for _, h := range headers {
		if h.Name != "" {
			r.headerName(member(r.path+"."+r.field+".headers", h.Name), h.Name)
			r.notCredentials(member(r.path+"."+r.field+".headers", h.Name), h.Name)
		}
		if value, ok := h.Value.(bind.Const); ok {
			r.headerValue(member(r.path+"."+r.field+".headers", h.Name), json.RawMessage(value))
		}
	}
}

// updateDefaults finds arguments with a default of their own in the body of an
// update: they would change what nobody asked to change.
func (r *requestCompiler) updateDefaults(tool *exec.Tool, req *bind.Request) {
	if tool.Info.Action != "update" || req.Body == nil {
		return
	}
	in := map[string]bool{}
	if o, ok := req.Body.Value.(bind.Object); ok && !r.own("body").Exists() {
		for _, f := range o {
			in[f.Name] = true
		}
	}
	if src := r.own("body").Source(); src != nil {
		for _, ref := range r.src.Refs() {
			if ref.Root == bind.RootInput && len(ref.Path) > 0 && within(ref, src) {
				in[ref.Path[0]] = true
			}
		}
	}
	for _, f := range r.schema.Fields {
		if f.Default != nil && !f.ServerDefault && in[f.Name] {
			r.addAt(f.Pos, member(r.path+".input", f.Name), "a default in the body of an update changes what nobody asked to change: make %s optional (?) or required (!)", f.Name)
		}
	}
}

// within says whether a reference stands inside a node.
func within(ref load.Ref, n ast.Node) bool {
	p, from, to := ref.Pos, n.Pos(), n.End()
	return p.Filename() == from.Filename() && p.Offset() >= from.Offset() && p.Offset() <= to.Offset()
}
