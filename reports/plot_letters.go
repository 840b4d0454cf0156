package reports

import (
	"strings"
	"sync"
	"unicode"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/width"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/agent/invisible"
)

// typeface is one weight of the plots' font, measured in its em.
type typeface struct {
	*sfnt.Font
	em                      fixed.Int26_6
	ascent, descent, height float64
	glyphs                  [128]sfnt.GlyphIndex // of ASCII
	advances                [128]float64
	buffers                 sync.Pool // of *sfnt.Buffer, several KB each
}

func (t *typeface) buffer() *sfnt.Buffer {
	if b, ok := t.buffers.Get().(*sfnt.Buffer); ok {
		return b
	}
	return new(sfnt.Buffer)
}

// typefaces are the regular and the bold one, measured on first use.
var typefaces = sync.OnceValue(func() [2]*typeface {
	return [2]*typeface{newTypeface(xfont.WeightNormal), newTypeface(xfont.WeightBold)}
})

func typefaceOf(f font.Font) *typeface {
	if f.Weight == xfont.WeightBold {
		return typefaces()[1]
	}
	return typefaces()[0]
}

func newTypeface(weight xfont.Weight) *typeface {
	f := font.DefaultCache.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, textSize)
	e := f.Extents()
	t := &typeface{
		Font: f.Face, em: fixed.Int26_6(f.Face.UnitsPerEm()),
		ascent: float64(e.Ascent / textSize), descent: float64(e.Descent / textSize), height: float64(e.Height / textSize),
	}
	var b sfnt.Buffer
	for r := range rune(128) {
		t.glyphs[r], t.advances[r] = t.lookup(&b, r)
	}
	return t
}

// letter finds a rune's glyph, 0 where the font has none, and its advance: then
// an estimate of what another font takes.
func (t *typeface) letter(b *sfnt.Buffer, r rune) (sfnt.GlyphIndex, float64) {
	if r < 128 {
		return t.glyphs[r], t.advances[r]
	}
	return t.lookup(b, r)
}

func (t *typeface) lookup(b *sfnt.Buffer, r rune) (sfnt.GlyphIndex, float64) {
	if i, err := t.GlyphIndex(b, r); err == nil && i != 0 {
		if a, err := t.GlyphAdvance(b, i, t.em, xfont.HintingNone); err == nil {
			return i, float64(a) / float64(t.em)
		}
	}
	switch kind := width.LookupRune(r).Kind(); {
	case invisible.Rune(r) || unicode.In(r, unicode.Mn, unicode.Me):
		return 0, 0
	case r >= 0x1F000:
		return 0, 1.3 // pictures are wider than they are high
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 0, 1
	}
	return 0, 0.6
}

// walk calls each for every letter of a line, at its place from the left; it
// returns the width of the line.
func (t *typeface) walk(s string, each func(g sfnt.GlyphIndex, r rune, x float64)) float64 {
	b := t.buffer()
	defer t.buffers.Put(b)
	x, last := 0.0, sfnt.GlyphIndex(0)
	for _, r := range s {
		g, advance := t.letter(b, r)
		if last != 0 && g != 0 {
			if k, err := t.Kern(b, last, g, t.em, xfont.HintingNone); err == nil {
				x += float64(k) / float64(t.em)
			}
		}
		if each != nil {
			each(g, r, x)
		}
		x, last = x+advance, g
	}
	return x
}

// lettering measures and writes the text of plots.
type lettering struct{}

// Cache and what follows implement text.Handler.
func (lettering) Cache() *font.Cache { return font.DefaultCache }

// Extents are those of the font, whatever is written.
func (lettering) Extents(f font.Font) font.Extents {
	t := typefaceOf(f)
	return font.Extents{Ascent: f.Size * vg.Length(t.ascent), Descent: f.Size * vg.Length(t.descent), Height: f.Size * vg.Length(t.height)}
}

func (lettering) Lines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

func (lettering) Box(s string, f font.Font) (vg.Length, vg.Length, vg.Length) {
	t := typefaceOf(f)
	return f.Size * vg.Length(t.walk(s, nil)), f.Size * vg.Length(t.ascent), f.Size * vg.Length(t.descent)
}

func (l lettering) Draw(c vg.Canvas, s string, style text.Style, at vg.Point) {
	to := scribeOf(c)
	c.SetColor(style.Color)
	c.Push()
	defer c.Pop()
	c.Translate(at)
	c.Rotate(style.Rotation)
	lines := l.Lines(s)
	top := style.Height(s)*vg.Length(style.YAlign) - style.FontExtents().Ascent
	for i, line := range lines {
		y := top + vg.Length(len(lines)-i)*style.Font.Size
		to.write(line, vg.Point{Y: y}, style.Font, style.XAlign)
	}
}

// scribeOf finds the canvas that parts of it were cut from.
func scribeOf(c vg.Canvas) scribe {
	for {
		switch part := c.(type) {
		case *draw.Canvas:
			c = part.Canvas
		case draw.Canvas:
			c = part.Canvas
		default:
			s, _ := c.(scribe)
			return s
		}
	}
}

// drawable says that a picture can show s as it is: its font has every letter, and
// all run from left to right.
func drawable(s string) bool {
	t := typefaces()[0]
	for _, r := range s {
		if r < 128 {
			continue
		}
		p, _ := bidi.LookupRune(r)
		if c := p.Class(); c == bidi.R || c == bidi.AL {
			return false
		}
		b := t.buffer()
		g, _ := t.letter(b, r)
		t.buffers.Put(b)
		if g == 0 {
			return false
		}
	}
	return true
}
