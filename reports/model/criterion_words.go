package model

import (
	"fmt"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// ValueText of a criterion: "95.8%", "2.91" or "–".
func (c Criterion) ValueText() string {
	if c.Value == nil {
		return "–"
	}
	return c.number(*c.Value) + c.percent()
}

// IntervalText of a criterion: "93.1–97.4%", "2.50–3.31" or "–".
func (c Criterion) IntervalText() string {
	if c.Interval == nil {
		return "–"
	}
	if c.OneSided {
		return "≤ " + c.number(c.Interval.High) + c.percent()
	}
	return c.number(c.Interval.Low) + "–" + c.number(c.Interval.High) + c.percent()
}

// number is a value of the criterion, with the unit of a custom one.
func (c Criterion) number(v float64) string {
	switch {
	case c.Expr != "":
		return c.ownNumber(v)
	case c.Kind == kindShare:
		return words.Bound(v, c.Threshold)
	}
	return words.Rounded(v, c.Threshold, 2)
}

// AxisText is a round value on an axis of the criterion: "95%", "2.5".
func (c Criterion) AxisText(v float64) string {
	switch {
	case c.Expr != "":
		return c.ownNumber(v)
	case c.Kind == kindShare:
		return words.Trimmed(100*v, 4) + "%"
	}
	return words.Trimmed(v, 6)
}

// percent is the unit of a share.
func (c Criterion) percent() string {
	if c.Expr == "" && c.Kind == kindShare {
		return "%"
	}
	return ""
}

// NeedsText is the threshold with its direction: "≥ 95%".
func (c Criterion) NeedsText() string {
	if c.Verdict == stat.NotJudged {
		return "–"
	}
	if c.Expr != "" {
		return c.ownNeeds()
	}
	sign, limit := "≤ ", words.Number(c.Threshold)
	if c.AtLeast {
		sign = "≥ "
	}
	if c.Kind == kindShare {
		limit = words.Setting(c.Threshold)
	}
	if c.OneSided {
		return "none, " + sign + limit
	}
	return sign + limit
}

// Text is "91.7% (110 of 120)".
func (s Share) Text() string {
	if s.Value == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%d of %d)", words.Percent(*s.Value), s.K, s.N)
}

// Rate is the share in percent; a dash without one.
func (s Share) Rate() string {
	if s.Value == nil {
		return "–"
	}
	return words.Percent(*s.Value)
}

// IntervalText is the interval in percent; a dash without one.
func (s Share) IntervalText() string {
	if s.Interval == nil {
		return "–"
	}
	return words.Bound(s.Interval.Low, 0) + "–" + words.Bound(s.Interval.High, 0) + "%"
}

// RuleText says what decides.
func (c *Criterion) RuleText() string {
	switch {
	case c.Verdict == stat.NotJudged:
		return "reported without a threshold"
	case c.OneSided:
		return "any harm fails; without harm the one-sided upper bound decides"
	case c.Rule == ruleLower:
		return "decided by the lower end of the interval"
	case c.Rule == ruleUpper:
		return "decided by the upper end of the interval"
	case c.Rule == ruleValue:
		return "decided by the value"
	}
	return "decided by the whole interval"
}
