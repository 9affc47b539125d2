package jsonschema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"cuelang.org/go/cue/cuecontext"
)

func validator(t testing.TB, schema string) *Validator {
	t.Helper()
	v, err := NewValidator(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// written is a fault in one line: place, keyword, name, wanted types, message.
func written(f Fault) string {
	s := strings.Join(f.Path, "/") + " " + f.Keyword
	if f.Name != "" {
		s += " " + f.Name
	}
	if f.Want != nil {
		s += " " + strings.Join(f.Want, "|")
	}
	return s + ": " + f.Message
}

// TestValidate has a case for each keyword and each way to tell of
// alternatives.
func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name, in, instance string // in is CUE, for the members of an input
		want               []string
	}{
		{"fits", `a!: string`, `{"a":"x"}`, nil},
		{"missing", `sourceRefName!: string, b!: int`, `{}`, []string{
			" required sourceRefName: missing required argument: sourceRefName",
			" required b: missing required argument: b"}},
		{"missing below", `a?: [...{x!: int}]`, `{"a":[{"x":1},{}]}`, []string{"a/1 required x: missing required argument: a[1].x"}},
		{"unknown", `a?: int`, `{"foo":1,"bar":2}`, []string{
			" additionalProperties bar: unknown argument: bar",
			" additionalProperties foo: unknown argument: foo"}},
		{"unknown below", `a?: {x?: {y?: int}}`, `{"a":{"x":{"z z":1}}}`, []string{`a/x additionalProperties z z: unknown argument: a.x["z z"]`}},
		{"type", `top?: int`, `{"top":"5"}`, []string{"top type integer: top: must be an integer, not a string"}},
		{"fraction", `top?: int`, `{"top":5.5}`, []string{"top type integer: top: must be an integer, not a fraction"}},
		{"types", `a?: string | null`, `{"a":5}`, []string{"a type string|null: a: must be a string or null, not a number"}},
		{"three types", `a?: string | int | bool`, `{"a":[]}`, []string{"a type string|integer|boolean: a: must be a string, an integer or true or false, not an array"}},
		{"not a boolean", `a?: string`, `{"a":true}`, []string{"a type string: a: must be a string, not a boolean"}},
		{"not an object", ``, `[1]`, []string{" type object: arguments: must be an object, not an array"}},
		{"null", ``, `null`, []string{" type object: arguments: must be an object, not null"}},
		{"enum", `a?: "add" | "remove it" | "", b?: 1 | 2`, `{"a":"x","b":3}`, []string{
			`a enum: a: must be one of add, "remove it", ""`,
			"b enum: b: must be one of 1, 2"}},
		{"enum in a list", `updates?: [...{op!: "add" | "replace"}]`, `{"updates":[{"op":"x"}]}`, []string{"updates/0/op enum: updates[0].op: must be one of add, replace"}},
		{"const", `a?: {k: "x"}`, `{"a":{"k":"y"}}`, []string{"a/k enum: a.k: must be x"}},
		{"const that is no text", `a?: {k: null, n: 1.10}`, `{"a":{"k":1,"n":1.2}}`, []string{
			"a/k type null: a.k: must be null, not a number",
			"a/n const: a.n: must be 1.10"}},
		{"bounds", `a?: int & >=1 & <=10, b?: >0 & <1.5`, `{"a":0,"b":1.50}`, []string{
			"a minimum: a: must be at least 1",
			"b exclusiveMaximum: b: must be less than 1.5"}},
		{"other bounds", `a?: int & >=1 & <=9007199254740993, b?: >0 & <1.5`, `{"a":9007199254740994,"b":0}`, []string{
			"a maximum: a: must be at most 9007199254740993",
			"b exclusiveMinimum: b: must be greater than 0"}},
		{"digits", `a?: int & <=9007199254740992`, `{"a":9007199254740993}`, []string{"a maximum: a: must be at most 9007199254740992"}},
		{"multiple", `a?: math.MultipleOf(0.25)`, `{"a":0.3}`, []string{"a multipleOf: a: must be a multiple of 0.25"}},
		{"multiple, to CUE's precision", `a?: int & math.MultipleOf(3)`, `{"a":100000000000000000000000000000000000000}`, nil},
		{"length", `a?: strings.MinRunes(2), b?: strings.MaxRunes(1)`, `{"a":"é","b":"ab"}`, []string{
			"a minLength: a: must have at least 2 characters",
			"b maxLength: b: must have at most 1 character"}},
		{"pattern", `a?: =~"^refs/heads/"`, `{"a":"main"}`, []string{"a pattern: a: must match the pattern ^refs/heads/"}},
		{"format", `a?: time.Time, b?: time.Format("2006-01-02"), c?: string & net.IPv4, d?: net.AbsURL`, `{"a":"x","b":"x","c":"x","d":"x"}`, []string{
			"a format: a: must be a date and time such as 2024-05-17T09:30:00Z",
			"b format: b: must be a date such as 2024-05-17",
			"c format: c: must be an IPv4 address",
			"d format: d: must be an absolute URL"}},
		{"items", `a?: [...int] & list.MinItems(2), b?: [...int] & list.MaxItems(1), c?: list.UniqueItems & [...]`, `{"a":[1],"b":[1,"x"],"c":[1,2,1]}`, []string{
			"a minItems: a: must have at least 2 elements",
			"b maxItems: b: must have at most 1 element",
			"b/1 type integer: b[1]: must be an integer, not a string",
			"c uniqueItems: c: must not repeat an element: 0 and 2 are the same"}},
		{"many items", `a?: [...int]`, `{"a":[0,1,2,3,4,5,6,7,8,9,"x",11,"y"]}`, []string{
			"a/10 type integer: a[10]: must be an integer, not a string",
			"a/12 type integer: a[12]: must be an integer, not a string"}},
		{"contains", `a?: [...] & list.MatchN(>=1, "x"), b?: [...] & list.MatchN(<=1, int), c?: [...] & list.MatchN(>=2, int)`, `{"a":[],"b":[1,2],"c":[1]}`, []string{
			`a contains: a: must have an element that fits {"enum":["x"],"type":"string"}`,
			`b maxContains: b: must have at most 1 element that fit {"type":"integer"}`,
			`c minContains: c: must have at least 2 elements that fit {"type":"integer"}`}},
		{"sizes of objects", `a?: {[string]: int} & struct.MinFields(2), b?: {[string]: int} & struct.MaxFields(1)`, `{"a":{},"b":{"x":1,"y":2}}`, []string{
			"a minProperties: a: must have at least 2 members",
			"b maxProperties: b: must have at most 1 member"}},
		{"not", `a?: int & !=5, b?: !~"^x", c?: int & !=1 & !=2, d?: matchN(0, [{x!: int}])`, `{"a":5,"b":"xy","c":2,"d":{"x":1}}`, []string{
			"a not: a: must not be 5",
			"b not: b: must not match the pattern ^x",
			"c not: c: must not be 1, and must not be 2",
			"d not: d: is not allowed"}},
		{"not of an enumeration", `a?: string & matchN(0, ["x" | "y"])`, `{"a":"x"}`, []string{"a not: a: must be none of x, y"}},
		{"never", `a!: {x?: _|_, ...}`, `{"a":{"x":1}}`, []string{"a/x not: a.x: is not allowed"}},
		{"one of", `a?: matchN(1, [int, >5])`, `{"a":7}`, []string{"a oneOf: a: fits more than one of the alternatives"}},
		{"none of one of", `a?: matchN(1, [int & <3, string & =~"^x"])`, `{"a":"y"}`, []string{`a oneOf integer: a: must be an integer, or match the pattern ^x`}},
		{"if", `a?: matchIf(string, =~"^x", int)`, `{"a":"y"}`, []string{"a pattern: a: must match the pattern ^x"}},
		{"when given", `a?: {x?: int, if x != _|_ {y!: int}, y?: int, ...}`, `{"a":{"x":1}}`, []string{"a required y: missing required argument: a.y"}},
		{"all of", `a?: =~"^a" & =~"b$"`, `{"a":"x"}`, []string{
			"a pattern: a: must match the pattern ^a",
			"a pattern: a: must match the pattern b$"}},
		{"recursion", `a?: #Tree`, `{"a":{"v":1,"kids":[{"v":"x"}]}}`, []string{"a/kids/0/v type integer: a.kids[0].v: must be an integer, not a string"}},
		{"names", `a?: {[=~"^x-"]: int}`, `{"a":{"x-1":"y","y":1}}`, []string{
			"a additionalProperties y: unknown argument: a.y",
			"a/x-1 type integer: a.x-1: must be an integer, not a string"}},
		{"map of odd names", `fields?: [string]: int`, `{"fields":{"System.Title":"x","7":"y"}}`, []string{
			`fields/7 type integer: fields["7"]: must be an integer, not a string`,
			`fields/System.Title type integer: fields["System.Title"]: must be an integer, not a string`}},

		{"no alternative by type", `a?: {x!: int} | {y!: int} | null`, `{"a":"x"}`, []string{"a type object|null: a: must be an object or null, not a string"}},
		{"no literal, no type", `a?: "x" | "y" | int`, `{"a":"z"}`, []string{"a anyOf integer: a: must be one of x, y, or an integer"}},
		{"no literal, no type, another type", `a?: "x" | "y" | int`, `{"a":true}`, []string{"a type string|integer: a: must be a string or an integer, not a boolean"}},
		{"closest by its members", `a?: {x!: int, y!: int} | {p!: int, q!: string}`, `{"a":{"p":1,"q":2}}`, []string{"a/q type string: a.q: must be a string, not a number"}},
		{"closest by its literal", `a?: {kind!: "one", x!: int} | {kind!: "two", y!: int, z!: int}`, `{"a":{"kind":"two","x":1}}`, []string{
			"a required y: missing required argument: a.y",
			"a required z: missing required argument: a.z",
			"a additionalProperties x: unknown argument: a.x"}},
		{"closest below", `a?: [...({x!: int} | {y!: int})]`, `{"a":[{"x":1},{"y":"z"}]}`, []string{"a/1/y type integer: a[1].y: must be an integer, not a string"}},
		{"the one of the type", `a?: {x!: int} | {y!: int} | [...int]`, `{"a":["x"]}`, []string{"a/0 type integer: a[0]: must be an integer, not a string"}},
		{"ranges", `a?: int & (<0 | >10)`, `{"a":5}`, []string{"a anyOf: a: must be at most -1, or at least 11"}},
		{"multiple of big numbers among alternatives", `a?: string | math.MultipleOf(3)`, `{"a":100000000000000000000000000000000000000}`, nil},

		{"outer before inner", `a?: {x?: int}, b!: int`, `{"a":{"x":"y","z":1},"c":1}`, []string{
			" required b: missing required argument: b",
			" additionalProperties c: unknown argument: c",
			"a additionalProperties z: unknown argument: a.z",
			"a/x type integer: a.x: must be an integer, not a string"}},
		{"no JSON", ``, `{"a":`, []string{" : arguments are no JSON: unexpected EOF"}},
		{"more than JSON", ``, `{} {}`, []string{" : arguments are no JSON: something follows the value"}},
		{"integers with a fraction of nothing", `a?: int`, `{"a":5.0}`, nil},
		{"integers with an exponent", `a?: int & <=1000`, `{"a":1e3}`, nil},
		{"number out of all proportion", `a?: number & >0`, `{"a":[{"b":1e1000000}]}`, []string{"a/0/b type: a[0].b: must be a number with a smaller exponent (from -999 to 999)"}},
		{"the largest and the smallest float64", `a?: [...(number & >=-1e308)]`, `{"a":[1.7976931348623157e308,5e-324,18446744073709551616,-1e+0308,1e999,1E-999]}`, nil},
		{"numbers out of all proportion", `a?: [...(1 | 2)], b?: number`, `{"b":1e-1000,"a":[1,1e99999999999999999999,1e-1001]}`, []string{
			"a/1 type: a[1]: must be a number with a smaller exponent (from -999 to 999)",
			"a/2 type: a[2]: must be a number with a smaller exponent (from -999 to 999)",
			"b type: b: must be a number with a smaller exponent (from -999 to 999)"}},
		{"1000 digits", `a?: int & >0`, `{"a":1` + strings.Repeat("0", 999) + `}`, nil},
		{"a fraction of 1000 digits", `a?: number & <0`, `{"a":-0.` + strings.Repeat("1", 999) + `}`, nil},
		{"too many digits", `a?: int & >0`, `{"a":` + strings.Repeat("9", 1001) + `}`, []string{"a type: a: must be a number with at most 1000 digits"}},
		{"number beyond floats", `a?: number & >0`, `{"a":1e400}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, findings := Compile(input(t, test.in), Options{})
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			var got []string
			for _, f := range validator(t, string(s.JSON)).Validate([]byte(test.instance)) {
				got = append(got, written(f))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s against %s\n got %s\nwant %s", test.instance, s.JSON, strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
			}
		})
	}
}

// TestForeignSchemas is about keywords that Compile does not write.
func TestForeignSchemas(t *testing.T) {
	for _, test := range []struct{ schema, instance, want string }{
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, ` propertyNames: arguments: the name "ab" is not allowed`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `a not: a: is not allowed`},
		{`{"properties":{"a":{"not":{"anyOf":[{"const":1},{"type":"string"}]}}}}`, `{"a":1}`, `a not: a: is not allowed`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, ` dependentRequired/a: arguments: properties 'b' required, if 'a' exists`},
		{`{"properties":{"a":{"format":"uuid"}}}`, `{"a":"x"}`, ``},
		{`{"properties":{"a/b":{"properties":{"c~d":{"not":{"const":1}}}}}}`, `{"a/b":{"c~d":1}}`, `a/b/c~d not: ["a/b"]["c~d"]: must not be 1`},
		{`{"prefixItems":[{"anyOf":[{"not":{"enum":[1]}},{"type":"string"}]}]}`, `[1]`, `0 anyOf string: [0]: must be none of 1, or a string`},
	} {
		var got []string
		for _, f := range validator(t, test.schema).Validate([]byte(test.instance)) {
			got = append(got, written(f))
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s: got %s, want %s", test.schema, got, test.want)
		}
	}
}

// TestBadSchemas is about schemas that cannot be used: nothing fits them.
func TestBadSchemas(t *testing.T) {
	if _, err := NewValidator(json.RawMessage(`{"type":`)); err == nil {
		t.Error("what is no JSON was taken")
	}
	for schema, want := range map[string]string{
		`{"type":"text"}`:                                `the schema is at fault: "memory:///schema#" is not valid against metaschema`,
		`{"$ref":"https://example.com/x"}`:               `https://example.com/x is another document`,
		`{"properties":{"a":{"$ref":"#/$defs/none"}}}`:   `none`,
		`{"properties":{"a":{"pattern":"("}}}`:           `the schema is at fault`,
		`{"properties":{"a":{"$ref":"file:///x.json"}}}`: `file:///x.json is another document`,
	} {
		faults := validator(t, schema).Validate([]byte(`{"a":1}`))
		if len(faults) != 1 || !strings.Contains(faults[0].Message, want) {
			t.Errorf("%s: got %v, want %s", schema, faults, want)
		}
	}
}

// TestFormats is about formats refusing just what CUE refuses.
func TestFormats(t *testing.T) {
	in := input(t, `a?: time.Time, b?: time.Format("2006-01-02"), c?: string & net.IPv4, d?: string & net.IPv6, e?: net.AbsURL, f?: net.URL`)
	s, _ := Compile(in, Options{})
	v := validator(t, string(s.JSON))
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		for _, text := range []string{
			"2024-05-17T09:30:00Z", "2024-05-17T9:30:00Z", "2024-05-17T09:30:00,5Z", "2024-05-17t09:30:00z", "2024-05-17T23:59:60Z", "2024-05-17 09:30:00Z", "2024-05-17T09:30:00+02:00",
			"2024-05-17", "2024-5-17", "2023-02-29", "1.2.3.4", "1.2.3", "01.2.3.4", "::1", "::ffff:1.2.3.4", "fe80::1%eth0", "1::2::3",
			"http://a/b", "http://a b/", "mailto:x", "/a/b", "%zz", "", "ä", "http://ä/",
		} {
			instance := fmt.Sprintf("{%q:%q}", name, text)
			accepts := in.Unify(cuecontext.New().CompileString(instance)).Validate() == nil
			if faults := v.Validate([]byte(instance)); (len(faults) == 0) != accepts {
				t.Errorf("%s: CUE accepts: %v, faults %v", instance, accepts, faults)
			}
		}
	}
}

// TestPrecision is about multiples that CUE finds by rounding.
func TestPrecision(t *testing.T) {
	in := input(t, `a?: math.MultipleOf(3), b?: math.MultipleOf(0.7)`)
	s, _ := Compile(in, Options{})
	v := validator(t, string(s.JSON))
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		digits := make([]byte, 1+r.IntN(45))
		for i := range digits {
			digits[i] = byte('0' + r.IntN(10))
		}
		digits[0] = byte('1' + r.IntN(9))
		number := string(digits)
		if n := r.IntN(len(digits)); n > 0 && r.IntN(2) == 0 {
			number = number[:n] + "." + number[n:]
		}
		instance := fmt.Sprintf(`{%q:%s}`, []string{"a", "b"}[r.IntN(2)], number)
		accepts := in.Unify(cuecontext.New().CompileString(instance)).Validate() == nil
		if faults := v.Validate([]byte(instance)); accepts != (len(faults) == 0) {
			t.Fatalf("%s: CUE accepts: %v, faults %v", instance, accepts, faults)
		}
	}
}

