package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
)

// CheckCandidate names the candidate in each problem, needs no key, and accepts the program's
// custom agents.
func TestCheckCandidate(t *testing.T) {
	o := harness.Options{Parts: harness.Parts{Providers: all.Factories()}, Rules: harness.Rules{Policy: policy.Default()}}
	c := goldens.Candidate{Name: "a", Agent: "tools", Provider: "openai", Model: "m"}
	require.NoError(t, o.Check(c))
	c.MaxIterations, c.Rescue = -1, "n"
	require.EqualError(t, o.Check(c), "candidate a: max_iterations: must be from 0 to 1000, but is -1\n"+
		"candidate a: rescue: agent tools has no such setting; it is a setting of contract")
	c = goldens.Candidate{Name: "a", Agent: "mine", Provider: "openai", Model: "m", Rescue: "n"}
	require.EqualError(t, o.Check(c), `candidate a: agent: unknown strategy "mine"; known: contract, external, orchestrator, plan, tools`)
	o.Strategies = map[string]agent.Strategy{"mine": {New: func(agent.Params) (agent.Machine, error) { return nil, nil }}}
	require.NoError(t, o.Check(c))
}

// The zero policy is the default one and allows the caller's custom providers.
func TestZeroPolicy(t *testing.T) {
	factory := all.Factories()["sim-openai"]
	o := harness.Options{Parts: harness.Parts{Providers: map[string]providers.Factory{"sim-openai": factory, "mine": factory}}}
	mine := goldens.Candidate{Name: "a", Provider: "mine", Model: "m"}
	require.NoError(t, o.Check(mine))
	o.Policy = policy.Default()
	require.ErrorContains(t, o.Check(mine), `"mine"`)
}
