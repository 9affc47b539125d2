package jsonschema

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cuejson "cuelang.org/go/encoding/json"
)

// A constraint is a random CUE value, written in two ways: as an operator
// would, and with every struct closed that has no ..., which is the rule that
// the schema follows and CUE by itself does not.
type constraint struct {
	plain, closed string
	// structs are the struct literals, when the constraint is one or several
	// alternatives of them; nil otherwise.
	structs []structure
	example func(r *rand.Rand) string
}

type structure struct {
	fields string // with the values inside closed
	open   bool
}

func (s structure) close(more ...structure) string {
	text, open := "{"+s.fields+"}", s.open
	for _, m := range more {
		text += " & {" + m.fields + "}"
		open = open || m.open
	}
	if open {
		return "(" + text + ")"
	}
	return "close(" + text + ")"
}

type generator struct {
	*rand.Rand
	operand int
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func same(s string, example func(*rand.Rand) string) constraint {
	return constraint{plain: s, closed: s, example: example}
}

func one(of ...string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return of[r.IntN(len(of))] }
}

var (
	someInts    = one("-1", "0", "1", "2", "3", "4", "7", "256", "9007199254740993")
	someNumbers = one("-1", "0", "1", "2.5", "3", "0.1", "1.5", "4")
	someStrings = one(`""`, `"a"`, `"ab"`, `"abc"`, `"x1"`, `"refs/q"`, `"é"`, `"A\n"`, `"😀"`, `"a.b"`)
	someNames   = []string{"a", "b", "c", "x1", "refs/q", "A-b"}
)

func (g *generator) scalar() constraint {
	switch g.IntN(24) {
	case 0:
		return same("int", someInts)
	case 1:
		return same("string", someStrings)
	case 2:
		return same("bool", one("true", "false"))
	case 3:
		return same("null", one("null"))
	case 4:
		return same("number", someNumbers)
	case 5:
		return same(fmt.Sprintf("int & >=%d & <%d", g.IntN(4)-1, g.IntN(6)+3), someInts)
	case 6:
		return same(fmt.Sprintf("%s%s", g.pick(">", ">=", "<", "<=", "!="), g.pick("0", "1", "2.5", "3")), someNumbers)
	case 7:
		return same(g.pick(`=~"^a"`, `=~"^refs/"`, `=~"b.?$"`, `=~"(?i)^X"`, `=~"\\d"`, `=~"^[^/]+$"`, `=~"^.$"`, `=~"\\pL"`, `=~"(?m)^a$"`), someStrings)
	case 8:
		return same(g.pick(`!~"^a"`, `!~"b$"`, `string & !~"^.*$"`), someStrings)
	case 9:
		return same(`"a" | "ab" | "x1"`, someStrings)
	case 10:
		return same(`1 | 2 | 3`, someInts)
	case 11:
		return same(`"a" | 1 | null | true`, one(`"a"`, "1", "null", "true", "false", "2"))
	case 12:
		return same(g.pick("uint8", "uint", "int32", "int8"), someInts)
	case 13:
		return same(fmt.Sprintf("strings.MinRunes(%d)", g.IntN(3)), someStrings)
	case 14:
		return same(fmt.Sprintf("strings.MaxRunes(%d) & !=%q", g.IntN(3)+1, g.pick("", "a")), someStrings)
	case 15:
		return same(g.pick(`strings.HasPrefix("a")`, `strings.HasSuffix("b")`, `strings.Contains("/")`, `strings.ContainsAny("xyz")`), someStrings)
	case 16:
		return same("string | null", one(`"a"`, "null", "1"))
	case 17:
		return same("math.MultipleOf(2)", someNumbers)
	case 18:
		return same("(int & >2) | (int & <0) | *1", someInts)
	case 19:
		return same("float", someNumbers)
	case 20:
		return same("_", func(r *rand.Rand) string { return instance(r, 2) })
	case 21:
		return same("!=null", func(r *rand.Rand) string { return instance(r, 1) })
	case 22:
		return same(g.pick("time.Time", `time.Format("2006-01-02")`, "time.Duration", "net.AbsURL", "string & net.IPv4"),
			one(`"2024-05-17T09:30:00Z"`, `"2024-05-17"`, `"1h2m"`, `"http://a/b"`, `"1.2.3.4"`, `"x"`))
	}
	return same(g.pick(`"a"`, "1", "1.5", "true", "null", "#Enum", "#Bound", "9007199254740993"), one(`"a"`, "1", "1.5", "true", "null", `"b"`, "3", "9007199254740993"))
}

