package harness

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// A Go function judges an episode, in replay, too. What it reads has no expectation. If it
// fails, the episode says nothing about the model.
func TestScoreByFunction(t *testing.T) {
	s, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`name: own
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC, kind: counts, state: {job_status: [done]}}}
defaults: {world: w}
tools: [{name: get_job_status, description: Status., schema: {type: object, properties: {id: {type: string}}, required: [id], additionalProperties: false}}]
tasks:
  - id: T
    request: Is it done?
    scripted: true
    script: [{call: {get_job_status: {id: "7"}}}, {respond: It is.}]
    expect: {status: answered, contains_any: [It is], score: {check: brief, with: {most: 9}, at_least: 0.5}}
`)}}, "own", counts.Worlds())
	require.NoError(t, err)
	pass, score := true, 0.5
	var fault error
	var got scorer.Episode
	checks := map[string]scorer.Func{"brief": func(_ context.Context, e scorer.Episode) (scorer.Result, error) {
		got = e
		return scorer.Result{Pass: &pass, Score: &score, Reason: "counted"}, fault
	}}
	run := func(checks map[string]scorer.Func) ledger.Episode {
		o := ownOptions(t, s)
		o.Mode, o.Checks = recorder.Replay, checks
		res, _ := runOne(t, o)
		return res.Rows.Episodes[0]
	}
	e := run(checks)
	require.True(t, e.Solved)
	require.Contains(t, e.Checks, ledger.Check{Name: "score.brief", Passed: true})
	require.Equal(t, scorer.Episode{
		Task: "T", Request: "Is it done?", With: []byte(`{"most":9}`), Status: "answered", Answer: "It is.", Steps: 2,
		Calls: []scorer.Call{{Tool: "get_job_status", Args: `{"id":"7"}`, Outcome: "ok", Result: []byte(`{"id":"7","status":"done"}`)}},
	}, got)

	score = 0.25
	e = run(checks)
	require.False(t, e.Solved)
	require.False(t, e.InfraError)
	require.Contains(t, e.Checks, ledger.Check{Name: "score.brief", Detail: `want a score of at least 0.5, got 0.25: "counted"`})

	fault = errors.New("no dictionary")
	e = run(checks)
	require.True(t, e.InfraError)
	require.Equal(t, ledger.StatusHarnessError, e.Status)
	require.Equal(t, "score brief: the function brief: no dictionary", e.ErrorText)
	require.Empty(t, e.Checks)

	e = run(nil)
	require.Equal(t, `score brief: no Go function is named "brief"; add it to cmd.App.Checks`, e.ErrorText)
}
