// Package diag holds findings: faults of a configuration, each with the place
// where an operator can mend it. It knows nothing of CUE or of metacue's
// language; it sorts findings, drops repeats and prints them.
package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Finding is one fault: where it is, which field it concerns, and what is
// wrong, in words for the person who can mend it.
type Finding struct {
	// File is a path relative to the working directory where that is shorter,
	// or module@version/file.cue for a file of an embedded module.
	File string `json:"file"`
	// Line and Column count from 1; 0 means unknown. Column counts bytes.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Path is the CUE path of the field, such as domains.core.tools.get_x.http.
	Path string `json:"path"`
	// Message says what is wrong and, where it can, what would be right.
	Message string `json:"message"`
}

// String gives the finding in the text format, without a newline.
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
		}
		b.WriteString(": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path)
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// List is a set of findings. It is an error, so that it can be returned where
// one is expected; an empty List is never returned as an error.
type List []Finding

// Error gives all findings, one a line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, f := range l {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Err is nil when there are no findings.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Sorted gives the findings by file, line, column, path and message, each once.
// Messages are one line.
func (l List) Sorted() List {
	s := slices.Clone(l)
	for i := range s {
		s[i].Message = oneLine(s[i].Message)
	}
	slices.SortFunc(s, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(s)
}

// writers holds the output formats by their names.
var writers = map[string]func(io.Writer, List) error{
	"text":   writeText,
	"json":   writeJSON,
	"github": writeGitHub,
}

// Formats lists the names that Write takes.
func Formats() []string { return []string{"text", "json", "github"} }

// Write prints the findings, sorted, in one of the Formats. Nothing is written
// for an empty list, save the empty array in JSON.
func (l List) Write(w io.Writer, format string) error {
	write, ok := writers[format]
	if !ok {
		return fmt.Errorf("unknown format %q: one of %s", format, strings.Join(Formats(), ", "))
	}
	return write(w, l.Sorted())
}

func writeText(w io.Writer, l List) error {
	for _, f := range l {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, l List) error {
	if l == nil {
		l = List{}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(l)
}

// writeGitHub prints workflow commands, which GitHub shows beside the line
// (docs.github.com, "Workflow commands for GitHub Actions").
func writeGitHub(w io.Writer, l List) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range l {
		text := f.Message
		if f.Path != "" {
			text = f.Path + ": " + text
		}
		where := ""
		if f.File != "" {
			where = " file=" + property.Replace(f.File)
		}
		if f.Line > 0 {
			where += fmt.Sprintf(",line=%d,col=%d", f.Line, f.Column)
		}
		if _, err := fmt.Fprintf(w, "::error%s::%s\n", where, data.Replace(text)); err != nil {
			return err
		}
	}
	return nil
}
