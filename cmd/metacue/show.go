package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/internal/term"
	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/signature"
)

func newShow() *cobra.Command {
	var s settings
	var format string
	cmd := &cobra.Command{
		Use:   "show TOOL",
		Short: "Show one tool: its arguments, the request it makes, examples",
		Long: `show prints what there is to know of a tool: its description, its signature, its
arguments, the request or the steps that it makes, and its examples. It sends
nothing; metacue call --dry-run shows the exact request of one call.`,
		Example: `  metacue show create_pull_request
  metacue show create_pull_request --format json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := pick(showFormats, format)
			if err != nil {
				return err
			}
			program, err := s.read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			again, err := s.again()
			if err != nil {
				return err
			}
			t, err := find(program.Catalog, args[0])
			if err != nil {
				return err
			}
			d := describe(program, t)
			d.call = append([]string{"call", t.Name}, again...)
			return write(cmd.OutOrStdout(), d)
		},
	}
	s.serveFlags(cmd)
	formatFlag(cmd, &format, showFormats)
	return cmd
}

// toolNames gives the names and aliases of the tools of a catalog.
func toolNames(c *catalog.Catalog) []string {
	var names []string
	for _, t := range c.Tools() {
		names = append(append(names, t.Name), t.Aliases...)
	}
	return names
}

// description is all that show tells of a tool.
type description struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	Domain       string          `json:"domain"`
	Action       string          `json:"action"`
	Effect       catalog.Effect  `json:"effect"`
	Aliases      []string        `json:"aliases,omitempty"`
	Signature    string          `json:"signature"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Requests     []request       `json:"requests"`
	Examples     []example       `json:"examples,omitempty"`

	call []string // the words of a command that calls the tool, but for its arguments
}

// request is one step of a tool.
type request struct {
	Step     string `json:"step,omitempty"`
	Upstream string `json:"upstream,omitempty"`
	// Method and Path are empty where they are known at the call only.
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	// URL is where the upstream's paths begin.
	URL string `json:"url,omitempty"`
	// Notes say in phrases when and how often it is made.
	Notes []string `json:"notes,omitempty"`
}

type example struct {
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

func describe(p *exec.Program, t *catalog.Tool) description {
	d := description{
		Name: t.Name, Title: t.Title, Description: t.Description, Domain: t.Domain, Action: t.Action, Effect: t.Effect, Aliases: t.Aliases,
		Signature: signature.Of(t), InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Requests: []request{},
	}
	for _, step := range p.Tools[t.Name].Steps {
		d.Requests = append(d.Requests, describeStep(step))
	}
	for _, e := range t.Examples {
		d.Examples = append(d.Examples, example{e.Description, e.Arguments})
	}
	return d
}

func describeStep(step exec.Step) request {
	r := request{Step: step.Name, Notes: step.Notes()}
	if step.Request != nil {
		r.Upstream, r.Method, r.URL = step.Request.Upstream, step.Request.Method, baseURL(step.Request)
		if step.Request.Path != nil {
			r.Path = step.Request.Path.String()
		}
	}
	return r
}

// baseURL is where the paths of an upstream begin, without what may be secret.
func baseURL(r *bind.Request) string {
	if r.Base == nil {
		return ""
	}
	u := *r.Base
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// showFormats holds the ways to print a description.
var showFormats = formats[description]{
	{"text", showText},
	{"json", func(w io.Writer, d description) error { return writeJSON(w, d) }},
}

func showText(w io.Writer, d description) error {
	c := term.Wanted(w)
	var out bytes.Buffer
	heading := func(text string) { fmt.Fprintf(&out, "\n%s\n", c.Paint(term.Bold, text)) }
	table := func(rows [][]term.Cell) { _ = term.Table(&out, c, "  ", rows) } // a buffer takes everything

	fmt.Fprintf(&out, "%s\n", c.Paint(term.Bold, d.Name))
	if d.Title != "" {
		fmt.Fprintf(&out, "  %s\n", d.Title)
	}
	for line := range strings.Lines(d.Description) {
		fmt.Fprintf(&out, "  %s\n", strings.TrimRight(line, "\n"))
	}
	fmt.Fprintf(&out, "\n  %s\n\n", d.Signature)
	facts := [][]term.Cell{
		{{Text: "domain", Style: term.Dim}, {Text: d.Domain}},
		{{Text: "action", Style: term.Dim}, {Text: fmt.Sprintf("%s (%s)", d.Action, d.Effect), Style: effectStyles[d.Effect]}},
	}
	if len(d.Aliases) > 0 {
		facts = append(facts, []term.Cell{{Text: "aliases", Style: term.Dim}, {Text: strings.Join(d.Aliases, ", ")}})
	}
	table(facts)

	if arguments := signature.Arguments(d.InputSchema); len(arguments) > 0 {
		heading("Arguments")
		var rows [][]term.Cell
		for _, a := range arguments {
			need := ""
			switch {
			case a.Required:
				need = "required"
			case a.Default != nil:
				need = "default " + string(a.Default)
			}
			rows = append(rows, []term.Cell{{Text: a.Name}, {Text: strings.TrimSpace(a.Type + " " + a.Limits), Style: term.Dim}, {Text: need}, {Text: strings.Join(strings.Fields(a.Description), " ")}})
		}
		table(rows)
	}

	heading(plural("Request", len(d.Requests)))
	upstreams := map[string]bool{}
	var rows, hosts [][]term.Cell
	for _, r := range d.Requests {
		rows = append(rows, []term.Cell{{Text: r.Step}, {Text: r.Method, Style: term.Green}, {Text: r.Path}, {Text: r.Upstream, Style: term.Dim}, {Text: strings.Join(r.Notes, "; "), Style: term.Dim}})
		if r.Upstream != "" && !upstreams[r.Upstream] {
			upstreams[r.Upstream] = true
			hosts = append(hosts, []term.Cell{{Text: r.Upstream, Style: term.Dim}, {Text: r.URL, Style: term.Dim}})
		}
	}
	table(rows)
	if len(hosts) > 0 {
		heading(plural("Upstream", len(hosts)))
		table(hosts)
	}

	if len(d.Examples) > 0 {
		heading(plural("Example", len(d.Examples)))
		for _, e := range d.Examples {
			if e.Description != "" {
				fmt.Fprintf(&out, "  %s\n", e.Description)
			}
			words := append(slices.Clone(d.call), "--json", string(e.Arguments))
			for i, w := range words {
				words[i] = quote(w)
			}
			fmt.Fprintf(&out, "    metacue %s\n", strings.Join(words, " "))
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func plural(what string, n int) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// bare is what a shell takes as one word without quotes.
var bare = regexp.MustCompile(`^[\w./:=@%+,-]+$`)

// quote makes one word of s for a POSIX shell.
func quote(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
