package match

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// table makes fits of rows such as "x.x": the required call fits calls 0 and 2.
func table(rows ...string) Fits {
	return func(i, j int) bool { return rows[i][j] == 'x' }
}

// greedy pairs each required call with the first free call made that fits: what
// assign and chain must not do.
func greedy(n, m int, f Fits) (paired int) {
	used := make([]bool, m)
	for i := range n {
		for j := range m {
			if !used[j] && f(i, j) {
				used[j] = true
				paired++
				break
			}
		}
	}
	return paired
}

func pairs(made []int) (n int) {
	for _, j := range made {
		if j >= 0 {
			n++
		}
	}
	return n
}

func TestAssignWhereGreedyFails(t *testing.T) {
	// The first requirement takes any call, the second only the first one made.
	f := table("xx", "x.")
	require.Equal(t, 1, greedy(2, 2, f))
	require.Equal(t, []int{1, 0}, Assign(2, 2, f))

	// A chain of reassignments: every earlier pair moves when the last one comes.
	f = table("xx..", ".xx.", "..xx", "x...")
	require.Equal(t, 3, greedy(4, 4, f))
	require.Equal(t, []int{1, 2, 3, 0}, Assign(4, 4, f))
}

func TestChainWhereGreedyFails(t *testing.T) {
	// In order, the first requirement's only call comes last: dropping it keeps
	// two, taking it first keeps one.
	f := table("..x", "x..", ".x.")
	require.Equal(t, []int{-1, 0, 1}, Chain(3, 3, f))
}

func TestUnpaired(t *testing.T) {
	missing, extra := Unpaired([]int{2, -1, 0}, 4)
	require.Equal(t, []int{1}, missing)
	require.Equal(t, []int{1, 3}, extra)
	missing, extra = Unpaired(nil, 0)
	require.Empty(t, missing)
	require.Empty(t, extra)
}

// bruteForce tries every way to pair, and returns the most pairs.
func bruteForce(n, m int, f Fits, ordered bool) int {
	used := make([]bool, m)
	var try func(i, from int) int
	try = func(i, from int) int {
		if i == n {
			return 0
		}
		best := try(i+1, from) // leave i out
		for j := range m {
			if used[j] || !f(i, j) || ordered && j < from {
				continue
			}
			used[j] = true
			best = max(best, 1+try(i+1, j+1))
			used[j] = false
		}
		return best
	}
	return try(0, 0)
}

func TestAlignmentsAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 6).Draw(t, "required"), rapid.IntRange(0, 6).Draw(t, "made")
		cells := rapid.SliceOfN(rapid.Bool(), n*m, n*m).Draw(t, "fits")
		f := func(i, j int) bool { return cells[i*m+j] }

		free := Assign(n, m, f)
		require.Equal(t, bruteForce(n, m, f, false), pairs(free))
		inOrder := Chain(n, m, f)
		require.Equal(t, bruteForce(n, m, f, true), pairs(inOrder))

		seen, last := map[int]bool{}, -1
		for i := range n {
			if j := free[i]; j >= 0 {
				require.True(t, f(i, j) && !seen[j])
				seen[j] = true
			}
			if j := inOrder[i]; j >= 0 {
				require.True(t, f(i, j) && j > last)
				last = j
			}
		}
		missing, extra := Unpaired(free, m)
		require.Equal(t, n, len(missing)+pairs(free))
		require.Equal(t, m, len(extra)+pairs(free))
	})
}

// Floor: comparing a thousand cells is about 1 µs.
func BenchmarkAssign(b *testing.B) {
	f := func(i, j int) bool { return (i*7+j*13)%11 < 3 }
	b.ReportAllocs()
	for b.Loop() {
		Assign(20, 50, f)
	}
}

// Floor: filling a table of a thousand cells is about 2 µs.
func BenchmarkChain(b *testing.B) {
	f := func(i, j int) bool { return (i*7+j*13)%11 < 3 }
	b.ReportAllocs()
	for b.Loop() {
		Chain(20, 50, f)
	}
}
