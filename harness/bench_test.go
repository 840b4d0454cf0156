package harness_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
)

// BenchmarkReplay replays the built-in suite end to end: load cassettes, run the
// agent, score, journal and write the ledger. The floor is loading the same
// cassettes (BenchmarkLoad in package recorder).
func BenchmarkReplay(b *testing.B) {
	for _, written := range []bool{false, true} {
		name := "rows"
		if written {
			name = "ledger"
		}
		b.Run(name, func(b *testing.B) {
			o := countsOptions(b)
			b.ReportAllocs()
			turns := 0
			for b.Loop() {
				if written {
					o.Runs = b.TempDir()
				}
				res, err := harness.Run(context.Background(), o)
				require.NoError(b, err)
				turns += len(res.Rows.Turns)
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}
