package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
)

// shards runs every shard of o in a separate runs folder.
func shards(t *testing.T, o harness.Options, n int) []string {
	t.Helper()
	var dirs []string
	for i := 1; i <= n; i++ {
		o.Runs, o.Select.Shard = t.TempDir(), harness.Shard{Index: i, Count: n}
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		dirs = append(dirs, res.Dir)
	}
	return dirs
}

func TestMergedShardsEqualTheUnshardedRun(t *testing.T) {
	o := countsOptions(t)
	o.Runs = t.TempDir()
	whole, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	dirs := shards(t, o, 3)
	slices.Reverse(dirs) // the order does not matter
	dir, m, err := rerun.Merge(t.TempDir(), dirs)
	require.NoError(t, err)

	read, err := manifest.Read(dir)
	require.NoError(t, err)
	require.Equal(t, m, read)
	require.Len(t, m.MergedFrom, 3)
	m.RunID, m.MergedFrom = whole.Manifest.RunID, nil
	require.Equal(t, whole.Manifest, m, "all but the run's name")
	merged, err := ledger.Read(dir)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rowsOf(t, whole)), withoutRun(merged))
}

func TestShardsDoNotMoveWhenTasksAreAdded(t *testing.T) {
	o := countsOptions(t)
	place := func(tasks []string) map[string]int {
		o.Select.Tasks = tasks
		at := map[string]int{}
		for i := 1; i <= 3; i++ {
			o.Select.Shard = harness.Shard{Index: i, Count: 3}
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			for _, e := range res.Rows.Episodes {
				require.Zero(t, at[e.EpisodeID], "in two shards")
				at[e.EpisodeID] = i
			}
		}
		return at
	}
	few, all := place([]string{"G0*"}), place(nil)
	require.NotEmpty(t, few)
	for id, i := range few {
		require.Equal(t, i, all[id])
	}
	count := map[int]int{}
	for _, i := range all {
		count[i]++
	}
	for i := 1; i <= 3; i++ {
		require.InDelta(t, len(all)/3, count[i], 30, "shards are of about one size")
	}
}

func TestMergeOfMissingShardsIsPartial(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates = []string{"strong"}
	dirs := shards(t, o, 3)
	dir, m, err := rerun.Merge(t.TempDir(), []string{dirs[0], dirs[2]})
	require.NoError(t, err)
	require.Equal(t, "partial", m.Status)
	require.Equal(t, "shard 2/3 is missing", m.Stopped)
	lost, err := manifest.Read(dirs[1])
	require.NoError(t, err)
	require.Equal(t, lost.Episodes, m.Outcomes.Unfinished)
	require.Equal(t, m.Episodes+lost.Episodes, m.Candidates[0].Planned)
	_, err = os.Stat(filepath.Join(dir, "turns.parquet"))
	require.NoError(t, err)
	_, err = harness.ReadSettings(dir)
	require.ErrorContains(t, err, "merged from shards; resume the incomplete shards")
}

// A killed shard has no ledger. The merged run has the episodes of the other shards and never
// passes.
func TestMergeOfAShardThatHasNotEnded(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates = []string{"strong"}
	dirs := shards(t, o, 2)
	killed, err := manifest.Read(dirs[0])
	require.NoError(t, err)
	lost := killed.Episodes
	killed.Status, killed.Episodes, killed.Outcomes = "running", 0, manifest.Outcomes{}
	require.NoError(t, manifest.Write(dirs[0], killed))
	require.NoError(t, os.Remove(filepath.Join(dirs[0], "turns.parquet")))
	_, m, err := rerun.Merge(t.TempDir(), dirs)
	require.NoError(t, err)
	require.Equal(t, "partial", m.Status)
	require.Contains(t, m.Stopped, "shard 1/2 has not ended (cupel run --resume ")
	require.Equal(t, lost, m.Outcomes.Unfinished)
	require.Len(t, m.MergedFrom, 2)
}

func TestMergeRefuses(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates, o.Select.Tasks = []string{"strong"}, []string{"G0*"}
	good := shards(t, o, 2)
	changed := func(change func(*harness.Options)) string {
		o := o
		change(&o)
		return shards(t, o, 2)[1]
	}
	whole := o
	whole.Runs = t.TempDir()
	res, err := harness.Run(context.Background(), whole)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		dirs []string
		want []string
	}{
		"none":            {nil, []string{"no runs"}},
		"twice":           {[]string{good[0], good[0]}, []string{"are both shard 1/2"}},
		"not a shard":     {[]string{good[0], res.Dir}, []string{"is not a shard", "different plans"}[:1]},
		"no run":          {[]string{t.TempDir()}, []string{"run.json"}},
		"seed and code":   {[]string{good[0], changed(func(o *harness.Options) { o.Seed, o.CodeVersion = 2, "2" })}, []string{"different candidates, policies or seeds", "different versions of cupel"}},
		"plan":            {[]string{good[0], changed(func(o *harness.Options) { o.Select.Tasks = []string{"G1*"} })}, []string{"different plans"}},
		"thresholds":      {[]string{good[0], changed(func(o *harness.Options) { o.Acceptance.MaxSteps = 9 })}, []string{"different acceptance thresholds"}},
		"number of parts": {[]string{good[0], shards(t, o, 3)[1]}, []string{"different numbers of shards"}},
	} {
		t.Run(name, func(t *testing.T) {
			runs := t.TempDir()
			_, _, err := rerun.Merge(runs, c.dirs)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			left, err := os.ReadDir(runs)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestParseShard(t *testing.T) {
	s, err := harness.ParseShard("2/3")
	require.NoError(t, err)
	require.Equal(t, harness.Shard{Index: 2, Count: 3}, s)
	require.Equal(t, "2/3", s.String())
	require.Empty(t, harness.Shard{}.String())
	for _, bad := range []string{"", "2", "0/3", "4/3", "-1/3", "a/b", "1/0", "1/1001", "1/3/5", "0/0"} {
		_, err := harness.ParseShard(bad)
		require.ErrorContains(t, err, "write i/n", bad)
	}
}
