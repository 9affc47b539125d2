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
