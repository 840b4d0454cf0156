package reports

import (
	"fmt"
)

// value of a criterion: "95.8%", "2.91" or "–".
func (c Criterion) value() string {
	switch {
	case c.Value == nil:
		return "–"
	case c.Expr != "":
		return c.ownNumber(*c.Value)
	case c.Kind == kindShare:
		return bound(*c.Value, c.Threshold) + "%"
	}
	return rounded(*c.Value, c.Threshold, 2)
}

// interval of a criterion: "93.1–97.4%", "2.50–3.31" or "–".
func (c Criterion) interval() string {
	if c.Interval == nil {
		return "–"
	}
	if c.Expr != "" {
		return c.ownNumber(c.Interval.Low) + "–" + c.ownNumber(c.Interval.High)
	}
	if c.Kind == kindShare {
		return bound(c.Interval.Low, c.Threshold) + "–" + bound(c.Interval.High, c.Threshold) + "%"
	}
	return rounded(c.Interval.Low, c.Threshold, 2) + "–" + rounded(c.Interval.High, c.Threshold, 2)
}

// needs is the threshold with its direction: "≥ 95%".
func (c Criterion) needs() string {
	if c.Verdict == NotJudged {
		return "–"
	}
	if c.Expr != "" {
		return c.ownNeeds()
	}
	sign, limit := "≤ ", number(c.Threshold)
	if c.AtLeast {
		sign = "≥ "
	}
	if c.Kind == kindShare {
		limit = trimmed(100*c.Threshold, 6) + "%"
	}
	return sign + limit
}

// text is "91.7% (110 of 120)".
func (s Share) text() string {
	if s.Value == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%d of %d)", percent(*s.Value), s.K, s.N)
}

func (s Share) rate() string {
	if s.Value == nil {
		return "–"
	}
	return percent(*s.Value)
}

func (s Share) interval() string {
	if s.Interval == nil {
		return "–"
	}
	return bound(s.Interval.Low, 0) + "–" + bound(s.Interval.High, 0) + "%"
}
