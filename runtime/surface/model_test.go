package surface

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
)

// live is small with state in two of its domains, and phrases for results.
func live() *catalog.Catalog {
	c := small()
	state := func(domain, name string) *catalog.Tool {
		s := tool(domain, "read", domain+"/"+name, `{"type":"object","properties":{},"additionalProperties":false}`)
		s.Title = name
		return s
	}
	c.Domains[0].State = []*catalog.Tool{state("repositories", "open"), state("repositories", "recent")}
	c.Domains[1].State = []*catalog.Tool{state("pipelines", "running")}
	c.Domains[0].Tools[1].Returns = "the branch"
	return catalog.New(*c)
}

// answers is a program that answers state requests.
type answers map[string]call.Result

func (a answers) do(_ context.Context, _ call.Caller, tool string, _ json.RawMessage) call.Result {
	if r, ok := a[tool]; ok {
		return r
	}
	return call.Text("ran " + tool)
}

func TestModel(t *testing.T) {
	states := answers{
		"repositories/open":   call.Text(`{"n":9007199254740993}`),
		"repositories/recent": call.Text(`two words`),
		"pipelines/running":   call.Error(`{"error":"503 from the upstream","status":503}`),
	}
	s := newSurface(t, "model", live(), states.do)
	const (
		domains = `{"domains":{"repositories":{"summary":"git, branches","queries":1,"mutations":2,"destructive":1,"state":{"open":{"n":9007199254740993},"recent":"two words"}},` +
			`"pipelines":{"summary":"builds, logs","queries":0,"mutations":1,"state":{"running":{"error":"503 from the upstream"}}},` +
			`"secrets":{"summary":"vaults","queries":1,"mutations":0}}}`
		repositories = `{"domain":"repositories","description":"Git repositories and branches.","state":{"open":{"n":9007199254740993},"recent":"two words"},` +
			`"queries":[{"name":"get_repository","description":"Do get_repository <now> & here","params":[{"name":"id","type":"string","required":true},{"name":"project","type":"string","required":false,"default":"Contoso"}],"returns":"{name?, …}"}],` +
			`"mutations":[{"name":"create_branch","description":"Do create_branch <now> & here","params":[{"name":"name","type":"string","required":true}],"returns":"the branch"},` +
			`{"name":"delete_repository","description":"Do delete_repository <now> & here","destructive":true,"params":[{"name":"id","type":"string","required":true}]}]}`
		secrets = `{"domain":"secrets","description":"Vaults","queries":[{"name":"get_vault","description":"Do get_vault <now> & here","params":[]}],"mutations":[]}`
		schema  = `{"type":"object","properties":{"domain":{"type":"string","enum":["repositories","pipelines","secrets"]}}}`
	)
	for _, c := range []struct {
		args, want string
		isError    bool
	}{
		{``, domains, false},
		{`{"domain":null}`, domains, false},
		{`{"domain":"repositories"}`, repositories, false},
		{`{"domain":"secrets"}`, secrets, false},
		{`{"domain":"repository"}`, `{"error":"unknown domain: repository","nearest":["repositories"]}`, true},
		{`{"name":"secrets"}`, wrong("sample_model", schema, "unknown argument: name"), true},
	} {
		got, r := ask(t, s, "sample_model", c.args)
		if got != c.want || r.IsError != c.isError {
			t.Errorf("%s:\n got %v %s\nwant %v %s", c.args, r.IsError, got, c.isError, c.want)
		}
	}
	var model, acts bool
	for _, tool := range s.Tools() {
		model = model || tool.Name == "sample_model" && tool.Annotations.ReadOnlyHint && *tool.Annotations.OpenWorldHint
		acts = acts || tool.Name == "sample_action" && *tool.Annotations.DestructiveHint
	}
	if !model || !acts {
		t.Errorf("annotations: %s", wire(s.Tools()))
	}
}

