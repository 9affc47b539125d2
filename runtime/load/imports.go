package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/format"
	cueload "cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modconfig"
	"cuelang.org/go/mod/modfile"
	cuemodule "cuelang.org/go/mod/module"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/schema"
)

// importer finds the packages that a configuration imports: CUE's own, the
// embedded schema, and, below a cue.mod, those of the operator's module and of
// the modules in the local cache.
type importer struct {
	src   source
	mod   module
	fetch bool
	found map[string]*build.Instance // by import path as written; nil for CUE's own
}

// resolve finds every import of the files. The failed ones come with their
// findings.
func (im *importer) resolve(files []*ast.File) (failed map[*ast.ImportSpec]bool, findings diag.List) {
	im.found = map[string]*build.Instance{}
	failed = map[*ast.ImportSpec]bool{}
	faults := map[string]diag.List{} // by import path
	for _, f := range files {
		for spec := range f.ImportSpecs() {
			written, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has said so
			}
			if _, done := im.found[written]; !done {
				im.found[written], faults[written] = im.find(written, spec.Path.Pos())
				findings = append(findings, faults[written]...)
			}
			if len(faults[written]) > 0 {
				failed[spec] = true
			}
		}
	}
	return failed, findings
}

// find finds one package. CUE's own packages are nil: the compiler has them.
func (im *importer) find(written string, at token.Pos) (*build.Instance, diag.List) {
	p := ast.ParseImportPath(written)
	if first, _, _ := strings.Cut(written, "/"); !strings.Contains(first, ".") {
		return nil, nil
	}
	if p.Path == schema.ImportPath {
		if _, major, _ := strings.Cut(schema.Module, "@"); p.Version != "" && p.Version != major {
			return nil, diag.List{finding(at, "", fmt.Sprintf("there is no %s in this metacue: it has %s", written, schema.Version))}
		}
		return schemaInstance(), nil
	}
	if im.mod.file == nil {
		return nil, diag.List{finding(at, "", fmt.Sprintf(
			"the package %s needs a cue.mod/module.cue that names its module: without one only %s and CUE's own packages can be imported", written, schema.ImportPath))}
	}
	t := &tree{base: im.src.fsys, mounts: map[string]fs.FS{}, files: im.replacements()}
	reg := &registry{tree: t, fetch: im.fetch}
	insts := cueload.Instances([]string{written}, &cueload.Config{
		FS:         t,
		Dir:        path.Join("/", im.mod.root),
		ModuleRoot: path.Join("/", im.mod.root),
		Registry:   reg,
		FromFSPath: func(name string) string {
			name = strings.TrimPrefix(name, "/")
			if rest, ok := strings.CutPrefix(name, mountPoint+"/"); ok {
				return rest
			}
			return im.src.show(cmp.Or(name, "."))
		},
	})
	if missing := reg.missing(); len(missing) > 0 {
		return nil, diag.List{finding(at, "", fmt.Sprintf(
			"the package %s needs %s, which is not in the local module cache; metacue vet --fetch puts it there", written, strings.Join(missing, ", ")))}
	}
	inst := insts[0]
	if inst.Err == nil {
		return inst, nil
	}
	var findings diag.List
	for _, f := range errorFindings(inst.Err, "") {
		if f.File == "" {
			f = finding(at, "", f.Message)
		}
		findings = append(findings, f)
	}
	return nil, findings
}

// pinned reports a dependency on a newer schema than the embedded one, which
// would otherwise be served in its place.
func pinned(f *modfile.File, data []byte, name string) diag.List {
	for _, dep := range slices.Sorted(maps.Keys(f.Deps)) {
		v, err := cuemodule.NewVersion(dep, f.Deps[dep].Version)
		if err != nil || v.BasePath() != schema.ImportPath {
			continue
		}
		have := cuemodule.MustNewVersion(schema.Module, schema.Version)
		if v.Path() == have.Path() && v.Compare(have) <= 0 {
			continue
		}
		found := diag.Finding{File: name, Message: fmt.Sprintf(
			"the configuration asks for %s; this metacue has %s: ask for that, or use a newer metacue", v, schema.Version)}
		if syntax, err := parser.ParseFile(name, data); err == nil {
			ast.Walk(syntax, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Value == strconv.Quote(dep) {
					p := l.Pos().Position()
					found.Line, found.Column = p.Line, p.Column
				}
				return true
			}, nil)
		}
		return diag.List{found}
	}
	return nil
}

// schemaInstance makes the embedded package anew: an instance belongs to the
// configuration that imports it.
func schemaInstance() *build.Instance {
	inst := build.NewContext().NewInstance("", nil)
	inst.ImportPath = schema.ImportPath
	if err := inst.AddSyntax(parseSchema()); err != nil {
		panic(err) // a fault of our own definitions
	}
	return inst
}

