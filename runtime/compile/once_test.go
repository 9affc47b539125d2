package compile_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/load"
)

// depot has several tools that share mixins, defaults and an upstream, so that
// what is wrong with those could be told many times.
const depot = `package depot

_place: string | *"north" @tag(place)

server: name: "depot"

upstreams: depot: {
	url: "https://depot.example"
	auth: header: {name: "X-Key", value: env: "KEY"}
	headers: "X-Client": "c"
}

defaults: place: _place

#Place: place!: string

#Page: {
	limit: (int & >=1) | *20
	zone?: =~"^[A-Z]{2}$" @example("DE")
}

domains: items: {
	description: "Items"
	upstream:    "depot"
	tools: {
		list: {
			description: "Lists"
			action:      "read"
			input: {#Place, #Page}
			examples: [{arguments: limit: 5}]
			http: {method: "GET", path: "/{place}/items"}
		}
		find: {
			description: "Finds"
			action:      "read"
			input: {#Place, #Page, q!: string}
			examples: [{arguments: q: "x"}]
			http: {method: "GET", path: "/{place}/found"}
		}
		stock: {
			description: "Counts"
			action:      "read"
			input: {#Place, q!: string}
			examples: [{arguments: q: "x"}]
			steps: {
				a: http: {method: "GET", path: "/{place}/found", query: q: input.q}
				b: http: {method: "GET", path: "/stock", query: id: steps.a.result.id}
			}
		}
	}
}
`

// vetted gives all findings of a configuration, as metacue vet does.
func vetted(t *testing.T, src string, o load.Options) []string {
	t.Helper()
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(src)}}, "", o)
	if cfg != nil {
		_, more := compile.Compile(cfg, compile.Options{Known: findings})
		findings = append(findings, more...)
	}
	var got []string
	for _, f := range findings.Sorted() {
		got = append(got, f.String())
	}
	return got
}

