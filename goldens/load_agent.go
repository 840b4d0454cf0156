package goldens

import (
	"fmt"

	"github.com/cupel-eval/cupel/agent/strategy"
)

// maxSystemBytes bounds a candidate's system prompt.
const maxSystemBytes = 64 << 10

// agentNumber is a number that bounds an agent, or nothing while it is 0.
type agentNumber struct {
	object, name string // object is that of the candidate's which holds it, or empty
	strategy.Range
	of func(*Candidate) *int
}

// agentNumbers are those of a candidate except for final_retries, whose 0 says
// something.
var agentNumbers = []agentNumber{
	{"", "max_iterations", strategy.MaxIterations, func(c *Candidate) *int { return &c.MaxIterations }},
	{"memory", "turns", strategy.MemoryTurns, func(c *Candidate) *int { return &c.Memory.Turns }},
	{"memory", "tokens", strategy.MemoryTokens, func(c *Candidate) *int { return &c.Memory.Tokens }},
	{"batch", "size", strategy.BatchSize, func(c *Candidate) *int { return &c.Batch.Size }},
	{"plan", "attempts", strategy.PlanAttempts, func(c *Candidate) *int { return &c.Plan.Attempts }},
	{"plan", "steps", strategy.PlanSteps, func(c *Candidate) *int { return &c.Plan.Steps }},
	{"plan", "concurrency", strategy.PlanConcurrency, func(c *Candidate) *int { return &c.Plan.Concurrency }},
	{"plan", "context_tokens", strategy.PlanContextTokens, func(c *Candidate) *int { return &c.Plan.ContextTokens }},
}

// The fields of the objects that bound an agent.
var (
	memoryFields = []string{"turns", "tokens", "off"}
	batchFields  = []string{"size", "delay", "stop_on_fail"}
	planFields   = []string{"attempts", "steps", "concurrency", "context_tokens"}
)

// agentFields reads what is said to the agent, and what bounds it.
func (o object) agentFields(c *Candidate) {
	if p, ok := o.get("system"); ok {
		c.System = p.filled()
	}
	if p, ok := o.get("final_retries"); ok {
		n := int(p.integer(0, int64(strategy.FinalRetries.Most)))
		c.FinalRetries = &n
	}
	in := map[string]object{"": o}
	for _, f := range []struct {
		name   string
		fields []string
	}{{"memory", memoryFields}, {"batch", batchFields}, {"plan", planFields}} {
		if p, ok := o.get(f.name); ok {
			in[f.name] = p.object(f.fields)
		}
	}
	for _, l := range agentNumbers {
		if p, ok := in[l.object].get(l.name); ok {
			*l.of(c) = int(p.integer(0, int64(l.Most)))
		}
	}
	if p, ok := in["memory"].get("off"); ok {
		c.Memory.Off = p.flag()
	}
	if p, ok := in["batch"].get("delay"); ok {
		c.Batch.Delay = p.duration()
	}
	if p, ok := in["batch"].get("stop_on_fail"); ok {
		c.Batch.StopOnFail = p.flag()
	}
}

// agentFaults lists settings that are out of range, or that the built-in agent of
// the candidate does not have. A custom agent has every setting.
func (c Candidate) agentFaults(add func(field, detail string)) {
	add("max_iterations", strategy.MaxIterations.Fault(c.MaxIterations))
	for _, f := range []struct{ name, fault string }{{"turns", strategy.MemoryTurns.Fault(c.Memory.Turns)}, {"tokens", strategy.MemoryTokens.Fault(c.Memory.Tokens)}} {
		if f.fault != "" {
			add("memory", f.name+" "+f.fault)
		}
	}
	for _, fault := range c.Batch.Faults() {
		add("batch", fault)
	}
	for _, fault := range c.Plan.Faults() {
		add("plan", fault)
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
	} {
		if f.set {
			add(f.field, agent.Lacks(f.field))
		}
	}
}
