package jsonschema

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cuelang.org/go/cue"
)

// frame is a definition, from when it is met.
type frame struct {
	target cue.Value
	mode   mode
	kinds  kinds
	name   string // in $defs; set when used
	shape  *shape // when done
}

// mode is the way in which CUE looks at a value.
type mode struct{ operand, lenient bool }

func (c *compiler) mode() mode { return mode{c.operand > 0, c.lenient > 0} }

// reference follows v. The definition it refers to becomes a $ref when it
// turns up within itself; otherwise it is as if it stood here.
func (c *compiler) reference(v cue.Value) *shape {
	if c.scopes.depends(expression(v.Source())) {
		return c.open(anyKind, "depends on another argument")
	}
	d, ok := c.follow(v)
	if !ok {
		return c.evaluatedLeaf(v)
	}
	for _, f := range c.frames {
		if f.target == d && f.mode == c.mode() {
			return c.refer(f)
		}
	}
	for _, f := range c.defs {
		if f.target == d && f.mode == c.mode() && len(f.shape.pending) == 0 {
			return f.reference()
		}
	}
	f := &frame{target: d, mode: c.mode(), kinds: anyKind}
	if d.Err() == nil {
		f.kinds, _ = jsonKinds(d.IncompleteKind())
	}
	c.frames = append(c.frames, f)
	s := c.shape(d)
	c.frames = c.frames[:len(c.frames)-1]
	if f.name == "" {
		return s
	}
	f.shape = settle(s, f)
	c.defs = append(c.defs, f)
	return f.reference()
}

// reference is the shape of a $ref to a definition that is done.
func (f *frame) reference() *shape {
	s := f.shape
	return &shape{kinds: s.kinds, exact: s.exact, fills: s.fills, pending: s.pending, also: []clause{{op: opRef, ref: f}}}
}

// settle takes a definition that is done off what a shape waits for.
func settle(s *shape, f *frame) *shape {
	r := *s
	r.pending = slices.DeleteFunc(slices.Clone(s.pending), func(p *frame) bool { return p == f })
	return &r
}

// refer is a reference to a definition in the making.
func (c *compiler) refer(f *frame) *shape {
	if f.name == "" {
		f.name = c.definitionName(f.target)
	}
	// Whether it fills anything is not known yet, as pending says.
	return &shape{kinds: f.kinds, exact: true, pending: []*frame{f}, also: []clause{{op: opRef, ref: f}}}
}

// definitionName is the last part of a definition's path, made unique.
func (c *compiler) definitionName(v cue.Value) string {
	base := "value"
	if sels := v.Path().Selectors(); len(sels) > 0 {
		last := sels[len(sels)-1]
		base = strings.TrimLeft(last.String(), "_#")
		if last.LabelType() == cue.StringLabel && last.ConstraintType() != cue.PatternConstraint {
			base = last.Unquoted()
		}
	}
	// What needs no escape in a JSON Pointer within a URI.
	base = strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.') {
			return r
		}
		return '_'
	}, base)
	name := base
	for n := 2; ; n++ {
		taken := func(f *frame) bool { return f.name == name }
		if !slices.ContainsFunc(c.frames, taken) && !slices.ContainsFunc(c.defs, taken) {
			return name
		}
		name = fmt.Sprintf("%s%d", base, n)
	}
}

// follow gives what v refers to; ok is false when v is no reference, or one to
// a builtin or to nothing.
func (c *compiler) follow(v cue.Value) (target cue.Value, ok bool) {
	for range maxReferences {
		d := cue.Dereference(v)
		if d == v || d.Source() == nil && d.Err() != nil || isFunc(d) {
			return v, false
		}
		op, args := c.expr(d)
		switch op {
		case cue.SelectorOp, cue.IndexOp:
			c.scopes.add(expression(d.Source()))
			if c.scopes.depends(expression(d.Source())) {
				return d, true
			}
			v = d
			continue
		case cue.NoOp:
			// A builtin without arguments, such as time.Time, is its own value.
			if d.Source() == nil && len(args) == 1 && args[0] == d {
				if e, _ := c.expr(c.eval(v)); e == cue.CallOp {
					return v, false
				}
			}
		}
		c.scopes.add(expression(d.Source()))
		return d, true
	}
	return v, false
}
