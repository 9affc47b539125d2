package load

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// argsVariable is bound to the arguments in every jq program of a tool.
const argsVariable = "$args"

// headersVariable is bound to the headers of the answer in a program over one.
const headersVariable = "$headers"

// jqNames are the names in a jq program that somebody declares: of arguments, of
// steps. Each is a path of names, as far as they are literal.
type jqNames struct {
	// args are taken from $args; an empty path means $args as a whole.
	args [][]string
	// cue are references as CUE has them, input.x and steps.x, which are none in jq.
	cue [][]string
	// seen are members of what the program is run over, headers those of $headers.
	seen, headers [][]string
	// bare says that there is no program but the name of an argument alone.
	bare bool
}

// arguments gives the arguments that a program means to use, however it writes them.
func (n jqNames) arguments() [][]string {
	args := slices.Clone(n.args)
	for _, path := range n.cue {
		if path[0] == "input" {
			args = append(args, path[1:])
		}
	}
	return args
}

// readJQ finds the names in a jq program. One that does not parse has none: it is
// reported where it is compiled.
func readJQ(program string) jqNames {
	q, err := gojq.Parse(program)
	if err != nil {
		return jqNames{}
	}
	w := jqWalker{own: map[string]bool{}}
	w.walk(reflect.ValueOf(q))
	s := jqFlow{own: w.own, variables: map[string]jqPlace{headersVariable: {root: headersVariable, known: true}}}
	s.query(q, jqPlace{known: true})
	for _, place := range s.seen {
		if place.root == headersVariable {
			w.headers = append(w.headers, place.path)
		} else {
			w.seen = append(w.seen, place.path)
		}
	}
	return w.jqNames
}

// jqWalker visits all terms of a program.
type jqWalker struct {
	jqNames
	own map[string]bool // functions that the program defines, and their parameters
}

// walk visits the terms of a program, whatever holds them.
func (w *jqWalker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch x := v.Interface().(type) {
		case *gojq.FuncDef:
			w.own[x.Name] = true
			for _, name := range x.Args {
				w.own[name] = true
			}
		case *gojq.Term:
			if x.Type != gojq.TermTypeFunc || x.Func == nil {
				break
			}
			switch name := x.Func.Name; {
			case name == argsVariable:
				w.args = append(w.args, jqPath(x.SuffixList))
			case slices.Contains(roots, name) && len(x.Func.Args) == 0 && !w.own[name]:
				w.cue = append(w.cue, append([]string{name}, jqPath(x.SuffixList)...))
			}
		case *gojq.ObjectKeyVal: // {$args}
			if x.Key == argsVariable && x.Val == nil {
				w.args = append(w.args, []string{})
			}
		}
		w.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	}
}

// jqPath gives the names in a row of indexes, as far as they are literal.
func jqPath(suffixes []*gojq.Suffix) []string {
	path := []string{}
	for _, s := range suffixes {
		if s.Optional && s.Index == nil {
			continue
		}
		name, ok := jqName(s.Index)
		if !ok {
			break
		}
		path = append(path, name)
	}
	return path
}

// jqName is the name by which an index picks a member.
func jqName(i *gojq.Index) (string, bool) {
	switch {
	case i == nil || i.IsSlice:
	case i.Name != "":
		return i.Name, true
	case i.Str != nil && i.Str.Queries == nil:
		return i.Str.Str, true
	case i.Start != nil && i.Start.Term != nil && i.Start.Term.Str != nil && i.Start.Term.Str.Queries == nil && i.Start.Term.SuffixList == nil:
		return i.Start.Term.Str.Str, true
	}
	return "", false
}

// jqPlace is where a value comes from: a path below what the program is run over,
// or below the variable root, or, where it is not known, anywhere.
type jqPlace struct {
	root  string
	path  []string
	known bool
}

// below is the place of a member.
func (p jqPlace) below(i *gojq.Index) jqPlace {
	name, ok := jqName(i)
	if !ok || !p.known {
		return jqPlace{}
	}
	return jqPlace{p.root, append(slices.Clone(p.path), name), true}
}

// jqFlow follows what a program is run over through its pipes and variables, as
// far as it goes by names alone.
type jqFlow struct {
	own       map[string]bool
	variables map[string]jqPlace
	seen      []jqPlace
}

// sameInput are functions whose arguments are run over their own input.
var sameInput = []string{"all", "any", "del", "error", "first", "isempty", "last", "limit", "nth", "path", "paths", "select", "skip"}

// query follows a query that is run at a place, and gives that of its output.
func (s *jqFlow) query(q *gojq.Query, at jqPlace) jqPlace {
	if q == nil {
		return jqPlace{}
	}
	for _, f := range q.FuncDefs {
		s.query(f.Body, jqPlace{})
	}
	switch {
	case q.Term != nil:
		return s.term(q.Term, at)
	case q.Op == gojq.OpPipe && len(q.Patterns) > 0:
		restore := s.bind(q.Patterns, s.query(q.Left, at))
		defer restore()
		return s.query(q.Right, at)
	case q.Op == gojq.OpPipe:
		return s.query(q.Right, s.query(q.Left, at))
	}
	s.query(q.Left, at)
	if q.Op == gojq.OpModify { // what is on the right is run over what is on the left
		at = jqPlace{}
	}
	s.query(q.Right, at)
	return jqPlace{}
}

