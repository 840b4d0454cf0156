package harness_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// counter counts the requests that reach the network.
type counter struct {
	next http.RoundTripper
	n    atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.next.RoundTrip(r)
}

// forkOptions returns a fork of the weak candidate's shipped episode of G09, which ends unsolved
// after three turns. The strong candidate continues it.
func forkOptions(t *testing.T, mode recorder.Mode, turn int) (harness.Options, *counter) {
	t.Helper()
	o := recordOptions(t)
	o.Mode, o.Fork = mode, &harness.Fork{Task: "G09", Candidate: "weak", Turn: turn}
	o.Select.Candidates = []string{"strong"}
	net := &counter{next: o.Transport("")}
	o.Transport = func(string) http.RoundTripper { return net }
	return o, net
}

// original replays the forked episode.
func original(t *testing.T, o harness.Options) ledger.EpisodeRows {
	t.Helper()
	sel := harness.Selection{Tasks: []string{o.Fork.Task}, Candidates: []string{"weak"}}
	o.Fork, o.Select = nil, sel
	rows, _, err := harness.Replay(context.Background(), o, 1)
	require.NoError(t, err)
	require.False(t, rows.Episode.Solved)
	return rows
}

// history returns the columns that a row of a fork shares with the original.
func history(turn ledger.Turn) ledger.Turn {
	turn.RunID, turn.EpisodeID, turn.Candidate, turn.Seed = "", "", "", 0
	turn.Trial, turn.ActionID, turn.ParentActionID, turn.Cassette = 0, "", "", ""
	return turn
}

func TestForkContinuesARecordedEpisode(t *testing.T) {
	o, net := forkOptions(t, recorder.Live, 1)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	ep := rowsOf(t, res).Episodes[0]
	require.Empty(t, ep.ErrorText)
	require.True(t, ep.Solved, "the strong model does better from there: %v", ep.Checks)
	require.Equal(t, "strong.fork-weak-1-1", ep.Candidate)
	require.False(t, ep.Replayed)
	require.EqualValues(t, len(rowsOf(t, res).Turns)-1, net.n.Load(), "the first turn makes no request")

	was := original(t, o)
	require.Equal(t, history(was.Turns[0]), history(rowsOf(t, res).Turns[0]))
	require.Equal(t, was.Turns[0].Cassette, rowsOf(t, res).Turns[0].Cassette, "nothing is recorded: the row names the original's")
	require.NotEqual(t, was.Turns[0].EpisodeID, rowsOf(t, res).Turns[0].EpisodeID)
	for _, turn := range rowsOf(t, res).Turns[1:] {
		require.False(t, turn.Replayed)
		require.Equal(t, "sim-openai/sim-strong", turn.Provider+"/"+turn.Model)
		require.EqualValues(t, -1, turn.Interaction)
		require.NotNil(t, turn.CostNanoUSD)
	}
	require.Equal(t, &manifest.Fork{
		Task: "G09", Candidate: "weak", Trial: 1, Turn: 1,
		Cassette: "weak/G09/1.yaml", CassetteDigest: was.Episode.CassetteDigest,
	}, res.Manifest.Fork)
	require.Equal(t, "strong.fork-weak-1-1", res.Manifest.Candidates[0].Name)
	left, err := os.ReadDir(o.CassetteDir)
	require.NoError(t, err)
	require.Empty(t, left)
	read, err := manifest.Read(res.Dir)
	require.NoError(t, err)
	require.Equal(t, res.Manifest.Fork, read.Fork)
}

// The results of the last replayed turn are part of the history.
func TestForkKeepsToolCallsOfItsTurns(t *testing.T) {
	o, net := forkOptions(t, recorder.Live, 2)
	was := original(t, o)
	require.Len(t, was.Turns, 3)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.EqualValues(t, len(rowsOf(t, res).Turns)-2, net.n.Load())
	for i := range 2 {
		require.Equal(t, history(was.Turns[i]), history(rowsOf(t, res).Turns[i]))
	}
	replayed := 0
	for i, call := range rowsOf(t, res).ToolCalls {
		require.Equal(t, call.Turn <= 2, call.Replayed, "tool call %d", i+1)
		if call.Replayed {
			replayed++
			require.Equal(t, was.ToolCalls[i].ArgsHash, call.ArgsHash)
			require.Equal(t, was.ToolCalls[i].TsEnd, call.TsEnd)
		}
	}
	require.Equal(t, 2, replayed)
	require.Greater(t, len(rowsOf(t, res).ToolCalls), 2)
}