// Whatever a state request answers, or does not, the rest is told.
func TestStateThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var together int
		s := newSurface(t, "model", live(), func(ctx context.Context, _ call.Caller, tool string, _ json.RawMessage) call.Result {
			switch tool {
			case "repositories/open":
				time.Sleep(time.Hour) // heeds no deadline
			case "repositories/recent":
				<-ctx.Done()
				time.Sleep(time.Millisecond)
				return call.Error("late")
			case "pipelines/running":
				together++
				time.Sleep(stateDeadline - time.Second)
				return call.Result{Content: []call.Content{{Data: []byte{1}, MIMEType: "image/png"}}}
			}
			return call.Text("ran")
		})
		began := time.Now()
		got, r := ask(t, s, "sample_model", ``)
		if took := time.Since(began); took != stateDeadline {
			t.Errorf("took %s, want the deadline, %s: the requests are made at once", took, stateDeadline)
		}
		want := `"state":{"open":{"error":"no answer within 5s"},"recent":{"error":"no answer within 5s"}}}`
		if !strings.Contains(got, want) || !strings.Contains(got, `{"running":{"error":"the answer is no text"}}`) || r.IsError {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, _ := ask(t, s, "sample_model", `{"domain":"secrets"}`); !strings.Contains(got, "get_vault") || together != 1 {
			t.Errorf("%s, after %d requests for the state of another domain", got, together)
		}
		time.Sleep(2 * time.Hour) // until the one that heeds nothing is back
	})
	for _, text := range []string{``, `[]`, strings.Repeat("é", 5000), `{"error":5}`, "\xff"} {
		s := newSurface(t, "model", live(), answers{"pipelines/running": call.Error(text)}.do)
		got, _ := ask(t, s, "sample_model", `{"domain":"pipelines"}`)
		if !json.Valid([]byte(got)) || len(got) > 3000 || !strings.Contains(got, `"running":{"error":`) {
			t.Errorf("%.20q: %.200s", text, got)
		}
	}
	s := newSurface(t, "model", live(), answers{"pipelines/running": {}}.do)
	if got, _ := ask(t, s, "sample_model", `{"domain":"pipelines"}`); !strings.Contains(got, `"state":{"running":null}`) {
		t.Errorf("no content: %s", got)
	}
}

func TestModelAction(t *testing.T) {
	for _, c := range []struct {
		args    string
		ran     made
		want    string // of a refusal
		repairs []string
	}{
		{`{"domain":"repositories","operation":"create_branch","params":{"name":"a","n":9007199254740993}}`, made{"create_branch", `{"name":"a","n":9007199254740993}`}, "", nil},
		{`{"domain":"repositories","operation":"create_branch","params":"{\"name\":\"a\"}"}`, made{"create_branch", `"{\"name\":\"a\"}"`}, "", nil},
		{`{"domain":"secrets","operation":"vault_get"}`, made{"get_vault", ``}, "", nil},
		{`{"domain":"secrets","operation":"get_vault","params":null}`, made{"get_vault", ``}, "", []string{"params was empty and was left out"}},
		{`{"operation":"get_vault"}`, made{"get_vault", ``}, "", []string{"domain was left out and was read as secrets"}},
		{`{"domain":"repositories","operation":"create_branch","name":"a"}`, made{"create_branch", `{"name":"a"}`}, "", []string{"name stood beside params and was read as part of it"}},
		{`{"domain":"secrets","operation":"create_branch"}`, made{}, `{"error":"create_branch is no operation of secrets, but of repositories","nearest":["repositories"]}`, nil},
		{`{"domain":"repositories","operation":"create_brnch"}`, made{}, `{"error":"unknown operation: create_brnch","nearest":["create_branch"]}`, nil},
		{`{"domain":"repo","operation":"zzz"}`, made{}, `{"error":"unknown domain: repo; unknown operation: zzz","nearest":["repositories"]}`, nil},
		{`{"operation":"get_vualt"}`, made{}, `{"error":"unknown operation: get_vualt","nearest":["get_vault"]}`, nil},
		{`{"domain":"repositories","operation":"get_repository","params":{"id":"1"},"id":"2"}`, made{},
			refusedBy("get_repository", `{"id":"1"}`, call.Fault{Message: "id is given twice, in params and beside it: put it into params"}), nil},
	} {
		r := recorder{answer: call.Text("ok")}
		got, result := ask(t, newSurface(t, "model", live(), r.do), "sample_action", c.args)
		if ran := slices.Concat(r.calls, []made{{}})[0]; ran != c.ran || len(r.calls) > 1 {
			t.Errorf("%s: ran %v, want %v", c.args, r.calls, c.ran)
		}
		if c.want != "" && (got != c.want || !result.IsError) {
			t.Errorf("%s:\n got %s\nwant %s", c.args, got, c.want)
		}
		if !slices.Equal(repairs(result), c.repairs) {
			t.Errorf("%s: repairs %q, want %q", c.args, repairs(result), c.repairs)
		}
	}
	if got, r := ask(t, newSurface(t, "model", live(), nil), "sample_action", `{}`); !r.IsError || !strings.Contains(got, "missing required argument: operation") {
		t.Errorf("nothing given: %s", got)
	}
}

