package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
)

// Every reason is given at once. Candidates that were not chosen do not matter, unless
// they prove that the policy is another.
func TestCheckPool(t *testing.T) {
	a, b := manifest.Candidate{Name: "a", Digest: "da"}, manifest.Candidate{Name: "b", Digest: "db"}
	night := func(id, config string, ran ...manifest.Candidate) compared {
		m := manifest.Manifest{RunID: id, ConfigDigest: config, LedgerDigest: id, Candidates: []manifest.Candidate{a}}
		return compared{dir: t.TempDir(), manifest: m, ran: ran, selector: "a", names: []string{"a"}, chosen: true}
	}
	first, newRun, pairs := night("n1", "c", a, b), night("new", "c", a), []compare.Names{{Baseline: "a", New: "a"}}
	for name, c := range map[string]struct {
		second compared
		want   []string
	}{
		"one configuration":        {night("n2", "c", a, b), nil},
		"another candidate beside": {night("n2", "other", a), nil},
		"another policy":           {night("n2", "other", a, b), []string{"baseline n1 and n2: the policy was changed"}},
		"the new run":              {newRun, []string{"baseline new: the new run is one of several baselines; leave it out"}},
		"all that is wrong": {
			compared{dir: newRun.dir, manifest: first.manifest, ran: []manifest.Candidate{b}},
			[]string{"baseline n1:a and n1: they name different candidates", "baseline n1: the new run is one", "the same run twice", "has no candidate a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkPool([]compared{first, c.second}, newRun, pairs)
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
	require.NoError(t, checkPool([]compared{first}, first, pairs), "a run compared with itself is another question")
	require.Equal(t, []manifest.Candidate{a}, first.manifest.Candidates, "the chosen ones stay")
}
