// Package compile turns a checked configuration into a catalog (what there is)
// and a program (how it is done), and finds the faults that CUE cannot state:
// rules across tools, between arguments and requests, and of examples. Each
// kind of part has a file of its own: server, upstreams, tools, requests, rules.
package compile

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/expr"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/nearest"
	"github.com/metacue/metacue/runtime/rest"
)

// Options say with what a configuration is compiled.
type Options struct {
	// Upstreams replaces the URLs of upstreams, by name.
	Upstreams map[string]string
	// Rest is handed to the HTTP client.
	Rest rest.Options
	// Log takes what goes wrong inside while serving.
	Log *slog.Logger
	// Tried says that the requests and rules of the very configuration were tried out
	// before, and none was found wanting: it is not done again.
	Tried bool
	// Defaults stand in the place of the server-level defaults, by name: those of a
	// test, which holds for every deployment. nil means the configuration's own; with
	// others, the examples are not checked, since they were with its own.
	Defaults map[string]json.RawMessage
	// Known are the findings that loading has made: what follows from them is not
	// told again, and tools that have some are left out.
	Known diag.List
}

// compiler holds what the stages share.
type compiler struct {
	cfg      *load.Config
	o        Options
	findings diag.List
	known    known
	told     map[string]bool // findings by place and message
	faults   int             // findings made, those that say the same again too

	pool      *expr.Pool
	actions   map[string]catalog.Action
	upstreams map[string]*upstream
	order     []string // names of upstreams as declared
	env       []string // variables that secrets are read from
	inbound   []string // headers in which callers bring secrets
	defaults  []exec.Value
	limits    bind.Bounds
	compiled  []compiled
	unfit     map[string]bool // defaults that do not fit an argument
	meant     []string        // arguments that defaults at fault may be for
	arguments map[string]bool // of all tools
}

// Compile makes the program of cfg. The findings are those that package load
// has not made already; when there are any, the program is nil, or, if only
// tools are at fault, holds all others.
func Compile(cfg *load.Config, o Options) (*exec.Program, diag.List) {
	defer expr.Hold()()
	c := &compiler{
		cfg: cfg,
		o:   o,

		known:     newKnown(o.Known, cfg.Tools()),
		told:      map[string]bool{},
		arguments: map[string]bool{},
		unfit:     map[string]bool{},
		pool: expr.NewPool(cfg.Value, func() (cue.Value, error) {
			_, v, err := cfg.Rebuild()
			return v, err
		}),
	}
	var cat catalog.Catalog
	cat.Server = c.server()
	key := c.sealKey()
	cat.Actions = c.taxonomy()
	ups := c.readUpstreams()
	c.readDefaults()
	general := len(c.findings)

	tools := map[string]*exec.Tool{}
	cat.Domains = c.domains(tools)
	cat.Skills = c.skills(&cat)
	cat.Meta = c.meta()
	cat.Escape = c.escape(tools)
	c.unique(&cat)
	c.defaultsInUse()
	if len(cfg.Tools()) == 0 && len(o.Known) == 0 {
		c.add("domains", "there are no tools")
	}

	client, err := rest.New(ups, o.Rest)
	if err != nil {
		c.upstreamFaults(err)
		return nil, c.findings
	}
	all := catalog.New(cat)
	p := &exec.Program{Catalog: all, Tools: tools, Client: client, Limits: c.limits, Env: c.env, Inbound: c.inbound, Log: o.Log}
	p.Sealer = exec.NewSealer(nil, o.Log)
	if key != nil {
		p.SealKey = key
		p.Sealer = exec.NewSealer(func(ctx context.Context) (string, error) { return client.Secret(ctx, *key) }, o.Log)
	}
	var failing []string
	if general == 0 && !o.Tried {
		failing = c.trials(p)
	}
	if o.Defaults == nil {
		c.examples(p, failing)
	}
	c.forms(p)
	p = p.Within(catalog.Bounds{Exclude: strs(cfg.Value, "server.exclude")})
	if general > 0 {
		return nil, c.findings
	}
	return p, c.findings
}

// add reports a fault of the field at path, at the place where the operator
// wrote it.
func (c *compiler) add(path, format string, args ...any) {
	p := c.cfg.Own.Pos()
	for sels := parsePath(path).Selectors(); len(sels) > 0; sels = sels[:len(sels)-1] {
		if at := declaredAt(c.cfg.Own.LookupPath(cue.MakePath(sels...))); at.IsValid() {
			p = at
			break
		}
	}
	c.addAt(p, path, format, args...)
}

// declaredAt is where a value is declared: of several places not the one that only adds
// tests to it.
func declaredAt(v cue.Value) token.Pos {
	if load.OfTests(v.Pos().Filename()) {
		for _, src := range sources(v) {
			if p := src.Pos(); p.IsValid() && !load.OfTests(p.Filename()) {
				return p
			}
		}
	}
	return v.Pos()
}

