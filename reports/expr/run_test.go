package expr

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Scores are rows that a query and a criterion read like those of a table.
func TestRunOnScores(t *testing.T) {
	const n = 300
	sum, passed, rows := 0.0, 0, 0
	for i := range n {
		rec := sampleEpisode(i)
		for _, s := range rec.Episode.Scores {
			if rows++; s.Name == "judge.tone" {
				sum += *s.Score
			}
			if s.Name == "score.brief" && s.Pass {
				passed++
			}
		}
	}
	got := ask(t, `count(scores), mean(score), share(pass) group by check`, sampleRun(t, n))
	require.EqualValues(t, rows, got.Read)
	require.Len(t, got.Rows, 2)
	require.Equal(t, "judge.tone", got.Rows[0][0].Text)
	require.InDelta(t, float64(rows/2), got.Rows[0][1].Number, 0)
	require.InDelta(t, sum/float64(rows/2), got.Rows[0][2].Number, 1e-12)
	require.True(t, got.Rows[1][2].Null)
	require.InDelta(t, float64(passed)/float64(rows/2), got.Rows[1][3].Number, 1e-12)

	e := tallied(t, `mean(score) >= 0.5 where check == "judge.tone"`, n)
	require.True(t, e.OK)
	require.InDelta(t, sum/float64(rows/2), e.Value, 1e-12)
	require.Len(t, e.Clusters, n/20)
}

// Labels are rows, too, each with the automatic verdict beside it.
func TestRunOnLabels(t *testing.T) {
	const n = 300
	agree := map[string]int{}
	rows := 0
	for i := range n {
		rec := sampleEpisode(i)
		for _, l := range rec.Episode.Labels {
			if pass, ok := rec.Episode.Automatic(l.Check); ok && pass == l.Pass {
				agree[l.Check]++
			}
			rows++
		}
	}
	got := ask(t, `count(labels), share(label == automatic), mean(label_score) group by label_check`, sampleRun(t, n))
	require.EqualValues(t, rows, got.Read)
	require.Len(t, got.Rows, 3)
	for i, check := range []string{"", "judge.tone"} {
		require.Equal(t, check, got.Rows[i][0].Text)
		require.InDelta(t, float64(agree[check])/float64(rows/3), got.Rows[i][2].Number, 1e-12)
	}
	require.True(t, got.Rows[2][2].Null, "no automatic verdict of this check")
	require.InDelta(t, 1, got.Rows[1][3].Number, 0)
}

// A query over several row groups has the result of a plain loop over the rows.
func TestRunAgainstPlainLoops(t *testing.T) {
	const n = 8000 // 40,000 turns are three row groups
	dir := sampleRun(t, n)
	type tally struct {
		rows, valid, costs, thrash, episodes int
		cost                                 float64
		durations                            []float64
	}
	by := map[string]*tally{}
	for i := range n {
		rec := sampleEpisode(i)
		seen := map[string]bool{}
		for _, turn := range rec.Turns {
			key := turn.Candidate + " " + turn.Provider
			if by[key] == nil {
				by[key] = &tally{}
			}
			g := by[key]
			if turn.Role != "main" {
				continue
			}
			g.rows++
			g.durations = append(g.durations, float64(*turn.DurationUs))
			if turn.ContractValid {
				g.valid++
			}
			if turn.Thrash {
				g.thrash++
			}
			if turn.CostNanoUSD != nil {
				g.cost += float64(*turn.CostNanoUSD)
				g.costs++
			}
			if !seen[key] {
				seen[key] = true
				g.episodes++
			}
		}
	}
	got := ask(t, `p95(duration_us), p50(duration_us), mean(cost_nanousd), sum(cost_nanousd), count(), share(contract_valid), rate(thrash),
		min(duration_us), max(duration_us), sum(cost_nanousd) / count(thrash)
		where role == "main" group by candidate, provider`, dir)
	require.Len(t, got.Rows, len(by))
	require.Equal(t, int64(5*n), got.Read)
	missing := 0
	for _, row := range got.Rows {
		g := by[row[0].Text+" "+row[1].Text]
		slices.Sort(g.durations)
		p95, _ := stat.Quantile(g.durations, 0.95)
		p50, _ := stat.Quantile(g.durations, 0.5)
		want := []float64{p95, p50, g.cost / float64(g.costs), g.cost, float64(g.rows), float64(g.valid) / float64(g.rows), float64(g.thrash) / float64(g.episodes),
			g.durations[0], g.durations[len(g.durations)-1], g.cost / float64(g.thrash)}
		for i, w := range want {
			require.InDelta(t, w, row[2+i].Number, 1e-9*math.Abs(w), got.Columns[2+i].Name)
		}
		missing += g.rows - g.costs
	}
	require.Equal(t, int64(missing), got.Columns[4].Missing)
	require.Equal(t, "mean(cost_nanousd)", got.Columns[4].Name)
	require.Equal(t, Money, got.Columns[4].Unit)
	require.Equal(t, Percent, got.Columns[7].Unit)
}

