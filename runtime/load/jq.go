package load

import (
	"reflect"

	"github.com/itchyny/gojq"
)

// argsVariable is bound to the arguments in every jq program of a tool.
const argsVariable = "$args"

// jqArgs gives the arguments that a jq program takes from $args, each as a path
// of names; an empty path means $args as a whole. A program that does not parse
// takes none: it is reported where it is compiled.
func jqArgs(program string) [][]string {
	q, err := gojq.Parse(program)
	if err != nil {
		return nil
	}
	var w jqWalker
	w.walk(reflect.ValueOf(q))
	return w.paths
}

type jqWalker struct{ paths [][]string }

// walk visits the terms of a program, whatever holds them.
func (w *jqWalker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch x := v.Interface().(type) {
		case *gojq.Term:
			if x.Type == gojq.TermTypeFunc && x.Func != nil && x.Func.Name == argsVariable {
				w.paths = append(w.paths, jqPath(x.SuffixList))
			}
		case *gojq.ObjectKeyVal: // {$args}
			if x.Key == argsVariable && x.Val == nil {
				w.paths = append(w.paths, []string{})
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
