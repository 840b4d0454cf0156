package harness_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
)

// voteOptions returns a recording of two tasks with strategy vote. The answers to the second one
// differ.
func voteOptions(t *testing.T) harness.Options {
	t.Helper()
	w := newRandomFaults(3)
	o := stormOptions(t, 2, w)
	for i := range o.Suite.Tasks {
		o.Suite.Tasks[i].Tools = nil
	}
	n := 0
	w.fails, w.says = false, func([]byte) string { // called under no lock, but by one request at a time
		w.mu.Lock()
		defer w.mu.Unlock()
		n++
		return text(fmt.Sprint("It is ", n%2, "."))
	}
	o.Strategies = map[string]agent.Strategy{"vote": {New: newVote}}
	o.Candidates[0].Agent = "vote"
	return o
}

// A run with a custom strategy has all functions of other runs.
func TestCustomStrategy(t *testing.T) {
	o := voteOptions(t)
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", recorded.Manifest.Status)
	rows := firstEpisode(t, recorded)
	require.Equal(t, "vote", rows.Episode.Agent)
	require.Len(t, rows.Turns, 3)
	requireSameEpisodes(t, recorded, replayed(t, o))

	o.Mode, o.Transport = recorder.Replay, nil
	t.Run("replayer", func(t *testing.T) {
		again, err := rerun.NewReplayer(o, recorded.Manifest)
		require.NoError(t, err)
		defer again.Close()
		traces, err := again.Again(context.Background(), rows)
		require.NoError(t, err)
		var page strings.Builder
		require.NoError(t, episode.WriteTranscript(&page, traces))
		require.Contains(t, page.String(), "── vote: success\n   │ ")
	})
	t.Run("verify", func(t *testing.T) {
		v, err := rerun.Verify(context.Background(), o, recorded.Dir)
		require.NoError(t, err)
		require.Equal(t, 2, v.Verified)
	})
	t.Run("rescore", func(t *testing.T) {
		_, changed, err := rerun.Rescore(context.Background(), o, recorded.Dir)
		require.NoError(t, err)
		require.Equal(t, 2, changed.Episodes)
		require.Empty(t, changed.Changed)
	})
	t.Run("go test", func(t *testing.T) {
		suite, dir := *o.Suite, t.TempDir()
		require.NoError(t, os.CopyFS(filepath.Join(dir, "cassettes"), o.Cassettes))
		suite.FS = os.DirFS(dir)
		harness.Test(t, harness.Params{Loaded: &suite, Candidates: o.Candidates, Providers: o.Providers, Strategies: o.Strategies, Select: harness.Selection{Candidates: []string{"blow"}}})
	})
	t.Run("without it", func(t *testing.T) {
		o := o
		o.Strategies = map[string]agent.Strategy{"veto": {New: newVote}}
		_, err := harness.Run(context.Background(), o)
		require.ErrorContains(t, err, `candidate blow: agent: unknown strategy "vote"; known: contract, external, orchestrator, plan, tools, veto`)
		_, err = rerun.Verify(context.Background(), o, recorded.Dir)
		require.ErrorContains(t, err, `unknown strategy "vote"`)
	})
	t.Run("a task it cannot do", func(t *testing.T) {
		o := o
		suite := *o.Suite
		suite.Tasks = append([]goldens.Task{}, suite.Tasks...)
		suite.Tasks[1].Tools = []string{"lookup"}
		o.Suite = &suite
		_, err := harness.Run(context.Background(), o)
		require.ErrorContains(t, err, "candidate blow, task S01: agent: strategy vote: a vote calls no tools, and the task offers 1")
	})
}

// otherWords returns vote with another prompt.
func otherWords(p agent.Params) (agent.Machine, error) {
	p.Request = "Please: " + p.Request
	return newVote(p)
}

// A cassette of a custom strategy is stale if the strategy's first prompt or its name changed.
func TestCustomStrategyCassettesAreFreshOrStale(t *testing.T) {
	o := voteOptions(t)
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	why := func(change func(*harness.Options)) []string {
		o := o
		o.Candidates = append([]goldens.Candidate{}, o.Candidates...)
		change(&o)
		list, err := harness.Cassettes(o)
		require.NoError(t, err)
		require.Len(t, list, 2)
		return list[0].Why
	}
	require.Empty(t, why(func(*harness.Options) {}))
	require.Equal(t, []string{"prompt changed"}, why(func(o *harness.Options) {
		o.Strategies = map[string]agent.Strategy{"vote": {New: otherWords}}
	}))
	require.Contains(t, why(func(o *harness.Options) {
		o.Strategies = map[string]agent.Strategy{"veto": {New: newVote}}
		o.Candidates[0].Agent = "veto"
	}), "prompt changed")
	require.Equal(t, []string{"task changed (request, world, or its script)"}, why(func(o *harness.Options) {
		suite := *o.Suite
		suite.Tasks = append([]goldens.Task{}, suite.Tasks...)
		suite.Tasks[0].Request += "!"
		o.Suite = &suite
	}))
}

// A custom strategy replaces a built-in one of the same name.
func TestCustomStrategyReplacesABuiltInOne(t *testing.T) {
	o := voteOptions(t)
	o.Strategies, o.Candidates[0].Agent = map[string]agent.Strategy{"contract": {New: newVote}}, "contract"
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, firstEpisode(t, recorded).Turns, 3)
	requireSameEpisodes(t, recorded, replayed(t, o))
	o.Strategies, o.Mode = nil, recorder.Replay
	list, err := harness.Cassettes(o)
	require.NoError(t, err)
	require.Equal(t, cassettes.Stale, list[0].State)
	v, err := rerun.Verify(context.Background(), o, recorded.Dir)
	require.NoError(t, err)
	require.Equal(t, 2, v.Differing, "the built-in one asks otherwise")
	require.IsType(t, ledger.Difference{}, v.First.Difference)
}
