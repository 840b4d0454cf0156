package model

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// ownReport judges custom criteria over the demo run.
func ownReport(t *testing.T, tasks, trials int, change func(*ledger.Rows), own ...manifest.Criterion) Report {
	return build(reporttest.OwnRun(t, tasks, trials, change, own...))
}

// named returns a criterion of a candidate by name.
func named(t *testing.T, list []Criterion, name string) Criterion {
	for _, c := range list {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no criterion %s among %v", name, list)
	return Criterion{}
}

// Each form gets its value, interval, statistics and verdict.
func TestOwnCriteria(t *testing.T) {
	own := func(expr, rule string) manifest.Criterion {
		return manifest.Criterion{Name: "mine", Expr: expr, Rule: rule}
	}
	tests := []struct {
		name                    string
		own                     manifest.Criterion
		kind, unit, value, need string
		interval                bool
		test                    string
		want                    stat.Verdict
	}{
		{"a percentile", own(`p95(duration_us) <= 4s where role == "main"`, ""), "percentile", "turns", "1.211s", "≤ 4s", true, "order-statistic interval of the p95, clustered by task", stat.Pass},
		{"a percentile too high", own(`p95(turns.duration_us) < 500ms`, ""), "percentile", "turns", "1.211s", "< 500ms", true, "order-statistic", stat.Fail},
		{"a percentile nearby", own(`p95(turns.duration_us) < 1.211s`, ""), "percentile", "turns", "1.211s", "< 1.211s", true, "order-statistic", stat.Inconclusive},
		{"its optimistic end decides nothing", own(`p95(turns.duration_us) < 1.211s`, "lower"), "percentile", "turns", "1.211s", "< 1.211s", true, "order-statistic", stat.Inconclusive},
		{"its upper end", own(`p95(turns.duration_us) < 1.211s`, "upper"), "percentile", "turns", "1.211s", "< 1.211s", true, "order-statistic", stat.Fail},
		{"a mean", own(`mean(steps) < 4`, ""), "mean", "episodes", "2.5268", "< 4", true, "interval of the mean, clustered by task, none above 12, two-sided 95%", stat.Inconclusive},
		{"a mean far below", own(`mean(steps) < 6`, ""), "mean", "episodes", "2.5268", "< 6", true, "none above 18", stat.Inconclusive},
		{"a rate", own(`rate(thrash) <= 0.5`, ""), "mean", "turns", "0.0268", "≤ 0.5", true, "interval of the rate per episode, clustered by task, none above 1.5", stat.Pass},
		{"a ratio", own(`sum(tool_calls) / count(solved) >= 9`, ""), "mean", "episodes", "1.5833", "≥ 9", true, "interval of the ratio, clustered by task, none above 27", stat.Fail},
		{"a share", own(`share(contract_valid) >= 95% where role == "main"`, ""), "share", "turns", "99.82%", "≥ 95%", true, "interval of the share, clustered by task, two-sided 95%", stat.Inconclusive},
		{"a sum", own(`sum(episodes.cost_nanousd) <= $2`, ""), "bare", "episodes", "$0.1073", "≤ $2", false, "none: a sum is a fact", stat.Pass},
		{"a maximum", own(`max(tool_calls) < 3`, ""), "bare", "episodes", "9", "< 3", false, "none: a max", stat.Fail},
		{"nothing found", own(`count() <= 0 where role == "other"`, ""), "bare", "turns", "0", "≤ 0", false, "none: a count", stat.Pass},
		{"no rows", own(`mean(duration_us) <= 4s where role == "other"`, ""), "mean", "turns", "–", "≤ 4s", false, "interval of the mean", stat.Inconclusive},
		{"no share", own(`share(solved) >= 1% where steps > 99`, "lower"), "share", "episodes", "–", "≥ 1%", false, "exact interval of the share", stat.Inconclusive},
		{"no sum", own(`sum(turns.cost_nanousd) <= $2 where role == "other"`, ""), "bare", "turns", "–", "≤ $2", false, "none", stat.Inconclusive},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ownReport(t, 14, 16, nil, tt.own)
			require.Len(t, r.Candidates[0].Criteria, 6)
			c := named(t, r.Candidates[0].Criteria, "mine")
			require.Equal(t, tt.want, c.Verdict, c.Note)
			require.Equal(t, []any{tt.kind, tt.unit, tt.value, tt.need, tt.interval}, []any{c.Kind, c.Unit, c.ValueText(), c.NeedsText(), c.Interval != nil})
			require.Contains(t, c.Test, tt.test)
			require.Contains(t, c.Note, "Expression: "+tt.own.Expr)
			if tt.interval {
				require.NotEqual(t, "–", c.IntervalText())
				require.LessOrEqual(t, c.Interval.Low, *c.Value)
				require.GreaterOrEqual(t, c.Interval.High, *c.Value)
			}
		})
	}
}

