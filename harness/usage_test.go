package harness_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
)

// accounting is a model whose replies have a configured usage.
type accounting struct {
	*model
	usage providers.Usage
}

func (m accounting) Call(ctx context.Context, c providers.Call) (providers.Reply, error) {
	r, err := m.model.Call(ctx, c)
	r.Usage = m.usage
	return r, err
}

// A turn with usage that cupel does not understand names it and has no cost. The run names it once.
func TestUsageThatIsNotUnderstood(t *testing.T) {
	o, m := smallOptions(t, "tier: core", "title: x", goldens.Candidate{Model: "priced"}, answer, answer, answer)
	o.Trials, o.Concurrency = 3, 1
	usage := providers.Usage{
		Reported: true, Input: 70, Output: 7, Processed: &providers.Processed{Input: 90, Output: 9},
		ServerTools: map[string]int64{"web_search": 2}, NotUnderstood: []string{"new_tokens: not understood"},
	}
	o.Providers["fake"] = func(providers.Options) (providers.Model, error) { return accounting{m, usage}, nil }
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, []harness.UsageDoubt{{Provider: "fake", What: "new_tokens: not understood", Turns: 3}}, res.NotUnderstood)
	turn := res.Rows.Turns[0]
	require.Nil(t, turn.CostNanoUSD)
	require.Nil(t, res.Rows.Episodes[0].CostNanoUSD)
	require.EqualValues(t, 70, *turn.In)
	require.EqualValues(t, 90, *turn.InProcessed)
	require.EqualValues(t, 9, *turn.OutProcessed)
	require.Equal(t, []string{"web_search=2"}, turn.ServerTools)
	require.Equal(t, usage.NotUnderstood, turn.NotUnderstood)
}
