package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/metacue/metacue/runtime/diag"
	"github.com/metacue/metacue/runtime/nearest"
)

// A tool that is renamed or taken away stays named in descriptions and notes, which
// then send agents after what there is not. Prose names much else besides: fields of
// the API, arguments, values, permissions. So a word counts as the name of a tool that
// there is not only if
//
//   - it stands in backquotes, or has an underscore, and not in double quotes, a fenced
//     block or the target of a link, and nothing beside it says that it is an event, a
//     header, a scope or another thing that is no tool;
//   - it is in the case of a tool, and has separators that tools have;
//   - the configuration has it nowhere but in prose: not as a label, and in no text of
//     a request, a program, an example, a list of values;
//   - it is spelt nearly as a tool is, or it begins with a verb as tools do and what
//     follows is what follows in a tool: get_threads where there is
//     get_pull_request_threads, or list_threads. The name of a tool and then words
//     that no tool has after its verb, get_comment_url, is a member of what it gives,
//     unless it stands in backquotes.
//
// What this does not find: names in prose that is interpolated or comes from other
// packages, names of one word, and those that have nothing in common with any tool.
//
// Bounds (package catalog) look for names in prose too, and take double quotes for a
// mark of one. They know the names that they look for, and one in quotes is that name;
// here nothing has the word for its name, and in quotes stands what is said literally.

// proseFields hold prose that agents read.
var proseFields = []string{"description", "summary", "notes", "instructions", "deprecated"}

// dataFields hold what is sent, received or run: a member of the same name in them
// is no prose.
var dataFields = []string{"input", "http", "steps", "response", "arguments", "request", "exchanges", "result", "tests"}

// SurfaceTools are the tools that surfaces have for themselves with a server of that
// name, which no configuration declares.
func SurfaceTools(server string) []string {
	return []string{
		"list_domains", "list_domain_tools", "get_tool_schema", "search_tools",
		"execute_tool", "execute_write_tool", "execute_destructive_tool",
		"api_request", "api_write_request", "api_destructive_request",
		"more", server + "_model", server + "_action",
	}
}

// prose is a text that agents read.
type prose struct {
	text string
	path string
	at   func(word string) token.Pos // of a word in it
}

// readProse gives the prose of the operator's files, and all words that stand
// anywhere else.
func (l *loader) readProse() (all []prose, words map[string]bool) {
	mixins := l.mixins()
	describes := func(label string) bool { return describes(label) || mixins[label] }
	words = map[string]bool{}
	for _, f := range l.cut.files {
		var labels []string
		ast.Walk(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.Field:
				name, _, _ := ast.LabelName(x.Label)
				labels = append(labels, name)
				words[name] = true
				if doc := strings.TrimSpace(l.cfg.docs[x] + "\n\n" + above(x)); doc != "" && slices.ContainsFunc(labels, describes) {
					all = append(all, prose{doc, l.path(labels).String(), func(string) token.Pos { return x.Pos() }})
				}
			case *ast.BasicLit:
				text, err := literal.Unquote(x.Value)
				switch last := len(labels) - 1; {
				case x.Kind != token.STRING || err != nil:
				case last >= 0 && slices.Contains(proseFields, labels[last]) && !slices.ContainsFunc(labels, func(name string) bool { return slices.Contains(dataFields, name) }):
					all = append(all, prose{text, l.path(labels).String(), func(word string) token.Pos {
						return x.Pos().Add(max(0, strings.Index(x.Value, word)))
					}})
				default:
					for _, word := range wordOf.FindAllString(text, -1) {
						words[word] = true
					}
				}
			}
			return true
		}, func(n ast.Node) {
			if _, ok := n.(*ast.Field); ok {
				labels = labels[:len(labels)-1]
			}
		})
	}
	return all, words
}

// describes says whether comments below a label describe what agents see: arguments
// and results.
func describes(label string) bool { return label == "input" || label == "schema" }

// mixins are the hidden fields and definitions that stand in arguments and results, by
// themselves or in others that do.
func (l *loader) mixins() map[string]bool {
	var within []ast.Node             // values of what describes
	hidden := map[string][]ast.Node{} // values of hidden fields and definitions
	for _, f := range l.cut.files {
		ast.Walk(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.Field); ok {
				if name, _, _ := ast.LabelName(x.Label); describes(name) {
					within = append(within, x.Value)
				} else if internal(name) {
					hidden[name] = append(hidden[name], x.Value)
				}
			}
			return true
		}, nil)
	}
	found := map[string]bool{}
	for len(within) > 0 {
		next := within[0]
		within = within[1:]
		ast.Walk(next, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && internal(id.Name) && !found[id.Name] {
				found[id.Name] = true
				within = append(within, hidden[id.Name]...)
			}
			return true
		}, nil)
	}
	return found
}

