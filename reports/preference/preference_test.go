package preference

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/rubric"
)

// A preference counts only if both orders agree.
func TestOf(t *testing.T) {
	for orders, want := range map[[2]rubric.Better]Outcome{
		{rubric.Second, rubric.First}:  Win,
		{rubric.First, rubric.Second}:  Loss,
		{rubric.Tie, rubric.Tie}:       Tie,
		{rubric.First, rubric.First}:   PositionDependent,
		{rubric.Second, rubric.Second}: PositionDependent,
		{rubric.Tie, rubric.First}:     PositionDependent,
		{rubric.First, rubric.Tie}:     PositionDependent,
		{rubric.Tie, rubric.Second}:    PositionDependent,
		{rubric.Second, rubric.Tie}:    PositionDependent,
	} {
		require.Equal(t, want, Of(orders[0], orders[1]), "%v", orders)
	}
}

func TestSummary(t *testing.T) {
	var none Tally
	require.Equal(t, Summary{}, none.Summary(0.95), "no pair is not a share of 0")
	var tally Tally
	for i := range 10 {
		tally.Add(fmt.Sprint(i), rubric.Second, rubric.First)
	}
	for i := range 4 {
		tally.Add(fmt.Sprint(i), rubric.First, rubric.First)
	}
	tally.Add("10", rubric.First, rubric.Second)
	tally.Add("10", rubric.Tie, rubric.Tie)
	tally.Same("11")
	s := tally.Summary(0.95)
	require.Equal(t, []int{17, 12, 10, 6, 1, 1, 4}, []int{s.Pairs, s.Tasks, s.Wins, s.Ties, s.Losses, s.Same, s.PositionDependent})
	require.InDelta(t, (10+6*0.5)/17, *s.Preferred.Value, 1e-12)
	require.InDelta(t, 4./16, *s.Disagreement.Value, 1e-12, "the judge was not asked about the same")
	require.InDelta(t, (10+8+1)/30., *s.First.Value, 1e-12)
	require.Less(t, s.Preferred.Interval.Low, *s.Preferred.Value)
	require.Less(t, s.Disagreement.Interval.High, 0.6)
}

// A judge that often prefers what it sees first makes a candidate win that is as good as the other,
// if it is asked in one order. Both orders remove that: the interval of a 50% share covers it.
func TestBothOrdersRemovePositionBias(t *testing.T) {
	const runs, tasks, trials, bias = 200, 40, 3, 0.4
	r := rand.New(rand.NewPCG(1, 2))
	oneOrder, bothOrders := 0, 0
	for range runs {
		var one, both Tally
		for task := range tasks {
			better := r.Float64() < 0.5 // the new one, in all trials of the task
			ask := func(newFirst bool) rubric.Better {
				if r.Float64() < bias || better == newFirst {
					return rubric.First
				}
				return rubric.Second
			}
			for range trials {
				first, swapped := ask(false), ask(true)
				both.Add(fmt.Sprint(task), first, swapped)
				one.Add(fmt.Sprint(task), first, map[rubric.Better]rubric.Better{rubric.First: rubric.Second, rubric.Second: rubric.First}[first]) // taken as if both had said so
			}
		}
		covers := func(s Summary) int {
			if s.Preferred.Interval.Low <= 0.5 && s.Preferred.Interval.High >= 0.5 {
				return 1
			}
			return 0
		}
		oneOrder += covers(one.Summary(0.95))
		bothOrders += covers(both.Summary(0.95))
		require.Greater(t, *both.Summary(0.95).First.Value, 0.5)
	}
	require.Less(t, oneOrder, runs*9/10)
	require.GreaterOrEqual(t, bothOrders, runs*95/100)
}
