package orchestration

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/cupel-eval/cupel/reports/words"
)

// svgWidth is the width of a lane in units of its drawing, which is stretched to its cell.
const svgWidth = 1000

// SVG draws a lane: a thin bar from start to end, thick ones where the agent had a turn, a mark
// where it asked people. Its colours are those of the style sheet, by class.
func (l Lane) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d 20" preserveAspectRatio="none" aria-hidden="true">`, svgWidth)
	rect := func(class string, from, to, y, height float64) {
		from, to = svgWidth*from, svgWidth*to
		width := max(to-from, 2)
		fmt.Fprintf(&b, `<rect class="%s" x="%s" y="%g" width="%s" height="%g"/>`, class, words.Coordinate(min(from, svgWidth-width), 1), y, words.Coordinate(width, 1), height)
	}
	if l.Span != nil {
		class := "ran"
		if l.Bad {
			class = "ran lost"
		}
		rect(class, l.Span.From, l.Span.To, 8, 4)
	}
	for _, s := range l.Busy {
		rect("busy", s.From, s.To, 5, 10)
	}
	for _, at := range l.Asked {
		rect("asked", at-.002, at+.002, 1, 18)
	}
	b.WriteString("</svg>")
	return b.String()
}

// barWidth is the width of a lane as text, in columns.
const barWidth = 32

// bar draws a lane as text, with the marks of SVG.
func (l Lane) bar() string {
	cells := []rune(strings.Repeat(" ", barWidth))
	fill := func(s Span, with rune) {
		from := min(int(s.From*barWidth), barWidth-1)
		for i := from; i < max(from+1, int(math.Round(s.To*barWidth))); i++ {
			cells[i] = with
		}
	}
	if l.Span != nil {
		fill(*l.Span, '─')
	}
	for _, s := range l.Busy {
		fill(s, '█')
	}
	for _, at := range l.Asked {
		fill(Span{at, at}, '?')
	}
	return "│" + string(cells) + "│"
}

// Text writes an episode for a terminal, without markup.
func (e *Episode) Text() string {
	var b strings.Builder
	grid := func(title string, rows [][]string) {
		if len(rows) == 0 {
			return
		}
		b.WriteString("── " + title + "\n")
		var lines strings.Builder
		w := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
		for _, row := range rows {
			_, _ = fmt.Fprintln(w, "  "+strings.Join(row, "\t")) // a builder takes any text, here and below
		}
		_ = w.Flush()
		for line := range strings.Lines(lines.String()) {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
	}
	var agents, lanes, requests [][]string
	for _, a := range e.Agents {
		if a.Cost == words.Unknown {
			a.Cost = "cost unknown"
		}
		agents = append(agents, []string{strings.Repeat("  ", a.Depth) + a.Name, a.Role, words.Plural(a.Turns, "turn"), words.Plural(a.Calls, "call"), a.Tokens + " tokens", a.Cost})
	}
	for _, l := range e.Lanes {
		lanes = append(lanes, []string{l.Name, l.Agent, l.bar(), l.Time, l.State})
	}
	for _, r := range e.Requests {
		if r.Wait != "" {
			r.Answer += " after " + r.Wait
		}
		requests = append(requests, []string{r.At, r.Agent, r.What, r.Severity, r.Answer})
	}
	grid("agents", agents)
	grid("timeline, 0 to "+e.Length+" of virtual time: █ turn, ─ tools and waiting, ? request to a person", lanes)
	grid("requests to people", requests)
	if e.More != "" {
		b.WriteString("── " + e.More + "\n")
	}
	return b.String()
}
