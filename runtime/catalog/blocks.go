package catalog

import (
	"regexp"
	"slices"
	"strings"
)

// cutter takes out of Markdown whatever tells something: a sentence of a paragraph, an
// item of a list, a row of a table, and the whole of what cannot stand in part: a
// heading with its section, a quote, a block of code or of HTML.
type cutter struct {
	told func(text string) bool
	deep int // how many lists it is in
}

// maxDeep is how many lists within each other are looked into: the time grows with it.
// What tells something further in goes with the item that it is in.
const maxDeep = 6

// cut is a text without what is told. It repeats what it does until nothing is told,
// since parts that were apart may come to stand together. Of a text that is made to
// go on so for ever nothing stays.
func (c cutter) cut(text string) string {
	for tries := 8; c.told(text); tries-- {
		if tries == 0 {
			return ""
		}
		all := strings.Split(text, "\n")
		kept := c.sections(blocksOf(all, 0))
		var lines []string
		for _, b := range kept {
			lines = append(lines, b.lines...)
		}
		if slices.Equal(lines, all) {
			break
		}
		text = strings.Join(within(lines, all), "\n")
	}
	return text
}

// within trims blank lines at the ends of what is left of a text: no more stay than
// there were.
func within(lines, all []string) []string {
	blank := func(l string) bool { return strings.TrimSpace(l) == "" }
	first := slices.IndexFunc(lines, func(l string) bool { return !blank(l) })
	if first < 0 {
		return nil
	}
	if !blank(all[0]) {
		lines = lines[first:]
	}
	had := 0
	for had < len(all) && blank(all[len(all)-1-had]) {
		had++
	}
	last := len(lines)
	for blank(lines[last-1]) {
		last--
	}
	return lines[:min(last+had, len(lines))]
}

// A block is some lines of Markdown that belong together (CommonMark 0.31, chapters
// 4 and 5).
type block struct {
	kind  kind
	level int // of a heading
	lines []string
}

type kind int

const (
	blank kind = iota
	paragraph
	heading
	list
	table
	whole // goes or stays as a whole: a quote, code, HTML
)

var (
	fence     = regexp.MustCompile("^\\s*(`{3,}[^`]*|~{3,}.*)$")
	atx       = regexp.MustCompile(`^ {0,3}(#{1,6})(\s|$)`)
	underline = regexp.MustCompile(`^ {0,3}(=+|-+)\s*$`)
	quote     = regexp.MustCompile(`^ {0,3}>`)
	bullet    = regexp.MustCompile(`^\s*([-*+]|\d+[.)])(\s|$)`)
	delimiter = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
	tag       = regexp.MustCompile(`^\s*<[A-Za-z/!][^>]*>?\s*$`)
)

// indentOf counts the white space that a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// blocksOf divides lines into blocks; together these have all of the lines. The lines
// of a list item are looked at without its indentation.
func blocksOf(lines []string, indent int) []block {
	var all []block
	view := func(i int) string { return lines[i][min(indent, indentOf(lines[i])):] }
	empty := func(i int) bool { return strings.TrimSpace(lines[i]) == "" }
	isTable := func(i int) bool {
		return i+1 < len(lines) && strings.Contains(lines[i], "|") && strings.Contains(lines[i+1], "|") && delimiter.MatchString(view(i+1))
	}
	// begins says whether a line begins a block that may follow a paragraph directly.
	begins := func(i int) bool {
		v := view(i)
		return empty(i) || fence.MatchString(v) || atx.MatchString(v) || quote.MatchString(v) || bullet.MatchString(v) || comment(v) || isTable(i)
	}
	for i := 0; i < len(lines); {
		v, b := view(i), block{kind: whole}
		end := i + 1
		switch {
		case empty(i):
			b.kind = blank
		case comment(v):
			for end = i; end < len(lines) && !strings.Contains(lines[end], "-->"); end++ {
			}
			end = min(end+1, len(lines))
		case fence.MatchString(v):
			mark := strings.TrimSpace(v)
			mark = mark[:len(mark)-len(strings.TrimLeft(mark, mark[:1]))]
			for end < len(lines) && !closes(view(end), mark) {
				end++
			}
			end = min(end+1, len(lines))
		case atx.MatchString(v):
			b.kind, b.level = heading, len(atx.FindStringSubmatch(v)[1])
		case quote.MatchString(v):
			for end < len(lines) && (quote.MatchString(view(end)) || !begins(end)) {
				end++
			}
		case bullet.MatchString(v):
			b.kind = list
			end = endOfList(lines, i, indent)
		case isTable(i):
			b.kind = table
			for end += 1; end < len(lines) && !empty(end) && strings.Contains(lines[end], "|"); end++ {
			}
		case tag.MatchString(v):
			for end < len(lines) && !empty(end) {
				end++
			}
		case indentOf(v) >= 4 && (i == 0 || empty(i-1)):
			for end < len(lines) && (empty(end) || indentOf(view(end)) >= 4) {
				end++
			}
			for empty(end - 1) {
				end--
			}
		default:
			b.kind = paragraph
			for end < len(lines) && !begins(end) && !underline.MatchString(view(end)) {
				end++
			}
			if end < len(lines) && !empty(end) && underline.MatchString(view(end)) {
				line := strings.TrimSpace(view(end))
				// A rule below a sentence is meant as one more often than as a heading.
				if line[0] == '=' || !stop.MatchString(lines[end-1]) {
					b.kind, b.level = heading, 2
					if line[0] == '=' {
						b.level = 1
					}
				}
				end++
			}
		}
		b.lines = lines[i:end]
		all, i = append(all, b), end
	}
	return all
}

