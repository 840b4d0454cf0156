package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/compare"
)

func TestPairUp(t *testing.T) {
	side := func(dir string, chosen bool, names ...string) compared {
		return compared{dir: dir, manifest: manifest.Manifest{RunID: "RUN-" + filepath.Base(dir)}, names: names, chosen: chosen}
	}
	a, b := t.TempDir(), t.TempDir()
	for name, c := range map[string]struct {
		baseline, newRun compared
		want             []compare.Names
		problem          string
	}{
		"of one name":                   {side(a, false, "x", "y", "z"), side(b, false, "z", "x"), []compare.Names{{Baseline: "z", New: "z"}, {Baseline: "x", New: "x"}}, ""},
		"one each":                      {side(a, false, "x"), side(b, false, "y"), []compare.Names{{Baseline: "x", New: "y"}}, ""},
		"both chosen":                   {side(a, true, "x"), side(b, true, "y"), []compare.Names{{Baseline: "x", New: "y"}}, ""},
		"one chosen":                    {side(a, false, "x", "y"), side(b, true, "y"), []compare.Names{{Baseline: "y", New: "y"}}, ""},
		"chosen, of no name there":      {side(a, false, "x", "y"), side(b, true, "z"), nil, `RUN-001 has no candidate "z"; it has: x, y; name one of them`},
		"several chosen, one missing":   {side(a, false, "x", "y"), side(b, true, "x", "z"), nil, `has no candidate "z"`},
		"none in common":                {side(a, false, "x", "y"), side(b, false, "z"), nil, "no candidate is in both runs"},
		"nobody":                        {side(a, false), side(b, false, "z"), nil, "RUN-001 has none"},
		"itself, two candidates":        {side(a, true, "x"), side(a, true, "y"), []compare.Names{{Baseline: "x", New: "y"}}, ""},
		"itself":                        {side(a, false, "x", "y"), side(a, false, "x", "y"), nil, "with itself: name two of its candidates, as in RUN:x RUN:OTHER; it has: x, y"},
		"itself, one candidate":         {side(a, true, "x"), side(a, true, "x"), nil, "with itself"},
		"the same elsewhere is another": {side(a, false, "x"), side(b, false, "x"), []compare.Names{{Baseline: "x", New: "x"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pairUp(c.baseline, c.newRun)
			require.Equal(t, c.want, got)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.problem)
			require.Equal(t, exit.BadUsage, exit.Code(err))
		})
	}
}

func TestRunCandidate(t *testing.T) {
	for text, want := range map[string][]string{
		"latest": nil, "latest:weak": {"latest", "weak"}, "runs/01K:strong.fork-weak-1-1": {"runs/01K", "strong.fork-weak-1-1"},
		`C:\runs\01K`: nil, `C:\runs\01K:weak`: {`C:\runs\01K`, "weak"}, "a:b:c": {"a:b", "c"}, "latest:": nil, ":weak": nil, "latest:Weak": nil,
	} {
		var got []string
		if m := runCandidate.FindStringSubmatch(text); m != nil {
			got = m[1:]
		}
		require.Equal(t, want, got, text)
	}
}

// The two latest runs are told by when their manifests were written.
func TestFindRunByAge(t *testing.T) {
	runs := t.TempDir()
	_, err := findRun(runs, "latest")
	require.ErrorContains(t, err, "no run")
	for i, id := range []string{"B", "C", "A"} {
		file := filepath.Join(runs, id, "run.json")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(file, at, at))
		_, err := findRun(runs, "previous")
		require.Equal(t, i == 0, err != nil)
	}
	for name, want := range map[string]string{"latest": "A", "previous": "C", "B": "B"} {
		dir, err := findRun(runs, name)
		require.NoError(t, err)
		require.Equal(t, want, filepath.Base(dir))
	}
}

// All that would mislead is said, with the ways on.
func TestRefuse(t *testing.T) {
	b := compared{dir: "runs/B", manifest: manifest.Manifest{RunID: "B", Tasks: []manifest.Task{{ID: "G01"}}}}
	d := []compare.Difference{
		{What: "model", Where: "strong", Baseline: "m", New: "n"},
		{What: "checks", Where: "G01, G02", Baseline: "as it was", New: "changed", Misleads: true},
		{What: "world", Where: "G02", Baseline: "as it was", New: "changed", Misleads: true},
	}
	require.EqualError(t, refuse(b, b, d, compare.Refuse), `these tasks changed since run B, so a different outcome may not be caused by the candidate:
  G01, G02: checks changed
  G02: world changed
leave them out with --changed skip, or compare them anyway with --changed keep`)
	require.ErrorContains(t, refuse(b, b, d[:2], compare.Refuse), "\nor score the baseline with the current checks: cupel rescore runs/B")
	require.ErrorContains(t, refuse(b, b, []compare.Difference{{What: "request", Where: "G01", Baseline: "How many?", New: "How few?", Misleads: true}}, compare.Refuse), `  G01: request changed to "How few?"`)
	for _, changed := range []compare.Changed{compare.Skip, compare.Keep} {
		require.NoError(t, refuse(b, b, d, changed))
	}
	require.NoError(t, refuse(b, b, d[:1], compare.Refuse))
	err := refuse(b, compared{manifest: manifest.Manifest{RunID: "T", Tasks: []manifest.Task{{ID: "X"}}}}, nil, compare.Keep)
	require.ErrorContains(t, err, "nothing to compare: no task is in both B")
	require.Equal(t, exit.BadUsage, exit.Code(err))
}

