package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/diag"
)

// run runs the command that the arguments name and gives the exit status.
func run() int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := interruptible(context.Background(), signals, os.Exit)
	defer stop()
	// net/http tells its own log of odd connections, with bytes of the upstream.
	log.SetOutput(io.Discard)
	collectRarely()
	root := newRoot()
	if err := root.ExecuteContext(ctx); err != nil {
		report(root.ErrOrStderr(), err)
		return 1
	}
	return 0
}

// collectRarely lets the heap grow further between collections: under load a
// third of the work was the collector's, for some 12 MiB that it saved, and half of
// it while a configuration is read. GOGC, set by whoever runs the program, wins.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// errReported ends a command whose output has said what is wrong already.
var errReported = errors.New("reported")

// report is the one place where errors are printed.
func report(w io.Writer, err error) {
	var findings diag.List
	switch {
	case errors.Is(err, errReported):
	case errors.As(err, &findings):
		_ = findings.Write(w, "text") // there is nowhere else to tell it
	default:
		fmt.Fprintln(w, "metacue:", err)
	}
}

// newRoot makes the command tree. Nothing in it is shared between calls.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "metacue",
		Short: "Puts a REST API in front of an AI agent, from one CUE configuration",
		Long: `metacue puts a REST API in front of an AI agent, without code: domains, tools,
arguments and HTTP requests are described in CUE, checked by metacue vet, and
offered by metacue serve as an MCP server, which makes the REST calls itself.

Without a configuration named, the built-in one is used: Azure DevOps.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newVet(), newTest(), newServe(), newCall(), newList(), newShow(), newSearch(), newTokens(), newTrust(), newVersion(), newDemo(), newExport())
	configurationsByFlag(root)
	return root
}

// settings are the flags of commands that read a configuration.
type settings struct {
	dir       string
	tags      map[string]string
	upstreams map[string]string
	readOnly  bool
	domains   []string
	keepGoing bool
}

// configFlags adds the flags that say what a configuration is loaded with.
func (s *settings) configFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.dir, "config", "c", "", "use the configuration in `DIR`")
	f.StringToStringVarP(&s.tags, "tag", "t", nil, "set the configuration's `NAME=VALUE` setting, which METACUE_NAME sets too")
}

// serveFlags adds the flags that say what is offered of a configuration.
func (s *settings) serveFlags(cmd *cobra.Command) {
	s.configFlags(cmd)
	f := cmd.Flags()
	f.StringToStringVar(&s.upstreams, "upstream", nil, "send the requests of upstream `NAME=URL` there: a mock, a staging system, an on-premises server")
	s.boundFlags(cmd)
	f.BoolVar(&s.keepGoing, "keep-going", false, "leave out tools that have findings, and say which, instead of refusing all")
}

// boundFlags adds the flags that bound what is offered.
func (s *settings) boundFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.readOnly, "read-only", false, "offer only tools that change nothing")
	f.StringSliceVar(&s.domains, "domains", nil, "offer only these `domains`, separated by commas")
	complete(cmd, "domains", s.completeDomains)
}

// with gives the flags that say with what a configuration is loaded, besides which it
// is.
func (s *settings) with() []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(s.tags)) {
		args = append(args, "-t", name+"="+s.tags[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.upstreams)) {
		args = append(args, "--upstream", name+"="+s.upstreams[name])
	}
	return args
}

// again gives the flags with which a command that sends uses the same configuration as
// one that does not: one that was merely found it may not use unless it is named.
func (s *settings) again() ([]string, error) {
	src, err := s.choose(nil, false)
	var args []string
	if src.dir != "" {
		args = append(args, "-c", src.dir)
	}
	args = append(args, s.with()...)
	if s.keepGoing {
		args = append(args, "--keep-going")
	}
	return args, err
}

// bounds gives what may be reached.
func (s *settings) bounds() catalog.Bounds {
	return catalog.Bounds{ReadOnly: s.readOnly, Domains: s.domains}
}

// configurationsByFlag lets the commands below cmd refuse a configuration given as an
// argument, where only the flag names one: it would be taken for a word, or be refused
// without a hint.
func configurationsByFlag(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		configurationsByFlag(sub)
	}
	check := cmd.Args
	if check == nil || cmd.Flags().Lookup("config") == nil || strings.Contains(cmd.Use, "[DIR]") {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			if dir, ok := isConfiguration(arg); ok {
				return fmt.Errorf("a configuration is named by -c %s, not as an argument of %s", dir, cmd.CommandPath())
			}
		}
		return check(cmd, args)
	}
}

// isConfiguration says whether an argument is written as a path and leads to a folder,
// or to a CUE file, and gives the folder.
func isConfiguration(arg string) (dir string, ok bool) {
	file := filepath.Ext(arg) == ".cue"
	if !file && !strings.ContainsAny(arg, `/\`) && strings.Trim(arg, ".") != "" {
		return "", false
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		return arg, true
	}
	return filepath.Dir(arg), file
}

// named gives the directory that the flags or the arguments name, "" when none
// is named.
func (s *settings) named(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return s.dir, nil
	case s.dir != "" && s.dir != args[0]:
		return "", fmt.Errorf("%s and --config %s name two configurations", args[0], s.dir)
	}
	return args[0], nil
}
