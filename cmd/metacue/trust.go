package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

func newTrust() *cobra.Command {
	var remove, list bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let serve and call use a configuration that they find",
		Long: `trust records, in your configuration folder, that you trust the configuration in
DIR (default: ./cue). A configuration says where requests go and which secrets
they carry, so serve and call use one that they merely find in ./cue only when
it is trusted. It is trusted by its path, as it is now and as it will be.`,
		Example: `  metacue trust
  metacue trust --list
  metacue trust --remove ./cue`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := readTrust()
			if err != nil {
				return err
			}
			if list {
				for _, p := range paths {
					fmt.Fprintln(cmd.OutOrStdout(), p)
				}
				return nil
			}
			dir := localDir
			if len(args) > 0 {
				dir = args[0]
			}
			path, err := realPath(dir)
			if err != nil {
				return err
			}
			known := slices.Contains(paths, path)
			switch {
			case remove && !known:
				return fmt.Errorf("%s was not trusted", path)
			case remove:
				return writeTrust(slices.DeleteFunc(paths, func(p string) bool { return p == path }))
			case !hasCUE(dir):
				return fmt.Errorf("%s holds no .cue files", path)
			case !known:
				if err := writeTrust(append(paths, path)); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "trusted:", path)
			return err
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "trust it no longer")
	cmd.Flags().BoolVar(&list, "list", false, "print what is trusted")
	return cmd
}
