// Package scenario runs the product's scenarios: scripts of
// github.com/rogpeppe/go-internal/testscript that drive the program from
// outside, as an MCP client and as an operator at a shell, with loopback
// servers in place of the REST APIs. It is a test helper and knows the program
// by its command line alone.
//
// # The matrix
//
// A scenario says in comments at its top in which modes and over which
// transports it runs; without "modes" it runs once, without "transports" over
// all:
//
//	# modes: flat meta
//	# transports: stdio
//
// Each run is a subtest named MODE-TRANSPORT/SCENARIO and sees $MODE and
// $TRANSPORT; [flat], [meta], [nouns], [model], [stdio], [http] are conditions. "mcp start" and
// "mcp tool" do what the run asks for, so that a scenario is written once, and
// the log of its upstream is one golden for the whole matrix.
//
// UPDATE=1 in the environment rewrites the goldens that cmp compares with: the
// runs over the first transport write, those over the others must agree.
//
// # Commands
//
// Beside those of testscript, where ! stands for "must fail":
//
//	upstream VAR routes.json    start a loopback server with canned answers (see Route); VAR is its URL
//	sample VAR                  start the sample organization; it demands the token of $AZURE_DEVOPS_PAT, if set
//	upstream log [VAR]          print what reached it, the host left out and credentials masked
//	upstream clear [VAR]        forget that
//
//	[!] mcp start ARG...        start PROGRAM serve in the mode and over the transport of this run, and connect
//	[!] mcp stdio CMD ARG...    start a server and connect over its standard input and output
//	[!] mcp http URL            connect to a server that runs
//	mcp list                    print the tools as JSON, as the server sent them, indented
//	[!] mcp call NAME [ARGS]    call a tool and print its content; ! for isError or a protocol error
//	[!] mcp tool NAME [ARGS]    the same by way of the mode's own path to the tool
//	mcp result                  print the last JSON-RPC result as the server sent it, indented
//	mcp instructions            print the server's instructions
//	mcp close                   end the session and the server, which must exit with 0; its standard error is stderr
//
// Between mcp and the verb may stand -s NAME for one of several sessions, and
// -rev REVISION for the protocol revision to ask for.
//
//	http METHOD URL [-H 'Name: value'] [-d BODY|@FILE]   print status and body; JSON is indented
//	indent FILE                                          print JSON indented, members in their order
//	jq [-env VAR] EXPRESSION FILE                        print the results, strings without quotes, or set VAR to them
//	[!] tokens FILE MAX                                  the o200k_base tokens of FILE, JSON compacted, are at most MAX
//	answers FILE REQUESTS                                FILE answers every request of REQUESTS once (JSON-RPC, one a line)
//	waitfile [-match REGEXP] FILE VAR                    wait for FILE and set VAR to what it holds, or to the group of REGEXP
//
// FILE may be stdout or stderr. The condition [env:NAME] holds when NAME is
// among the variables handed through from outside and is not empty.
package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
)

// patience bounds every wait for something that should happen at once.
const patience = 2 * time.Minute

// Params says what Run runs.
type Params struct {
	// Dir is the folder of the scripts, *.txtar.
	Dir string
	// Program is the command under test, one of those given to testscript.Main.
	Program string
	// PassEnv names variables of the test's own environment that scripts see.
	PassEnv []string
}

// Run runs each script of a folder in each mode and over each transport that
// it names; with go test -short in each mode over one of the transports, by turns.
func Run(t *testing.T, p Params) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(p.Dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) == 0 {
		t.Fatalf("no scripts in %s", p.Dir)
	}
	// One group of subtests a cell: the scripts of a cell run side by side, the
	// cells one after another, so that no two runs write the same goldens.
	groups := map[cell][]script{}
	for _, file := range scripts {
		s, err := readScript(file)
		if err != nil {
			t.Fatal(err)
		}
		cells := s.cells
		if testing.Short() {
			cells = byTurns(cells)
		}
		for _, c := range cells {
			groups[c] = append(groups[c], s)
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(groups), cell.compare) {
		t.Run(c.String(), func(t *testing.T) {
			testscript.Run(t, p.testscript(c, groups[c]))
		})
	}
}

// byTurns leaves one transport of each mode: the first of its for the first mode,
// the next one for the next.
func byTurns(cells []cell) []cell {
	of := map[string][]cell{}
	var modes []string
	for _, c := range cells {
		if of[c.mode] == nil {
			modes = append(modes, c.mode)
		}
		of[c.mode] = append(of[c.mode], c)
	}
	var some []cell
	for i, mode := range modes {
		some = append(some, of[mode][i%len(of[mode])])
	}
	return some
}

// testscript gives the parameters for one cell.
func (p Params) testscript(c cell, scripts []script) testscript.Params {
	byName := map[string]script{}
	var files []string
	for _, s := range scripts {
		byName[s.name] = s
		files = append(files, s.file)
	}
	return testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "" && (c.transport == "" || c.transport == transports[0]),
		Cmds:                commands,
		Condition:           func(cond string) (bool, error) { return p.condition(c, cond) },
		Setup: func(env *testscript.Env) error {
			name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
			return p.setup(env, c, byName[name])
		},
	}
}

