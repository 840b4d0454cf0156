package trend_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/trend"
)

// night returns the i-th run of a candidate that solves this many of 100 episodes.
func night(candidate string, i, solved int) trend.Run {
	steps, cost, latency := 3+0.01*float64(i%3), 1e6, 4e5
	iv, _ := stat.ClopperPearson(solved, 100, trend.Confidence)
	return trend.Run{
		RunID: fmt.Sprintf("run-%02d", i), Started: time.Date(2026, 11, i, 3, 0, 0, 0, time.UTC), Candidate: candidate,
		Solved: solved, Scored: 100, SolvedWithin: &iv, Valid: 295, Judged: 300, Steps: &steps, CostNanoUSD: &cost, LatencyUs: &latency, Digest: "c1", SuiteDigest: "s1",
	}
}

// fall returns the runs of a candidate that solves 97, and 88 from the given night on.
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
	require.GreaterOrEqual(t, c.Evidence, c.Limit)
	require.Greater(t, c.Detected, c.At)
	require.LessOrEqual(t, c.Detected, 17)
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

// only returns runs of which only the solved share is known.
func only(runs []trend.Run) []trend.Run {
	for i := range runs {
		r := &runs[i]
		r.Judged, r.Valid, r.Steps, r.CostNanoUSD, r.LatencyUs = 0, 0, nil, nil, nil
	}
	return runs
}

// byNight sorts the runs of several candidates by time.
func byNight(runs []trend.Run) []trend.Run {
	slices.SortStableFunc(runs, func(a, b trend.Run) int { return a.Started.Compare(b.Started) })
	return runs
}

// With more series, a change needs more evidence, so that together they raise alarms as
// rarely as one. A series counts from its first night on.
func TestManySeriesAskForMore(t *testing.T) {
	limit := func(others, since int) float64 {
		runs := only(fall("strong", 30, 20))
		for k := range others {
			runs = append(runs, only(fall(fmt.Sprint("other", k), 30, 99))[since:]...)
		}
		changes := trend.Of(byNight(runs))[0].Changes
		require.Len(t, changes, 1)
		require.Equal(t, 19, changes[0].At)
		return changes[0].Limit
	}
	alone := limit(0, 0)
	require.Greater(t, limit(9, 0), alone+0.5)
	require.InDelta(t, alone, limit(9, 28), 0, "two nights old, after the alarm")
	require.InDelta(t, alone, limit(9, 29), 0, "a series of one night")
}

// The report of a later night shows the changes of an earlier report, with the same
// nights and evidence, as long as their points are shown.
func TestChangesStay(t *testing.T) {
	runs := append(only(fall("strong", 90, 30)), only(fall("late", 90, 55))[40:]...)
	runs = byNight(runs)
	shown := map[string]bool{}
	for n := 1; n <= len(runs); n++ {
		now := map[string]bool{}
		for _, s := range trend.Of(runs[:n]) {
			require.LessOrEqual(t, len(s.Points), trend.Shown)
			for _, c := range s.Changes {
				now[fmt.Sprint(s.Candidate, s.Points[c.At].RunID, s.Points[c.Detected].RunID, c.Evidence, c.Limit)] = true
			}
		}
		if n <= 120 { // after 90 nights a change of night 30 is no longer among 60 points
			for c := range shown {
				require.True(t, now[c], "%s is no longer shown in %d runs", c, n)
			}
		}
		shown = now
	}
	require.Len(t, shown, 1)
}

// Floor: level.Shifts of 20 series of 60 nights.
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
