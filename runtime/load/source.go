package load

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modfile"

	"github.com/metacue/metacue/runtime/diag"
)

// source is a directory of CUE files in some file system. Every file is parsed
// under the name that people see, so that positions need no translation.
type source struct {
	fsys fs.FS
	dir  string                   // the directory, a path of fsys
	show func(name string) string // a path of fsys as people see it
	// noTests leaves out files of tests.
	noTests bool
}

// testsSuffix ends the names of files that hold tests alone. CUE itself makes
// nothing of it: cue vet reads them with the others.
const testsSuffix = "_tests.cue"

// OfTests says whether a file, by its name, is one of tests.
func OfTests(file string) bool { return strings.HasSuffix(file, testsSuffix) }

// dirSource is a directory on disk, seen from the root of its volume so that a
// module root above it can be found.
func dirSource(dir string, o Options) (source, error) {
	working, err := filepath.Abs(o.Dir)
	if err != nil {
		return source{}, err
	}
	abs := dir
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(working, dir)
	}
	abs = filepath.Clean(abs)
	root := filepath.VolumeName(abs) + string(filepath.Separator)
	return source{
		fsys:    os.DirFS(root),
		dir:     cmp.Or(filepath.ToSlash(strings.TrimPrefix(abs, root)), "."),
		noTests: o.NoTests,
		show: func(name string) string {
			full := filepath.Join(root, filepath.FromSlash(name))
			if rel, err := filepath.Rel(working, full); err == nil && len(rel) < len(full) {
				return rel
			}
			return full
		},
	}, nil
}

// fsSource is the root of a file system, whose files people see below name.
func fsSource(fsys fs.FS, name string) source {
	return source{fsys: fsys, dir: ".", show: func(n string) string { return path.Join(name, n) }}
}

// moduleRoot is the nearest directory, from the source's upwards, that holds a
// cue.mod; "" when there is none.
func (s source) moduleRoot() string {
	for dir := s.dir; ; dir = path.Dir(dir) {
		if _, err := fs.Stat(s.fsys, path.Join(dir, "cue.mod")); err == nil {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// module is what the operator's cue.mod/module.cue says; file is nil without one.
type module struct {
	root string
	file *modfile.File
}

func (s source) module() (module, diag.List) {
	m := module{root: s.moduleRoot()}
	if m.root == "" {
		return m, nil
	}
	name := path.Join(m.root, "cue.mod", "module.cue")
	data, err := fs.ReadFile(s.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, diag.List{{File: s.show(name), Message: err.Error()}}
	}
	m.file, err = modfile.ParseNonStrict(data, s.show(name))
	if err != nil {
		return m, errorFindings(err, s.show(name))
	}
	return m, pinned(m.file, data, s.show(name))
}

// files reads and parses the package: the CUE files of the directory and those
// of the same package above it, up to the module root, as CUE has it. set says
// whether a name of an @if attribute holds.
func (s source) files(m module, set func(string) bool) ([]*ast.File, diag.List) {
	shown := s.show(s.dir)
	if info, err := fs.Stat(s.fsys, s.dir); err != nil {
		return nil, diag.List{{File: shown, Message: "no such directory"}}
	} else if !info.IsDir() {
		return nil, diag.List{{File: shown, Message: "is a file: give the folder that it is in"}}
	}
	names, left, err := s.names(s.dir)
	if err != nil {
		return nil, diag.List{{File: shown, Message: err.Error()}}
	}
	if len(names) == 0 {
		message := "no CUE files here"
		if left > 0 {
			message = "only files here that CUE leaves out: names that begin with _ or . or end in _test.cue or _tool.cue"
		}
		return nil, diag.List{{File: shown, Message: message}}
	}
	own, findings := s.parse(names, m)
	own, ifFindings := included(own, set)
	findings = append(findings, ifFindings...)
	pkg, pkgFindings := onePackage(own)
	findings = append(findings, pkgFindings...)
	if len(findings) > 0 {
		return nil, findings
	}
	if len(own) == 0 {
		return nil, diag.List{{File: shown, Message: "every CUE file here is left out by its @if or @ignore attribute"}}
	}
	if m.root == "" {
		return own, nil
	}
	for dir := s.dir; dir != m.root; {
		dir = path.Dir(dir)
		names, _, err := s.names(dir)
		if err != nil {
			return nil, diag.List{{File: s.show(dir), Message: err.Error()}}
		}
		above, findings := s.parseOf(pkg, names, m)
		if len(findings) > 0 {
			return nil, findings
		}
		above, findings = included(above, set)
		if len(findings) > 0 {
			return nil, findings
		}
		own = append(above, own...)
	}
	return own, nil
}

// names gives the CUE files of a directory that belong to a package, sorted,
// and how many CUE leaves out by their names.
func (s source) names(dir string) (names []string, left int, err error) {
	entries, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		n := e.Name()
		switch {
		case e.IsDir() || !strings.HasSuffix(n, ".cue"):
		case strings.HasPrefix(n, "_"), strings.HasPrefix(n, "."), strings.HasSuffix(n, "_test.cue"), strings.HasSuffix(n, "_tool.cue"):
			left++
		case s.noTests && OfTests(n):
		default:
			names = append(names, path.Join(dir, n))
		}
	}
	return names, left, nil
}

// parse parses files side by side and gives the syntax errors of all of them.
func (s source) parse(names []string, m module) ([]*ast.File, diag.List) {
	files := make([]*ast.File, len(names))
	faults := make([]diag.List, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			shown := s.show(name)
			data, err := fs.ReadFile(s.fsys, name)
			if err != nil {
				faults[i] = diag.List{{File: shown, Message: err.Error()}}
				return
			}
			files[i], err = parser.ParseFile(shown, data, m.parserOptions())
			faults[i] = syntaxFindings(err, shown, data)
		})
	}
	wait.Wait()
	return files, slices.Concat(faults...)
}

