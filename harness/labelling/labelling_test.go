package labelling

import (
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

func episodes(n int) iter.Seq2[ledger.EpisodeRows, error] {
	return func(yield func(ledger.EpisodeRows, error) bool) {
		for i := range n {
			e := ledger.Episode{Key: ledger.Key{EpisodeID: fmt.Sprint(i), TaskID: fmt.Sprint("t", i/2), Candidate: []string{"a", "b"}[i%2], Trial: 1}, Status: "answered", Solved: i%10 > 1}
			if i%25 == 24 {
				e.Status, e.InfraError = ledger.StatusInfraError, true
			}
			if !yield(ledger.EpisodeRows{Episode: e}, nil) {
				return
			}
		}
	}
}

func solved(rows ledger.EpisodeRows) string {
	return map[bool]string{true: "solved", false: "failed"}[rows.Episode.Solved]
}

// Strata have their share, and at least one; the same seed draws the same, and more with a larger
// size; another seed draws others.
func TestDraw(t *testing.T) {
	s, err := Draw(episodes(1000), 50, 1, solved)
	require.NoError(t, err)
	require.Equal(t, 40, s.NoResult)
	require.Equal(t, []Stratum{{"a", "failed", 100, 5}, {"a", "solved", 380, 20}, {"b", "failed", 100, 5}, {"b", "solved", 380, 20}}, s.Strata)
	require.Len(t, s.Episodes, 50)
	again, _ := Draw(episodes(1000), 50, 1, solved)
	require.Equal(t, s, again)
	other, _ := Draw(episodes(1000), 50, 2, solved)
	require.NotEqual(t, s.Episodes, other.Episodes)
	larger, _ := Draw(episodes(1000), 200, 1, solved)
	in := map[string]bool{}
	for _, k := range larger.Episodes {
		in[k.EpisodeID] = true
	}
	for _, k := range s.Episodes {
		require.True(t, in[k.EpisodeID])
	}
	all, _ := Draw(episodes(1000), 5000, 1, solved)
	require.Len(t, all.Episodes, 960)
	two, _ := Draw(episodes(1000), 2, 1, solved)
	require.Equal(t, []int{0, 1, 0, 1}, []int{two.Strata[0].Drawn, two.Strata[1].Drawn, two.Strata[2].Drawn, two.Strata[3].Drawn}, "the largest first")
}

// Every stratum has one, however rare, and none more than it has.
func TestAllot(t *testing.T) {
	strata := []Stratum{{Episodes: 10_000}, {Episodes: 1}, {Episodes: 3}, {Episodes: 500}}
	allot(strata, 100)
	sum := 0
	for _, s := range strata {
		require.Positive(t, s.Drawn)
		require.LessOrEqual(t, s.Drawn, s.Episodes)
		sum += s.Drawn
	}
	require.Equal(t, 100, sum)
	require.InDelta(t, 94, strata[0].Drawn, 1)
}

func TestDrawLeavesOut(t *testing.T) {
	s, err := Draw(func(yield func(ledger.EpisodeRows, error) bool) {
		_ = yield(ledger.EpisodeRows{Episode: ledger.Episode{Status: manifest.StatusImported}}, nil) &&
			yield(ledger.EpisodeRows{Episode: ledger.Episode{Status: "answered"}}, nil)
	}, 10, 1, func(rows ledger.EpisodeRows) string {
		return map[bool]string{true: "not scored"}[rows.Episode.Excluded() != ""]
	})
	require.NoError(t, err)
	require.Len(t, s.Episodes, 1, "an episode without a verdict can be labelled")
}
