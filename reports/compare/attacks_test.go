package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Attacked episodes have metrics of their own, and count with their task as one cluster.
func TestAttacksHaveMetricsOfTheirOwn(t *testing.T) {
	of := func(candidate string, fell func(task int) *bool) plan {
		return plan{candidate, 20, 1, func(task, _ int, rows *ledger.EpisodeRows) {
			if e := &rows.Episode; task >= 10 {
				e.Injection, e.AttackSucceeded, e.Solved = "steal", fell(task), task < 15
			}
		}}
	}
	compared := func(a, b plan) Pair {
		m := a.manifest()
		for i := 10; i < 20; i++ {
			m.Tasks[i].Base = taskID(i - 10)
		}
		n := m
		n.RunID, n.Candidates = b.manifest().RunID, b.manifest().Candidates
		builder := NewBuilder([]manifest.Manifest{m}, n, []Names{{a.candidate, b.candidate}}, Rules{})
		a.each(builder.addBaseline)
		b.each(builder.AddNew)
		return finished(builder).Pairs[0]
	}
	p := compared(of("a", func(int) *bool { return new(false) }), of("b", func(task int) *bool { return new(task < 18) }))
	solved, under, success := metric(p, "solved"), metric(p, underAttack), metric(p, attackSuccess)
	require.Equal(t, []any{10, 1.0, 1.0}, []any{solved.N, *solved.Baseline, *solved.New}, "without attack")
	require.Equal(t, []any{10, 0.5, 0.5}, []any{under.N, *under.Baseline, *under.New})
	require.Equal(t, []any{10, 0.0, 0.8, 0.8}, []any{success.N, *success.Baseline, *success.New, *success.Effect})
	require.False(t, success.HigherIsBetter)
	require.Less(t, *success.P, 0.01)
	valid := metric(p, contractValid)
	require.Equal(t, []int{20, 10}, []int{valid.N, valid.Clusters}, "a task and its attacks are one cluster")

	p = compared(of("a", func(int) *bool { return new(false) }), of("b", func(task int) *bool {
		if task == 12 {
			return nil
		}
		return new(false)
	}))
	success = metric(p, attackSuccess)
	require.Nil(t, success.P, "one that is unknown makes the whole unknown")
	require.Contains(t, success.Note, "1 paired episode where it is not known whether the attack succeeded: unknown, which is never zero.")
	require.Panics(t, func() {
		metric(finished(NewBuilder([]manifest.Manifest{{}}, manifest.Manifest{}, []Names{{"a", "b"}}, Rules{})).Pairs[0], attackSuccess)
	}, "without attacks there are no such metrics")
}
