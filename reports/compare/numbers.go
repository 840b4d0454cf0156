package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// amount is a size of a metric's change, without its sign.
func (m *Metric) amount(v float64) string {
	v = math.Abs(v)
	switch m.Unit {
	case unitShare:
		return points(v)
	case unitCost:
		return "$" + digits(v/1e9)
	case unitTime:
		return digits(v/1e3) + " ms"
	}
	return digits(v) + " " + m.Unit
}

// value is a value of a metric on one side.
func (m *Metric) value(v float64) string {
	if m.Unit == unitShare {
		return percent(v)
	}
	return m.amount(v)
}

// points is a difference of shares, in percentage points.
func points(v float64) string {
	s := trimmed(100*v, 1)
	if s == "0" && v > 0 {
		s = digits(100 * v)
	}
	if s == "1" {
		return "1 point"
	}
	return s + " points"
}

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

// digits is v with three significant digits, in plain decimals.
func digits(v float64) string {
	if v == 0 || math.Abs(v) >= 1000 {
		return trimmed(v, 0)
	}
	return trimmed(v, max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))))
}

// pValue is p with two significant digits.
func pValue(p float64) string {
	if p < 1e-4 {
		return "below 0.0001"
	}
	return trimmed(p, 1-int(math.Floor(math.Log10(p))))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// some lists the first few names: "a, b and 3 more".
func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
