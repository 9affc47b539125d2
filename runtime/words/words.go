// Package words says what CUE's errors mean for whoever wrote a configuration.
// Each stage has errors of CUE's, and all are worded here.
package words

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	cueerrors "cuelang.org/go/cue/errors"

	"github.com/metacue/metacue/runtime/diag"
)

// Of words an error of CUE for a finding: the first of several, innermost, since it
// names what is at fault. What is no error of CUE says itself.
func Of(err error) string {
	list := cueerrors.Errors(err)
	if len(list) == 0 {
		return diag.Brief(err.Error())
	}
	return Say(Innermost(list[0]), err)
}

// Innermost is the message of an error of CUE that says most: the innermost one, and
// what a function says of its arguments.
func Innermost(e error) (text string) {
	for ; e != nil; e = errors.Unwrap(e) {
		ce, ok := e.(cueerrors.Error)
		if !ok { // what a function says
			if text != "" {
				text += ": "
			}
			return text + e.Error()
		}
		format, args := ce.Msg()
		if said := fmt.Sprintf(format, args...); said != "" {
			text = said
		}
	}
	return text
}

// Say makes one line of text, which is what err says first: whole structures and long
// texts in it are shortened, and what was meant is said where that is plain.
func Say(text string, err error) string {
	if !strings.Contains(text, "in empty disjunction") {
		return Advised(diag.Brief(text))
	}
	// CUE names the alternatives after that, and none of them fits.
	all := []string{NoneFits}
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		if said := diag.Brief(fmt.Sprintf(format, args...)); !strings.Contains(said, "in empty disjunction") && !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return strings.Join(all, "; ")
}

// NoneFits begins the message about a value that fits no alternative.
const NoneFits = "none of the alternatives fits"

// habits are what people write who come from other languages, by what CUE says of it,
// and what is said instead; $0 is CUE's message. The first that matches counts.
var habits = []struct {
	message *regexp.Regexp
	say     string
}{
	// types
	{regexp.MustCompile(`invalid operand .* \('(?:>=|<=|>|<|!=|=~|!~)' requires concrete value\)$`), `$0; a bound stands behind &, as in int & >=1 & <=50 or string & =~"^a"`},
	{regexp.MustCompile(`invalid operand .* \('==' requires concrete value\)$`), `$0; a type of one value is the value itself`},
	{regexp.MustCompile(`invalid operand .* \('\|\|' requires concrete value\)$`), `$0; alternatives are written A | B`},
	{regexp.MustCompile(`invalid operand .* \('&&' requires concrete value\)$`), `$0; what must hold together is written A & B`},
	{regexp.MustCompile(`cannot call non-function (int|number|float) .*`), `$1 is a type and no function: bounds are written $1 & >=1 & <=50, and a text is read by strconv.Atoi(x)`},
	{regexp.MustCompile(`cannot call non-function (string|bytes) .*`), `$1 is a type and no function: a text is made by "\(x)", and its length is bound by strings.MinRunes(1) & strings.MaxRunes(50)`},
	{regexp.MustCompile(`cannot call non-function (bool) .*`), `$1 is a type and no function: a condition is x == "true"`},
	{regexp.MustCompile(`optional marker \(\?\).*`), `? stands in a declaration, NAME?: T, and nowhere else: whether x was given is told by x != _|_, and a value to fall back on is written *x | VALUE`},
	{regexp.MustCompile(`preference mark not allowed at this position$`), `$0: * marks the default among alternatives, as in T | *VALUE`},
	{regexp.MustCompile(`unreferenced alias or let clause (?:int|number|float|string|bool)$`), `$0; a default is written T | *VALUE`},
	{regexp.MustCompile(`postfix \.\.\. operator requires .*`), `a list of any number is written [...T], and a structure that takes more members ends with ...`},
	// functions
	{regexp.MustCompile(`cannot call non-function (input|steps)\.(\S+)\.(\w+) .*`), `values have no functions: they stand before what they work on, as in strings.ToUpper($1.$2) and len($1.$2)`},
	{regexp.MustCompile(`cannot call non-function (\w+)\.([a-z]\w*) \(type _\|_\)$`), `the package $1 has no function $2: their names begin with a capital`},
	{regexp.MustCompile(`cannot call non-function (\w+)\.(\w+) \(type _\|_\)$`), `the package $1 has no function $2`},
	{regexp.MustCompile(`undefined field: (?:length|size|count)$`), `$0; how many there are is len(x)`},
	{regexp.MustCompile(`(?:list element .* in argument|^error in call to strings\.Join).*`), `$0; texts are made of the elements by [for x in LIST {"\(x)"}]`},
	// operators
	{regexp.MustCompile(`cannot use .* as type bool in \|\|$`), `$0, which is for conditions; alternatives are written A | B, and a value to fall back on *A | B`},
	{regexp.MustCompile(`cannot use .* as type bool in &&$`), `$0, which is for conditions; a choice is written [if CONDITION {A}, B][0]`},
	{regexp.MustCompile(`Addition of lists is superseded.*`), `lists are put together by list.Concat([A, B]), of the package list`},
	{regexp.MustCompile(`Multiplication of lists is superseded.*`), `lists are repeated by list.Repeat(A, N), of the package list`},
	{regexp.MustCompile(`invalid operation .* \([+-] list\)$`), `$0; lists are put together by list.Concat([A, B]), of the package list`},
	{regexp.MustCompile(`invalid operands .* to '\+' \(type (?:string and (?:int|float|number|bool)|(?:int|float|number|bool) and string)\)$`), `$0; values are put into a text by "\(x)"`},
	{regexp.MustCompile(`cannot use .* \(type (?:list|struct)\) as type \(bool\|string\|bytes\|number\)$`), `$0; into a text go texts, numbers and booleans, and others by json.Marshal(x), of the package encoding/json`},
}

// Advised is text with what was meant by what CUE says in it, where that is plain.
func Advised(text string) string {
	for _, h := range habits {
		if h.message.MatchString(text) {
			return h.message.ReplaceAllString(text, h.say)
		}
	}
	return text
}
