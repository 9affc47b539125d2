package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/internal/demo"
	"github.com/metacue/metacue/internal/term"
	"github.com/metacue/metacue/runtime/serve"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

func newDemo() *cobra.Command {
	var o offer
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show an agent's whole path against a sample organization",
		Long: `demo starts a sample organization with the REST shape of Azure DevOps on a
loopback port, serves the built-in configuration against it, and goes an agent's
whole path as an MCP client: every call, its tokens, and the HTTP requests that
come of it. It needs no network and no account, and exits 1 if a step does not do
what it should.

With --serve it serves the same to a client of your own instead, over standard
input and output or with --http over streamable HTTP.`,
		Example: `  metacue demo
  metacue demo --serve --http 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep {
				return o.demo(cmd)
			}
			if cmd.Flags().NFlag() > 0 {
				return errors.New("the flags say how to serve: they need --serve")
			}
			if err := demo.Run(cmd.Context(), cmd.OutOrStdout(), term.Wanted(cmd.OutOrStdout())); err != nil {
				return fmt.Errorf("the demonstration failed: %w", err)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&keep, "serve", false, "serve the built-in configuration over the sample organization")
	f.StringVar(&o.mode, "mode", "meta", "with --serve, list tools as `MODE`: "+strings.Join(surface.Modes(), ", "))
	complete(cmd, "mode", only(surface.Modes()...))
	o.transportFlags(cmd)
	return cmd
}

// demo serves the built-in configuration over a sample organization.
func (o *offer) demo(cmd *cobra.Command) error {
	tokens.Load()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	stage, err := demo.NewStage(log)
	if err != nil {
		return err
	}
	defer stage.Close()
	cat := stage.Program.Catalog
	offered, err := surface.New(o.mode, cat, stage.Program.Call)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "metacue: its API is the sample organization at %s; another shell calls it by\n%s\n", stage.URL, stage.Call("list_projects"))
	opts := serve.Of(cat, offered)
	opts.Log = log
	return o.serve(cmd, func() { announce(cmd.ErrOrStderr(), o.mode, cat, offered, "the built-in configuration") }, opts)
}
