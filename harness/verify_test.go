package harness_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// rewritten rewrites the ledger of a run with changed rows.
func rewritten(t *testing.T, dir string, change func(*ledger.Rows)) {
	t.Helper()
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	change(&rows)
	m, err := manifest.Read(dir)
	require.NoError(t, err)
	require.NoError(t, ledger.Write(dir, m, rows))
}

func TestVerify(t *testing.T) {
	t.Parallel() // it waits
	o := recordOptions(t, "G01", "G09", "G41")
	o.Select.Candidates = []string{"strong", "weak"}
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	again := o
	again.Cassettes, again.Select = os.DirFS(o.CassetteDir), harness.Selection{}

	v, err := rerun.Verify(context.Background(), again, recorded.Dir)
	require.NoError(t, err)
	require.Nil(t, v.First)
	require.Equal(t, recorded.Manifest.LedgerDigest, v.Was)
	require.Equal(t, v.Was, v.Is)
	require.Equal(t, []int{6, 6, 0}, []int{v.Episodes, v.Verified, v.Differing})

	t.Run("a row was changed", func(t *testing.T) {
		rewritten(t, recorded.Dir, func(rows *ledger.Rows) { *rows.Turns[len(rows.Turns)-1].DurationUs++ })
		v, err := rerun.Verify(context.Background(), again, recorded.Dir)
		require.NoError(t, err)
		require.Equal(t, []int{6, 5, 1}, []int{v.Episodes, v.Verified, v.Differing})
		require.Equal(t, "G41/weak/1", v.First.Episode)
		require.Equal(t, "duration_us", v.First.Column)
		require.NotEqual(t, v.Was, v.Is)
		rewritten(t, recorded.Dir, func(rows *ledger.Rows) { *rows.Turns[len(rows.Turns)-1].DurationUs-- })
	})
	t.Run("the manifest was changed", func(t *testing.T) {
		require.Empty(t, v.Manifest)
		rows, err := ledger.Read(recorded.Dir)
		require.NoError(t, err)
		for want, change := range map[string]func(m *manifest.Manifest){
			`simulated: false → true`:                         func(m *manifest.Manifest) { m.Simulated = false },
			`mode: "replay" → "record"`:                       func(m *manifest.Manifest) { m.Mode = "replay" },
			`status: "partial" → "complete"`:                  func(m *manifest.Manifest) { m.Status = "partial" },
			`run_id: "another" → "` + recorded.Manifest.RunID: func(m *manifest.Manifest) { m.RunID = "another" },
			`outcomes.solved: 1000 → `:                        func(m *manifest.Manifest) { m.Outcomes.Solved = 1000 },
			`outcomes.unfinished: 0 → 1`:                      func(m *manifest.Manifest) { m.Candidates[0].Planned++ },
			`candidates[1].model: "better" → `:                func(m *manifest.Manifest) { m.Candidates[1].Model = "better" },
			`candidates[0].rescue_model: "x" → none`:          func(m *manifest.Manifest) { m.Candidates[0].RescueModel = "x" },
			`tasks[0].title: "easier" → `:                     func(m *manifest.Manifest) { m.Tasks[0].Title = "easier" },
			`tasks[2].checks_digest: "0" → `:                  func(m *manifest.Manifest) { m.Tasks[2].ChecksDigest = "0" },
			`plan_digest: "0" → `:                             func(m *manifest.Manifest) { m.PlanDigest = "0" },
			`price_version: "1999-01-01" → `:                  func(m *manifest.Manifest) { m.PriceVersion = "1999-01-01" },
			`trials: 0 → 1`:                                   func(m *manifest.Manifest) { m.Trials = 0 },
		} {
			m, err := manifest.Read(recorded.Dir)
			require.NoError(t, err)
			was := m
			was.Candidates, was.Tasks = slices.Clone(m.Candidates), slices.Clone(m.Tasks)
			change(&m)
			require.NoError(t, ledger.Write(recorded.Dir, m, rows))
			v, err := rerun.Verify(context.Background(), again, recorded.Dir)
			require.NoError(t, err)
			require.Nil(t, v.First)
			var got []string
			for _, d := range v.Manifest {
				got = append(got, d.Member+": "+d.Was+" → "+d.Is)
			}
			require.Contains(t, strings.Join(got, "\n"), want)
			require.NoError(t, ledger.Write(recorded.Dir, was, rows))
		}
	})
	t.Run("episodes without a result are left out", func(t *testing.T) {
		rewritten(t, recorded.Dir, func(rows *ledger.Rows) { rows.Episodes[0].InfraError = true })
		v, err := rerun.Verify(context.Background(), again, recorded.Dir)
		require.NoError(t, err)
		require.Equal(t, []int{6, 5, 0}, []int{v.Episodes, v.Verified, v.Differing})
		rewritten(t, recorded.Dir, func(rows *ledger.Rows) { rows.Episodes[0].InfraError = false })
	})
	t.Run("the suite changed", func(t *testing.T) {
		o := again
		s := *o.Suite
		s.Digest, o.Suite = "other", &s
		_, err := rerun.Verify(context.Background(), o, recorded.Dir)
		require.ErrorContains(t, err, "cupel rescore")
	})
	t.Run("candidates come and go", func(t *testing.T) {
		o := again
		o.Candidates = append([]goldens.Candidate{{Name: "new", Provider: "sim-openai", Model: "sim-weak"}}, o.Suite.Candidates...)
		v, err := rerun.Verify(context.Background(), o, recorded.Dir)
		require.NoError(t, err)
		require.Nil(t, v.First)
		require.Equal(t, recorded.Manifest.LedgerDigest, v.Is)
		o.Candidates[1].Model = "another"
		require.Equal(t, "strong", o.Candidates[1].Name)
		_, err = rerun.Verify(context.Background(), o, recorded.Dir)
		require.EqualError(t, err, "run "+recorded.Manifest.RunID+" cannot be executed again:\ncandidate strong changed since the run was made")
		o.Candidates = o.Candidates[2:]
		_, err = rerun.Verify(context.Background(), o, recorded.Dir)
		require.ErrorContains(t, err, "again:\nno candidate matches \"strong\"")
	})
	t.Run("a cassette is gone", func(t *testing.T) {
		o := again
		o.Cassettes = os.DirFS(t.TempDir())
		_, err := rerun.Verify(context.Background(), o, recorded.Dir)
		var missing *cassette.MissingError
		require.ErrorAs(t, err, &missing)
	})
	t.Run("a live run kept nothing", func(t *testing.T) {
		live := o
		live.Mode, live.Runs, live.CassetteDir = recorder.Live, t.TempDir(), ""
		res, err := harness.Run(context.Background(), live)
		require.NoError(t, err)
		_, err = rerun.Verify(context.Background(), again, res.Dir)
		require.ErrorContains(t, err, "a live run does not store texts")
	})
}

