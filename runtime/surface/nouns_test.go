package surface

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/jsonschema"
)

// shared is a catalog whose tools share nouns over domains, with one that is not
// listed.
func shared() *catalog.Catalog {
	c := small()
	c.Domains[0].Tools[1].Noun = "branches"
	c.Domains[1].Tools[0].Noun = "branches"
	c.Domains[2].Unlisted = true
	return catalog.New(*c)
}

// listing is what the list of a surface holds of one tool.
type listing struct {
	wire        string
	Description string `json:"description"`
	InputSchema struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	} `json:"inputSchema"`
}

func listingOf(t *testing.T, tool *mcp.Tool) listing {
	t.Helper()
	l := listing{wire: string(compact(tool))}
	if err := json.Unmarshal([]byte(l.wire), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// What nouns lists and what the catalog holds are the same: every tool is an
// action of one noun, told once, unless its domain is not listed.
func TestNounsHoldTheCatalog(t *testing.T) {
	for what, c := range map[string]*catalog.Catalog{"small": small(), "shared": shared(), "nine": nine(92)} {
		seen := map[string]int{}
		s := newSurface(t, "nouns", c, nil)
		for _, tool := range s.Tools() {
			l := listingOf(t, tool)
			if tool.Name == moreTool {
				continue
			}
			want := []string{}
			effects := map[catalog.Effect]bool{}
			for _, own := range c.Tools() {
				if d, _ := c.Domain(own.Domain); cmp.Or(own.Noun, own.Domain) != tool.Name || d.Unlisted {
					continue
				}
				want = append(want, own.Name)
				effects[own.Effect] = true
				if n := strings.Count(l.Description, ": "+own.Description); n != 1 {
					t.Errorf("%s, %s: the summary of %s stands %d times in %s", what, tool.Name, own.Name, n, l.Description)
				}
				if n := strings.Count(l.wire, string(compact(own.Description))[1:len(compact(own.Description))-1]); n != 1 {
					t.Errorf("%s, %s: the summary of %s stands %d times in %s", what, tool.Name, own.Name, n, l.wire)
				}
				for _, argument := range argumentsOf(own) {
					if _, ok := l.InputSchema.Properties[argument]; !ok {
						t.Errorf("%s, %s: no property %s, which %s takes", what, tool.Name, argument, own.Name)
					}
				}
				for _, argument := range requiredOf(own) {
					if line := own.Name + "(" + argument; !strings.Contains(l.Description, line) {
						t.Errorf("%s, %s: %s requires %s, which is not told: %s", what, tool.Name, own.Name, argument, l.Description)
					}
				}
			}
			if got := l.InputSchema.Properties[actionArgument].Enum; !slices.Equal(got, want) {
				t.Errorf("%s, %s: actions %q, want %q", what, tool.Name, got, want)
			}
			for _, name := range want {
				seen[name]++
			}
			if a := tool.Annotations; a.ReadOnlyHint == (effects[catalog.Write] || effects[catalog.Destructive]) || *a.DestructiveHint != effects[catalog.Destructive] {
				t.Errorf("%s, %s: annotations %s are not the worst of %v", what, tool.Name, compact(a), effects)
			}
		}
		for _, own := range c.Tools() {
			d, _ := c.Domain(own.Domain)
			if want := map[bool]int{false: 1, true: 0}[d.Unlisted]; seen[own.Name] != want {
				t.Errorf("%s: %s is an action %d times", what, own.Name, seen[own.Name])
			}
		}
	}
}

// A domain that is not listed stays out of the list and within reach.
func TestUnlisted(t *testing.T) {
	r := recorder{answer: call.Text("ok")}
	s := newSurface(t, "nouns", shared(), r.do)
	for _, tool := range s.Tools() {
		if wire := string(compact(tool)); strings.Contains(wire, "get_vault") || tool.Name != moreTool && strings.Contains(wire, "secrets") {
			t.Errorf("listed: %s", wire)
		}
	}
	const moreSchema = `{"type":"object","properties":{"domain":{"type":"string","enum":["secrets"]},"action":{"type":"string"},"arguments":{"type":"object"}},"required":["domain"]}`
	for _, c := range []struct {
		args, want string
		ran        made
	}{
		{`{"domain":"secrets"}`, `{"domain":"secrets","description":"Vaults","actions":[{"action":"get_vault","description":"Do get_vault <now> & here","inputSchema":{"type":"object","properties":{}}}]}`, made{}},
		{`{"domain":"secrets","action":"get_vault","arguments":{"a":1}}`, `ok`, made{"get_vault", `{"a":1}`}},
		{`{"domain":"secrets","action":"vault_get"}`, `ok`, made{"get_vault", ``}},
		{`{"domain":"secrets","action":"get_vault","a":1}`, `ok`, made{"get_vault", `{"a":1}`}},
		{`{"domain":"secrets","action":"get_vault","arguments":{"a":1},"a":2}`, refusedBy("get_vault", `{"a":1}`, call.Fault{Message: "a is given twice, in arguments and beside it: put it into arguments"}), made{}},
		{`{"domain":"secrets","action":"get_vualt"}`, `{"error":"unknown action: get_vualt","nearest":["get_vault"]}`, made{}},
		{`{"domain":"secrets","action":"get_repository"}`, `{"tool_name":"get_repository","error":"get_repository is no action of secrets: call it through repositories","nearest":["repositories"]}`, made{}},
		{`{"domain":"repositories"}`, `{"error":"unknown domain: repositories; there are secrets"}`, made{}},
		{`{"domain":"secrets","arguments":{"a":1}}`, wrong(moreTool, moreSchema, "arguments are given without an action"), made{}},
		{`{}`, wrong(moreTool, moreSchema, "missing required argument: domain"), made{}},
	} {
		r.calls = nil
		got, _ := ask(t, s, moreTool, c.args)
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.args, got, c.want)
		}
		if ran := slices.Concat(r.calls, []made{{}})[0]; ran != c.ran || len(r.calls) > 1 {
			t.Errorf("%s: ran %v, want %v", c.args, r.calls, c.ran)
		}
	}
	for _, tool := range newSurface(t, "nouns", small(), nil).Tools() {
		if tool.Name == moreTool {
			t.Error("more is listed though every domain is")
		}
	}
}

