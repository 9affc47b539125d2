package sample

import (
	"cmp"
	"encoding/json"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// query is a WIQL query as far as the sample takes them:
//
//	SELECT field, … FROM WorkItems
//	[WHERE field op value [AND …]] [ORDER BY field [ASC | DESC], …]
//
// op is =, <>, <, <=, >, >=, CONTAINS or IN (value, …); a value is a string, a
// number, @project, @me or @today. Everything else is refused.
type query struct {
	columns    []field
	conditions []condition
	order      []ordering
}

type condition struct {
	field  field
	op     string
	values []string
}

type ordering struct {
	field field
	desc  bool
}

// tokens of WIQL: [field], 'string', "string", word or @macro, number, operator.
var wiqlToken = regexp.MustCompile(`^(?:\[[^\]]+\]|'(?:[^']|'')*'|"(?:[^"]|"")*"|@?[A-Za-z_][A-Za-z0-9_.]*|-?[0-9]+(?:\.[0-9]+)?|<>|<=|>=|[=<>,()])`)

func wiqlError(format string, args ...any) error {
	return faultf(http.StatusBadRequest, wit, "SyntaxException", format, args...)
}

// wiqlParser holds the tokens that are left.
type wiqlParser struct {
	tokens []string
	macros map[string]string
}

func (o *Org) parseWIQL(r *request, s string) (*query, error) {
	p := &wiqlParser{macros: map[string]string{"@me": o.me().UniqueName, "@today": o.time().Format(time.DateOnly)}}
	if r.project != nil {
		p.macros["@project"] = r.project.Name
	}
	for rest := strings.TrimSpace(s); rest != ""; {
		t := wiqlToken.FindString(rest)
		if t == "" {
			return nil, wiqlError("the query cannot be read from here on: «%s»", rest)
		}
		p.tokens = append(p.tokens, t)
		rest = strings.TrimSpace(rest[len(t):])
	}
	return p.query()
}

// take takes the next token if it is this word or operator.
func (p *wiqlParser) take(word string) bool {
	if len(p.tokens) > 0 && strings.EqualFold(p.tokens[0], word) {
		p.tokens = p.tokens[1:]
		return true
	}
	return false
}

// here names the next token in messages.
func (p *wiqlParser) here() string {
	if len(p.tokens) == 0 {
		return "the end"
	}
	return "«" + p.tokens[0] + "»"
}

func (p *wiqlParser) query() (*query, error) {
	q := &query{}
	if !p.take("SELECT") {
		return nil, wiqlError("a query begins with SELECT, not with %s", p.here())
	}
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		if q.columns = append(q.columns, f); !p.take(",") {
			break
		}
	}
	if !p.take("FROM") {
		return nil, wiqlError("TF51006: FROM is missing before %s", p.here())
	}
	if !p.take("WorkItems") {
		return nil, wiqlError("the sample queries FROM WorkItems alone, not %s", p.here())
	}
	if p.take("WHERE") {
		for {
			c, err := p.condition()
			if err != nil {
				return nil, err
			}
			if q.conditions = append(q.conditions, c); !p.take("AND") {
				break
			}
		}
	}
	if p.take("ORDER") {
		if !p.take("BY") {
			return nil, wiqlError("BY is missing before %s", p.here())
		}
		for {
			f, err := p.field()
			if err != nil {
				return nil, err
			}
			desc := p.take("DESC")
			if !desc {
				p.take("ASC")
			}
			if q.order = append(q.order, ordering{f, desc}); !p.take(",") {
				break
			}
		}
	}
	if len(p.tokens) > 0 {
		return nil, wiqlError("the query should end before %s; the sample joins conditions by AND alone", p.here())
	}
	return q, nil
}

func (p *wiqlParser) field() (field, error) {
	if len(p.tokens) == 0 || !strings.HasPrefix(p.tokens[0], "[") && !wiqlWord(p.tokens[0]) {
		return field{}, wiqlError("a field is expected instead of %s", p.here())
	}
	name := strings.Trim(p.tokens[0], "[]")
	f, ok := fieldNamed(name)
	if !ok {
		return field{}, wiqlError("TF51005: the query names the field %q, which does not exist", name)
	}
	p.tokens = p.tokens[1:]
	return f, nil
}

func wiqlWord(t string) bool { return t[0] == '_' || t[0]|0x20 >= 'a' && t[0]|0x20 <= 'z' }

func (p *wiqlParser) condition() (condition, error) {
	f, err := p.field()
	if err != nil {
		return condition{}, err
	}
	c := condition{field: f}
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">=", "CONTAINS", "IN"} {
		if p.take(op) {
			c.op = op
			break
		}
	}
	switch c.op {
	case "":
		return condition{}, wiqlError("TF51004: the sample has no operator %s", p.here())
	case "IN":
		if !p.take("(") {
			return condition{}, wiqlError("( is missing before %s", p.here())
		}
		for {
			v, err := p.value()
			if err != nil {
				return condition{}, err
			}
			if c.values = append(c.values, v); !p.take(",") {
				break
			}
		}
		if !p.take(")") {
			return condition{}, wiqlError(") is missing before %s", p.here())
		}
	default:
		v, err := p.value()
		if err != nil {
			return condition{}, err
		}
		c.values = []string{v}
	}
	for _, v := range c.values {
		if err := f.literal(v); err != nil {
			return condition{}, err
		}
	}
	return c, nil
}

