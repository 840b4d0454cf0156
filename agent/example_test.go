package agent_test

import (
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// A driver executes commands and passes the outcomes to the machine. In this example the model, the
// tool and the clock are fakes.
func Example() {
	tools, err := tool.NewSet([]tool.Spec{{Name: "today_range", Description: "Today's dates.", Schema: []byte(`{"type":"object","additionalProperties":false}`)}})
	if err != nil {
		panic(err)
	}
	machine, err := agent.New("contract", agent.Params{Request: "What day is it?", Tools: tools}, nil)
	if err != nil {
		panic(err)
	}
	replies := []string{
		`{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"today_range","args":{}},"state_update":{"plan":"look it up","observation":"no date yet","confidence":0.9}}`,
		`{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":"It is 13 May 2026."},"state_update":{"plan":"","observation":"done","confidence":1}}`,
	}
	at := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	ready := machine.Step(agent.Started{At: at})
	for {
		at = at.Add(time.Second)
		switch c := ready.Commands[0].(type) {
		case agent.CallModel:
			fmt.Println("ask the model:", c.Role, c.Kind)
			ready = machine.Step(agent.ModelReplied{At: at, ID: c.ID, Reply: providers.Reply{Text: replies[0]}})
			replies = replies[1:]
		case agent.CallTool:
			fmt.Println("run the tool:", c.Key)
			ready = machine.Step(agent.ToolReturned{At: at, ID: c.ID, Result: tool.Result{Outcome: tool.OK, Value: []byte(`{"start_date":"2026-05-13"}`)}})
		case agent.Finish:
			fmt.Println(c.Status+":", c.Answer)
			fmt.Println("steps:", ready.Used.Steps, "tool calls:", ready.Used.ToolCalls, "elapsed:", ready.Used.Elapsed)
			return
		}
	}
	// Output:
	// ask the model: main act
	// run the tool: today_range|{}
	// ask the model: main act
	// answered: It is 13 May 2026.
	// steps: 2 tool calls: 1 elapsed: 3s
}
