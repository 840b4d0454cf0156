package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// unknown is shown for a null.
const unknown = "unknown"

// number is v without trailing zeros.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// percent is a share with one decimal, and none where it is whole.
func percent(v float64) string { return trimmed(100*v, 1) + "%" }

func trimmed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// rounded is v with the given decimals, and more where rounding would show v on
// the threshold although it is not.
func rounded(v, threshold float64, decimals int) string {
	limit := strconv.FormatFloat(threshold, 'f', decimals, 64)
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	for v != threshold && s == limit && decimals < 5 {
		decimals++
		limit = strconv.FormatFloat(threshold, 'f', decimals, 64)
		s = strconv.FormatFloat(v, 'f', decimals, 64)
	}
	return s
}

// bound is one end of a share's interval, in percent.
func bound(v, threshold float64) string {
	if v == 0 || v == 1 {
		return number(100 * v)
	}
	return rounded(100*v, 100*threshold, 1)
}

// dollars formats nano-USD with at least three significant digits; nil is unknown.
func dollars(nano *int64) string {
	if nano == nil {
		return unknown
	}
	return usd(float64(*nano))
}

func dollarsOf(nano *float64) string {
	if nano == nil {
		return unknown
	}
	return usd(*nano)
}

func usd(nano float64) string {
	v := nano / 1e9
	switch a := math.Abs(v); {
	case a == 0:
		return "$0"
	case a >= 1:
		return fmt.Sprintf("$%.2f", v)
	case a >= 0.01:
		return fmt.Sprintf("$%.4f", v)
	default: // three significant digits
		return "$" + trimmed(v, min(12, 2-int(math.Floor(math.Log10(a)))))
	}
}

// duration formats microseconds.
func duration(us float64) string {
	switch {
	case us < 1e3:
		return trimmed(us/1e3, 2) + " ms"
	case us < 1e6:
		return trimmed(us/1e3, 0) + " ms"
	case us < 60e6:
		return fmt.Sprintf("%.1f s", us/1e6)
	}
	s := int64(math.Round(us / 1e6))
	return fmt.Sprintf("%d min %02d s", s/60, s%60)
}

// count formats a whole number with separators; nil is unknown.
func count(n *int64) string {
	if n == nil {
		return unknown
	}
	return thousands(*n)
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// mean formats an optional mean with one decimal.
func mean(v *float64) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', 1, 64)
}
