package witness

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
)

// limits are the values that a count may have, both included. reason says why none
// is lower.
type limits struct {
	low, high int64
	reason    string
}

// counters are the counts of an episode by name: those of the signals, and steps and
// clarifies. Elapsed time is in nanoseconds.
//
// The rules that tie one count to another are all here, and each raises a lower limit:
// so the lowest counts that meet the rules exist, and if they exceed an upper limit,
// no episode has such counts. A rule is one that every agent of cupel keeps.
type counters map[string]limits

func (c counters) of(name string) limits {
	if r, ok := c[name]; ok {
		return r
	}
	return limits{0, math.MaxInt64, "no count is below 0"}
}

func (c counters) atLeast(name string, n int64, reason string) {
	if r := c.of(name); n > r.low {
		c[name] = limits{n, r.high, reason}
	}
}

func (c counters) atMost(name string, n int64) {
	if r := c.of(name); n < r.high {
		c[name] = limits{r.low, n, r.reason}
	}
}

// counters are the limits that the goal sets, and the rules that do not depend on the
// calls.
func (g *Goal) counters() counters {
	c, e := counters{}, g.Expect
	for _, name := range slices.Sorted(maps.Keys(e.Signals)) {
		low, high := goldens.SignalRange(name, e.Signals[name])
		c.atLeast(name, low, "signals."+name+" demands it")
		c.atMost(name, high)
	}
	for name, limit := range map[string]*int{"clarifies": e.MaxClarifies, "steps": e.MaxSteps, "tool_executions": e.MaxToolCalls} {
		if limit != nil {
			c.atMost(name, int64(*limit))
		}
	}
	for name, budget := range map[string]string{"steps": "max_steps", "tool_executions": "max_tool_calls"} {
		if limit := g.Budgets[budget]; limit > 0 {
			c.atMost(name, limit)
		}
	}
	if e.Status == "clarify" || e.Status == "answered_after_clarify" {
		c.atLeast("clarifies", 1, "status "+e.Status+" takes a question")
	}
	ended := "an episode that stops with " + e.StopReason
	switch e.StopReason {
	case "thrash":
		c.atLeast("thrash", 1, ended+" has repeated an action")
	case "stall":
		c.atLeast("stall", 1, ended+" has asked twice in a row")
	case "contract_violation":
		c.atLeast("violations", 1, ended+" has a violation")
	case "max_seconds":
		c.atLeast("elapsed_seconds", g.Budgets["max_seconds"], ended+" has used them up")
	} // max_steps ends a plan before turns that together would pass the budget, so few may have been used
	if c.of("reflect_turns").low > 0 {
		c.atLeast("thrash", 1, "a reflect turn follows a repeated action")
	}
	c.atLeast("thrash", c.of("cycle_pattern").low, "a cycle repeats an action")
	c.atLeast("rejected_calls", c.of("budget_refusals").low, "a call beyond the budget is rejected")
	for _, rule := range []struct {
		count  string
		runs   int64
		reason string
	}{
		{"dedupe_hits", 1, "a call is answered from the result of an executed one"},
		{"thrash", 1, "only an executed call can be repeated"},
		{"cycle_pattern", 2, "a cycle is of two calls that were executed"},
		{"circuit_open", 4, "the circuit opens after four executed calls at least"},
	} {
		if c.of(rule.count).low > 0 {
			c.atLeast("tool_executions", rule.runs, rule.reason)
		}
	}
	c.atLeast("tool_executions", c.of("duration_spikes").low, "only an executed call takes time")
	return c
}

// total adds the rules that depend on the calls.
func (c counters) total(g *Goal, o goldens.Outcome) {
	turns, why := int64(min(len(o.Calls), 1)), "the tool calls take a turn"
	switch g.Expect.Status {
	case "answered", "respond_error", "cannot_proceed":
		turns, why = turns+1, "the tool calls take a turn and the answer another"
		if len(o.Calls) == 0 {
			why = "the answer takes a turn"
		}
	case "clarify":
		turns, why = 1, "the question takes a turn"
	case "answered_after_clarify":
		turns, why = 2, "the question takes a turn and the answer another"
	}
	c.atLeast("steps", turns, why)
	c.atLeast("steps", c.lowest("reflect_turns", "rescue_turns"), "reflect and rescue turns are steps")
	c.atLeast("model_calls", c.of("steps").low, "every step is a model call: "+c.of("steps").reason)
	c.atLeast("model_calls", c.lowest("valid_raw", "repaired", "violations"), "valid, repaired and violating outputs are of different model calls")
	if !o.AllTurnsValidJSON {
		c.atLeast("model_calls", c.lowest("valid_raw")+1, "a turn that is not valid JSON is not valid_raw")
	}
}

// lowest adds the lower limits, up to the largest number.
func (c counters) lowest(names ...string) (total int64) {
	for _, name := range names {
		low := c.of(name).low
		total = min(total, math.MaxInt64-low) + low
	}
	return total
}

// rangeConflict reports a count that has no value.
func (c counters) rangeConflict() *Obstacle {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if r := c[name]; r.low > r.high {
			return &Obstacle{fmt.Sprintf("%s must be at least %s (%s) and at most %s", name, shown(name, r.low), r.reason, shown(name, r.high)), true}
		}
	}
	return nil
}

// shown writes a count.
func shown(name string, n int64) string {
	if name == goldens.ElapsedSignal {
		return decimal.Int(n, -9).String()
	}
	return strconv.FormatInt(n, 10)
}

// fill sets the counts of an episode to the lowest they may be.
func (c counters) fill(o *goldens.Outcome) {
	for name, to := range map[string]*int{
		"steps": &o.Steps, "clarifies": &o.Clarifies, "model_calls": &o.ModelCalls, "reflect_turns": &o.ReflectTurns,
		"rescue_turns": &o.RescueTurns, "violations": &o.Violations, "repaired": &o.Repaired, "valid_raw": &o.ValidRaw,
		"thrash": &o.ThrashEvents, "stall": &o.StallEvents, "duration_spikes": &o.DurationSpikes,
		"rejected_calls": &o.RejectedCalls, "budget_refusals": &o.BudgetRefusals, "circuit_open": &o.CircuitOpen, "cycle_pattern": &o.CycleEvents,
	} {
		*to = int(c.of(name).low)
	}
	o.Elapsed = time.Duration(c.of(goldens.ElapsedSignal).low)
	o.DedupeHits = 0
	for _, call := range o.Calls {
		if call.Deduped {
			o.DedupeHits++
		}
	}
}
