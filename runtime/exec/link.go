package exec

import "strings"

// linkTarget gives the target of the first link of a relation type in the values
// of Link headers (RFC 8288 section 3), "" when there is none. Links with an
// anchor are about another resource and do not count.
func linkTarget(values []string, rel string) string {
	for _, value := range values {
		for rest := value; rest != ""; {
			var target string
			var params []linkParam
			var ok bool
			if target, params, rest, ok = parseLink(rest); !ok {
				break
			}
			if related(params, rel) {
				return target
			}
		}
	}
	return ""
}

// linkParam is a parameter of a link, its name in lower case.
type linkParam struct{ name, value string }

// related says whether a link has the relation type, and its context is the
// resource that was asked for. Of several rel parameters the first one counts.
func related(params []linkParam, rel string) bool {
	types := ""
	for _, p := range params {
		switch {
		case p.name == "anchor":
			return false
		case p.name == "rel" && types == "":
			types = p.value
		}
	}
	for t := range strings.FieldsSeq(types) {
		if strings.EqualFold(t, rel) {
			return true
		}
	}
	return false
}

const linkSpace = " \t"

// parseLink reads one link and gives what follows its comma. ok is false when
// there is none that can be read.
func parseLink(s string) (target string, params []linkParam, rest string, ok bool) {
	s = strings.TrimLeft(s, linkSpace+",")
	if s == "" || s[0] != '<' {
		return "", nil, "", false
	}
	end := strings.IndexByte(s, '>')
	if end < 0 {
		return "", nil, "", false
	}
	target, s = s[1:end], s[end+1:]
	for {
		s = strings.TrimLeft(s, linkSpace)
		switch {
		case s == "":
			return target, params, "", true
		case s[0] == ',':
			return target, params, s[1:], true
		case s[0] != ';':
			return target, params, "", true
		}
		s = strings.TrimLeft(s[1:], linkSpace)
		n := strings.IndexAny(s, "=;,"+linkSpace)
		if n < 0 {
			n = len(s)
		}
		p := linkParam{name: strings.ToLower(s[:n])}
		s = strings.TrimLeft(s[n:], linkSpace)
		if after, has := strings.CutPrefix(s, "="); has {
			p.value, s = linkValue(strings.TrimLeft(after, linkSpace))
		}
		if p.name != "" {
			params = append(params, p)
		}
	}
}

// linkValue reads a token or a quoted string (RFC 9110 section 5.6.4).
func linkValue(s string) (value, rest string) {
	if s == "" || s[0] != '"' {
		n := strings.IndexAny(s, ";,"+linkSpace)
		if n < 0 {
			n = len(s)
		}
		return s[:n], s[n:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
