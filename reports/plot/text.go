package plot

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/width"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/cupel-eval/cupel/reports/words"
)

// plotFont is the font that text is measured with, and drawn with in pictures. It
// has Latin, Greek and Cyrillic letters.
var plotFont = font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize}

// fonts has it upright and bold, and parses them on first use.
var fonts = sync.OnceValue(func() *font.Cache {
	var all font.Collection
	for _, f := range []struct {
		xfont.Weight
		ttf []byte
	}{{xfont.WeightNormal, liberationsansregular.TTF}, {xfont.WeightBold, liberationsansbold.TTF}} {
		face, err := opentype.Parse(f.ttf)
		if err != nil {
			panic(err) // the fonts are part of the program
		}
		all = append(all, font.Face{Font: font.Font{Typeface: plotFont.Typeface, Variant: plotFont.Variant, Weight: f.Weight}, Face: face})
	}
	return font.NewCache(all)
})

// textRenderer measures and places the text of plots. In a picture it writes what
// the font lacks as \u{…}; elsewhere the viewer's fonts have it.
type textRenderer struct {
	text.Plain
	picture bool
}

// Box implements text.Handler.
func (h textRenderer) Box(s string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Plain.Box("", f)
	return textWidth(h.shown(s), f), height, depth
}

// Draw implements text.Handler. Only the left end is left to Plain, which does not
// know the width of what the font lacks.
func (h textRenderer) Draw(c vg.Canvas, s string, style text.Style, at vg.Point) {
	lines := h.Lines(s)
	for i, line := range lines {
		lines[i] = h.shown(line)
	}
	sin, cos := math.Sincos(style.Rotation)
	by := vg.Length(style.XAlign) * style.Width(s)
	style.XAlign = text.XLeft
	h.Plain.Draw(c, strings.Join(lines, "\n"), style, at.Add(vg.Point{X: by * vg.Length(cos), Y: by * vg.Length(sin)}))
}

func (h textRenderer) shown(s string) string {
	s = words.Visible(s)
	if !h.picture || drawable(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if drawable(string(r)) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%X}`, r)
		}
	}
	return b.String()
}

// textWidth is the width of a line; what the font lacks takes about the width that
// it has in another.
func textWidth(s string, f font.Font) vg.Length {
	face, lacking := fonts().Lookup(f, f.Size), 0
	known := strings.Map(func(r rune) rune {
		if hasGlyph(face, r) {
			return r
		}
		lacking += wide(r)
		return -1
	}, s)
	return ems(known, face)*f.Size + 0.5*f.Size*vg.Length(lacking)
}

// widths keeps the widths of lines, in em: each is measured for a picture, a file and a
// page, and by several parts of a plot.
var widths = struct {
	sync.Mutex
	by map[lineKey]vg.Length
}{by: map[lineKey]vg.Length{}}

type lineKey struct {
	weight xfont.Weight
	text   string
}

func ems(s string, face font.Face) vg.Length {
	key := lineKey{face.Font.Weight, s}
	widths.Lock()
	defer widths.Unlock()
	w, ok := widths.by[key]
	if !ok {
		if len(widths.by) > 1<<14 { // of many reports
			clear(widths.by)
		}
		face.Font.Size = 1
		w = face.Width(s)
		widths.by[key] = w
	}
	return w
}

func hasGlyph(face font.Face, r rune) bool {
	if r <= unicode.MaxASCII {
		return true
	}
	var b sfnt.Buffer
	g, err := face.Face.GlyphIndex(&b, r)
	return err == nil && g != 0
}

// drawable says that a picture can show s as it is: its font has every letter, and
// all run from left to right.
func drawable(s string) bool {
	face := fonts().Lookup(plotFont, textSize)
	return strings.IndexFunc(s, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		c := p.Class()
		return r > unicode.MaxASCII && (c == bidi.R || c == bidi.AL || !hasGlyph(face, r))
	}) < 0
}

// columns is the width of s where a Latin letter is one wide.
func columns(s string) (n int) {
	for _, r := range s {
		n += wide(r)
	}
	return n
}

func wide(r rune) int {
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1F000, kind == width.EastAsianWide, kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
