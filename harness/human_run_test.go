package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/rerun"
)

// The replies of a person are in the run folder when the episode has ended. They stay there when the
// run is resumed, and are copied when it is merged or rescored.
func TestAnswersStayWithTheRun(t *testing.T) {
	o := recordOptions(t, "G16", "G18")
	o.Select.Candidates, o.Runs, o.Concurrency = []string{"strong", "weak"}, t.TempDir(), 1
	said := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, "replies.yaml"))
		require.NoError(t, err)
		return string(text)
	}
	o.Human = func(_ context.Context, q episode.Question) (episode.Answer, bool) {
		return episode.Answer{Text: "praise for " + q.Candidate}, true
	}
	o.Select.Shard = harness.Shard{Index: 1, Count: 1}
	res := stopAfter(t, o, 2)
	require.True(t, res.Interrupted)
	first := said(res.Dir)
	require.Contains(t, first, "praise for")

	o.Resume = res.Manifest.RunID
	o.Human = func(_ context.Context, q episode.Question) (episode.Answer, bool) {
		return episode.Answer{Text: "the second half"}, true
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	whole := said(res.Dir)
	require.Contains(t, whole, "praise for")
	require.Contains(t, whole, "the second half")

	dir, _, err := rerun.Merge(t.TempDir(), []string{res.Dir})
	require.NoError(t, err)
	require.Equal(t, whole, said(dir))

	require.NoError(t, os.WriteFile(filepath.Join(res.Dir, "replies.yaml"), []byte("- ["), 0o644))
	runs := t.TempDir()
	_, _, err = rerun.Merge(runs, []string{res.Dir})
	require.ErrorContains(t, err, "read answers")
	left, err := os.ReadDir(runs)
	require.NoError(t, err)
	require.Empty(t, left, "a merge that failed leaves nothing")
}
