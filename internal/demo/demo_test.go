package demo_test

import (
	"bytes"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/metacue/metacue/internal/demo"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := demo.Run(t.Context(), &out, false); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("there are colours though none were asked for")
	}
	// The list is counted as metacue tokens counts it.
	stage, err := demo.NewStage(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	var counts []string
	for _, mode := range []string{"meta", "flat"} {
		face, err := surface.New(mode, stage.Program.Catalog, stage.Program.Call)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, strconv.Itoa(tokens.List(face.Tools())))
	}
	if !regexp.MustCompile(`tokens of tools/list +` + strings.Join(counts, " +")).MatchString(out.String()) {
		t.Errorf("the lists have %v tokens, and the output says otherwise:\n%s", counts, out.String())
	}
	for _, want := range []string{"list_domains", "isError", "POST /contoso/Contoso/_apis/git/repositories/web/pullRequests", "tokens in all"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}
