package scoring

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
)

func score(name string, value, least *float64, pass bool) ledger.Score {
	return ledger.Score{Name: name, Score: value, AtLeast: least, Pass: pass, Digest: "d"}
}

func TestMeans(t *testing.T) {
	var tally Tally
	for i := range 30 {
		for trial := range 2 {
			tally.Add(fmt.Sprint(i), &ledger.Episode{Scores: []ledger.Score{
				score("judge.tone", new(0.25+0.5*float64(i%2)), new(0.5), i%2 == 1),
				score("score.big", new(float64(10*trial)), new(float64(trial)), true),
				score("score.plain", nil, nil, i > 0),
			}})
		}
	}
	list := tally.Means(0.95)
	require.Len(t, list, 3)
	tone, big, plain := list[0], list[1], list[2]
	require.Equal(t, []any{"judge.tone", 60, 30, 0, 30, 1, 0.5}, []any{tone.Check, tone.N, tone.Clusters, tone.NoScore, tone.Passed, tone.Scorers, *tone.AtLeast})
	require.InDelta(t, 0.5, *tone.Mean, 1e-12)
	require.Less(t, tone.Interval.Low, 0.45)
	require.Greater(t, tone.Interval.High, 0.55)
	require.InDelta(t, 5, *big.Mean, 1e-12)
	require.Equal(t, []any{0.0, 10.0, true}, []any{big.Low, big.High, big.AtLeastVaries})
	require.Nil(t, big.AtLeast)
	require.Equal(t, []any{0, 60, 58}, []any{plain.N, plain.NoScore, plain.Passed})
	require.Nil(t, plain.Mean)
	require.Nil(t, plain.Interval, "no score is not a score of 0")
	require.NotNil(t, plain.PassedInterval)
}

func TestUses(t *testing.T) {
	var none, u Uses
	none.Add(0, new(int64(0)), new(int64(0)), new(int64(0)))
	require.Nil(t, none.Use())
	u.Add(2, new(int64(10)), new(int64(5)), new(int64(100)))
	u.Add(1, new(int64(7)), nil, new(int64(50)))
	require.Equal(t, &Use{Calls: 3, TokensIn: new(int64(17)), Cost: new(int64(150))}, u.Use(), "what one episode does not know, the sum does not")
}

// Equal scores of few tasks do not show that all tasks have them.
func TestMeanOfEqualScores(t *testing.T) {
	var tally Tally
	for i := range 5 {
		tally.Add(fmt.Sprint(i), &ledger.Episode{Scores: []ledger.Score{score("s", new(1.0), nil, true)}})
	}
	m := tally.Means(0.95)[0]
	require.InDelta(t, 1, *m.Mean, 0)
	require.Less(t, m.Interval.Low, 0.6)
}

// The interval covers the true mean at least as often as it says, also of skewed scores whose trials
// resemble each other.
func TestMeanCoverage(t *testing.T) {
	runs, covered := testkit.Long(150, 2000), 0
	r := rand.New(rand.NewPCG(3, 4))
	for range runs {
		var tally Tally
		for task := range 25 {
			base := 0.0
			if r.Float64() < 0.9 {
				base = 0.8
			}
			for range 3 {
				tally.Add(fmt.Sprint(task), &ledger.Episode{Scores: []ledger.Score{score("s", new(base+0.2*r.Float64()), nil, true)}})
			}
		}
		iv := tally.Means(0.95)[0].Interval
		if iv.Low <= 0.82 && 0.82 <= iv.High {
			covered++
		}
	}
	share := float64(covered) / float64(runs)
	t.Logf("covered %.3f", share)
	require.GreaterOrEqual(t, share, 0.94)
}
