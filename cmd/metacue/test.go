package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/expect"
)

func newTest() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Run the examples and tests of a configuration, without a network",
		Long: `test makes the call of every example that holds a request, exchanges, a response
or a result, and of every entry of a tool's tests: the requests must equal the
expected ones, and the result made of the canned answers the expected result.
Each call has the server-level defaults that the example or test asks for, and no
others: it holds whatever an operator sets. Differences are printed as FILE:LINE:COLUMN: PATH: MESSAGE, and end it with 1.
Nothing is sent and no secret is read.`,
		Example: `  metacue test
  metacue test ./cue`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := s.choose(args, false)
			if err != nil {
				return err
			}
			cfg, findings := s.load(src)
			if len(findings) > 0 {
				findings, _ = s.withRules(cfg, findings)
				return findings
			}
			if _, findings := compile.Compile(cfg, s.options(nil)); len(findings) > 0 {
				return findings
			}
			outcome := expect.Run(cmd.Context(), cfg, compile.With(cfg, s.options(nil)))
			if err := outcome.Findings.Write(cmd.OutOrStdout(), "text"); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d with expectations, %s; %s without\n", outcome.Run, count(len(outcome.Findings), "difference"), count(outcome.Plain, "example"))
			if src.dir == "" && outcome.Run == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "The tests of the built-in configuration are not part of the program: name a folder with its files, as in metacue test ./cue")
			}
			if len(outcome.Findings) > 0 {
				return errReported
			}
			return nil
		},
	}
	s.configFlags(cmd)
	return cmd
}
