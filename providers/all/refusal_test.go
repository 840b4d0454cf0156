package all

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// TestRefusals checks that a reply that a filter stops is a refusal: in a reply, in a
// stream and in an error within a reply. It is never an overload, which would be
// retried.
func TestRefusals(t *testing.T) {
	exception := messages(t, "messageStart", `{"role":"assistant"}`)
	for name, c := range map[string]struct {
		wire, body string
		stream     bool
	}{
		"anthropic":           {"anthropic", `{"content":[],"stop_reason":"refusal"}`, false},
		"anthropic, streamed": {"anthropic", `data: {"type":"message_delta","delta":{"stop_reason":"refusal"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n", true},
		"anthropic, an error": {"anthropic", "event: error\n" + `data: {"type":"error","error":{"type":"api_error","message":"Output blocked by content filtering policy"}}` + "\n\n", true},
		"vertex-anthropic":    {"vertex-anthropic", `{"content":[],"stop_reason":"refusal"}`, false},
		"gemini, the prompt":  {"gemini", `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, false},
		"gemini, streamed":    {"gemini", `data: {"promptFeedback":{"blockReason":"OTHER"}}` + "\n\n", true},
		"gemini, safety":      {"gemini", `{"candidates":[{"finishReason":"SAFETY"}]}`, false},
		"gemini, recitation":  {"gemini", `data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"RECITATION"}]}` + "\n\n", true},
		"gemini, an error":    {"gemini", `data: {"error":{"code":500,"message":"Blocked by Responsible AI practices","status":"INTERNAL"}}` + "\n\n", true},
		"vertex":              {"vertex", `{"promptFeedback":{"blockReason":"MODEL_ARMOR"}}`, false},
		"bedrock":             {"bedrock", `{"output":{"message":{"content":[{"text":"no"}]}},"stopReason":"guardrail_intervened"}`, false},
		"bedrock, filtered":   {"bedrock", `{"output":{"message":{"content":[]}},"stopReason":"content_filtered"}`, false},
		"bedrock, streamed":   {"bedrock", messages(t, "messageStop", `{"stopReason":"guardrail_intervened"}`), true},
		"bedrock, invoked":    {"bedrock", `{"generation":"no","amazon-bedrock-guardrailAction":"INTERVENED"}`, false},
		"bedrock, Claude":     {"bedrock", `{"type":"message","content":[],"stop_reason":"refusal"}`, false},
		"bedrock, an error":   {"bedrock", exception + exceptionOf(t, "modelStreamErrorException", `{"message":"Output blocked by content filtering policy"}`), true},
		"cohere, version 1":   {"cohere", `{"text":"","finish_reason":"ERROR_TOXIC"}`, false},
		"cohere, an error":    {"cohere", `data: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"blocked output: please try again"}}` + "\n\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := exchange(t, c.wire, recording{}, strings.NewReader(c.body), c.stream)
			var e *fault.Error
			if errors.As(err, &e) {
				require.Equal(t, fault.Refused, e.Kind, "%v", err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, providers.FinishRefusal, got.Finish)
		})
	}
}
