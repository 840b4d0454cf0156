package cmd

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsCollectLess(t *testing.T) {
	was := debug.SetGCPercent(50)
	defer debug.SetGCPercent(was)
	percent := func() int {
		now := debug.SetGCPercent(50)
		debug.SetGCPercent(now)
		return now
	}
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	for _, c := range []struct {
		name    string
		env     map[string]string
		percent int
		limit   int64
	}{
		{"by default", nil, gcPercent, memoryLimit},
		{"GOGC has the last word", map[string]string{"GOGC": "50"}, 50, math.MaxInt64},
		{"so has GOMEMLIMIT", map[string]string{"GOMEMLIMIT": "1GiB"}, 50, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
			p := &process{env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			p.collectLess()
			require.Equal(t, c.percent, percent())
			require.Equal(t, c.limit, limit())
		})
	}
}
