package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	config "github.com/metacue/metacue/cue"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/nearest"
	"github.com/metacue/metacue/runtime/rest"
)

// localDir is where a configuration is looked for when none is named.
const localDir = "cue"

// source is a configuration to use.
type source struct {
	dir string // "" means the built-in one
	// note says why it is not the one that someone may expect; "" when it is.
	note string
}

func (s source) String() string {
	if s.dir == "" {
		return "the built-in configuration"
	}
	return s.dir
}

// sends says whether a command sends requests. A configuration names hosts and
// secrets, and hosts start servers inside cloned repositories: one that was
// merely found is not enough for commands that send.
type sends bool

// choose says which configuration is used: the one named, else ./cue where it
// may be, else the built-in one.
func (set *settings) choose(args []string, s sends) (source, error) {
	named, err := set.named(args)
	if err != nil || named != "" {
		return source{dir: named}, err
	}
	if !hasCUE(localDir) {
		return source{}, nil
	}
	if !s {
		return source{dir: localDir}, nil
	}
	ok, err := trusted(localDir)
	if err != nil {
		return source{}, err
	}
	if !ok {
		return source{note: fmt.Sprintf("./%s is not used: it is not trusted. Read it, then run `metacue trust`, or name it on the command line", localDir)}, nil
	}
	return source{dir: localDir}, nil
}

// hasCUE says whether a directory holds CUE files.
func hasCUE(dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.cue"))
	return err == nil && len(files) > 0
}

// load reads and checks the configuration, its tests included, as far as CUE can.
func (s *settings) load(src source) (*load.Config, diag.List) {
	return s.loadWith(src, load.Options{})
}

func (s *settings) loadWith(src source, o load.Options) (*load.Config, diag.List) {
	o.Tags, o.Getenv = s.tags, os.LookupEnv
	if src.dir == "" {
		return load.FS(config.Files, "built-in", o)
	}
	return load.Dir(src.dir, o)
}

// compile reads a configuration and makes its program, within the bounds that the
// flags set. With findings there is no
// program, or with --keep-going the program without the tools that have some.
func (s *settings) compile(src source, log *slog.Logger) (*exec.Program, diag.List) {
	cfg, findings := s.loadWith(src, load.Options{NoTests: true})
	if cfg == nil || len(findings) > 0 && !s.keepGoing {
		findings, _ = s.withRules(cfg, findings)
		return nil, findings
	}
	if _, general := toolsIn(findings); len(general) > 0 {
		return nil, findings
	}
	o := s.options(log)
	o.Known = findings
	o.Tried = src.dir == "" // by the tests of this program
	p, more := compile.Compile(cfg, o)
	findings = append(findings, more...)
	if p == nil || len(findings) > 0 && !s.keepGoing {
		return nil, findings
	}
	if _, general := toolsIn(findings); len(general) > 0 {
		return nil, findings
	}
	if err := s.checkDomains(p); err != nil {
		return nil, diag.List{{Message: err.Error()}}
	}
	return p.Within(s.bounds()), findings
}

// read gives the program of a command that sends nothing, and tells on stderr what
// is left out because of findings.
func (s *settings) read(stderr io.Writer) (*exec.Program, error) {
	src, err := s.choose(nil, false)
	if err != nil {
		return nil, err
	}
	program, findings := s.compile(src, slog.New(slog.DiscardHandler))
	if program == nil {
		return nil, findings.Err()
	}
	skipped(stderr, findings)
	return program, nil
}

// withRules adds what the rules beyond CUE find to what CUE found: all faults
// are told in one run. A rule says nothing of a tool that has findings already.
// The program is nil where there is none to make.
func (s *settings) withRules(cfg *load.Config, findings diag.List) (diag.List, *exec.Program) {
	if cfg == nil {
		return findings, nil
	}
	o := s.options(nil)
	o.Known = findings
	p, more := compile.Compile(cfg, o)
	return append(findings, more...), p
}

func (s *settings) options(log *slog.Logger) compile.Options {
	return compile.Options{
		Upstreams: s.upstreams,
		Rest:      rest.Options{UserAgent: "metacue/" + version(), Log: log},
		Log:       log,
	}
}

// ofTool is the path of what is in a tool, or in a state request, with its name.
var ofTool = regexp.MustCompile(`^domains\.(?:"[^"]*"|[^."]+)\.(?:tools|state)\.("[^"]*"|[^."[]+)`)

// toolsIn splits findings: the names of the tools and state requests that have
// some, and the findings that are no single one's.
func toolsIn(findings diag.List) (tools []string, general diag.List) {
	for _, f := range findings {
		m := ofTool.FindStringSubmatch(f.Path)
		if m == nil {
			general = append(general, f)
			continue
		}
		if name := strings.Trim(m[1], `"`); !slices.Contains(tools, name) {
			tools = append(tools, name)
		}
	}
	return tools, general
}

// checkDomains refuses --domains that there are not.
func (s *settings) checkDomains(p *exec.Program) error {
	var names []string
	for _, d := range p.Catalog.Domains {
		names = append(names, d.Name)
	}
	for _, d := range s.domains {
		if !slices.Contains(names, d) {
			near := nearest.Names(d, names)
			if len(near) == 0 {
				near = names
			}
			if len(near) == 0 {
				near = []string{"none"}
			}
			return fmt.Errorf("--domains: there is no domain %q; there is %s", d, strings.Join(near, ", "))
		}
	}
	return nil
}

// skipped tells which tools are left out, and why.
func skipped(w io.Writer, findings diag.List) {
	if len(findings) == 0 {
		return
	}
	tools, _ := toolsIn(findings)
	_ = findings.Write(w, "text") // there is nowhere else to tell it
	fmt.Fprintf(w, "metacue: left out because of these findings: %s\n", strings.Join(tools, ", "))
}

// release is the version of a build that is told it, with
// go build -ldflags "-X main.release=v1.2.3" ./cmd/metacue.
var release string

// version is that of a release, else of the module, as the build recorded it: that
// which go install was asked for, or the commit of the checkout.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// trustFile is where trusted configurations are recorded: one absolute path a
// line, in the user's configuration folder.
func trustFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(dir) { // what is found in the working directory decides nothing
		return "", fmt.Errorf("the folder for configurations, %s, is no absolute path", dir)
	}
	return filepath.Join(dir, "metacue", "trusted"), nil
}

// trusted says whether the user has trusted a directory.
func trusted(dir string) (bool, error) {
	if os.Getenv("METACUE_TRUST") == "1" {
		return true, nil
	}
	paths, err := readTrust()
	if err != nil {
		return false, err
	}
	path, err := realPath(dir)
	return err == nil && slices.Contains(paths, path), err
}

// realPath is a path that names a directory whatever links lead to it.
func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func readTrust() ([]string, error) {
	file, err := trustFile()
	if err != nil {
		return nil, nil // without a configuration folder nothing is trusted
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }), err
}

func writeTrust(paths []string) error {
	file, err := trustFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	var b strings.Builder
	for _, p := range paths {
		if strings.Contains(p, "\n") {
			return fmt.Errorf("%q cannot be recorded: it holds a line end", p)
		}
		b.WriteString(p + "\n")
	}
	tmp := file + ".new"
	if err := os.WriteFile(tmp, []byte(b.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}
