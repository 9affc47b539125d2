package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/exec"
)

func newCall() *cobra.Command {
	var s settings
	var args, format string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "call TOOL [NAME=VALUE …]",
		Short: "Call one tool, or show the request that it would make",
		Long: `call makes one call of a tool, the same way as an MCP client would, and prints
the result. With --dry-run it prints the exact request instead, secrets masked,
and sends nothing.

A VALUE is taken as text, and as JSON where the tool's schema asks for another
type: top=5, isDraft=true, labels='["a","b"]'. For a list NAME=VALUE may also be
repeated. --json gives all arguments as one JSON object; - reads it from
standard input.`,
		Example: `  metacue call list_pull_requests project=Contoso repositoryId=web
  metacue call create_branch --json '{"project":"Contoso"}' --dry-run
  metacue call get_pull_request project=Contoso repositoryId=web pullRequestId=101 --dry-run --format json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: s.completeCall,
		RunE: func(cmd *cobra.Command, words []string) error {
			show, ok := requestFormats[format]
			if !ok {
				return fmt.Errorf("--format: unknown format %q: one of curl, json", format)
			}
			src, err := s.choose(nil, sends(!dryRun))
			if err != nil {
				return err
			}
			if src.note != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "metacue:", src.note)
			}
			program, findings := s.compile(src, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
			if program == nil {
				return findings.Err()
			}
			// Why the call failed is its answer, which is printed.
			program.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
			var schema json.RawMessage
			t, err := find(program.Catalog, words[0])
			if err == nil {
				schema = t.InputSchema
			} else if program.Catalog.Gone(words[0]) {
				return err
			}
			arguments, err := callArguments(cmd.InOrStdin(), args, words[1:], schema)
			if err != nil {
				return err
			}
			// A sealed cursor would end with this process: the next call is another.
			program.Sealer = exec.Readable{}
			caller := call.Caller{Bounds: s.bounds()}
			if dryRun {
				plan, result := program.Plan(cmd.Context(), caller, words[0], arguments)
				if plan == nil {
					return refused(cmd.ErrOrStderr(), result)
				}
				if err := show(cmd.OutOrStdout(), plan.Request); err != nil {
					return err
				}
				for _, then := range plan.Then {
					fmt.Fprintln(cmd.ErrOrStderr(), "metacue:", then)
				}
				return nil
			}
			result := program.Call(cmd.Context(), caller, words[0], arguments)
			if result.IsError {
				return refused(cmd.ErrOrStderr(), result)
			}
			return printResult(cmd.OutOrStdout(), result)
		},
	}
	s.serveFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&args, "json", "", "the arguments as a JSON `OBJECT`")
	f.BoolVar(&dryRun, "dry-run", false, "print the request and send nothing; secrets are not read, references show as ***")
	f.StringVar(&format, "format", "curl", "print the request of a dry run as `FORMAT`: curl, json")
	complete(cmd, "format", only("curl", "json"))
	return cmd
}

// requestFormats holds the ways to print a request.
var requestFormats = map[string]func(io.Writer, *bind.HTTP) error{
	"curl": func(w io.Writer, r *bind.HTTP) error {
		_, err := fmt.Fprintln(w, r.Curl())
		return err
	},
	"json": func(w io.Writer, r *bind.HTTP) error {
		b, err := r.JSON()
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := json.Indent(&out, b, "", "  "); err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, out.String())
		return err
	},
}

// refused prints a failed result for a person: laid out, where it is JSON.
func refused(w io.Writer, r call.Result) error {
	for i, c := range r.Content {
		var b bytes.Buffer
		if c.Data == nil && json.Indent(&b, []byte(c.Text), "", "  ") == nil {
			r.Content[i].Text = b.String()
		}
	}
	if err := printResult(w, r); err != nil {
		return err
	}
	return errReported
}

// printResult prints a result: text as it is, binary content as its bytes.
func printResult(w io.Writer, r call.Result) error {
	for _, c := range r.Content {
		var err error
		if c.Data != nil {
			_, err = w.Write(c.Data)
		} else {
			_, err = fmt.Fprintln(w, c.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var _ call.Func = (*exec.Program)(nil).Call
