package reports

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// levels of coverage are told apart at the edges of what is drawn: few enough
// that a picture's colours fit a palette, which makes it small and fast to write.
const levels = 15

// pngCanvas draws into a picture with a palette.
type pngCanvas struct {
	pen
	img     *image.Paletted
	colours map[color.NRGBA]uint8 // places in the palette
	mixed   map[mixture]uint8
	edges   shape
	raster  vector.Rasterizer
	mask    image.Alpha
	glyphs  map[glyphKey]sfnt.Segments
}

// maxMixed of the palette's 256 places may go to mixed colours: the others are for
// those that are drawn.
const maxMixed = 200

// mixture is a colour laid over another with a coverage.
type mixture struct{ under, over, level uint8 }

type glyphKey struct {
	face *typeface
	g    sfnt.GlyphIndex
}

func newPNG(width, height vg.Length) *pngCanvas {
	scale := pngDPI / 72.0
	size := image.Rect(0, 0, int(math.Round(width.Points()*scale)), int(math.Round(height.Points()*scale)))
	white := color.NRGBA{255, 255, 255, 255}
	return &pngCanvas{
		pen: newPen(width, height, scale), img: image.NewPaletted(size, color.Palette{white}),
		colours: map[color.NRGBA]uint8{white: 0}, mixed: map[mixture]uint8{}, glyphs: map[glyphKey]sfnt.Segments{},
	}
}

// writePNG writes a picture that tells its text alternative in a chunk of text.
func writePNG(w io.Writer, r Report, f Figure) error { return new(pngWriter).write(w, r, f) }

// pngWriter keeps what writing takes, a megabyte, from one picture to the next.
type pngWriter struct {
	kept *png.EncoderBuffer
	b    bytes.Buffer
}

// Get and Put implement png.EncoderBufferPool.
func (p *pngWriter) Get() *png.EncoderBuffer  { return p.kept }
func (p *pngWriter) Put(b *png.EncoderBuffer) { p.kept = b }

func (p *pngWriter) write(w io.Writer, r Report, f Figure) error {
	r, f, stands := pictured(r, f)
	d, err := paper().figure(r, f, true)
	if err != nil {
		return err
	}
	c := newPNG(plotWidth, d.height)
	d.paint(draw.New(c))
	p.b.Reset()
	err = (&png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: p}).Encode(&p.b, c.img)
	if err == nil {
		const head = 8 + 12 + 13 // the signature and the first chunk, IHDR
		told := append(pngText("Title", f.Title), pngText("Description", join(" ", f.Alt, stands))...)
		_, err = w.Write(slices.Concat(p.b.Bytes()[:head], told, p.b.Bytes()[head:]))
	}
	if err != nil {
		return fmt.Errorf("reports: plot %s: %w", f.Name, err)
	}
	return nil
}

// pngText is an iTXt chunk: PNG specification, third edition, 11.3.3.4.
func pngText(keyword, s string) []byte {
	data := []byte("iTXt" + keyword + "\x00\x00\x00\x00\x00" + strings.ToValidUTF8(visible(s), "\uFFFD"))
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	return binary.BigEndian.AppendUint32(append(chunk, data...), crc32.ChecksumIEEE(data))
}

// Fill implements vg.Canvas.
func (c *pngCanvas) Fill(path vg.Path) {
	c.edges.reset()
	c.trace(path, &c.edges)
	c.fill()
}

// Stroke implements vg.Canvas.
func (c *pngCanvas) Stroke(path vg.Path) {
	if c.line <= 0 {
		return
	}
	scale := math.Hypot(c.to.a, c.to.b)
	var lines polylines
	c.trace(path, &lines)
	c.edges.reset()
	for _, l := range lines {
		for _, piece := range dash(l, c.dashes, scale) {
			c.edges.stroke(piece, c.line.Points()*scale/2)
		}
	}
	c.fill()
}

// FillString implements vg.Canvas.
func (c *pngCanvas) FillString(f font.Face, at vg.Point, s string) { c.write(s, at, f.Font, 0) }

