package demo_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/metacue/metacue/internal/demo"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := demo.Run(t.Context(), &out, false); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("there are colours though none were asked for")
	}
	for _, want := range []string{"list_domains", "isError", "POST /contoso/Contoso/_apis/git/repositories/web/pullRequests", "tokens in all"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}
