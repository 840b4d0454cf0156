//go:build unix

package interp

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cpu is the processor time that this process has used.
func cpu(t testing.TB) time.Duration {
	var r syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkRun is measured against the floor of 5 ms for ten nodes and 1,000 items. Its
// processor time is what counts where others use the machine, too.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g, trigger, env := ten(b), orders(n), environment(b)
			b.ReportAllocs()
			begin := cpu(b)
			for b.Loop() {
				if r := Run(g, trigger, env); r.Error != nil {
					b.Fatal(r.Error)
				}
			}
			b.ReportMetric(float64((cpu(b)-begin).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