func (p *wiqlParser) value() (string, error) {
	if len(p.tokens) == 0 {
		return "", wiqlError("a value is expected instead of the end")
	}
	t := p.tokens[0]
	switch {
	case t[0] == '\'' || t[0] == '"':
		p.tokens = p.tokens[1:]
		return strings.ReplaceAll(t[1:len(t)-1], t[:1]+t[:1], t[:1]), nil
	case t[0] == '@':
		v, ok := p.macros[strings.ToLower(t)]
		if !ok {
			return "", wiqlError("the macro %s has no meaning here: the sample knows @project, where the path names one, @me and @today", t)
		}
		p.tokens = p.tokens[1:]
		return v, nil
	case t[0] == '-' || t[0] >= '0' && t[0] <= '9':
		p.tokens = p.tokens[1:]
		return t, nil
	}
	return "", wiqlError("a value is expected instead of %s", p.here())
}

// literal checks that a value of a query fits the field.
func (f field) literal(v string) error {
	ok := true
	switch f.kind {
	case integerField, doubleField:
		_, ok = new(big.Rat).SetString(v)
	case dateField:
		_, err := parseDate(v)
		ok = err == nil
	}
	if !ok && v != "" {
		return wiqlError("the field %s cannot be compared with %q", f.name, v)
	}
	return nil
}

// queryResult is the answer to a query: IDs, and addresses to read them at.
type queryResult struct {
	QueryType       string       `json:"queryType"`
	QueryResultType string       `json:"queryResultType"`
	AsOf            time.Time    `json:"asOf"`
	Columns         []column     `json:"columns"`
	SortColumns     []sortColumn `json:"sortColumns,omitempty"`
	WorkItems       []foundItem  `json:"workItems"`
}

type column struct {
	ReferenceName string `json:"referenceName"`
	Name          string `json:"name"`
	URL           string `json:"url"`
}

type sortColumn struct {
	Field      column `json:"field"`
	Descending bool   `json:"descending"`
}

type foundItem struct {
	ID  int64  `json:"id"`
	URL string `json:"url"`
}

func (f field) column() column {
	return column{f.name, f.title, PublicURL + "/_apis/wit/fields/" + f.name}
}

func (o *Org) queryWorkItems(r *request) (any, error) {
	var in struct{ Query string }
	if err := r.decode(&in, mediaJSON); err != nil {
		return nil, err
	}
	return o.runWIQL(r, in.Query)
}

// runWIQL answers a query as the request wants it.
func (o *Org) runWIQL(r *request, text string) (any, error) {
	q, err := o.parseWIQL(r, text)
	if err != nil {
		return nil, err
	}
	precise := strings.EqualFold(r.URL.Query().Get("timePrecision"), "true")
	for _, c := range q.conditions {
		for _, v := range c.values {
			if c.field.kind == dateField && len(v) > len(time.DateOnly) && !precise {
				return nil, wiqlError("%q has a time of day, and dates are compared by day unless timePrecision is true", v)
			}
		}
	}
	top, err := r.number("$top", 1, 20000)
	if err != nil {
		return nil, err
	}

	var found []*workItem
	for _, w := range o.items {
		if !slices.ContainsFunc(q.conditions, func(c condition) bool { return !c.holds(w.now(), precise) }) {
			found = append(found, w)
		}
	}
	slices.SortStableFunc(found, func(a, b *workItem) int {
		for _, by := range q.order {
			x, _ := a.now().value(by.field.name)
			y, _ := b.now().value(by.field.name)
			c := compare(by.field, plain(x), plain(y), true)
			if by.desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})

	out := queryResult{QueryType: "flat", QueryResultType: "workItem", AsOf: o.time(), WorkItems: []foundItem{}}
	for _, f := range q.columns {
		out.Columns = append(out.Columns, f.column())
	}
	for _, s := range q.order {
		out.SortColumns = append(out.SortColumns, sortColumn{s.field.column(), s.desc})
	}
	for _, w := range found[:min(top, len(found))] {
		out.WorkItems = append(out.WorkItems, foundItem{w.ID, w.URL})
	}
	return out, nil
}

// plain gives a field's value as queries see it; "" where there is none.
func plain(x any) string {
	switch x := x.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case *identity:
		return x.UniqueName
	}
	return ""
}

func (c condition) holds(v revision, precise bool) bool {
	x, _ := v.value(c.field.name)
	have := plain(x)
	if c.op == "CONTAINS" {
		return strings.Contains(strings.ToLower(have), strings.ToLower(c.values[0]))
	}
	for _, want := range c.values {
		if u, ok := x.(*identity); ok && strings.EqualFold(u.DisplayName, want) {
			want = u.UniqueName
		}
		n := compare(c.field, have, want, precise)
		if have == "" && want != "" && c.op != "<>" {
			continue // what is not there is neither more nor less than anything
		}
		switch c.op {
		case "=", "IN":
			if n == 0 {
				return true
			}
		case "<>":
			return n != 0
		case "<":
			return n < 0
		case "<=":
			return n <= 0
		case ">":
			return n > 0
		case ">=":
			return n >= 0
		}
	}
	return false
}

// compare orders two values of a field: nothing first, numbers exactly, dates by
// time or by day, texts whatever their case.
func compare(f field, a, b string, precise bool) int {
	if a == "" || b == "" {
		return cmp.Compare(min(len(a), 1), min(len(b), 1))
	}
	switch f.kind {
	case integerField, doubleField:
		x, _ := new(big.Rat).SetString(a) // both were checked when they came in
		y, _ := new(big.Rat).SetString(b)
		return x.Cmp(y)
	case dateField:
		x, _ := parseDate(a)
		y, _ := parseDate(b)
		if !precise {
			x, y = x.UTC().Truncate(24*time.Hour), y.UTC().Truncate(24*time.Hour)
		}
		return x.Compare(y)
	}
	return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
}