// An entry of the known-flaky list counts to the end of its day, by the clock of
// the process.
func TestKnownFlakyCountsUntilItsLastDay(t *testing.T) {
	cfg, err := configOf(t, "regression: {flaky: [{task: G01, owner: ann, expires: 2026-06-30}]}")
	require.NoError(t, err)
	cfg.Runs = t.TempDir()
	var out bytes.Buffer
	p := &process{stdout: &out, stderr: &out, env: func(string) (string, bool) { return "", false }}
	for at, expired := range map[string]bool{"2026-06-30T23:59:59Z": false, "2026-07-01T00:00:00Z": true, "2026-07-01T01:00:00+02:00": false} {
		now, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		p.now = func() time.Time { return now }
		if entries, _ := os.ReadDir(cfg.Runs); len(entries) == 0 {
			p.args = []string{"run", "--task", "G01,G02", "--candidate", "weak,strong", "--runs", cfg.Runs, "--quiet"}
			require.Zero(t, execute(p), out.String())
		}
		c, err := p.compare(cfg, []string{"latest:strong"}, "latest:weak", nil, "")
		require.NoError(t, err)
		require.Equal(t, expired, c.Pairs[0].Tasks[0].Known.Expired, at)
		require.Equal(t, map[bool]int{false: 1, true: 0}[expired], c.Pairs[0].Known, at)

		out.Reset()
		cfg.Suite, cfg.Trials = "builtin:counts", 1
		prices, err := cfg.LoadPrices()
		require.NoError(t, err)
		require.NoError(t, diagnose(p, cfg, prices))
		require.Regexp(t, map[bool]string{false: `G01 +all +ann +2026-06-30 +\n`, true: `G01 +all +ann +2026-06-30 +expired: gates again`}[expired], out.String())
		require.Regexp(t, `max_drop +0.05\s+max_invalid +0.08\s+detectable +0.1\s+max_steps +–`, out.String())
	}
}

// The worse of the two verdicts is the gate's.
func TestGateAgainst(t *testing.T) {
	for name, c := range map[string]struct {
		accepted, regressed reports.Verdict
		onUnclear           compare.OnUnclear
		code                int
		says                string
	}{
		"both pass":        {reports.Pass, reports.Pass, "fail", exit.Accepted, "Accepted: acceptance pass, regression pass\n"},
		"a regression":     {reports.Pass, reports.Fail, "pass", exit.Rejected, "Rejected: acceptance pass, regression fail\n"},
		"not accepted":     {reports.Fail, reports.Inconclusive, "pass", exit.Rejected, "Rejected: acceptance fail, regression inconclusive\n"},
		"nothing is shown": {reports.Inconclusive, reports.Pass, "pass", exit.Inconclusive, "Inconclusive: acceptance inconclusive, regression pass\n"},
		"no baseline's":    {reports.Pass, reports.Inconclusive, "pass", exit.Inconclusive, "Inconclusive: acceptance pass, regression inconclusive\n"},
		"unclear":          {reports.Pass, reports.NoRegression, "pass", exit.Accepted, "Accepted: acceptance pass, no significant regression\n"},
		"unclear, fail": {
			reports.Pass, reports.NoRegression, "fail", exit.Inconclusive,
			"Inconclusive: acceptance pass, no significant regression (not accepted: on_unclear is fail)\n",
		},
		"unclear, rejected": {reports.Fail, reports.NoRegression, "pass", exit.Rejected, "Rejected: acceptance fail, no significant regression\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &process{stdout: &out, env: func(string) (string, bool) { return "true", true }}
			p.guard()
			err := p.gateAgainst(reports.Report{Verdict: c.accepted, Headline: "H1"}, compare.Comparison{Verdict: c.regressed, Headline: "H2", Rules: compare.Rules{OnUnclear: c.onUnclear}})
			require.Equal(t, c.code, exit.Code(err))
			require.True(t, bytes.HasPrefix(out.Bytes(), []byte(c.says)), out.String())
			require.Contains(t, out.String(), "regression: H2")
			require.Equal(t, c.regressed == reports.Pass || c.regressed == reports.NoRegression && c.onUnclear == "pass", !bytes.Contains(out.Bytes(), []byte("title=regression%3A")), "annotated on Actions")
		})
	}
}