// parseOf parses those of the files that are of one package.
func (s source) parseOf(pkg string, names []string, m module) ([]*ast.File, diag.List) {
	var of []string
	for _, name := range names {
		data, err := fs.ReadFile(s.fsys, name)
		if err != nil {
			return nil, diag.List{{File: s.show(name), Message: err.Error()}}
		}
		if f, err := parser.ParseFile(name, data, parser.PackageClauseOnly); err == nil && f.PackageName() == pkg {
			of = append(of, name)
		}
	}
	return s.parse(of, m)
}

func (m module) parserOptions() parser.Option {
	c := parser.NewConfig(parser.ParseComments, parser.AllErrors)
	if m.file != nil && m.file.Language != nil && m.file.Language.Version != "" {
		c = c.Apply(parser.Version(m.file.Language.Version))
	}
	return c
}

// onePackage gives the name of the package that all files are of.
func onePackage(files []*ast.File) (string, diag.List) {
	var pkg string
	var first *ast.File
	for _, f := range files {
		if n := f.PackageName(); n != "" {
			pkg, first = n, f
			break
		}
	}
	var findings diag.List
	seen := map[string]bool{pkg: true}
	for _, f := range files {
		n := f.PackageName()
		if n == "" {
			message := "no package clause: begin the file with one, such as: package api"
			if pkg != "" {
				message = "no package clause, so the file belongs to nothing: begin it with: package " + pkg
			}
			findings = append(findings, finding(firstPos(f), "", message))
		} else if !seen[n] {
			seen[n] = true
			findings = append(findings, finding(packagePos(f), "", fmt.Sprintf(
				"package %s beside package %s (%s): the files of a directory are one package", n, pkg, first.Filename)))
		}
	}
	return pkg, findings
}

// packagePos is the place of the name in the package clause.
func packagePos(f *ast.File) token.Pos {
	for _, d := range f.Decls {
		if p, ok := d.(*ast.Package); ok {
			return p.Name.Pos()
		}
	}
	return f.Pos()
}

// firstPos is the beginning of a file.
func firstPos(f *ast.File) token.Pos {
	if t := f.Pos().File(); t != nil {
		return t.Pos(0, token.NoRelPos)
	}
	return f.Pos()
}

// finding makes a finding at a place of the syntax.
func finding(p token.Pos, path, message string) diag.Finding {
	at := p.Position()
	return diag.Finding{File: at.Filename, Line: at.Line, Column: at.Column, Path: path, Message: message}
}

// errorFindings turns an error of CUE into findings, in its order; those
// without a place get the file.
func errorFindings(err error, file string) diag.List {
	var findings diag.List
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		f := finding(e.Position(), "", diag.Brief(fmt.Sprintf(format, args...)))
		if f.File == "" {
			f.File = file
		}
		if f.Message == "" {
			f.Message = e.Error()
		}
		findings = append(findings, f)
	}
	return findings
}
