package words

import (
	"html"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Sign tells verdicts apart without colour.
func Sign(v stat.Verdict) string {
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

// Word is a verdict in a sentence.
func Word(v stat.Verdict) string {
	return strings.ReplaceAll(string(v), "_", " ")
}

// LowerFirst makes the first letter small; s is not empty.
func LowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// Join joins the parts that are not empty.
func Join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// And joins names: "a", "a and b", "a, b and c".
func And(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Lines makes s visible line by line and cuts it to at most n bytes, saying how
// much is missing.
func Lines(s string, n int) string {
	more := ""
	if n = max(n, 0); len(s) > n {
		shown := clip.FirstBytes(s, n)
		more = "… (" + Thousands(int64(len(s)-len(shown))) + " bytes more)"
		s = shown
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", " ")
	return invisible.Escape(s, "\n\t") + more
}

// HTML is text for HTML and SVG: visible, and escaped.
func HTML(s string) string { return html.EscapeString(Visible(s)) }
