package main

import (
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/hosts"
)

func TestHostNames(t *testing.T) {
	if want := strings.Join(append(hosts.Names(), allHosts), ", "); hostNames != want {
		t.Errorf("help names %s, not %s", hostNames, want)
	}
}
