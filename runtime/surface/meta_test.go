package surface

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
)

const (
	repoSchema   = `{"type":"object","properties":{"id":{"type":"string"},"project":{"type":"string","default":"Contoso"}},"required":["id"],"additionalProperties":false}`
	branchSchema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`
	repoEntry    = `{"tool_name":"get_repository","description":"Do get_repository <now> & here","domain":"repositories","action":"read","inputSchema":` + repoSchema +
		`,"outputSchema":{"type":"object","properties":{"name":{"type":"string"}}},"examples":[{"description":"By name","arguments":{"id":"web"}},{"arguments":{"id":"9007199254740993"}}]}`
	branchEntry  = `{"tool_name":"create_branch","description":"Do create_branch <now> & here","domain":"repositories","action":"create","inputSchema":` + branchSchema + `}`
	domainSchema = `{"type":"object","properties":{"domain":{"type":"string","enum":["repositories","pipelines","secrets"]},"action":{"type":"string","enum":["read","create","delete"]}},"required":["domain"]}`
	namesSchema  = `{"type":"object","properties":{"tool_name":{"type":"string"},"tool_names":{"type":"array","items":{"type":"string"}}}}`
	runSchema    = `{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object"}},"required":["tool_name"]}`
)

// wrong is the answer to a call of a meta-tool with wrong arguments.
func wrong(tool, schema, fault string) string {
	return fmt.Sprintf(`{"error":%s,"tool_name":%q,"inputSchema":%s}`, compact(fault), tool, schema)
}

// What the three discovery tools answer to what is sent, right or nearly right.
func TestDiscovery(t *testing.T) {
	for _, c := range []struct {
		tool, args, want string
		isError          bool
		repairs          []string
	}{
		// list_domains
		{listDomains, `{}`, `{"domains":[{"name":"repositories","description":"Git repositories and branches."},{"name":"pipelines","description":"Builds and their logs"},{"name":"secrets","description":"Vaults"}]}`, false, nil},
		{listDomains, `{"domain":"core"}`, wrong(listDomains, `{"type":"object","properties":{}}`, "unknown argument: domain"), true, nil},
		{listDomains, `[]`, wrong(listDomains, `{"type":"object","properties":{}}`, "the arguments must be a JSON object: it is an array"), true, nil},
		{listDomains, `7`, wrong(listDomains, `{"type":"object","properties":{}}`, "the arguments must be a JSON object: it is a number"), true, nil},
		{listDomains, `true`, wrong(listDomains, `{"type":"object","properties":{}}`, "the arguments must be a JSON object: it is a boolean"), true, nil},
		{listDomains, `"all"`, wrong(listDomains, `{"type":"object","properties":{}}`, "the arguments must be a JSON object: it is a string"), true, nil},
		{listDomains, `{"a":1,"a":2}`, wrong(listDomains, `{"type":"object","properties":{}}`, "the arguments must be a JSON object: it holds a twice"), true, nil},
		{listDomains, `{"a":`, wrong(listDomains, `{"type":"object","properties":{}}`, "the arguments must be a JSON object: it is not JSON"), true, nil},

		// list_domain_tools
		{listDomainTools, `{"domain":"repositories"}`, `{"domain":"repositories","tools":[` +
			`{"name":"get_repository","description":"Do get_repository <now> & here","action":"read","defaults":{"project":"Contoso"}},` +
			`{"name":"create_branch","description":"Do create_branch <now> & here","action":"create"},` +
			`{"name":"delete_repository","description":"Do delete_repository <now> & here","action":"delete"}]}`, false, nil},
		{listDomainTools, `{"domain":"repositories","action":"delete"}`, `{"domain":"repositories","action":"delete","tools":[{"name":"delete_repository","description":"Do delete_repository <now> & here","action":"delete"}]}`, false, nil},
		{listDomainTools, `{"domain":"secrets","action":"delete"}`, `{"domain":"secrets","action":"delete","tools":[]}`, false, nil},
		{listDomainTools, `"{\"domain\":\"secrets\",\"action\":\"\"}"`, `{"domain":"secrets","tools":[{"name":"get_vault","description":"Do get_vault <now> & here","action":"read"}]}`, false,
			[]string{"the arguments were JSON text and were read as the object in it", "action was empty and was left out"}},
		{listDomainTools, `{"domain":"secrets","action":null}`, `{"domain":"secrets","tools":[{"name":"get_vault","description":"Do get_vault <now> & here","action":"read"}]}`, false, []string{"action was empty and was left out"}},
		{listDomainTools, `{"domain":"repositorys"}`, `{"error":"unknown domain: repositorys","nearest":["repositories"]}`, true, nil},
		{listDomainTools, `{"domain":"Secrets"}`, `{"error":"unknown domain: Secrets","nearest":["secrets"]}`, true, nil}, // near is not equal
		{listDomainTools, `{"domain":"billing"}`, `{"error":"unknown domain: billing; there are repositories, pipelines, secrets"}`, true, nil},
		{listDomainTools, `{"domain":"pipeline","action":"delet"}`, `{"error":"unknown domain: pipeline; unknown action: delet","nearest":["pipelines","delete"]}`, true, nil},
		{listDomainTools, `{"domain":"secrets","action":"update"}`, `{"error":"unknown action: update; there are read, create, delete"}`, true, nil}, // in the taxonomy, not in use
		{listDomainTools, `{"domain":42}`, `{"error":"unknown domain: 42; there are repositories, pipelines, secrets"}`, true, []string{"domain was 42 and was read as text"}},
		{listDomainTools, ``, wrong(listDomainTools, domainSchema, "missing required argument: domain"), true, nil},
		{listDomainTools, `null`, wrong(listDomainTools, domainSchema, "missing required argument: domain"), true, nil},
		{listDomainTools, `{"domain":""}`, wrong(listDomainTools, domainSchema, "missing required argument: domain"), true, nil},
		{listDomainTools, `{"domian":"secrets","action":["read"],"x":1}`, wrong(listDomainTools, domainSchema,
			"missing required argument: domain; action must be a string; unknown argument: domian (nearest: domain); unknown argument: x"), true, nil},

		// get_tool_schema
		{getToolSchema, `{"tool_name":"get_repository"}`, repoEntry, false, nil},
		{getToolSchema, `{"tool_name":"repo_get"}`, repoEntry, false, nil}, // an alias answers with the name of now
		{getToolSchema, `{"tool_name":"create_branch","tool_names":[]}`, branchEntry, false, nil},
		{getToolSchema, `{"tool_name":"create_branch","tool_names":null}`, branchEntry, false, []string{"tool_names was empty and was left out"}},
		{getToolSchema, `{"tool_name":"","tool_names":["create_branch"]}`, `{"tools":[` + branchEntry + `]}`, false, []string{"tool_name was empty and was left out"}},
		{getToolSchema, `{"tool_names":["","create_branch"]}`, `{"tools":[{"tool_name":"","error":"unknown tool: "},` + branchEntry + `]}`, false, nil},
		{getToolSchema, `{"tool_names":["create_branch","get_repository","create_branch"]}`, `{"tools":[` + branchEntry + `,` + repoEntry + `]}`, false, nil},
		{getToolSchema, `{"tool_name":["create_branch"]}`, `{"tools":[` + branchEntry + `]}`, false, nil},
		{getToolSchema, `{"tool_names":"create_branch"}`, `{"tools":[` + branchEntry + `]}`, false, nil},
		{getToolSchema, `{"tool_names":"[\"create_branch\",\"get_repository\"]"}`, `{"tools":[` + branchEntry + `,` + repoEntry + `]}`, false, []string{"tool_names was JSON text and was read as the list in it"}},
		{getToolSchema, `{"tool_name":"[\"create_branch\"]"}`, `{"tools":[` + branchEntry + `]}`, false, []string{"tool_name was JSON text and was read as the list in it"}},
		{getToolSchema, `{"tool_name":"get_repository","tool_names":["create_branch"]}`, `{"tools":[` + repoEntry + `,` + branchEntry + `]}`, false, nil},
		{getToolSchema, `{"tool_names":"create_branch, repo_get"}`, `{"tools":[` + branchEntry + `,` + repoEntry + `]}`, false, []string{"create_branch, repo_get was read as the names in it"}},
		{getToolSchema, `{"tool_name":"create_branch,get_repository"}`, `{"tools":[` + branchEntry + `,` + repoEntry + `]}`, false, []string{"create_branch,get_repository was read as the names in it"}},
		{getToolSchema, `{"tool_name":"create_branch,zzz"}`, `{"tool_name":"create_branch,zzz","error":"unknown tool: create_branch,zzz","nearest":["create_branch"]}`, true, nil},
		{getToolSchema, `{"tool_name":"get_repositori"}`, `{"tool_name":"get_repositori","error":"unknown tool: get_repositori","nearest":["get_repository"]}`, true, nil},
		{getToolSchema, `{"tool_name":42}`, `{"tool_name":"42","error":"unknown tool: 42"}`, true, []string{"tool_name was 42 and was read as text"}},
		{getToolSchema, `{"tool_names":["zzz","create_branch"]}`, `{"tools":[{"tool_name":"zzz","error":"unknown tool: zzz"},` + branchEntry + `]}`, false, nil},
		{getToolSchema, `{"tool_names":["zzz",1]}`, `{"tools":[{"tool_name":"zzz","error":"unknown tool: zzz"},{"tool_name":"1","error":"unknown tool: 1"}]}`, true, []string{"tool_names was 1 and was read as text"}},
		{getToolSchema, `{}`, wrong(getToolSchema, namesSchema, "missing argument: give tool_name or tool_names"), true, nil},
		{getToolSchema, `{"tool_name":"","tool_names":[]}`, wrong(getToolSchema, namesSchema, "missing argument: give tool_name or tool_names"), true, []string{"tool_name was empty and was left out"}},
		{getToolSchema, `{"tool_name":{"a":1}}`, wrong(getToolSchema, namesSchema, "tool_name must hold strings"), true, nil},
		{getToolSchema, `{"tool_names":[null],"name":"x"}`, wrong(getToolSchema, namesSchema, "tool_names must hold strings; unknown argument: name (nearest: tool_name)"), true, nil},
	} {
		var r recorder
		got, result := ask(t, newSurface(t, "meta", small(), r.do), c.tool, c.args)
		if got != c.want || result.IsError != c.isError {
			t.Errorf("%s %s:\n%v %s\nwant\n%v %s", c.tool, c.args, result.IsError, got, c.isError, c.want)
		}
		if !slices.Equal(repairs(result), c.repairs) {
			t.Errorf("%s %s: repairs %q, want %q", c.tool, c.args, repairs(result), c.repairs)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s %s: not JSON: %s", c.tool, c.args, got)
		}
		if result.StructuredContent != nil {
			t.Errorf("%s %s: repeated as structured content", c.tool, c.args)
		}
		if len(r.calls) > 0 {
			t.Errorf("%s %s: ran %v", c.tool, c.args, r.calls)
		}
	}
}

// What execute_tool runs for what is sent.
func TestExecute(t *testing.T) {
	for _, c := range []struct {
		args    string
		want    made
		repairs []string
	}{
		{`{"tool_name":"create_branch","arguments":{"name":"a"}}`, made{"create_branch", `{"name":"a"}`}, nil},
		{`{"tool_name":"create_branch","arguments":{ "n": 9007199254740993 }}`, made{"create_branch", `{ "n": 9007199254740993 }`}, nil},
		{`{"tool_name":"create_branch"}`, made{"create_branch", ``}, nil},
		{`{"tool_name":"create_branch","arguments":null}`, made{"create_branch", ``}, []string{"arguments was empty and was left out"}},
		{`{"tool_name":"create_branch","arguments":""}`, made{"create_branch", ``}, []string{"arguments was empty and was left out"}},
		{`{"tool_name":"repo_get","arguments":{}}`, made{"get_repository", `{}`}, nil},
		// What stands in place of an object is the program's to read.
		{`{"tool_name":"create_branch","arguments":"{\"name\":\"a\"}"}`, made{"create_branch", `"{\"name\":\"a\"}"`}, nil},
		{`{"tool_name":"create_branch","arguments":[1]}`, made{"create_branch", `[1]`}, nil},
		{`{"tool_name":"run_command","arguments":{"arguments":["-v"]}}`, made{"run_command", `{"arguments":["-v"]}`}, nil},
	} {
		r := recorder{answer: call.Text("ok")}
		got, result := ask(t, newSurface(t, "meta", small(), r.do), executeTool, c.args)
		if got != "ok" || len(r.calls) != 1 || r.calls[0] != c.want {
			t.Errorf("%s: %s %q, want %q", c.args, got, r.calls, c.want)
		}
		if !slices.Equal(repairs(result), c.repairs) {
			t.Errorf("%s: repairs %q, want %q", c.args, repairs(result), c.repairs)
		}
	}
}

// The kinds of a broken envelope that can only mean one thing.
func TestArgsAsString(t *testing.T) {
	const beside = " stood beside arguments and was read as part of it"
	for _, c := range []struct {
		name, args string
		want       made
		repairs    []string
	}{
		// The whole as JSON text.
		{executeTool, `"{\"tool_name\":\"create_branch\",\"arguments\":{\"name\":\"a\"}}"`, made{"create_branch", `{"name":"a"}`},
			[]string{"the arguments were JSON text and were read as the object in it"}},
		// The envelope left out, wholly or in part.
		{executeTool, `{"tool_name":"create_branch","name":"a","n":1.10}`, made{"create_branch", `{"name":"a","n":1.10}`}, []string{"name, n" + beside}},
		{executeTool, `{"name":"a","tool_name":"create_branch","arguments":null}`, made{"create_branch", `{"name":"a"}`}, []string{"arguments was empty and was left out", "name" + beside}},
		{executeTool, `{"tool_name":"get_repository","arguments":{"id":"1"},"project":"x"}`, made{"get_repository", `{"id":"1","project":"x"}`}, []string{"project" + beside}},
		{executeTool, `{"tool_name":"get_repository","arguments":"{\"id\":\"1\"}","project":"x"}`, made{"get_repository", `{"id":"1","project":"x"}`}, []string{"project" + beside}},
		{executeTool, `{"tool_name":"get_repository","arguments":{"id":"1"},"id":"1"}`, made{"get_repository", `{"id":"1"}`}, []string{"id" + beside}},
		{executeTool, `{"tool_name":"run_command","command":"ls"}`, made{"run_command", `{"command":"ls"}`}, []string{"command" + beside}},
		// A tool by its own name or alias, though it is not listed.
		{"create_branch", `{"name":"a"}`, made{"create_branch", `{"name":"a"}`}, []string{"create_branch is not listed here and was run as by execute_tool"}},
		{"repo_get", ``, made{"get_repository", ``}, []string{"repo_get is not listed here and was run as by execute_tool"}},
	} {
		r := recorder{answer: call.Result{Content: []call.Content{{Text: "ok"}}, Repairs: []string{"and the program's"}}}
		got, result := ask(t, newSurface(t, "meta", small(), r.do), c.name, c.args)
		if got != "ok" || len(r.calls) != 1 || r.calls[0] != c.want {
			t.Errorf("%s %s: %s %q, want %q", c.name, c.args, got, r.calls, c.want)
		}
		if want := append(c.repairs, "and the program's"); !slices.Equal(repairs(result), want) {
			t.Errorf("%s %s: repairs %q, want %q", c.name, c.args, repairs(result), want)
		}
	}
}

// A command line sends 42 where the name is "42".
func TestToolNameAsNumber(t *testing.T) {
	c := small()
	c.Domains[2].Tools = append(c.Domains[2].Tools, tool("secrets", "read", "42", `{"type":"object","properties":{}}`), tool("secrets", "read", "true", `{"type":"object","properties":{}}`))
	for _, name := range []string{"42", "true"} {
		r := recorder{answer: call.Text("ok")}
		_, result := ask(t, newSurface(t, "meta", catalog.New(*c), r.do), executeTool, `{"tool_name":`+name+`}`)
		if len(r.calls) != 1 || r.calls[0].tool != name {
			t.Errorf("tool_name %s: called %v", name, r.calls)
		}
		if want := []string{"tool_name was " + name + " and was read as text"}; !slices.Equal(repairs(result), want) {
			t.Errorf("tool_name %s: repairs %q, want %q", name, repairs(result), want)
		}
	}
}

// What execute_tool refuses runs nothing.
func TestExecuteRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{}`, wrong(executeTool, runSchema, "missing required argument: tool_name")},
		{`{"arguments":{"name":"a"},"name":"create_branch"}`, wrong(executeTool, runSchema, "missing required argument: tool_name")},
		{`{"tool_name":["create_branch"]}`, wrong(executeTool, runSchema, "tool_name must be a string")},
		{`"create_branch"`, wrong(executeTool, runSchema, "the arguments must be a JSON object: it is a string; missing required argument: tool_name")},
		{`{"tool_name":"create_branch","tool_name":"delete_repository"}`, wrong(executeTool, runSchema, "the arguments must be a JSON object: it holds tool_name twice; missing required argument: tool_name")},
		{`{"tool_name":"delete_repo","arguments":{}}`, `{"tool_name":"delete_repo","error":"unknown tool: delete_repo","nearest":["delete_repository"]}`},
		{`{"tool_name":"list_domains"}`, `{"tool_name":"list_domains","error":"list_domains is called by itself, not through execute_tool","nearest":["list_domains"]}`},
		// Two meanings: none is chosen.
		{`{"tool_name":"get_repository","arguments":{"id":"1"},"id":"2"}`, refusedBy("get_repository", `{"id":"1"}`, call.Fault{Message: "id is given twice, in arguments and beside it: put it into arguments"})},
		{`{"tool_name":"run_command","arguments":["-l"],"command":"ls"}`, refusedBy("run_command", `{"command":"ls"}`, call.Fault{Message: "run_command has an argument called arguments: put all arguments of the tool into arguments"})},
		{`{"tool_name":"get_repository","arguments":"x","id":"2"}`, refusedBy("get_repository", `{"id":"2"}`, call.Fault{Message: "arguments must be a JSON object: it is a string"})},
	} {
		var r recorder
		got, result := ask(t, newSurface(t, "meta", small(), r.do), executeTool, c.args)
		if got != c.want || !result.IsError {
			t.Errorf("%s:\n%v %s\nwant\n%s", c.args, result.IsError, got, c.want)
		}
		if len(r.calls) > 0 {
			t.Errorf("%s: ran %v", c.args, r.calls)
		}
	}
}

// An empty catalog gives empty lists, never null.
func TestEmpty(t *testing.T) {
	s := newSurface(t, "meta", catalog.New(catalog.Catalog{}), nil)
	for _, c := range []struct{ tool, args, want string }{
		{listDomains, ``, `{"domains":[]}`},
		{listDomainTools, `{"domain":"x"}`, `{"error":"unknown domain: x"}`},
		{getToolSchema, `{"tool_name":"x"}`, `{"tool_name":"x","error":"unknown tool: x"}`},
	} {
		if got, _ := ask(t, s, c.tool, c.args); got != c.want {
			t.Errorf("%s: %s, want %s", c.tool, got, c.want)
		}
	}
	if got := wire(newSurface(t, "flat", catalog.New(catalog.Catalog{}), nil).Tools()); string(got) != "[]" {
		t.Errorf("flat: %s", got)
	}
	if strings.Contains(string(wire(s.Tools())), "null") {
		t.Errorf("meta: %s", wire(s.Tools()))
	}
}

// One check of bounds holds on every way in: whatever is asked, by whatever name,
// nothing out of bounds is run, and the answer is the one that a name gets
// which there never was.
func TestPolicyByName(t *testing.T) {
	t.Run("plain", func(t *testing.T) { policyByName(t, small()) })
	t.Run("tuned", func(t *testing.T) { policyByName(t, tuned(small(), everything, escapes()...)) })
	t.Run("unlisted", func(t *testing.T) {
		c := live()
		c.Domains[0].Unlisted, c.Domains[1].Unlisted = true, true
		policyByName(t, c)
	})
}

func policyByName(t *testing.T, whole *catalog.Catalog) {
	for what, bounds := range map[string]catalog.Bounds{
		"read-only": {ReadOnly: true},
		"domains":   {Domains: []string{"repositories"}},
		"exclude":   {Exclude: []string{"get_repository", "get_vault"}},
		"all three": {ReadOnly: true, Domains: []string{"repositories", "pipelines"}, Exclude: []string{"run_command"}},
	} {
		within := whole.Within(bounds)
		var hidden []string // names of tools, aliases and domains that are out of bounds
		for _, d := range whole.Domains {
			if _, ok := within.Domain(d.Name); !ok {
				hidden = append(hidden, d.Name)
			}
			for _, t := range d.Tools {
				if _, ok := within.Tool(t.Name); !ok {
					hidden = append(append(hidden, t.Name), t.Aliases...)
				}
			}
		}
		if len(hidden) == 0 {
			t.Fatalf("%s hides nothing", what)
		}
		for _, mode := range Modes() {
			s := newSurface(t, mode, within, func(_ context.Context, _ call.Caller, tool string, _ json.RawMessage) call.Result {
				if _, ok := within.Callable(tool); !ok {
					t.Errorf("%s, %s: %s was run", what, mode, tool)
				}
				return call.Text("ran")
			})
			seen := []string{string(wire(s.Tools())), s.Instructions()}
			say := func(name, args string) string {
				r, err := s.Call(t.Context(), call.Caller{}, name, json.RawMessage(args))
				if err != nil {
					return err.Error()
				}
				return string(compact(r))
			}
			// Everything there is to see by asking for what is in bounds, or near anything.
			ways := []string{`{"tool_name":%q}`, `{"tool_names":[%q]}`, `{"tool_names":[%q,"zzz"]}`, `{"tool_name":%q,"x":1}`, `{"domain":%q}`, `{"domain":%q,"action":"read"}`, `{"domain":"repositories","action":%q}`, `{"x":%q}`, `{%[1]q:%[1]q}`,
				`{"query":%q}`, `{"query":"do repository","domain":%q}`, `{"method":%q,"path":"a"}`, `{"action":%q}`, `{"domain":"repositories","operation":%q}`, `{"domain":"repositories","action":%q}`, `{"operation":%q}`}
			var tools []string // the surface's own
			for _, tool := range s.Tools() {
				if _, ok := within.Tool(tool.Name); !ok {
					tools = append(tools, tool.Name)
				}
			}
			names := []string{"", "zzz", "read", "create", "update", "delete", "GET", "DELETE"}
			for _, d := range whole.Domains {
				names = append(names, d.Name)
				for _, t := range d.Tools {
					names = append(append(names, t.Name), t.Aliases...)
				}
			}
			for _, name := range names {
				for _, asked := range []string{name, mangled(name)} {
					answers := []string{say(asked, `{}`)}
					for _, tool := range tools {
						for _, way := range ways {
							answers = append(answers, say(tool, fmt.Sprintf(way, asked)))
						}
					}
					for _, a := range answers {
						// The caller's own word may come back.
						seen = append(seen, strings.ReplaceAll(a, asked, ""))
					}
				}
			}
			for _, text := range seen {
				for _, h := range hidden {
					if strings.Contains(text, h) {
						t.Errorf("%s, %s: %s leaks in %s", what, mode, h, text)
					}
				}
			}
			for _, h := range hidden {
				for _, tool := range append(tools, "") {
					for _, way := range ways {
						never := strings.Repeat("q", len(h))
						name, other := tool, tool
						if tool == "" {
							name, other = h, never
						}
						got, want := say(name, fmt.Sprintf(way, h)), say(other, fmt.Sprintf(way, never))
						if len(got) != len(want) && !strings.Contains(got, "nearest") && tool != searchTools { // words of a name find what else has them
							t.Errorf("%s, %s: %s %s is answered\n%s\nand a name that never was\n%s", what, mode, tool, h, got, want)
						}
					}
				}
			}
		}
	}
}

// mangled is a misspelling that holds nothing of the name itself.
func mangled(name string) string {
	if len(name) < 4 {
		return name + "x"
	}
	return name[:2] + "-" + name[3:]
}

// What is sent in bulk is refused before anything is done with it.
func TestResourceBomb(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	for _, c := range []struct{ tool, args, want string }{
		{getToolSchema, `{"tool_names":[` + many(maxNames+1, `"tool_%d",`) + `]}`, "tool_names holds 101 names: ask for at most 100 at a time"},
		{listDomains, `{` + many(100_000, `"x%d":1,`) + `}`, "the arguments must be a JSON object: it has more than 1000 members"},
		{executeTool, `{"tool_name":"create_branch","arguments":{` + many(100_000, `"x%d":1,`) + `},"y":1}`, "arguments must be a JSON object: it has more than 1000 members"},
	} {
		var r recorder
		got, result := ask(t, newSurface(t, "meta", small(), r.do), c.tool, c.args)
		if !result.IsError || !strings.Contains(got, c.want) || len(got) > 1000 || len(r.calls) > 0 {
			t.Errorf("%s %.60s: %.300s, ran %d, want %s", c.tool, c.args, got, len(r.calls), c.want)
		}
	}
	// As many as are allowed are answered.
	got, result := ask(t, newSurface(t, "meta", small(), nil), getToolSchema, `{"tool_names":[`+many(maxNames, `"tool_%d",`)+`]}`)
	if !result.IsError || strings.Count(got, `"error"`) != maxNames {
		t.Errorf("%d names: %.300s", maxNames, got)
	}
}

// Whatever is sent to a tool of a surface is answered, and never with a panic.
func FuzzEnvelope(f *testing.F) {
	for _, args := range []string{
		``, `null`, `{}`, `"{}"`, `[`, `{"tool_name":42,"arguments":"{\"a\":1}","b":{}}`,
		`{"tool_names":"[\"create_branch\",null]"}`, `{"domain":"\ud800"}`, `"\"{}\""`, `{"a":1,"a":2}`,
	} {
		f.Add(args)
	}
	var all []Surface
	c := tuned(shared(), everything, escapes()...)
	for _, mode := range Modes() {
		all = append(all, newSurface(f, mode, c, func(_ context.Context, _ call.Caller, tool string, args json.RawMessage) call.Result {
			if len(args) > 0 && !json.Valid(args) {
				panic(fmt.Sprintf("%s was run with %s", tool, args))
			}
			return call.Text("{}")
		}))
	}
	for _, args := range []string{
		`{"action":"create_branch","arguments":"{}","id":null}`, `{"domain":"secrets","action":"get_vault"}`, `{"operation":"get_vault","params":[1],"x":1}`,
		`{"method":"get","path":"/","query":"{}"}`, `{"query":"x","limit":"1"}`,
	} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		for _, s := range all {
			for _, tool := range s.Tools() {
				if _, plain := c.Tool(tool.Name); plain { // its arguments are the program's to read
					continue
				}
				if text, _ := ask(t, s, tool.Name, args); !json.Valid([]byte(text)) {
					t.Errorf("%s %q: not JSON: %s", tool.Name, args, text)
				}
			}
		}
	})
}

// A tool that has the name of a meta-tool, or an alias of that name, is refused
// where it could not be called, and only there.
func TestReservedNames(t *testing.T) {
	for _, tool := range []*catalog.Tool{{Name: "execute_tool", Domain: "d"}, {Name: "zones", Domain: "d", Aliases: []string{"list_domains"}}} {
		c := catalog.New(catalog.Catalog{Domains: []*catalog.Domain{{Name: "d", Tools: []*catalog.Tool{tool}}}})
		if _, err := New("meta", c, nil); err == nil || !strings.Contains(err.Error(), "the tool "+tool.Name+" of the domain d") {
			t.Errorf("%s in meta mode: %v", tool.Name, err)
		}
		if _, err := New("flat", c, nil); err != nil {
			t.Errorf("%s in flat mode: %v", tool.Name, err)
		}
	}
}
