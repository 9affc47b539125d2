package expr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/metacue/metacue/runtime/bind"
)

// expressions of every kind over one optional argument, x, and one list, l.
const header = `
import "strings"
import "list"
tool: {
	input: {a!: string, x?: int, l?: [...string], m?: [string]: string, n?: {p?: int, q!: int}, f?: number}
	check: [...string]
	out: _
	out: `

func tool(t testing.TB, out string) *Pool {
	t.Helper()
	src := header + out + "\n_use: [strings.ToUpper(\"\"), list.Max([1])]\n}\nother: {input: a!: string, out: input.a}\n"
	build := func() (cue.Value, error) {
		v := cuecontext.New().CompileString(src)
		return v, v.Err()
	}
	v, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return NewPool(v, build)
}

func eval(t testing.TB, p *Pool, args string) (string, error) {
	t.Helper()
	var in map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &in); err != nil {
		t.Fatal(err)
	}
	vs, err := NewTool(p, cue.ParsePath("tool"), false, false).Request([]cue.Path{cue.ParsePath("out")}).Eval(t.Context(), &bind.Scope{Args: in})
	if err != nil {
		return "", err
	}
	if vs[0] == nil {
		return "absent", nil
	}
	return string(vs[0]), nil
}

// TestAbsent pins how CUE tells that an expression refers to an absent
// argument, in every kind of expression, and that nothing else is taken for it
// (the fault kinds silent-omission and half-element).
func TestAbsent(t *testing.T) {
	tests := []struct{ out, args, want, err string }{
		// Absent, whatever the expression.
		{`input.x`, `{"a":"A"}`, `absent`, ``},
		{`input.n.p`, `{"a":"A"}`, `absent`, ``},
		{`input.n.p`, `{"a":"A","n":{"q":1}}`, `absent`, ``},
		{`input.x + 1`, `{"a":"A"}`, `absent`, ``},
		{`-input.x`, `{"a":"A"}`, `absent`, ``},
		{`"\(input.x)"`, `{"a":"A"}`, `absent`, ``},
		{`"\(input.a)-\(input.x)"`, `{"a":"A"}`, `absent`, ``},
		{`strings.Join(input.l, ",")`, `{"a":"A"}`, `absent`, ``},
		{`strings.Join([for e in input.l {e}], ",")`, `{"a":"A"}`, `absent`, ``},
		{`[for e in input.l {e}]`, `{"a":"A"}`, `absent`, ``},
		{`{for k, v in input.m {(k): v}}`, `{"a":"A"}`, `absent`, ``},
		{`{yes: 1, no: 0}["\(input.x)"]`, `{"a":"A"}`, `absent`, ``},
		{`input.x > 3`, `{"a":"A"}`, `absent`, ``},
		{`input.l[0]`, `{"a":"A"}`, `absent`, ``},
		{`input.m.k`, `{"a":"A"}`, `absent`, ``},
		{`{k: input.x}`, `{"a":"A"}`, `absent`, ``},
		{`{k: {j: input.x}}`, `{"a":"A"}`, `absent`, ``},
		{`{if input.x > 3 {k: 1}}`, `{"a":"A"}`, `absent`, ``},
		{`len(input.l)`, `{"a":"A"}`, `absent`, ``},
		{`list.Max([input.x, 1])`, `{"a":"A"}`, `absent`, ``},
		{`{#D: {k: input.x}, v: #D.k, a: 1}`, `{"a":"A"}`, `{"a":1}`, ``},
		{`{_h: input.x, v: _h}`, `{"a":"A"}`, `absent`, ``},
		{`{#D: "\(input.x)", v: #D}`, `{"a":"A"}`, `absent`, ``},
		{`{#D: {k: input.x, if input.x > 3 {j: 1}}, v: #D}`, `{"a":"A"}`, `absent`, ``},
		{`{_l: [input.x], v: _l}`, `{"a":"A"}`, ``, `element 0`},
		{`{let y = input.x, v: y, a: 1}`, `{"a":"A"}`, `{"a":1}`, ``},
		{`[if input.a == "A" {"one"}, if input.x > 3 {"two"}]`, `{"a":"A"}`, `absent`, ``},
		// Left out within a struct; what is there stays.
		{`{k: input.x, a: input.a}`, `{"a":"A"}`, `{"a":"A"}`, ``},
		{`{a: input.a, if input.x > 3 {k: 1}}`, `{"a":"A"}`, `{"a":"A"}`, ``},
		{`{a: input.a, k: input.x, if input.x > 3 {j: 1}}`, `{"a":"A"}`, `{"a":"A"}`, ``},
		{`{a: {}, k: input.x}`, `{"a":"A"}`, `{"a":{}}`, ``},
		{`{}`, `{"a":"A"}`, `{}`, ``},
		{`*input.x | 5`, `{"a":"A"}`, `5`, ``},
		{`*input.x | 5`, `{"a":"A","x":3}`, `3`, ``},
		{`[for e in *input.l | [] {e}]`, `{"a":"A"}`, `[]`, ``},
		{`[if input.x != _|_ {input.x}]`, `{"a":"A"}`, `[]`, ``},
		// Present.
		{`input.x + 1`, `{"a":"A","x":2}`, `3`, ``},
		{`"\(input.x)"`, `{"a":"A","x":9007199254740993}`, `"9007199254740993"`, ``},
		{`{v: input.x}`, `{"a":"A","x":9007199254740993}`, `{"v":9007199254740993}`, ``},
		{`{v: input.f, l: [input.f]}`, `{"a":"A","f":1e400}`, `{"v":1e400,"l":[1e400]}`, ``},
		{`{v: input.f, s: -input.f}`, `{"a":"A","f":-0}`, `{"v":-0,"s":0}`, ``},
		{`{v: 0x1F, w: 1K, z: 0}`, `{"a":"A"}`, `{"v":31,"w":1000,"z":0}`, ``},
		{`{v: input.m}`, `{"a":"A","m":{"z":"1","b":"<&>"}}`, `{"v":{"z":"1","b":"<&>"}}`, ``},
		// A half element is an error.
		{`[{op: "add", value: input.x}]`, `{"a":"A"}`, ``, `element 0 of a list would be sent without a part`},
		{`[input.a, input.x]`, `{"a":"A"}`, ``, `element 1`},
		{`{list: [{op: "add", d: {value: input.x}}]}`, `{"a":"A"}`, ``, `element 0`},
		{`[{op: "add", if input.x > 3 {v: 1}}]`, `{"a":"A"}`, ``, `element 0`},
		// Everything else is an error too, and hides behind nothing.
		{`input.m.k`, `{"a":"A","m":{}}`, ``, `undefined field: k`},
		{`input.l[3]`, `{"a":"A","l":["x"]}`, ``, `index out of range`},
		{`{k: input.x, a: input.m.k}`, `{"a":"A","m":{}}`, ``, `undefined field: k`},
		{`{k: input.x, if input.m.k == "x" {big: true}}`, `{"a":"A","m":{}}`, ``, `undefined field: k`},
		{`{n: {k: input.x, if input.m.k == "x" {big: true}}}`, `{"a":"A","m":{}}`, ``, `undefined field: k`},
		{`{if input.x > 3 {j: 1}, if input.m.k == "x" {big: true}}`, `{"a":"A","m":{}}`, ``, `undefined field: k`},
		{`{yes: 1}[input.a]`, `{"a":"A"}`, ``, `undefined field: A`},
		{`{v: string}`, `{"a":"A"}`, ``, `string`},
		{`strings.Join(input.m, ",")`, `{"a":"A","m":{}}`, ``, `cannot use`},
		{`1 / (len(input.a)-1)`, `{"a":"A"}`, ``, `division by zero`},
		{`list.Max(input.l)`, `{"a":"A","l":[]}`, ``, `error in call to list.Max: empty list`},
		{`{#D: {k: input.m.k}, v: #D.k}`, `{"a":"A","m":{}}`, ``, `undefined field: k`},
		// A structure of which nothing is left is one, unless by an absence.
		{`{for k, v in input.m {(k): v}}`, `{"a":"A","m":{}}`, `{}`, ``},
		{`{if input.x != _|_ {k: 1}}`, `{"a":"A"}`, `{}`, ``},
		{`_`, `{"a":"A"}`, ``, `incomplete value`},
	}
	for _, tt := range tests {
		t.Run(tt.out+" "+tt.args, func(t *testing.T) {
			got, err := eval(t, tool(t, tt.out), tt.args)
			switch {
			case tt.err == "" && err != nil:
				t.Fatalf("unexpected error: %v", err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Fatalf("got %s, error %v; want an error with %q", got, err, tt.err)
			case got != tt.want:
				t.Fatalf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestArgumentByItself shows that an argument with parts that CUE fills in can be
// left out.
func TestArgumentByItself(t *testing.T) {
	build := func() (cue.Value, error) {
		v := cuecontext.New().CompileString(`tool: input: {a?: [...{k!: string, d: int | *5}]}`)
		return v, v.Err()
	}
	v, err := build()
	if err != nil {
		t.Fatal(err)
	}
	r := NewTool(NewPool(v, build), cue.ParsePath("tool"), false, false).Request([]cue.Path{cue.ParsePath("input.a")})
	for args, want := range map[string]string{`{}`: "", `{"a":[{"k":"x"}]}`: `[{"k":"x","d":5}]`} {
		var in map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args), &in); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Eval(t.Context(), &bind.Scope{Args: in}); err != nil || string(got[0]) != want {
			t.Errorf("%s: got %s, %v; want %s", args, got, err, want)
		}
	}
}

// TestVerify checks the constraints that CUE alone can see, and the rules
// across arguments.
func TestVerify(t *testing.T) {
	src := `
tool: {
	input: {a!: string, b?: !="x", c?: string, d?: {e?: <10}}
	check: [if input.b != _|_ if input.b == input.a {"a and b are the same"}, if input.c == _|_ if input.b == _|_ {"give b or c"}]
}`
	build := func() (cue.Value, error) { v := cuecontext.New().CompileString(src); return v, v.Err() }
	v, err := build()
	if err != nil {
		t.Fatal(err)
	}
	tl := NewTool(NewPool(v, build), cue.ParsePath("tool"), true, true)
	for args, want := range map[string]string{
		`{"a":"A","b":"B"}`:              "",
		`{"a":"A","c":"C"}`:              "",
		`{"a":"A","b":"A"}`:              "a and b are the same",
		`{"a":"A"}`:                      "give b or c",
		`{"a":"A","b":"x"}`:              "b: invalid value \"x\" (out of bound !=\"x\")",
		`{"a":"A","b":"y","d":{"e":12}}`: "d.e: invalid value 12 (out of bound <10)",
		`{"a":5,"b":"y","d":{"e":12}}`:   "a: conflicting values string and 5 (mismatched types string and int); d.e: invalid value 12 (out of bound <10)",
	} {
		var in map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args), &in); err != nil {
			t.Fatal(err)
		}
		err := tl.Verify(t.Context(), &bind.Scope{Args: in})
		var r Refusal
		switch {
		case err == nil:
			if want != "" {
				t.Errorf("%s: accepted, want %q", args, want)
			}
		case !errors.As(err, &r):
			t.Errorf("%s: %v is no Refusal", args, err)
		case err.Error() != want:
			t.Errorf("%s:\n got %q\nwant %q", args, err, want)
		}
	}
}

// TestResourceBomb shows that an evaluation that runs on ends its call at the
// deadline, and that the next call works.
func TestResourceBomb(t *testing.T) {
	p := tool(t, `[for a in list.Range(0, len(input.l), 1) for b in list.Range(0, 500, 1) for c in list.Range(0, 1000, 1) if a+b+c < 0 {a}]`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	in := map[string]json.RawMessage{"a": json.RawMessage(`"A"`), "l": json.RawMessage(`["x","y"]`)}
	r := NewTool(p, cue.ParsePath("tool"), false, false).Request([]cue.Path{cue.ParsePath("out")})
	if _, err := r.Eval(ctx, &bind.Scope{Args: in}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the deadline", err)
	}
	delete(in, "l")
	r = NewTool(p, cue.ParsePath("other"), false, false).Request([]cue.Path{cue.ParsePath("out")})
	if got, err := r.Eval(t.Context(), &bind.Scope{Args: in}); err != nil || string(got[0]) != `"A"` {
		t.Fatalf("the next call: %s, %v", got, err)
	}
}

// TestForget pins that CUE's table of names is what names.go takes it for, and
// that names which came up while serving are taken out of it when they are many.
func TestForget(t *testing.T) {
	release := Hold()
	p := tool(t, `{for k, v in input.m {"f[\(k)]": v}}`)
	release()
	first, before := p.idle[0], names()
	if got := forgetAt.Load() - before; got != maxNames {
		t.Errorf("names are forgotten after %d, not %d", got, maxNames)
	}
	forgetAt.Store(before + 3000) // to be there sooner
	start, most := epoch.Load(), before
	for i := range 100 {
		m := map[string]string{}
		for j := range 50 {
			m[fmt.Sprintf("k%d-%d", i, j)] = "v"
		}
		b, _ := json.Marshal(map[string]any{"a": "A", "m": m})
		got, err := eval(t, p, string(b))
		if err != nil || strings.Count(got, fmt.Sprintf(`"f[k%d-`, i)) != 50 {
			t.Fatal(got, err)
		}
		if settled(t); epoch.Load() != start {
			break
		}
		most = names()
	}
	if !known() || epoch.Load() == start || names() != before || most < before+2000 {
		t.Errorf("%d names before, at most %d, %d after: CUE is not made to forget", before, most, names())
	}
	if got, err := eval(t, p, `{"a":"A","m":{"k":"v"}}`); err != nil || got != `{"f[k]":"v"}` {
		t.Fatal(got, err)
	}
	if slices.Contains(p.idle, first) {
		t.Error("a worker of before is still at work")
	}
}

// settled waits until the evaluation that has given its result has ended.
func settled(t *testing.T) {
	t.Helper()
	for range cap(turns) {
		turns <- struct{}{}
	}
	for range cap(turns) {
		<-turns
	}
}

// TestForgetAtWork shows that evaluations under way, and those that a call has
// given up, are right while names are forgotten around them.
func TestForgetAtWork(t *testing.T) {
	release := Hold()
	p := tool(t, `{for k, v in input.m {"f[\(k)]": v}, n: strings.ToUpper(input.a)}`)
	release()
	start := epoch.Load()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				k := fmt.Sprintf("g%d-%d", g, i)
				forgetAt.Store(0)
				if i%10 == 0 {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					r := NewTool(p, cue.ParsePath("tool"), false, false).Request([]cue.Path{cue.ParsePath("out")})
					_, _ = r.Eval(ctx, &bind.Scope{Args: map[string]json.RawMessage{"a": json.RawMessage(`"x"`), "m": json.RawMessage(`{"gone":"v"}`)}})
				}
				got, err := eval(t, p, fmt.Sprintf(`{"a":%q,"m":{%q:"1","x%s":"2"}}`, k, k, k))
				if want := fmt.Sprintf(`{"f[%s]":"1","f[x%s]":"2","n":%q}`, k, k, strings.ToUpper(k)); err != nil || got != want && !same(got, want) {
					t.Errorf("got %s, %v; want %s", got, err, want)
				}
			}
		})
	}
	wg.Wait()
	if epoch.Load() == start {
		t.Error("nothing was forgotten")
	}
	// While a configuration is being made nothing is.
	release = Hold()
	defer release()
	settled(t)
	at := epoch.Load()
	forgetAt.Store(0)
	if _, err := eval(t, p, `{"a":"A","m":{"held":"v"}}`); err != nil {
		t.Fatal(err)
	}
	settled(t)
	if epoch.Load() != at {
		t.Error("names were forgotten while they were held")
	}
}

// same says whether two JSON objects are the same but for the order of members.
func same(a, b string) bool {
	var x, y map[string]string
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && maps.Equal(x, y)
}

func TestConcurrent(t *testing.T) {
	p := tool(t, `"\(input.x)"`)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			got, err := eval(t, p, fmt.Sprintf(`{"a":"A","x":%d}`, i))
			if err != nil || got != fmt.Sprintf(`"%d"`, i) {
				t.Errorf("%d: %s, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkEval(b *testing.B) {
	p := tool(b, `{a: input.a, x: "\(input.x)", l: strings.Join([for e in input.l {e}], ",")}`)
	r := NewTool(p, cue.ParsePath("tool"), false, false).Request([]cue.Path{cue.ParsePath("out")})
	in := map[string]json.RawMessage{"a": json.RawMessage(`"A"`), "x": json.RawMessage(`5`), "l": json.RawMessage(`["x","y"]`)}
	for b.Loop() {
		if _, err := r.Eval(b.Context(), &bind.Scope{Args: in}); err != nil {
			b.Fatal(err)
		}
	}
}
