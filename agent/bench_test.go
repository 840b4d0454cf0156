package agent

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// BenchmarkStep runs an episode of three turns: two tools, then the answer. The lower bound is
// judging three replies and rendering three prompts.
func BenchmarkStep(b *testing.B) {
	tools := testTools(b)
	replies := []string{
		turnText(b, "ok", action{"type": "tool", "name": "today_range", "args": json.RawMessage(`{}`)}, "1. today\n2. count"),
		turnText(b, "ok", action{"type": "tool", "name": "get_counts", "args": json.RawMessage(`{"start_date":"2026-05-13","end_date":"2026-05-13","label":"angry"}`)}, "2. count"),
		turnText(b, "ok", action{"type": "respond", "message": "449 angry messages today."}, "done"),
	}
	results := []tool.Result{
		{Outcome: tool.OK, Value: json.RawMessage(`{"start_date":"2026-05-13","end_date":"2026-05-13"}`)},
		{Outcome: tool.OK, Value: json.RawMessage(`{"label":"angry","value":449,"start":"2026-05-13","end":"2026-05-13"}`)},
	}
	params := Params{Request: "How many angry messages did we get today?", Tools: tools, Budgets: guard.Budgets{MaxSteps: 5, MaxToolCalls: 5, MaxTime: 30 * time.Second}}
	b.ReportAllocs()
	for b.Loop() {
		m, err := New("contract", params, nil)
		if err != nil {
			b.Fatal(err)
		}
		at, turn := testStart, 0
		ready := m.Step(Started{At: at})
		for {
			at = at.Add(time.Second)
			switch c := ready.Commands[0].(type) {
			case CallModel:
				ready = m.Step(ModelReplied{At: at, ID: c.ID, Reply: providers.Reply{Text: replies[turn]}})
				turn++
				continue
			case CallTool:
				ready = m.Step(ToolReturned{At: at, ID: c.ID, Result: results[turn-1]})
				continue
			case Finish:
				if c.Status != Answered {
					b.Fatal(c)
				}
			}
			break
		}
	}
}
