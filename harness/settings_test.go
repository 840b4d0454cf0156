package harness_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// spy is a strategy that stores its input and returns an empty answer.
type spy struct {
	agent.Tally
	params agent.Params
	into   *[]agent.Params
}

func (m *spy) Step(ev agent.Event) agent.Ready {
	m.Take(ev)
	*m.into = append(*m.into, m.params)
	return agent.Ready{Commands: []agent.Command{m.Finish(agent.Finish{Status: agent.CannotProceed, Answer: "no"})}}
}

// everySetting returns a candidate with all settings of an agent.
func everySetting() goldens.Candidate {
	none := 0
	return goldens.Candidate{
		Name: "x", Agent: "spy", Provider: "sim-openai", Model: "m", System: "Be brief.", Fallback: "n", MaxIterations: 5, FinalRetries: &none,
		Memory: goldens.Memory{Turns: 1, Tokens: 7}, Batch: strategy.Batch{Size: 2, Delay: time.Second, StopOnFail: true},
		Plan: strategy.PlanBounds{Attempts: 1, Steps: 2, Concurrency: 3, ContextTokens: 4},
	}
}

// All settings of candidate and task reach the strategy, and those of the candidate run.json.
func TestSettingsReachTheStrategy(t *testing.T) {
	var img bytes.Buffer
	require.NoError(t, png.Encode(&img, image.NewGray(image.Rect(0, 0, 1, 1))))
	suite, err := load.Suite(fstest.MapFS{"a.png": {Data: img.Bytes()}, "suite.yaml": {Data: []byte(`
name: all
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may, budgets: {max_steps: 3, max_tool_calls: 4, max_seconds: 5}}
tasks:
  - {id: A, session: s, request: Before, expect: {status: answered}}
  - {id: B, session: s, request: 'Do {item}', constraints: C, inputs: {b: [1, x], a: {k: 2}}, each: b, images: [a.png], answer_schema: {type: object}, expect: {status: answered}}
`)}}, "all", counts.Worlds())
	require.NoError(t, err)
	var seen []agent.Params
	o := countsOptions(t)
	o.Suite, o.Mode, o.Concurrency = suite, recorder.Live, 1
	o.Strategies = map[string]agent.Strategy{"spy": {New: func(p agent.Params) (agent.Machine, error) { return &spy{params: p, into: &seen}, nil }}}
	full, blind := everySetting(), everySetting()
	blind.Name, blind.NoImages, blind.Memory, blind.Fallback = "y", true, goldens.Memory{Off: true}, ""
	o.Candidates = []goldens.Candidate{full, blind}
	res := runTalk(t, o)

	var of = map[bool]agent.Params{}
	for _, p := range seen {
		if p.Request != "Before" {
			of[p.Images != nil] = p
		}
	}
	resolved, err := o.Policy.Resolve("sim-openai", "action")
	require.NoError(t, err)
	none := 0
	want := agent.Params{
		Request: "Do {item}", Constraints: "C", Tools: of[true].Tools, Budgets: guard.Budgets{MaxSteps: 3, MaxToolCalls: 4, MaxTime: 5 * time.Second},
		MaxTokens: resolved.MaxTokens, Temperature: resolved.Temperature, Profile: "seed", Mode: "prompt",
		System: "Be brief.", Images: []providers.Image{{MediaType: "image/png", Data: img.Bytes()}}, AnswerSchema: json.RawMessage(`{"type":"object"}`),
		Inputs: []strategy.Input{{Name: "b", Value: json.RawMessage(`[1,"x"]`)}, {Name: "a", Value: json.RawMessage(`{"k":2}`)}}, Each: "b",
		Memory: []strategy.Exchange{{Request: "Before", Answer: "no"}}, Fallback: true, MaxIterations: 5, FinalRetries: &none,
		Batch: strategy.Batch{Size: 2, Delay: time.Second, StopOnFail: true}, Plan: strategy.PlanBounds{Attempts: 1, Steps: 2, Concurrency: 3, ContextTokens: 4},
	}
	require.Equal(t, want, of[true])
	want.Images, want.Memory, want.Fallback, want.Tools = nil, nil, false, of[false].Tools
	require.Equal(t, want, of[false])

	require.Equal(t, "n", res.Manifest.Candidates[0].FallbackModel)
	require.Equal(t, []manifest.Setting{
		{Name: "system", Value: `"Be brief." (b1cc2ec6cf9f)`}, {Name: "max_iterations", Value: "5"}, {Name: "final_retries", Value: "0"},
		{Name: "memory.turns", Value: "1"}, {Name: "memory.tokens", Value: "7"},
		{Name: "batch.size", Value: "2"}, {Name: "batch.delay", Value: "1s"}, {Name: "batch.stop_on_fail", Value: "true"},
		{Name: "plan.attempts", Value: "1"}, {Name: "plan.steps", Value: "2"}, {Name: "plan.concurrency", Value: "3"}, {Name: "plan.context_tokens", Value: "4"},
	}, res.Manifest.Candidates[0].Settings)
	require.Contains(t, res.Manifest.Candidates[1].Settings, manifest.Setting{Name: "no_images", Value: "true"})
	require.Contains(t, res.Manifest.Candidates[1].Settings, manifest.Setting{Name: "memory.off", Value: "true"})
}

// Every setting of an agent changes the digest of the candidate and makes its cassettes stale. A
// candidate without settings has the digest from before settings existed.
func TestDigestsOfAgentSettings(t *testing.T) {
	plain := goldens.Candidate{Name: "x", Provider: "sim-openai", Model: "m"}
	// digest of the commit before these fields
	require.Equal(t, "1c35cbd67436", harness.CandidateDigest(plain)[:12])
	one := 1
	seen := map[string]string{harness.CandidateDigest(plain): "plain"}
	for name, change := range map[string]func(*goldens.Candidate){
		"system":         func(c *goldens.Candidate) { c.System = "s" },
		"fallback":       func(c *goldens.Candidate) { c.Fallback = "f" },
		"max_iterations": func(c *goldens.Candidate) { c.MaxIterations = 1 },
		"final_retries":  func(c *goldens.Candidate) { c.FinalRetries = &one },
		"no retries":     func(c *goldens.Candidate) { c.FinalRetries = new(int) },
		"no_images":      func(c *goldens.Candidate) { c.NoImages = true },
		"memory":         func(c *goldens.Candidate) { c.Memory.Turns = 1 },
		"memory off":     func(c *goldens.Candidate) { c.Memory.Off = true },
		"batch":          func(c *goldens.Candidate) { c.Batch.Size = 1 },
		"plan":           func(c *goldens.Candidate) { c.Plan.Steps = 1 },
		"planner":        func(c *goldens.Candidate) { c.Plan.ReasoningModel = "m" },
		"orchestrator":   func(c *goldens.Candidate) { c.Orchestrator.Turns = 1 },
	} {
		c := plain
		change(&c)
		digest := harness.CandidateDigest(c)
		require.Empty(t, seen[digest], name)
		seen[digest] = name
	}
}

// A fallback model without a price is rejected if a price is needed.
func TestFallbackNeedsAPrice(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	o.Strategies = map[string]agent.Strategy{"spy": {New: func(agent.Params) (agent.Machine, error) { return &spy{into: new([]agent.Params)}, nil }}}
	o.Candidates = []goldens.Candidate{{Name: "x", Agent: "spy", Provider: "sim-openai", Model: "sim-strong", Fallback: "no-such-model"}}
	o.Caps.CostNanoUSD = 1e9
	_, err := harness.Run(t.Context(), o)
	require.ErrorContains(t, err, "the price table has no price of model no-such-model")
}
