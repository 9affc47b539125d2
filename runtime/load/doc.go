package load

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
)

// Doc gives the description of a field: the comment above its declaration and,
// where blank lines part it, all its paragraphs. Declarations of one field in
// several places are joined. It is "" when there is none.
func (c *Config) Doc(v cue.Value) string {
	declared := nodes(v)
	if len(declared) == 0 {
		declared = nodes(c.Own.LookupPath(v.Path()))
	}
	var texts []string
	for _, n := range declared {
		f, ok := n.(*ast.Field)
		if !ok {
			continue
		}
		if text := strings.TrimSpace(c.docs[f] + "\n\n" + above(f)); text != "" && !slices.Contains(texts, text) && !foreign(f.Pos()) {
			texts = append(texts, text)
		}
	}
	if _, once := v.Source().(*ast.Field); !once && texts == nil {
		// Expr leaves out a declaration that says what another one says.
		for _, g := range v.Doc() {
			if text := strings.TrimSpace(g.Text()); !slices.Contains(texts, text) && !foreign(g.Pos()) {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}

// above is the text of the comments that the parser hangs before a field. It
// is empty when none stands directly above.
func above(f *ast.Field) string {
	var paragraphs []string
	documented := false
	for _, g := range ast.Comments(f) {
		if g.Position == 0 && !g.Line {
			paragraphs = append(paragraphs, strings.TrimSpace(g.Text()))
			documented = documented || g.Doc
		}
	}
	if !documented {
		return ""
	}
	return strings.Join(paragraphs, "\n\n")
}

// leadingComments finds the paragraphs that belong to the comment above a field
// but that a blank line parts from it: the parser hangs them at the end of the
// field before.
func leadingComments(files []*ast.File) map[*ast.Field]string {
	docs := map[*ast.Field]string{}
	look := func(decls []ast.Decl) {
		for i := 1; i < len(decls); i++ {
			f, ok := decls[i].(*ast.Field)
			if !ok || above(f) == "" {
				continue
			}
			var paragraphs []string
			for _, g := range ast.Comments(decls[i-1]) {
				if g.Position > 0 && !g.Line {
					paragraphs = append(paragraphs, strings.TrimSpace(g.Text()))
				}
			}
			if len(paragraphs) > 0 {
				docs[f] = strings.Join(paragraphs, "\n\n")
			}
		}
	}
	for _, f := range files {
		look(f.Decls)
		ast.Walk(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructLit); ok {
				look(s.Elts)
			}
			return true
		}, nil)
	}
	return docs
}
