package plot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"

	"git.sr.ht/~sbinet/gg"
	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// WritePNG writes a picture that tells its text alternative in a chunk of text.
func WritePNG(w io.Writer, r model.Report, f model.Figure) error {
	t := paper()
	t.standIns = new([]string)
	d, err := t.figure(r, f, true)
	if err != nil {
		return err
	}
	c := newCanvas(d.height)
	d.paint(draw.New(c))
	alt := f.Alt
	if len(*t.standIns) > 0 {
		alt += " In the picture, " + strings.Join(*t.standIns, "; ") + "."
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, paletted(c.Image()))
	if err == nil {
		const head = 8 + 12 + 13 // the signature and the first chunk, IHDR
		told := append(pngText("Title", f.Title), pngText("Description", alt)...)
		_, err = w.Write(slices.Concat(b.Bytes()[:head], told, b.Bytes()[head:]))
	}
	if err != nil {
		return fmt.Errorf("reports: plot %s: %w", f.Name, err)
	}
	return nil
}

// pngText is an iTXt chunk: PNG specification, third edition, 11.3.3.4.
func pngText(keyword, s string) []byte {
	data := []byte("iTXt" + keyword + "\x00\x00\x00\x00\x00" + strings.ToValidUTF8(words.Visible(s), "\uFFFD"))
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	return binary.BigEndian.AppendUint32(append(chunk, data...), crc32.ChecksumIEEE(data))
}

// newCanvas is vgimg's own, apart from how it fits letters to pixels: that takes as
// long as everything else, and makes no difference where they are upright.
func newCanvas(height vg.Length) *vgimg.Canvas {
	img := image.NewRGBA(image.Rect(0, 0, int(plotWidth.Dots(pngDPI)+0.5), int(height.Dots(pngDPI)+0.5)))
	ctx := gg.NewContextForRGBA(img)
	ctx.SetInterpolator(xdraw.ApproxBiLinear)
	ctx.SetLineCapButt()
	ctx.InvertY()
	return vgimg.NewWith(vgimg.UseImageWithContext(img, ctx), vgimg.UseDPI(pngDPI))
}

// paletted gives a picture at most 256 colours, which makes it a third as large and
// faster to write: first those of areas, then of edges. Colours that agree in five
// bits are one.
func paletted(img image.Image) *image.Paletted {
	const area = 12 // pixels of one colour side by side
	from, _ := img.(*image.RGBA)
	out := image.NewPaletted(from.Rect, nil)
	var places [1 << 15]uint16 // in the palette, from 1
	for _, least := range []int{area, 0} {
		run, last, place := 0, uint32(0), uint16(0)
		for i := range out.Pix {
			c := binary.LittleEndian.Uint32(from.Pix[4*i:])
			if run++; c != last {
				run, last, place = 0, c, 0
			}
			if place == 0 && run >= least {
				at := &places[c>>3&31<<10|c>>11&31<<5|c>>19&31]
				if *at == 0 {
					col := color.RGBA{uint8(c), uint8(c >> 8), uint8(c >> 16), 255}
					if len(out.Palette) < 256 {
						out.Palette = append(out.Palette, col)
					}
					*at = uint16(out.Palette.Index(col)) + 1
				}
				place = *at
			}
			out.Pix[i] = uint8(place - 1)
		}
	}
	return out
}
