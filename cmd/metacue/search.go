package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/internal/term"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/search"
)

func newSearch() *cobra.Command {
	var s settings
	var o search.Options
	var explain bool
	var format string
	cmd := &cobra.Command{
		Use:   "search WORDS…",
		Short: "Find tools by words",
		Long: `search ranks the tools that words may mean, as search_tools does for agents: by
their names, titles, descriptions, arguments, values, aliases and examples, and
by their domain. --explain says what each score is made of. It sends nothing.`,
		Example: `  metacue search "review a pull request"
  metacue search branch --action create --explain`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := pick(searchFormats(explain), format)
			if err != nil {
				return err
			}
			if o.Limit < 0 {
				return fmt.Errorf("--limit must be 0, for all, or more, not %d", o.Limit)
			}
			program, err := s.read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if _, ok := program.Catalog.Domain(o.Domain); o.Domain != "" && !ok {
				return unknown("domain", o.Domain, domainNames(program.Catalog))
			}
			actions := actionNames(program.Catalog)
			if o.Action != "" && !slices.Contains(actions, o.Action) {
				return unknown("action", o.Action, actions)
			}
			return write(cmd.OutOrStdout(), search.New(program.Catalog).Find(strings.Join(args, " "), o))
		},
	}
	s.serveFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Domain, "domain", "", "find only tools of this `DOMAIN`")
	f.StringVar(&o.Action, "action", "", "find only tools of this `ACTION`")
	f.IntVar(&o.Limit, "limit", 10, "print at most `N` tools; 0 for all")
	f.BoolVar(&explain, "explain", false, "say what each score is made of")
	formatFlag(cmd, &format, searchFormats(false))
	complete(cmd, "domain", func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return s.completeDomain(cmd, nil, toComplete)
	})
	complete(cmd, "action", s.completeAction)
	return cmd
}

func actionNames(c *catalog.Catalog) []string {
	var names []string
	for _, a := range c.ActionsInUse() {
		names = append(names, a.Name)
	}
	return names
}

// searchFormats holds the ways to print hits.
func searchFormats(explain bool) formats[[]search.Hit] {
	return formats[[]search.Hit]{
		{"text", func(w io.Writer, hits []search.Hit) error { return searchText(w, hits, explain) }},
		{"json", func(w io.Writer, hits []search.Hit) error {
			tools := []foundTool{}
			for _, h := range hits {
				f := foundTool{listedTool: listed(h.Tool), Score: rounded(h.Score)}
				if explain {
					f.Why = reasons(h)
				}
				tools = append(tools, f)
			}
			return writeJSON(w, map[string]any{"tools": tools})
		}},
	}
}

type foundTool struct {
	listedTool
	Score float64  `json:"score"`
	Why   []reason `json:"why,omitempty"`
}

// reason is a search.Match as JSON.
type reason struct {
	Word   string     `json:"word"`
	As     string     `json:"as,omitempty"`
	How    search.How `json:"how,omitempty"`
	Fields []string   `json:"fields"`
	Score  float64    `json:"score"`
}

func reasons(h search.Hit) []reason {
	var all []reason
	for _, m := range h.Why {
		m.Score = rounded(m.Score)
		all = append(all, reason(m))
	}
	return all
}

// rounded is a score as far as it is the same on every machine.
func rounded(score float64) float64 { return math.Round(score*1e4) / 1e4 }

func searchText(w io.Writer, hits []search.Hit, explain bool) error {
	c := term.Wanted(w)
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, "no tool fits these words")
		return err
	}
	row := func(h search.Hit) []term.Cell {
		t := h.Tool
		return []term.Cell{{Text: fmt.Sprintf("%5.2f", h.Score), Style: term.Dim}, {Text: t.Name, Style: term.Bold}, {Text: t.Domain},
			{Text: t.Action, Style: effectStyles[t.Effect]}, {Text: brief(t.Description)}}
	}
	if !explain {
		var rows [][]term.Cell
		for _, h := range hits {
			rows = append(rows, row(h))
		}
		return term.Table(w, c, "", rows)
	}
	for _, h := range hits {
		if err := term.Table(w, c, "", [][]term.Cell{row(h)}); err != nil {
			return err
		}
		var parts [][]term.Cell
		for _, m := range h.Why {
			word := m.Word
			switch {
			case m.How == search.Name:
				word += fmt.Sprintf(" of %s (%s)", m.As, m.How)
			case m.As != "":
				word += fmt.Sprintf(" taken for %s (%s)", m.As, m.How)
			}
			parts = append(parts, []term.Cell{{Text: fmt.Sprintf("%5.2f", m.Score), Style: term.Dim}, {Text: word}, {Text: "in " + strings.Join(m.Fields, ", "), Style: term.Dim}})
		}
		if err := term.Table(w, c, "       ", parts); err != nil {
			return err
		}
	}
	return nil
}
