package ledger

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// codec is zstd: against snappy a turn takes 164 instead of 206 bytes, writing is
// 14 % slower (285,000 rows/s) and reading no slower (BenchmarkCodec). Ledgers
// are kept and uploaded by CI; writing them is not what a run waits for.
var codec compress.Codec = &pageCodec{}

// pageCodec is parquet-go's zstd with a window of a page's size. With its default
// of 8 MB every encoder holds 16 MB, and walks through them page after page.
type pageCodec struct{ parquetzstd.Codec }

const pageWindow = 256 << 10

// compressor serves concurrent pages, as many at once as there are processors.
var compressor = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithWindowSize(pageWindow), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
})

// Encode implements compress.Codec.
func (c *pageCodec) Encode(dst, src []byte) ([]byte, error) {
	e, err := compressor()
	if err != nil {
		return nil, err
	}
	return e.EncodeAll(src, dst[:0]), nil
}
