package stat

import (
	"math"
	"math/big"
	"strconv"
)

// CompareRatio compares num/den with a threshold, as in -1 (less), 0 (equal) or
// +1 (greater). den must be positive. The threshold means the shortest decimal
// that denotes it, so 95/100 equals 0.95 exactly although the binary fraction
// nearest to 0.95 is smaller. A threshold that is not finite compares as
// infinitely large.
func CompareRatio(num, den int64, threshold float64) int {
	if math.IsNaN(threshold) || math.IsInf(threshold, 0) {
		return -1
	}
	return big.NewRat(num, den).Cmp(decimal(threshold))
}

// decimal is the shortest decimal that denotes the finite number v, exactly.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}
