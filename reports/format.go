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

// cost of a candidate, with the part that is known.
func (m Metrics) cost() string {
	if m.Cost == nil && m.CostKnown > 0 {
		return fmt.Sprintf("%s (%s priced, %s without a known cost)", unknown, usd(float64(m.CostKnown)), plural(m.Unpriced, "episode"))
	}
	return dollars(m.Cost)
}

// extra formats the turns of one kind with what they cost.
func (m Metrics) extra(kind string) string {
	for _, x := range m.Extra {
		if x.Kind == kind && x.Turns > 0 {
			return fmt.Sprintf("%d for %s", x.Turns, dollars(x.Cost))
		}
	}
	return "0"
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

func (s *Spread) median() string {
	if s == nil {
		return "–"
	}
	return duration(s.P50)
}

func (s *Spread) tail() string {
	if s == nil {
		return "–"
	}
	return duration(s.P95)
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

// list joins tallies: "prose 3, truncated 1".
func list(tallies []Tally, limit int) string {
	if len(tallies) == 0 {
		return "none"
	}
	var parts []string
	for i, t := range tallies {
		if i == limit {
			parts = append(parts, fmt.Sprintf("%d more kinds", len(tallies)-limit))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", brief(t.Name, 60), t.N))
	}
	return strings.Join(parts, ", ")
}
