package gateway

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Rules say what of a request does not count when it is compared with recorded ones. The
// zero value leaves out only what never counts.
type Rules struct {
	// Ignore are JSON pointers (RFC 6901) to what is left out of bodies.
	Ignore []string
	// Replace are patterns; their matches in texts become Replaced.
	Replace []*regexp.Regexp
	// Fixed replaces strings that differ from one episode to the next, such as its token, in
	// texts, paths and queries: a Fixed, or a *strings.Replacer, which is slower. nil replaces
	// none.
	Fixed interface{ Replace(text string) string }
}

// Fixed are strings and their replacements in turn.
type Fixed []string

// Replace replaces every string, one after another.
func (f Fixed) Replace(text string) string {
	for i := 0; i+1 < len(f); i += 2 {
		text = strings.ReplaceAll(text, f[i], f[i+1])
	}
	return text
}

// in reports whether a string may be in JSON text. It may be where an escape may hide it.
func (f Fixed) in(text []byte) bool {
	if bytes.Contains(text, []byte(`\/`)) || bytes.Contains(text, []byte(`\u`)) {
		return true
	}
	for i := 0; i+1 < len(f); i += 2 {
		if strings.ContainsAny(f[i], "\"\\") || bytes.Contains(text, []byte(f[i])) {
			return true
		}
	}
	return false
}

// Replaced stands where a text matched a pattern of Rules.Replace.
const Replaced = "[replaced]"

// volatile are the members of a body that never count: they identify who asks, not what.
var volatile = []string{"metadata", "user", "prompt_cache_key", "safety_identifier", "requestMetadata"}

// Compared returns the request as it is matched and stored: without what does not count.
// The provider gets the request itself.
func (r Request) Compared(rules Rules) (Request, error) {
	if rules.Fixed != nil {
		r.Endpoint, r.Query = rules.Fixed.Replace(r.Endpoint), rules.Fixed.Replace(r.Query)
	}
	if len(r.Body) == 0 {
		return r, nil
	}
	c := comparer{rules: rules, d: jsontext.NewDecoder(bytes.NewBuffer(r.Body), jsontext.AllowInvalidUTF8(true)), out: make([]byte, 0, len(r.Body))}
	if fixed, ok := rules.Fixed.(Fixed); ok && !fixed.in(r.Body) {
		c.rules.Fixed = nil
	}
	ignore := make([][]string, 0, len(volatile)+len(rules.Ignore))
	for _, name := range volatile {
		ignore = append(ignore, []string{name})
	}
	for _, pointer := range rules.Ignore {
		ignore = append(ignore, slices.Collect(jsontext.Pointer(pointer).Tokens()))
	}
	if err := c.value(ignore); err != nil {
		return r, err
	}
	r.Body = c.out
	return r, nil
}

// comparer copies a body without what does not count.
type comparer struct {
	rules Rules
	d     *jsontext.Decoder
	out   []byte
}

// value copies the next value. ignore are the paths below it that are left out.
func (c *comparer) value(ignore [][]string) error {
	kind, texts := c.d.PeekKind(), c.rules.Fixed != nil || len(c.rules.Replace) > 0
	switch {
	case (kind == '{' || kind == '[') && (texts || len(ignore) > 0):
		return c.list(kind, ignore)
	case kind == '"' && texts:
		token, err := c.d.ReadToken()
		if err != nil {
			return err
		}
		text := token.String()
		if c.rules.Fixed != nil {
			text = c.rules.Fixed.Replace(text)
		}
		for _, pattern := range c.rules.Replace {
			text = pattern.ReplaceAllLiteralString(text, Replaced)
		}
		c.out = append(c.out, quote(text)...)
	default:
		value, err := c.d.ReadValue()
		if err != nil {
			return err
		}
		c.out = append(c.out, value...)
	}
	return nil
}

// list copies an object or an array.
func (c *comparer) list(kind jsontext.Kind, ignore [][]string) error {
	if _, err := c.d.ReadToken(); err != nil {
		return err
	}
	c.out = append(c.out, byte(kind))
	first := true
	for i := 0; c.d.PeekKind() != '}' && c.d.PeekKind() != ']'; i++ {
		name := strconv.Itoa(i)
		if kind == '{' {
			token, err := c.d.ReadToken()
			if err != nil {
				return err
			}
			name = token.String()
		}
		below, ignored := within(ignore, name)
		if ignored {
			if err := c.d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if !first {
			c.out = append(c.out, ',')
		}
		if first = false; kind == '{' {
			c.out = append(append(c.out, quote(name)...), ':')
		}
		if err := c.value(below); err != nil {
			return err
		}
	}
	_, err := c.d.ReadToken()
	c.out = append(c.out, byte(kind)+2) // ] and } follow [ and { with one character between
	return err
}

// within are the paths below a member or an element. ignored reports that one of them ends
// here.
func within(paths [][]string, name string) (below [][]string, ignored bool) {
	for _, path := range paths {
		switch {
		case len(path) == 0 || path[0] != name:
		case len(path) == 1:
			ignored = true
		default:
			below = append(below, path[1:])
		}
	}
	return below, ignored
}
