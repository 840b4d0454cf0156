package goldens

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/strategy"
)

// The agents that are built in; others are a program's own, and take what they take.
const (
	agentContract = "contract"
	agentTools    = "tools"
	agentPlan     = "plan"
)

// DefaultProfile is the prompt profile of an agent's candidates that name none.
func DefaultProfile(agent string) string {
	if agent == agentTools || agent == agentPlan {
		return "native"
	}
	return "seed"
}

// maxSystemBytes bounds a candidate's system prompt.
const maxSystemBytes = 64 << 10

// maxDelay bounds the virtual time between batches.
const maxDelay = time.Hour

// agentLimit is a number that bounds an agent, or nothing while it is 0.
type agentLimit struct {
	object, name string // object is that of the candidate's which holds it, or empty
	most         int
	of           func(*Candidate) *int
}

// agentLimits are those of a candidate but for final_retries, whose 0 says something.
var agentLimits = []agentLimit{
	{"", "max_iterations", 1_000, func(c *Candidate) *int { return &c.MaxIterations }},
	{"memory", "turns", 1_000, func(c *Candidate) *int { return &c.Memory.Turns }},
	{"memory", "tokens", 1_000_000, func(c *Candidate) *int { return &c.Memory.Tokens }},
	{"batch", "size", 100, func(c *Candidate) *int { return &c.Batch.Size }},
	{"plan", "attempts", 20, func(c *Candidate) *int { return &c.Plan.Attempts }},
	{"plan", "steps", 1_000, func(c *Candidate) *int { return &c.Plan.Steps }},
	{"plan", "concurrency", 100, func(c *Candidate) *int { return &c.Plan.Concurrency }},
	{"plan", "context_tokens", 10_000_000, func(c *Candidate) *int { return &c.Plan.ContextTokens }},
}

const maxFinalRetries = 10

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
		n := int(p.integer(0, maxFinalRetries))
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
	for _, l := range agentLimits {
		if p, ok := in[l.object].get(l.name); ok {
			*l.of(c) = int(p.integer(0, int64(l.most)))
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
// the candidate does not have. Own agents have what they have.
func (c Candidate) agentFaults(add func(field, detail string)) {
	for _, l := range agentLimits {
		if n := *l.of(&c); n < 0 || n > l.most {
			field, of := l.name, ""
			if l.object != "" {
				field, of = l.object, l.name+" "
			}
			add(field, fmt.Sprintf("%smust be from 0 to %d, but is %d", of, l.most, n))
		}
	}
	if n := c.FinalRetries; n != nil && (*n < 0 || *n > maxFinalRetries) {
		add("final_retries", fmt.Sprintf("must be from 0 to %d, but is %d", maxFinalRetries, *n))
	}
	if d := c.Batch.Delay; d < 0 || d > maxDelay || d%time.Microsecond != 0 {
		add("batch", fmt.Sprintf("delay must be at most %v, in whole microseconds, but is %v", maxDelay, d))
	}
	if len(c.System) > maxSystemBytes {
		add("system", fmt.Sprintf("must be at most %d KiB", maxSystemBytes>>10))
	}
	agent := cmp.Or(c.Agent, agentContract)
	for _, f := range []struct {
		field   string
		set     bool
		without []string // agents
	}{
		{"rescue", c.Rescue != "", []string{agentTools, agentPlan}},
		{"rescue_on_contradiction", c.RescueOnContradiction, []string{agentTools, agentPlan}},
		{"system", c.System != "", []string{agentContract}},
		{"fallback", c.Fallback != "", []string{agentContract}},
		{"max_iterations", c.MaxIterations != 0, []string{agentContract}},
		{"final_retries", c.FinalRetries != nil, []string{agentContract}},
		{"batch", c.Batch != strategy.Batch{}, []string{agentContract, agentPlan}},
		{"plan", c.Plan != strategy.PlanBounds{}, []string{agentContract, agentTools}},
	} {
		for _, name := range f.without {
			if f.set && agent == name {
				add(f.field, "agent "+agent+" has no such setting; it is a setting of "+having(f.without))
			}
		}
	}
}

// having names the built-in agents that are not among those without a setting.
func having(without []string) string {
	var out []string
	for _, agent := range []string{agentContract, agentTools, agentPlan} {
		if !slices.Contains(without, agent) {
			out = append(out, agent)
		}
	}
	return strings.Join(out, " and ")
}
