package signature

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/tokens"
)

func object(properties, required string) string {
	return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
}

func TestOf(t *testing.T) {
	for _, tt := range []struct{ properties, required, want string }{
		{``, ``, `()`},
		{`"a":{"type":"string"},"b":{"type":"string"}`, `"a","b"`, `(a, b)`},
		// Required ones first, otherwise as declared.
		{`"x":{"type":"string"},"a":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}}`, `"a"`, `(a: int, x?, l?: string[])`},
		{`"project":{"type":"string","default":"Contoso"},"isDraft":{"type":"boolean","default":false},"top":{"type":"integer","default":100}`, ``, `(project=Contoso, isDraft=false, top=100)`},
		{`"s":{"type":"string","default":"two words"},"n":{"type":"string","default":"5"},"e":{"type":"string","default":""}`, ``, `(s="two words", n="5", e="")`},
		{`"s":{"type":"string","enum":["open","closed","in progress"],"default":"open"}`, ``, `(s: open|closed|"in progress"=open)`},
		{`"n":{"enum":[1,"1",null]}`, `"n"`, `(n: 1|"1"|null)`},
		{`"u":{"type":"array","items":{"type":"object","properties":{"op":{"type":"string","enum":["add","remove"]},"path":{"type":"string"},"value":{}},"required":["op","path"],"additionalProperties":false}}`, `"u"`,
			`(u: {op: add|remove, path, value?: any}[])`},
		{`"e":{"type":"array","items":{"type":"string","enum":["a","b"]}},"n":{"type":"array","items":{"type":["string","null"]}}`, `"e"`, `(e: (a|b)[], n?: (string|null)[])`},
		{`"o":{"type":"object"},"m":{"type":"object","additionalProperties":{"type":"integer"}},"p":{"type":"object","properties":{"a":{"type":"string"}}}`, `"o"`,
			`(o: object, m?: {[string]: int}, p?: {a?, …})`},
		{`"a":{"anyOf":[{"type":"integer"},{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}]}`, `"a"`, `(a: int|{id: int})`},
		{`"d":{"type":"string","format":"date-time"},"c":{"const":"x"},"any":true,"l":{"type":"array"}`, `"d"`, `(d: date-time, c?: "x", any?: any, l?: any[])`},
		// A text that may stand for a type is in quotes where a type may stand.
		{`"q":{"type":"string","enum":["email"]},"t":{"type":"string","enum":["string","date"],"default":"string"},"n":{"enum":[1]}`, `"q"`, `(q: "email", t: "string"|date=string, n?: 1)`},
		{`"p":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}]}`, `"p"`, `(p: [number, string])`},
		{`"a b":{"type":"string"},"x.y":{"type":"string"}`, `"a b"`, `("a b", x.y?)`},
	} {
		got := Of(&catalog.Tool{Name: "f", InputSchema: json.RawMessage(object(tt.properties, tt.required))})
		if got != "f"+tt.want {
			t.Errorf("{%s}\n got %s\nwant f%s", tt.properties, got, tt.want)
		}
	}
}