// wordOf is a word that may be the name of a tool.
var wordOf = regexp.MustCompile(`[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?`)

// Stale gives findings about names in prose that no tool has. They are guesses, for
// people to look at: what they are about works, and nothing may be stopped by them.
// There are none with Options.NoTests: a word may stand in the tests alone.
func (c *Config) Stale() diag.List { return c.stale }

// renamed finds the names of tools in prose that no tool has.
func (l *loader) renamed(all []prose, words map[string]bool) (stale diag.List) {
	tools := newToolNames(l.cfg.tools)
	server, _ := l.cfg.Own.LookupPath(cue.ParsePath("server.name")).String()
	for _, name := range SurfaceTools(server) {
		words[name] = true
	}
	for _, p := range all {
		for _, m := range mentioned(p.text) {
			if words[m.word] {
				continue
			}
			if near := tools.near(m); len(near) > 0 {
				stale = append(stale, finding(p.at(m.word), p.path, fmt.Sprintf("there is no tool %s; did you mean %s? (a name of anything else can stand in double quotes)", m.word, either(near))))
			}
		}
	}
	return stale.Sorted()
}

// mention is a word of a text that may be meant as the name of a tool.
type mention struct {
	word   string
	quoted bool // in backquotes
}

// things are what names stand for in prose that are no tools.
const things = "(?:attribute|claim|class|column|event|field|file|flag|function|header|key|label|member|method|metric|parameter|permission|privilege|property|role|scope|script|setting|status|table|topic|type|value|variable|webhook)(?:e?s)?"

// thingBefore and thingAfter find what a word beside them is, in what stands before and
// after it: the events issue_opened and …, … permission.
var (
	thingBefore = regexp.MustCompile("(?i)\\b" + things + "(?: is| are| named| called)?:?(?: [`*]*[\\w.-]+[`*]*(?:,|,? or|,? and))* [`*(]*$")
	thingAfter  = regexp.MustCompile("(?i)^[`*]* " + things + "\\b")
	linkTarget  = regexp.MustCompile(`\]\([^()\n]*\)`)
)

// mentioned gives the words of a text that may be meant as names of tools.
func mentioned(text string) (found []mention) {
	text = linkTarget.ReplaceAllString(unfenced(text), "] ")
	around := func(i int) byte {
		if i < 0 || i >= len(text) {
			return ' '
		}
		return text[i]
	}
	for _, at := range wordOf.FindAllStringIndex(text, -1) {
		word, before, after := text[at[0]:at[1]], around(at[0]-1), around(at[1])
		quoted := before == '`' && strings.IndexByte("` (", after) >= 0
		plain := strings.Contains(word, "_") && strings.IndexByte(" \t\n([*,;:", before) >= 0 && strings.IndexByte(" \t\n)]*,;:.!?", after) >= 0
		m := mention{word, quoted}
		if (quoted || plain) && !slices.Contains(found, m) && !thingBefore.MatchString(text[:at[0]]) && !thingAfter.MatchString(text[at[1]:]) {
			found = append(found, m)
		}
	}
	return found
}

