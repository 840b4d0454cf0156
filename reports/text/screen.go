package text

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Screen is what a text is laid out for. The zero Screen is not a terminal: plain ASCII
// tables, lines that are neither wrapped nor shortened, and no colour.
type Screen struct {
	// Width is in columns; 0 is unlimited.
	Width int
	// Colour says that verdicts and significant differences are coloured. Words and marks
	// say the same without it.
	Colour bool
}

// Sequences of colour. A terminal's writer lets these through and no others.
const (
	bold, dim          = "\x1b[1m", "\x1b[2m"
	red, green, yellow = "\x1b[31m", "\x1b[32m", "\x1b[33m"
	plain              = "\x1b[0m"
)

// paint gives text a colour, where there is any.
func (s Screen) paint(colour, text string) string {
	if !s.Colour || colour == "" || text == "" {
		return text
	}
	return colour + text + plain
}

// verdict gives text the colour of a verdict.
func (s Screen) verdict(v stat.Verdict, text string) string {
	return s.paint(map[stat.Verdict]string{
		stat.Pass: green, stat.NoRegression: green, stat.Fail: red, stat.Inconclusive: yellow, stat.NotJudged: dim,
	}[v], text)
}

// style is a light frame on a terminal and bare columns elsewhere.
func (s Screen) style() table.Style {
	style := table.StyleDefault
	if s.Width > 0 {
		style = table.StyleLight
	}
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder = false
	style.Options.SeparateColumns = false
	return style
}
