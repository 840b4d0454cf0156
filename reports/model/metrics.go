package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/orchestration"
	"github.com/cupel-eval/cupel/reports/scoring"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/calibration"
	"github.com/cupel-eval/cupel/reports/words"
)

// calibrationBins is the number of bins of the reliability diagram.
const calibrationBins = 10

// meter gathers what has no threshold: in numbers, none of them a row.
type meter struct {
	cost, in, out, read, write, reasoning sum
	unpriced, limited, batched            int
	saved                                 sum // of batched turns
	// Of all episodes: also those without a result were paid for.
	extras        extras
	statuses      counts
	judges, users scoring.Uses
	// Of scored ones: their cost, durations of their judged turns in µs, the rest.
	scoredCost         sum
	latencies, ttfts   []float64
	violations, served counts
	forecasts          []calibration.Forecast
	worker             worker
	orchestration      orchestration.Tally // of all episodes
	scores             scoring.Tally
}

// add counts an episode.
func (m *meter) add(cluster string, e *Episode, rows ledger.EpisodeRows) {
	row := &rows.Episode
	if row.CostNanoUSD == nil {
		m.unpriced++
	}
	m.cost.add(row.CostNanoUSD)
	m.in.add(row.In)
	m.out.add(row.Out)
	m.read.add(row.CacheRead)
	m.write.add(row.CacheWrite)
	m.reasoning.add(row.Reasoning)
	m.statuses.add(words.Join(": ", e.Status, e.StopReason))
	m.orchestration.Add(&rows)
	m.judges.Add(row.JudgeCalls, row.JudgeTokensIn, row.JudgeTokensOut, row.JudgeCostNanoUSD)
	m.users.Add(row.UserCalls, row.UserTokensIn, row.UserTokensOut, row.UserCostNanoUSD)
	for i := range rows.Turns {
		t := &rows.Turns[i]
		m.extras.add(t)
		if t.Batched {
			m.batched++
			m.saved.add(t.SavedNanoUSD)
		}
		if slices.Contains(t.Warnings, strategy.WarnLimited) {
			m.limited++
		}
		if e.Excluded == "" && t.Judged() {
			m.addTurn(t)
		}
	}
	if e.Excluded != "" {
		return
	}
	m.scoredCost.add(row.CostNanoUSD)
	if e.Injection == "" {
		m.scores.Add(cluster, row)
	}
	m.worker.add(&rows)
	if c := lastConfidence(rows.Turns); c != nil {
		m.forecasts = append(m.forecasts, calibration.Forecast{P: *c, Came: e.Solved})
	}
}

func (m *meter) addTurn(t *ledger.Turn) {
	if t.Timed() {
		m.latencies = append(m.latencies, float64(*t.DurationUs))
	}
	if t.TTFTUs != nil {
		m.ttfts = append(m.ttfts, float64(*t.TTFTUs))
	}
	for _, v := range t.Violations {
		m.violations.add(v)
	}
	if t.ModelServed != "" {
		m.served.add(t.ModelServed)
	}
}

// metrics is what the meter shows, beside what the pool of the same episodes
// counted.
func (m *meter) metrics(p *pool, confidence float64) Metrics {
	r := Metrics{
		Episodes: p.episodes, InfraErrors: p.ended.InfraErrors, HarnessErrors: p.ended.HarnessErrors, BudgetStops: p.ended.BudgetStops,
		Interrupted: p.interrupted, Unfinished: p.ended.Unfinished - p.interrupted, NotScored: p.ended.NotScored,
		Success: newShare(p.by.share(solvedOf), confidence),
		Turns:   p.judged, ErrorTurns: p.errors, Truncated: p.truncated,
		Repaired: newShare(p.by.share(repairedOf), confidence),
		Thrash:   newShare(p.by.share(thrashOf), confidence), Stall: newShare(p.by.share(stallOf), confidence),
		Orchestration: m.orchestration.Totals(),
		Batched:       m.batched, Saved: m.saved.value(),
		CostKnown: m.cost.n, Unpriced: m.unpriced, Cost: m.cost.value(),
		TokensIn: m.in.value(), TokensOut: m.out.value(), TokensReasoning: m.reasoning.value(),
		TokensCacheRead: m.read.value(), TokensCacheWrite: m.write.value(),
		Extra:   m.extras.turns(),
		Latency: spread(m.latencies), TTFT: spread(m.ttfts),
		Violations: m.violations.tallies(), Statuses: m.statuses.tallies(), ModelsServed: m.served.tallies(), Limited: m.limited,
		Calibration:  calibration.Reliability(m.forecasts, calibrationBins),
		ClarifyGoals: p.questions, ExpectedStops: p.stops, Attacks: p.attacks(confidence), UserFaults: p.misled,
		Scores: m.scores.Means(confidence), Judges: m.judges.Use(), Users: m.users.Use(),
	}
	r.LatencyBins, r.TTFTBins = logBins(m.latencies), logBins(m.ttfts) // sorted by now
	if r.Cost != nil && p.solved > 0 && r.Success.N > 0 {
		r.CostPerSolved = new(float64(*r.Cost) / float64(p.solved))
	}
	r.Steps = stat.Histogram(p.steps)
	if b, ok := calibration.Brier(m.forecasts); ok {
		r.Brier = &b
	}
	return r
}

// sum of values of which one unknown makes the whole unknown.
type sum struct {
	n            int64 // of the known ones
	any, unknown bool
}

func (s *sum) add(v *int64) {
	s.any = true
	if v == nil {
		s.unknown = true
		return
	}
	s.n += *v
}

func (s *sum) value() *int64 {
	if !s.any || s.unknown {
		return nil
	}
	return new(s.n)
}

// counts is how often something named occurred.
type counts map[string]int

func (c *counts) add(name string) {
	if *c == nil {
		*c = counts{}
	}
	if _, known := (*c)[name]; !known {
		name = strings.Clone(name) // the count outlives the row
	}
	(*c)[name]++
}

// tallies lists counts, most frequent first, then by name.
func (c counts) tallies() []Tally {
	list := make([]Tally, 0, len(c))
	for name, n := range c {
		list = append(list, Tally{Name: name, N: n})
	}
	slices.SortFunc(list, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// lastConfidence is the confidence of the last turn that stated one.
func lastConfidence(turns []ledger.Turn) *float64 {
	for i := len(turns) - 1; i >= 0; i-- {
		if c := turns[i].Confidence; c != nil {
			return c
		}
	}
	return nil
}
