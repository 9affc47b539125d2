package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/diag"
)

func newVet() *cobra.Command {
	var s settings
	var format string
	cmd := &cobra.Command{
		Use:   "vet [DIR]",
		Short: "Find every fault of a configuration, with its line",
		Long: `vet checks the configuration in DIR (default: ./cue if there is one, else the
built-in one) and prints every fault as FILE:LINE:COLUMN: PATH: MESSAGE. It is
silent and exits 0 when all is well, and exits 1 otherwise. It sends nothing.`,
		Example: `  metacue vet
  metacue vet ./cue --format github
  metacue vet -t organization=contoso ./cue`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(diag.Formats(), format) {
				return fmt.Errorf("--format: unknown format %q: one of %s", format, strings.Join(diag.Formats(), ", "))
			}
			src, err := s.choose(args, false)
			if err != nil {
				return err
			}
			cfg, findings := s.load(src)
			findings = s.withRules(cfg, findings)
			if len(findings) == 0 && format != "json" {
				return nil
			}
			if err := findings.Write(cmd.OutOrStdout(), format); err != nil {
				return err
			}
			if len(findings) > 0 {
				return errReported
			}
			return nil
		},
	}
	s.configFlags(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "print findings as `FORMAT`: "+strings.Join(diag.Formats(), ", "))
	return cmd
}
