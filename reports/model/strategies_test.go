package model

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

func claim(t *testing.T, c *StrategyComparison, metric, first, second string) PairResult {
	t.Helper()
	for _, k := range c.Pairs {
		if k.Metric == metric && k.First == first && k.Second == second {
			return k
		}
	}
	t.Fatalf("no claim about %s of %s and %s", metric, first, second)
	return PairResult{}
}

// The numbers of the eight tasks are computed by hand. Success is 4 of 8 and 7 of 8:
// one task is lost and four are won, so 2·(1+5) of the 2^5 signs of five equal
// differences are as extreme, and p = 12/32. Both solved three tasks; their steps are
// 6, 6, 8 and 3, 3, 4, the differences 3, 3, 4 have the same sign, and p = 2/2^3.
// Steps, time and cost of all eight tasks differ by 3, once by 4, always with the same
// sign, and p = 2/2^8. Each metric has a single claim, so there is no adjustment for
// others.
func TestDuelByHand(t *testing.T) {
	w := reporttest.Duel([]reporttest.DuelTask{
		{ID: "a", ContractSolved: true, ToolsSolved: true, ContractSteps: 6, ToolsSteps: 3}, {ID: "b", ContractSolved: true, ToolsSolved: true, ContractSteps: 6, ToolsSteps: 3}, {ID: "c", ContractSolved: true, ToolsSolved: true, ContractSteps: 8, ToolsSteps: 4}, {ID: "d", ContractSolved: true, ToolsSolved: false, ContractSteps: 6, ToolsSteps: 3},
		{ID: "e", ContractSolved: false, ToolsSolved: true, ContractSteps: 6, ToolsSteps: 3}, {ID: "f", ContractSolved: false, ToolsSolved: true, ContractSteps: 6, ToolsSteps: 3}, {ID: "g", ContractSolved: false, ToolsSolved: true, ContractSteps: 6, ToolsSteps: 3}, {ID: "h", ContractSolved: false, ToolsSolved: true, ContractSteps: 6, ToolsSteps: 3},
	})
	r := build(w.M, w.Rows)
	s := r.Strategies
	require.NotNil(t, s)
	require.Len(t, s.Groups, 1)
	require.Nil(t, s.Pooled)
	g := &s.Groups[0]
	require.Equal(t, []string{"p", "m"}, []string{g.Provider, g.Model})
	require.Len(t, g.Pairs, 7)

	solved := claim(t, g, "solved", "contract", "tools")
	require.Equal(t, []float64{0.5, 0.875, 0.375}, []float64{*solved.FirstValue, *solved.SecondValue, *solved.Effect})
	require.InDelta(t, 12.0/32, *solved.P, 1e-12)
	require.Equal(t, *solved.P, *solved.Adjusted)
	require.Equal(t, []any{8, 8, "", "no difference shown"}, []any{solved.N, solved.Tasks, solved.Winner, solved.Verdict})

	steps := claim(t, g, "steps", "contract", "tools")
	require.Equal(t, 3, steps.N)
	require.InDelta(t, 20.0/3, *steps.FirstValue, 1e-12)
	require.InDelta(t, -10.0/3, *steps.Effect, 1e-12)
	require.InDelta(t, 2.0/8, *steps.P, 1e-12)
	require.Empty(t, steps.Winner)

	for metric, unit := range map[string]float64{"cost": 1000, "elapsed": 1e6, "tokens": 100} {
		k := claim(t, g, metric, "contract", "tools")
		require.InDelta(t, 6.25*unit, *k.FirstValue, 1e-9*unit, metric)
		require.InDelta(t, -3.125*unit, *k.Effect, 1e-9*unit, metric)
		require.InDelta(t, 2.0/256, *k.P, 1e-12, metric)
		require.Contains(t, k.Test, "exact")
		require.Equal(t, []string{"tools", "tools wins"}, []string{k.Winner, k.Verdict}, metric)
		// mean −3.125, s = √(7·(1/8)²+(7/8)²)/√7 = 0.353553, t(0.975, 7) = 2.364624
		require.InDelta(t, (-3.125-2.364624*0.353553/2.828427)*unit, k.Interval.Low, 1e-5*unit, metric)
	}

	contract, tools := g.Results[0], g.Results[1]
	require.Equal(t, []bool{false, true}, []bool{contract.Front, tools.Front})
	require.Equal(t, []float64{0.5, 6250, 6.25e6}, []float64{contract.Success.Value, contract.Cost.Value, contract.Time.Value})
	require.Equal(t, "tools", g.Winner)
	require.Equal(t, "Tools is best overall: no other strategy has a better estimate of success, cost and time, and it is significantly better than each other in at least one of them. "+
		"By the estimates tools alone is Pareto-optimal in success, cost and time; contract is not (tools is at least as good in all and better in one). "+
		"Cost: tools is better than contract. Time: tools is better than contract. Tokens: tools is better than contract. "+
		"No significant difference in success, steps, tool calls and valid outputs.", g.Sentence)
}