func TestRescore(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates, o.Select.Tasks, o.Runs = []string{"strong"}, []string{"G0*"}, t.TempDir()
	run, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	was := rowsOf(t, run)
	require.True(t, was.Episodes[0].Solved)

	o.Select = harness.Selection{}
	today := countsSuite(t)
	today.Digest = "of today"
	task := taskNamed(t, today, was.Episodes[0].TaskID)
	task.Expect = []goldens.Expect{{Status: "answered", Numbers: []string{"123456789"}}}
	o.Suite = today
	dir, res, err := rerun.Rescore(context.Background(), o, run.Dir)
	require.NoError(t, err)
	require.Equal(t, len(was.Episodes), res.Episodes)
	require.Len(t, res.Changed, 1)
	require.Equal(t, was.Episodes[0].TaskID, res.Changed[0].Task)
	require.True(t, res.Changed[0].Was)
	require.False(t, res.Changed[0].Is)

	text, err := os.ReadFile(filepath.Join(dir, rerun.RescoreFile))
	require.NoError(t, err)
	var kept rerun.Rescored
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Equal(t, run.Manifest.RunID, kept.From)
	require.Equal(t, res.Changed[0].IsChecks, kept.Changed[0].IsChecks, "both verdicts are recorded")

	m, err := manifest.Read(dir)
	require.NoError(t, err)
	require.Equal(t, run.Manifest.RunID, m.RescoredFrom)
	require.Equal(t, run.Manifest.Outcomes.Solved-1, m.Outcomes.Solved)
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	require.Equal(t, len(was.Turns), len(rows.Turns))
	require.Equal(t, m.RunID, rows.Turns[0].RunID)
	require.Equal(t, was.Episodes[0].EpisodeID, rows.Episodes[0].EpisodeID)
	require.False(t, rows.Episodes[0].Solved)
	require.Equal(t, was, rowsOf(t, run), "the run itself stays")

	t.Run("more than checks changed", func(t *testing.T) {
		task.Request += " Please."
		o.Runs = t.TempDir()
		_, _, err := rerun.Rescore(context.Background(), o, run.Dir)
		var apart *rerun.DivergedError
		require.ErrorAs(t, err, &apart)
		require.Contains(t, err.Error(), was.Episodes[0].TaskID+"/strong/1")
		left, err := os.ReadDir(o.Runs)
		require.NoError(t, err)
		require.Empty(t, left, "nothing is written")
	})
	t.Run("a task is gone", func(t *testing.T) {
		o.Suite = countsSuite(t)
		o.Suite.Tasks = o.Suite.Tasks[1:]
		o.Runs = t.TempDir()
		_, _, err := rerun.Rescore(context.Background(), o, run.Dir)
		require.ErrorContains(t, err, "no such episode in the suite")
	})
}
