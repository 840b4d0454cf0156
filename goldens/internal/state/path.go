package state

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Path leads from the root of a state to one of its values: keys of objects and indexes
// of lists, outermost first. The path without keys is the whole state. A key that begins
// with the character NUL selects by a field: see selector.
type Path []string

// selector is the key that selects the first member or item, an object, that has the text
// of a field: [name="Daily report"] in the text of a path.
func selector(field, value string) string { return "\x00" + field + "\x00" + value }

// selected reads a selector.
func selected(key string) (field, value string, ok bool) {
	if rest, ok := strings.CutPrefix(key, "\x00"); ok {
		field, value, _ = strings.Cut(rest, "\x00")
		return field, value, true
	}
	return "", "", false
}

// selectorText matches a selector at the start of a text.
var selectorText = regexp.MustCompile(`^\[([A-Za-z_][A-Za-z0-9_ -]*)=("(?:[^"\\\x00]|\\["\\])*")\]`)

// root is the text of the path without keys, emptyKey that of a key without characters.
const (
	root     = "."
	emptyKey = `\-`
)

// ParsePath reads keys with dots between them, as in orders.O7.items.0.sku. A dot or a
// backslash that is part of a key has a backslash before it, and the key without
// characters is \-. A dot alone is the whole state.
func ParsePath(text string) (Path, error) {
	switch {
	case text == root:
		return Path{}, nil
	case text == "":
		return nil, errors.New("path: is empty; write . for the whole state")
	case strings.Contains(text, "\x00"):
		return nil, fmt.Errorf("path %q: contains the character NUL; remove it", text)
	}
	p := Path{}
	for rest, more := text, true; more; {
		var key strings.Builder
		escaped, ended, chosen := false, false, Path(nil)
		for i := 0; i < len(rest) && !ended; i++ {
			switch c := rest[i]; {
			case c == '[' && !escaped:
				m := selectorText.FindStringSubmatch(rest[i:])
				if m == nil || i == 0 && len(p) > 0 {
					return nil, fmt.Errorf(`path %q: a selector is written as in workflows[name="Daily report"].draft; write \[ for a bracket of a key`, text)
				}
				value, _ := strconv.Unquote(m[2]) // which selectorText has matched
				chosen, rest = append(chosen, selector(m[1], value)), rest[:i]+rest[i+len(m[0]):]
				if i < len(rest) && rest[i] != '.' && rest[i] != '[' {
					return nil, fmt.Errorf("path %q: a selector is followed by a dot", text)
				}
				i--
			case escaped && c != '.' && c != '\\' && c != '-' && c != '[':
				return nil, fmt.Errorf(`path %q: \%c is not an escape; write \. for a dot and \\ for a backslash of a key`, text, c)
			case escaped:
				if escaped = false; c != '-' {
					key.WriteByte(c)
				}
			case c == '\\':
				escaped = true
			case c == '.':
				if i == 0 && chosen == nil {
					return nil, emptyError(text)
				}
				rest, ended = rest[i+1:], true
			default:
				key.WriteByte(c)
			}
		}
		if escaped {
			return nil, fmt.Errorf(`path %q: ends with a backslash; write \\ for a backslash of a key`, text)
		}
		if more = ended; ended && rest == "" {
			return nil, emptyError(text)
		}
		if key.Len() > 0 || chosen == nil {
			p = append(p, key.String())
		}
		p = append(p, chosen...)
	}
	return p, nil
}

func emptyError(text string) error {
	return fmt.Errorf(`path %q: a key is empty; remove the extra dot, or write \. for a dot of a key`, text)
}

// String writes the path as ParsePath reads it.
func (p Path) String() string {
	switch {
	case len(p) == 0:
		return root
	case !slices.ContainsFunc(p, special):
		return strings.Join(p, ".")
	}
	var out strings.Builder
	for i, key := range p {
		if field, value, ok := selected(key); ok {
			fmt.Fprintf(&out, "[%s=%q]", field, value)
			continue
		}
		if i > 0 {
			out.WriteByte('.')
		}
		out.WriteString(cmp.Or(escape.Replace(key), emptyKey))
	}
	return out.String()
}

var escape = strings.NewReplacer(".", `\.`, `\`, `\\`, "[", `\[`)

// special reports whether the text of a path has more of a key than its characters.
func special(key string) bool {
	for i := range len(key) {
		switch key[i] {
		case '.', '\\', '[', 0:
			return true
		}
	}
	return key == ""
}

// Under reports whether p is at or below q.
func (p Path) Under(q Path) bool { return len(p) >= len(q) && slices.Equal(p[:len(q)], q) }
