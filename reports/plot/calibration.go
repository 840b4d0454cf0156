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
		return ""
	case n == 1 && over == 1:
		return "The candidate that states a confidence is overconfident"
	case n == 1:
		return "The candidate that states a confidence is not overconfident"
	}
	verb := "are"
	if over == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%d of the %d candidates that state a confidence %s overconfident", over, n, verb)
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

// maxPanels bounds the diagrams of calibration.
const maxPanels = 9

// calibration draws a small reliability diagram for each candidate that stated
// confidences.
func (t theme) calibration(r model.Report) drawing {
	shown := worst(len(r.Candidates), len(r.Candidates), func(int) float64 { return 0 })
	shown = slices.DeleteFunc(shown, func(i int) bool { return r.Candidates[i].Brier == nil })
	note, stating := "Dot area: number of episodes. Dashed line: perfect calibration; below it, the model is overconfident.", shown
	if len(shown) > maxPanels {
		note += fmt.Sprintf(" The %d of %d candidates with the largest Brier score are shown.", maxPanels, len(shown))
		shown = nil
		for _, k := range worst(maxPanels, len(stating), func(k int) float64 { return *r.Candidates[stating[k]].Brier }) {
			shown = append(shown, stating[k])
		}
	}
	columns, names := min(2, len(shown)), t.labels(r, 20)
	if len(shown) > 4 {
		columns, names = 3, t.labels(r, 13)
	}
	style := t.style(t.muted, textSize, draw.XLeft, draw.YBottom)
	legend := wrap(note, style, plotWidth-16)
	lines, foot, width := vg.Length((len(shown)+columns-1)/columns), style.Height(legend)+14, (plotWidth-16-lineHeight)/vg.Length(columns)
	cell := min(width+lineHeight, 116) + lineHeight
	return drawing{{height: cell*lines + foot + lineHeight, paint: func(c draw.Canvas) {
		all := draw.Crop(c, 8+lineHeight, -8, foot+lineHeight, 0)
		for at, i := range shown {
			place := vg.Rectangle{Min: vg.Point{X: all.Min.X + width*vg.Length(at%columns), Y: all.Max.Y - cell*vg.Length(at/columns+1)}}
			place.Max = place.Min.Add(vg.Point{X: width - 6, Y: cell})
			t.panel(draw.Canvas{Canvas: c.Canvas, Rectangle: place}, names[i], r.Candidates[i])
		}
		t.write(c, t.muted, draw.XCenter, all.Center().X, all.Min.Y-lineHeight/2, "stated confidence")
		upright := t.style(t.muted, textSize, draw.XCenter, draw.YTop)
		upright.Rotation = math.Pi / 2
		c.FillText(upright, vg.Point{X: c.Min.X + 8, Y: all.Center().Y}, "share solved")
		c.FillText(style, vg.Point{X: c.Min.X + 8, Y: c.Min.Y + 6}, legend)
	}}}
}

func (t theme) panel(c draw.Canvas, name string, k model.Candidate) {
	t.write(c, t.ink, draw.XLeft, c.Min.X, c.Max.Y-lineHeight/2, name)
	t.write(c, t.muted, draw.XLeft, c.Min.X, c.Max.Y-1.5*lineHeight+1, fmt.Sprintf("Brier %.3f", *k.Brier))
	unit := axis{high: 1, grid: true, ticks: roundTicks(0, 1, 2, inUnits(1, "", ""))}
	t.chart(draw.Crop(c, 0, -6, 4, -2*lineHeight-5), unit, unit, func(c draw.Canvas, x, y scale) {
		c.StrokeLine2(draw.LineStyle{Color: t.muted, Width: 0.75, Dashes: []vg.Length{3, 3}}, x(0), y(0), x(1), y(1))
		t.reliability(c, k.Calibration, x, y)
	})
}

// reliability draws the bins, joined.
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
	}
}
