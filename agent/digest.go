package agent

import (
	"time"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
)

// contractSample shows everything that the prompts of agent contract can say once.
func contractSample(p Params) string {
	text := seedSample()
	b := guard.Budgets{MaxSteps: 1, MaxToolCalls: 1, MaxTime: time.Second}
	switch p.Profile {
	case profileSchema:
		schema, _ := contractSchema(nil) // of no tools there is always one
		text += schemaPrompt(b, schema, examples(nil))
	case profileConversation:
		c := newConversation(Params{Request: "r", Constraints: "c", Budgets: b})
		c.said("")
		c.observed(note("n"))
		c.left = 1
		for _, m := range c.messages(&contractMachine{repeated: "t"}) {
			text += m.Role + m.Text
		}
	}
	if p.Compress {
		system, user := compressPrompt(&scratchpad{goal: "g", progress: []string{"p"}, obs: summarised([]string{"o"})}, []string{noted(1, "n")}, 0)
		text += system + user
	}
	text += contextSample(p)
	if p.Mode != "" && p.Mode != modePrompt {
		text += p.Mode + formatName
	}
	return text
}

// seedSample is the sample of the profile seed, on which the others build.
func seedSample() string {
	b := guard.Budgets{MaxSteps: 1, MaxToolCalls: 1, MaxTime: time.Second}
	pad := scratchpad{goal: fenceLine("g", maxGoal), constraints: "c"}
	pad.replan("p\nq")
	ok := tool.Result{Outcome: tool.OK, Value: []byte("0")}
	for range maxRecent {
		pad.observe(sawResult(1, "t", "{}", ok, false))
	}
	pad.observe(sawResult(1, "t", "{}", ok, true))
	pad.observe(sawResult(1, "t", "{}", tool.Result{Outcome: tool.Error, Code: codeCircuitOpen}, false))
	pad.observe(sawRejected(1, "t", []string{"f"}))
	pad.observe(sawViolation(1, []string{truncated}))
	pad.observe(sawNoBudget())
	pad.observe(sawReply(1, "q", "a"))
	return systemPrompt(b) + userPrompt("r", &pad, guard.Used{}, b, "", "t") +
		userPrompt("r", &scratchpad{}, guard.Used{}, guard.Budgets{}, "", "")
}
