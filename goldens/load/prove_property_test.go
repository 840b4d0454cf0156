package load

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/witness"
)

// drawCalls returns random calls as in an episode: a call is answered from an earlier result only if
// there is one.
func drawCalls(t *rapid.T) (calls []goldens.Called) {
	ran := map[string]bool{}
	for range rapid.IntRange(0, 5).Draw(t, "calls") {
		name := rapid.SampledFrom([]string{"clock", "poll", "get", "today_range"}).Draw(t, "tool")
		args := "{}"
		switch name {
		case "poll":
			args = rapid.SampledFrom([]string{"{}", `{"id":"7"}`, `{"id":"a","x":[1,{}]}`}).Draw(t, "args")
		case "get":
			args = fmt.Sprintf(`{"day":"2026-05-0%d","label":%q%s}`, rapid.IntRange(1, 3).Draw(t, "day"), rapid.SampledFrom([]string{"angry", "praise"}).Draw(t, "label"),
				rapid.SampledFrom([]string{"", `,"limit":20`, `,"id":"abc"`, `,"deep":{"list":[1,2],"on":true}`}).Draw(t, "more"))
		}
		c := goldens.Called{Call: tool.Call{Name: name, Args: []byte(args)}, Outcome: rapid.SampledFrom([]tool.Outcome{tool.OK, tool.OK, tool.Error, tool.Timeout, tool.Rejected}).Draw(t, "outcome")}
		if key := name + args; c.Outcome != tool.Rejected && ran[key] && (name == "get" || name == "today_range") {
			c.Deduped = rapid.Bool().Draw(t, "deduped")
		} else if c.Outcome == tool.OK {
			ran[key] = true
		}
		if c.Outcome == tool.OK && name == "today_range" {
			c.Result = []byte(`{"start_date":"2026-05-13","end_date":"2026-05-13"}`)
		}
		calls = append(calls, c)
	}
	return calls
}

// drawOutcome returns a random episode of task t within its budgets.
func drawOutcome(t *rapid.T, task *goldens.Task) goldens.Outcome {
	few := func(label string) int { return rapid.IntRange(0, 2).Draw(t, label) }
	o := goldens.Outcome{
		Status: rapid.SampledFrom([]string{"answered", "answered_after_clarify", "respond_error", "clarify", "cannot_proceed", "stopped"}).Draw(t, "status"), Calls: drawCalls(t),
		Answer:   strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"449", "1,495", "-2.5", "on 2026-05-13", "Cold Ness", "no data", "praise: 3", "G01", "0", "25%", "May 13, 1208", "“quoted”"}), 0, 5).Draw(t, "answer"), rapid.SampledFrom([]string{" ", "\n", "; "}).Draw(t, "between")),
		ValidRaw: few("valid"), Violations: few("violations"), Repaired: few("repaired"), StallEvents: few("stall"), RescueTurns: few("rescue"),
		Clarifies: few("clarifies"), AllTurnsValidJSON: rapid.Bool().Draw(t, "json"), Elapsed: time.Duration(rapid.IntRange(0, 40_000).Draw(t, "ms")) * time.Millisecond,
	}
	if o.Status == "stopped" {
		o.StopReason = rapid.SampledFrom([]string{"max_steps", "max_seconds", "max_tool_calls", "thrash", "stall", "contract_violation", "max_tokens", "max_cost", "max_iterations", "final_schema", "invalid_plan", "failed_step"}).Draw(t, "reason")
	}
	runs := o.Executions()
	if runs > 0 {
		o.ThrashEvents, o.DurationSpikes = few("thrash"), min(few("spikes"), runs)
	}
	if o.ThrashEvents > 0 {
		o.ReflectTurns = few("reflect")
		o.CycleEvents = min(o.ThrashEvents, runs/2, 1)
	}
	for _, c := range o.Calls {
		o.DedupeHits += map[bool]int{true: 1}[c.Deduped]
		o.RejectedCalls += map[bool]int{true: 1}[c.Outcome == tool.Rejected]
	}
	o.BudgetRefusals = min(few("refusals"), o.RejectedCalls)
	o.CircuitOpen = min(few("circuit"), runs/4)
	switch o.Status {
	case "clarify", "answered_after_clarify":
		o.Clarifies++
		task.Replies = []string{"yes"}
	}
	o.Steps = max(o.ReflectTurns+o.RescueTurns, 3) + few("steps")
	task.Budgets.MaxSteps, task.Budgets.MaxToolCalls, task.Budgets.MaxTime = o.Steps+few("room"), 0, time.Hour
	if runs > 0 {
		task.Budgets.MaxToolCalls = runs + few("runs")
	}
	o.ModelCalls = max(o.Steps, o.ValidRaw+o.Repaired+o.Violations) + 1 + few("model calls")
	task.Budgets.MaxTokens, task.Budgets.MaxCostNanoUSD = 1, 1
	switch o.StopReason {
	case "thrash":
		if o.ThrashEvents++; runs == 0 {
			o.StopReason = "stall"
			o.ThrashEvents, o.StallEvents = 0, 1
		}
	case "stall":
		o.StallEvents++
	case "contract_violation":
		o.Violations++
		o.ModelCalls++
	case "max_steps":
		task.Budgets.MaxSteps = o.Steps
	case "max_seconds":
		task.Budgets.MaxTime = max(o.Elapsed, 1)
		o.Elapsed = task.Budgets.MaxTime
	}
	return o
}

