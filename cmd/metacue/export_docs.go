package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/skill"
	"github.com/metacue/metacue/runtime/surface"
)

// docsMark is in every page that is written here for a server.
func docsMark(server string) string {
	return "<!-- Written by metacue export docs from the configuration of " + server + ": edit that, and export again. -->"
}

func newExportDocs() *cobra.Command {
	var e exports
	var dir string
	var check bool
	cmd := &cobra.Command{
		Use:   "docs",
		Short: "Write a page of Markdown for each domain",
		Long: `docs writes README.md, which lists the domains, and for each a page with its tools,
their arguments and an example. Where a domain has that name, index.md lists them. With --check nothing is written: it prints how the
pages in DIR differ, and exits 1 when they do.`,
		Example: `  metacue export docs -o docs/tools`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return errors.New("-o DIR is needed: the folder to write the pages into")
			}
			program, face, err := e.offered(cmd)
			if err != nil {
				return err
			}
			return folder{dir, check, docsMark(program.Catalog.Server.Name)}.write(cmd, pages(program.Catalog, face), []string{"."})
		},
	}
	e.flags(cmd)
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write into `DIR`")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and exit 1 where the pages in DIR are out of date")
	return cmd
}

// pages writes a page for each domain, and one that lists them.
func pages(c *catalog.Catalog, face surface.Surface) []skill.File {
	var index strings.Builder
	fmt.Fprintf(&index, "%s\n\n# %s\n\n", docsMark(c.Server.Name), c.Server.Title)
	files := []skill.File{{Path: skill.Unused([]string{"README", "index"}, c.Domains) + ".md"}}
	for _, d := range c.Domains {
		fmt.Fprintf(&index, "- [%s](%s.md): %s (%s)\n", d.Name, d.Name, skill.Line(d.Description), count(len(d.Tools), "tool"))
		var page strings.Builder
		fmt.Fprintf(&page, "%s\n\n# %s\n\n%s\n", docsMark(c.Server.Name), d.Name, d.Description)
		for _, t := range d.Tools {
			skill.Tool(&page, t, "##", face.Spell)
			fmt.Fprintf(&page, "\nAction: %s.", t.Action)
			if len(t.Aliases) > 0 {
				fmt.Fprintf(&page, " Also answers to `%s`.", strings.Join(t.Aliases, "`, `"))
			}
			page.WriteString("\n")
		}
		files = append(files, skill.File{Path: d.Name + ".md", Text: page.String()})
	}
	files[0].Text = index.String()
	return files
}