func TestRunConditions(t *testing.T) {
	dir := sampleRun(t, 40)
	var turns []ledger.Turn
	for i := range 40 {
		turns = append(turns, sampleEpisode(i).Turns...)
	}
	tests := []struct {
		where string
		want  func(ledger.Turn) bool
	}{
		{`role == "main"`, func(t ledger.Turn) bool { return t.Role == "main" }},
		{`"main" != role`, func(t ledger.Turn) bool { return t.Role != "main" }},
		{`role in ("reflect", 'other')`, func(t ledger.Turn) bool { return t.Role == "reflect" }},
		{`role not in ("reflect")`, func(t ledger.Turn) bool { return t.Role != "reflect" }},
		{`role >= "n"`, func(t ledger.Turn) bool { return t.Role >= "n" }},
		{`candidate < model and turn < 3`, func(t ledger.Turn) bool { return t.Candidate < t.Model && t.Turn < 3 }},
		{`candidate == "candidate-1" or candidate == "candidate-2" and thrash`, func(t ledger.Turn) bool {
			return t.Candidate == "candidate-1" || t.Candidate == "candidate-2" && t.Thrash
		}},
		{`not (thrash or contract_valid)`, func(t ledger.Turn) bool { return !t.Thrash && !t.ContractValid }},
		{`thrash == false`, func(t ledger.Turn) bool { return !t.Thrash }},
		{`thrash != contract_valid`, func(t ledger.Turn) bool { return t.Thrash != t.ContractValid }},
		{`duration_us > 1.5s`, func(t ledger.Turn) bool { return *t.DurationUs > 1_500_000 }},
		{`turns.duration_us <= 250ms`, func(t ledger.Turn) bool { return *t.DurationUs <= 250_000 }},
		{`duration_us * 2 - 1s < 1s`, func(t ledger.Turn) bool { return *t.DurationUs*2-1e6 < 1e6 }},
		{`-duration_us < -1s`, func(t ledger.Turn) bool { return *t.DurationUs > 1e6 }},
		{`turn in (1, 5)`, func(t ledger.Turn) bool { return t.Turn == 1 || t.Turn == 5 }},
		{`turn + 1 >= 4 and turn != 4`, func(t ledger.Turn) bool { return t.Turn+1 >= 4 && t.Turn != 4 }},
		{`ttft_us is null`, func(t ledger.Turn) bool { return t.TTFTUs == nil }},
		{`ttft_us is not null and ttft_us < 100ms`, func(t ledger.Turn) bool { return t.TTFTUs != nil && *t.TTFTUs < 100_000 }},
		{`ttft_us < 100ms`, func(t ledger.Turn) bool { return t.TTFTUs != nil && *t.TTFTUs < 100_000 }},
		{`not ttft_us < 100ms`, func(t ledger.Turn) bool { return t.TTFTUs != nil && *t.TTFTUs >= 100_000 }},
		{`ttft_us < 100ms or turn == 1`, func(t ledger.Turn) bool { return t.Turn == 1 || t.TTFTUs != nil && *t.TTFTUs < 100_000 }},
		{`cost_nanousd / duration_us > 1`, func(t ledger.Turn) bool {
			return t.CostNanoUSD != nil && *t.DurationUs != 0 && float64(*t.CostNanoUSD)/float64(*t.DurationUs) > 1
		}},
		{`cost_nanousd > $0.002 and true`, func(t ledger.Turn) bool { return t.CostNanoUSD != nil && *t.CostNanoUSD > 2_000_000 }},
		{`confidence > 50%`, func(t ledger.Turn) bool { return t.Confidence != nil && *t.Confidence > 0.5 }},
		{`ts_start >= "2023-11-14T22:13:30Z" and attempts == 1 and role == "main"`, func(t ledger.Turn) bool { return t.TsStart >= 1_700_000_010_000_000 && t.Role == "main" }},
		{`action_id == "a7-2"`, func(t ledger.Turn) bool { return t.ActionID == "a7-2" }},
		{`task_id == "task-000001" and turn == 1`, func(t ledger.Turn) bool { return t.TaskID == "task-000001" && t.Turn == 1 }},
	}
	for _, tt := range tests {
		t.Run(tt.where, func(t *testing.T) {
			want := 0
			for _, turn := range turns {
				if tt.want(turn) {
					want++
				}
			}
			require.NotZero(t, len(turns)-want, "the condition must tell rows apart")
			got := ask(t, "count(turns) where "+tt.where, dir)
			require.Equal(t, float64(want), got.Rows[0][0].Number)
		})
	}
}

