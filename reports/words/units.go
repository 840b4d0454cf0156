package words

import (
	"math"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Level is a confidence, with enough digits to tell it from 100%.
func Level(confidence float64) string {
	decimals := 1
	for decimals < 12 && confidence < 1 && math.Round((1-confidence)*math.Pow10(decimals+2)) < 5 {
		decimals++
	}
	return Trimmed(100*confidence, decimals) + "%"
}

// Significant writes v with three significant digits, and all that are whole.
func Significant(v float64) string {
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e15 {
		return Thousands(int64(math.Round(v)))
	}
	return minus(strconv.FormatFloat(v, 'g', 3, 64))
}

// InUnit formats a measurement of a comparison; null is a dash.
func InUnit(unit string, v *float64) string {
	if v == nil {
		return "–"
	}
	switch unit {
	case "share":
		return Percent(*v)
	case "nano-USD":
		return USD(*v)
	case "us":
		return Duration(*v)
	case "score":
		return Trimmed(*v, 3)
	case "tokens":
		return Thousands(int64(math.Round(*v)))
	}
	return Trimmed(*v, 2)
}

// Signed formats a change; of a share it is in points.
func Signed(unit string, v *float64) string {
	if v == nil {
		return "–"
	}
	size := math.Abs(*v)
	text := InUnit(unit, &size)
	if unit == "share" {
		text = fixed(100*size, 1)
	}
	switch {
	case !strings.ContainsAny(text, "123456789"):
		return text
	case *v < 0:
		return "−" + text
	}
	return "+" + text
}

// Points is the unit of a change of a share in a cell, percentage points, with a space
// before it; empty for others.
func Points(unit string, v *float64) string {
	if unit == "share" && v != nil {
		return " pp"
	}
	return ""
}

// Chance formats a p-value with two significant digits.
func Chance(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < 0.0001:
		return "< 0.0001"
	}
	return strconv.FormatFloat(*p, 'g', 2, 64)
}

// SpanOf formats the interval of a change: "−3.1 to +2.0".
func SpanOf(unit string, iv *stat.Interval) string {
	if iv == nil {
		return "–"
	}
	return Signed(unit, &iv.Low) + " to " + Signed(unit, &iv.High)
}