// stop is the end of a sentence at the end of a line.
var stop = regexp.MustCompile(`[.!?;:]["')*_]*\s*$`)

// comment says whether a line begins a comment of HTML.
func comment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "<!--") }

// closes says whether a line ends a block of code that mark began.
func closes(line, mark string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == ""
}

// endOfList finds the end of the list that begins at a line: what is indented further
// than its bullet belongs to an item, and so do lines that follow without a blank one.
func endOfList(lines []string, i, indent int) int {
	base, end := indentOf(lines[i]), i+1
	for next := i + 1; next < len(lines); next++ {
		line := lines[next]
		switch v := line[min(indent, indentOf(line)):]; {
		case strings.TrimSpace(line) == "":
			continue // it belongs to the list if what follows does
		case indentOf(line) > base, bullet.MatchString(line):
		case strings.TrimSpace(lines[next-1]) == "", fence.MatchString(v), atx.MatchString(v), quote.MatchString(v), comment(v):
			return end
		}
		end = next + 1
	}
	return end
}

// sections is what is left of blocks. A heading goes with all that is below it, and
// so it does where nothing of that is left.
func (c cutter) sections(all []block) []block {
	var kept []block
	for i := 0; i < len(all); {
		b := all[i]
		end := i + 1
		left := []block{b}
		switch {
		case b.kind == blank && (len(kept) > 0 && kept[len(kept)-1].kind == blank) && i > 0 && all[i-1].kind != blank:
			left = nil // what stood between the two is gone
		case b.kind == heading:
			for end < len(all) && (all[end].kind != heading || all[end].level > b.level) {
				end++
			}
			if c.toldBy(b) {
				left = nil
				break
			}
			below := c.sections(all[i+1 : end])
			if left = append(left, below...); content(all[i+1:end]) && !content(below) {
				left = nil
			}
		case b.kind != blank:
			if left = c.block(b); left == nil {
				kept = c.unannounced(kept)
			}
		}
		kept, i = append(kept, left...), end
	}
	return kept
}

// content says whether there is more than blank lines.
func content(all []block) bool {
	return slices.ContainsFunc(all, func(b block) bool { return b.kind != blank })
}

// unannounced takes the last sentence out of a paragraph that announces, by a colon,
// what is gone.
func (c cutter) unannounced(kept []block) []block {
	i := len(kept) - 1
	for i >= 0 && kept[i].kind == blank {
		i--
	}
	if i < 0 || kept[i].kind != paragraph || !strings.HasSuffix(strings.TrimRight(kept[i].text(), " \t"), ":") {
		return kept
	}
	all := sentences(kept[i].text())
	rest := strings.TrimRight(strings.Join(all[:len(all)-1], ""), " \t\n")
	if rest == "" {
		return kept[:i]
	}
	return append(slices.Clone(kept[:i]), append([]block{{kind: paragraph, lines: strings.Split(rest, "\n")}}, kept[i+1:]...)...)
}

