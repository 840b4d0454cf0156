package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func TestWidths(t *testing.T) {
	style := paper().style(paper().ink, 10, 0, 0)
	// The advances are those of Liberation Sans, 2048 to the em: digits have 1139, as
	// in Arial. The other advances are estimates.
	for s, want := range map[string]float64{"": 0, "0": 1139. / 2048, "0000": 4 * 1139. / 2048, "候補": 2, "🚀": 1, "e\u0301": 1139. / 2048, "ก": 0.5} {
		require.InDelta(t, 10*want, style.Width(s).Points(), 0.01, s)
	}
	require.Less(t, style.Width("AV").Points(), style.Width("A").Points()+style.Width("V").Points(), "pairs are kerned")
	require.True(t, drawable("abc Ωж é"))
	for _, s := range []string{"候", "مرشح", "עברית", "🚀", "ก"} {
		require.False(t, drawable(s), s)
	}
}

// Elements have attributes and variables. Text is escaped, is at its place, and has its
// measured width.
func TestSVGElements(t *testing.T) {
	p := page()
	lines := strings.Split(p.svg(part{height: 50, paint: func(c draw.Canvas) {
		c.StrokeLine2(draw.LineStyle{Color: p.ink, Width: 1.5, Dashes: []vg.Length{4, 3}}, 0, 0, 10, 20.125)
		c.FillPolygon(shaded(p.fail, 0.06), []vg.Point{{X: 1, Y: 2}, {X: 3, Y: 4}, {X: 5, Y: 6}})
		style := p.style(p.series[3], 8, draw.XRight, draw.YBottom)
		c.FillText(style, vg.Point{X: 50, Y: 10}, `a < b & "fill:#0A0000" `+"\u202Ec\n候補")
		style.Rotation = math.Pi / 2
		c.FillText(style, vg.Point{X: 50, Y: 10}, "up")
	}}), "\n")
	require.Equal(t, `<path d="M0,0L10,20.125" fill="none" stroke="var(--ink)" stroke-width="1.5" stroke-dasharray="4,3" />`, lines[1])
	require.Regexp(t, `^<path d="M1,2L3,4L5,6Z" fill="var\(--fail\)" fill-opacity="0.05\d+" />$`, lines[2])
	require.Regexp(t, `^<text x="-[0-9.]+" y="-[0-9.]+" transform="scale\(1, -1\)" font-size="8" fill="var\(--s4\)" textLength="[0-9.]+" lengthAdjust="spacingAndGlyphs">a &lt; b &amp; &#34;fill:#0A0000&#34; \\u\{202E\}c</text>$`, lines[3])
	require.Regexp(t, `textLength="16" lengthAdjust="spacingAndGlyphs">候補</text>$`, lines[4])
	require.Equal(t, `<g transform="rotate(90)">`, lines[5])
	require.Regexp(t, `font-size="8" fill="var\(--s4\)">up</text>$`, lines[6])
}
