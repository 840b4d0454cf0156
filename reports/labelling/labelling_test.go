package labelling

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/work"
)

func TestTally(t *testing.T) {
	var tally Tally
	for i := range 20 {
		tally.Add(fmt.Sprint(i/2), &ledger.Episode{
			Status: "answered", Solved: i%2 == 0,
			Scores: []ledger.Score{{Name: "judge.tone", Pass: i < 15}},
			Labels: []work.Label{
				{Labeller: "ann", Pass: i%2 == 0}, {Labeller: "bo", Pass: i%4 == 0},
				{Check: "gone", Labeller: "ann", Pass: true}, {Check: "judge.tone", Labeller: "ann", Pass: i < 10},
			},
		})
	}
	tally.Add("x", &ledger.Episode{Status: manifest.StatusImported, Labels: []work.Label{{Labeller: "ann", Pass: true}, {Labeller: "bo", Pass: true}}})
	var got []string
	for _, r := range tally.Rows(0.95) {
		got = append(got, fmt.Sprintf("%q %s %s: %d of %d, %d tasks", r.Check, r.First, r.Second, r.BothPass+r.BothFail, r.N(), r.Clusters))
	}
	require.Equal(t, []string{
		`"" automatic ann: 20 of 20, 10 tasks`, `"" automatic bo: 15 of 20, 10 tasks`, `"" ann bo: 16 of 21, 11 tasks`,
		`"judge.tone" automatic ann: 15 of 20, 10 tasks`,
	}, got, "an episode without an automatic verdict compares people only")
	require.Empty(t, new(Tally).Rows(0.95))
}