// A recorded fork replays without the network and without the original cassette.
func TestRecordedForkReplaysWithoutItsSource(t *testing.T) {
	o, net := forkOptions(t, recorder.Record, 1)
	o.Select.Candidates, o.Trials = []string{"strong", "erratic"}, 2
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", recorded.Manifest.Status)
	require.Len(t, rowsOf(t, recorded).Episodes, 4)
	require.EqualValues(t, len(rowsOf(t, recorded).Turns)-4, net.n.Load())
	require.NotEqual(t, rowsOf(t, recorded).Episodes[0].CassetteDigest, rowsOf(t, recorded).Episodes[1].CassetteDigest)
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS(o.CassetteDir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	require.Equal(t, []string{
		"erratic.fork-weak-1-1/G09/1.yaml", "erratic.fork-weak-1-1/G09/2.yaml",
		"strong.fork-weak-1-1/G09/1.yaml", "strong.fork-weak-1-1/G09/2.yaml",
	}, files)
	text, err := os.ReadFile(filepath.Join(o.CassetteDir, "strong.fork-weak-1-1", "G09", "2.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), `fork: "G09/weak/1@1"`)
	require.Contains(t, string(text), `recorded: "2026-05-20"`)

	o.Mode, o.Cassettes, o.Transport = recorder.Replay, os.DirFS(o.CassetteDir), nil
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	for _, turn := range rowsOf(t, replayed).Turns {
		require.True(t, turn.Replayed)
	}
	require.Equal(t, recorded.Manifest.Fork, replayed.Manifest.Fork)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
	require.Equal(t, withoutRun(rowsOf(t, recorded)), withoutRun(rowsOf(t, replayed)))

	o.Select.Candidates = []string{"strong"}
	rows, traces, err := harness.Replay(context.Background(), o, 2)
	require.NoError(t, err)
	require.Equal(t, "strong.fork-weak-1-1", rows.Episode.Candidate)
	require.Equal(t, "sim-weak", traces[0].Call.Model)

	o.Fork, o.Select = nil, harness.Selection{}
	all, err := harness.Cassettes(o)
	require.NoError(t, err)
	unused := 0
	for _, c := range all {
		require.NotEqual(t, cassettes.Orphan, c.State, "%s is planned by --fork", c.Path)
		if c.State == cassettes.Unused {
			require.Equal(t, []string{"a fork of G09/weak/1@1"}, c.Why)
			unused++
		}
	}
	require.Equal(t, 4, unused)
}

// Each part of a fork has the prices of its model on its day: the weak turns were recorded after
// the prices rose, the strong ones before.
func TestPricesOfForkedTurns(t *testing.T) {
	o, _ := forkOptions(t, recorder.Record, 2)
	old := o.Prices
	risen, err := price.Parse([]byte(`version: 2026-12-01
prices:
  - {provider: sim-anthropic, models: [sim-weak], from: 2026-11-01, input: 1000, output: 1000, source: test}
  - {provider: sim-openai, models: [sim-strong], from: 2026-11-01, input: 1000, output: 1000, source: test}
`))
	require.NoError(t, err)
	o.Prices = risen
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	day := time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC)
	for _, rows := range []ledger.Rows{rowsOf(t, recorded), rowsOf(t, replayed)} {
		require.Greater(t, len(rows.Turns), 2)
		for i, turn := range rows.Turns {
			want := (*turn.In + *turn.Out) * 1_000_000
			if i >= 2 {
				var ok bool
				want, ok = old.Cost("sim-openai", "sim-strong", providers.Usage{Reported: true, Input: *turn.In, Output: *turn.Out, CacheRead: *turn.CacheRead, CacheWrite: *turn.CacheWrite, Reasoning: *turn.Reasoning}, day)
				require.True(t, ok)
			}
			require.Equal(t, want, *turn.CostNanoUSD, "turn %d", i+1)
		}
	}
}

func TestForkRefuses(t *testing.T) {
	whole, err := fs.ReadFile(counts.FS, "cassettes/weak/G09/1.yaml")
	require.NoError(t, err)
	one, err := fs.ReadFile(counts.FS, "cassettes/weak/C22/1.yaml")
	require.NoError(t, err)
	cassettes := fstest.MapFS{
		"weak/G09/1.yaml": {Data: whole}, "weak/G09/2.yaml": {Data: whole[:len(whole)-9]}, "weak/G01/1.yaml": {Data: whole},
		"weak/C22/1.yaml": {Data: one},
	}
	for name, c := range map[string]struct {
		fork harness.Fork
		set  func(*harness.Options)
		want string
		kind any
	}{
		"a turn too far":   {fork: harness.Fork{Turn: 3}, want: "fork G09/weak/1@3: the episode has 3 turns, so the last one to keep is 1 to 2"},
		"no turn":          {fork: harness.Fork{}, want: "turns count from 1"},
		"an only turn":     {fork: harness.Fork{Task: "C22", Turn: 1}, want: "the episode has only 1 turn"},
		"an unknown task":  {fork: harness.Fork{Task: "NOPE", Turn: 1}, want: `no task matches "NOPE"; there are: G01`},
		"a pattern":        {fork: harness.Fork{Task: "G0*", Turn: 1}, want: "not a pattern"},
		"an unknown one":   {fork: harness.Fork{Candidate: "nope", Turn: 1}, want: `no candidate matches "nope"`},
		"a trial too many": {fork: harness.Fork{Trial: 1_000_000, Turn: 1}, want: "trial 1000000: must be 1 to 10000"},
		"a fork":           {fork: harness.Fork{Candidate: "strong.fork-weak-1-1", Turn: 1}, want: "the episode is itself a fork"},
		"a script":         {fork: harness.Fork{Candidate: "scripted", Turn: 1}, want: "no recorded turns"},
		"a scripted task":  {fork: harness.Fork{Task: "G51", Turn: 1}, want: "no recorded turns"},
		"two tasks":        {fork: harness.Fork{Turn: 1}, set: func(o *harness.Options) { o.Select.Tasks = []string{"G09"} }, want: "select candidates only"},
		"another profile": {fork: harness.Fork{Turn: 1}, set: func(o *harness.Options) { o.Candidates[0].Profile = "schema" },
			want: "candidate strong cannot continue from this episode: its prompt profile is schema, but the recorded turns of weak have prompt profile seed"},
		"another mode": {fork: harness.Fork{Turn: 1}, set: func(o *harness.Options) { o.Candidates[0].Mode = "json_object" }, want: "its output mode is json_object"},
		"a taken name": {fork: harness.Fork{Turn: 1}, set: func(o *harness.Options) {
			o.Candidates = append(o.Candidates, goldens.Candidate{Name: "strong.fork-weak-1-1", Provider: "sim-openai", Model: "m"})
		}, want: "candidate strong.fork-weak-1-1 already exists"},
		"a long name": {fork: harness.Fork{Turn: 1}, set: func(o *harness.Options) {
			o.Candidates[0].Name = strings.Repeat("s", 90)
			o.Select.Candidates = []string{"s*"}
		}, want: "longer than 100 characters"},
		"no cassette": {fork: harness.Fork{Trial: 3, Turn: 1}, kind: new(*cassette.MissingError),
			want: "no cassette weak/G09/3.yaml; record it with: cupel run --mode record --suite builtin:counts --task G09 --candidate weak --trials 3"},
		"a cut cassette":     {fork: harness.Fork{Trial: 2, Turn: 1}, kind: new(*cassette.CorruptError), want: "weak/G09/2.yaml: checksum mismatch"},
		"a foreign cassette": {fork: harness.Fork{Task: "G01", Turn: 1}, kind: new(*recorder.MissError), want: "no recording of this request"},
		"a new cassette":     {fork: harness.Fork{Turn: 1, CassetteDigest: "00"}, kind: new(*cassette.CorruptError), want: "recorded again since that episode"},
	} {
		t.Run(name, func(t *testing.T) {
			o, net := forkOptions(t, recorder.Live, 1)
			o.Cassettes = cassettes
			if c.fork.Task == "" {
				c.fork.Task = "G09"
			}
			if c.fork.Candidate == "" {
				c.fork.Candidate = "weak"
			}
			o.Fork = &c.fork
			o.Candidates = append([]goldens.Candidate{}, o.Suite.Candidates...)
			if c.set != nil {
				c.set(&o)
			}
			_, err := harness.Run(context.Background(), o)
			require.ErrorContains(t, err, c.want)
			if c.kind == nil {
				c.kind = new(*harness.ConfigError)
			}
			require.True(t, errors.As(err, c.kind), "%T", err)
			require.Zero(t, net.n.Load())
			left, err := os.ReadDir(o.Runs)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// The error about a fork without a cassette has the command that records it.
func TestMissingForkErrorHasTheCommand(t *testing.T) {
	o, _ := forkOptions(t, recorder.Replay, 1)
	o.Trials = 2
	_, err := harness.Run(context.Background(), o)
	var missing *cassette.MissingError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "strong.fork-weak-1-1/G09/1.yaml", missing.Path)
	require.ErrorContains(t, err, "record it with: cupel run --mode record --suite builtin:counts --fork G09/weak/1@1 --candidate strong\n")
	require.ErrorContains(t, err, "record all with: cupel run --mode record --suite builtin:counts --fork G09/weak/1@1 --candidate strong --trials 2")
}

func TestParseFork(t *testing.T) {
	for text, want := range map[string]harness.Fork{
		"G09/weak@3":           {Task: "G09", Candidate: "weak", Trial: 1, Turn: 3},
		"G09/weak/2@11":        {Task: "G09", Candidate: "weak", Trial: 2, Turn: 11},
		"a.b-c/x.fork-y-1-1@0": {Task: "a.b-c", Candidate: "x.fork-y-1-1", Trial: 1},
	} {
		got, err := harness.ParseFork(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		back, err := harness.ParseFork(got.String())
		require.NoError(t, err)
		require.Equal(t, got, back)
		require.Equal(t, "strong", got.Base(got.Name("strong")))
	}
	for _, text := range []string{"", "G09", "G09/weak", "G09/weak@", "G09/weak@x", "G09/weak@-1", "G09@1", "/weak@1", "G09//1@1", "G09/weak/x@1", "G09/weak/0@1", "G09/weak/1/2@1", "G09/weak@1 ", "G09/weak@12345678901"} {
		_, err := harness.ParseFork(text)
		require.ErrorContains(t, err, "write TASK/CANDIDATE[/TRIAL]@TURN", text)
	}
}

// FuzzParseFork checks that a parsed fork formats to the same text.
func FuzzParseFork(f *testing.F) {
	for _, text := range []string{"G09/weak@3", "G09/weak/2@11", "a/b/1@007", "a/b/c@1", "\n/\x00@1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fork, err := harness.ParseFork(text)
		if err != nil {
			return
		}
		again, err := harness.ParseFork(fork.String())
		require.NoError(t, err)
		require.Equal(t, fork.String(), again.String())
		require.Equal(t, "c", again.Base(fork.Name("c")))
	})
}

// Caps do not count replayed turns, because these make no requests.
func TestCapsIgnoreReplayedTurns(t *testing.T) {
	o, net := forkOptions(t, recorder.Live, 1)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	asked := net.n.Load()
	require.Equal(t, int64(res.Manifest.Turns)-1, asked)
	o.Caps.Requests = asked
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status, res.Manifest.Stopped)
}
