package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
// away.
func (f folder) write(cmd *cobra.Command, files []skill.File, within []string) error {
	want := map[string]string{}
	for _, x := range files {
		want[filepath.Join(f.dir, filepath.FromSlash(x.Path))] = x.Text
	}
	stale, err := f.stale(want, within)
	if err != nil {
		return err
	}
	if f.check {
		return f.compare(cmd, files, stale)
	}
	for path := range want {
		if data, err := os.ReadFile(path); err == nil && !bytes.Contains(data, []byte(f.mark)) {
			return fmt.Errorf("%s is there, and was not written by this command: move it away, or choose another folder", path)
		}
	}
	for _, x := range files {
		path := filepath.Join(f.dir, filepath.FromSlash(x.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(x.Text), 0o666); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "metacue: wrote", path)
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "metacue: took away", path)
	}
	return nil
}

// stale finds the files that were written before and are not wanted now.
func (f folder) stale(want map[string]string, within []string) ([]string, error) {
	var all []string
	for _, dir := range within {
		err := filepath.WalkDir(filepath.Join(f.dir, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".md" {
				return err
			}
			if _, ok := want[path]; ok {
				return nil
			}
			data, err := os.ReadFile(path)
			if err == nil && bytes.Contains(data, []byte(f.mark)) {
				all = append(all, path)
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
func (f folder) compare(cmd *cobra.Command, files []skill.File, stale []string) error {
	differ := len(stale) > 0
	for _, x := range files {
		path := filepath.Join(f.dir, filepath.FromSlash(x.Path))
		got, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// A checkout may have other line ends; they say nothing.
		if d := diff.Diff(path, bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), "exported now", []byte(x.Text)); d != nil {
			differ = true
			fmt.Fprintf(cmd.OutOrStdout(), "%s", d)
		}
	}
	for _, path := range stale {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: the configuration does not ask for it any more\n", path)
	}
	if differ {
		return fmt.Errorf("%s is out of date: run the same command without --check", strings.TrimSuffix(f.dir, "/"))
	}
	return nil
}
