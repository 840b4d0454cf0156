package cmd

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

// An entry of the known-flaky list is valid until the end of its day, by the clock of the process.
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
		require.Regexp(t, `max_drop +0.05\s+max_invalid +0.08\s+detectable +0.1\s+max_attack_success +–\s+max_score_drop +–\s+max_steps +–`, out.String())
	}
}

// The worse of the two verdicts is the gate's.
func TestGateAgainst(t *testing.T) {
	for name, c := range map[string]struct {
		accepted, regressed stat.Verdict
		onUnclear           compare.OnUnclear
		code                int
		says                string
	}{
		"both pass":        {stat.Pass, stat.Pass, "fail", exit.Accepted, "Accepted: acceptance pass, regression pass\n"},
		"a regression":     {stat.Pass, stat.Fail, "pass", exit.Rejected, "Rejected: acceptance pass, regression fail\n"},
		"not accepted":     {stat.Fail, stat.Inconclusive, "pass", exit.Rejected, "Rejected: acceptance fail, regression inconclusive\n"},
		"nothing is shown": {stat.Inconclusive, stat.Pass, "pass", exit.Inconclusive, "Inconclusive: acceptance inconclusive, regression pass\n"},
		"no baseline's":    {stat.Pass, stat.Inconclusive, "pass", exit.Inconclusive, "Inconclusive: acceptance pass, regression inconclusive\n"},
		"unclear":          {stat.Pass, stat.NoRegression, "pass", exit.Accepted, "Accepted: acceptance pass, no significant regression\n"},
		"unclear, fail": {
			stat.Pass, stat.NoRegression, "fail", exit.Inconclusive,
			"Inconclusive: acceptance pass, no significant regression (not accepted: on_unclear is fail)\n",
		},
		"unclear, rejected": {stat.Fail, stat.NoRegression, "pass", exit.Rejected, "Rejected: acceptance fail, no significant regression\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &process{stdout: &out, env: func(string) (string, bool) { return "true", true }}
			p.guard()
			err := p.gateAgainst(model.Report{Verdict: c.accepted, Headline: "H1"}, compare.Comparison{Verdict: c.regressed, Headline: "H2", Rules: compare.Rules{OnUnclear: c.onUnclear}})
			require.Equal(t, c.code, exit.Code(err))
			require.True(t, bytes.HasPrefix(out.Bytes(), []byte(c.says)), out.String())
			require.Contains(t, out.String(), "regression: H2")
			require.Equal(t, c.regressed == stat.Pass || c.regressed == stat.NoRegression && c.onUnclear == "pass", !bytes.Contains(out.Bytes(), []byte("title=regression%3A")), "annotated on Actions")
		})
	}
}
