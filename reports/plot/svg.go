package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"sync"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// svgFonts begins with the font that text is measured with, or its twins.
const svgFonts = `Liberation Sans, Arial, Helvetica, Noto Sans, Noto Sans CJK SC, Noto Sans Arabic, Noto Sans Devanagari, Noto Color Emoji, sans-serif`

// drawn is a figure as SVG elements, whose colours are the variables of a page.
type drawn struct {
	model.Figure
	parts []drawnPart // the title first
}

type drawnPart struct {
	height   float64
	elements string
}

func drawSVG(r model.Report, f model.Figure) (drawn, error) {
	t := page()
	title, body, err := t.figure(r, f)
	if err != nil {
		return drawn{}, err
	}
	d := drawn{Figure: f}
	for _, p := range append(drawing{title}, body...) {
		d.parts = append(d.parts, drawnPart{p.height.Points(), t.svg(p)})
	}
	return d, nil
}

// Inline returns a plot to be placed inside an HTML page: an element of class "plot" with
// one or more svg elements, each 320 units wide and with text of 11 units, so that it is
// read at the width of a phone; a page shows them side by side where it has room.
func Inline(r model.Report, f model.Figure) (string, error) {
	d, err := drawSVG(r, f)
	if err != nil {
		return "", err
	}
	return d.inline(), nil
}

func (d drawn) inline() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="plot" role="img" aria-label="%s">`, words.HTML(d.Alt))
	for _, p := range d.parts[1:] {
		fmt.Fprintf(&b, "<svg viewBox=\"0 0 %s %s\" font-size=\"%s\" aria-hidden=\"true\">\n%s</svg>", short(plotWidth.Points()), short(p.height), short(textSize.Points()), p.elements)
	}
	return b.String() + "</div>"
}

// fileColours gives the variables their values in files. Only attributes have them in
// quotation marks: those of texts are escaped.
var fileColours = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, c := range palette {
		pairs = append(pairs, fmt.Sprintf(`="var(--%s)"`, c.variable), fmt.Sprintf(`="#%06X"`, c.file))
	}
	return strings.NewReplacer(pairs...)
})

// write writes a stand-alone file that contains its text alternative. Text remains text, so
// names are shown in every script that the viewer has fonts for.
func (d drawn) write(w io.Writer) error {
	var body strings.Builder
	height := 0.0
	for _, p := range d.parts {
		fmt.Fprintf(&body, "<g transform=\"translate(0, %s)\">\n%s</g>\n", short(height), p.elements)
		height += p.height
	}
	_, err := fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="title desc" font-family="%[3]s" font-size="%[4]s">
<title id="title">%[5]s</title>
<desc id="desc">%[6]s</desc>
<rect width="100%%" height="100%%" fill="#FFFFFF"/>
%[7]s</svg>
`, short(plotWidth.Points()), short(height), svgFonts, short(textSize.Points()), words.HTML(d.Title), words.HTML(d.Alt), fileColours().Replace(body.String()))
	if err != nil {
		return fmt.Errorf("reports: plot %s: %w", d.Name, err)
	}
	return nil
}

// svg is the elements of a part as vgsvg writes them, with attributes instead of
// styles, variables instead of colours, and text that takes the width it was measured
// with, whatever the viewer's font.
func (t theme) svg(p part) string {
	c := vgsvg.New(plotWidth, p.height)
	p.paint(draw.New(c))
	var b bytes.Buffer
	_, _ = c.WriteTo(&b) // a buffer does not fail
	_, body, _ := strings.Cut(b.String(), "\n<g ")
	body = strings.ReplaceAll("<g "+strings.TrimSuffix(body, "</svg>\n"), "\n\tstyle=", " style=")
	var out strings.Builder
	for i, part := range strings.Split(body, ` style="`) {
		if i > 0 {
			var style string
			style, part, _ = strings.Cut(part, `"`)
			t.attributes(&out, style, part)
		}
		out.WriteString(part)
	}
	return out.String()
}

// attributes writes a style as attributes, apart from what the root has, and for text
// its length, unless it is too short to overlap anything.
func (t theme) attributes(out *strings.Builder, style, rest string) {
	f, isText := plotFont, false
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		red, err := strconv.ParseUint(value[min(1, len(value)):min(3, len(value))], 16, 8)
		switch {
		case name == "font-family", name == "font-variant", name == "font-style":
			isText = true
			continue
		case name == "font-weight" && value == "bold":
			f.Weight = xfont.WeightBold
		case name == "font-weight":
			continue
		case name == "font-size":
			value = strings.TrimSuffix(value, "px")
			size, _ := strconv.ParseFloat(value, 64)
			if f.Size = vg.Points(size); f.Size == textSize {
				continue
			}
		case strings.HasPrefix(value, "#") && err == nil:
			value = "var(--" + palette[red/markStep].variable + ")"
		}
		fmt.Fprintf(out, ` %s="%s"`, name, value)
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(rest, ">"), "<")
	if isText && len(text) > 4 {
		fmt.Fprintf(out, ` textLength="%s" lengthAdjust="spacingAndGlyphs"`, short(textWidth(html.UnescapeString(text), f).Points()))
	}
}

// short writes a number with at most two decimals.
func short(v float64) string { return words.Coordinate(v, 2) }