// member is the path of a member of the field at path.
func member(path, name string) string { return path + "." + cue.Str(name).String() }

func (c *compiler) addAt(p token.Pos, path, format string, args ...any) {
	if c.known.implies(path) {
		return
	}
	f := diag.Finding{Path: path, Message: fmt.Sprintf(format, args...)}
	f.File, f.Line, f.Column = c.cfg.Position(p)
	c.find(f)
}

// find takes a finding. What is wrong in a mixin is wrong in every tool that has
// it, and told once.
func (c *compiler) find(f diag.Finding) {
	c.faults++
	key := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	if !c.told[key] {
		c.told[key] = true
		c.findings = append(c.findings, f)
	}
}

// didYouMean ends a message about an unknown name.
func didYouMean(name string, names []string) string {
	if near := nearTo(name, names); near != "" {
		return near
	}
	if len(names) > 0 && len(names) <= 8 {
		return "; there is " + strings.Join(names, ", ")
	}
	return ""
}

// nearTo ends a message about an unknown name whose alternatives it tells already.
func nearTo(name string, names []string) string {
	return nearest.Question(nearest.Names(name, names))
}

// text gives the string at a path below v, "" when there is none.
func text(v cue.Value, path string) string {
	s, _ := v.LookupPath(parsePath(path)).String()
	return s
}

// whole gives the integer at a path below v, or otherwise.
func whole(v cue.Value, path string, otherwise int) int {
	n, err := v.LookupPath(parsePath(path)).Int64()
	if err != nil {
		return otherwise
	}
	return int(n)
}

// yes gives the boolean at a path below v, or otherwise.
func yes(v cue.Value, path string, otherwise bool) bool {
	b, err := v.LookupPath(parsePath(path)).Bool()
	if err != nil {
		return otherwise
	}
	return b
}

