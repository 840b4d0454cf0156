package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/failure"
)

// says makes an episode fail one check of the given name.
func says(check string) func(*ledger.Episode, []ledger.Turn) {
	return func(e *ledger.Episode, _ []ledger.Turn) { e.Checks = []ledger.Check{{Name: check, Detail: "is wrong"}} }
}

// ways is a run that fails in several ways, none of them in the order shown.
func ways() *world {
	w := newWorld("a", "b")
	lost := func(e *ledger.Episode, _ []ledger.Turn) { e.InfraError, e.ErrorKind = true, "overloaded" }
	w.add(1, "t1", false, 4, lost)
	w.add(1, "t1", false, 3, says("answer_table"))
	w.add(2, "t2", true, 1, nil)
	w.add(2, "t2", false, 5, says("answer_contains_any"))
	w.add(1, "t3", false, 2, says("trajectory.order"))
	w.m.Candidates[0], w.m.Candidates[1] = w.m.Candidates[1], w.m.Candidates[0]
	w.add(1, "t3", false, 3, says("answer_contains_any"))
	w.add(1, "t1", false, 3, says("answer_contains_any"))
	w.add(1, "t1", false, 9, says("answer_numbers"))
	return w
}

func TestClustersAreInOrder(t *testing.T) {
	r := Build(ways().m, ways().rows)
	require.Equal(t, []Cluster{
		{failure.Cause{Kind: failure.Answer, Signature: "answer: answer_contains_any: text missing"}, []int{4, 5, 7, 8}, 7, []Tally{{"t2", 2}, {"t1", 1}, {"t3", 1}}, []Tally{{"a", 2}, {"b", 2}}},
		{failure.Cause{Kind: failure.Answer, Signature: "answer: answer_numbers: wrong number"}, []int{9}, 9, []Tally{{"t1", 1}}, []Tally{{"b", 1}}},
		{failure.Cause{Kind: failure.Answer, Signature: "answer: answer_table: wrong day or count"}, []int{1}, 1, []Tally{{"t1", 1}}, []Tally{{"a", 1}}},
		{failure.Cause{Kind: failure.Trajectory, Signature: "trajectory: calls out of order or too many"}, []int{6}, 6, []Tally{{"t3", 1}}, []Tally{{"a", 1}}},
		{failure.Cause{Kind: failure.Infrastructure, Signature: "infrastructure: overloaded"}, []int{0}, 0, []Tally{{"t1", 1}}, []Tally{{"a", 1}}},
	}, r.Clusters)
	require.Same(t, r.Episodes[4].Cause, r.Episodes[8].Cause, "a cause is kept once")
	require.Nil(t, r.Episodes[2].Cause)
	require.Equal(t, r.Clusters, Build(ways().m, ways().rows).Clusters)
	require.Empty(t, Build(newWorld("a").m, ledger.Rows{}).Clusters)
}

