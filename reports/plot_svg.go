package reports

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// svgFonts begins with the font that text is measured with, or its twins.
const svgFonts = `Liberation Sans, Arial, Helvetica, Noto Sans, Noto Sans CJK SC, Noto Sans Arabic, Noto Sans Devanagari, Noto Color Emoji, sans-serif`

// svgCanvas writes SVG elements. Text stays text, in whatever script: who looks
// at it has the fonts.
type svgCanvas struct {
	pen
	b     bytes.Buffer
	names map[color.NRGBA]string // of colours, such as var(--ink)
}

func newSVG(width, height vg.Length, names map[color.NRGBA]string) *svgCanvas {
	return &svgCanvas{pen: newPen(width, height, 1), names: names}
}

// writeSVG writes a stand-alone file that tells its text alternative itself.
func writeSVG(w io.Writer, r Report, f Figure) error {
	t := paper()
	d, err := t.figure(r, f, true)
	if err != nil {
		return err
	}
	c := newSVG(plotWidth, d.height, nil)
	d.paint(draw.New(c))
	head := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="title desc" font-family="%[3]s" font-size="10">
<title id="title">%[4]s</title>
<desc id="desc">%[5]s</desc>
<rect width="100%%" height="100%%" fill="#FFFFFF"/>
`, short(plotWidth.Points()), short(d.height.Points()), svgFonts, htmlText(f.Title), htmlText(f.Alt))
	if _, err := io.WriteString(w, head+c.b.String()+"</svg>\n"); err != nil {
		return fmt.Errorf("reports: plot %s: %w", f.Name, err)
	}
	return nil
}

// inlineSVG is a plot to be placed inside an HTML page.
func inlineSVG(r Report, f Figure) (string, error) {
	t := page()
	d, err := t.figure(r, f, false)
	if err != nil {
		return "", err
	}
	c := newSVG(plotWidth, d.height, t.variables)
	d.paint(draw.New(c))
	return fmt.Sprintf(`<svg class="plot" viewBox="0 0 %s %s" role="img" aria-label="%s" font-family="%s" font-size="10">`+"\n%s</svg>",
		short(plotWidth.Points()), short(d.height.Points()), htmlText(f.Alt), svgFonts, c.b.String()), nil
}

// Stroke implements vg.Canvas.
func (c *svgCanvas) Stroke(path vg.Path) {
	if c.line <= 0 {
		return
	}
	fmt.Fprintf(&c.b, `<path fill="none" stroke="%s"`, c.paint())
	if c.line != 1 {
		fmt.Fprintf(&c.b, ` stroke-width="%s"`, short(c.line.Points()))
	}
	for i, d := range c.dashes {
		c.b.WriteString([]string{` stroke-dasharray="`, ","}[min(i, 1)] + short(d.Points()))
	}
	if len(c.dashes) > 0 {
		c.b.WriteByte('"')
	}
	c.finish(path)
}

// Fill implements vg.Canvas.
func (c *svgCanvas) Fill(path vg.Path) {
	fmt.Fprintf(&c.b, `<path fill="%s"`, c.paint())
	if _, _, _, a := c.color.RGBA(); a < 0xFFFF {
		fmt.Fprintf(&c.b, ` fill-opacity="%s"`, short(float64(a)/0xFFFF))
	}
	c.finish(path)
}

func (c *svgCanvas) finish(path vg.Path) {
	c.b.WriteString(` d="`)
	c.trace(path, (*svgPath)(&c.b))
	c.b.WriteString("\"/>\n")
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, s string) { c.write(s, at, f.Font, 0) }

func (c *svgCanvas) write(s string, at vg.Point, f font.Font, align text.XAlignment) {
	p := c.to.at(at)
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" fill="%s"`, short(p.x), short(p.y), c.paint())
	if f.Size != textSize {
		fmt.Fprintf(&c.b, ` font-size="%s"`, short(f.Size.Points()))
	}
	if f.Weight == xfont.WeightBold {
		c.b.WriteString(` font-weight="bold"`)
	}
	switch align {
	case draw.XCenter:
		c.b.WriteString(` text-anchor="middle"`)
	case draw.XRight:
		c.b.WriteString(` text-anchor="end"`)
	}
	if turn := math.Atan2(c.to.b, c.to.a); turn != 0 {
		fmt.Fprintf(&c.b, ` transform="rotate(%s %s %s)"`, short(turn*180/math.Pi), short(p.x), short(p.y))
	}
	fmt.Fprintf(&c.b, ">%s</text>\n", html.EscapeString(visible(s)))
}

// paint names the colour of the pen.
func (c *svgCanvas) paint() string {
	col := opaque(c.color)
	if name, ok := c.names[col]; ok {
		return name
	}
	return fmt.Sprintf("#%02X%02X%02X", col.R, col.G, col.B)
}

func opaque(c color.Color) color.NRGBA {
	col, _ := color.NRGBAModel.Convert(c).(color.NRGBA)
	col.A = 255
	return col
}

// short writes a number with at most two decimals.
func short(v float64) string { return trimmed(v, 2) }

// svgPath writes the data of a path.
type svgPath bytes.Buffer

func (b *svgPath) move(p point)        { b.add('M', p) }
func (b *svgPath) draw(p point)        { b.add('L', p) }
func (b *svgPath) curve(p, q, r point) { b.add('C', p, q, r) }
func (b *svgPath) shut()               { (*bytes.Buffer)(b).WriteByte('Z') }

func (b *svgPath) add(op byte, points ...point) {
	out := (*bytes.Buffer)(b).AvailableBuffer()
	out = append(out, op)
	for i, p := range points {
		if i > 0 {
			out = append(out, ' ')
		}
		out = appendShort(append(appendShort(out, p.x), ','), p.y)
	}
	(*bytes.Buffer)(b).Write(out)
}

func appendShort(b []byte, v float64) []byte {
	b = strconv.AppendFloat(b, v, 'f', 2, 64)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	return b
}
