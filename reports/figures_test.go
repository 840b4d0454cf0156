package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// some makes a candidate with what the titles look at.
func some(name string, edit func(*Candidate)) Candidate {
	c := Candidate{Candidate: manifest.Candidate{Name: name}}
	edit(&c)
	return c
}

// kOf is a share of k in n, all of one task.
func kOf(k, n int) Share {
	s := Share{K: k, N: n}
	if n > 0 {
		s.Value = new(float64(k) / float64(n))
	}
	if iv, ok := stat.ShareInterval([]stat.Cluster{{Num: float64(k), Den: float64(n)}}, 0.95); ok {
		s.Interval = &iv
	}
	return s
}

func TestTitles(t *testing.T) {
	valid := func(v Verdict) func(*Candidate) {
		return func(c *Candidate) { c.Criteria = []Criterion{{Name: "valid_json", Verdict: v}} }
	}
	steps := func(counts ...stat.Count) func(*Candidate) { return func(c *Candidate) { c.Steps = counts } }
	cost := func(k, n int, nano float64) func(*Candidate) {
		return func(c *Candidate) {
			c.Success, c.CostPerSolved = kOf(k, n), &nano
		}
	}
	rate := func(thrash, stall int) func(*Candidate) {
		return func(c *Candidate) { c.Thrash, c.Stall = kOf(thrash, 10), kOf(stall, 10) }
	}
	took := func(us float64) func(*Candidate) {
		return func(c *Candidate) { c.Latency = &Spread{us, us, us, us, us} }
	}
	began := func(us float64) func(*Candidate) {
		return func(c *Candidate) { c.TTFT = &Spread{us, us, us, us, us} }
	}
	said := func(p, came float64) func(*Candidate) {
		return func(c *Candidate) { c.Calibration = []stat.Bin{{N: 4, Stated: p, Came: came}, {}} }
	}
	nothing := func(*Candidate) {}
	for _, c := range []struct {
		figure, want string
		edits        []func(*Candidate)
	}{
		{figValidity, "Nobody's validity was judged", nil},
		{figValidity, "No candidate is shown to keep the contract in 95% of turns", []func(*Candidate){valid(Inconclusive), valid(Fail)}},
		{figValidity, "1 of 2 candidates keeps the contract in 95% of turns", []func(*Candidate){valid(Pass), valid(Fail)}},
		{figValidity, "All 2 candidates keep the contract in 95% of turns", []func(*Candidate){valid(Pass), valid(Pass)}},
		{figValidity, "The candidate keeps the contract in 95% of turns", []func(*Candidate){valid(Pass)}},
		{figSteps, "No task was solved", []func(*Candidate){nothing}},
		{figSteps, "Solved tasks take 2.5 steps on average, limit 5", []func(*Candidate){steps(stat.Count{Value: 2, N: 1}, stat.Count{Value: 3, N: 1})}},
		{figSteps, "Solved tasks take 2 to 6 steps on average, limit 5", []func(*Candidate){steps(stat.Count{Value: 6, N: 3}), steps(stat.Count{Value: 2, N: 1})}},
		{figCost, "No cost per solved task is known", []func(*Candidate){nothing}},
		{figCost, "A solved task costs $0.002", []func(*Candidate){cost(1, 2, 2e6)}},
		{figCost, "Only the cost of b is known", []func(*Candidate){nothing, cost(1, 2, 2e6)}},
		{figCost, "b solves most and is cheapest", []func(*Candidate){cost(1, 2, 9), cost(2, 2, 5)}},
		{figCost, "All 2 on the efficient frontier: more success costs more", []func(*Candidate){cost(1, 2, 4), cost(2, 2, 5)}},
		{figCost, "On the efficient frontier: a, c", []func(*Candidate){cost(1, 4, 0), cost(1, 4, 5), cost(3, 4, 6), cost(2, 4, 7)}},
		{figCost, "On the efficient frontier: a, b, c and 1 more", []func(*Candidate){cost(1, 9, 1), cost(2, 9, 2), cost(3, 9, 3), cost(4, 9, 4), cost(4, 9, 5), nothing}},
		{figRates, "No episode was scored", []func(*Candidate){nothing}},
		{figRates, "No episode thrashed or stalled", []func(*Candidate){rate(0, 0)}},
		{figRates, "At worst 30% of episodes thrash and 20% stall", []func(*Candidate){rate(3, 0), rate(1, 2)}},
		{figLatency, "No turn was timed", []func(*Candidate){nothing}},
		{figLatency, "The median turn takes 1.0 s", []func(*Candidate){took(1e6), took(1.01e6)}},
		{figLatency, "The median turn takes 10 ms to 1.0 s", []func(*Candidate){took(1e6), took(1e4)}},
		{figTTFT, "", []func(*Candidate){took(1e6)}},
		{figTTFT, "The median first token comes after 120 ms to 1.0 s", []func(*Candidate){began(1.2e5), took(7), began(1e6)}},
		{figCalibration, "No candidate stated a confidence", []func(*Candidate){nothing}},
		{figCalibration, "No candidate claims more confidence than it earns", []func(*Candidate){said(0.5, 0.5), said(0.4, 0.9)}},
		{figCalibration, "1 of 2 candidates claims more confidence than earned", []func(*Candidate){said(0.9, 0.5), said(0.4, 0.9)}},
		{figCalibration, "The candidate claims more confidence than earned", []func(*Candidate){said(0.9, 0.5)}},
	} {
		r := Report{Run: manifest.Manifest{Acceptance: manifest.Acceptance{}.Resolved()}}
		for i, edit := range c.edits {
			r.Candidates = append(r.Candidates, some(string(rune('a'+i)), edit))
		}
		r.Figures = figuresOf(&r)
		title := "" // of a plot that is left out
		for _, f := range r.Figures {
			if f.Name == c.figure {
				title = f.Title
			}
		}
		require.Equal(t, c.want, title)
	}
}

func TestAltTextNamesTheNumbers(t *testing.T) {
	r := Build(demo(demoProfiles(), 6, 1))
	for _, f := range r.Figures {
		require.NotContains(t, f.Alt, "no data", f.Name)
		require.Contains(t, f.Alt, "north-mini ", f.Name)
	}
	empty := Build(manifest.Manifest{}, ledger.Rows{})
	for _, f := range empty.Figures {
		require.Regexp(t, `: no data\.$`, f.Alt)
	}
}
