package sides

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
)

func TestStrategiesArePairedByModel(t *testing.T) {
	dir := t.TempDir()
	c := func(name, agent, model string) manifest.Candidate {
		return manifest.Candidate{Name: name, Agent: agent, Provider: "sim", Model: model}
	}
	m := manifest.Manifest{RunID: "r", Candidates: []manifest.Candidate{
		c("tools-a", "tools", "a"), c("plan-a", "plan", "a"), c("tools-b", "tools", "b"), c("plan-b", "plan", "b"), c("contract", "contract", "c"), c("plan-b2", "critic", "b"),
	}}
	side := func(names ...string) Side {
		s := Side{Dir: dir, Manifest: m, Names: names, Chosen: true}
		if all := ofAgent(m, names); all != nil {
			s.Names, s.agent = all, true
		}
		return s
	}
	for _, tc := range []struct {
		name             string
		baseline, newRun Side
		want             []compare.Names
		err              string
	}{
		{"two strategies", side("tools"), side("plan"), []compare.Names{{Baseline: "tools-a", New: "plan-a"}, {Baseline: "tools-b", New: "plan-b"}}, ""},
		{"a strategy and a candidate", side("tools"), side("plan-b"), []compare.Names{{Baseline: "tools-b", New: "plan-b"}}, ""},
		{"a candidate's name comes first", side("tools"), side("contract"), nil, "no provider and model is on both sides"},
		{"with itself", side("tools"), side("tools"), nil, "no provider and model is on both sides"},
		{"several of a model", side("tools"), Side{Dir: dir, Manifest: m, Names: []string{"plan-b", "plan-b2"}, agent: true}, nil, "several candidates of sim/b: tools-b against plan-b, plan-b2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pairs, err := pairUp(tc.baseline, tc.newRun)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				require.Equal(t, exit.BadUsage, exit.Code(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, pairs)
		})
	}
	require.False(t, side("plan-b").agent)
	require.Nil(t, ofAgent(m, []string{"nobody"}))
}