// unfenced is Markdown without its fenced blocks (CommonMark 0.31.2, section 4.5).
func unfenced(text string) string {
	var kept strings.Builder
	fence := "" // that is open
	for line := range strings.Lines(text) {
		start := strings.TrimSpace(line)
		run := start[:len(start)-len(strings.TrimLeft(start, start[:min(1, len(start))]))]
		mark := len(run) >= 3 && (run[0] == '`' || run[0] == '~')
		switch {
		case fence != "":
			if mark && run == start && strings.HasPrefix(run, fence) {
				fence = ""
			}
		case mark && !strings.Contains(start[len(run):], "`"):
			fence = run
		default:
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// toolNames are the names of tools, in words.
type toolNames struct {
	names []string
	words map[string][]string
	// verbs are words that several names begin with, of tools that all read or all do not.
	verbs map[string]bool
	// begins are the words that names begin with and that stand nowhere else in one.
	begins map[string]bool
	// separators are what stands between the words of names.
	separators string
	cases      map[letters]bool
}

// letters says of which case the letters of a name are.
type letters struct{ upper, lower bool }

func lettersOf(name string) letters {
	return letters{name != strings.ToLower(name), name != strings.ToUpper(name)}
}

func newToolNames(tools []Tool) toolNames {
	t := toolNames{words: map[string][]string{}, verbs: map[string]bool{}, begins: map[string]bool{}, cases: map[letters]bool{}}
	reads, rests, mixed := map[string]bool{}, map[string]string{}, map[string]bool{}
	for _, tool := range tools {
		name := tool.Name
		words := wordsOf(name)
		if len(words) < 2 {
			continue
		}
		t.names, t.words[name] = append(t.names, name), words
		t.begins[words[0]], t.cases[lettersOf(name)] = true, true
		for _, s := range "_-." {
			if strings.ContainsRune(name, s) && !strings.ContainsRune(t.separators, s) {
				t.separators += string(s)
			}
		}
		verb, rest := words[0], strings.Join(words[1:], " ")
		action, _ := tool.Own.LookupPath(cue.ParsePath("action")).String()
		if first, ok := rests[verb]; ok {
			mixed[verb] = mixed[verb] || reads[verb] != (action == "read")
			t.verbs[verb] = t.verbs[verb] || first != rest
		}
		reads[verb], rests[verb] = action == "read", rest
	}
	for verb := range mixed {
		t.verbs[verb] = t.verbs[verb] && !mixed[verb]
	}
	for _, words := range t.words {
		for _, word := range words[1:] {
			delete(t.begins, word)
			delete(t.begins, one(word))
		}
	}
	return t
}

// wordsOf splits a name.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("_-.", r) })
}

// maxMeant is how many tools a message proposes.
const maxMeant = 3

// near gives the tools that a name seems to stand for, best first.
func (t toolNames) near(m mention) []string {
	name, words := m.word, wordsOf(m.word)
	foreign := func(r rune) bool { return strings.ContainsRune("_-.", r) && !strings.ContainsRune(t.separators, r) }
	if len(words) < 2 || strings.ContainsFunc(name, foreign) || !t.cases[lettersOf(name)] || !m.quoted && t.member(words) {
		return nil
	}
	var near []string
	for _, tool := range t.names {
		if nearlySame(name, tool) || t.verbs[words[0]] && sameThing(words, t.words[tool]) ||
			m.quoted && t.begins[words[0]] && slices.Equal(words[1:], t.words[tool][1:]) {
			near = append(near, tool)
		}
	}
	best := nearest.Names(name, near)
	for _, tool := range near {
		if !slices.Contains(best, tool) {
			best = append(best, tool)
		}
	}
	return best[:min(len(best), maxMeant)]
}

// member says whether words are the name of a tool, or its plural, and then more, which
// no other tool is about.
func (t toolNames) member(words []string) bool {
	for _, tool := range t.words {
		if slices.Equal(words[1:], tool[1:]) {
			return false
		}
	}
	for _, tool := range t.words {
		if n := len(tool); len(words) > n && slices.Equal(words[:n-1], tool[:n-1]) && (words[n-1] == tool[n-1] || words[n-1] == tool[n-1]+"s") {
			return true
		}
	}
	return false
}

// nearlySame says whether two names differ by a slip. One and many of the same are two
// things: work_item is no misspelling of work_items.
func nearlySame(a, b string) bool {
	wa, wb := wordsOf(a), wordsOf(b)
	if slices.EqualFunc(wa, wb, func(a, b string) bool { return one(a) == one(b) }) {
		return slices.Equal(wa, wb)
	}
	limit := 1
	if len(a) >= 12 {
		limit = 2
	}
	return len(a) >= 6 && nearest.Distance(strings.ToLower(a), strings.ToLower(b)) <= limit
}

// sameThing says whether what follows the verbs of two names is the same, for one of
// them in more words: those of which one word is left need the same verb.
func sameThing(a, b []string) bool {
	verb := a[0] == b[0]
	if a, b = a[1:], b[1:]; len(a) > len(b) {
		a, b = b, a
	}
	if !verb && len(a) == 1 && len(b) > 1 {
		return false
	}
	return sameWord(a[len(a)-1], b[len(b)-1]) || !slices.ContainsFunc(a, func(w string) bool {
		return !slices.ContainsFunc(b, func(v string) bool { return sameWord(w, v) })
	})
}

// sameWord says whether two words are one, or one and its plural or short form: repo,
// repos and repositories.
func sameWord(a, b string) bool {
	const short = 4
	if a, b = one(a), one(b); len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= short && strings.HasPrefix(b, a)
}

// one is the singular of a word.
func one(word string) string { return strings.TrimSuffix(word, "s") }
