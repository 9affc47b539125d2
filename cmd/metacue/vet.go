package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/load"
	"github.com/metacue/metacue/runtime/surface"
)

func newVet() *cobra.Command {
	var s settings
	var o offer
	var format string
	var host []string
	cmd := &cobra.Command{
		Use:   "vet [DIR]",
		Short: "Find every fault of a configuration, with its line",
		Long: `vet checks the configuration in DIR (default: ./cue if there is one, else the
built-in one) and prints every fault as FILE:LINE:COLUMN: PATH: MESSAGE. It is
silent and exits 0 when all is well, and exits 1 otherwise. It sends nothing.

With --mode it also says what stands in the way of serving in that mode: names
that the mode needs for itself.

With --host it also says what hosts and model APIs would refuse, cut or leave out
of what a mode lists: names and descriptions too long for them, keywords of JSON
Schema that they do not know, more tools than they take. --read-only and --domains
bound what these two look at, as they bound a server; faults are told of all.`,
		Example: `  metacue vet
  metacue vet ./cue --format github
  metacue vet -t organization=contoso ./cue
  metacue vet --host all --mode meta`,
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
			findings, program := s.withRules(cfg, findings)
			mode, err := o.chosen(cmd)
			if err != nil {
				return err
			}
			if len(findings) == 0 {
				if err := s.checkDomains(program); err != nil {
					return err
				}
				program = program.Within(s.bounds()) // what is offered of it
				if findings, err = modeFindings(cfg, program.Catalog, mode); err != nil {
					return err
				}
			}
			if len(findings) == 0 && len(host) > 0 {
				if findings, err = hostFindings(cfg, program.Catalog, program.Call, mode, host); err != nil {
					return err
				}
			}
			if cfg != nil { // no other command asks: what these are about works
				findings = append(findings, cfg.Stale()...)
			}
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
	s.boundFlags(cmd)
	cmd.Flags().StringSliceVar(&host, "host", nil, "also hold the list of tools against the rules of the `HOST`: "+hostNames)
	complete(cmd, "host", only(strings.Split(hostNames, ", ")...))
	o.modeFlags(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "print findings as `FORMAT`: "+strings.Join(diag.Formats(), ", "))
	return cmd
}

// modeFindings tells what stands in the way of serving a catalog in a mode.
func modeFindings(cfg *load.Config, c *catalog.Catalog, mode string) (diag.List, error) {
	faults, err := surface.Check(mode, c)
	var all diag.List
	for _, f := range faults {
		all = append(all, cfg.Finding(f.Path, f.Message))
	}
	return all, err
}
