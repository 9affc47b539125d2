package compile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/metacue/metacue/runtime/bind"
	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/compile"
	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/exec"
	"github.com/metacue/metacue/runtime/load"
)

// server is a configuration with the tools given and little else.
func server(tools string) string {
	return `package c

import ("list", "strings")

_use: strings.ToUpper("") + "\(list.Max([1]))"

server: name: "s"
upstreams: api: {url: "https://api.example/v1", query: "api-version": "7.1", headers: "X-Client": "metacue"}
domains: d: {
	description: "D"
	tools: {
` + tools + `
	}
}
`
}

func build(t testing.TB, src string) (*exec.Program, diag.List) {
	t.Helper()
	cfg, findings := load.FS(fstest.MapFS{"c.cue": {Data: []byte(src)}}, "test", load.Options{})
	if len(findings) > 0 {
		return nil, findings.Sorted()
	}
	p, findings := compile.Compile(cfg, compile.Options{})
	return p, findings.Sorted()
}

// TestRequests pins which request comes of which binding, in the direct form
// and through expressions alike.
func TestRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		tool, args string
		want       string // METHOD URL BODY, or an error
	}{
		"path": {
			`input: {a!: string, b?: string}, http: {method: "GET", path: "/x/{a}{/b}"}`,
			`{"a":"p/q r"}`, `GET https://api.example/v1/x/p%2Fq%20r?api-version=7.1`,
		},
		"query by convention, in order, defaults and constants filled in": {
			`input: {z?: int, a: int | *5, k: "const", l?: [...string]}, http: {method: "GET", path: "/x"}`,
			`{"z":9007199254740993,"l":["1","2"]}`, `GET https://api.example/v1/x?z=9007199254740993&a=5&k=const&l=1&l=2&api-version=7.1`,
		},
		"body by convention": {
			`action: "create", input: {z?: int, a: int | *5, id!: string, o?: {x?: int, y!: string}}, http: {method: "POST", path: "/x/{id}"}`,
			`{"id":"i","o":{"y":"<&>","x":1}}`, `POST https://api.example/v1/x/i?api-version=7.1 {"a":5,"o":{"y":"<&>","x":1}}`,
		},
		"nothing by convention": {
			`action: "create", input: z?: int, http: {method: "POST", path: "/x"}`,
			`{}`, `POST https://api.example/v1/x?api-version=7.1`,
		},
		"defaults within an argument": {
			`action: "create", input: o?: {x: int | *3, y!: string}, http: {method: "POST", path: "/x"}`,
			`{"o":{"y":"v"}}`, `POST https://api.example/v1/x?api-version=7.1 {"o":{"x":3,"y":"v"}}`,
		},
		"defaults within the elements of a list that must not be empty": {
			`action: "create", input: l!: [...{x: int | *3, y!: string}] & list.MinItems(1), http: {method: "POST", path: "/x", body: input.l}`,
			`{"l":[{"y":"v"}]}`, `POST https://api.example/v1/x?api-version=7.1 [{"x":3,"y":"v"}]`,
		},
		"direct references": {
			`action: "create", input: {a!: string, b?: int, c?: {d?: string, e!: int}}, http: {method: "POST", path: "/x", query: {"$b": input.b}, headers: "X-A": input.a
				body: {name: input.a, deep: {d: input.c.d}, list: [input.a, 7, -1.50, "x"], n: null, t: true}}`,
			`{"a":"A","b":1,"c":{"e":1}}`,
			`POST https://api.example/v1/x?%24b=1&api-version=7.1 {"name":"A","list":["A",7,-1.50,"x"],"n":null,"t":true}`,
		},
		"a reference into a map is no declared member": {
			`input: m?: [string]: string, http: {method: "GET", path: "/x", query: k: input.m.key}`,
			`{"m":{"other":"v"}}`, `error undefined field: key`,
		},
		"expressions": {
			`input: {ids!: [...int], s?: string, vote!: "yes" | "no"}, http: {method: "GET", path: "/x", query: {
				ids: strings.Join([for i in input.ids {"\(i)"}], ",")
				up: strings.ToUpper(input.s)
				vote: {yes: 10, no: -10}[input.vote]
			}}`,
			`{"ids":[9007199254740993,2],"vote":"no"}`,
			`GET https://api.example/v1/x?ids=9007199254740993%2C2&vote=-10&api-version=7.1`,
		},
		"names known only at the call": {
			`input: {f!: [string]: string, z?: int}, http: {method: "GET", path: "/x", query: {for k, v in input.f {"filter[\(k)]": v}, z: input.z}}`,
			`{"f":{"a":"1","b/c":"2"},"z":3}`,
			`GET https://api.example/v1/x?filter%5Ba%5D=1&filter%5Bb%2Fc%5D=2&z=3&api-version=7.1`,
		},
		"an argument that holds the parameters": {
			`input: q?: [string]: string, http: {method: "GET", path: "/x", query: input.q}`,
			`{"q":{"a":"1","b/c":"2"}}`, `GET https://api.example/v1/x?a=1&b%2Fc=2&api-version=7.1`,
		},
		"vars": {
			`input: a?: string, http: {method: "GET", path: "/x{/kind,a}", vars: {if input.a != _|_ {kind: "things"}}}`,
			`{"a":"A"}`, `GET https://api.example/v1/x/things/A?api-version=7.1`,
		},
		"vars absent": {
			`input: a?: string, http: {method: "GET", path: "/x{/kind,a}", vars: {if input.a != _|_ {kind: "things"}}}`,
			`{}`, `GET https://api.example/v1/x?api-version=7.1`,
		},
		"an argument in jq stays out of the request": {
			`input: {a?: string, n?: string}, http: {method: "GET", path: "/x"}, response: jq: "[.[] | select(.name == $args.n)]"`,
			`{"a":"A","n":"N"}`, `GET https://api.example/v1/x?a=A&api-version=7.1`,
		},
		"a rule is no reference": {
			`input: {a?: string, b?: string}, check: [if input.a != _|_ if input.b != _|_ {"a or b"}], http: {method: "GET", path: "/x"}`,
			`{"a":"A"}`, `GET https://api.example/v1/x?a=A&api-version=7.1`,
		},
		"a rule that stands": {
			`input: {a?: string, b?: string}, check: [if input.a != _|_ if input.b != _|_ {"a or b"}], http: {method: "GET", path: "/x"}`,
			`{"a":"A","b":"B"}`, `error a or b`,
		},
		"let": {
			`input: a!: string, let u = strings.ToUpper(input.a), http: {method: "GET", path: "/x", query: q: u}`,
			`{"a":"a"}`, `GET https://api.example/v1/x?q=A&api-version=7.1`,
		},
		"the whole input": {
			`action: "create", input: {a!: string, b?: int}, http: {method: "POST", path: "/x", body: input}`,
			`{"a":"A"}`, `POST https://api.example/v1/x?api-version=7.1 {"a":"A"}`,
		},
		"a root array": {
			`action: "create", input: items!: [...{n!: int}], http: {method: "POST", path: "/x", body: input.items}`,
			`{"items":[{"n":9007199254740993},{"n":1e3}]}`, `POST https://api.example/v1/x?api-version=7.1 [{"n":9007199254740993},{"n":1000}]`,
		},
		"the request's own parameter takes the upstream's place": {
			`input: {}, http: {method: "GET", path: "/x", query: "api-version": "8-preview"}`,
			`{}`, `GET https://api.example/v1/x?api-version=8-preview`,
		},
		"silent-omission": {
			`action: "create", input: {a?: string, m!: [string]: string}, http: {method: "POST", path: "/x", body: {a: input.a, if input.m.k == "x" {big: true}}}`,
			`{"m":{}}`, `error undefined field: k`,
		},
		"CUE alone sees it": {
			`input: a!: string & !="x", http: {method: "GET", path: "/x"}`,
			`{"a":"x"}`, `error a: `,
		},
		"delete with a body as declared": {
			`action: "delete", input: ids!: [...int], http: {method: "DELETE", path: "/x", body: ids: input.ids}`,
			`{"ids":[1]}`, `DELETE https://api.example/v1/x?api-version=7.1 {"ids":[1]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := tt.tool
			if !strings.Contains(body, "action:") {
				body = `action: "read", ` + body
			}
			p, findings := build(t, server("t: {description: \"T\", "+body+"}"))
			if len(findings) > 0 {
				t.Fatalf("findings:\n%v", findings)
			}
			plan, r := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(tt.args))
			got := ""
			if plan == nil {
				got = "error " + exec.Reason(r)
			} else {
				req := plan.Request
				got = strings.TrimSpace(req.Method + " " + req.URL + " " + string(req.Body))
			}
			if want, ok := strings.CutPrefix(tt.want, "error "); ok {
				if plan != nil || !strings.Contains(exec.Reason(r), want) {
					t.Fatalf("got %s\nwant an error with %q", got, want)
				}
				return
			}
			if got != strings.ReplaceAll(tt.want, "%24", "$") {
				t.Fatalf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestFindings pins the rules that CUE cannot state: each fault once, on its line.
func TestFindings(t *testing.T) {
	const good = `t: {description: "T", action: "read", input: a?: string, http: {method: "GET", path: "/x"}}`
	for name, tt := range map[string]struct {
		src  string
		want []string // LINE PATH: part of the message
	}{
		"none": {server(good), nil},
		"unknown action": {
			server("t: {description: \"T\"\naction: \"raed\"\nhttp: {method: \"GET\", path: \"/x\"}}"),
			[]string{`13 domains.d.tools.t.action: no action "raed"; did you mean read`},
		},
		"unknown upstream": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"\nupstream: \"appi\"}}"),
			[]string{`13 domains.d.tools.t.http.upstream: no upstream "appi"; did you mean api`},
		},
		"path variable": {
			server("t: {description: \"T\", action: \"read\", input: projectId!: string, http: {method: \"GET\"\npath: \"/x/{project_id}\"}}"),
			[]string{`13 domains.d.tools.t.http.path: {project_id} is no argument of the tool; did you mean projectId`},
		},
		"missing-path-arg": {
			server("t: {description: \"T\", action: \"read\", input: a?: string, http: {method: \"GET\"\npath: \"/x/{a}\"}}"),
			[]string{`13 domains.d.tools.t.http.path: {a} may be left out`},
		},
		"never sent": {
			server("t: {description: \"T\", action: \"create\", input: {a!: string\nb?: string}, http: {method: \"POST\", path: \"/x\", body: {a: input.a}}}"),
			[]string{`13 domains.d.tools.t.input.b: accepted and never sent`},
		},
		"update-default": {
			server("t: {description: \"T\", action: \"update\", input: {a!: string\ndraft: bool | *false}, http: {method: \"PATCH\", path: \"/x\", body: {a: input.a, d: input.draft}}}"),
			[]string{`13 domains.d.tools.t.input.draft: a default in the body of an update`},
		},
		"update-default by convention": {
			server("t: {description: \"T\", action: \"update\", input: {a!: string\ndraft: bool | *false}, http: {method: \"PATCH\", path: \"/x/{a}\"}}"),
			[]string{`13 domains.d.tools.t.input.draft: a default in the body of an update`},
		},
		"guard by name": {
			server("t: {description: \"T\", action: \"create\", input: {a?: string, o!: {\"x-y\"?: string}}\ncheck: [if input.a == \"x\" {\"a\"}]\nhttp: {method: \"POST\", path: \"/x\", query: a: input.a, body: {l: [input.o.\"x-y\"]}}}"),
			[]string{
				`13 domains.d.tools.t.check: guard it with if input.a != _|_`,
				`14 domains.d.tools.t.http.body.l: guard it with if input.o."x-y" != _|_`,
			},
		},
		"arg-collision": {
			server("t: {description: \"T\", action: \"read\", input: {a?: string\nq?: string}, http: {method: \"GET\", path: \"/x\", query: q: input.a}}"),
			[]string{`13 domains.d.tools.t.input.q: would be sent as query parameter q, which the request sets already`},
		},
		"arg-collision with the upstream": {
			server("t: {description: \"T\", action: \"read\", input: {\"api-version\"?: string}, http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`12 domains.d.tools.t.input."api-version": would be sent as query parameter api-version`},
		},
		"arg-collision with vars": {
			server("t: {description: \"T\", action: \"read\", input: {a!: string}, http: {method: \"GET\", path: \"/x/{a}\"\nvars: a: \"y\"}}"),
			[]string{`13 domains.d.tools.t.http.vars: a is an argument too`},
		},
		"type of a field that has no value": {
			server("t: {description: \"T\", action: \"create\", input: {\na!: #R.r, b?: #R.o\nc?: [...#R.o]\n}, http: {method: \"POST\", path: \"/x\"}}") + "#R: {r!: string, o?: string}\n",
			[]string{
				`13 domains.d.tools.t.input.a: no value fits: it refers to r, which is optional or required and so has no value`,
				`13 domains.d.tools.t.input.b: no value fits: it refers to o,`,
				`14 domains.d.tools.t.input.c[]: no value fits: it refers to o,`,
			},
		},
		"arg-collision with credentials": {
			server("t: {description: \"T\", action: \"read\", input: {key?: string}, http: {method: \"GET\", path: \"/x\", upstream: \"q\"}}\n"+
				"u: {description: \"T\", action: \"read\", input: a!: string, http: {method: \"GET\", path: \"/x{?a}\", upstream: \"h\", headers: \"x-key\": input.a}}\n"+
				"v: {description: \"T\", action: \"read\", input: a!: string, http: {method: \"GET\", path: \"/x\", upstream: \"q\", query: key: input.a}}\n"+
				"w: {description: \"T\", action: \"read\", input: key?: string, http: {method: \"GET\", path: \"/x{?key}\", upstream: \"q\"}}\n") +
				"upstreams: q: {url: \"https://q.example\", auth: query: {name: \"key\", value: env: \"K\"}}\n" +
				"upstreams: h: {url: \"https://h.example\", auth: header: {name: \"X-Key\", value: env: \"K\"}, headers: \"x-KEY\": \"mine\"}\n",
			[]string{
				`12 domains.d.tools.t.input.key: which holds the upstream's credentials`,
				`13 domains.d.tools.u.http.headers."x-key": holds the upstream's credentials`,
				`14 domains.d.tools.v.http.query.key: holds the upstream's credentials`,
				`15 domains.d.tools.w.http.path: stands in the place of the upstream's credentials`,
				`20 upstreams.h.headers."x-KEY": holds the upstream's credentials`,
			},
		},
		"arg-collision within the path and query": {
			server("t: {description: \"T\", action: \"read\", input: {a?: string}, http: {method: \"GET\", path: \"/x{?a}\", query: a: \"b\"}}\n" +
				"u: {description: \"T\", action: \"read\", input: {\"api-version\"?: string}, http: {method: \"GET\", path: \"/x{?api-version}\"}}\n"),
			[]string{`12 domains.d.tools.t.http.path: {?a} and query both send a`, `13 domains.d.tools.u.http.path: beside the upstream's own`},
		},
		"query-object": {
			server("t: {description: \"T\", action: \"read\", input: {o?: {x?: int}}, http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`12 domains.d.tools.t.input.o: an object cannot stand in the query`},
		},
		"reserved header": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"\nheaders: Host: \"evil\"}}"),
			[]string{`13 domains.d.tools.t.http.headers.Host: made by the HTTP client`},
		},
		"jq": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}\nresponse: jq: \".[\"}"),
			[]string{`13 domains.d.tools.t.response.jq: no jq program`},
		},
		"error": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}\nresponse: error: \".[\"}"),
			[]string{`13 domains.d.tools.t.response.error: no jq program`},
		},
		"content type": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}\nresponse: contentType: \"json\"}"),
			[]string{`13 domains.d.tools.t.response.contentType: "json" is no media type`},
		},
		"output schema that is no object": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}\nresponse: schema: [...string]}"),
			[]string{`13 domains.d.tools.t.response.schema: must be a struct`},
		},
		"output schema that says too much": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}\nresponse: schema: {a!: int, b!: int & >a}}"),
			[]string{`13 domains.d.tools.t.response.schema: b cannot be stated in JSON Schema`},
		},
		"of the step": {
			server("t: {description: \"T\", action: \"read\", steps: a: http: {method: \"GET\", path: \"/x\"}\nresponse: {\naccept: [404]\nerror: \".e\"\ncontentType: \"a/b\"\nretry: on: \"true\"}}"),
			[]string{`14 domains.d.tools.t.response.accept: belongs to the step`, `15 domains.d.tools.t.response.error: belongs to the step`, `16 domains.d.tools.t.response.contentType: belongs to the step`, `17 domains.d.tools.t.response.retry: belongs to the step`},
		},
		"paginate whole by an argument that is sent": {
			server("t: {description: \"T\", action: \"read\", input: {top?: int, skip?: int}, http: {method: \"GET\", path: \"/x\", query: \"$top\": input.top}, response: paginate: whole: {skip: \"skip\"\ntop: \"top\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.whole.top: the argument top is sent with the request too, and the answer would be cut twice`},
		},
		"paginate whole by an argument in the path": {
			server("t: {description: \"T\", action: \"read\", input: {top?: int, skip?: int}, http: {method: \"GET\", path: \"/x{/top}\"}, response: paginate: whole: {skip: \"skip\"\ntop: \"top\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.whole.top: the argument top is sent with the request too, and the answer would be cut twice`},
		},
		"paginate whole by an argument in a step": {
			server("t: {description: \"T\", action: \"read\", input: {top?: int, skip?: int}, steps: a: http: {method: \"POST\", path: \"/x\", body: input}, response: paginate: whole: {\nskip: \"skip\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.whole.skip: the argument skip is sent with the request too, and the answer would be cut twice`},
		},
		"paginate whole by one argument for both": {
			server("t: {description: \"T\", action: \"read\", input: {top?: int, skip?: int}, http: {method: \"GET\", path: \"/x\", query: \"$top\": input.top}, response: paginate: whole: {skip: \"skip\"\ntop: \"skip\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.whole.top: names the argument that skip names`},
		},
		"paginate by a program that makes one object": {
			server("t: {description: \"T\", action: \"read\", input: {top?: int, skip?: int}, http: {method: \"GET\", path: \"/x\", query: {a: input.top, b: input.skip}}, response: {paginate: link: true\njq: \"{items: .}\"}}"),
			[]string{`13 domains.d.tools.t.response.jq: makes one object, which would be the only item`},
		},
		"paginate by items that are one object": {
			server("t: {description: \"T\", action: \"read\", input: {top?: int, skip?: int}, http: {method: \"GET\", path: \"/x\", query: {a: input.top, b: input.skip}}, response: paginate: {link: true\nitems: \".a | {value}\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.items: makes one object, which would be the only item`},
		},
		"paginate beside an argument of its own": {
			server("t: {description: \"T\", action: \"read\", input: {\ncursor?: string}, http: {method: \"GET\", path: \"/x\"}, response: paginate: link: true}"),
			[]string{`13 domains.d.tools.t.input.cursor: the tool has an argument of that name by response.paginate`},
		},
		"paginate with steps that change something": {
			server("t: {description: \"T\", action: \"update\", steps: a: http: {method: \"GET\", path: \"/x\"}, response: {\npaginate: link: true}}"),
			[]string{`13 domains.d.tools.t.response.paginate: needs an action that only reads`},
		},
		"paginate by a step that there is not": {
			server("t: {description: \"T\", action: \"read\", steps: a: http: {method: \"GET\", path: \"/x\"}, response: {\npaginate: {link: true, step: \"b\"}}}"),
			[]string{`13 domains.d.tools.t.response.paginate.step: there is no step "b"`},
		},
		"paginate by what is no step but within one": {
			server("t: {description: \"T\", action: \"read\", steps: a: http: {method: \"GET\", path: \"/x\"}, response: {\npaginate: {link: true, step: \"a.http\"}}}"),
			[]string{`13 domains.d.tools.t.response.paginate.step: there is no step "a.http"`},
		},
		"paginate by a step whose name is no path": {
			server("t: {description: \"T\", action: \"read\", steps: a: http: {method: \"GET\", path: \"/x\"}, response: {\npaginate: {link: true, step: \"..\"}}}"),
			[]string{`13 domains.d.tools.t.response.paginate.step: there is no step ".."`},
		},
		"paginate by a step with a list": {
			server("t: {description: \"T\", action: \"read\", steps: a: each: [{method: \"GET\", path: \"/x\"}], response: {\npaginate: {link: true, step: \"a\"}}}"),
			[]string{`13 domains.d.tools.t.response.paginate.step: must be a step with http`},
		},
		"paginate with lists alone": {
			server("t: {description: \"T\", action: \"read\", steps: a: each: [{method: \"GET\", path: \"/x\"}], response: {\npaginate: link: true}}"),
			[]string{`13 domains.d.tools.t.response.paginate: needs a step with http`},
		},
		"paginate by a step where there is one request": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}, response: {\npaginate: {link: true, step: \"a\"}}}"),
			[]string{`13 domains.d.tools.t.response.paginate.step: needs steps`},
		},
		"paginate by two ways": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}, response: paginate: {\nlink: true\npage: number: \"p\"}}"),
			[]string{`14 domains.d.tools.t.response.paginate: takes one of cursor, link, nextLink, page, offset or whole`},
		},
		"paginate by none": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}, response: {\npaginate: items: \".\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate: needs one of`},
		},
		"paginate by no link": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}, response: paginate: {\nlink: false}}"),
			[]string{`13 domains.d.tools.t.response.paginate.link: must be true`},
		},
		"paginate by links of a POST": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"POST\", path: \"/x\"}, response: paginate: {\nnextLink: \".next\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.nextLink: needs the method GET`},
		},
		"paginate by a body that is none": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"POST\", path: \"/x\", query: n: 3, form: {a: \"b\"}}, response: paginate: {\noffset: {skip: \"/a\"\ntop: \"n\"}}}"),
			[]string{`13 domains.d.tools.t.response.paginate.offset.skip: /a is a member of the body, and the request has no body of JSON`},
		},
		"paginate by a header that is none": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}, response: paginate: cursor: {in: \"c\"\nheader: \"x y\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.cursor.header: "x y" is no header name`},
		},
		"paginate by broken jq": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}, response: paginate: {link: true\nitems: \".[\"\nmore: \".]\"}}"),
			[]string{`13 domains.d.tools.t.response.paginate.items: no jq program`, `14 domains.d.tools.t.response.paginate.more: no jq program`},
		},
		"sealKey of a caller": {
			server(good) + "server: {\nsealKey: inboundHeader: \"X-Key\"}\n",
			[]string{`16 server.sealKey: is the server's own`},
		},
		"half-element": {
			server("t: {description: \"T\", action: \"update\", input: {v?: string}, http: {method: \"PATCH\", path: \"/x\"\nbody: [for f in [\"a\"] {op: \"add\", path: \"/\\(f)\", value: input.v}]}}"),
			[]string{`13 domains.d.tools.t.http.body: element 0 of a list would be sent without a part`},
		},
		"half-element behind what is not known": {
			server("t: {description: \"T\", action: \"update\", input: {o!: string, v?: string, w?: [...string]}, http: {method: \"PATCH\", path: \"/x\"\nbody: [for f in [\"a\"] {op: input.o, value: input.v, w: input.w}]}}"),
			[]string{`13 domains.d.tools.t.http.body: element 0 of a list would be sent without a part`},
		},
		"half-element that only moves values": {
			server("t: {description: \"T\", action: \"update\", input: {o!: string, v?: string}, http: {method: \"PATCH\", path: \"/x\"\nbody: ops: [{op: input.o}, {op: \"test\", more: [for f in [1] {[input.v]}]}]\nquery: q: [\"\\(input.v)\"]}}"),
			[]string{
				`13 domains.d.tools.t.http.body.ops: element 0 of a list would be sent without a part: cannot reference optional field: v`,
				`14 domains.d.tools.t.http.query.q: element 0 of a list would be sent without a part`,
			},
		},
		"silent-omission of what is no argument": {
			server("t: {description: \"T\", action: \"create\", input: {v?: int}, http: {method: \"POST\", path: \"/x\", body: {v: input.v\nw: {a?: int}.a}}}"),
			[]string{`13 domains.d.tools.t.http.body.w: is never sent: cannot reference optional field: a, which is no argument`},
		},
		"a type in the place of a value": {
			server("t: {description: \"T\", action: \"create\", input: {v?: int}, http: {method: \"POST\", path: \"/x\", body: {v: input.v\nw: int}}}"),
			[]string{`13 domains.d.tools.t.http.body.w: has no value to send`},
		},
		"optional parts of arguments and answers": {
			server(`t: {description: "T", action: "create", input: {v?: {a?: {b?: int}}, w?: [...{c?: int}], u?: {k: "x", l?: int} | {m?: string}, x?: [string]: {n?: int}, y?: *{o?: int} | {p?: int}}
				http: {method: "POST", path: "/x", body: {v: input.v.a.b + 1, w: input.w[0].c, u: "\(input.u.l)", x: input.x.q.n, y: "\(input.y.o)"}}}
			s: {description: "T", action: "create", input: v?: int, steps: {a: {when: input.v > 1, http: {method: "GET", path: "/a"}}
				b: http: {method: "POST", path: "/b", body: {r: "\(steps.a.result.id)", h: steps.a.headers.link + "", s: steps.a.status + 1}}}}`),
			nil,
		},
		"no name": {
			server("t: {description: \"T\", action: \"read\", input: {\"\"?: int}, http: {method: \"GET\", path: \"/x\"\nquery: \"\": 1}}"),
			[]string{`12 domains.d.tools.t.input."": has no name`, `13 domains.d.tools.t.http.query: holds a field that has no name`},
		},
		"silent-omission of what input does not name": {
			server("t: {description: \"T\", action: \"create\", http: {method: \"POST\", path: \"/x\"}\ninput: {a?: int, ...}}\n" +
				"u: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\", query: q: input.a}\ninput: {a?: int, [=~\"^x\"]: int}}\n" +
				"v: {description: \"T\", action: \"read\", steps: a: http: {method: \"GET\", path: \"/x\"}\ninput: [string]: int}\n" +
				"w: {description: \"T\", action: \"create\", input: {...}, http: {method: \"POST\", path: \"/x\", body: input}}\n" +
				"x: {description: \"T\", action: \"read\", input: {[string]: string}, http: {method: \"GET\", path: \"/x\", query: {for k, v in input {(k): v}}}}\n"),
			[]string{
				`13 domains.d.tools.t.input: takes arguments that it does not name`,
				`15 domains.d.tools.u.input: takes arguments that it does not name`,
				`17 domains.d.tools.v.input: takes arguments that it does not name`,
			},
		},
		"no steps": {
			server("t: {description: \"T\", action: \"read\"\nsteps: {}}\n"),
			[]string{`13 domains.d.tools.t.steps: holds no step`},
		},
		"number-format of a schema": {
			server("t: {description: \"T\", action: \"read\"\ninput: a?: int & <1e400\nhttp: {method: \"GET\", path: \"/x\"}}\n"),
			[]string{`13 domains.d.tools.t.input: too large for a double`},
		},
		"body-on-get-delete": {
			server("t: {description: \"T\", action: \"read\", input: a!: int, http: {path: \"/x\", body: input.a\nmethod: \"HEAD\"}}\n" +
				"u: {description: \"T\", action: \"read\", input: a!: int, http: {path: \"/x\", body: input.a, method: \"GET\"}}\n"),
			[]string{`13 domains.d.tools.t.http.method: a HEAD request has no body`},
		},
		"config-silence": {
			server(""),
			[]string{`9 domains: there are no tools`},
		},
		"check unguarded": {
			server("t: {description: \"T\", action: \"read\", input: {v?: int}\ncheck: [if input.v > 3 {\"no\"}], http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`13 domains.d.tools.t.check: cannot be evaluated when an optional argument is left out`},
		},
		"credentials as a literal": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"\nheaders: Authorization: \"Bearer abc\"}}"),
			[]string{`13 domains.d.tools.t.http.headers.Authorization: those are references`},
		},
		"output schema beyond a double": {
			server("t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}\nresponse: schema: {n!: int & <1e400}}"),
			[]string{`13 domains.d.tools.t.response.schema: too large for a double`},
		},
		"rule after a rule that stands": {
			server("t: {description: \"T\", action: \"read\", input: {p: bool | *false, h?: string}\ncheck: [if !input.p {\"a\"}, if input.h == \"high\" {\"no\"}], http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`13 domains.d.tools.t.check: cannot be evaluated when an optional argument is left out`},
		},
		"rule with &&": {
			server("t: {description: \"T\", action: \"read\", input: {from!: int, to?: int}\ncheck: [if input.to != _|_ && input.from > input.to {\"no\"}], http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`13 domains.d.tools.t.check: put the tests one behind the other`},
		},
		"rule behind one that depends on an argument": {
			server("t: {description: \"T\", action: \"read\", input: {mode!: \"a\" | \"b\", x?: int}\ncheck: [if input.mode == \"b\" if input.x > 3 {\"no\"}], http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`13 domains.d.tools.t.check: a call with the arguments {"mode":"b"} would fail`},
		},
		"optional member of an element": {
			server("t: {description: \"T\", action: \"create\", input: {lines!: [...{sku!: string, note?: string}]}, http: {method: \"POST\", path: \"/x\", body: {\nlines: [for l in input.lines {s: l.sku, n: l.note}]}}}"),
			[]string{`13 domains.d.tools.t.http.body.lines: in an element of a list write if x != _|_ {member: x}`},
		},
		"types that do not go together": {
			server("t: {description: \"T\", action: \"read\", input: {a!: int, b?: int}, http: {method: \"GET\", path: \"/x\", query: {\na: input.a + \"x\"\nb: strings.ToUpper(input.b)}}}"),
			[]string{`13 domains.d.tools.t.http.query.a: invalid operands`, `14 domains.d.tools.t.http.query.b: cannot use`},
		},
		"elements that do not go together": {
			server("t: {description: \"T\", action: \"read\", input: {a?: [...int], b?: [...string], c?: [...(string | int)], d?: int}, http: {method: \"GET\", path: \"/x\", query: {\na: strings.Join(input.a, \",\")\nb: list.Sum(input.b)\nc: strings.Join(input.c, \",\")\nd: [for x in input.d {x}]}}}"),
			[]string{`13 domains.d.tools.t.http.query.a: invalid list element 0`, `14 domains.d.tools.t.http.query.b: invalid list element 0`,
				`15 domains.d.tools.t.http.query.c: {"c":[7]} would fail: invalid list element 0`, `16 domains.d.tools.t.http.query.d: cannot range over`},
		},
		"types beside a fault of another tool": {
			server("t: {description: \"T\", action: \"read\", input: a!: int, http: {method: \"GET\", path: \"/x\", query: {\na: input.a + \"x\"}}}\nu: {description: \"T\", action: \"raed\", http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`13 domains.d.tools.t.http.query.a: invalid operands`, `14 domains.d.tools.u.action: there is no action`},
		},
		"a table that lacks a value": {
			server("t: {description: \"T\", action: \"read\", input: {mode!: \"a\" | \"b\"}, http: {method: \"GET\", path: \"/x\", query: {\nm: {a: 1, c: 2}[input.mode]}}}"),
			[]string{`13 domains.d.tools.t.http.query.m: undefined field: b`},
		},
		"example": {
			server("t: {description: \"T\", action: \"read\", input: {v!: int, w?: int}, http: {method: \"GET\", path: \"/x\"}\nexamples: [{arguments: {v: 1}},\n{arguments: {x: 1}}]}"),
			[]string{`14 domains.d.tools.t.examples[1].arguments: missing required argument: v`, `14 domains.d.tools.t.examples[1].arguments.x: unknown argument: x`},
		},
		"name-limits": {
			server(good + "\nu: {description: \"U\", action: \"read\", aliases: [\"t\"], http: {method: \"GET\", path: \"/x\"}}\n" + strings.Repeat("n", 63) + ": {description: \"N\", action: \"read\", http: {method: \"GET\", path: \"/x\"}}"),
			[]string{`13 domains.d.tools.u.aliases[0]: the name t is taken: domains.d.tools.t at test/c.cue:12 answers to it`, `14 domains.d.tools.` + strings.Repeat("n", 63) + `: too long`},
		},
		"duplicates over domains": {
			server(good) + "domains: e: {description: \"E\", tools: t: {description: \"T\", action: \"read\", http: {method: \"GET\", path: \"/x\"}}}\n",
			[]string{`15 domains.e.tools.t: the name t is taken: domains.d.tools.t at test/c.cue:12`},
		},
		"default argument": {
			server(good) + "defaults: {a: \"x\"\nprojcet: \"y\"}\n",
			[]string{`16 defaults.projcet: no tool has an argument projcet`},
		},
		"default argument that goes with none": {
			server(good) + "defaults: {a: \"x\" @with(b)\n}\n",
			[]string{`15 defaults.a: @with names the default that this one goes with, and there is no default "b" beside it`},
		},
		"default that is null and goes with none": {
			server(good) + "defaults: {a: null @with(b)\n}\n",
			[]string{`15 defaults.a: @with names the default that this one goes with, and there is no default "b" beside it`},
		},
		"skill": {
			server(good) + "skills: s: {description: \"S\", tools: [\"t\",\n\"tt\"]}\n",
			[]string{`16 skills.s.tools[1]: there is no tool "tt"`},
		},
		"own action": {
			server(good) + "actions: run: description: \"Runs\"\n",
			[]string{`15 actions.run: effect is missing`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings := build(t, tt.src)
			var got []string
			for _, f := range findings {
				got = append(got, fmt.Sprintf("%d %s: %s", f.Line, f.Path, f.Message))
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %d findings, want %d:\n%s", len(got), len(tt.want), strings.Join(got, "\n"))
			}
			for i, want := range tt.want {
				place, part, _ := strings.Cut(want, ": ")
				if !strings.HasPrefix(got[i], place+": ") || !strings.Contains(got[i], part) {
					t.Errorf("\n got %s\nwant %s", got[i], want)
				}
			}
		})
	}
}

// TestCredentialScope pins that a dry run shows no request that would be refused:
// a caller names the header that holds the credentials.
func TestCredentialScope(t *testing.T) {
	p, findings := build(t, server(`t: {description: "T", action: "read", input: h?: [string]: string, http: {method: "GET", path: "/x", upstream: "k", headers: input.h}}`)+
		`upstreams: k: {url: "https://k.example", auth: header: {name: "X-Key", value: env: "K"}}`)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if plan, r := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(`{"h":{"x-key":"mine"}}`)); plan != nil || !strings.Contains(exec.Reason(r), "credentials") {
		t.Errorf("got %v, %v", plan, r)
	}
	if plan, r := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(`{"h":{"x-other":"mine"}}`)); plan == nil {
		t.Errorf("got %v", r)
	}
}

