// Package plot draws the plots of a report, as SVG and PNG files and inside pages.
package plot

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// Sizes in points, which are pixels on a phone: text is read there, too, and a page shows
// several plots side by side where there is room.
const (
	plotWidth  vg.Length = 320
	textSize   vg.Length = 11
	titleSize  vg.Length = 13
	lineHeight vg.Length = 16
	pngDPI               = 190
)

// theme is the palette of a drawing, and how its text is written.
type theme struct {
	ink, muted, grid, accent color.NRGBA
	pass, fail, open, second color.NRGBA
	series                   [4]color.NRGBA
	// substitutes explains the substitutes for names that a picture cannot show. It is nil
	// where text is drawn with the viewer's fonts.
	substitutes *[]string
}

// palette lists the CSS variables of a page's colours, with their values in files: dark
// ink on white.
var palette = [...]struct {
	variable string
	file     uint32
}{
	{"ink", 0x1F2430}, {"muted", 0x646B7A}, {"grid", 0xE3E6EC}, {"accent", 0x3B6FB6}, {"pass", 0x1E7F4F}, {"fail", 0xB3342C}, {"open", 0x9A6A00},
	{"s1", 0x3B6FB6}, {"s2", 0xC2702A}, {"s3", 0x1E7F4F}, {"s4", 0x8A4FA3},
}

func themeOf(colour func(i int) color.NRGBA) theme {
	return theme{
		ink: colour(0), muted: colour(1), grid: colour(2), accent: colour(3), pass: colour(4), fail: colour(5), open: colour(6), second: colour(8),
		series: [4]color.NRGBA{colour(7), colour(8), colour(9), colour(10)},
	}
}

// paper is for pictures: the colours of files.
func paper() theme {
	return themeOf(func(i int) color.NRGBA {
		hex := palette[i].file
		return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
	})
}

// markStep is the distance between the red values of marking colours. It is larger than the
// error that vgsvg makes when it rounds a transparent colour.
const markStep = 20

// page is for SVG. Its colours are replaced by the variables of the palette, so that plots
// follow the light and dark palettes of a page.
func page() theme {
	return themeOf(func(i int) color.NRGBA { return color.NRGBA{R: uint8(markStep*i + markStep/2), A: 255} })
}

// drawing is a plot: parts that stand below one another in files, and side by side where a
// page has room.
type drawing []part

// part is a part of a drawing, as wide as a plot.
type part struct {
	height vg.Length
	paint  func(draw.Canvas)
}

// figure draws one plot, and its title.
func (t theme) figure(r model.Report, f model.Figure) (title part, body drawing, err error) {
	all := figures()
	i := slices.IndexFunc(all, func(k figure) bool { return k.name == f.Name })
	if i < 0 {
		return title, body, fmt.Errorf("reports: no plot is named %q: the names are those of Report.Figures", f.Name)
	}
	style := t.style(t.ink, titleSize, draw.XLeft, draw.YTop)
	style.Font.Weight = xfont.WeightBold
	text := wrap(t.title(r, f.Title), style, plotWidth-16)
	return part{height: style.Height(text) + 14, paint: func(c draw.Canvas) {
		c.FillText(style, vg.Point{X: c.Min.X + 8, Y: c.Max.Y - 8}, text)
	}}, all[i].draw(t, r), nil
}

// title returns the title of a figure, with the substitutes for candidates' names.
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

func (t theme) style(c color.Color, size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	f := plotFont
	f.Size = size
	return text.Style{Color: c, Font: f, XAlign: x, YAlign: y, Handler: textRenderer{text.Plain{Fonts: fonts()}, t.substitutes != nil}}
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
