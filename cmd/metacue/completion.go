package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/signature"
)

// completer says what may stand where a shell asks for it. toComplete is what
// is there already.
type completer = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// complete completes the values of a flag.
func complete(cmd *cobra.Command, flag string, by completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err) // a fault of ours: there is no such flag, or it is completed twice
	}
}

// only completes fixed values.
func only(values ...string) completer {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// offered gives what of the configuration is within bounds; nothing when it
// cannot be read: a shell that completes is no place to say why.
func (s *settings) offered() *catalog.Catalog {
	program, err := s.read(io.Discard)
	if err != nil {
		return catalog.New(catalog.Catalog{})
	}
	return program.Catalog
}

// completeTool completes the one tool that a command is about.
func (s *settings) completeTool(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, t := range s.offered().Tools() {
			names = append(names, described(t.Name, brief(t.Description)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeCall completes a tool and then the names of its arguments.
func (s *settings) completeCall(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return s.completeTool(cmd, args, toComplete)
	}
	t, ok := s.offered().Tool(args[0])
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	if name, _, ok := strings.Cut(toComplete, "="); ok {
		for _, a := range signature.Arguments(t.InputSchema) {
			if a.Name == name {
				names = values(a)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	for _, a := range signature.Arguments(t.InputSchema) {
		names = append(names, described(a.Name+"=", brief(a.Description)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// values gives NAME=VALUE for the values that an argument can have.
func values(a signature.Argument) []string {
	all := a.Values
	if a.Type == "bool" || strings.HasPrefix(a.Type, "bool=") {
		all = []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	}
	var words []string
	for _, v := range all {
		text := string(v)
		_ = json.Unmarshal(v, &text) // what is no text is written as it is
		words = append(words, a.Name+"="+text)
	}
	return words
}

// completeSkill completes the one skill that a command is about.
func (s *settings) completeSkill(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, k := range s.offered().Skills {
			names = append(names, described(k.Name, k.Description))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeDomain completes the one domain that a command is about.
func (s *settings) completeDomain(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, d := range s.offered().Domains {
			names = append(names, described(d.Name, d.Summary))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeDomains completes the last of several domains, separated by commas.
func (s *settings) completeDomains(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	given := strings.Split(toComplete, ",")
	given = given[:len(given)-1]
	all := *s
	all.domains = nil // the flag that is being written bounds nothing yet
	var names []string
	for _, d := range all.offered().Domains {
		if !slices.Contains(given, d.Name) {
			names = append(names, described(strings.Join(append(slices.Clone(given), d.Name), ","), d.Summary))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeAction completes an action that a tool has.
func (s *settings) completeAction(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, a := range s.offered().ActionsInUse() {
		names = append(names, described(a.Name, a.Description))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// described is a completion with what shells show beside it, in one line.
func described(value, about string) string {
	return cobra.CompletionWithDesc(value, strings.Join(strings.Fields(about), " "))
}
