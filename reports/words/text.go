// Package words formats numbers, units, plurals and untrusted text, the same way in every
// rendering of a report or a comparison. All of its functions are pure.
package words

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Visible escapes what cannot be seen, so that untrusted text can neither control a
// terminal nor reorder a line, and turns invalid UTF-8 into U+FFFD. Line breaks and
// tabs become spaces.
func Visible(s string) string { return invisible.Escape(blanks.Replace(s), "") }

var blanks = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ")

// Clip makes s visible and cuts it to at most n runes, saying how much is missing.
func Clip(s string, n int) string {
	// What lies far beyond the cut need not be looked at.
	rest := 0
	if limit := 4*n + utf8.UTFMax; len(s) > limit {
		rest = len(s) - limit
		s = s[:limit]
		for len(s) > 0 && rest > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s, rest = s[:len(s)-1], rest+1
		}
	}
	s = Visible(s)
	cut := 0
	for i := range s {
		if cut++; cut > n {
			return fmt.Sprintf("%s… (%s bytes more)", s[:i], Thousands(int64(len(s)-i+rest)))
		}
	}
	if rest > 0 {
		return fmt.Sprintf("%s… (%s bytes more)", s, Thousands(int64(rest)))
	}
	return s
}

// Brief is clip without the count, for names in narrow places.
func Brief(s string, n int) string {
	return clip.Fit(Visible(Clip(s, 4*n)), n)
}

// UpperFirst makes the first letter a capital.
func UpperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// TaskCount says how many tasks a suite or a run has, everywhere in the same words:
// "69 tasks, and 10 scripted tasks that test the harness". tasks does not include
// scripted.
func TaskCount(tasks, scripted int) string {
	if tasks == 0 && scripted > 0 {
		return WithScripted("", scripted)
	}
	return WithScripted(Plural(tasks, "task"), scripted)
}

// WithScripted adds scripted tasks to what is said of the others, which may be "".
func WithScripted(others string, scripted int) string {
	switch scripted {
	case 0:
		return others
	case 1:
		return Join(", and ", others, "1 scripted task that tests the harness")
	}
	return Join(", and ", others, Plural(scripted, "scripted task")+" that test the harness")
}

// Plural is "1 turn", "2 turns".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(int64(n)) + " " + noun + "s"
}
