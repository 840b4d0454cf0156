package harness_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/providers"
)

// telling is a model whose replies report their cost and tier.
type telling struct {
	*model
	cost int64
}

func (m telling) Call(ctx context.Context, c providers.Call) (providers.Reply, error) {
	r, err := m.model.Call(ctx, c)
	r.CostNanoUSD, r.Usage.Tier = &m.cost, "standard"
	return r, err
}

// The computed cost of 100 input and 10 output tokens at 1 USD per million is 110,000 nano-USD. The
// reported cost is stored, too. If the two differ, the cost is unknown.
func TestReportedCost(t *testing.T) {
	for name, c := range map[string]struct {
		reported int64
		warnings []string
	}{
		"the same":            {110_000, nil},
		"one percent off":     {111_100, nil},
		"more than that":      {112_000, []string{"provider: price: the provider says 112000 nano-USD, the price table 110000"}},
		"nothing to pay":      {0, []string{"provider: price: the provider says 0 nano-USD, the price table 110000"}},
		"less, by a fraction": {109_000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o, m := smallOptions(t, "tier: core", "title: x", goldens.Candidate{Model: "priced"}, answer)
			o.Providers["fake"] = func(providers.Options) (providers.Model, error) { return telling{m, c.reported}, nil }
			turn := run(t, o).Turns[0]
			if c.warnings == nil {
				require.EqualValues(t, 110_000, *turn.CostNanoUSD)
				require.Empty(t, turn.NotUnderstood)
			} else {
				require.Nil(t, turn.CostNanoUSD)
				require.Equal(t, []string{"cost: the provider reports another than the price table gives"}, turn.NotUnderstood)
			}
			require.Equal(t, c.reported, *turn.CostReportedNanoUSD)
			require.Equal(t, "standard", turn.ServiceTier)
			require.Equal(t, c.warnings, turn.Warnings)
		})
	}
	o, _ := smallOptions(t, "tier: core", "title: x", goldens.Candidate{Model: "priced"}, answer)
	require.Nil(t, run(t, o).Turns[0].CostReportedNanoUSD, "nothing was said: null, not 0")
}