// If all tasks differ by the same amount, there is a difference, but no spread.
func TestDuelWithoutSpread(t *testing.T) {
	var tasks []reporttest.DuelTask
	for i := range 7 {
		tasks = append(tasks, reporttest.DuelTask{ID: fmt.Sprint("t", i), ContractSolved: true, ToolsSolved: true, ContractSteps: 5, ToolsSteps: 3})
	}
	w := reporttest.Duel(tasks)
	k := claim(t, &build(w.M, w.Rows).Strategies.Groups[0], "steps", "contract", "tools")
	require.Equal(t, "tools", k.Winner)
	require.Equal(t, &stat.Interval{Low: -2, High: -2}, k.Interval)
	require.Contains(t, k.Note, "no width")
	one := reporttest.Duel(tasks[:1])
	k = claim(t, &build(one.M, one.Rows).Strategies.Groups[0], "steps", "contract", "tools")
	require.Equal(t, []any{1.0, "no difference shown"}, []any{*k.P, k.Verdict})
	require.Nil(t, k.Interval)
}

// All claims about a metric, over all groups and the pooled comparison, are one family.
func TestClaimsOfAMetricAreOneFamily(t *testing.T) {
	s := build(reporttest.Research()).Strategies
	require.Len(t, s.Groups, 2)
	for _, metric := range []string{"solved", "steps", "cost", "elapsed", "tokens", "tool_calls", "contract_valid"} {
		var raw, adjusted []float64
		for _, c := range s.All() {
			for _, k := range c.Pairs {
				if k.Metric == metric {
					raw, adjusted = append(raw, *k.P), append(adjusted, *k.Adjusted)
					low, high := k.Interval.Low > 0, k.Interval.High < 0
					require.Equal(t, multiple.Rejects(*k.Adjusted, 0.05) && (low || high), k.Winner != "")
				}
			}
		}
		require.Len(t, raw, 9, metric)
		want, _ := multiple.Holm(raw)
		require.Equal(t, want, adjusted, metric)
	}
	require.Equal(t, "all models", s.Pooled.Name())
	require.Contains(t, s.Pooled.Sentence, "Steps: tools is better than contract and plan")
}

// There are 2,000 claims about cost. The strategy that is cheaper on each of 60 tasks
// still wins, which p-values of at least 1/10,000 could not establish. An invalid
// p-value is named, and is not taken as no difference.
func TestManyClaims(t *testing.T) {
	obs := make([]stat.Observation, 60)
	for i := range obs {
		obs[i] = stat.Observation{Cluster: strconv.Itoa(i), Value: 0.5 + math.Sqrt(float64(i))}
	}
	p, ok := stat.PairedPermutation(obs)
	require.True(t, ok && !p.Exact)
	c := StrategyComparison{Pairs: make([]PairResult, 2000)}
	for i := range c.Pairs {
		c.Pairs[i] = PairResult{Metric: "cost", First: "a", Second: "b", P: new(1.0), Interval: &stat.Interval{Low: 1, High: 2}}
	}
	c.Pairs[7].P = &p.P
	adjustPairs([]*StrategyComparison{&c})
	require.Equal(t, "a wins", c.Pairs[7].Verdict)
	require.Equal(t, "no difference shown", c.Pairs[8].Verdict)

	c.Pairs[8].P = new(math.NaN())
	c.Pairs[7].Verdict, c.Pairs[7].Winner = "", ""
	adjustPairs([]*StrategyComparison{&c})
	require.Equal(t, "no claim", c.Pairs[7].Verdict)
	require.Equal(t, "Not judged: adjust by Holm: p-value 9 of 2000 is NaN; a p-value is a number from 0 to 1.", c.Pairs[7].Note)
}

