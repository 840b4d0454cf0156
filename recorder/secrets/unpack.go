package secrets

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
)

// maxUnpacked bounds a body without its content encoding, in bytes.
const maxUnpacked = 64 << 20

// unpacked returns a body without its content encoding. It returns false if that cannot be
// decoded, so that the body cannot be searched.
func unpacked(h http.Header, body string) (string, bool) {
	codings := strings.Split(strings.Join(h.Values("Content-Encoding"), ","), ",")
	for i := len(codings) - 1; i >= 0; i-- {
		var from io.Reader
		var err error
		switch in := strings.NewReader(body); strings.ToLower(strings.TrimSpace(codings[i])) {
		case "", "identity":
			continue
		case "gzip", "x-gzip":
			from, err = gzip.NewReader(in)
		case "deflate":
			if from, err = zlib.NewReader(in); err != nil {
				from, err = flate.NewReader(strings.NewReader(body)), nil
			}
		default:
			return body, body == ""
		}
		if err != nil {
			return body, true // it is not encoded, so search it unchanged
		}
		plain, err := io.ReadAll(io.LimitReader(from, maxUnpacked+1))
		if len(plain) > maxUnpacked {
			return body, false
		}
		if body = string(plain); err != nil {
			return body, true // truncated; search the part that could be read
		}
	}
	return body, true
}
