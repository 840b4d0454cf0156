package harness_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/recorder"
)

// If the replies of a human during a recording are copied into the task, the replay of the cassette
// has the recorded ledger.
func TestReplayWithTheHumansReplies(t *testing.T) {
	o := recordOptions(t, "G16")
	o.Select.Candidates = []string{"strong"}
	o.Human = func(_ context.Context, q episode.Question) (episode.Answer, bool) {
		require.NotEmpty(t, q.Text)
		return episode.Answer{Text: "the praise ones, please"}, true
	}
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, recorded.Answers, 1)
	require.Equal(t, []string{"the praise ones, please"}, recorded.Answers[0].Replies)

	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	stale, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.True(t, rowsOf(t, stale).Episodes[0].InfraError, "the task's own reply leads elsewhere than the cassette")

	for i := range o.Suite.Tasks {
		if o.Suite.Tasks[i].ID == "G16" {
			o.Suite.Tasks[i].Replies = recorded.Answers[0].Replies
		}
	}
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
}
