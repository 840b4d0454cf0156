package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with a text, and where.
type Error struct {
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	Message      string
	text         string // of the line
}

// Error is the place, the message, and the line with a caret below.
func (e *Error) Error() string {
	var pad strings.Builder
	for i, r := range []rune(e.text) {
		if i+1 >= e.Column {
			break
		}
		if r == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteByte(' ')
		}
	}
	return fmt.Sprintf("%d:%d: %s\n  %s\n  %s^", e.Line, e.Column, e.Message, e.text, pad.String())
}

// problem is an error at a byte of the source.
func (p *parser) problem(at int, format string, args ...any) error {
	at = min(at, len(p.source))
	line := 1 + strings.Count(p.source[:at], "\n")
	start := strings.LastIndexByte(p.source[:at], '\n') + 1
	text, _, _ := strings.Cut(p.source[start:], "\n")
	return &Error{Line: line, Column: 1 + utf8.RuneCountInString(p.source[start:at]), Message: fmt.Sprintf(format, args...), text: printable(text)}
}

// printable replaces what a terminal would act on.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// nearest is a hint at the name that word may have meant; empty without one.
func nearest(word string, names []string) string {
	best, least := "", 1+max(2, len(word)/3)
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance counts the letters to insert, delete or replace between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
