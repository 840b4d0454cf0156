package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/reports"
)

// Turns that were under way at once are told in the ledger's order, each with its own
// calls, and with what the strategy said of its progress.
func TestDetailOfTurnsAtOnce(t *testing.T) {
	turn := func(n int, calls ...string) harness.Trace {
		reply := &providers.Reply{Text: fmt.Sprint("turn ", n)}
		for _, c := range calls {
			reply.Calls = append(reply.Calls, providers.ToolCall{Name: c, Args: "{}"})
		}
		images := []providers.Image{{URL: "x"}, {URL: "y"}}
		return harness.Trace{Turn: &ledger.Turn{Turn: int32(n)}, Call: &providers.Call{Messages: []providers.Message{{Role: "user", Text: fmt.Sprint(n), Images: images}}}, Answer: reply}
	}
	ran := func(name string) harness.Trace {
		return harness.Trace{Tool: &agent.CallTool{Call: tool.Call{Name: name, Args: []byte("{}")}}, Result: &tool.Result{Outcome: tool.OK, Value: []byte(`"` + name + `"`)}}
	}
	told := func(phase string) harness.Trace {
		return harness.Trace{Update: &agent.Update{Phase: phase, Status: "started"}}
	}
	d := newDetailBuilder(func(_, s string) string { return s }).detail([]harness.Trace{
		told("planning"), turn(1, "create_task"), told("a"), told("b"),
		turn(3, "open", "extract"), ran("open"), ran("extract"), turn(2, "search"), ran("search"), told("b done"),
		{Finish: &agent.Finish{Answer: "41"}},
	})
	var got []string
	for _, u := range d.Turns {
		line := u.Output
		for _, c := range u.Calls {
			line += " calls " + c.Tool
		}
		for _, s := range u.Steps {
			line += " ran " + s.Tool + s.Result
		}
		for _, p := range u.Updates {
			line += " told " + p.Phase
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		"turn 1 calls create_task told planning told a told b", `turn 2 calls search ran search"search" told b done`, `turn 3 calls open calls extract ran open"open" ran extract"extract"`,
	}, got)
	require.Equal(t, "41", d.Answer)
	require.Equal(t, "1\n[images: 2]\n", d.Turns[0].Prompt[0].Text)
}

// countsRun replays tasks of the built-in suite into a run folder.
func countsRun(t testing.TB, sel harness.Selection) (*process, harness.Options, string) {
	t.Helper()
	p := &process{stdout: io.Discard, stderr: io.Discard, env: func(string) (string, bool) { return "", false }}
	p.guard()
	cfg := config.Config{Suite: "builtin:counts", Trials: 1, Seed: 1, Runs: t.TempDir(), Policy: providers.DefaultPolicy()}
	o, cleanup, err := options(context.Background(), p, cfg, sel)
	require.NoError(t, err)
	t.Cleanup(cleanup)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	return p, o, res.Dir
}

// The details of a run are what its cassettes say, in whatever order they are asked
// for, and those a replay keeps are the same.
func TestDetailsOfARun(t *testing.T) {
	p, o, dir := countsRun(t, harness.Selection{Tasks: []string{"G0*", "G39", "C2*"}, Candidates: []string{"strong", "weak", "scripted"}})
	_, report, err := loadReport("", dir, nil)
	require.NoError(t, err)
	d := p.detailsWith(context.Background(), o, dir)
	defer func() { require.NoError(t, d.close()) }()
	kept := p.keepDetails(&o)
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)

	all := map[string]reports.Detail{}
	for _, e := range report.Episodes {
		detail, ok := d.episode(e)
		require.True(t, ok, detail.Missing)
		require.NotEmpty(t, detail.Turns)
		require.Contains(t, detail.System, "You are a bounded agent controller")
		all[e.ID] = detail
		same, ok := kept.of(e.ID)
		require.True(t, ok)
		require.Equal(t, detail, same)
	}
	require.Len(t, all, len(report.Episodes))
	for i := len(report.Episodes) - 1; i >= 0; i -= 5 {
		e := report.Episodes[i]
		detail, ok := d.episode(e)
		require.True(t, ok)
		require.Equal(t, all[e.ID], detail, "backwards")
	}
	fromFolder := p.detailsOf(context.Background(), config.Config{Policy: o.Policy}, dir, "")
	defer func() { require.NoError(t, fromFolder.close()) }()
	e := report.Episodes[0]
	detail, ok := fromFolder.episode(e)
	require.True(t, ok, detail.Missing)
	require.Equal(t, all[e.ID], detail)

	at := slices.IndexFunc(report.Episodes, func(e reports.Episode) bool { return e.Task == "G39" && e.Candidate == "strong" })
	turns := all[report.Episodes[at].ID].Turns
	require.Len(t, turns, 3)
	require.Contains(t, turns[0].Prompt[0].Text, "SCRATCHPAD (compact):")
	require.Zero(t, turns[0].Prompt[0].Same)
	require.NotContains(t, turns[1].Prompt[0].Text, "SCRATCHPAD (compact):", "as before")
	require.Positive(t, turns[1].Prompt[0].Same)
	require.Contains(t, turns[0].Output, `"next_action"`)
	require.Equal(t, []reports.DetailStep{{
		Tool: "get_counts", Args: `{"start_date":"2026-05-10","end_date":"2026-05-10","label":"angry"}`,
		Result: "HTTP 500: internal error", Outcome: "error E_UPSTREAM",
	}}, turns[0].Steps)
	require.Equal(t, `{"end":"2026-05-10","label":"angry","start":"2026-05-10","value":338}`, turns[1].Steps[0].Result)
}

