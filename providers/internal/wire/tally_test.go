package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestTally(t *testing.T) {
	type tally = Tally
	usage := func(in, out, read, write, reasoning int64) providers.Usage {
		return providers.Usage{Input: in, Output: out, CacheRead: read, CacheWrite: write, Reasoning: reasoning}
	}
	other := func(first, second providers.Usage) providers.Usage {
		first.Other = &second
		return first
	}
	doubted := func(u providers.Usage, doubts ...string) providers.Usage {
		u.NotUnderstood = doubts
		return u
	}
	const lessTotal = "total_tokens: is less than the sum of what it counts"
	const lessInput = "in: is less than what the cache had of it"
	for _, c := range []struct {
		name  string
		tally tally
		want  providers.Usage
	}{
		{"plain", tally{Input: 10, Output: 5, Total: 15}, usage(10, 5, 0, 0, 0)},
		{"no total", tally{Input: 10, Output: 5, Read: 4, Reasoning: 2}, usage(6, 3, 4, 0, 2)},
		{"parts", tally{Input: 100, Output: 50, Total: 150, Read: 60, Write: 10, Reasoning: 20}, usage(30, 30, 60, 10, 20)},
		{"all of it", tally{Input: 10, Output: 5, Total: 15, Read: 10, Reasoning: 5}, usage(0, 0, 10, 0, 5)},
		{"reasoning is beside", tally{Input: 100, Output: 50, Total: 170, Read: 60, Reasoning: 20}, usage(40, 50, 60, 0, 20)},
		{"more reasoning, which is beside", tally{Input: 10, Output: 5, Total: 24, Reasoning: 9}, usage(10, 5, 0, 0, 9)},
		{"more reasoning, no total", tally{Input: 10, Output: 5, Reasoning: 9}, usage(10, 5, 0, 0, 9)},
		{"more reasoning, which is not beside", tally{Input: 10, Output: 5, Total: 15, Reasoning: 9}, other(usage(10, 5, 0, 0, 9), usage(10, 0, 0, 0, 5))},
		{"more reasoning, and a total of its own", tally{Input: 10, Output: 5, Total: 20, Reasoning: 9}, doubted(usage(10, 5, 0, 0, 9), lessTotal)},
		{"beside by the documentation, not in the total", tally{Input: 10, Output: 5, Total: 15, Reasoning: 9, Apart: true}, usage(10, 5, 0, 0, 9)},
		{"beside by the documentation, less of it", tally{Input: 10, Output: 5, Total: 15, Reasoning: 3, Apart: true}, usage(10, 5, 0, 0, 3)},
		{"beside by the documentation, in the total", tally{Input: 10, Output: 5, Total: 18, Reasoning: 3, Apart: true}, usage(10, 5, 0, 0, 3)},
		{"beside by the documentation, no total", tally{Input: 10, Output: 5, Reasoning: 3, Apart: true}, usage(10, 5, 0, 0, 3)},
		{"the cache is beside", tally{Input: 10, Output: 5, Total: 55, Read: 30, Write: 10}, usage(10, 5, 30, 10, 0)},
		{"the cache and reasoning are beside", tally{Input: 10, Output: 5, Total: 58, Read: 30, Write: 10, Reasoning: 3}, usage(10, 5, 30, 10, 3)},
		{"the cache is beside, reasoning is not", tally{Input: 10, Output: 5, Total: 55, Read: 30, Write: 10, Reasoning: 3}, usage(10, 2, 30, 10, 3)},
		{"more of the cache", tally{Input: 298, Output: 14, Total: 312, Read: 387}, doubted(usage(0, 14, 387, 0, 0), lessInput)},
		{"more of the cache, no total", tally{Input: 5, Output: 1, Read: 4, Write: 4}, doubted(usage(0, 1, 4, 4, 0), lessInput)},
		{"more than is accounted for", tally{Input: 35, Output: 12, Total: 109}, other(usage(35, 12, 0, 0, 0), usage(35, 12, 0, 0, 62))},
		{"less than is counted", tally{Input: 35, Output: 12, Total: 40}, doubted(usage(35, 12, 0, 0, 0), lessTotal)},
		{"fed by a search", tally{Input: 35, Output: 12, Total: 47, Reasoning: 90, Fed: 500}, other(usage(535, 12, 0, 0, 90), usage(535, 0, 0, 0, 12))},
		{"kept for an hour", tally{Input: 35, Output: 12, Total: 47, Write: 20, WriteLong: 5}, providers.Usage{Input: 15, Output: 12, CacheWrite: 20, CacheWriteLong: 5}},
		{"only what is kept for an hour", tally{Input: 35, Output: 12, Total: 47, WriteLong: 5}, providers.Usage{Input: 30, Output: 12, CacheWrite: 5, CacheWriteLong: 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.tally.InputField = "in"
			var u providers.Usage
			c.tally.Fill(&u)
			require.Equal(t, c.want, u)
		})
	}
}

// FuzzTally checks that no class is negative, and that none is below what was reported
// of it, unless the usage is doubted or has a second reading.
func FuzzTally(f *testing.F) {
	f.Add(uint16(10), uint16(5), uint16(15), uint16(9), uint16(3), uint16(1), uint16(20), false)
	f.Fuzz(func(t *testing.T, in, out, total, read, write, long, reasoning uint16, apart bool) {
		tally := Tally{Input: Count(in), Output: Count(out), Total: Count(total), Read: Count(read), Write: Count(write), WriteLong: Count(long), Reasoning: Count(reasoning), Apart: apart}
		var u providers.Usage
		tally.Fill(&u)
		require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead, u.CacheWrite-u.CacheWriteLong, u.CacheWriteLong, u.Reasoning), int64(0))
		require.GreaterOrEqual(t, u.CacheRead, int64(read))
		require.GreaterOrEqual(t, u.Reasoning, int64(reasoning))
		require.GreaterOrEqual(t, u.Output+u.Reasoning, int64(out))
		require.GreaterOrEqual(t, u.Input+u.CacheRead+u.CacheWrite, int64(in))
		largest := u.Total()
		if u.Other != nil {
			largest = max(largest, u.Other.Total())
			require.GreaterOrEqual(t, min(u.Other.Input, u.Other.Output, u.Other.Reasoning), int64(0))
		}
		if total > 0 && len(u.NotUnderstood) == 0 {
			require.GreaterOrEqual(t, largest, int64(total))
		}
		require.GreaterOrEqual(t, largest, int64(in)+int64(out))
	})
}
