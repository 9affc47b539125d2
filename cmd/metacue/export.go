package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/skill"
	"github.com/metacue/metacue/runtime/surface"
)

func newExport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write skills, schemas, tool lists, client snippets and documentation",
		Long: `export writes what else a configuration says in other forms, for agents, clients
and people. Nothing is sent.`,
	}
	cmd.AddCommand(newExportSkill(), newExportSchema(), newExportTools(), newExportClient(), newExportDocs())
	return cmd
}

// exports are the settings of commands that write something of what is offered.
type exports struct {
	settings
	offer
}

func (e *exports) flags(cmd *cobra.Command) {
	e.serveFlags(cmd)
	e.modeFlags(cmd)
}

// offered loads what is exported: the program within its bounds, and the surface
// that the flags ask for.
func (e *exports) offered(cmd *cobra.Command) (*exec.Program, surface.Surface, error) {
	mode, err := e.chosen(cmd)
	if err != nil {
		return nil, nil, err
	}
	program, err := e.read(cmd.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	face, err := surface.New(cmp.Or(mode, "flat"), program.Catalog, program.Call)
	return program, face, err
}

// folder is a folder of files that the program writes whole.
type folder struct {
	dir   string
	check bool
	// mark is in files that were written before: those that there is no call for any
	// more are taken away. Others are left alone.
	mark string
}

// write writes files with paths below the folder, or with check says how those on
// disk differ. within names the folders that are looked through for files to take
// away. Nothing outside of the folder is read or written: a symbolic link in it
// that leads there is an error.
func (f folder) write(cmd *cobra.Command, files []skill.File, within []string) error {
	want := map[string]bool{}
	folded := map[string]string{} // some file systems take no account of case
	for _, x := range files {
		if other, ok := folded[strings.ToLower(x.Path)]; ok {
			return fmt.Errorf("%s and %s would be one file in %s: rename what they are named after", other, x.Path, f.dir)
		}
		want[x.Path], folded[strings.ToLower(x.Path)] = true, x.Path
	}
	if !f.check {
		if err := os.MkdirAll(f.dir, 0o777); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist): // all files are missing
		return f.compare(cmd, files, nil, nil)
	case err != nil:
		return err
	}
	defer root.Close()
	stale, err := f.stale(root, want, within)
	if err != nil {
		return err
	}
	if f.check {
		return f.compare(cmd, files, root, stale)
	}
	for _, x := range files {
		switch data, err := f.read(root, x.Path); {
		case err != nil:
			return err
		case data != nil && !bytes.Contains(data, []byte(f.mark)):
			return fmt.Errorf("%s is there, and was not written by this command: move it away, or choose another folder", f.path(x.Path))
		}
	}
	for _, x := range files {
		name := filepath.FromSlash(x.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fmt.Errorf("%s: %w", f.path(x.Path), err)
		}
		if err := replace(root, name, []byte(x.Text)); err != nil {
			return fmt.Errorf("%s: %w", f.path(x.Path), err)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "metacue: wrote", f.path(x.Path))
	}
	for _, name := range stale {
		if err := root.Remove(filepath.FromSlash(name)); err != nil {
			return fmt.Errorf("%s: %w", f.path(name), err)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "metacue: took away", f.path(name))
	}
	return nil
}

// replace writes a file whole or leaves what was there: a full disk must not leave one
// that lacks the mark, and so would be taken for somebody else's.
func replace(root *os.Root, name string, data []byte) error {
	tmp := name + ".new"
	err := root.WriteFile(tmp, data, 0o666)
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		_ = root.Remove(tmp) // what went wrong first is told
	}
	return err
}

// path is where a file of the folder is.
func (f folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// read gives what is in a file of the folder, nil where there is none.
func (f folder) read(root *os.Root, name string) ([]byte, error) {
	if root == nil {
		return nil, nil
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.path(name), err)
	}
	return append([]byte{}, data...), nil
}

// stale finds the files that were written before and are not wanted now.
func (f folder) stale(root *os.Root, want map[string]bool, within []string) ([]string, error) {
	var all []string
	for _, dir := range within {
		err := fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || want[name] || !d.Type().IsRegular() || path.Ext(name) != ".md" {
				return err
			}
			data, err := f.read(root, name)
			if bytes.Contains(data, []byte(f.mark)) {
				all = append(all, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// compare prints how the files on disk differ from those that are wanted.
func (f folder) compare(cmd *cobra.Command, files []skill.File, root *os.Root, stale []string) error {
	differ := len(stale) > 0
	for _, x := range files {
		got, err := f.read(root, x.Path)
		if err != nil {
			return err
		}
		// A checkout may have other line ends; they say nothing.
		if d := diff.Diff(f.path(x.Path), bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), "exported now", []byte(x.Text)); d != nil {
			differ = true
			fmt.Fprintf(cmd.OutOrStdout(), "%s", d)
		}
	}
	for _, name := range stale {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: the configuration does not ask for it any more\n", f.path(name))
	}
	if differ {
		return fmt.Errorf("%s is out of date: run the same command without --check", strings.TrimSuffix(f.dir, "/"))
	}
	return nil
}