// fields gives the members of a struct by name, in the order in which they are
// declared.
func fields(v cue.Value, o ...cue.Option) iter.Seq2[string, cue.Value] {
	return func(yield func(string, cue.Value) bool) {
		it, err := v.Fields(o...)
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

// strs gives the strings of the list at a path below v.
func strs(v cue.Value, path string) []string {
	list, err := v.LookupPath(parsePath(path)).List()
	if err != nil {
		return nil
	}
	var out []string
	for list.Next() {
		if s, err := list.Value().String(); err == nil {
			out = append(out, s)
		}
	}
	return out
}

func (c *compiler) server() catalog.Server {
	v := c.cfg.Value.LookupPath(parsePath("server"))
	c.limits = bind.Bounds{
		MaxBytes:    whole(v, "limits.maxArgumentBytes", bind.DefaultBounds.MaxBytes),
		MaxElements: whole(v, "limits.maxArgumentElements", bind.DefaultBounds.MaxElements),
		MaxDepth:    whole(v, "limits.maxArgumentDepth", bind.DefaultBounds.MaxDepth),
	}
	s := catalog.Server{
		Name:         text(v, "name"),
		Title:        text(v, "title"),
		Version:      text(v, "version"),
		Instructions: text(v, "instructions"),
	}
	if s.Title == "" {
		s.Title = s.Name
	}
	return s
}

// builtin is the taxonomy that is always there.
var builtin = []catalog.Action{
	{Name: "read", Effect: catalog.Read, Idempotent: true, Description: "Reads and changes nothing"},
	{Name: "create", Effect: catalog.Write, Description: "Makes something new"},
	{Name: "update", Effect: catalog.Write, Description: "Changes something"},
	{Name: "delete", Effect: catalog.Destructive, Idempotent: true, Description: "Takes something away"},
}

// taxonomy gives the actions: the built-in ones, reworded where the
// configuration does so, then its own.
func (c *compiler) taxonomy() []catalog.Action {
	actions := slices.Clone(builtin)
	for name, v := range c.own("actions") {
		i := slices.IndexFunc(actions, func(a catalog.Action) bool { return a.Name == name })
		effect := catalog.Effect(text(v, "effect"))
		if i < 0 {
			if effect == "" {
				c.add(member("actions", name), "effect is missing: an action of your own must say whether it is read, write or destructive")
				effect = catalog.Destructive
			}
			actions = append(actions, catalog.Action{Name: name, Effect: effect, Idempotent: effect == catalog.Read})
			i = len(actions) - 1
		}
		a := &actions[i]
		if effect != "" && effect != a.Effect {
			a.Effect, a.Idempotent = effect, effect == catalog.Read
		}
		a.Idempotent = yes(v, "idempotent", a.Idempotent)
		if d := text(v, "description"); d != "" {
			a.Description = d
		}
	}
	c.actions = map[string]catalog.Action{}
	for _, a := range actions {
		c.actions[a.Name] = a
	}
	return actions
}

// own gives the members of a top-level field in the operator's order, each
// with its checked value.
func (c *compiler) own(field string) iter.Seq2[string, cue.Value] {
	return func(yield func(string, cue.Value) bool) {
		p := parsePath(field)
		value := c.cfg.Value.LookupPath(p)
		for name := range fields(c.cfg.Own.LookupPath(p)) {
			if !yield(name, value.LookupPath(cue.MakePath(cue.Str(name)))) {
				return
			}
		}
	}
}

// With gives the function that compiles cfg with other server-level defaults than its
// own, each set of them once.
func With(cfg *load.Config, o Options) func(map[string]json.RawMessage) (*exec.Program, diag.List) {
	type made struct {
		p        *exec.Program
		findings diag.List
	}
	all := map[string]made{}
	return func(defaults map[string]json.RawMessage) (*exec.Program, diag.List) {
		o := o
		o.Tried, o.Defaults = true, defaults
		if o.Defaults == nil {
			o.Defaults = map[string]json.RawMessage{}
		}
		key, err := json.Marshal(o.Defaults)
		if err != nil {
			return nil, diag.List{{Message: err.Error()}}
		}
		m, ok := all[string(key)]
		if !ok {
			m.p, m.findings = Compile(cfg, o)
			all[string(key)] = m
		}
		return m.p, m.findings
	}
}

// serverDefaults gives the server-level defaults: the configuration's own in the
// order of their declaration, or those in their place.
func (c *compiler) serverDefaults() iter.Seq2[string, cue.Value] {
	if c.o.Defaults == nil {
		return c.own("defaults")
	}
	return func(yield func(string, cue.Value) bool) {
		for _, name := range slices.Sorted(maps.Keys(c.o.Defaults)) {
			if !yield(name, c.serverDefault(name)) {
				return
			}
		}
	}
}

// serverDefault gives the server-level default of a name.
func (c *compiler) serverDefault(name string) cue.Value {
	if c.o.Defaults == nil {
		return c.cfg.Value.LookupPath(parsePath(member("defaults", name)))
	}
	return cuecontext.New().CompileBytes(c.o.Defaults[name])
}

// readDefaults reads the server-level default arguments, and notes for which
// arguments those at fault may have been meant.
func (c *compiler) readDefaults() {
	for name, v := range c.serverDefaults() {
		if v.Null() == nil {
			if len(c.o.Known) > 0 { // what was to stand there may not have fitted
				c.meant = append(c.meant, name)
			}
			continue
		}
		b, err := expr.Export(v)
		if err != nil {
			// What is no value because of a fault elsewhere, loading has told.
			if len(c.o.Known) == 0 {
				c.add(member("defaults", name), "must be a value, not a type: %s", expr.Message(err))
			}
			c.meant = append(c.meant, name)
			continue
		}
		c.defaults = append(c.defaults, exec.Value{Name: name, JSON: b})
	}
	with := map[string]*exec.Value{}
	for name := range c.serverDefaults() { // those that are null too
		with[name] = c.with(name)
	}
	for i := range c.defaults {
		c.defaults[i].With = with[c.defaults[i].Name]
	}
}

// with reads what a server-level default goes with, @with(NAME): another one. It
// goes with anything where there is no such attribute, or no value of that name.
func (c *compiler) with(name string) *exec.Value {
	v := c.cfg.Own.LookupPath(parsePath(member("defaults", name)))
	a := v.Attribute(load.WithAttribute)
	if a.Err() != nil {
		return nil
	}
	to := strings.TrimSpace(a.Contents())
	for other, v := range c.serverDefaults() {
		if other != to || other == name {
			continue
		}
		if b, err := expr.Export(v); err == nil && v.Null() != nil {
			return &exec.Value{Name: other, JSON: b}
		}
		return nil
	}
	if c.o.Defaults != nil {
		return nil
	}
	c.add(member("defaults", name), "@with names the default that this one goes with, and there is no default %q beside it", to)
	return nil
}

// defaultsInUse finds defaults that no tool takes.
func (c *compiler) defaultsInUse() {
	names := slices.Sorted(maps.Keys(c.arguments))
	// What lost something to another fault may have had the argument.
	lost := c.known.lost || slices.ContainsFunc(c.compiled, func(t compiled) bool { return t.arguments })
	for name := range c.serverDefaults() {
		if near := nearest.Names(name, names); !c.arguments[name] && (!lost || len(near) > 0) {
			c.add(member("defaults", name), "no tool has an argument %s%s", name, didYouMean(name, names))
			c.meant = append(c.meant, nearest.Names(name, names)...)
		}
	}
}
