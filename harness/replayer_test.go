package harness_test

import (
	"context"
	"os"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
)

// episodesOf returns the episodes of a run in memory, each with its rows.
func episodesOf(rows ledger.Rows) (list []ledger.EpisodeRows) {
	for _, e := range rows.Episodes {
		one := ledger.EpisodeRows{Episode: e}
		for _, t := range rows.Turns {
			if t.EpisodeID == e.EpisodeID {
				one.Turns = append(one.Turns, t)
			}
		}
		for _, c := range rows.ToolCalls {
			if c.EpisodeID == e.EpisodeID {
				one.ToolCalls = append(one.ToolCalls, c)
			}
		}
		list = append(list, one)
	}
	return list
}

// A Replayer executes an episode of any kind of run like a replay.
func TestReplayerEqualsReplay(t *testing.T) {
	forked, _ := forkOptions(t, recorder.Record, 1)
	res, err := harness.Run(context.Background(), forked)
	require.NoError(t, err)
	require.Zero(t, res.Manifest.Outcomes.WithoutResult())
	forked.Cassettes = os.DirFS(forked.CassetteDir)
	packed := countsOptions(t)
	packed.Cassettes = countsPack(t)

	for name, tc := range map[string]struct {
		o   harness.Options
		sel harness.Selection
	}{
		"replayed": {countsOptions(t), harness.Selection{Tasks: []string{"G0*", "G39"}, Candidates: []string{"strong", "weak"}}},
		"scripted": {countsOptions(t), harness.Selection{Candidates: []string{"scripted"}}},
		"packed":   {packed, harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"weak"}}},
		"fork":     {forked, harness.Selection{Candidates: []string{"strong"}}},
	} {
		t.Run(name, func(t *testing.T) {
			o := tc.o
			o.Mode, o.Select, o.Runs = recorder.Replay, tc.sel, ""
			run, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			o.Select = harness.Selection{Episode: func(string, string, int) bool { return false }} // of the run, not asked again
			p, err := rerun.NewReplayer(o, run.Manifest)
			require.NoError(t, err)
			defer p.Close()
			for _, e := range episodesOf(run.Rows) {
				got, err := p.Again(context.Background(), e)
				require.NoError(t, err)
				o.Select = harness.Selection{Tasks: []string{e.Episode.TaskID}, Candidates: []string{e.Episode.Candidate}}
				if o.Fork != nil {
					o.Select = harness.Selection{Candidates: []string{o.Fork.Base(e.Episode.Candidate)}}
				}
				_, want, err := harness.Replay(context.Background(), o, 1)
				require.NoError(t, err)
				require.Equal(t, transcript(t, want), transcript(t, got))
			}
		})
	}
}

func transcript(t *testing.T, traces []episode.Trace) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, episode.WriteTranscript(&b, traces))
	require.NotEmpty(t, b.String())
	return b.String()
}

