package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat/calibration"
	"github.com/cupel-eval/cupel/reports/words"
)

func calibrationTitle(r *model.Report) string {
	over, n := 0, 0
	for _, c := range r.Candidates {
		stated, came, size := 0.0, 0.0, 0
		for _, b := range c.Calibration {
			stated, came, size = stated+b.Stated*float64(b.N), came+b.Came*float64(b.N), size+b.N
		}
		if size == 0 {
			continue
		}
		n++
		if stated > came {
			over++
		}
	}
	switch {
	case n == 0:
		return "No candidate stated a confidence"
	case over == 0:
		return "No candidate claims more confidence than it earns"
	}
	return words.UpperFirst(model.Of(over, n, "claims", "claim")) + " more confidence than earned"
}

func calibrationAlt(r *model.Report) string {
	return alt(r, "Brier score of stated confidence, and solved of those in each tenth", func(c model.Candidate) string {
		if c.Brier == nil {
			return ""
		}
		var parts []string
		for _, b := range c.Calibration {
			if b.N > 0 {
				parts = append(parts, fmt.Sprintf("stated %s solved %s of %d", words.Percent(b.Stated), words.Percent(b.Came), b.N))
			}
		}
		return fmt.Sprintf("%.3f, %s", *c.Brier, strings.Join(parts, ", "))
	})
}

// calibration draws a small reliability diagram for each candidate that stated
// confidences.
func (t theme) calibration(r model.Report) drawing {
	var shown []int
	for i, c := range r.Candidates {
		if c.Brier != nil {
			shown = append(shown, i)
		}
	}
	if len(shown) == 0 {
		return drawing{}
	}
	columns, names := 2, t.labels(r, 20)
	if len(shown) > 4 {
		columns, names = 3, t.labels(r, 15)
	}
	lines := (len(shown) + columns - 1) / columns
	const head, cellHeight = 4, 150
	style := t.style(t.muted, textSize, draw.XLeft, draw.YBottom)
	legend := wrap("Across: confidence stated in the last turn. Up: share of those episodes solved; number and area of a dot say how many they were. On the dashed line, words match deeds; below it, too much was claimed.", style, plotWidth-16)
	foot := style.Height(legend) + 14
	return drawing{height: head + cellHeight*vg.Length(lines) + foot, paint: func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X - 8) / vg.Length(columns)
		for at, i := range shown {
			cell := c
			cell.Min.X = c.Min.X + width*vg.Length(at%columns)
			cell.Max.X = cell.Min.X + width
			cell.Max.Y = c.Max.Y - head - cellHeight*vg.Length(at/columns)
			cell.Min.Y = cell.Max.Y - cellHeight
			t.panel(draw.Crop(cell, 8, -8, 4, -4), names[i], r.Candidates[i])
		}
		c.FillText(style, vg.Point{X: c.Min.X + 8, Y: c.Min.Y + 6}, legend)
	}}
}

func (t theme) panel(c draw.Canvas, name string, k model.Candidate) {
	const left = 20
	n := 0
	for _, b := range k.Calibration {
		n += b.N
	}
	c.FillText(t.style(t.ink, textSize, draw.XLeft, draw.YTop), vg.Point{X: c.Min.X + left, Y: c.Max.Y}, name)
	c.FillText(t.style(t.muted, textSize-1, draw.XLeft, draw.YTop), vg.Point{X: c.Min.X + left, Y: c.Max.Y - 12},
		fmt.Sprintf("Brier %.3f, %s", *k.Brier, words.Plural(n, "episode")))
	axis := axis{high: 1, grid: true, ticks: roundTicks(0, 1, 2, func(v float64) string { return words.Trimmed(v, 1) })}
	t.chart(draw.Crop(c, 0, -12, 4, -lineHeight-18), axis, axis, func(c draw.Canvas, x, y scale) {
		c.StrokeLine2(draw.LineStyle{Color: t.muted, Width: 0.75, Dashes: []vg.Length{3, 3}}, x(0), y(0), x(1), y(1))
		t.reliability(c, k.Calibration, x, y)
	})
}

// reliability draws the bins, joined, each with the number of its episodes above
// or below: where the line does not go.
func (t theme) reliability(c draw.Canvas, all []calibration.Bin, x, y scale) {
	bins := slices.DeleteFunc(slices.Clone(all), func(b calibration.Bin) bool { return b.N == 0 })
	most := 1
	var path []vg.Point
	for _, b := range bins {
		most = max(most, b.N)
		path = append(path, vg.Point{X: x(b.Stated), Y: y(b.Came)})
	}
	if len(path) > 1 {
		c.StrokeLines(draw.LineStyle{Color: t.accent, Width: 1}, path)
	}
	for i, b := range bins {
		radius := vg.Length(1.5 + 3.5*math.Sqrt(float64(b.N)/float64(most)))
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: t.accent, Radius: radius, Shape: draw.CircleGlyph{}}, path[i])
		slope := 0.0 // of the line's neighbours, seen from here
		if i > 0 {
			slope += bins[i-1].Came - b.Came
		}
		if i < len(bins)-1 {
			slope += bins[i+1].Came - b.Came
		}
		at, style := vg.Point{X: path[i].X, Y: path[i].Y + radius + 1}, t.style(t.ink, 8, draw.XCenter, draw.YBottom)
		if slope > 0 && b.Came > 0.12 || b.Came > 0.95 {
			at.Y, style.YAlign = path[i].Y-radius-1, draw.YTop
		}
		c.FillText(style, at, scaled(float64(b.N)))
	}
}