func (b block) text() string { return strings.Join(b.lines, "\n") }

func (c cutter) toldBy(b block) bool { return c.told(b.text()) }

// block is what is left of one block: nil where that is nothing.
func (c cutter) block(b block) []block {
	if !c.toldBy(b) {
		return []block{b}
	}
	var lines []string
	switch b.kind {
	case paragraph:
		if text := c.prose(b.text()); text != "" {
			lines = strings.Split(text, "\n")
		}
	case list:
		lines = c.items(b)
	case table:
		if !c.told(strings.Join(b.lines[:2], "\n")) {
			rows := slices.DeleteFunc(slices.Clone(b.lines[2:]), c.told)
			if len(rows) > 0 {
				lines = append(b.lines[:2:2], rows...)
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []block{{kind: b.kind, lines: lines}}
}

// items is what is left of a list. Half an item says nothing, or something else: one
// goes with all that is in it, save that an item of a list within it goes alone.
func (c cutter) items(b block) []string {
	base := indentOf(b.lines[0])
	var kept []string
	for i := 0; i < len(b.lines); {
		end := i + 1
		for end < len(b.lines) && !(bullet.MatchString(b.lines[end]) && indentOf(b.lines[end]) <= base) {
			end++
		}
		kept, i = append(kept, c.item(b.lines[i:end])...), end
	}
	return kept
}

func (c cutter) item(lines []string) []string {
	if !c.told(strings.Join(lines, "\n")) {
		return lines
	}
	head := 1
	for head < len(lines) && strings.TrimSpace(lines[head]) != "" && !bullet.MatchString(lines[head]) && !fence.MatchString(lines[head]) {
		head++
	}
	own := strings.Join(lines[:head], "\n")
	if c.told(own) {
		if own = c.withoutAsides(own); c.told(own) {
			return nil
		}
	}
	if c.deep++; c.deep > maxDeep {
		return nil
	}
	rest := lines[head:]
	indent := len(bullet.FindString(lines[0]))
	below := c.sections(blocksOf(rest, indent))
	if !content(below) && strings.HasSuffix(strings.TrimSpace(own), ":") {
		return nil
	}
	kept := strings.Split(own, "\n")
	for _, b := range below {
		kept = append(kept, b.lines...)
	}
	return kept
}

// prose is what is left of a paragraph: the sentences that tell nothing, on lines as
// they were.
func (c cutter) prose(text string) string {
	var kept string
	for _, s := range sentences(text) {
		if c.told(s) {
			if part := c.part(s); part != "" {
				s = part
			}
		}
		if !c.told(s) {
			kept += s
			continue
		}
		body := strings.TrimRight(s, " \t\n")
		space := s[len(body):]
		before := strings.TrimRight(kept, " \t\n")
		if strings.HasSuffix(before, ";") && !strings.HasSuffix(body, ";") {
			// The sentence ends as the one that is gone did.
			kept = strings.TrimSuffix(before, ";")
			if strings.HasSuffix(body, ".") {
				kept += "."
			}
			kept += space
		} else if strings.Contains(space, "\n") && before != "" {
			kept = before + space
		}
	}
	kept = strings.TrimRight(kept, " \t\n")
	if kept == strings.TrimRight(text, " \t\n") { // what is told is parted by what looks like an end
		return ""
	}
	if strings.Trim(kept, "-*#>| \t\n0123456789.") == "" {
		return ""
	}
	return text[:indentOf(text)] + strings.TrimLeft(kept, " \t")
}

// part is what of a sentence that tells something can stand without it: the sentence
// without an aside in brackets, or as far as the last comma, semicolon, colon or dash.
// It is empty where that is nothing.
func (c cutter) part(sentence string) string {
	without := c.withoutAsides(sentence)
	for tries := 4; c.told(without); tries-- {
		body := strings.TrimRight(without, " \t\n")
		all := joint.FindAllStringIndex(body, -1)
		if len(all) == 0 || tries == 0 {
			return ""
		}
		end := body[len(strings.TrimRight(body, ".!?;")):] + without[len(body):]
		without = without[:all[len(all)-1][0]] + end
	}
	if without == sentence || len(strings.Fields(without)) < 2 {
		return ""
	}
	cut := len(c.withoutAsides(sentence)) != len(without)
	if cut && (!balanced(without) || strings.Count(without, "{") != strings.Count(without, "}") || opening[strings.ToLower(strings.Fields(without)[0])]) {
		return ""
	}
	return without
}

// joint is where the last part of a sentence begins.
var joint = regexp.MustCompile(`[;,:]\s|\s(-{1,2}|[–—])\s|—`)

// opening words begin what cannot stand without the rest of its sentence.
var opening = set("if when whenever where unless until once while after before since because although though as to for from in on at by with without instead rather either neither both not then else otherwise")

// longAside is how long an aside in brackets may be, in bytes.
const longAside = 500

// withoutAsides is a text without what stands in round brackets and tells something,
// where these stand after white space: other ones belong to a call or a link.
func (c cutter) withoutAsides(text string) string {
	for from := 0; from < len(text); from++ {
		if text[from] != '(' || from > 0 && !strings.ContainsRune(" \t\n", rune(text[from-1])) {
			continue
		}
		open, to := 0, from
		for ; to < min(len(text), from+longAside); to++ {
			if text[to] == '(' {
				open++
			} else if text[to] == ')' {
				if open--; open == 0 {
					break
				}
			}
		}
		if open > 0 || !c.told(text[from:to+1]) { // it does not end, or tells nothing
			continue
		}
		before, after := strings.TrimRight(text[:from], " \t"), text[to+1:]
		if before == "" || after != "" && !strings.ContainsRune(" \t\n.,;:!?", rune(after[0])) {
			before = text[:from]
		}
		text, from = before+after, len(before)-1
	}
	return text
}

// full finds the end of a sentence, or of a part that can stand without the rest.
var full = regexp.MustCompile("[.!?;]+[\"')*_`\\]]*\\s+|\\n")

// abbreviated ends with a full stop that ends no sentence.
var abbreviated = regexp.MustCompile(`(?i)\b(e\.g|i\.e|cf|vs|approx)\.\s+$`)

// sentences splits a paragraph; joined they are the paragraph. What stands in
// brackets, in quotes or in bold is not parted, where it ends soon.
func sentences(text string) []string {
	var parts []string
	from, at := 0, 0
	for _, m := range full.FindAllStringIndex(text, -1) {
		if part := text[at:m[1]]; !goesOn(part, text[m[1]:]) {
			parts, from = append(parts, text[from:m[1]]), m[1]
		}
		at = m[1]
	}
	if from < len(text) {
		parts = append(parts, text[from:])
	}
	const soon = 8
	var all []string
	for i := 0; i < len(parts); {
		end := i + 1
		for n := i + 1; n <= min(i+soon, len(parts)); n++ {
			if balanced(strings.Join(parts[i:n], "")) {
				end = n
				break
			}
		}
		all, i = append(all, strings.Join(parts[i:end], "")), end
	}
	return all
}

// bracketed is a sentence in brackets, which another may go on after.
var bracketed = regexp.MustCompile(`[.!?]\)\s+$`)

// goesOn says whether a sentence goes on after what looks like its end: a line that
// is wrapped goes on with no capital.
func goesOn(part, rest string) bool {
	if abbreviated.MatchString(part) || bracketed.MatchString(part) && rest != "" && 'a' <= rest[0] && rest[0] <= 'z' {
		return true
	}
	if body := strings.TrimRight(part, " \t\n"); strings.HasSuffix(part, "\n") && (!stop.MatchString(body) || strings.HasSuffix(body, ":")) {
		rest = strings.TrimLeft(rest, " \t")
		return rest != "" && !('A' <= rest[0] && rest[0] <= 'Z')
	}
	return false
}

// balanced says whether nothing is open at the end of a part of a text.
func balanced(part string) bool {
	count := func(s string) int { return strings.Count(part, s) }
	return count("`")%2 == 0 && count("**")%2 == 0 && count(`"`)%2 == 0 && count("(") <= count(")") && count("[") <= count("]")
}