// The two that the design gives.
func TestDesign(t *testing.T) {
	for want, schema := range map[string]string{
		`create_pull_request(repositoryId, sourceRefName, targetRefName, title, project=Contoso, isDraft=false, labels?: string[])`: object(
			`"project":{"type":"string","default":"Contoso"},"repositoryId":{"type":"string"},"sourceRefName":{"type":"string"},"targetRefName":{"type":"string"},"title":{"type":"string"},"isDraft":{"type":"boolean","default":false},"labels":{"type":"array","items":{"type":"string"}}`,
			`"repositoryId","sourceRefName","targetRefName","title"`),
		`update_work_item(id: int, updates: {op: add|replace|remove, path, value?}[])`: object(
			`"id":{"type":"integer"},"updates":{"type":"array","items":`+object(`"op":{"type":"string","enum":["add","replace","remove"]},"path":{"type":"string"},"value":{"type":"string"}`, `"op","path"`)+`}`,
			`"id","updates"`),
	} {
		name, _, _ := strings.Cut(want, "(")
		if got := Of(&catalog.Tool{Name: name, InputSchema: json.RawMessage(schema)}); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

// A cycle of references ends at its name.
func TestRecursive(t *testing.T) {
	schema := `{"type":"object","properties":{"tree":{"$ref":"#/$defs/Node"}},"required":["tree"],"$defs":{"Node":` +
		object(`"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Node"}}`, `"name"`) + `}}`
	if got, want := Of(&catalog.Tool{Name: "f", InputSchema: json.RawMessage(schema)}), `f(tree: {name, children?: Node[]})`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A long signature is cut at its optional arguments; where the required ones are
// too long by themselves, less is told of their shapes, and in the end of them.
func TestCut(t *testing.T) {
	list := func(n int, format string) string {
		var s []string
		for i := range n {
			s = append(s, fmt.Sprintf(format, i))
		}
		return strings.Join(s, ",")
	}
	deep := `"deep":{"type":"array","items":` + object(list(80, `"member_number_%d":{"type":"integer"}`), ``) + `}`
	for name, tt := range map[string]struct{ properties, required, begins, ends string }{
		"optional": {list(80, `"argument_number_%d":{"type":"integer"}`), `"argument_number_70"`, `f(argument_number_70: int, argument_number_0?: int, `, `, …)`},
		"deep":     {deep, `"deep"`, `f(deep: object[])`, `f(deep: object[])`},
		"required": {list(80, `"argument_number_%d":{"type":"integer"}`), list(80, `"argument_number_%d"`), `f(argument_number_0: int, `, `, …)`},
	} {
		got := Of(&catalog.Tool{Name: "f", InputSchema: json.RawMessage(object(tt.properties, tt.required))})
		if n := tokens.Count(got); n > MaxTokens || n < MaxTokens/2 && name != "deep" {
			t.Errorf("%s: %d tokens: %s", name, n, got)
		}
		if !strings.HasPrefix(got, tt.begins) || !strings.HasSuffix(got, tt.ends) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Whatever a schema is, a signature comes of it.
func FuzzOf(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}`)
	f.Add(`{"properties":[1],"required":"x"}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if got := Of(&catalog.Tool{Name: "f", InputSchema: json.RawMessage(schema)}); !strings.HasPrefix(got, "f(") || tokens.Count(got) > MaxTokens {
			t.Errorf("%q: %s", schema, got)
		}
	})
}

// The parameters tell what a signature leaves out: descriptions, and members one
// by one.
func TestParameters(t *testing.T) {
	node := object(`"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Node"}}`, `"name"`)
	schema := `{"type":"object","properties":{` +
		`"status":{"type":"string","enum":["open","closed"],"default":"open","description":"Which"},` +
		`"page":` + object(`"offset":{"type":"integer"},"limit":{"type":"integer","default":10}`, `"offset"`) + `,` +
		`"ops":{"type":"array","items":` + object(`"op":{"type":"string"}`, `"op"`) + `},` +
		`"tree":{"$ref":"#/$defs/Node"},"any":{},"id":{"anyOf":[{"type":"integer"},` + object(`"key":{"type":"string"}`, `"key"`) + `]}` +
		`},"required":["id"],"$defs":{"Node":` + node + `}}`
	want := `[{"name":"status","type":"open|closed","required":false,"default":"open","description":"Which"},` +
		`{"name":"page","type":"object","required":false,"fields":[{"name":"offset","type":"int","required":true},{"name":"limit","type":"int","required":false,"default":10}]},` +
		`{"name":"ops","type":"object[]","required":false,"fields":[{"name":"op","type":"string","required":true}]},` +
		`{"name":"tree","type":"object","required":false,"fields":[{"name":"name","type":"string","required":true},{"name":"children","type":"Node[]","required":false}]},` +
		`{"name":"any","type":"any","required":false},{"name":"id","type":"int|{key}","required":true}]`
	got, err := json.Marshal(Parameters(json.RawMessage(schema)))
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if got, want := Shape(json.RawMessage(object(`"n":{"type":"integer"},"items":{"type":"array","items":{"type":"string"}}`, `"n"`))), `{n: int, items?: string[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Definitions that all refer to each other can be followed in as many orders as
// there are: they are written out so far and no farther.
func TestEntangled(t *testing.T) {
	const n = 8
	var defs []string
	for i := range n {
		var members []string
		for j := range n {
			members = append(members, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/D%d"}`, j, j))
		}
		defs = append(defs, fmt.Sprintf(`"D%d":%s`, i, object(strings.Join(members, ","), ``)))
	}
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{` + strings.Join(defs, ",") + `}}`)
	told, err := json.Marshal(Parameters(schema))
	if err != nil || len(told) > 200_000 {
		t.Errorf("%v; the parameters have %d bytes", err, len(told))
	}
	for what, text := range map[string]string{"type": Arguments(schema)[0].Type, "shape": Shape(schema)} {
		if len(text) > 50_000 {
			t.Errorf("the %s has %d bytes", what, len(text))
		}
	}
}
