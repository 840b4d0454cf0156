package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/words"
)

func TestClusterNames(t *testing.T) {
	long := strings.Repeat("b", 50)
	require.Equal(t, "a ×1,000, "+long[:39]+"…, c, 2 more", names([]model.Tally{{Name: "a", N: 1000}, {Name: long, N: 1}, {Name: "c", N: 1}, {Name: "d", N: 1}, {Name: "e", N: 1}}))
	require.Empty(t, names(nil))
}

// The cost of an escalation is shown, also in an episode without a result. If it is
// unknown, it is not shown as zero.
func TestExtraTurnsAreCountedAndPriced(t *testing.T) {
	price := func(n int64) *int64 { return &n }
	w := reporttest.NewWorld("a")
	w.Add(1, "t", true, 3, func(_ *ledger.Episode, turns []ledger.Turn) {
		turns[1].Kind, turns[1].CostNanoUSD = "rescue", price(2_000_000)
		turns[2].Kind = "reflect"
	})
	w.Add(1, "t", false, 2, func(e *ledger.Episode, turns []ledger.Turn) {
		e.InfraError = true
		turns[0].Kind, turns[0].CostNanoUSD = "rescue", price(3_000_000)
		turns[1].Kind, turns[1].CostNanoUSD = "reflect", price(5)
	})
	m := build(w.M, w.Rows).Candidates[0].Metrics
	require.Equal(t, []model.ExtraTurns{{Kind: "reflect", Turns: 2, Cost: nil}, {Kind: "rescue", Turns: 2, Cost: price(5_000_000)}, {Kind: "compress", Turns: 0, Cost: price(0)}}, m.Extra)
	require.Equal(t, []string{"2 ($0.00500)", "2 (unknown)", "0"}, []string{extra(m, "rescue"), extra(m, "reflect"), extra(m, "compress")})
}

// Rows of other strategies appear only if there are any.
func TestMeasurementsOfOtherStrategies(t *testing.T) {
	labels := func(w *reporttest.World) (list []string) {
		for _, t := range overviewSection(build(w.M, w.Rows)).Tables {
			for _, c := range t.Columns {
				list = append(list, c.Name)
			}
		}
		return list
	}
	of := func(agent string, edit func(*ledger.Episode, []ledger.Turn)) *reporttest.World {
		w := reporttest.ByAgent(agent)
		w.Add(1, "t", true, 5, edit)
		return w
	}
	other := []string{"Planner turns", "Plan step turns", "Plan revisions", "Steps of a plan", "Largest fan-out of a step"}
	require.Subset(t, labels(of("plan", reporttest.PlannedTurns)), other)
	tools := labels(of("tools", nil))
	require.NotContains(t, tools, "Largest fan-out of a step")
	contract := labels(of("contract", nil))
	for _, l := range other {
		require.NotContains(t, contract, l)
	}
}

func TestFormats(t *testing.T) {
	share := func(v, limit float64) model.Criterion {
		return model.Criterion{Kind: "share", Value: &v, Threshold: limit, AtLeast: true}
	}
	meanOf := func(v float64) model.Criterion { return model.Criterion{Kind: "mean", Value: &v, Threshold: 5} }
	for got, want := range map[string]string{
		share(0.9496, 0.95).ValueText():   "94.96%", // because 95.0% would look like a pass
		share(0.949996, 0.95).ValueText(): "94.9996%",
		share(0.95, 0.95).ValueText():     "95.0%",
		share(1, 0.95).ValueText():        "100.0%",
		share(0.8, 0.95).ValueText():      "80.0%",
		share(0, 0.95).NeedsText():        "≥ 95%",
		meanOf(5.001).ValueText():         "5.001",
		meanOf(4.2).ValueText():           "4.20",
		meanOf(1).NeedsText():             "≤ 5",
		model.Criterion{}.ValueText():     "–",
		model.Criterion{}.IntervalText():  "–",
		words.USD(0):                      "$0",
		words.USD(548_123):                "$0.000548",
		words.USD(12_345_678):             "$0.0123",
		words.USD(1_234_567_890):          "$1.23",
		words.USD(1):                      "$0.00000000100",
		words.Dollars[int64](nil):         "unknown",
		words.Duration(90):                "0.09 ms",
		words.Duration(12_400):            "12 ms",
		words.Duration(1_960_000):         "1.96 s",
		words.Duration(125e6):             "2 min 05 s",
		words.Thousands(-1234567):         "−1,234,567",
		words.Thousands(999):              "999",
		words.Plural(1, "turn"):           "1 turn",
		words.Percent(0.95):               "95.0%",
		words.Percent(0.125):              "12.5%",
		words.Count(nil):                  "unknown",
		Median((*model.Spread)(nil)):      "–",
	} {
		require.Equal(t, want, got)
	}
}