// TestDirect pins that bindings which only move values never reach CUE.
func TestDirect(t *testing.T) {
	p, findings := build(t, server(`t: {description: "T", action: "create", input: {a!: string, b?: int, c?: [...string], d?: {e?: string}},
		http: {method: "POST", path: "/x/{a}", query: {q: input.b}, headers: "X-Y": "const", body: {a: input.a, list: [input.a], nested: {e: input.d.e, c: input.c}}}}`))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if r := p.Tools["t"].Steps[0].Request; r.Exprs != nil || p.Tools["t"].Verifier != nil {
		t.Errorf("evaluated at the call: %+v", r)
	}
}

// TestDeprecated shows that a deprecated tool says so where a model chooses.
func TestDeprecated(t *testing.T) {
	p, findings := build(t, server(`t: {description: "Does it", deprecated: "use u, which pages", action: "read", http: {method: "GET", path: "/x"}}`))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if got := p.Tools["t"].Info.Description; got != "Does it (deprecated: use u, which pages)" {
		t.Errorf("description: %q", got)
	}
}

func TestServerDefaults(t *testing.T) {
	src := server(`t: {description: "T", action: "read", input: {project!: string, x?: int}, http: {method: "GET", path: "/{project}"}}`) + "defaults: {project: \"Contoso\", x: null}\n"
	p, findings := build(t, src)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	info, _ := p.Catalog.Tool("t")
	if string(info.Defaults) != `{"project":"Contoso"}` {
		t.Errorf("defaults: %s", info.Defaults)
	}
	if s := string(info.InputSchema); strings.Contains(s, "required") || !strings.Contains(s, `"default":"Contoso"`) {
		t.Errorf("schema: %s", s)
	}
	plan, _ := p.Plan(t.Context(), call.Caller{}, "t", nil)
	if plan == nil || !strings.HasPrefix(plan.Request.URL, "https://api.example/v1/Contoso?") {
		t.Errorf("plan: %+v", plan)
	}
}