func TestRunGroups(t *testing.T) {
	dir := sampleRun(t, 20)
	require.Equal(t, []string{"false 1", "true 19"}, lines(ask(t, `count() where elapsed_us >= 0 group by solved`, dir)))
	require.Equal(t, []string{"1 main 8", "1 reflect 4", "2 main 8", "2 reflect 4"},
		lines(ask(t, `count() where turn in (1, 2, 4) and trial < 3 group by trial, role`, dir)))
	require.Equal(t, []string{"1 8", "2 8", "3 8", "4 8", "5 8"}, lines(ask(t, `count(role == "main" and turn < 3) group by trial`, dir)))
	require.Equal(t, []string{"main 80", "reflect 20"}, lines(ask(t, `count() where attempts == 1 group by role`, dir)))
	require.Equal(t, []string{"null 80"}, lines(ask(t, `count() where confidence is null and steps_used >= 0 group by confidence`, dir)))
	require.Empty(t, ask(t, `count() where role == "other" group by role`, dir).Rows)
	require.Equal(t, []string{"0 null null null"}, lines(ask(t, `count(), mean(ttft_us), p95(ttft_us), share(thrash) where role == "other"`, dir)))
	// Two runs are queried as one table.
	require.Equal(t, []string{"40 2"}, lines(ask(t, `count(), rate(turns.turn in (1, 2)) where turn != 4 and turn != 5 and turn != 3`, dir)))
	require.Equal(t, []string{"80 2"}, lines(ask(t, `count(), rate(turns.turn in (1, 2)) where turn != 4 and turn != 5 and turn != 3`, dir, dir)))
}

// A value can also be a condition on aggregates.
func TestRunConditionsOnAggregates(t *testing.T) {
	dir := sampleRun(t, 20)
	require.Equal(t, []string{"true false true null"},
		lines(ask(t, `count(turns) < 3 and not count() in (3, 4), mean(turn) is not null, count() == 0, mean(turn) < 2 where role == "none"`, dir)))
}

