package jsonschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
)

// definitions are what the inputs of the tests refer to.
const definitions = `
import ("strings", "list", "math", "struct", "time", "net")
_used: [strings.MinRunes, list.MinItems, math.Pi, struct.MinFields, time.Time, net.IPv4]
#Base: {b!: int, c?: string}
#More: {d?: int, #Base}
#Open: {o?: string, ...}
#Tree: {v!: int, kids?: [...#Tree], alt?: #Tree | null}
#Chain2: {v!: int, next?: {#Chain2, w?: int}}
#Chain3: {v!: int, next?: (#Chain3 | null) & {...}}
#Level: "low" | "high"
#Mode: "fast" | *"slow"
#Alias: #Alias2
#Alias2: #Alias3
#Alias3: int
`

// input compiles CUE for the members of an input.
func input(t testing.TB, members string) cue.Value {
	t.Helper()
	v := cuecontext.New().CompileString(definitions+"\ninput: {\n"+members+"\n}\n", cue.Filename("x.cue"))
	in := v.LookupPath(cue.ParsePath("input"))
	if !in.Exists() {
		t.Fatal(v.Err())
	}
	return in
}

// gaps writes what a schema leaves to CUE in one line.
func gaps(s *Schema) string {
	var all []string
	for _, g := range s.Open {
		all = append(all, g.Path+": "+g.Reason)
	}
	return strings.Join(all, "; ")
}

// TestCompile has a case for each row of the language's table and for each trap
// of CUE that the compiler walks around. left is what the schema does not
// state; nothing, when it is exact.
func TestCompile(t *testing.T) {
	for _, test := range compileTests {
		t.Run(test.name, func(t *testing.T) {
			s, findings := Compile(input(t, test.in), Options{})
			if len(findings) > 0 {
				t.Errorf("findings: %v", findings)
			}
			if string(s.JSON) != test.want {
				t.Errorf("%s\n got %s\nwant %s", test.in, s.JSON, test.want)
			}
			if got := gaps(s); got != test.left || s.Exact != (test.left == "") {
				t.Errorf("%s\nleaves %q (exact: %v), want %q", test.in, got, s.Exact, test.left)
			}
			if _, err := compile(mustDecode(t, s.JSON)); err != nil {
				t.Error(err)
			}
		})
	}
}

