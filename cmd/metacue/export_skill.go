package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/skill"
)

func newExportSkill() *cobra.Command {
	var e exports
	var dir string
	var check bool
	cmd := &cobra.Command{
		Use:   "skill [NAME]",
		Short: "Write the configuration's skills as SKILL.md files",
		Long: `skill writes each skill of the configuration, or the one that is named, as a
folder in the format of Agent Skills: NAME/SKILL.md, and where that would be too
long NAME/references/DOMAIN.md for the tools, and notes.md there for the notes. Calls are written as the mode has them. Those of
meta mode are understood in every mode. Without -o the files are printed.

With --check nothing is written: it prints how the files in DIR differ from what
would be written, and exits 1 when they do.`,
		Example: `  metacue export skill -o .claude/skills
  metacue export skill -o .claude/skills --check
  metacue export skill ado-pull-requests --mode flat`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: e.completeSkill,
		RunE: func(cmd *cobra.Command, args []string) error {
			if check && dir == "" {
				return errors.New("--check needs -o DIR: the folder to look into")
			}
			program, face, err := e.offered(cmd)
			if err != nil {
				return err
			}
			skills, err := skillsNamed(program.Catalog, args, e.readOnly || len(e.domains) > 0)
			if err != nil {
				return err
			}
			var files []skill.File
			var within []string
			for _, s := range skills {
				files = append(files, skill.Files(program.Catalog, s, face.Spell)...)
				within = append(within, s.Name+"/"+skill.References)
			}
			if len(args) == 0 {
				within = []string{"."} // skills that there are no more are stale whole
			}
			if dir == "" {
				for _, f := range files {
					if len(files) > 1 {
						fmt.Fprintf(cmd.OutOrStdout(), "==> %s <==\n", f.Path)
					}
					fmt.Fprint(cmd.OutOrStdout(), f.Text)
				}
				return nil
			}
			return folder{dir, check, skill.Mark(program.Catalog.Server.Name)}.write(cmd, files, within)
		},
	}
	e.flags(cmd)
	e.modeDefault(cmd, "meta")
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write into `DIR`")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and exit 1 where the files in DIR are out of date")
	return cmd
}

// skillsNamed gives the skill that the arguments name, or all. bounded says that flags
// may have taken some away.
func skillsNamed(c *catalog.Catalog, args []string, bounded bool) ([]catalog.Skill, error) {
	var names []string
	for _, s := range c.Skills {
		if len(args) > 0 && s.Name == args[0] {
			return []catalog.Skill{s}, nil
		}
		names = append(names, s.Name)
	}
	switch {
	case len(c.Skills) == 0 && bounded:
		return nil, errors.New("there are no skills in the configuration, or none within --domains and --read-only")
	case len(c.Skills) == 0:
		return nil, errors.New(`there are no skills in the configuration: write skills: NAME: {description: "What it is for, and when to use it", tools: ["TOOL", …]}`)
	case len(args) == 0:
		return c.Skills, nil
	}
	return nil, unknown("skill", args[0], names)
}
