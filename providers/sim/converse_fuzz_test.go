package sim

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyTool are all tools that some prompt offers.
var everyTool = append(slices.Clone(knownTools), agentTools...)

// FuzzConverse: whatever stands in the prompts of planners, steps, summaries and calls,
// native or in text, no model panics, each says the same twice, and a careful one
// calls what is on offer, in JSON.
func FuzzConverse(f *testing.F) {
	all := uint16(1)<<len(everyTool) - 1
	library := uint16(0b111100)
	f.Add(plannerSystem, objective("Compare angry and praise today"), "", "{}", "- plan.cycle: a, b", all, uint8(3), uint64(1))
	f.Add(plannerSystem, "OBJECTIVE:\n<data>Which coast has the most lights?</data>\n\nINPUTS:\n- x: [\n\nTOOLS:\n- search: x\n- extract: y", "", "", "", all, uint8(0), uint64(2))
	f.Add(stepSystem, "STEP: s\nINSTRUCTIONS:\n<data>Extract the height_m of \"x\".</data>\n\nRESULT OF a:\n<data>{\"query\":1}</data>\n\nITEM:\n<data>{\"id\":\"x\"}</data>\n", "", `{"id":"x","field":"height_m"}`, `{"id":"x","field":"height_m","value":3e999}`, library|1<<9, uint8(0), uint64(3))
	f.Add(stepSystem, "STEP: s\nINSTRUCTIONS:\n<data></data>\n\n\nSUMMARY OF WHAT WAS DONE SO FAR:\n<data>search {\"query\": gave {</data>", "", "[", "]", library, uint8(2), uint64(4))
	f.Add("You condense the history of one step of a plan", "x\n\nHISTORY:\n- call: search: <data>{\"query\":\"a\"}</data>\n- tool: search: <data>{</data>\n- summary of what was before: <data>a {} gave {}</data>", "", "", "", uint16(0), uint8(0), uint64(5))
	f.Add(textSystem, "How tall is it?", "Thought: x\nAction: extract\nAction Input: {\"id\":", "", "Observation: {\"error\":{}}", uint16(0), uint8(1), uint64(6))
	f.Add("", "System: You work on one step of a plan.\n\nUser: STEP: x\nINSTRUCTIONS:\n<data>{item}</data>\n\nAssistant: y", "", "", "", all, uint8(1), uint64(7))
	f.Add("CONSTRAINTS: x", "How tall is Ash Point?\n\nINPUT a:\n<data>[[[[\"Ash\"]]]]</data>", "", `{"query":"Ash Point"}`, `{"query":"ash point","results":[{"id":"ash-point","title":"\ud800"}],"total":1}`, library, uint8(0), uint64(8))
	f.Fuzz(func(t *testing.T, system, first, said, args, answer string, tools uint16, choose uint8, seed uint64) {
		q := modelRequest{talk: talk{system: system}, messages: []utterance{user(first)}}
		for i, name := range everyTool {
			if tools>>i&1 == 1 {
				q.offer(name, json.RawMessage(answer))
			}
		}
		if len(q.tools) > 0 { // else the wires refuse a choice
			q.choice = []choice{choiceAuto, choiceNone, choiceAny, choiceNamed}[choose%4]
			if q.choice == choiceNamed {
				q.tool = q.tools[seed%uint64(len(q.tools))]
			}
		}
		if args != "" {
			q.messages = append(q.messages, called(everyTool[seed%uint64(len(everyTool))], args, answer)...)
		}
		if said != "" {
			q.messages = append(q.messages, utterance{own: true, text: said}, user(answer))
		}
		q.settle()
		for _, p := range profiles {
			d := drawsFor(int64(seed), p.name, "", []byte(first))
			d.format, d.decision = 0.3*d.format, 0.4*d.decision // mostly with a slip
			slipped, _ := p.converse(q, d)
			again, _ := p.converse(q, d)
			require.Equal(t, slipped, again)
			out, ok := p.converse(q, calm)
			if !ok {
				require.Empty(t, out)
				continue
			}
			for _, c := range out.calls {
				require.Contains(t, q.tools, c.name)
				require.True(t, json.Valid([]byte(c.args)), c.args)
			}
		}
	})
}
