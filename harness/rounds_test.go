package harness_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/forecast"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
)

// judge stores the calls of Decide.After. Strong candidates pass after the first complete round,
// weak ones fail after the second.
type judge struct {
	t     *testing.T
	asked []string // round, and episodes by candidate
}

func (j *judge) after(m manifest.Manifest, episodes iter.Seq2[ledger.EpisodeRows, error]) ([]manifest.Stop, error) {
	have := map[string]int{}
	for range 2 { // it may be read several times
		clear(have)
		for rows, err := range episodes {
			require.NoError(j.t, err)
			have[rows.Episode.Candidate]++
			require.LessOrEqual(j.t, m.Decide.Round(int(rows.Episode.Trial)), m.Decide.Finished, "no later round has been begun")
		}
	}
	var stops []manifest.Stop
	line := fmt.Sprint(m.Decide.Finished)
	for _, c := range m.Candidates {
		require.Equal(j.t, c.Planned, have[c.Name], "%s: an unfinished round is not decided", c.Name)
		require.Equal(j.t, c.Planned, len(m.Tasks)*m.TrialsOf(c.Name))
		line += fmt.Sprintf(" %s:%d", c.Name, have[c.Name])
		if strings.HasPrefix(c.Name, "strong") {
			stops = append(stops, manifest.Stop{Candidate: c.Name, Verdict: "pass", Reason: "is strong"})
		} else if m.Decide.Finished >= 2 {
			stops = append(stops, manifest.Stop{Candidate: c.Name, Verdict: "fail", Reason: "is weak"})
		}
	}
	j.asked = append(j.asked, line)
	return stops, nil
}

func (j *judge) decide(most int) *harness.Decide {
	return &harness.Decide{MaxTrials: most, Baselines: []string{"base"}, Rules: "by name", After: j.after}
}

func TestRounds(t *testing.T) {
	for most, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 5: {1, 2, 3, 4, 5}, 6: {1, 2, 4, 5, 6}, 7: {1, 3, 4, 6, 7}, 20: {4, 8, 12, 16, 20}} {
		require.Equal(t, want, (&harness.Decide{MaxTrials: most}).Rounds())
	}
}

// recordRounds records two tasks with strong and weak and at most 6 trials. strong stops after
// trial 1 (round 1), weak after trial 2 (round 2).
func recordRounds(t *testing.T) (o harness.Options, j *judge, recorded harness.Result) {
	t.Helper()
	o = recordOptions(t, "G01", "G09")
	o.Select.Candidates = []string{"strong", "weak"}
	j = &judge{t: t}
	o.Decide = j.decide(6)
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	return o, j, recorded
}

func TestRoundsStopCandidates(t *testing.T) {
	o, j, recorded := recordRounds(t)
	asked := []string{"1 strong:2 weak:2", "2 strong:2 weak:4"}
	require.Equal(t, asked, j.asked)
	m := recorded.Manifest
	require.Equal(t, "complete", m.Status)
	require.Equal(t, []int{1, 2, 4, 5, 6}, m.Decide.Rounds)
	require.Equal(t, []manifest.Stop{{Candidate: "strong", Round: 1, Verdict: "pass", Reason: "is strong"}, {Candidate: "weak", Round: 2, Verdict: "fail", Reason: "is weak"}}, m.Decide.Stops)
	require.Equal(t, []any{2, 2, 4, 6, 0, 2}, []any{m.Decide.Finished, m.Candidates[0].Planned, m.Candidates[1].Planned, m.Episodes, m.Outcomes.Unfinished, m.Trials})
	require.NoDirExists(t, filepath.Join(recorded.Dir, "journal"), "there is nothing to resume")
	onDisk, err := manifest.Read(recorded.Dir)
	require.NoError(t, err)
	require.Equal(t, m.Decide, onDisk.Decide)

	// There are only the cassettes of the rounds, and they give the same run at any concurrency,
	// with and without a folder.
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	var want map[string]string
	for _, concurrency := range []int{1, 7} {
		j.asked, o.Concurrency, o.Runs = nil, concurrency, t.TempDir()
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, asked, j.asked)
		require.Equal(t, m.LedgerDigest, res.Manifest.LedgerDigest)
		require.Equal(t, m.Decide, res.Manifest.Decide)
		got := runFiles(t, res.Dir)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
	o.Runs = ""
	inMemory, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, m.LedgerDigest, inMemory.Manifest.LedgerDigest)

	// Another rule gives another run from the same cassettes.
	o.Decide = j.decide(6)
	o.Decide.Rules = "by another"
	other, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.NotEqual(t, inMemory.Manifest.RunID, other.Manifest.RunID)

	// A run of fixed size replays the same cassettes.
	o.Decide = nil
	v, err := rerun.Verify(context.Background(), o, recorded.Dir)
	require.NoError(t, err)
	require.Equal(t, [2]int{6, 0}, [2]int{v.Verified, v.Differing})
	o.Runs = t.TempDir()
	to, _, err := rerun.Rescore(context.Background(), o, recorded.Dir)
	require.NoError(t, err)
	rescored, err := manifest.Read(to)
	require.NoError(t, err)
	require.Equal(t, m.Decide, rescored.Decide)
	_, _, err = rerun.Merge(o.Runs, []string{recorded.Dir})
	require.ErrorContains(t, err, "is not a shard")
}