// One mistake is one finding, whatever follows from it elsewhere. Pins the kind
// config-silence.
func TestEachFaultOnce(t *testing.T) {
	if got := vetted(t, depot, load.Options{}); got != nil {
		t.Fatalf("the sound configuration has findings: %q", got)
	}
	for name, tt := range map[string]struct {
		old, new string
		want     string
	}{
		"a conflict in a structure that others take from": {depot, depot + `
domains: items: tools: list: response: jq:  _jq.all + "|."
domains: items: tools: find: response: jq:  _jq.all + "|.[0]"
_jq: {
	all: "."
	one: "x"
	one: "\(_place)"
}
`,
			`c.cue:57:7: _jq.one: conflicting values "north" and "x"; see c.cue:58:7`},
		"a default out of bounds in a shared mixin": {`| *20`, `| *0`,
			`c.cue:18:2: domains.items.tools.list.input.limit: the default 0 fits none of the alternatives of its type`},
		"a server-level default of the wrong type": {`defaults: place: _place`, `defaults: place: 5`,
			`c.cue:13:11: defaults.place: does not fit the argument place of list: conflicting values 5 and string (mismatched types int and string)`},
		"a misspelt name in a default": {`place: _place`, `place: _plase`,
			`c.cue:13:18: defaults.place: nothing is called _plase here; did you mean _place or #Place?`},
		"a misspelt default": {`defaults: place:`, `defaults: plase:`,
			`c.cue:13:11: defaults.plase: no tool has an argument plase; did you mean place?`},
		"a tag without a value": {`string | *"north" @tag`, `string @tag`,
			`c.cue:3:1: _place: the tag place has no value: give one with -t place=…, or METACUE_PLACE, or give the field a default`},
		"a tag without a value in the URL": {`"https://depot.example"`, `"https://\(_host)/x"
}
_host: string @tag(host)
upstreams: depot: {`,
			`c.cue:10:1: _host: the tag host has no value: give one with -t host=…, or METACUE_HOST, or give the field a default`},
		"a method in small letters, of pages by links": {`http: {method: "GET", path: "/{place}/items"}`, `http: {method: "get", path: "/{place}/items"}, response: paginate: link: true`,
			`c.cue:31:19: domains.items.tools.list.http.method: must be one of "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", not "get"; did you mean "GET"?`},
		"an expression that no call gets past, with an example": {`path: "/{place}/found"}`, `path: "/{place}/found", query: q: input.q || "x"}`,
			`c.cue:38:57: domains.items.tools.find.http.query.q: a call with the arguments {"q":"x"} would fail: cannot use "x" (type string) as type bool in ||, which is for conditions; alternatives are written A | B, and a value to fall back on *A | B`},
		"an example with a misspelt argument": {`arguments: limit: 5`, `arguments: limits: 5`,
			`c.cue:30:27: domains.items.tools.list.examples[0].arguments.limits: the example does not fit: unknown argument: limits; did you mean limit?`},
		"an example of a list that no element is": {`zone?: =~"^[A-Z]{2}$" @example("DE")`, `zone?: [...("DE" | "FR")] @example(["NL"])`,
			`c.cue:19:28: domains.items.tools.list.input.zone: the example ["NL"] does not fit: none of the alternatives fits; conflicting values "DE" and "NL"; conflicting values "FR" and "NL"`},
		"an action of one's own that is not declared": {`action:      "read"
			input: {#Place, #Page}
`, `action:      "archive"
			input: {#Place, #Page}
`,
			`c.cue:28:4: domains.items.tools.list.action: there is no action "archive"; there is create, delete, read, update; actions of your own are declared at the top, actions: archive: effect: "write"`},
		"a misspelt attribute of an argument": {`@example("DE")`, `@exmaple("DE")`,
			`c.cue:19:24: @exmaple means nothing; did you mean @example?`},
		"a misspelt tag": {`@tag(place)`, `@tags(place)`,
			`c.cue:3:27: @tags means nothing; did you mean @tag?`},
		"a misspelt attribute of a default": {`@tag(place)`, `@tag(place) @wiht(zone)`,
			`c.cue:3:39: @wiht means nothing; did you mean @with?`},
		"an attribute in other case": {`@tag(place)`, `@tag(place) @With(zone)`,
			`c.cue:3:39: @With means nothing; did you mean @with?`},
		"@with on an argument": {`input: {#Place, #Page, q!: string}`, `input: {#Place, #Page, q!: string @with(place)}`,
			`c.cue:36:38: domains.items.tools.find.input.q: @with means nothing here: it belongs on a default: defaults: {project: …, team: … @with(project)}`},
		"@example on a setting of the server": {`upstreams:`, `server: version: "1" @example("2")
upstreams:`,
			`c.cue:7:22: server.version: @example means nothing here: it belongs on an argument, on a member of one, or in response.schema`},
		"a misspelt section": {`upstreams:`, `upstream:`,
			`c.cue:7:1: upstream: there is no such field; did you mean upstreams?`},
		"no upstreams": {depot[strings.Index(depot, "upstreams:"):strings.Index(depot, "defaults:")], "upstreams: {}\n\n",
			`c.cue:7:1: upstreams: holds no upstream that requests could go to`},
		"a misspelt upstream": {`upstream:    "depot"`, `upstream:    "depo"`,
			`c.cue:24:2: domains.items.upstream: there is no upstream "depo"; did you mean depot?`},
		"a header that no header can be": {`"X-Client"`, `"X Client"`,
			`c.cue:10:11: upstreams.depot.headers."X Client": "X Client" is no header name (RFC 9110, section 5.6.2)`},
		"a header that holds what none can": {`"X-Client": "c"`, `"X-Client": "a\nb"`,
			`c.cue:10:11: upstreams.depot.headers."X-Client": a header cannot hold the control character '\n'`},
		"a misspelt definition that all share": {`#Place: place!`, `#Plase: place!`,
			`c.cue:29:12: domains.items.tools.list.input: nothing is called #Place here and in lines 36 and 43; did you mean #Plase, _place or #Page?`},
		"a shared argument without a mark": {`place!: string`, `place: string`,
			`c.cue:15:9: domains.items.tools.list.input.place: is neither required (place!), optional (place?), defaulted (… | *value) nor a constant`},
		"a shared argument of a type that is a value": {`place!: string`, `place!: {type: "string"}`,
			`c.cue:15:9: domains.items.tools.list.input.place: is JSON Schema, which CUE takes for an object with these members: write place!: string`},
		"a shared argument of a broken pattern": {`place!: string`, `place!: =~"["`,
			"c.cue:15:19: domains.items.tools.list.input.place: not a regular expression: missing closing ]: `[`"},
		"arguments that are no struct": {`{#Place, #Page}`, `"q"`,
			`c.cue:29:4: domains.items.tools.list.input: input must be a struct that declares the arguments`},
		"a constant in the place of the credentials": {`"X-Client"`, `"X-Key"`,
			`c.cue:10:11: upstreams.depot.headers."X-Key": the header X-Key holds the upstream's credentials: auth alone sets it`},
		"a broken pattern with an example": {`-Z]{2}`, `-Z{2}`,
			"c.cue:19:11: domains.items.tools.list.input.zone: not a regular expression: missing closing ]: `[A-Z{2}$`"},
		"the name of another tool": {`		find: {`, `		"list": aliases: ["stock"]
		find: {`,
			`c.cue:33:21: domains.items.tools.list.aliases[0]: the name stock is taken: domains.items.tools.stock at c.cue:41 answers to it`},
		"a broken path of a step": {`"/{place}/found", query`, `"/{place/found", query`,
			`c.cue:46:38: domains.items.tools.stock.steps.a.http.path: "{" has no "}"`},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(depot, tt.old) {
				t.Fatal("the mistake cannot be made")
			}
			got := vetted(t, strings.Replace(depot, tt.old, tt.new, 1), load.Options{})
			if !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
}

// A value from outside that does not fit is told at the tag, and nothing that
// would take it.
func TestTagOnce(t *testing.T) {
	for old, want := range map[string]string{
		`string | *"north" @tag(place)`:              "",
		`=~"^[a-z]+$" | *"north" @tag(place)`:        `c.cue:3:33: _place: the tag place cannot have the value "North 5": it must match ^[a-z]+$, such as "north"`,
		`"south" | *"north" @tag(place)`:             `c.cue:3:28: _place: the tag place cannot have the value "North 5": it must be "south" or "north"`,
		`=~"^[a-z]+$" @tag(place)`:                   `c.cue:3:22: _place: the tag place cannot have the value "North 5": it must match ^[a-z]+$`,
		`string | *"north" @tag(place, type=bool)`:   `c.cue:3:27: the tag place is of type bool, which "North 5" is not`,
		`*null | =~"^[a-z]+$" @tag(place)`:           `c.cue:3:30: _place: the tag place cannot have the value "North 5": it must match ^[a-z]+$`,
		`*"north" | strings.MaxRunes(6) @tag(place)`: `c.cue:3:40: _place: the tag place cannot have the value "North 5": it must fit strings.MaxRunes(6) or be "north"`,
	} {
		src := strings.Replace(depot, `string | *"north" @tag(place)`, old, 1)
		if strings.Contains(old, "strings.") {
			src = strings.Replace(src, "\n\n", "\nimport \"strings\"\n", 1)
		}
		got := strings.Join(vetted(t, src, load.Options{Tags: map[string]string{"place": "North 5"}}), "\n")
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", old, got, want)
		}
	}
}

