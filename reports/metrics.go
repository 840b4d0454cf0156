package reports

import (
	"cmp"
	"slices"

	"github.com/cupel-eval/cupel/reports/stat"
)

// calibrationBins is the number of bins of the reliability diagram.
const calibrationBins = 10

// metrics measures what has no threshold.
func metrics(episodes []*Episode, p pool, confidence float64) Metrics {
	m := Metrics{
		Episodes: len(episodes), InfraErrors: p.infra, Interrupted: p.interrupted,
		Success: share(p.solved, p.scored, confidence),
		Turns:   len(p.judged), ErrorTurns: p.errors, Truncated: p.truncated,
		ClarifyGoals: p.clarifyGoals,
	}
	m.spend(episodes, p.solved)
	for _, kind := range []string{"reflect", "rescue", "compress"} {
		m.Extra = append(m.Extra, extraTurns(episodes, kind))
	}
	m.turns(p, confidence)
	m.outcomes(episodes, p.scored, confidence)
	return m
}

// spend adds up money and tokens over all episodes: also those without a result
// were paid for.
func (m *Metrics) spend(episodes []*Episode, solved int) {
	in, out, read, write, reasoning := sum{known: true}, sum{known: true}, sum{known: true}, sum{known: true}, sum{known: true}
	for _, e := range episodes {
		if e.CostNanoUSD == nil {
			m.Unpriced++
		} else {
			m.CostKnown += *e.CostNanoUSD
		}
		in.add(e.row.In)
		out.add(e.row.Out)
		read.add(e.row.CacheRead)
		write.add(e.row.CacheWrite)
		reasoning.add(e.row.Reasoning)
	}
	m.TokensIn, m.TokensOut, m.TokensReasoning = in.value(), out.value(), reasoning.value()
	m.TokensCacheRead, m.TokensCacheWrite = read.value(), write.value()
	if m.Unpriced > 0 || len(episodes) == 0 {
		return
	}
	total := m.CostKnown
	m.Cost = &total
	if solved > 0 {
		per := float64(m.CostKnown) / float64(solved)
		m.CostPerSolved = &per
	}
}

// extraTurns counts and prices the turns of one kind.
func extraTurns(episodes []*Episode, kind string) ExtraTurns {
	x, cost := ExtraTurns{Kind: kind}, sum{any: true, known: true}
	for _, e := range episodes {
		for _, t := range e.turns {
			if t.Kind == kind {
				x.Turns++
				cost.add(t.CostNanoUSD)
			}
		}
	}
	x.Cost = cost.value()
	return x
}

// sum of values of which one unknown makes the whole unknown.
type sum struct {
	n     int64
	any   bool
	known bool
}

func (s *sum) add(v *int64) {
	s.any = true
	if v == nil {
		s.known = false
		return
	}
	s.n += *v
}

func (s *sum) value() *int64 {
	if !s.any || !s.known {
		return nil
	}
	return &s.n
}

func (m *Metrics) turns(p pool, confidence float64) {
	var durations []float64
	repaired, violations, served := 0, map[string]int{}, map[string]int{}
	for _, t := range p.judged {
		durations = append(durations, float64(t.DurationUs))
		if t.Repaired {
			repaired++
		}
		for _, v := range t.Violations {
			violations[v]++
		}
		if t.ModelServed != "" {
			served[t.ModelServed]++
		}
	}
	m.Repaired = share(repaired, len(p.judged), confidence)
	m.Violations, m.ModelsServed = tallies(violations), tallies(served)
	m.Latency = spread(durations)
}

func (m *Metrics) outcomes(episodes []*Episode, scored int, confidence float64) {
	thrash, stall, statuses := 0, 0, map[string]int{}
	var steps []int
	var forecasts []stat.Forecast
	for _, e := range episodes {
		status := e.Status
		if e.StopReason != "" {
			status += ": " + e.StopReason
		}
		statuses[status]++
		if e.Excluded != "" {
			continue
		}
		if e.row.ThrashEvents > 0 {
			thrash++
		}
		if e.row.StallEvents > 0 {
			stall++
		}
		if e.Solved {
			steps = append(steps, e.Steps)
		}
		if c := lastConfidence(e); c != nil {
			forecasts = append(forecasts, stat.Forecast{P: *c, Came: e.Solved})
		}
	}
	m.Thrash, m.Stall = share(thrash, scored, confidence), share(stall, scored, confidence)
	m.Statuses, m.Steps = tallies(statuses), stat.Histogram(steps)
	m.Calibration = stat.Reliability(forecasts, calibrationBins)
	if b, ok := stat.Brier(forecasts); ok {
		m.Brier = &b
	}
}

// lastConfidence is the confidence of the last turn that stated one.
func lastConfidence(e *Episode) *float64 {
	for _, t := range slices.Backward(e.turns) {
		if t.Confidence != nil {
			return t.Confidence
		}
	}
	return nil
}

func share(k, n int, confidence float64) Share {
	s := Share{K: k, N: n}
	if n > 0 {
		v := float64(k) / float64(n)
		s.Value = &v
	}
	if iv, ok := stat.Wilson(k, n, confidence); ok {
		s.Interval = &iv
	}
	return s
}

// spread sorts values in place.
func spread(values []float64) *Spread {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(p float64) float64 {
		q, _ := stat.Quantile(values, p)
		return q
	}
	return &Spread{P5: at(0.05), P25: at(0.25), P50: at(0.5), P75: at(0.75), P95: at(0.95)}
}

// tallies lists counts, most frequent first, then by name.
func tallies(counts map[string]int) []Tally {
	list := make([]Tally, 0, len(counts))
	for name, n := range counts {
		list = append(list, Tally{Name: name, N: n})
	}
	slices.SortFunc(list, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}