// A Replayer returns the reason instead of an episode that differs from the ledger.
func TestReplayerRefuses(t *testing.T) {
	o := recordOptions(t, "G01", "G09")
	o.Select.Candidates = []string{"strong"}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	all := episodesOf(rowsOf(t, res))
	was := all[0]
	o.Cassettes = os.DirFS(o.CassetteDir)
	file := path.Join(o.CassetteDir, was.Turns[0].Cassette)
	text, err := os.ReadFile(file)
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		change func(*harness.Options, *manifest.Manifest, *ledger.EpisodeRows)
		file   string // the cassette; empty for none
		kind   string // empty for none
		why    string
	}{
		"as it was": {},
		"other prices and checks": {change: func(o *harness.Options, _ *manifest.Manifest, e *ledger.EpisodeRows) {
			s := *o.Suite
			s.Digest, o.Suite, e.Episode.Solved, e.Episode.CostNanoUSD = "other", &s, !e.Episode.Solved, nil
		}},
		"other configuration of others": {change: func(o *harness.Options, m *manifest.Manifest, _ *ledger.EpisodeRows) {
			o.Candidates = append([]goldens.Candidate{{Name: "new", Provider: "sim-openai", Model: "m"}}, o.Suite.Candidates...)
			m.Candidates = append(m.Candidates, manifest.Candidate{Name: "gone"})
		}},
		"live":     {func(_ *harness.Options, m *manifest.Manifest, _ *ledger.EpisodeRows) { m.Mode = "live" }, "", "live", "does not store texts"},
		"lost":     {func(_ *harness.Options, _ *manifest.Manifest, e *ledger.EpisodeRows) { e.Episode.InfraError = true }, "", "lost", "no result"},
		"no task":  {func(_ *harness.Options, _ *manifest.Manifest, e *ledger.EpisodeRows) { e.Episode.TaskID = "G99" }, "", "gone", "no such episode"},
		"no trial": {func(_ *harness.Options, _ *manifest.Manifest, e *ledger.EpisodeRows) { e.Episode.Trial = 7 }, "", "gone", "no such episode"},
		"no cassette": {func(o *harness.Options, _ *manifest.Manifest, _ *ledger.EpisodeRows) {
			o.Cassettes = os.DirFS(t.TempDir())
		},
			"", episode.KindCassetteMissing, "--task G01"},
		"a row was changed": {func(_ *harness.Options, _ *manifest.Manifest, e *ledger.EpisodeRows) {
			e.Turns[0].NextActionName = "other"
		},
			"", episode.KindReplayMiss, "next_action_name"},
		"recorded again": {func(_ *harness.Options, _ *manifest.Manifest, e *ledger.EpisodeRows) {
			e.Episode.CassetteDigest = "other"
		},
			"", episode.KindReplayMiss, "cassette_digest"},
		"corrupt": {nil, string(text[:len(text)/2]), episode.KindCassetteCorrupt, "G01"},
	} {
		t.Run(name, func(t *testing.T) {
			o, m, e := o, res.Manifest, was
			e.Turns = append([]ledger.Turn(nil), was.Turns...)
			if tc.change != nil {
				tc.change(&o, &m, &e)
			}
			if tc.file != "" {
				require.NoError(t, os.WriteFile(file, []byte(tc.file), 0o600))
				defer func() { require.NoError(t, os.WriteFile(file, text, 0o600)) }()
			}
			p, err := rerun.NewReplayer(o, m)
			require.NoError(t, err)
			defer p.Close()
			traces, err := p.Again(context.Background(), e)
			if tc.kind == "" {
				require.NoError(t, err)
				require.NotEmpty(t, traces)
				return
			}
			var no *rerun.NoReplayError
			require.ErrorAs(t, err, &no)
			require.Equal(t, tc.kind, no.Kind, err)
			require.ErrorContains(t, err, tc.why)
			require.Empty(t, traces)
		})
	}

	t.Run("no candidate of the run", func(t *testing.T) {
		o := o
		o.Candidates = []goldens.Candidate{{Name: "new", Provider: "sim-openai", Model: "m"}}
		_, err := rerun.NewReplayer(o, res.Manifest)
		require.ErrorContains(t, err, "no longer have any of the run's candidates")
	})
	t.Run("stopped", func(t *testing.T) {
		p, err := rerun.NewReplayer(o, res.Manifest)
		require.NoError(t, err)
		defer p.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = p.Again(ctx, was)
		require.Equal(t, context.Canceled, err)
	})
}

// The traces of a run equal those of a Replayer.
func TestTracesOfARun(t *testing.T) {
	o := countsOptions(t)
	o.Select, o.Concurrency = harness.Selection{Tasks: []string{"G0*"}, Candidates: []string{"weak"}}, 8
	var mu sync.Mutex
	transcripts := map[string]string{}
	o.Traced = func(rows ledger.EpisodeRows, traces []episode.Trace) {
		mu.Lock()
		defer mu.Unlock()
		transcripts[rows.Episode.EpisodeID] = transcript(t, traces)
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	p, err := rerun.NewReplayer(o, res.Manifest)
	require.NoError(t, err)
	defer p.Close()
	all := episodesOf(res.Rows)
	require.Len(t, transcripts, len(all))
	for _, e := range all {
		traces, err := p.Again(context.Background(), e)
		require.NoError(t, err)
		require.Equal(t, transcript(t, traces), transcripts[e.Episode.EpisodeID])
	}
}

// BenchmarkReplayer executes every episode of the built-in suite, one after the other, and compares
// its rows. The lower bound is BenchmarkReplay, rows, on one processor.
func BenchmarkReplayer(b *testing.B) {
	o := countsOptions(b)
	res, err := harness.Run(context.Background(), o)
	require.NoError(b, err)
	all := episodesOf(res.Rows)
	b.ReportAllocs()
	turns := 0
	for b.Loop() {
		p, err := rerun.NewReplayer(o, res.Manifest)
		require.NoError(b, err)
		for _, e := range all {
			_, err := p.Again(context.Background(), e)
			require.NoError(b, err)
			turns += len(e.Turns)
		}
		p.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(turns), "µs/turn")
}
