package goldens

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/tool"
)

// drawCalls draws calls as an episode makes them: a call is answered from an earlier
// result only if there is one.
func drawCalls(t *rapid.T) (calls []Called) {
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
		c := Called{Call: tool.Call{Name: name, Args: []byte(args)}, Outcome: rapid.SampledFrom([]tool.Outcome{tool.OK, tool.OK, tool.Error, tool.Timeout, tool.Rejected}).Draw(t, "outcome")}
		if key := name + args; made(c) && ran[key] && (name == "get" || name == "today_range") {
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

// drawOutcome draws an episode of task t, and the budgets it stayed within.
func drawOutcome(t *rapid.T, task *Task) Outcome {
	few := func(label string) int { return rapid.IntRange(0, 2).Draw(t, label) }
	o := Outcome{
		Status: rapid.SampledFrom(expectStatuses).Draw(t, "status"), Calls: drawCalls(t),
		Answer:   strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"449", "1,495", "-2.5", "on 2026-05-13", "Cold Ness", "no data", "praise: 3", "G01", "0", "25%", "May 13, 1208", "“quoted”"}), 0, 5).Draw(t, "answer"), rapid.SampledFrom([]string{" ", "\n", "; "}).Draw(t, "between")),
		ValidRaw: few("valid"), Violations: few("violations"), Repaired: few("repaired"), StallEvents: few("stall"), RescueTurns: few("rescue"),
		Clarifies: few("clarifies"), AllTurnsValidJSON: rapid.Bool().Draw(t, "json"), Elapsed: time.Duration(rapid.IntRange(0, 40_000).Draw(t, "ms")) * time.Millisecond,
	}
	if o.Status == "stopped" {
		o.StopReason = rapid.SampledFrom(stopReasons).Draw(t, "reason")
	}
	runs := executions(o)
	if runs > 0 {
		o.ThrashEvents, o.DurationSpikes = few("thrash"), min(few("spikes"), runs)
	}
	if o.ThrashEvents > 0 {
		o.ReflectTurns = few("reflect")
		o.CycleEvents = min(o.ThrashEvents, runs/2, 1)
	}
	for _, c := range o.Calls {
		o.DedupeHits += map[bool]int{true: 1}[c.Deduped]
		o.RejectedCalls += map[bool]int{true: 1}[!made(c)]
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

// widen loosens a drafted expectation, or adds checks that the outcome passes.
func widen(t *rapid.T, task Task, o Outcome, e *Expect) {
	coin := func(label string) bool { return rapid.Bool().Draw(t, label) }
	e.Signals = map[string]string{}
	for _, name := range signalNames() {
		if !coin(name) {
			continue
		}
		if flag, ok := flagOf[name]; ok {
			e.Signals[name] = fmt.Sprint(flag(o))
			continue
		}
		e.Signals[name] = rapid.SampledFrom([]string{"", "==", ">=", "<="}).Draw(t, "op") + signalOf[name](o).String()
	}
	s := newScorer(task, o)
	for _, word := range []string{"No Data", "449", "cold", "3", "05-13", " ", "praise"} {
		switch {
		case !coin(word):
		case strings.Contains(s.folded, foldText(word)):
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
		if d, _ := parseDecimal(n); coin("not "+n) && !s.answer.has(d) {
			e.NotNumbers = append(e.NotNumbers, n)
		}
	}
	if coin("only") {
		e.OnlyNumbers = []string{}
		for _, n := range s.answer.numbers {
			e.OnlyNumbers = append(e.OnlyNumbers, n.String())
		}
	}
	e.Trajectory.Order = rapid.SampledFrom([]Order{Strict, InOrder, AnyOrder, Subset, ""}).Draw(t, "order")
	if e.Trajectory.Order == Subset {
		e.Trajectory.Required = nil
		for _, c := range s.calls {
			e.Trajectory.Required = append(e.Trajectory.Required, CallMatch{Tool: c.Call.Name})
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
	for _, m := range []CallMatch{{Tool: "clock"}, {Tool: "get", Args: map[string]any{"day": "2026-05-01", "label": map[string]any{"$any": true}}}, {Tool: "poll", Executed: true}, {Tool: "delete_all"}} {
		one := Task{Expect: []Expect{{Trajectory: Trajectory{Forbidden: []CallMatch{m}}}}}
		if solved, _ := Score(one, o); solved && coin("forbid "+m.Tool) {
			e.Trajectory.Forbidden = append(e.Trajectory.Forbidden, m)
		}
	}
}

// TestWhatHappenedHasAWitness: no expectation that an episode meets is called
// impossible, and nearly all have a witness.
func TestWhatHappenedHasAWitness(t *testing.T) {
	s, err := Load(oneTask("expect: {status: answered, matches: ['.']}"), "s")
	require.NoError(t, err)
	tried, found := 0, 0
	property := func(t *rapid.T) {
		suite := *s
		task := s.Tasks[0]
		o := drawOutcome(t, &task)
		e := Pin(task, o)
		widen(t, task, o, &e)
		task.Expect = []Expect{e}
		suite.Tasks = []Task{task}
		solved, checks := Score(task, o)
		require.True(t, solved, "the draw is wrong: %+v", checks)
		witnessesOf(&suite, func(_ Task, _ int, g *goal, w Outcome, bad *obstacle) {
			require.False(t, bad != nil && bad.sure, "%+v\n%+v", bad, e)
			tried++
			if bad != nil {
				return
			}
			found++
			solved, checks := Score(g.task, w)
			require.True(t, solved, "%+v", checks)
		})
	}
	for range 5 { // 99.4% of draws have a witness: 20, as with -short, are too few for the bound below
		rapid.Check(t, property)
	}
	t.Logf("%d of %d have a witness", found, tried)
	require.Greater(t, found*20, tried*19, "of %d", tried)
}

// TestRegexSamples: the text that is made of an expression is one that it is found in.
func TestRegexSamples(t *testing.T) {
	for _, expr := range []string{
		"", "abc", "(?i)AbC", "a|b|c", "[0-9]{4}-[0-9]{2}", `^\d+(\.\d+)?%?$`, "[^a-z]", `\bword\b`, "x*y+z?", "(?s).{3,5}", `\p{Greek}+`, "(a(b|c)){2}", `^$`, `[[:upper:]][[:lower:]]+`, "(?m)^line$",
		`[\x00-\x1f]`, "(?:x{10}){10}", "[\U0001F600-\U0001F64F]",
	} {
		list := regexSamples(expr)
		require.NotEmpty(t, list, expr)
		for _, text := range list {
			require.Regexp(t, expr, text)
		}
	}
	require.Empty(t, regexSamples("("))
	require.Empty(t, regexSamples(`a\bb`), "there is none")
	require.False(t, slices.ContainsFunc(regexSamples("x{1000}"), func(s string) bool { return len(s) > 2*maxSampleText }))
}

// TestConditionRange against the conditions themselves.
func TestConditionRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "==", ">=", "<=", ">", "<"}).Draw(t, "op") + rapid.SampledFrom([]string{"0", "-1", "2", "1.5", "-0.5", "0.001", "3e0", "30e-1", "1e30", "-1e30", "0.0"}).Draw(t, "n")
		n := rapid.IntRange(-3, 5).Draw(t, "value")
		holds, err := parseCondition("violations", text)
		require.NoError(t, err)
		want, _ := holds(Outcome{Violations: n})
		r := conditionRange("violations", text)
		require.Equal(t, want, int64(n) >= r.low && int64(n) <= r.high, "%d %s: %+v", n, text, r)
	})
	require.Equal(t, limits{low: 500_000_000, high: 500_000_000}, conditionRange(elapsedSignal, "0.5"))
}
