package expr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

func TestParseCriterion(t *testing.T) {
	type want struct {
		table, name     string
		form            Form
		rank, threshold float64
		unit            Unit
		atLeast, strict bool
	}
	tests := map[string]want{
		`p95(duration_us) <= 4s where role == "main"`: {"turns", "p95", Percentile, 0.95, 4e6, Duration, false, false},
		`mean(steps) < 4`: {"episodes", "mean", Ratio, 0, 4, None, false, true},
		`share(contract_valid) >= 99% where role == "main"`:   {"turns", "share", Share, 0, 0.99, Percent, true, false},
		`count() <= 0 where thrash`:                           {"turns", "count", Bare, 0, 0, None, false, false},
		`sum(episodes.cost_nanousd) <= $2`:                    {"episodes", "sum", Bare, 0, 2e9, Money, false, false},
		`max(tool_calls) < 2 * 10`:                            {"episodes", "max", Bare, 0, 20, None, false, true},
		`rate(deduped) > 0.5`:                                 {"tool_calls", "rate", Ratio, 0, 0.5, None, true, true},
		`sum(episodes.cost_nanousd) / count(solved) <= $0.01`: {"episodes", "ratio", Ratio, 0, 1e7, Money, false, false},
		`p99.9(elapsed_us) <= 1m + 500ms`:                     {"episodes", "p99.9", Percentile, 0.99900000000000011, 60.5e6, Duration, false, false},
		`min(confidence) >= 10%`:                              {"turns", "min", Bare, 0, 0.1, None, true, false},
	}
	for text, w := range tests {
		c, err := ParseCriterion(text)
		require.NoError(t, err, text)
		require.InDelta(t, w.rank, c.Rank, 1e-12, text)
		require.Equal(t, w, want{c.Table(), c.Name, c.Form, w.rank, c.Threshold, c.Unit, c.AtLeast, c.Strict}, text)
	}
}

func TestParseCriterionRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", ``, `1:1: expected a value`},
		{"no threshold", `mean(steps)`, `1:1: a criterion compares a value with a threshold`},
		{"equality", `count(solved) == 3`, `a criterion compares a value with a threshold by <, <=, > or >=`},
		{"turned round", `4 > mean(steps)`, `1:5: the threshold stands on the right`},
		{"two aggregates", `mean(steps) + max(steps) < 4`, `a criterion is about one aggregate`},
		{"a ratio of means", `mean(steps) / mean(tool_calls) < 4`, `a criterion is about one aggregate`},
		{"a time", `max(ts_start) < "2026-01-01" where solved`, `a criterion is about one aggregate of numbers`},
		{"no unit", `p95(elapsed_us) <= 4`, `1:20: a duration needs a unit here: write 4s`},
		{"a share of a duration", `p95(elapsed_us) <= 4%`, `a duration beside a share`},
		{"another unit", `p95(elapsed_us) <= $4`, `1:17: a duration beside money`},
		{"a unit too much", `mean(steps) < 4s`, `1:13: a plain number beside a duration`},
		{"99 for 99%", `share(solved) >= 99`, `a share lies between 0% and 100%`},
		{"divided by 0", `mean(steps) < 4 / 0`, `the threshold is divided by 0`},
		{"grouped", `mean(steps) < 4 group by candidate`, `1:17: unexpected "group"`},
		{"an unknown column", `mean(stepz) < 4`, `1:6: unknown column "stepz"; did you mean steps?`},
		{"an unknown column behind where", `mean(steps) < 4 where solvedd`, `unknown column "solvedd"; did you mean solved?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseCriterion(tt.text)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// tallied returns the evidence of n episodes, in two parts that are merged.
func tallied(t *testing.T, text string, n int) Evidence {
	c, err := ParseCriterion(text)
	require.NoError(t, err)
	a, b := c.NewTally(), c.NewTally()
	for i := range n {
		rec := sampleEpisode(i)
		if i < n/3 {
			a.Add(&rec, rec.Episode.TaskID)
		} else {
			b.Add(&rec, rec.Episode.TaskID)
		}
	}
	a.Merge(b)
	return a.Evidence()
}

// The value of a criterion equals that of the same query over the files.
func TestTallyAgreesWithQuery(t *testing.T) {
	const n = 300
	dir := sampleRun(t, n)
	for _, text := range []string{
		`p95(duration_us)`, `mean(cost_nanousd)`, `share(contract_valid)`, `rate(thrash)`, `sum(turns.tokens_used)`, `max(duration_us)`, `min(duration_us)`,
		`count(contract_valid)`, `sum(turns.cost_nanousd) / count(contract_valid)`, `p50(ttft_us)`,
	} {
		const where = ` where role == "main" and thrash in (true, false)`
		want := ask(t, text+where, dir)
		limit := map[Unit]string{Duration: "1s", Money: "$1", Percent: "50%", None: "1"}[want.Columns[0].Unit]
		got := tallied(t, text+" <= "+limit+where, n)
		require.True(t, got.OK)
		require.InEpsilon(t, want.Rows[0][0].Number, got.Value, 1e-12, text)
		require.Equal(t, int(want.Columns[0].Missing), got.Missing, text)
		require.Equal(t, n, got.Episodes)
	}
}

func TestTallyEvidence(t *testing.T) {
	const n = 60 // three tasks
	mean := tallied(t, `mean(cost_nanousd) <= $1 where role == "main"`, n)
	require.Len(t, mean.Clusters, 3)
	var obs []stat.Observation
	for i := range n {
		for _, turn := range sampleEpisode(i).Turns {
			if turn.Role == "main" && turn.CostNanoUSD != nil {
				obs = append(obs, stat.Observation{Cluster: turn.TaskID, Value: float64(*turn.CostNanoUSD)})
			}
		}
	}
	want, _ := stat.ClusterMean(obs)
	var sums []stat.Cluster
	for _, c := range mean.Clusters {
		sums = append(sums, c.Cluster)
	}
	got, ok := stat.ClusterRatio(sums)
	require.True(t, ok)
	require.InEpsilon(t, want.Value, got.Value, 1e-12)
	require.InEpsilon(t, want.SE, got.SE, 1e-9)
	require.Equal(t, len(obs), mean.Known)

	p := tallied(t, `p95(duration_us) <= 1s`+` where thrash in (true, false)`, n)
	require.Len(t, p.Values, 5*n)
	require.Equal(t, "task-000002", p.Values[5*n-1].Cluster)

	// Without episodes nothing is known. With episodes, a count of zero is known.
	require.False(t, tallied(t, `count() <= 0 where thrash`, 0).OK)
	require.True(t, tallied(t, `count() <= 0 where role == "none" and thrash`, n).OK)
	require.False(t, tallied(t, `count(thrash) <= 0 where role == "none"`, n).OK)
	require.False(t, tallied(t, `sum(turns.cost_nanousd) <= $1 where role == "none"`, n).OK)
	require.False(t, tallied(t, `mean(turns.cost_nanousd) <= $1 where role == "none"`, n).OK)
	require.False(t, tallied(t, `p50(duration_us) <= 1s where role == "none"`, n).OK)
	inexact := tallied(t, `max(turns.seed) < 4`, n)
	require.True(t, inexact.Inexact)
	require.False(t, inexact.OK)
}

func FuzzParseCriterion(f *testing.F) {
	f.Add(`p95(duration_us) <= 4s where role == "main"`)
	f.Add(`sum(episodes.cost_nanousd) / count(solved) < $0.01 * 2`)
	f.Add(`rate(deduped or tool_name in ("a")) >= 1%`)
	rec := sampleEpisode(3)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCriterion(text)
		if err != nil {
			return
		}
		tally := c.NewTally()
		tally.Add(&rec, "task")
		if c.Form == Share {
			yes, known := 0.0, 0.0
			for _, s := range tally.Evidence().Clusters {
				yes, known = yes+s.Num, known+s.Den
			}
			require.LessOrEqual(t, yes, known)
			require.Equal(t, tally.Evidence().Known, int(known))
		}
	})
}

// Floor: the two columns of an episode of five rows are put into vectors.
func BenchmarkTally(b *testing.B) {
	c, err := ParseCriterion(`p95(duration_us) <= 4s where role == "main"`)
	require.NoError(b, err)
	var recs []ledger.EpisodeRows
	for i := range 100 {
		recs = append(recs, sampleEpisode(i))
	}
	tally := c.NewTally()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		tally.Add(&recs[i%100], recs[i%100].Episode.TaskID)
	}
}
