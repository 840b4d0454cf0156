package all

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/price"
)

// TestCostOfReplies computes the cost of replies from their bytes, in nano-USD; -1
// means unknown.
func TestCostOfReplies(t *testing.T) {
	prices, err := price.Default()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		wire, model, body string
		want              int64
	}{
		// Haiku: 1,760 × 1 + 412 × 0.1 + 531 × 5 µUSD; Opus: 823 × 5 + 1,612 × 25 µUSD.
		"an advisor at its own price": {"anthropic", "claude-haiku-4-5", `{"model":"claude-haiku-4-5","content":[],"usage":{"input_tokens":412,"output_tokens":531,"iterations":[{"type":"message","input_tokens":412,"output_tokens":89},
			{"type":"advisor_message","model":"claude-opus-4-6","input_tokens":823,"output_tokens":1612},{"type":"message","input_tokens":1348,"cache_read_input_tokens":412,"output_tokens":442}]}}`, 48_871_200},
		"an advisor without a price": {"anthropic", "claude-haiku-4-5", `{"content":[],"usage":{"input_tokens":4,"output_tokens":5,"iterations":[{"type":"message","input_tokens":4,"output_tokens":5},{"type":"advisor_message","model":"claude-unheard","input_tokens":8,"output_tokens":1}]}}`, -1},
		// 1,000 × 1 + 100 × 5 µUSD, and three searches of 10,000 µUSD.
		"searches":             {"anthropic", "claude-haiku-4-5", `{"content":[],"usage":{"input_tokens":1000,"output_tokens":100,"server_tool_use":{"web_search_requests":3,"web_fetch_requests":9}}}`, 31_500_000},
		"code":                 {"anthropic", "claude-haiku-4-5", `{"content":[],"usage":{"input_tokens":1000,"output_tokens":100,"server_tool_use":{"code_execution_requests":1}}}`, -1},
		"fast":                 {"anthropic", "claude-opus-4-6", `{"content":[],"usage":{"input_tokens":1000,"output_tokens":100,"speed":"fast"}}`, -1},
		"billed units":         {"cohere", "command-a-03-2025", `{"message":{"content":"a"},"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":12,"output_tokens":10},"tokens":{"input_tokens":614,"output_tokens":13},"cached_tokens":480}}`, 130_000},
		"audio":                {"gemini", "gemini-2.5-flash", `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":9}]}}`, -1},
		"pictures are text":    {"gemini", "gemini-2.5-flash", `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1000,"promptTokensDetails":[{"modality":"IMAGE","tokenCount":1000}],"trafficType":1}}`, 300_000},
		"a search of Google's": {"gemini", "gemini-2.5-flash", `{"candidates":[{"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["q"]}}],"usageMetadata":{"promptTokenCount":9}}`, -1},
		"a total that is more": {"gemini", "gemini-2.5-flash", `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":90}}`, -1},
		// 1,000 × 0.8 + 100 × 3.2 µUSD, and two text units of 150 µUSD.
		"guardrails":          {"bedrock", "amazon.nova-pro-v1:0", `{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":1000,"outputTokens":100},"trace":{"guardrail":{"inputAssessment":{"g":{"invocationMetrics":{"usage":{"contentPolicyUnits":1,"topicPolicyUnits":1,"wordPolicyUnits":5}}}}}}}`, 1_420_000},
		"a number unheard of": {"bedrock", "amazon.nova-pro-v1:0", `{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":1000,"outputTokens":100,"holograms":1}}`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := exchange(t, c.wire, recording{Model: c.model}, strings.NewReader(c.body), false)
			require.NoError(t, err)
			cost, known := prices.Cost(c.wire, c.model, reply.Usage, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
			require.Equal(t, c.want >= 0, known, reply.Usage)
			require.Equal(t, max(0, c.want), cost)
		})
	}
}
