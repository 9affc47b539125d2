package jsonschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Fault is one way in which an instance does not fit.
type Fault struct {
	// Path is the place in the instance: member names and indexes. For a member
	// that is missing or unknown it is the object's.
	Path []string
	// Keyword is the keyword of JSON Schema that refused, such as required,
	// type, enum or additionalProperties; empty when the instance could not be
	// read at all.
	Keyword string
	// Name is the missing or unknown member, for required and
	// additionalProperties.
	Name string
	// Want lists the JSON types that would do at Path, for type. When every
	// alternative fails there by its type, it is those of all of them.
	Want []string
	// Texts lists the strings that would do at Path, for enum and const, and for
	// those among alternatives that fail there.
	Texts []string
	// Message says it in a sentence that names the argument.
	Message string
}

// reporter puts what the library found into words.
type reporter struct {
	schema   func() any
	instance any
	faults   []Fault
}

// fault is one that says what a place must be.
func (r *reporter) fault(path []string, keyword, must string) Fault {
	path = slices.Clone(path)
	name := r.place(path, "")
	if name == "" {
		name = "arguments"
	}
	return Fault{Path: path, Keyword: keyword, Message: name + ": " + must}
}

func (r *reporter) add(path []string, keyword, must string) {
	r.faults = append(r.faults, r.fault(path, keyword, must))
}

// place writes a path as in updates[0].op, with a further member if there is
// one.
func (r *reporter) place(path []string, member string) string {
	var b strings.Builder
	write := func(name string) {
		switch {
		case !isName(name):
			fmt.Fprintf(&b, "[%q]", name)
		case b.Len() > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	v := r.instance
	for _, p := range path {
		switch w := v.(type) {
		case []any:
			fmt.Fprintf(&b, "[%s]", p)
			v = nil
			if i, err := strconv.Atoi(p); err == nil && i < len(w) {
				v = w[i]
			}
		case map[string]any:
			write(p)
			v = w[p]
		default:
			write(p)
		}
	}
	if member != "" {
		write(member)
	}
	return b.String()
}

// Place writes a path within a document as the messages of faults do.
func Place(doc json.RawMessage, path []string) string {
	r := reporter{}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	_ = d.Decode(&r.instance) // what cannot be read has no lists in it
	return r.place(path, "")
}

// isName says that a member's name needs no quotes in a path.
func isName(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) && r != '_' && r != '$' && (i == 0 || !unicode.IsDigit(r) && r != '-') {
			return false
		}
	}
	return s != ""
}

