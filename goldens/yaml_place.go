package goldens

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// place is one value of a file and the way that leads to it. Its methods read
// the value as what a field wants; on anything else they record a problem and
// return the zero value.
type place struct {
	src  *source
	node *yaml.Node
	path string
	// label is the line of the key, for values that stand on later lines.
	line int
}

// failf records a problem of this value.
func (p place) failf(format string, args ...any) {
	p.src.failf(p.at(), p.path, format, args...)
}

// at is the line to point a person to.
func (p place) at() int {
	if p.line > 0 {
		return p.line
	}
	return p.node.Line
}

// value is the node itself, or the one its alias stands for.
func (p place) value() *yaml.Node {
	n := p.node
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func (p place) null() bool {
	n := p.value()
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// scalar reports whether the value is a scalar, and its tag.
func (p place) scalar() (text, tag string, ok bool) {
	n := p.value()
	return n.Value, n.ShortTag(), n.Kind == yaml.ScalarNode
}

// kind names what the value is, for messages.
func (p place) kind() string {
	n := p.value()
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "empty"
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	case "!!str":
		return "a string"
	case "!!timestamp":
		return "a date"
	default:
		return "tagged " + tag
	}
}

func (p place) wants(what string) { p.failf("must be %s, but is %s", what, p.kind()) }

// text reads a string. Dates and times are strings here; numbers and booleans
// are not, since their spelling would not be what the reader sees.
func (p place) text() string {
	s, tag, ok := p.scalar()
	switch {
	case ok && (tag == "!!str" || tag == "!!timestamp"):
		return s
	case ok && (tag == "!!int" || tag == "!!float" || tag == "!!bool"):
		p.failf("must be a string, but is %s: put %s in quotes", p.kind(), s)
	default:
		p.wants("a string")
	}
	return ""
}

// filled reads a string that says something.
func (p place) filled() string {
	before := len(p.src.found.list)
	s := p.text()
	if strings.TrimSpace(s) == "" && len(p.src.found.list) == before {
		p.failf("must not be blank")
		return ""
	}
	return s
}

func (p place) flag() bool {
	s, tag, ok := p.scalar()
	if !ok || tag != "!!bool" {
		p.wants("true or false")
		return false
	}
	return strings.EqualFold(s, "true")
}

// integer reads a decimal integer between low and high, both included.
func (p place) integer(low, high int64) int64 {
	s, tag, ok := p.scalar()
	if !ok || tag != "!!int" && tag != "!!float" {
		p.wants("an integer")
		return low
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil && !strings.Contains(err.Error(), strconv.ErrRange.Error()):
		p.failf("must be a decimal integer, but is %s", s)
	case err != nil || n < low || n > high:
		p.failf("must be from %d to %d, but is %s", low, high, s)
	default:
		return n
	}
	return low
}

// number reads a finite number between 0 and high, both included.
func (p place) number(high float64) float64 {
	s, tag, ok := p.scalar()
	if !ok || tag != "!!int" && tag != "!!float" {
		p.wants("a number")
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > high {
		p.failf("must be a number from 0 to %v, but is %s", high, s)
		return 0
	}
	return f
}

// maxDuration bounds every duration: a virtual day.
const maxDuration = 24 * time.Hour

// duration reads a duration such as 300ms or 15s.
func (p place) duration() time.Duration {
	s, _, ok := p.scalar()
	d, err := time.ParseDuration(s)
	switch {
	case !ok || err != nil:
		p.failf("must be a duration such as 300ms or 15s")
	case d <= 0 || d > maxDuration || d%time.Microsecond != 0:
		p.failf("must be more than 0 and at most %v, in whole microseconds, but is %s", maxDuration, s)
	default:
		return d
	}
	return 0
}

// choice reads one of the allowed words.
func (p place) choice(allowed ...string) string {
	before := len(p.src.found.list)
	s := p.text()
	if len(p.src.found.list) > before {
		return ""
	}
	if !slices.Contains(allowed, s) {
		p.failf("%q is not known%s; allowed: %s", s, suggest(s, allowed), listed(allowed))
		return ""
	}
	return s
}

// items returns the places of a list's items.
func (p place) items() []place {
	n := p.value()
	if n.Kind != yaml.SequenceNode {
		p.wants("a list")
		return nil
	}
	out := make([]place, len(n.Content))
	for i, c := range n.Content {
		out[i] = place{src: p.src, node: c, path: fmt.Sprintf("%s[%d]", p.path, i)}
	}
	return out
}

// texts reads a list of strings that say something. It returns a non-nil slice.
func (p place) texts() []string {
	out := []string{}
	for _, item := range p.items() {
		out = append(out, item.filled())
	}
	return out
}

// words reads a list of strings without repetitions.
func (p place) words() []string {
	out := []string{}
	for _, item := range p.items() {
		w := item.filled()
		if w != "" && slices.Contains(out, w) {
			item.failf("%q is in the list already", w)
		}
		out = append(out, w)
	}
	return out
}

// entry is one key and value of a mapping.
type entry struct {
	key string
	// keyAt is the key's own place.
	keyAt, value place
}

// entries returns a mapping's keys and values in file order, each key once.
func (p place) entries() []entry {
	n := p.value()
	if n.Kind != yaml.MappingNode {
		p.wants("a mapping")
		return nil
	}
	seen := map[string]int{}
	var out []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		keyNode := n.Content[i]
		keyAt := place{src: p.src, node: keyNode, path: p.path}
		if keyNode.Kind != yaml.ScalarNode || keyNode.ShortTag() == "!!null" {
			keyAt.failf("a key must be a word, but is %s", keyAt.kind())
			continue
		}
		key := keyNode.Value
		if p.path != "" {
			keyAt.path += "."
		}
		keyAt.path += key
		if first, dup := seen[key]; dup {
			keyAt.failf("the key is here already, on line %d", first)
			continue
		}
		seen[key] = keyNode.Line
		out = append(out, entry{key: key, keyAt: keyAt, value: place{src: p.src, node: n.Content[i+1], path: keyAt.path, line: valueLine(keyNode, n.Content[i+1])}})
	}
	return out
}

// valueLine is the line to point at for a value: its own, except that an alias
// or an empty value is found where its key is.
func valueLine(key, value *yaml.Node) int {
	if value.Kind == yaml.ScalarNode && value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && value.Value != "" {
		return value.Line
	}
	return key.Line
}

// faulty records every error of err, without the prefix that says where.
func (p place) faulty(err error, prefix string) {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
	case errors.As(err, &joined):
		for _, one := range joined.Unwrap() {
			p.faulty(one, prefix)
		}
	default:
		p.failf("%s", strings.TrimPrefix(err.Error(), prefix))
	}
}

// single reads a mapping with one key: a tool's name and its arguments.
func (p place) single() (key string, value place, ok bool) {
	before := len(p.src.found.list)
	entries := p.entries()
	if len(p.src.found.list) > before {
		return "", place{}, false
	}
	if len(entries) != 1 {
		p.failf("must have exactly one key, the tool's name, with its arguments as value")
		return "", place{}, false
	}
	return entries[0].key, entries[0].value, true
}

// short reads a string that says something in at most so many characters.
func (p place) short(most int) string {
	s := p.filled()
	if n := utf8.RuneCountInString(s); n > most {
		p.failf("must be at most %d characters, but is %d", most, n)
	}
	return s
}