// TestDefaultNone pins that an argument can do without the server-level default.
func TestDefaultNone(t *testing.T) {
	const tools = `
		t: {description: "T", action: "read", input: {id!: int, #Project}, http: {method: "GET", path: "{/project}/{id}"}}
		u: {description: "U", action: "read", input: project!: string, http: {method: "GET", path: "/{project}"}}`
	p, findings := build(t, server(tools)+"#Project: project?: string @default(none)\ndefaults: project: \"Contoso\"\n")
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	for args, want := range map[string]string{`{"id":7}`: "/7?", `{"id":7,"project":"P"}`: "/P/7?"} {
		plan, refused := p.Plan(t.Context(), call.Caller{}, "t", json.RawMessage(args))
		if plan == nil || !strings.HasPrefix(plan.Request.URL, "https://api.example/v1"+want) {
			t.Errorf("%s: %+v %+v", args, plan, refused)
		}
	}
	if info, _ := p.Catalog.Tool("t"); strings.Contains(string(info.InputSchema), "Contoso") || info.Defaults != nil {
		t.Errorf("the schema or the defaults tell of one: %s %s", info.InputSchema, info.Defaults)
	}
	_, findings = build(t, server(`t: {description: "T", action: "read", input: a?: string @default("x"), http: {method: "GET", path: "/x"}}`)+"defaults: a: \"y\"\n")
	if len(findings) != 1 || !strings.Contains(findings[0].Message, "@default takes none") {
		t.Errorf("findings: %v", findings)
	}
}

