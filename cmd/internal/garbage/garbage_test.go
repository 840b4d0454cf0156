package garbage

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// settings returns GOGC and GOMEMLIMIT as they are now.
func settings() (gcPercent int, memoryLimit int64) {
	gcPercent = debug.SetGCPercent(50)
	debug.SetGCPercent(gcPercent)
	return gcPercent, debug.SetMemoryLimit(-1)
}

func TestCollectLess(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	for _, env := range []string{"GOGC", "GOMEMLIMIT"} { // have the last word
		collectLess(func(name string) (string, bool) { return "50", name == env })
		got, most := settings()
		require.Equal(t, 50, got, env)
		require.Equal(t, int64(math.MaxInt64), most, env)
	}
	collectLess(func(string) (string, bool) { return "", false })
	got, most := settings()
	require.Equal(t, -1, got)
	require.Equal(t, int64(firstAt), most)
	require.Eventually(t, func() bool {
		runtime.GC() // the first
		got, most = settings()
		return got == percent && most == least
	}, time.Minute, time.Millisecond)
	much := make([]byte, least)
	require.Eventually(t, func() bool {
		runtime.GC()
		_, most = settings()
		return most >= least*3/2
	}, time.Minute, time.Millisecond, "the limit grows with what is in use")
	runtime.KeepAlive(much)
	require.Eventually(t, func() bool {
		runtime.GC()
		_, most = settings()
		return most == least
	}, time.Minute, time.Millisecond)
}