func mustDecode(t testing.TB, b []byte) any {
	t.Helper()
	v, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var compileTests = []struct{ name, in, want, left string }{
	{
		name: "required",
		in:   `a!: string`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
	},
	{
		name: "optional",
		in:   `a?: string`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
	},
	{
		name: "defaulted",
		in:   `a: int | *100`,
		want: `{"type":"object","properties":{"a":{"type":"integer","default":100}},"additionalProperties":false}`,
	},
	{
		name: "default first",
		in:   `a: *"x" | string`,
		want: `{"type":"object","properties":{"a":{"type":"string","default":"x"}},"additionalProperties":false}`,
	},
	{
		name: "default within its bounds",
		in:   `a: *20 | (int & >0 & <=100)`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":100,"default":20}},"additionalProperties":false}`,
	},
	{
		name: "default of an enumeration",
		in:   `a: "x" | *"y" | "z"`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["x","y","z"],"default":"y"}},"additionalProperties":false}`,
	},
	{
		name: "default that is null",
		in:   `a: *null | string`,
		want: `{"type":"object","properties":{"a":{"type":["string","null"],"default":null}},"additionalProperties":false}`,
	},
	{
		name: "default that is a struct",
		in:   `a: *{x: 1} | {x: int}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false,"default":{"x":1}}},"additionalProperties":false}`,
	},
	{
		name: "default of a list",
		in:   `a: *[] | [...string]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"default":[]}},"additionalProperties":false}`,
	},
	{
		name: "defaults below the top",
		in:   `a!: {n: int | *5, s: string, c: "k"}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"n":{"type":"integer","default":5},"s":{"type":"string"},"c":{"type":"string","enum":["k"]}},"required":["s"],"additionalProperties":false}},"required":["a"],"additionalProperties":false}`,
	},
	{
		name: "optional field's default is never filled in",
		in:   `a?: int | *5`,
		want: `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`,
	},
	{
		name: "constant",
		in:   `kind: "x", n: 5, t: true, z: null, l: [1, 2], o: {x: 1}, a?: int`,
		want: `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`,
	},
	{
		name: "description",
		in:   "// What it is.\na?: string",
		want: `{"type":"object","properties":{"a":{"type":"string","description":"What it is."}},"additionalProperties":false}`,
	},
	{
		name: "description of two paragraphs",
		in:   "// One.\n//\n// Two.\na?: string",
		want: `{"type":"object","properties":{"a":{"type":"string","description":"One.\n\nTwo."}},"additionalProperties":false}`,
	},
	{
		name: "no description from the line",
		in:   `a?: string // not above`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
	},
	{
		name: "examples",
		in:   `a?: string @example("x", "y,z") @example("w")`,
		want: `{"type":"object","properties":{"a":{"type":"string","examples":["x","y,z","w"]}},"additionalProperties":false}`,
	},
	{
		name: "examples of numbers",
		in:   `a?: number @example(1.10, 9007199254740993)`,
		want: `{"type":"object","properties":{"a":{"type":"number","examples":[1.10,9007199254740993]}},"additionalProperties":false}`,
	},
	{
		name: "examples of structs",
		in:   `a?: {x!: int} @example({x: 1})`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false,"examples":[{"x":1}]}},"additionalProperties":false}`,
	},
	{
		name: "enumeration",
		in:   `a?: "x" | "y"`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}},"additionalProperties":false}`,
	},
	{
		name: "enumeration of integers",
		in:   `a?: 1 | 2 | 3`,
		want: `{"type":"object","properties":{"a":{"type":"integer","enum":[1,2,3]}},"additionalProperties":false}`,
	},
	{
		name: "enumeration of fractions",
		in:   `a?: 0.5 | 1.10`,
		want: `{"type":"object","properties":{"a":{"type":"number","enum":[0.5,1.10]}},"additionalProperties":false}`,
	},
	{
		name: "mixed enumeration",
		in:   `a?: "x" | 1 | true | null`,
		want: `{"type":"object","properties":{"a":{"type":["string","integer","boolean","null"],"enum":["x",1,true,null]}},"additionalProperties":false}`,
	},
	{
		name: "enumeration or type",
		in:   `a?: "x" | "y" | int`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["x","y"]},{"type":"integer"}]}},"additionalProperties":false}`,
	},
	{
		name: "enumeration within a type",
		in:   `a?: "x" | string`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
	},
	{
		name: "enumeration and null",
		in:   `a?: "x" | "y" | null`,
		want: `{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x","y",null]}},"additionalProperties":false}`,
	},
	{
		name: "one literal, required",
		in:   `a!: "x"`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}},"required":["a"],"additionalProperties":false}`,
	},
	{
		name: "literal in digits",
		in:   `a?: 9007199254740993`,
		want: `{"type":"object","properties":{"a":{"type":"integer","const":9007199254740993}},"additionalProperties":false}`,
	},
	{
		name: "bool",
		in:   `a?: bool`,
		want: `{"type":"object","properties":{"a":{"type":"boolean"}},"additionalProperties":false}`,
	},
	{
		name: "one boolean",
		in:   `a?: true`,
		want: `{"type":"object","properties":{"a":{"type":"boolean","const":true}},"additionalProperties":false}`,
	},
	{
		name: "null",
		in:   `a?: null`,
		want: `{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}`,
	},
	{
		name: "int",
		in:   `a?: int`,
		want: `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`,
	},
	{
		name: "number",
		in:   `a?: number`,
		want: `{"type":"object","properties":{"a":{"type":"number"}},"additionalProperties":false}`,
	},
	{
		name: "bounds",
		in:   `a?: int & >=1 & <=1000`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":1000}},"additionalProperties":false}`,
	},
	{
		name: "open bounds of integers",
		in:   `a?: int & >0 & <10`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":9}},"additionalProperties":false}`,
	},
	{
		name: "open bounds of numbers",
		in:   `a?: >0 & <1.10`,
		want: `{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1.10}},"additionalProperties":false}`,
	},
	{
		name: "fractional bounds of integers",
		in:   `a?: int & >0.5 & <=9.5`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":9}},"additionalProperties":false}`,
	},
	{
		name: "bounds of bounds",
		in:   `a?: int & >=1 & >=3 & <=10 & <=9`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":3,"maximum":9}},"additionalProperties":false}`,
	},
	{
		name: "alternative ranges",
		in:   `a?: int & (<0 | >10)`,
		want: `{"type":"object","properties":{"a":{"type":"integer","anyOf":[{"maximum":-1},{"minimum":11}]}},"additionalProperties":false}`,
	},
	{
		name: "uint8",
		in:   `a?: uint8`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":255}},"additionalProperties":false}`,
	},
	{
		name: "int64",
		in:   `a?: int64`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}},"additionalProperties":false}`,
	},
	{
		name: "uint",
		in:   `a?: uint`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":0}},"additionalProperties":false}`,
	},
	{
		name: "unequal",
		in:   `a?: int & !=5 & !=6`,
		want: `{"type":"object","properties":{"a":{"type":"integer","not":{"anyOf":[{"const":5},{"const":6}]}}},"additionalProperties":false}`,
	},
	{
		name: "unequal to nothing",
		in:   `a?: string & !=""`,
		want: `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"additionalProperties":false}`,
	},
	{
		name: "unequal to null",
		in:   `a?: !=null`,
		want: `{"type":"object","properties":{"a":{"type":["string","number","boolean","array","object"],"items":{}}},"additionalProperties":false}`,
	},
	{
		name: "multiple",
		in:   `a?: int & math.MultipleOf(5)`,
		want: `{"type":"object","properties":{"a":{"type":"integer","multipleOf":5}},"additionalProperties":false}`,
	},
	{
		name: "digits are kept",
		in:   `a?: number & >=0.10 & <=9007199254740993.5`,
		want: `{"type":"object","properties":{"a":{"type":"number","minimum":0.10,"maximum":9007199254740993.5}},"additionalProperties":false}`,
	},
	{
		name: "pattern",
		in:   `a?: =~"^refs/"`,
		want: `{"type":"object","properties":{"a":{"type":"string","pattern":"^refs/"}},"additionalProperties":false}`,
	},
	{
		name: "two patterns",
		in:   `a?: =~"^a" & =~"b$"`,
		want: `{"type":"object","properties":{"a":{"type":"string","pattern":"^a","allOf":[{"pattern":"b$"}]}},"additionalProperties":false}`,
	},
	{
		name: "not a pattern",
		in:   `a?: !~"^refs/"`,
		want: `{"type":"object","properties":{"a":{"type":"string","not":{"pattern":"^refs/"}}},"additionalProperties":false}`,
	},
	{
		name: "neither pattern",
		in:   `a?: string & !~"^a" & !~"b$" & !="c"`,
		want: `{"type":"object","properties":{"a":{"type":"string","not":{"anyOf":[{"pattern":"^a"},{"pattern":"b$"},{"const":"c"}]}}},"additionalProperties":false}`,
	},
	{
		name: "pattern of RE2 that can be said otherwise",
		in:   `a?: =~"(?i)^ab.\\z"`,
		want: `{"type":"object","properties":{"a":{"type":"string","pattern":"^[Aa][Bb][^\\n]$"}},"additionalProperties":false}`,
	},
	{
		name: "pattern of RE2 only",
		in:   `a?: =~"(?m)^a$"`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		left: `a: the regular expression "(?m)^a$" is not in the syntax that JSON Schema shares`,
	},
	{
		name: "pattern of Unicode",
		in:   `a?: =~"^\\pL+$"`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		left: `a: the regular expression "^\\pL+$" is not in the syntax that JSON Schema shares`,
	},
	{
		name: "runes",
		in:   `a?: strings.MinRunes(1) & strings.MaxRunes(5)`,
		want: `{"type":"object","properties":{"a":{"type":"string","minLength":1,"maxLength":5}},"additionalProperties":false}`,
	},
	{
		name: "prefix and suffix",
		in:   `a?: strings.HasPrefix("a.b") & strings.HasSuffix("/c")`,
		want: `{"type":"object","properties":{"a":{"type":"string","pattern":"^a\\.b","allOf":[{"pattern":"/c$"}]}},"additionalProperties":false}`,
	},
	{
		name: "contains",
		in:   `a?: strings.Contains("a+b") & strings.ContainsAny("]-x")`,
		want: `{"type":"object","properties":{"a":{"type":"string","pattern":"a\\+b","allOf":[{"pattern":"[\\]\\-x]"}]}},"additionalProperties":false}`,
	},
	{
		name: "time",
		in:   `a?: time.Time`,
		want: `{"type":"object","properties":{"a":{"type":"string","format":"date-time"}},"additionalProperties":false}`,
	},
	{
		name: "date",
		in:   `a?: time.Format("2006-01-02")`,
		want: `{"type":"object","properties":{"a":{"type":"string","format":"date"}},"additionalProperties":false}`,
	},
	{
		name: "time of another layout",
		in:   `a?: time.Format("15:04")`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		left: `a: a time in the layout "15:04"`,
	},
	{
		name: "duration",
		in:   `a?: time.Duration`,
		want: `{"type":"object","properties":{"a":{"type":"string","pattern":"^[-+]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"}},"additionalProperties":false}`,
		left: `a: a duration that is too long`,
	},
	{
		name: "addresses",
		in:   `a?: string & net.IPv4, b?: net.IPv6`,
		want: `{"type":"object","properties":{"a":{"type":"string","format":"ipv4"},"b":{"type":["string","array"],"format":"ipv6","items":{}}},"additionalProperties":false}`,
		left: `a: ipv4 given in another form than text; b: ipv6 given in another form than text`,
	},
	{
		name: "URLs",
		in:   `a?: net.AbsURL, b?: net.URL`,
		want: `{"type":"object","properties":{"a":{"type":"string","format":"iri"},"b":{"type":"string","format":"iri-reference"}},"additionalProperties":false}`,
	},
	{
		name: "validator unknown to JSON Schema",
		in:   `a?: net.FQDN`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		left: `a: net.FQDN`,
	},
	{
		name: "string or null",
		in:   `a?: string | null`,
		want: `{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`,
	},
	{
		name: "null or string",
		in:   `a?: null | string`,
		want: `{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`,
	},
	{
		name: "integer or null",
		in:   `a?: (int & >0) | null`,
		want: `{"type":"object","properties":{"a":{"type":["integer","null"],"minimum":1}},"additionalProperties":false}`,
	},
	{
		name: "several types",
		in:   `a?: string | int | bool`,
		want: `{"type":"object","properties":{"a":{"type":["string","integer","boolean"]}},"additionalProperties":false}`,
	},
	{
		name: "alternatives of structs",
		in:   `a?: {x!: int} | {y!: string}`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false},{"type":"object","properties":{"y":{"type":"string"}},"required":["y"],"additionalProperties":false}]}},"additionalProperties":false}`,
	},
	{
		name: "alternatives told apart",
		in:   `a?: {k!: "x", n?: int} | {k!: "y", s?: string}`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"k":{"type":"string","enum":["x"]},"n":{"type":"integer"}},"required":["k"],"additionalProperties":false},{"type":"object","properties":{"k":{"type":"string","enum":["y"]},"s":{"type":"string"}},"required":["k"],"additionalProperties":false}]}},"additionalProperties":false}`,
	},
	{
		name: "alternatives that overlap",
		in:   `a?: {x?: int} | {y?: string}`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"x":{"type":"integer"}},"additionalProperties":false},{"type":"object","properties":{"y":{"type":"string"}},"additionalProperties":false}]}},"additionalProperties":false}`,
		left: `a: alternatives that overlap`,
	},
	{
		name: "struct or null",
		in:   `a?: {x!: int} | null`,
		want: `{"type":"object","properties":{"a":{"type":["object","null"],"properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "structs or null",
		in:   `a?: {x!: int} | {y!: int} | null`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false},{"type":"object","properties":{"y":{"type":"integer"}},"required":["y"],"additionalProperties":false},{"type":"null"}]}},"additionalProperties":false}`,
	},
	{
		name: "struct or string",
		in:   `a?: {x!: int} | string`,
		want: `{"type":"object","properties":{"a":{"type":["string","object"],"properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "struct or list",
		in:   `a?: {x!: int} | [...int]`,
		want: `{"type":"object","properties":{"a":{"type":["array","object"],"items":{"type":"integer"},"properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "alternatives with a common part",
		in:   `a?: {#Base, {k!: "x"} | {k!: "y"}}`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"string"},"k":{"type":"string","enum":["x"]}},"required":["b","k"],"additionalProperties":false},{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"string"},"k":{"type":"string","enum":["y"]}},"required":["b","k"],"additionalProperties":false}]}},"additionalProperties":false}`,
	},
	{
		name: "list",
		in:   `a?: [...string]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}`,
	},
	{
		name: "list of anything",
		in:   `a?: [...]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{}}},"additionalProperties":false}`,
	},
	{
		name: "list of lists",
		in:   `a?: [...[...int]]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}},"additionalProperties":false}`,
	},
	{
		name: "tuple",
		in:   `a?: [int, string]`,
		want: `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":{},"minItems":2,"maxItems":2}},"additionalProperties":false}`,
	},
	{
		name: "tuple of one type",
		in:   `a?: [number, number]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2}},"additionalProperties":false}`,
	},
	{
		name: "tuple and more",
		in:   `a?: [int, ...string]`,
		want: `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"string"},"minItems":1}},"additionalProperties":false}`,
	},
	{
		name: "at least two",
		in:   `a?: [_, _, ...]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{},"minItems":2}},"additionalProperties":false}`,
	},
	{
		name: "at least one of a type",
		in:   `a?: [int, ...int]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"},"minItems":1}},"additionalProperties":false}`,
	},
	{
		name: "no element",
		in:   `a?: []`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{},"maxItems":0}},"additionalProperties":false}`,
	},
	{
		name: "sizes of lists",
		in:   `a?: [...int] & list.MinItems(1) & list.MaxItems(5)`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":5}},"additionalProperties":false}`,
	},
	{
		name: "unique",
		in:   `a?: [...string] & list.UniqueItems`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"uniqueItems":true}},"additionalProperties":false}`,
	},
	{
		name: "unique, called",
		in:   `a?: list.UniqueItems() & [...string]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"uniqueItems":true}},"additionalProperties":false}`,
	},
	{
		name: "some of a list",
		in:   `a?: [...int] & list.MatchN(>=1, >5)`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"},"contains":{"type":"number","exclusiveMinimum":5}}},"additionalProperties":false}`,
	},
	{
		name: "list with a value",
		in:   `a?: [...] & list.Contains("x")`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{},"contains":{"type":"string","enum":["x"]}}},"additionalProperties":false}`,
	},
	{
		name: "list with one default",
		in:   `a?: [...(int | *5)]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"additionalProperties":false}`,
	},
	{
		name: "struct",
		in:   `a?: {x!: int, y?: {z!: string}}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"object","properties":{"z":{"type":"string"}},"required":["z"],"additionalProperties":false}},"required":["x"],"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "struct with more",
		in:   `a?: {x!: int, ...}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":true}},"additionalProperties":false}`,
	},
	{
		name: "any struct",
		in:   `a?: {...}`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":true}},"additionalProperties":false}`,
	},
	{
		name: "no member",
		in:   `a?: {}`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "map",
		in:   `a?: [string]: int`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"integer"}}},"additionalProperties":false}`,
	},
	{
		name: "map of maps",
		in:   `a?: [string]: [string]: bool`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"boolean"}}}},"additionalProperties":false}`,
	},
	{
		name: "map and members",
		in:   `a?: {x!: int, [string]: int | string}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":{"type":["string","integer"]}}},"additionalProperties":false}`,
	},
	{
		name: "names by pattern",
		in:   `a?: {[=~"^x-"]: string}`,
		want: `{"type":"object","properties":{"a":{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "names by pattern and more",
		in:   `a?: {[=~"^x-"]: string, ...}`,
		want: `{"type":"object","properties":{"a":{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":true}},"additionalProperties":false}`,
	},
	{
		name: "names by length",
		in:   `a?: {[strings.MinRunes(2)]: int}`,
		want: `{"type":"object","properties":{"a":{"type":"object","patternProperties":{"^[\\s\\S]{2,}$":{"type":"integer"}},"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "names of an enumeration",
		in:   `a?: {["x" | "y"]: int}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "names but these",
		in:   `a?: {x?: string, [!~"^(x|y)$"]: int}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"string"},"y":{}},"additionalProperties":{"type":"integer"}}},"additionalProperties":false}`,
		left: `a: a condition on the names of other members`,
	},
	{
		name: "names by a pattern of RE2 only",
		in:   `a?: {[=~"(?m)^x$"]: int}`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":true}},"additionalProperties":false}`,
		left: `a: a condition on names`,
	},
	{
		name: "sizes of structs",
		in:   `a?: {[string]: int} & struct.MinFields(1) & struct.MaxFields(3)`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"integer"},"minProperties":1,"maxProperties":3}},"additionalProperties":false}`,
	},
	{
		name: "size of a struct with a default",
		in:   `a?: {x: int | *5, y?: int} & struct.MinFields(1)`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer","default":5},"y":{"type":"integer"}},"additionalProperties":false}},"additionalProperties":false}`,
		left: `a: a condition on a value in which constants or defaults are filled in`,
	},
	{
		name: "anything",
		in:   `a?: _`,
		want: `{"type":"object","properties":{"a":{}},"additionalProperties":false}`,
	},
	{
		name: "anything, required",
		in:   `a!: _`,
		want: `{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`,
	},
	{
		name: "definition",
		in:   `a?: #Base`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"string"}},"required":["b"],"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "embedded",
		in:   "#Base\na?: int",
		want: `{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"string"},"a":{"type":"integer"}},"required":["b"],"additionalProperties":false}`,
	},
	{
		name: "embedded after",
		in:   "z?: int\n#Base\na?: int",
		want: `{"type":"object","properties":{"z":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"string"},"a":{"type":"integer"}},"required":["b"],"additionalProperties":false}`,
	},
	{
		name: "embedded twice",
		in:   "#Base\n#More",
		want: `{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"string"},"d":{"type":"integer"}},"required":["b"],"additionalProperties":false}`,
	},
	{
		name: "unified structs",
		in:   `a?: {x!: int} & {y?: string}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"string"}},"required":["x"],"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "unified with a definition's own field",
		in:   `a?: #Base & {b: <5}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer","maximum":4},"c":{"type":"string"}},"required":["b"],"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "open definition",
		in:   `a?: #Open`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"o":{"type":"string"}},"additionalProperties":true}},"additionalProperties":false}`,
	},
	{
		name: "definition unified with an open one",
		in:   `a?: #Open & {x?: int}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"o":{"type":"string"},"x":{"type":"integer"}},"additionalProperties":true}},"additionalProperties":false}`,
	},
	{
		name: "recursion",
		in:   `a?: #Tree`,
		want: `{"type":"object","properties":{"a":{"$ref":"#/$defs/Tree"}},"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"alt":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["v"],"additionalProperties":false}}}`,
	},
	{
		name: "recursion through a list and null",
		in:   `a?: [...#Tree], b?: #Tree | null`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"b":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"alt":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["v"],"additionalProperties":false}}}`,
	},
	{
		name: "recursion at the top",
		in:   `#Tree`,
		want: `{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"alt":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["v"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"alt":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["v"],"additionalProperties":false}}}`,
	},
	{
		name: "recursion with more embedded",
		in:   `a?: #Chain2`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"v":{"type":"integer"},"next":{"type":"object","properties":{"v":{"type":"integer"},"next":{},"w":{"type":"integer"}},"required":["v"],"additionalProperties":false}},"required":["v"],"additionalProperties":false}},"additionalProperties":false}`,
		left: `a.next.next: a definition within itself, together with something else`,
	},
	{
		name: "recursion in a choice with more",
		in:   `a?: #Chain3`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"v":{"type":"integer"},"next":{}},"required":["v"],"additionalProperties":false}},"additionalProperties":false}`,
		left: `a.next: a definition within itself, together with something else`,
	},
	{
		name: "several definitions",
		in:   `a?: #Level, b?: #Level | null`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["low","high"]},"b":{"type":["string","null"],"enum":["low","high",null]}},"additionalProperties":false}`,
	},
	{
		name: "let",
		in:   "let L = string & =~\"^x\"\na?: L, b?: [...L]",
		want: `{"type":"object","properties":{"a":{"type":"string","pattern":"^x"},"b":{"type":"array","items":{"type":"string","pattern":"^x"}}},"additionalProperties":false}`,
	},
	{
		name: "let of a struct",
		in:   "let L = {x!: int}\na?: L & struct.MinFields(1)",
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false,"minProperties":1}},"additionalProperties":false}`,
	},
	{
		name: "hidden fields and definitions",
		in:   "_h: 5, #D: int & >2\na?: #D, b?: <_h",
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":3},"b":{"type":"number","exclusiveMaximum":5}},"additionalProperties":false}`,
	},
	{
		name: "bound by another argument",
		in:   `lo: int | *5, hi?: >lo`,
		want: `{"type":"object","properties":{"lo":{"type":"integer","default":5},"hi":{}},"additionalProperties":false}`,
		left: `hi: depends on another argument`,
	},
	{
		name: "bound by another argument, in a list",
		in:   `lo: int | *5, l?: [...<lo]`,
		want: `{"type":"object","properties":{"lo":{"type":"integer","default":5},"l":{"type":"array","items":{}}},"additionalProperties":false}`,
		left: `l[]: depends on another argument`,
	},
	{
		name: "computed by another argument, below",
		in:   `a?: {x!: int, y: x + 1}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"},"y":{}},"required":["x"],"additionalProperties":false}},"additionalProperties":false}`,
		left: `a.y: depends on another argument`,
	},
	{
		name: "name of a member",
		in:   `a?: [Name=string]: {name: Name, n?: int}`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"object","properties":{"name":{},"n":{"type":"integer"}},"additionalProperties":false}}},"additionalProperties":false}`,
		left: `a[string].name: depends on another argument`,
	},
	{
		name: "condition below the top",
		in:   `a?: {x?: int, if x != _|_ {y!: int}}`,
		want: `{"type":"object","properties":{"a":{"properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"additionalProperties":false,"dependentSchemas":{"x":{"required":["y"]}}}},"additionalProperties":false}`,
		left: `a: what more holds of x when it is given; a: members that may only be given together with x; a: other types than objects`,
	},
	{
		name: "condition below the top, with more",
		in:   `a?: {x?: int, if x != _|_ {y!: int}, y?: number, ...}`,
		want: `{"type":"object","properties":{"a":{"properties":{"x":{"type":"integer"},"y":{"type":"number"}},"additionalProperties":true,"dependentSchemas":{"x":{"properties":{"y":{"type":"integer"}},"required":["y"]}}}},"additionalProperties":false}`,
		left: `a: what more holds of x when it is given; a: other types than objects`,
	},
	{
		name: "other condition below the top",
		in:   `a?: {x: int | *1, if x > 3 {y!: int}}`,
		want: `{"type":"object","properties":{"a":{"type":"object","additionalProperties":true}},"additionalProperties":false}`,
		left: `a: members that depend on other members`,
	},
	{
		name: "static condition",
		in:   `if true {a?: int}`,
		want: `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`,
	},
	{
		name: "float",
		in:   `a?: float`,
		want: `{"type":"object","properties":{"a":{"type":"number"}},"additionalProperties":false}`,
		left: `a: float refuses whole numbers`,
	},
	{
		name: "bytes or string",
		in:   `a?: bytes | string`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
	},
	{
		name: "matchN all",
		in:   `a?: matchN(2, [int, >5])`,
		want: `{"type":"object","properties":{"a":{"type":"integer","minimum":6}},"additionalProperties":false}`,
	},
	{
		name: "matchN one",
		in:   `a?: matchN(1, [int, >5])`,
		want: `{"type":"object","properties":{"a":{"type":"number","oneOf":[{"type":"integer"},{"exclusiveMinimum":5}]}},"additionalProperties":false}`,
	},
	{
		name: "matchN some",
		in:   `a?: matchN(>=1, [string, >5])`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number","exclusiveMinimum":5}]}},"additionalProperties":false}`,
	},
	{
		name: "matchN none",
		in:   `a?: string & matchN(0, [=~"^x"])`,
		want: `{"type":"object","properties":{"a":{"type":"string","not":{"pattern":"^x"}}},"additionalProperties":false}`,
	},
	{
		name: "matchN none of a struct",
		in:   `a?: matchN(0, [{x!: int}])`,
		want: `{"type":"object","properties":{"a":{"not":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}},"additionalProperties":false}`,
	},
	{
		name: "matchN of another count",
		in:   `a?: matchN(2, [int, >5, <9])`,
		want: `{"type":"object","properties":{"a":{"type":"number","anyOf":[{"type":"integer"},{"exclusiveMinimum":5},{"exclusiveMaximum":9}]}},"additionalProperties":false}`,
		left: `a: a count of alternatives`,
	},
	{
		name: "matchIf",
		in:   `a?: matchIf(string, =~"^x", int)`,
		want: `{"type":"object","properties":{"a":{"type":["string","number"],"if":{"type":"string"},"then":{"type":"string","pattern":"^x"},"else":{"type":"integer"}}},"additionalProperties":false}`,
	},
	{
		name: "opposite of what is not stated",
		in:   `a?: string & matchN(0, [net.FQDN])`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		left: `a: net.FQDN; a: the opposite of what is not fully stated`,
	},
	{
		name: "quoted names",
		in:   `"x-y"?: int, "a b"!: int, "ä"?: int`,
		want: `{"type":"object","properties":{"x-y":{"type":"integer"},"a b":{"type":"integer"},"ä":{"type":"integer"}},"required":["a b"],"additionalProperties":false}`,
	},
	{
		name: "no arguments",
		in:   ``,
		want: `{"type":"object","properties":{},"additionalProperties":false}`,
	},
	{
		name: "open input",
		in:   `a!: int, ...`,
		want: `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":true}`,
	},
	{
		name: "close",
		in:   `a?: close({x?: int})`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}},"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "default of a definition",
		in:   `a: #Mode`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["fast","slow"],"default":"slow"}},"additionalProperties":false}`,
	},
	{
		name: "default named by a definition",
		in:   `a: #Level | *"low"`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["low","high"],"default":"low"}},"additionalProperties":false}`,
	},
	{
		name: "scalar embedded in a struct",
		in:   `a?: {string, #note: "x"}`,
		want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
	},
	{
		name: "definition of a scalar in brackets",
		in:   `a?: (#Level)`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["low","high"]}},"additionalProperties":false}`,
	},
	{
		name: "struct with a hidden field",
		in:   `a?: {_h: 5, x?: int & <_h}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer","maximum":4}},"additionalProperties":false}},"additionalProperties":false}`,
	},
	{
		name: "alternatives within alternatives",
		in:   `a?: ({x!: int} | {y!: int}) & ({z?: int} | {w?: int})`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"x":{"type":"integer"},"z":{"type":"integer"}},"required":["x"],"additionalProperties":false},{"type":"object","properties":{"x":{"type":"integer"},"w":{"type":"integer"}},"required":["x"],"additionalProperties":false},{"type":"object","properties":{"y":{"type":"integer"},"z":{"type":"integer"}},"required":["y"],"additionalProperties":false},{"type":"object","properties":{"y":{"type":"integer"},"w":{"type":"integer"}},"required":["y"],"additionalProperties":false}]}},"additionalProperties":false}`,
		left: `a: alternatives that overlap`,
	},
	{
		name: "alternatives of lists with more",
		in:   `a?: ([...int] | [...string]) & [_, ...]`,
		want: `{"type":"object","properties":{"a":{"type":"array","items":{},"minItems":1,"anyOf":[{"items":{"type":"integer"}},{"items":{"type":"string"}}]}},"additionalProperties":false}`,
	},
	{
		name: "alternatives of open structs",
		in:   `a?: ({x!: int, ...} | null) & {y?: int, ...}`,
		want: `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"required":["x"],"additionalProperties":true}},"additionalProperties":false}`,
	},
	{
		name: "enumeration of integers with a default",
		in:   `a: 1 | *2 | 3`,
		want: `{"type":"object","properties":{"a":{"type":"integer","enum":[1,2,3],"default":2}},"additionalProperties":false}`,
	},
	{
		name: "number equal to",
		in:   `a?: ==1`,
		want: `{"type":"object","properties":{"a":{"type":"integer","const":1}},"additionalProperties":false}`,
	},
	{
		name: "fraction that is whole",
		in:   `a?: 1.0`,
		want: `{"type":"object","properties":{"a":{"type":"integer","const":1.0}},"additionalProperties":false}`,
		left: `a: 1.0 is no integer to CUE`,
	},
	{
		name: "multiple alternatives of one kind",
		in:   `a?: =~"^a" | =~"^b"`,
		want: `{"type":"object","properties":{"a":{"type":"string","anyOf":[{"pattern":"^a"},{"pattern":"^b"}]}},"additionalProperties":false}`,
	},
	{
		name: "explicit refusal in an alternative",
		in:   `a?: {x!: int, y?: _|_} | {y!: int, x?: _|_}`,
		want: `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false},{"type":"object","properties":{"y":{"type":"integer"}},"required":["y"],"additionalProperties":false}]}},"additionalProperties":false}`,
	},
	{
		name: "unknown function",
		in:   `a?: strings.ToUpper("x") | "y"`,
		want: `{"type":"object","properties":{"a":{"type":"string","enum":["X","y"]}},"additionalProperties":false}`,
	},
	{
		name: "computed constant",
		in:   `a: strings.Join(["x", "y"], "-"), b?: int`,
		want: `{"type":"object","properties":{"b":{"type":"integer"}},"additionalProperties":false}`,
	},
	{
		name: "interpolated constant",
		in:   `_h: "x", a: "\(_h)-y", b?: int`,
		want: `{"type":"object","properties":{"b":{"type":"integer"}},"additionalProperties":false}`,
	},
	{
		name: "nested definitions of one name",
		in:   `#T: {p?: {#T2, q?: int}}, #T2: {r!: string}, #T`,
		want: `{"type":"object","properties":{"p":{"type":"object","properties":{"r":{"type":"string"},"q":{"type":"integer"}},"required":["r"],"additionalProperties":false}},"additionalProperties":false}`,
	},
}