// A replay does not start without the cassettes of the first round, and writes nothing if those of
// a later round are missing.
func TestRoundsMissingCassettes(t *testing.T) {
	o, j, _ := recordRounds(t)
	o.Mode, o.Cassettes, o.Runs = recorder.Replay, os.DirFS(o.CassetteDir), t.TempDir()
	o.Decide.After = func(m manifest.Manifest, rows iter.Seq2[ledger.EpisodeRows, error]) ([]manifest.Stop, error) {
		stops, err := j.after(m, rows)
		return slices.DeleteFunc(stops, func(s manifest.Stop) bool { return s.Candidate == "weak" }), err
	}
	_, err := harness.Run(context.Background(), o)
	var missing *cassettes.MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "round 3 of 5: ")
	require.Len(t, missing.Missing, 4, "trials 3 and 4 of two tasks by weak, and none of strong")
	require.ErrorContains(t, err, "--decide --max-trials 6")
	left, err := os.ReadDir(o.Runs)
	require.NoError(t, err)
	require.Empty(t, left, "no judgement of half a run")

	require.NoError(t, os.Remove(filepath.Join(o.CassetteDir, "weak", "G01", "1.yaml")))
	j.asked = nil
	_, err = harness.Run(context.Background(), o)
	require.ErrorAs(t, err, &missing)
	require.Len(t, missing.Missing, 1)
	require.Empty(t, j.asked)
}

// An interrupted round has no decision. The decisions after earlier rounds are repeated with the
// same result.
func TestRoundsResume(t *testing.T) {
	o, j, recorded := recordRounds(t)
	o.Mode, o.Cassettes, o.Concurrency = recorder.Replay, os.DirFS(o.CassetteDir), 1
	o.Runs = t.TempDir()
	whole, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	want := runFiles(t, whole.Dir)
	for _, n := range []int{1, 4, 5} {
		j.asked, o.Runs, o.Resume = nil, t.TempDir(), ""
		stopped := stopAfter(t, o, n)
		require.True(t, stopped.Interrupted)
		m := stopped.Manifest
		require.Equal(t, whole.Manifest.RunID, m.RunID)
		require.Equal(t, []any{"partial", n, n / 4, n / 4, n / 4}, []any{m.Status, m.Episodes, len(j.asked), m.Decide.Finished, len(m.Decide.Stops)})
		unfinished := 4 - n // of the first round
		if n >= 4 {
			unfinished = 6 - n // strong has stopped
		}
		require.Equal(t, unfinished, m.Outcomes.Unfinished)
		o.Resume = m.RunID
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, recorded.Manifest.Decide, res.Manifest.Decide)
		require.Equal(t, want, runFiles(t, res.Dir), "after %d episodes", n)
	}

	o.Runs, o.Resume = t.TempDir(), ""
	stopped := stopAfter(t, o, 5)
	o.Resume = stopped.Manifest.RunID
	for name, change := range map[string]func(*harness.Decide){
		"rules":     func(d *harness.Decide) { d.Rules = "other" },
		"baselines": func(d *harness.Decide) { d.Baselines = nil },
	} {
		again := o
		again.Decide = j.decide(6)
		change(again.Decide)
		_, err = harness.Run(context.Background(), again)
		require.ErrorContains(t, err, "the rounds, the baselines or the thresholds changed", name)
	}
	again := o
	again.Decide, again.Trials = nil, 6
	_, err = harness.Run(context.Background(), again)
	require.ErrorContains(t, err, "the rounds, the baselines or the thresholds changed")

	// A later round was run, but its candidate must now stop before it.
	again = o
	again.Decide = j.decide(6)
	again.Decide.After = func(m manifest.Manifest, _ iter.Seq2[ledger.EpisodeRows, error]) ([]manifest.Stop, error) {
		return []manifest.Stop{{Candidate: "weak", Verdict: "fail"}}, nil
	}
	_, err = harness.Run(context.Background(), again)
	require.ErrorContains(t, err, "already has its trial 2")
}

// failing is a transport that fails requests while on is set.
type failing struct {
	next http.RoundTripper
	on   *atomic.Bool
}

func (f failing) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.on.Load() {
		return nil, errors.New("connection refused")
	}
	return f.next.RoundTrip(req)
}

