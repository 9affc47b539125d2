package jsonschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/format"
	cuejson "cuelang.org/go/encoding/json"
	cueschema "cuelang.org/go/encoding/jsonschema"
)

// suiteGroup is one schema of the JSON-Schema-Test-Suite with its instances.
type suiteGroup struct {
	file        string
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
	}
}

// suite reads the JSON-Schema-Test-Suite that the module cuelang.org/go ships.
func suite(t testing.TB) []suiteGroup {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "cuelang.org/go").Output()
	if err != nil {
		t.Skipf("the module cuelang.org/go cannot be found: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "encoding/jsonschema/testdata/external/tests/draft2020-12")
	var groups []suiteGroup
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var in []suiteGroup
		if err := json.Unmarshal(b, &in); err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		for i := range in {
			in[i].file = filepath.ToSlash(name)
		}
		groups = append(groups, in...)
		return nil
	})
	if err != nil {
		t.Skipf("the JSON-Schema-Test-Suite is not there: %v", err)
	}
	return groups
}

// wrapped takes the group's schema through jsonschema.Extract and makes of it
// the one argument of an input; ok is false when Extract does not take it.
func (g suiteGroup) wrapped(t *testing.T, ctx *cue.Context) (input cue.Value, ok bool) {
	e, err := cuejson.Extract("schema.json", g.Schema)
	if err != nil {
		t.Fatal(err)
	}
	f, err := cueschema.Extract(ctx.BuildExpr(e), &cueschema.Config{
		StrictFeatures: true,
		DefaultVersion: cueschema.VersionDraft2020_12,
	})
	if err != nil {
		return cue.Value{}, false
	}
	var top, body []ast.Decl
	for _, d := range f.Decls {
		switch d.(type) {
		case *ast.ImportDecl, *ast.Package:
			top = append(top, d)
		case *ast.Attribute:
		default:
			body = append(body, d)
		}
	}
	f.Decls = top
	text, err := format.Node(f)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := format.Node(&ast.File{Decls: body})
	if err != nil {
		t.Fatal(err)
	}
	src := fmt.Sprintf("%s\ninput: {value!: {\n%s\n}}\n", text, inner)
	v := ctx.CompileString(src, cue.Filename(g.file))
	input = v.LookupPath(cue.ParsePath("input"))
	return input, input.Err() == nil
}

// whole writes numbers that are integers as integers, as callers do before CUE
// sees them.
func whole(b []byte) []byte {
	v, err := decode(b)
	if err != nil {
		return b
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		case json.Number:
			if r, ok := new(big.Rat).SetString(string(v)); ok && r.IsInt() {
				return json.Number(r.Num().String())
			}
		}
		return v
	}
	b, _ = json.Marshal(walk(v))
	return b
}

// generated is what CUE's own jsonschema.Generate makes of an input; nil when
// it makes nothing of it.
func generated(ctx *cue.Context, input cue.Value) (v *Validator) {
	defer func() {
		if recover() != nil {
			v = nil
		}
	}()
	e, err := cueschema.Generate(input, nil)
	if err != nil {
		return nil
	}
	b, err := ctx.BuildExpr(e).MarshalJSON()
	if err != nil {
		return nil
	}
	v, err = NewValidator(b)
	if err != nil {
		return nil
	}
	return v
}

// TestSuite takes the JSON-Schema-Test-Suite to CUE and back. The compiled
// schema refuses nothing that CUE accepts, and most of what it refuses.
func TestSuite(t *testing.T) {
	groups := suite(t)
	var taken, instances, refused, ours, theirs, wrong, theirWrong int
	left := map[string]int{}
	for _, g := range groups {
		ctx := cuecontext.New()
		input, ok := g.wrapped(t, ctx)
		if !ok {
			continue
		}
		taken++
		s, findings := Compile(input, Options{})
		for _, f := range findings {
			t.Logf("%s: %s: %s", g.file, g.Description, f)
		}
		v, err := NewValidator(s.JSON)
		if err != nil {
			t.Errorf("%s: %s: %v\n%s", g.file, g.Description, err, s.JSON)
			continue
		}
		other := generated(ctx, input)
		for _, test := range g.Tests {
			in := slices.Concat([]byte(`{"value":`), whole(test.Data), []byte("}"))
			e, err := cuejson.Extract("", in)
			if err != nil {
				continue // half a surrogate pair: no text that CUE can hold
			}
			instances++
			accepts := input.Unify(ctx.BuildExpr(e)).Validate(cue.Concrete(true)) == nil
			faults := v.Validate(in)
			otherRefuses := other != nil && len(other.Validate(in)) > 0
			if !accepts {
				refused++
				switch {
				case len(faults) > 0:
					ours++
				case s.Exact:
					wrong++
					t.Errorf("%s: %s: %s: said to be exact, and accepts\nschema %s\ninstance %s", g.file, g.Description, test.Description, s.JSON, in)
				default:
					left[g.file+": "+g.Description]++
				}
				if otherRefuses {
					theirs++
				}
				continue
			}
			if len(faults) > 0 {
				wrong++
				t.Errorf("%s: %s: %s: refuses what CUE accepts: %v\nschema %s\ninstance %s", g.file, g.Description, test.Description, faults, s.JSON, in)
			}
			if otherRefuses {
				theirWrong++
			}
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(left), func(a, b string) int { return cmp.Compare(a, b) }) {
		t.Logf("left to CUE: %s (%d)", name, left[name])
	}
	share := 100 * float64(ours) / float64(max(refused, 1))
	t.Logf("%d of %d schemas that Extract takes, %d instances, of which CUE refuses %d", taken, len(groups), instances, refused)
	t.Logf("Compile alone refuses %d of these (%.1f %%), and %d wrongly", ours, share, wrong)
	t.Logf("Generate alone refuses %d of these (%.1f %%), and %d wrongly", theirs, 100*float64(theirs)/float64(max(refused, 1)), theirWrong)
	if share < 60 {
		t.Errorf("the compiled schemas refuse %.1f %% of what CUE refuses, less than 60 %%", share)
	}
}
