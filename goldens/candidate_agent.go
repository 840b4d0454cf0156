package goldens

import (
	"fmt"

	"github.com/cupel-eval/cupel/agent/strategy"
)

// maxSystemBytes bounds a candidate's system prompt.
const maxSystemBytes = 64 << 10

// agentFaults lists settings that are out of range, or that the built-in agent of
// the candidate does not have. A custom agent has every setting.
func (c Candidate) agentFaults(add func(field, detail string)) {
	add("max_iterations", strategy.MaxIterations.Fault(c.MaxIterations))
	for _, f := range []struct{ name, fault string }{{"turns", strategy.MemoryTurns.Fault(c.Memory.Turns)}, {"tokens", strategy.MemoryTokens.Fault(c.Memory.Tokens)}} {
		if f.fault != "" {
			add("memory", f.name+" "+f.fault)
		}
	}
	for i, faults := range [][]string{c.Batch.Faults(), c.Plan.Faults(), c.Orchestrator.Faults()} {
		for _, fault := range faults {
			add([]string{"batch", "plan", "orchestrator"}[i], fault)
		}
	}
	if n := c.FinalRetries; n != nil {
		add("final_retries", strategy.FinalRetries.Fault(*n))
	}
	if len(c.System) > maxSystemBytes {
		add("system", fmt.Sprintf("must be at most %d KiB", maxSystemBytes>>10))
	}
	agent := strategy.Of(c.Agent)
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"rescue", c.Rescue != ""},
		{"rescue_on_contradiction", c.RescueOnContradiction},
		{"system", c.System != ""},
		{"fallback", c.Fallback != ""},
		{"max_iterations", c.MaxIterations != 0},
		{"final_retries", c.FinalRetries != nil},
		{"batch", c.Batch != strategy.Batch{}},
		{"plan", c.Plan != strategy.PlanBounds{}},
		{"orchestrator", !c.Orchestrator.IsZero()},
	} {
		if f.set {
			add(f.field, agent.Lacks(f.field))
		}
	}
	for _, field := range c.Set() {
		add(field, agent.Lacks(field))
	}
	c.Settings.Faults(agent.Name == strategy.External, add)
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"mode", c.Mode != "" && c.Mode != "prompt"}, {"compress", c.Compress}, {"no_images", c.NoImages}, {"stream", c.Stream},
		{"body", c.Body != nil}, {"max_tokens", c.MaxTokens != nil}, {"temperature", c.Temperature != nil},
	} {
		if f.set && agent.Name == strategy.External {
			add(f.field, "agent external has no such setting: it makes its own requests")
		}
	}
}
