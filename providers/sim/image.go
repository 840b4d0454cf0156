package sim

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"  // the formats that all
	_ "image/jpeg" // services take
	_ "image/png"
	"strings"
)

// picture is an image of a request: its bytes, or where it is.
type picture struct {
	media  string // as the request says it, empty if it does not
	data   []byte
	url    string
	width  int
	height int
}

// imageTokens is what every image counts as, an estimate.
const imageTokens = 85

// pictureOf decodes an image. The bytes must be those of an image, of the kind
// that the request says if it says one.
func pictureOf(media, encoded string) (picture, bool) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return picture{}, false
	}
	return decodePicture(media, data)
}

func decodePicture(media string, data []byte) (picture, bool) {
	p := picture{media: media, data: data}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" { // no decoder for it here
		p.media = "image/webp"
		return p, media == "" || media == p.media
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return picture{}, false
	}
	p.media, p.width, p.height = "image/"+format, config.Width, config.Height
	return p, media == "" || media == p.media || media == "image/jpg" && format == "jpeg"
}

// pictureAt reads a data URL or an address on the web.
func pictureAt(url string) (picture, bool) {
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		media, encoded, ok := strings.Cut(rest, ";base64,")
		if !ok {
			return picture{}, false
		}
		return pictureOf(media, encoded)
	}
	return picture{url: url}, strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
}

func (p picture) String() string {
	switch {
	case p.url != "":
		return p.url
	case p.width == 0:
		return fmt.Sprintf("%s, %d bytes", p.media, len(p.data))
	}
	return fmt.Sprintf("%s %dx%d, %d bytes", p.media, p.width, p.height, len(p.data))
}