// A suite that is one long session is one cluster, because later tasks see the result
// of the first. So no strategy wins, for any number of tasks. With the same results in
// separate tasks, one wins.
func TestSessionsAreOneCluster(t *testing.T) {
	run := func(session func(i int) string) *StrategyComparison {
		t.Helper()
		w := reporttest.ByAgent("contract", "tools")
		for i := range 40 {
			task := manifest.Task{ID: fmt.Sprint("t", i), Session: session(i)}
			w.M.Tasks = append(w.M.Tasks, task)
			w.Enter(0, task.ID, 1, i%4 > 0, 6)
			w.Enter(1, task.ID, 1, true, 3)
		}
		s := build(w.M, w.Rows).Strategies
		require.Equal(t, session(0) != "", strings.Contains(strings.Join(s.Notes, " "), "The tasks of a session are one conversation"))
		return &s.Groups[0]
	}
	apart := run(func(int) string { return "" })
	long := run(func(int) string { return "s" })
	for _, metric := range []string{"solved", "steps", "cost", "elapsed", "tokens"} {
		k := claim(t, apart, metric, "contract", "tools")
		require.Equal(t, "tools wins", k.Verdict, metric)
		k = claim(t, long, metric, "contract", "tools")
		require.Equal(t, 1, k.Tasks, metric)
		require.NotEqual(t, "tools wins", k.Verdict, metric)
	}
	require.Equal(t, 40, claim(t, long, "solved", "contract", "tools").N)
	for i, e := range long.Results {
		require.Equal(t, 40, e.Episodes)
		require.Equal(t, apart.Results[i].Success.Value, e.Success.Value)
		require.Nil(t, e.Time.Interval, "one conversation says nothing of another")
		require.Nil(t, e.Cost.Interval)
		require.Greater(t, e.Success.Interval.High-e.Success.Interval.Low, 0.9)
		require.NotNil(t, apart.Results[i].Time.Interval)
	}
	require.Empty(t, long.Winner)

	// There are four sessions of five tasks, and 20 tasks without a session: 24
	// clusters.
	mixed := run(func(i int) string {
		if i < 20 {
			return fmt.Sprint("s", i/5)
		}
		return ""
	})
	k := claim(t, mixed, "solved", "contract", "tools")
	require.Equal(t, []int{40, 24}, []int{k.N, k.Tasks})
}

// If several candidates have the same strategy, each is paired with those of the other
// strategy, within one task.
func TestSeveralCandidatesOfAStrategy(t *testing.T) {
	w := reporttest.ByAgent("contract", "tools", "tools ")
	w.M.Candidates[2].Agent = "tools"
	for _, task := range []string{"a", "b"} {
		w.Enter(0, task, 1, true, 6)
		w.Enter(1, task, 1, true, 3)
		w.Enter(2, task, 1, false, 5)
	}
	s := build(w.M, w.Rows).Strategies
	k := claim(t, &s.Groups[0], "elapsed", "contract", "tools")
	require.Equal(t, []any{4, 2, 4e6}, []any{k.N, k.Tasks, *k.SecondValue})
	require.Equal(t, []string{"tools", "tools "}, s.Groups[0].Results[1].Candidates)
	require.InDelta(t, 0.5, s.Groups[0].Results[1].Success.Value, 1e-12)
	require.Contains(t, strings.Join(s.Notes, " "), "several candidates")
}

func TestStrategiesAreBounded(t *testing.T) {
	w := reporttest.ByAgent()
	for model := range maxContests + 3 {
		for agent := range maxEntrants + 2 {
			w.M.Candidates = append(w.M.Candidates, manifest.Candidate{Name: fmt.Sprint(model, "-", agent), Agent: fmt.Sprint("s", agent), Provider: "p", Model: fmt.Sprint(model)})
		}
	}
	s := build(w.M, w.Rows).Strategies
	require.Len(t, s.Groups, maxContests)
	require.Len(t, s.Groups[0].Results, maxEntrants)
	require.Len(t, s.Pooled.Results, maxEntrants)
	require.Contains(t, strings.Join(s.Notes, " "), fmt.Sprintf("%d more strategies or models", 2*(maxContests+3)+3))
}