// preamble declares what constraints refer to.
const preamble = `
import ("strings", "list", "math", "struct", "time", "net")
_used: [strings.MinRunes, list.MinItems, math.Pi, struct.MinFields, time.Time, net.IPv4]
#Enum: "a" | "b"
#Bound: int & >=2
#Base: {a?: string, b!: int & <5}
#Open: {a?: string, ...}
#Tree: {v!: int, kids?: [...#Tree], alt?: #Tree | null}
#Deep: {a?: {b?: int, c!: string}}
#Chain: {v!: int, next?: {#Chain, w?: int}}
#Choice: {v!: int, next?: (#Choice | null) & {...}}
#Forest: {v!: int, kids?: [...#Tree] & list.MaxItems(2), own?: [...(#Forest & {v: <3})]}
`

func (g *generator) value(depth int) constraint {
	if depth <= 0 {
		return g.scalar()
	}
	switch g.IntN(14) {
	case 0, 1, 2, 3:
		return g.structure(depth)
	case 4, 5:
		return g.list(depth)
	case 6, 7:
		return g.choice(depth)
	case 8:
		return g.both(depth)
	case 9:
		if g.operand < 2 {
			return g.match(depth)
		}
	case 10:
		ref := g.pick("#Base", "#Open", "#Tree", "#Deep", "#Tree | null", "[...#Tree]", "#Chain", "#Choice", "#Forest", "[...(#Choice | #Chain)]")
		return same(ref, one(`{"a":"x","b":1}`, `{"b":1}`, `{"a":1}`, `{"v":1}`, `{"v":1,"kids":[{"v":2},{"v":3,"alt":null}]}`, `{"v":1,"alt":{"v":"x"}}`,
			`{"v":1,"next":{"v":2,"next":{"v":3,"w":4}}}`, `{"v":1,"next":{"v":2,"w":1,"next":null}}`, `{"v":1,"own":[{"v":2,"own":[{"v":1},{"v":9}]}],"kids":[{"v":1}]}`,
			`[{"v":1,"next":{"v":2}}]`, `{"a":{"c":"x"}}`, `{"a":{"c":"x","d":1}}`, `{"z":1}`, `null`, `[{"v":1}]`, `{"v":1,"kids":[{"w":2}]}`))
	}
	return g.scalar()
}

func (g *generator) structure(depth int) constraint {
	var plain, closed []string
	examples := map[string]func(*rand.Rand) string{}
	names := g.Perm(4)[:1+g.IntN(3)]
	for _, i := range names {
		name := someNames[i]
		v := g.value(depth - 1)
		mark := g.pick("?", "?", "!", "!", "")
		examples[name] = v.example
		switch {
		case mark == "" && g.IntN(2) == 0:
			v = same(g.pick(`"k"`, "5", "true"), one(`"k"`, "5", "true"))
			examples[name] = v.example
		case mark == "" && g.IntN(2) == 0:
			v = same(g.pick(`*"k" | string`, "int | *5", "bool | *true"), one(`"k"`, "5", "true"))
			examples[name] = v.example
		}
		plain = append(plain, fmt.Sprintf("%s%s: %s", label(name), mark, v.plain))
		closed = append(closed, fmt.Sprintf("%s%s: %s", label(name), mark, v.closed))
	}
	conditional := false
	if name := someNames[names[0]]; g.IntN(8) == 0 && len(name) == 1 && g.operand == 0 {
		// What hangs on another member. Within matchN, and beside a constraint
		// on all members, CUE v0.17.1 can overflow its stack.
		conditional = true
		v := g.scalar()
		more := fmt.Sprintf(g.pick("if %[1]s != _|_ {d!: %[2]s}", "if %[1]s != _|_ {d?: %[2]s}", "if %[1]s == _|_ {d!: %[2]s}", "d?: %[1]s", "d?: >%[1]s",
			"lo: int | *2, d?: >lo", "let D = %[2]s\nd!: D", "lo: int | *2, if lo > 2 {d!: %[2]s}", "_h: 2, d!: >=_h", "lo: int | *2, _h: lo + 1, d?: <_h"), name, v.plain)
		plain, closed = append(plain, more), append(closed, more)
		examples["d"], examples["lo"] = v.example, someInts
	}
	s := structure{}
	switch n := g.IntN(8); {
	case n == 0:
		s.open = true
		plain, closed = append(plain, "..."), append(closed, "...")
	case n == 1 && !conditional:
		v := g.value(depth - 1)
		if strings.ContainsAny(strings.Join(plain, ""), "{#") {
			v = g.scalar() // what is open where two structs meet cannot be told
		}
		p := g.pick("[string]", `[=~"^x"]`, `[=~"^[ab]"]`, `["A-b" | "c"]`, `[strings.MinRunes(2)]`, `[!~"^(a|b)$"]`, `[=~"(?m)^x"]`)
		plain, closed = append(plain, p+": "+v.plain), append(closed, p+": "+v.closed)
		examples["x1"], examples["A-b"] = v.example, v.example
	}
	s.fields = strings.Join(closed, ", ")
	c := constraint{plain: "{" + strings.Join(plain, ", ") + "}", structs: []structure{s}}
	c.closed = s.close()
	if g.operand > 0 {
		c.closed = c.plain
	}
	c.example = func(r *rand.Rand) string {
		var b strings.Builder
		sep := "{"
		for _, name := range append([]string{"d", "lo"}, someNames...) {
			v, ok := examples[name]
			if ok && r.IntN(5) > 0 {
				fmt.Fprintf(&b, "%s%q:%s", sep, name, v(r))
				sep = ","
			} else if r.IntN(12) == 0 && len(name) != 2 {
				fmt.Fprintf(&b, "%s%q:%s", sep, name, instance(r, 1))
				sep = ","
			}
		}
		if sep == "{" {
			return "{}"
		}
		return b.String() + "}"
	}
	if g.IntN(12) == 0 {
		limit := fmt.Sprintf(" & struct.%s(%d)", g.pick("MinFields", "MaxFields"), g.IntN(3))
		c.plain, c.closed, c.structs = "("+c.plain+limit+")", "("+c.closed+limit+")", nil
	}
	return c
}

