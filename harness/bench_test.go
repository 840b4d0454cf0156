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
	for _, name := range []string{"rows", "ledger", "pack"} {
		b.Run(name, func(b *testing.B) {
			o := countsOptions(b)
			if name == "pack" { // rows, from a pack instead of YAML
				o.Cassettes = countsPack(b)
			}
			b.ReportAllocs()
			turns := 0
			for b.Loop() {
				if name == "ledger" {
					o.Runs = b.TempDir()
				}
				res, err := harness.Run(context.Background(), o)
				require.NoError(b, err)
				turns += res.Manifest.Turns
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// BenchmarkOverhead runs the scripted tasks: no provider, no cassette, tools
// that only look up a table. What is left is cupel's own cost of a turn: plan,
// machine, prompt, judgement, rows and checks. The floor is BenchmarkStep in
// package agent, which is the machine alone.
func BenchmarkOverhead(b *testing.B) {
	o := countsOptions(b)
	o.Select.Candidates, o.Concurrency = []string{harness.ScriptedCandidate}, 1
	b.ReportAllocs()
	turns := 0
	for b.Loop() {
		res, err := harness.Run(context.Background(), o)
		require.NoError(b, err)
		turns += res.Manifest.Turns
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(turns), "µs/turn")
}
