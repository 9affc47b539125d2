package bind_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/bind"
)

func TestParseArgs(t *testing.T) {
	for data, want := range map[string]map[string]string{
		`{}`:                      {},
		" \t\r\n{ \n} ":           {},
		`{"a":1}`:                 {"a": "1"},
		`{"a": 1, "b" :[ 2 , 3]}`: {"a": "1", "b": "[2,3]"},
		`{"z":{ "y" : { } , "x":[ ]},"a":[[],{},[[]]]}`:               {"z": `{"y":{},"x":[]}`, "a": "[[],{},[[]]]"},
		`{"t":true,"f":false,"n":null}`:                               {"t": "true", "f": "false", "n": "null"},
		`{"s":" a b\u00e9\n\"\\\/ "}`:                                 {"s": `" a b\u00e9\n\"\\\/ "`},
		`{"\u0061\"":"\ud83d\ude00","":0}`:                            {`a"`: `"\ud83d\ude00"`, "": "0"},
		`{"é":"日本😀` + "\u2028\x7f" + `"}`:                             {"é": `"日本😀` + "\u2028\x7f" + `"`},
		`{"n":[0,-0,1.0,1.50,-1e3,1E+3,2e-7,9007199254740993,1e400]}`: {"n": "[0,-0,1.0,1.50,-1e3,1E+3,2e-7,9007199254740993,1e400]"},
		`{"o":{"a":1,"b":{"a":2}},"a":{"a":3}}`:                       {"o": `{"a":1,"b":{"a":2}}`, "a": `{"a":3}`},
		`{"x":[{"a":1},{"a":1}]}`:                                     {"x": `[{"a":1},{"a":1}]`},
	} {
		got, err := bind.ParseArgs([]byte(data), bind.Bounds{})
		if err != nil {
			t.Errorf("%s: %v", data, err)
			continue
		}
		texts := map[string]string{}
		for name, v := range got {
			texts[name] = string(v)
		}
		if !maps.Equal(texts, want) {
			t.Errorf("%s: got %v", data, texts)
		}
	}
}

