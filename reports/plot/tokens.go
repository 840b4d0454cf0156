package plot

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// tokenClass is one of the classes that a provider counts and prices apart. They
// are disjoint.
type tokenClass struct {
	name string
	of   func(*model.Metrics) *int64
	fill func(theme) fill
}

func tokenClasses() []tokenClass {
	return []tokenClass{
		{"fresh input", func(m *model.Metrics) *int64 { return m.TokensIn }, func(t theme) fill { return fill{color: t.accent} }},
		{"cache read", func(m *model.Metrics) *int64 { return m.TokensCacheRead }, func(t theme) fill { return fill{t.accent, true, false} }},
		{"cache write", func(m *model.Metrics) *int64 { return m.TokensCacheWrite }, func(t theme) fill { return fill{t.accent, true, true} }},
		{"output", func(m *model.Metrics) *int64 { return m.TokensOut }, func(t theme) fill { return fill{color: t.second} }},
		{"reasoning", func(m *model.Metrics) *int64 { return m.TokensReasoning }, func(t theme) fill { return fill{t.second, true, false} }},
	}
}

// tokens sums the known classes, and counts them.
func tokens(m *model.Metrics) (sum int64, known int) {
	for _, k := range tokenClasses() {
		if n := k.of(m); n != nil {
			sum, known = sum+*n, known+1
		}
	}
	return sum, known
}

// allTokens is their words.Number, "≥ 1.2 M" where some are unknown.
func allTokens(m *model.Metrics) string {
	sum, known := tokens(m)
	switch known {
	case 0:
		return "?"
	case len(tokenClasses()):
		return scaled(float64(sum))
	}
	return "≥ " + scaled(float64(sum))
}

func tokensTitle(r *model.Report) string {
	var read, input, n int64
	least, most := math.Inf(1), math.Inf(-1)
	for i := range r.Candidates {
		m := &r.Candidates[i].Metrics
		sum, known := tokens(m)
		if known == 0 || m.Episodes == 0 {
			continue
		}
		n++
		each := float64(sum) / float64(m.Episodes)
		least, most = min(least, each), max(most, each)
		if m.TokensCacheRead != nil && m.TokensIn != nil {
			read, input = read+*m.TokensCacheRead, input+*m.TokensIn+*m.TokensCacheRead
			if m.TokensCacheWrite != nil {
				input += *m.TokensCacheWrite
			}
		}
	}
	if n == 0 {
		return "No provider reported tokens"
	}
	title := "An episode takes " + scaled(least)
	if scaled(least) != scaled(most) {
		title += " to " + scaled(most)
	}
	title += " tokens"
	if words.Percent(float64(read)/float64(max(1, input))) != "0.0%" {
		title += fmt.Sprintf(", %s of the input from a cache", words.Percent(float64(read)/float64(input)))
	}
	return title
}

func tokensAlt(r *model.Report) string {
	return alt(r, "Tokens by class", func(c model.Candidate) string {
		if _, known := tokens(&c.Metrics); known == 0 {
			return ""
		}
		var parts []string
		for _, k := range tokenClasses() {
			parts = append(parts, k.name+" "+words.Count(k.of(&c.Metrics)))
		}
		return strings.Join(parts, ", ")
	})
}

// tokens stacks the classes of all episodes; what is unknown is a box with a
// question mark, of no length.
func (t theme) tokens(r model.Report) drawing {
	g := rows{theme: t, height: 26, line: math.NaN()}
	any, most := false, 1.0
	for i := range r.Candidates {
		m := &r.Candidates[i].Metrics
		sum, known := tokens(m)
		any, most = any || known > 0, max(most, float64(sum))
		g.values = append(g.values, allTokens(m))
	}
	if !any {
		return drawing{}
	}
	g.x = axis{label: "tokens of all episodes", high: 1.1 * most, ticks: roundTicks(0, 1.1*most, 5, scaled)}
	g.row = func(i int, c draw.Canvas, x scale, y vg.Length) {
		var at int64
		unknown := 0
		for _, k := range tokenClasses() {
			n := k.of(&r.Candidates[i].Metrics)
			if n == nil {
				unknown++
				continue
			}
			k.fill(t).draw(c, vg.Rectangle{Min: vg.Point{X: x(float64(at)), Y: y - 7}, Max: vg.Point{X: x(float64(at + *n)), Y: y + 7}})
			at += *n
		}
		if unknown > 0 {
			t.unknown(c, vg.Point{X: x(float64(at)) + 3, Y: y})
		}
	}
	unknown := false
	for i := range r.Candidates {
		_, known := tokens(&r.Candidates[i].Metrics)
		unknown = unknown || known < len(tokenClasses())
	}
	for _, k := range tokenClasses() {
		g.key = append(g.key, keyEntry{k.name, func(c draw.Canvas, at vg.Point) {
			k.fill(t).draw(c, vg.Rectangle{Min: vg.Point{X: at.X - 6, Y: at.Y - 4}, Max: vg.Point{X: at.X + 6, Y: at.Y + 4}})
		}})
	}
	if unknown {
		g.key = append(g.key, keyEntry{"more, not reported", func(c draw.Canvas, at vg.Point) { t.unknown(c, vg.Point{X: at.X - 5, Y: at.Y}) }})
	}
	return g.drawing(r)
}

// unknown draws a box with a question mark that begins at a point.
func (t theme) unknown(c draw.Canvas, at vg.Point) {
	c.StrokeLines(draw.LineStyle{Color: t.muted, Width: 0.75, Dashes: []vg.Length{2, 2}}, []vg.Point{
		{X: at.X, Y: at.Y - 5}, {X: at.X + 10, Y: at.Y - 5}, {X: at.X + 10, Y: at.Y + 5}, {X: at.X, Y: at.Y + 5}, {X: at.X, Y: at.Y - 5},
	})
	c.FillText(t.style(t.ink, 8, draw.XCenter, draw.YCenter), vg.Point{X: at.X + 5, Y: at.Y + 1}, "?")
}

// fill is how an area is told from another: by colour, and by lines that rise, or
// that cross, where it is not solid.
type fill struct {
	color           color.NRGBA
	rising, crossed bool
}

func (f fill) draw(c draw.Canvas, box vg.Rectangle) {
	w, h := box.Max.X-box.Min.X, box.Max.Y-box.Min.Y
	if w <= 0 {
		return
	}
	outline := []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}, box.Min}
	if !f.rising || w < 2 {
		c.FillPolygon(f.color, outline[:4])
		return
	}
	line := draw.LineStyle{Color: f.color, Width: 0.75}
	for at := 2 - h; at < w; at += 4 {
		from, to := max(0, -at), min(h, w-at) // how far up the line is inside the box
		c.StrokeLine2(line, box.Min.X+at+from, box.Min.Y+from, box.Min.X+at+to, box.Min.Y+to)
		if f.crossed {
			c.StrokeLine2(line, box.Min.X+at+from, box.Max.Y-from, box.Min.X+at+to, box.Max.Y-to)
		}
	}
	c.StrokeLines(draw.LineStyle{Color: f.color, Width: 1}, outline)
}

// scaled writes a number with three digits: 950, 1.2 k, 34.5 M.
func scaled(v float64) string {
	for _, s := range []struct {
		unit string
		of   float64
	}{{" E", 1e18}, {" P", 1e15}, {" T", 1e12}, {" G", 1e9}, {" M", 1e6}, {" k", 1e3}} {
		if v >= s.of*0.9995 {
			return words.Trimmed(v/s.of, max(0, 2-int(math.Log10(max(1, v/s.of))))) + s.unit
		}
	}
	return words.Trimmed(v, 0)
}
