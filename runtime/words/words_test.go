package words

import (
	"errors"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
)

// What people write who come from other languages is told with what to write, by CUE's
// own messages, so that one that changes is seen here.
func TestOf(t *testing.T) {
	said := map[string]bool{}
	for _, test := range []struct{ src, want string }{
		{`x: int >= 0`, `invalid operand int ('>=' requires concrete value); a bound stands behind &, as in int & >=1 & <=50 or string & =~"^a"`},
		{`x: >=1 <=50`, `invalid operand >=1 ('<=' requires concrete value); a bound stands behind &, as in int & >=1 & <=50 or string & =~"^a"`},
		{`x: 1 <= int`, `invalid operand int ('<=' requires concrete value); a bound stands behind &, as in int & >=1 & <=50 or string & =~"^a"`},
		{`x: string == "a"`, `invalid operand string ('==' requires concrete value); a type of one value is the value itself`},
		{`x: int || string`, `invalid operand int ('||' requires concrete value); alternatives are written A | B`},
		{`x: int && >0`, `invalid operand int ('&&' requires concrete value); what must hold together is written A & B`},
		{`x: int(1, 50)`, `int is a type and no function: bounds are written int & >=1 & <=50, and a text is read by strconv.Atoi(x)`},
		{`x: string(5)`, `string is a type and no function: a text is made by "\(x)", and its length is bound by strings.MinRunes(1) & strings.MaxRunes(50)`},
		{`x: bool("true")`, `bool is a type and no function: a condition is x == "true"`},
		{`x: y?, y: 1`, `? stands in a declaration, NAME?: T, and nowhere else: whether x was given is told by x != _|_, and a value to fall back on is written *x | VALUE`},
		{`x: int = 2`, `unreferenced alias or let clause int; a default is written T | *VALUE`},
		{`x: *2`, `preference mark not allowed at this position: * marks the default among alternatives, as in T | *VALUE`},
		{`x: [int...]`, `a list of any number is written [...T], and a structure that takes more members ends with ...`},
		{`input: q!: string, x: input.q.toUpper()`, `values have no functions: they stand before what they work on, as in strings.ToUpper(input.q) and len(input.q)`},
		{`import "strings", x: strings.join(["a"], ",")`, `the package strings has no function join: their names begin with a capital`},
		{`import "strings", x: strings.Upper("a")`, `the package strings has no function Upper`},
		{`x: {a: 1}.length`, `undefined field: length; how many there are is len(x)`},
		{`import "strings", x: strings.Join([1, 2], ",")`, `invalid list element 0 in argument 0 to call: cannot use value 1 (int) as string; texts are made of the elements by [for x in LIST {"\(x)"}]`},
		{`x: [1] || []`, `cannot use [1] (type list) as type bool in ||, which is for conditions; alternatives are written A | B, and a value to fall back on *A | B`},
		{`x: "a" && true`, `cannot use "a" (type string) as type bool in &&, which is for conditions; a choice is written [if CONDITION {A}, B][0]`},
		{`x: [1] + [2]`, `lists are put together by list.Concat([A, B]), of the package list`},
		{`x: [1] * 2`, `lists are repeated by list.Repeat(A, N), of the package list`},
		{`x: [1] ++ [2]`, `invalid operation +[2] (+ list); lists are put together by list.Concat([A, B]), of the package list`},
		{`x: "a" + 5`, `invalid operands "a" and 5 to '+' (type string and int); values are put into a text by "\(x)"`},
		{`x: "\([1])"`, `cannot use [1] (type list) as type (bool|string|bytes|number); into a text go texts, numbers and booleans, and others by json.Marshal(x), of the package encoding/json`},
		{`x: int & "a"`, `conflicting values int and "a" (mismatched types int and string)`},
		{`x: ("a" | "b") & "c"`, `none of the alternatives fits; conflicting values "a" and "c"; conflicting values "b" and "c"`},
	} {
		v := cuecontext.New().CompileString(test.src)
		err := v.Err()
		if x := v.LookupPath(cue.ParsePath("x")); err == nil {
			err = x.Err()
		}
		for _, h := range habits {
			if err != nil && h.message.MatchString(Innermost(cueerrors.Errors(err)[0])) {
				said[h.say] = true
				break
			}
		}
		if err == nil {
			t.Errorf("%s: no error", test.src)
		} else if got := Of(err); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.src, got, test.want)
		}
	}
	for _, h := range habits {
		if !said[h.say] {
			t.Errorf("nothing here is worded as %q", h.say)
		}
	}
	if got := Of(errors.New("two\nlines")); got != "two; lines" {
		t.Errorf("of another error: %q", got)
	}
}
