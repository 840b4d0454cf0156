package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Unknown is shown for a null.
const Unknown = "unknown"

// Number is v without trailing zeros.
func Number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Percent is a share with one decimal, and none where it is whole.
func Percent(v float64) string { return Trimmed(100*v, 1) + "%" }

// Trimmed is v with at most so many decimals.
func Trimmed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// Rounded is v with the given decimals, and more where rounding would show v on
// the threshold although it is not.
func Rounded(v, threshold float64, decimals int) string {
	limit := strconv.FormatFloat(threshold, 'f', decimals, 64)
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	for v != threshold && s == limit && decimals < 5 {
		decimals++
		limit = strconv.FormatFloat(threshold, 'f', decimals, 64)
		s = strconv.FormatFloat(v, 'f', decimals, 64)
	}
	return s
}

// Bound is one end of a share's interval, in percent.
func Bound(v, threshold float64) string {
	if v == 0 || v == 1 {
		return Number(100 * v)
	}
	return Rounded(100*v, 100*threshold, 1)
}

// Dollars formats nano-USD with at least three significant digits; nil is unknown.
func Dollars(nano *int64) string {
	if nano == nil {
		return Unknown
	}
	return USD(float64(*nano))
}

// DollarsOf formats nano-USD as Dollars does.
func DollarsOf(nano *float64) string {
	if nano == nil {
		return Unknown
	}
	return USD(*nano)
}

// USD formats nano-USD, with at least three significant digits.
func USD(nano float64) string {
	v := nano / 1e9
	switch a := math.Abs(v); {
	case a == 0:
		return "$0"
	case a >= 1:
		return fmt.Sprintf("$%.2f", v)
	case a >= 0.01:
		return fmt.Sprintf("$%.4f", v)
	default: // three significant digits
		return "$" + Trimmed(v, min(12, 2-int(math.Floor(math.Log10(a)))))
	}
}

// Duration formats microseconds.
func Duration(us float64) string {
	switch {
	case us < 1e3:
		return Trimmed(us/1e3, 2) + " ms"
	case us < 1e6:
		return Trimmed(us/1e3, 0) + " ms"
	case us < 60e6:
		return fmt.Sprintf("%.1f s", us/1e6)
	}
	s := int64(math.Round(us / 1e6))
	return fmt.Sprintf("%d min %02d s", s/60, s%60)
}

// Count formats a whole number with separators; nil is unknown.
func Count(n *int64) string {
	if n == nil {
		return Unknown
	}
	return Thousands(*n)
}

// Thousands formats a whole number with separators.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Mean formats an optional mean with one decimal.
func Mean(v *float64) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', 1, 64)
}