// TestNoInput is about a tool that declares no input.
func TestNoInput(t *testing.T) {
	s, findings := Compile(cue.Value{}, Options{})
	if want := `{"type":"object","properties":{},"additionalProperties":false}`; string(s.JSON) != want || !s.Exact || len(findings) > 0 || s.Fields != nil {
		t.Errorf("got %s %+v %v", s.JSON, s, findings)
	}
}

// TestData is about values that are no input: constants are members, regular
// fields are required, and there are no rules about arguments.
func TestData(t *testing.T) {
	for _, test := range []struct{ cue, want string }{
		{`{kind: "x", n: int, l: [...int], o?: {p: int}}`,
			`{"type":"object","properties":{"kind":{"type":"string","enum":["x"]},"n":{"type":"integer"},"l":{"type":"array","items":{"type":"integer"}},"o":{"type":"object","properties":{"p":{"type":"integer"}},"required":["p"],"additionalProperties":false}},"required":["n"],"additionalProperties":false}`},
		{`[...string]`, `{"type":"array","items":{"type":"string"}}`},
		{`string | null`, `{"type":["string","null"]}`},
		{`#Tree`, `{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"alt":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["v"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"alt":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["v"],"additionalProperties":false}}}`},
		{`{x!: int} | {y!: int}`, `{"anyOf":[{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false},{"type":"object","properties":{"y":{"type":"integer"}},"required":["y"],"additionalProperties":false}]}`},
		{`_`, `{}`},
	} {
		v := cuecontext.New().CompileString(definitions + "\nx: " + test.cue).LookupPath(cue.ParsePath("x"))
		s, findings := Compile(v, Options{Data: true})
		if string(s.JSON) != test.want || len(findings) > 0 {
			t.Errorf("%s\n got %s %v\nwant %s", test.cue, s.JSON, findings, test.want)
		}
	}
}

