package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
)

// maxColumns bounds the candidates of a matrix, so that their names fit above it.
const maxColumns = 6

// matrix is a table of small cells, with candidates as columns. A darker cell is worse.
// Every cell contains its value as text.
type matrix struct {
	theme
	columns []int // of candidates, from worst
	lines   []matrixLine
	note    string
}

// matrixLine is a row, or a heading where it has no cells.
type matrixLine struct {
	label string
	cells []matrixCell // of all candidates
}

// matrixCell is a cell; one without text is not drawn. shade is 0 to 1.
type matrixCell struct {
	text  string
	shade float64
}

// worst are at most n of all candidates: those with the highest score, in their order.
func worst(n, all int, score func(i int) float64) []int {
	list := make([]int, all)
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	list = list[:min(n, all)]
	slices.Sort(list)
	return list
}

func (g matrix) drawing(r model.Report) drawing {
	if more := len(r.Candidates) - len(g.columns); more > 0 {
		g.note += fmt.Sprintf(" The worst %d of %d candidates are shown.", len(g.columns), len(r.Candidates))
	}
	left := vg.Length(0)
	for _, l := range g.lines {
		left = max(left, g.width(l.label))
	}
	const margin vg.Length = 8
	each, above := lineHeight, left > 0.3*plotWidth || len(g.columns) > 4 // labels stand above their cells
	if above {
		left, each = -margin, 2*lineHeight+4
	}
	cell := min(72, (plotWidth-left-3*margin)/vg.Length(max(1, len(g.columns))))
	names, head := g.headings(r, cell-3)
	note := g.style(g.muted, textSize, draw.XLeft, draw.YBottom)
	foot := wrap(g.note, note, plotWidth-2*margin)
	below := note.Height(foot) + 16
	return drawing{{height: head + each*vg.Length(len(g.lines)) + below, paint: func(c draw.Canvas) {
		x := func(i int) vg.Length { return c.Min.X + 2*margin + left + cell*vg.Length(i) }
		top := c.Max.Y - head
		for i, lines := range names {
			for k, line := range lines {
				g.write(c, g.ink, draw.XCenter, x(i)+cell/2, top+9+textSize*vg.Length(len(lines)-1-k), line)
			}
		}
		for i, l := range g.lines {
			y := top - each*vg.Length(i) - lineHeight/2
			switch {
			case above:
				g.write(c, g.ink, draw.XLeft, x(0), y, l.label)
				y -= lineHeight
			case l.cells == nil:
				g.write(c, g.muted, draw.XRight, x(0)-margin, y, l.label)
			default:
				g.write(c, g.ink, draw.XRight, x(0)-margin, y, l.label)
			}
			for k, candidate := range g.columns {
				if l.cells != nil {
					g.cell(c, l.cells[candidate], vg.Rectangle{Min: vg.Point{X: x(k), Y: y - lineHeight/2}, Max: vg.Point{X: x(k + 1), Y: y + lineHeight/2}})
				}
			}
		}
		c.FillText(note, vg.Point{X: c.Min.X + margin, Y: c.Min.Y + 6}, foot)
	}}}
}

// headings are the names of the columns in one or two lines of a width, and the height that
// they need.
func (g matrix) headings(r model.Report, width vg.Length) (names [][]string, _ vg.Length) {
	all, height := g.labels(r, 40), lineHeight
	cut := func(s string) string {
		short := s
		for n := columns(s); n > 2 && g.width(short) > width; n-- {
			short = middle(s, n)
		}
		return short
	}
	for _, i := range g.columns {
		parts := strings.SplitAfter(all[i], "-")
		first, k := parts[0], 1
		for k < len(parts) && g.width(first+parts[k]) <= width {
			first += parts[k]
			k++
		}
		lines := []string{cut(first)}
		if rest := strings.Join(parts[k:], ""); rest != "" {
			lines, height = append(lines, cut(rest)), lineHeight+textSize
		}
		names = append(names, lines)
	}
	return names, height + 4
}

func (g matrix) cell(c draw.Canvas, v matrixCell, box vg.Rectangle) {
	const gap = 0.5
	x0, y0, x1, y1 := box.Min.X+gap, box.Min.Y+gap, box.Max.X-gap, box.Max.Y-gap
	if v.text == "" {
		return
	}
	c.FillPolygon(shaded(g.fail, 0.06+0.5*v.shade), []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
	g.write(c, g.ink, draw.XCenter, (x0+x1)/2, (y0+y1)/2, v.text)
}

// shaded lets the ground shine through a colour.
func shaded(c color.NRGBA, share float64) color.NRGBA {
	c.A = uint8(math.Round(255 * min(1, max(0, share))))
	return c
}
