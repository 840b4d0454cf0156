package harness_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/recorder"
)

// changingModel is a model whose second answer differs.
type changingModel struct{}

// Call implements providers.Model.
func (changingModel) Call(_ context.Context, call providers.Call) (providers.Reply, error) {
	text := "It is 42."
	if strings.HasSuffix(call.RequestID, "-2") {
		text = "It is 41."
	}
	return providers.Reply{Text: text, Usage: providers.Usage{Reported: true, Input: 20, Output: 5}}, nil
}

// A custom strategy, here vote, runs like a built-in one. docs/custom-strategies.md has its code.
func ExampleOptions_strategies() {
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`
name: mine
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: w, tools: []}
tasks:
  - {id: three, request: "What is six times seven?", expect: {status: answered, numbers: [42]}}
  - {id: two, request: "What is six times seven?", budgets: {max_steps: 2}, expect: {status: answered, numbers: [42]}}
`)}}, "mine", nil)
	if err != nil {
		log.Fatal(err)
	}
	res, err := harness.Run(context.Background(), harness.Options{
		Matrix: harness.Matrix{Suite: suite, Candidates: []goldens.Candidate{{Name: "voters", Agent: "vote", Provider: "openai-compatible", Model: "any"}}},
		Parts: harness.Parts{
			Strategies: map[string]agent.Strategy{"vote": {New: newVote}},
			Providers:  map[string]providers.Factory{"openai-compatible": func(providers.Options) (providers.Model, error) { return changingModel{}, nil }},
		},
		Rules:     harness.Rules{Policy: policy.Default()},
		Recording: harness.Recording{Mode: recorder.Live},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range res.Rows.Episodes {
		fmt.Println(e.TaskID, e.Status, e.Answer, "solved:", e.Solved, "steps:", e.Steps, "tokens:", *e.In+*e.Out)
	}
	// Output:
	// three answered It is 42. solved: true steps: 3 tokens: 75
	// two answered It is 41. solved: false steps: 2 tokens: 50
}
