// Package load turns a directory of CUE (or an embedded file system) into a
// CUE value checked against the definitions of package schema, with every
// fault found once and with its place. It knows the form of the language and
// nothing of what a tool does: rules that need more than the definitions and
// the names in the syntax belong to compile.
package load

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/schema"
)

// Options says with what a configuration is loaded.
type Options struct {
	// Tags are values for CUE tags by their names, as with -t name=value. One
	// that no field declares is a finding. A file with @if(name) is part of the
	// configuration when the tag's value is "true".
	Tags map[string]string
	// Getenv looks up environment variables: EnvPrefix and the name of a declared
	// tag in capitals (METACUE_ORGANIZATION for organization) sets it unless Tags
	// does; an empty one does not. nil means no environment.
	Getenv func(string) (string, bool)
	// Dir is the working directory that relative names start from and that file
	// names are printed relative to. Empty means the process's own.
	Dir string
	// NoTests leaves out the files whose names end in _tests.cue: what runs the
	// configuration has no need of its tests, which can take longer to read than it.
	NoTests bool
	// Fetch lets CUE modules that are not in the local cache be downloaded.
	// Without it a missing one is a finding.
	Fetch bool
}

// Config is a loaded configuration. It does not change; Rebuild is safe for
// concurrent use, the values as far as CUE's are.
type Config struct {
	// Source says where the configuration comes from, for people.
	Source string
	// Own is the operator's own value, alone: without the schema, even where a
	// file embeds schema.#Config.
	Own cue.Value
	// Value is Own unified with #Config of the schema.
	Value cue.Value

	inst   *build.Instance // the operator's package
	schema *build.Instance
	tools  []Tool
	docs   map[*ast.Field]string
	stale  diag.List
}

// Dir loads the CUE package in a directory on disk. Sub-folders are packages of
// their own and not part of it. When there are findings, what is at fault is
// left out of the Config; it is nil when nothing could be evaluated.
func Dir(dir string, o Options) (*Config, diag.List) {
	src, err := dirSource(dir, o)
	if err != nil {
		return nil, diag.List{{File: dir, Message: err.Error()}}
	}
	return load(src, o)
}

// FS loads the CUE package at the root of a file system. name stands before its
// file names in positions: name/file.cue:line:col.
func FS(fsys fs.FS, name string, o Options) (*Config, diag.List) {
	return load(fsSource(fsys, name), o)
}

// load runs the stages. Syntax errors end it; everything after finds what it
// can in what is left.
func load(src source, o Options) (*Config, diag.List) {
	mod, findings := src.module()
	if len(findings) > 0 && mod.file == nil {
		return nil, findings.Sorted()
	}
	var asked []string // names in @if attributes
	files, more := src.files(mod, func(name string) bool {
		asked = append(asked, name)
		return o.tagIsTrue(name)
	})
	findings = append(findings, more...)
	if files == nil {
		return nil, findings.Sorted()
	}
	l := &loader{
		cfg:      &Config{Source: src.show(src.dir)},
		mod:      mod,
		cut:      newCutter(files),
		misspelt: map[string][]string{},
		faulty:   map[string]bool{},
		seen:     map[string]bool{},
		refs:     map[string][]Ref{},
		reported: map[string]bool{},
		used:     used(files),
	}
	l.findings = findings
	l.tags, more = inject(files, o, asked)
	l.findings = append(l.findings, more...)
	l.findings = append(l.findings, misspelt(files)...)
	l.imports(importer{src: src, mod: mod, fetch: o.Fetch})
	l.cfg.inst = l.instance()
	l.twice()
	l.apart()
	l.shadowed()
	l.cfg.docs = leadingComments(files)
	// A word that stands in the tests too is none of those that are looked for.
	prose := func() diag.List { return nil }
	if !o.NoTests {
		texts, words := l.readProse()
		prose = func() diag.List { return l.renamed(texts, words) }
	}
	idle := misplaced(files)
	if !l.passes() {
		return nil, l.findings.Sorted()
	}
	l.idle(idle)
	l.cfg.stale = prose()
	return l.cfg, l.findings.Sorted()
}

// loader carries a configuration through the passes.
type loader struct {
	cfg      *Config
	ctx      *cue.Context // of this pass
	mod      module
	tags     []*tag
	found    map[string]*build.Instance
	cut      *cutter
	changed  bool                // something was cut in this pass
	unset    bool                // a tag has no value
	misspelt map[string][]string // what misspelt fields were meant to be, by path of their structure
	faulty   map[string]bool     // tools with a fault in them, by path
	refs     map[string][]Ref    // of each tool, as they were before anything was cut
	seen     map[string]bool     // findings made
	reported map[string]bool     // paths with findings
	used     map[ast.Node]bool   // imports and let clauses that something made use of before anything was cut
	findings diag.List
}

