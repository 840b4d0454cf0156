package trend_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/trend"
)

// night is the i-th run of a candidate that solves so many of 100.
func night(candidate string, i, solved int) trend.Run {
	steps, cost, latency := 3+0.01*float64(i%3), 1e6, 4e5
	iv, _ := stat.ClopperPearson(solved, 100, trend.Confidence)
	return trend.Run{
		RunID: fmt.Sprintf("run-%02d", i), Started: time.Date(2026, 11, i, 3, 0, 0, 0, time.UTC), Candidate: candidate,
		Solved: solved, Scored: 100, SolvedWithin: &iv, Valid: 295, Judged: 300, Steps: &steps, CostNanoUSD: &cost, LatencyUs: &latency, Digest: "c1", SuiteDigest: "s1",
	}
}

// fall is a candidate that solves 97 and, from the night of the fall on, 88.
func fall(candidate string, nights, at int) (list []trend.Run) {
	for i := 1; i <= nights; i++ {
		solved := 97 - i%2
		if i >= at {
			solved -= 9
		}
		list = append(list, night(candidate, i, solved))
	}
	return list
}

func TestOf(t *testing.T) {
	all := trend.Of(fall("strong", 20, 15))
	require.Len(t, all, 5)
	for i, name := range []string{trend.Solved, trend.Valid, trend.Steps, trend.Cost, trend.Latency} {
		require.Equal(t, name, all[i].Metric)
		require.Equal(t, "strong", all[i].Candidate)
		require.Len(t, all[i].Points, 20)
		require.NotNil(t, all[i].Changes)
	}
	solved := all[0]
	iv, _ := stat.ClopperPearson(96, 100, 0.95)
	require.Equal(t, trend.Point{RunID: "run-01", Started: time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC), Value: 0.96, Interval: &iv}, solved.Points[0])
	require.Len(t, solved.Changes, 1)
	c := solved.Changes[0]
	require.Equal(t, 14, c.At)
	require.InDelta(t, 0.965, c.Before, 1e-9)
	require.InDelta(t, 0.875, c.After, 0.003)
	require.LessOrEqual(t, c.P, 0.05)
	require.Empty(t, c.With)
	require.NotNil(t, c.With)
	for _, s := range all[1:] {
		require.Empty(t, s.Changes, s.Metric)
	}
	require.Nil(t, all[3].Points[0].Interval)
}

func TestChangesOnPurpose(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(r *trend.Run)
		want []string
	}{
		"nothing":   {func(*trend.Run) {}, []string{}},
		"candidate": {func(r *trend.Run) { r.Digest = "c2" }, []string{"candidate"}},
		"suite":     {func(r *trend.Run) { r.SuiteDigest = "s2" }, []string{"suite"}},
		"both":      {func(r *trend.Run) { r.Digest, r.SuiteDigest = "c2", "s2" }, []string{"candidate", "suite"}},
	} {
		t.Run(name, func(t *testing.T) {
			runs := fall("strong", 20, 15)
			for i := range runs[14:] {
				c.edit(&runs[14+i])
			}
			require.Equal(t, c.want, trend.Of(runs)[0].Changes[0].With)
		})
	}
	// A change on another day does not explain this one.
	runs := fall("strong", 20, 15)
	for i := range runs[10:] {
		runs[10+i].Digest = "c2"
	}
	solved := trend.Of(runs)[0]
	require.Empty(t, solved.Changes[0].With)
	for i, p := range solved.Points {
		if i == 10 {
			require.Equal(t, []string{"candidate"}, p.Changed)
		} else {
			require.Empty(t, p.Changed)
		}
	}
}

func TestWhatIsUnknownIsLeftOut(t *testing.T) {
	runs := fall("a", 6, 99)
	runs[0].Scored, runs[0].Solved = 0, 0
	runs[1].CostNanoUSD, runs[2].CostNanoUSD = nil, nil
	for i := range runs[1:] {
		runs[1+i].LatencyUs = nil
	}
	runs = append(runs, night("once", 7, 90))
	points := map[string]int{}
	for _, s := range trend.Of(runs) {
		require.Equal(t, "a", s.Candidate, "one run is no series")
		points[s.Metric] = len(s.Points)
	}
	require.Equal(t, map[string]int{trend.Solved: 5, trend.Valid: 6, trend.Steps: 5, trend.Cost: 3}, points)
	require.Empty(t, trend.Of(nil))
}

// The more series there are, the more it takes: what one alone shows, thirty
// candidates beside it hide.
func TestManySeriesAskForMore(t *testing.T) {
	only := func(runs []trend.Run) []trend.Run {
		for i := range runs {
			r := &runs[i]
			r.Judged, r.Valid, r.Steps, r.CostNanoUSD, r.LatencyUs = 0, 0, nil, nil, nil
		}
		return runs
	}
	runs := only(fall("strong", 9, 6))
	alone := trend.Of(runs)
	require.Len(t, alone[0].Changes, 1)
	for k := range 30 {
		runs = append(runs, only(fall(fmt.Sprint("other", k), 9, 99))...)
	}
	crowd := trend.Of(runs)
	require.Len(t, crowd, 31)
	require.Equal(t, "strong", crowd[0].Candidate)
	require.Empty(t, crowd[0].Changes)
}

// Floor: one test of 10,000 orders for each series that changed, 40 ms; a few
// hundred orders for each other.
func BenchmarkOf(b *testing.B) {
	var runs []trend.Run
	for _, c := range []string{"a", "b", "c", "d"} {
		runs = append(runs, fall(c, 60, 50)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		trend.Of(runs)
	}
}
