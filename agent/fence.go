package agent

import (
	"strings"
	"unicode"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// The fences around anything a user or a tool wrote. Fenced text cannot contain
// them, so data cannot end its own fence.
const (
	dataOpen  = "<data>"
	dataClose = "</data>"
)

// marks matches what a reader could take for a fence.
var marks = lazyregexp.New(`(?i)<([\s/]*data)`)

// fence marks text as data.
func fence(text string) string { return dataOpen + escapeFence(clean(text)) + dataClose }

// fenceLine marks the first limit characters of text as data, on one line.
func fenceLine(text string, limit int) string { return dataOpen + oneLine(text, limit) + dataClose }

// escapeFence breaks what looks like a fence by a backslash after the "<".
func escapeFence(text string) string {
	if strings.IndexByte(text, '<') < 0 {
		return text
	}
	return marks.ReplaceAllString(text, `<\$1`)
}

// clean makes text valid UTF-8 without invisible characters; line feeds and tabs
// stay, other line separators become line feeds.
func clean(text string) string {
	if isPlain(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || unicode.In(r, unicode.Zl, unicode.Zp):
			return '\n'
		case invisible.Rune(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isPlain reports text that clean would return as it is, the common case.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7F {
			return false
		}
	}
	return true
}

// oneLine puts at most limit characters of text on one line. It holds no fence
// and so cannot pass for anything but text.
func oneLine(text string, limit int) string { return clip.Fit(escapeFence(singleLine(text)), limit) }

// singleLine is text on one line, lines joined by " / ".
func singleLine(text string) string {
	text = clean(text)
	if strings.IndexByte(text, '\n') < 0 {
		return strings.TrimSpace(text)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " / ")
}

// unfenced is text without its fenced parts.
func unfenced(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, dataOpen)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		_, text, _ = strings.Cut(rest, dataClose)
	}
}
