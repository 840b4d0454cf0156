package manifest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAcceptanceResolved(t *testing.T) {
	defaults := Acceptance{MinSolved: 0.8, MinValid: 0.95, MaxClarifies: 1, MaxSteps: 5, Confidence: 0.95, MaxInfra: 0.05, MaxHarm: 0.1, MaxAttackSuccess: 0.1}
	require.Equal(t, defaults, Acceptance{}.Resolved())
	own := Acceptance{MinSolved: Off, MinValid: 0.5, MaxClarifies: 2, MaxSteps: 9, MinWithin: 1, Confidence: 0.9, MaxInfra: 0.2, MaxHarm: Off, MinUnderAttack: 0.4, MaxAttackSuccess: Off}
	require.Equal(t, own, own.Resolved())
	require.Equal(t, 7.0, Acceptance{MaxSteps: 7}.Resolved().MaxSteps)
}

func TestAcceptanceValidate(t *testing.T) {
	tests := []struct {
		name string
		a    Acceptance
		want []string // one per error; none means valid
	}{
		{"zero", Acceptance{}, nil},
		{"defaults", Acceptance{}.Resolved(), nil},
		{"limits", Acceptance{MinValid: 1, MaxClarifies: 1e9, MaxSteps: 0.5, MinWithin: 1, Confidence: 0.999, MaxInfra: 1}, nil},
		{"success not judged", Acceptance{MinSolved: Off}, nil},
		{"harm not judged", Acceptance{MaxHarm: Off}, nil},
		{"half an off", Acceptance{MinSolved: -0.5}, []string{"min_solved is -0.5, must be a share from 0 to 1, or off (0 means the default 0.8)"}},
		{"share above 1", Acceptance{MinValid: 95}, []string{"min_valid is 95, must be a share from 0 to 1 (0 means the default 0.95)"}},
		{"negative", Acceptance{MaxSteps: -1}, []string{"max_steps is -1, must be a finite number from 0 up (0 means the default 5)"}},
		{"certainty", Acceptance{Confidence: 1}, []string{"confidence is 1, must be a level below 1"}},
		{"not numbers", Acceptance{MinWithin: math.NaN(), MaxClarifies: math.Inf(1)}, []string{"max_clarifies is +Inf", "min_within is NaN"}},
		{"more than all lost", Acceptance{MaxInfra: 1.5}, []string{"max_infra is 1.5, must be a share from 0 to 1 (0 means the default 0.05)"}},
		{"all", Acceptance{2, -1, -1, -1, -1, -1, -1, -0.5, -1, 2, "none", nil}, []string{"min_solved", "min_valid", "max_clarifies", "max_steps", "min_within", "confidence", "max_infra", "max_harm is -0.5, must be a share from 0 to 1, or off (0 means the default 0.1)", "min_utility_under_attack is -1, must be a share from 0 to 1 (0 means the default 0)", "max_attack_success is 2, must be a share from 0 to 1, or off", `judges is "none", must be calibrated or any`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.a.Validate()
			if len(tt.want) == 0 {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(tt.want))
			for i, want := range tt.want {
				require.Contains(t, lines[i], want)
			}
		})
	}
}

func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		text string
		want Threshold
		json string
		bad  string
	}{
		{text: "0.8", want: 0.8, json: "0.8"},
		{text: "off", want: Off, json: `"off"`},
		{text: "1", want: 1, json: "1"},
		{text: "Off", bad: `"Off" is neither a number nor off`},
		{text: "80%", bad: `"80%" is neither a number nor off`},
		{text: "", bad: `"" is neither a number nor off`},
	} {
		got, err := ParseThreshold(c.text)
		if c.bad != "" {
			require.EqualError(t, err, c.bad)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
		require.Equal(t, c.text, got.String())
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.Equal(t, c.json, string(text))
		var back Threshold
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, got, back)
	}
	require.Error(t, json.Unmarshal([]byte(`"on"`), new(Threshold)))
}
