package sides

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
)

// All reasons are reported together. Candidates that are not selected do not matter, unless they show
// that the policy differs.
func TestCheckPool(t *testing.T) {
	a, b := manifest.Candidate{Name: "a", Digest: "da"}, manifest.Candidate{Name: "b", Digest: "db"}
	night := func(id, config string, ran ...manifest.Candidate) Side {
		m := manifest.Manifest{RunID: id, ConfigDigest: config, LedgerDigest: id, Candidates: []manifest.Candidate{a}}
		return Side{Dir: t.TempDir(), Manifest: m, Ran: ran, Selector: "a", Names: []string{"a"}, Chosen: true}
	}
	first, newRun, pairs := night("n1", "c", a, b), night("new", "c", a), []compare.Names{{Baseline: "a", New: "a"}}
	for name, c := range map[string]struct {
		second Side
		want   []string
	}{
		"one configuration":        {night("n2", "c", a, b), nil},
		"another candidate beside": {night("n2", "other", a), nil},
		"another policy":           {night("n2", "other", a, b), []string{"baseline n1 and n2: the policy was changed"}},
		"the new run":              {newRun, []string{"baseline new: the new run is one of several baselines; leave it out"}},
		"all that is wrong": {
			Side{Dir: newRun.Dir, Manifest: first.Manifest, Ran: []manifest.Candidate{b}},
			[]string{"baseline n1:a and n1: they name different candidates", "baseline n1: the new run is one", "the same run twice", "has no candidate a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkPool([]Side{first, c.second}, newRun, pairs)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.Equal(t, exit.BadUsage, exit.Code(err))
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	require.NoError(t, checkPool([]Side{first}, first, pairs), "a run compared with itself is another question")
	require.Equal(t, []manifest.Candidate{a}, first.Manifest.Candidates, "the chosen ones stay")
}
