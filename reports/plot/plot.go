// Package plot draws the plots of a report, as SVG and PNG files and inside pages.
package plot

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// Sizes in points.
const (
	plotWidth  vg.Length = 380
	textSize   vg.Length = 10
	titleSize  vg.Length = 12
	lineHeight vg.Length = 15
	pngDPI               = 160
)

// theme is the palette of a drawing, and how its text is written.
type theme struct {
	ink, muted, grid, accent color.NRGBA
	pass, fail, open, second color.NRGBA
	series                   [4]color.NRGBA
	variables                []string // CSS variables that stand in for the colours of mark
	// standIns collects what stands for names that a picture cannot show; nil where
	// text is drawn with the viewer's fonts.
	standIns *[]string
}

// paper is for files: dark ink on white.
func paper() theme {
	rgb := func(hex uint32) color.NRGBA {
		return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
	}
	return theme{
		ink: rgb(0x1F2430), muted: rgb(0x646B7A), grid: rgb(0xE3E6EC), accent: rgb(0x3B6FB6),
		pass: rgb(0x1E7F4F), fail: rgb(0xB3342C), open: rgb(0x9A6A00), second: rgb(0xC2702A),
		series: [4]color.NRGBA{rgb(0x3B6FB6), rgb(0xC2702A), rgb(0x1E7F4F), rgb(0x8A4FA3)},
	}
}

// markStep is how far the marking colours are apart, so that a mark is known by its
// red even after vgsvg rounded a transparent one.
const markStep = 20

// page is for the HTML report: transparent, and every colour a CSS variable, so
// that the page's light and dark palettes reach into the plots. The colours here
// only mark the places.
func page() theme {
	mark := func(i int) color.NRGBA { return color.NRGBA{R: uint8(markStep*i + markStep/2), A: 255} }
	return theme{
		ink: mark(0), muted: mark(1), grid: mark(2), accent: mark(3), pass: mark(4), fail: mark(5), open: mark(6), second: mark(8),
		series:    [4]color.NRGBA{mark(7), mark(8), mark(9), mark(10)},
		variables: []string{"ink", "muted", "grid", "accent", "pass", "fail", "open", "s1", "s2", "s3", "s4"},
	}
}

// drawing is a plot that knows its size.
type drawing struct {
	height vg.Length
	paint  func(draw.Canvas)
}

// figure draws one plot, with its title above if titled.
func (t theme) figure(r model.Report, f model.Figure, titled bool) (drawing, error) {
	all := figures()
	i := slices.IndexFunc(all, func(k figure) bool { return k.name == f.Name })
	if i < 0 {
		return drawing{}, fmt.Errorf("reports: no plot is named %q: the names are those of Report.Figures", f.Name)
	}
	d := all[i].draw(t, r)
	if d.paint == nil {
		d = t.says("no data")
	}
	if !titled {
		return d, nil
	}
	style := t.style(t.ink, titleSize, draw.XLeft, draw.YTop)
	style.Font.Weight = xfont.WeightBold
	title := wrap(t.title(r, f.Title), style, plotWidth-16)
	head := style.Height(title) + 14
	body := d
	return drawing{height: body.height + head, paint: func(c draw.Canvas) {
		c.FillText(style, vg.Point{X: c.Min.X + 8, Y: c.Max.Y - 8}, title)
		body.paint(draw.Crop(c, 0, 0, 0, -head))
	}}, nil
}

// title is a figure's title, with what stands in a picture for candidates' names.
func (t theme) title(r model.Report, title string) string {
	var pairs []string
	shown := t.labels(r, 24)
	for i, name := range labels(r, 24) {
		if name != shown[i] {
			pairs = append(pairs, name, shown[i])
		}
	}
	return strings.NewReplacer(pairs...).Replace(title)
}

// says is a drawing of a word or two.
func (t theme) says(words string) drawing {
	return drawing{height: 90, paint: func(c draw.Canvas) {
		c.FillText(t.style(t.muted, textSize+2, draw.XCenter, draw.YCenter), c.Center(), words)
	}}
}

func (t theme) style(c color.Color, size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	f := plotFont
	f.Size = size
	return text.Style{Color: c, Font: f, XAlign: x, YAlign: y, Handler: textRenderer{text.Plain{Fonts: font.DefaultCache}, t.standIns != nil}}
}

// wrap breaks text into lines no wider than width.
func wrap(s string, style text.Style, width vg.Length) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if longer := words.Join(" ", line, word); line == "" || style.Width(longer) <= width {
			line = longer
			continue
		}
		lines = append(lines, line)
		line = word
	}
	return strings.Join(append(lines, line), "\n")
}
