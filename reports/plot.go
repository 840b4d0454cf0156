package reports

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"regexp"
	"strings"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes in points.
const (
	plotWidth  vg.Length = 380
	textSize   vg.Length = 10
	titleSize  vg.Length = 12
	lineHeight vg.Length = 15
	pngDPI               = 160
)

// theme is the palette of a drawing. Colours are opaque: translucent ones would
// be darkened twice by the SVG canvas.
type theme struct {
	background               color.Color // nil leaves it transparent
	ink, muted, grid, accent color.NRGBA
	pass, fail, open, second color.NRGBA
	series                   [4]color.NRGBA
	variables                []variable
}

// variable names the CSS variable that stands in for a colour on the page.
type variable struct {
	of   color.NRGBA
	name string
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// paper is for files: dark ink on white.
func paper() theme {
	return theme{
		background: color.White,
		ink:        rgb(0x1F2430), muted: rgb(0x646B7A), grid: rgb(0xE3E6EC), accent: rgb(0x3B6FB6),
		pass: rgb(0x1E7F4F), fail: rgb(0xB3342C), open: rgb(0x9A6A00), second: rgb(0xC2702A),
		series: [4]color.NRGBA{rgb(0x3B6FB6), rgb(0xC2702A), rgb(0x1E7F4F), rgb(0x8A4FA3)},
	}
}

// page is for the HTML report: transparent, and every colour a CSS variable, so
// that the page's light and dark palettes reach into the plots. The colours here
// only mark the places; no two are alike.
func page() theme {
	t := theme{
		ink: rgb(0x100001), muted: rgb(0x100002), grid: rgb(0x100003), accent: rgb(0x100004),
		pass: rgb(0x100005), fail: rgb(0x100006), open: rgb(0x100007), second: rgb(0x100008),
		series: [4]color.NRGBA{rgb(0x100009), rgb(0x10000A), rgb(0x10000B), rgb(0x10000C)},
	}
	t.variables = []variable{
		{t.ink, "--ink"}, {t.muted, "--muted"}, {t.grid, "--grid"}, {t.accent, "--accent"},
		{t.pass, "--pass"}, {t.fail, "--fail"}, {t.open, "--open"}, {t.second, "--s2"},
		{t.series[0], "--s1"}, {t.series[1], "--s2"}, {t.series[2], "--s3"}, {t.series[3], "--s4"},
	}
	return t
}

// drawing is a plot that knows its size.
type drawing struct {
	height vg.Length
	paint  func(draw.Canvas)
}

// figure draws one plot, with its title above if titled.
func (t theme) figure(r Report, f Figure, titled bool) drawing {
	var d drawing
	for _, k := range figures() {
		if k.name == f.Name {
			d = k.draw(t, r)
		}
	}
	if d.paint == nil {
		d = t.noData()
	}
	if !titled {
		return d
	}
	style := t.style(t.ink, titleSize, draw.XLeft, draw.YTop)
	style.Font.Weight = xfont.WeightBold
	title := wrap(legible(f.Title), style, plotWidth-16)
	head := style.Height(title) + 14
	body := d
	return drawing{height: body.height + head, paint: func(c draw.Canvas) {
		c.FillText(style, vg.Point{X: c.Min.X + 8, Y: c.Max.Y - 8}, title)
		body.paint(draw.Crop(c, 0, 0, 0, -head))
	}}
}

func (t theme) noData() drawing {
	return drawing{height: 90, paint: func(c draw.Canvas) {
		c.FillText(t.style(t.muted, textSize+2, draw.XCenter, draw.YCenter), c.Center(), "no data")
	}}
}

func (t theme) style(c color.Color, size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

// chart is an empty plot in the theme's style.
func (t theme) chart() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = t.style(t.muted, textSize, a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign)
		a.Tick.Label = t.style(t.muted, textSize, a.Tick.Label.XAlign, a.Tick.Label.YAlign)
		a.Label.Padding = 4
		a.LineStyle = draw.LineStyle{Color: t.grid, Width: 1}
		a.Tick.LineStyle = draw.LineStyle{Color: t.grid, Width: 1}
		a.Tick.Length = 3
		a.Padding = 0
	}
	return p
}

