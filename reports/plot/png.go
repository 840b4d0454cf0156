package plot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// writePNG writes a picture. A text chunk contains its text alternative and explains the
// substitutes for names whose letters its font lacks.
func writePNG(w io.Writer, r model.Report, f model.Figure) error {
	t := paper()
	t.substitutes = new([]string)
	title, body, err := t.figure(r, f)
	if err != nil {
		return err
	}
	img := picture(append(drawing{title}, body...))
	alt := f.Alt
	if len(*t.substitutes) > 0 {
		alt += " In the picture, " + strings.Join(*t.substitutes, "; ") + "."
	}
	var b bytes.Buffer
	if _, err = img.WriteTo(&b); err == nil {
		const head = 8 + 12 + 13 // the signature and the first chunk, IHDR
		metadata := append(pngText("Title", f.Title), pngText("Description", alt)...)
		_, err = w.Write(slices.Concat(b.Bytes()[:head], metadata, b.Bytes()[head:]))
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

func picture(d drawing) vgimg.PngCanvas {
	height := vg.Length(0)
	for _, p := range d {
		height += p.height
	}
	img := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(plotWidth, height), vgimg.UseDPI(pngDPI))}
	c := draw.New(img)
	for _, p := range d {
		p.paint(draw.Crop(c, 0, 0, c.Max.Y-p.height, 0))
		c.Max.Y -= p.height
	}
	return img
}
