package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// A comparison names each setting of an agent that is another, or that only one of
// the two has.
func TestDifferencesOfAgentSettings(t *testing.T) {
	one := func(digest, fallback string, settings ...ledger.ManifestSetting) ledger.Manifest {
		return ledger.Manifest{Candidates: []ledger.ManifestCandidate{{Name: "a", Digest: digest, FallbackModel: fallback, Settings: settings}}}
	}
	b := one("1", "", ledger.ManifestSetting{Name: "system", Value: `"Be brief." (0)`}, ledger.ManifestSetting{Name: "max_iterations", Value: "5"}, ledger.ManifestSetting{Name: "plan.steps", Value: "9"})
	s := one("2", "small", ledger.ManifestSetting{Name: "system", Value: `"Be long." (1)`}, ledger.ManifestSetting{Name: "no_images", Value: "true"}, ledger.ManifestSetting{Name: "plan.steps", Value: "9"})
	require.Equal(t, []Difference{
		{What: "fallback model", Where: "a", Baseline: "absent", New: "small"},
		{What: "system", Where: "a", Baseline: `"Be brief." (0)`, New: `"Be long." (1)`},
		{What: "max_iterations", Where: "a", Baseline: "5", New: "absent"},
		{What: "no_images", Where: "a", Baseline: "absent", New: "true"},
	}, Differences(b, s, []Names{{Baseline: "a", New: "a"}}))
}