// What a noun runs for what is sent, and what it refuses.
func TestNounCalls(t *testing.T) {
	idElsewhere := call.Fault{Argument: "id", Message: "id is no argument of create_branch, but of get_repository, delete_repository"}
	for _, c := range []struct {
		tool, args string
		ran        made
		want       string // of a refusal
		repairs    []string
	}{
		{"repositories", `{"action":"get_repository","id":"a","n":9007199254740993}`, made{"get_repository", `{"id":"a","n":9007199254740993}`}, "", nil},
		{"repositories", `{"action":"repo_get","id":"a"}`, made{"get_repository", `{"id":"a"}`}, "", nil},
		{"repositories", `"{\"action\":\"get_repository\",\"id\":\"a\"}"`, made{"get_repository", `{"id":"a"}`}, "", []string{"the arguments were JSON text and were read as the object in it"}},
		{"repositories", `{"action":"get_repository","arguments":{"id":"a"}}`, made{"get_repository", `{"id":"a"}`}, "", []string{"the members of arguments were read as arguments"}},
		{"pipelines", `{"action":"run_command","arguments":["a"]}`, made{"run_command", `{"arguments":["a"]}`}, "", nil},
		{"get_repository", `{"id":"a"}`, made{"get_repository", `{"id":"a"}`}, "", []string{"get_repository is not listed here and was run as by repositories"}},
		// Hosts that must fill in every property send null for what they do not mean.
		{"repositories", `{"action":"create_branch","name":"a","id":null}`, made{"create_branch", `{"name":"a"}`}, "", []string{"id was null, is no argument of create_branch and was left out"}},
		// An argument of another action: the program tells it with all else that is wrong.
		{"repositories", `{"action":"create_branch","id":"a"}`, made{}, refusedBy("create_branch", `{"id":"a"}`, idElsewhere), nil},
		{"repositories", `{"action":"create_branch","name":"a","id":"","project":"p"}`, made{}, refusedBy("create_branch", `{"name":"a","id":"","project":"p"}`, idElsewhere,
			call.Fault{Argument: "project", Message: "project is no argument of create_branch, but of get_repository"}), nil},
		{"repositories", `{"action":"create_branch","arguments":{"name":"a"},"name":"b"}`, made{}, refusedBy("create_branch", `{"name":"a"}`,
			call.Fault{Message: "name is given twice, in arguments and beside it: put it into arguments"}), nil},
		{"repositories", `{"action":"run_command"}`, made{}, `{"tool_name":"run_command","error":"run_command is no action of repositories: call it through pipelines","nearest":["pipelines"]}`, nil},
		{"repositories", `{"action":"create_brnch","name":"a"}`, made{}, `{"error":"unknown action: create_brnch","nearest":["create_branch"]}`, nil},
	} {
		r := recorder{answer: call.Text("ok")}
		got, result := ask(t, newSurface(t, "nouns", small(), r.do), c.tool, c.args)
		if ran := slices.Concat(r.calls, []made{{}})[0]; ran != c.ran || len(r.calls) > 1 {
			t.Errorf("%s %s: ran %v, want %v", c.tool, c.args, r.calls, c.ran)
		}
		if c.want != "" && (got != c.want || !result.IsError) {
			t.Errorf("%s %s:\n got %s\nwant %s", c.tool, c.args, got, c.want)
		}
		if !slices.Equal(repairs(result), c.repairs) {
			t.Errorf("%s %s: repairs %q, want %q", c.tool, c.args, repairs(result), c.repairs)
		}
	}
	got, result := ask(t, newSurface(t, "nouns", small(), nil), "secrets", `{"name":"a"}`)
	if !result.IsError || !strings.Contains(got, "missing required argument: action") {
		t.Errorf("no action: %s", got)
	}
}

