// Package invisible has the one table of characters that a reader cannot see.
// It decides which messages are blank, what is removed from prompts, and what is
// escaped in output for people; its Writer makes such output inert.
package invisible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rune reports whether r draws nothing: every Default_Ignorable_Code_Point of
// Unicode (zero-width characters, variation selectors, fillers such as U+3164),
// every format (Cf) and control (Cc) character, and the blank Braille pattern
// U+2800. Of white space only the control characters, such as the line feed, are
// among them.
func Rune(r rune) bool {
	if r >= ' ' && r < 0x7F {
		return false
	}
	return r == '\u2800' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Blank reports whether s shows nothing: only white space and characters that
// draw nothing.
func Blank(s string) bool { return Trim(s) == "" }

// Trim returns s without the white space and the characters that draw nothing at
// both ends.
func Trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || Rune(r) })
}

// Unsafe reports whether r must be escaped in output for people: it draws
// nothing, breaks a line (U+2028, U+2029), has no agreed shape (private use), or
// is not a character at all, which XML forbids.
func Unsafe(r rune) bool {
	if r >= ' ' && r < 0x7F {
		return false
	}
	return Rune(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Co) || r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF
}

// Escape writes the unsafe characters of s, except those in keep, as \u{…}, so
// that untrusted text can neither control a terminal nor reorder a line. Invalid
// UTF-8 becomes U+FFFD.
func Escape(s, keep string) string {
	escaped := func(r rune) bool { return Unsafe(r) && !strings.ContainsRune(keep, r) }
	if strings.IndexFunc(s, escaped) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s { // yields U+FFFD for each invalid byte
		if escaped(r) {
			fmt.Fprintf(&b, `\u{%X}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
