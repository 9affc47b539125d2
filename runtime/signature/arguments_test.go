package signature

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestArguments(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"z":{"type":"string","description":"The last","examples":["a",1]},
		"a":{"enum":["x","y"],"default":"x"},
		"n":{"$ref":"#/$defs/N"},
		"any":true
	},"required":["n"],"$defs":{"N":{"type":"object","properties":{"op":{"type":"integer"},"next":{"$ref":"#/$defs/N"}},"required":["op"],"additionalProperties":false}}}`
	want := []string{
		`z string false "" The last ["a" 1]`,
		`a x|y false "\"x\""  []`,
		`n {op: int, next?: N} true ""  []`,
		`any any false ""  []`,
	}
	for i, a := range Arguments(json.RawMessage(schema)) {
		if got := fmt.Sprintf("%s %s %v %q %s %s", a.Name, a.Type, a.Required, a.Default, a.Description, a.Examples); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

func TestLimits(t *testing.T) {
	for schema, want := range map[string]string{
		`true`:                         "",
		`{"type":"string"}`:            "",
		`{"minimum":1,"maximum":100}`:  "1 to 100",
		`{"minimum":-1.5}`:             "at least -1.5",
		`{"maximum":9007199254740993}`: "at most 9007199254740993",
		`{"exclusiveMinimum":0,"exclusiveMaximum":1,"multipleOf":0.1}`: "above 0, below 1, a multiple of 0.1",
		`{"minLength":1}`: "not empty",
		`{"minLength":1,"maxLength":5,"pattern":"^a|b$"}`: "1 to 5 characters, matches ^a|b$",
		`{"minItems":1,"maxItems":200}`:                   "1 to 200 elements",
		`{"minItems":1}`:                                  "not empty",
	} {
		if got := limits(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}
