package match

import "slices"

// Fits reports whether the i-th required call is met by the j-th call made.
// Several required calls may fit one call made and the other way round, so a
// greedy choice can be wrong: both functions below are optimal.
type Fits func(i, j int) bool

// Assign pairs n required calls with m calls made, each at most once, so that
// as many as possible are paired (a maximum bipartite matching by augmenting
// paths). It returns the call made for every required call, -1 for none.
func Assign(n, m int, f Fits) []int {
	made, owner := filled(n, -1), filled(m, -1)
	seen := make([]bool, m)
	var augment func(i int) bool
	augment = func(i int) bool {
		for j := range m {
			if seen[j] || !f(i, j) {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || augment(owner[j]) {
				made[i], owner[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range n {
		clear(seen)
		augment(i)
	}
	return made
}

// Chain is assign under the condition that the pairs keep their order (a
// longest common subsequence). Among equal chains it takes the earliest calls.
func Chain(n, m int, f Fits) []int {
	// best[i][j] is the longest chain of the required calls from i on and the
	// calls made from j on.
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if f(i, j) {
				best[i][j] = max(best[i][j], best[i+1][j+1]+1)
			}
		}
	}
	made := filled(n, -1)
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case f(i, j) && best[i][j] == best[i+1][j+1]+1:
			made[i] = j
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return made
}

// Unpaired splits a pairing's leftovers: required calls that were not made, and
// calls made that nothing required.
func Unpaired(made []int, m int) (missing, extra []int) {
	for i, j := range made {
		if j < 0 {
			missing = append(missing, i)
		}
	}
	for j := range m {
		if !slices.Contains(made, j) {
			extra = append(extra, j)
		}
	}
	return missing, extra
}

func filled(n, v int) []int { return slices.Repeat([]int{v}, n) }