func (c *pngCanvas) write(s string, at vg.Point, f font.Font, align text.XAlignment) {
	face, size := typefaceOf(f), f.Size.Points()
	c.Push()
	defer c.Pop()
	c.Translate(vg.Point{X: at.X + vg.Length(float64(align)*size*face.walk(s, nil)), Y: at.Y})
	c.Scale(size/float64(face.em), size/float64(face.em))
	c.edges.reset()
	face.walk(s, func(g sfnt.GlyphIndex, _ rune, x float64) {
		if g == 0 {
			g = face.glyphs['?'] // a place that a reader can see is taken
		}
		c.letter(face, g, x*float64(face.em))
	})
	c.fill()
}

// letter adds a glyph to the edges, x units of the font from the left.
func (c *pngCanvas) letter(face *typeface, g sfnt.GlyphIndex, x float64) {
	key := glyphKey{face, g}
	segments, known := c.glyphs[key]
	if !known {
		var b sfnt.Buffer // not shared: the segments live in it
		segments, _ = face.LoadGlyph(&b, g, face.em, nil)
		c.glyphs[key] = segments
	}
	for _, s := range segments {
		var p [3]point
		for i, a := range s.Args {
			p[i] = c.to.at(vg.Point{X: vg.Length(x + float64(a.X)), Y: vg.Length(-float64(a.Y))})
		}
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			c.edges.move(p[0])
		case sfnt.SegmentOpLineTo:
			c.edges.draw(p[0])
		case sfnt.SegmentOpQuadTo:
			c.edges.quad(p[0], p[1])
		case sfnt.SegmentOpCubeTo:
			c.edges.curve(p[0], p[1], p[2])
		}
	}
}

// fill paints what the edges enclose.
func (c *pngCanvas) fill() {
	area := c.edges.bounds().Intersect(c.img.Rect)
	if area.Empty() {
		return
	}
	w, h := area.Dx(), area.Dy()
	c.raster.Reset(w, h)
	c.edges.replay(&c.raster, float64(area.Min.X), float64(area.Min.Y))
	if len(c.mask.Pix) < w*h {
		c.mask.Pix = make([]uint8, w*h)
	}
	c.mask.Stride, c.mask.Rect = w, image.Rect(0, 0, w, h)
	c.raster.DrawOp = imagedraw.Src // the mask need not be cleared
	c.raster.Draw(&c.mask, c.mask.Rect, image.Opaque, image.Point{})
	over := c.place(onWhite(c.color), 256)
	for y := range h {
		mask := c.mask.Pix[y*w : (y+1)*w]
		row := c.img.Pix[(area.Min.Y+y)*c.img.Stride+area.Min.X:][:w]
		for x, a := range mask {
			if level := (int(a)*levels + 127) / 255; level == levels {
				row[x] = over
			} else if level > 0 {
				row[x] = c.mix(mixture{row[x], over, uint8(level)})
			}
		}
	}
}

// onWhite is a colour that lets the ground shine through.
func onWhite(c color.Color) color.NRGBA {
	r, g, b, a := c.RGBA()
	on := func(v uint32) uint8 { return uint8((v + 0xFFFF - a) >> 8) }
	return color.NRGBA{on(r), on(g), on(b), 255}
}

// mix finds the place of a mixed colour in the palette.
func (c *pngCanvas) mix(m mixture) uint8 {
	if i, ok := c.mixed[m]; ok {
		return i
	}
	under, _ := c.img.Palette[m.under].(color.NRGBA)
	over, _ := c.img.Palette[m.over].(color.NRGBA)
	blend := func(a, b uint8) uint8 {
		return uint8((int(a)*(levels-int(m.level)) + int(b)*int(m.level) + levels/2) / levels)
	}
	i := c.place(color.NRGBA{blend(under.R, over.R), blend(under.G, over.G), blend(under.B, over.B), 255}, maxMixed)
	c.mixed[m] = i
	return i
}

// place finds a colour's place in the palette: the nearest's where room places are
// taken.
func (c *pngCanvas) place(col color.NRGBA, room int) uint8 {
	if i, ok := c.colours[col]; ok {
		return i
	}
	i := uint8(c.img.Palette.Index(col))
	if len(c.img.Palette) < room {
		i = uint8(len(c.img.Palette))
		c.img.Palette = append(c.img.Palette, col)
	}
	c.colours[col] = i
	return i
}
