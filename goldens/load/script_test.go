package load

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

func TestLoadNativeScript(t *testing.T) {
	s, err := Suite(suitetest.Folder(suitetest.Head+`tasks:
  - id: A
    request: Hi
    scripted: true
    agent: tools
    fails: [status]
    budgets: {max_tokens_total: 20, max_cost_usd: 0.5}
    script:
      - calls: [{get_counts: {label: angry}}, {today_range: }, {x: "{"}]
        tokens: 7
        cost_usd: 0.25
      - calls: []
      - text: Hm
        cut: true
    expect: {status: answered}
`), "s", suitetest.Worlds())
	require.NoError(t, err)
	task := s.Tasks[0]
	require.Equal(t, "tools", task.Agent)
	require.Equal(t, []string{"status"}, task.Fails)
	require.Equal(t, []int64{20, 500_000_000}, []int64{task.Budgets.MaxTokens, task.Budgets.MaxCostNanoUSD})
	require.Equal(t, []goldens.Emit{
		{Calls: []goldens.EmitCall{{Name: "get_counts", Args: `{"label":"angry"}`}, {Name: "today_range", Args: "null"}, {Name: "x", Args: "{"}}, Tokens: new(int64(7)), CostNanoUSD: new(int64(250_000_000))},
		{Calls: []goldens.EmitCall{}},
		{Text: "Hm", Cut: true},
	}, task.Script)

	plain := task
	plain.Agent, plain.Fails = "", nil
	require.NotEqual(t, s.TaskParts(plain).World, s.TaskParts(task).World)
	require.NotEqual(t, s.TaskParts(plain).Checks, s.TaskParts(task).Checks)
}

// Every word that the loader accepts can be checked.
func TestLoaderAndScorerKnowTheSameSignals(t *testing.T) {
	for _, name := range signalsOfSchema(t) {
		condition := "1"
		if goldens.IsFlag(name) {
			condition = "true"
		}
		_, err := Suite(suitetest.Folder(suitetest.Head+"tasks:\n  - {id: A, request: Hi, expect: {status: answered, signals: {"+name+": "+condition+"}}}\n"), "demo", suitetest.Worlds())
		require.NoError(t, err)
	}
}