// A refusal of arguments carries the signature; other failures go out as they are.
func TestExpectedSignature(t *testing.T) {
	for answer, want := range map[string]string{
		`{"error":"e","tool_name":"create_branch","inputSchema":{"n":1.10}}`: `{"error":"e","tool_name":"create_branch","signature":"create_branch(name)","inputSchema":{"n":1.10}}`,
		`{"error":"e","tool_name":"create_branch"}`:                          `{"error":"e","tool_name":"create_branch"}`,
		`{"error":"e","tool_name":"other","inputSchema":{}}`:                 `{"error":"e","tool_name":"other","inputSchema":{}}`,
		`no`: `no`,
	} {
		s := newSurface(t, "model", live(), answers{"create_branch": call.Error(answer)}.do)
		if got, r := ask(t, s, "sample_action", `{"domain":"repositories","operation":"create_branch"}`); got != want || !r.IsError {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

// State requests are tools of the program alone: no surface knows them by name.
func TestStateIsNoTool(t *testing.T) {
	for _, mode := range Modes() {
		s := newSurface(t, mode, live(), func(context.Context, call.Caller, string, json.RawMessage) call.Result { return call.Text("ran") })
		if strings.Contains(string(wire(s.Tools())), "repositories/open") {
			t.Errorf("%s lists a state request", mode)
		}
		if _, err := s.Call(t.Context(), call.Caller{}, "repositories/open", nil); err == nil || strings.Contains(err.Error(), "nearest: repositories/open") {
			t.Errorf("%s: a state request is a tool: %v", mode, err)
		}
	}
}

// With a list of identifiers in sight, every surface says to send them together.
func TestIdentifiersTogether(t *testing.T) {
	for name, want := range map[string]bool{"ids": true, "user_ids": true, "workItemIds": true, "planIDs": true, "kids": false, "bids": false, "id": false} {
		c := small()
		c.Domains[2].Tools = append(c.Domains[2].Tools, tool("secrets", "read", "get_many", fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"array","items":{"type":"integer"}}}}`, name)))
		for _, mode := range Modes() {
			if got := strings.Contains(newSurface(t, mode, catalog.New(*c), nil).Instructions(), "together"); got != want {
				t.Errorf("%s, %s: told is %v, want %v", name, mode, got, want)
			}
		}
	}
}

// However many tools a domain has, each is named in what is told of it, in an answer
// that has an end, says what it leaves out and how to get it.
func TestDomainTooLarge(t *testing.T) {
	large := func(n, words int) *catalog.Catalog {
		d := &catalog.Domain{Name: "d", Summary: "D", Description: "D"}
		for i := range n {
			action := []string{"read", "delete"}[i%2]
			x := tool("d", action, fmt.Sprintf("tool_%04d", i), `{"type":"object","properties":{"id":{"type":"string","description":"`+strings.Repeat("Of the thing. ", 30)+`"}},"required":["id"]}`)
			x.Description = strings.Repeat("word ", words)
			d.Tools = append(d.Tools, x)
		}
		return catalog.New(catalog.Catalog{Server: catalog.Server{Name: "sample"}, Actions: taxonomy, Domains: []*catalog.Domain{d}, Meta: catalog.Meta{Signatures: true}})
	}
	unlisted := func(c *catalog.Catalog) *catalog.Catalog {
		c.Domains[0].Unlisted = true
		return c
	}
	const args = `{"domain":"d"}`
	for _, n := range []int{10, 1000} {
		for _, words := range []int{5, 100} {
			c := large(n, words)
			for name, s := range map[string]Surface{
				"sample_model": newSurface(t, "model", c, nil), listDomainTools: newSurface(t, "meta", c, nil), moreTool: newSurface(t, "nouns", unlisted(large(n, words)), nil),
			} {
				got, _ := ask(t, s, name, args)
				if len(got) > maxAnswer {
					t.Errorf("%s, %d tools: %d bytes", name, n, len(got))
				}
				for _, x := range c.Tools() {
					if strings.Count(got, `:"`+x.Name+`"`) != 1 {
						t.Fatalf("%s, %d tools: %s is not named once: %.300s", name, n, x.Name, got)
					}
				}
				if less := !strings.Contains(got, "word word") || name == "sample_model" && !strings.Contains(got, `"params"`) || name == moreTool && !strings.Contains(got, "inputSchema"); less != strings.Contains(got, `"hint":"there are too many `) {
					t.Errorf("%s, %d tools: what is left out is not told: %.300s", name, n, got)
				}
			}
		}
	}
	s := newSurface(t, "model", large(1000, 5), nil)
	if asks := string(s.Tools()[1].InputSchema.(json.RawMessage)); !strings.Contains(asks, `"operations":{"type":"array"`) {
		t.Errorf("the argument is not listed: %s", asks)
	}
	if got, _ := ask(t, s, "sample_model", `{"domain":"d","operations":["tool_0003","tool_0004"]}`); !strings.HasPrefix(got, `{"domain":"d","description":"D","queries":[{"name":"tool_0004","description":"word `) || strings.Count(got, `"params":[{"name":"id"`) != 2 {
		t.Errorf("two operations: %s", got)
	}
	if got, r := ask(t, s, "sample_model", `{"domain":"d","operations":"tool_003"}`); !r.IsError || !strings.Contains(got, `"error":"unknown operation: tool_003","nearest":["tool_0003"`) {
		t.Errorf("an unknown one: %s", got)
	}
	if got, r := ask(t, s, "sample_model", `{"operations":"tool_0003"}`); !r.IsError || !strings.Contains(got, `missing argument: domain, that of the operations`) {
		t.Errorf("no domain: %s", got)
	}
}

