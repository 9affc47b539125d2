package main

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestReadmeFigures measures again what the README says that the built-in
// configuration costs: within 5 per cent it is still so.
func TestReadmeFigures(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`measures some ([\d,]+) tokens of list in flat\s+mode and ([\d,]+) in meta, ([\d,]+) on average`).FindSubmatch(page)
	if said == nil {
		t.Fatal("README.md says no figures of metacue tokens")
	}
	output, err := runCommand(t, "tokens", "--format", "json")
	if err != nil {
		t.Fatal(err)
	}
	var account struct {
		Measured struct {
			Modes []struct {
				Mode   string
				Tokens int
			}
			Paths []struct {
				Path     string
				Decision struct{ Mean float64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(output), &account); err != nil {
		t.Fatal(err)
	}
	measured := map[string]float64{}
	for _, m := range account.Measured.Modes {
		measured[m.Mode] = float64(m.Tokens)
	}
	for _, p := range account.Measured.Paths {
		measured["path "+p.Path] = p.Decision.Mean
	}
	for i, what := range []string{"flat", "meta", "path typical"} {
		figure, err := strconv.ParseFloat(strings.ReplaceAll(string(said[i+1]), ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := measured[what]; got == 0 || math.Abs(got-figure)/figure > 0.05 {
			t.Errorf("README.md says %.0f of %s, metacue tokens measures %.0f", figure, what, got)
		}
	}
}
