package exec

import "testing"

// A program is said to make one object only where it surely does.
func TestOneObject(t *testing.T) {
	for src, want := range map[string]bool{
		`{items: .}`:                           true,
		`{items: .value, n: .count}`:           true,
		`.value | {items: map({id})}`:          true,
		`{items: [.value[] | {id}]}`:           true,
		`. as $x | {items: $x.value}`:          true,
		`({value: (.a // [])})`:                true,
		`def f: .a; {items: .b}`:               true,
		`{"items": .[0:5], t: $args.top}`:      true,
		`.`:                                    false,
		`.value`:                               false,
		`[{items: .}]`:                         false,
		`.value[] | {id}`:                      false,
		`{id: .value[]}`:                       false,
		`{a: 1}, {a: 2}`:                       false,
		`.value | select(.ok) | {id}`:          false,
		`def f: .[]; f | {id}`:                 false,
		`def map(f): .[]; map(.) | {id}`:       false,
		`{items: .value}.items`:                false,
		`{items: .value} | .items`:             false,
		`{items: .value}[]`:                    false,
		`if .a then {a} else .b[] end`:         false,
		`.. | {id}`:                            false,
		`{(.names[]): 1}`:                      false,
		`foreach .[] as $x (0; $x) | {a: .}`:   false,
		`try error("x") catch {a: .}`:          false,
		`.[] as $x | {a: $x}`:                  false,
		`(1, 2) as $x | {a: $x}`:               false,
		`limit(2; .[]) | {id}`:                 false,
		`def split(f): .[]; {a: split(1)}`:     false,
		`. | (def map(f): .[]; map(.) | {id})`: false,
	} {
		jq, err := ParseJQ(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
		} else if jq.OneObject != want {
			t.Errorf("%s: %t", src, jq.OneObject)
		}
	}
}
