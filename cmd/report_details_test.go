package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/cmd/internal/transcripts"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// countsRun replays tasks of the built-in suite to a run folder.
func countsRun(t testing.TB, sel harness.Selection) (*process, harness.Options, string) {
	t.Helper()
	p := &process{stdout: io.Discard, stderr: io.Discard, env: func(string) (string, bool) { return "", false }}
	p.guard()
	cfg := config.Config{Suite: "builtin:counts", Trials: 1, Seed: 1, Runs: t.TempDir(), Policy: policy.Default()}
	o, cleanup, err := options(context.Background(), p, cfg, sel)
	require.NoError(t, err)
	t.Cleanup(cleanup)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	return p, o, res.Dir
}

// The details of a run come from its cassettes, in any order of requests. Those that a replay kept
// are the same.
func TestDetailsOfARun(t *testing.T) {
	p, o, dir := countsRun(t, harness.Selection{Tasks: []string{"G0*", "G39", "C2*"}, Candidates: []string{"strong", "weak", "scripted"}})
	_, report, err := rundir.Report("", dir, nil)
	require.NoError(t, err)
	d := p.detailsWith(context.Background(), o, dir)
	defer func() { require.NoError(t, d.Close()) }()
	kept := p.keepDetails(&o)
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)

	all := map[string]transcript.Detail{}
	for _, e := range report.Episodes {
		detail, ok := d.Episode(e)
		require.True(t, ok, detail.Missing)
		require.NotEmpty(t, detail.Turns)
		require.Contains(t, detail.System, "You are a bounded agent controller")
		all[e.ID] = detail
		same, ok := kept.Of(e.ID)
		require.True(t, ok)
		same.Expected = detail.Expected // comes from the suite, not from the replay
		require.Equal(t, detail, same)
	}
	require.Len(t, all, len(report.Episodes))
	for i := len(report.Episodes) - 1; i >= 0; i -= 5 {
		e := report.Episodes[i]
		detail, ok := d.Episode(e)
		require.True(t, ok)
		require.Equal(t, all[e.ID], detail, "backwards")
	}
	fromFolder := p.detailsOf(context.Background(), config.Config{Policy: o.Policy}, dir)
	defer func() { require.NoError(t, fromFolder.Close()) }()
	e := report.Episodes[0]
	detail, ok := fromFolder.Episode(e)
	require.True(t, ok, detail.Missing)
	require.Equal(t, all[e.ID], detail)

	at := slices.IndexFunc(report.Episodes, func(e model.Episode) bool { return e.Task == "G39" && e.Candidate == "strong" })
	turns := all[report.Episodes[at].ID].Turns
	require.Len(t, turns, 3)
	require.Contains(t, turns[0].Prompt[0].Text, "SCRATCHPAD (compact):")
	require.Zero(t, turns[0].Prompt[0].Same)
	require.NotContains(t, turns[1].Prompt[0].Text, "SCRATCHPAD (compact):", "as before")
	require.Positive(t, turns[1].Prompt[0].Same)
	require.Contains(t, turns[0].Output, `"next_action"`)
	require.Equal(t, []transcript.DetailStep{{
		Tool: "get_counts", Args: `{"end_date":"2026-05-10","label":"angry","start_date":"2026-05-10"}`,
		Result: "HTTP 500: internal error", Outcome: "error E_UPSTREAM",
	}}, turns[0].Steps)
	require.Equal(t, `{"end":"2026-05-10","label":"angry","start":"2026-05-10","value":338}`, turns[1].Steps[0].Result)
}

// Missing details have a reason, which is the same text for all episodes.
func TestDetailsThatAreMissing(t *testing.T) {
	p, good, dir := countsRun(t, harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}})
	_, report, err := rundir.Report("", dir, nil)
	require.NoError(t, err)
	e := report.Episodes[0]
	for name, tc := range map[string]struct {
		change func(*harness.Options, *model.Episode)
		load   error
		want   string
	}{
		"no such episode": {change: func(_ *harness.Options, e *model.Episode) { e.Task = "G02" }, want: "the ledger has no such episode"},
		"beyond the last": {change: func(_ *harness.Options, e *model.Episode) { e.Task = "Z" }, want: "the ledger has no such episode"},
		"another episode": {change: func(_ *harness.Options, e *model.Episode) { e.ID = "other" }, want: "the ledger has no such episode"},
		"no suite":        {load: errors.New("load suite: gone\nand more"), want: "load suite: gone"},
		"no cassette":     {change: func(o *harness.Options, _ *model.Episode) { o.Cassettes = os.DirFS(t.TempDir()) }, want: "there is no cassette"},
		"no task": {change: func(o *harness.Options, _ *model.Episode) {
			s := *o.Suite
			s.Tasks, o.Suite = s.Tasks[1:], &s
		}, want: "the suite or the configuration no longer has the episode"},
		"another prompt": {change: func(o *harness.Options, _ *model.Episode) {
			s := *o.Suite
			s.Tasks, o.Suite = slices.Clone(s.Tasks), &s
			for i := range s.Tasks {
				s.Tasks[i].Request = "Something else?"
			}
		}, want: "the re-execution differs: suite, code or cassette changed since the run"},
	} {
		t.Run(name, func(t *testing.T) {
			o, e := good, e
			if tc.change != nil {
				tc.change(&o, &e)
			}
			d := transcripts.New(context.Background(), dir, p.secrets.Redact, func(manifest.Manifest) (harness.Options, func(), error) { return o, func() {}, tc.load })
			detail, ok := d.Episode(e)
			require.False(t, ok)
			require.Equal(t, transcript.Detail{Missing: tc.want}, detail)
			require.NoError(t, d.Close())
		})
	}
}

// A signal ends the executions, and the report says that details are missing.
func TestDetailsAfterASignal(t *testing.T) {
	p, o, dir := countsRun(t, harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}})
	ctx, cancel := context.WithCancel(context.Background())
	d := p.detailsWith(ctx, o, dir)
	cancel()
	_, err := writeReportOf(dir, d)
	require.ErrorContains(t, err, "retry with: cupel report "+dir)
	require.Equal(t, exit.Interrupted, exit.Code(err))
}

// BenchmarkDetails gets the details of every episode of the built-in suite. The lower bound is
// BenchmarkReplayer in package harness, the executions alone.
func BenchmarkDetails(b *testing.B) {
	p, o, dir := countsRun(b, harness.Selection{})
	_, report, err := rundir.Report(filepath.Dir(dir), filepath.Base(dir), nil)
	require.NoError(b, err)
	b.ReportAllocs()
	turns, bytes := 0, 0
	for b.Loop() {
		d := p.detailsWith(context.Background(), o, dir)
		for _, e := range report.Episodes {
			detail, ok := d.Episode(e)
			require.True(b, ok, detail.Missing)
			turns += len(detail.Turns)
			bytes += size(detail)
		}
		require.NoError(b, d.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(turns), "µs/turn")
	b.ReportMetric(float64(bytes)/float64(turns), "B/turn")
}

// size returns the length of all texts of a detail.
func size(d transcript.Detail) int {
	n := len(d.System) + len(d.Answer)
	for _, t := range d.Turns {
		n += len(t.System) + len(t.Output) + len(t.Failed)
		for _, m := range t.Prompt {
			n += len(m.Text)
		}
		for _, s := range t.Steps {
			n += len(s.Tool) + len(s.Args) + len(s.Question) + len(s.Result)
		}
	}
	return n
}
