package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/internal/term"
	"github.com/metacue/metacue/runtime/account"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

func newTokens() *cobra.Command {
	var s settings
	var format string
	var given []string
	var each bool
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "Count what a configuration costs an agent, in tokens",
		Long: `tokens prints the account of a configuration, in o200k_base tokens: the list of
tools in every mode, each domain, the paths on which an agent of meta mode finds
a tool, and after how many distinct tools flat mode would have been cheaper.

What it calls measured it has counted, for the paths by making their calls for
every tool, over a program that answers nothing: it sends nothing. With --budget
it exits 1 where the list of a mode is larger than that.

Each token is counted once. A skill in hand saves the calls that find a tool; what
reading its SKILL.md costs is told by itself.`,
		Example: `  metacue tokens
  metacue tokens --domains wiki --tools
  metacue tokens --budget meta=400,flat=20000`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := pick(tokensFormats(each), format)
			if err != nil {
				return err
			}
			budgets, err := parseBudgets(given)
			if err != nil {
				return err
			}
			tokens.Load() // needed in any case, and read meanwhile
			program, err := s.read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if len(program.Catalog.Domains) == 0 {
				return errors.New("nothing is left to count within --domains and --read-only")
			}
			a, err := account.Of(cmd.Context(), program.Catalog)
			if err != nil {
				return err
			}
			held, over := hold(budgets, a.Measured.Modes)
			if err := write(cmd.OutOrStdout(), accounted{a, held}); err != nil {
				return err
			}
			return over
		},
	}
	s.serveFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&given, "budget", nil, "exit 1 where the list of a mode has more tokens than `MODE=TOKENS`, separated by commas")
	f.BoolVar(&each, "tools", false, "print each tool of each domain too, as JSON does always")
	formatFlag(cmd, &format, tokensFormats(false))
	complete(cmd, "budget", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var starts []string
		for _, mode := range surface.Modes() {
			starts = append(starts, mode+"=")
		}
		return starts, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// budget is what the list of a mode may have, and what it has, in tokens.
type budget struct {
	Mode   string `json:"mode"`
	Budget int    `json:"budget"`
	Tokens int    `json:"tokens"`
	Over   int    `json:"over"` // 0 where it is kept
}

// parseBudgets reads MODE=TOKENS, and tells all that is wrong at once.
func parseBudgets(given []string) ([]budget, error) {
	var all []budget
	var faults []error
	for _, g := range given {
		mode, text, _ := strings.Cut(g, "=")
		n, err := strconv.Atoi(text)
		switch {
		case !slices.Contains(surface.Modes(), mode):
			faults = append(faults, fmt.Errorf("--budget %s: %w", g, unknown("mode", mode, surface.Modes())))
		case err != nil || n < 1:
			faults = append(faults, fmt.Errorf("--budget %s: it takes %s=TOKENS, a whole number above 0", g, mode))
		case slices.ContainsFunc(all, func(b budget) bool { return b.Mode == mode }):
			faults = append(faults, fmt.Errorf("--budget %s: there is another budget for %s", g, mode))
		default:
			all = append(all, budget{Mode: mode, Budget: n})
		}
	}
	return all, errors.Join(faults...)
}

// hold holds the lists against their budgets. The error says which are over theirs.
func hold(budgets []budget, modes []account.Mode) ([]budget, error) {
	var faults []error
	for i := range budgets {
		b := &budgets[i]
		m := modes[slices.IndexFunc(modes, func(m account.Mode) bool { return m.Name == b.Mode })]
		b.Tokens, b.Over = m.Tokens, max(m.Tokens-b.Budget, 0)
		switch {
		case m.Fault != "":
			faults = append(faults, fmt.Errorf("--budget: there is no list of %s mode: %s", m.Name, m.Fault))
		case b.Over > 0:
			faults = append(faults, fmt.Errorf("--budget: %s has %d tokens, %d over its budget of %d", m.Name, m.Tokens, b.Over, b.Budget))
		}
	}
	return budgets, errors.Join(faults...)
}

// accounted is what the command prints.
type accounted struct {
	*account.Account
	Budgets []budget `json:"budgets,omitempty"`
}

// tokensFormats holds the ways to print an account. each asks for the tools in the
// text.
func tokensFormats(each bool) formats[accounted] {
	return formats[accounted]{
		{"text", func(w io.Writer, a accounted) error { return tokensText(w, a, each) }},
		{"json", func(w io.Writer, a accounted) error { return writeJSON(w, a) }},
	}
}

// section is a table of an account: a line that says what it shows, the heads of its
// columns, and its rows.
type section struct {
	title string
	heads []term.Cell
	rows  [][]term.Cell
}

func tokensText(w io.Writer, a accounted, each bool) error {
	c := term.Wanted(w)
	tools := count(a.Tools, "tool")
	if _, err := fmt.Fprintf(w, "%s: %s in %s, counted in %s tokens; nothing was sent\n", c.Paint(term.Bold, a.Server), tools, count(a.Domains, "domain"), a.Encoding); err != nil {
		return err
	}
	m := a.Measured
	for _, s := range []section{
		{"tools/list, measured over " + tools, heads("", ">tokens", ">tools", ">instructions"), modeRows(a)},
		{"What a model has read and written when it can make its call, measured over " + tools, heads("", ">mean", ">least..most"), pathRows(m.Paths)},
		{"Step by step, measured", heads("", "", ">written", "", ">read", "", ">over tools"), stepRows(m.Paths)},
		{"From how many distinct tools in one session flat is cheaper, computed: each call is made once", heads("", ">tools"), evenRows(a.Computed.BreakEven)},
		{"What a model with a skill in hand has read besides, measured", heads("", ">SKILL.md", ">references", ">tools"), skillRows(m.Skills)},
		{"Domains, measured", heads("", ">flat", ">list_domain_tools", ">tools"), domainRows(m.Domains)},
		{"Tools, measured", heads("", ">flat", ">of it schema"), toolRows(m.Domains, each)},
	} {
		if len(s.rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", c.Paint(term.Bold, s.title)); err != nil {
			return err
		}
		if err := term.Table(w, c, "  ", append([][]term.Cell{s.heads}, s.rows...)); err != nil {
			return err
		}
	}
	return nil
}

// heads makes the heads of columns, at the right where they begin with >.
func heads(texts ...string) []term.Cell {
	var row []term.Cell
	for _, t := range texts {
		text, right := strings.CutPrefix(t, ">")
		row = append(row, term.Cell{Text: text, Style: term.Dim, Right: right})
	}
	return row
}

func modeRows(a accounted) [][]term.Cell {
	var rows [][]term.Cell
	most := largest(a.Measured.Modes, func(m account.Mode) int { return m.Tokens })
	for _, m := range a.Measured.Modes {
		if m.Fault != "" {
			rows = append(rows, []term.Cell{{Text: m.Name}, {Text: "none", Right: true}, {}, {}, {}, {Text: strings.ReplaceAll(m.Fault, "\n", "; "), Style: term.Red}})
			continue
		}
		says, style := "", term.Plain
		if i := slices.IndexFunc(a.Budgets, func(b budget) bool { return b.Mode == m.Name }); i >= 0 {
			b := a.Budgets[i]
			if says = fmt.Sprintf("within %d", b.Budget); b.Over > 0 {
				says, style = fmt.Sprintf("%d over %d", b.Over, b.Budget), term.Red
			}
		}
		rows = append(rows, []term.Cell{{Text: m.Name}, number(m.Tokens), number(m.Listed), number(m.Instructions), {Text: says, Style: style}, bar(m.Tokens, most)})
	}
	return rows
}

func pathRows(paths []account.Path) [][]term.Cell {
	var rows [][]term.Cell
	most := largest(paths, func(p account.Path) int { return mean(p.Decision) })
	for _, p := range paths {
		n := mean(p.Decision)
		rows = append(rows, []term.Cell{{Text: p.Name}, number(n), spread(p.Decision), bar(n, most)})
	}
	return rows
}

func stepRows(paths []account.Path) [][]term.Cell {
	var rows [][]term.Cell
	for _, p := range paths {
		rows = append(rows, []term.Cell{{Text: p.Name}, {Text: "tools/list"}, {}, {}, number(p.List)})
		for _, s := range p.Steps {
			rows = append(rows, []term.Cell{{}, {Text: s.Tool}, number(mean(s.Call)), spread(s.Call), number(mean(s.Answer)), spread(s.Answer), number(s.Call.Tools)})
		}
		rows = append(rows, []term.Cell{{}, {Text: "its call"}, number(mean(p.Run)), spread(p.Run), {Text: "result", Style: term.Dim, Right: true}, {}, number(p.Run.Tools)})
	}
	return rows
}

func evenRows(all []account.BreakEven) [][]term.Cell {
	var rows [][]term.Cell
	for _, b := range all {
		from := fmt.Sprint(b.Tools)
		if !b.Cheaper {
			from = "never"
		}
		rows = append(rows, []term.Cell{{Text: b.Path}, {Text: from, Right: true}, {Text: fmt.Sprintf("with %s flat comes to %d, meta to %d", count(b.Tools, "tool"), b.Flat, b.Meta), Style: term.Dim}})
	}
	return rows
}

func skillRows(skills []account.Skill) [][]term.Cell {
	var rows [][]term.Cell
	for _, s := range skills {
		rows = append(rows, []term.Cell{{Text: s.Name}, number(s.Tokens), number(s.References), number(s.Tools)})
	}
	return rows
}

func domainRows(domains []account.Domain) [][]term.Cell {
	var rows [][]term.Cell
	most := largest(domains, func(d account.Domain) int { return d.Tokens })
	for _, d := range domains {
		rows = append(rows, []term.Cell{{Text: d.Name}, number(d.Tokens), number(d.Summaries), number(len(d.Tools)), bar(d.Tokens, most)})
	}
	return rows
}

func toolRows(domains []account.Domain, each bool) [][]term.Cell {
	if !each {
		return nil
	}
	var tools []account.Tool
	for _, d := range domains {
		tools = append(tools, d.Tools...)
	}
	var rows [][]term.Cell
	most := largest(tools, func(t account.Tool) int { return t.Tokens })
	for _, t := range tools {
		rows = append(rows, []term.Cell{{Text: t.Name}, number(t.Tokens), number(t.Schema), bar(t.Tokens, most)})
	}
	return rows
}

// largest is the length of the longest bar of a table.
func largest[T any](all []T, of func(T) int) int {
	most := 0
	for _, x := range all {
		most = max(most, of(x))
	}
	return most
}

func number(n int) term.Cell { return term.Cell{Text: fmt.Sprint(n), Right: true} }

func mean(f account.Figure) int { return int(math.Round(f.Mean)) }

// spread is the least and the most of a figure, nothing where they are one.
func spread(f account.Figure) term.Cell {
	if f.Min == f.Max {
		return term.Cell{}
	}
	return term.Cell{Text: fmt.Sprintf("%d..%d", f.Min, f.Max), Style: term.Dim, Right: true}
}

// barWidth is the longest bar, in characters.
const barWidth = 40

// bar is n as part of most: whatever is more than nothing can be seen.
func bar(n, most int) term.Cell {
	if n <= 0 {
		return term.Cell{}
	}
	return term.Cell{Text: strings.Repeat("#", max(1, n*barWidth/most)), Style: term.Green}
}