// What cannot be shown says why, in words that episodes share.
func TestDetailsThatAreMissing(t *testing.T) {
	p, good, dir := countsRun(t, harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}})
	_, report, err := loadReport("", dir, nil)
	require.NoError(t, err)
	e := report.Episodes[0]
	for name, tc := range map[string]struct {
		change func(*harness.Options, *reports.Episode)
		load   error
		want   string
	}{
		"no such episode": {change: func(_ *harness.Options, e *reports.Episode) { e.Task = "G02" }, want: "the ledger has no such episode"},
		"beyond the last": {change: func(_ *harness.Options, e *reports.Episode) { e.Task = "Z" }, want: "the ledger has no such episode"},
		"another episode": {change: func(_ *harness.Options, e *reports.Episode) { e.ID = "other" }, want: "the ledger has no such episode"},
		"no suite":        {load: errors.New("load suite: gone\nand more"), want: "load suite: gone"},
		"no cassette":     {change: func(o *harness.Options, _ *reports.Episode) { o.Cassettes = os.DirFS(t.TempDir()) }, want: "there is no cassette"},
		"no task": {change: func(o *harness.Options, _ *reports.Episode) {
			s := *o.Suite
			s.Tasks, o.Suite = s.Tasks[1:], &s
		}, want: "suite or configuration do not have the episode any more"},
		"another prompt": {change: func(o *harness.Options, _ *reports.Episode) {
			s := *o.Suite
			s.Tasks, o.Suite = slices.Clone(s.Tasks), &s
			for i := range s.Tasks {
				s.Tasks[i].Request = "Something else?"
			}
		}, want: "executed again it goes otherwise: suite, code or cassette changed since the run"},
	} {
		t.Run(name, func(t *testing.T) {
			o, e := good, e
			if tc.change != nil {
				tc.change(&o, &e)
			}
			d := newDetails(context.Background(), p, dir, func(manifest.Manifest) (harness.Options, func(), error) { return o, func() {}, tc.load })
			detail, ok := d.episode(e)
			require.False(t, ok)
			require.Equal(t, reports.Detail{Missing: tc.want}, detail)
			require.NoError(t, d.close())
		})
	}
	for kind, want := range map[string]string{
		harness.KindLive: "was live", harness.KindLost: "without a result", harness.KindCassetteCorrupt: "cannot be trusted",
	} {
		require.Contains(t, whyMissing(fmt.Errorf("x: %w", &harness.NoReplayError{Kind: kind, Err: errors.New("G01: secret place")})), want)
	}
}

// A signal ends the executions, and the report says that it is not all there.
func TestDetailsAfterASignal(t *testing.T) {
	p, o, dir := countsRun(t, harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}})
	ctx, cancel := context.WithCancel(context.Background())
	d := p.detailsWith(ctx, o, dir)
	cancel()
	_, err := writeReportOf(dir, d)
	require.ErrorContains(t, err, "retry with: cupel report "+dir)
	require.Equal(t, exit.Interrupted, exit.Code(err))
}

