package sim_test

import (
	"context"
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

const followSuite = `name: follow
tools:
  - name: today_range
    description: Today.
    schema: {type: object, properties: {}, additionalProperties: false}
  - name: get_counts
    description: Counts.
    schema:
      type: object
      properties:
        start_date: {type: string}
        end_date: {type: string}
        label: {type: string, enum: [angry, praise]}
      required: [start_date, end_date, label]
      additionalProperties: false
defaults: {world: w, budgets: {max_steps: 12, max_tool_calls: 12}}
candidates: []
worlds:
  w:
    now: 2026-05-13T12:00:00Z
    zone: UTC
    kind: counts
    state: {counts: {2026-05-13: {angry: 7, praise: 12}}}
tasks:
  - {id: T1, request: "Which are more today?", expect: {status: answered, numbers: [7, 12]}}
  - {id: T2, request: "How many today?", replies: [angry], expect: {status: answered_after_clarify, numbers: [7]}}
  - {id: T3, request: Delete them., expect: {status: cannot_proceed}}
  - id: T4
    request: How many angry ones on the day given?
    inputs: {days: [2026-05-13]}
    each: days
    expect: {status: answered, numbers: [7]}
  - id: T5
    request: How many angry and praise ones, as JSON?
    answer_schema: {type: object, properties: {angry: {type: integer}, praise: {type: integer}}, required: [angry, praise], additionalProperties: false}
    faults: [{tool: get_counts, on_calls: [1], kind: error, code: E_UNAVAILABLE, message: later}]
    expect: {status: answered, numbers: [7, 12]}
`

const followBook = `playbook:
  T1:
    - {call: today_range, as: today}
    - each: [angry, praise]
      as: label
      do:
        - call: get_counts
          args: {start_date: "{{today.start_date}}", end_date: "{{today.end_date}}", label: "{{label}}"}
          as: n
    - answer: "{{n[0].value}} angry and {{n[1].value}} praise messages."
  T2:
    - {ask: "Which label?", as: label}
    - {call: today_range, as: today}
    - call: get_counts
      args: {start_date: "{{today.start_date}}", end_date: "{{today.end_date}}", label: "{{label}}"}
      as: n
    - answer: "{{n.value}} {{label}} messages."
  T3:
    - give_up: I cannot delete messages.
  T4:
    - call: get_counts
      args: {start_date: "{{item}}", end_date: "{{item}}", label: angry}
      as: n
    - answer: "{{n.value}} angry messages."
  T5:
    - each: [angry, praise]
      as: label
      do:
        - call: get_counts
          args: {start_date: 2026-05-13, end_date: 2026-05-13, label: "{{label}}"}
          as: n
    - answer: "{{n[0].value}} angry and {{n[1].value}} praise messages."
      value: {angry: "{{n[0].value}}", praise: "{{n[1].value}}"}
`

// followers runs the suite with candidates and returns its episodes by candidate and task.
func followers(t *testing.T, candidates ...goldens.Candidate) map[string]map[string]ledger.Episode {
	t.Helper()
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(followSuite)}, playbook.File: {Data: []byte(followBook)}}, "follow", counts.Worlds())
	require.NoError(t, err)
	book, err := load.Playbook(suite)
	require.NoError(t, err)
	prices, err := price.Default()
	require.NoError(t, err)
	models := testkit.Handled(sim.Handler(sim.Config{Seed: 1, Books: []*playbook.Book{book}}))
	res, err := harness.Run(context.Background(), harness.Options{
		Matrix:    harness.Matrix{Suite: suite, Candidates: candidates, Seed: 1},
		Recording: harness.Recording{Mode: recorder.Live},
		RunFolder: harness.RunFolder{Runs: t.TempDir()},
		Parts:     harness.Parts{Providers: all.Factories(), Transport: func(string) http.RoundTripper { return models }},
		Rules:     harness.Rules{Policy: policy.Default(), Prices: prices, CodeVersion: "test"},
	})
	require.NoError(t, err)
	rows, err := ledger.Read(res.Dir)
	require.NoError(t, err)
	out := map[string]map[string]ledger.Episode{}
	for _, e := range rows.Episodes {
		if out[e.Candidate] == nil {
			out[e.Candidate] = map[string]ledger.Episode{}
		}
		out[e.Candidate][e.TaskID] = e
	}
	return out
}

// TestOracleSolves checks that the model without slips solves what its playbook solves,
// with every strategy and API. A plan has no user to ask, and a step of a plan cannot
// give up.
func TestOracleSolves(t *testing.T) {
	var candidates []goldens.Candidate
	for _, wire := range []string{"sim-openai", "sim-responses", "sim-anthropic", "sim-gemini", "sim-bedrock", "sim-ollama", "sim-cohere", "sim-tgi"} {
		for _, c := range []goldens.Candidate{{Name: "contract"}, {Name: "conversation", Profile: "conversation"}, {Name: "tools", Agent: "tools"}, {Name: "react", Agent: "tools", Profile: "react"}, {Name: "plan", Agent: "plan"}} {
			if wire == "sim-tgi" && c.Agent != "" && c.Profile == "" {
				continue // has no tools
			}
			c.Name, c.Provider, c.Model = c.Name+"-"+wire, wire, "sim-oracle"
			candidates = append(candidates, c)
		}
	}
	for candidate, episodes := range followers(t, candidates...) {
		for task, e := range episodes {
			if candidate[:4] == "plan" && (task == "T2" || task == "T3") {
				continue
			}
			require.Truef(t, e.Solved, "%s %s: %s %v", candidate, task, e.Status, e.Answer)
		}
	}
}

// TestNopSolvesNothing checks this for every strategy.
func TestNopSolvesNothing(t *testing.T) {
	for candidate, episodes := range followers(t, goldens.Candidate{Name: "contract", Provider: "sim-openai", Model: "sim-nop"}, goldens.Candidate{Name: "tools", Agent: "tools", Provider: "sim-openai", Model: "sim-nop"},
		goldens.Candidate{Name: "plan", Agent: "plan", Provider: "sim-openai", Model: "sim-nop"}) {
		for task, e := range episodes {
			require.Falsef(t, e.Solved, "%s %s: %s", candidate, task, e.Status)
		}
	}
}
