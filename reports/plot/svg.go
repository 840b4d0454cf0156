package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// svgFonts begins with the font that text is measured with, or its twins.
const svgFonts = `Liberation Sans, Arial, Helvetica, Noto Sans, Noto Sans CJK SC, Noto Sans Arabic, Noto Sans Devanagari, Noto Color Emoji, sans-serif`

// WriteSVG writes a stand-alone file that tells its text alternative itself. Text stays
// text, so names show in whatever script the viewer has fonts for. It fails if the
// report has no such figure, or w does. Calls may run concurrently.
func WriteSVG(w io.Writer, r model.Report, f model.Figure) error {
	t := paper()
	d, err := t.figure(r, f, true)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" role="img" aria-labelledby="title desc" font-family="%[3]s" font-size="10">
<title id="title">%[4]s</title>
<desc id="desc">%[5]s</desc>
<rect width="100%%" height="100%%" fill="#FFFFFF"/>
%[6]s</svg>
`, short(plotWidth.Points()), short(d.height.Points()), svgFonts, words.HTML(f.Title), words.HTML(f.Alt), t.svg(d))
	if err != nil {
		return fmt.Errorf("reports: plot %s: %w", f.Name, err)
	}
	return nil
}

// Inline is a plot to be placed inside an HTML page.
func Inline(r model.Report, f model.Figure) (string, error) {
	t := page()
	d, err := t.figure(r, f, false)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`<svg class="plot" viewBox="0 0 %s %s" role="img" aria-label="%s" font-family="%s" font-size="10">`+"\n%s</svg>",
		short(plotWidth.Points()), short(d.height.Points()), words.HTML(f.Alt), svgFonts, t.svg(d)), nil
}

var (
	svgText  = regexp.MustCompile(`\n\tstyle="font-family:[^"]*;font-weight:(\w+);[^"]*;font-size:([0-9.]+)px([^"]*)">([^<]*)<`)
	svgStyle = regexp.MustCompile(`style="([^"]*)"`)
)

// svg is a drawing's elements as vgsvg writes them, with attributes instead of
// styles, variables instead of a page's colours, and text that takes the width it
// was measured with, whatever the viewer's font.
func (t theme) svg(d drawing) string {
	c := vgsvg.New(plotWidth, d.height)
	d.paint(draw.New(c))
	var b bytes.Buffer
	_, _ = c.WriteTo(&b) // a buffer does not fail
	_, body, _ := strings.Cut(b.String(), "\n<g ")
	body = svgText.ReplaceAllStringFunc("<g "+strings.TrimSuffix(body, "</svg>\n"), func(s string) string {
		m := svgText.FindStringSubmatch(s)
		f := plotFont
		if m[1] == "bold" {
			f.Weight = xfont.WeightBold
		}
		size, _ := strconv.ParseFloat(m[2], 64)
		f.Size = vg.Points(size)
		length := ""
		if len(m[4]) > 4 { // too short to overlap anything
			length = fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, short(textWidth(html.UnescapeString(m[4]), f).Points()))
		}
		return fmt.Sprintf(` style="font-weight:%s;font-size:%s%s"%s>%s<`, m[1], m[2], m[3], length, m[4])
	})
	body = svgStyle.ReplaceAllStringFunc(body, func(s string) string {
		var attributes []string
		for declaration := range strings.SplitSeq(svgStyle.FindStringSubmatch(s)[1], ";") {
			name, value, _ := strings.Cut(declaration, ":")
			if red, err := strconv.ParseUint(value[1:min(3, len(value))], 16, 8); value[0] == '#' && err == nil && t.variables != nil {
				value = "var(--" + t.variables[red/markStep] + ")"
			}
			attributes = append(attributes, name+`="`+value+`"`)
		}
		return strings.Join(attributes, " ")
	})
	return strings.NewReplacer(` font-weight="normal"`, "", ` font-size="10"`, "").Replace(body) // as the root has them
}

// short writes a number with at most two decimals.
func short(v float64) string { return words.Trimmed(v, 2) }