// TestDefaultGoesWith pins that a default which belongs to another, such as the team
// of a project, does not stand in where a call has something else for that.
func TestDefaultGoesWith(t *testing.T) {
	const tools = `
		t: {description: "T", action: "read", input: {project!: string, team!: string}, http: {method: "GET", path: "/{project}/{team}"}}
		u: {description: "U", action: "read", input: {project!: string, team?: string}, http: {method: "GET", path: "/{project}{/team}"}}
		v: {description: "V", action: "read", input: {team!: string}, http: {method: "GET", path: "/{team}"}}`
	p, findings := build(t, server(tools)+"defaults: {project: *null | string, team: \"Red\" @with(project)}\ndefaults: project: \"Contoso\"\n")
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	without, findings := build(t, server(tools)+"defaults: {project: null, team: \"Red\" @with(project)}\n")
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	for _, tt := range []struct {
		p                *exec.Program
		tool, args, want string
	}{
		{p, "t", `{}`, "/Contoso/Red?"},
		{p, "t", `{"project":"\u0043ontoso"}`, "/Contoso/Red?"},
		{p, "t", `{"project":"Other","team":"Red"}`, "/Other/Red?"},
		{p, "t", `{"project":"Other"}`, `missing required argument: team (the default goes with project \"Contoso\")`},
		{p, "u", `{}`, "/Contoso/Red?"},
		{p, "u", `{"project":"Other"}`, "/Other?"},
		{p, "v", `{}`, "/Red?"},
		{without, "t", `{"project":"Other"}`, "/Other/Red?"},
	} {
		plan, refused := tt.p.Plan(t.Context(), call.Caller{}, tt.tool, json.RawMessage(tt.args))
		if plan != nil && !strings.HasPrefix(plan.Request.URL, "https://api.example/v1"+tt.want) || plan == nil && !strings.Contains(refused.Content[0].Text, tt.want) {
			t.Errorf("%s %s: %+v %+v", tt.tool, tt.args, plan, refused)
		}
	}
}

