package main

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func newExportTools() *cobra.Command {
	var e exports
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Print the list of tools as a client gets it",
		Long: `tools prints {"tools":[…]}, the exact answer to tools/list in a mode, as compact
JSON: what a model is given, and what is counted in tokens.`,
		Example: `  metacue export tools --mode meta
  metacue export tools --mode flat --domains wiki --read-only`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, face, err := e.offered(cmd)
			if err != nil {
				return err
			}
			out := json.NewEncoder(cmd.OutOrStdout())
			out.SetEscapeHTML(false)
			return out.Encode(struct {
				Tools []*mcp.Tool `json:"tools"`
			}{face.Tools()})
		},
	}
	e.flags(cmd)
	return cmd
}
