package stat

import "slices"

// Count is how often a whole value occurred.
type Count struct {
	Value int `json:"value"`
	N     int `json:"n"`
}

// Histogram counts each distinct value, in ascending order of the values.
func Histogram(values []int) []Count {
	sorted := slices.Sorted(slices.Values(values))
	var counts []Count
	for _, v := range sorted {
		if last := len(counts) - 1; last >= 0 && counts[last].Value == v {
			counts[last].N++
		} else {
			counts = append(counts, Count{Value: v, N: 1})
		}
	}
	return counts
}
