package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

func TestClustersAreInOrder(t *testing.T) {
	r := build(reporttest.Ways().M, reporttest.Ways().Rows)
	require.Equal(t, []Cluster{
		{failure.Cause{Kind: failure.Answer, Signature: "answer: answer_contains_any: text missing"}, []int{4, 5, 7, 8}, 7, []Tally{{"t2", 2}, {"t1", 1}, {"t3", 1}}, []Tally{{"a", 2}, {"b", 2}}},
		{failure.Cause{Kind: failure.Answer, Signature: "answer: answer_numbers: wrong number"}, []int{9}, 9, []Tally{{"t1", 1}}, []Tally{{"b", 1}}},
		{failure.Cause{Kind: failure.Answer, Signature: "answer: answer_table: wrong day or count"}, []int{1}, 1, []Tally{{"t1", 1}}, []Tally{{"a", 1}}},
		{failure.Cause{Kind: failure.Trajectory, Signature: "trajectory: calls out of order or too many"}, []int{6}, 6, []Tally{{"t3", 1}}, []Tally{{"a", 1}}},
		{failure.Cause{Kind: failure.Infrastructure, Signature: "infrastructure: overloaded"}, []int{0}, 0, []Tally{{"t1", 1}}, []Tally{{"a", 1}}},
	}, r.Clusters)
	require.Same(t, r.Episodes[4].Cause, r.Episodes[8].Cause, "a cause is kept once")
	require.Nil(t, r.Episodes[2].Cause)
	require.Equal(t, r.Clusters, build(reporttest.Ways().M, reporttest.Ways().Rows).Clusters)
	require.Empty(t, build(reporttest.NewWorld("a").M, ledger.Rows{}).Clusters)
}

// A report and package failure must agree on what is solved and what is excluded.
func TestCausesAgreeWithOutcomes(t *testing.T) {
	for _, status := range []string{"answered", "clarify", "stopped", "error", "cancelled", ledger.StatusInfraError, ledger.StatusHarnessError, ledger.StatusBudgetStop, ""} {
		for _, infra := range []bool{false, true} {
			for _, solved := range []bool{false, true} {
				w := reporttest.NewWorld("a")
				w.Add(1, "t", solved, 1, func(e *ledger.Episode, _ []ledger.Turn) {
					e.Status, e.InfraError = status, infra
					e.Solved = solved && e.Excluded() == "" // what has no result is not scored
				})
				r := build(w.M, w.Rows)
				e, about := r.Episodes[0], fmt.Sprintf("status %s, infra %t, solved %t", status, infra, solved)
				require.Equal(t, e.Solved, e.Cause == nil, about)
				switch e.Excluded {
				case "":
				case ledger.LostToInfra:
					require.Equal(t, failure.Infrastructure, e.Cause.Kind, about)
				default:
					require.Equal(t, failure.Harness, e.Cause.Kind, about)
				}
			}
		}
	}
}

// Floor: the signature that failure.Of makes. An episode leaves an index of 8 bytes.
func BenchmarkClusters(b *testing.B) {
	w := reporttest.Ways()
	var causes []failure.Cause
	for _, e := range w.Rows.Episodes {
		if c, ok := failure.Of(ledger.EpisodeRows{Episode: e}); ok {
			causes = append(causes, c)
		}
	}
	c := clusters{at: map[failure.Cause]*signatureGroup{}}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.add(causes[i%len(causes)], i, i)
		i++
	}
}
