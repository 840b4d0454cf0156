package compare

import (
	"math"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/words"
)

// amount is a size of a metric's change, without its sign.
func (m *Metric) amount(v float64) string {
	if v = math.Abs(v); m.Unit == unitShare {
		return points(v)
	}
	return m.value(v)
}

// value is a value of a metric on one side.
func (m *Metric) value(v float64) string {
	if text := words.InUnit(m.Unit, &v); m.Unit != "steps" {
		return text
	} else if text == "1" {
		return "1 step"
	} else {
		return text + " steps"
	}
}

// change is a signed change of a metric with its 95% interval.
func (m *Metric) change() string {
	text := words.Signed(m.Unit, m.Effect)
	if m.Unit == unitShare {
		text += " points"
	} else if m.Relative != nil && m.Unit != unitScore { // the zero of a score means nothing
		text = words.Signed(unitShare, m.Relative) + "%"
	}
	if m.Interval != nil {
		text += " (95% CI " + words.SpanOf(m.Unit, m.Interval) + ")"
	}
	return text
}

// points is a difference of shares, in percentage points.
func points(v float64) string {
	s := words.Trimmed(100*v, 1)
	if s == "0" && v > 0 {
		s = words.Significant(100 * v)
	}
	if s == "1" {
		return "1 point"
	}
	return s + " points"
}

// percent is a share with one decimal, and none where it is whole.
func percent(v float64) string { return words.Trimmed(100*v, 1) + "%" }

// chance is a p-value with its sign: "= 0.013", "< 0.0001".
func chance(p float64) string {
	if text := words.Chance(&p); strings.HasPrefix(text, "<") {
		return text
	} else {
		return "= " + text
	}
}

// some lists the first few names.
func some(names []string) string { return clip.Names(names, 5) }
