package harness_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// model is a provider without a network. It returns outputs in order, each with 100 input and 10
// output tokens, or the error of the step.
type model struct {
	outputs []string
	calls   []providers.Call
}

func (m *model) Call(_ context.Context, c providers.Call) (providers.Reply, error) {
	m.calls = append(m.calls, c)
	text := m.outputs[0]
	m.outputs = m.outputs[1:]
	return providers.Reply{Text: text, Finish: providers.FinishStop, Model: c.Model, Usage: providers.Usage{Reported: true, Input: 100, Output: 10}}, nil
}

// formatter is a model with one mode of structured output.
type formatter struct{ *model }

func (formatter) Modes() []providers.Mode { return []providers.Mode{providers.JSONObject} }

const smallSuite = `name: small
tools:
  - {name: get_job_status, description: Job., repeatable: true, schema: {type: object, properties: {id: {type: string}}, required: [id]}}
worlds:
  base: {kind: counts, now: 2026-05-13T12:00:00Z, zone: UTC, state: {job_status: [RUNNING]}, latency: {get_job_status: 100ms}}
defaults: {world: base, BUDGETS}
tasks:
  - {id: A, request: "How is job 7?", FAULTS, expect: {status: answered}}
`

// smallOptions returns a live run of one task with the test's model.
func smallOptions(t *testing.T, budgets, faults string, c goldens.Candidate, outputs ...string) (harness.Options, *model) {
	t.Helper()
	text := strings.NewReplacer("BUDGETS", budgets, "FAULTS", faults, "RUNNING", strings.Repeat("running ", 100)).Replace(smallSuite)
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(text)}}, "small", counts.Worlds())
	require.NoError(t, err)
	m := &model{outputs: outputs}
	c.Name, c.Provider = "c", "fake"
	prices, err := price.Parse([]byte(`version: "2026-01-01"
prices:
  - {provider: fake, models: [priced], input: 1, output: 1, source: test}
`))
	require.NoError(t, err)
	policy, err := policy.Parse([]byte("providers: {fake: {}}\n"))
	require.NoError(t, err)
	return harness.Options{
		Matrix:    harness.Matrix{Suite: suite, Candidates: []goldens.Candidate{c}},
		Recording: harness.Recording{Mode: recorder.Live},
		Rules:     harness.Rules{Policy: policy, Prices: prices},
		Parts: harness.Parts{
			Now: func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) },
			Providers: map[string]providers.Factory{
				"fake":  func(providers.Options) (providers.Model, error) { return m, nil },
				"fancy": func(providers.Options) (providers.Model, error) { return formatter{m}, nil },
			},
		},
	}, m
}

const (
	poll   = `{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"get_job_status","args":{"id":"7"}},"state_update":{"plan":"p","observation":"o","confidence":1}}`
	answer = `{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":"running"},"state_update":{"plan":"p","observation":"o","confidence":1}}`
)

func repeat(n int, text string, then ...string) []string {
	out := make([]string, n, n+len(then))
	for i := range out {
		out[i] = text
	}
	return append(out, then...)
}

func run(t *testing.T, o harness.Options) ledger.Rows {
	t.Helper()
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, rowsOf(t, res).Episodes[0].ErrorText)
	return rowsOf(t, res)
}

func TestTokenBudgetStops(t *testing.T) {
	o, _ := smallOptions(t, "budgets: {max_tokens_total: 300}", "title: x", goldens.Candidate{Model: "priced"}, repeat(5, poll)...)
	rows := run(t, o)
	require.Equal(t, []string{"stopped", "max_tokens"}, []string{rows.Episodes[0].Status, rows.Episodes[0].StopReason})
	require.Len(t, rows.Turns, 3, "110 and 220 are below 300")
}

func TestCostBudgetStops(t *testing.T) {
	o, _ := smallOptions(t, "budgets: {max_cost_usd: 0.0002}", "title: x", goldens.Candidate{Model: "priced"}, repeat(5, poll)...)
	rows := run(t, o)
	require.Equal(t, []string{"stopped", "max_cost"}, []string{rows.Episodes[0].Status, rows.Episodes[0].StopReason})
	require.Len(t, rows.Turns, 2, "110 tokens cost 0.00011 USD each turn")
	require.Equal(t, int64(220_000), *rows.Episodes[0].CostNanoUSD)
}

