package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"
)

// benchTurns returns 20,000 turns, the table with the most columns.
func benchTurns() []Turn { return sampleRows(4000).Turns }

func rowRate(b *testing.B, rows int) {
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// The target is the metric bare-rows/s: parquet-go with the same columns and row groups and its
// default zstd. The two alternate, because the machine may be busy; ratio compares the fastest of
// each. cupel adds the digest of the rows and the checksum of the file.
func BenchmarkWriteTurns(b *testing.B) {
	rows := benchTurns()
	ours, bare := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		_, err := encodeTable(tableTurns, rows)
		require.NoError(b, err)
		ours = min(ours, time.Since(start))
		b.StopTimer()
		start = time.Now()
		bareWrite(b, rows, &parquet.Zstd)
		bare = min(bare, time.Since(start))
		b.StartTimer()
	}
	rate := func(d time.Duration) float64 { return float64(len(rows)) / d.Seconds() }
	b.ReportMetric(rate(ours), "rows/s")
	b.ReportMetric(rate(bare), "bare-rows/s")
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
}

// BenchmarkWriter shows that rate and memory do not depend on the length of a run.
func BenchmarkWriter(b *testing.B) {
	run := newEndless()
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			dir, rows := b.TempDir(), 0
			var peak uint64
			for b.Loop() {
				var totals manifest.Totals
				peak = max(peak, peakHeap(func(look func()) {
					totals = run.write(b, dir, n, func(i int) {
						if i%(n/4) == n/8 {
							b.StopTimer()
							look()
							b.StartTimer()
						}
					})
				}))
				rows = totals.Episodes + totals.Turns + totals.ToolCalls
			}
			rowRate(b, rows)
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
		})
	}
}

// The target is BenchmarkReadTurns, which does not join tables.
func BenchmarkScan(b *testing.B) {
	run := newEndless()
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			run.write(b, dir, n, func(int) {})
			b.ReportAllocs()
			var peak uint64
			for b.Loop() {
				i := 0
				peak = max(peak, peakHeap(func(look func()) {
					for _, err := range Scan(dir) {
						if err != nil {
							b.Fatal(err)
						}
						if i++; i%(n/4) == n/8 {
							b.StopTimer()
							look()
							b.StartTimer()
						}
					}
				}))
			}
			rowRate(b, 11*n)
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
		})
	}
}

func bareWrite(b *testing.B, rows []Turn, c compress.Codec) []byte {
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[Turn](&buf, append(writerOptions(), parquet.Compression(c))...)
	_, err := w.Write(rows)
	require.NoError(b, err)
	require.NoError(b, w.Close())
	return buf.Bytes()
}

// The target is the sub-benchmark bare: parquet-go's reader of the same file, which reads null
// token counts as zero and checks nothing.
func BenchmarkReadTurns(b *testing.B) {
	rows := benchTurns()
	file, err := encodeTable(tableTurns, rows)
	require.NoError(b, err)
	b.Run("cupel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := decodeFile[Turn](tableTurns, file)
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

func readRows(b *testing.B, file []byte) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(b, err)
	buf := make([]parquet.Row, batchRows)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for err = nil; err == nil; {
			_, err = rows.ReadRows(buf)
		}
		require.ErrorIs(b, err, io.EOF)
		require.NoError(b, rows.Close())
	}
}

// BenchmarkCodec compares compressions: see codec.
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
			for b.Loop() {
				readRows(b, file)
			}
			rowRate(b, len(rows))
		})
	}
}

// The target is SHA-256 of the same number of bytes, about 0.5 µs per row with the processor's
// SHA instructions.
func BenchmarkDigest(b *testing.B) {
	rows := Rows{Turns: benchTurns()}
	b.ReportAllocs()
	for b.Loop() {
		rows.Digest()
	}
	rowRate(b, len(rows.Turns))
}

// The target is a checksum and a copy of the 3.2 KB of an episode of five turns, about 1 µs. With
// Sync the disk decides; 64 goroutines share its syncs.
func BenchmarkJournalAppend(b *testing.B) {
	rec := sampleRecords(8)[7]
	for _, bb := range []struct {
		name    string
		sync    bool
		writers int
	}{{"nosync", false, 1}, {"sync", true, 1}, {"sync-64", true, 64}} {
		b.Run(bb.name, func(b *testing.B) {
			j, err := OpenJournal(b.TempDir(), nil)
			require.NoError(b, err)
			j.Sync = bb.sync
			b.ReportAllocs()
			b.SetParallelism(max(1, bb.writers/runtime.GOMAXPROCS(0)))
			if bb.writers == 1 {
				for b.Loop() {
					_, err := j.Append(rec)
					require.NoError(b, err)
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := j.Append(rec); err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.SetBytes(j.end / int64(b.N))
			require.NoError(b, j.Close())
		})
	}
}

// The target is reading the file and verifying its checksums.
func BenchmarkOpenJournal(b *testing.B) {
	recs := sampleRecords(200)
	dir, whole := writeJournal(b, recs)
	b.SetBytes(int64(len(whole)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := readJournal(dir)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(recs)), "µs/episode")
}
