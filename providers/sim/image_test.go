package sim

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPicturesAreReallyDecoded(t *testing.T) {
	gif := []byte("GIF89a\x07\x00\x05\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b")
	webp := []byte("RIFF\x00\x00\x00\x00WEBPVP8 ")
	for _, c := range []struct {
		name, media string
		data        []byte
		want        string // empty if the data is not an image
	}{
		{"png", "image/png", testPNG(t, 2, 3).data, "image/png 2x3, "},
		{"jpeg", "image/jpeg", testJPEG(t, 4, 5).data, "image/jpeg 4x5, "},
		{"jpeg by its other name", "image/jpg", testJPEG(t, 4, 5).data, "image/jpeg 4x5, "},
		{"gif", "image/gif", gif, "image/gif 7x5, 35 bytes"},
		{"webp, which is not looked into", "image/webp", webp, "image/webp, 16 bytes"},
		{"no kind given", "", testPNG(t, 1, 1).data, "image/png 1x1, "},
		{"another kind than given", "image/png", gif, ""},
		{"webp as png", "image/png", webp, ""},
		{"cut in the header", "image/png", testPNG(t, 2, 3).data[:20], ""},
		{"empty", "image/png", nil, ""},
		{"text", "image/png", []byte("hello"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := pictureOf(c.media, base64.StdEncoding.EncodeToString(c.data))
			require.Equal(t, c.want != "", ok)
			if ok {
				require.Contains(t, p.String()+", ", c.want)
			}
		})
	}
	_, ok := pictureOf("image/png", "!!!")
	require.False(t, ok, "no base64")
}

func TestPictureAddresses(t *testing.T) {
	small := testPNG(t, 1, 1)
	for url, want := range map[string]bool{
		"https://example.com/a.png": true, "http://example.com/a": true, dataURL(small): true,
		"ftp://example.com/a": false, "a.png": false, "": false, "data:image/png,abc": false, "data:image/gif;base64," + dataURL(small)[len("data:image/png;base64,"):]: false,
	} {
		p, ok := pictureAt(url)
		require.Equal(t, want, ok, url)
		if ok && p.url == "" {
			require.Equal(t, 1, p.width)
		}
	}
}