// thousand is a configuration of n tools of 12 arguments in nine domains.
func thousand(n int) string {
	var b strings.Builder
	b.WriteString("package c\n\nserver: name: \"s\"\nupstreams: api: url: \"https://api.example\"\n")
	for i := range n {
		fmt.Fprintf(&b, "domains: d%d: {description: \"Domain %d\", tools: tool_%d: {\n\tdescription: \"Does thing %d to something\"\n\taction: \"read\"\n\tinput: {\n", i%9, i%9, i, i)
		for j := range 12 {
			typ := []string{"string", "int & >=1 & <=1000", `"a" | "b" | "c"`, "[...string]", "bool", "int | *100"}[j%6]
			mark := []string{"!", "?", "?", "?", "?", ""}[j%6]
			fmt.Fprintf(&b, "\t\t// Argument number %d\n\t\targ%d%s: %s\n", j, j, mark, typ)
		}
		b.WriteString("\t}\n\thttp: {method: \"GET\", path: \"/things/{arg0}/parts/{arg6}\", query: {\"$top\": input.arg5, filter: input.arg2}}\n}}\n")
	}
	return b.String()
}

func BenchmarkThousandTools(b *testing.B) {
	src := thousand(1000)
	for b.Loop() {
		if _, findings := build(b, src); len(findings) > 0 {
			b.Fatal(findings[0])
		}
	}
}

func benchmarkPlan(b *testing.B, query string) {
	p, findings := build(b, server(`t: {description: "T", action: "read", input: {a!: string, ids!: [...int], s?: string}, http: {method: "GET", path: "/x/{a}", query: `+query+`}}`))
	if len(findings) > 0 {
		b.Fatal(findings)
	}
	args, err := bind.ParseArgs([]byte(`{"a":"A","ids":[1,2,3],"s":"text"}`), bind.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	r := p.Tools["t"].Steps[0].Request
	for b.Loop() {
		if _, err := r.Build(b.Context(), &bind.Scope{Args: args}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBindDirect(b *testing.B) { benchmarkPlan(b, `{ids: input.ids, s: input.s}`) }

func BenchmarkBindExpression(b *testing.B) {
	benchmarkPlan(b, `{ids: strings.Join([for i in input.ids {"\(i)"}], ","), s: strings.ToUpper(input.s)}`)
}
