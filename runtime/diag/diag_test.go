package diag

import (
	"strings"
	"testing"
)

var found = List{
	{File: "b.cue", Line: 2, Column: 1, Path: "domains.x", Message: "second"},
	{File: "a.cue", Line: 10, Column: 3, Path: "server.name", Message: "is missing"},
	{File: "a.cue", Line: 9, Column: 3, Message: "100% wrong,\nit says"},
	{File: "a.cue", Line: 10, Column: 3, Path: "server.name", Message: "is missing"},
	{Message: "an empty directory"},
}

func TestWrite(t *testing.T) {
	for format, want := range map[string]string{
		"text": `an empty directory
a.cue:9:3: 100% wrong, it says
a.cue:10:3: server.name: is missing
b.cue:2:1: domains.x: second
`,
		"json": `[
  {
    "file": "",
    "line": 0,
    "column": 0,
    "path": "",
    "message": "an empty directory"
  },
  {
    "file": "a.cue",
    "line": 9,
    "column": 3,
    "path": "",
    "message": "100% wrong, it says"
  },
  {
    "file": "a.cue",
    "line": 10,
    "column": 3,
    "path": "server.name",
    "message": "is missing"
  },
  {
    "file": "b.cue",
    "line": 2,
    "column": 1,
    "path": "domains.x",
    "message": "second"
  }
]
`,
		"github": `::error::an empty directory
::error file=a.cue,line=9,col=3::100%25 wrong, it says
::error file=a.cue,line=10,col=3::server.name: is missing
::error file=b.cue,line=2,col=1::domains.x: second
`,
	} {
		var b strings.Builder
		if err := found.Write(&b, format); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if b.String() != want {
			t.Errorf("%s:\n got %s\nwant %s", format, b.String(), want)
		}
	}
	if err := found.Write(&strings.Builder{}, "xml"); err == nil || !strings.Contains(err.Error(), "text, json, github") {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestEmpty(t *testing.T) {
	if err := (List{}).Err(); err != nil {
		t.Errorf("no findings are an error: %v", err)
	}
	if err := found.Err(); err == nil {
		t.Error("findings are no error")
	}
	for format, want := range map[string]string{"text": "", "json": "[]\n", "github": ""} {
		var b strings.Builder
		if err := List(nil).Write(&b, format); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v", format, b.String(), err)
		}
	}
}