// setup gives a script a small environment: what testscript sets, a home
// folder of its own, the cell, and what PassEnv names.
func (p Params) setup(env *testscript.Env, c cell, s script) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o777); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("MODE", c.mode)
	env.Setenv("TRANSPORT", c.transport)
	for _, name := range p.PassEnv {
		if v := os.Getenv(name); v != "" {
			env.Setenv(name, v)
		}
	}
	st := &state{
		program:   p.Program,
		cell:      c,
		upstreams: map[string]*upstream{},
		sessions:  map[string]*session{},
	}
	for _, kv := range env.Vars {
		name, _, _ := strings.Cut(kv, "=")
		st.names = append(st.names, name)
	}
	st.names = append(st.names, s.names...)
	env.Values[stateKey{}] = st
	env.Defer(st.end)
	return nil
}

func (p Params) condition(c cell, cond string) (bool, error) {
	if name, ok := strings.CutPrefix(cond, "env:"); ok {
		if !slices.Contains(p.PassEnv, name) {
			return false, fmt.Errorf("%s is not handed through", name)
		}
		return os.Getenv(name) != "", nil
	}
	switch {
	case slices.Contains(modes, cond):
		return c.mode == cond, nil
	case slices.Contains(transports, cond):
		return c.transport == cond, nil
	}
	return false, fmt.Errorf("unknown condition")
}

// The matrix, in the order of its runs.
var (
	modes      = []string{"flat", "meta", "nouns", "model"}
	transports = []string{"stdio", "http"}
)

// cell is one run of a scenario; the zero cell is that of a scenario which
// names no modes.
type cell struct{ mode, transport string }

func (c cell) String() string {
	if c == (cell{}) {
		return "once"
	}
	return c.mode + "-" + c.transport
}

// compare puts the runs in the order of modes and transports.
func (c cell) compare(d cell) int {
	return cmp.Or(
		cmp.Compare(slices.Index(modes, c.mode), slices.Index(modes, d.mode)),
		cmp.Compare(slices.Index(transports, c.transport), slices.Index(transports, d.transport)),
	)
}

// script is a scenario's file, as far as it must be known before it runs.
type script struct {
	file, name string
	cells      []cell
	names      []string // variables that its env lines set
}

var (
	header = regexp.MustCompile(`(?m)^# (modes|transports):[ \t]*(.*)$`)
	// envLine finds the env commands of a script, conditions before them or not.
	envLine = regexp.MustCompile(`(?m)^(?:\[[^\]]*\][ \t]*)*env[ \t]+(.*)$`)
	envName = regexp.MustCompile(`(?:^|[ \t])'?([A-Za-z_][A-Za-z0-9_]*)=`)
)

func readScript(file string) (script, error) {
	s := script{file: file, name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return s, err
	}
	named := map[string][]string{}
	for _, m := range header.FindAllSubmatch(archive.Comment, -1) {
		named[string(m[1])] = strings.Fields(string(m[2]))
	}
	over := transports
	if t, ok := named["transports"]; ok {
		over = t
	}
	for _, mode := range named["modes"] {
		for _, transport := range over {
			if !slices.Contains(modes, mode) || !slices.Contains(transports, transport) {
				return s, fmt.Errorf("%s: no run %s over %s: modes are %v, transports %v", file, mode, transport, modes, transports)
			}
			s.cells = append(s.cells, cell{mode, transport})
		}
	}
	if s.cells == nil {
		s.cells = []cell{{}}
	}
	for _, line := range envLine.FindAllSubmatch(archive.Comment, -1) {
		for _, m := range envName.FindAllSubmatch(line[1], -1) {
			s.names = append(s.names, string(m[1]))
		}
	}
	return s, nil
}

// state is what the commands of one run share.
type state struct {
	program   string
	cell      cell
	names     []string // variables that subprocesses see
	upstreams map[string]*upstream
	sessions  map[string]*session
}

type stateKey struct{}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(stateKey{}).(*state) }

// setenv sets a variable of the script, which later subprocesses see.
func (st *state) setenv(ts *testscript.TestScript, name, value string) {
	ts.Setenv(name, value)
	st.names = append(st.names, name)
}

// environ is the environment of a subprocess: testscript shows a command one
// variable at a time, and exec gives its own subprocesses the same.
func (st *state) environ(ts *testscript.TestScript) []string {
	env := []string{"PWD=" + ts.MkAbs(".")}
	for _, name := range st.names {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// end stops whatever the script left running.
func (st *state) end() {
	for _, s := range st.sessions {
		s.kill()
	}
	for _, u := range st.upstreams {
		u.server.Close()
	}
}

// commands are the script commands, each described in the package comment.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"answers":  cmdAnswers,
	"http":     cmdHTTP,
	"indent":   cmdIndent,
	"jq":       cmdJQ,
	"mcp":      cmdMCP,
	"sample":   cmdSample,
	"tokens":   cmdTokens,
	"upstream": cmdUpstream,
	"waitfile": cmdWaitfile,
}

// unsupportedNeg ends a script that negates a command which cannot fail.
func unsupportedNeg(ts *testscript.TestScript, neg bool, command string) {
	if neg {
		ts.Fatalf("unsupported: ! %s", command)
	}
}
