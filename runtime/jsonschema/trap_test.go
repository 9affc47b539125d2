package jsonschema

import (
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cuejson "cuelang.org/go/encoding/json"
)

// agree holds the schema of a value against CUE: it refuses nothing that CUE
// accepts, and all that CUE refuses if it says that it is exact.
func agree(t *testing.T, name, src string, instances ...string) {
	t.Helper()
	ctx := cuecontext.New()
	v := ctx.CompileString(definitions + "\nx: {v!: " + src + "}").LookupPath(cue.ParsePath("x"))
	s, _ := Compile(v, Options{Data: true})
	check := validator(t, string(s.JSON))
	for _, in := range instances {
		in = `{"v":` + in + `}`
		e, err := cuejson.Extract("", []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		refused := v.Unify(ctx.BuildExpr(e)).Validate(cue.Concrete(true))
		faults := check.Validate([]byte(in))
		if refused == nil && len(faults) > 0 || refused != nil && len(faults) == 0 && s.Exact {
			t.Errorf("%s: %s\nschema %s (exact: %v)\ninstance %s\nCUE says %v, the schema %v", name, src, s.JSON, s.Exact, in, refused, faults)
		}
	}
}

// TestTraps has what CUE does otherwise than one would think, most of it found
// by TestSound.
func TestTraps(t *testing.T) {
	for _, test := range []struct {
		name, cue string
		instances []string
	}{
		{"an alternative that only lacks a member is kept", `close({c?: int}) | close({b!: int})`, []string{`{}`, `{"c":1}`, `{"b":1}`}},
		{"an alternative whose constants fit both is kept", `close({a: 5, n?: int}) | close({b: "k"})`, []string{`{}`, `{"a":5}`, `{"b":"k"}`}},
		{"a member that can never be given does not drop its alternative", `close({b: "k"}) | close({c!: matchN(0, [_])})`, []string{`{}`, `{"b":"k"}`}},
		{"struct and list", `#Base & [null]`, []string{`{"b":1}`, `[null]`}},
		{"struct and list in an alternative", `bool | (#Tree & [null])`, []string{`true`, `{"v":1}`}},
		{"a member that a definition does not have", `matchN(1, [string, (#Tree & {a!: string}) | int])`, []string{`{"v":1}`, `{"v":1,"a":"x"}`, `5`}},
		{"equal once filled in", `list.UniqueItems & [...close({x: true})]`, []string{`[{},{"x":true}]`, `[{}]`}},
		{"counted once filled in", `close({x: int | *5, y?: int}) & struct.MinFields(1)`, []string{`{}`, `{"y":1}`}},
		{"matched once filled in", `close({x: 1}) & matchN(1, [{x!: int}])`, []string{`{}`, `{"x":1}`}},
		{"list.MatchN takes the undecided for a match", `list.MatchN(1, {c?: !=null} & struct.MinFields(2))`, []string{`[{"x":1},{"c":true,"x":1}]`}},
		{"and overlooks what is missing", `list.MatchN(>=1, {a!: >3} & struct.MinFields(2))`, []string{`[{"a":0},{"b":1}]`, `[{"a":4,"b":1}]`}},
		{"and what is missing below", `list.MatchN(1, {c!: !=null & {a!: int}})`, []string{`[{"c":{}}]`, `[{"c":{"a":1}}]`}},
		{"and repetitions", `list.MatchN(>0 & <3, list.UniqueItems & [...{x?: null}])`, []string{`[[{"x":null},{"x":null}]]`}},
		{"matchIf with a condition that is an error by itself", `matchIf([...] & list.MinItems(1), [...int], _)`, []string{`[]`, `[1]`, `["x"]`, `5`}},
		{"matchIf with a contradiction", `close({b?: matchIf(int & null, string, _)})`, []string{`{"b":4}`, `{}`}},
		{"alternatives in an operand", `matchN(0, [{a!: int} | {b!: int}])`, []string{`{}`, `{"a":1}`, `{"a":1,"b":1}`, `1`}},
		{"alternatives told apart in an operand", `matchN(1, [string, {k!: "x", a!: int} | {k!: "y", b!: int}])`, []string{`{}`, `{"k":"x"}`, `{"k":"x","a":1}`}},
		{"a type will do for a value in an operand", `matchN(1, [{a: int}])`, []string{`{}`, `{"a":1}`, `{"a":"x"}`}},
		{"but not for a member below", `matchN(1, [{a: {b!: int}}])`, []string{`{}`, `{"a":{}}`, `{"a":{"b":1}}`}},
		{"nor for a size", `matchN(1, [string, {x: [...] & list.MinItems(1)}])`, []string{`{}`, `{"x":[1]}`}},
		{"constants of one operand do not meet those of another", `matchN(2, [{a: true}, #Open]) | int`, []string{`{"v":1}`, `{"a":true}`}},
		{"constants of an operand do not meet the value", `{a?: string, ...} & matchN(1, [{a: true}])`, []string{`{}`, `{"a":"x"}`}},
		{"constants within alternatives do", `matchN(0, [(string | {a: <3} | int) & {x!: int, a?: true}])`, []string{`{"x":1}`, `{"x":1,"a":2}`}},
		{"lists that differ in the types of elements", `(#Open | [...null] | !=null) & [...[...int]]`, []string{`[[]]`, `[[1]]`, `[null]`}},
		{"maps that differ in the types of members", `({[string]: int} | {[string]: string}) & {...}`, []string{`{"a":1}`, `{"a":"x"}`, `{"a":null}`}},
		{"members that differ in the types of elements", `({l?: [...int]} | {l?: [...string]}) & {...}`, []string{`{"l":[1]}`, `{"l":["x"]}`, `{"l":[null]}`}},
		{"definitions that close each other", `#Open & #Base`, []string{`{"b":1}`, `{"b":1,"o":"x"}`, `{"b":1,"z":1}`}},
		{"definitions in alternatives that close each other", `[...(#Base | [])] & [...#Open]`, []string{`[{"b":1}]`, `[{"b":1,"z":1}]`, `[{"z":1}]`}},
		{"a condition leaves a struct undecided", `{c?: int, if c != _|_ {d!: int}, ...}`, []string{`null`, `"x"`, `[]`, `{"c":1}`, `{"c":1,"d":1}`, `{}`}},
		{"a condition leaves a struct undecided that lacks a member", `{a!: int, c?: int, if c != _|_ {d!: int}}`, []string{`3`, `{"a":1}`, `{}`}},
		{"a condition that never holds does too", `{[string]: int, if false {d!: int}}`, []string{`null`, `{"a":1}`, `{"a":"x"}`}},
		{"a condition on what is not given", `close({b?: int, if b == _|_ {d!: int}})`, []string{`{}`, `{"b":1}`, `{"d":1}`, `{"b":1,"d":1}`}},
		{"a condition on a default", `close({lo: int | *2, if lo > 2 {d!: int}})`, []string{`{}`, `{"lo":1}`, `{"lo":3}`, `{"lo":3,"d":1}`}},
		{"a bound that is another member", `close({lo: int | *5, hi?: >lo})`, []string{`{"lo":1,"hi":2}`, `{"hi":2}`, `{"hi":6}`}},
		{"a bound by way of a hidden field", `close({_h: lo + 1, lo: int | *5, hi?: <_h})`, []string{`{"lo":10,"hi":9}`, `{"hi":9}`}},
		{"a member that another gives", `close({a!: int, b: a})`, []string{`{"a":1}`, `{"a":1,"b":1}`, `{"a":1,"b":2}`}},
		{"the name of a member", `{[Name=string]: close({name: Name})}`, []string{`{"x":{}}`, `{"x":{"name":"x"}}`, `{"x":{"name":"y"}}`}},
		{"recursion in an alternative", `#Tree`, []string{`{"v":1,"alt":null}`, `{"v":1,"alt":{"v":2}}`, `{"v":1,"alt":{}}`}},
		{"recursion with more", `#Chain2`, []string{`{"v":1,"next":{"v":2,"w":1,"next":{"v":3,"w":2}}}`, `{"v":1,"next":{"v":2,"z":1}}`}},
		{"recursion in a choice with more", `#Chain3`, []string{`{"v":1,"next":{"v":2,"next":null}}`, `{"v":1,"next":null}`}},
		{"float", `float`, []string{`5`, `5.5`}},
		{"numbers equal in value", `==1`, []string{`1`, `2`}},
		{"a default that fits none", `*0 | (int & >0)`, []string{`0`, `-1`, `1`}},
		{"addresses as lists", `net.IPv4`, []string{`"1.2.3.4"`, `[1,2,3,4]`, `5`, `"x"`}},
		{"names but these", `close({x?: string, [!~"^(x|y)$"]: int})`, []string{`{"x":"s"}`, `{"y":1}`, `{"z":1}`, `{"z":"s"}`}},
		{"names but these, open", `{x?: string, [!~"^(x|y)$"]: int, ...}`, []string{`{"x":"s"}`, `{"y":"s"}`, `{"z":1}`, `{"z":"s"}`}},
		{"names but a pattern", `{[=~"^x"]: string, [!~"^x"]: int}`, []string{`{"x1":"s"}`, `{"x1":1}`, `{"z":1}`, `{"z":"s"}`}},
		{"names unlike two patterns", `{[!~"^x"]: int, [!~"^y"]: >2, ...}`, []string{`{"x":3}`, `{"y":1}`, `{"z":1}`}},
		{"a size that is not whole", `matchN(>1.5, [int, >2, <9])`, []string{`5`, `1`, `1.5`}},
		{"a count with a gap", `matchN(0 | 2, [int, >2])`, []string{`5`, `1`, `1.5`, `2.5`}},
		{"a negative size", `strings.MinRunes(-1)`, []string{`""`}},
		{"equality with a struct", `=={a: 1}`, []string{`{"a":1}`, `{"a":2}`}},
		{"inequality with a list", `!=[1]`, []string{`[1]`, `[2]`}},
		{"order of strings", `>"b"`, []string{`"a"`, `"c"`}},
		{"an empty affix", `strings.HasPrefix("")`, []string{`"a"`, `""`}},
		{"an error hides elements", `((string | !=null | number) & #Tree) | null`, []string{`{"v":1,"kids":[{"v":2}]}`, `null`, `{"v":1,"kids":[{}]}`}},
		{"list.MatchN with a contradiction", `list.MatchN(<=1, {a?: int} & int)`, []string{`[]`, `[{"a":1}]`, `[1]`}},
		{"list.MatchN with what never fits", `list.MatchN(>=1, error("no"))`, []string{`[]`, `[1]`}},
		{"a definition of references", `#Alias`, []string{`1`, `"x"`}},
	} {
		agree(t, test.name, test.cue, test.instances...)
	}
}

// FuzzSound goes on where TestSound ends.
func FuzzSound(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkRandom(t, seed, new(tally)) })
}