// report makes a finding, once: what is wrong in a mixin is wrong in every tool
// that has it. see is added to the message of the first.
func (l *loader) report(p token.Pos, path, message, see string) {
	l.mark(path)
	l.reported[path] = true
	f := finding(p, path, message)
	key := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, message)
	if l.seen[key] {
		return
	}
	l.seen[key] = true
	f.Message += see
	l.findings = append(l.findings, f)
}

// told says whether something around a path, or in what it leads to, is
// reported already.
func (l *loader) told(path string) bool {
	for p := range l.reported {
		if p != "" && (beginsWith(path, p) || beginsWith(p, path)) {
			return true
		}
	}
	return false
}

func beginsWith(path, start string) bool {
	rest, ok := strings.CutPrefix(path, start)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// mark notes that the tool a path lies in is at fault.
func (l *loader) mark(path string) {
	p := cue.ParsePath(path)
	if sels := p.Selectors(); p.Err() == nil && len(sels) >= 4 && sels[2].String() == "tools" {
		l.faulty[cue.MakePath(sels[:4]...).String()] = true
	}
}

// imports resolves what the files import. What fails is cut out.
func (l *loader) imports(im importer) {
	dropSchema(l.cut.files)
	failed, findings := im.resolve(l.cut.files)
	l.findings = append(l.findings, findings...)
	l.found = im.found
	l.cfg.schema = schemaInstance()
	for _, inst := range im.found {
		if inst != nil && ast.ParseImportPath(inst.ImportPath).Path == schema.ImportPath {
			l.cfg.schema = inst
		}
	}
	if len(failed) == 0 {
		return
	}
	l.cutImports(failed)
	l.cut.resolve()
}

// instance makes the operator's package from the files as they are.
func (l *loader) instance() *build.Instance {
	find := func(_ token.Pos, path string) *build.Instance { return l.found[path] }
	inst := build.NewContext(build.Loader(find)).NewInstance("", find)
	inst.Files = l.cut.files
	inst.PkgName = l.cut.files[0].PackageName()
	if f := l.mod.file; f != nil {
		inst.ModuleFile = f
		inst.Module = f.QualifiedModule()
	}
	return inst
}

// passes evaluates the configuration, takes out what is at fault, and does so
// again until nothing new is found. It says whether anything could be evaluated.
func (l *loader) passes() (evaluated bool) {
	defer func() {
		if r := recover(); r != nil { // CUE has no bottom for every program
			l.findings = append(l.findings, diag.Finding{File: l.cfg.Source, Message: fmt.Sprintf("CUE fails on this configuration: %v", r)})
			evaluated = false
		}
	}()
	for {
		l.changed = false
		l.cfg.inst = l.instance()
		l.ctx = cuecontext.New()
		own, value, err := l.cfg.build(l.ctx)
		if err != nil {
			if l.uncompiled(err); !l.changed {
				return false
			}
			l.cut.resolve()
			continue
		}
		l.cfg.Own, l.cfg.Value = own, value
		if l.refuse() {
			l.cut.resolve()
			continue
		}
		// Unifying can lose what CUE finds in the operator's value alone.
		if err = value.Validate(); err == nil {
			err = own.Validate()
		}
		later := l.check(err != nil)
		if !l.changed && err != nil {
			l.evaluation(err)
		}
		if !l.changed {
			l.findings = append(l.findings, later...)
			for i, t := range l.cfg.tools {
				l.cfg.tools[i].Faulty = l.faulty[t.Path.String()] || l.lost(t)
			}
			return true
		}
		l.cut.resolve()
	}
}

// lost says whether something was cut out of a tool, or of what it refers to.
func (l *loader) lost(t Tool) bool {
	if len(l.cut.tried) == 0 {
		return false
	}
	seen := map[ast.Node]bool{}
	return slices.ContainsFunc(t.literals, func(x *ast.StructLit) bool { return l.cut.lost(x, seen) })
}

// Rebuild makes the same configuration in a fresh cue.Context, from the syntax
// already parsed: CUE keeps every field name it ever saw, and this is how
// memory is renewed. It is safe to call from any goroutine.
func (c *Config) Rebuild() (own, value cue.Value, err error) {
	return c.build(cuecontext.New())
}

func (c *Config) build(ctx *cue.Context) (own, value cue.Value, err error) {
	own = ctx.BuildInstance(c.inst)
	if c.inst.Err != nil {
		return own, own, c.inst.Err
	}
	value = own.Unify(ctx.BuildInstance(c.schema).LookupPath(cue.MakePath(cue.Def("#Config"))))
	return own, value, nil
}

// Position gives the place of p for people: file is relative to the working
// directory where that is shorter, or module@version/file.cue for a file of an
// imported module.
func (c *Config) Position(p token.Pos) (file string, line, col int) {
	at := p.Position()
	return at.Filename, at.Line, at.Column
}
