package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCallArguments(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","$defs":{"n":{"type":"object"}},"properties":{
		"s":{"type":"string"},"i":{"type":"integer"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"string"}},"li":{"type":"array","items":{"type":"integer"}},
		"o":{"type":"object"},"r":{"$ref":"#/$defs/n"},"sn":{"type":["string","null"]},"in":{"type":["integer","null"]},"u":{"anyOf":[{"type":"string"},{"type":"object"}]},"any":{}}}`)
	for words, want := range map[string]string{
		`s=5 i=5 b=true`:         `{"b":true,"i":5,"s":"5"}`,
		`i=9007199254740993`:     `{"i":9007199254740993}`,
		`i=many`:                 `{"i":"many"}`,
		`l=x`:                    `{"l":["x"]}`,
		`l=x l=5`:                `{"l":["x","5"]}`,
		`l=["x"]`:                `{"l":["x"]}`,
		`li=1 li=2`:              `{"li":[1,2]}`,
		`li=1`:                   `{"li":[1]}`,
		`o={"a":1} r={"b":"2"}`:  `{"o":{"a":1},"r":{"b":"2"}}`,
		`o=x`:                    `{"o":"x"}`,
		`sn=null in=null s=null`: `{"in":null,"s":"null","sn":null}`,
		`u={"a":1}`:              `{"u":{"a":1}}`,
		`u=5 any=5`:              `{"any":"5","u":"5"}`,
		`unknown=5`:              `{"unknown":"5"}`,
		`s=a=b`:                  `{"s":"a=b"}`,
		`s=`:                     `{"s":""}`,
		`o={"a":1`:               `error o: is no valid JSON`,
		`s`:                      `error "s" is no NAME=VALUE`,
		`{"s":"x"}`:              `error --json gives all arguments`,
	} {
		got, err := callArguments(nil, "", strings.Fields(words), schema)
		if part, ok := strings.CutPrefix(want, "error "); ok {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %s, %v", words, got, err)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", words, got, err, want)
		}
	}
}
