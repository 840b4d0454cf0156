package ledger

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAcceptanceResolved(t *testing.T) {
	defaults := Acceptance{MinValid: 0.95, MaxClarifies: 1, MaxSteps: 5, MinWithin: 0.95, Confidence: 0.95, MaxInfra: 0.05, Rule: "bound"}
	require.Equal(t, defaults, Acceptance{}.Resolved())
	own := Acceptance{MinValid: 0.5, MaxClarifies: 2, MaxSteps: 9, MinWithin: 1, Confidence: 0.9, MaxInfra: 0.2, Rule: "point"}
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
		{"limits", Acceptance{MinValid: 1, MaxClarifies: 1e9, MaxSteps: 0.5, MinWithin: 1, Confidence: 0.999, MaxInfra: 1, Rule: "point"}, nil},
		{"share above 1", Acceptance{MinValid: 95}, []string{"min_valid is 95, must be a share from 0 to 1 (0 means the default 0.95)"}},
		{"negative", Acceptance{MaxSteps: -1}, []string{"max_steps is -1, must be a finite number from 0 up (0 means the default 5)"}},
		{"certainty", Acceptance{Confidence: 1}, []string{"confidence is 1, must be a level below 1"}},
		{"not numbers", Acceptance{MinWithin: math.NaN(), MaxClarifies: math.Inf(1)}, []string{"max_clarifies is +Inf", "min_within is NaN"}},
		{"more than all lost", Acceptance{MaxInfra: 1.5}, []string{"max_infra is 1.5, must be a share from 0 to 1 (0 means the default 0.05)"}},
		{"rule", Acceptance{Rule: "Bound"}, []string{`rule is "Bound", must be bound or point`}},
		{"all", Acceptance{-1, -1, -1, -1, -1, -1, "x", nil}, []string{"min_valid", "max_clarifies", "max_steps", "min_within", "confidence", "max_infra", "rule"}},
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