// Names that nouns and model need for themselves are refused for them, each where
// the configuration gives it, and for no other surface.
func TestReservedNamesOfModes(t *testing.T) {
	with := func(change func(*catalog.Catalog)) *catalog.Catalog {
		c := small()
		change(c)
		return catalog.New(*c)
	}
	long := strings.Repeat("n", 60)
	for _, c := range []struct {
		mode, path string
		change     func(*catalog.Catalog)
	}{
		{"nouns", "domains.secrets.tools.more", func(c *catalog.Catalog) { c.Domains[2].Tools[0].Name = "more" }},
		{"nouns", "domains.secrets.tools.get_vault", func(c *catalog.Catalog) { c.Domains[2].Tools[0].Aliases = []string{"more"} }},
		{"nouns", "domains.secrets.tools.get_vault.noun", func(c *catalog.Catalog) { c.Domains[2].Tools[0].Noun = "more" }},
		{"nouns", "domains.more", func(c *catalog.Catalog) {
			c.Domains[2].Name, c.Domains[2].Tools[0].Domain, c.Domains[2].Tools[0].Noun = "more", "more", "more"
		}},
		{"nouns", "domains.secrets.tools.get_vault.input.action", func(c *catalog.Catalog) {
			c.Domains[2].Tools[0].InputSchema = json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"}}}`)
		}},
		{"nouns", "domains.secrets.tools.get_vault.noun", func(c *catalog.Catalog) { c.Domains[2].Tools[0].Noun = long }},
		{"nouns", "domains.secrets.tools.get_vault.noun", func(c *catalog.Catalog) {
			c.Domains[2].Tools[0].Noun, c.Meta.Pin = "get_repository", []string{"get_repository"}
		}},
		{"model", "domains.secrets.tools.sample_model", func(c *catalog.Catalog) { c.Domains[2].Tools[0].Name = "sample_model" }},
		{"model", "domains.secrets.tools.get_vault", func(c *catalog.Catalog) { c.Domains[2].Tools[0].Aliases = []string{"sample_action"} }},
		{"model", "server.name", func(c *catalog.Catalog) { c.Server.Name = strings.Repeat("s", 30) }},
	} {
		for _, mode := range Modes() {
			faults, err := Check(mode, with(c.change))
			if err != nil {
				t.Fatal(err)
			}
			if mode != c.mode {
				if len(faults) > 0 && c.path != "domains.secrets.tools.get_vault.noun" {
					t.Errorf("%s in %s: %v", c.path, mode, faults)
				}
				continue
			}
			if len(faults) != 1 || strings.Join(faults[0].Path, ".") != c.path {
				t.Errorf("%s in %s: %v", c.path, mode, faults)
			}
			if _, err := New(mode, with(c.change), nil); err == nil || !strings.Contains(err.Error(), c.path) {
				t.Errorf("%s in %s is served: %v", c.path, mode, err)
			}
		}
	}
}

// A tool that is a noun by itself is listed and called as in flat mode; it alone may
// have an argument called action.
func TestNounOfOneTool(t *testing.T) {
	c := small()
	vault := c.Domains[2].Tools[0]
	vault.Noun, vault.InputSchema = "get_vault", json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"}}}`)
	r := recorder{answer: call.Text("ok")}
	s := newSurface(t, "nouns", catalog.New(*c), r.do)
	i := slices.IndexFunc(s.Tools(), func(t *mcp.Tool) bool { return t.Name == "get_vault" })
	if i < 0 || string(compact(s.Tools()[i])) != string(compact(listed(vault))) {
		t.Fatalf("listed: %s", wire(s.Tools()))
	}
	if _, result := ask(t, s, "get_vault", `{"action":"open"}`); len(r.calls) != 1 || r.calls[0] != (made{"get_vault", `{"action":"open"}`}) || len(repairs(result)) > 0 {
		t.Errorf("ran %v, repairs %v", r.calls, repairs(result))
	}
}

