package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/jsonschema"
)

// counting is a checker that notes what it reads.
type counting struct {
	*jsonschema.Validator
	checks, bytes int
}

func (c *counting) Validate(doc json.RawMessage) []jsonschema.Fault {
	c.checks++
	c.bytes += len(doc)
	return c.Validator.Validate(doc)
}

// manyArguments has arguments that are cheap to write and were dear to refuse, by
// what is wrong with each.
var manyArguments = map[string]struct{ item, element string }{
	"members missing":    {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{}`},
	"members unknown":    {`{"type":"object","additionalProperties":false}`, `{"b":1}`},
	"objects as texts":   {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `"{}"`},
	"integers as texts":  {`{"type":"integer"}`, `"5"`},
	"words for integers": {`{"type":"integer"}`, `"five"`},
	"none of the values": {`{"enum":[1,2]}`, `3`},
	"numbers too large":  {`{"enum":[1,2]}`, `1e99999`},
	"empty texts":        {`{"type":"string","minLength":1}`, `""`},
}

// TestRepairWork pins that a wrong call, however many faults it has, is read a
// bounded number of times.
func TestRepairWork(t *testing.T) {
	for name, tt := range manyArguments {
		for _, n := range []int{1, 50, maxRepaired, maxRepaired + 1, 9990} {
			for _, padding := range []int{0, 1 << 19} {
				v, err := jsonschema.NewValidator(json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":` + tt.item + `}}}`))
				if err != nil {
					t.Fatal(err)
				}
				doc := json.RawMessage(fmt.Sprintf(`{"pad":%q,"items":[%s]}`, strings.Repeat("x", padding), strings.TrimSuffix(strings.Repeat(tt.element+",", n), ",")))
				args, err := bind.ParseArgs(doc, bind.Bounds{})
				if err != nil {
					t.Fatal(err)
				}
				c := &counting{Validator: v}
				_, repairs, faults := repair(t.Context(), c, doc, args, catalog.Read)
				most := 1 + maxRepaired
				if n > maxRepaired {
					most = 1
				}
				if c.checks > most || c.bytes > 2*len(doc)+maxWork {
					t.Errorf("%s: %d elements and %d bytes were checked %d times, %d bytes", name, n, len(doc), c.checks, c.bytes)
				}
				if name == "integers as texts" && padding == 0 && n <= maxRepaired && (len(repairs) != n || len(faults) > 0) {
					t.Errorf("%s: of %d elements %d were repaired, and %d faults are left", name, n, len(repairs), len(faults))
				}
				if len(repairs) > 0 && n > maxRepaired {
					t.Errorf("%s: %d elements were repaired in part", name, n)
				}
			}
		}
	}
}

// TestRepairEnds pins that nothing is tried for a caller who no longer waits.
func TestRepairEnds(t *testing.T) {
	v, err := jsonschema.NewValidator(json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &counting{Validator: v}
	_, repairs, faults := repair(ctx, c, json.RawMessage(`{"n":"5"}`), bind.Args{"n": json.RawMessage(`"5"`)}, catalog.Read)
	if c.checks != 1 || len(repairs) > 0 || len(faults) != 1 {
		t.Errorf("%d checks, %q, %v", c.checks, repairs, faults)
	}
}

// TestCurable pins that what no other value in its place can cure is not tried.
func TestCurable(t *testing.T) {
	v, err := jsonschema.NewValidator(json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["m"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{Validator: v}
	_, _, faults := repair(t.Context(), c, json.RawMessage(`{"n":0,"x":1}`), bind.Args{}, catalog.Write)
	if c.checks != 1 || len(faults) != 3 || slices.ContainsFunc(faults, func(f jsonschema.Fault) bool { return curable(f, catalog.Write) }) {
		t.Errorf("%d checks, %v", c.checks, faults)
	}
}

// BenchmarkRefuse is the cost of a wrong call with as many faults as there is room
// for.
func BenchmarkRefuse(b *testing.B) {
	for _, name := range []string{"members missing", "objects as texts", "numbers too large", "empty texts"} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			tt := manyArguments[name]
			v, err := jsonschema.NewValidator(json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":` + tt.item + `}}}`))
			if err != nil {
				b.Fatal(err)
			}
			doc := json.RawMessage(`{"items":[` + strings.TrimSuffix(strings.Repeat(tt.element+",", 9990), ",") + `]}`)
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				repair(b.Context(), v, doc, nil, catalog.Read)
			}
		})
	}
}
