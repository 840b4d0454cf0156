package reports

import (
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/reports/stat"
)

// sign tells verdicts apart without colour.
func sign(v stat.Verdict) string {
	switch v {
	case stat.Pass:
		return "✓"
	case stat.Fail:
		return "✗"
	case stat.NoRegression:
		return "≈"
	case stat.Inconclusive:
		return "?"
	}
	return "–"
}

// word is a verdict in a sentence.
func word(v stat.Verdict) string {
	return strings.ReplaceAll(string(v), "_", " ")
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// bounded cuts s to at most n bytes, between characters.
func bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// join joins the parts that are not empty.
func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// and joins names: "a", "a and b", "a, b and c".
func and(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// lines makes s visible line by line and cuts it to at most n bytes, saying how
// much is missing.
func lines(s string, n int) string {
	more := ""
	if n = max(n, 0); len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		more = "… (" + thousands(int64(len(s)-n)) + " bytes more)"
		s = s[:n]
	}
	s = strings.NewReplacer("\r\n", "\n", "\r", " ").Replace(s)
	return invisible.Escape(s, "\n\t") + more
}

// htmlText is text for HTML and SVG: visible, and escaped.
func htmlText(s string) string { return html.EscapeString(visible(s)) }