// all gives the faults below e.
func (r *reporter) all(e *jsonschema.ValidationError) []Fault {
	path := e.InstanceLocation
	at := func(keyword, format string, args ...any) []Fault {
		return []Fault{r.fault(path, keyword, fmt.Sprintf(format, args...))}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var list []Fault
		for _, c := range e.Causes {
			list = append(list, r.all(c)...)
		}
		return list
	case *kind.AnyOf:
		return r.alternatives(e, "anyOf")
	case *kind.OneOf:
		if k.Subschemas == nil {
			return r.alternatives(e, "oneOf")
		}
		return at("oneOf", "fits more than one of the alternatives")
	case *kind.Required:
		list := make([]Fault, len(k.Missing))
		for i, name := range k.Missing {
			list[i] = Fault{Path: slices.Clone(path), Keyword: "required", Name: name, Message: "missing required argument: " + r.place(path, name)}
		}
		return list
	case *kind.AdditionalProperties:
		list := make([]Fault, len(k.Properties))
		for i, name := range k.Properties {
			list[i] = Fault{Path: slices.Clone(path), Keyword: "additionalProperties", Name: name, Message: "unknown argument: " + r.place(path, name)}
		}
		return list
	case *kind.PropertyNames:
		return at("propertyNames", "the name %q is not allowed", k.Property)
	case *kind.Type:
		return []Fault{r.mistyped(path, k.Want, k.Got)}
	case *kind.Enum:
		if len(k.Want) == 1 {
			return withTexts(at("enum", "must be %s", shown(k.Want[0])), k.Want...)
		}
		return withTexts(at("enum", "must be one of %s", listed(k.Want)), k.Want...)
	case *kind.Const:
		return withTexts(at("const", "must be %s", shown(k.Want)), k.Want)
	case *kind.Format:
		return at("format", "must be %s", cmp.Or(formatNames[k.Want], "of the format "+k.Want))
	case *kind.Pattern:
		return at("pattern", "must match the pattern %s", k.Want)
	case *kind.MinLength:
		return at("minLength", "must have at least %s", counted(k.Want, "character"))
	case *kind.MaxLength:
		return at("maxLength", "must have at most %s", counted(k.Want, "character"))
	case *kind.Minimum:
		return at("minimum", "must be at least %s", digits(k.Want))
	case *kind.Maximum:
		return at("maximum", "must be at most %s", digits(k.Want))
	case *kind.ExclusiveMinimum:
		return at("exclusiveMinimum", "must be greater than %s", digits(k.Want))
	case *kind.ExclusiveMaximum:
		return at("exclusiveMaximum", "must be less than %s", digits(k.Want))
	case *kind.MultipleOf:
		if nearMultiple(k.Got, k.Want) {
			return nil
		}
		return at("multipleOf", "must be a multiple of %s", digits(k.Want))
	case *kind.MinItems:
		return at("minItems", "must have at least %s", counted(k.Want, "element"))
	case *kind.MaxItems:
		return at("maxItems", "must have at most %s", counted(k.Want, "element"))
	case *kind.UniqueItems:
		return at("uniqueItems", "must not repeat an element: %d and %d are the same", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return at("contains", "must have an element that fits %s", r.shownKeyword(e, "contains"))
	case *kind.MinContains:
		return at("minContains", "must have at least %s that fit %s", counted(k.Want, "element"), r.shownKeyword(e, "contains"))
	case *kind.MaxContains:
		return at("maxContains", "must have at most %s that fit %s", counted(k.Want, "element"), r.shownKeyword(e, "contains"))
	case *kind.MinProperties:
		return at("minProperties", "must have at least %s", counted(k.Want, "member"))
	case *kind.MaxProperties:
		return at("maxProperties", "must have at most %s", counted(k.Want, "member"))
	case *kind.Not:
		return at("not", "%s", r.forbidden(e))
	case *kind.FalseSchema:
		return at("not", "is not allowed")
	}
	return at(strings.Join(e.ErrorKind.KeywordPath(), "/"), "%s", e.ErrorKind.LocalizedString(printer))
}

var printer = message.NewPrinter(language.English)

// formatNames says what the formats look like.
var formatNames = map[string]string{
	"date-time":     "a date and time such as 2024-05-17T09:30:00Z",
	"date":          "a date such as 2024-05-17",
	"ipv4":          "an IPv4 address",
	"ipv6":          "an IPv6 address",
	"iri":           "an absolute URL",
	"iri-reference": "a URL",
}

// alternatives says why none of the alternatives at e fits: by the one that is
// closest, or by all of them where they are simple.
func (r *reporter) alternatives(e *jsonschema.ValidationError, keyword string) []Fault {
	here := func(f Fault) bool { return len(f.Path) == len(e.InstanceLocation) }
	arms := make([][]Fault, len(e.Causes))
	var want []string
	types := true
	for i, c := range e.Causes {
		if arms[i] = r.all(c); len(arms[i]) == 0 {
			return nil
		}
		if len(arms[i]) == 1 && arms[i][0].Keyword == "type" && here(arms[i][0]) {
			want = append(want, arms[i][0].Want...)
		} else {
			types = false
		}
	}
	value := r.at(e.InstanceLocation)
	if types {
		return []Fault{r.mistyped(e.InstanceLocation, want, typeOf(value))}
	}
	// Arms that want another type are out of the question.
	near := slices.DeleteFunc(slices.Clone(arms), func(a []Fault) bool {
		return len(a) == 1 && a[0].Keyword == "type" && here(a[0])
	})
	if len(near) == 1 && !isScalar(value) {
		return near[0]
	}
	if isScalar(value) {
		var say []string
		for _, a := range arms {
			for _, f := range a {
				say = append(say, strings.TrimPrefix(f.Message, r.fault(e.InstanceLocation, "", "").Message))
			}
		}
		f := r.fault(e.InstanceLocation, keyword, joinAlternatives(say))
		f.Want, f.Texts = want, textsAt(arms, e.InstanceLocation)
		return []Fault{f}
	}
	closest := slices.MinFunc(near, func(a, b []Fault) int {
		return cmp.Or(
			cmp.Compare(count(a, "const", "enum"), count(b, "const", "enum")),
			cmp.Compare(count(a, "required", "additionalProperties"), count(b, "required", "additionalProperties")),
			cmp.Compare(len(a), len(b)),
		)
	})
	for i, f := range closest {
		if f.Texts != nil { // a member that tells the alternatives apart may be that of any
			closest[i].Texts = textsAt(near, f.Path)
		}
	}
	return closest
}

// textsAt gives the strings that would do at a place for some of the alternatives.
func textsAt(arms [][]Fault, path []string) []string {
	var texts []string
	for _, f := range slices.Concat(arms...) {
		if !slices.Equal(f.Path, path) {
			continue
		}
		for _, text := range f.Texts {
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// withTexts notes those of the values which would do that are strings.
func withTexts(faults []Fault, values ...any) []Fault {
	for _, v := range values {
		if s, ok := v.(string); ok {
			faults[0].Texts = append(faults[0].Texts, s)
		}
	}
	return faults
}

// mistyped is a fault of type.
func (r *reporter) mistyped(path, want []string, got string) Fault {
	want = slices.Clone(want)
	slices.SortFunc(want, func(a, b string) int { return cmp.Compare(typeRank(a), typeRank(b)) })
	want = slices.Compact(want)
	f := r.fault(path, "type", mustBe(want, got))
	f.Want = want
	return f
}

// joinAlternatives makes one sentence of several: "must be one of a, b, or an
// integer".
func joinAlternatives(say []string) string {
	var all []string
	for _, s := range say {
		s, _, _ = strings.Cut(s, ", not ")
		if len(all) > 0 {
			s = strings.TrimPrefix(strings.TrimPrefix(s, "must be "), "must ")
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return strings.Join(all, ", or ")
}

// count is how many of the faults have one of the keywords.
func count(faults []Fault, keywords ...string) int {
	n := 0
	for _, f := range faults {
		if slices.Contains(keywords, f.Keyword) {
			n++
		}
	}
	return n
}

// at is the value at a place of the instance.
func (r *reporter) at(path []string) any {
	v := r.instance
	for _, p := range path {
		switch w := v.(type) {
		case []any:
			i, _ := strconv.Atoi(p)
			v = w[i]
		case map[string]any:
			v = w[p]
		}
	}
	return v
}

func isScalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func typeRank(t string) int {
	return slices.Index([]string{"string", "integer", "number", "boolean", "array", "object", "null"}, t)
}

var articles = map[string]string{
	"array": "an array", "object": "an object", "integer": "an integer", "string": "a string",
	"number": "a number", "boolean": "true or false", "null": "null",
}

// mustBe says which types would do.
func mustBe(want []string, got string) string {
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = cmp.Or(articles[w], w)
	}
	said := names[0]
	if n := len(names); n > 1 {
		said = strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	if got == "boolean" {
		return "must be " + said + ", not a boolean"
	}
	if got == "number" && slices.Contains(want, "integer") {
		return "must be " + said + ", not a fraction"
	}
	return "must be " + said + ", not " + cmp.Or(articles[got], got)
}

// precision is that of CUE's arithmetic, in digits.
const precision = 34

// nearMultiple says that CUE takes x for a multiple of y, though it is none:
// it rounds the quotient.
func nearMultiple(x, y *big.Rat) bool {
	q := new(big.Rat).Quo(x, y)
	q.Abs(q)
	// The integer nearest to q, and how far it is.
	n := new(big.Int).Add(new(big.Int).Lsh(q.Num(), 1), q.Denom())
	n.Div(n, new(big.Int).Lsh(q.Denom(), 1))
	off := new(big.Rat).Sub(q, new(big.Rat).SetInt(n))
	off.Abs(off)
	digits := len(n.String())
	if digits >= precision {
		return true
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision-digits)), nil)
	return off.Cmp(new(big.Rat).SetFrac(big.NewInt(1), unit.Lsh(unit, 1))) <= 0
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// digits writes a decimal number exactly.
func digits(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	return r.RatString()
}

// shown is a value as an agent would write it; strings without quotes where
// nothing is lost.
func shown(v any) string {
	if s, ok := v.(string); ok && s != "" && !strings.ContainsAny(s, " ,\"\\\n\t") {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func listed(values []any) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = shown(v)
	}
	return strings.Join(all, ", ")
}

// shownKeyword is the value of a keyword at the schema that refused.
func (r *reporter) shownKeyword(e *jsonschema.ValidationError, keyword string) string {
	if m, ok := r.schemaAt(e).(map[string]any); ok {
		return shown(m[keyword])
	}
	return "the schema"
}

// schemaAt is the part of the schema that refused.
func (r *reporter) schemaAt(e *jsonschema.ValidationError) any {
	_, pointer, _ := strings.Cut(e.SchemaURL, "#")
	v := r.schema()
	for _, tok := range strings.Split(pointer, "/")[1:] {
		if t, err := url.PathUnescape(tok); err == nil {
			tok = pointerEscapes.Replace(t)
		}
		switch w := v.(type) {
		case []any:
			i, err := strconv.Atoi(tok)
			if err != nil || i >= len(w) {
				return nil
			}
			v = w[i]
		case map[string]any:
			v = w[tok]
		}
	}
	return v
}

// pointerEscapes are those of JSON Pointer (RFC 6901, 4).
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// forbidden says what a not refuses.
func (r *reporter) forbidden(e *jsonschema.ValidationError) string {
	m, _ := r.schemaAt(e).(map[string]any)
	not, _ := m["not"].(map[string]any)
	say := func(not map[string]any) (string, bool) {
		if v, ok := not["const"]; ok {
			return "must not be " + shown(v), true
		}
		if v, ok := not["enum"].([]any); ok {
			return "must be none of " + listed(v), true
		}
		if v, ok := not["pattern"]; ok {
			return "must not match the pattern " + fmt.Sprint(v), true
		}
		return "", false
	}
	if s, ok := say(not); ok {
		return s
	}
	if arms, ok := not["anyOf"].([]any); ok {
		var all []string
		for _, a := range arms {
			a, _ := a.(map[string]any)
			s, ok := say(a)
			if !ok {
				return "is not allowed"
			}
			all = append(all, s)
		}
		return strings.Join(all, ", and ")
	}
	return "is not allowed"
}

// sorted puts the faults into their order, each once.
func (r *reporter) sorted() []Fault {
	rank := map[string]int{"required": 0, "additionalProperties": 1}
	order := func(f Fault) int {
		if n, ok := rank[f.Keyword]; ok {
			return n
		}
		return len(rank)
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int {
		c := cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(order(a), order(b)))
		if c == 0 && a.Keyword != "required" { // those are in the schema's order
			c = cmp.Or(cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Message, b.Message))
		}
		return c
	})
	return slices.CompactFunc(r.faults, func(a, b Fault) bool { return a.Message == b.Message && a.Keyword == b.Keyword })
}

// comparePaths orders outer places before inner ones, and indexes as numbers.
func comparePaths(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		i, errX := strconv.Atoi(x)
		j, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(i, j)
		}
		return cmp.Compare(x, y)
	})
}
