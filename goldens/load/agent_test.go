package load

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

func TestAgentSettingsProblems(t *testing.T) {
	for _, tc := range []struct{ name, fields, want string }{
		{"iterations", "agent: tools, max_iterations: 1001", "max_iterations: must be from 0 to 1000, but is 1001"},
		{"retries", "agent: plan, final_retries: -1", "final_retries: must be from 0 to 10, but is -1"},
		{"memory", "memory: {turns: -1}", "memory: turns must be from 0 to 1000, but is -1"},
		{"memory's slip", "memory: {turn: 1}", "memory.turn: unknown field (did you mean turns?); allowed: turns, tokens, off"},
		{"memory's kind", "memory: 3", "memory: must be a mapping, but is a number"},
		{"delay", "agent: tools, batch: {delay: 2h}", "batch: delay must be at most 1h0m0s, in whole microseconds, but is 2h0m0s"},
		{"delay of nothing", "agent: tools, batch: {delay: 0s}", "batch.delay: must be more than 0 and at most 24h0m0s, in whole microseconds, but is 0s"},
		{"plan", "agent: plan, plan: {attempts: 21}", "plan: attempts must be from 0 to 20, but is 21"},
		{"system of nothing", "agent: tools, system: ' '", "system: must not be blank"},
		{"a large system prompt", "agent: tools, system: " + strings.Repeat("x", 64<<10+1), "system: must be at most 64 KiB"},
		{"contract's system", "system: Be brief.", "system: agent contract has no such setting; it is a setting of tools, plan and orchestrator"},
		{"contract's fallback", "agent: contract, fallback: n", "fallback: agent contract has no such setting; it is a setting of tools, plan and orchestrator"},
		{"contract's iterations", "max_iterations: 5", "max_iterations: agent contract has no such setting; it is a setting of tools and plan"},
		{"contract's retries", "final_retries: 0", "final_retries: agent contract has no such setting; it is a setting of tools, plan and orchestrator"},
		{"contract's batch", "batch: {size: 2}", "batch: agent contract has no such setting; it is a setting of tools"},
		{"plan's batch", "agent: plan, batch: {size: 2}", "batch: agent plan has no such setting; it is a setting of tools"},
		{"tools' plan", "agent: tools, plan: {steps: 2}", "plan: agent tools has no such setting; it is a setting of plan"},
		{"tools' rescue", "agent: tools, rescue: n", "rescue: agent tools has no such setting; it is a setting of contract"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := problemsOf(t, suitetest.Folder(suitetest.Head+"candidates: [{name: a, provider: p, model: m, "+tc.fields+"}]\ntasks: ["+suitetest.Task+"]\n"))
			require.Equal(t, []string{"s/suite.yaml:19: candidates[0]." + tc.want}, got)
		})
	}
}

// A custom agent accepts every setting; a built-in one rejects settings that it does not have.
func TestCustomAgentsAcceptEverySetting(t *testing.T) {
	c := goldens.Candidate{
		Name: "a", Agent: "own", Provider: "p", Model: "m", Rescue: "r", System: "s", Fallback: "f", MaxIterations: 1, FinalRetries: new(1),
		Batch: strategy.Batch{Size: 1}, Plan: strategy.PlanBounds{Steps: 1},
	}
	require.NoError(t, c.Validate())
	c.Agent = "plan"
	require.EqualError(t, c.Validate(), "rescue: agent plan has no such setting; it is a setting of contract\nbatch: agent plan has no such setting; it is a setting of tools")
	c = goldens.Candidate{Name: "a", Agent: "tools", Provider: "p", Model: "m", FinalRetries: new(11), Batch: strategy.Batch{Size: -1, Delay: -time.Second}}
	require.EqualError(t, c.Validate(), "batch: size must be from 0 to 100, but is -1\nbatch: delay must be at most 1h0m0s, in whole microseconds, but is -1s\nfinal_retries: must be from 0 to 10, but is 11")
}

// The YAML tags of a candidate name the fields of cupel.yaml.
func TestCandidateTags(t *testing.T) {
	var c goldens.Candidate
	require.NoError(t, yaml.Unmarshal([]byte("{name: a, system: Be brief., fallback: F, max_iterations: 5, final_retries: 0, no_images: true, memory: {turns: 3, tokens: 500, off: true}, batch: {size: 2, delay: 3s, stop_on_fail: true}, plan: {attempts: 1, steps: 2, concurrency: 3, context_tokens: 4, reasoning_model: Planner}}"), &c))
	want := loadFull(t).Candidates[0]
	require.Equal(t, goldens.Candidate{
		Name: "a", System: "Be brief.", Fallback: "F", MaxIterations: 5, FinalRetries: want.FinalRetries, NoImages: true,
		Memory: want.Memory, Batch: want.Batch, Plan: want.Plan,
	}, c)
}

// In a matrix without profiles each agent has its default profile, which is not part of the name.
// Settings that only some agents have apply to those.
func TestMatrixOfAgents(t *testing.T) {
	out, err := matrixOf(t, `
matrix:
  agent: [contract, tools, plan, own]
  provider: a
  model: x
  memory: {turns: 3}
  include:
    - {agent: [tools, plan], system: Be brief., fallback: y, max_iterations: 7}
    - {agent: tools, batch: {size: 4}, memory: {tokens: 9}}
    - {agent: plan, plan: {steps: 9}}
    - {profile: native, no_images: true}
    - {name: mine, agent: tools, provider: b, model: z}
`)
	require.NoError(t, err)
	three := goldens.Memory{Turns: 3}
	require.Equal(t, []goldens.Candidate{
		{Name: "a-x", Agent: "contract", Provider: "a", Model: "x", Mode: "prompt", Profile: "seed", Memory: three},
		{Name: "a-x-tools", Agent: "tools", Provider: "a", Model: "x", Mode: "prompt", Profile: "native", System: "Be brief.", Fallback: "y", MaxIterations: 7, NoImages: true, Batch: strategy.Batch{Size: 4}, Memory: goldens.Memory{Turns: 3, Tokens: 9}},
		{Name: "a-x-plan", Agent: "plan", Provider: "a", Model: "x", Mode: "prompt", Profile: "native", System: "Be brief.", Fallback: "y", MaxIterations: 7, NoImages: true, Plan: strategy.PlanBounds{Steps: 9}, Memory: three},
		{Name: "a-x-own", Agent: "own", Provider: "a", Model: "x", Mode: "prompt", Profile: "seed", Memory: three},
		{Name: "mine", Agent: "tools", Provider: "b", Model: "z", Mode: "prompt", Profile: "native", Memory: three},
	}, out)

	names, err := matrixOf(t, "matrix: {agent: [contract, tools], provider: a, model: x, profile: [seed, native, react], exclude: [{agent: contract, profile: [native, react]}, {agent: tools, profile: seed}]}")
	require.NoError(t, err)
	require.Equal(t, []string{"a-x", "a-x-tools", "a-x-tools-react"}, matrixNames(names))

	_, err = matrixOf(t, "matrix:\n  agent: [contract, tools]\n  provider: a\n  model: x\n  system: Be brief.\n  exclude:\n    - {profile: schema}\n")
	require.EqualError(t, err, `cupel.yaml:7: matrix.exclude[0].profile: "schema" is not in the profile axis of the matrix; it has: seed, native`)
	_, err = matrixOf(t, "matrix:\n  agent: [contract, tools]\n  provider: a\n  model: x\n  system: Be brief.\n")
	require.EqualError(t, err, "cupel.yaml:5: matrix.system: agent contract has no such setting; it is a setting of tools, plan and orchestrator")
}
