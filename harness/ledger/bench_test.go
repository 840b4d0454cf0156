package ledger

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"
)

// benchTurns are 20,000 turns, the widest table.
func benchTurns() []Turn { return sampleRows(4000).Turns }

func rowRate(b *testing.B, rows int) {
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// Floor: the sub-benchmark bare, parquet-go with the same columns and codec. What
// we add is the digest of the rows and the seal.
func BenchmarkWriteTurns(b *testing.B) {
	rows := benchTurns()
	b.Run("cupel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := encodeTable(tableTurns, rows)
			require.NoError(b, err)
		}
		rowRate(b, len(rows))
	})
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			bareWrite(b, rows, codec)
		}
		rowRate(b, len(rows))
	})
}

func bareWrite(b *testing.B, rows []Turn, c compress.Codec) []byte {
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[Turn](&buf, append(writerOptions(), parquet.Compression(c))...)
	_, err := w.Write(rows)
	require.NoError(b, err)
	require.NoError(b, w.Close())
	return buf.Bytes()
}

// Floor: the sub-benchmark bare, parquet-go's own reader of the same file, which
// reads null token counts as zero and checks nothing.
func BenchmarkReadTurns(b *testing.B) {
	rows := benchTurns()
	file, err := encodeTable(tableTurns, rows)
	require.NoError(b, err)
	b.Run("cupel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := decodeTable[Turn](tableTurns, file)
			require.NoError(b, err)
		}
		rowRate(b, len(rows))
	})
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := parquet.NewGenericReader[Turn](bytes.NewReader(file))
			out := make([]Turn, len(rows))
			n, err := r.Read(out)
			require.True(b, err == nil || errors.Is(err, io.EOF), err)
			require.Equal(b, len(rows), n)
		}
		rowRate(b, len(rows))
	})
}

// BenchmarkCodec is why files are zstd: see codec.
func BenchmarkCodec(b *testing.B) {
	rows := benchTurns()
	for _, c := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd} {
		b.Run("write/"+c.String(), func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = len(bareWrite(b, rows, c))
			}
			rowRate(b, len(rows))
			b.ReportMetric(float64(size)/float64(len(rows)), "bytes/row")
		})
		b.Run("read/"+c.String(), func(b *testing.B) {
			file := bareWrite(b, rows, c)
			f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
			require.NoError(b, err)
			for b.Loop() {
				_, err := appendGroup[Turn](nil, f.RowGroups()[0])
				require.NoError(b, err)
			}
			rowRate(b, len(rows))
		})
	}
}

// Floor: SHA-256 of the same number of bytes, about 0.5 µs a row with the
// processor's SHA instructions.
func BenchmarkDigest(b *testing.B) {
	rows := Rows{Turns: benchTurns()}
	b.ReportAllocs()
	for b.Loop() {
		Digest(rows)
	}
	rowRate(b, len(rows.Turns))
}

// Floor: one write system call, about 5 µs for the 15 KB of an episode of five
// turns; encoding them as JSON is the rest. With Sync the disk decides.
func BenchmarkJournalAppend(b *testing.B) {
	rec := sampleRecords(8)[7]
	for name, sync := range map[string]bool{"sync": true, "nosync": false} {
		b.Run(name, func(b *testing.B) {
			j, err := OpenJournal(b.TempDir())
			require.NoError(b, err)
			j.Sync = sync
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, j.Append(rec))
			}
			b.SetBytes(j.size / int64(b.N))
			require.NoError(b, j.Close())
		})
	}
}

// Floor: decoding the JSON of the records.
func BenchmarkReadJournal(b *testing.B) {
	dir, whole := writeJournal(b, sampleRecords(200))
	b.SetBytes(int64(len(whole)))
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := ReadJournal(dir)
		require.NoError(b, err)
	}
}
