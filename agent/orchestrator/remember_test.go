package orchestrator

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/tool"
)

// TestMemoryBounds: what is at a bound stays, of four bytes a token; one byte more is condensed. By
// the rule, the newer half of the observations is left.
func TestMemoryBounds(t *testing.T) {
	tools, err := tool.NewSet(nil)
	require.NoError(t, err)
	quote := Quote{Clean: func(s string) string { return s }}
	for _, observe := range []bool{false, true} {
		th := New(limits.Bounds{Memory: limits.Memory{Observe: observe}}, tools, quote, time.Now)
		require.False(t, th.TooLong(120_000), "30,000 tokens")
		require.True(t, th.TooLong(120_001))
		line := "09:00 " + strings.Repeat("x", 393) // 400 bytes with its end
		for range 400 {
			require.True(t, th.Observe(line, false))
		}
		require.False(t, th.TooMany(), "40,000 tokens")
		require.True(t, th.Observe("09:01 y", false))
		require.Equal(t, observe, th.TooMany(), "a model is asked for it")
		want := 401
		if !observe {
			want = 200
		}
		require.Len(t, th.Observations(), want)
		require.Equal(t, "09:01 y", th.Observations()[want-1])
	}
}
