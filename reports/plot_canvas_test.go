package reports

import (
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// inked sums how dark a picture is, in pixels of full ink.
func inked(c *pngCanvas) (sum float64) {
	for _, i := range c.img.Pix {
		col, _ := c.img.Palette[i].(color.NRGBA)
		sum += 1 - float64(col.G)/255
	}
	return sum
}

// What is drawn covers the area that geometry says, in pixels: a point is
// 160/72 of one.
func TestPictureAreas(t *testing.T) {
	const px = 160.0 / 72
	line := draw.LineStyle{Color: color.Black, Width: 3}
	for _, c := range []struct {
		name string
		want float64 // square points
		draw func(draw.Canvas)
	}{
		{"a box", 20 * 10, func(c draw.Canvas) {
			c.FillPolygon(color.Black, []vg.Point{{X: 10, Y: 10}, {X: 30, Y: 10}, {X: 30, Y: 20}, {X: 10, Y: 20}})
		}},
		{"a box half outside", 10 * 10, func(c draw.Canvas) {
			c.FillPolygon(color.Black, []vg.Point{{X: -10, Y: 10}, {X: 10, Y: 10}, {X: 10, Y: 20}, {X: -10, Y: 20}})
		}},
		{"a line", 40 * 3, func(c draw.Canvas) { c.StrokeLine2(line, 10, 10, 10, 50) }},
		{"a slanted line, backwards", 50 * 3, func(c draw.Canvas) { c.StrokeLine2(line, 60, 50, 30, 10) }},
		{"dashes of 5 with gaps of 3", 3 * (5 + 5 + 5 + 5 + 5 + 0), func(c draw.Canvas) {
			dashed := line
			dashed.Dashes = []vg.Length{5, 3}
			c.StrokeLine2(dashed, 10, 10, 50, 10)
		}},
		{"a circle", math.Pi * 9 * 9, func(c draw.Canvas) {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: color.Black, Radius: 9, Shape: draw.CircleGlyph{}}, vg.Point{X: 40, Y: 40})
		}},
		// Where its pieces overlap, edges count twice.
		{"a ring", 2 * math.Pi * 9 * 1.08, func(c draw.Canvas) {
			var p vg.Path
			p.Move(vg.Point{X: 49, Y: 40})
			p.Arc(vg.Point{X: 40, Y: 40}, 9, 0, 2*math.Pi)
			p.Close()
			c.SetLineStyle(draw.LineStyle{Color: color.Black, Width: 1})
			c.Stroke(p)
		}},
		{"a shade", 20 * 10 * 0.4, func(c draw.Canvas) {
			c.FillPolygon(color.NRGBA{A: 102}, []vg.Point{{X: 10, Y: 10}, {X: 30, Y: 10}, {X: 30, Y: 20}, {X: 10, Y: 20}})
		}},
		{"no line", 0, func(c draw.Canvas) { c.StrokeLine2(draw.LineStyle{Color: color.Black}, 10, 10, 10, 50) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			canvas := newPNG(80, 80)
			c.draw(draw.New(canvas))
			require.InDelta(t, c.want*px*px, inked(canvas), 0.02*c.want*px*px+0.5)
		})
	}
}

// Both canvases turn, move and scale alike.
func TestTransforms(t *testing.T) {
	p := newPen(100, 50, 2)
	require.Equal(t, point{20, 80}, p.to.at(vg.Point{X: 10, Y: 10}))
	p.Push()
	p.Translate(vg.Point{X: 10, Y: 10})
	p.Rotate(math.Pi / 2)
	p.Scale(3, 1)
	got := p.to.at(vg.Point{X: 5, Y: 1}) // 15 up, 1 to the left
	require.InDelta(t, 2*(10-1), got.x, 1e-9)
	require.InDelta(t, 2*(50-25), got.y, 1e-9)
	p.Pop()
	require.Equal(t, point{0, 100}, p.to.at(vg.Point{}))
}

// A full palette keeps places for colours that are drawn whole, and takes the
// nearest for mixed ones.
func TestFullPalette(t *testing.T) {
	c := newPNG(10, 10)
	for i := range 255 {
		c.place(color.NRGBA{R: uint8(i), A: 255}, maxMixed)
	}
	require.Len(t, c.img.Palette, maxMixed)
	near := c.place(color.NRGBA{R: 230, A: 255}, maxMixed)
	require.Equal(t, color.NRGBA{R: maxMixed - 2, A: 255}, c.img.Palette[near])
	own := c.place(color.NRGBA{B: 77, A: 255}, 256)
	require.Equal(t, color.NRGBA{B: 77, A: 255}, c.img.Palette[own])
}

func TestWidths(t *testing.T) {
	style := paper().style(paper().ink, 10, 0, 0)
	// Advances of Liberation Sans, 2048 to the em: digits 1139, as in Arial; the rest
	// is estimated.
	for s, want := range map[string]float64{"": 0, "0": 1139. / 2048, "0000": 4 * 1139. / 2048, "候補": 2, "🚀": 1.3, "e\u0301": 1139. / 2048, "ก": 0.6} {
		require.InDelta(t, 10*want, style.Width(s).Points(), 0.01, s)
	}
	require.Less(t, style.Width("AV").Points(), style.Width("A").Points()+style.Width("V").Points(), "pairs are kerned")
	require.True(t, drawable("abc Ωж é"))
	for _, s := range []string{"候", "مرشح", "עברית", "🚀", "ก"} {
		require.False(t, drawable(s), s)
	}
}

func TestSVGElements(t *testing.T) {
	c := newSVG(100, 50, map[color.NRGBA]string{rgb(0x100001): "var(--ink)"})
	dc := draw.New(c)
	dc.StrokeLine2(draw.LineStyle{Color: rgb(0x100001), Width: 1.5, Dashes: []vg.Length{4, 3}}, 0, 0, 10, 20.125)
	dc.FillPolygon(shaded(rgb(0x100001), 0.5), []vg.Point{{X: 1, Y: 2}, {X: 3, Y: 4}, {X: 5, Y: 6}})
	style := paper().style(rgb(0x123456), 8, draw.XRight, draw.YBottom)
	dc.FillText(style, vg.Point{X: 50, Y: 10}, "a < b & \u202Ec")
	style.Rotation = math.Pi / 2
	dc.FillText(style, vg.Point{X: 50, Y: 10}, "up")
	lines := strings.Split(c.b.String(), "\n")
	require.Equal(t, `<path fill="none" stroke="var(--ink)" stroke-width="1.5" stroke-dasharray="4,3" d="M0,50L10,29.88"/>`, lines[0])
	require.Equal(t, `<path fill="var(--ink)" fill-opacity="0.5" d="M1,48L3,46L5,44Z"/>`, lines[1])
	require.Regexp(t, `^<text x="50" y="[0-9.]+" fill="#123456" font-size="8" text-anchor="end">a &lt; b &amp; \\u\{202E\}c</text>$`, lines[2])
	require.Regexp(t, `text-anchor="end" transform="rotate\(-90 [0-9.]+ 40\)">up</text>$`, lines[3])
}
