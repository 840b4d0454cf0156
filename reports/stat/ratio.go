package stat

import (
	"math/big"
	"strconv"
)

// CompareRatio compares num/den with a threshold, as in -1 (less), 0 (equal) or
// +1 (greater). den must be positive. The threshold means the shortest decimal
// that denotes it, so 95/100 equals 0.95 exactly although the binary fraction
// nearest to 0.95 is smaller. A threshold that is not finite compares as
// infinitely large.
func CompareRatio(num, den int64, threshold float64) int {
	limit, ok := new(big.Rat).SetString(strconv.FormatFloat(threshold, 'g', -1, 64))
	if !ok {
		return -1
	}
	return big.NewRat(num, den).Cmp(limit)
}