func TestUnion(t *testing.T) {
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
	}
	for _, c := range []struct{ a, b, want string }{
		{`{"type":"string"}`, `{"type":"string"}`, `{"type":"string"}`},
		{`{"type":"string","description":"A"}`, `{"type":"string"}`, `{"type":"string"}`},
		{`{"type":"string","description":"A"}`, `{"type":"string","description":"B"}`, `{"type":"string"}`},
		{`{"type":"string","enum":["a","b"]}`, `{"type":"string","enum":["b","c"]}`, `{"type":"string","enum":["a","b","c"]}`},
		{`{"type":"string","enum":["a","b"]}`, `{"type":"string"}`, `{"type":"string"}`},
		{`{"type":"integer","minimum":1,"default":5}`, `{"type":"integer","minimum":1}`, `{"type":"integer","minimum":1}`},
		{`{"type":"integer","minimum":1}`, `{"type":"string","pattern":"^a"}`, `{"type":["integer","string"],"minimum":1,"pattern":"^a"}`},
		{`{"type":"integer"}`, `{"type":"number"}`, `{"type":"number"}`},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"integer"}}`, `{"type":"array","items":{"type":["string","integer"]}}`},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"string"}`, `{"type":["array","string"],"items":{"type":"string"}}`},
		{`{"type":"string"}`, `{}`, `{}`},
		{object(`"a":{"type":"string"},"b":{"type":"string"}`, `"a","b"`), object(`"b":{"type":"integer"}`, `"b"`),
			object(`"a":{"type":"string"},"b":{"type":["string","integer"]}`, `"b"`)},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, object(`"b":{"type":"integer"}`, ``), `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"integer"}}`, `{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":{"type":"integer"}}`,
			`{"type":"object","properties":{}}`},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":["integer","string"]}}`},
		{`{"type":"object","patternProperties":{"^a":{}},"additionalProperties":false}`, `{"type":"object","additionalProperties":false}`, `{"type":"object"}`},
		{`{"anyOf":[{"type":"string"}]}`, `{"type":"integer"}`, `{}`},
		{`{"type":"object","additionalProperties":false}`, object(`"a":{"type":"string"}`, ``), `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}}}`},
		{`{"type":"object","patternProperties":{"^a":{"type":"integer"}},"additionalProperties":false}`, object(`"a":{"type":"string"}`, ``), `{"type":"object"}`},
		{`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `{"type":"array","items":{"type":"integer"}}`, `{"type":"array"}`},
		{`{"type":"array","items":{},"contains":{"type":"integer"},"minContains":0}`, `{"type":"array","items":{},"contains":{"type":"integer"}}`, `{"type":"array","items":{}}`},
	} {
		if got := string(join(json.RawMessage(c.a), json.RawMessage(c.b))); got != c.want {
			t.Errorf("%s and %s:\n got %s\nwant %s", c.a, c.b, got, c.want)
		}
	}
	of := func(name, schema string) *catalog.Tool {
		return &catalog.Tool{Name: name, InputSchema: json.RawMessage(schema)}
	}
	for _, c := range []struct {
		tools []*catalog.Tool
		want  string
	}{
		{[]*catalog.Tool{
			of("x", `{"type":"object","properties":{"a":{"type":"string"},"n":{"$ref":"#/$defs/N"}},"required":["a","n"],"$defs":{"N":{"type":"string"},"M":{}}}`),
			of("y", `{"type":"object","properties":{"b":{},"a":{"type":"string"},"n":{"$ref":"#/$defs/N"}},"required":["a"],"$defs":{"N":{"type":"integer"}}}`),
		}, `{"type":"object","properties":{"action":{"type":"string"},"a":{"type":"string"},"n":{"$ref":"#/$defs/N"},"b":{}},"required":["action","a"],"$defs":{"N":{},"M":{}}}`},
		// What all say is said once, what most say first, and what one says with its name.
		{[]*catalog.Tool{
			of("x", `{"properties":{"a":{"description":"A","type":"string"},"b":{"description":"B"},"c":{"description":"C"},"d":{"description":"D"}}}`),
			of("y", `{"properties":{"a":{"description":"A","type":"string"},"b":{},"c":{"description":"E"}}}`),
			of("z", `{"properties":{"a":{"description":"A","type":"string"},"c":{"description":"E"}}}`),
		}, `{"type":"object","properties":{"action":{"type":"string"},"a":{"description":"A","type":"string"},"b":{"description":"x: B"},"c":{"description":"E; x: C"},"d":{"description":"D"}},"required":["action"]}`},
	} {
		if got := union(property("action", schema{Type: "string"}), c.tools); string(got) != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
}

// Whatever one of two schemas accepts, what they are joined to accepts too.
func TestUnionIsTrue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(all ...string) string { return all[rnd.IntN(len(all))] }
	var schemaOf func(depth int) string
	object := func(depth int) string {
		var properties, required []string
		for _, name := range []string{"a", "b", "c"} {
			if rnd.IntN(2) == 0 {
				properties = append(properties, fmt.Sprintf("%q:%s", name, schemaOf(depth-1)))
				if rnd.IntN(2) == 0 {
					required = append(required, fmt.Sprintf("%q", name))
				}
			}
		}
		members := []string{`"type":"object"`, `"required":[` + strings.Join(required, ",") + `]`}
		if len(properties) > 0 || rnd.IntN(2) == 0 {
			members = append(members, `"properties":{`+strings.Join(properties, ",")+`}`)
		}
		if rnd.IntN(4) == 0 {
			members = append(members, `"patternProperties":{"^[ad]":{"type":"integer"}}`)
		}
		if more := pick(``, `false`, `true`, `{"type":"integer"}`); more != "" {
			members = append(members, `"additionalProperties":`+more)
		}
		return `{` + strings.Join(members, ",") + `}`
	}
	schemaOf = func(depth int) string {
		if depth > 0 && rnd.IntN(2) == 0 {
			if rnd.IntN(2) == 0 {
				return object(depth)
			}
			prefix := pick(``, ``, `,"prefixItems":[{"type":"string"}]`, `,"prefixItems":[{"type":"boolean"}]`)
			contains := pick(``, ``, `,"contains":{"type":"integer"}`, `,"contains":{"type":"integer"},"minContains":0`)
			return `{"type":"array","items":` + schemaOf(depth-1) + prefix + contains + `}`
		}
		return pick(`{}`, `{"type":"string"}`, `{"type":"string","pattern":"^x"}`, `{"type":"string","enum":["x","y"]}`, `{"type":"integer","minimum":1}`,
			`{"type":"number","maximum":1}`, `{"type":["string","null"]}`, `{"const":"x"}`, `{"enum":[1,"x"]}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"type":"boolean"}`)
	}
	var valueOf func(depth int) string
	valueOf = func(depth int) string {
		if depth > 0 && rnd.IntN(2) == 0 {
			if rnd.IntN(3) == 0 {
				return pick(`[]`, `[`+valueOf(depth-1)+`]`, `[`+valueOf(depth-1)+`,`+valueOf(depth-1)+`]`)
			}
			var members []string
			for _, name := range []string{"a", "b", "c", "d"} {
				if rnd.IntN(2) == 0 {
					members = append(members, fmt.Sprintf("%q:%s", name, valueOf(depth-1)))
				}
			}
			return `{` + strings.Join(members, ",") + `}`
		}
		return pick(`"x"`, `"y"`, `"z"`, `0`, `1`, `2`, `1.5`, `null`, `true`)
	}
	acceptor := func(schema string) func(value string) bool {
		v, err := jsonschema.NewValidator(json.RawMessage(`{"type":"object","properties":{"v":` + schema + `}}`))
		if err != nil {
			t.Fatalf("%v in %s", err, schema)
		}
		return func(value string) bool { return len(v.Validate(json.RawMessage(`{"v":`+value+`}`))) == 0 }
	}
	told := 0
	for range 3000 {
		a, b := schemaOf(2), schemaOf(2)
		if rnd.IntN(2) == 0 {
			a, b = object(1), object(1)
		}
		joined := string(join(json.RawMessage(a), json.RawMessage(b)))
		if joined == "{}" {
			continue
		}
		one, other, both := acceptor(a), acceptor(b), acceptor(joined)
		for range 10 {
			value := valueOf(3)
			if both(value) {
				continue
			}
			if told++; one(value) || other(value) {
				t.Fatalf("%s and %s are joined to %s, which refuses %s", a, b, joined, value)
			}
		}
	}
	if told < 200 {
		t.Errorf("what is joined refuses %d values: it says too little", told)
	}
}
