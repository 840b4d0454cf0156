package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// BenchmarkPlan runs episodes with a plan that finds a list, processes every item and combines the
// results. ns/turn and B/turn must not grow with the list or the parallelism. The lower bound of a
// turn is reading its call and writing the next one; the plan adds compiling its schemas, once per
// step.
func BenchmarkPlan(b *testing.B) {
	tools := testTools(b)
	for _, size := range []struct{ items, concurrency int }{{8, 1}, {8, 4}, {64, 4}, {64, 64}} {
		b.Run(fmt.Sprintf("items=%d/concurrency=%d", size.items, size.concurrency), func(b *testing.B) {
			p := Params{Request: "How tall are they?", Tools: tools, Plan: strategy.PlanBounds{Concurrency: size.concurrency}}
			list := finishCall(`["` + strings.Repeat(`x","`, size.items-1) + `x"]`)
			script := func(c CallModel) providers.Reply {
				switch {
				case c.Role == turn.RolePlanner:
					return reply("", planCall(stepList, stepEach, stepSum))
				case c.Step == "list":
					return reply("", list)
				case c.Step == "sum":
					return reply("all of them")
				case len(c.Call.Messages) == 1:
					return reply("", `search {"query":"x"}`)
				}
				return reply("", finishCall("7"))
			}
			turns := 3 + 2*size.items
			b.ReportAllocs()
			for b.Loop() {
				if n := runPlan(b, p, script); n != turns {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
		})
	}
}

// runPlan drives an episode in the order of its commands and counts its turns.
func runPlan(b *testing.B, p Params, script func(CallModel) providers.Reply) (turns int) {
	m, err := New("plan", p, nil)
	if err != nil {
		b.Fatal(err)
	}
	at := testStart
	queue := m.Step(Started{At: at}).Commands
	for {
		at = at.Add(time.Millisecond)
		var ev Event
		switch c := queue[0].(type) {
		case CallModel:
			turns++
			ev = ModelReplied{At: at, ID: c.ID, Reply: script(c)}
		case CallTool:
			ev = ToolReturned{At: at, ID: c.ID, Result: tool.Result{Outcome: tool.OK, Value: []byte(`{"height":32}`)}}
		case Finish:
			if c.Status != Answered {
				b.Fatal(c)
			}
			return turns
		}
		queue = append(queue[1:], m.Step(ev).Commands...)
	}
}
