package account

import (
	"encoding/json"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

func TestFigure(t *testing.T) {
	for _, tc := range []struct {
		counts []int
		want   Figure
	}{
		{nil, Figure{}},
		{[]int{7}, Figure{1, 7, 7, 7}},
		{[]int{3, 10, 2, 6}, Figure{4, 5.25, 2, 10}},
	} {
		if got := figure(tc.counts); got != tc.want {
			t.Errorf("figure(%v) = %v, want %v", tc.counts, got, tc.want)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, tc := range []struct {
		n, u, k int
		want    float64
	}{
		{4, 1, 1, 3.0 / 4},
		{4, 2, 2, 1.0 / 6},    // C(2,2) = 1 of C(4,2) = 6
		{5, 2, 2, 3.0 / 10},   // C(3,2) = 3 of C(5,2) = 10
		{10, 3, 3, 35. / 120}, // C(7,3) of C(10,3)
		{4, 3, 2, 0},
		{4, 4, 1, 0},
		{4, 1, 4, 0},
		{4, 1, 0, 1},
	} {
		if got := missing(tc.n, tc.u, tc.k); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("missing(%d, %d, %d) = %v, want %v", tc.n, tc.u, tc.k, got, tc.want)
		}
	}
}

// four is a server of four tools in two domains of two, in meta: a list of 10, a
// call of 5 that all need, two of 6 for a domain, and four of 10 for a tool.
var four = session{4, 10, map[int]int{4: 5, 2: 12, 1: 40}}

func TestAfter(t *testing.T) {
	for k, want := range map[int]float64{
		1: 10 + 5 + 6 + 10,        // any tool needs one of each
		2: 10 + 5 + 12*5.0/6 + 20, // both are of one domain in 2 of 6 choices
		3: 10 + 5 + 12 + 30,       // three are never of one domain
		4: 10 + 5 + 12 + 40,       // all there is
	} {
		if got := four.after(k); math.Abs(got-want) > 1e-9 {
			t.Errorf("after(%d) = %v, want %v", k, got, want)
		}
	}
}

// TestAfterIsTheMean goes through every choice of tools.
func TestAfterIsTheMean(t *testing.T) {
	const n = 7
	exchanges := []struct {
		tokens int
		users  uint // a bit for each tool
	}{{13, 0b1111111}, {40, 0b0000111}, {25, 0b1110000}, {8, 0b0001000}, {11, 0b0101010}, {17, 1}, {29, 2}, {3, 64}}
	s := session{n, 100, map[int]int{}}
	for _, x := range exchanges {
		s.uses[bits.OnesCount(x.users)] += x.tokens
	}
	for k := 1; k <= n; k++ {
		sum, choices := 0, 0
		for chosen := range uint(1 << n) {
			if bits.OnesCount(chosen) != k {
				continue
			}
			choices++
			sum += 100
			for _, x := range exchanges {
				if x.users&chosen != 0 {
					sum += x.tokens
				}
			}
		}
		if got, want := s.after(k), float64(sum)/float64(choices); math.Abs(got-want) > 1e-9 {
			t.Errorf("after(%d) = %v, want %v", k, got, want)
		}
	}
}

func TestBreakEven(t *testing.T) {
	for _, tc := range []struct {
		list int // of flat, where each tool is run for 1
		want BreakEven
	}{
		{29, BreakEven{"p", true, 1, 30, 31}},
		{30, BreakEven{"p", true, 2, 32, 45}}, // with one tool both come to 31
		{43, BreakEven{"p", true, 3, 46, 57}},
		{62, BreakEven{"p", true, 4, 66, 67}},
		{63, BreakEven{"p", false, 4, 67, 67}},
		{90, BreakEven{"p", false, 4, 94, 67}},
	} {
		flat := session{4, tc.list, map[int]int{1: 4}}
		if got := breakEven("p", flat, four); got != tc.want {
			t.Errorf("with a list of %d: got %+v, want %+v", tc.list, got, tc.want)
		}
	}
}

func tool(domain, action, name, input string) *catalog.Tool {
	return &catalog.Tool{Name: name, Description: "Do " + name, Domain: domain, Noun: domain, Action: action,
		Effect: map[string]catalog.Effect{"read": catalog.Read, "create": catalog.Write}[action], InputSchema: json.RawMessage(input)}
}

// shop is a catalog of three tools in two domains.
func shop() catalog.Catalog {
	get := tool("orders", "read", "get_order", `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`)
	get.Examples = []catalog.Example{{Arguments: json.RawMessage(`{"id":7}`)}}
	return catalog.Catalog{
		Server:  catalog.Server{Name: "shop", Instructions: "Be kind."},
		Actions: []catalog.Action{{Name: "read", Effect: catalog.Read}, {Name: "create", Effect: catalog.Write}},
		Domains: []*catalog.Domain{
			{Name: "orders", Description: "Orders <all>", Summary: "orders", Tools: []*catalog.Tool{
				get,
				tool("orders", "create", "place_order", `{"type":"object","properties":{"sku":{"type":"string","examples":["tea"]},"count":{"type":"integer"},"gift":{"type":"boolean"}},"required":["sku","count"]}`),
			}},
			{Name: "customers", Description: "Customers", Summary: "customers", Tools: []*catalog.Tool{
				tool("customers", "read", "list_customers", `{"type":"object","properties":{}}`),
			}},
		},
		Skills: []catalog.Skill{{Name: "orders", Description: "Orders", Tools: []string{"get_order", "place_order"}}},
	}
}

func of(t *testing.T, c *catalog.Catalog) *Account {
	t.Helper()
	a, err := Of(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *Account) path(t *testing.T, name string) Path {
	t.Helper()
	for _, p := range a.Measured.Paths {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no path %q", name)
	return Path{}
}

// TestMeasured holds the account against calls and answers written by hand.
func TestMeasured(t *testing.T) {
	c := catalog.New(shop())
	a := of(t, c)
	n := tokens.Count
	written := func(tool, args string) int { return n(tool) + n(args) }
	lists := map[string]int{}
	for i, mode := range surface.Modes() {
		face, err := surface.New(mode, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		lists[mode] = tokens.List(face.Tools())
		want := Mode{mode, "", lists[mode], len(face.Tools()), n(face.Instructions())}
		if got := a.Measured.Modes[i]; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}

	orders := n(`{"domain":"orders","tools":[{"name":"get_order","description":"Do get_order","action":"read"},{"name":"place_order","description":"Do place_order","action":"create"}]}`)
	customers := n(`{"domain":"customers","tools":[{"name":"list_customers","description":"Do list_customers","action":"read"}]}`)
	askOrders, askCustomers := written("list_domain_tools", `{"domain":"orders"}`), written("list_domain_tools", `{"domain":"customers"}`)
	schema := func(t *catalog.Tool, examples string) (ask, answer int) {
		return written("get_tool_schema", `{"tool_name":"`+t.Name+`"}`),
			n(`{"tool_name":"` + t.Name + `","description":"` + t.Description + `","domain":"` + t.Domain + `","action":"` + t.Action + `","inputSchema":` + string(t.InputSchema) + examples + `}`)
	}
	tools := c.Tools()
	ask0, answer0 := schema(tools[0], `,"examples":[{"arguments":{"id":7}}]`)
	ask1, answer1 := schema(tools[1], "")
	ask2, answer2 := schema(tools[2], "")
	run := func(name, args string) int {
		return written("execute_tool", `{"tool_name":"`+name+`","arguments":`+args+`}`)
	}
	runs := []int{run("get_order", `{"id":7}`), run("place_order", `{"sku":"tea","count":"int"}`), run("list_customers", `{}`)}
	typical := []int{
		lists["meta"] + askOrders + orders + ask0 + answer0,
		lists["meta"] + askOrders + orders + ask1 + answer1,
		lists["meta"] + askCustomers + customers + ask2 + answer2,
	}
	all := written("list_domains", "{}") + n(`{"domains":[{"name":"orders","description":"Orders <all>"},{"name":"customers","description":"Customers"}]}`)
	plus := func(counts []int, more ...int) []int {
		var sums []int
		for i, n := range counts {
			sums = append(sums, n+more[i%len(more)])
		}
		return sums
	}
	for name, want := range map[string][]int{
		"flat":                           {lists["flat"], lists["flat"], lists["flat"]},
		"typical":                        typical,
		"unfamiliar, domains first":      plus(typical, all),
		"unfamiliar, wrong domain first": plus(typical, askCustomers+customers, askCustomers+customers, askOrders+orders),
		"skill in hand":                  {lists["meta"], lists["meta"], lists["meta"]},
	} {
		p := a.path(t, name)
		if p.Decision != figure(want) || p.List != lists[p.Mode] {
			t.Errorf("%s: a decision at %+v after a list of %d, want %+v", name, p.Decision, p.List, figure(want))
		}
		if p.Mode == "meta" && p.Run != figure(runs) {
			t.Errorf("%s: a run of %+v, want %+v", name, p.Run, figure(runs))
		}
	}
	if got, want := a.path(t, "flat").Run, figure([]int{written("get_order", `{"id":7}`), written("place_order", `{"sku":"tea","count":"int"}`), written("list_customers", "{}")}); got != want {
		t.Errorf("flat: a run of %+v, want %+v", got, want)
	}
	wantSteps := []Step{
		{"list_domain_tools", figure([]int{askOrders, askOrders, askCustomers}), figure([]int{orders, orders, customers})},
		{"get_tool_schema", figure([]int{ask0, ask1, ask2}), figure([]int{answer0, answer1, answer2})},
	}
	for i, got := range a.path(t, "typical").Steps {
		if got != wantSteps[i] {
			t.Errorf("step %d is %+v, want %+v", i, got, wantSteps[i])
		}
	}
	action := a.path(t, "typical, by action").Steps[0].Call
	if want := figure([]int{written("list_domain_tools", `{"domain":"orders","action":"read"}`), written("list_domain_tools", `{"domain":"orders","action":"create"}`),
		written("list_domain_tools", `{"domain":"customers","action":"read"}`)}); action != want {
		t.Errorf("by action the call is %+v, want %+v", action, want)
	}

	d := a.Measured.Domains[0]
	if d.Name != "orders" || d.Summaries != orders || len(d.Tools) != 2 || d.Tools[0].Schema != n(string(tools[0].InputSchema)) {
		t.Errorf("the first domain is %+v", d)
	}
	if b := a.Computed.BreakEven; len(b) != len(a.Measured.Paths)-1 || b[0].Path != "typical" || b[0].Tools < 1 || b[0].Tools > 3 {
		t.Errorf("break-even is %+v", b)
	}
	// A session of all tools has made each call once.
	f, m := 0, 0
	for _, r := range runs {
		m += r
	}
	m += lists["meta"] + askOrders + orders + askCustomers + customers + ask0 + answer0 + ask1 + answer1 + ask2 + answer2
	f = lists["flat"] + written("get_order", `{"id":7}`) + written("place_order", `{"sku":"tea","count":"int"}`) + written("list_customers", "{}")
	flatWay, typicalWay := sessions(t, c)
	if got, gotFlat := typicalWay.after(3), flatWay.after(3); got != float64(m) || gotFlat != float64(f) {
		t.Errorf("a session of all tools comes to %v in meta and %v in flat, want %d and %d", got, gotFlat, m, f)
	}
}

// sessions gives those of the first two ways.
func sessions(t *testing.T, c *catalog.Catalog) (flat, typical session) {
	t.Helper()
	for i, s := range []*session{&flat, &typical} {
		_, got, err := walk(c, ways[i], newMeter(t.Context(), c, ways[i].mode))
		if err != nil {
			t.Fatal(err)
		}
		*s = got
	}
	return flat, typical
}

// TestOptions: what the configuration adds to meta is in its paths.
func TestOptions(t *testing.T) {
	with := shop()
	with.Meta = catalog.Meta{Signatures: true, Pin: []string{"place_order"}, ByEffect: true, Search: true}
	a := of(t, catalog.New(with))
	p := a.path(t, "typical, by signature")
	if len(p.Steps) != 1 || p.Steps[0].Call.Tools != 2 { // the pinned one needs no step
		t.Errorf("by signature: %+v", p.Steps)
	}
	if p.Decision.Tools != 3 || p.Decision.Min != p.List {
		t.Errorf("by signature: %+v after a list of %d", p.Decision, p.List)
	}
	with.Domains[0].Tools = with.Domains[0].Tools[1:]
	with.Domains = with.Domains[:1]
	if p := of(t, catalog.New(with)).path(t, "typical"); len(p.Steps) != 0 {
		t.Errorf("all tools are pinned, and yet there is %+v", p.Steps)
	}
	for _, p := range of(t, catalog.New(with)).Measured.Paths {
		if strings.Contains(p.Name, "wrong") {
			t.Errorf("%s: there is one domain", p.Name)
		}
	}
}

// TestFault: a mode that cannot be served has no figures, and the others do.
func TestFault(t *testing.T) {
	c := shop()
	c.Domains[1].Tools = append(c.Domains[1].Tools, tool("customers", "read", "get_tool_schema", `{"type":"object","properties":{}}`))
	a := of(t, catalog.New(c))
	for _, m := range a.Measured.Modes {
		if bad := m.Name == "meta"; bad != (m.Fault != "") || bad != (m.Tokens == 0) {
			t.Errorf("%+v", m)
		}
	}
	if d := a.Measured.Domains[0]; len(a.Measured.Paths) != 0 || d.Tokens == 0 || d.Summaries != 0 {
		t.Errorf("paths %v, domain %+v", a.Measured.Paths, d)
	}
}

func TestEmpty(t *testing.T) {
	a := of(t, catalog.New(catalog.Catalog{Server: catalog.Server{Name: "none"}}))
	if len(a.Measured.Modes) != len(surface.Modes()) || len(a.Measured.Paths) != 0 {
		t.Errorf("%+v", a)
	}
	data, err := json.Marshal(a)
	if err != nil || strings.Contains(string(data), "null") {
		t.Errorf("%v %s", err, data)
	}
}

// TestRefused: a call that is not taken as it was made is no measure.
func TestRefused(t *testing.T) {
	c := catalog.New(shop())
	for _, r := range []request{
		named("list_domain_tools", "domain", "nowhere"),
		{"get_tool_schema", json.RawMessage(`"{\"tool_name\":\"get_order\"}"`)}, // repaired
		named("no_such_tool"),
	} {
		if x, err := newMeter(t.Context(), c, "meta").make(r); err == nil {
			t.Errorf("%s: counted as %+v", r.text(), x)
		}
	}
	other := *c.Tools()[0]
	other.Name = "unknown_order"
	if _, _, err := newMeter(t.Context(), c, "meta").run(&other); err == nil {
		t.Error("the run of a tool that is not there was counted")
	}
}

// BenchmarkOf takes the account of 1,000 tools.
func BenchmarkOf(b *testing.B) {
	var domains []*catalog.Domain
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		d := &catalog.Domain{Name: name, Description: name, Summary: name}
		for i := range 100 {
			d.Tools = append(d.Tools, tool(name, "read", "get_"+name+strings.Repeat("x", i%30)+string(rune('a'+i/30)), `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`))
		}
		domains = append(domains, d)
	}
	c := catalog.New(catalog.Catalog{Server: catalog.Server{Name: "many"}, Actions: shop().Actions, Domains: domains})
	for b.Loop() {
		if _, err := Of(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
