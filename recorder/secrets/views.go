package secrets

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxUnwrap is the number of layers of escapes to decode: the arguments of a tool call in a
	// streamed event have two.
	maxUnwrap = 4
	// maxPercent is the number of layers of percent escapes to decode.
	maxPercent = 2
)

// view is the way in which a text was decoded.
type view int

const (
	// quotedView is the text, or the text without some layers of JSON escapes.
	quotedView view = iota
	// plainView is the text without any JSON escapes.
	plainView
	// otherView is the text without other escapes.
	otherView
)

// views calls f with the views of s until it returns false. There are at most 25 and each takes
// time in proportion to s, also for a hostile text.
func views(s string, f func(s string, v view) bool) {
	for layer := 0; ; layer++ {
		v := quotedView
		if layer == maxUnwrap || !strings.Contains(s, `\`) {
			v = plainView
		}
		if !f(s, v) || !unquoted(s, f) || v == plainView {
			return
		}
		s = unescapeJSON(s)
	}
}

// unquoted calls f with the views of s without other escapes than JSON's.
func unquoted(s string, f func(s string, v view) bool) bool {
	if strings.Contains(s, "&") && strings.Contains(s, ";") {
		if plain := html.UnescapeString(s); plain != s && !f(plain, otherView) {
			return false
		}
	}
	// A plus sign is a space in a query.
	if strings.Contains(s, "+") && !f(unescapePercent(strings.ReplaceAll(s, "+", " ")), otherView) {
		return false
	}
	if !strings.Contains(s, "%") {
		return true
	}
	for range maxPercent {
		plain := unescapePercent(s)
		if plain == s {
			break
		}
		if !f(plain, otherView) {
			return false
		}
		s = plain
	}
	return true
}

// withoutLines removes ends of lines and the blanks around them.
func withoutLines(s string) string {
	b := make([]byte, 0, len(s))
	for line := range strings.Lines(s) {
		b = append(b, strings.TrimSpace(line)...)
	}
	return string(b)
}

// unescapeJSON decodes every JSON escape in s, also outside of strings, and \x escapes.
func unescapeJSON(s string) string {
	b := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return string(append(b, s...))
		}
		b = append(b, s[:i]...)
		n := 2
		switch k := strings.IndexByte("bfnrt", s[i+1]); {
		case k >= 0:
			b = append(b, "\b\f\n\r\t"[k])
		case s[i+1] == 'x' || s[i+1] == 'u':
			b, n = unescapeCode(b, s[i:])
		default:
			b = append(b, s[i+1])
		}
		s = s[i+n:]
	}
}

// unescapeCode appends the character of the escape at the beginning of s, and returns the length
// of the escape.
func unescapeCode(b []byte, s string) ([]byte, int) {
	if c, ok := hexAt(s, 1, 'x', 2); ok {
		return append(b, byte(c)), 4
	}
	c, ok := hexAt(s, 1, 'u', 4)
	if !ok {
		return append(b, s[1]), 2
	}
	if low, ok := hexAt(s, 7, 'u', 4); ok && utf16.IsSurrogate(c) && s[6] == '\\' {
		return utf8.AppendRune(b, utf16.DecodeRune(c, low)), 12
	}
	return utf8.AppendRune(b, c), 6
}

// hexAt reads hex digits after a letter at s[i].
func hexAt(s string, i int, letter byte, digits int) (rune, bool) {
	if i >= len(s) || s[i] != letter || i+digits >= len(s) {
		return 0, false
	}
	c, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 16)
	return rune(c), err == nil
}

// unescapePercent decodes every percent escape in s.
func unescapePercent(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := hexAt(s, i, '%', 2); ok {
			b = append(b, byte(c))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}
