// Package clip cuts texts to a bound, for messages that quote what others wrote.
package clip

import "unicode/utf8"

// Bytes cuts text to at most n bytes, at a rune's boundary.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
