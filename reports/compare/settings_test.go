package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// A comparison names each setting of an agent that differs, or that only one of the two
// has.
func TestDifferencesOfAgentSettings(t *testing.T) {
	one := func(digest, fallback string, settings ...manifest.Setting) manifest.Manifest {
		return manifest.Manifest{Candidates: []manifest.Candidate{{Name: "a", Digest: digest, FallbackModel: fallback, Settings: settings}}}
	}
	b := one("1", "", manifest.Setting{Name: "system", Value: `"Be brief." (0)`}, manifest.Setting{Name: "max_iterations", Value: "5"}, manifest.Setting{Name: "plan.steps", Value: "9"})
	s := one("2", "small", manifest.Setting{Name: "system", Value: `"Be long." (1)`}, manifest.Setting{Name: "no_images", Value: "true"}, manifest.Setting{Name: "plan.steps", Value: "9"})
	require.Equal(t, []Difference{
		{What: "fallback model", Where: "a", Baseline: "absent", New: "small"},
		{What: "system", Where: "a", Baseline: `"Be brief." (0)`, New: `"Be long." (1)`},
		{What: "max_iterations", Where: "a", Baseline: "5", New: "absent"},
		{What: "no_images", Where: "a", Baseline: "absent", New: "true"},
	}, Differences(b, s, []Names{{Baseline: "a", New: "a"}}))
}