// An episode without a result, or a cap, ends the run before its round is decided. A resumed run
// completes the round and then decides.
func TestRoundsWithoutResult(t *testing.T) {
	broken := &atomic.Bool{}
	begin := func() (harness.Options, *judge) {
		o := recordOptions(t, "G01", "G09")
		o.Select.Candidates, o.Concurrency, o.Retry.Sleep = []string{"strong", "weak"}, 1, noSleep
		transport := o.Transport
		o.Transport = func(provider string) http.RoundTripper { return failing{transport(provider), broken} }
		j := &judge{t: t}
		o.Decide = j.decide(6)
		return o, j
	}
	o, j := begin()
	o.Progress = func(p harness.Progress) { broken.Store(p.Done == 5) } // the first of the second round, of whatever lane, fails
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, []string{"1 strong:2 weak:2"}, j.asked)
	require.Equal(t, "partial", res.Manifest.Status)
	require.Contains(t, res.Manifest.Stopped, "round 2 of 5 was not decided: 1 of its episodes have no result")
	require.Equal(t, 1, res.Manifest.Decide.Finished)
	broken.Store(false)
	o.Progress, o.Resume, j.asked = nil, res.Manifest.RunID, nil
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, []string{"1 strong:2 weak:2", "2 strong:2 weak:4"}, j.asked)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Empty(t, res.Manifest.Stopped)

	o, j = begin()
	o.Caps = admission.Caps{Requests: 3}
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, j.asked, "a cap in the first round")
	require.Equal(t, []any{"partial", 0}, []any{res.Manifest.Status, res.Manifest.Decide.Finished})
	o.Caps, o.Resume = admission.Caps{}, res.Manifest.RunID
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, []any{"complete", 6, 2}, []any{res.Manifest.Status, res.Manifest.Episodes, res.Manifest.Decide.Finished})
}

// A dry run forecasts the largest possible run. It says that a replay would start if the first
// round has its cassettes.
func TestRoundsForecast(t *testing.T) {
	o, _, _ := recordRounds(t)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, []int{24, 6}, []int{out.Episodes, out.Trials})
	said := strings.Join(out.Warnings, "\n")
	require.Contains(t, said, "the most episodes that the run can have: a candidate may be decided after each of 5 rounds, of which the first has 1 of its 6 trials per task")
	require.NotContains(t, said, "would not start")
}

func TestRoundsRefuse(t *testing.T) {
	j := &judge{t: t}
	for name, c := range map[string]struct {
		change func(*harness.Options)
		want   string
	}{
		"shard":    {func(o *harness.Options) { o.Select.Shard = harness.Shard{Index: 1, Count: 2} }, "cannot be one of several shards"},
		"fork":     {func(o *harness.Options) { o.Fork = &harness.Fork{} }, "cannot be a fork"},
		"episodes": {func(o *harness.Options) { o.Select.Episode = func(string, string, int) bool { return true } }, "cannot be a selection of single episodes"},
		"stale":    {func(o *harness.Options) { o.Mode, o.CassetteDir, o.Stale = recorder.Record, "x", true }, "cannot be a recording of stale cassettes"},
		"trials":   {func(o *harness.Options) { o.Decide = j.decide(0) }, "at most 0 trials"},
		"many":     {func(o *harness.Options) { o.Decide = j.decide(10_001) }, "at most 10001 trials"},
		"after":    {func(o *harness.Options) { o.Decide.After = nil }, "Decide.After is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			o := countsOptions(t)
			o.Decide = j.decide(5)
			c.change(&o)
			_, err := harness.Run(context.Background(), o)
			var config *harness.ConfigError
			require.ErrorAs(t, err, &config)
			require.ErrorContains(t, err, c.want)
		})
	}
	o := countsOptions(t)
	o.Select.Candidates, o.Decide = []string{"strong"}, j.decide(1)
	o.Decide.After = func(manifest.Manifest, iter.Seq2[ledger.EpisodeRows, error]) ([]manifest.Stop, error) {
		return []manifest.Stop{{Candidate: "nobody"}}, nil
	}
	_, err := harness.Run(context.Background(), o)
	require.ErrorContains(t, err, `"nobody" is not a candidate`)
}

// The episodes of a session share their history within a trial. If one has no result, its round is
// not decided until the run is resumed.
func TestRoundsOfSessions(t *testing.T) {
	fixed := talkOptions(t, &echoModel{})
	want := runTalk(t, fixed)

	p := &echoModel{fail: "Second"}
	o := talkOptions(t, p)
	finished := 0
	o.Decide = &harness.Decide{MaxTrials: 2, After: func(m manifest.Manifest, _ iter.Seq2[ledger.EpisodeRows, error]) ([]manifest.Stop, error) {
		finished = m.Decide.Finished
		return nil, nil
	}}
	lost, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Contains(t, lost.Manifest.Stopped, "round 1 of 2 was not decided: 5 of its episodes have no result", "the second by three candidates, and the third by those that remember it")
	require.Zero(t, finished)
	p.fail, o.Resume = "", lost.Manifest.RunID
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, []any{2, "complete", 2, 42}, []any{finished, res.Manifest.Status, res.Manifest.Trials, res.Manifest.Episodes})
	require.Equal(t, answersOf(t, want), answersOf(t, res))
}
