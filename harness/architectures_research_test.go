package harness_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// TestSimulatedResearch runs the suite research with every strategy and models of three
// qualities. Better models solve more, and strategies need different numbers of turns.
func TestSimulatedResearch(t *testing.T) {
	testkit.Slow(t)
	suite, err := load.Suite(research.FS, "research", research.Worlds())
	require.NoError(t, err)
	o := recordOptions(t)
	o.Suite, o.Mode = suite, recorder.Live
	agents := []string{"contract", "tools", "plan"}
	var wires int
	o.Candidates, wires = onTwoWires(agents)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	steps := map[string]int{}
	for _, e := range rows.Episodes {
		require.Empty(t, e.ErrorText, "%s %s", e.Candidate, e.TaskID)
		steps[e.Agent+" "+e.Model] += int(e.Steps)
	}
	solved, all := solvedBy(rows, false)
	rate := func(agent, model string) float64 {
		name := agent + "." + model
		require.Equal(t, wires*len(suite.Tasks), all[name])
		return float64(solved[name]) / float64(all[name])
	}
	better := 0.0
	for _, agent := range agents {
		strong, erratic, weak := rate(agent, "sim-strong"), rate(agent, "sim-erratic"), rate(agent, "sim-weak")
		t.Logf("%-8s strong %.2f, erratic %.2f, weak %.2f; steps %d, %d, %d", agent, strong, erratic, weak,
			steps[agent+" sim-strong"], steps[agent+" sim-erratic"], steps[agent+" sim-weak"])
		require.GreaterOrEqual(t, strong, 0.92, agent)
		require.Greater(t, strong, erratic, agent)
		require.GreaterOrEqual(t, erratic, weak, agent)
		better += erratic - weak
	}
	require.Greater(t, better, 0.2, "over all agents")
	require.Less(t, steps["tools sim-strong"], steps["contract sim-strong"], "several calls a turn save turns")
}
