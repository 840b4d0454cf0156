package expr

import (
	"math/bits"
	"slices"
)

// nth puts the value that would be at place k, were they sorted, there, lesser
// ones before it and greater ones behind it.
//
// C. A. R. Hoare, "Algorithm 65: Find", CACM 4 (1961) 321–322. After too many bad
// pivots the rest is sorted, so no input takes more than n log n.
func nth(values []float64, k int) {
	for tries := 2 * bits.Len(uint(len(values))); len(values) > 32; tries-- {
		if tries == 0 {
			break
		}
		pivot := pivotOf(values)
		i, j := 0, len(values)-1
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			values = values[:j+1]
		case k >= i:
			values, k = values[i:], k-i
		default:
			return
		}
	}
	slices.Sort(values)
}

// pivotOf is the median of three.
func pivotOf(v []float64) float64 {
	a, b, c := v[0], v[len(v)/2], v[len(v)-1]
	return max(min(a, b), min(max(a, b), c))
}