func TestParseArgsRefuses(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return b.String()
	}
	for _, c := range []struct{ data, argument, reason string }{
		{``, "", "must be one JSON object"},
		{`null`, "", "must be one JSON object"},
		{`[]`, "", "must be one JSON object"},
		{`"{}"`, "", "must be one JSON object"},
		{"\ufeff{}", "", "must be one JSON object"},
		{`{`, "", "end where the name"},
		{`{"`, "", "end inside a string"},
		{`{"a`, "", "end inside a string"},
		{`{"a"`, "", "end where a colon"},
		{`{"a":`, "a", "end where a value"},
		{`{"a":1`, "", "end after a value"},
		{`{"a":1,`, "", "end where the name"},
		{`{"a":1,}`, "", `'}' stands where the name`},
		{`{,}`, "", `',' stands where the name`},
		{`{"a":[1,]}`, "a", `']' stands where a value`},
		{`{"a":[,1]}`, "a", `',' stands where a value`},
		{`{"a":[1}`, "a", `'}' stands after a value`},
		{`{"a":{"b":1]}`, "a", `']' stands after a value`},
		{`{"a":1 2}`, "", `'2' stands after a value (byte 7)`},
		{`{"a" 1}`, "", `'1' stands where a colon`},
		{`{a:1}`, "", `'a' stands where the name`},
		{`{"a":'x'}`, "a", `'\'' stands where a value`},
		{`{"a":é}`, "a", `'é' stands where a value`},
		{`{}{}`, "", `'{' stands after the end`},
		{`{} x`, "", `'x' stands after the end`},
		{`{"a":tru}`, "a", "where a value"},
		{`{"a":nul`, "a", "where a value"},
		{`{"a":falsy}`, "a", "where a value"},
		{`{"a":01}`, "", "after a value"},
		{`{"a":+1}`, "a", "where a value"},
		{`{"a":.5}`, "a", "where a value"},
		{`{"a":-}`, "a", "where a value"},
		{`{"a":1.}`, "a", "in a number"},
		{`{"a":1.e5}`, "a", "in a number"},
		{`{"a":1e}`, "a", "in a number"},
		{`{"a":1e+}`, "a", "in a number"},
		{`{"a":NaN}`, "a", "where a value"},
		{`{"a":"` + "\n" + `"}`, "a", "control character"},
		{`{"a":"` + "\x00" + `"}`, "a", "control character"},
		{`{"a":"\x"}`, "a", "an escape that JSON does not know"},
		{`{"a":"\`, "a", "an escape that JSON does not know"},
		{`{"a":"\u12"}`, "a", "an escape that JSON does not know"},
		{`{"a":"\u12g4"}`, "a", "an escape that JSON does not know"},
		{`{"a":"\ud800"}`, "a", "half of a surrogate pair"},
		{`{"a":"\udc00\ud800"}`, "a", "half of a surrogate pair"},
		{`{"a":"\ud800\u0041"}`, "a", "half of a surrogate pair"},
		{`{"\ud800":1}`, "", "half of a surrogate pair"},
		{"{\"a\":\"\xff\"}", "a", "not valid UTF-8"},
		{"{\"a\":\"\xed\xa0\x80\"}", "a", "not valid UTF-8"},
		{"{\"a\":\"\xc0\xae\"}", "a", "not valid UTF-8"},
		{`{"a":1,"a":2}`, "", `"a" is given twice`},
		{`{"a":1,"\u0061":2}`, "", `"a" is given twice`},
		{`{"o":{"a":{"b":1,"c":2,"b":3}}}`, "o", `"b" is given twice`},
		{`{"o":[{"a":1},{"a":1,"a":1}]}`, "o", `"a" is given twice`},
		{`{` + many(100) + `"k99":0}`, "", `"k99" is given twice`},
		{`{` + many(16) + `"k0":0}`, "", `"k0" is given twice`},
		{`{` + many(17) + `"k0":0}`, "", `"k0" is given twice`},
	} {
		args, err := bind.ParseArgs([]byte(c.data), bind.Bounds{})
		var faults bind.Errors
		if !errors.As(err, &faults) || args != nil {
			t.Errorf("%s: not refused: %v %v", c.data, args, err)
			continue
		}
		if f := faults[0]; f.Argument != c.argument || !strings.Contains(f.Reason, c.reason) {
			t.Errorf("%s: refused for %q: %s", c.data, f.Argument, f.Reason)
		}
	}
	// A large object without repeats is fine.
	if _, err := bind.ParseArgs([]byte(`{"o":{`+many(100)+`"x":0},`+many(100)+`"x":0}`), bind.Bounds{}); err != nil {
		t.Error(err)
	}
}

func TestParseArgsBounds(t *testing.T) {
	nested := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	for _, c := range []struct {
		data   string
		bounds bind.Bounds
		reason string // "" for none
	}{
		{`{"a":1}`, bind.Bounds{MaxBytes: 7}, ""},
		{`{"a":1}`, bind.Bounds{MaxBytes: 6}, "larger than 6 bytes"},
		{`{"a":[1,{"b":2}]}`, bind.Bounds{MaxElements: 4}, ""},
		{`{"a":[1,{"b":2}]}`, bind.Bounds{MaxElements: 3}, "more than 3 members and elements"},
		{`{"a":[[],[]]}`, bind.Bounds{MaxElements: 2}, "more than 2 members and elements"},
		{nested(3), bind.Bounds{MaxDepth: 4}, ""},
		{nested(4), bind.Bounds{MaxDepth: 4}, "deeper than 4 levels"},
		{`{"a":{"b":{}}}`, bind.Bounds{MaxDepth: 3}, ""},
		{`{"a":{"b":{}}}`, bind.Bounds{MaxDepth: 2}, "deeper than 2 levels"},
		{nested(32), bind.DefaultBounds, "deeper than 32 levels"},
		{nested(1_000_000), bind.Bounds{}, ""}, // no recursion
	} {
		_, err := bind.ParseArgs([]byte(c.data), c.bounds)
		if c.reason == "" && err != nil || c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)) {
			t.Errorf("%.40s within %+v: %v", c.data, c.bounds, err)
		}
	}
}

// The arguments do not change when the caller uses its buffer again, nor when
// one of them is appended to.
func TestArgsAreCopies(t *testing.T) {
	data := []byte(`{"a":"x","b":"y"}`)
	args, err := bind.ParseArgs(data, bind.DefaultBounds)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	_ = append(args["a"], "zzzzzzzz"...)
	if string(args["a"]) != `"x"` || string(args["b"]) != `"y"` {
		t.Errorf("%s", args)
	}
}

func FuzzParseArgs(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1,"b":[true,null,{"c":"d"}]}`, `{"a":"\ud83d\ude00\u0000"}`, `{"a":1,"a":2}`, `{"a":-0.0e+10}`,
		" { \"a\" : [ ] , \"b\" : { } } ", `{"a":"\ud800"}`, `{"a":[[[[[[]]]]]]}`, `{"":{"":""}}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		args, err := bind.ParseArgs(data, bind.DefaultBounds)
		if err != nil {
			return // that what encoding/json takes is refused for good reason is tested above
		}
		// It is what encoding/json sees, and compact.
		var want map[string]json.RawMessage
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q: accepted, but %v", data, err)
		}
		if names := slices.Sorted(maps.Keys(args)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%q: the names are %q", data, names)
		}
		for name, v := range want {
			var compact bytes.Buffer
			if err := json.Compact(&compact, v); err != nil {
				t.Fatal(err)
			}
			if got := args[name]; string(got) != compact.String() {
				t.Fatalf("%q: %q is %s instead of %s", data, name, got, &compact)
			}
		}
		// And the other way round: what is written anew is accepted.
		again, _ := json.Marshal(args)
		if _, err := bind.ParseArgs(again, bind.Bounds{}); err != nil {
			t.Fatalf("%q: %s is refused: %v", data, again, err)
		}
	})
}
