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
	titleHeight, height vg.Length
	title, body         string
}

func drawSVG(r model.Report, f model.Figure) (drawn, error) {
	t := page()
	title, body, err := t.figure(r, f)
	if err != nil {
		return drawn{}, err
	}
	return drawn{f, title.height, body.height, t.svg(title), t.svg(body)}, nil
}

// Inline returns a plot to be placed inside an HTML page.
func Inline(r model.Report, f model.Figure) (string, error) {
	d, err := drawSVG(r, f)
	return d.inline(), err
}

func (d drawn) inline() string {
	return fmt.Sprintf(`<svg class="plot" viewBox="0 0 %s %s" role="img" aria-label="%s" font-family="%s" font-size="10">`+"\n%s</svg>",
		short(plotWidth.Points()), short(d.height.Points()), words.HTML(d.Alt), svgFonts, d.body)
}

// WriteSVG writes a stand-alone file that tells its text alternative itself. Text stays
// text, so names show in whatever script the viewer has fonts for. It fails if the
// report has no such figure, or w does. Calls may run concurrently.
func WriteSVG(w io.Writer, r model.Report, f model.Figure) error {
	d, err := drawSVG(r, f)
	if err != nil {
		return err
	}
	return d.write(w)
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

func (d drawn) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="title desc" font-family="%[3]s" font-size="10">
<title id="title">%[4]s</title>
<desc id="desc">%[5]s</desc>
<rect width="100%%" height="100%%" fill="#FFFFFF"/>
%[6]s<g transform="translate(0, %[7]s)">
%[8]s</g>
</svg>
`, short(plotWidth.Points()), short((d.titleHeight + d.height).Points()), svgFonts, words.HTML(d.Title), words.HTML(d.Alt), fileColours().Replace(d.title), short(d.titleHeight.Points()), fileColours().Replace(d.body))
	if err != nil {
		return fmt.Errorf("reports: plot %s: %w", d.Name, err)
	}
	return nil
}

// svg is a drawing's elements as vgsvg writes them, with attributes instead of
// styles, variables instead of colours, and text that takes the width it was measured
// with, whatever the viewer's font.
func (t theme) svg(d drawing) string {
	c := vgsvg.New(plotWidth, d.height)
	d.paint(draw.New(c))
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
			if f.Size = vg.Points(size); value == "10" {
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
