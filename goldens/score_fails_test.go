package goldens

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A task with fails is solved by exactly these failures, whatever their order.
func TestScoreFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		fails  []string
		answer string
		detail string // empty: solved
	}{
		{"exactly these", []string{"status", "answer_numbers"}, "7", ""},
		{"one more", []string{"status"}, "7", "want exactly these checks to fail: status; failed: answer_numbers, status"},
		{"one less", []string{"status", "answer_numbers"}, "5", "want exactly these checks to fail: answer_numbers, status; failed: status"},
	} {
		task := Task{Fails: c.fails, Expect: []Expect{{Status: "answered", Numbers: []string{"5"}}}}
		solved, checks := Score(task, Outcome{Status: "clarify", Answer: c.answer})
		require.Equal(t, c.detail == "", solved, c.name)
		require.Equal(t, []CheckResult{{Name: "fails", Passed: solved, Detail: c.detail}}, checks, c.name)
	}
	met := Task{Fails: []string{"status"}, Expect: []Expect{{Status: "answered"}}}
	solved, checks := Score(met, Outcome{Status: "answered"})
	require.False(t, solved)
	require.Equal(t, "want exactly these checks to fail: status; failed: none", checks[0].Detail)
}

func TestLoadNativeScript(t *testing.T) {
	s, err := Load(folder(head+`tasks:
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
`), "s")
	require.NoError(t, err)
	task := s.Tasks[0]
	require.Equal(t, "tools", task.Agent)
	require.Equal(t, []string{"status"}, task.Fails)
	require.Equal(t, []int64{20, 500_000_000}, []int64{task.Budgets.MaxTokens, task.Budgets.MaxCostNanoUSD})
	require.Equal(t, []Emit{
		{Calls: []EmitCall{{"get_counts", `{"label":"angry"}`}, {"today_range", "null"}, {"x", "{"}}, Tokens: ptr(int64(7)), CostNanoUSD: ptr(int64(250_000_000))},
		{Calls: []EmitCall{}},
		{Text: "Hm", Cut: true},
	}, task.Script)

	plain := task
	plain.Agent, plain.Fails = "", nil
	require.NotEqual(t, s.TaskParts(plain).World, s.TaskParts(task).World)
	require.NotEqual(t, s.TaskParts(plain).Checks, s.TaskParts(task).Checks)
}
