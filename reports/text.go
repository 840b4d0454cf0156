package reports

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
)

// visible escapes what cannot be seen, so that untrusted text can neither control a
// terminal nor reorder a line, and turns invalid UTF-8 into U+FFFD. Line breaks and
// tabs become spaces.
func visible(s string) string { return invisible.Escape(blanks.Replace(s), "") }

var blanks = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ")

// clip makes s visible and cuts it to at most n runes, saying how much is missing.
func clip(s string, n int) string {
	// What lies far beyond the cut need not be looked at.
	rest := 0
	if limit := 4*n + utf8.UTFMax; len(s) > limit {
		rest = len(s) - limit
		s = s[:limit]
		for len(s) > 0 && rest > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s, rest = s[:len(s)-1], rest+1
		}
	}
	s = visible(s)
	cut := 0
	for i := range s {
		if cut++; cut > n {
			return fmt.Sprintf("%s… (%s bytes more)", s[:i], thousands(int64(len(s)-i+rest)))
		}
	}
	if rest > 0 {
		return fmt.Sprintf("%s… (%s bytes more)", s, thousands(int64(rest)))
	}
	return s
}

// brief is clip without the count, for names in narrow places.
func brief(s string, n int) string {
	s = visible(clip(s, 4*n))
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func upperFirst(s string) string {
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
		return withScripted("", scripted)
	}
	return withScripted(plural(tasks, "task"), scripted)
}

// withScripted adds scripted tasks to what is said of the others, which may be "".
func withScripted(others string, scripted int) string {
	switch scripted {
	case 0:
		return others
	case 1:
		return join(", and ", others, "1 scripted task that tests the harness")
	}
	return join(", and ", others, plural(scripted, "scripted task")+" that test the harness")
}

// plural is "1 turn", "2 turns".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(int64(n)) + " " + noun + "s"
}
