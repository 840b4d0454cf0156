package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Path leads from the root of a state to one of its values: keys of objects and indexes
// of lists, outermost first. The path without keys is the whole state.
type Path []string

// escapes writes what would end a key, or be nothing, in the text of a path.
var escapes = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

// root is the text of the path without keys, emptyKey that of a key without characters.
const (
	root     = "."
	emptyKey = `\-`
)

// ParsePath reads keys with dots between them, as in orders.O7.items.0.sku. A dot or a
// backslash that is part of a key has a backslash before it, and the key without
// characters is \-. A dot alone is the whole state.
func ParsePath(text string) (Path, error) {
	switch text {
	case root:
		return Path{}, nil
	case "":
		return nil, errors.New("path: is empty; write . for the whole state")
	}
	p := Path{}
	for rest, more := text, true; more; {
		var key strings.Builder
		escaped, ended := false, false
		for i := 0; i < len(rest) && !ended; i++ {
			switch c := rest[i]; {
			case escaped && c != '.' && c != '\\' && c != '-':
				return nil, fmt.Errorf(`path %q: \%c is not an escape; write \. for a dot and \\ for a backslash of a key`, text, c)
			case escaped:
				if escaped = false; c != '-' {
					key.WriteByte(c)
				}
			case c == '\\':
				escaped = true
			case c == '.':
				if i == 0 {
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
		p = append(p, key.String())
	}
	return p, nil
}

func emptyError(text string) error {
	return fmt.Errorf(`path %q: a key is empty; remove the extra dot, or write \. for a dot of a key`, text)
}

// String writes the path as ParsePath reads it.
func (p Path) String() string {
	if len(p) == 0 {
		return root
	}
	keys := make([]string, len(p))
	for i, key := range p {
		if keys[i] = escapes.Replace(key); key == "" {
			keys[i] = emptyKey
		}
	}
	return strings.Join(keys, ".")
}

// Under reports whether p is at or below q.
func (p Path) Under(q Path) bool { return len(p) >= len(q) && slices.Equal(p[:len(q)], q) }