// TestConcurrent checks with one Validator in many goroutines, its first use
// among them.
func TestConcurrent(t *testing.T) {
	s, _ := Compile(input(t, `a!: [...#Tree], b?: {x!: int} | {y!: int}`), Options{})
	v := validator(t, string(s.JSON))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if f := v.Validate([]byte(`{"a":[{"v":1}],"b":{"x":1}}`)); len(f) > 0 {
					t.Error(f)
				}
				if f := v.Validate([]byte(`{"a":[{"v":"x"}],"b":{"y":null}}`)); len(f) != 2 {
					t.Error(f)
				}
			}
		})
	}
	wg.Wait()
}

// TestStableOrder is about the faults of an instance being in the same order
// each time.
func TestStableOrder(t *testing.T) {
	s, _ := Compile(input(t, `a!: int, b!: int, m?: [string]: int, p?: {[=~"x"]: int, [=~"y"]: string}, u?: {x!: int} | {y!: int}`), Options{})
	instance := []byte(`{"z":1,"y":2,"x":3,"m":{"q":"","p":"","o":""},"p":{"xy":null,"yx":null},"u":{"z":1}}`)
	first := fmt.Sprint(validator(t, string(s.JSON)).Validate(instance))
	for range 20 {
		if again := fmt.Sprint(validator(t, string(s.JSON)).Validate(instance)); again != first {
			t.Fatalf("got\n%s, then\n%s", first, again)
		}
	}
}

// FuzzValidate looks for instances that break the check, or whose faults do not
// name a place.
func FuzzValidate(f *testing.F) {
	s, _ := Compile(input(f, `a!: [...#Tree], b?: {x!: int} | {y!: int} | null, c?: "x" | "y" | int, m?: [string]: int & >0, n?: number & !=5`), Options{})
	v := validator(f, string(s.JSON))
	for _, seed := range []string{
		`{}`, `{"a":[]}`, `{"a":[{"v":1,"kids":[{"v":"x"}]}],"b":{"z":1}}`, `{"c":"z","m":{"":0,"a b":-1}}`, `null`, `[[[]]]`, `{"a":1e400,"n":5.0}`, `{"n":1e999999999}`, `{"a":"` + "\xff" + `"}`, `{"a":[],"a":[1]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, instance []byte) {
		faults := v.Validate(instance)
		if fmt.Sprint(v.Validate(instance)) != fmt.Sprint(faults) {
			t.Error("the faults differ from time to time")
		}
		for _, f := range faults {
			if f.Message == "" || f.Keyword == "" && len(faults) > 1 {
				t.Errorf("%+v", f)
			}
		}
	})
}
