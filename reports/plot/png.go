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
	"sync"

	"git.sr.ht/~sbinet/gg"
	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// encoderBuffers keeps what an encoder takes, a megabyte, from one picture to the
// next, and pictures their pixels.
type encoderBuffers struct{ sync.Pool }

// Get and Put implement png.EncoderBufferPool.
func (p *encoderBuffers) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}
func (p *encoderBuffers) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }

var (
	encoders encoderBuffers
	pixels   sync.Pool // of *image.RGBA
)

// WritePNG writes a picture that tells its text alternative in a chunk of text, and
// what stands in it for names whose letters its font lacks. It fails as WriteSVG does.
// Calls may run concurrently.
func WritePNG(w io.Writer, r model.Report, f model.Figure) error {
	t := paper()
	t.standIns = new([]string)
	title, body, err := t.figure(r, f)
	if err != nil {
		return err
	}
	img := picture(append(drawing{title}, body...))
	defer pixels.Put(img)
	alt := f.Alt
	if len(*t.standIns) > 0 {
		alt += " In the picture, " + strings.Join(*t.standIns, "; ") + "."
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &encoders}).Encode(&b, paletted(img))
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

// picture draws with vgimg, apart from how letters are fitted to pixels: gg's way
// takes as long as everything else, and makes no difference where they are upright.
func picture(d drawing) *image.RGBA {
	height := vg.Length(0)
	for _, p := range d {
		height += p.height
	}
	size := image.Rect(0, 0, int(plotWidth.Dots(pngDPI)+0.5), int(height.Dots(pngDPI)+0.5))
	img, _ := pixels.Get().(*image.RGBA)
	if img == nil || cap(img.Pix) < 4*size.Dx()*size.Dy() {
		img = image.NewRGBA(size)
	}
	img.Rect, img.Pix = size, img.Pix[:4*size.Dx()*size.Dy()]
	ctx := gg.NewContextForRGBA(img)
	ctx.SetInterpolator(xdraw.ApproxBiLinear)
	ctx.SetLineCapButt()
	ctx.InvertY()
	c := draw.New(vgimg.NewWith(vgimg.UseImageWithContext(img, ctx), vgimg.UseDPI(pngDPI)))
	for _, p := range d {
		p.paint(draw.Crop(c, 0, 0, c.Max.Y-p.height, 0))
		c.Max.Y -= p.height
	}
	return img
}

// paletted gives a picture at most 256 colours, which makes it a third as large and
// faster to write: first those of areas, then of edges. Colours that agree in five
// bits are one.
func paletted(from *image.RGBA) *image.Paletted {
	const area = 12 // pixels of one colour side by side
	out := image.NewPaletted(from.Rect, nil)
	var places [1 << 15]uint16                     // in the palette, from 1
	edges := make([]bool, len(out.Pix)/out.Stride) // the rows that have any
	for _, least := range []int{area, 1} {
		for line := range edges {
			if least < area && !edges[line] {
				continue
			}
			y := line * out.Stride
			row := from.Pix[4*y : 4*(y+out.Stride)]
			if line > 0 && bytes.Equal(row, from.Pix[4*(y-out.Stride):4*y]) { // as most are
				edges[line] = edges[line-1]
				copy(out.Pix[y:], out.Pix[y-out.Stride:y])
				continue
			}
			for i, end := 0, 0; i < out.Stride; i = end {
				c := binary.LittleEndian.Uint32(row[4*i:])
				for end++; end < out.Stride && binary.LittleEndian.Uint32(row[4*end:]) == c; {
					end++
				}
				if end-i < least {
					edges[line] = true
					continue
				}
				place := &places[c>>3&31<<10|c>>11&31<<5|c>>19&31]
				if *place == 0 {
					col := color.RGBA{uint8(c), uint8(c >> 8), uint8(c >> 16), 255}
					if len(out.Palette) < 256 {
						out.Palette = append(out.Palette, col)
					}
					*place = uint16(out.Palette.Index(col)) + 1
				}
				for k := range out.Pix[y+i : y+end] {
					out.Pix[y+i+k] = uint8(*place - 1)
				}
			}
		}
	}
	return out
}
