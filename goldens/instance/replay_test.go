package instance_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/reports/orchestration"
)

// replayed returns a replay of the suite: of a few tasks with plans, background tasks, delegation
// and builds, or with CUPEL_LONG of all.
func replayed(t *testing.T) harness.Options {
	t.Helper()
	prices, err := price.Default()
	require.NoError(t, err)
	o := harness.Options{
		Matrix: harness.Matrix{Suite: loaded(t), Seed: 1},
		Rules:  harness.Rules{Policy: policy.Default(), Prices: prices},
		Parts:  harness.Parts{Providers: all.Factories()},
	}
	if testkit.Long(0, 1) == 0 {
		o.Select = harness.Selection{Tasks: []string{"I13", "I33", "I35", "I38", "I42"}, Candidates: []string{"orchestrator-*", "contract-oracle", "tools-erratic", "plan-erratic"}}
	}
	return o
}

// run executes a run in a folder of its own and returns that folder.
func run(t *testing.T, o harness.Options) harness.Result {
	t.Helper()
	if o.Runs == "" {
		o.Runs = t.TempDir()
	}
	res, err := harness.Run(t.Context(), o)
	require.NoError(t, err)
	return res
}

// files are the files of a run that has ended.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		out[name] = string(text)
	}
	return out
}

// killed returns the runs folder as kill -9 leaves it when half of the episodes have ended: a copy
// of what is on disk at that moment.
func killed(t *testing.T, o harness.Options) string {
	t.Helper()
	runs := t.TempDir()
	o.Runs, o.Concurrency, o.ReplaySpeed = t.TempDir(), 3, 1e9 // with a speed, each episode is on disk when it ends
	var err error
	o.Progress = func(p harness.Progress) {
		if p.Done == p.Total/2 {
			err = os.CopyFS(filepath.Join(runs, p.RunID), os.DirFS(p.Dir))
		}
	}
	run(t, o)
	require.NoError(t, err)
	return runs
}

// A replay of the suite gives the same bytes on one processor, at any concurrency, and resumed after
// a kill. Its shards merge to the same rows, and verify agrees.
func TestReplaysAreTheSameBytes(t *testing.T) {
	o := replayed(t)
	whole := run(t, o)
	require.Greater(t, whole.Manifest.Outcomes.Solved, 0)
	want := files(t, whole.Dir)

	one := func() map[string]string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		o := o
		o.Concurrency = 1
		return files(t, run(t, o).Dir)
	}
	require.True(t, same(want, one()), "on one processor")
	o.Concurrency = 16
	require.True(t, same(want, files(t, run(t, o).Dir)), "16 episodes in parallel")

	resumed := o
	resumed.Runs, resumed.Resume = killed(t, o), whole.Manifest.RunID
	kept := 0
	resumed.Progress = func(p harness.Progress) { kept = p.Resumed }
	require.True(t, same(want, files(t, run(t, resumed).Dir)), "resumed")
	require.GreaterOrEqual(t, kept, whole.Manifest.Episodes/2-1, "half of the episodes are not run again")

	var shards []string
	for i := 1; i <= 2; i++ {
		o.Select.Shard = harness.Shard{Index: i, Count: 2}
		shards = append(shards, run(t, o).Dir)
	}
	o.Select.Shard = harness.Shard{}
	_, merged, err := rerun.Merge(t.TempDir(), shards)
	require.NoError(t, err)
	require.Equal(t, whole.Manifest.LedgerDigest, merged.LedgerDigest)

	v, err := rerun.Verify(t.Context(), o, whole.Dir)
	require.NoError(t, err)
	require.Equal(t, whole.Manifest.Episodes, v.Verified)
	require.Zero(t, v.Differing, "%+v", v.First)
	require.Empty(t, v.Manifest)
}

// same reports whether two runs have equal files, which are too long to print.
func same(a, b map[string]string) bool {
	for name := range a {
		if a[name] != b[name] {
			return false
		}
	}
	return len(a) == len(b)
}

// The tasks of a plan overlap on the virtual clock: three run at once, one starts when the one that it
// depends on has ended, and the timeline of the report has a lane for each.
func TestTasksOverlap(t *testing.T) {
	o := replayed(t)
	o.Select = harness.Selection{Tasks: []string{"I51"}, Candidates: []string{"orchestrator-oracle"}}
	res, err := harness.Run(t.Context(), o)
	require.NoError(t, err)
	rows := res.Rows
	require.Len(t, rows.Episodes, 1)
	tasks := map[string]work.Task{}
	for _, task := range rows.Episodes[0].Tasks {
		tasks[task.ID] = task
	}
	table, flow, page, fill := tasks["table"], tasks["flow"], tasks["page"], tasks["fill"]
	begun := max(*table.TsStart, *flow.TsStart, *page.TsStart)
	require.Less(t, begun, min(*table.TsEnd, *flow.TsEnd, *page.TsEnd))
	require.GreaterOrEqual(t, *fill.TsStart, *table.TsEnd)
	require.Less(t, *fill.TsStart, *page.TsEnd)
	require.Less(t, *fill.TsEnd, *flow.TsEnd)

	shown := orchestration.Of(ledger.EpisodeRows{Episode: rows.Episodes[0], Turns: rows.Turns, ToolCalls: rows.ToolCalls})
	require.Len(t, shown.Lanes, 5)
}