// However much the states have to say, an answer has an end: the large ones are
// left out with a word, and the small ones stay.
func TestStateTooLarge(t *testing.T) {
	domain := &catalog.Domain{Name: "d", Tools: []*catalog.Tool{{Name: "get", Domain: "d", Effect: catalog.Read, InputSchema: json.RawMessage(`{}`)}}}
	answer := answers{}
	for i := range 50 {
		name := fmt.Sprintf("d/s%d", i)
		domain.State = append(domain.State, &catalog.Tool{Name: name, Title: name[2:], Domain: "d", Effect: catalog.Read})
		answer[name] = call.Text(`"` + strings.Repeat("x", 100<<10) + `"`)
	}
	answer["d/s1"] = call.Text(`{"open":1}`)
	c := catalog.New(catalog.Catalog{Server: catalog.Server{Name: "sample"}, Domains: []*catalog.Domain{domain}})
	for _, args := range []string{`{}`, `{"domain":"d"}`} {
		got, _ := ask(t, newSurface(t, "model", c, answer.do), "sample_model", args)
		if len(got) > maxStates+1000 || !strings.Contains(got, `"s0":{"error":"its 102402 bytes are too many beside the other states"},"s1":{"open":1}`) {
			t.Errorf("%d bytes: %.300s", len(got), got)
		}
	}
	domain.State = domain.State[:2] // the two have room
	if got, _ := ask(t, newSurface(t, "model", catalog.New(*c), answer.do), "sample_model", `{}`); !strings.Contains(got, "xxx") {
		t.Errorf("%.300s", got)
	}
}
