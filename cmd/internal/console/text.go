package console

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Line makes text of unknown origin safe to print on one line, and bounds it.
func Line(s string) string {
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(clip.Bytes(s, most), "")
	}
	q := strconv.Quote(s)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1 : len(q)-1])
}

// OneLine is untrusted text on one line, cut to so many characters.
func OneLine(s string, most int) string {
	return clip.Fit(strings.Map(printed, s), most)
}

// printed makes a blank of what draws nothing or moves the cursor.
func printed(r rune) rune {
	if unicode.IsPrint(r) && !invisible.Rune(r) {
		return r
	}
	return ' '
}

// Count is a number with its noun, in the plural unless it is 1.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Decimal writes a whole number.
func Decimal(n int64) string { return strconv.FormatInt(n, 10) }

// USD writes nano-USD as dollars, every digit.
func USD(nano int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%09d", nano/1e9, nano%1e9), "0"), ".")
}