// Row groups that the bounds exclude are not read.
func TestRunSkipsRowGroups(t *testing.T) {
	dir := sampleRun(t, 12_000) // four row groups of turns
	all := ask(t, `count(turns)`, dir)
	require.Equal(t, 60_000.0, all.Rows[0][0].Number)
	for where, want := range map[string]float64{
		`task_id == "task-000300"`:                     100,
		`task_id in ("task-000300", "none")`:           100,
		`task_id >= "task-000599"`:                     100,
		`task_id < "task-000001" or task_id == "none"`: 100,
		`task_id == "task-000300" and turn > 0`:        100,
	} {
		got := ask(t, "count(turns) where "+where, dir)
		require.Equal(t, want, got.Rows[0][0].Number, where)
		require.Equal(t, 3, got.Skipped, where)
	}
	for _, where := range []string{`turn > 5`, `attempts == 2`, `trial < 1`, `role == "zzz"`, `not replayed`, `ts_start < "1999-01-01"`} {
		got := ask(t, "count(turns) where "+where, dir)
		require.Zero(t, got.Rows[0][0].Number, where)
		require.Equal(t, 4, got.Skipped, where)
		require.Zero(t, got.Read, where)
	}
}

// The result is the same to the bit for any number of workers.
func TestRunIsDeterministic(t *testing.T) {
	dir := sampleRun(t, 8000)
	q, err := ParseQuery(`mean(confidence), sum(confidence), p99.9(ttft_us), rate(thrash) group by candidate, trial`)
	require.NoError(t, err)
	var first Result
	for i, procs := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(procs)
		got, err := q.Run(context.Background(), dir)
		runtime.GOMAXPROCS(old)
		require.NoError(t, err)
		if i == 0 {
			first = got
		}
		require.Equal(t, first, got)
	}
}

func TestRunBounds(t *testing.T) {
	dir := sampleRun(t, 20_001)
	q, err := ParseQuery(`count() group by action_id, request_digest`)
	require.NoError(t, err)
	_, err = q.Run(context.Background(), dir)
	require.ErrorContains(t, err, "more than 100000 groups")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = q.Run(ctx, dir)
	require.ErrorIs(t, err, context.Canceled)
	_, err = q.Run(context.Background(), t.TempDir())
	require.ErrorContains(t, err, "run.json: missing")
}

func ExampleParseQuery() {
	_, err := ParseQuery(`p95(duraton_us) where role == "main" group by candidate`)
	fmt.Println(err)
	// Output:
	// 1:5: unknown column "duraton_us"; did you mean duration_us?
	//   p95(duraton_us) where role == "main" group by candidate
	//       ^
}

// An episode without a result is neither solved nor unsolved, also for custom criteria
// that include it.
func TestSolvedIsUnknownWithoutAResult(t *testing.T) {
	dir := t.TempDir()
	var rows ledger.Rows
	for i, e := range []ledger.Episode{
		{Status: "answered", Solved: true}, {Status: "answered"}, {Status: ledger.StatusCancelled}, {Status: ledger.StatusBudgetStop},
		{Status: "error", InfraError: true}, {Status: ledger.StatusHarnessError}, {Status: "stopped", Solved: true},
	} {
		e.EpisodeID, e.Trial = fmt.Sprint(i), int32(i)
		rows.Episodes = append(rows.Episodes, e)
	}
	require.NoError(t, ledger.Write(dir, manifest.Manifest{Format: manifest.Format}, rows))
	got := ask(t, `share(solved), count(solved), count(not solved), count(solved is null), count()`, dir)
	for i, want := range []float64{2.0 / 3, 2, 1, 4, 7} {
		require.Equal(t, want, got.Rows[0][i].Number, got.Columns[i].Name)
	}
	require.Len(t, ask(t, `count() group by solved`, dir).Rows, 3)
	require.Equal(t, 2.0, ask(t, `count() where solved`, dir).Rows[0][0].Number)
	require.Equal(t, 1.0, ask(t, `count() where not solved`, dir).Rows[0][0].Number)

	c, err := ParseCriterion(`share(solved) >= 50%`)
	require.NoError(t, err)
	tally := c.NewTally()
	for _, e := range rows.Episodes {
		tally.Add(&ledger.EpisodeRows{Episode: e}, e.TaskID)
	}
	require.Equal(t, 3, tally.Evidence().Known)
}
