package view

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/scoring"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// cost of a candidate, with the part that is known.
func cost(m model.Metrics) string {
	if m.Cost == nil && m.CostKnown > 0 {
		return fmt.Sprintf("%s (%s priced, %s without a known cost)", words.Unknown, words.USD(float64(m.CostKnown)), words.Plural(m.Unpriced, "episode"))
	}
	return words.Dollars(m.Cost)
}

// helperUse says what judges or simulated users came to, beside the candidate's own cost.
func helperUse(u *scoring.Use) string {
	if u == nil {
		return "0"
	}
	return words.Plural(int(u.Calls), "call") + ", " + words.Dollars(u.Cost)
}

// extra formats the turns of one kind with what they cost.
func extra(m model.Metrics, kind string) string {
	for _, x := range m.Extra {
		if x.Kind == kind && x.Turns > 0 {
			return fmt.Sprintf("%s (%s)", words.Thousands(int64(x.Turns)), words.Dollars(x.Cost))
		}
	}
	return "0"
}

// Median is the median of a distribution of times, in words; a dash without one.
func Median(s *model.Spread) string {
	if s == nil {
		return "–"
	}
	return words.Duration(s.P50)
}

func tail(s *model.Spread) string {
	if s == nil {
		return "–"
	}
	return words.Duration(s.P95)
}

// List joins tallies: "prose 3, truncated 1".
func List(tallies []model.Tally, limit int) string {
	if len(tallies) == 0 {
		return "none"
	}
	var parts []string
	for i, t := range tallies {
		if i == limit {
			parts = append(parts, fmt.Sprintf("%d more kinds", len(tallies)-limit))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", words.Brief(t.Name, 60), t.N))
	}
	return strings.Join(parts, ", ")
}

// text is "91.7% (80.2–96.8%) of 60 tasks in 3 trials; k = 1: 95.0%; k = 2: 93.3%".
func text(p *model.Repeat) string {
	if p == nil {
		return "–"
	}
	s := model.Share{Value: &p.Value, Interval: p.Interval}
	out := fmt.Sprintf("%s (%s) of %s in %d trials", s.Rate(), s.IntervalText(), words.Plural(p.Tasks, "task"), p.K)
	for i, v := range p.Fewer {
		out += fmt.Sprintf("; k = %d: %s", i+1, words.Percent(v))
	}
	return out
}

// callsPerTurn is "1.4 (at most 5)".
func callsPerTurn(w *model.Work) string {
	if w == nil || w.CallsPerTurn == nil {
		return "–"
	}
	return words.Trimmed(*w.CallsPerTurn, 2) + " (at most " + words.Thousands(int64(w.Widest)) + ")"
}

func overlap(w *model.Work) string {
	if w == nil || w.Overlap == nil {
		return "–"
	}
	return words.Trimmed(*w.Overlap, 2) + "×"
}

// plans are "mean 3.2 (1 to 6)" of those with a plan.
func plans(w *model.Work, of func(*model.Work) []stat.Count) string {
	if w == nil || w.Planned == 0 {
		return "–"
	}
	all := of(w)
	sum, n := 0, 0
	for _, c := range all {
		sum, n = sum+c.Value*c.N, n+c.N
	}
	low, high := all[0].Value, all[len(all)-1].Value
	if low == high {
		return words.Thousands(int64(low))
	}
	return "mean " + words.Trimmed(float64(sum)/float64(n), 2) + " (" + words.Thousands(int64(low)) + " to " + words.Thousands(int64(high)) + ")"
}