// bind notes where the variables of patterns come from, until restore is called.
func (s *jqFlow) bind(patterns []*gojq.Pattern, from jqPlace) (restore func()) {
	before := s.variables
	s.variables = maps.Clone(before)
	if len(patterns) == 1 && patterns[0].Name != "" {
		s.variables[patterns[0].Name] = from
	} else { // parts of it, which may hide others
		clear(s.variables)
	}
	return func() { s.variables = before }
}

// term follows a term with its suffixes.
func (s *jqFlow) term(t *gojq.Term, at jqPlace) jqPlace {
	place := s.bare(t, at)
	for _, suffix := range t.SuffixList {
		switch {
		case suffix.Index != nil:
			s.index(suffix.Index, at)
			if place = place.below(suffix.Index); place.known {
				s.seen = append(s.seen, place)
			}
		case suffix.Iter:
			place = jqPlace{}
		}
	}
	return place
}

// index follows the expressions in an index.
func (s *jqFlow) index(i *gojq.Index, at jqPlace) {
	s.text(i.Str, at)
	s.query(i.Start, at)
	s.query(i.End, at)
}

// text follows the expressions in a string.
func (s *jqFlow) text(t *gojq.String, at jqPlace) {
	if t != nil {
		for _, q := range t.Queries {
			s.query(q, at)
		}
	}
}

// bare follows a term without its suffixes.
func (s *jqFlow) bare(t *gojq.Term, at jqPlace) jqPlace {
	s.text(t.Str, at)
	switch t.Type {
	case gojq.TermTypeIdentity:
		return at
	case gojq.TermTypeIndex:
		s.index(t.Index, at)
		place := at.below(t.Index)
		if place.known {
			s.seen = append(s.seen, place)
		}
		return place
	case gojq.TermTypeQuery:
		return s.query(t.Query, at)
	case gojq.TermTypeFunc:
		within := jqPlace{}
		if slices.Contains(sameInput, t.Func.Name) && !s.own[t.Func.Name] {
			within = at
		}
		for _, q := range t.Func.Args {
			s.query(q, within)
		}
		if t.Func.Name == "select" {
			return within
		}
		return s.variables[t.Func.Name]
	case gojq.TermTypeObject:
		for _, kv := range t.Object.KeyVals {
			s.text(kv.KeyString, at)
			s.query(kv.KeyQuery, at)
			s.query(kv.Val, at)
			if at.known && kv.Val == nil && kv.Key != "" && !strings.HasPrefix(kv.Key, "$") {
				s.seen = append(s.seen, jqPlace{at.root, append(slices.Clone(at.path), kv.Key), true})
			}
		}
	case gojq.TermTypeArray:
		s.query(t.Array.Query, at)
	case gojq.TermTypeUnary:
		s.term(t.Unary.Term, at)
	case gojq.TermTypeIf:
		s.query(t.If.Cond, at)
		s.query(t.If.Then, at)
		for _, e := range t.If.Elif {
			s.query(e.Cond, at)
			s.query(e.Then, at)
		}
		s.query(t.If.Else, at)
	case gojq.TermTypeTry:
		s.query(t.Try.Body, at)
		s.query(t.Try.Catch, jqPlace{})
	case gojq.TermTypeReduce:
		s.query(t.Reduce.Start, at)
		s.fold(t.Reduce.Query, t.Reduce.Patterns, at, t.Reduce.Update)
	case gojq.TermTypeForeach:
		s.query(t.Foreach.Start, at)
		s.fold(t.Foreach.Query, t.Foreach.Patterns, at, t.Foreach.Update, t.Foreach.Extract)
	case gojq.TermTypeLabel:
		return s.query(t.Label.Body, at)
	}
	return jqPlace{}
}

// fold follows reduce and foreach, whose bodies are run over what they make.
func (s *jqFlow) fold(over *gojq.Query, patterns []*gojq.Pattern, at jqPlace, bodies ...*gojq.Query) {
	s.query(over, at)
	restore := s.bind(patterns, jqPlace{})
	defer restore()
	for _, q := range bodies {
		s.query(q, jqPlace{})
	}
}

// stepMembers are what a jq program over steps sees of each.
var stepMembers = []string{"status", "headers", "result"}

// unseen says what is wrong with a path below {"steps": …}, which a program over
// steps is run over; "" when nothing is.
func unseen(steps, path []string) string {
	switch {
	case path[0] != "steps":
		return fmt.Sprintf(`%s is not there: with steps the program sees {"steps": {NAME: {"status", "headers", "result"}}}, such as %s`,
			written("", path[:1]), written("", []string{"steps", steps[len(steps)-1], "result"}))
	case len(path) > 1 && !slices.Contains(steps, path[1]):
		return written("", path[:2]) + " is no step of the tool" + orNearest(path[1], steps)
	case len(path) > 2 && !slices.Contains(stepMembers, path[2]):
		return written("", path[:3]) + " does not exist" + orNearest(path[2], stepMembers)
	case len(path) > 3 && path[2] == "headers":
		return upperHeader("", path[:4])
	}
	return ""
}

// foreignInJQ says how a reference of CUE's is written in a jq program. steps says
// that the program is run over steps.
func foreignInJQ(path []string, steps bool) string {
	is := written(path[0], path[1:]) + " is for CUE, and this is jq: "
	switch {
	case path[0] == "input":
		return is + "write " + written(argsVariable, path[1:])
	case steps:
		return is + "write " + written("", path)
	}
	return is + "the program sees " + argsVariable + " and the answer, and no steps"
}
