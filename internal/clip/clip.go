// Package clip cuts texts to a bound. All bounds of runes count what reading the text
// yields: an invalid byte is one rune. A cut text ends with "…", unless a function
// says otherwise.
package clip

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const mark = "…"

// Bytes cuts text after at most n bytes, between runes. The mark comes on top.
func Bytes(s string, n int) string { return marked(s, FirstBytes(s, n)) }

// Runes cuts text after n runes. The mark comes on top.
func Runes(s string, n int) string { return marked(s, FirstRunes(s, n)) }

// Fit cuts text to at most n runes, the mark included. Of no room nothing is left.
func Fit(s string, n int) string {
	if FirstRunes(s, n) == s || n <= 0 {
		return FirstRunes(s, n)
	}
	return FirstRunes(s, n-1) + mark
}

func marked(s, cut string) string {
	if len(cut) == len(s) {
		return s
	}
	return cut + mark
}

// FirstBytes returns the first n bytes of text, or a little less to end between
// runes, without a mark.
func FirstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

// FirstRunes returns the first n runes of text, without a mark.
func FirstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for at := range s {
		if n--; n < 0 {
			return s[:at]
		}
	}
	return s
}

// Names joins the first n names: "a, b and 3 more".
func Names(names []string, n int) string {
	text := strings.Join(names[:min(n, len(names))], ", ")
	if more := len(names) - n; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