// A report and package failure must agree on what is solved and what is excluded.
func TestCausesAgreeWithOutcomes(t *testing.T) {
	for _, status := range []string{"answered", "clarify", "stopped", "error", "cancelled", ledger.StatusInfraError, ledger.StatusHarnessError, ledger.StatusBudgetStop, ""} {
		for _, infra := range []bool{false, true} {
			for _, solved := range []bool{false, true} {
				w := newWorld("a")
				w.add(1, "t", solved, 1, func(e *ledger.Episode, _ []ledger.Turn) {
					e.Status, e.InfraError = status, infra
					e.Solved = solved && e.Excluded() == "" // what has no result is not scored
				})
				r := Build(w.m, w.rows)
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

func TestClustersAreBounded(t *testing.T) {
	w := newWorld("a")
	letters := func(n int) string {
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%04d", n))
	}
	for i := range maxSignatures + 20 {
		w.add(1, "t", false, 30-i%30, says("own_"+letters(i)))
	}
	w.add(1, "t", false, 1, says("max_steps"))
	w.add(1, "t", false, 1, says("own_"+letters(3)))
	r := Build(w.m, w.rows)
	require.Len(t, r.Clusters, maxSignatures+2)
	sizes := map[string]int{}
	for _, c := range r.Clusters {
		sizes[c.Signature] = len(c.Episodes)
	}
	require.Equal(t, []int{20, 1, 2}, []int{sizes["answer: other"], sizes["budget: other"], sizes["answer: own_aaad"]})
	require.Equal(t, "answer: other", r.Episodes[maxSignatures].Cause.Signature)
	require.Contains(t, r.Notes, "More than 1,000 ways to fail: 21 episodes that failed in yet another way are in one cluster of each kind.")
	require.NotContains(t, strings.Join(Build(ways().m, ways().rows).Notes, "\n"), "yet another way")

	views := clusterViews(r)
	require.Len(t, views, maxClusterViews)
	require.Equal(t, "other", views[0].Signature)
	text := render(t, Markdown, r)
	require.Contains(t, text, "<details><summary>Failures by kind: 1,022 episodes not solved, 1,002 clusters</summary>")
	require.Contains(t, text, "and 962 more clusters, none of them larger")
}

func TestClustersInText(t *testing.T) {
	r := Build(ways().m, ways().rows)
	text := render(t, Markdown, r)
	for _, line := range []string{
		"| answer | answer&#95;contains&#95;any: text missing | 4 | t2 ×2, t1, t3 | a ×2, b ×2 | t3/1 of b, 3 steps |",
		"|  | answer&#95;numbers: wrong number | 1 | t1 | b | t1/1 of b, 9 steps |",
		"| infrastructure | overloaded | 1 | t1 | a | t1/1 of a, 4 steps |",
	} {
		require.Contains(t, text, line+"\n")
	}
	plain := render(t, func(b io.Writer, r Report) error { return Summary(b, r, 0) }, r)
	require.Contains(t, plain, `
failed: answer: answer_contains_any: text missing: 4 of 8 unsolved episodes, in 3 tasks; shortest t3/b/1, 3 steps
failed: answer: answer_numbers: wrong number: 1 of 8 unsolved episodes, in 1 task; shortest t1/b/1, 9 steps
failed: answer: answer_table: wrong day or count: 1 of 8 unsolved episodes, in 1 task; shortest t1/a/1, 3 steps
failed: in 2 more ways, all in the report
`)
	require.Contains(t, annotations(t, r), "::notice title=cupel%3A most frequent failure::answer: answer_contains_any: text missing: 4 of 8 unsolved episodes, in 3 tasks; shortest t3/b/1, 3 steps")
	var junit junitSuites
	require.NoError(t, xml.Unmarshal([]byte(render(t, JUnit, r)), &junit))
	first := junit.Suites[1].Cases
	require.Equal(t, "trajectory", first[len(first)-1].Failure.Type)
	require.Equal(t, "trajectory: calls out of order or too many\ntrajectory.order: is wrong", first[len(first)-1].Failure.Text)

	solved := newWorld("a")
	solved.add(3, "t", true, 2, nil)
	r = Build(solved.m, solved.rows)
	require.NotContains(t, render(t, Markdown, r), "Failures by kind")
	require.NotContains(t, render(t, func(b io.Writer, r Report) error { return Summary(b, r, 80) }, r), "failed:")
	require.NotContains(t, strings.Join(annotations(t, r), "\n"), "most frequent")
}

func TestClusterNames(t *testing.T) {
	long := strings.Repeat("b", 50)
	require.Equal(t, "a ×1,000, "+long[:39]+"…, c, 2 more", names([]Tally{{"a", 1000}, {long, 1}, {"c", 1}, {"d", 1}, {"e", 1}}))
	require.Empty(t, names(nil))
}

// Floor: nothing beyond the signature that failure.Of makes; an episode leaves an
// index of 8 bytes.
func BenchmarkClusters(b *testing.B) {
	w := ways()
	var causes []failure.Cause
	for _, e := range w.rows.Episodes {
		if c, ok := failure.Of(ledger.EpisodeRows{Episode: e}); ok {
			causes = append(causes, c)
		}
	}
	c := clusters{at: map[failure.Cause]*cluster{}}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.add(causes[i%len(causes)], i, i)
		i++
	}
}
