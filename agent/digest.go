package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
)

// protocol is what shapes the prompts of a strategy.
type protocol struct {
	// version names the rules by which its outputs are judged.
	version string
	// specimen shows everything the prompt templates can say once.
	specimen func(Params) string
}

// protocols are those of the built-in strategies.
var protocols = map[string]protocol{
	"contract": {contract.Version, specimen},
	"plan":     {planVersion, planSpecimen},
	"tools":    {toolsVersion, toolsSpecimen},
}

// Digests names what shapes an episode's prompts, for the header of its
// cassette: the SHA-256 hex of the prompt templates ("prompt"), of the tools as
// shown ("tools") and of the version of the strategy's rules ("contract"). A
// cassette recorded under other digests answers other prompts. Of a strategy that is
// not built in, only the tools are known.
func Digests(strategy string, p Params) map[string]string {
	rules, ok := protocols[strategy]
	if !ok {
		rules = protocol{version: strategy, specimen: func(Params) string { return strategy }}
	}
	return map[string]string{
		"prompt":   digest(rules.specimen(p)),
		"tools":    digest(toolsPrompt(p.Tools)),
		"contract": digest(rules.version),
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// specimen is that of contract.
func specimen(p Params) string {
	text := seedSpecimen()
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
	text += toldSpecimen(p)
	if p.Mode != "" && p.Mode != modePrompt {
		text += p.Mode + formatName
	}
	return text
}

// seedSpecimen is the specimen of the profile seed, on which the others build.
func seedSpecimen() string {
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
