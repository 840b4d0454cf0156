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
		{"uncached input", func(m *model.Metrics) *int64 { return m.TokensIn }, func(t theme) fill { return fill{color: t.accent} }},
		{"cached input", func(m *model.Metrics) *int64 { return m.TokensCacheRead }, func(t theme) fill { return fill{t.accent, true, false} }},
		{"cache write", func(m *model.Metrics) *int64 { return m.TokensCacheWrite }, func(t theme) fill { return fill{t.accent, true, true} }},
		{"output", func(m *model.Metrics) *int64 { return m.TokensOut }, func(t theme) fill { return fill{color: t.second} }},
		{"reasoning", func(m *model.Metrics) *int64 { return m.TokensReasoning }, func(t theme) fill { return fill{t.second, true, false} }},
	}
}

// tokens sums the means per episode of the known classes, and counts these.
func tokens(m *model.Metrics) (sum float64, known int) {
	if m.Episodes == 0 {
		return 0, 0
	}
	for _, k := range tokenClasses() {
		if n := k.of(m); n != nil {
			sum, known = sum+float64(*n)/float64(m.Episodes), known+1
		}
	}
	return sum, known
}

// tokensOf is the mean of an episode, "≥ 1,840" where some classes are unknown.
func tokensOf(m *model.Metrics) string {
	sum, known := tokens(m)
	switch known {
	case 0:
		return "unknown"
	case len(tokenClasses()):
		return wholeTokens(sum)
	}
	return "≥ " + wholeTokens(sum)
}

func wholeTokens(v float64) string { return words.Thousands(int64(math.Round(v))) }

func tokensTitle(r *model.Report) string {
	var read, input, n int64
	least, most := math.Inf(1), math.Inf(-1)
	for i := range r.Candidates {
		m := &r.Candidates[i].Metrics
		each, known := tokens(m)
		if known == 0 {
			continue
		}
		n++
		least, most = min(least, each), max(most, each)
		if m.TokensCacheRead != nil && m.TokensIn != nil {
			read, input = read+*m.TokensCacheRead, input+*m.TokensIn+*m.TokensCacheRead
			if m.TokensCacheWrite != nil {
				input += *m.TokensCacheWrite
			}
		}
	}
	if n == 0 {
		return ""
	}
	title := "Tokens per episode: " + wholeTokens(least)
	if wholeTokens(least) != wholeTokens(most) {
		title += " to " + wholeTokens(most)
	}
	if cached := words.Percent(float64(read) / float64(max(1, input))); cached != words.Percent(0) {
		title += fmt.Sprintf(" (%s of the input cached)", cached)
	}
	return title
}

func tokensAlt(r *model.Report) string {
	return alt(r, "Mean tokens of an episode by class", func(c model.Candidate) string {
		if _, known := tokens(&c.Metrics); known == 0 {
			return ""
		}
		var parts []string
		for _, k := range tokenClasses() {
			text := words.Unknown
			if n := k.of(&c.Metrics); n != nil {
				text = wholeTokens(float64(*n) / float64(c.Episodes))
			}
			parts = append(parts, k.name+" "+text)
		}
		return strings.Join(parts, ", ")
	})
}

// tokens stacks the classes of a mean episode. Unknown classes are one box with a question
// mark, whose length means nothing.
func (t theme) tokens(r model.Report) drawing {
	g, most := rows{theme: t, marks: 14, line: math.NaN()}, 1.0
	seen, unknown := map[string]bool{}, false
	for i := range r.Candidates {
		m := &r.Candidates[i].Metrics
		sum, known := tokens(m)
		most, unknown, g.values = max(most, sum), unknown || known < len(tokenClasses()), append(g.values, tokensOf(m))
		for _, k := range tokenClasses() {
			n := k.of(m)
			seen[k.name] = seen[k.name] || n != nil && *n > 0
		}
	}
	g.x = axis{label: "mean tokens of an episode", high: 1.1 * most, ticks: roundTicks(0, 1.1*most, 5, counts)}
	g.row = func(i int, c draw.Canvas, x scale, y vg.Length) {
		m, at := &r.Candidates[i].Metrics, 0.0
		_, known := tokens(m)
		for _, k := range tokenClasses() {
			if n := k.of(m); n != nil && m.Episodes > 0 {
				to := at + float64(*n)/float64(m.Episodes)
				k.fill(t).draw(c, vg.Rectangle{Min: vg.Point{X: x(at), Y: y - 7}, Max: vg.Point{X: x(to), Y: y + 7}})
				at = to
			}
		}
		if known < len(tokenClasses()) {
			t.unknown(c, vg.Point{X: x(at) + 3, Y: y})
		}
	}
	for _, k := range tokenClasses() {
		if seen[k.name] {
			g.key = append(g.key, keyEntry{k.name, func(c draw.Canvas, at vg.Point) {
				k.fill(t).draw(c, vg.Rectangle{Min: vg.Point{X: at.X - 6, Y: at.Y - 4}, Max: vg.Point{X: at.X + 6, Y: at.Y + 4}})
			}})
		}
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
	t.write(c, t.ink, draw.XCenter, at.X+5, at.Y, "?")
}

// fill distinguishes an area by its colour, and by lines that rise, or
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
