package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/internal/term"
	"github.com/metacue/metacue/runtime/catalog"
)

func newList() *cobra.Command {
	var s settings
	var format string
	cmd := &cobra.Command{
		Use:   "list [DOMAIN]",
		Short: "List the tools of a configuration",
		Long: `list prints the tools of a configuration, domain by domain, or those of one
domain: name, action, and the first sentence of the description. It sends
nothing.`,
		Example: `  metacue list
  metacue list repositories --read-only
  metacue list -c ./cue --format json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.completeDomain,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := pick(listFormats, format)
			if err != nil {
				return err
			}
			program, err := s.read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			domains := program.Catalog.Domains
			if len(args) > 0 {
				d, ok := program.Catalog.Domain(args[0])
				if !ok {
					return unknown("domain", args[0], domainNames(program.Catalog))
				}
				domains = []*catalog.Domain{d}
			}
			return write(cmd.OutOrStdout(), domains)
		},
	}
	s.serveFlags(cmd)
	formatFlag(cmd, &format, listFormats)
	return cmd
}

// listFormats holds the ways to print domains.
var listFormats = formats[[]*catalog.Domain]{
	{"text", listText},
	{"json", func(w io.Writer, domains []*catalog.Domain) error {
		list := []listedDomain{}
		for _, d := range domains {
			tools := []listedTool{}
			for _, t := range d.Tools {
				tools = append(tools, listed(t))
			}
			list = append(list, listedDomain{d.Name, d.Description, tools})
		}
		return writeJSON(w, map[string]any{"domains": list})
	}},
}

type listedDomain struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Tools       []listedTool `json:"tools"`
}

// listedTool is a tool in a list.
type listedTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Domain      string         `json:"domain"`
	Action      string         `json:"action"`
	Effect      catalog.Effect `json:"effect"`
}

func listed(t *catalog.Tool) listedTool {
	return listedTool{t.Name, t.Description, t.Domain, t.Action, t.Effect}
}

func listText(w io.Writer, domains []*catalog.Domain) error {
	c := term.Wanted(w)
	for i, d := range domains {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", c.Paint(term.Bold, d.Name), c.Paint(term.Dim, d.Summary)); err != nil {
			return err
		}
		var rows [][]term.Cell
		for _, t := range d.Tools {
			rows = append(rows, []term.Cell{{Text: t.Name}, {Text: t.Action, Style: effectStyles[t.Effect]}, {Text: brief(t.Description)}})
		}
		if err := term.Table(w, c, "  ", rows); err != nil {
			return err
		}
	}
	return nil
}

// effectStyles shows what a tool can do to the upstream.
var effectStyles = map[catalog.Effect]term.Style{
	catalog.Read:        term.Green,
	catalog.Write:       term.Yellow,
	catalog.Destructive: term.Red,
}

// brief is the first sentence or line of a text.
func brief(text string) string {
	text = strings.TrimSpace(text)
	if line, _, ok := strings.Cut(text, "\n"); ok {
		text = line
	}
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first
	}
	return strings.TrimSuffix(text, ".")
}
