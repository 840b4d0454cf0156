package reports

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/stat"
)

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

// ruleWords says what decides.
func (c *Criterion) ruleWords() string {
	switch {
	case c.Verdict == NotJudged:
		return "reported without a threshold"
	case c.Rule == ruleLower:
		return "decided by the lower end of the interval"
	case c.Rule == ruleUpper:
		return "decided by the upper end of the interval"
	case c.Rule == ruleValue:
		return "decided by the value"
	}
	return "decided by the whole interval"
}

// text is "91.7% (80.2–96.8%) of 60 tasks in 3 trials".
func (p *Repeat) text() string {
	if p == nil {
		return "–"
	}
	s := Share{Value: &p.Value, Interval: p.Interval}
	return fmt.Sprintf("%s (%s) of %s in %d trials", s.rate(), s.interval(), plural(p.Tasks, "task"), p.K)
}

// callsPerTurn is "1.4 (at most 5)".
func (w *Work) callsPerTurn() string {
	if w == nil || w.CallsPerTurn == nil {
		return "–"
	}
	return trimmed(*w.CallsPerTurn, 2) + " (at most " + thousands(int64(w.Widest)) + ")"
}

func (w *Work) overlap() string {
	if w == nil || w.Overlap == nil {
		return "–"
	}
	return trimmed(*w.Overlap, 2) + "×"
}

// plans are "mean 3.2 (1 to 6)" of those with a plan.
func plans(w *Work, of func(*Work) []stat.Count) string {
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
		return thousands(int64(low))
	}
	return "mean " + trimmed(float64(sum)/float64(n), 2) + " (" + thousands(int64(low)) + " to " + thousands(int64(high)) + ")"
}

// extraLabels are the labels of the rare ones.
func extraLabels() (labels []string) {
	for _, k := range extraKinds() {
		if k.rare {
			labels = append(labels, k.label)
		}
	}
	return labels
}
