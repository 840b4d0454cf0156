package failure

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Bounds in bytes.
const (
	maxSignature = 120
	maxName      = 32
)

func signature(k Kind, says string) string { return cut(string(k)+": "+says, maxSignature) }

// name makes a name of the ledger fit for a signature: bounded, printable, each
// number in it a #.
func name(s string) string {
	if plain(s) {
		return s
	}
	const far = 8 * maxName // what lies far beyond the cut need not be looked at
	var b strings.Builder
	number := false
	for _, r := range s[:min(len(s), far)] { // yields U+FFFD for invalid bytes
		digit := unicode.IsNumber(r)
		switch {
		case digit && number:
		case digit:
			b.WriteByte('#')
		case r == utf8.RuneError || !unicode.IsPrint(r) || invisible.Rune(r):
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
		number = digit
	}
	return cut(b.String(), maxName)
}

// plain says that name would change nothing.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c >= '0' && c <= '9' {
			return false
		}
	}
	return len(s) <= maxName
}

// cut shortens s to at most n bytes, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return clip.Bytes(s, n-len("…"))
}