// TestFields is about what a tool's arguments are, one by one.
func TestFields(t *testing.T) {
	s, findings := Compile(input(t, `
		must!: string
		may?: {k: "x", n: int | *5, s?: string}
		top: int & >0 | *9007199254740993
		kind: "x"
		list: [1, {a: 1.10}]
		project!: string
		team?: string
		area: string | *"own"
		none!: string
		tree?: #Tree
	`), Options{Defaults: map[string]json.RawMessage{
		"project": json.RawMessage(`"Contoso"`),
		"team":    json.RawMessage(`"core"`),
		"area":    json.RawMessage(`"server"`),
		"none":    json.RawMessage(`null`),
		"kind":    json.RawMessage(`"y"`), // no argument
		"unused":  json.RawMessage(`1`),
	}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var got []string
	for _, f := range s.Fields {
		got = append(got, fmt.Sprintf("%s required=%v default=%s server=%v constant=%s fills=%v line=%d", f.Name, f.Required, f.Default, f.ServerDefault, f.Constant, f.Fills, f.Pos.Line()))
		if !f.Value.Exists() {
			t.Errorf("%s has no value", f.Name)
		}
	}
	first := s.Fields[0].Pos.Line()
	want := []string{
		"must required=true default= server=false constant= fills=false",
		"may required=false default= server=false constant= fills=true",
		"top required=false default=9007199254740993 server=false constant= fills=false",
		`kind required=false default= server=false constant="x" fills=false`,
		`list required=false default= server=false constant=[1,{"a":1.10}] fills=true`,
		`project required=false default="Contoso" server=true constant= fills=false`,
		`team required=false default="core" server=true constant= fills=false`,
		`area required=false default="server" server=true constant= fills=false`,
		"none required=true default= server=false constant= fills=false",
		"tree required=false default= server=false constant= fills=false",
	}
	for i := range want {
		want[i] += fmt.Sprintf(" line=%d", first+i)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	const schema = `{"type":"object","properties":{"must":{"type":"string"},"may":{"type":"object","properties":{"k":{"type":"string","enum":["x"]},"n":{"type":"integer","default":5},"s":{"type":"string"}},"additionalProperties":false},"top":{"type":"integer","minimum":1,"default":9007199254740993},"project":{"type":"string","default":"Contoso"},"team":{"type":"string","default":"core"},"area":{"type":"string","default":"server"},"none":{"type":"string"},"tree":{"$ref":"#/$defs/Tree"}},"required":["must","none"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"alt":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["v"],"additionalProperties":false}}}`
	if string(s.JSON) != schema {
		t.Errorf("got %s", s.JSON)
	}
}

// TestFindings has a case for each finding, with the line it names.
func TestFindings(t *testing.T) {
	defaults := map[string]json.RawMessage{"project": json.RawMessage(`5`), "broken": json.RawMessage(`{`), "shape": json.RawMessage(`{"x":1,"z":2}`)}
	for _, test := range []struct {
		name, in string
		want     []string // line, path and message
	}{
		{"neither", "a: string", []string{`1 p.a: is neither required (a!), optional (a?), defaulted (… | *value) nor a constant`}},
		{"list that CUE takes for empty", "a: [...int]", []string{`1 p.a: is neither required (a!), optional (a?), defaulted (… | *value) nor a constant`}},
		{"struct of options", "a: {x?: int}", []string{`1 p.a: is neither required (a!), optional (a?), defaulted (… | *value) nor a constant`}},
		{"struct with a default", "a: {x: int | *1}", []string{`1 p.a: is neither required (a!), optional (a?), defaulted (… | *value) nor a constant`}},
		{"computed", "a!: int\nb: a + 1", []string{`2 p.b: must not be computed from other arguments: do that in the request`}},
		{"default computed", "a: int | *1\nb: int | *(a + 1)", []string{`2 p.b: must not be computed from other arguments: do that in the request`}},
		{"alternatives at the top", "{a!: int} | {b!: int}", []string{`1 p: alternatives and conditions at the top of input change what is required before the arguments are known: make the arguments optional and put the rule into check`}},
		{"alternatives within the top", "c?: int\n{a!: int} | {b!: int}", []string{`2 p: alternatives and conditions at the top of input change what is required before the arguments are known: make the arguments optional and put the rule into check`}},
		{"condition at the top", "a?: int\nif a != _|_ {b!: int}", []string{`2 p: alternatives and conditions at the top of input change what is required before the arguments are known: make the arguments optional and put the rule into check`}},
		{"default beyond its bounds", "a: *200 | (int & >0 & <=100)", []string{`1 p.a: the default 200 fits none of the alternatives of its type`}},
		{"default beyond its bounds, below", "a?: {x: *200 | (int & <=100)}", []string{`1 p.a.x: the default 200 fits none of the alternatives of its type`}},
		{"default beyond its pattern", `a: *"x" | =~"^y"`, []string{`1 p.a: the default "x" fits none of the alternatives of its type`}},
		{"default beyond its pattern, meant", `a: *"x" | "x" | =~"^y"`, nil},
		{"default that is a definition", "a: #S\n#S: *#A | #B\n#A: \"x\"\n#B: =~\"^y\"", nil},
		{"default that is a setting", "a: *_x | =~\"^y\"\n_x: \"x\"", []string{`1 p.a: the default "x" fits none of the alternatives of its type`}},
		{"server's default", "project!: string", []string{`1 p.project: the server's default for project, 5, does not fit: conflicting values string and 5 (mismatched types string and int)`}},
		{"server's default that is no JSON", "broken?: string", []string{`1 p.broken: the server's default for broken is no JSON: invalid JSON for file "": unexpected end of JSON input`}},
		{"server's default with an unknown member", "shape?: {x!: int}", []string{`1 p.shape: the server's default for shape, {"x":1,"z":2}, does not fit: unknown argument: z`}},
		{"example", "a?: int @example(1, \"x\")", []string{`1 p.a: the example "x" does not fit: conflicting values "x" and int (mismatched types string and int)`}},
		{"example beyond its bounds", "a?: int & <5 @example(7)", []string{`1 p.a: the example 7 does not fit: invalid value 7 (out of bound <5)`}},
		{"example with an unknown member", "a?: {x?: int} @example({y: 1})", []string{`1 p.a: the example {"y":1} does not fit: unknown argument: y`}},
		{"example that cannot be read", `a?: int @example(1 +)`, []string{`1 p.a: @example(1 +) cannot be read: expected operand, found ']'`}},
		{"example of a name", `a?: int @example(x)`, []string{`1 p.a: @example(x) cannot be read: reference "x" not found`}},
		{"example that is no value", `a?: int @example(int)`, []string{`1 p.a: @example(int) is no value: cannot convert incomplete value "int" to JSON`}},
		{"example below the top", "a?: [...{x?: int @example(\"y\")}]", []string{`1 p.a[].x: the example "y" does not fit: conflicting values "y" and int (mismatched types string and int)`}},
		{"regular expression", `a?: =~"("`, []string{"1 p.a: not a regular expression: missing closing ): `(`"}},
		{"regular expression of names", `a?: {[=~"("]: int}`, []string{"1 p.a: not a regular expression: missing closing ): `(`"}},
		{"conflict", "a?: int & string", []string{`1 p.a: no value fits: conflicting values int and string (mismatched types int and string)`}},
		{"conflict below", "a?: {x?: [...{y?: int & string}]}", []string{`1 p.a.x[].y: no value fits: conflicting values int and string (mismatched types int and string)`}},
		{"conflict of bounds", "a?: >5 & <3", []string{`1 p.a: no value fits: incompatible number bounds <3 and >5`}},
		{"conflict of an element", "a?: [int & string]", []string{
			`1 p.a[0]: no value fits: conflicting values int and string (mismatched types int and string)`}},
		{"expressly forbidden", "a?: {x?: _|_, y?: error(\"no\")}", nil},
		{"hidden name", "_links?: string", []string{`1 p._links: a name that begins with _ is hidden and can never be given: write it in quotes, "_links"`}},
		{"hidden name below", "a?: {_links!: string}", []string{`1 p.a._links: a name that begins with _ is hidden and can never be given: write it in quotes, "_links"`}},
		{"hidden field of one's own", "_x: string, a?: _x", nil},
		{"definition unified, not embedded", "a?: #Base & {d?: int}", []string{`1 p.a.d: not allowed by a definition that it is unified with: embed the definition instead, {#Definition, d: …}`}},
		{"bytes", "a?: bytes", []string{`1 p.a: no JSON value is bytes: write string`}},
		{"reference to what has no value", "a?: #Base.b", []string{`1 p.a: no value fits: it refers to b, which is optional or required and so has no value: give its type a definition of its own, and refer to that in both places`}},
		{"reference and bound", "a?: #Base.b & >0", []string{`1 p.a: no value fits: it refers to b, which is optional or required and so has no value: give its type a definition of its own, and refer to that in both places`}},
		{"reference in a bound", "a?: int & <#Base.b", []string{`1 p.a: no value fits: it refers to b, which is optional or required and so has no value: give its type a definition of its own, and refer to that in both places`}},
		{"member of what has no value", "a?: [...int & #Base.b.x]", []string{`1 p.a[]: no value fits: it refers to b, which is optional or required and so has no value: give its type a definition of its own, and refer to that in both places`}},
		{"type called", "a?: int(1, 50)", []string{`1 p.a: no value fits: int is a type and no function: bounds are written int & >=1 & <=50, and a text is read by strconv.Atoi(x)`}},
		{"type called, below", "a?: {x!: [...string(5)]}", []string{`1 p.a.x[]: no value fits: string is a type and no function: a text is made by "\(x)", and its length is bound by strings.MinRunes(1) & strings.MaxRunes(50)`}},
		{"expression at fault", `a?: "a" + 5`, []string{`1 p.a: no value fits: invalid operands "a" and 5 to '+' (type string and int); values are put into a text by "\(x)"`}},
		{"function at fault", "a?: len(5)", []string{`1 p.a: no value fits: cannot use 5 (type int) as (string|bytes|list|struct) in argument 1 to len`}},
		{"function not called", "a?: strings.MinRunes", []string{`1 p.a: no value fits: strings.MinRunes is a function: write strings.MinRunes(…)`}},
		{"validator misused", `a?: strings.MinRunes("a")`, []string{`1 p.a: no value fits: what strings.MinRunes is given must be int, and "a" is string`}},
		{"validator misused, below", `a?: {x?: [...int] & list.MaxItems(1.5)}`, []string{`1 p.a.x: no value fits: what list.MaxItems is given must be int, and 1.5 is float`}},
		{"look-up in vain", "a?: [1, 2][5]", []string{`1 p.a: no value fits: index out of range [5] with length 2`}},
		{"text among the arguments", `a?: "x", "y"`, []string{`1 p: "y" stands by itself among the arguments: alternatives are written A | "y"`}},
		{"texts in braces", `a?: {"x", "y"}`, []string{`1 p.a: no value fits: conflicting values "y" and "x"; alternatives are written A | B`}},
		{"type in braces", `a?: {int}, b?: {#Base, d?: int}`, nil},
		{"rule across arguments", "a?: int & >b\nb?: int", nil},
		{"list that lacks something", `a?: [...string] & list.Contains("x")`, nil},
		{"alternative", "a: int(1, 50) | *2", []string{`1 p.a: this alternative fits no value: int is a type and no function: bounds are written int & >=1 & <=50, and a text is read by strconv.Atoi(x)`}},
		{"alternative of bounds", `a: int & >=50 & <=1 | *2`, []string{`1 p.a: this alternative fits no value: incompatible integer bounds <=1 and >=50`}},
		{"alternative of types", `a: *2 | string & >=1 & <=50`, []string{`1 p.a: this alternative fits no value: conflicting values string and >=1 (mismatched types string and number)`}},
		{"alternatives, within &", `a?: (int | "x" & "y") & >5`, []string{`1 p.a: this alternative fits no value: conflicting values "y" and "x"`}},
		{"alternative of elements", `a?: [...("a" | (int & string))]`, []string{`1 p.a[]: this alternative fits no value: conflicting values int and string (mismatched types int and string)`}},
		{"alternative of a definition", "a?: #Either\n#Either: \"a\" | (int & string)", []string{`2 p.a: this alternative fits no value: conflicting values int and string (mismatched types int and string)`}},
		{"alternative that refers", "a?: null | #Base.b", []string{`1 p.a: this alternative fits no value: it refers to b, which is optional or required and so has no value: give its type a definition of its own, and refer to that in both places`}},
		{"alternative with a member at fault", `a?: null | {x!: int & string}`, []string{`1 p.a.x: no value fits: conflicting values int and string (mismatched types int and string)`}},
		{"alternatives of which & leaves one", `a?: (int | string) & (string | bool)`, nil},
		{"alternative forbidden", `a?: int | _|_, b?: string | error("no"), c?: (1 | 2 | 3) & >1`, nil},
		{"alternative to fall back from", `_t: {x: 1}, a?: _t.y | int, b: *[1, 2][5] | 3`, nil},
		{"several at once", "a: string\nb?: int & string\nc?: =~\"(\"", []string{
			`1 p.a: is neither required (a!), optional (a?), defaulted (… | *value) nor a constant`,
			`2 p.b: no value fits: conflicting values int and string (mismatched types int and string)`,
			"3 p.c: not a regular expression: missing closing ): `(`"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			offset := strings.Count(definitions, "\n") + 2
			_, findings := Compile(input(t, test.in), Options{Path: "p", Defaults: defaults})
			var got []string
			for _, f := range findings.Sorted() {
				got = append(got, fmt.Sprintf("%d %s: %s", f.Line-offset, f.Path, f.Message))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s\n got %s\nwant %s", test.in, strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
			}
		})
	}
}

// TestNotAStruct is about an input that is no struct.
func TestNotAStruct(t *testing.T) {
	for _, src := range []string{"string", "[...int]", "_", "null | string"} {
		v := cuecontext.New().CompileString("x: " + src).LookupPath(cue.ParsePath("x"))
		s, findings := Compile(v, Options{})
		if len(findings) != 1 || string(s.JSON) != `{"type":"object","properties":{}}` {
			t.Errorf("%s: got %s %v", src, s.JSON, findings)
		}
	}
}

// TestPositions is about the functions that the caller gives.
func TestPositions(t *testing.T) {
	_, findings := Compile(input(t, "a: string"), Options{
		Path: "domains.d.tools.t.input",
		Pos:  func(p token.Pos) (string, int, int) { return "cue/x.cue", p.Line() + 1000, 7 },
	})
	line := strings.Count(definitions, "\n") + 3 + 1000
	want := diag.List{{File: "cue/x.cue", Line: line, Column: 7, Path: "domains.d.tools.t.input.a",
		Message: "is neither required (a!), optional (a?), defaulted (… | *value) nor a constant"}}
	if !reflect.DeepEqual(findings, want) {
		t.Errorf("got %v", findings)
	}
	s, _ := Compile(input(t, "// own\na?: string"), Options{Doc: func(v cue.Value) string {
		f, _ := v.Source().(*ast.Field)
		return "given for " + fmt.Sprint(f.Label)
	}})
	if want := `"description":"given for a"`; !strings.Contains(string(s.JSON), want) {
		t.Errorf("got %s", s.JSON)
	}
}

// TestUnified is about inputs that were unified with a definition of the
// language, or declared in several places.
func TestUnified(t *testing.T) {
	const want = `{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"string"},"top":{"type":"integer","description":"How many.","maximum":9,"default":5},"x":{"type":"string","description":"First.\n\nSecond."},"more":{"type":"string"}},"required":["b"],"additionalProperties":false}`
	v := cuecontext.New().CompileString(definitions + `
		one: #Tool & {input: {
			b!: int
			c?: string
			// How many.
			top: int & <10 | *5
			// First.
			x?: string
		}}
		one: input: {
			// Second.
			x?: string
			more?: string
		}
		two: #Tool & {input: {
			#Base
			// How many.
			top: int & <10 | *5
			// First.
			//
			// Second.
			x?: string
			more?: string
		}}
		#Tool: {input?: _, ...}
	`)
	for _, name := range []string{"one", "two"} {
		s, findings := Compile(v.LookupPath(cue.ParsePath(name+".input")), Options{})
		if string(s.JSON) != want || len(findings) > 0 || !s.Exact {
			t.Errorf("%s: got %s %v", name, s.JSON, findings)
		}
	}
}

// TestReferenceFromOutside is about constraints that reach the arguments by way
// of something outside.
func TestReferenceFromOutside(t *testing.T) {
	for name, src := range map[string]string{
		"field":      `limit: >tool.input.lo, tool: input: {lo: int | *5, hi?: limit}`,
		"definition": `#Limit: >tool.input.lo, tool: input: {lo: int | *5, hi?: #Limit}`,
		"let":        "let L = >tool.input.lo\ntool: input: {lo: int | *5, hi?: L}",
		"sibling":    `tool: {input: {lo: int | *5, hi?: >low}, low: input.lo}`,
		"deep":       `tool: {input: {lo: int | *5, hi?: {x?: [...low]}}, low: >input.lo}`,
		"own let":    `tool: input: {let L = lo, lo: int | *5, hi?: >L}`,
		"own hidden": `tool: input: {_l: lo + 1, lo: int | *5, hi?: >_l}`,
		"named":      `tool: input: {X=lo: int | *5, hi?: >X}`,
	} {
		v := cuecontext.New().CompileString(src)
		if v.Err() != nil {
			t.Fatal(name, v.Err())
		}
		s, _ := Compile(v.LookupPath(cue.ParsePath("tool.input")), Options{})
		if s.Exact || strings.Contains(string(s.JSON), "inimum") {
			t.Errorf("%s: got %s, exact: %v", name, s.JSON, s.Exact)
		}
	}
}

// TestResourceBomb is about definitions that unfold without end: the schema
// stays of a bearable size, and says that it does not state all.
func TestResourceBomb(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "#D%d: {x?: #D%d, y?: #D%d}\n", i, i+1, i+1)
	}
	b.WriteString("#D20: int\ninput: a?: #D0\n")
	nested := strings.Repeat("[...", 100) + "int" + strings.Repeat("]", 100)
	for _, src := range []string{b.String(), "input: a?: " + nested} {
		v := cuecontext.New().CompileString(src)
		s, _ := Compile(v.LookupPath(cue.ParsePath("input")), Options{})
		if s.Exact || !strings.Contains(gaps(s), "too deep or too large") || len(s.JSON) > 1<<20 {
			t.Errorf("exact: %v, %d bytes", s.Exact, len(s.JSON))
		}
		if v, err := NewValidator(s.JSON); err != nil || len(v.Validate([]byte(`{}`))) > 0 {
			t.Errorf("the schema cannot be used: %v", err)
		}
	}
}

// TestSameBytes is about schemas being the same from start to start.
func TestSameBytes(t *testing.T) {
	first, _ := Compile(inputs(t, 1)[0], Options{})
	for range 5 {
		if again, _ := Compile(inputs(t, 1)[0], Options{}); string(again.JSON) != string(first.JSON) {
			t.Fatalf("got %s, then %s", first.JSON, again.JSON)
		}
	}
}

// TestDefinitionsOfPackages is about recursive definitions that share a name.
func TestDefinitionsOfPackages(t *testing.T) {
	v := cuecontext.New().CompileString(`
		a: #N: {x?: int, n?: #N}
		b: #N: {y?: int, n?: #N}
		c: "x/y~z": {n?: c."x/y~z"}
		input: {p?: a.#N, q?: b.#N, r?: c."x/y~z"}
	`)
	s, findings := Compile(v.LookupPath(cue.ParsePath("input")), Options{})
	const want = `{"type":"object","properties":{"p":{"$ref":"#/$defs/N"},"q":{"$ref":"#/$defs/N2"},"r":{"$ref":"#/$defs/x_y_z"}},"additionalProperties":false,"$defs":{"N":{"type":"object","properties":{"x":{"type":"integer"},"n":{"$ref":"#/$defs/N"}},"additionalProperties":false},"N2":{"type":"object","properties":{"y":{"type":"integer"},"n":{"$ref":"#/$defs/N2"}},"additionalProperties":false},"x_y_z":{"type":"object","properties":{"n":{"$ref":"#/$defs/x_y_z"}},"additionalProperties":false}}}`
	if string(s.JSON) != want || len(findings) > 0 || !s.Exact {
		t.Errorf("got %s %v", s.JSON, findings)
	}
}

// TestSeveralFiles is about definitions that stand in another file of the
// package, where the parser cannot find them.
func TestSeveralFiles(t *testing.T) {
	in := build.NewContext().NewInstance("", nil)
	for name, src := range map[string]string{
		"a.cue": "package p\ninput: {\n#Base\ntop?: #Limit\ntree?: #Tree | null\nlevel: #Level | *\"low\"\n}\n",
		"b.cue": "package p\nimport \"strings\"\n#Base: {\n// Of the other file.\nid!: strings.MinRunes(1)\n}\n#Limit: int & >0\n#Level: \"low\" | \"high\"\n#Tree: {v!: int, kids?: [...#Tree]}\n",
	} {
		f, err := parser.ParseFile(name, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.AddSyntax(f); err != nil {
			t.Fatal(err)
		}
	}
	v := cuecontext.New().BuildInstance(in)
	s, findings := Compile(v.LookupPath(cue.ParsePath("input")), Options{})
	const want = `{"type":"object","properties":{"id":{"type":"string","description":"Of the other file.","minLength":1},"top":{"type":"integer","minimum":1},"tree":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]},"level":{"type":"string","enum":["low","high"],"default":"low"}},"required":["id"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["v"],"additionalProperties":false}}}`
	if string(s.JSON) != want || len(findings) > 0 || !s.Exact {
		t.Errorf("got %s %v %v", s.JSON, findings, v.Err())
	}
}
