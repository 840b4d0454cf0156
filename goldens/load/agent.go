package load

import (
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// agentNumber is a number that bounds an agent, or nothing while it is 0.
type agentNumber struct {
	object, name string // object is the candidate's object with the setting, or empty
	strategy.Range
	of func(*goldens.Candidate) *int
}

// agentNumbers are those of a candidate except for final_retries, whose 0 says
// something.
var agentNumbers = []agentNumber{
	{"", "max_iterations", strategy.MaxIterations, func(c *goldens.Candidate) *int { return &c.MaxIterations }},
	{"memory", "turns", strategy.MemoryTurns, func(c *goldens.Candidate) *int { return &c.Memory.Turns }},
	{"memory", "tokens", strategy.MemoryTokens, func(c *goldens.Candidate) *int { return &c.Memory.Tokens }},
	{"batch", "size", strategy.BatchSize, func(c *goldens.Candidate) *int { return &c.Batch.Size }},
	{"plan", "attempts", strategy.PlanAttempts, func(c *goldens.Candidate) *int { return &c.Plan.Attempts }},
	{"plan", "steps", strategy.PlanSteps, func(c *goldens.Candidate) *int { return &c.Plan.Steps }},
	{"plan", "concurrency", strategy.PlanConcurrency, func(c *goldens.Candidate) *int { return &c.Plan.Concurrency }},
	{"plan", "context_tokens", strategy.PlanContextTokens, func(c *goldens.Candidate) *int { return &c.Plan.ContextTokens }},
}

// The fields of the objects that bound an agent.
var (
	memoryFields = []string{"turns", "tokens", "off"}
	batchFields  = []string{"size", "delay", "stop_on_fail"}
	planFields   = []string{"attempts", "steps", "concurrency", "context_tokens"}
)

// agentFields reads what is said to the agent, and what bounds it.
func agentFields(o yamlfile.Object, c *goldens.Candidate) {
	yamlfile.Read(o, "system", &c.System, yamlfile.Place.Filled)
	if p, ok := o.Get("final_retries"); ok {
		n := int(p.Integer(0, int64(strategy.FinalRetries.Most)))
		c.FinalRetries = &n
	}
	in := map[string]yamlfile.Object{"": o}
	for _, f := range []struct {
		name   string
		fields []string
	}{{"memory", memoryFields}, {"batch", batchFields}, {"plan", planFields}} {
		if p, ok := o.Get(f.name); ok {
			in[f.name] = p.Object(f.fields)
		}
	}
	for _, l := range agentNumbers {
		if p, ok := in[l.object].Get(l.name); ok {
			*l.of(c) = int(p.Integer(0, int64(l.Most)))
		}
	}
	yamlfile.Read(in["memory"], "off", &c.Memory.Off, yamlfile.Place.Flag)
	yamlfile.Read(in["batch"], "delay", &c.Batch.Delay, yamlfile.Place.Duration)
	yamlfile.Read(in["batch"], "stop_on_fail", &c.Batch.StopOnFail, yamlfile.Place.Flag)
}