func TestPlanRefuses(t *testing.T) {
	for _, test := range []struct {
		name, provider, budgets string
		candidate               goldens.Candidate
		want                    string
	}{
		{"a cost cap without a price", "fake", "budgets: {max_cost_usd: 1}", goldens.Candidate{Model: "other"}, "candidate c: tasks cap its cost by max_cost_usd, but the price table has no price of model other of provider fake; add one or remove the cap"},
		{"a cost cap without a price of the rescue model", "fake", "budgets: {max_cost_usd: 1}", goldens.Candidate{Model: "priced", Rescue: "big"}, "no price of model big of provider fake"},
		{"a cost cap without a price of the planner's model", "fake", "budgets: {max_cost_usd: 1}", goldens.Candidate{Agent: "plan", Model: "priced", Plan: strategy.PlanBounds{ReasoningModel: "big"}}, "no price of model big of provider fake"},
		{"a mode of a wire that has none", "fake", "tier: core", goldens.Candidate{Model: "m", Mode: "json_schema"}, "candidate c: provider fake has no output mode json_schema; it has: prompt"},
		{"a mode the wire lacks", "fancy", "tier: core", goldens.Candidate{Model: "m", Mode: "forced_tool"}, "candidate c: provider fancy has no output mode forced_tool; it has: prompt, json_object"},
		{"an unknown mode", "fancy", "tier: core", goldens.Candidate{Model: "m", Mode: "xml"}, `unknown output mode "xml"; known: prompt, json_object, json_schema, forced_tool`},
		{"an unknown profile", "fancy", "tier: core", goldens.Candidate{Model: "m", Profile: "x"}, `unknown prompt profile "x"; known: conversation, schema, seed`},
		{"a compressor without a scratchpad", "fancy", "tier: core", goldens.Candidate{Model: "m", Profile: "conversation", Compress: true}, "prompt profile conversation has no scratchpad to compress"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, m := smallOptions(t, test.budgets, "title: x", test.candidate, answer)
			o.Candidates[0].Provider = test.provider
			policy, err := policy.Parse([]byte("providers: {fake: {}, fancy: {}}\n"))
			require.NoError(t, err)
			o.Policy = policy
			_, err = harness.Run(context.Background(), o)
			var config *harness.ConfigError
			require.ErrorAs(t, err, &config)
			require.ErrorContains(t, err, test.want)
			require.Empty(t, m.calls)
		})
	}
}

func TestModeReachesTheWire(t *testing.T) {
	o, m := smallOptions(t, "tier: core", "title: x", goldens.Candidate{Model: "m", Mode: "json_object", Profile: "schema"}, answer)
	o.Providers["fake"] = o.Providers["fancy"]
	rows := run(t, o)
	require.Equal(t, "json_object", rows.Turns[0].OutputMode)
	require.Equal(t, "schema", rows.Turns[0].PromptProfile)
	require.Equal(t, &providers.Format{Mode: providers.JSONObject}, m.calls[0].Format)
	require.Contains(t, m.calls[0].System, `"enum":["get_job_status"]`)
}

// The ledger marks a call that takes 9 s after five calls of 100 ms.
func TestLedgerHasDurationSpikes(t *testing.T) {
	o, _ := smallOptions(t, "budgets: {max_steps: 20, max_tool_calls: 20, max_seconds: 600}", "faults: [{tool: get_job_status, kind: latency, on_calls: [6], after: 9s}]",
		goldens.Candidate{Model: "m"}, repeat(7, poll, answer)...)
	o.Suite.Tasks[0].Expect[0].Signals = map[string]string{"duration_spikes": "1"}
	rows := run(t, o)
	var spikes []int32
	for _, c := range rows.ToolCalls {
		if c.DurationSpike {
			spikes = append(spikes, c.Seq)
		}
	}
	require.Equal(t, []int32{6}, spikes)
	require.True(t, rows.Episodes[0].Solved, "%v", rows.Episodes[0].Checks)
}

// A summary of the log has a row with a separate role and does not count as a step.
func TestCompressIsNotAStep(t *testing.T) {
	const summary = "GOAL\ng\nCONSTRAINTS\nnone\nPLAN\n1. poll\nPROGRESS\n- polled\nOBSERVATIONS\n- it runs\nOPEN_QUESTIONS\nnone\nRISKS\nnone"
	o, m := smallOptions(t, "budgets: {max_steps: 20, max_tool_calls: 20}", "title: x", goldens.Candidate{Model: "m", Compress: true}, repeat(4, poll, summary, answer)...)
	rows := run(t, o)
	require.Equal(t, "answered", rows.Episodes[0].Status)
	require.Len(t, rows.Turns, 6)
	require.Equal(t, []string{"compress", "compress"}, []string{rows.Turns[4].Role, rows.Turns[4].Kind})
	require.Equal(t, int32(5), rows.Episodes[0].Steps)
	require.Zero(t, rows.Episodes[0].Violations)
	require.Equal(t, int64(660), rows.Turns[5].TokensUsed)
	require.Contains(t, m.calls[5].Messages[0].Text, "summary: <data>it runs</data>")
	require.Equal(t, rows.ToolCalls[3].ActionID, rows.Turns[5].ParentActionID, "parented by the tool call whose result it saw")
}