func TestDetailKeepsToItsBounds(t *testing.T) {
	turn := func(n int, prompt, output string) harness.Trace {
		return harness.Trace{
			Turn: &ledger.Turn{Turn: int32(n)}, Call: &providers.Call{System: "s", Messages: []providers.Message{{Role: "user", Text: prompt}}},
			Answer: &providers.Reply{Text: output},
		}
	}
	plain := func(_, s string) string { return s }
	long := strings.Repeat("é", maxDetailText) // twice the bound, in bytes
	d := newDetailBuilder(plain).detail([]harness.Trace{turn(1, "a\nb\nb\n", "x"+long), turn(2, "b\nc\na\n", "y")})
	require.Equal(t, []reports.Message{{Role: "user", Text: "a\nb\nb\n"}}, d.Turns[0].Prompt, "what a prompt says twice stays")
	require.Equal(t, []reports.Message{{Role: "user", Text: "c\n", Same: 2}}, d.Turns[1].Prompt)
	require.True(t, utf8.ValidString(d.Turns[0].Output))
	require.True(t, strings.HasSuffix(d.Turns[0].Output, "é… (65538 bytes more)"), d.Turns[0].Output[maxDetailText-10:])

	var traces []harness.Trace
	for n := range 100 {
		traces = append(traces, turn(n+1, fmt.Sprint(n), fmt.Sprint(n)+long), harness.Trace{Question: "q", Silent: true})
	}
	traces = append(traces, harness.Trace{Finish: &agent.Finish{Answer: long}})
	d = newDetailBuilder(plain).detail(traces)
	require.Less(t, size(d), maxDetail+8<<10)
	require.Equal(t, 100, len(d.Turns)+d.More)
	require.Greater(t, len(d.Turns), 10)
	require.Equal(t, []reports.DetailStep{{Question: "q", Outcome: "silence"}}, d.Turns[0].Steps)
	require.Equal(t, "… (131072 bytes more)", d.Answer)
}

// Credentials are looked for before a text is cut, and in every text.
func TestDetailHoldsNoSecret(t *testing.T) {
	const canary = "canary-0123456789"
	secrets := recorder.NewSecrets(canary)
	traces := []harness.Trace{
		{
			Turn: &ledger.Turn{Turn: 1}, Answer: &providers.Reply{Text: strings.Repeat("x", maxDetailText-5) + canary, Calls: []providers.ToolCall{{Name: canary, Args: canary}}},
			Call: &providers.Call{System: canary, Messages: []providers.Message{{Text: "a\n" + canary + "\n"}}},
		},
		{Tool: &agent.CallTool{Call: tool.Call{Name: canary, Args: []byte(`"` + canary + `"`)}}, Result: &tool.Result{Outcome: tool.OK, Value: []byte(`"` + canary + `"`)}},
		{Tool: &agent.CallTool{}, Result: &tool.Result{Outcome: tool.Error, Code: canary, Message: canary}},
		{Question: canary, Reply: canary},
		{Update: &agent.Update{Phase: canary, Status: canary, Content: canary}},
		{Turn: &ledger.Turn{Turn: 2}, Call: &providers.Call{System: "now " + canary}, Err: errors.New(canary)},
		{Finish: &agent.Finish{Answer: canary}},
	}
	d := newDetailBuilder(secrets.Redact).detail(traces)
	text := fmt.Sprintf("%+v", d)
	require.NotContains(t, text, "canar")
	require.Equal(t, 17, strings.Count(text, recorder.Hidden))
	require.True(t, strings.HasSuffix(d.Turns[0].Output, "x[secr… (3 bytes more)"), "cut afterwards")
}

// BenchmarkDetails makes the details of every episode of the built-in suite. The
// floor is BenchmarkReplayer in package harness: the executions alone.
func BenchmarkDetails(b *testing.B) {
	p, o, dir := countsRun(b, harness.Selection{})
	_, report, err := loadReport(filepath.Dir(dir), filepath.Base(dir), nil)
	require.NoError(b, err)
	b.ReportAllocs()
	turns, bytes := 0, 0
	for b.Loop() {
		d := p.detailsWith(context.Background(), o, dir)
		for _, e := range report.Episodes {
			detail, ok := d.episode(e)
			require.True(b, ok, detail.Missing)
			turns += len(detail.Turns)
			bytes += size(detail)
		}
		require.NoError(b, d.close())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(turns), "µs/turn")
	b.ReportMetric(float64(bytes)/float64(turns), "B/turn")
}

// size is how much text a detail has.
func size(d reports.Detail) int {
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