// parseSchema parses the embedded definitions. Their places read as those of
// any imported module: module@version/file.cue.
func parseSchema() *ast.File {
	data, err := schema.Files.ReadFile("schema.cue")
	if err != nil {
		panic(err)
	}
	f, err := parser.ParseFile(schemaPrefix+"schema.cue", data, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	return f
}

// schemaPrefix begins the file names of the embedded module.
const schemaPrefix = schema.ImportPath + "@" + schema.Version + "/"

// mountPoint is where the modules that are no part of the source's file system
// appear in a tree. A file of the operator's cannot have this name: @ is no
// character of a module path's element.
const mountPoint = "@modules"

// tree is a file system with modules mounted below mountPoint, and with some
// files replaced.
type tree struct {
	base   fs.FS
	files  map[string][]byte
	mu     sync.Mutex
	mounts map[string]fs.FS
}

func (t *tree) mount(v cuemodule.Version, loc cuemodule.SourceLoc) (cuemodule.SourceLoc, error) {
	sub, err := fs.Sub(loc.FS, cmp.Or(loc.Dir, "."))
	if err != nil {
		return cuemodule.SourceLoc{}, err
	}
	at := path.Join(mountPoint, v.String())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mounts[at] = sub
	return cuemodule.SourceLoc{FS: rooted{sub, "/" + at}, Dir: "."}, nil
}

func (t *tree) Open(name string) (fs.File, error) {
	if data, ok := t.files[name]; ok {
		f, err := t.base.Open(name)
		if err != nil {
			return nil, err
		}
		return replaced{f, bytes.NewReader(data)}, nil
	}
	if !strings.HasPrefix(name, mountPoint+"/") {
		return t.base.Open(name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, fsys := range t.mounts {
		if name == at {
			return fsys.Open(".")
		}
		if rest, ok := strings.CutPrefix(name, at+"/"); ok {
			return fsys.Open(rest)
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// replaced is a file with other contents.
type replaced struct {
	fs.File
	contents *bytes.Reader
}

func (r replaced) Read(p []byte) (int, error) { return r.contents.Read(p) }

// replacements gives cue.mod/local-module.cue with absolute directories in place
// of relative ones, which CUE's loader does not find in a file system of ours.
func (im *importer) replacements() map[string][]byte {
	name := path.Join(im.mod.root, "cue.mod", "local-module.cue")
	data, err := fs.ReadFile(im.src.fsys, name)
	if err != nil {
		return nil
	}
	f, err := parser.ParseFile(name, data)
	if err != nil {
		return nil // the loader says so
	}
	ast.Walk(f, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		label, _, _ := ast.LabelName(field.Label)
		lit, ok := field.Value.(*ast.BasicLit)
		if !ok || label != "replaceWith" {
			return true
		}
		if dir, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(dir, ".") {
			lit.Value = strconv.Quote(path.Join("/", im.mod.root, dir))
		}
		return true
	}, nil)
	if data, err = format.Node(f); err != nil {
		return nil
	}
	return map[string][]byte{name: data}
}

// rooted is a file system that knows where it appears in the tree, which is
// what CUE's loader demands of a module.
type rooted struct {
	fs.FS
	root string
}

func (r rooted) OSRoot() string { return r.root }

// registry serves modules to CUE's loader: the embedded schema, then the local
// cache; over the network only with fetch. What it had to refuse it remembers.
type registry struct {
	tree  *tree
	fetch bool

	once sync.Once
	base modconfig.Registry
	err  error

	mu      sync.Mutex
	refused []string
}

var errNotFetched = errors.New("nothing is fetched without --fetch")

// refuse is the transport of a registry that must not use the network.
type refuse struct{}

func (refuse) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNotFetched }

func (r *registry) registry() (modconfig.Registry, error) {
	r.once.Do(func() {
		c := &modconfig.Config{ClientType: "metacue"}
		if !r.fetch {
			c.Transport = refuse{}
		}
		r.base, r.err = modconfig.NewRegistry(c)
	})
	return r.base, r.err
}

// note remembers a module that only the network could have given.
func (r *registry) note(name string, err error) error {
	if err != nil && !r.fetch && (errors.Is(err, errNotFetched) || strings.Contains(err.Error(), errNotFetched.Error())) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = append(r.refused, name)
	}
	return err
}

func (r *registry) missing() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(r.refused)))
}

func (r *registry) ModFile(ctx context.Context, v cuemodule.Version) (*modfile.File, error) {
	if v.Path() == schema.Module {
		data, err := schema.Files.ReadFile("cue.mod/module.cue")
		if err != nil {
			return nil, err
		}
		return modfile.Parse(data, schemaPrefix+"cue.mod/module.cue")
	}
	base, err := r.registry()
	if err != nil {
		return nil, err
	}
	f, err := base.ModFile(ctx, v)
	return f, r.note(v.String(), err)
}

func (r *registry) Fetch(ctx context.Context, v cuemodule.Version) (cuemodule.SourceLoc, error) {
	if v.Path() == schema.Module {
		return r.tree.mount(cuemodule.MustNewVersion(schema.Module, schema.Version), cuemodule.SourceLoc{FS: schema.Files, Dir: "."})
	}
	base, err := r.registry()
	if err != nil {
		return cuemodule.SourceLoc{}, err
	}
	loc, err := base.Fetch(ctx, v)
	if err != nil {
		return loc, r.note(v.String(), err)
	}
	return r.tree.mount(v, loc)
}

func (r *registry) ModuleVersions(ctx context.Context, mpath string) ([]string, error) {
	if mpath == schema.Module || mpath == schema.ImportPath {
		return []string{schema.Version}, nil
	}
	base, err := r.registry()
	if err != nil {
		return nil, err
	}
	versions, err := base.ModuleVersions(ctx, mpath)
	return versions, r.note(mpath, err)
}
