package jsonschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	cuenet "cuelang.org/go/pkg/net"
	cuetime "cuelang.org/go/pkg/time"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validator checks instances against one schema. It is safe for concurrent use.
type Validator struct {
	compiled func() (*jsonschema.Schema, error)
	quick    func() *quick
	raw      func() any // the schema, to say in words what it forbids
}

// location names the one schema that a Validator knows. Nothing is ever loaded.
const location = "memory:///schema"

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is another document", url)
}

// formats are those that are asserted, each just as the validator of CUE that
// Compile states with it. All others are annotations, as draft 2020-12 has it.
var formats = map[string]func(string) error{
	"date-time": func(s string) error { return verdict(cuetime.Time(s)) },
	"date":      func(s string) error { return verdict(cuetime.Format(s, "2006-01-02")) },
	"ipv4": func(s string) error {
		a, err := netip.ParseAddr(s)
		return verdict(a.Is4(), err)
	},
	"ipv6": func(s string) error {
		a, err := netip.ParseAddr(s)
		return verdict(a.Is6(), err)
	},
	"iri":           func(s string) error { return verdict(cuenet.AbsURL(s)) },
	"iri-reference": func(s string) error { return verdict(cuenet.URL(s)) },
}

var errFormat = errors.New("not of this format")

func verdict(ok bool, err error) error {
	if err == nil && !ok {
		return errFormat
	}
	return err
}

// annotations are the formats that the library would assert and we do not.
var annotations = []string{
	"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "hostname", "email",
	"time", "uri", "uri-reference", "uri-template", "semver",
}

// NewValidator makes a check of a schema of draft 2020-12, which may refer to
// nothing outside itself. The schema is compiled when it is first used: a
// server has many and calls few. One that [Compile] made always compiles;
// should another not, every instance has that for its one fault.
func NewValidator(schema json.RawMessage) (*Validator, error) {
	if !json.Valid(schema) {
		return nil, errors.New("the schema is no JSON")
	}
	raw := sync.OnceValue(func() any {
		v, _ := decode(schema) // valid, as has been seen
		return v
	})
	return &Validator{
		raw:      raw,
		quick:    sync.OnceValue(func() *quick { return newQuick(raw()) }),
		compiled: sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(raw()) }),
	}, nil
}

func compile(schema any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	for name, f := range formats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if s, ok := v.(string); ok {
				return f(s)
			}
			return nil
		}})
	}
	for _, name := range annotations {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(location, schema); err != nil {
		return nil, err
	}
	return c.Compile(location)
}

// decode reads one JSON value and keeps the digits of its numbers.
func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

// Validate gives all faults of an instance in a stable order: outer before
// inner, missing members before unknown ones before wrong ones. There are none
// when it fits. A number that has an integer for its value is an integer,
// however it is written.
func (v *Validator) Validate(instance json.RawMessage) []Fault {
	if v.quick().fits(instance) {
		return nil
	}
	return v.check(instance)
}

// check is Validate by the whole schema.
func (v *Validator) check(instance json.RawMessage) []Fault {
	schema, err := v.compiled()
	if err != nil {
		return []Fault{{Message: "the schema is at fault: " + err.Error()}}
	}
	in, err := decode(instance)
	if err != nil {
		return []Fault{{Message: "arguments are no JSON: " + err.Error()}}
	}
	r := &reporter{schema: v.raw, instance: in}
	if r.outsize(in, nil); len(r.faults) > 0 {
		return r.sorted()
	}
	var e *jsonschema.ValidationError
	if err := schema.Validate(in); errors.As(err, &e) {
		r.faults = r.all(e)
	} else if err != nil {
		r.faults = []Fault{{Message: err.Error()}}
	}
	return r.sorted()
}

// What the numbers of an instance may be. To compare one it is written out, and
// so a short text such as 1e99999 would take time without proportion. The numbers
// that programs pass on are far below: a float64 (IEEE 754 binary64) goes from
// 5e-324 to 1.8e308, and 767 significant digits tell any of them exactly.
const (
	maxDigits   = maxIntegerDigits
	maxExponent = 999
)

// outsize notes numbers that are not compared.
func (r *reporter) outsize(v any, path []string) {
	switch v := v.(type) {
	case json.Number:
		mantissa, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || max(n, -n) > maxExponent {
			r.add(path, "type", fmt.Sprintf("must be a number with a smaller exponent (from -%d to %[1]d)", maxExponent))
		} else if len(mantissa)-strings.Count(mantissa, "-")-strings.Count(mantissa, ".") > maxDigits {
			r.add(path, "type", fmt.Sprintf("must be a number with at most %d digits", maxDigits))
		}
	case []any:
		for i, e := range v {
			r.outsize(e, append(path, strconv.Itoa(i)))
		}
	case map[string]any:
		for name, e := range v {
			r.outsize(e, append(path, name))
		}
	}
}
