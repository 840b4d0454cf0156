// Package clip cuts texts.
package clip

// Bounded cuts text to at most n bytes, at a rune boundary, and says so.
func Bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