// What is in no alternative is told in one line.
func TestReason(t *testing.T) {
	src := strings.Replace(depot, `string | *"north" @tag`, `int | *5 @tag`, 1)
	want := "c.cue:13:11: defaults.place: does not fit the argument place of list: "
	got := vetted(t, src, load.Options{})
	if len(got) != 1 || !strings.HasPrefix(got[0], want) || strings.ContainsAny(got[0], "\n") || strings.HasSuffix(got[0], ":") {
		t.Errorf("got %q", got)
	}
	t.Log(got)
}

// A name that two tools have is told at the second, and nothing of its examples.
func TestNameTaken(t *testing.T) {
	src := depot + `
domains: more: {
	description: "More"
	tools: find: {
		description: "Finds others"
		action:      "read"
		input: other!: string
		examples: [{arguments: other: "x"}]
		http: {upstream: "depot", method: "GET", path: "/others"}
	}
}
`
	want := []string{`c.cue:55:9: domains.more.tools.find: the name find is taken: domains.items.tools.find at c.cue:33 answers to it`}
	if got := vetted(t, src, load.Options{}); !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
}

// It is told where the tools are declared, and not where tests are added to them.
func TestNameTakenTests(t *testing.T) {
	const frame = `package x
server: name: "x"
upstreams: api: url: "https://api.example.com"
`
	tool := func(domain string) string {
		return "domains: " + domain + `: {description: "D", tools: t: {description: "T", action: "read", http: {method: "GET", path: "/"}}}` + "\n"
	}
	cfg, findings := load.FS(fstest.MapFS{
		"a.cue":       {Data: []byte("package x\n" + tool("a"))},
		"b.cue":       {Data: []byte(frame + tool("b"))},
		"a_tests.cue": {Data: []byte("package x\n\n\ndomains: a: tools: t: tests: [{arguments: {}}]\n")},
		"b_tests.cue": {Data: []byte("package x\n\n\ndomains: b: tools: t: tests: [{arguments: {}}]\n")},
	}, "c", load.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	_, findings = compile.Compile(cfg, compile.Options{})
	want := "c/b.cue:4:39: domains.b.tools.t: the name t is taken: domains.a.tools.t at c/a.cue:2 answers to it"
	if got := findings.Error(); !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