// painter is a plotter made of a function.
type painter func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (f painter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, x, y)
}

// wrap breaks text into lines no wider than width.
func wrap(s string, style text.Style, width vg.Length) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if longer := join(" ", line, word); line == "" || style.Width(longer) <= width {
			line = longer
			continue
		}
		lines = append(lines, line)
		line = word
	}
	return strings.Join(append(lines, line), "\n")
}

// legible replaces what the plot font cannot draw: PNG canvases drop it silently.
func legible(s string) string {
	face := font.DefaultCache.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, textSize)
	var buf sfnt.Buffer
	return strings.Map(func(r rune) rune {
		if i, err := face.Face.GlyphIndex(&buf, r); err != nil || i == 0 {
			return '?'
		}
		return r
	}, visible(s))
}

// labels are short, distinct names of candidates for axes and keys.
func labels(r Report, limit int) []string {
	seen, list := map[string]bool{}, make([]string, len(r.Candidates))
	for i, c := range r.Candidates {
		name := middle(legible(c.Name), limit)
		if seen[name] || strings.Trim(name, "?") == "" {
			name = middle(fmt.Sprintf("%d %s", i+1, name), limit)
		}
		seen[name] = true
		list[i] = name
	}
	return list
}

// middle cuts a name in the middle: names of candidates often differ at the end.
func middle(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	tail := (limit - 1) / 2
	return string(r[:limit-1-tail]) + "…" + string(r[len(r)-tail:])
}

// writeSVG and writePNG write a stand-alone file.
func writeSVG(w io.Writer, r Report, f Figure) error {
	d := paper().figure(r, f, true)
	c := vgsvg.New(plotWidth, d.height)
	paint(c, paper(), d)
	_, err := c.WriteTo(w)
	return err
}

func writePNG(w io.Writer, r Report, f Figure) error {
	d := paper().figure(r, f, true)
	c := vgimg.NewWith(vgimg.UseWH(plotWidth, d.height), vgimg.UseDPI(pngDPI))
	paint(c, paper(), d)
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func paint(c vg.CanvasSizer, t theme, d drawing) {
	dc := draw.New(c)
	if t.background != nil {
		dc.SetColor(t.background)
		dc.Fill(dc.Path())
	}
	d.paint(dc)
}

var svgHead = regexp.MustCompile(`(?s)\A.*?<svg[^>]*>`)

// inlineSVG is a plot to be placed inside an HTML page.
func inlineSVG(r Report, f Figure) (string, error) {
	t := page()
	d := t.figure(r, f, false)
	c := vgsvg.New(plotWidth, d.height)
	paint(c, t, d)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", fmt.Errorf("reports: plot %s: %w", f.Name, err)
	}
	head := fmt.Sprintf(`<svg class="plot" viewBox="0 0 %g %g" role="img" aria-label="%s">`,
		plotWidth.Points(), d.height.Points(), htmlText(f.Alt))
	s := head + svgHead.ReplaceAllString(b.String(), "")
	pairs := []string{"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal", "", "\n\t", ""}
	for _, v := range t.variables {
		pairs = append(pairs, svgColor(v.of), "var("+v.name+")")
	}
	return strings.NewReplacer(pairs...).Replace(s), nil
}

// svgColor writes a colour as the SVG canvas does, whose arithmetic may be off
// by one in a channel.
func svgColor(c color.NRGBA) string {
	r, g, b, a := c.RGBA()
	f := 255.0 / float64(a)
	return fmt.Sprintf("#%02X%02X%02X", int(float64(r)*f), int(float64(g)*f), int(float64(b)*f))
}