func TestShiftText(t *testing.T) {
	series := trend.Series{Candidate: "strong", Points: []trend.Point{{}, {Started: time.Date(2026, 11, 3, 3, 0, 0, 0, time.UTC)}}}
	for name, c := range map[string]struct {
		metric string
		change trend.Change
		want   string
		better bool
	}{
		"fell":    {trend.Solved, trend.Change{At: 1, Before: 0.97, After: 0.88}, "share solved of strong fell from 97.0% to 88.0% on 3 Nov 2026", false},
		"rose":    {trend.Valid, trend.Change{At: 1, Before: 0.9, After: 0.955}, "share of valid first outputs of strong rose from 90.0% to 95.5% on 3 Nov 2026", true},
		"dearer":  {trend.Cost, trend.Change{At: 1, Before: 1e6, After: 2e6}, "mean cost of an episode of strong rose from $0.00100 to $0.00200 on 3 Nov 2026", false},
		"steps":   {trend.Steps, trend.Change{At: 1, Before: 4, After: 3.25, With: []string{"candidate"}}, "mean steps of solved episodes of strong fell from 4 to 3.25 on 3 Nov 2026, with a changed candidate", true},
		"latency": {trend.Latency, trend.Change{At: 1, Before: 4e5, After: 1.2e6, With: []string{"candidate", "suite"}}, "median turn of strong rose from 400 ms to 1.20 s on 3 Nov 2026, with a changed candidate and suite", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, m := range TrendMetrics() {
				if m.Name == c.metric {
					s := Shift{m, c.change, &series}
					require.Equal(t, c.want, s.Text())
					require.Equal(t, c.better, s.Better())
				}
			}
		})
	}
}

func TestNewsIsBounded(t *testing.T) {
	var r model.Report
	for i := range 9 {
		r.Trend = append(r.Trend, trend.Series{Candidate: fmt.Sprint(i), Metric: trend.Solved, Points: make([]trend.Point, 6), Changes: []trend.Change{{At: 4, Detected: 5}, {At: 0}}})
	}
	require.Len(t, news(&r), 6)
	require.Equal(t, "and 4 more changes", news(&r)[5])
	require.Empty(t, news((&model.Report{Run: manifest.Manifest{}})))
}

func TestWorkInWords(t *testing.T) {
	got := &model.Work{CallsPerTurn: new(2.0), Widest: 3, Overlap: new(1.5), Planned: 2, Revisions: []stat.Count{{Value: 0, N: 1}, {Value: 1, N: 1}}}
	require.Equal(t, []string{"2 (at most 3)", "1.5×", "mean 0.5 (0 to 1)"}, []string{callsPerTurn(got), overlap(got), plans(got, func(w *model.Work) []stat.Count { return w.Revisions })})
	none := &model.Work{}
	require.Equal(t, []string{"–", "–", "–"}, []string{callsPerTurn(none), overlap(none), plans(none, nil)})
	require.Equal(t, "–", overlap((*model.Work)(nil)))
}

func TestCostIsUnknownNeverZero(t *testing.T) {
	priced := func(n int64) func(*ledger.Episode, []ledger.Turn) {
		return func(e *ledger.Episode, _ []ledger.Turn) { e.CostNanoUSD, e.In = &n, &n }
	}
	w := reporttest.NewWorld("a")
	w.Add(2, "t", true, 1, priced(1_500_000))
	m := build(w.M, w.Rows).Candidates[0].Metrics
	require.Equal(t, int64(3_000_000), *m.Cost)
	require.Equal(t, 1.5e6, *m.CostPerSolved)
	require.Equal(t, "$0.00300", cost(m))
	require.Equal(t, int64(3_000_000), *m.TokensIn)
	require.Nil(t, m.TokensOut, "no episode reported it")

	w.Add(1, "t", true, 1, nil)
	m = build(w.M, w.Rows).Candidates[0].Metrics
	require.Nil(t, m.Cost)
	require.Nil(t, m.CostPerSolved)
	require.Nil(t, m.TokensIn)
	require.Equal(t, 1, m.Unpriced)
	require.Equal(t, "unknown ($0.00300 priced, 1 episode without a known cost)", cost(m))

	none := reporttest.NewWorld("a")
	none.Add(3, "t", true, 1, nil)
	m = build(none.M, none.Rows).Candidates[0].Metrics
	require.Equal(t, "unknown", cost(m))
	require.Nil(t, m.Cost)

	unsolved := reporttest.NewWorld("a")
	unsolved.Add(1, "t", false, 1, priced(7))
	m = build(unsolved.M, unsolved.Rows).Candidates[0].Metrics
	require.Equal(t, int64(7), *m.Cost)
	require.Nil(t, m.CostPerSolved, "nothing solved: no cost for it")
	require.Nil(t, build(reporttest.NewWorld("a").M, ledger.Rows{}).Candidates[0].Cost, "no episode: nothing known")
}
