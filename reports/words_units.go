package reports

import (
	"math"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/stat"
)

// level is a confidence, with enough digits to tell it from 100%.
func level(confidence float64) string {
	decimals := 1
	for decimals < 12 && confidence < 1 && math.Round((1-confidence)*math.Pow10(decimals+2)) < 5 {
		decimals++
	}
	return trimmed(100*confidence, decimals) + "%"
}

// significant writes v with three significant digits, and all that are whole.
func significant(v float64) string {
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e15 {
		return thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// inUnit formats a measurement of a comparison; null is a dash.
func inUnit(unit string, v *float64) string {
	if v == nil {
		return "–"
	}
	switch unit {
	case "share":
		return percent(*v)
	case "nano-USD":
		return usd(*v)
	case "us":
		return duration(*v)
	case "tokens":
		return thousands(int64(math.Round(*v)))
	}
	return trimmed(*v, 2)
}

// signed formats a change; of a share it is in points.
func signed(unit string, v *float64) string {
	if v == nil {
		return "–"
	}
	size := math.Abs(*v)
	text := inUnit(unit, &size)
	if unit == "share" {
		text = trimmed(100*size, 1)
	}
	switch {
	case !strings.ContainsAny(text, "123456789"):
		return text
	case *v < 0:
		return "-" + text
	}
	return "+" + text
}

func points(unit string, v *float64) string {
	if unit == "share" && v != nil {
		return " pts"
	}
	return ""
}

// chance formats a p-value.
func chance(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < 0.0001:
		return "< 0.0001"
	}
	return trimmed(*p, 4)
}

func spanOf(unit string, iv *stat.Interval) string {
	if iv == nil {
		return "–"
	}
	return signed(unit, &iv.Low) + " to " + signed(unit, &iv.High)
}
