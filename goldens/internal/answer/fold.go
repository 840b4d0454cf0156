package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold is what text checks compare: lower case, with typographic apostrophes
// and spaces of every kind made plain.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2018' || r == '\u2019':
			return '\''
		case r >= utf8.RuneSelf && unicode.IsSpace(r):
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
}
