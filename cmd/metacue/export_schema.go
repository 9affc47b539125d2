package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// draft is the dialect of the schemas (JSON Schema 2020-12, section 8.1.1).
const draft = `{"$schema":"https://json-schema.org/draft/2020-12/schema"`

func newExportSchema() *cobra.Command {
	var e exports
	var result bool
	cmd := &cobra.Command{
		Use:   "schema TOOL",
		Short: "Print the JSON Schema of a tool's arguments",
		Long: `schema prints the JSON Schema (draft 2020-12) of the arguments of a tool, or with
--result that of its result, where it declares one.`,
		Example:           `  metacue export schema create_pull_request`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: e.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			program, _, err := e.offered(cmd)
			if err != nil {
				return err
			}
			t, err := find(program.Catalog, args[0])
			if err != nil {
				return err
			}
			schema := t.InputSchema
			if result {
				if schema = t.OutputSchema; schema == nil {
					return errors.New(t.Name + " declares no result (response.schema)")
				}
			}
			whole := draft + strings.TrimPrefix(string(schema), "{")
			if string(schema) != "{}" {
				whole = draft + "," + strings.TrimPrefix(string(schema), "{")
			}
			var out bytes.Buffer
			if err := json.Indent(&out, []byte(whole), "", "  "); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), out.String())
			return err
		},
	}
	e.serveFlags(cmd)
	cmd.Flags().BoolVar(&result, "result", false, "print the schema of the result")
	return cmd
}