// signalIn returns the text of a signal of an outcome, as in a failed condition.
func signalIn(t require.TestingT, name string, o goldens.Outcome) string {
	never := "==-1"
	if goldens.IsFlag(name) {
		never = "false"
	}
	solved, checks := goldens.Score(goldens.Task{Expect: []goldens.Expect{{Status: o.Status, Signals: map[string]string{name: never}}}}, o)
	if solved {
		return "false"
	}
	_, found, ok := strings.Cut(checks[len(checks)-1].Detail, ", got ")
	require.True(t, ok, checks)
	return found
}

// widen loosens a drafted expectation, or adds checks that the outcome passes.
func widen(t *rapid.T, signals []string, task goldens.Task, o goldens.Outcome, e *goldens.Expect) {
	coin := func(label string) bool { return rapid.Bool().Draw(t, label) }
	e.Signals = map[string]string{}
	for _, name := range signals {
		if !coin(name) {
			continue
		}
		e.Signals[name] = signalIn(t, name, o)
		if !goldens.IsFlag(name) {
			e.Signals[name] = rapid.SampledFrom([]string{"", "==", ">=", "<="}).Draw(t, "op") + e.Signals[name]
		}
	}
	said, folded := answer.Read(o.Answer, task.World.Now.Year()), answer.Fold(o.Answer)
	for _, word := range []string{"No Data", "449", "cold", "3", "05-13", " ", "praise"} {
		switch {
		case !coin(word):
		case strings.Contains(folded, answer.Fold(word)):
			e.ContainsAll = append(e.ContainsAll, word)
		default:
			e.NotContains = append(e.NotContains, word)
		}
	}
	for _, expr := range []string{`\d{3}`, `(?i)cold\s+ness`, `^\S`, `[^\n]$`, `praise: \d+`, `\b0\b`, `^[^x%]`, `(no|any) data`} {
		switch {
		case !coin(expr):
		case regexp.MustCompile(expr).MatchString(o.Answer):
			e.Matches = append(e.Matches, expr)
		default:
			e.NotMatches = append(e.NotMatches, expr)
		}
	}
	for _, n := range []string{"7", "449", "0"} {
		if d, _ := decimal.Parse(n); coin("not "+n) && !said.Has(d) {
			e.NotNumbers = append(e.NotNumbers, n)
		}
	}
	if coin("only") {
		e.OnlyNumbers = []string{}
		for _, n := range said.Numbers {
			e.OnlyNumbers = append(e.OnlyNumbers, n.String())
		}
	}
	e.Trajectory.Order = rapid.SampledFrom([]goldens.Order{goldens.Strict, goldens.InOrder, goldens.AnyOrder, goldens.Subset, ""}).Draw(t, "order")
	if e.Trajectory.Order == goldens.Subset {
		e.Trajectory.Required = nil
		for _, c := range o.Calls {
			if c.Outcome == tool.Rejected {
				continue
			}
			e.Trajectory.Required = append(e.Trajectory.Required, goldens.CallMatch{Tool: c.Call.Name})
		}
	}
	for i, m := range e.Trajectory.Required {
		if m.Args == nil || !coin("open") {
			continue
		}
		open := maps.Clone(m.Args)
		for key := range open {
			if coin("open " + key) {
				open[key] = rapid.SampledFrom([]map[string]any{{"$any": true}, {"$in": []any{open[key], "other"}}, {"$optional": open[key]}}).Draw(t, "matcher")
			}
		}
		e.Trajectory.Required[i].Args = open
	}
	for _, m := range []goldens.CallMatch{{Tool: "clock"}, {Tool: "get", Args: map[string]any{"day": "2026-05-01", "label": map[string]any{"$any": true}}}, {Tool: "poll", Executed: true}, {Tool: "delete_all"}} {
		one := goldens.Task{Expect: []goldens.Expect{{Trajectory: goldens.Trajectory{Forbidden: []goldens.CallMatch{m}}}}}
		if solved, _ := goldens.Score(one, o); solved && coin("forbid "+m.Tool) {
			e.Trajectory.Forbidden = append(e.Trajectory.Forbidden, m)
		}
	}
}

// No expectation that an episode meets is reported as impossible, and nearly all have a witness.
func TestWhatHappenedHasAWitness(t *testing.T) {
	s, err := Suite(oneTask("expect: {status: answered, matches: ['.']}"), "s", suitetest.Worlds())
	require.NoError(t, err)
	tried, found, signals := 0, 0, signalsOfSchema(t)
	property := func(t *rapid.T) {
		suite := *s
		task := s.Tasks[0]
		o := drawOutcome(t, &task)
		e := goldens.Pin(task, o)
		widen(t, signals, task, o, &e)
		task.Expect = []goldens.Expect{e}
		suite.Tasks = []goldens.Task{task}
		solved, checks := goldens.Score(task, o)
		require.True(t, solved, "the draw is wrong: %+v", checks)
		witnessesOf(&suite, func(_ goldens.Task, _ int, g *witness.Goal, w goldens.Outcome, bad *witness.Obstacle) {
			require.False(t, bad != nil && bad.Sure, "%+v\n%+v", bad, e)
			tried++
			if bad != nil {
				return
			}
			found++
			solved, checks := goldens.Score(g.Task, w)
			require.True(t, solved, "%+v", checks)
		})
	}
	for range 5 { // 99.4% of draws have a witness: 20, as with -short, are too few for the bound below
		rapid.Check(t, property)
	}
	t.Logf("%d of %d have a witness", found, tried)
	require.Greater(t, found*20, tried*19, "of %d", tried)
}
