package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown is shown for a null.
const Unknown = "unknown"

// minus makes the sign of a formatted number a true minus sign, and drops that of zero.
func minus(s string) string {
	if digits, negative := strings.CutPrefix(s, "-"); negative && strings.ContainsAny(digits, "123456789") {
		return "−" + digits
	} else if negative {
		return digits
	}
	return s
}

// fixed is v with exactly so many decimals.
func fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

// Number is v without trailing zeros.
func Number(v float64) string { return minus(strconv.FormatFloat(v, 'f', -1, 64)) }

// Percent is a measured share, with one decimal: "54.0%".
func Percent(v float64) string { return minus(fixed(100*v, 1)) + "%" }

// Setting is a share that somebody chose, such as a threshold, without trailing zeros: "95%".
func Setting(v float64) string { return Trimmed(100*v, 6) + "%" }

// Trimmed is v with at most so many decimals.
func Trimmed(v float64, decimals int) string { return minus(Coordinate(v, decimals)) }

// Coordinate is v with at most so many decimals for SVG, CSS and expressions, which read a
// hyphen as minus.
func Coordinate(v float64, decimals int) string {
	s := fixed(v, decimals)
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
	for v != threshold && fixed(v, decimals) == fixed(threshold, decimals) && decimals < 5 {
		decimals++
	}
	return minus(fixed(v, decimals))
}

// Bound is one end of a share's interval, in percent.
func Bound(v, threshold float64) string {
	if v == 0 || v == 1 {
		return fixed(100*v, 1)
	}
	return Rounded(100*v, 100*threshold, 1)
}

// Dollars formats nano-USD as USD does; nil is unknown.
func Dollars[N int64 | float64](nano *N) string {
	if nano == nil {
		return Unknown
	}
	return USD(float64(*nano))
}

// Time formats a time in µs; nil is unknown.
func Time(us *int64) string {
	if us == nil {
		return Unknown
	}
	return Duration(float64(*us))
}

// USD formats nano-USD with three significant digits, and with cents from a dollar on.
func USD(nano float64) string { return usd(nano, usdDecimals(nano)) }

// USDColumn formats the amounts of a column, in nano-USD, with the decimals that the
// smallest of them needs, so that decimal points are aligned; nil is unknown.
func USDColumn(amounts []*float64) []string {
	decimals, texts := 0, make([]string, len(amounts))
	for _, nano := range amounts {
		if nano != nil && *nano != 0 {
			decimals = max(decimals, usdDecimals(*nano))
		}
	}
	for i, nano := range amounts {
		texts[i] = Unknown
		if nano != nil {
			texts[i] = usd(*nano, min(decimals, 6))
		}
	}
	return texts
}

// usdDecimals is how many decimals show three significant digits of an amount.
func usdDecimals(nano float64) int {
	a := math.Abs(nano) / 1e9
	switch {
	case a == 0:
		return 0
	case a >= 1:
		return 2
	}
	return min(12, 2-int(math.Floor(math.Log10(a))))
}

func usd(nano float64, decimals int) string {
	if s := minus(fixed(nano/1e9, decimals)); strings.HasPrefix(s, "−") {
		return "−$" + strings.TrimPrefix(s, "−")
	} else {
		return "$" + s
	}
}

// Duration formats microseconds with three significant digits.
func Duration(us float64) string {
	switch {
	case us < 1e3:
		return Trimmed(us/1e3, 2) + " ms"
	case us < 999.5e3:
		return Trimmed(us/1e3, 0) + " ms"
	case us < 9.995e6:
		return fixed(us/1e6, 2) + " s"
	case us < 59.95e6:
		return fixed(us/1e6, 1) + " s"
	}
	s := int64(math.Round(us / 1e6))
	return fmt.Sprintf("%d min %02d s", s/60, s%60)
}

// Day formats a date: "3 Nov 2026".
func Day(t time.Time) string { return t.Format("2 Jan 2006") }

// Bytes formats a size: "812 bytes", "1.2 kB".
func Bytes(n int) string {
	if n < 1000 {
		return Plural(n, "byte")
	}
	return fixed(float64(n)/1000, 1) + " kB"
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
	return minus(s)
}
