package agent

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// testStart is when the virtual clock of a test starts.
var testStart = time.Date(2026, 5, 13, 16, 0, 0, 0, time.UTC)

// testTools are a plain tool, an uncacheable and a repeatable one, and one that
// takes any text.
func testTools(t testing.TB) *tool.Set {
	t.Helper()
	const date = `{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}`
	set, err := tool.NewSet([]tool.Spec{
		{Name: "today_range", Description: "Today.", Hint: "If you need today's dates, call today_range first.", Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`), Uncacheable: true},
		{Name: "get_counts", Description: "Counts.", Schema: json.RawMessage(`{"type":"object","properties":{"start_date":` + date + `,"end_date":` + date +
			`,"label":{"type":"string","enum":["angry","praise","info"]}},"required":["start_date","end_date","label"],"additionalProperties":false}`)},
		{Name: "get_job_status", Description: "Polls.", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`), Repeatable: true},
		{Name: "search", Description: "Searches.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`)},
	})
	require.NoError(t, err)
	return set
}

// action is a next_action.
type action map[string]any

// turnText is a contract object as a model writes it.
func turnText(t testing.TB, reason string, a action, plan string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"control":      map[string]any{"done": a["type"] == "respond", "reason": reason},
		"next_action":  a,
		"state_update": map[string]any{"plan": plan, "observation": "o", "confidence": 0.5},
	})
	require.NoError(t, err)
	return string(text)
}

// commandID is the id of a command that has one.
func commandID(c Command) int {
	switch c := c.(type) {
	case CallModel:
		return c.ID
	case CallTool:
		return c.ID
	case AskUser:
		return c.ID
	case Wait:
		return c.ID
	}
	return 0
}

// For an output with two different turns the agent executes neither, reports a violation, and calls
// the model again.
func TestAmbiguousOutputRunsNothing(t *testing.T) {
	m, err := New("contract", Params{Request: "r", Tools: testTools(t)}, nil)
	require.NoError(t, err)
	call := m.Step(Started{At: testStart}).Commands[0].(CallModel)
	quoted := turnText(t, "ok", action{"type": "tool", "name": "today_range", "args": map[string]any{}}, "p")
	answer := turnText(t, "ok", action{"type": "respond", "message": "12"}, "p")
	out := m.Step(ModelReplied{At: testStart, ID: call.ID, Reply: providers.Reply{
		Text: "The page says " + quoted + "\n```json\n" + answer + "\n```", Finish: providers.FinishStop,
	}})
	require.Equal(t, &Judgement{Violations: []string{"not_json", "ambiguous"}}, out.Judgement)
	require.Len(t, out.Commands, 1)
	again, ok := out.Commands[0].(CallModel)
	require.True(t, ok, "no tool is called")
	require.Contains(t, again.Call.Messages[len(again.Call.Messages)-1].Text, "ambiguous")
}
