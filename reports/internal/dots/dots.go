// Package dots draws a criterion as a dot plot with intervals, made to be the column of
// a table: [New] puts the candidates' intervals and the threshold on one axis, [Plot.Scale]
// is the head of the column and [Plot.Row] the cell of a candidate.
//
// Each part is an inline SVG element of class "dots". Horizontal places are percentages
// of its width and sizes are CSS pixels, so that the same element suits a wide page and a
// phone, and text keeps its size. Lines reach from the top to the bottom of an element:
// where cells have no padding above and below, they join. Colours are the CSS variables
// of the report's page (ink, muted, grid, pass, fail, open). A page sets the width and, for
// rows, the height; marks stay in the middle.
package dots

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxTicks bounds the labels of an axis, so that they fit a phone.
const maxTicks = 5

// Plot is one criterion with its axis. It is immutable.
type Plot struct {
	low, high float64
	ticks     []float64
	of        model.Criterion // gives the unit, and the threshold if gates
	gates     bool
}

// New makes the axis of one criterion from what each candidate or group has of it. The
// threshold is on the axis only if the criterion gates, which it does if any of them is
// judged. It returns false if there is no interval to draw.
func New(all []model.Criterion) (p Plot, ok bool) {
	p.low, p.high = math.Inf(1), math.Inf(-1)
	for _, c := range all {
		if c.Interval == nil || c.Value == nil {
			continue
		}
		ok = true
		p.low, p.high = min(p.low, c.Interval.Low, *c.Value), max(p.high, c.Interval.High, *c.Value)
		if !p.gates {
			p.of, p.gates = c, c.Verdict != stat.NotJudged
		}
	}
	if !ok {
		return p, false
	}
	if p.gates {
		p.low, p.high = min(p.low, p.of.Threshold), max(p.high, p.of.Threshold)
	}
	if p.high == p.low {
		p.low, p.high = p.low-math.Abs(p.low)/20, p.high+max(math.Abs(p.high)/20, 0.1)
		if p.of.Kind == "share" {
			p.low, p.high = max(0, p.low), min(1, p.high)
		}
	}
	step := Step(p.low, p.high, maxTicks-1)
	p.low, p.high = math.Floor(p.low/step+1e-9)*step, math.Ceil(p.high/step-1e-9)*step
	p.ticks = Round(p.low, p.high, step)
	return p, true
}

// Step is the smallest round step, 1, 2, 2.5 or 5 × 10ⁿ, of which at most most fit from
// low to high, which is larger.
func Step(low, high float64, most int) (step float64) {
	unit := math.Pow(10, math.Floor(math.Log10(high-low))-1)
	for _, m := range []float64{1, 2, 2.5, 5, 10, 20, 25, 50, 100} {
		if step = m * unit; (high-low)/step <= float64(most)+1e-9 {
			break
		}
	}
	return step
}

// Round lists the multiples of step from low to high.
func Round(low, high, step float64) (values []float64) {
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9; k++ {
		values = append(values, k*step)
	}
	return values
}

// at is the place of a value, with room for half a label on both sides.
func (p Plot) at(v float64) string {
	return words.Coordinate(6+88*(v-p.low)/(p.high-p.low), 2) + "%"
}

// Scale is the head of the column: the threshold, such as "≥ 95%", above the labels of the
// axis. It is 34 pixels high. A page that repeats it below its table loses nothing.
func (p Plot) Scale() template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="dots" width="100%" height="34" aria-hidden="true" font-size="11">`)
	if p.gates {
		at := (p.of.Threshold - p.low) / (p.high - p.low)
		anchor := "middle"
		if at < 0.1 {
			anchor = "start"
		} else if at > 0.9 {
			anchor = "end"
		}
		fmt.Fprintf(&b, `<text x="%s" y="12" text-anchor="%s" fill="var(--ink)" font-weight="600">%s</text>`, p.at(p.of.Threshold), anchor, words.HTML(p.of.NeedsText()))
	}
	for _, v := range p.ticks {
		fmt.Fprintf(&b, `<text x="%s" y="28" text-anchor="middle" fill="var(--muted)">%s</text>`, p.at(v), words.HTML(p.of.AxisText(v)))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// Row is the cell of a candidate: its interval with a mark on the estimate, the lines of
// the axis and the dashed line of the threshold. A circle passes, a square fails, a
// triangle is inconclusive and a ring is not judged. Without an interval only the lines
// are drawn. The numbers are for the page to write beside it: assistive technology skips
// the drawing.
func (p Plot) Row(c model.Criterion) template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="dots" width="100%" height="24" aria-hidden="true">`)
	for _, v := range p.ticks {
		fmt.Fprintf(&b, `<line x1="%[1]s" x2="%[1]s" y1="0" y2="100%%" stroke="var(--grid)"/>`, p.at(v))
	}
	if p.gates {
		fmt.Fprintf(&b, `<line x1="%[1]s" x2="%[1]s" y1="0" y2="100%%" stroke="var(--ink)" stroke-dasharray="3 3"/>`, p.at(p.of.Threshold))
	}
	if c.Interval != nil && c.Value != nil {
		colour, mark := look(c.Verdict)
		fmt.Fprintf(&b, `<g stroke="%s" stroke-width="2" fill="%[1]s"><line x1="%s" x2="%s" y1="50%%" y2="50%%"/>`, colour, p.at(c.Interval.Low), p.at(c.Interval.High))
		for _, end := range []float64{c.Interval.Low, c.Interval.High} {
			fmt.Fprintf(&b, `<svg x="%s" y="50%%" overflow="visible"><path d="M0-4V4"/></svg>`, p.at(end))
		}
		fmt.Fprintf(&b, `<svg x="%s" y="50%%" overflow="visible"><path stroke-width="1.5" d="%s"/></svg></g>`, p.at(*c.Value), mark)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// look is the colour and the outline of a verdict's mark: the outline alone tells them apart.
func look(v stat.Verdict) (colour, outline string) {
	switch v {
	case stat.Pass:
		return "var(--pass)", "M-4 0A4 4 0 0 1 4 0A4 4 0 0 1-4 0Z"
	case stat.Fail:
		return "var(--fail)", "M-4-4H4V4H-4Z"
	case stat.Inconclusive:
		return "var(--open)", "M0-5L5 4H-5Z"
	}
	return "var(--muted)", `M-4 0A4 4 0 0 1 4 0A4 4 0 0 1-4 0Z" fill="var(--bg)`
}