// label is a name as it stands before a colon; short ones can be referred to.
func label(name string) string {
	if len(name) == 1 {
		return name
	}
	return strconv.Quote(name)
}

func (g *generator) list(depth int) constraint {
	a, b := g.value(depth-1), g.value(depth-1)
	if form := "[...%[1]s] & [%[2]s, ...]"; !strings.ContainsAny(a.plain+b.plain, "{#") && g.IntN(6) == 0 {
		return g.listOf(form, a, b)
	}
	return g.listOf(g.pick("[...%[1]s]", "[...%[1]s]", "[%[1]s, %[2]s]", "[%[1]s, ...%[2]s]", "[...]", "[%[1]s]", "[]", "[_, _, ...]",
		"[...%[1]s] & list.MinItems(1)", "[...%[1]s] & list.MaxItems(2)", "list.UniqueItems & [...%[1]s]"), a, b)
}

func (g *generator) listOf(form string, a, b constraint) constraint {
	c := constraint{plain: "(" + fmt.Sprintf(form+"%.0[1]s%.0[2]s", a.plain, b.plain) + ")", closed: "(" + fmt.Sprintf(form+"%.0[1]s%.0[2]s", a.closed, b.closed) + ")"}
	c.example = func(r *rand.Rand) string {
		var items []string
		for range r.IntN(4) {
			if len(items) == 0 {
				items = append(items, a.example(r))
			} else {
				items = append(items, one(a.example(r), b.example(r))(r))
			}
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return c
}

func (g *generator) choice(depth int) constraint {
	n := 2 + g.IntN(2)
	var plain, closed []string
	var examples []func(*rand.Rand) string
	var structs []structure
	all := true
	for range n {
		v := g.value(depth - 1)
		plain, closed = append(plain, v.plain), append(closed, v.closed)
		examples = append(examples, v.example)
		structs = append(structs, v.structs...)
		all = all && len(v.structs) > 0
	}
	c := constraint{plain: "(" + strings.Join(plain, " | ") + ")", closed: "(" + strings.Join(closed, " | ") + ")"}
	if all {
		c.structs = structs
	}
	c.example = func(r *rand.Rand) string { return examples[r.IntN(len(examples))](r) }
	return c
}

func (g *generator) both(depth int) constraint {
	a, b := g.value(depth), g.value(depth)
	c := constraint{plain: a.plain + " & " + b.plain, closed: a.closed + " & " + b.closed}
	c.plain, c.closed = "("+c.plain+")", "("+c.closed+")"
	switch {
	case g.operand > 0:
	case len(a.structs) > 0 && len(b.structs) > 0:
		var arms []string
		for _, x := range a.structs {
			for _, y := range b.structs {
				arms = append(arms, x.close(y))
			}
		}
		c.closed = "(" + strings.Join(arms, " | ") + ")"
	case strings.ContainsAny(a.closed+b.closed, "{"):
		// What is open and what is closed cannot be told in other mixtures.
		return a
	}
	c.example = func(r *rand.Rand) string {
		if r.IntN(2) == 0 {
			return a.example(r)
		}
		return b.example(r)
	}
	return c
}

func (g *generator) match(depth int) constraint {
	g.operand++
	a, b := g.value(depth-1), g.value(depth-1)
	g.operand--
	var s string
	switch g.IntN(7) {
	case 0:
		s = fmt.Sprintf("matchN(1, [%s, %s])", a.plain, b.plain)
	case 1:
		s = fmt.Sprintf("matchN(>=1, [%s, %s])", a.plain, b.plain)
	case 2:
		s = fmt.Sprintf("matchN(0, [%s, %s])", a.plain, b.plain)
	case 3:
		s = fmt.Sprintf("matchN(2, [%s, %s])", a.plain, b.plain)
	case 4:
		s = fmt.Sprintf("matchIf(%s, %s, _)", a.plain, b.plain)
	case 5:
		s = fmt.Sprintf("list.MatchN(%s, %s)", g.pick(">=1", "1", "<=1", ">0 & <3"), a.plain)
		return same(s, func(r *rand.Rand) string { return "[" + a.example(r) + "," + a.example(r) + "]" })
	case 6:
		s = fmt.Sprintf("matchN(0, [%s])", a.plain)
	}
	return same(s, func(r *rand.Rand) string {
		if r.IntN(2) == 0 {
			return a.example(r)
		}
		return b.example(r)
	})
}

// instance is a random JSON value.
func instance(r *rand.Rand, depth int) string {
	switch n := r.IntN(8); {
	case n == 0 || depth <= 0 && n > 5:
		return "null"
	case n == 1:
		return strconv.FormatBool(r.IntN(2) == 0)
	case n < 4:
		return someNumbers(r)
	case n < 6:
		return someStrings(r)
	case n == 6:
		var items []string
		for range r.IntN(3) {
			items = append(items, instance(r, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range someNames {
		if r.IntN(3) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, instance(r, depth-1)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// tally counts what came of the instances.
type tally struct{ schemas, exact, accepted, refused, caught int }

// checkRandom makes one random constraint and holds its schema against CUE.
func checkRandom(t *testing.T, seed uint64, sum *tally) {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &generator{Rand: r}
	k := g.value(3)
	ctx := cuecontext.New()
	src := preamble + "plain: {x!: " + k.plain + "}\nclosed: {x!: " + k.closed + "}\n"
	v := ctx.CompileString(src)
	plain, closed := v.LookupPath(cue.ParsePath("plain")), v.LookupPath(cue.ParsePath("closed"))
	if plain.Err() != nil || closed.Err() != nil {
		return // CUE refuses the constraint itself
	}
	s, _ := Compile(plain, Options{Data: true})
	val, err := NewValidator(s.JSON)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s\n%s", seed, err, k.plain, s.JSON)
	}
	sum.schemas++
	if s.Exact {
		sum.exact++
	}
	for range 25 {
		in := k.example(r)
		if r.IntN(4) == 0 {
			in = instance(r, 3)
		}
		in = `{"x":` + in + `}`
		e, err := cuejson.Extract("", []byte(in))
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, in, err)
		}
		refused := closed.Unify(ctx.BuildExpr(e)).Validate(cue.Concrete(true))
		faults := val.Validate([]byte(in))
		if refused == nil {
			sum.accepted++
		} else {
			sum.refused++
			if len(faults) > 0 {
				sum.caught++
			}
		}
		switch {
		case refused == nil && len(faults) > 0:
			t.Errorf("seed %d: the schema refuses what CUE accepts: %v\nCUE %s\nclosed %s\nschema %s\ninstance %s", seed, faults, k.plain, k.closed, s.JSON, in)
			return
		case refused != nil && len(faults) == 0 && s.Exact:
			t.Errorf("seed %d: the schema is said to be exact and accepts what CUE refuses: %v\nCUE %s\nclosed %s\nschema %s\ninstance %s", seed, refused, k.plain, k.closed, s.JSON, in)
			return
		}
	}
}

// TestSound holds schemas of random constraints against CUE with random
// instances: a schema never refuses what CUE accepts, and one that says it is
// exact refuses all that CUE refuses.
func TestSound(t *testing.T) {
	n, start := 600, 0
	if s := os.Getenv("JSONSCHEMA_SEEDS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("JSONSCHEMA_START"); s != "" {
		start, _ = strconv.Atoi(s)
	}
	var sum tally
	for seed := range n {
		checkRandom(t, uint64(start+seed), &sum)
	}
	t.Logf("%d schemas, %d exact; of %d instances that CUE refuses the schemas refuse %d by themselves; %d accepted",
		sum.schemas, sum.exact, sum.refused, sum.caught, sum.accepted)
}
