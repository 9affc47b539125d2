package term

import (
	"os"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var out strings.Builder
	err := Table(&out, false, "  ", [][]Cell{
		{{Text: "größe", Style: Bold}, {Text: ""}, {Text: "int"}, {Text: "how large"}},
		{{Text: "x"}, {Text: ""}, {Text: "string"}, {Text: ""}},
		{{Text: "y"}, {Text: ""}, {Text: ""}, {Text: "last"}},
	})
	want := "  größe  int     how large\n  x      string\n  y              last\n"
	if err != nil || out.String() != want {
		t.Errorf("got %v\n%q, want\n%q", err, out.String(), want)
	}
}

func TestTableRight(t *testing.T) {
	var out strings.Builder
	err := Table(&out, false, "", [][]Cell{
		{{Text: "a"}, {Text: "7", Right: true}, {Text: "#"}},
		{{Text: "bb"}, {Text: "", Right: true}, {Text: "##"}},
		{{Text: "c"}, {Text: "1234", Right: true}},
	})
	want := "a      7  #\nbb        ##\nc   1234\n"
	if err != nil || out.String() != want {
		t.Errorf("got %v\n%q, want\n%q", err, out.String(), want)
	}
}

func TestPaint(t *testing.T) {
	if got := Colours(true).Paint(Red, "no"); got != "\x1b[31mno\x1b[0m" {
		t.Errorf("got %q", got)
	}
	if got := Colours(false).Paint(Red, "no"); got != "no" {
		t.Errorf("got %q", got)
	}
}

func TestWanted(t *testing.T) {
	if Wanted(&strings.Builder{}) {
		t.Error("colours for what is no file")
	}
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Wanted(f) {
		t.Error("colours for a file")
	}
}
