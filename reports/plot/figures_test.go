package plot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/calibration"
)

// some makes a candidate with the values that titles depend on.
func some(name string, edit func(*model.Candidate)) model.Candidate {
	c := model.Candidate{Candidate: manifest.Candidate{Name: name}}
	edit(&c)
	return c
}

// kOf returns a share of k in n, in one task.
func kOf(k, n int) model.Share {
	s := model.Share{K: k, N: n}
	if n > 0 {
		s.Value = new(float64(k) / float64(n))
	}
	if iv, ok := stat.ShareInterval([]stat.Cluster{{Num: float64(k), Den: float64(n)}}, 0.95); ok {
		s.Interval = &iv
	}
	return s
}

func TestTitles(t *testing.T) {
	valid := func(v stat.Verdict) func(*model.Candidate) {
		return func(c *model.Candidate) {
			c.Criteria = []model.Criterion{{Name: "valid_json", Verdict: v, Value: new(0.96)}}
		}
	}
	steps := func(counts ...stat.Count) func(*model.Candidate) {
		return func(c *model.Candidate) { c.Steps = counts }
	}
	cost := func(k, n int, nano float64) func(*model.Candidate) {
		return func(c *model.Candidate) {
			c.Success, c.CostPerSolved = kOf(k, n), &nano
		}
	}
	rate := func(thrash, stall int) func(*model.Candidate) {
		return func(c *model.Candidate) { c.Thrash, c.Stall = kOf(thrash, 10), kOf(stall, 10) }
	}
	took := func(us float64) func(*model.Candidate) {
		return func(c *model.Candidate) { c.Latency = &model.Spread{P5: us, P25: us, P50: us, P75: us, P95: us} }
	}
	began := func(us float64) func(*model.Candidate) {
		return func(c *model.Candidate) { c.TTFT = &model.Spread{P5: us, P25: us, P50: us, P75: us, P95: us} }
	}
	said := func(p, came float64) func(*model.Candidate) {
		return func(c *model.Candidate) { c.Calibration = []calibration.Bin{{N: 4, Stated: p, Came: came}, {}} }
	}
	nothing := func(*model.Candidate) {}
	for _, c := range []struct {
		figure, want string
		edits        []func(*model.Candidate)
	}{
		{figValidity, "", nil},
		{figValidity, "Contract-valid in ≥ 95% of turns: 0 of 2 candidates", []func(*model.Candidate){valid(stat.Inconclusive), valid(stat.Fail)}},
		{figValidity, "Contract-valid in ≥ 95% of turns: 1 of 2 candidates", []func(*model.Candidate){valid(stat.Pass), valid(stat.Fail)}},
		{figValidity, "Contract-valid in ≥ 95% of turns: inconclusive", []func(*model.Candidate){valid(stat.Inconclusive)}},
		{figValidity, "Contract-valid turns: 96.0%", []func(*model.Candidate){valid(stat.NotJudged)}},
		{figSteps, "", []func(*model.Candidate){nothing}},
		{figSteps, "Solved tasks take 2.5 steps on average (limit 5)", []func(*model.Candidate){steps(stat.Count{Value: 2, N: 1}, stat.Count{Value: 3, N: 1})}},
		{figSteps, "Solved tasks take 2 to 6 steps on average (limit 5)", []func(*model.Candidate){steps(stat.Count{Value: 6, N: 3}), steps(stat.Count{Value: 2, N: 1})}},
		{figCost, "", []func(*model.Candidate){nothing}},
		{figCost, "A solved task costs $0.00200", []func(*model.Candidate){cost(1, 2, 2e6)}},
		{figCost, "The cost of b alone is known", []func(*model.Candidate){nothing, cost(1, 2, 2e6)}},
		{figCost, "Pareto-optimal in cost and success: b", []func(*model.Candidate){cost(1, 2, 9), cost(2, 2, 5)}},
		{figCost, "Pareto-optimal in cost and success: a, b", []func(*model.Candidate){cost(2, 2, 401_800_000), cost(2, 2, 401_900_000)}}, // these costs are printed alike
		{figCost, "Pareto-optimal in cost and success: a, c", []func(*model.Candidate){cost(1, 4, 0), cost(1, 4, 5), cost(3, 4, 6), cost(2, 4, 7)}},
		{figCost, "Pareto-optimal in cost and success: a, b, c and 1 more", []func(*model.Candidate){cost(1, 9, 1), cost(2, 9, 2), cost(3, 9, 3), cost(4, 9, 4), cost(4, 9, 5), nothing}},
		{figRates, "", []func(*model.Candidate){nothing}},
		{figRates, "Repeated calls (thrash): none; stall: none", []func(*model.Candidate){rate(0, 0)}},
		{figRates, "Repeated calls (thrash): up to 30.0% of episodes; stall: 20.0%", []func(*model.Candidate){rate(3, 0), rate(1, 2)}},
		{figLatency, "", []func(*model.Candidate){nothing}},
		{figLatency, "Median turn: 1.00 s", []func(*model.Candidate){took(1e6), took(1.001e6)}},
		{figLatency, "Median turn: 10 ms to 1.00 s", []func(*model.Candidate){took(1e6), took(1e4)}},
		{figTTFT, "", []func(*model.Candidate){took(1e6)}},
		{figTTFT, "Median first token: 120 ms to 1.00 s", []func(*model.Candidate){began(1.2e5), took(7), began(1e6)}},
		{figCalibration, "", []func(*model.Candidate){nothing}},
		{figCalibration, "0 of the 2 candidates that state a confidence are overconfident", []func(*model.Candidate){said(0.5, 0.5), said(0.4, 0.9), nothing}},
		{figCalibration, "1 of the 2 candidates that state a confidence is overconfident", []func(*model.Candidate){said(0.9, 0.5), said(0.4, 0.9)}},
		{figCalibration, "The candidate that states a confidence is overconfident", []func(*model.Candidate){said(0.9, 0.5), nothing}},
	} {
		r := model.Report{Run: manifest.Manifest{Acceptance: manifest.Acceptance{}.Resolved()}}
		for i, edit := range c.edits {
			r.Candidates = append(r.Candidates, some(string(rune('a'+i)), edit))
		}
		r.Figures = Figures(&r)
		title := "" // for a plot that is omitted
		for _, f := range r.Figures {
			if f.Name == c.figure {
				title = f.Title
			}
		}
		require.Equal(t, c.want, title)
	}
}

func TestAltTextNamesTheNumbers(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1))
	for _, f := range r.Figures {
		require.NotContains(t, f.Alt, "no data", f.Name)
		require.Contains(t, f.Alt, "north-mini ", f.Name)
	}
	require.Empty(t, build(manifest.Manifest{}, ledger.Rows{}).Figures, "nothing was measured")
}
