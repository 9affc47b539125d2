package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/nearest"
)

// formats are the ways to print a thing, by name, the default first.
type formats[T any] []struct {
	name  string
	write func(io.Writer, T) error
}

func (f formats[T]) names() []string {
	var names []string
	for _, way := range f {
		names = append(names, way.name)
	}
	return names
}

// pick gives the way to print that --format names.
func pick[T any](f formats[T], name string) (func(io.Writer, T) error, error) {
	for _, way := range f {
		if way.name == name {
			return way.write, nil
		}
	}
	return nil, fmt.Errorf("--format: unknown format %q: one of %s", name, strings.Join(f.names(), ", "))
}

// formatFlag adds --format.
func formatFlag[T any](cmd *cobra.Command, format *string, f formats[T]) {
	names := f.names()
	cmd.Flags().StringVar(format, "format", names[0], "print as `FORMAT`: "+strings.Join(names, ", "))
	complete(cmd, "format", only(names...))
}

// writeJSON prints v indented, characters of HTML as they are.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// find finds a tool by name or alias. Of one that bounds took away it says so: who
// asks is the person who set them.
func find(c *catalog.Catalog, name string) (*catalog.Tool, error) {
	if t, ok := c.Tool(name); ok {
		return t, nil
	}
	if c.Gone(name) {
		return nil, fmt.Errorf("%s is left out by --read-only, --domains or exclude", name)
	}
	return nil, unknown("tool", name, toolNames(c))
}

// unknown refuses a name that there is not, with those that may have been meant,
// or all where there are few.
func unknown(what, name string, names []string) error {
	const few = 12
	near := nearest.Names(name, names)
	switch {
	case len(near) > 0:
		return fmt.Errorf("there is no %s %q; nearest: %s", what, name, strings.Join(near, ", "))
	case len(names) > 0 && len(names) <= few:
		return fmt.Errorf("there is no %s %q; there is %s", what, name, strings.Join(names, ", "))
	}
	return fmt.Errorf("there is no %s %q", what, name)
}

func domainNames(c *catalog.Catalog) []string {
	var names []string
	for _, d := range c.Domains {
		names = append(names, d.Name)
	}
	return names
}
