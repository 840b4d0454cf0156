package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// guardrailUnits are what guardrails charge for (API Reference,
// "GuardrailUsage"), by the names under which they count as server tools.
var guardrailUnits = map[string]string{
	"contentPolicyUnits":                  "guardrail_content",
	"contentPolicyImageUnits":             "guardrail_image",
	"topicPolicyUnits":                    "guardrail_topic",
	"wordPolicyUnits":                     "guardrail_word",
	"sensitiveInformationPolicyUnits":     "guardrail_sensitive",
	"sensitiveInformationPolicyFreeUnits": "guardrail_sensitive_free",
	"contextualGroundingPolicyUnits":      "guardrail_grounding",
	"automatedReasoningPolicyUnits":       "guardrail_reasoning",
	"automatedReasoningPolicies":          "guardrail_reasoning_policies",
}

// addGuardrails counts what the guardrails of a trace assessed. A reply without a trace
// does not show it.
func addGuardrails(u *providers.Usage, trace json.RawMessage) {
	wire.Leaves(trace, func(path string, number []byte) {
		_, name, ok := strings.Cut(path, ".invocationMetrics.usage.")
		var n wire.Count
		switch tool := guardrailUnits[name]; {
		case !ok:
		case tool == "" || n.UnmarshalJSON(number) != nil:
			if string(number) != "0" {
				u.Doubt("trace.guardrail."+name, "not understood")
			}
		default:
			u.AddServerTool(tool, int64(n))
		}
	})
}
