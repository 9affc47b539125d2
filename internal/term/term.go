// Package term is the one place that knows how text for people looks in a
// terminal: when it has colours, and how columns line up. Standard library only.
package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Style is a way to show text: a sequence of terminals (ECMA-48, SGR).
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "\x1b[1m"
	Dim    Style = "\x1b[2m"
	Red    Style = "\x1b[31m"
	Green  Style = "\x1b[32m"
	Yellow Style = "\x1b[33m"

	end = "\x1b[0m"
)

// Colours says whether styles are written out.
type Colours bool

// Wanted says whether w is a terminal that wants colours (no-color.org).
func Wanted(w io.Writer) Colours {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Paint gives text in a style, or as it is.
func (c Colours) Paint(s Style, text string) string {
	if !c || s == Plain || text == "" {
		return text
	}
	return string(s) + text + end
}

// Cell is one cell of a table.
type Cell struct {
	Text  string
	Style Style
	// Right puts the text at the right of its column, as numbers want it.
	Right bool
}

// Table writes rows with their columns lined up, each line after an indent. The
// last column of a row is as wide as it is. Columns that are empty in every row
// are left out.
func Table(w io.Writer, c Colours, indent string, rows [][]Cell) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		pad := 0 // due before the next text, so that no line ends in spaces
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			after := widths[i] - utf8.RuneCountInString(cell.Text)
			if cell.Right {
				pad, after = pad+after, 0
			}
			if cell.Text != "" {
				line.WriteString(strings.Repeat(" ", pad) + c.Paint(cell.Style, cell.Text))
				pad = 0
			}
			pad += after + 2
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(indent+line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