// Episodes without a result are excluded, as in the built-in criteria.
func TestOwnCriteriaLeaveOutLostEpisodes(t *testing.T) {
	r := ownReport(t, 14, 16, nil, manifest.Criterion{Name: "all", Expr: `count(infra_error) <= 0`})
	for _, c := range r.Candidates {
		k := named(t, c.Criteria, "all")
		require.Equal(t, c.Episodes-c.InfraErrors, k.N)
		require.Zero(t, *k.Value)
	}
	require.Positive(t, r.Candidates[2].InfraErrors)
}

// Episodes without a value never help to pass.
func TestOwnCriteriaWithoutValues(t *testing.T) {
	unpriced := func(every int) func(*ledger.Rows) {
		return func(rows *ledger.Rows) {
			for i := range rows.Episodes {
				if i%every == 0 {
					rows.Episodes[i].CostNanoUSD = nil
				}
			}
		}
	}
	sum := manifest.Criterion{Name: "sum", Expr: `sum(episodes.cost_nanousd) <= $2`}
	avg := manifest.Criterion{Name: "avg", Expr: `mean(episodes.cost_nanousd) <= $2`}
	tests := []struct {
		name     string
		every    int
		own      manifest.Criterion
		want     stat.Verdict
		in, note string
	}{
		{"a sum with one missing", 200, sum, stat.Inconclusive, "sum", "That is too many to pass."},
		{"a mean with few missing", 200, avg, stat.Pass, "avg", "of 224 rows have no value and are left out."},
		{"a mean with many missing", 2, avg, stat.Inconclusive, "avg", "That is too many to pass."},
		{"a mean with none", 1, avg, stat.Inconclusive, "avg", "nothing to judge, which never passes"},
		{"a sum that fails anyhow", 200, manifest.Criterion{Name: "sum", Expr: `sum(episodes.cost_nanousd) <= $0.01`}, stat.Fail, "sum", "have no value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ownReport(t, 14, 16, unpriced(tt.every), tt.own)
			c := named(t, r.Candidates[0].Criteria, tt.in)
			require.Equal(t, tt.want, c.Verdict)
			require.Contains(t, c.Note, tt.note)
		})
	}
}

func TestOwnCriteriaTooLittleData(t *testing.T) {
	slow := manifest.Criterion{Name: "slow", Expr: `p99(elapsed_us) <= 1h`}
	c := named(t, ownReport(t, 5, 2, nil, slow).Candidates[0].Criteria, "slow")
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Nil(t, c.Interval)
	require.Contains(t, c.Note, "too few episodes beyond this percentile")
	avg := manifest.Criterion{Name: "avg", Expr: `mean(steps) <= 99`}
	c = named(t, ownReport(t, 1, 9, nil, avg).Candidates[0].Criteria, "avg")
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Regexp(t, `If the mean stays the same, \d+ more tasks would make this a pass\.`, c.Note)
	flat := func(rows *ledger.Rows) {
		for i := range rows.Episodes {
			rows.Episodes[i].Steps = 3
		}
	}
	c = named(t, ownReport(t, 5, 9, flat, avg).Candidates[0].Criteria, "avg")
	require.Equal(t, stat.Inconclusive, c.Verdict, "five equal tasks may be among few others")
	require.InDelta(t, 3+(3*99-3)*(1-math.Pow(0.025, 0.2)), c.Interval.High, 1e-9)
}

