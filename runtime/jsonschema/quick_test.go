package jsonschema

import (
	"encoding/json"
	"testing"
)

// plainSchema holds what inputs mostly hold.
const plainSchema = `{"type":"object","properties":{
	"id":{"type":"string","description":"An ID","minLength":1,"maxLength":3},
	"top":{"type":"integer","minimum":1,"maximum":1000,"default":100},
	"state":{"type":"string","enum":["open","closed"]},
	"note":{"type":["string","null"]},
	"draft":{"type":"boolean"},
	"labels":{"type":"array","items":{"type":"string"}},
	"fields":{"type":"object","additionalProperties":{"type":["string","number"]}},
	"ref":{"type":"string","pattern":"^refs/"},
	"what":{}},
	"required":["id"],"additionalProperties":false}`

func TestQuick(t *testing.T) {
	v, err := NewValidator(json.RawMessage(plainSchema))
	if err != nil {
		t.Fatal(err)
	}
	for _, fits := range []string{
		`{"id":"x"}`,
		` { "id" : "x" , "top" : 1000 , "labels" : [ "a" , "b" ] , "draft" : true } `,
		`{"id":"日本語","state":"closed","note":null,"draft":false,"labels":[],"fields":{}}`,
		`{"id":"x","note":"","fields":{"a":"b","c":-12}}`,
	} {
		if !v.quick().fits([]byte(fits)) || v.check([]byte(fits)) != nil {
			t.Errorf("does not fit: %s", fits)
		}
	}
	for _, left := range []string{
		``, `null`, `[]`, `{`, `{}`, `{"id":"x"`, `{"id":"x",}`, `{"id" "x"}`, `{"id":"x"}}`, `{"id":"x"} 1`, `{"id":x}`, `{id:"x"}`,
		`{"id":"x","id":1}`, `{"id":""}`, `{"id":"日本語だ"}`, `{"id":"\u0061"}`, `{"id":"` + "\xff" + `"}`, `{"id":"` + "\n" + `"}`,
		`{"id":"x","top":0}`, `{"id":"x","top":1001}`, `{"id":"x","top":01}`, `{"id":"x","top":-}`, `{"id":"x","top":1.0}`, `{"id":"x","top":1e2}`,
		`{"id":"x","top":+1}`, `{"id":"x","top":9223372036854775808}`, `{"id":"x","top":"1"}`, `{"id":"x","top":null}`,
		`{"id":"x","state":"gone"}`, `{"id":"x","note":1}`, `{"id":"x","draft":tru}`, `{"id":"x","draft":truex}`,
		`{"id":"x","labels":[1]}`, `{"id":"x","labels":["a",]}`, `{"id":"x","labels":["a"}`, `{"id":"x","fields":{"a":true}}`,
		`{"id":"x","ref":"refs/x"}`, `{"id":"x","what":1}`, `{"id":"x","other":1}`,
	} {
		if v.quick().fits([]byte(left)) {
			t.Errorf("fits: %s", left)
		}
	}
}

// FuzzQuick shows that what fits plainly fits.
func FuzzQuick(f *testing.F) {
	for _, instance := range []string{`{"id":"x","top":5}`, `{"id":"日本語","note":null}`, `{"id":"x","fields":{"a":-0}}`, `{"id":"\u0061"}`, `{"id":"x","top":1e2}`} {
		f.Add(plainSchema, instance)
	}
	f.Add(`{"type":"array","items":{"type":["integer","string","null"],"maximum":9,"minLength":2}}`, `[1,"ab",null,-3]`)
	f.Add(`{"type":["object","boolean"],"properties":{"a":{"type":"number"}},"additionalProperties":{"type":"string","enum":["a"]}}`, `{"a":0,"b":"a"}`)
	f.Fuzz(func(t *testing.T, schema, instance string) {
		v, err := NewValidator(json.RawMessage(schema))
		if err != nil || !v.quick().fits([]byte(instance)) {
			return
		}
		if _, err := v.compiled(); err != nil {
			return
		}
		if faults := v.check([]byte(instance)); faults != nil {
			t.Errorf("does not fit: %v\nschema %s\ninstance %s", faults, schema, instance)
		}
	})
}
