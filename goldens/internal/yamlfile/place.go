// Package yamlfile reads YAML with the place of every value, so that a problem names its
// file, line and field, and writes YAML in which no text can be read as anything else.
package yamlfile

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

// Place is one value of a file and the way that leads to it. Its methods read
// the value as what a field wants; on anything else they record a problem and
// return the zero value.
type Place struct {
	Src  *Source
	Node *yaml.Node
	Path string
	// label is the line of the key, for values on later lines.
	line int
}

// Failf records a problem of this value.
func (p Place) Failf(format string, args ...any) {
	p.Src.Failf(p.At(), p.Path, format, args...)
}

// At is the line to point a person to.
func (p Place) At() int {
	if p.line > 0 {
		return p.line
	}
	return p.Node.Line
}

// Value is the node itself, or the one its alias represents.
func (p Place) Value() *yaml.Node {
	n := p.Node
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Null reports whether the value is empty or null.
func (p Place) Null() bool {
	n := p.Value()
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Scalar reports whether the value is a scalar, and its tag.
func (p Place) Scalar() (text, tag string, ok bool) {
	n := p.Value()
	return n.Value, n.ShortTag(), n.Kind == yaml.ScalarNode
}

// Kind names what the value is, for messages.
func (p Place) Kind() string {
	n := p.Value()
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

// Wants records that the value is not what it must be.
func (p Place) Wants(what string) { p.Failf("must be %s, but is %s", what, p.Kind()) }

// Text reads a string. Dates and times are strings here; numbers and booleans
// are not, since their spelling would not be what the reader sees.
func (p Place) Text() string {
	s, tag, ok := p.Scalar()
	switch {
	case ok && (tag == "!!str" || tag == "!!timestamp"):
		return s
	case ok && (tag == "!!int" || tag == "!!float" || tag == "!!bool"):
		p.Failf("must be a string, but is %s: put %s in quotes", p.Kind(), s)
	default:
		p.Wants("a string")
	}
	return ""
}

// Filled reads a string that says something.
func (p Place) Filled() string {
	before := len(p.Src.Found.List)
	s := p.Text()
	if strings.TrimSpace(s) == "" && len(p.Src.Found.List) == before {
		p.Failf("must not be blank")
		return ""
	}
	return s
}

// Flag reads true or false.
func (p Place) Flag() bool {
	s, tag, ok := p.Scalar()
	if !ok || tag != "!!bool" {
		p.Wants("true or false")
		return false
	}
	return strings.EqualFold(s, "true")
}

// Integer reads a decimal integer between low and high, both included.
func (p Place) Integer(low, high int64) int64 {
	s, tag, ok := p.Scalar()
	if !ok || tag != "!!int" && tag != "!!float" {
		p.Wants("an integer")
		return low
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil && !strings.Contains(err.Error(), strconv.ErrRange.Error()):
		p.Failf("must be a decimal integer, but is %s", s)
	case err != nil || n < low || n > high:
		p.Failf("must be from %d to %d, but is %s", low, high, s)
	default:
		return n
	}
	return low
}

// Number reads a finite number between 0 and high, both included.
func (p Place) Number(high float64) float64 {
	s, tag, ok := p.Scalar()
	if !ok || tag != "!!int" && tag != "!!float" {
		p.Wants("a number")
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > high {
		p.Failf("must be a number from 0 to %v, but is %s", high, s)
		return 0
	}
	return f
}

// MaxDuration bounds every duration: a virtual day.
const MaxDuration = 24 * time.Hour

// Duration reads a duration such as 300ms or 15s.
func (p Place) Duration() time.Duration {
	s, _, ok := p.Scalar()
	d, err := time.ParseDuration(s)
	switch {
	case !ok || err != nil:
		p.Failf("must be a duration such as 300ms or 15s")
	case d <= 0 || d > MaxDuration || d%time.Microsecond != 0:
		p.Failf("must be more than 0 and at most %v, in whole microseconds, but is %s", MaxDuration, s)
	default:
		return d
	}
	return 0
}

// Choice reads one of the allowed words.
func (p Place) Choice(allowed ...string) string {
	s, tag, ok := p.Scalar()
	switch {
	case !ok || tag == "!!null":
		p.Wants("a string")
		return ""
	case !slices.Contains(allowed, s):
		p.Failf("%q is not known%s; allowed: %s", s, Suggest(s, allowed), Listed(allowed))
		return ""
	}
	return s
}

// Items returns the places of a list's items.
func (p Place) Items() []Place {
	n := p.Value()
	if n.Kind != yaml.SequenceNode {
		p.Wants("a list")
		return nil
	}
	out := make([]Place, len(n.Content))
	for i, c := range n.Content {
		out[i] = Place{Src: p.Src, Node: c, Path: fmt.Sprintf("%s[%d]", p.Path, i)}
	}
	return out
}

// Texts reads a list of strings that say something. It returns a non-nil slice.
func (p Place) Texts() []string {
	out := []string{}
	for _, item := range p.Items() {
		out = append(out, item.Filled())
	}
	return out
}

// Words reads a list of strings without repetitions.
func (p Place) Words() []string {
	out := []string{}
	for _, item := range p.Items() {
		w := item.Filled()
		if w != "" && slices.Contains(out, w) {
			item.Failf("%q is in the list already", w)
		}
		out = append(out, w)
	}
	return out
}

// Entry is one key and value of a mapping.
type Entry struct {
	Key string
	// KeyAt is the key's own place.
	KeyAt, Value Place
}

// Entries returns a mapping's keys and values in file order, each key once.
func (p Place) Entries() []Entry {
	n := p.Value()
	if n.Kind != yaml.MappingNode {
		p.Wants("a mapping")
		return nil
	}
	seen := map[string]int{}
	var out []Entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		keyNode := n.Content[i]
		keyAt := Place{Src: p.Src, Node: keyNode, Path: p.Path}
		if keyNode.Kind != yaml.ScalarNode || keyNode.ShortTag() == "!!null" {
			hint := ""
			if keyNode.Kind == yaml.MappingNode { // {{ }} without quotes
				hint = "; put a text that begins with a brace in quotes"
			}
			keyAt.Failf("a key must be a word, but is %s%s", keyAt.Kind(), hint)
			continue
		}
		key := keyNode.Value
		if p.Path != "" {
			keyAt.Path += "."
		}
		keyAt.Path += key
		if first, dup := seen[key]; dup {
			keyAt.Failf("the key is here already, on line %d", first)
			p.Src.Found.twice++
			continue
		}
		seen[key] = keyNode.Line
		out = append(out, Entry{Key: key, KeyAt: keyAt, Value: Place{Src: p.Src, Node: n.Content[i+1], Path: keyAt.Path, line: valueLine(keyNode, n.Content[i+1])}})
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

// Faulty records every error of err, without the prefix that says where.
func (p Place) Faulty(err error, prefix string) {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
	case errors.As(err, &joined):
		for _, one := range joined.Unwrap() {
			p.Faulty(one, prefix)
		}
	default:
		p.Failf("%s", strings.TrimPrefix(err.Error(), prefix))
	}
}

// Single reads a mapping with one key: a tool's name and its arguments.
func (p Place) Single() (key string, value Place, ok bool) {
	before := len(p.Src.Found.List)
	entries := p.Entries()
	if len(p.Src.Found.List) > before {
		return "", Place{}, false
	}
	if len(entries) != 1 {
		p.Failf("must have exactly one key, the tool's name, with its arguments as value")
		return "", Place{}, false
	}
	return entries[0].Key, entries[0].Value, true
}

// Short reads a string that says something in at most so many characters.
func (p Place) Short(most int) string {
	s := p.Filled()
	if n := utf8.RuneCountInString(s); n > most {
		p.Failf("must be at most %d characters, but is %d", most, n)
	}
	return s
}

// FailInside records a problem at a line and column, from 1, of the string that the value
// is. The problem names the character of the file where a string's characters are those of
// the file; in other strings, such as those with escapes or folded lines, one near it.
func (p Place) FailInside(line, column int, format string, args ...any) {
	n := p.Value()
	at, indent := n.Line, n.Column-1
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		indent = p.Src.indent(at)
		at += line
	case line > 1:
		column = 1
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		indent++
	}
	p.Src.Failf(at, p.Path, format, args...)
	p.Src.Found.List[len(p.Src.Found.List)-1].Column = indent + column
}
