//go:build unix

package harness_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
)

// BenchmarkScale replays runs of 10 to 10,000 episodes to a folder, from YAML files and from a
// pack, through the journal to the Parquet ledger. turns/s is that of the fastest run, because the
// machine may be busy. live-MB and heap-MB are the largest memory without and with garbage. The
// lower bound is BenchmarkReplayFloor, the exchanges on one core.
func BenchmarkScale(b *testing.B) {
	for _, from := range []string{"yaml", "pack"} {
		for _, n := range []int{10, 100, 1000, 10_000} {
			b.Run(fmt.Sprint(from, "/", n), func(b *testing.B) {
				o := trialsOptions(b, n)
				if from == "pack" {
					o.Cassettes = trialsPack(b, o, n)
				}
				benchmarkRuns(b, o)
			})
		}
	}
}

// benchmarkRuns runs o repeatedly, each time to a new folder.
func benchmarkRuns(b *testing.B, o harness.Options) {
	b.ReportAllocs()
	turns, best := 0, time.Duration(1<<62)
	heap := watchHeap()
	cpu := cpuTime(b)
	for b.Loop() {
		b.StopTimer()
		o.Runs = b.TempDir()
		b.StartTimer()
		start := time.Now()
		res, err := harness.Run(context.Background(), o)
		require.NoError(b, err)
		require.Equal(b, "complete", res.Manifest.Status)
		best = min(best, time.Since(start))
		turns = res.Manifest.Turns
	}
	cpu = cpuTime(b) - cpu
	live, all := heap()
	b.ReportMetric(float64(turns)/best.Seconds(), "turns/s")
	b.ReportMetric(float64(cpu.Nanoseconds())/1e3/float64(turns*b.N), "µs-CPU/turn")
	b.ReportMetric(float64(live)/1e6, "live-MB")
	b.ReportMetric(float64(all)/1e6, "heap-MB")
}

// cpuTime returns the processor time of the process on all cores.
func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