// per: provider_model pools the candidates that share a model. A candidate with a model
// that no other has is judged alone.
func TestOwnCriteriaPerModel(t *testing.T) {
	r := ownReport(t, 14, 16, nil,
		manifest.Criterion{Name: "each", Expr: `mean(steps) <= 99`},
		manifest.Criterion{Name: "model", Expr: `mean(steps) <= 99`, Per: "provider_model"})
	names := func(list []Criterion) (out []string) {
		for _, c := range list[5:] {
			out = append(out, c.Name)
		}
		return out
	}
	require.Equal(t, []string{"each"}, names(r.Candidates[0].Criteria))
	require.Equal(t, []string{"each"}, names(r.Candidates[1].Criteria))
	require.Equal(t, []string{"each", "model"}, names(r.Candidates[2].Criteria))
	require.Len(t, r.Groups, 1)
	require.Equal(t, []string{"model"}, names(r.Groups[0].Criteria))
	pooled := named(t, r.Groups[0].Criteria, "model")
	a, b := named(t, r.Candidates[0].Criteria, "each"), named(t, r.Candidates[1].Criteria, "each")
	require.Equal(t, a.N+b.N, pooled.N)
	require.InEpsilon(t, (*a.Value*float64(a.N)+*b.Value*float64(b.N))/float64(a.N+b.N), *pooled.Value, 1e-12)
}

// A manifest can come from a newer cupel, with expressions that this one cannot read.
func TestOwnCriterionThatCannotBeRead(t *testing.T) {
	r := ownReport(t, 14, 16, nil, manifest.Criterion{Name: "later", Expr: `median(steps) < 4`})
	c := named(t, r.Candidates[0].Criteria, "later")
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Contains(t, c.Note, `cannot be read, so nothing was judged: 1:1: unknown function "median"`)
	require.Equal(t, stat.Inconclusive, r.Candidates[0].Verdict)
}

// Custom criteria use the same statistics as the built-in ones.
func TestOwnCriterionAgreesWithBuiltIn(t *testing.T) {
	r := ownReport(t, 14, 16, nil,
		manifest.Criterion{Name: "valid", Expr: `share(contract_valid and finish_reason != "length") >= 95% where role == "main" and error_kind == ""`},
		manifest.Criterion{Name: "steps", Expr: `mean(steps) <= 5 where solved and status != "stopped"`})
	for _, c := range r.Candidates {
		builtin, own := named(t, c.Criteria, "steps_per_solved"), named(t, c.Criteria, "steps")
		require.InEpsilon(t, *builtin.Value, *own.Value, 1e-12)
		require.InEpsilon(t, builtin.Interval.Low, own.Interval.Low, 1e-9)
		require.InEpsilon(t, builtin.Interval.High, own.Interval.High, 1e-9)
		require.Equal(t, builtin.Verdict, own.Verdict)
		valid, builtin := named(t, c.Criteria, "valid"), named(t, c.Criteria, "valid_json")
		require.Equal(t, []any{builtin.N, builtin.Value, builtin.Interval, builtin.DesignEffect, builtin.Verdict}, []any{valid.N, valid.Value, valid.Interval, valid.DesignEffect, valid.Verdict})
	}
}

// A criterion on time is not judged where every turn was batched, and says so.
func TestTimeCriterionOfBatchedTurns(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.M.Acceptance.Criteria = []manifest.Criterion{{Name: "slow", Expr: `p95(elapsed_us) <= 4s`}}
	reporttest.Tasks(w, 30, func(e *ledger.Episode, turns []ledger.Turn) {
		e.ElapsedUs, turns[0].DurationUs, turns[0].Batched, turns[0].SavedNanoUSD = nil, nil, true, new(int64(1_000_000))
	})
	r := build(w.M, w.Rows)
	c := r.Candidates[0]
	own := c.Criteria[len(c.Criteria)-1]
	require.Equal(t, stat.NotJudged, own.Verdict)
	require.Contains(t, own.Note, "batched turns and their episodes have no times")
	require.Contains(t, fmt.Sprint(r.Notes), "Batches answered 30 turns (saved: $0.0300)")
	require.Nil(t, c.Latency)
}
