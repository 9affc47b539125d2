package jsonschema

import (
	"encoding/json"
	"testing"
)

func TestIntegers(t *testing.T) {
	v, err := NewValidator(json.RawMessage(`{"type":"object","$defs":{"node":{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#/$defs/node"}}}},
		"properties":{"i":{"type":"integer"},"f":{"type":"number"},"u":{"anyOf":[{"type":"string"},{"type":"integer"}]},"w":{"type":["integer","number"]},
		"e":{"enum":[1,2]},"l":{"type":"array","items":{"type":"integer"}},"t":{"type":"array","prefixItems":[{"type":"number"},{"type":"integer"}],"items":{"type":"integer"}},
		"node":{"$ref":"#/$defs/node"},"m":{"type":"object","additionalProperties":{"type":"integer"}},"p":{"type":"object","patternProperties":{"^x":{"type":"integer"}},"additionalProperties":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"i":5}`:                                     `{"i":5}`,
		`{"i":5.0,"f":5.0}`:                           `{"i":5,"f":5.0}`,
		`{"i":1e3,"u":1E3,"w":1e3,"e":2.0}`:           `{"i":1000,"u":1000,"w":1e3,"e":2}`,
		`{"l":[1.0, -2e1],"t":[1.0,2.0,3.00]}`:        `{"l":[1,-20],"t":[1.0,2,3]}`,
		`{"node":{"n":1.0,"next":{"n":2.0}}}`:         `{"node":{"n":1,"next":{"n":2}}}`,
		`{"m":{"a\u0062":1.0},"p":{"x":1.0,"y":1.0}}`: `{"m":{"a\u0062":1},"p":{"x":1,"y":1.0}}`,
		`{"i":9007199254740993.0}`:                    `{"i":9007199254740993}`,
		`{"i":1e999999999}`:                           `{"i":1e999999999}`,
		`{"f":1.5e3,"unknown":1.0,"s":"1.0 e"}`:       `{"f":1.5e3,"unknown":1.0,"s":"1.0 e"}`,
		`{"i":-0.0}`:                                  `{"i":0}`,
		`{"l":[]  ,"m":{}, "i":1.0 }`:                 `{"l":[],"m":{},"i":1}`,
	} {
		if got := string(v.Integers(json.RawMessage(in))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}
