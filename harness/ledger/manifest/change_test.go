package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAcceptanceWith(t *testing.T) {
	a, err := Acceptance{}.With([]string{"min_solved=off", "max_steps=7", "min_within=0", "min_valid=0.95"})
	require.NoError(t, err)
	require.Equal(t, Acceptance{MinSolved: Off, MaxSteps: 7, MinValid: 0.95}, a)
	require.Equal(t, []ThresholdChange{{"min_solved", 0.8, Off}, {"max_steps", 5, 7}}, Acceptance{}.ChangesTo(a), "a default that is written out is not a change")
	require.Equal(t, "min_solved 0.8 → off", Acceptance{}.ChangesTo(a)[0].String())
	require.Empty(t, a.ChangesTo(a.Resolved()))

	for text, want := range map[string]string{
		"min_solved":     "must be a number from 0 up, or off",
		"min_solved=":    "must be a number",
		"min_solved=-1":  "must be a number from 0 up",
		"max_steps=off":  "must be a number from 0 up",
		"min_valid=nan":  "min_valid is NaN, must be a share",
		"min_valid=95":   "min_valid is 95, must be a share",
		"confidence=1":   "confidence is 1, must be a level below 1",
		"min_valid=0":    "0 stands for the default 0.95",
		"minimum=0.5":    "must be NAME=VALUE with one of the names min_solved, min_valid, max_clarifies, max_steps, min_within, confidence, max_infra, max_harm, min_utility_under_attack, max_attack_success",
		"min_valid =0.5": "must be NAME=VALUE",
	} {
		_, err := Acceptance{}.With([]string{"max_infra=0.1", text})
		require.ErrorContains(t, err, want, text)
	}
	_, err = Acceptance{}.With([]string{"a=1", "b=2"})
	require.ErrorContains(t, err, `"a=1"`)
	require.ErrorContains(t, err, `"b=2"`)
}
