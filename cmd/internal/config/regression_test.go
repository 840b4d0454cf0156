package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/reports/compare"
)

func TestRegressionIsWhole(t *testing.T) {
	c, err := configOf(t, `regression:
  alpha: 0.01
  max_drop: 0.1
  max_invalid: 0.03
  detectable: 0.08
  max_steps: 0.2
  max_cost: 1.5
  max_latency: 0.5
  on_unclear: fail
  changed: skip
  flaky:
    - {task: G07, candidate: strong, owner: ann@example.org, expires: 2026-12-31, reason: the clock}
    - &old {task: G08, owner: bo, expires: "2020-02-29"}
`)
	require.NoError(t, err)
	require.Equal(t, compare.Rules{
		Alpha: 0.01, MaxDrop: 0.1, MaxInvalid: 0.03, Detectable: 0.08, MaxSteps: 0.2, MaxCost: 1.5, MaxLatency: 0.5, OnUnclear: compare.OnUnclearFail, Changed: compare.Skip,
		Flaky: []compare.KnownFlaky{
			{Task: "G07", Candidate: "strong", Owner: "ann@example.org", Expires: "2026-12-31", Reason: "the clock"},
			{Task: "G08", Owner: "bo", Expires: "2020-02-29"},
		},
	}, c.Regression)
	rules := c.Regression
	rules.Today = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, rules.Validate(), "what the file may say is valid")

	c, err = configOf(t, "trials: 1\n")
	require.NoError(t, err)
	require.Equal(t, compare.Rules{}, c.Regression)
}

// All problems are reported together, by line and field.
func TestRegressionProblems(t *testing.T) {
	_, err := configOf(t, `regression:
  alpha: 0
  max_drop: 5%
  max_invalid: 1.5
  max_steps: .nan
  max_cost: -1
  max_latency: [1]
  min_valid: 0.9
  changed: maybe
  flaky:
    - {task: G01, owner: ann}
    - {task: G02, expires: 2026-13-01, owner: "  "}
    - {task: G03, owner: ann, expires: 2026-12-31, until: 2027-01-01}
    - {task: G03, owner: bo, expires: 2027-01-01}
    - G04
    - {task: [G05], owner: ann, expires: tomorrow}
  detectable: 2
  on_unclear: ignore
`)
	require.Error(t, err)
	require.Equal(t, exit.BadUsage, exit.Code(err))
	const share = "a share of the baseline, such as 0.1 for a tenth more, and more than 0; remove it for the default"
	want := []string{
		`2: regression.alpha: "0" must be a level from 0.000001 to 0.49, and more than 0; remove it for the default`,
		`3: regression.max_drop: "5%" must be a share up to 1, and more than 0; remove it for the default`,
		`4: regression.max_invalid: "1.5" must be a share up to 1, and more than 0; remove it for the default`,
		`5: regression.max_steps: ".nan" must be ` + share,
		`6: regression.max_cost: "-1" must be ` + share,
		`7: regression.max_latency: "a list" must be ` + share,
		`8: regression.min_valid: unknown field; allowed: ` + ruleKeys,
		`9: regression.changed: "maybe" must be refuse, skip or keep`,
		`11: regression.flaky[0]: expires is missing: an entry names its task, an owner and the day it expires`,
		`12: regression.flaky[1].expires: "2026-13-01" must be a date such as 2026-12-31: the last day on which the entry counts`,
		`12: regression.flaky[1].owner: is empty`,
		`13: regression.flaky[2].until: unknown field; allowed: ` + flakyKeys,
		`14: regression.flaky[3]: task "G03" is listed twice for the same candidate`,
		`15: regression.flaky[4]: must be a mapping, not text`,
		`16: regression.flaky[5].task: must be text, not a list`,
		`16: regression.flaky[5].expires: "tomorrow" must be a date such as 2026-12-31: the last day on which the entry counts`,
		`17: regression.detectable: "2" must be a share up to 1, and more than 0; remove it for the default`,
		`18: regression.on_unclear: "ignore" must be pass or fail`,
	}
	var got []string
	for line := range strings.Lines(err.Error()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), Name+":")
		got = append(got, text)
	}
	require.Equal(t, want, got)
}

func TestRegressionShapes(t *testing.T) {
	many := strings.Builder{}
	for i := range maxFlaky + 1 {
		fmt.Fprintf(&many, "    - {task: T%d, owner: a, expires: 2026-12-31}\n", i)
	}
	for text, want := range map[string]string{
		"regression: 5":                           "1: regression: must be a mapping, not a whole number",
		"regression:\n  flaky: G01":               "2: regression.flaky: must be a list, not text",
		"regression:\n  flaky:\n" + many.String(): "2: regression.flaky: 1001 entries, more than 1000",
		"regression:\n  flaky:\n    - {task: " + strings.Repeat("x", 301) + ", owner: a, expires: 2026-12-31}": "3: regression.flaky[0].task: 301 bytes, more than 300",
		"regression: {alpha: 0.5}":    "1: regression.alpha: \"0.5\" must be a level",
		"regression: {max_drop: x}":   "1: regression.max_drop: \"x\" must be a share",
		"regression: {max_cost: 1e9}": "1: regression.max_cost: \"1e9\" must be a share of the baseline",
	} {
		_, err := configOf(t, text)
		require.ErrorContains(t, err, Name+":"+want)
		require.Equal(t, exit.BadUsage, exit.Code(err))
	}
}

// FuzzRegression checks that loading any section returns valid rules or a usage error.
func FuzzRegression(f *testing.F) {
	f.Add("{alpha: 0.01, changed: keep}")
	f.Add("{flaky: [{task: a, owner: b, expires: 2026-01-01}]}")
	f.Add("{on_unclear: fail, detectable: 0.2}")
	f.Add("&a [*a]")
	f.Add("{flaky: &x [{task: *x}]}")
	f.Fuzz(func(t *testing.T, section string) {
		c, err := configOf(t, "regression: "+strings.ReplaceAll(section, "\n", "\n  "))
		if err != nil {
			return
		}
		c.Regression.Today = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		require.NoError(t, c.Regression.Validate())
	})
}
